/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks measure with: monotonic time, the median of several runs, and one line for
 * each figure: what, the reference of the same run, and their ratio.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The compiler may not drop work whose result goes through here. */
static inline void bench_keep(const void *result)
{
	__asm__ volatile("" : : "g"(result) : "memory");
}

enum { BENCH_RUNS = 9 };

/* Median seconds of one call of @work, over BENCH_RUNS calls behind one that warms up. */
static inline double bench_median(void (*work)(void *context), void *context)
{
	double seconds[BENCH_RUNS];
	int i;

	work(context);
	for (i = 0; i < BENCH_RUNS; i++) {
		double start = bench_seconds();

		work(context);
		seconds[i] = bench_seconds() - start;
	}
	qsort(seconds, BENCH_RUNS, sizeof(seconds[0]), bench_compare);
	return seconds[BENCH_RUNS / 2];
}

static inline double bench_processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The least time of the processor that a call of @work takes, of as many calls: what else runs counts little. */
static inline double bench_least(void (*work)(void *context), void *context)
{
	double least = 0;
	int i;

	work(context);
	for (i = 0; i < BENCH_RUNS; i++) {
		double start = bench_processor_seconds(), seconds;

		work(context);
		seconds = bench_processor_seconds() - start;
		if (!i || seconds < least)
			least = seconds;
	}
	return least;
}

/* One figure: @value in @unit, beside @reference_value of the named reference. */
static inline void bench_report(const char *what, double value, const char *unit,
				const char *reference, double reference_value)
{
	printf("%-40s %10.3f %-8s %s %.3f, ratio %.2f\n", what, value, unit, reference,
	       reference_value, value / reference_value);
}

#endif /* BENCH_H */
