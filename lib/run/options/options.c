// SPDX-License-Identifier: Apache-2.0
// The command line: every word is understood or refused.

#include <weft/run/options.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <weft/run/export.h>
#include <weft/run/outcome.h>

enum {
	OPT_SEED = 256,
	OPT_SET,
	OPT_FAULT,
	OPT_TAP,
	OPT_EXPORT,
	OPT_TRACE,
	OPT_SAMPLE,
	OPT_SKIP,
	OPT_SKIP_DAMAGED,
	OPT_VARIANT,
	OPT_OUT,
	OPT_PCAP,
	OPT_LOG,
	OPT_PCAP_MAX,
	OPT_FORCE,
	OPT_PORTS,
	OPT_DILATION,
	OPT_LANES,
	OPT_EAL,
	OPT_GPU,
	OPT_GPU_BARRIER,
	OPT_GPU_PATIENCE,
	OPT_SEEDS,
	OPT_JOBS,
	OPT_SWEEP,
	OPT_DEPTH,
	OPT_ORDER,
	OPT_SLOW,
	OPT_JITTER,
	OPT_MEASURED,
	OPT_RECORD,
	OPT_EXPLAIN,
	OPT_STEPS,
	OPT_JSON,
	OPT_QUIET,
	OPT_FOOTPRINT,
	OPT_LIST,
	OPT_KEYS,
	OPT_VERSION
};

// Those before --seed are emu's alone; those of a study and of a schedule are sim's.
static const struct option longs[] = {
	{"ports", required_argument, NULL, OPT_PORTS},
	{"dilation", required_argument, NULL, OPT_DILATION},
	{"lanes", required_argument, NULL, OPT_LANES},
	{"eal", required_argument, NULL, OPT_EAL},
	{"gpu", required_argument, NULL, OPT_GPU},
	{"gpu-barrier", no_argument, NULL, OPT_GPU_BARRIER},
	{"gpu-patience", required_argument, NULL, OPT_GPU_PATIENCE},
	{"seed", required_argument, NULL, OPT_SEED},
	{"seeds", required_argument, NULL, OPT_SEEDS},
	{"jobs", required_argument, NULL, OPT_JOBS},
	{"sweep", required_argument, NULL, OPT_SWEEP},
	{"depth", required_argument, NULL, OPT_DEPTH},
	{"order", required_argument, NULL, OPT_ORDER},
	{"slow", required_argument, NULL, OPT_SLOW},
	{"jitter", required_argument, NULL, OPT_JITTER},
	{"explain", no_argument, NULL, OPT_EXPLAIN},
	{"measured", required_argument, NULL, OPT_MEASURED},
	{"record-rank", required_argument, NULL, OPT_RECORD},
	{"steps", required_argument, NULL, OPT_STEPS},
	{"set", required_argument, NULL, OPT_SET},
	{"fault", required_argument, NULL, OPT_FAULT},
	{"tap", required_argument, NULL, OPT_TAP},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"export", required_argument, NULL, OPT_EXPORT},
	{"sample", required_argument, NULL, OPT_SAMPLE},
	{"skip", required_argument, NULL, OPT_SKIP},
	{"skip-damaged", no_argument, NULL, OPT_SKIP_DAMAGED},
	{"variant", required_argument, NULL, OPT_VARIANT},
	{"out", required_argument, NULL, OPT_OUT},
	{"pcap", required_argument, NULL, OPT_PCAP},
	{"log", required_argument, NULL, OPT_LOG},
	{"pcap-max", required_argument, NULL, OPT_PCAP_MAX},
	{"force", no_argument, NULL, OPT_FORCE},
	{"json", no_argument, NULL, OPT_JSON},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"footprint", no_argument, NULL, OPT_FOOTPRINT},
	{"list", no_argument, NULL, OPT_LIST},
	{"list-keys", no_argument, NULL, OPT_KEYS},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static const struct option *longs_of(bool is_emu)
{
	const struct option *first = longs;
	while (!is_emu && first->val != OPT_SEED)
		first++;
	return first;
}

static int add_set(struct options *options, const char *set, struct refusal *refusal)
{
	if (options->set_count == OPTION_SETS_MAX)
		return outcome_bad_word(refusal, "too many --set, at", set);
	options->sets[options->set_count++] = set;
	return 0;
}

static int add_fault(struct options *options, const char *fault, struct refusal *refusal)
{
	if (options->fault_count == SCENARIO_FAULTS_MAX)
		return outcome_bad_word(refusal, "too many --fault, at", fault);
	options->faults[options->fault_count++] = fault;
	return 0;
}

