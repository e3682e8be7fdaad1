#!/bin/sh
# SPDX-License-Identifier: MIT
# Random networks, layer by layer against the reference interpreter and at many budgets, on the kernel's NPU.
# vm-test: kernel=packaged timeout=600 program=tests/programs/random_models
export NPU_TEST_DEVICE=accel0
exec random_models 40
