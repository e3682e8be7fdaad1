// SPDX-License-Identifier: MIT
/*
 * The demo's accuracy is the trained network's: the held-out digits through the reference interpreter,
 * which has to say, image by image, what training's own INT8 arithmetic said (digits.reference), and
 * through libnpu at every budget with the same bytes.  The NPU's layers may differ by one unit from
 * TensorFlow Lite's, so that the odd image at the border of two classes may change sides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/demo/digit_images.h"
#include "../common/test_device.h"
#include "../common/whole_file.h"
#include "npu.h"
#include "reference.h"

#define MODEL "tools/demo/digits.tflite"
#define DEVICE "sim:nv_small:digits"

enum {
	MAX_IMAGES = 1000,
	RIGHT_PERCENT = 1, /* how far the NPU's accuracy may be from training's */
	OTHER_PERCENT = 2, /* of the images may get another answer */
};

/* What training wrote down. */
struct trained {
	unsigned images, float_correct, int8_correct;
	char says[MAX_IMAGES + 1];
};

static unsigned passed, failed;

static void check(bool good, const char *what)
{
	if (good)
		passed++;
	else
		failed++;
	printf("%s %u - %s\n", good ? "ok" : "not ok", passed + failed, what);
}

static bool read_trained(const char *path, struct trained *trained)
{
	FILE *file = fopen(path, "r");
	bool good;

	if (!file)
		return false;
	good = fscanf(file, "#%*[^\n] images %u float_correct %u int8_correct %u int8_says %1000s",
		      &trained->images, &trained->float_correct, &trained->int8_correct,
		      trained->says) == 4;
	fclose(file);
	return good && strlen(trained->says) == trained->images;
}

static void check_reference(const struct digit *digits, const struct trained *trained)
{
	unsigned i, same = 0, right = 0;
	struct npu_diag diag = { 0 };
	struct npu_reference *reference = NULL;
	struct npu_graph *graph = NULL;
	size_t bytes = 0;
	void *file = whole_file(MODEL, &bytes);

	if (!file || npu_import_tflite(file, bytes, MODEL, NULL, &graph, &diag) ||
	    npu_reference_new(graph, &reference, &diag)) {
		check(false, "the reference interpreter takes the model");
		printf("# %s\n", diag.text);
		goto out;
	}
	for (i = 0; i < trained->images; i++) {
		int said;

		digit_enlarge(&digits[i], npu_reference_tensor(reference, graph->input[0]));
		if (npu_reference_run(reference, NULL, NULL, &diag))
			break;
		said = digit_best(npu_reference_tensor(reference, graph->output[0]));
		same += said == trained->says[i] - '0';
		right += said == digits[i].label;
	}
	printf("# reference interpreter: %u of %u right, %u as training's INT8 network\n", right,
	       trained->images, same);
	check(same == trained->images, "the reference interpreter says what training's INT8 "
				       "network said to each image");
	check(right == trained->int8_correct, "and is right as often");
out:
	npu_reference_free(reference);
	npu_graph_free(graph);
	free(file);
}

/* Runs each @step'th image; counts right answers and those that differ from training's. */
static bool run(struct npu_model *model, const struct digit *digits, const struct trained *trained,
		unsigned step, int8_t (*scores)[DIGIT_CLASSES], unsigned *right, unsigned *other)
{
	unsigned i;

	*right = *other = 0;
	for (i = 0; i < trained->images; i += step) {
		int8_t image[DIGIT_IMAGE_BYTES];
		struct npu_input input = { image, sizeof(image) };
		struct npu_output output = { scores[i], DIGIT_CLASSES };

		digit_enlarge(&digits[i], image);
		if (npu_run(model, &input, 1, &output, 1, NULL)) {
			printf("# %s\n", npu_error());
			return false;
		}
		*right += digit_best(scores[i]) == digits[i].label;
		*other += digit_best(scores[i]) != trained->says[i] - '0';
	}
	return true;
}

static void check_accuracy(struct npu_model *model, const struct digit *digits,
			   const struct trained *trained, int8_t (*scores)[DIGIT_CLASSES])
{
	unsigned right, other;
	bool ran = run(model, digits, trained, 1, scores, &right, &other);

	printf("# NPU: %u of %u right, %u other answers than training's\n", right, trained->images,
	       other);
	check(ran && 100 * abs((int)right - (int)trained->int8_correct) <=
			      RIGHT_PERCENT * (int)trained->images,
	      "the NPU is right as often, to one percent");
	check(ran && 100 * other <= OTHER_PERCENT * trained->images,
	      "the NPU says the same of 98 percent");
}

/* Every sixth image again with less of the buffer. */
static void check_budget(struct npu_device *device, struct npu_model *model,
			 const struct digit *digits, const struct trained *trained,
			 int8_t (*scores)[DIGIT_CLASSES], unsigned banks)
{
	static int8_t again[MAX_IMAGES][DIGIT_CLASSES];
	const unsigned step = 6;
	unsigned i, right, other, same = 0, ran = 0;
	char what[80];

	if (!npu_device_set_cap(device, banks) &&
	    run(model, digits, trained, step, again, &right, &other))
		for (i = 0; i < trained->images; i += step, ran++)
			same += !memcmp(again[i], scores[i], sizeof(again[i]));
	snprintf(what, sizeof(what), "with %u banks all scores are the same", banks);
	check(ran && same == ran, what);
}

static void check_npu(const struct digit *digits, const struct trained *trained)
{
	static int8_t scores[MAX_IMAGES][DIGIT_CLASSES];
	struct npu_device *device = NULL;
	struct npu_model *model = NULL;

	if (npu_open(test_device(DEVICE), &device) || npu_model_load(device, MODEL, NULL, &model)) {
		check(false, "libnpu takes the model");
		printf("# %s\n", npu_error());
	} else {
		check_accuracy(model, digits, trained, scores);
		check_budget(device, model, digits, trained, scores, 16);
		check_budget(device, model, digits, trained, scores, 8);
		check_budget(device, model, digits, trained, scores, 4);
		npu_device_set_cap(device, 32);
	}
	npu_model_free(model);
	npu_close(device);
}

int main(void)
{
	struct trained trained = { 0 };
	struct digit *digits = NULL;
	size_t count = 0;

	check(read_trained("tools/demo/digits.reference", &trained) &&
		      !digits_read("tools/demo/digits.txt", &digits, &count) &&
		      count == trained.images && count <= MAX_IMAGES,
	      "the held-out digits and what training says of them are there");
	if (!failed) {
		check(trained.int8_correct * 10 >= trained.images * 9,
		      "the INT8 network is right nine times of ten at the least");
		check(abs((int)trained.int8_correct - (int)trained.float_correct) * 50 <=
			      (int)trained.images,
		      "quantisation costs two percent at the most");
		check_reference(digits, &trained);
		check_npu(digits, &trained);
	}
	free(digits);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