static int add_tap(struct options *options, const char *tap, struct refusal *refusal)
{
	if (options->tap_count == SCENARIO_TAPS_MAX)
		return outcome_bad_word(refusal, "too many --tap, at", tap);
	options->taps[options->tap_count++] = tap;
	return 0;
}

static int take_seed(struct options *options, const char *word, struct refusal *refusal)
{
	if (options->seed_set[0] != '\0')
		return outcome_bad_word(refusal, "given twice:", "--seed");
	snprintf(options->seed_set, sizeof(options->seed_set), "seed=%s", word);
	return add_set(options, options->seed_set, refusal);
}

static int take_pcap_max(struct options *options, const char *word, struct refusal *refusal)
{
	if (options->pcap_max_set[0] != '\0')
		return outcome_bad_word(refusal, "given twice:", "--pcap-max");
	snprintf(options->pcap_max_set, sizeof(options->pcap_max_set), "capture.file_bytes=%s",
		 word);
	return add_set(options, options->pcap_max_set, refusal);
}

static int take_skip(struct options *options, const char *word, struct refusal *refusal)
{
	if (strcmp(word, "steady") != 0)
		return outcome_bad_word(refusal, "--skip is steady, not", word);
	return add_set(options, "skip.steady=true", refusal);
}

// Words of a schedule.
static int take_depth(struct options *options, int option, struct refusal *refusal)
{
	switch (option) {
	case OPT_DEPTH:
		return outcome_once(refusal, &options->depth, "--depth", optarg);
	case OPT_ORDER:
		return outcome_once(refusal, &options->order, "--order", optarg);
	case OPT_SLOW:
		return outcome_once(refusal, &options->slow, "--slow", optarg);
	case OPT_JITTER:
		return outcome_once(refusal, &options->jitter, "--jitter", optarg);
	case OPT_MEASURED:
		return outcome_once(refusal, &options->measured, "--measured", optarg);
	case OPT_RECORD:
		return outcome_once(refusal, &options->record_rank, "--record-rank", optarg);
	case OPT_EXPLAIN:
		options->wants_terms = true;
		return 0;
	case OPT_STEPS:
		return outcome_once(refusal, &options->steps, "--steps", optarg);
	default:
		return -EINVAL;
	}
}

// Words of emu.
static int take_emu(struct options *options, int option, struct refusal *refusal)
{
	switch (option) {
	case OPT_PORTS:
		return outcome_once(refusal, &options->ports, "--ports", optarg);
	case OPT_DILATION:
		return outcome_once(refusal, &options->dilation, "--dilation", optarg);
	case OPT_LANES:
		return outcome_once(refusal, &options->lanes, "--lanes", optarg);
	case OPT_EAL:
		return outcome_once(refusal, &options->eal, "--eal", optarg);
	case OPT_GPU:
		return outcome_once(refusal, &options->gpu, "--gpu", optarg);
	case OPT_GPU_BARRIER:
		options->has_gpu_barrier = true;
		return 0;
	case OPT_GPU_PATIENCE:
		return outcome_once(refusal, &options->gpu_patience, "--gpu-patience", optarg);
	default:
		return take_depth(options, option, refusal);
	}
}

static int take(struct options *options, int option, struct refusal *refusal)
{
	switch (option) {
	case OPT_SEED:
		return take_seed(options, optarg, refusal);
	case OPT_SET:
		return add_set(options, optarg, refusal);
	case OPT_FAULT:
		return add_fault(options, optarg, refusal);
	case OPT_TAP:
		return add_tap(options, optarg, refusal);
	case OPT_EXPORT:
		return outcome_once(refusal, &options->export_form, "--export", optarg);
	case OPT_TRACE:
		return outcome_once(refusal, &options->trace, "--trace", optarg);
	case OPT_SAMPLE:
		return outcome_once(refusal, &options->sample, "--sample", optarg);
	case OPT_SKIP:
		return take_skip(options, optarg, refusal);
	case OPT_SKIP_DAMAGED:
		options->skips_damaged = true;
		return 0;
	case OPT_VARIANT:
		return outcome_once(refusal, &options->variant, "--variant", optarg);
	case OPT_OUT:
		return outcome_once(refusal, &options->out, "--out", optarg);
	case OPT_PCAP:
		return outcome_once(refusal, &options->pcap, "--pcap", optarg);
	case OPT_LOG:
		return outcome_once(refusal, &options->log, "--log", optarg);
	case OPT_PCAP_MAX:
		return take_pcap_max(options, optarg, refusal);
	case OPT_FORCE:
		files_force();
		return 0;
	case OPT_SEEDS:
		return outcome_once(refusal, &options->seeds, "--seeds", optarg);
	case OPT_JOBS:
		return outcome_once(refusal, &options->jobs, "--jobs", optarg);
	case OPT_SWEEP:
		return options_sweep(options, optarg, refusal);
	case OPT_JSON:
		options->is_json = true;
		return 0;
	case OPT_QUIET:
		options->is_quiet = true;
		return 0;
	case OPT_FOOTPRINT:
		options->wants_footprint = true;
		return 0;
	case OPT_LIST:
		options->wants_list = true;
		return 0;
	case OPT_KEYS:
		options->wants_keys = true;
		return 0;
	case 'h':
		options->wants_help = true;
		return 0;
	case OPT_VERSION:
		options->wants_version = true;
		return 0;
	default:
		return take_emu(options, option, refusal);
	}
}

