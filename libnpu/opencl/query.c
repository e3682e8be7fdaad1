// SPDX-License-Identifier: MIT
/*
 * Every clGet...Info function is a table of rows; this file finds the row and copies.
 */
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

/* A constant in as many bytes as its type has, in host order. */
void ocl_answer_word(struct ocl_answer *answer, uint64_t value, size_t bytes)
{
	uint32_t small = (uint32_t)value;

	memcpy(answer->word, bytes == sizeof(small) ? (void *)&small : (void *)&value, bytes);
	answer->data = answer->word;
	answer->bytes = bytes;
}

void ocl_answer_handle(struct ocl_answer *answer, const void *handle)
{
	memcpy(answer->word, &handle, sizeof(handle));
	answer->data = answer->word;
	answer->bytes = sizeof(handle);
}

void ocl_answer_text(struct ocl_answer *answer, const char *text)
{
	ocl_answer_data(answer, text ? text : "", strlen(text ? text : "") + 1);
}

void ocl_answer_data(struct ocl_answer *answer, const void *data, size_t bytes)
{
	answer->data = data;
	answer->bytes = bytes;
}

void ocl_query_handles(const void *object, struct ocl_answer *answer)
{
	const struct ocl_object *base = object;

	ocl_answer_word(answer, atomic_load(&base->handles), sizeof(cl_uint));
}

static void answer_row(const struct ocl_query *row, const void *object, struct ocl_answer *answer)
{
	switch (row->how) {
	case OCL_BY_VALUE:
		ocl_answer_word(answer, row->value, row->bytes);
		break;
	case OCL_BY_FIELD:
		ocl_answer_data(answer, (const char *)object + row->offset, row->bytes);
		break;
	case OCL_BY_TEXT:
		ocl_answer_data(answer, row->text, row->bytes);
		break;
	case OCL_BY_CALL:
		row->get(object, answer);
		break;
	}
}

static cl_int copy_answer(const struct ocl_answer *answer, size_t size, void *value,
			  size_t *size_ret)
{
	if (answer->error)
		return answer->error;
	if (value && size < answer->bytes)
		return ocl_fail(NULL, CL_INVALID_VALUE,
				"the value has %zu bytes, there is room for %zu", answer->bytes,
				size);
	if (value && answer->bytes)
		memcpy(value, answer->data, answer->bytes);
	if (size_ret)
		*size_ret = answer->bytes;
	return CL_SUCCESS;
}

cl_int ocl_query(const struct ocl_query *rows, size_t count, const void *object, cl_uint name,
		 size_t size, void *value, size_t *size_ret)
{
	struct ocl_answer answer = { 0 };
	cl_int error;
	size_t i;

	for (i = 0; i < count && rows[i].name != name; i++)
		;
	if (i == count)
		return ocl_fail(NULL, CL_INVALID_VALUE, "there is no parameter 0x%x", name);
	answer_row(&rows[i], object, &answer);
	error = copy_answer(&answer, size, value, size_ret);
	free(answer.owned);
	return error;
}
