// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Errors of the validator as text, without the C library.
 */
#include "nvdla_chain_check.h"

struct text {
	char *at;
	size_t left; /* with the terminating zero */
};

static void put(struct text *t, const char *s)
{
	for (; *s && t->left > 1; s++, t->left--)
		*t->at++ = *s;
	if (t->left)
		*t->at = 0;
}

/* Decimal; the quotient by ten is taken digit by digit in 32 bits (no 64-bit division). */
static void put_u64(struct text *t, u64 value)
{
	char digits[21];
	char *p = digits + sizeof(digits) - 1;

	*p = 0;
	do {
		u32 high = (u32)(value >> 32), rest = high % 10;
		u32 mid = rest << 16 | ((u32)value >> 16), low;

		rest = mid % 10;
		low = rest << 16 | (value & 0xffff);
		*--p = (char)('0' + low % 10);
		value = (u64)(high / 10) << 32 | (u64)(mid / 10) << 16 | low / 10;
	} while (value);
	put(t, p);
}

static void put_hex(struct text *t, u32 value)
{
	char digits[11] = "0x";
	u32 i;

	for (i = 0; i < 8; i++)
		digits[2 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
	put(t, digits);
}

static void put_reg(struct text *t, u32 reg)
{
	const struct nvdla_reg_info *info = nvdla_reg_find(reg);

	if (!info) {
		put(t, "register ");
		put_hex(t, reg);
		return;
	}
	put(t, info->unit);
	put(t, ".");
	put(t, info->name);
}

void nvdla_chain_error_text(const struct nvdla_chain_error *error, char *text, size_t size)
{
	struct text t = { text, size };

	put(&t, "");
	if (error->task == NVDLA_CHAIN_NO_TASK) {
		put(&t, "header");
	} else {
		put(&t, "task ");
		put_u64(&t, error->task);
		put(&t, " (layer ");
		put_u64(&t, error->label);
		put(&t, ")");
	}
	put(&t, ": ");
	if (error->reg != NVDLA_CHAIN_NO_REG) {
		put_reg(&t, error->reg);
		put(&t, ": ");
	}
	put(&t, error->rule ? error->rule : "valid");
	if (error->value == error->limit)
		return;
	put(&t, ": ");
	put_u64(&t, error->value);
	put(&t, error->value > error->limit ? " > " : " < ");
	put_u64(&t, error->limit);
}
