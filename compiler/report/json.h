/* SPDX-License-Identifier: MIT */
/* JSON of reports: objects that grow, and their end as text. */
#ifndef NPU_REPORT_JSON_H
#define NPU_REPORT_JSON_H

#include <json-c/json.h>
#include <stdio.h>

/* The outermost object, which npu_json_put() frees; NULL: out of memory, here and below. */
struct json_object *npu_json_new(void);

/* A new object or array as member @name of @parent, or a new object as element of an array. */
struct json_object *npu_json_object(struct json_object *parent, const char *name);
struct json_object *npu_json_array(struct json_object *parent, const char *name);
struct json_object *npu_json_element(struct json_object *array);

/* Takes @value, which may be NULL; 0 or -ENOMEM. */
int npu_json_add(struct json_object *object, const char *name, struct json_object *value);
int npu_json_text(struct json_object *object, const char *name, const char *text);

/**
 * npu_json_put() - writes the whole and frees it
 * @root: may be NULL
 * @err: of making it; where it is not 0, nothing is written and it is returned
 */
int npu_json_put(struct json_object *root, int err, FILE *out);

#endif /* NPU_REPORT_JSON_H */
