// SPDX-License-Identifier: MIT
/* npusim: replays tests, runs scripts and serves a PCI device on the device model. */
#include <getopt.h>
#include <stdio.h>

#include "../common/tool.h"
#include "npusim.h"
#include "serve.h"

#define NAME "npusim"

static const char usage[] =
	"usage: npusim replay [--config NAME] [--timing] DIR...\n"
	"       npusim run [--config NAME] [--output DIR] SCRIPT\n"
	"       npusim serve --config NAME --socket PATH [OPTION...]\n"
	"       npusim --help | --version\n"
	"\n"
	"replay  play every test found in DIR (a test, a configuration's directory or a tree) and\n"
	"        print one line each; NAME is otherwise the directory above the test\n"
	"run     play one script, compare its dumps with the files of expected contents beside "
	"it,\n"
	"        or store them in DIR\n"
	"serve   be the PCI device of a virtual machine, see below\n"
	"\n"
	"  -c, --config NAME   configuration: nv_small, nv_small_256, nv_small_256_full,\n"
	"                      nv_medium_512, nv_medium_1024_full, nv_large\n"
	"  -t, --timing        compare the cycle model with the measured cycles\n"
	"  -o, --output DIR    store dumps in DIR\n"
	"\n"
	"Exit status: 0 all passed, 1 something failed, 2 wrong usage.\n";

static int usage_error(void)
{
	fputs(usage, stderr);
	return TOOL_USAGE;
}

static int replay(const struct npusim_replay_options *options, char **dirs, int count)
{
	u32 passed = 0, failed = 0;
	int i, error;

	if (!count)
		return usage_error();
	for (i = 0; i < count; i++) {
		error = npusim_replay(options, dirs[i], &passed, &failed);
		if (error)
			return tool_error(NAME, "%s: %s", dirs[i], strerror(-error));
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed ? TOOL_FAILED : TOOL_OK;
}

static int run_tool(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' }, { "timing", no_argument, NULL, 't' },
		{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },	    { 0 },
	};
	struct npusim_replay_options options = { .out = stdout };
	int c;

	if (argc > 1 && !strcmp(argv[1], "serve"))
		return serve_main(argc - 1, argv + 1);
	while ((c = getopt_long(argc, argv, "c:to:hV", longs, NULL)) >= 0) {
		switch (c) {
		case 'c':
			options.config = optarg;
			break;
		case 't':
			options.timing = true;
			break;
		case 'o':
			options.keep = optarg;
			break;
		case 'h':
			printf("%s\n%s", usage, serve_usage);
			return TOOL_OK;
		case 'V':
			printf(NAME " %s\n", NPU_VERSION);
			return TOOL_OK;
		default:
			return usage_error();
		}
	}
	if (optind >= argc)
		return usage_error();
	if (options.config && !nvdla_config_find(options.config))
		return tool_usage(NAME, "no configuration '%s'", options.config);
	if (!strcmp(argv[optind], "replay"))
		return replay(&options, argv + optind + 1, argc - optind - 1);
	if (!strcmp(argv[optind], "run") && optind + 2 == argc)
		return npusim_run_script(&options, argv[optind + 1]) ? TOOL_FAILED : TOOL_OK;
	return usage_error();
}

int main(int argc, char **argv)
{
	return tool_main(NAME, run_tool, argc, argv);
}
