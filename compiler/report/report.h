/* SPDX-License-Identifier: MIT */
/*
 * What a plan looks like to people: numbers of the whole and of every layer as
 * JSON and CSV, one page with pictures, and curves over all budgets.
 */
#ifndef NPU_REPORT_H
#define NPU_REPORT_H

#include "../npu_compiler.h"

#include <stdio.h>

/**
 * npu_report_write() - summary.json, layers.csv, layers.json and report.html
 * @dir: made where it does not exist
 *
 * Files appear under their names when all of them are complete.
 *
 * Return: 0 or a negative errno with the file in @diag.
 */
int npu_report_write(const struct npu_program *program, const char *dir, struct npu_diag *diag);

/* What summary.json says; 0 or -ENOMEM. */
int npu_report_summary(const struct npu_program *program, FILE *out);

/**
 * npu_report_why() - tells why a layer is split as it is
 * @layer: its name; all layers of that name are told
 *
 * Return: 0, -ENOENT where no layer has that name.
 */
int npu_report_why(const struct npu_program *program, const char *layer, FILE *out);

/**
 * npu_sweep() - plans for every number of banks, as a table and as a plot
 *
 * The program keeps its plan.
 *
 * Return: 0 or a negative errno with the file in @diag.
 */
int npu_sweep(struct npu_program *program, const char *csv_path, const char *svg_path,
	      struct npu_diag *diag);

#endif /* NPU_REPORT_H */
