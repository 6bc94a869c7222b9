// SPDX-License-Identifier: Apache-2.0
// weft sim and weft emu: arguments, files, choice of driver. Nothing of the run itself lives here.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/drive.h>
#include <weft/report.h>

#include "folder.h"
#include "options.h"
#include "progress.h"
#include "run.h"
#include "traces.h"
#include "weft_version.h"

enum { EXIT_MISSED = 1, EXIT_BAD_INPUT = 2, EXIT_ENVIRONMENT = 3, EXIT_NOT_VALID = 5 };

#define SCENARIO_BYTES_MAX ((size_t)1 << 20)
#define TRACE_BYTES_MAX ((size_t)1 << 28)
#define TRACE_SCENARIO "trace-default"
#define COMMAND_BYTES 2048

static volatile sig_atomic_t stop_asked;

static void ask_stop(int signal)
{
	(void)signal;
	stop_asked = 1;
}

// Everything one call of the program holds.
struct call {
	struct options options;
	struct scenario scenario;
	char *trace_text;
	size_t trace_bytes;
	char gpus_set[64];			  // "fabric.nics=N" from the trace
	char trace_set[SCENARIO_PATH_BYTES + 64]; // "traffic.trace=FILE"
	struct stage stage;
	struct progress progress;
	struct refusal refusal;
	char command[COMMAND_BYTES];
	uint64_t dilation_milli; // of a paced run
};

// Says why, once, and gives the exit status of a refusal.
static int say_refusal(const struct call *call, int rc)
{
	const struct refusal *refusal = &call->refusal;
	fprintf(stderr, "weft %s: ", call->options.program);
	if (refusal->file[0] != '\0')
		fprintf(stderr, "%s:", refusal->file);
	if (refusal->line > 0)
		fprintf(stderr, "%u:", refusal->line);
	if (refusal->column > 0)
		fprintf(stderr, "%u:", refusal->column);
	fprintf(stderr, "%s%s\n", refusal->file[0] != '\0' || refusal->line > 0 ? " " : "",
		refusal->text);
	if (rc == -EINTR)
		return EXIT_NOT_VALID;
	return rc == -EINVAL || rc == -ENOENT || rc == -ENOMEM || rc == -EISDIR || rc == -EFBIG ||
			rc == -ENOTEMPTY
		? EXIT_BAD_INPUT
		: EXIT_ENVIRONMENT;
}

static void list_keys(void)
{
	for (const struct scenario_key *key = scenario_keys(); key->path != NULL; key++)
		printf("%-26s %-6s %-14s %s\n", key->path, key->unit, key->value, key->text);
}

// Reads a workload file into memory and finds out how many GPUs it is of.
static int read_trace(struct call *call, const char *path, uint32_t *ret_gpus)
{
	struct refusal *refusal = &call->refusal;
	int rc = file_read(path, TRACE_BYTES_MAX, &call->trace_text, &call->trace_bytes, refusal);
	if (rc < 0)
		return rc;
	size_t room = call->trace_bytes * 16 + ((size_t)1 << 20);
	void *memory = memory_reserve(room);
	if (memory == NULL)
		return refuse(refusal, -ENOMEM, "the system gives no memory to read the trace", 0,
			      0, 0);
	struct arena arena;
	struct trace trace;
	arena_init(&arena, memory, room);
	rc = trace_simai_parse(&trace, &arena, call->trace_text, call->trace_bytes, refusal);
	memory_release(memory, room);
	if (rc < 0)
		snprintf(refusal->file, sizeof(refusal->file), "%s", path);
	else
		*ret_gpus = trace.gpus;
	return rc;
}

// --trace FILE: the fabric gets as many NICs as the file has GPUs.
static int take_trace(struct call *call)
{
	struct options *options = &call->options;
	uint32_t gpus;
	int rc = read_trace(call, options->trace, &gpus);
	if (rc < 0)
		return rc;
	if (options->set_count + 2 > OPTION_SETS_MAX)
		return refuse(&call->refusal, -EINVAL, "too many --set beside --trace", 0, 0, 0);
	snprintf(call->gpus_set, sizeof(call->gpus_set), "fabric.nics=%u", gpus);
	snprintf(call->trace_set, sizeof(call->trace_set), "traffic.trace=%s", options->trace);
	options->sets[options->set_count++] = call->gpus_set;
	options->sets[options->set_count++] = call->trace_set;
	if (options->scenario == NULL)
		options->scenario = TRACE_SCENARIO;
	return 0;
}

// --sample SPEC, in place of the scenario's sample.
static int take_sample(struct call *call)
{
	struct refusal *refusal = &call->refusal;
	enum traffic_kind kind = call->scenario.traffic.kind;
	int rc = sample_parse(&call->scenario.sample, call->options.sample, refusal);
	if (rc < 0) {
		snprintf(refusal->file, sizeof(refusal->file), "--sample");
		refusal->line = 1;
		return rc;
	}
	if (kind == TRAFFIC_RING || kind == TRAFFIC_MODEL || kind == TRAFFIC_TRACE)
		return 0;
	return refuse(refusal, -EINVAL,
		      "--sample has no effect here; it needs traffic.kind ring, model or trace", 0,
		      0, 0);
}

