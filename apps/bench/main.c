// SPDX-License-Identifier: Apache-2.0
// weft bench: how fast is weft here. Absolute times are for people; tests compare only within one
// run.

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <weft/drive.h>

#include "bench.h"
#include "help.h"
#include "weft_version.h"

#define REPEAT_USUAL 7
#define SCENARIO_BYTES_MAX ((size_t)1 << 20)

struct bench {
	const char *scenario_name;
	long repeat;
	bool is_json;
	struct scenario scenario;
	double cpu_s[REPEAT_MAX];
	struct run run; // of the last repetition; all are equal but for time
	struct refusal refusal;
};

int say_refusal(const struct refusal *refusal, int status)
{
	outcome_refused("bench", refusal, -EINVAL);
	return status;
}

static int read_scenario(struct bench *bench)
{
	char path[SCENARIO_PATH_BYTES];
	char *text;
	size_t bytes;
	int rc = shelf_find(bench->scenario_name, path, sizeof(path), &bench->refusal);
	if (rc == 0)
		rc = file_read(path, SCENARIO_BYTES_MAX, &text, &bytes, &bench->refusal);
	if (rc < 0)
		return rc;
	rc = scenario_parse(&bench->scenario, path, text, bytes, NULL, 0, &bench->refusal);
	free(text);
	return rc;
}

// One repetition in a fresh world. -errno with a reason; a run that does not complete is -EIO.
static int run_once(struct bench *bench, double *ret_cpu_s)
{
	static const struct sim_options options;
	struct stage stage;
	int rc = stage_build(&stage, &bench->scenario, NULL, 0, &options, &bench->refusal);
	if (rc < 0)
		return rc;
	sim_run(stage.sim, &bench->run);
	stage_free(&stage);
	*ret_cpu_s = bench->run.cpu_s;
	if (bench->run.end == RUN_DONE)
		return 0;
	snprintf(bench->refusal.text, sizeof(bench->refusal.text), "the run ended as '%s'",
		 run_end_name(bench->run.end));
	return -EIO;
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

double median(double *values, long count)
{
	qsort(values, (size_t)count, sizeof(*values), by_size);
	return values[count / 2];
}

static void print_table(const struct bench *bench, double best_s, double median_s)
{
	const struct run *run = &bench->run;
	printf("%s, %s, digest %016llx\n", WEFT_VERSION_TEXT, bench->scenario.name,
	       (unsigned long long)run->digest);
	printf("%llu data packets, %llu packet-hops (%llu of data) in %.3f us of virtual time, %ld "
	       "runs\n\n",
	       (unsigned long long)run->data_packets, (unsigned long long)run->hops,
	       (unsigned long long)run->data_hops, (double)run->now_ps / 1e6, bench->repeat);
	printf("  %-24s %12s %12s\n", "", "best", "median");
	printf("  %-24s %12.4f %12.4f\n", "processor time, s", best_s, median_s);
	printf("  %-24s %12.3f %12.3f\n", "M data packets/s",
	       (double)run->data_packets / best_s / 1e6,
	       (double)run->data_packets / median_s / 1e6);
	printf("  %-24s %12.3f %12.3f\n", "M packet-hops/s", (double)run->hops / best_s / 1e6,
	       (double)run->hops / median_s / 1e6);
	printf("  %-24s %12.1f %12.1f\n", "ns per packet-hop", best_s * 1e9 / (double)run->hops,
	       median_s * 1e9 / (double)run->hops);
	printf("  %-24s %12.1f MiB\n", "peak memory", (double)memory_peak_bytes() / 1048576);
}

static int print_json(const struct bench *bench, double best_s, double median_s)
{
	const struct run *run = &bench->run;
	char digest[17];
	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)run->digest);
	json_t *out = json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I, s:i, s:f, s:f, s:f, s:f, s:f, s:I}", "version",
		WEFT_VERSION_TEXT, "scenario", bench->scenario.name, "digest", digest,
		"data_packets", (json_int_t)run->data_packets, "hops", (json_int_t)run->hops,
		"data_hops", (json_int_t)run->data_hops, "repeat", (int)bench->repeat, "cpu_s_best",
		best_s, "cpu_s_median", median_s, "data_packets_per_s_best",
		(double)run->data_packets / best_s, "hops_per_s_best", (double)run->hops / best_s,
		"ns_per_hop_best", best_s * 1e9 / (double)run->hops, "memory_peak_bytes",
		(json_int_t)memory_peak_bytes());
	if (out == NULL)
		return EXIT_ENVIRONMENT;
	int rc = json_dumpf(out, stdout, JSON_INDENT(2));
	json_decref(out);
	putchar('\n');
	return rc == 0 ? 0 : EXIT_ENVIRONMENT;
}

