// SPDX-License-Identifier: MIT
/*
 * The golden vectors as chains: the register writes of each script become tasks of a chain stream.
 * Well-formed ones must pass the validator and, run by the sequencer on the device model with the
 * DMA guard on, give the bytes that the RTL gave.  What hung or spoilt the RTL must be refused.
 *
 *	chain_vectors [DIR...]		tests, configurations or the whole tree
 *	(default: $NPU_SHARED/vectors, ../shared/vectors)
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <sys/stat.h>

#include "../common/chain_build.h"
#include "../common/chain_device.h"
#include "../common/whole_file.h"
#include "nvdla_rules.h"

#define MEMORY_BASE 0x80000000ull
#define MEMORY_BYTES (16u << 20)
#define MAX_DUMPS 16
#define MAX_LUT 260

/* What the validator has to say of odd programming; everything else is to be accepted. */
enum verdict { ACCEPT, REFUSE, OTHER };

static const struct {
	const char *pattern;
	enum verdict verdict;
	const char *why;
} verdicts[] = {
	/* The banks of this one are large enough. */
	{ "nv_large/err_*_wtbank1", ACCEPT, "the kernel group fits" },
	{ "*/err_*_banksum", REFUSE, "more banks than there are" },
	{ "*/err_*_databank", REFUSE, "hangs" },
	{ "*/err_*_wtbank1", REFUSE, "hangs" },
	{ "*/err_*_eps*", REFUSE, "wrong entries per slice" },
	{ "*/err_*_reusebank", REFUSE, "data kept under another bank split" },
	{ "*/err_*_hcsc", REFUSE, "hangs" },
	{ "*/err_*_sdpheight*", REFUSE, "hangs or leaves data behind" },
	{ "*/err_*_unalign*", REFUSE, "address silently aligned down" },
	{ "*/err_*_lsodd", REFUSE, "stride silently aligned down" },
	{ "*/err_*_?packbad", REFUSE, "strides ignored" },
	{ "*/err_*_rwrong", REFUSE, "hangs" },
	{ "*/err_*_notpdp", REFUSE, "hangs" },
	{ "*/err_*_pdpbigk", REFUSE, "hangs" },
	{ "*/err_*_pdprows*", REFUSE, "rows that no window covers" },
	{ "*/err_*_outint16", REFUSE, "not INT8" },
	{ "*/err_*_procint16", REFUSE, "hangs" },
	/* The sequencer does not make these mistakes: other bytes than the RTL wrote. */
	{ "*/err_*_samegroup", OTHER, "the sequencer alternates groups" },
	{ "*/err_*_group1first", OTHER, "the sequencer starts in group 0" },
	{ "*/err_*_nocmacb", OTHER, "a chain always runs both halves of the MAC array" },
	{ "*/err_*_wtunalign", OTHER, "aligned or not depends on the bus" },
};

struct script {
	const char *dir;
	const struct nvdla_config *config;
	struct chain_build build;
	struct chain_device dev;
	/* Register file: what each group of each unit holds, and the shared registers. */
	u32 value[NVDLA_UNIT_COUNT][2][NVDLA_UNIT_BYTES / 4];
	u32 pointer[NVDLA_UNIT_COUNT];
	s16 lut[2][2][MAX_LUT]; /* SDP or CDP, table */
	u32 lut_count[2][2];
	bool lut_new[2][2];
	u32 lut_port[2];
	u32 lut_at[2];
	u32 enabled; /* units of the operation that is being put together */
	struct {
		u64 addr;
		u32 bytes;
		char name[64];
	} dump[MAX_DUMPS];
	u32 dumps;
	bool spoils; /* right by itself, but what follows it goes wrong */
	const char *problem;
};

static u32 passed, failed, skipped, lines;

static u32 held(const struct script *s, u32 reg)
{
	u32 unit = nvdla_unit_of(reg);

	return s->value[unit][s->pointer[unit]][reg % NVDLA_UNIT_BYTES / 4];
}

static bool is_shared(u32 reg)
{
	return (reg >= NVDLA_SDP_BASE && reg < NVDLA_SDP_D_OP_ENABLE) ||
	       (reg >= NVDLA_CDP_BASE && reg < NVDLA_CDP_D_OP_ENABLE);
}

/* May a register that no rule lets a chain set be left out?  Zero says nothing, nor does what PDP ignores. */
static bool is_unused(u32 reg, u32 value)
{
	return value == 0 || reg == NVDLA_PDP_D_SRC_LINE_STRIDE ||
	       reg == NVDLA_PDP_D_SRC_SURFACE_STRIDE;
}