static int read_scenario(struct call *call)
{
	struct options *options = &call->options;
	char path[SCENARIO_PATH_BYTES];
	char *text;
	size_t bytes;
	int rc = shelf_find(options->scenario, path, sizeof(path), &call->refusal);
	if (rc < 0)
		return rc;
	rc = file_read(path, SCENARIO_BYTES_MAX, &text, &bytes, &call->refusal);
	if (rc < 0)
		return rc;
	rc = scenario_parse(&call->scenario, path, text, bytes, options->sets, options->set_count,
			    &call->refusal);
	free(text);
	if (rc < 0)
		return rc;
	uint32_t gpus;
	bool needs_trace = call->scenario.traffic.kind == TRAFFIC_TRACE && call->trace_text == NULL;
	if (needs_trace && call->scenario.traffic.trace[0] == '\0') {
		snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", path);
		return refuse(&call->refusal, -EINVAL,
			      "this scenario runs a workload file: name it with --trace FILE", 0, 0,
			      0);
	}
	if (needs_trace)
		rc = read_trace(call, call->scenario.traffic.trace, &gpus);
	if (rc < 0)
		return rc;
	return options->sample != NULL ? take_sample(call) : 0;
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
			  stage_build(&call->stage, &call->scenario, call->trace_text,
				      call->trace_bytes, options, &call->refusal));
}

static struct sim_options sim_options_of(struct call *call)
{
	const struct options *options = &call->options;
	return (struct sim_options){.progress = progress_show,
				    .progress_context = &call->progress,
				    .stop = &stop_asked,
				    .ports = options->port_choice,
				    .lanes = options->lane_count};
}

static pace_clock_fn *clock_of(const struct options *options)
{
	return options->port_choice.kind == PORTS_RING ? dpdk_clock_ns : NULL;
}

// --dilation auto: runs the world once without waiting, to see what it costs here.
static int try_dilation(struct call *call)
{
	struct run run;
	struct sim_options options = sim_options_of(call);
	struct pace_trial *trial = pace_trial_create();
	if (trial == NULL)
		return refuse(&call->refusal, -ENOMEM, "the system gives no memory for a trial", 0,
			      0, 0);
	options.pace = (struct pace_options){
		.is_on = true, .clock = clock_of(&call->options), .trial = trial};
	int rc = build(call, &options);
	if (rc == 0) {
		progress_start(&call->progress, &call->stage.world, call->options.is_quiet);
		sim_run(call->stage.sim, &run);
		progress_end(&call->progress);
		call->dilation_milli = pace_trial_dilation(trial);
		stage_free(&call->stage);
		call->refusal.file[0] = '\0';
		if (stop_asked)
			rc = refuse(&call->refusal, -EINTR,
				    "interrupted while it looked for a dilation", 0, 0, 0);
	}
	pace_trial_free(trial);
	return rc;
}

// Builds the world that will be run.
static int build_run(struct call *call)
{
	const struct options *options = &call->options;
	bool is_emu = strcmp(options->program, "emu") == 0;
	if (!options->is_dilation_auto)
		call->dilation_milli = options->dilation_milli;
	struct sim_options sim = sim_options_of(call);
	sim.taps = (struct tap_options){options->pcap, options->log, WEFT_VERSION_TEXT};
	sim.pace = (struct pace_options){.is_on = is_emu,
					 .dilation_milli = call->dilation_milli,
					 .clock = clock_of(options)};
	return build(call, &sim);
}

// Captures may lie beside a result, but not where one of its files goes.
static int check_captures(struct call *call)
{
	const struct options *options = &call->options;
	const char *const files[] = {options->pcap, options->log};
	for (int i = 0; i < 2; i++) {
		if (files[i] == NULL || !folder_has_result_at(options->out, files[i]))
			continue;
		snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", files[i]);
		return refuse(&call->refusal, -EINVAL, "--out writes a file of that name", 0, 0, 0);
	}
	return 0;
}

// Reads everything and builds the world; what is refused here has written nothing.
static int prepare(struct call *call)
{
	signal(SIGINT, ask_stop);
	signal(SIGTERM, ask_stop);
	int rc = call->options.trace != NULL ? take_trace(call) : 0;
	if (rc == 0)
		rc = read_scenario(call);
	if (rc == 0 && call->options.is_dilation_auto && !call->options.wants_footprint)
		rc = try_dilation(call);
	if (rc < 0 || call->options.out == NULL)
		return rc < 0 ? rc : build_run(call);
	uint32_t made; // captures may go into the folder, so it is made before they are opened
	rc = folder_make(call->options.out, &made, &call->refusal);
	if (rc < 0)
		return rc;
	rc = check_captures(call);
	if (rc == 0)
		rc = build_run(call);
	if (rc < 0)
		folder_unmake(call->options.out, made);
	return rc;
}

