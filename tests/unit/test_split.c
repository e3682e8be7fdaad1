// SPDX-License-Identifier: MIT
/*
 * The split search against brute force on small layers, and its plans against the
 * verifier on random ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../common/layer_net.h"
#include "nvdla_cbuf.h"
#include "plan/plan_internal.h"

#define MAX_OUT 4u
#define MAX_GROUPS 5u

/* ---- brute force ------------------------------------------------------------------- */

/**
 * struct brute - everything that can be tried on a small layer
 * @need_y, @need_x: input lines and columns [first, end) that an output needs, found window by window
 */
struct brute {
	const struct nvdla_config *cfg;
	const struct npu_layer *layer;
	u32 high, wide; /* outputs */
	u32 y_first[MAX_OUT], y_end[MAX_OUT], x_first[MAX_OUT], x_end[MAX_OUT];
	u32 groups;
	u32 data_banks, weight_banks;
	u64 table, constant, column;
	bool pooled, skip_rows;
	u64 piece[MAX_OUT * MAX_OUT]; /* feature bytes of the pieces so far, each alone */
	u64 halo[MAX_OUT * MAX_OUT]; /* of these: what the piece above leaves */
	bool single[MAX_OUT * MAX_OUT];
	u32 pieces, tiles;
	u64 best, best_row_ranges; /* without and with kernel ranges over several columns */
};

static u64 group_bytes(const struct brute *b, u32 first, u32 count)
{
	const struct npu_layer *l = b->layer;
	u32 from = first * b->cfg->atomic_k, to = min((first + count) * b->cfg->atomic_k, l->k);
	u64 bytes = (u64)(to - from) * l->c * l->window.r * l->window.s;

	return count ? (bytes + b->cfg->entry_bytes - 1) / b->cfg->entry_bytes * b->cfg->entry_bytes
		     : 0;
}

static bool stays(const struct brute *b, u64 bytes)
{
	return bytes <= (u64)b->weight_banks * b->cfg->entries * b->cfg->entry_bytes;
}

static u32 singles(const struct brute *b)
{
	u32 i, n = 0;

	for (i = 0; i < b->pieces; i++)
		n += b->single[i];
	return n;
}

static void offer(struct brute *b, u64 bytes, bool ranges)
{
	bytes += b->constant + b->pieces * b->table;
	if (!ranges || b->tiles == 1)
		b->best_row_ranges = min(b->best_row_ranges, bytes);
	b->best = min(b->best, bytes);
}

/* Passes: kernel groups [@first, @first + @count) of a piece each. */
struct passes {
	struct {
		u32 piece, first, count;
	} pass[MAX_OUT * MAX_OUT * MAX_GROUPS];
	u32 count;
};

static void pass(struct passes *p, u32 piece, u32 first, u32 count)
{
	if (!count)
		return;
	assert_true(p->count < MAX_OUT * MAX_OUT * MAX_GROUPS);
	p->pass[p->count].piece = piece;
	p->pass[p->count].first = first;
	p->pass[p->count++].count = count;
}

/* What pass @n finds in the buffer. */
static u64 found(const struct brute *b, const struct passes *p, u32 n, bool weights)
{
	u32 piece = p->pass[n].piece, above = p->pass[n - 1].piece;
	u64 bytes = piece == above ? b->piece[piece] : piece == above + 1 ? b->halo[piece] : 0;

	if (weights && p->pass[n].first == p->pass[n - 1].first &&
	    p->pass[n].count == p->pass[n - 1].count)
		bytes += group_bytes(b, p->pass[n].first, p->pass[n].count);
	return bytes;
}

/* Bytes of all passes from @n on, cut into runs that are short enough, in the best of all ways. */
static u64 runs_bytes(const struct brute *b, const struct passes *p, bool weights)
{
	u64 least[MAX_OUT * MAX_OUT * MAX_GROUPS + 1], bytes;
	u32 n = p->count, end;

	least[n] = 0;
	while (n--) {
		least[n] = UINT64_MAX;
		bytes = 0;
		for (end = n; end < p->count && end - n < NPU_PASSES_RUN; end++) {
			bytes += b->piece[p->pass[end].piece] +
				 group_bytes(b, p->pass[end].first, p->pass[end].count) -
				 (end > n ? found(b, p, end, weights) : 0);
			least[n] = min(least[n], bytes + least[end + 1]);
		}
	}
	return least[0];
}

