// SPDX-License-Identifier: MIT
/*
 * The demo: recognises hand-written digits, shows a few of them, counts how many of the held-out
 * images are right, and halves the NPU's budget in the middle of it.  Uses npu.h alone.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npu.h"

enum {
	SIDE = 8, /* of an image in the file */
	SCALE = 8, /* enlarged for the network */
	WIDE = SIDE * SCALE,
	LEVELS = 16, /* brightest grey level in the file */
	CLASSES = 10,
	SHOWN = 4, /* digits in a row on the terminal */
};

struct digit {
	int label;
	unsigned char pixel[SIDE * SIDE];
	int8_t answer[CLASSES]; /* of the first pass */
};

struct digits {
	struct digit *at;
	size_t count;
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "digits: %s: %s\n", what, why);
	return 1;
}

/* "LABEL PIXELS": a pixel is a digit of base 17. */
static bool parse_digit(const char *line, struct digit *digit)
{
	static const char grey[] = "0123456789abcdefg";
	size_t i;

	if (line[0] < '0' || line[0] > '9' || line[1] != ' ')
		return false;
	digit->label = line[0] - '0';
	for (i = 0; i < SIDE * SIDE; i++) {
		const char *level = line[2 + i] ? strchr(grey, line[2 + i]) : NULL;

		if (!level)
			return false;
		digit->pixel[i] = level - grey;
	}
	return true;
}

static int read_digits(const char *path, struct digits *digits)
{
	FILE *file = fopen(path, "r");
	char line[256];

	if (!file)
		return fail(path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		struct digit *more;

		if (line[0] == '#')
			continue;
		more = realloc(digits->at, (digits->count + 1) * sizeof(*more));
		if (!more) {
			fclose(file);
			return fail(path, strerror(ENOMEM));
		}
		digits->at = more;
		memset(&more[digits->count], 0, sizeof(*more));
		if (!parse_digit(line, &more[digits->count])) {
			fclose(file);
			return fail(path, "not a digit: expected a label and 64 grey levels");
		}
		digits->count++;
	}
	fclose(file);
	return digits->count ? 0 : fail(path, "no digits in it");
}

/* Where an enlarged coordinate falls between two pixels; the weight is of the second, of 2 SCALE. */
static int between(int at, int *first, int *second)
{
	int centre = 2 * at + 1 - SCALE + 2 * SCALE; /* one pixel further: not negative */
	int low = centre / (2 * SCALE) - 1;

	*first = low < 0 ? 0 : low;
	*second = low + 1 < SIDE ? low + 1 : SIDE - 1;
	return centre % (2 * SCALE);
}

/* Bilinear to 64x64, grey levels to 0 .. 255, and these to the network's INT8. */
static void enlarge(const struct digit *digit, int8_t *image)
{
	const int unit = 2 * SCALE, full = LEVELS * unit * unit;
	int y, x;

	for (y = 0; y < WIDE; y++) {
		int top, bottom, down = between(y, &top, &bottom);

		for (x = 0; x < WIDE; x++) {
			int left, right, across = between(x, &left, &right);
			const unsigned char *p = digit->pixel;
			int above = p[top * SIDE + left] * (unit - across) +
				    p[top * SIDE + right] * across;
			int below = p[bottom * SIDE + left] * (unit - across) +
				    p[bottom * SIDE + right] * across;
			int grey = above * (unit - down) + below * down;

			image[y * WIDE + x] = (grey * 255 + full / 2) / full - 128;
		}
	}
}

static int best(const int8_t *answer)
{
	int i, top = 0;

	for (i = 1; i < CLASSES; i++)
		if (answer[i] > answer[top])
			top = i;
	return top;
}

static int recognise(struct npu_model *model, const struct digit *digit, int8_t *answer,
		     struct npu_run_stats *stats)
{
	int8_t image[WIDE * WIDE];
	struct npu_input input = { image, sizeof(image) };
	struct npu_output output = { answer, CLASSES };

	enlarge(digit, image);
	return npu_run(model, &input, 1, &output, 1, stats);
}

static void show(const struct digit *digit, size_t count)
{
	static const char ink[] = " ..::--==++**##%@";
	size_t n;
	int y, x;

	for (y = 0; y < SIDE; y++) {
		for (n = 0; n < count; n++) {
			for (x = 0; x < SIDE; x++) {
				char c = ink[digit[n].pixel[y * SIDE + x]];

				printf("%c%c", c, c);
			}
			printf("   ");
		}
		printf("\n");
	}
	for (n = 0; n < count; n++) {
		int said = best(digit[n].answer);

		printf("says %d (%2d %%) %-3s  ", said, (digit[n].answer[said] + 128) * 100 / 256,
		       said == digit[n].label ? "" : "no");
	}
	printf("\n\n");
}

