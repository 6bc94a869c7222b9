// SPDX-License-Identifier: Apache-2.0
// weft goodput: arguments, and who prints.

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "goodput.h"
#include "help.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

enum {
	OPT_DAYS = 256,
	OPT_CHECKPOINT,
	OPT_RUNS,
	OPT_SEED,
	OPT_RATES,
	OPT_CABLES,
	OPT_OUTAGE,
	OPT_FLAP,
	OPT_SLOW,
	OPT_RECOVERY,
	OPT_CRASH,
	OPT_HANG,
	OPT_RESTART,
	OPT_IB_TIMEOUT,
	OPT_IB_RETRY,
	OPT_SAVE,
	OPT_LOAD,
	OPT_SPARES,
	OPT_REPAIR,
	OPT_FAULTS,
	OPT_SVG,
	OPT_ONCE_END, // those before may be given once
	OPT_RATE,
	OPT_SET,
	OPT_FORCE,
	OPT_JSON,
	OPT_LIST,
	OPT_VERSION
};

static const struct option longs[] = {
	{"days", required_argument, NULL, OPT_DAYS},
	{"checkpoint", required_argument, NULL, OPT_CHECKPOINT},
	{"runs", required_argument, NULL, OPT_RUNS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"rates", required_argument, NULL, OPT_RATES},
	{"rate", required_argument, NULL, OPT_RATE},
	{"cables", required_argument, NULL, OPT_CABLES},
	{"outage", required_argument, NULL, OPT_OUTAGE},
	{"flap", required_argument, NULL, OPT_FLAP},
	{"slow", required_argument, NULL, OPT_SLOW},
	{"recovery", required_argument, NULL, OPT_RECOVERY},
	{"crash", required_argument, NULL, OPT_CRASH},
	{"hang", required_argument, NULL, OPT_HANG},
	{"restart", required_argument, NULL, OPT_RESTART},
	{"ib-timeout", required_argument, NULL, OPT_IB_TIMEOUT},
	{"ib-retry", required_argument, NULL, OPT_IB_RETRY},
	{"save", required_argument, NULL, OPT_SAVE},
	{"load", required_argument, NULL, OPT_LOAD},
	{"spares", required_argument, NULL, OPT_SPARES},
	{"repair", required_argument, NULL, OPT_REPAIR},
	{"faults", required_argument, NULL, OPT_FAULTS},
	{"svg", required_argument, NULL, OPT_SVG},
	{"force", no_argument, NULL, OPT_FORCE},
	{"set", required_argument, NULL, OPT_SET},
	{"json", no_argument, NULL, OPT_JSON},
	{"list", no_argument, NULL, OPT_LIST},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// ---------------------------------------------------------------- words

static int add_set(struct call *call, const char *word)
{
	if (call->set_count == SETS_MAX)
		return outcome_bad_word(&call->refusal, "too many --set, at", word);
	call->sets[call->set_count++] = word;
	return 0;
}

static int take_time(struct call *call, int option, const char *word)
{
	struct numbers *to = &call->numbers;
	switch (option) {
	case OPT_OUTAGE:
		return words_time(call, &to->outage_s, "--outage", word);
	case OPT_FLAP:
		return words_time(call, &to->flap_s, "--flap", word);
	case OPT_CRASH:
		return words_time(call, &to->crash_s, "--crash", word);
	case OPT_HANG:
		return words_time(call, &to->hang_s, "--hang", word);
	case OPT_RESTART:
		return words_time(call, &to->restart_s, "--restart", word);
	case OPT_SAVE:
		return words_time(call, &to->save_s, "--save", word);
	case OPT_LOAD:
		return words_time(call, &to->load_s, "--load", word);
	case OPT_FAULTS:
		call->wants_faults = true;
		return words_time(call, &to->faults_s, "--faults", word);
	case OPT_REPAIR:
		return words_time(call, &to->repair_s, "--repair", word);
	default:
		call->is_auto = strcmp(word, "auto") == 0;
		return call->is_auto
			? 0
			: words_time(call, &to->checkpoint_s, "--checkpoint is auto, or", word);
	}
}

static int take_slow(struct call *call, const char *word)
{
	int rc = words_number(call, &call->numbers.slow_ppu, "--slow", word, 0, 10000);
	call->numbers.slow_ppu /= 100;
	call->has_slow = true;
	return rc;
}

static int take_number(struct call *call, int option, const char *word)
{
	struct numbers *to = &call->numbers;
	switch (option) {
	case OPT_DAYS:
		return words_number(call, &to->days, "--days", word, 0.001, 36500);
	case OPT_RUNS:
		return words_count(call, &to->runs, "--runs", word, 2, 100000);
	case OPT_CABLES:
		return words_count(call, &to->cables, "--cables", word, 1, 1000);
	case OPT_IB_TIMEOUT:
		return words_count(call, &to->ib_timeout, "--ib-timeout", word, 1, 31);
	case OPT_IB_RETRY:
		return words_count(call, &to->ib_retry, "--ib-retry", word, 1, 100);
	case OPT_SPARES:
		return words_count(call, &to->spares, "--spares", word, 0, 1000000);
	case OPT_SLOW:
		return take_slow(call, word);
	case OPT_RATES:
		return words_rates(call, word);
	case OPT_RECOVERY:
		return words_recovery(call, word);
	case OPT_SEED:
		call->seed_text = word;
		return 0;
	default:
		return take_time(call, option, word);
	}
}

static int take(struct call *call, int option)
{
	switch (option) {
	case OPT_RATE:
		return words_rate(call, optarg);
	case OPT_SET:
		return add_set(call, optarg);
	case OPT_SVG:
		call->svg = optarg;
		return 0;
	case OPT_FORCE:
		files_force();
		return 0;
	case OPT_JSON:
		call->is_json = true;
		return 0;
	case OPT_LIST:
		call->wants_list = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	case 'h':
		call->wants_help = true;
		return 0;
	default:
		return take_number(call, option, optarg);
	}
}

// ---------------------------------------------------------------- all of them

static void begin(struct call *call)
{
	call->is_auto = true;
	call->rates = &rates_all[0];
	call->recovery = &recoveries[1]; // nvrx-in-job
	call->numbers = (struct numbers){
		.days = 54,
		.checkpoint_s = NAN,
		.outage_s = DEFAULT_OUTAGE_S,
		.flap_s = NAN,
		.slow_ppu = NAN,
		.crash_s = NAN,
		.hang_s = NAN,
		.restart_s = NAN,
		.save_s = NAN,
		.load_s = NAN,
		.repair_s = NAN,
		.runs = 200,
		.ib_timeout = DEFAULT_IB_TIMEOUT,
		.ib_retry = DEFAULT_IB_RETRY,
		.spares = GOODPUT_ENOUGH_SPARES,
	};
	for (int i = 0; i < COMPONENTS_MAX; i++)
		call->rate_of[i] = NAN;
}

// What a timeline has no use for.
static int check_faults(struct call *call, const bool *is_given)
{
	static const int others[] = {OPT_CHECKPOINT, OPT_RUNS, OPT_SLOW,    OPT_RECOVERY,
				     OPT_CRASH,	     OPT_HANG, OPT_RESTART, OPT_IB_TIMEOUT,
				     OPT_IB_RETRY,   OPT_SAVE, OPT_LOAD,    OPT_SPARES,
				     OPT_REPAIR,     OPT_SVG};
	for (size_t i = 0; call->wants_faults && i < sizeof(others) / sizeof(*others); i++) {
		const struct option *at = longs;
		while (at->val != others[i])
			at++;
		if (is_given[others[i]])
			return outcome_bad_word(&call->refusal,
						"--faults has no use for the option", at->name);
	}
	return 0;
}

static int take_all(struct call *call, int argc, char **argv)
{
	bool is_given[OPT_ONCE_END] = {false};
	int option, rc;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(&call->refusal, "unknown option or missing value:",
						argv[optind - 1]);
		if (option >= OPT_DAYS && option < OPT_ONCE_END && is_given[option])
			return outcome_bad_word(&call->refusal, "an option is given twice, at",
						optarg);
		if (option < OPT_ONCE_END)
			is_given[option] = true;
		if ((rc = take(call, option)) < 0)
			return rc;
	}
	return check_faults(call, is_given);
}

