// SPDX-License-Identifier: Apache-2.0
// weft goodput: arguments, and who prints.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "goodput.h"
#include "help.h"
#include "weft-goodput_options.h"
#include <weft/run/outcome.h>

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

static const struct option_row option_rows[] = {GOODPUT_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "scenario", .least = 1, .most = 1};

// Draws into the file that --svg names.
static int draw(struct call *call)
{
	struct atomic_file atomic_file;
	int rc = atomic_file_begin(&atomic_file, call->svg, &call->refusal);
	if (rc < 0)
		return rc;
	return atomic_file_end(&atomic_file, svg_draw(atomic_file.to, call), &call->refusal);
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
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal);
	int status = EXIT_SUCCESS;
	call.scenario_name = argv[optind];
	call.numbers.slow_ppu /= 100; // from percent
	if (rc < 0)
		return outcome_refused("goodput", &call.refusal, rc);
	if (call.wants_list)
		table_list(stdout);
	else if (rc == 0)
		status = show(&call);
	study_free(&call);
	return outcome_end("goodput", status);
}
