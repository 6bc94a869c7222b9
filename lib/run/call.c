// SPDX-License-Identifier: Apache-2.0
// A call that was read: builds its world, runs it, reports it, and says on stderr what there is to
// say; and the runs of each of several jobs alone.

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/diagnose/diagnose.h>
#include <weft/result/figures.h>
#include <weft/result/report_stall.h>

#include "weft_version.h"
#include <weft/run/call.h>
#include <weft/run/host_info.h>

#define WORD_BYTES (SCENARIO_NAME_BYTES + 16)

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

// What a refusal while the world is built is about.
static int name_place(struct call *call, int rc)
{
	const char *sample = call->options.sample;
	if (rc == -EINVAL || rc == -ENOMEM)
		call_place_variant(call, NULL);
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

int call_try_dilation(struct call *call)
{
	struct run run;
	struct sim_options options = sim_options_of(call);
	struct pace_calibration *calibration = pace_calibration_create();
	if (calibration == NULL)
		return refuse(&call->refusal, -ENODEV, "not enough memory for a test run");
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

// ---------------------------------------------------------------- traffic.algorithm: auto

#define TRIED_PACKETS_MAX (UINT64_C(1) << 22) // of longer ones the choice of the model stands

// Whether the model of times leaves two open that take no long to run.
static bool finds_near(const struct scenario *scenario, enum coll_algorithm ret[2])
{
	const struct traffic_config *traffic = &scenario->traffic;
	if (traffic->kind != TRAFFIC_COLLECTIVE || traffic->algorithm != TRAFFIC_ALGORITHM_AUTO)
		return false;
	struct coll_config config;
	scenario_collective(&config, scenario);
	const struct coll_lines lines = scenario_lines(scenario, config.domain);
	ret[0] = coll_choose(&config, &lines, &ret[1]);
	uint64_t packets = config.bytes / scenario->transport.payload_bytes * 2 * config.ranks;
	return ret[0] != ret[1] && packets <= TRIED_PACKETS_MAX;
}

// Runs the one that the scenario has, in virtual time. PS_NEVER: it did not end, or cannot be run,
// which whoever builds the run that was asked for is told.
static int try_algorithm(struct call *call, ps_t *ret_ps)
{
	struct run run;
	struct sim_options options = {.stop = signals_stop(), .lanes = 1};
	*ret_ps = PS_NEVER;
	if (build(call, &options) == 0) {
		sim_run(call->world_instance.sim, &run);
		if (run.end == RUN_DONE)
			*ret_ps = call->world_instance.world.outcome->end_ps;
		world_instance_free(&call->world_instance);
	}
	call->refusal.file[0] = '\0';
	return call_is_stopped() ? refuse(&call->refusal, -EINTR,
					  "interrupted while it looked for the fastest algorithm")
				 : 0;
}

// Where two are near each other both run, and the scenario has the faster one from now on.
static int try_algorithms(struct call *call)
{
	struct traffic_config *traffic = &call->scenario.traffic;
	enum coll_algorithm near[2], fastest = COLL_RING;
	ps_t least_ps = PS_NEVER;
	traffic->has_fastest = false;
	if (!finds_near(&call->scenario, near))
		return 0;
	traffic->has_fastest = true;
	for (uint32_t i = 0; i < 2; i++) {
		ps_t took_ps;
		traffic->fastest = near[i];
		int rc = try_algorithm(call, &took_ps);
		if (rc < 0)
			return rc;
		if (took_ps < least_ps)
			fastest = near[i];
		least_ps = ps_min(least_ps, took_ps);
	}
	traffic->has_fastest = least_ps != PS_NEVER;
	traffic->fastest = fastest;
	return 0;
}

int call_build(struct call *call)
{
	const struct options *options = &call->options;
	bool is_emu = strcmp(options->program, "emu") == 0;
	int rc = options->wants_footprint ? 0 : try_algorithms(call);
	if (rc < 0)
		return rc;
	if (!options->is_dilation_auto)
		call->dilation_milli = options->dilation_milli;
	struct sim_options sim = sim_options_of(call);
	sim.taps = (struct tap_options){options->pcap == NULL ? NULL : call->capture_paths[0],
					options->log == NULL ? NULL : call->capture_paths[1],
					WEFT_VERSION_TEXT};
	sim.pace = (struct pace_options){.is_on = is_emu,
					 .dilation_milli = call->dilation_milli,
					 .clock = clock_of(options)};
	if (options->gpu != NULL)
		rc = gpu_open(call, &sim);
	return rc < 0 ? rc : build(call, &sim);
}

int call_run(struct call *call, struct run *ret)
{
	progress_start(&call->progress, &call->world_instance.world,
		       call->options.is_quiet || call->is_other);
	sim_run(call->world_instance.sim, ret);
	progress_end(&call->progress);
	return sim_end(call->world_instance.sim, ret, &call->refusal);
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
		.run = *run,
		.pace = {call->dilation_milli, options->is_dilation_auto, run->lanes,
			 run->lateness_ns, run->gap_ns},
		.taps = {options->pcap, options->log, run->taps.frames, run->taps.lost,
			 run->taps.bytes, run->taps.pcap_left_out, run->taps.log_left_out,
			 (uint64_t)call->scenario.capture.file_bytes, run->taps.pcap_error,
			 run->taps.log_error},
		.gpu = options->gpu != NULL ? &call->gpu.report : NULL,
		.alone_ps = call->job_set.has_alone ? call->job_set.alone_ps : NULL,
		.job_ideal_ps = call->job_set.has_alone ? call->job_set.ideal_ps : NULL,
		.memory_peak_bytes = memory_peak_bytes() > run->memory_bytes_other
			? memory_peak_bytes()
			: run->memory_bytes_other,
		.version = WEFT_VERSION_TEXT,
		.command = call->command,
		.out_dir = options->out,
		.times_origin = call->scenario.traffic.plan != NULL
			? origin_name(call->scenario.traffic.plan->timing.rests_on)
			: NULL,
		.diagnosis = &diagnose_section,
	};
	call_ideal(world, &input.ideal);
	report_frames(run, &input.ports);
	paced_fidelity(&input.fidelity, run, call->dilation_milli);
	return input;
}

static void say_left_out(const char *program, const char *path, uint64_t count)
{
	if (count > 0)
		fprintf(stderr,
			"weft %s: %s: full: %" PRIu64 " packets are left out; --pcap-max SIZE "
			"allows more\n",
			program, path, count);
}

static void say_unfinished(const struct call *call, const struct run *run)
{
	struct report_input input = call_report(call, run);
	char text[512];
	const char *program = call->options.program;
	if (report_trying(&input, text, sizeof(text))) {
		fprintf(stderr, "weft %s: %s\n", program, text);
	} else if (input.limit_option != NULL) {
		fprintf(stderr, "weft %s: a limit was hit: raise %s\n", program,
			input.limit_option);
	} else {
		report_stall(&input, text, sizeof(text));
		fprintf(stderr, "weft %s: stalled: %s\n", program, text);
	}
}

void call_say_end(const struct call *call, const struct run *run)
{
	const char *program = call->options.program;
	if (run->end == RUN_STALLED || limit_of(call, run) != NULL)
		say_unfinished(call, run);
	else if (run->end == RUN_TIME)
		fprintf(stderr,
			"weft %s: deadlock: ports wait for each other for good; more time does not "
			"help, other paths or queue.pfc_watch_action drop may\n",
			program);
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

// ---------------------------------------------------------------- each job alone

// Runs job `index` alone; the scenario in hand is then that of this run.
static int run_alone(struct call *call, uint32_t variant, uint32_t index)
{
	char word[WORD_BYTES];
	const char *const words[] = {word};
	struct run run;
	snprintf(word, sizeof(word), "traffic.only=%s", call->scenario.jobs[index].name);
	int rc = call_read_point(call, variant, words, 1, true);
	if (rc == 0)
		rc = call_build(call);
	if (rc < 0)
		return rc;
	rc = call_run(call, &run);
	const struct world *world = &call->world_instance.world;
	if (rc == 0 && run.end == RUN_DONE) {
		ps_t start_ps = world->scenario->jobs[index].start_ps;
		struct report_ideal ideal;
		call_ideal(world, &ideal);
		call->job_set.alone_ps[index] = world->outcome->jobs[index].end_ps - start_ps;
		call->job_set.ideal_ps[index] = ideal.ps > start_ps ? ideal.ps - start_ps : 0;
	}
	world_instance_free(&call->world_instance);
	if (run.end == RUN_INTERRUPTED)
		return refuse(&call->refusal, -EINTR, "interrupted while jobs ran alone");
	return rc;
}

int call_jobs_alone(struct call *call, uint32_t variant)
{
	struct options *options = &call->options;
	const struct options before = *options;
	uint32_t count = call->scenario.job_count;
	int rc = 0;
	call->job_set.has_alone = false;
	if (call->scenario.traffic.kind != TRAFFIC_JOBS || call->scenario.job_only > 0 || count < 2)
		return 0;
	memset(call->job_set.alone_ps, 0, sizeof(call->job_set.alone_ps));
	memset(call->job_set.ideal_ps, 0, sizeof(call->job_set.ideal_ps));
	options->pcap = options->log = NULL; // of the run of all
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = run_alone(call, variant, i);
	*options = before;
	call->job_set.has_alone = rc == 0;
	return rc < 0 ? rc : call_read_point(call, variant, NULL, 0, true);
}
