// SPDX-License-Identifier: Apache-2.0
// weft sim and weft emu: arguments, files, choice of driver. Nothing of the run itself lives here.

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/diagnose/diagnose.h>
#include <weft/engine/engine.h>
#include <weft/result/report.h>
#include <weft/result/report_stall.h>
#include <weft/scenario/scenario_key.h>

#include "fidelity/fidelity_full.h"
#include "job_set.h"
#include "record.h"
#include "run_parts.h"
#include "weft_version.h"
#include <weft/run/call.h>
#include <weft/run/command.h>
#include <weft/run/export.h>
#include <weft/run/folder.h>
#include <weft/run/run.h>
#include <weft/run/style.h>

bool call_is_stopped(void)
{
	return *signals_stop() != 0;
}

int call_say_refusal(const struct call *call, int rc)
{
	if (call->is_other)
		return outcome_status(rc);
	return outcome_refused(call->options.program, &call->refusal, rc);
}

static void list_keys(void)
{
	for (const struct scenario_key *key = scenario_keys(); key->path != NULL; key++)
		printf("%-26s %-6s %-14s %s\n", key->path, key->unit, key->value, key->text);
	for (const struct scenario_name *name = scenario_names(); name->name != NULL; name++)
		printf("%-26s %-6s %-14s %s\n", name->name, "name", name->path,
		       name->words == NULL ? "As mrc_ctl.h calls that key."
					   : "As mrc_ctl.h calls that key, the other way round.");
}

// What a refusal while the world is built is about.
static int name_place(struct call *call, int rc)
{
	const char *sample = call->options.sample;
	if (call->refusal.file[0] == '\0' && rc != -ENODEV && rc != -ENOTSUP)
		snprintf(call->refusal.file, sizeof(call->refusal.file), "%.180s%s%.60s",
			 call->scenario.path, sample != NULL ? " --sample " : "",
			 sample != NULL ? sample : "");
	return rc;
}

static int build(struct call *call, const struct sim_options *options)
{
	return name_place(call,
			  world_instance_build(&call->world_instance, &call->scenario,
					       call->workload.text, call->workload.bytes, options,
					       &call->refusal));
}

static struct sim_options sim_options_of(struct call *call)
{
	const struct options *options = &call->options;
	return (struct sim_options){.progress = progress_show,
				    .progress_context = &call->progress,
				    .stop = signals_stop(),
				    .ports = options->port_choice,
				    .lanes = options->lane_count,
				    .ranks = call->has_ranks ? &call->ranks : NULL};
}

static pace_clock_fn *clock_of(const struct options *options)
{
	bool is_linked = options->gpu != NULL; // both ends read the system's clock
	return options->port_choice.kind == PORTS_RING && !is_linked ? dpdk_clock_ns : NULL;
}

// --dilation auto: runs the world once without waiting, to see what it costs here.
static int try_dilation(struct call *call)
{
	struct run run;
	struct sim_options options = sim_options_of(call);
	struct pace_calibration *calibration = pace_calibration_create();
	if (calibration == NULL)
		return refuse(&call->refusal, -ENODEV, "the system gives no memory for a trial");
	options.pace = (struct pace_options){
		.is_on = true, .clock = clock_of(&call->options), .calibration = calibration};
	int rc = build(call, &options);
	if (rc == 0) {
		progress_start(&call->progress, &call->world_instance.world,
			       call->options.is_quiet);
		sim_run(call->world_instance.sim, &run);
		progress_end(&call->progress);
		call->dilation_milli = pace_calibration_dilation(calibration);
		world_instance_free(&call->world_instance);
		call->refusal.file[0] = '\0';
		if (call_is_stopped())
			rc = refuse(&call->refusal, -EINTR,
				    "interrupted while it looked for a dilation");
	}
	pace_calibration_free(calibration);
	return rc;
}

