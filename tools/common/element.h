/* SPDX-License-Identifier: MIT */
/*
 * Elements of tensors as numbers.
 */
#ifndef TOOL_ELEMENT_H
#define TOOL_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "npu.h"

/* Elements of a tensor. */
uint64_t tool_elements(const struct npu_tensor_info *info);

/* IEEE half precision; numbers are rounded to the nearest, halves to the even one. */
double tool_from_half(uint16_t half);
uint16_t tool_to_half(double number);

/* Element @i as it is stored. */
double tool_stored(const struct npu_tensor_info *info, const void *data, uint64_t i);

/* Element @i as the real number that it stands for; of a type without scale the same. */
double tool_real(const struct npu_tensor_info *info, const void *data, uint64_t i);

/**
 * tool_store() - a number as an element
 * @number: as it is stored; rounded and limited to what the type holds, NaN: 0
 */
void tool_store(const struct npu_tensor_info *info, void *data, uint64_t i, double number);

/* Can tool_store_real() store in such a tensor?  It is quantised, or of floating point. */
bool tool_takes_real(const struct npu_tensor_info *info);

/* A real number as an element: quantised with the tensor's scale, NaN as zero. */
void tool_store_real(const struct npu_tensor_info *info, void *data, uint64_t i, double real);

#endif /* TOOL_ELEMENT_H */
