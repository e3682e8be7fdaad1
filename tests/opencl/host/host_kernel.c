// SPDX-License-Identifier: MIT
/*
 * Host kernels in the OpenCL driver, in test builds alone: a program may be a shared object of the host, which
 * is loaded from memory and called.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_kernel.h"
#include "ocl.h"

bool ocl_host_is(const void *data, size_t bytes)
{
	return bytes > 4 && !memcmp(data, "\177ELF", 4);
}

static const struct host_kernel *find_kernel(const struct ocl_launch *launch)
{
	const struct host_kernel *kernel = dlsym(launch->build->host, "host_kernels");

	while (strcmp(kernel->name, launch->entry->name))
		kernel++;
	return kernel;
}

static cl_int run(struct ocl_launch *launch, struct ocl_times *times)
{
	const struct ocl_entry *entry = launch->entry;
	void **value = calloc(2 * entry->arg_count + 1, sizeof(*value));
	void **address = value + entry->arg_count;
	cl_uint i;

	(void)times;
	if (!value)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < entry->arg_count; i++) {
		address[i] = launch->value[i].mem ? launch->value[i].mem->data : NULL;
		value[i] = entry->arg[i].scalar_bytes ? launch->value[i].scalar
						      : (void *)&address[i];
	}
	find_kernel(launch)->run(launch->range.offset, launch->range.global, value);
	free(value);
	return CL_SUCCESS;
}

static const struct ocl_entry_ops host_ops = { NULL, run, NULL, NULL };

/* From a file of its own: the dynamic linker takes one name for one object, however its contents changed. */
static void *load(const struct ocl_build *build)
{
	char path[] = "/tmp/npu-host-XXXXXX";
	int fd = mkstemp(path);
	void *code = NULL;

	if (fd < 0)
		return NULL;
	if (write(fd, build->file, build->file_bytes) == (ssize_t)build->file_bytes)
		code = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(fd);
	unlink(path);
	return code;
}

static void set_args(const struct host_kernel *kernel, struct ocl_arg *arg)
{
	unsigned i;

	for (i = 0; i < kernel->arg_count; i++)
		arg[i] = (struct ocl_arg){
			.name = kernel->arg[i].name,
			.type_name = kernel->arg[i].type,
			.scalar_bytes = kernel->arg[i].bytes,
			.output = !kernel->arg[i].bytes,
		};
}

static const char *add_entries(cl_program program, const struct host_kernel *kernels)
{
	unsigned count = 0, args = 0, i;
	struct ocl_arg *arg;

	for (; kernels[count].name; count++)
		args += kernels[count].arg_count;
	program->entry = calloc(count + 1, sizeof(*program->entry));
	program->own_entries = calloc(count + 1, sizeof(*program->own_entries));
	program->own_args = arg = calloc(args + 1, sizeof(*arg));
	if (!program->entry || !program->own_entries || !arg)
		return "out of memory";
	for (i = 0; i < count; i++) {
		set_args(&kernels[i], arg);
		program->own_entries[i] = (struct ocl_entry){
			.name = kernels[i].name,
			.any_range = true,
			.arg_count = kernels[i].arg_count,
			.arg = arg,
			.ops = &host_ops,
		};
		program->entry[i] = &program->own_entries[i];
		arg += kernels[i].arg_count;
	}
	program->entry_count = count;
	return NULL;
}

const char *ocl_host_build(cl_program program, struct ocl_build *build)
{
	const struct host_kernel *kernels;

	build->host = load(build);
	if (!build->host)
		return dlerror();
	kernels = dlsym(build->host, "host_kernels");
	if (!kernels)
		return "there is no host_kernels";
	return program->entry_count ? NULL : add_entries(program, kernels);
}

void ocl_host_forget(struct ocl_build *build)
{
	dlclose(build->host);
	build->host = NULL;
}