/* Weights streamed for every piece; @carry groups stay from one to the next, at alternating ends. */
static u64 stream_bytes(const struct brute *b, u32 carry)
{
	u32 piece, i, low, high;
	struct passes p = { .count = 0 };

	for (piece = 0; piece < b->pieces; piece++) {
		bool has = piece && carry, leaves = piece + 1 < b->pieces && carry,
		     up = !(piece % 2);

		if (b->single[piece] && b->groups > 1) {
			for (i = 0; i < b->groups; i++)
				pass(&p, piece, i, 1);
			continue;
		}
		/* An even piece goes up, an odd one down: what it has is where it starts. */
		low = (up ? has : leaves) ? carry : 0;
		high = b->groups - ((up ? leaves : has) ? carry : 0);
		if (has)
			pass(&p, piece, up ? 0 : high, carry);
		pass(&p, piece, low, high - low);
		if (leaves)
			pass(&p, piece, up ? high : 0, carry);
	}
	return runs_bytes(b, &p, carry);
}

/* Every range of kernels over all pieces, beginning with the piece that is still there. */
static u64 range_bytes(const struct brute *b, u32 range)
{
	struct passes p = { .count = 0 };
	u32 first, i, start = 0;

	for (first = 0; first < b->groups; first += range) {
		for (i = 0; i < b->pieces; i++)
			pass(&p, (start + i) % b->pieces, first, min(range, b->groups - first));
		start = (start + b->pieces - 1) % b->pieces;
	}
	return runs_bytes(b, &p, true);
}

static void try_tiling(struct brute *b)
{
	u32 alone = b->groups > 1 ? singles(b) : 0, n;

	for (n = 0; n <= b->groups / 2; n++)
		if (stays(b, max(group_bytes(b, 0, n), group_bytes(b, b->groups - n, n))) &&
		    !(alone && n))
			offer(b, stream_bytes(b, n), false);
	/* All kernels as one range: they stay from the first piece to the last. */
	for (n = 1; n <= b->groups; n++)
		if (stays(b, group_bytes(b, 0, n)) && !(alone && n > 1))
			offer(b, range_bytes(b, n), n < b->groups);
}

static void try_rows(struct brute *b, u32 x, u32 to_x, u32 y);

static void try_columns(struct brute *b, u32 x)
{
	u32 to;

	if (x == b->wide) {
		try_tiling(b);
		return;
	}
	for (to = x + 1; to <= b->wide; to++) {
		b->tiles++;
		try_rows(b, x, to, 0);
		b->tiles--;
	}
}

/* All ways to cut the rows of a tile from row @y on. */
static void try_rows(struct brute *b, u32 x, u32 to_x, u32 y)
{
	u32 width = b->x_end[to_x - 1] - b->x_first[x], to, eps;

	if (y == b->high) {
		try_columns(b, to_x);
		return;
	}
	eps = nvdla_cbuf_feature_eps(b->cfg, width, b->layer->c);
	for (to = y + 1; to <= b->high; to++) {
		u32 first = b->y_first[y], end = b->y_end[to - 1], stay = 0;

		if ((u64)(end - first) * eps > (u64)b->data_banks * b->cfg->entries)
			break;
		/* Lines stay where at least one was released before and one new one follows. */
		if (y && b->y_end[y - 1] > first && b->y_end[y - 1] < end &&
		    b->y_first[y] > b->y_first[y - 1])
			stay = b->y_end[y - 1] - first;
		b->piece[b->pieces] = (u64)(end - first) * width * b->column;
		b->halo[b->pieces] = (u64)stay * width * b->column;
		b->single[b->pieces] = !b->pooled && to - y == 1 && to_x - x == 1 &&
				       b->high * b->wide > 1;
		b->pieces++;
		try_rows(b, x, to_x, to);
		b->pieces--;
	}
}

/* Lines that output @out needs, window by window; every @step-th line counts as one. */
static void find_need(u32 out, u32 in, u32 conv, const u32 pool[3], const u32 window[4], u32 step,
		      u32 *first, u32 *end)
{
	s64 p, tap;

	*first = UINT32_MAX;
	*end = 0;
	for (p = 0; p < pool[0]; p++) {
		s64 row = (s64)out * pool[1] - pool[2] + p;

		if (row < 0 || row >= conv)
			continue;
		/* What lies between the taps of a dilated kernel is fetched too. */
		for (tap = 0; tap <= (window[0] - 1) * window[3]; tap++) {
			s64 line = row * window[1] - window[2] + tap;

			if (line < 0 || line >= in)
				continue;
			*first = min(*first, (u32)line / step);
			*end = max(*end, (u32)line / step + 1);
		}
	}
}

