#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same as pipeline.c from Python: two queues, two sets of buffers, events between them.

    pipeline.py MODEL DIGITS

Needs python3-pyopencl.
"""
import sys

import numpy as np
import pyopencl as cl

SIDE, SCALE, CLASSES, SETS = 8, 8, 10, 2


def read_digits(path):
    """Lines "LABEL PIXELS"; a pixel is one of 0-9a-g, # begins a comment."""
    with open(path, encoding="ascii") as file:
        lines = [line.split("#")[0].split() for line in file]
    return [(int(line[0]), [int(pixel, 17) for pixel in line[1]]) for line in lines if line]


def enlarge(pixels):
    """The network's input: 64x64 with straight lines between the pixels, INT8 from -128 (black) to 127."""
    unit = 2 * SCALE
    centre = 2 * np.arange(SIDE * SCALE) + 1 - SCALE + unit
    first = np.maximum(centre // unit - 1, 0)
    second = np.minimum(centre // unit, SIDE - 1)
    weight = centre % unit
    levels = np.array(pixels, np.int64).reshape(SIDE, SIDE)
    rows = levels[first] * (unit - weight)[:, None] + levels[second] * weight[:, None]
    grey = rows[:, first] * (unit - weight) + rows[:, second] * weight
    full = 16 * unit * unit
    return ((grey * 255 + full // 2) // full - 128).astype(np.int8, order="C")


def npu():
    """The first device of the platform "NPU"."""
    for platform in cl.get_platforms():
        if platform.name == "NPU":
            return platform.get_devices()[0]
    sys.exit("the OpenCL loader finds no NPU: is its vendor file installed?")


class Set:
    """Buffers of one image on its way."""

    def __init__(self, context, program):
        flags = cl.mem_flags.READ_WRITE
        self.in_ = cl.Buffer(context, flags, (SIDE * SCALE) ** 2)
        self.out = cl.Buffer(context, flags, CLASSES)
        self.kernel = program.all_kernels()[0]
        self.kernel.set_args(self.in_, self.out)
        self.score = np.zeros(CLASSES, np.int8)
        self.image = self.computed = self.fetched = self.label = None

    def start(self, move, compute, label, pixels):
        """Three commands; the image is kept until they have ended."""
        before = [self.computed] if self.computed else []
        after = [self.fetched] if self.fetched else []
        self.label, self.image = label, enlarge(pixels)
        brought = cl.enqueue_copy(move, self.in_, self.image, is_blocking=False, wait_for=before)
        self.computed = cl.enqueue_nd_range_kernel(compute, self.kernel, (1,), None, wait_for=[brought] + after)
        self.fetched = cl.enqueue_copy(move, self.score, self.out, is_blocking=False, wait_for=[self.computed])
        move.flush()
        compute.flush()

    def is_right(self):
        """Waits for the scores: is the highest one that of the label?"""
        self.fetched.wait()
        return int(self.score.argmax()) == self.label


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: pipeline.py MODEL DIGITS")
    device = npu()
    context = cl.Context([device])
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    move, compute = (cl.CommandQueue(context, device, out_of_order) for _ in range(2))
    with open(sys.argv[1], "rb") as file:
        program = cl.Program(context, [device], [file.read()]).build()
    sets = [Set(context, program) for _ in range(SETS)]
    digits = read_digits(sys.argv[2])
    right = 0
    for i, (label, pixels) in enumerate(digits):
        if i >= SETS:
            right += sets[i % SETS].is_right()
        sets[i % SETS].start(move, compute, label, pixels)
    right += sum(one.is_right() for one in sets[:len(digits)])
    print(f"accuracy: {right} of {len(digits)} held-out digits recognised")


if __name__ == "__main__":
    main()
