/* SPDX-License-Identifier: MIT */
#ifndef NPU_REPORT_HTML_H
#define NPU_REPORT_HTML_H

#include "../npu_compiler.h"

#include <stdio.h>

/* One page that needs nothing else: the chain on a time line, the buffer, the arena, all layers. */
int npu_report_html(const struct npu_program *program, FILE *out);

#endif /* NPU_REPORT_HTML_H */
