# SPDX-License-Identifier: MIT
# Non-recursive build of the whole user-space tree.  Sources are found by folder:
# a new file in a room needs no line here.
#
#   make [V=1] [CC=clang] [SANITIZE=address,undefined] [WERROR=0] [O=build]
#   make demo | check | check-vm | check-vm-debug | check-vm-long | bench | fuzz [FUZZ_SECONDS=60] [FUZZ_RUNS=-1]
#   make install | uninstall [DESTDIR=] [PREFIX=/usr/local] [LIBDIR=]
#   make modules | modules_install | dkms-source [KDIR=] [INSTALL_MOD_PATH=]
#   make deps | format | format-check | clean
#   make ynl-regen | ynl-check [NPU_KERNEL_SOURCE=DIR]

comma := ,
O ?= build
CFLAGS ?= -O2 -g
WERROR ?= 1
SANITIZE ?=
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
KDIR ?= /lib/modules/$(shell uname -r)/build
# Where the ICD loader looks; in a prefix of one's own, OCL_ICD_VENDORS has to name it.
VENDORDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),,$(PREFIX))/etc/OpenCL/vendors
UDEVDIR ?= /usr/lib/udev/rules.d
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1

VERSION := 0.1.0

all:

# ---- what the build needs ---------------------------------------------------

deps_packages := json-c libpng libjpeg libzip libdrm libnl-3.0 libnl-genl-3.0 libprotobuf-c OpenCL
# The ONNX project's own description of its format, and what protobuf-c makes of it.
onnx_proto := $(firstword $(wildcard $(foreach dir,$(PREFIX) /usr/local /usr,$(dir)/include/onnx/onnx.proto)))
without_deps := deps format format-check ynl-regen ynl-check clean uninstall modules modules_install dkms-source
ifneq ($(filter-out $(without_deps),$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell pkg-config --exists $(deps_packages) 2>/dev/null && echo there),there)
$(error pkg-config does not find all of: $(deps_packages). Run: make deps)
endif
ifeq ($(onnx_proto),)
$(error there is no include/onnx/onnx.proto. Run: make deps)
endif
endif
deps_cflags := $(shell pkg-config --cflags $(deps_packages) 2>/dev/null)
deps_libs := $(shell pkg-config --libs $(deps_packages) 2>/dev/null)
# The ICD needs the headers alone; the loader is its tests' and samples'.
opencl_libs := $(shell pkg-config --libs OpenCL 2>/dev/null)

# ---- flags --------------------------------------------------------------------

warnings := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla -Wno-unused-parameter -Wno-sign-compare \
            -Wno-missing-field-initializers
ifeq ($(WERROR),1)
warnings += -Werror
endif
sanitize := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

all_cflags = -std=gnu11 -D_GNU_SOURCE -DNPU_VERSION='"$(VERSION)"' -MMD -MP -fPIC -fvisibility=hidden -pthread \
             $(warnings) $(sanitize) -I$(O)/gen -Iuapi -Idriver/hw -Icompiler -Ilibnpu -Ilibnpu/opencl -Itools/npusim -Itests/reference \
             $(deps_cflags) $(CFLAGS)
all_ldflags = -pthread $(sanitize) $(LDFLAGS)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# ---- rooms ----------------------------------------------------------------------

objs = $(patsubst %.c,$(O)/obj/%.o,$(1))
program_of = $(patsubst $(1)/%.c,$(O)/$(2)/%,$(wildcard $(1)/$(3).c))