static u64 brute_force(const struct npu_net *net, bool pooled, u32 banks, u64 *row_ranges)
{
	const struct npu_layer *l = &net->layer[0];
	const struct npu_value *in = &net->value[l->input];
	const struct npu_value *conv = &net->value[l->has_pool ? l->unpooled : l->output];
	const struct npu_value *out = &net->value[pooled ? l->output : conv - net->value];
	const struct npu_window *w = &l->window, *p = &l->pool.window;
	u32 step = w->r == 1 && !w->pad_top ? w->stride_y : 1, i, lanes, need = 0;
	const u32 pool_y[3] = { pooled ? p->r : 1, pooled ? p->stride_y : 1,
				pooled ? p->pad_top : 0 };
	const u32 pool_x[3] = { pooled ? p->s : 1, pooled ? p->stride_x : 1,
				pooled ? p->pad_left : 0 };
	const u32 window_y[4] = { w->r, w->stride_y, w->pad_top, w->dilation_y };
	const u32 window_x[4] = { w->s, w->stride_x, w->pad_left, w->dilation_x };
	const struct nvdla_config *cfg = net->config;
	struct brute b = { .cfg = cfg,
			   .layer = l,
			   .high = out->h,
			   .wide = out->w,
			   .pooled = pooled,
			   .best = UINT64_MAX,
			   .best_row_ranges = UINT64_MAX };

	assert_true(out->h <= MAX_OUT && out->w <= MAX_OUT);
	for (i = 0; i < out->h; i++)
		find_need(i, in->h, conv->h, pool_y, window_y, step, &b.y_first[i], &b.y_end[i]);
	for (i = 0; i < out->w; i++)
		find_need(i, in->w, conv->w, pool_x, window_x, 1, &b.x_first[i], &b.x_end[i]);
	lanes = DIV_ROUND_UP(l->k, (u32)cfg->atom) * cfg->atom;
	b.groups = DIV_ROUND_UP(l->k, (u32)cfg->atomic_k);
	b.column = DIV_ROUND_UP(l->c, (u32)cfg->atom) * cfg->atom;
	b.table = (u64)lanes * 4;
	b.constant = (u64)lanes * out->h * out->w;
	/* Ranges of kernels may start at any group. */
	for (i = 0; i < b.groups; i++)
		need = max(need,
			   nvdla_cbuf_group_entries(cfg, l->k, l->c * w->r * w->s,
						    (u64)i * cfg->atomic_k * l->c * w->r * w->s));
	for (b.data_banks = 1; b.data_banks < banks; b.data_banks++)
		for (b.weight_banks = 1; b.data_banks + b.weight_banks <= banks; b.weight_banks++)
			if (need <= b.weight_banks * cfg->entries)
				try_columns(&b, 0);
	*row_ranges = b.best_row_ranges;
	return b.best;
}

/* A configuration with so small banks that small layers have to be split. */
static struct nvdla_config small_banks(u32 which, u32 entries)
{
	struct nvdla_config cfg = nvdla_configs[which % nvdla_config_count];

	cfg.entries = (u16)entries;
	cfg.banks = 7;
	return cfg;
}

static void random_numbers(u32 *state, const struct nvdla_config *cfg, struct layer_numbers *n)
{
	*n = (struct layer_numbers){
		.c = random_between(state, 1, 2 * cfg->atom + 3),
		.h = random_between(state, 1, 7),
		.w = random_between(state, 1, 7),
		.k = random_between(state, 1, MAX_GROUPS * cfg->atomic_k),
		.r = random_between(state, 1, 3),
		.s = random_between(state, 1, 3),
		.sy = random_between(state, 1, 3),
		.sx = random_between(state, 1, 3),
		.dy = random_between(state, 1, 2),
		.dx = random_between(state, 1, 2),
		.groups = 1,
	};
	random_padding(state, n);
	if (next_random(state, 3) == 0) {
		n->pool = random_between(state, 1, 3);
		n->pool_stride = random_between(state, 1, 3);
		n->pool_pad = next_random(state, n->pool);
	}
}

