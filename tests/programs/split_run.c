// SPDX-License-Identifier: MIT
/*
 * Splits on the device model: a convolution computes the same bytes however it is
 * split, and moves exactly the bytes that its plan says.
 *
 * Configurations with tiny banks make small layers need every kind of split.  The
 * layer in one piece, with banks of the real size, says what is right.  Each split runs
 * with memory in one piece and in small ones, where values lie in bands.
 *
 *	split_run [LAYERS [SEED]]
 */
#include "../common/layer_net.h"
#include "../common/chain_device.h"

#include <inttypes.h>

#define ARENA_BASE 0x80000000ull
#define ARENA_BYTES (1u << 20)
#define PAGE 4096u

static u32 passed, failed;

/* How often each kind of split ran. */
enum kind {
	WHOLE,
	RESIDENT,
	STREAMED,
	CUT,
	RANGES,
	COLUMNS,
	SINGLES,
	POOLED,
	HALO,
	BANDS,
	HALO_BANDS,
	KINDS
};

static const char *const kind_names[KINDS] = {
	"one pass",
	"weights stay",
	"weights streamed",
	"weights stay, run by run",
	"kernel ranges",
	"columns",
	"single atoms",
	"pooling on the fly",
	"lines kept",
	"values in bands",
	"input in bands, lines kept",
};

static u32 seen[KINDS];

static void report(bool good, const char *text, const char *what)
{
	*(good ? &passed : &failed) += 1;
	if (!good)
		printf("not ok %u - %s\n%s", passed + failed, what, text);
}

/* Random weights and operand tables behind the layer's numbers. */
static bool fill_weights(struct npu_net *net, u32 *state)
{
	struct npu_layer *l = &net->layer[0];
	u32 lanes = DIV_ROUND_UP(l->k, (u32)net->config->atom) * net->config->atom * l->blocks;
	u64 tables = l->weights + l->weight_stride * l->blocks, i;
	u8 *bytes;

	net->weights_bytes = tables + 4ull * lanes + 64;
	bytes = calloc(1, net->weights_bytes);
	if (!bytes)
		return false;
	for (i = 0; i < tables; i++)
		bytes[i] = (u8)next_random(state, 256);
	l->sdp.bs.table = tables;
	l->sdp.bs.mul_shift = 13;
	for (i = 0; i < lanes; i++) {
		s16 bias = (s16)((s32)next_random(state, 2001) - 1000);
		s16 scale = (s16)random_between(state, 40, 400);

		memcpy(bytes + tables + 4 * i, &bias, 2);
		memcpy(bytes + tables + 4 * i + 2, &scale, 2);
	}
	l->sdp.bs.relu = next_random(state, 2);
	l->sdp.cvt_offset = (s32)next_random(state, 9) - 4;
	l->pad_value = (s32)next_random(state, 21) - 10;
	net->weights = bytes;
	net->weights_memory = bytes;
	return true;
}

static void count_kinds(const struct npu_net *net, const struct npu_plan *plan)
{
	const struct npu_layer_plan *lp = &plan->layer[0];
	bool singles = false, halo = false;
	u32 i, fetched = 0;

	for (i = 0; i < plan->task_count; i++) {
		const struct npu_task *t = &plan->task[i];

		halo = halo || (t->kept_rows && t->in_rows);
		fetched += !t->weight_reuse;
		singles = singles || (t->rows == 1 && t->cols == 1 && t->data_reuse);
	}
	seen[WHOLE] += plan->task_count == 1;
	seen[RESIDENT] += lp->pieces > 1 && strstr(lp->mode, "all weights stay");
	seen[STREAMED] += lp->pieces > 1 && strstr(lp->mode, "streamed");
	seen[CUT] += fetched > 1 && strstr(lp->mode, "all weights stay");
	seen[RANGES] += lp->pieces > 1 && strstr(lp->mode, "range");
	seen[COLUMNS] += lp->tiles > 1;
	seen[SINGLES] += singles;
	seen[POOLED] += plan->task[0].pooled;
	seen[HALO] += halo;
	seen[BANDS] += plan->cut_values > 0;
	seen[HALO_BANDS] += halo && plan->place[net->layer[0].input].count > 1;
}

/* Input and output, line by line: plans may place them differently, and cut them. */
static void copy_value(u8 *arena, const struct npu_net *net, const struct npu_plan *plan, u32 value,
		       u8 *bytes, bool into)
{
	const struct npu_value *v = &net->value[value];
	u32 c, y;

	for (c = 0; c < v->c; c += net->config->atom)
		for (y = 0; y < v->h; y++, bytes += v->line_stride) {
			u8 *line = arena + npu_plan_offset(net, plan, value, y, 0, c);

			if (into)
				memcpy(line, bytes, v->line_stride);
			else
				memcpy(bytes, line, v->line_stride);
		}
}