hw_src := $(wildcard driver/hw/*.c)
# The server is not part of libnpu: only npusim, its tests and its fuzzer need it.
serve_src := $(wildcard tools/npusim/serve*.c tools/npusim/vfio_user*.c)
npusim_src := $(filter-out tools/npusim/main.c $(serve_src),$(wildcard tools/npusim/*.c))
compiler_src := $(wildcard compiler/*.c compiler/*/*.c)
format_objs := $(O)/obj/gen/onnx.pb-c.o $(O)/obj/gen/caffe.pb-c.o
libnpu_src := $(wildcard libnpu/*.c libnpu/cpu/*.c)
opencl_src := $(wildcard libnpu/opencl/*.c)
# Programs in the code of the host, for other people's suites: never in what is installed.
ifeq ($(HOST_KERNELS),1)
opencl_src += tests/opencl/host/host_kernel.c
endif
reference_src := $(wildcard tests/reference/*.c)
demo_src := $(wildcard tools/demo/*.c)
tool_common_src := $(wildcard tools/common/*.c)
detect_src := $(wildcard tools/detect/*.c)
run_src := $(wildcard tools/run/*.c)
all_src := $(wildcard $(foreach room,uapi driver compiler libnpu tools tests,$(room)/*.[ch] $(room)/*/*.[ch]) tests/vm/guest/*.[ch] tools/examples/opencl/*.[ch] tests/opencl/host/*.[ch])

hw_lib := $(O)/obj/libnvdla-hw.a
npusim_lib := $(O)/obj/libnpusim.a
serve_lib := $(O)/obj/libnpusim-serve.a
reference_lib := $(O)/obj/libreference.a
demo_lib := $(O)/obj/libdemo.a
tool_common_lib := $(O)/obj/libtool-common.a
detect_lib := $(O)/obj/libdetect.a
run_lib := $(O)/obj/librun.a
internal_lib := $(O)/obj/libnpu-internal.a
libnpu_static := $(O)/lib/libnpu.a
libnpu_shared := $(O)/lib/libnpu.so.$(VERSION)
opencl_shared := $(O)/lib/libnpu-opencl.so
opencl_vendor := $(O)/lib/OpenCL/vendors/npu.icd

tool_bins := $(call program_of,tools,bin,npu*)
npusim_bin := $(if $(wildcard tools/npusim/main.c),$(O)/bin/npusim)
bins := $(tool_bins) $(npusim_bin)
examples := $(call program_of,tools/examples,examples,*)
opencl_examples := $(call program_of,tools/examples/opencl,examples/opencl,*)
unit_bins := $(call program_of,tests/unit,tests/unit,test_*)
opencl_bins := $(call program_of,tests/opencl,tests/opencl,test_*)
program_bins := $(call program_of,tests/programs,tests/programs,*)
bench_bins := $(call program_of,tests/bench,tests/bench,*)
guest_programs := $(shell grep -lE '^int main' tests/vm/guest/*.c)
guest_bins := $(guest_programs:%.c=$(O)/%)
guest_objs := $(filter-out $(call objs,$(guest_programs)),$(call objs,$(wildcard tests/vm/guest/*.c)))
fuzz_bins := $(call program_of,tests/fuzz,tests/fuzz,fuzz_*)

all: $(bins) $(libnpu_static) $(libnpu_shared) $(opencl_shared) $(opencl_vendor) $(examples) $(opencl_examples)
tests: $(unit_bins) $(program_bins) $(opencl_bins)
benches: $(bench_bins)
fuzzers: $(fuzz_bins)
guests: $(guest_bins)

# ---- rules ------------------------------------------------------------------------

# Written anew only when its text changes: other flags or other sources build again what they concern.
define remember
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(1))' | cmp -s - $@ || echo '$(subst ','\'',$(1))' > $@
endef
$(O)/obj/flags: FORCE
	$(call remember,$(CC) $(all_cflags) $(all_ldflags))
$(O)/obj/sources: FORCE
	$(call remember,$(filter %.c,$(all_src)))

$(O)/obj/%.o: %.c $(O)/obj/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -c -o $@ $<

$(O)/gen/onnx.pb-c.c: $(onnx_proto)
$(O)/gen/caffe.pb-c.c: compiler/import/caffe.proto
format_gen := $(O)/gen/onnx.pb-c.c $(O)/gen/caffe.pb-c.c
$(format_gen):
	$(call say,PROTOC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $(<F)
$(format_objs): $(O)/obj/gen/%.o: $(O)/gen/%.c $(O)/obj/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(all_cflags) -c -o $@ $<
$(call objs,$(wildcard compiler/import/onnx*.c compiler/import/caffe*.c tests/*/*onnx*.c tests/*/*caffe*.c)): | $(format_gen)

define archive
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
endef

define link
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(all_ldflags) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(1) -lm
endef

$(hw_lib): $(call objs,$(hw_src)) $(O)/obj/sources; $(archive)
$(npusim_lib): $(call objs,$(npusim_src)) $(O)/obj/sources; $(archive)
$(serve_lib): $(call objs,$(serve_src)) $(O)/obj/sources; $(archive)
$(reference_lib): $(call objs,$(reference_src)) $(O)/obj/sources; $(archive)
$(demo_lib): $(call objs,$(demo_src)) $(O)/obj/sources; $(archive)
$(tool_common_lib): $(call objs,$(tool_common_src)) $(O)/obj/sources; $(archive)
$(detect_lib): $(call objs,$(detect_src)) $(O)/obj/sources; $(archive)
$(run_lib): $(call objs,$(run_src)) $(O)/obj/sources; $(archive)

# libnpu is self-contained: the compiler, the register programs and the device model are in it.
# Tests and our own tools see its inside; the installed libraries show npu.h's symbols alone.
libnpu_objs := $(call objs,$(libnpu_src) $(compiler_src) $(npusim_src) $(hw_src)) $(format_objs)
$(internal_lib): $(libnpu_objs) $(O)/obj/sources; $(archive)
$(O)/obj/libnpu.o: $(libnpu_objs) $(O)/obj/sources
	$(Q)ld -r -o $@ $(filter %.o,$^)
	$(Q)objcopy --localize-hidden $@
$(libnpu_static): $(O)/obj/libnpu.o; $(archive)
$(libnpu_shared): $(libnpu_objs) libnpu/libnpu.map $(O)/obj/sources
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(all_ldflags) -shared -Wl,-soname,libnpu.so.0 -Wl,--version-script=libnpu/libnpu.map -o $@ \
		$(filter %.o,$^) $(deps_libs) -lm
	$(Q)ln -sf $(@F) $(@D)/libnpu.so.0 && ln -sf libnpu.so.0 $(@D)/libnpu.so

# Its table must not pick up the loader's functions of the same names: they are bound inside.  The ICD stands
# beside libnpu.so and looks for it there.
$(opencl_shared): $(call objs,$(opencl_src)) libnpu/opencl/libnpu-opencl.map $(libnpu_shared) $(O)/obj/sources
	$(call say,LD,$@)
	$(Q)$(CC) $(all_ldflags) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-rpath,'$$ORIGIN' \
		-Wl,--version-script=libnpu/opencl/libnpu-opencl.map -o $@ $(filter %.o,$^) -L$(O)/lib -lnpu -lm
$(opencl_vendor): $(opencl_shared)
	$(Q)mkdir -p $(@D) && echo '$(abspath $<)' > $@

$(npusim_bin): $(call objs,tools/npusim/main.c) $(serve_lib) $(tool_common_lib) $(npusim_lib) $(hw_lib)
	$(call link,$(deps_libs))
$(O)/bin/npu-run: $(run_lib)
$(tool_bins): $(O)/bin/%: $(O)/obj/tools/%.o $(tool_common_lib) $(internal_lib)
	$(call link,$(deps_libs))
$(examples): $(O)/examples/%: $(O)/obj/tools/examples/%.o $(demo_lib) $(detect_lib) $(tool_common_lib) $(libnpu_static)
	$(call link,$(deps_libs))
# OpenCL programs like any other: the loader is all that they are linked with.
$(opencl_examples): $(O)/examples/opencl/%: $(O)/obj/tools/examples/opencl/%.o $(demo_lib)
	$(call link,$(deps_libs) $(opencl_libs))
$(opencl_bins): $(O)/%: $(O)/obj/%.o $(reference_lib) $(internal_lib) $(opencl_vendor)
	$(call link,$(deps_libs) $(opencl_libs) -lcmocka)
# Its own functions stand in front of the C library's, also for the library that the loader loads.
$(O)/tests/opencl/test_external_memory: private LDFLAGS += -rdynamic
$(O)/tests/bench/bench_opencl: private deps_libs += $(opencl_libs)
$(O)/tests/bench/bench_opencl: $(opencl_vendor)
$(O)/tests/fuzz/fuzz_opencl: $(call objs,$(opencl_src))
$(unit_bins): $(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(serve_lib) $(reference_lib) $(detect_lib) $(tool_common_lib) $(internal_lib)
	$(call link,$(deps_libs) -lcmocka)
$(program_bins) $(bench_bins): $(O)/%: $(O)/obj/%.o $(reference_lib) $(demo_lib) $(tool_common_lib) $(internal_lib)
	$(call link,$(deps_libs))
$(guest_bins): $(O)/%: $(O)/obj/%.o $(guest_objs) $(reference_lib) $(demo_lib) $(internal_lib)
	$(call link,$(deps_libs) -lcmocka)
# Its own functions stand in front of every allocation in our objects.
$(O)/tests/programs/alloc_failure: private LDFLAGS += $(addprefix -Wl$(comma)--wrap=,\
	malloc calloc realloc reallocarray aligned_alloc strdup strndup asprintf open_memstream)
$(fuzz_bins): $(O)/%: $(O)/obj/%.o $(serve_lib) $(reference_lib) $(tool_common_lib) $(internal_lib)
	$(call link,$(deps_libs) -fsanitize=fuzzer)

# ---- what one does with it -----------------------------------------------------------

demo: all
	$(Q)O=$(O) sh tools/demo/demo.sh

check: all tests
	$(Q)O=$(O) CC='$(CC)' SANITIZE='$(SANITIZE)' sh tests/run

bench: all benches
	$(Q)set -e; export OCL_ICD_VENDORS=$(abspath $(dir $(opencl_vendor))); for bench in $(sort $(bench_bins)); do echo "== $${bench##*/}"; $$bench; done