static void fail_layer(const struct layer_numbers *n, const struct nvdla_config *cfg, u32 banks,
		       const char *what, u64 have, u64 want)
{
	char text[512];

	layer_text(n, text, sizeof(text));
	fail_msg("%s: %llu, not %llu; %s with %u entries in a bank, %u banks\n%s", what,
		 (unsigned long long)have, (unsigned long long)want, cfg->name, cfg->entries, banks,
		 text);
}

/* How many layers were of use. */
struct seen {
	u32 tried, split, cut;
};

static void compare(const struct layer_numbers *n, const struct npu_net *net, bool pooled,
		    u32 banks, struct seen *seen)
{
	struct npu_split_space *space = npu_split_space_new();
	u64 least, row_ranges;
	struct npu_conv_shape shape;
	struct npu_split split;
	bool cut;
	int err;

	assert_non_null(space);
	least = brute_force(net, pooled, banks, &row_ranges);
	assert_int_equal(npu_conv_shape(net, &net->layer[0], pooled, &shape), 0);
	err = npu_split_search(space, net->config, &shape, banks, 0, &split);
	if (err != (least == UINT64_MAX ? -ENOSPC : 0))
		fail_layer(n, net->config, banks, "legal", (u64)-err, least);
	/* The search knows what the ends of runs cost, but not that smaller pieces may make it less. */
	cut = !err && split.tasks > NPU_PASSES_RUN;
	if (!err && split.bytes > row_ranges + (cut ? row_ranges / 10 : 0))
		fail_layer(n, net->config, banks, "too much", split.bytes, row_ranges);
	if (!err && split.bytes < least)
		fail_layer(n, net->config, banks, "too little", split.bytes, least);
	seen->tried++;
	seen->split += !err && split.pieces > 1;
	seen->cut += cut;
	npu_split_space_free(space);
}

static bool is_tiny(const struct npu_value *value)
{
	return value->h <= MAX_OUT && value->w <= MAX_OUT;
}

static void test_brute_force(void **unused)
{
	struct seen seen = { 0 };
	u32 state = 1, round;

	for (round = 0; round < 6000; round++) {
		u32 entries = random_between(&state, 2, 24), banks = random_between(&state, 2, 7);
		struct nvdla_config cfg = small_banks(next_random(&state, 6), entries);
		struct layer_numbers n;
		struct npu_net *net;
		const struct npu_value *out;

		random_numbers(&state, &cfg, &n);
		net = layer_net(&n, &cfg);
		if (!net)
			continue;
		out = &net->value[net->layer[0].has_pool ? net->layer[0].unpooled
							 : net->layer[0].output];
		if (is_tiny(out))
			compare(&n, net, false, banks, &seen);
		if (net->layer[0].has_pool && is_tiny(&net->value[net->layer[0].output]))
			compare(&n, net, true, banks, &seen);
		npu_net_free(net);
	}
	assert_true(seen.tried > 500);
	assert_true(seen.split > 200);
	assert_true(seen.cut > 10);
}

/* ---- random layers through planner and verifier -------------------------------------- */

/* Plans for every budget; traffic never rises with it, and every plan holds what it says. */
static u32 plan_all_budgets(const struct layer_numbers *n, const struct npu_net *net)
{
	u64 last = UINT64_MAX;
	u32 banks, plans = 0;

	for (banks = 1; banks <= net->config->banks; banks++) {
		struct npu_budget budget = { banks, net->config->entry_bytes, net->config->entries,
					     0, 0 };
		struct npu_diag diag = { "" };
		struct npu_plan *plan;
		int err = npu_plan_net(net, &budget, &plan, &diag);

		if (err == -ENOSPC && last == UINT64_MAX)
			continue;
		if (err)
			fail_layer(n, net->config, banks, diag.text, (u64)-err, 0);
		if (npu_plan_verify(net, plan, &diag))
			fail_layer(n, net->config, banks, diag.text, 0, 0);
		if (npu_cost_bytes(&plan->cost) > last)
			fail_layer(n, net->config, banks, "more traffic with more banks",
				   npu_cost_bytes(&plan->cost), last);
		last = npu_cost_bytes(&plan->cost);
		if (plan->layer[0].bound_bytes > last || plan->layer[0].compulsory_bytes > last)
			fail_layer(n, net->config, banks, "below its bound", last,
				   plan->layer[0].bound_bytes);
		assert_true(plan->banks <= banks);
		npu_plan_free(plan);
		plans++;
	}
	return plans;
}