/* The regions lie in the device's memory one behind the other. */
static u64 binding_base(const struct npu_plan *plan, const struct npu_binding *binding)
{
	u64 start = plan->spans[binding->region].span[binding->span].start;

	return ARENA_BASE + start + (binding->region == NPU_REGION_WEIGHTS ? ARENA_BYTES : 0);
}

/* Runs the only chain of a program; the text of what went wrong, or NULL. */
static const char *run_program(struct npu_program *program, u8 *input, u8 *output,
			       struct npusim_counters *counters)
{
	static char text[256];
	const struct npu_net *net = program->net;
	const struct npu_step *step = &program->step[0];
	u64 base[NVDLA_CHAIN_MAX_REGIONS];
	struct nvdla_chain_error error;
	struct chain_device dev;
	struct nvdla_chain chain;
	size_t storage_bytes = nvdla_chain_storage_bytes(step->stream, step->stream_bytes);
	void *storage = calloc(1, storage_bytes + 1);
	u32 i;
	int err;

	for (i = 0; i < step->binding_count; i++)
		base[i] = binding_base(program->plan, &step->binding[i]);
	text[0] = 0;
	if (!storage || program->plan->arena_bytes > ARENA_BYTES)
		return "out of memory";
	err = nvdla_chain_validate(net->config, step->stream, step->stream_bytes, storage,
				   storage_bytes, &chain, &error);
	if (err) {
		nvdla_chain_error_text(&error, text, sizeof(text));
		free(storage);
		return text;
	}
	chain_device_open(&dev, net->config, ARENA_BASE, ARENA_BYTES + net->weights_bytes);
	memset(dev.memory, 0x5a, ARENA_BYTES);
	memcpy(dev.memory + ARENA_BYTES, net->weights, net->weights_bytes);
	copy_value(dev.memory, net, program->plan, net->input[0], input, true);
	err = chain_device_run(&dev, &chain, base, false);
	if (err)
		snprintf(text, sizeof(text), "run: %s: %s", strerror(-err),
			 npusim_diagnosis(dev.sim));
	npusim_counters(dev.sim, counters);
	copy_value(dev.memory, net, program->plan, net->layer[0].output, output, false);
	chain_device_close(&dev);
	free(storage);
	return err ? text : NULL;
}

/* What the model counted against what the plan says. */
static const char *compare_bytes(const struct npu_plan *plan, const struct npusim_counters *c)
{
	static char text[256];
	const struct npu_cost *cost = &plan->cost;
	u64 feature = c->bytes[NPUSIM_CDMA_DATA] + c->bytes[NPUSIM_PDP_READ];
	u64 operand = c->bytes[NPUSIM_SDP_BS] + c->bytes[NPUSIM_SDP_BN];
	u64 output = c->bytes[NPUSIM_SDP_WRITE] + c->bytes[NPUSIM_PDP_WRITE];

	if (feature == cost->feature_bytes && operand == cost->operand_bytes &&
	    output == cost->output_bytes && c->bytes[NPUSIM_CDMA_WEIGHT] == cost->weight_bytes)
		return NULL;
	snprintf(text, sizeof(text),
		 "moved %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ", planned %" PRIu64
		 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		 feature, c->bytes[NPUSIM_CDMA_WEIGHT], operand, output, cost->feature_bytes,
		 cost->weight_bytes, cost->operand_bytes, cost->output_bytes);
	return text;
}

/*
 * Plans, emits and runs for one number of banks and one size of pieces of memory; false where there is
 * no legal split, or something that no such pieces hold.
 */
static bool run_budget(struct npu_net *net, u32 banks, u64 region_bytes, u8 *input, u8 *output,
		       const char **wrong)
{
	struct npu_program program = { .net = net };
	struct npu_budget budget = npu_budget_full(net->config);
	struct npusim_counters counters;
	struct npu_diag diag = { "" };
	static char text[600];
	int err;

	budget.banks = banks;
	budget.region_bytes = region_bytes;
	*wrong = NULL;
	err = npu_plan_net(net, &budget, &program.plan, &diag);
	if (err == -ENOSPC || (err == -EFBIG && region_bytes))
		return false;
	if (!err)
		err = npu_plan_verify(net, program.plan, &diag);
	if (!err)
		err = npu_emit(&program, &diag);
	if (err == -EFBIG && region_bytes) {
		npu_plan_free(program.plan);
		return false;
	}
	if (err) {
		snprintf(text, sizeof(text), "%s", diag.text);
		*wrong = text;
	} else {
		*wrong = run_program(&program, input, output, &counters);
		if (!*wrong)
			*wrong = compare_bytes(program.plan, &counters);
		count_kinds(net, program.plan);
	}
	while (program.step_count)
		free(program.step[--program.step_count].stream);
	free(program.step);
	npu_plan_free(program.plan);
	return true;
}

