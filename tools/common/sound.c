// SPDX-License-Identifier: MIT
/* RIFF/WAVE: chunks of a name, a length and contents, padded to even sizes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "sound.h"

enum { FORMAT_PCM = 1, FORMAT_FLOAT = 3, FORMAT_EXTENSIBLE = 0xfffe };

bool tool_is_wav(const uint8_t *data, size_t bytes)
{
	return bytes >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WAVE", 4) == 0;
}

/* A chunk of the file, as far as it is there; false where there is none. */
static bool find_chunk(const uint8_t *data, size_t bytes, const char *name, const uint8_t **chunk,
		       size_t *chunk_bytes)
{
	size_t at = 12;

	while (bytes - at >= 8) {
		size_t length = tool_le32(data + at + 4), left = bytes - at - 8;

		if (memcmp(data + at, name, 4) == 0) {
			*chunk = data + at + 8;
			*chunk_bytes = length < left ? length : left;
			return true;
		}
		length += length & 1;
		if (length > left)
			return false;
		at += 8 + length;
	}
	return false;
}

int tool_wav_parse(const uint8_t *data, size_t bytes, struct tool_sound *sound, char text[200])
{
	const uint8_t *format;
	size_t format_bytes, sample_bytes;
	uint32_t tag;

	*sound = (struct tool_sound){ 0 };
	if (!find_chunk(data, bytes, "fmt ", &format, &format_bytes) || format_bytes < 16 ||
	    !find_chunk(data, bytes, "data", &sound->data, &sample_bytes)) {
		snprintf(text, 200, "broken WAV");
		return -EINVAL;
	}
	tag = tool_le16(format);
	/* Of the extensible kind the first bytes of an identifier are the tag. */
	if (tag == FORMAT_EXTENSIBLE && format_bytes >= 26)
		tag = tool_le16(format + 24);
	sound->channels = tool_le16(format + 2);
	sound->rate = tool_le32(format + 4);
	sound->width = tool_le16(format + 14) / 8u;
	sound->floating = tag == FORMAT_FLOAT;
	if (!sound->channels || !sound->rate) {
		snprintf(text, 200, "broken WAV: %u channels, %u Hz", sound->channels, sound->rate);
		return -EINVAL;
	}
	if (tool_le16(format + 14) % 8 ||
	    !(tag == FORMAT_PCM
		      ? sound->width >= 1 && sound->width <= 4
		      : tag == FORMAT_FLOAT && (sound->width == 4 || sound->width == 8))) {
		snprintf(text, 200, "WAV of format %u with %u bits, neither PCM nor floating point",
			 tag, tool_le16(format + 14));
		return -ENOTSUP;
	}
	sound->frames = sample_bytes / ((size_t)sound->channels * sound->width);
	return 0;
}

static double sample_at(const struct tool_sound *sound, const uint8_t *p)
{
	uint64_t bits = 0;
	uint32_t i, low;
	float single;
	double wide;

	for (i = sound->width; i--;)
		bits = bits << 8 | p[i];
	if (!sound->floating) {
		/* One byte is unsigned, more are signed. */
		int64_t value = sound->width == 1 ? (int64_t)(bits << 56 ^ 1ull << 63) >> 56
						  : (int64_t)(bits << (64 - 8 * sound->width)) >>
							    (64 - 8 * sound->width);

		return ldexp((double)value, 1 - 8 * (int)sound->width);
	}
	low = (uint32_t)bits;
	memcpy(&single, &low, sizeof(single));
	memcpy(&wide, &bits, sizeof(wide));
	wide = sound->width == 4 ? (double)single : wide;
	return isnan(wide) ? 0 : fmax(-1, fmin(wide, 1));
}

static double mean_of_channels(const struct tool_sound *sound, uint64_t frame)
{
	const uint8_t *p = sound->data + frame * sound->channels * sound->width;
	double sum = 0;
	uint32_t c;

	for (c = 0; c < sound->channels; c++)
		sum += sample_at(sound, p + (size_t)c * sound->width);
	return sum / sound->channels;
}

double tool_sound_at(const struct tool_sound *sound, double frame)
{
	uint64_t at = (uint64_t)frame;
	double part = frame - (double)at, value;

	if (at >= sound->frames)
		return 0;
	value = mean_of_channels(sound, at);
	if (part > 0 && at + 1 < sound->frames)
		value += part * (mean_of_channels(sound, at + 1) - value);
	return value;
}
