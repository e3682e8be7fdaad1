// SPDX-License-Identifier: MIT
/*
 * Reads protobuf's text format: fields by name, nested messages in braces or angle brackets, lists in
 * square brackets, comments from # to the end of the line.  What is read is written in binary form at
 * once, so that protobuf-c's own decoder makes structures, defaults and lists of it.
 */
#include "prototxt.h"
#include "../text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers and names are no longer; strings may be as long as the text. */
#define MAX_WORD 128

/* Messages in fields that nobody knows; known ones are nested as deep as their descriptions are. */
#define MAX_UNKNOWN_DEPTH 64

/* Singular fields that were there are remembered by their place in the description. */
#define MAX_FIELDS 256

enum token { END, WORD, STRING, SYMBOL, BAD };

struct reader {
	const struct prototxt_source *source;
	struct npu_diag *diag;
	const char *at, *end;
	u32 line;
	enum token token;
	const char *from; /* of the token: quotes included */
	size_t length;
	locale_t locale; /* numbers have a decimal point wherever the user lives */
	u8 *data; /* binary form so far */
	size_t bytes, capacity;
};

static int fail(struct reader *r, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct reader *r, int error, const char *format, ...)
{
	char what[256], *c;
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	for (c = what; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	return npu_diag_set(r->diag, error, "%s: line %u: %s", r->source->file, r->line, what);
}

/* ---- tokens ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '+' || c == '-';
}

static void skip_space(struct reader *r)
{
	for (; r->at != r->end; r->at++) {
		if (*r->at == '#')
			while (r->at + 1 != r->end && r->at[1] != '\n')
				r->at++;
		else if (*r->at == '\n')
			r->line++;
		else if (!isspace((unsigned char)*r->at))
			break;
	}
}

/* Up to the closing quote on the same line. */
static enum token scan_string(struct reader *r)
{
	const char quote = *r->at++;

	for (; r->at != r->end && *r->at != '\n'; r->at++) {
		if (*r->at == quote) {
			r->at++;
			return STRING;
		}
		if (*r->at == '\\' && r->at + 1 != r->end)
			r->at++;
	}
	return BAD;
}

static void next(struct reader *r)
{
	skip_space(r);
	r->from = r->at;
	if (r->at == r->end) {
		r->token = END;
	} else if (*r->at == '"' || *r->at == '\'') {
		r->token = scan_string(r);
	} else if (is_word(*r->at)) {
		while (r->at != r->end && is_word(*r->at))
			r->at++;
		r->token = WORD;
	} else {
		r->token = strchr("{}<>[]:,;", *r->at) && *r->at ? SYMBOL : BAD;
		r->at++;
	}
	r->length = (size_t)(r->at - r->from);
}

static bool is_symbol(const struct reader *r, char symbol)
{
	return r->token == SYMBOL && *r->from == symbol;
}

static bool take_symbol(struct reader *r, char symbol)
{
	bool is = is_symbol(r, symbol);

	if (is)
		next(r);
	return is;
}

static int unexpected(struct reader *r, const char *wanted)
{
	if (r->token == END)
		return fail(r, -EINVAL, "the text ends where %s is expected", wanted);
	return fail(r, -EINVAL, "%s is expected at \"%.*s\"", wanted,
		    (int)min(r->length, (size_t)40), r->from);
}

/* The token as a string of its own; it is short. */
static int copy_word(struct reader *r, const char *wanted, char word[MAX_WORD])
{
	if (r->token != WORD || r->length >= MAX_WORD)
		return unexpected(r, wanted);
	memcpy(word, r->from, r->length);
	word[r->length] = '\0';
	return 0;
}

/* ---- binary form ---- */

static u8 *room(struct reader *r, size_t bytes)
{
	size_t capacity = max(r->capacity, (size_t)4096);
	u8 *larger;

	while (capacity - r->bytes < bytes)
		if (check_mul_overflow(capacity, (size_t)2, &capacity))
			return NULL;
	if (capacity != r->capacity) {
		larger = realloc(r->data, capacity);
		if (!larger)
			return NULL;
		r->data = larger;
		r->capacity = capacity;
	}
	return r->data + r->bytes;
}

static int put(struct reader *r, const void *data, size_t bytes)
{
	u8 *to = room(r, bytes);

	if (!to)
		return fail(r, -ENOMEM, "out of memory");
	memcpy(to, data, bytes);
	r->bytes += bytes;
	return 0;
}

static size_t encode_varint(u64 value, u8 out[10])
{
	size_t n = 0;

	do {
		out[n++] = (u8)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	return n;
}

static int put_varint(struct reader *r, u64 value)
{
	u8 bytes[10];

	return put(r, bytes, encode_varint(value, bytes));
}

enum { VARINT, FIXED64, DELIMITED, FIXED32 = 5 };

static int put_key(struct reader *r, const ProtobufCFieldDescriptor *field, u32 wire)
{
	return put_varint(r, (u64)field->id << 3 | wire);
}

/* What was written from @begin on gets its length in front. */
static int close_message(struct reader *r, size_t begin)
{
	size_t bytes = r->bytes - begin, extra;
	u8 length[10];

	extra = encode_varint(bytes, length);
	if (!room(r, extra))
		return fail(r, -ENOMEM, "out of memory");
	memmove(r->data + begin + extra, r->data + begin, bytes);
	memcpy(r->data + begin, length, extra);
	r->bytes += extra;
	return 0;
}

/* ---- values ---- */

static int read_integer(struct reader *r, const ProtobufCFieldDescriptor *field)
{
	bool is_signed = field->type != PROTOBUF_C_TYPE_UINT32 &&
			 field->type != PROTOBUF_C_TYPE_UINT64;
	bool narrow = field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_INT32;
	char word[MAX_WORD], *end;
	s64 value;
	int error = copy_word(r, "a whole number", word);

	if (error)
		return error;
	errno = 0;
	value = strtoll(word, &end, 0);
	if (end == word || *end || errno)
		return unexpected(r, "a whole number");
	if ((!is_signed && value < 0) || (narrow && value > (is_signed ? INT32_MAX : UINT32_MAX)) ||
	    (narrow && value < INT32_MIN))
		return fail(r, -EINVAL, "%s is %s", field->name, word);
	error = put_key(r, field, VARINT);
	return error ? error : put_varint(r, (u64)value);
}

static int read_float(struct reader *r, const ProtobufCFieldDescriptor *field)
{
	char word[MAX_WORD], *end;
	float value;
	int error = copy_word(r, "a number", word);

	if (error)
		return error;
	value = strtof_l(word, &end, r->locale);
	/* C's suffix is allowed. */
	if (end != word && (*end == 'f' || *end == 'F'))
		end++;
	if (end == word || *end)
		return unexpected(r, "a number");
	error = put_key(r, field, FIXED32);
	return error ? error : put(r, &value, sizeof(value));
}

static int read_enum(struct reader *r, const ProtobufCFieldDescriptor *field)
{
	const ProtobufCEnumDescriptor *names = field->descriptor;
	const ProtobufCEnumValue *value;
	char word[MAX_WORD], *end;
	long number;
	int error = copy_word(r, "a name", word);

	if (error)
		return error;
	value = protobuf_c_enum_descriptor_get_value_by_name(names, word);
	if (!value) {
		errno = 0;
		number = strtol(word, &end, 0);
		if (!*end && !errno && number >= INT_MIN && number <= INT_MAX)
			value = protobuf_c_enum_descriptor_get_value(names, (int)number);
	}
	if (!value)
		return fail(r, -ENOTSUP, "%s is %s", field->name, word);
	error = put_key(r, field, VARINT);
	return error ? error : put_varint(r, (u64)(s64)value->value);
}

static int read_bool(struct reader *r, const ProtobufCFieldDescriptor *field)
{
	static const char *const words[2][5] = {
		{ "false", "False", "f", "0", NULL },
		{ "true", "True", "t", "1", NULL },
	};
	char word[MAX_WORD];
	u32 value, i;
	int error = copy_word(r, "true or false", word);

	for (value = 0; !error && value < 2; value++)
		for (i = 0; words[value][i]; i++)
			if (!strcmp(word, words[value][i])) {
				error = put_key(r, field, VARINT);
				return error ? error : put_varint(r, value);
			}
	return error ? error : unexpected(r, "true or false");
}

static u32 digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return isxdigit((unsigned char)c) ? (u32)tolower((unsigned char)c) - 'a' + 10 : 16;
}

/* A number of at most @most digits. */
static char escaped_number(const char **at, const char *end, u32 base, u32 most)
{
	u32 value = 0, i;

	for (i = 0; i < most && *at != end && digit_value(**at) < base; i++)
		value = value * base + digit_value(*(*at)++);
	return (char)value;
}

/* The character that a backslash stands in front of, which @at is behind. */
static char escaped(const char **at, const char *end)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	const char *found;

	if (**at == 'x' || **at == 'X') {
		(*at)++;
		return escaped_number(at, end, 16, 2);
	}
	if (digit_value(**at) < 8)
		return escaped_number(at, end, 8, 3);
	found = strchr(from, **at);
	(*at)++;
	return found && *found ? to[found - from] : (*at)[-1];
}

