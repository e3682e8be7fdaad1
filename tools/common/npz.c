// SPDX-License-Identifier: MIT
/* NumPy's .npz: a ZIP archive of .npy files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zip.h>

#include "array.h"

#define SUFFIX ".npy"
#define SUFFIX_BYTES 4

bool tool_is_npz(const uint8_t *data, size_t bytes)
{
	/* The first member's head, or the end of an archive without members. */
	return bytes >= 4 && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0);
}

/* ---- reading ---- */

static zip_t *open_archive(const uint8_t *data, size_t bytes, char text[200])
{
	zip_error_t error;
	zip_source_t *source;
	zip_t *archive;

	zip_error_init(&error);
	source = zip_source_buffer_create(data, bytes, 0, &error);
	archive = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : NULL;
	if (!archive) {
		snprintf(text, 200, "broken .npz: %.150s", zip_error_strerror(&error));
		zip_source_free(source);
	}
	zip_error_fini(&error);
	return archive;
}

/* Place of "NAME.npy"; negative: there is none. */
static zip_int64_t locate(zip_t *archive, const char *name)
{
	char *file;
	zip_int64_t at;

	if (asprintf(&file, "%s" SUFFIX, name) < 0)
		return -1;
	at = zip_name_locate(archive, file, 0);
	free(file);
	return at;
}

static zip_int64_t choose(zip_t *archive, const char *name, unsigned index)
{
	zip_int64_t at = name && *name ? locate(archive, name) : -1;
	char place[32];

	if (at >= 0)
		return at;
	if (zip_get_num_entries(archive, 0) == 1)
		return 0;
	snprintf(place, sizeof(place), "arr_%u", index);
	return locate(archive, place);
}

/* What there is instead of what was looked for. */
static void tell_names(zip_t *archive, const char *name, unsigned index, char text[200])
{
	zip_int64_t count = zip_get_num_entries(archive, 0), i;
	size_t used = (size_t)snprintf(
		text, 200, "no array \"%.60s\" or arr_%u among:", name ? name : "", index);

	for (i = 0; i < count && used < 200; i++) {
		const char *member = zip_get_name(archive, (zip_uint64_t)i, 0);

		used += (size_t)snprintf(text + used, 200 - used, " %.40s", member ? member : "?");
	}
}

static int read_member(zip_t *archive, zip_uint64_t at, size_t limit, uint8_t **npy,
		       size_t *npy_bytes, char text[200])
{
	zip_file_t *file;
	zip_stat_t stat;
	bool good;

	if (zip_stat_index(archive, at, 0, &stat) || !(stat.valid & ZIP_STAT_SIZE)) {
		snprintf(text, 200, "broken .npz: %.150s", zip_strerror(archive));
		return -EINVAL;
	}
	if (stat.size > limit) {
		snprintf(text, 200, "array of %llu bytes, the tensor needs less",
			 (unsigned long long)stat.size);
		return -EFBIG;
	}
	*npy = malloc(stat.size ? stat.size : 1);
	if (!*npy) {
		snprintf(text, 200, "no memory for %llu bytes", (unsigned long long)stat.size);
		return -ENOMEM;
	}
	file = zip_fopen_index(archive, at, 0);
	/* The end is read too: only then are sizes and checksums compared. */
	good = file && zip_fread(file, *npy, stat.size) == (zip_int64_t)stat.size &&
	       zip_fread(file, text, 1) == 0;
	if (file && zip_fclose(file))
		good = false;
	if (good) {
		*npy_bytes = stat.size;
		return 0;
	}
	snprintf(text, 200, "broken .npz: member %llu is damaged", (unsigned long long)at);
	free(*npy);
	return -EINVAL;
}

int tool_npz_read(const uint8_t *data, size_t bytes, const char *name, unsigned index, size_t limit,
		  uint8_t **npy, size_t *npy_bytes, char text[200])
{
	zip_t *archive = open_archive(data, bytes, text);
	zip_int64_t at;
	int err;

	if (!archive)
		return -EINVAL;
	at = choose(archive, name, index);
	if (at < 0) {
		tell_names(archive, name, index, text);
		err = -ENOENT;
	} else {
		err = read_member(archive, (zip_uint64_t)at, limit, npy, npy_bytes, text);
	}
	zip_discard(archive);
	return err;
}

/* ---- writing ---- */

static int add_member(zip_t *archive, const struct tool_npz_member *member)
{
	zip_source_t *source = zip_source_buffer(archive, member->npy, member->bytes, 0);
	zip_int64_t at = -1;
	char *file;

	if (source && asprintf(&file, "%s" SUFFIX, member->name) >= 0) {
		at = zip_file_add(archive, file, source, ZIP_FL_ENC_UTF_8);
		free(file);
	}
	if (at < 0) {
		zip_source_free(source);
		return zip_error_code_zip(zip_get_error(archive)) == ZIP_ER_EXISTS ? -EINVAL
										   : -ENOMEM;
	}
	/* The same tensors give the same file: no time of day, as numpy.savez() has it. */
	zip_file_set_dostime(archive, (zip_uint64_t)at, 0, 1 << 5 | 1, 0);
	zip_set_file_compression(archive, (zip_uint64_t)at, ZIP_CM_STORE, 0);
	return 0;
}

static int copy_out(zip_source_t *source, uint8_t **npz, size_t *bytes)
{
	zip_stat_t stat;
	int err = -ENOMEM;

	*npz = NULL;
	if (zip_source_stat(source, &stat) || zip_source_open(source))
		return -ENOMEM;
	*npz = malloc(stat.size ? stat.size : 1);
	if (*npz && zip_source_read(source, *npz, stat.size) == (zip_int64_t)stat.size) {
		*bytes = stat.size;
		err = 0;
	}
	zip_source_close(source);
	if (err)
		free(*npz);
	return err;
}

int tool_npz_encode(const struct tool_npz_member *member, unsigned count, uint8_t **npz,
		    size_t *bytes)
{
	zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, NULL);
	zip_t *archive = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, NULL)
				: NULL;
	int err = 0;
	unsigned i;

	if (!archive) {
		zip_source_free(source);
		return -ENOMEM;
	}
	zip_source_keep(source); /* closing the archive would free what it has written */
	for (i = 0; i < count && !err; i++)
		err = add_member(archive, &member[i]);
	if (err || zip_close(archive)) {
		zip_discard(archive);
		err = err ? err : -ENOMEM;
	} else {
		err = copy_out(source, npz, bytes);
	}
	zip_source_free(source);
	return err;
}