// --export runs nothing: it writes what would be run.
static int options_export(const struct options *options, struct refusal *refusal)
{
	if (strcmp(options->program, "sim") != 0)
		return outcome_bad_word(refusal, "it is weft sim that writes traces:", "--export");
	if (export_find(options->export_form) == EXPORT_NONE)
		return outcome_bad_word(refusal, "there is no export", options->export_form);
	if (options->out == NULL)
		return outcome_bad_word(refusal, "needs --out:", "--export");
	if (options->wants_footprint || options->is_quiet || options->is_json ||
	    options->pcap != NULL || options->log != NULL || options->seeds != NULL ||
	    options->sweep_count > 0)
		return outcome_bad_word(
			refusal, "--export runs nothing; it takes no",
			"--footprint, --quiet, --json, --pcap, --log, --seeds, --sweep");
	if (options->depth != NULL && strcmp(options->depth, "full") != 0)
		return outcome_bad_word(refusal, "--export writes --depth full, not",
					options->depth);
	return 0;
}

// Options that would have no effect together are errors.
static int check_together(const struct options *options, struct refusal *refusal)
{
	if (options->scenario == NULL && options->trace == NULL)
		return outcome_bad_line(refusal, "no scenario given");
	if (options->skips_damaged && options->trace == NULL)
		return outcome_bad_word(refusal, "needs --trace:", "--skip-damaged");
	if (options->pcap_max_set[0] != '\0' && options->pcap == NULL && options->log == NULL)
		return outcome_bad_word(refusal, "needs --pcap or --log:", "--pcap-max");
	if (options->tap_count > 0 && options->pcap == NULL && options->log == NULL)
		return outcome_bad_word(refusal, "needs --pcap or --log:", "--tap");
	if (files_are_forced() && options->out == NULL && options->pcap == NULL &&
	    options->log == NULL)
		return outcome_bad_word(refusal, "needs --out, --pcap or --log:", "--force");
	if (options->is_json && options->is_quiet)
		return outcome_bad_word(
			refusal, "--json prints no table that --quiet could shorten:", "--quiet");
	if (options->export_form != NULL)
		return options_export(options, refusal);
	if (options->wants_footprint &&
	    (options->out != NULL || options->is_quiet || options->pcap != NULL ||
	     options->log != NULL))
		return outcome_bad_word(refusal, "--footprint runs nothing; it takes no",
					"--out, --quiet, --pcap, --log");
	return 0;
}

int options_parse(struct options *ret, const char *program, int argc, char **argv,
		  struct refusal *refusal)
{
	bool is_emu = strcmp(program, "emu") == 0;
	*ret = (struct options){.program = program};
	opterr = 0;
	for (;;) {
		int option = getopt_long(argc, argv, "h", longs_of(is_emu), NULL);
		if (option == -1)
			break;
		bool is_of_sim = option >= OPT_SEEDS && option <= OPT_STEPS;
		if (option == '?' || (is_emu && is_of_sim))
			return outcome_bad_word(
				refusal, "unknown option or missing value:", argv[optind - 1]);
		int rc = take(ret, option, refusal);
		if (rc < 0)
			return rc;
	}
	if (optind < argc)
		ret->scenario = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(refusal, "one scenario at a time; what is", argv[optind]);
	if (ret->wants_help || ret->wants_version)
		return 0;
	if (ret->wants_list || ret->wants_keys)
		return outcome_alone(refusal, ret->wants_list ? "--list" : "--list-keys", argc,
				     argv);
	int rc = check_together(ret, refusal);
	if (rc == 0)
		rc = options_depth(ret, refusal);
	if (rc < 0)
		return rc;
	return is_emu ? options_emu(ret, refusal) : options_study(ret, refusal);
}