static bool is_address(u32 reg)
{
	u32 i;

	for (i = 0; i < nvdla_address_count; i++)
		if (reg == nvdla_address_regs[i].low || reg == nvdla_address_regs[i].high)
			return true;
	return reg == NVDLA_PDP_D_SRC_BASE_ADDR_LOW || reg == NVDLA_PDP_D_SRC_BASE_ADDR_HIGH ||
	       reg == NVDLA_CDMA_D_WGS_ADDR_LOW || reg == NVDLA_CDMA_D_WMB_ADDR_LOW;
}

static bool has_rule(u32 reg)
{
	u32 i;

	for (i = 0; i < nvdla_field_rule_count; i++)
		if (nvdla_field_rules[i].reg == reg)
			return true;
	return false;
}

static void add_registers(struct script *s, u32 units, bool luts)
{
	u32 i;

	for (i = 0; i < nvdla_reg_count; i++) {
		const struct nvdla_reg_info *r = &nvdla_reg_table[i];
		u32 unit = nvdla_unit_of(r->offset);
		u32 value = held(s, r->offset);

		if (!(units >> unit & 1) || !r->writable || is_address(r->offset) ||
		    !strcmp(r->name, "S_POINTER") || !strcmp(r->name, "D_OP_ENABLE") ||
		    !strcmp(r->name, "S_ARBITER") || !strncmp(r->name, "S_LUT_ACCESS", 12))
			continue;
		if (is_shared(r->offset)) {
			value = s->value[unit][0][r->offset % NVDLA_UNIT_BYTES / 4];
			if (!luts)
				continue;
		}
		if (!has_rule(r->offset) && is_unused(r->offset, value))
			continue;
		chain_set(&s->build, r->offset, value);
	}
}

static void add_address(struct script *s, u32 low)
{
	u64 address = held(s, low) | (u64)held(s, nvdla_address_find(low)->high) << 32;

	chain_addr(&s->build, low, 0, address - MEMORY_BASE);
}

#define HELD(s, unit, reg, field) NVDLA_GET(unit, reg, field, held(s, NVDLA_##unit##_##reg))

/* The addresses that the units of the operation really use. */
static void add_addresses(struct script *s, u32 units)
{
	u32 format = HELD(s, CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT);

	if (units & 1u << NVDLA_UNIT_CDMA) {
		add_address(s, NVDLA_CDMA_D_DAIN_ADDR_LOW_0);
		if (HELD(s, CDMA, D_DATAIN_FORMAT, DATAIN_FORMAT) && (format == 28 || format == 29))
			add_address(s, NVDLA_CDMA_D_DAIN_ADDR_LOW_1);
		add_address(s, NVDLA_CDMA_D_WEIGHT_ADDR_LOW);
	}
	if (units & 1u << NVDLA_UNIT_SDP_RDMA) {
		if (!HELD(s, SDP_RDMA, D_FEATURE_MODE_CFG, FLYING_MODE))
			add_address(s, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW);
		if (!HELD(s, SDP_RDMA, D_BRDMA_CFG, BRDMA_DISABLE))
			add_address(s, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW);
		if (!HELD(s, SDP_RDMA, D_NRDMA_CFG, NRDMA_DISABLE))
			add_address(s, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW);
		if (!HELD(s, SDP_RDMA, D_ERDMA_CFG, ERDMA_DISABLE))
			add_address(s, NVDLA_SDP_RDMA_D_EW_BASE_ADDR_LOW);
	}
	if ((units & 1u << NVDLA_UNIT_SDP) && !HELD(s, SDP, D_FEATURE_MODE_CFG, OUTPUT_DST))
		add_address(s, NVDLA_SDP_D_DST_BASE_ADDR_LOW);
	if (units & 1u << NVDLA_UNIT_PDP_RDMA)
		add_address(s, NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW);
	if (units & 1u << NVDLA_UNIT_PDP)
		add_address(s, NVDLA_PDP_D_DST_BASE_ADDR_LOW);
	if (units & 1u << NVDLA_UNIT_CDP_RDMA)
		add_address(s, NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW);
	if (units & 1u << NVDLA_UNIT_CDP)
		add_address(s, NVDLA_CDP_D_DST_BASE_ADDR_LOW);
}

static void add_tables(struct script *s, bool cdp)
{
	u32 table;

	for (table = 0; table < 2; table++) {
		if (s->lut_new[cdp][table])
			chain_lut(&s->build, table, s->lut[cdp][table], s->lut_count[cdp][table]);
		s->lut_new[cdp][table] = false;
	}
}

