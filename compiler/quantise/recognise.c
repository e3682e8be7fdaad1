// SPDX-License-Identifier: MIT
/*
 * Frameworks write SiLU, GELU or hard swish as several operators, and no two exporters
 * as the same ones.  Any expression of one tensor and numbers is a function of one
 * element: it is tried at some points, and where its values are those of a function
 * that the graph has, that takes its place.  One table of 256 results is then exact where
 * a chain of integer operators would round at every step.
 */
#include <math.h>
#include <stdlib.h>

#include "quantise/rewrite.h"

/* Expressions of more operators, deeper ones, or of more tensors to be tried are not looked at. */
#define MAX_OPS 12
#define MAX_DEPTH 10
#define MAX_TRIES 40

/* Points from -10 to 10 at which functions are compared. */
#define POINTS 81
#define MARGIN 1e-5

static const struct npu_op candidates[] = {
	{ .kind = NPU_OP_HARD_SWISH },
	{ .kind = NPU_OP_LOGISTIC },
	{ .kind = NPU_OP_TANH },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_SILU, .alpha = 1 },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_SILU, .alpha = 1.702f },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_GELU },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_GELU_TANH },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_MISH },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_SOFTPLUS },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_SOFTSIGN },
};

/**
 * struct search - a graph that is looked through
 * @readers, @producer: of each tensor; producers are operators or NPU_NONE
 * @gone: of each operator
 * @leaf: the tensor that the expression is one of
 * @op, @op_count: the expression's operators, in the order of the graph
 * @tries: tensors that were tried for the operator at work
 */
struct search {
	struct npu_graph *graph;
	u32 *readers, *producer;
	bool *gone;
	u32 leaf;
	u32 op[MAX_OPS], op_count, tries;
};

static bool is_elementwise(const struct npu_op *op)
{
	switch (op->kind) {
	case NPU_OP_ADD:
	case NPU_OP_SUB:
	case NPU_OP_MUL:
	case NPU_OP_DIV:
	case NPU_OP_MINIMUM:
	case NPU_OP_MAXIMUM:
	case NPU_OP_RELU:
	case NPU_OP_LOGISTIC:
	case NPU_OP_TANH:
	case NPU_OP_HARD_SWISH:
	case NPU_OP_FUNCTION:
		return true;
	default:
		return false;
	}
}

static const float *number(const struct npu_tensor *tensor)
{
	return tensor->data && tensor->dtype == NPU_F32 && npu_tensor_elements(tensor) == 1
		       ? tensor->data
		       : NULL;
}

static double apply(const struct npu_op *op, double x)
{
	switch (op->kind) {
	case NPU_OP_LOGISTIC:
		return 1 / (1 + exp(-x));
	case NPU_OP_TANH:
		return tanh(x);
	case NPU_OP_HARD_SWISH:
		return x * fmin(fmax(x + 3, 0), 6) / 6;
	case NPU_OP_FUNCTION:
		return npu_function_value(op, x);
	default: /* the activation alone */
		return x;
	}
}

static double clamp(enum npu_activation activation, double x)
{
	switch (activation) {
	case NPU_ACT_RELU:
		return fmax(x, 0);
	case NPU_ACT_RELU6:
		return fmin(fmax(x, 0), 6);
	case NPU_ACT_RELU_N1_TO_1:
		return fmin(fmax(x, -1), 1);
	default:
		return x;
	}
}

/* An operand of the expression; @result has those of its operators that are in front. */
static double operand(const struct search *s, u32 tensor, double x, const double *result)
{
	const float *constant = number(&s->graph->tensor[tensor]);
	u32 i;

	if (tensor == s->leaf)
		return x;
	for (i = 0; !constant && i < s->op_count; i++)
		if (s->graph->op[s->op[i]].output[0] == tensor)
			return result[i];
	return constant ? (double)*constant : NAN;
}

/* The expression where its leaf is @x. */
static double value(const struct search *s, double x)
{
	double result[MAX_OPS];
	u32 i;

	for (i = 0; i < s->op_count; i++) {
		const struct npu_op *op = &s->graph->op[s->op[i]];

		result[i] = operand(s, op->input[0], x, result);
		if (op->input_count > 1)
			result[i] = npu_binary_value(op->kind, result[i],
						     operand(s, op->input[1], x, result));
		else
			result[i] = apply(op, result[i]);
		result[i] = clamp(op->activation, result[i]);
	}
	return result[s->op_count - 1];
}

/* Keeps the order of the graph, in which operands come first. */
static bool add_op(struct search *s, u32 op)
{
	u32 i;

	if (s->op_count == MAX_OPS)
		return false;
	for (i = s->op_count++; i && s->op[i - 1] > op; i--)
		s->op[i] = s->op[i - 1];
	s->op[i] = op;
	return true;
}

static bool is_collected(const struct search *s, u32 op)
{
	u32 i;

	for (i = 0; i < s->op_count; i++)
		if (s->op[i] == op)
			return true;
	return false;
}