/* Strings that follow each other are one. */
static int read_string(struct reader *r, const ProtobufCFieldDescriptor *field)
{
	size_t begin;
	int error = put_key(r, field, DELIMITED);

	begin = r->bytes;
	if (r->token != STRING)
		return unexpected(r, "a string");
	for (; !error && r->token == STRING; next(r)) {
		const char *at = r->from + 1, *end = r->from + r->length - 1;

		while (!error && at != end) {
			char c = *at++;

			if (c == '\\')
				c = escaped(&at, end);
			if (!c)
				error = fail(r, -EINVAL, "%s has a zero byte", field->name);
			else
				error = put(r, &c, 1);
		}
	}
	return error ? error : close_message(r, begin);
}

/* ---- messages ---- */

static int read_fields(struct reader *r, const ProtobufCMessageDescriptor *message, char end);

/* The bracket that closes a message which begins here; 0: none does. */
static char closing(const struct reader *r)
{
	if (is_symbol(r, '{'))
		return '}';
	return is_symbol(r, '<') ? '>' : '\0';
}

static int read_message(struct reader *r, const ProtobufCFieldDescriptor *field)
{
	char end = closing(r);
	size_t begin;
	int error;

	if (!end)
		return unexpected(r, "{");
	next(r);
	error = put_key(r, field, DELIMITED);
	begin = r->bytes;
	if (!error)
		error = read_fields(r, field->descriptor, end);
	return error ? error : close_message(r, begin);
}