int call_build(struct call *call)
{
	const struct options *options = &call->options;
	bool is_emu = strcmp(options->program, "emu") == 0;
	if (!options->is_dilation_auto)
		call->dilation_milli = options->dilation_milli;
	struct sim_options sim = sim_options_of(call);
	sim.taps = (struct tap_options){options->pcap == NULL ? NULL : call->capture_paths[0],
					options->log == NULL ? NULL : call->capture_paths[1],
					WEFT_VERSION_TEXT};
	sim.pace = (struct pace_options){.is_on = is_emu,
					 .dilation_milli = call->dilation_milli,
					 .clock = clock_of(options)};
	int rc = options->gpu != NULL ? gpu_open(call, &sim) : 0;
	return rc < 0 ? rc : build(call, &sim);
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
		rc = job_set_alone(call, call->variant);
	if (rc == 0 && call->options.is_dilation_auto && !call->options.wants_footprint)
		rc = try_dilation(call);
	return rc < 0 ? rc : call_build(call);
}

// The scenario key that would let the run go on, NULL when no limit ended it.
// Whether switches wait for each other for good, so that no time would be enough.
static bool is_deadlocked(const struct call *call)
{
	const struct world_pauses *pauses = call->world_instance.world.pauses;
	return pauses != NULL && pauses->deadlock_count > 0;
}

static const char *limit_of(const struct call *call, const struct run *run)
{
	if (run->end == RUN_TIME)
		return is_deadlocked(call) ? NULL : "limits.time";
	return run->end == RUN_LIMIT ? run->limit_option : NULL;
}

static void report_frames(const struct run *run, struct report_ports *ret)
{
	const struct ports_figures *ports = &run->ports;
	*ret = (struct report_ports){
		.name = ports->name,
		.ports = ports->ports,
		.queues = ports->queues,
		.cables_per_queue_max = ports->cables_per_queue_max,
		.frames = ports->frames,
		.frame_bytes_max = ports->frame_bytes_max,
		.sent = ports->sent,
		.received = ports->received,
		.missed = ports->missed,
		.payload_bytes_good = run->payload_bytes_good,
		.payload_bytes_wrong = run->payload_bytes_wrong,
	};
	for (int i = 0; i < WIRE_REASON_COUNT; i++) {
		if (run->bad_frames[i] == 0)
			continue;
		ret->bad_names[ret->bad_count] = wire_reason_name((enum wire_reason)i);
		ret->bad[ret->bad_count++] = run->bad_frames[i];
	}
}

struct report_input call_report(const struct call *call, const struct run *run)
{
	const struct world *world = &call->world_instance.world;
	const struct options *options = &call->options;
	struct report_input input = {
		.world = world,
		.end = run_end_name(run->end),
		.is_partial = run->end != RUN_DONE,
		.is_short = options->is_quiet,
		.is_brief = call->is_brief,
		.style = call->has_ranks ? (struct report_style){0} // mpirun lends a terminal
					 : style_of(STDOUT_FILENO),
		.limit_option = limit_of(call, run),
		.digest = run->digest,
		.sent = run->sent,
		.delivered = run->delivered,
		.held = run->held,
		.held_unsent = run->held_unsent,
		.damaged = run->damaged,
		.doubled = run->doubled,
		.held_back = run->held_back,
		.reorder_queue_full = run->reorder_queue_full,
		.data_packets = run->data_packets,
		.hops = run->hops,
		.data_hops = run->data_hops,
		.windows = run->windows,
		.visits = run->visits,
		.now_ps = run->now_ps,
		.cpu_s = run->cpu_s,
		.wall_s = run->wall_s,
		.cpu_waiting_s = run->cpu_waiting_s,
		.cpu_busiest_s = run->cpu_busiest_s,
		.ranks = run->ranks,
		.pace = {call->dilation_milli, options->is_dilation_auto, run->lanes,
			 run->lateness_ns, run->gap_ns},
		.taps = {options->pcap, options->log, run->taps.frames, run->taps.lost,
			 run->taps.bytes, run->taps.pcap_left_out, run->taps.log_left_out,
			 (uint64_t)call->scenario.capture.file_bytes, run->taps.pcap_error,
			 run->taps.log_error},
		.gpu = options->gpu != NULL ? &call->gpu.report : NULL,
		.alone_ps = call->job_set.has_alone ? call->job_set.alone_ps : NULL,
		.memory_peak_bytes = memory_peak_bytes() > run->memory_bytes_other
			? memory_peak_bytes()
			: run->memory_bytes_other,
		.version = WEFT_VERSION_TEXT,
		.command = call->command,
		.out_dir = options->out,
		.inputs = call->scenario.inputs,
		.input_count = call->scenario.input_count,
		.diagnosis = &diagnose_section,
	};
	call_ideal(world, &input.ideal);
	memcpy(input.cable_dropped, run->dropped, sizeof(input.cable_dropped));
	report_frames(run, &input.ports);
	paced_fidelity(&input.fidelity, run, call->dilation_milli);
	return input;
}