/* All images with the whole budget: shows some, keeps the answers, counts the right ones. */
static int first_pass(struct npu_model *model, struct digits *digits)
{
	struct npu_run_stats stats = { .size = sizeof(stats) };
	size_t i, right = 0;

	for (i = 0; i < digits->count; i++) {
		struct digit *digit = &digits->at[i];

		if (recognise(model, digit, digit->answer, &stats))
			return fail("run", npu_error());
		right += best(digit->answer) == digit->label;
	}
	for (i = 0; i + SHOWN <= digits->count && i < 2 * SHOWN; i += SHOWN)
		show(&digits->at[i], SHOWN);
	printf("accuracy: %zu of %zu held-out digits recognised (%.1f %%)\n\n", right,
	       digits->count, 100.0 * right / digits->count);
	return 0;
}

static void report(size_t i, struct npu_model *model, const struct npu_run_stats *stats)
{
	struct npu_model_info info = { .size = sizeof(info) };

	npu_model_info(model, &info);
	printf("%8zu  %5u  %5u  %12llu  %10llu  %11.0f\n", i, stats->plan_banks, stats->tasks,
	       (unsigned long long)(stats->feature_bytes + stats->weight_bytes +
				    stats->operand_bytes + stats->output_bytes),
	       (unsigned long long)stats->cycles, info.plan_ns / 1e3);
}

/* The same images again; a second handle, as an administrator has it, changes the budget meanwhile. */
static int second_pass(struct npu_device *device, struct npu_device *administrator,
		       struct npu_model *model, const struct digits *digits)
{
	static const unsigned share[] = { 1, 2, 4, 8, 1 };
	const size_t fifth = digits->count / 5 ? digits->count / 5 : 1;
	struct npu_device_budget budget = { .size = sizeof(budget) };
	size_t i, same = 0;
	unsigned replans = 0;

	if (npu_device_budget(device, &budget))
		return fail("budget", npu_error());
	printf("The same again, while the budget changes during the run:\n");
	printf("at image  banks  tasks    DRAM bytes      cycles  planned (us)\n");
	for (i = 0; i < digits->count; i++) {
		struct npu_run_stats stats = { .size = sizeof(stats) };
		size_t part = i / fifth;
		int8_t answer[CLASSES];

		if (i % fifth == 0 && part && part < sizeof(share) / sizeof(share[0]) &&
		    npu_device_set_cap(administrator, budget.banks_total / share[part]))
			return fail("budget", npu_error());
		if (recognise(model, &digits->at[i], answer, &stats))
			return fail("run", npu_error());
		same += !memcmp(answer, digits->at[i].answer, sizeof(answer));
		replans += stats.replans;
		if (i % fifth == 0 && part < sizeof(share) / sizeof(share[0]))
			report(i, model, &stats);
	}
	npu_device_set_cap(administrator, budget.banks_total);
	printf("planned again %u times; %zu of %zu answers are the same, byte for byte\n", replans,
	       same, digits->count);
	return same == digits->count ? 0 : 1;
}

static int check_model(const struct npu_model *model)
{
	struct npu_tensor_info in = { .size = sizeof(in) }, out = { .size = sizeof(out) };

	if (npu_model_input(model, 0, &in) || npu_model_output(model, 0, &out))
		return fail("model", npu_error());
	if (in.type != NPU_TYPE_INT8 || in.bytes != WIDE * WIDE || out.bytes != CLASSES)
		return fail("model", "does not take 64x64 INT8 images of digits");
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 3 ? argv[3] : "sim:nv_small:demo";
	struct npu_device *device = NULL, *administrator = NULL;
	struct npu_model *model = NULL;
	struct digits digits = { 0 };
	int status;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: digits MODEL DIGITS [DEVICE]\n");
		return 2;
	}
	status = read_digits(argv[2], &digits);
	if (!status && (npu_open(name, &device) || npu_open(name, &administrator) ||
			npu_model_load(device, argv[1], NULL, &model)))
		status = fail(argv[1], npu_error());
	if (!status)
		status = check_model(model);
	if (!status)
		status = first_pass(model, &digits);
	if (!status)
		status = second_pass(device, administrator, model, &digits);
	npu_model_free(model);
	npu_close(administrator);
	npu_close(device);
	free(digits.at);
	return status;
}
