/* SPDX-License-Identifier: MIT */
/* What the NPU does of each operator: for the passes, for reports and for npuc --supported-ops. */
#ifndef NPU_SUPPORT_H
#define NPU_SUPPORT_H

#include "../graph.h"

struct npu_opt;

/**
 * struct npu_op_support - what the NPU does of an operator
 * @unit: units that do it; NULL: always a CPU step
 * @limits: for people: what must hold
 * @table: by a table, so that there are 256 results at most
 * @check: why this one is not for the NPU; NULL: it is
 * @lower: into layers; NULL: there is nothing to do or no way to do it
 */
struct npu_op_support {
	const char *unit;
	const char *limits;
	bool table;
	const char *(*check)(const struct npu_opt *opt, const struct npu_op *op);
	int (*lower)(struct npu_opt *opt, u32 op);
};

/* By enum npu_op_kind; the one owner of what is supported. */
extern const struct npu_op_support npu_op_support[NPU_OP_COUNT];

#endif /* NPU_SUPPORT_H */
