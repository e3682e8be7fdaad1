// SPDX-License-Identifier: MIT
/* Common parts of playing a script. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "player.h"

/* Memory that one script may touch. */
#define MEMORY_LIMIT (2ull << 30)

/* When the last unit that scripts wait for was done. */
static void note_interrupt(void *context, u32 bit, u64 when)
{
	struct player *p = context;

	if (bit < NVDLA_INTR_CDMA_DAT)
		p->ended = when;
}

int player_open(struct player *p, const struct npusim_options *options, const char *dir,
		const char *script)
{
	struct npusim_memory memory;

	memset(p, 0, sizeof(*p));
	p->dir = dir;
	p->script = script;
	p->mem = sparse_create(MEMORY_LIMIT);
	p->log_file = open_memstream(&p->log, &p->log_size);
	if (!p->mem || !p->log_file)
		return -ENOMEM;
	memory = sparse_memory(p->mem);
	p->sim = npusim_create(options, &memory);
	if (!p->sim)
		return -ENOMEM;
	npusim_set_event_hook(p->sim, note_interrupt, p);
	return 0;
}

void player_close(struct player *p)
{
	if (p->log_file)
		fclose(p->log_file);
	free(p->log);
	npusim_destroy(p->sim);
	sparse_destroy(p->mem);
}

void player_fail(struct player *p, const char *fmt, ...)
{
	va_list args;

	if (p->reason[0])
		return;
	va_start(args, fmt);
	vsnprintf(p->reason, sizeof(p->reason), fmt, args);
	va_end(args);
}

int player_error(struct player *p, const char *fmt, ...)
{
	va_list args;
	int n;

	if (p->reason[0])
		return -EINVAL;
	n = snprintf(p->reason, sizeof(p->reason), "%s:%u: ", p->script, p->line);
	if (n < 0 || (size_t)n >= sizeof(p->reason))
		return -EINVAL;
	va_start(args, fmt);
	vsnprintf(p->reason + n, sizeof(p->reason) - (size_t)n, fmt, args);
	va_end(args);
	return -EINVAL;
}

bool player_path(char *buf, size_t size, const char *dir, const char *name)
{
	int n;

	if (name[0] == '/' || strstr(name, ".."))
		return false;
	n = snprintf(buf, size, "%s/%s", dir, name);
	return n > 0 && (size_t)n < size;
}

u8 *player_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	u8 *data = NULL;
	long end;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (end = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
		data = malloc(end ? (size_t)end : 1);
		if (data && fread(data, 1, (size_t)end, f) != (size_t)end) {
			free(data);
			data = NULL;
		}
		*size = (size_t)end;
	}
	fclose(f);
	return data;
}

static bool is_enable(u32 reg)
{
	const struct nvdla_reg_info *info = nvdla_reg_find(reg);

	return info && strcmp(info->name, "D_OP_ENABLE") == 0;
}

void player_write(struct player *p, u32 reg, u32 value)
{
	npusim_write(p->sim, reg, value);
	if (is_enable(reg) && (value & 1)) {
		p->last_enable = npusim_now(p->sim);
		if (!p->first_enable)
			p->first_enable = p->last_enable;
	}
}

bool player_poll(struct player *p, u32 reg, u32 mask, u32 value)
{
	while ((npusim_read(p->sim, reg) & mask) != value) {
		/* The flush of CBUF is no event: it only needs time. */
		if (npusim_idle(p->sim) && npusim_now(p->sim) > (1u << 22))
			return false;
		npusim_run(p->sim, 16);
	}
	return true;
}

bool player_await(struct player *p, u32 mask)
{
	while ((npusim_read(p->sim, NVDLA_GLB_S_INTR_STATUS) & mask) != mask) {
		if (npusim_idle(p->sim))
			return false;
		npusim_run(p->sim, 16);
	}
	return true;
}

int player_lines(struct player *p, const char *path, int (*run)(struct player *p, char *line))
{
	FILE *f = fopen(path, "r");
	size_t capacity = 0;
	char *line = NULL;
	ssize_t length;
	int error = 0;

	if (!f) {
		error = -errno;
		player_fail(p, "%s: %s", path, strerror(errno));
		return error;
	}
	while (!error && (length = getline(&line, &capacity, f)) >= 0) {
		p->line++;
		error = strlen(line) == (size_t)length ? run(p, line)
						       : player_error(p, "this is no text");
	}
	if (!error && ferror(f)) {
		error = -EIO;
		player_fail(p, "%s: cannot be read", path);
	}
	free(line);
	fclose(f);
	return error;
}
