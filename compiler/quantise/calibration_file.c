// SPDX-License-Identifier: MIT
/*
 * Calibrations as JSON: ours, an object with "tensors", and the tables of the
 * NVDLA compiler, an object with an object for each layer.
 */
#include "quantise/quantise.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "../output_file.h"
#include "../text.h"

#define FORMAT "npu-calibration"

/* ---- reading ---- */

struct reader {
	struct npu_calibration *calibration;
	const char *file;
	const char *tensor; /* at work */
	struct npu_diag *diag;
};

static int wrong(const struct reader *reader, const char *what)
{
	return npu_diag_set(reader->diag, -EINVAL, "%.200s: %.100s: %s", reader->file,
			    reader->tensor, what);
}

/* A finite number that float32 holds; @there tells whether there is a key of that name. */
static int read_float(const struct reader *reader, struct json_object *object, const char *key,
		      float *value, bool *there)
{
	struct json_object *number;
	double wide;

	*there = json_object_object_get_ex(object, key, &number);
	if (!*there)
		return 0;
	wide = json_object_get_double(number);
	*value = (float)wide;
	if ((!json_object_is_type(number, json_type_double) &&
	     !json_object_is_type(number, json_type_int)) ||
	    !isfinite(*value))
		return wrong(reader, "a value is not a number");
	return 0;
}

static int read_array(const struct reader *reader, struct json_object *object, const char *key,
		      float **values, u32 *count)
{
	struct json_object *array;
	u32 i;

	if (!json_object_object_get_ex(object, key, &array))
		return 0;
	if (!json_object_is_type(array, json_type_array) || json_object_array_length(array) == 0 ||
	    json_object_array_length(array) > INT32_MAX)
		return wrong(reader, "mean and equalise are arrays of numbers");
	*count = (u32)json_object_array_length(array);
	*values = npu_arena_array(&reader->calibration->arena, *count, sizeof(**values));
	if (!*values)
		return npu_diag_set(reader->diag, -ENOMEM, "%.200s: out of memory", reader->file);
	for (i = 0; i < *count; i++) {
		(*values)[i] = (float)json_object_get_double(json_object_array_get_idx(array, i));
		if (!isfinite((*values)[i]))
			return wrong(reader, "a value is not a number");
	}
	return 0;
}

static int read_zero(const struct reader *reader, struct json_object *object, s32 *zero)
{
	float value = 0;
	bool there;
	int error = read_float(reader, object, "zero", &value, &there);

	if (!error && (value < INT8_MIN || value > INT8_MAX || value != floorf(value)))
		error = wrong(reader, "zero is a whole number from -128 to 127");
	if (!error)
		*zero = (s32)value;
	return error;
}

/*
 * The NVDLA compiler's rows have all of scale, min, max and offset; those that do not count are 0.
 * Its mapping is symmetric.
 */
static int read_range(const struct reader *reader, struct json_object *object,
		      struct npu_range *range)
{
	bool has_scale, has_min, has_max;
	u32 i;
	int error = read_float(reader, object, "scale", &range->scale, &has_scale);

	if (!error)
		error = read_float(reader, object, "min", &range->min, &has_min);
	if (!error)
		error = read_float(reader, object, "max", &range->max, &has_max);
	if (!error)
		error = read_zero(reader, object, &range->zero);
	if (!error)
		error = read_array(reader, object, "mean", &range->mean, &range->channels);
	if (!error)
		error = read_array(reader, object, "equalise", &range->equalise,
				   &range->equalise_count);
	if (error)
		return error;
	if (range->scale < 0)
		return wrong(reader, "the scale is negative");
	if (!(range->scale > 0) && (!has_min || !has_max))
		return wrong(reader, "neither a scale nor min and max");
	if (range->min > range->max)
		return wrong(reader, "min is larger than max");
	for (i = 0; i < range->equalise_count; i++)
		if (!(range->equalise[i] > 0))
			return wrong(reader, "equalise has a factor that is not positive");
	return 0;
}

static int read_ranges(struct reader *reader, struct json_object *object)
{
	struct npu_calibration *calibration = reader->calibration;
	struct npu_range *range;
	int error = 0;

	json_object_object_foreach(object, key, value)
	{
		const char *name = npu_arena_string(&calibration->arena, key, strlen(key));

		reader->tensor = npu_text_clean(&calibration->arena, key);
		range = name ? npu_calibration_add(calibration, name) : NULL;
		if (!range || !reader->tensor)
			return npu_diag_set(reader->diag, -ENOMEM, "%.200s: out of memory",
					    reader->file);
		if (!json_object_is_type(value, json_type_object))
			return wrong(reader, "not an object with scale, or min and max");
		error = read_range(reader, value, range);
		if (error)
			return error;
	}
	return 0;
}