/* Collects the operators between a tensor and the leaf; false where it depends on anything else. */
static bool collect(struct search *s, u32 tensor, u32 depth)
{
	const struct npu_tensor *t = &s->graph->tensor[tensor];
	const struct npu_tensor *leaf = &s->graph->tensor[s->leaf];
	const struct npu_op *op;
	u32 i;

	if (tensor == s->leaf || number(t))
		return true;
	if (depth == MAX_DEPTH || s->producer[tensor] == NPU_NONE || t->dtype != NPU_F32 ||
	    t->rank != leaf->rank || memcmp(t->dim, leaf->dim, t->rank * sizeof(*t->dim)) != 0)
		return false;
	if (is_collected(s, s->producer[tensor]))
		return true;
	op = &s->graph->op[s->producer[tensor]];
	if (!is_elementwise(op) || !add_op(s, s->producer[tensor]))
		return false;
	for (i = 0; i < op->input_count; i++)
		if (op->input[i] == NPU_NONE || !collect(s, op->input[i], depth + 1))
			return false;
	return true;
}

/* Nothing outside reads what lies between. */
static bool is_closed(const struct search *s)
{
	u32 i, j, k;

	for (i = 0; i + 1 < s->op_count; i++) {
		u32 tensor = s->graph->op[s->op[i]].output[0], inside = 0;

		for (j = 0; j < s->op_count; j++)
			for (k = 0; k < s->graph->op[s->op[j]].input_count; k++)
				inside += s->graph->op[s->op[j]].input[k] == tensor;
		if (inside != s->readers[tensor])
			return false;
	}
	return true;
}

static bool is_function(const struct search *s, const struct npu_op *candidate)
{
	u32 i;

	for (i = 0; i < POINTS; i++) {
		double x = -10 + 20.0 * i / (POINTS - 1), want = apply(candidate, x);

		if (!(fabs(value(s, x) - want) <= MARGIN * (1 + fabs(want))))
			return false;
	}
	return true;
}

static void replace(struct search *s, u32 root, const struct npu_op *candidate)
{
	struct npu_op *op = &s->graph->op[root];
	u32 i;

	for (i = 0; i + 1 < s->op_count; i++)
		s->gone[s->op[i]] = true;
	op->kind = candidate->kind;
	op->function = candidate->function;
	op->alpha = candidate->alpha;
	op->beta = candidate->beta;
	op->gamma = candidate->gamma;
	op->activation = NPU_ACT_NONE;
	op->input[0] = s->leaf;
	op->input_count = 1;
}

static bool try_leaf(struct search *s, u32 root, u32 leaf)
{
	u32 out = s->graph->op[root].output[0], i;

	s->leaf = leaf;
	s->op_count = 0;
	if (s->graph->tensor[leaf].data || !collect(s, out, 0) || s->op_count < 2 || !is_closed(s))
		return false;
	for (i = 0; i < ARRAY_SIZE(candidates); i++)
		if (is_function(s, &candidates[i])) {
			replace(s, root, &candidates[i]);
			return true;
		}
	return false;
}

/* Every tensor in front of @tensor may be the one. */
static bool try_leaves(struct search *s, u32 root, u32 tensor, u32 depth)
{
	const struct npu_op *op;
	u32 i;

	if (depth == MAX_DEPTH || s->producer[tensor] == NPU_NONE)
		return false;
	op = &s->graph->op[s->producer[tensor]];
	if (!is_elementwise(op) || s->tries++ >= MAX_TRIES)
		return false;
	for (i = 0; i < op->input_count; i++)
		if (op->input[i] != NPU_NONE && !s->graph->tensor[op->input[i]].data &&
		    (try_leaf(s, root, op->input[i]) ||
		     try_leaves(s, root, op->input[i], depth + 1)))
			return true;
	return false;
}

static void drop_gone(struct search *s)
{
	u32 i, kept = 0;

	for (i = 0; i < s->graph->op_count; i++)
		if (!s->gone[i])
			s->graph->op[kept++] = s->graph->op[i];
	s->graph->op_count = kept;
}

/* The last operators first: theirs are the largest expressions. */
static void recognise(struct search *s)
{
	u32 i;

	for (i = 0; i < s->graph->tensor_count; i++)
		s->producer[i] = NPU_NONE;
	for (i = 0; i < s->graph->op_count; i++)
		s->producer[s->graph->op[i].output[0]] = i;
	for (i = s->graph->op_count; i--;)
		if (!s->gone[i] && is_elementwise(&s->graph->op[i])) {
			s->tries = 0;
			try_leaves(s, i, s->graph->op[i].output[0], 0);
		}
	drop_gone(s);
}

int npu_recognise_functions(struct npu_graph *graph)
{
	struct search s = { .graph = graph };
	int error = -ENOMEM;

	s.readers = npu_count_readers(graph);
	s.producer = calloc(graph->tensor_count + 1, sizeof(*s.producer));
	s.gone = calloc(graph->op_count + 1, sizeof(*s.gone));
	if (s.readers && s.producer && s.gone) {
		recognise(&s);
		error = 0;
	}
	free(s.readers);
	free(s.producer);
	free(s.gone);
	return error;
}