// The scenario key that would let the run go on, NULL when no limit ended it.
static const char *limit_of(const struct run *run)
{
	if (run->end == RUN_TIME)
		return "limits.time";
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

static struct report_input report_of(const struct call *call, const struct run *run)
{
	const struct world *world = &call->stage.world;
	const struct options *options = &call->options;
	struct report_input input = {
		.world = world,
		.end = run_end_name(run->end),
		.is_partial = run->end != RUN_DONE,
		.is_short = options->is_quiet,
		.limit_option = limit_of(run),
		.digest = run->digest,
		.sent = run->sent,
		.delivered = run->delivered,
		.held = run->held,
		.data_packets = run->data_packets,
		.hops = run->hops,
		.data_hops = run->data_hops,
		.windows = run->windows,
		.visits = run->visits,
		.now_ps = run->now_ps,
		.cpu_s = run->cpu_s,
		.wall_s = run->wall_s,
		.pace = {call->dilation_milli, options->is_dilation_auto, run->lanes,
			 run->lateness_ns, run->gap_ns},
		.taps = {options->pcap, options->log, run->taps.frames, run->taps.lost,
			 run->taps.bytes},
		.memory_peak_bytes = memory_peak_bytes(),
		.version = WEFT_VERSION_TEXT,
		.command = call->command,
		.out_dir = options->out,
		.inputs = call->scenario.inputs,
		.input_count = call->scenario.input_count,
	};
	uint64_t in_switches;
	world_held(world, &input.held_unsent, &in_switches);
	memcpy(input.cable_dropped, run->dropped, sizeof(input.cable_dropped));
	report_frames(run, &input.ports);
	return input;
}

// Whether all that was printed is where it should be. Returns an exit status.
static int finish_output(const struct call *call)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return 0;
	fprintf(stderr, "weft %s: cannot write to the standard output\n", call->options.program);
	return EXIT_ENVIRONMENT;
}

// Says why a result is partial or wrong; a script that keeps only stderr knows it, too.
static void say_end(const struct call *call, const struct run *run)
{
	const char *program = call->options.program;
	if (limit_of(run) != NULL)
		fprintf(stderr, "weft %s: a limit was hit: raise %s\n", program, limit_of(run));
	else if (run->end == RUN_STALLED)
		fprintf(stderr,
			"weft %s: stalled: nothing is left to do, but the workload is not "
			"complete\n",
			program);
	else if (run->end == RUN_INTERRUPTED)
		fprintf(stderr, "weft %s: interrupted\n", program);
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
		if (call->options.trace != NULL && !call->options.is_quiet)
			traces_table(stdout, &call->stage.world);
		report_table(stdout, input);
	}
	return finish_output(call) != 0 || rc < 0 ? EXIT_ENVIRONMENT : 0;
}

// Runs, then writes and prints the result. Returns the exit status.
static int perform(struct call *call)
{
	struct run run;
	progress_start(&call->progress, &call->stage.world, call->options.is_quiet);
	sim_run(call->stage.sim, &run);
	progress_end(&call->progress);
	int rc = sim_end(call->stage.sim, &run, &call->refusal);
	bool is_cut = rc < 0; // a capture or a log: the result is good all the same
	if (is_cut)
		say_refusal(call, rc);
	struct report_input input = report_of(call, &run);
	if (call->options.out != NULL) {
		rc = report_write(&input, &call->refusal);
		if (rc < 0)
			return say_refusal(call, rc);
	}
	int status = show(call, &input);
	if (status != 0)
		return status;
	say_end(call, &run);
	if (is_cut)
		return EXIT_ENVIRONMENT;
	if (run.end != RUN_DONE || run.payload_bytes_wrong > 0)
		return EXIT_NOT_VALID;
	if (report_is_expected(&input))
		return 0;
	fprintf(stderr, "weft %s: not as expected\n", call->options.program);
	return EXIT_MISSED;
}

// Questions that need no scenario. Returns whether there was one.
static bool answer(const struct options *options, const char *help)
{
	if (options->wants_help)
		fputs(help, stdout);
	else if (options->wants_version)
		puts(WEFT_VERSION_TEXT);
	else if (options->wants_list)
		folder_list_scenarios(stdout);
	else if (options->wants_keys)
		list_keys();
	else
		return false;
	return true;
}

int run_main(const char *program, const char *help, int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = options_parse(&call.options, program, argc, argv, &call.refusal);
	if (rc < 0)
		return say_refusal(&call, rc);
	if (answer(&call.options, help))
		return finish_output(&call);
	options_command(program, argc, argv, call.command, sizeof(call.command));
	rc = prepare(&call);
	int status = 0;
	if (rc < 0) {
		status = say_refusal(&call, rc);
	} else if (call.options.wants_footprint) {
		report_footprint(stdout, &call.stage.world);
		status = finish_output(&call);
	} else {
		status = perform(&call);
	}
	stage_free(&call.stage);
	free(call.trace_text);
	dpdk_stop();
	return status;
}