static int bench_sim(const struct bench_options *options)
{
	static struct bench own;
	struct bench *bench = &own;
	bench->scenario_name = options->scenario_name != NULL ? options->scenario_name
							      : "perm128-400g";
	bench->repeat = options->repeat > 0 ? options->repeat : REPEAT_USUAL;
	bench->is_json = options->is_json;
	int rc = read_scenario(bench);
	for (long i = 0; rc == 0 && i < bench->repeat; i++)
		rc = run_once(bench, &bench->cpu_s[i]);
	if (rc < 0)
		return say_refusal(&bench->refusal, rc == -EIO ? EXIT_NOT_VALID : EXIT_BAD_INPUT);
	double median_s = median(bench->cpu_s, bench->repeat), best_s = bench->cpu_s[0];
	if (bench->is_json)
		return print_json(bench, best_s, median_s);
	print_table(bench, best_s, median_s);
	return 0;
}

static int bad_word(const char *what, const char *word)
{
	fprintf(stderr, "weft bench: %s '%s' (weft bench --help lists the options)\n", what, word);
	return EXIT_BAD_INPUT;
}

// Reads the options; returns 0 to go on, or an exit status plus one.
static int read_options(struct bench_options *options, int argc, char **argv)
{
	static const struct option longs[] = {{"repeat", required_argument, NULL, 'r'},
					      {"scenario", required_argument, NULL, 's'},
					      {"json", no_argument, NULL, 'j'},
					      {"help", no_argument, NULL, 'h'},
					      {"version", no_argument, NULL, 'v'},
					      {NULL, 0, NULL, 0}};
	opterr = 0;
	for (int option; (option = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
		char *end = NULL;
		switch (option) {
		case 'r':
			options->repeat = strtol(optarg, &end, 10);
			if (*optarg == '\0' || *end != '\0' || options->repeat < 1 ||
			    options->repeat > REPEAT_MAX)
				return bad_word("--repeat wants 1 to 1000, not", optarg) + 1;
			break;
		case 's':
			options->scenario_name = optarg;
			break;
		case 'j':
			options->is_json = true;
			break;
		case 'h':
			fputs(help_text, stdout);
			return 1;
		case 'v':
			puts(WEFT_VERSION_TEXT);
			return 1;
		default:
			return bad_word("unknown option or missing value:", argv[optind - 1]) + 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct bench_options options = {0};
	int status = read_options(&options, argc, argv);
	if (status == 1) // a question, answered
		return fflush(stdout) == 0 ? 0 : EXIT_ENVIRONMENT;
	if (status > 1)
		return status - 1;
	if (optind != argc - 1)
		return bad_word("wants one thing to measure:", "weft bench sim");
	if (strcmp(argv[optind], "sim") == 0)
		status = bench_sim(&options);
	else if (strcmp(argv[optind], "dpdk") != 0)
		return bad_word("cannot measure", argv[optind]);
	else if (options.scenario_name != NULL)
		return bad_word("dpdk runs no scenario:", options.scenario_name);
	else if (options.repeat > RING_SLICES_MAX)
		return bad_word("dpdk repeats at most 200 times:", "--repeat");
	else
		status = bench_dpdk(&options);
	return status != 0 || fflush(stdout) == 0 ? status : EXIT_ENVIRONMENT;
}
