/* SPDX-License-Identifier: MIT */
/*
 * Numbers in files, least significant byte first.
 */
#ifndef TOOL_BYTES_H
#define TOOL_BYTES_H

#include <stdint.h>

static inline uint16_t tool_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t tool_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#endif /* TOOL_BYTES_H */