static int read_value(struct reader *r, const ProtobufCFieldDescriptor *field)
{
	int error;

	switch (field->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
		return read_message(r, field);
	case PROTOBUF_C_TYPE_STRING:
		return read_string(r, field);
	case PROTOBUF_C_TYPE_FLOAT:
		error = read_float(r, field);
		break;
	case PROTOBUF_C_TYPE_ENUM:
		error = read_enum(r, field);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		error = read_bool(r, field);
		break;
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_UINT64:
		error = read_integer(r, field);
		break;
	default:
		return fail(r, -ENOTSUP, "%s cannot be given as text", field->name);
	}
	next(r);
	return error;
}

static int read_list(struct reader *r, const ProtobufCFieldDescriptor *field)
{
	int error = 0;

	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return fail(r, -EINVAL, "%s is no list", field->name);
	next(r);
	while (!error && !is_symbol(r, ']')) {
		error = read_value(r, field);
		if (!error && !take_symbol(r, ',') && !is_symbol(r, ']'))
			error = unexpected(r, "]");
	}
	next(r);
	return error;
}

/* A value of whatever kind, with all that is nested in it. */
static int skip_value(struct reader *r)
{
	char open[MAX_UNKNOWN_DEPTH];
	u32 depth = 0;

	do {
		char end = is_symbol(r, '[') ? ']' : closing(r);

		if (end && depth == MAX_UNKNOWN_DEPTH)
			return fail(r, -EINVAL, "nested deeper than %u levels", MAX_UNKNOWN_DEPTH);
		if (end)
			open[depth++] = end;
		else if (depth && is_symbol(r, open[depth - 1]))
			depth--;
		else if (r->token == END || r->token == BAD ||
			 (r->token == SYMBOL && (!depth || !strchr(":,;", *r->from))))
			return unexpected(r, "a value");
		next(r);
	} while (depth);
	while (r->token == STRING)
		next(r);
	return 0;
}