# In a virtual machine with the modelled NPU; the first time it gets and makes what that needs.
check-vm check-vm-debug check-vm-long: all tests guests
	$(Q)O=$(O) bash tests/vm/check $(@:check-vm%=%)

# Fuzzers have a build of their own: clang, sanitizers, coverage in every object.
fuzz:
	$(Q)$(MAKE) --no-print-directory O=$(O)/fuzz CC=clang SANITIZE=address,undefined \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' fuzzers
	$(Q)O=$(O) FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_RUNS=$(FUZZ_RUNS) sh tests/fuzz/run

# The driver's interface, for who speaks to it without libnpu.
uapi_headers := $(patsubst uapi/%,%,$(wildcard uapi/*.h uapi/*/*.h))
man_pages := $(wildcard Documentation/man/*.[1-8])
man_place = $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(1)))
define fill_in
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VENDORDIR@|$(VENDORDIR)|; s|@VERSION@|$(VERSION)|' $(1) \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/$(2)
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/$(2)
endef
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 755 $(bins) $(DESTDIR)$(PREFIX)/bin/
	install -m 644 libnpu/npu.h $(wildcard libnpu/opencl/cl_npu*.h) $(DESTDIR)$(PREFIX)/include/
	$(foreach header,$(uapi_headers),install -D -m 644 uapi/$(header) $(DESTDIR)$(PREFIX)/include/$(header) &&) true
	install -m 644 $(libnpu_static) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(libnpu_shared) $(opencl_shared) $(DESTDIR)$(LIBDIR)/
	install -d $(DESTDIR)$(VENDORDIR)
	echo '$(LIBDIR)/$(notdir $(opencl_shared))' > $(DESTDIR)$(VENDORDIR)/npu.icd
	ln -sf $(notdir $(libnpu_shared)) $(DESTDIR)$(LIBDIR)/libnpu.so.0
	ln -sf libnpu.so.0 $(DESTDIR)$(LIBDIR)/libnpu.so
	$(call fill_in,libnpu/npu.pc.in,npu.pc)
	$(call fill_in,libnpu/opencl/npu-opencl.pc.in,npu-opencl.pc)
	$(foreach page,$(man_pages),install -D -m 644 $(page) $(call man_place,$(page))/$(notdir $(page)) &&) true

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(notdir $(bins))) $(addprefix $(DESTDIR)$(PREFIX)/include/,npu.h $(notdir $(wildcard libnpu/opencl/cl_npu*.h)) $(uapi_headers)) \
		$(DESTDIR)$(VENDORDIR)/npu.icd \
		$(addprefix $(DESTDIR)$(LIBDIR)/,libnpu.a $(notdir $(libnpu_shared)) libnpu.so.0 libnpu.so $(notdir $(opencl_shared)) pkgconfig/npu.pc pkgconfig/npu-opencl.pc) \
		$(foreach page,$(man_pages),$(call man_place,$(page))/$(notdir $(page)))

deps:
	$(Q)./setup

# ---- the kernel module: built in a copy, so that the tree stays clean -------------------

module_dir = $(abspath $(O))/module
module_src := Kbuild driver uapi
dkms_dir = $(DESTDIR)/usr/src/nvdla-$(VERSION)
kbuild = $(MAKE) -C $(KDIR) M=$(module_dir) O=
# Modules below another root than / have their rule there, too.
udev_place = $(or $(DESTDIR),$(INSTALL_MOD_PATH))$(UDEVDIR)/60-nvdla.rules
udev_rule = install -D -m 644 driver/udev/60-nvdla.rules $(udev_place)

modules:
	$(Q)mkdir -p $(module_dir) && cp -pR $(module_src) $(module_dir)/
	$(Q)$(kbuild) modules
modules_install: modules
	$(Q)$(kbuild) modules_install
	$(udev_rule)
dkms-source:
	install -d $(dkms_dir)
	cp -pR $(module_src) $(dkms_dir)/
	sed 's|@VERSION@|$(VERSION)|' driver/dkms.conf.in > $(dkms_dir)/dkms.conf
	$(udev_rule)

# What the kernel's generator makes of the netlink family's specification: committed, and never changed by hand.
generated_src := uapi/linux/nvdla_netlink.h driver/nvdla_netlink_gen.h driver/nvdla_netlink_gen.c
ynl-regen:
	$(Q)sh Documentation/netlink/regen
ynl-check:
	$(Q)sh Documentation/netlink/regen --check

format:
	$(Q)clang-format -i $(filter-out $(generated_src),$(all_src))
format-check:
	$(Q)clang-format --dry-run -Werror $(filter-out $(generated_src),$(all_src))

clean:
	rm -rf $(O)

.PHONY: modules modules_install dkms-source ynl-regen ynl-check all tests benches fuzzers demo check bench fuzz install uninstall deps format format-check clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
