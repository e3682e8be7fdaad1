// SPDX-License-Identifier: MIT
/*
 * The demo: recognises hand-written digits, shows a few of them, counts how many of the held-out
 * images are right, and halves the NPU's budget in the middle of it.  Needs npu.h alone.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/tool.h"
#include "../demo/digit_images.h"
#include "npu.h"

#define NAME "digits"

enum { SHOWN = 4 }; /* digits in a row on the terminal */

struct demo {
	struct npu_device *device;
	struct npu_device *administrator; /* a second handle, that changes the budget */
	struct npu_model *model;
	struct digit *digits;
	int8_t (*answers)[DIGIT_CLASSES]; /* of the first pass */
	size_t count;
};

static int fail(const char *what, const char *why)
{
	return tool_error(NAME, "%s: %s", what, why);
}

static int recognise(struct npu_model *model, const struct digit *digit, int8_t *answer,
		     struct npu_run_stats *stats)
{
	int8_t image[DIGIT_IMAGE_BYTES];
	struct npu_input input = { image, sizeof(image) };
	struct npu_output output = { answer, DIGIT_CLASSES };

	digit_enlarge(digit, image);
	if (npu_run(model, &input, 1, &output, 1, stats))
		return fail("run", npu_error());
	return 0;
}

static void show(const struct digit *digits, int8_t (*answers)[DIGIT_CLASSES])
{
	static const char ink[] = " ..::--==++**##%@";
	int n, y, x;

	for (y = 0; y < DIGIT_SIDE; y++) {
		for (n = 0; n < SHOWN; n++) {
			for (x = 0; x < DIGIT_SIDE; x++) {
				char c = ink[digits[n].pixel[y * DIGIT_SIDE + x]];

				printf("%c%c", c, c);
			}
			printf("   ");
		}
		printf("\n");
	}
	for (n = 0; n < SHOWN; n++) {
		int said = digit_best(answers[n]);

		printf("says %d (%2d %%)%-8s", said, (answers[n][said] + 128) * 100 / 256,
		       said == digits[n].label ? "" : " wrong");
	}
	printf("\n\n");
}

/* All images with the whole budget: keeps the answers, shows some, counts the right ones. */
static int first_pass(struct demo *demo)
{
	size_t i, right = 0;

	for (i = 0; i < demo->count; i++) {
		if (recognise(demo->model, &demo->digits[i], demo->answers[i], NULL))
			return 1;
		right += digit_best(demo->answers[i]) == demo->digits[i].label;
	}
	for (i = 0; i + SHOWN <= demo->count && i < 2 * SHOWN; i += SHOWN)
		show(&demo->digits[i], &demo->answers[i]);
	printf("accuracy: %zu of %zu held-out digits recognised (%.1f %%)\n\n", right, demo->count,
	       100.0 * right / demo->count);
	return 0;
}

static void report(size_t i, struct npu_model *model, const struct npu_run_stats *stats)
{
	struct npu_model_info info = { .size = sizeof(info) };

	npu_model_info(model, &info);
	printf("%8zu  %5u  %5u  %10llu  %8llu  %12.0f\n", i, stats->plan_banks, stats->tasks,
	       (unsigned long long)(stats->feature_bytes + stats->weight_bytes +
				    stats->operand_bytes + stats->output_bytes),
	       (unsigned long long)stats->cycles, info.plan_ns / 1e3);
}

/* The same images again, in five parts; the budget changes between the parts. */
static int second_pass(struct demo *demo)
{
	static const unsigned share[] = { 1, 2, 4, 8, 1 };
	const size_t parts = sizeof(share) / sizeof(share[0]);
	const size_t images = demo->count < parts ? 1 : demo->count / parts;
	struct npu_device_budget budget = { .size = sizeof(budget) };
	size_t i, same = 0;
	unsigned replans = 0;

	if (npu_device_budget(demo->device, &budget))
		return fail("budget", npu_error());
	printf("The same images again, and the budget changes during the run:\n");
	printf("at image  banks  tasks  DRAM bytes    cycles  planned (us)\n");
	for (i = 0; i < demo->count; i++) {
		struct npu_run_stats stats = { .size = sizeof(stats) };
		bool first = i % images == 0 && i / images < parts;
		int8_t answer[DIGIT_CLASSES];

		if (first &&
		    npu_device_set_cap(demo->administrator, budget.banks_total / share[i / images]))
			return fail("budget", npu_error());
		if (recognise(demo->model, &demo->digits[i], answer, &stats))
			return 1;
		same += !memcmp(answer, demo->answers[i], sizeof(answer));
		replans += stats.replans;
		if (first)
			report(i, demo->model, &stats);
	}
	printf("planned again %u times; %zu of %zu answers are the same, byte for byte\n", replans,
	       same, demo->count);
	return same == demo->count ? 0 : 1;
}

static int check_model(const struct npu_model *model)
{
	struct npu_tensor_info in = { .size = sizeof(in) }, out = { .size = sizeof(out) };

	if (npu_model_input(model, 0, &in) || npu_model_output(model, 0, &out))
		return fail("model", npu_error());
	if (in.type != NPU_TYPE_INT8 || in.bytes != DIGIT_IMAGE_BYTES || out.bytes != DIGIT_CLASSES)
		return fail("model", "does not take 64x64 INT8 images of digits");
	return 0;
}

static int prepare(struct demo *demo, const char *model, const char *digits, const char *device)
{
	int error = digits_read(digits, &demo->digits, &demo->count);

	if (error)
		return fail(digits, strerror(-error));
	demo->answers = calloc(demo->count, sizeof(*demo->answers));
	if (!demo->answers)
		return fail(digits, strerror(ENOMEM));
	if (npu_open(device, &demo->device) || npu_open(device, &demo->administrator))
		return fail(device, npu_error());
	if (npu_model_load(demo->device, model, NULL, &demo->model))
		return fail(model, npu_error());
	return check_model(demo->model);
}

static int run_tool(int argc, char **argv)
{
	struct demo demo = { 0 };
	int status;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: digits MODEL DIGITS [DEVICE]\n");
		return TOOL_USAGE;
	}
	status = prepare(&demo, argv[1], argv[2], argc > 3 ? argv[3] : "sim:nv_small:demo") ||
		 first_pass(&demo) || second_pass(&demo);
	npu_model_free(demo.model);
	npu_close(demo.administrator);
	npu_close(demo.device);
	free(demo.answers);
	free(demo.digits);
	return status;
}

int main(int argc, char **argv)
{
	return tool_main(NAME, run_tool, argc, argv);
}
