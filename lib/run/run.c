// SPDX-License-Identifier: Apache-2.0
// weft sim and weft emu: arguments, files, choice of driver. Nothing of the run itself lives here.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/result/report.h>
#include <weft/scenario/scenario_key.h>

#include "fidelity/fidelity_full.h"
#include "run_parts.h"
#include <weft/run/call.h>
#include <weft/run/export.h>
#include <weft/run/folder.h>
#include <weft/run/host_info.h>
#include <weft/run/run.h>

// " [mrc rc]", for completion.
static void end_key(const char *const *words)
{
	for (const char *const *word = words; word != NULL && *word != NULL; word++)
		printf("%s%s%s", word == words ? " [" : " ", *word, word[1] == NULL ? "]" : "");
	putchar('\n');
}

static void list_keys(void)
{
	for (const struct scenario_key *key = scenario_keys(); key->path != NULL; key++) {
		printf("%-26s %-6s %-14s %s", key->path, key->unit, key->value, key->text);
		end_key(key->words);
	}
	for (const struct scenario_name *name = scenario_names(); name->name != NULL; name++) {
		printf("%-26s %-6s %-14s %s", name->name, "name", name->path,
		       name->words == NULL ? "As mrc_ctl.h calls that key."
					   : "As mrc_ctl.h calls that key, the other way round.");
		end_key(name->words);
	}
}

static int check_fast_forward(struct call *call)
{
	if (call->scenario.fast_forward.is_on && call->options.fidelity_kind != FIDELITY_NONE)
		return refuse(
			&call->refusal, -EINVAL,
			"fast_forward.steady is for runs packet by packet; --fidelity takes none");
	return 0;
}

// Reads everything and builds the world; what is refused here has written nothing.
static int prepare(struct call *call)
{
	signals_catch();
	int rc = call_read(call);
	if (rc == 0)
		rc = ranks_check(call);
	if (rc == 0 && call->options.record_rank != NULL)
		rc = record_check(call);
	if (rc == 0)
		rc = check_fast_forward(call);
	if (rc == 0 && call->is_comparison && call->options.export_form != NULL)
		return refuse(&call->refusal, -EINVAL,
			      "--export writes one job: name a variant with --variant");
	if (rc < 0 || call->is_comparison)
		return rc;
	if (call->options.export_form != NULL && call->options.fidelity_kind == FIDELITY_NONE)
		return call_build(call); // export_write() makes the folder
	if (call->options.export_form == NULL)
		rc = out_begin(call);
	if (rc < 0 || call->is_study || call->options.fidelity_kind != FIDELITY_NONE)
		return rc;
	if (!call->options.wants_footprint)
		rc = call_jobs_alone(call, call->variant);
	if (rc == 0 && call->options.is_dilation_auto && !call->options.wants_footprint)
		rc = call_try_dilation(call);
	return rc < 0 ? rc : call_build(call);
}

// Prints the result. Returns an exit status.
static int show(struct call *call, const struct report_input *input)
{
	int rc = 0;
	if (call->options.is_json) {
		rc = report_json(stdout, input);
	} else {
		if (call->options.trace != NULL && !call->workload.has_set &&
		    !call->options.is_quiet && !call->is_brief)
			traces_table(stdout, &call->world_instance.world);
		report_table(stdout, input);
	}
	return call_finish_output(call) != 0 || rc < 0 ? EXIT_ENVIRONMENT : 0;
}

// Writes the result and puts it in its place. -errno with a reason.
static int keep(struct call *call, const struct report_input *input, bool is_done)
{
	struct report_input there = *input;
	there.out_dir = call->staging.part;
	int rc = report_write(&there, &call->refusal);
	if (rc == 0 && call->options.record_rank != NULL && is_done)
		rc = record_write(call);
	return out_end(call, rc);
}