static void test_random_layers(void **unused)
{
	u32 state = 7, round, plans = 0;

	for (round = 0; round < 120; round++) {
		const struct nvdla_config *cfg =
			&nvdla_configs[next_random(&state, nvdla_config_count)];
		struct layer_numbers n;
		struct npu_net *net;

		random_large(&state, 300, 60, 90, &n);
		net = layer_net(&n, cfg);
		if (!net)
			continue;
		plans += plan_all_budgets(&n, net);
		npu_net_free(net);
	}
	assert_true(plans > 1000);
}

/* Small layers on tiny banks reach the corners: single atoms, one line, one column. */
static void test_random_small_layers(void **unused)
{
	u32 state = 11, round, plans = 0;

	for (round = 0; round < 1500; round++) {
		struct nvdla_config cfg =
			small_banks(next_random(&state, 6), random_between(&state, 2, 60));
		struct layer_numbers n;
		struct npu_net *net;

		random_numbers(&state, &cfg, &n);
		n.h = random_between(&state, 1, 14);
		n.w = random_between(&state, 1, 14);
		net = layer_net(&n, &cfg);
		if (!net)
			continue;
		/* Pieces cost nothing where no operands come with each. */
		if (round % 3 == 0)
			net->layer[0].sdp.bs.bypass = net->layer[0].sdp.bn.bypass = true;
		plans += plan_all_budgets(&n, net);
		npu_net_free(net);
	}
	assert_true(plans > 1000);
}

/* What the search promises is what the passes of its split move. */
static void test_promise(void **unused)
{
	u32 state = 3, round, kept = 0;

	for (round = 0; round < 2000; round++) {
		struct nvdla_config cfg =
			small_banks(next_random(&state, 6), random_between(&state, 2, 60));
		struct npu_budget budget = { random_between(&state, 2, 7), cfg.entry_bytes,
					     cfg.entries, 0, 0 };
		struct npu_split_space *space = npu_split_space_new();
		struct npu_diag diag = { "" };
		struct npu_conv_shape shape;
		struct npu_split split;
		struct layer_numbers n;
		struct npu_plan *plan;
		struct npu_net *net;
		bool on_cpu;
		int err;

		assert_non_null(space);
		random_numbers(&state, &cfg, &n);
		n.pool = 0;
		n.h = random_between(&state, 1, 14);
		net = layer_net(&n, &cfg);
		if (net && !npu_plan_net(net, &budget, &plan, &diag)) {
			assert_int_equal(npu_conv_shape(net, &net->layer[0], false, &shape), 0);
			err = npu_split_search(space, &cfg, &shape, budget.banks, 0, &split);
			/* What has no legal split became a step of the CPU, and nothing else did. */
			on_cpu = net->layer[0].kind == NPU_LAYER_CPU;
			assert_int_equal(err, on_cpu ? -ENOSPC : 0);
			if (!on_cpu && split.bytes != npu_cost_bytes(&plan->cost))
				fail_layer(&n, &cfg, budget.banks, "not as promised",
					   npu_cost_bytes(&plan->cost), split.bytes);
			assert_int_equal(on_cpu ? 0 : split.tasks, plan->task_count);
			kept += !on_cpu;
			npu_plan_free(plan);
		}
		npu_net_free(net);
		npu_split_space_free(space);
	}
	assert_true(kept > 500);
}

/* What fits nowhere is refused with what it needs. */
static void test_message(void **unused)
{
	const struct layer_numbers n = layer_3x3(512, 14, 14, 512);
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	struct npu_net *net = layer_net(&n, cfg);
	struct npu_budget budget = { 10, cfg->entry_bytes, cfg->entries, 0, 0 };
	struct npu_diag diag = { "" };
	struct npu_plan *plan;

	assert_non_null(net);
	assert_int_equal(npu_plan_net(net, &budget, &plan, &diag), -ENOSPC);
	assert_non_null(strstr(diag.text, "layer layer"));
	assert_non_null(strstr(diag.text, "11 banks"));
	assert_non_null(strstr(diag.text, "10 are available"));
	diag.text[0] = 0;
	budget.banks = 11;
	assert_int_equal(npu_plan_net(net, &budget, &plan, &diag), 0);
	assert_int_equal(plan->banks, 11);
	npu_plan_free(plan);
	budget.entries = 100;
	assert_int_equal(npu_plan_net(net, &budget, &plan, &diag), -EINVAL);
	npu_net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brute_force),
		cmocka_unit_test(test_random_layers),
		cmocka_unit_test(test_random_small_layers),
		cmocka_unit_test(test_promise),
		cmocka_unit_test(test_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