/*
 * Rows at the bottom that no window of a pooling covers: it, or the next pooling, can come out wrong
 * on the RTL, so that even a right one has to be refused.
 */
static bool unread_rows(const struct script *s)
{
	u32 kernel_w = HELD(s, PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH) + 1;
	u32 kernel_h = HELD(s, PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT) + 1;
	u32 stride_w = HELD(s, PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH) + 1;
	u32 stride_h = HELD(s, PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT) + 1;
	u32 w = HELD(s, PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1 +
		HELD(s, PDP, D_POOLING_PADDING_CFG, PAD_LEFT) +
		HELD(s, PDP, D_POOLING_PADDING_CFG, PAD_RIGHT);
	u32 h = HELD(s, PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1 +
		HELD(s, PDP, D_POOLING_PADDING_CFG, PAD_TOP) +
		HELD(s, PDP, D_POOLING_PADDING_CFG, PAD_BOTTOM);

	/* Padding at the right that no window covers is as bad. */
	return (h - kernel_h) % stride_h ||
	       ((w - kernel_w) % stride_w && HELD(s, PDP, D_POOLING_PADDING_CFG, PAD_RIGHT));
}

/* Kernel rows side by side that are no whole number: later operations come out wrong on the RTL. */
static bool odd_extension(const struct script *s)
{
	u32 rows = HELD(s, CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT) + 1;

	return rows % (1u << HELD(s, CSC, D_POST_Y_EXTENSION, Y_EXTENSION));
}

/* Whole entries of padding behind the weights: they stay in CBUF and shift the next weights. */
static bool stray_weights(const struct script *s)
{
	u32 entry = s->config->entry_bytes;
	u32 bytes = (HELD(s, CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL) + 1) *
		    (HELD(s, CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL) + 1);

	return HELD(s, CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES) >= bytes + entry;
}

/* What was enabled since the last time is one operation. */
static void end_operation(struct script *s)
{
	u32 units = s->enabled;
	bool cdp = units & 1u << NVDLA_UNIT_CDP;
	bool ew = (units & 1u << NVDLA_UNIT_SDP) && !HELD(s, SDP, D_DP_EW_CFG, EW_BYPASS) &&
		  !HELD(s, SDP, D_DP_EW_CFG, EW_LUT_BYPASS);
	u32 kind = units & 1u << NVDLA_UNIT_CDMA  ? NVDLA_CHAIN_CONV
		   : units & 1u << NVDLA_UNIT_SDP ? NVDLA_CHAIN_SDP
		   : units & 1u << NVDLA_UNIT_PDP ? NVDLA_CHAIN_PDP
						  : NVDLA_CHAIN_CDP;

	if (!units)
		return;
	if (((units & 1u << NVDLA_UNIT_PDP) && unread_rows(s)) ||
	    ((units & 1u << NVDLA_UNIT_CDMA) && (stray_weights(s) || odd_extension(s))))
		s->spoils = true;
	chain_task(&s->build, kind, s->build.tasks);
	add_registers(s, units, cdp || ew);
	add_addresses(s, units);
	if (cdp || ew)
		add_tables(s, cdp);
	chain_task_end(&s->build);
	s->enabled = 0;
}

static void lut_write(struct script *s, bool cdp, u32 value)
{
	u32 table = NVDLA_GET(SDP, S_LUT_ACCESS_CFG, LUT_TABLE_ID, s->lut_port[cdp]);
	u32 at = s->lut_at[cdp]++;

	if (at >= MAX_LUT) {
		s->problem = "look-up table too long";
		return;
	}
	s->lut[cdp][table][at] = (s16)value;
	s->lut_count[cdp][table] = s->lut_at[cdp];
	s->lut_new[cdp][table] = true;
}

static void reg_write(struct script *s, u32 reg, u32 value)
{
	u32 unit = nvdla_unit_of(reg);
	bool cdp = unit == NVDLA_UNIT_CDP;
	const struct nvdla_reg_info *r = nvdla_reg_find(reg);

	if (!r || unit < NVDLA_UNIT_CDMA || unit > NVDLA_UNIT_CDP)
		return; /* interrupts and memory interface: the sequencer's business */
	if (!strcmp(r->name, "S_POINTER")) {
		s->pointer[unit] = value & 1;
	} else if (!strcmp(r->name, "D_OP_ENABLE")) {
		if (s->enabled >> unit & 1)
			end_operation(s);
		s->enabled |= 1u << unit;
	} else if (reg == NVDLA_SDP_S_LUT_ACCESS_CFG || reg == NVDLA_CDP_S_LUT_ACCESS_CFG) {
		s->lut_port[cdp] = value;
		s->lut_at[cdp] = NVDLA_GET(SDP, S_LUT_ACCESS_CFG, LUT_ADDR, value);
	} else if (reg == NVDLA_SDP_S_LUT_ACCESS_DATA || reg == NVDLA_CDP_S_LUT_ACCESS_DATA) {
		lut_write(s, cdp, value);
	} else {
		s->value[unit][is_shared(reg) ? 0 : s->pointer[unit]][reg % NVDLA_UNIT_BYTES / 4] =
			value;
	}
}

static char *join(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	return path;
}

static u8 *read_file(const char *dir, const char *name, size_t *bytes)
{
	char *path = join(dir, name);
	u8 *data = whole_file(path, bytes);

	free(path);
	return data;
}

static u8 *memory_at(struct script *s, u64 addr, u64 bytes)
{
	if (addr < MEMORY_BASE || addr - MEMORY_BASE > MEMORY_BYTES ||
	    bytes > MEMORY_BYTES - (addr - MEMORY_BASE)) {
		s->problem = "memory outside of 16 MiB";
		return NULL;
	}
	return s->dev.memory + (addr - MEMORY_BASE);
}

static void load_file(struct script *s, u64 addr, const char *name)
{
	size_t bytes = 0;
	u8 *data = read_file(s->dir, name, &bytes);
	u8 *at = memory_at(s, addr, bytes);

	if (!data)
		s->problem = "missing memory image";
	else if (at)
		memcpy(at, data, bytes);
	free(data);
}

static void fill(struct script *s, u64 addr, u64 bytes, int byte)
{
	u8 *at = memory_at(s, addr, bytes);

	if (at)
		memset(at, byte, bytes);
}

static void take_line(struct script *s, char *line)
{
	unsigned long long a, b;
	char name[64];
	int byte;

	if (!strncmp(line, "# ---- op", 9) || !strncmp(line, "wait", 4) || !strncmp(line, "run", 3))
		end_operation(s);
	if (sscanf(line, "w %lli %lli", (long long *)&a, (long long *)&b) == 2) {
		reg_write(s, (u32)a, (u32)b);
	} else if (sscanf(line, "load %lli %63s", (long long *)&a, name) == 2) {
		load_file(s, a, name);
	} else if (sscanf(line, "fill %lli %lli %i", (long long *)&a, (long long *)&b, &byte) ==
		   3) {
		fill(s, a, b, byte);
	} else if (sscanf(line, "zero %lli %lli", (long long *)&a, (long long *)&b) == 2) {
		fill(s, a, b, 0);
	} else if (sscanf(line, "dump %lli %lli %63s", (long long *)&a, (long long *)&b, name) ==
		   3) {
		if (s->dumps == MAX_DUMPS) {
			s->problem = "too many dumps";
			return;
		}
		s->dump[s->dumps].addr = a;
		s->dump[s->dumps].bytes = (u32)b;
		strcpy(s->dump[s->dumps++].name, name);
	}
}

/* Memory as the script set it up, and its operations as a chain. */
static bool read_script(struct script *s)
{
	size_t bytes = 0;
	char *text = (char *)read_file(s->dir, "run.nv", &bytes), *line, *rest;

	if (!text)
		return false;
	text[bytes] = 0;
	chain_begin(&s->build);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		take_line(s, line);
	end_operation(s);
	chain_end(&s->build, 1);
	free(text);
	return true;
}

static const char *compare(struct script *s)
{
	u32 i;

	for (i = 0; i < s->dumps; i++) {
		char name[64];
		size_t bytes = 0;
		char *dot;
		u8 *want;
		bool same;

		strcpy(name, s->dump[i].name);
		dot = strstr(name, ".out.bin");
		if (!dot)
			return "unknown dump";
		strcpy(dot, ".expect.bin");
		want = read_file(s->dir, name, &bytes);
		if (!want || bytes != s->dump[i].bytes) {
			free(want);
			return "missing expectation";
		}
		same = !memcmp(want, s->dev.memory + (s->dump[i].addr - MEMORY_BASE), bytes);
		free(want);
		if (!same)
			return "other bytes than the RTL";
	}
	return s->dumps ? NULL : "nothing to compare";
}

static const char *run_accepted(struct script *s, const struct nvdla_chain *chain, bool bytes_count)
{
	static char text[256];
	u64 base = MEMORY_BASE;
	int err = chain_device_run(&s->dev, chain, &base, false);

	if (err == -EDEADLK || err == -EACCES) {
		snprintf(text, sizeof(text), "%s: %s", err == -EACCES ? "astray" : "hangs",
			 npusim_diagnosis(s->dev.sim));
		return text;
	}
	if (err)
		return "the sequencer fails";
	return bytes_count ? compare(s) : NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum verdict verdict_of(const struct script *s)
{
	char *test = join(s->config->name, base_name(s->dir));
	enum verdict verdict = s->spoils ? REFUSE : ACCEPT;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(verdicts); i++) {
		if (!fnmatch(verdicts[i].pattern, test, 0)) {
			verdict = verdicts[i].verdict;
			break;
		}
	}
	free(test);
	return verdict;
}

/* NULL, or what is wrong. */
static const char *judge(struct script *s, char *note, size_t note_size)
{
	enum verdict verdict;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	const char *problem = NULL;
	size_t storage_bytes;
	void *storage;
	int err;

	note[0] = 0;
	if (!read_script(s))
		return "no script";
	if (s->problem)
		return s->problem;
	verdict = verdict_of(s);
	storage_bytes = nvdla_chain_storage_bytes(s->build.data, s->build.size);
	storage = malloc(storage_bytes + 1);
	err = nvdla_chain_validate(s->config, s->build.data, s->build.size, storage, storage_bytes,
				   &chain, &error);
	if (err)
		nvdla_chain_error_text(&error, note, note_size);
	if (verdict == REFUSE)
		problem = err ? NULL : "accepted what spoils or hangs the RTL";
	else if (err)
		problem = verdict == ACCEPT ? "refused" : NULL;
	else
		problem = run_accepted(s, &chain, verdict == ACCEPT);
	free(storage);
	return problem;
}

static void run_test(const struct nvdla_config *config, const char *dir)
{
	struct script *s = calloc(1, sizeof(*s));
	const char *problem;
	char note[256];

	if (!s)
		abort();
	s->dir = dir;
	s->config = config;
	chain_device_open(&s->dev, config, MEMORY_BASE, MEMORY_BYTES);
	problem = judge(s, note, sizeof(note));
	if (problem)
		failed++;
	else
		passed++;
	printf("%sok %u - %s/%s%s%s%s%s\n", problem ? "not " : "", ++lines, config->name,
	       base_name(dir), problem ? ": " : "", problem ? problem : "", note[0] ? ": " : "",
	       note);
	chain_free(&s->build);
	chain_device_close(&s->dev);
	free(s);
}

static bool is_file(const char *dir, const char *name)
{
	char *path = join(dir, name);
	struct stat st;
	bool is = !stat(path, &st) && S_ISREG(st.st_mode);

	free(path);
	return is;
}

/* A test, or whatever lies below; the folder above a test names the configuration. */
static void run_tree(const char *dir, const struct nvdla_config *config)
{
	struct dirent **entry;
	int i, n;

	if (is_file(dir, "run.nv")) {
		if (config)
			run_test(config, dir);
		return;
	}
	config = nvdla_config_find(base_name(dir));
	n = scandir(dir, &entry, NULL, alphasort);
	for (i = 0; i < n; i++) {
		char *path = join(dir, entry[i]->d_name);

		if (entry[i]->d_name[0] != '.' && entry[i]->d_type == DT_DIR)
			run_tree(path, config);
		free(path);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

/* The configuration of a single test that was named. */
static const struct nvdla_config *config_above(const char *dir)
{
	char *path = join(dir, "..");
	char *real = realpath(path, NULL);
	const struct nvdla_config *config = real ? nvdla_config_find(base_name(real)) : NULL;

	free(real);
	free(path);
	return config;
}

int main(int argc, char **argv)
{
	const char *shared = getenv("NPU_SHARED");
	int i;

	for (i = 1; i < argc; i++)
		run_tree(argv[i], config_above(argv[i]));
	if (argc == 1) {
		char *dir = join(shared ? shared : "../shared", "vectors");

		run_tree(dir, NULL);
		free(dir);
	}
	if (!lines) {
		bool ci = getenv("CI");

		printf("%sok 1 - vectors%s\n", ci ? "not " : "",
		       ci ? ": missing" : " # SKIP no vectors");
		skipped = !ci;
		failed = ci;
	}
	printf("1..%u\n", lines ? lines : 1);
	printf("%u passed, %u failed\n", passed + skipped, failed);
	return failed != 0;
}