// Runs, then writes and prints the result. Returns the exit status.
static int perform(struct call *call)
{
	struct run run;
	int rc = call->options.gpu != NULL ? gpu_attach(call) : 0;
	if (rc < 0)
		return call_say_refusal(call, rc);
	rc = call_run(call, &run);
	if (call->options.gpu != NULL)
		gpu_finish(call, run.end);
	bool is_lost = gpu_say_lost(call);
	if (call->is_other) // the first has everything
		return 0;
	if (call->options.is_json)
		call_say_warnings(call);
	bool is_cut = rc < 0; // a capture or a log: the result is good all the same
	if (is_cut)
		call_say_refusal(call, rc);
	struct report_input input = call_report(call, &run);
	rc = call->options.out != NULL ? keep(call, &input, run.end == RUN_DONE) : 0;
	int status = show(call, &input);
	if (rc < 0)
		status = call_say_refusal(call, rc);
	if (status != 0)
		return status;
	call_say_end(call, &run);
	if (is_cut)
		return EXIT_ENVIRONMENT;
	if (is_lost)
		return EXIT_PEER_LOST;
	if (run.end != RUN_DONE || run.payload_bytes_wrong > 0 || call->gpu.report.wrong > 0)
		return EXIT_NOT_VALID;
	if (report_imprecise_say(stderr, call->options.program, &input))
		return EXIT_NOT_VALID;
	if (report_is_expected(&input))
		return 0;
	fprintf(stderr, "weft %s: expectations not met\n", call->options.program);
	return EXIT_MISSED;
}

// Questions that need no scenario. Returns whether there was one.
static bool answer(const struct options *options)
{
	if (options->wants_list)
		folder_list_scenarios(stdout);
	else if (options->wants_keys)
		list_keys();
	else
		return false;
	return true;
}

// --export: writes what would be run, and says so.
static int write_trace(struct call *call)
{
	const struct options *options = &call->options;
	struct trace_set set;
	const struct export_rings rings = {call->scenario.traffic.ring,
					   call->scenario.fabric.nics_per_host};
	int rc = export_world(&set, &call->world_instance.world, &call->refusal);
	if (rc == 0)
		rc = export_write(&set, export_find(options->export_form), options->out, 0, &rings,
				  &call->refusal);
	if (rc == 0)
		printf("%s: %u ranks as %s in %s\n", call->scenario.name, set.rank_count,
		       options->export_form, options->out);
	trace_set_free(&set);
	return rc < 0 ? call_say_refusal(call, rc) : call_finish_output(call);
}

// Does what the command line asks for, after prepare(). Returns the exit status.
static int act(struct call *call)
{
	const char *form = call->options.export_form;
	bool is_text = form != NULL && export_find(form) == EXPORT_SIMAI;
	static int (*const fidelities[])(struct call *) = {
		[FIDELITY_MODEL] = fidelity_run,
		[FIDELITY_SAMPLE] = fidelity_sample_run,
		[FIDELITY_FULL] = fidelity_full_run,
		[FIDELITY_ALL] = fidelity_all_run,
	};
	if (call->options.fidelity_kind == FIDELITY_FULL && is_text)
		return fidelity_full_text(call);
	if (call->options.fidelity_kind == FIDELITY_FULL && call->options.export_form != NULL) {
		int rc = fidelity_full_build(call);
		return rc < 0 ? fidelity_say_refusal(call, rc) : write_trace(call);
	}
	if (call->options.fidelity_kind != FIDELITY_NONE)
		return fidelities[call->options.fidelity_kind](call);
	if (call->is_study)
		return study_run(call);
	if (call->is_comparison)
		return compare_run(call);
	if (call->options.export_form != NULL)
		return write_trace(call);
	if (!call->options.wants_footprint)
		return perform(call);
	if (call->options.is_json)
		report_footprint_json(stdout, &call->world_instance.world);
	else
		report_footprint(stdout, &call->world_instance.world);
	return call_finish_output(call);
}

int run_main(const char *program, const struct command_line *line, int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	call.options.program = program;
	int rc = ranks_join(&call, argv);
	if (rc == 0)
		rc = options_parse(&call.options, program, line, argc, argv, &call.refusal);
	if (rc == COMMAND_LINE_DONE || (rc == 0 && answer(&call.options)))
		return ranks_leave(&call, call_finish_output(&call));
	file_watch(manifest_take, &call.inputs);
	command_text(program, argc, argv, call.command, sizeof(call.command));
	if (rc == 0)
		rc = prepare(&call);
	rc = ranks_may_run(&call, rc);
	int status = ranks_leave(&call, rc < 0 ? call_say_refusal(&call, rc) : act(&call));
	staging_abandon(&call.staging);
	world_instance_free(&call.world_instance);
	gpu_close(&call);
	workload_free(&call.workload);
	job_set_free(call.job_set.files);
	manifest_rows_free(&call.inputs);
	dpdk_stop();
	return status;
}
