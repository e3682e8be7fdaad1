// SPDX-License-Identifier: MIT
#include "json.h"

#include <errno.h>

struct json_object *npu_json_new(void)
{
	return json_object_new_object();
}

int npu_json_add(struct json_object *object, const char *name, struct json_object *value)
{
	if (value && !json_object_object_add(object, name, value))
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

int npu_json_text(struct json_object *object, const char *name, const char *text)
{
	return npu_json_add(object, name, json_object_new_string(text));
}

struct json_object *npu_json_object(struct json_object *parent, const char *name)
{
	struct json_object *object = json_object_new_object();

	return npu_json_add(parent, name, object) ? NULL : object;
}

struct json_object *npu_json_array(struct json_object *parent, const char *name)
{
	struct json_object *array = json_object_new_array();

	return npu_json_add(parent, name, array) ? NULL : array;
}

struct json_object *npu_json_element(struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	if (object && !json_object_array_add(array, object))
		return object;
	json_object_put(object);
	return NULL;
}

int npu_json_put(struct json_object *root, int err, FILE *out)
{
	int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text = root && !err ? json_object_to_json_string_ext(root, flags) : NULL;

	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(root);
	return err ? err : text ? 0 : -ENOMEM;
}