/* A name that C has taken is described with an underscore behind it. */
static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *message,
						  const char *name)
{
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(message, name);
	char other[MAX_WORD + 1];

	if (field)
		return field;
	snprintf(other, sizeof(other), "%s_", name);
	return protobuf_c_message_descriptor_get_field_by_name(message, other);
}

static int read_field(struct reader *r, const ProtobufCMessageDescriptor *message, u8 *seen)
{
	const ProtobufCFieldDescriptor *field;
	char name[MAX_WORD];
	u32 index;
	int error = copy_word(r, "a field", name);

	if (error)
		return error;
	field = find_field(message, name);
	if (!field && !r->source->may_have_others(message))
		return fail(r, -ENOTSUP, "%s has no field %s", message->short_name, name);
	next(r);
	if (!take_symbol(r, ':') && !closing(r))
		return unexpected(r, ":");
	if (!field)
		return skip_value(r);
	index = (u32)(field - message->fields);
	if (field->label != PROTOBUF_C_LABEL_REPEATED && index < MAX_FIELDS && seen[index]++)
		return fail(r, -EINVAL, "%s is there twice", name);
	return is_symbol(r, '[') ? read_list(r, field) : read_value(r, field);
}

/* Up to the closing bracket, or the end of the text for '\0'. */
static int read_fields(struct reader *r, const ProtobufCMessageDescriptor *message, char end)
{
	u8 seen[MAX_FIELDS] = { 0 };
	int error = 0;

	while (!error && !(end ? is_symbol(r, end) : r->token == END)) {
		error = read_field(r, message, seen);
		if (!error && !take_symbol(r, ','))
			take_symbol(r, ';');
	}
	if (end)
		next(r);
	return error;
}

int prototxt_encode(const struct prototxt_source *source, const ProtobufCMessageDescriptor *message,
		    u8 **data, size_t *bytes, struct npu_diag *diag)
{
	struct reader r = {
		.source = source,
		.diag = diag,
		.at = source->text,
		.end = source->text + source->bytes,
		.line = 1,
		.locale = newlocale(LC_ALL_MASK, "C", NULL),
	};
	int error = 0;

	if (!r.locale || !room(&r, 1))
		error = fail(&r, -ENOMEM, "out of memory");
	if (!error) {
		next(&r);
		error = read_fields(&r, message, '\0');
	}
	if (r.locale)
		freelocale(r.locale);
	if (error) {
		free(r.data);
		return error;
	}
	*data = r.data;
	*bytes = r.bytes;
	return 0;
}

bool prototxt_begins_with(const char *text, size_t bytes, const ProtobufCMessageDescriptor *message)
{
	struct reader r = { .at = text, .end = text + bytes };
	char name[MAX_WORD];

	next(&r);
	if (r.token != WORD || r.length >= MAX_WORD)
		return false;
	memcpy(name, r.from, r.length);
	name[r.length] = '\0';
	next(&r);
	return protobuf_c_message_descriptor_get_field_by_name(message, name) &&
	       (is_symbol(&r, ':') || closing(&r));
}
