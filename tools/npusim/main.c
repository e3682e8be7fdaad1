// SPDX-License-Identifier: MIT
/* npusim: replays tests, runs scripts and serves a PCI device on the device model. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "../common/tool.h"
#include "npusim.h"
#include "serve.h"

enum { EXIT_PASS = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

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
	return EXIT_USAGE;
}

static int replay(const struct npusim_replay_options *options, char **dirs, int count)
{
	u32 passed = 0, failed = 0;
	int i, error;

	if (!count)
		return usage_error();
	for (i = 0; i < count; i++) {
		error = npusim_replay(options, dirs[i], &passed, &failed);
		if (error) {
			fprintf(stderr, "npusim: %s: %s\n", dirs[i], strerror(-error));
			return EXIT_FAILED;
		}
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed ? EXIT_FAILED : EXIT_PASS;
}

/* What was printed must have arrived. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "npusim: standard output: %s\n", strerror(errno));
	return EXIT_FAILED;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' }, { "timing", no_argument, NULL, 't' },
		{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },	    { 0 },
	};
	struct npusim_replay_options options = { .out = stdout };
	int c;

	tool_standard_files();
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
			return finish(EXIT_PASS);
		case 'V':
			printf("npusim %s\n", NPU_VERSION);
			return EXIT_PASS;
		default:
			return usage_error();
		}
	}
	if (optind >= argc)
		return usage_error();
	if (options.config && !nvdla_config_find(options.config)) {
		fprintf(stderr, "npusim: no configuration '%s'\n", options.config);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[optind], "replay"))
		return finish(replay(&options, argv + optind + 1, argc - optind - 1));
	if (!strcmp(argv[optind], "run") && optind + 2 == argc)
		return finish(npusim_run_script(&options, argv[optind + 1]) ? EXIT_FAILED
									    : EXIT_PASS);
	return usage_error();
}
