/* SPDX-License-Identifier: MIT */
/*
 * Sound: WAV files.
 */
#ifndef TOOL_SOUND_H
#define TOOL_SOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct tool_sound - samples in memory
 * @rate: frames a second
 * @channels: samples in a frame
 * @frames: how many
 * @floating, @width: IEEE floating point or integers, of so many bytes
 * @data: little endian
 */
struct tool_sound {
	uint32_t rate;
	uint32_t channels;
	uint64_t frames;
	bool floating;
	uint32_t width;
	const uint8_t *data;
};

bool tool_is_wav(const uint8_t *data, size_t bytes);

/**
 * tool_wav_parse() - the contents of a WAV file
 * @sound: refers to them
 * @text: receives what is wrong
 *
 * Return: 0; -EINVAL: broken; -ENOTSUP: neither PCM of 8, 16, 24 or 32 bits nor floating point.
 */
int tool_wav_parse(const uint8_t *data, size_t bytes, struct tool_sound *sound, char text[200]);

/**
 * tool_sound_at() - the mean of all channels at a time
 * @frame: may lie between two of them: then between their values; silence behind the last one
 *
 * Return: -1 to 1.
 */
double tool_sound_at(const struct tool_sound *sound, double frame);

#endif /* TOOL_SOUND_H */
