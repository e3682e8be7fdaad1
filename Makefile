# SPDX-License-Identifier: MIT
# Non-recursive build of the whole user-space tree.  Sources are found by folder:
# a new file in a room needs no line here.
#
#   make [V=1] [SANITIZE=address,undefined] [WERROR=0] [O=build]

O ?= build
CC ?= cc
CFLAGS ?= -O2 -g
WERROR ?= 1
SANITIZE ?=

VERSION := 0.1.0

warnings := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla -Wno-unused-parameter -Wno-sign-compare \
            -Wno-missing-field-initializers
ifeq ($(WERROR),1)
warnings += -Werror
endif
sanitize := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

deps_packages := json-c libpng libjpeg
deps_cflags := $(shell pkg-config --cflags $(deps_packages) 2>/dev/null)
deps_libs := $(shell pkg-config --libs $(deps_packages) 2>/dev/null)

all_cflags = -std=gnu11 -D_GNU_SOURCE -DNPU_VERSION='"$(VERSION)"' -MMD -MP -fPIC -fvisibility=hidden -pthread \
             $(warnings) $(sanitize) -Iuapi -Idriver/hw -Icompiler -Ilibnpu -Itools/npusim -Itests/reference \
             $(deps_cflags) $(CFLAGS)
all_ldflags = -pthread $(sanitize) $(LDFLAGS)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

objs = $(patsubst %.c,$(O)/obj/%.o,$(1))

hw_src := $(wildcard driver/hw/*.c)
npusim_src := $(filter-out tools/npusim/main.c,$(wildcard tools/npusim/*.c))
compiler_src := $(wildcard compiler/*.c compiler/*/*.c)
libnpu_src := $(wildcard libnpu/*.c libnpu/cpu/*.c)
reference_src := $(wildcard tests/reference/*.c)
tool_src := $(wildcard tools/npuc.c tools/npu-*.c)
tool_common_src := $(wildcard tools/common/*.c)
unit_src := $(wildcard tests/unit/test_*.c)
program_src := $(wildcard tests/programs/*.c)
bench_src := $(wildcard tests/bench/*.c)
fuzz_src := $(wildcard tests/fuzz/fuzz_*.c)

hw_lib := $(O)/obj/libnvdla-hw.a
npusim_lib := $(O)/obj/libnpusim.a
compiler_lib := $(O)/obj/libnpu-compiler.a
reference_lib := $(O)/obj/libreference.a
tool_common_lib := $(O)/obj/libtool-common.a
libnpu_static := $(O)/lib/libnpu.a
libnpu_shared := $(O)/lib/libnpu.so.0

bins := $(patsubst tools/%.c,$(O)/bin/%,$(tool_src)) $(if $(wildcard tools/npusim/main.c),$(O)/bin/npusim)
unit_bins := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(unit_src))
program_bins := $(patsubst tests/programs/%.c,$(O)/tests/programs/%,$(program_src))
bench_bins := $(patsubst tests/bench/%.c,$(O)/tests/bench/%,$(bench_src))

internal_libs := $(reference_lib) $(libnpu_static)

all: $(bins) $(libnpu_static) $(libnpu_shared)
tests: $(unit_bins) $(program_bins)

$(O)/obj/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -c -o $@ $<

define archive
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^
endef

define link
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(all_ldflags) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(1) -lm
endef

$(hw_lib): $(call objs,$(hw_src)); $(archive)
$(npusim_lib): $(call objs,$(npusim_src)); $(archive)
$(compiler_lib): $(call objs,$(compiler_src)); $(archive)
$(reference_lib): $(call objs,$(reference_src)); $(archive)
$(tool_common_lib): $(call objs,$(tool_common_src)); $(archive)
# libnpu is self-contained: the compiler, the register programs and the device model are in it.
libnpu_objs := $(call objs,$(libnpu_src) $(compiler_src) $(npusim_src) $(hw_src))
$(libnpu_static): $(libnpu_objs); $(archive)
$(libnpu_shared): $(libnpu_objs) $(wildcard libnpu/libnpu.map)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(all_ldflags) -shared -Wl,-soname,libnpu.so.0 -Wl,--version-script=libnpu/libnpu.map -o $@ $(filter %.o,$^) $(deps_libs) -lm
	$(Q)ln -sf libnpu.so.0 $(O)/lib/libnpu.so

$(O)/bin/npusim: $(call objs,tools/npusim/main.c) $(npusim_lib) $(hw_lib)
	$(call link,)
$(O)/bin/%: $(O)/obj/tools/%.o $(tool_common_lib) $(libnpu_static)
	$(call link,$(deps_libs))
$(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(internal_libs)
	$(call link,$(deps_libs) -lcmocka)
$(O)/tests/programs/%: $(O)/obj/tests/programs/%.o $(internal_libs)
	$(call link,$(deps_libs))
$(O)/tests/bench/%: $(O)/obj/tests/bench/%.o $(internal_libs)
	$(call link,$(deps_libs))

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i
format-check:
	git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror

clean:
	rm -rf $(O)

.PHONY: all tests format format-check clean
.SECONDARY:
-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