/* Memory in one piece, then in small ones; what went wrong, or NULL. */
static const char *run_pieces(struct npu_net *net, u32 banks, u8 *input, u8 *output,
			      const u8 *right, const char *text)
{
	u64 size = net->value[net->layer[0].output].bytes;
	const char *wrong = NULL;
	u32 pages;

	for (pages = 0; pages <= 1 && !wrong; pages++) {
		if (!run_budget(net, banks, (u64)pages * PAGE, input, output, &wrong))
			continue;
		if (!wrong && memcmp(output, right, size))
			wrong = "other bytes than in one piece";
		report(!wrong, text, wrong ? wrong : "");
	}
	return wrong;
}

static void run_layer(const struct layer_numbers *n, const struct nvdla_config *real, u32 *state)
{
	struct nvdla_config tiny = *real;
	struct npu_net *net = layer_net(n, real);
	u8 *input, *output, *right;
	char text[700], numbers[512];
	const char *wrong;
	u64 size, i;
	u32 banks;

	if (!net)
		return;
	tiny.entries = (u16)(8u << next_random(state, 4));
	size = net->value[net->layer[0].output].bytes;
	input = calloc(1, net->value[net->input[0]].bytes + 1);
	output = calloc(1, size + 1);
	right = calloc(1, size + 1);
	net->output[0] = net->layer[0].output;
	if (!input || !output || !right || !fill_weights(net, state))
		abort();
	for (i = 0; i < net->value[net->input[0]].bytes; i++)
		input[i] = (u8)next_random(state, 256);
	layer_text(n, numbers, sizeof(numbers));
	snprintf(text, sizeof(text), "# %s, %u entries in a bank\n%s", real->name, tiny.entries,
		 numbers);
	if (run_budget(net, real->banks, 0, input, right, &wrong)) {
		report(!wrong, text, wrong ? wrong : "");
		net->config = &tiny;
		for (banks = 2; banks <= tiny.banks && !wrong; banks++)
			wrong = run_pieces(net, banks, input, output, right, text);
	}
	npu_net_free(net);
	free(input);
	free(output);
	free(right);
}

static void random_layer(u32 *state, const struct nvdla_config *cfg, struct layer_numbers *n)
{
	*n = (struct layer_numbers){
		.c = random_between(state, 1, 3 * cfg->atom),
		.h = random_between(state, 1, next_random(state, 5) ? 12 : 40),
		.w = random_between(state, 1, 12),
		.k = random_between(state, 1, 6 * cfg->atomic_k),
		.r = random_between(state, 1, 4),
		.s = random_between(state, 1, 4),
		.sy = random_between(state, 1, 3),
		.sx = random_between(state, 1, 3),
		.dy = random_between(state, 1, 2),
		.dx = random_between(state, 1, 2),
		.groups = 1,
	};
	random_padding(state, n);
	if (next_random(state, 5) == 0)
		n->groups = n->k = n->c;
	else if (next_random(state, 3) == 0) {
		n->pool = random_between(state, 1, 3);
		n->pool_stride = random_between(state, 1, 3);
		n->pool_pad = next_random(state, n->pool);
	}
}

int main(int argc, char **argv)
{
	u32 layers = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 400;
	u32 state = argc > 2 ? (u32)strtoul(argv[2], NULL, 0) : 1, i;

	for (i = 0; i < layers; i++) {
		const struct nvdla_config *cfg =
			&nvdla_configs[next_random(&state, nvdla_config_count)];
		struct layer_numbers n;

		random_layer(&state, cfg, &n);
		run_layer(&n, cfg, &state);
	}
	for (i = 0; i < KINDS; i++)
		printf("%s %u - %u plans: %s\n", seen[i] ? "ok" : "not ok", i + 1, seen[i],
		       kind_names[i]);
	for (i = 0; i < KINDS; i++)
		*(seen[i] ? &passed : &failed) += 1;
	printf("%u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}