static int parse(struct call *call, int argc, char **argv)
{
	int rc = take_all(call, argc, argv);
	if (rc < 0 || call->wants_help || call->wants_version)
		return rc;
	if (call->wants_list)
		return outcome_alone(&call->refusal, "--list", argc, argv);
	if (optind == argc)
		return outcome_bad_line(&call->refusal, "no scenario given");
	call->scenario_name = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(&call->refusal, "one scenario at a time; what is",
					argv[optind]);
	if (call->wants_faults && call->is_json)
		return outcome_bad_word(&call->refusal, "--faults prints YAML; it does not go with",
					"--json");
	if (files_are_forced() && call->svg == NULL)
		return outcome_bad_word(&call->refusal, "needs --svg:", "--force");
	if (!isnan(call->numbers.repair_s) && call->numbers.spares == GOODPUT_ENOUGH_SPARES)
		return outcome_bad_word(&call->refusal,
					"has no effect without --spares:", "--repair");
	return 0;
}

// Draws into the file that --svg names.
static int draw(struct call *call)
{
	struct draft draft;
	int rc = draft_begin(&draft, call->svg, &call->refusal);
	if (rc < 0)
		return rc;
	return draft_end(&draft, svg_draw(draft.to, call), &call->refusal);
}

static int show(struct call *call)
{
	int rc = job_make(call);
	if (rc == 0 && call->svg != NULL)
		rc = files_check_output(call->svg, &call->refusal);
	if (rc == 0)
		rc = call->wants_faults ? timeline_print(stdout, call) : study_run(call);
	if (rc < 0)
		return outcome_refused("goodput", &call->refusal, rc);
	if (call->wants_faults)
		return EXIT_SUCCESS;
	if (call->is_json)
		json_print(stdout, call);
	else
		table_print(stdout, call);
	if (call->svg != NULL)
		rc = draw(call);
	return rc < 0 ? outcome_refused("goodput", &call->refusal, rc) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	begin(&call);
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("goodput", &call.refusal, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else if (call.wants_list)
		table_list(stdout);
	else
		status = show(&call);
	study_free(&call);
	return outcome_end("goodput", status);
}