void call_say_warnings(const struct call *call)
{
	char before[32];
	snprintf(before, sizeof(before), "weft %s: ", call->options.program);
	report_warnings(stderr, before, &call->world_instance.world);
}

int call_finish_output(const struct call *call)
{
	return outcome_end(call->options.program, EXIT_SUCCESS);
}

static void say_left_out(const char *program, const char *path, uint64_t count)
{
	if (count > 0)
		fprintf(stderr,
			"weft %s: %s: full: %" PRIu64 " packets are left out; --pcap-max SIZE "
			"allows more\n",
			program, path, count);
}

static void say_stalled(const struct call *call, const struct run *run)
{
	struct report_input input = call_report(call, run);
	char text[256];
	report_stall(&input, text, sizeof(text));
	fprintf(stderr, "weft %s: stalled: %s\n", call->options.program, text);
}

void call_say_end(const struct call *call, const struct run *run)
{
	const char *program = call->options.program;
	const char *limit = limit_of(call, run);
	if (limit != NULL)
		fprintf(stderr, "weft %s: a limit was hit: raise %s\n", program, limit);
	else if (run->end == RUN_TIME)
		fprintf(stderr,
			"weft %s: deadlock: ports wait for each other for good; more time does not "
			"help, other paths or queue.pfc_watch_action drop may\n",
			program);
	else if (run->end == RUN_STALLED)
		say_stalled(call, run);
	else if (run->end == RUN_INTERRUPTED)
		fprintf(stderr, "weft %s: interrupted\n", program);
	say_left_out(program, call->options.pcap, run->taps.pcap_left_out);
	say_left_out(program, call->options.log, run->taps.log_left_out);
	if (call->gpu.report.wrong > 0)
		fprintf(stderr,
			"weft %s: elements are wrong: generators found what was not made or "
			"summed\n",
			program);
	if (run->payload_bytes_wrong > 0)
		fprintf(stderr, "weft %s: wrong payload: %llu bytes are not what was sent\n",
			program, (unsigned long long)run->payload_bytes_wrong);
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

int call_run(struct call *call, struct run *ret)
{
	progress_start(&call->progress, &call->world_instance.world,
		       call->options.is_quiet || call->is_other);
	sim_run(call->world_instance.sim, ret);
	progress_end(&call->progress);
	return sim_end(call->world_instance.sim, ret, &call->refusal);
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
	static int (*const depths[])(struct call *) = {
		[FIDELITY_MODEL] = fidelity_run,
		[FIDELITY_SAMPLE] = fidelity_sample_run,
		[FIDELITY_FULL] = fidelity_full_run,
		[FIDELITY_ALL] = fidelity_all_run,
	};
	if (call->options.fidelity_kind == FIDELITY_FULL && call->options.export_form != NULL) {
		int rc = fidelity_full_build(call);
		return rc < 0 ? fidelity_say_refusal(call, rc) : write_trace(call);
	}
	if (call->options.fidelity_kind != FIDELITY_NONE)
		return depths[call->options.fidelity_kind](call);
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
	job_set_free(&call);
	manifest_rows_free(&call.inputs);
	dpdk_stop();
	return status;
}
