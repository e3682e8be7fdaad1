#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a Python program does with an NPU: pyopencl_client.py MODEL DIRECTORY

Leaves the input and the result in DIRECTORY and prints a TAP line for each thing that it looked at.
"""
import sys
import time
import warnings

import numpy as np
import pyopencl as cl

warnings.simplefilter("error")
count = 0


def check(good, what):
    global count
    count += 1
    print("%s %d - %s" % ("ok" if good else "not ok", count, what))


def raises(error, what, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error:
        check(True, what)
    else:
        check(False, what)


model, directory = sys.argv[1:]
platform = next(p for p in cl.get_platforms() if p.name == "NPU")
device = platform.get_devices()[0]
check(device.type == cl.device_type.ACCELERATOR, "an accelerator")
check(not device.compiler_available, "without a compiler")
check(device.local_mem_size == 128 * 1024, "with 128 KiB of local memory")
check("npu_copy" in device.built_in_kernels.split(";"), "with built-in kernels")

context = cl.Context([device])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
with open(model, "rb") as file:
    program = cl.Program(context, [device], [file.read()]).build()
kernel = program.infer
check(kernel.num_args == 2, "a kernel with two arguments")
check(kernel.get_arg_info(0, cl.kernel_arg_info.NAME) == "image", "by name")

picture = np.random.default_rng(7).integers(-128, 128, 4096).astype(np.int8)
score = np.empty(10, np.int8)
flags = cl.mem_flags
source = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=picture)
target = cl.Buffer(context, flags.WRITE_ONLY, score.nbytes)
event = kernel(queue, (1,), None, source, target)
cl.enqueue_copy(queue, score, target)
check(event.profile.queued <= event.profile.submit <= event.profile.start < event.profile.end,
      "times in their order")
picture.tofile(directory + "/input.bin")
score.tofile(directory + "/output.bin")

# The compiled binary gives the same.
again = cl.Program(context, [device], program.get_info(cl.program_info.BINARIES)).build()
second = np.empty(10, np.int8)
again.infer(queue, (1,), None, source, target)
cl.enqueue_copy(queue, second, target)
check((score == second).all(), "the saved binary gives the same result")

# A mapping, a fill, a box.
view, _ = cl.enqueue_map_buffer(queue, target, cl.map_flags.READ, 0, (10,), np.int8)
check((view == score).all(), "a mapping shows the result")
view.base.release(queue)
plain = cl.Buffer(context, flags.READ_WRITE, 64)
cl.enqueue_fill_buffer(queue, plain, np.int32(5), 0, 64)
numbers = np.empty(16, np.int32)
cl.enqueue_copy(queue, numbers, plain)
check((numbers == 5).all(), "a fill fills")
box = np.arange(16, dtype=np.int8).reshape(4, 4)
cl.enqueue_copy(queue, plain, box, buffer_origin=(1, 1), host_origin=(0, 0), region=(4, 4),
                buffer_pitches=(8,), host_pitches=(4,))
filled = np.empty((8, 8), np.int8)
cl.enqueue_copy(queue, filled, plain)
check((filled[1:5, 1:5] == box).all(), "a box lies where it should")

# Out of order, behind a user event.
free = cl.CommandQueue(
    context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
gate = cl.UserEvent(context)
waiting = cl.enqueue_marker(free, wait_for=[gate])
check(waiting.command_execution_status != cl.command_execution_status.COMPLETE,
      "a marker waits for a user event")
gate.set_status(cl.command_execution_status.COMPLETE)
waiting.wait()
check(waiting.command_execution_status == cl.command_execution_status.COMPLETE, "and then ends")
heard = []
waiting.set_callback(cl.command_execution_status.COMPLETE, heard.append)
for _ in range(500):
    if heard:
        break
    time.sleep(0.01)
check(heard == [cl.command_execution_status.COMPLETE], "a callback is called")

# Errors are exceptions.
small = cl.Buffer(context, flags.READ_ONLY, 16)
raises(cl.LogicError, "a buffer that is too small is refused", kernel, queue, (1,), None, small,
       target)
raises(cl.LogicError, "junk is no program", cl.Program, context, [device], [b"junk"])
raises(cl.RuntimeError, "source cannot be built",
       lambda: cl.Program(context, "kernel void f() {}").build(cache_dir=False))
print("1..%d" % count)