static int read_table(struct reader *reader, struct json_object *root)
{
	struct json_object *tensors, *text;
	struct npu_calibration *calibration = reader->calibration;

	if (!json_object_object_get_ex(root, "format", &text)) {
		calibration->method = "a table of the NVDLA compiler";
		return read_ranges(reader, root);
	}
	if (strcmp(json_object_get_string(text), FORMAT) ||
	    !json_object_object_get_ex(root, "tensors", &tensors) ||
	    !json_object_is_type(tensors, json_type_object))
		return npu_diag_set(reader->diag, -EINVAL,
				    "%.200s: not a calibration (format \"" FORMAT
				    "\" with an object \"tensors\")",
				    reader->file);
	if (json_object_object_get_ex(root, "samples", &text))
		calibration->samples = (u32)max(json_object_get_int(text), 0);
	calibration->method = "a calibration file";
	return read_ranges(reader, tensors);
}

static struct json_object *parse(const char *text, size_t bytes)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *root = NULL;

	if (!tokener)
		return NULL;
	if (bytes <= INT32_MAX)
		root = json_tokener_parse_ex(tokener, text, (int)bytes);
	if (root && json_tokener_get_error(tokener) != json_tokener_success) {
		json_object_put(root);
		root = NULL;
	}
	json_tokener_free(tokener);
	return root;
}

int npu_calibration_read(const char *text, size_t bytes, const char *name,
			 struct npu_calibration **calibration, struct npu_diag *diag)
{
	struct reader reader = { .file = name, .tensor = "", .diag = diag };
	struct json_object *root = parse(text, bytes);
	int error;

	if (!json_object_is_type(root, json_type_object)) {
		json_object_put(root);
		return npu_diag_set(diag, -EINVAL, "%.200s: not a JSON object", name);
	}
	reader.calibration = npu_calibration_new();
	if (!reader.calibration)
		error = npu_diag_set(diag, -ENOMEM, "%.200s: out of memory", name);
	else
		error = read_table(&reader, root);
	json_object_put(root);
	if (error)
		npu_calibration_free(reader.calibration);
	else
		*calibration = reader.calibration;
	return error;
}

/* ---- writing ---- */

/* Nine digits: reads as the same float32 again. */
static struct json_object *number(float value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", (double)value);
	return json_object_new_double_s((double)value, text);
}

static bool add(struct json_object *object, const char *key, struct json_object *value)
{
	if (value && !json_object_object_add(object, key, value))
		return true;
	json_object_put(value);
	return false;
}

static bool add_array(struct json_object *object, const char *key, const float *values, u32 count)
{
	struct json_object *array = json_object_new_array();
	u32 i;

	for (i = 0; array && i < count; i++) {
		struct json_object *value = number(values[i]);

		if (!value || json_object_array_add(array, value)) {
			json_object_put(value);
			json_object_put(array);
			return false;
		}
	}
	return add(object, key, array);
}

static bool add_range(struct json_object *tensors, const struct npu_range *range)
{
	struct json_object *object = json_object_new_object();

	if (!add(tensors, range->name, object))
		return false;
	if (range->scale > 0) {
		if (!add(object, "scale", number(range->scale)) ||
		    !add(object, "zero", json_object_new_int(range->zero)))
			return false;
	} else if (!add(object, "min", number(range->min)) ||
		   !add(object, "max", number(range->max))) {
		return false;
	}
	return (!range->mean || add_array(object, "mean", range->mean, range->channels)) &&
	       (!range->equalise ||
		add_array(object, "equalise", range->equalise, range->equalise_count));
}

static bool add_all(struct json_object *root, const struct npu_calibration *calibration)
{
	struct json_object *tensors = json_object_new_object();
	u32 i;

	if (!add(root, "format", json_object_new_string(FORMAT)) ||
	    !add(root, "method", json_object_new_string(calibration->method)) ||
	    !add(root, "samples", json_object_new_int64(calibration->samples)) ||
	    !add(root, "tensors", tensors))
		return false;
	for (i = 0; i < calibration->count; i++)
		if (!add_range(tensors, &calibration->range[i]))
			return false;
	return true;
}

int npu_calibration_write(const struct npu_calibration *calibration, const char *path,
			  struct npu_diag *diag)
{
	struct json_object *root = json_object_new_object();
	const char *text = NULL;
	int error = -ENOMEM;

	if (root && add_all(root, calibration))
		text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
								    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		error = npu_output_file_save(path, text, strlen(text));
	json_object_put(root);
	return error ? npu_diag_set(diag, error, "%.200s: %s", path, strerror(-error)) : 0;
}
