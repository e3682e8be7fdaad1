// SPDX-License-Identifier: MIT
#include "text.h"

#include <string.h>

/* Bytes of the character at @text: 0 where there is none that may be printed. */
static size_t character(const unsigned char *text)
{
	static const struct {
		unsigned char first, last; /* of the first byte */
		unsigned char low,
			high; /* of the second: neither overlong, surrogate nor too large */
		size_t bytes;
	} forms[] = {
		{ 0x20, 0x7e, 0, 0, 1 },       { 0xc2, 0xc2, 0xa0, 0xbf, 2 },
		{ 0xc3, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	size_t form, i;

	for (form = 0; form < sizeof(forms) / sizeof(forms[0]); form++)
		if (text[0] >= forms[form].first && text[0] <= forms[form].last)
			break;
	if (form == sizeof(forms) / sizeof(forms[0]))
		return 0;
	if (forms[form].bytes > 1 && (text[1] < forms[form].low || text[1] > forms[form].high))
		return 0;
	for (i = 2; i < forms[form].bytes; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return forms[form].bytes;
}

bool npu_text_is_clean(const char *text)
{
	size_t bytes;

	for (; *text; text += bytes) {
		bytes = character((const unsigned char *)text);
		if (!bytes)
			return false;
	}
	return true;
}

const char *npu_text_clean(struct npu_arena *arena, const char *text)
{
	char *copy, *at;

	if (npu_text_is_clean(text))
		return text;
	copy = npu_arena_string(arena, text, strlen(text));
	for (at = copy; at && *at;) {
		size_t bytes = character((const unsigned char *)at);

		if (!bytes)
			*at = '?';
		at += bytes ? bytes : 1;
	}
	return copy;
}
