// SPDX-License-Identifier: Apache-2.0
// weft host: one end of a pair, on ports, in wall time.

#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>

#include "host.h"
#include "weft_version.h"
#include <weft/run/gpu_pass.h>
#include <weft/run/host_info.h>
#include <weft/run/outcome.h>

static int print(struct call *call, const struct host_run *host_run)
{
	int rc = call_is_pair(call) ? 0 : ranks_print(stdout, call, host_run);
	if (rc < 0)
		return outcome_refused("host", &call->refusal, rc);
	if (!call_is_pair(call))
		return outcome_end("host", EXIT_SUCCESS);
	if (call->choice.is_json)
		json_print(stdout, call, host_run);
	else
		table_end(stdout, call, host_run);
	return outcome_end("host", EXIT_SUCCESS);
}

static bool is_late(const struct call *call, const struct host_run *host_run)
{
	int64_t most_ns = call->choice.max_lateness_ns;
	int64_t late_ns = (int64_t)hist_quantile(wall_counts(host_run->wall)->turn_ns, 999000);
	if (most_ns == 0 || late_ns <= most_ns)
		return false;
	fprintf(stderr,
		"weft host: the loop was late: %.1f us in one of 1,000 turns, above "
		"--max-lateness, %.1f us\n",
		(double)late_ns / 1e3, (double)most_ns / 1e3);
	return true;
}

// Why the result is partial or wrong, on stderr. Returns the exit status.
static int judge(const struct call *call, const struct host_run *host_run)
{
	uint64_t wrong = wall_counts(host_run->wall)->payload_bytes_wrong;
	if (wrong > 0)
		fprintf(stderr, "weft host: wrong payload: %llu bytes are not what was sent\n",
			(unsigned long long)wrong);
	if (call->gpu.report.wrong > 0)
		fprintf(stderr, "weft host: %llu elements are not what generators make or sum\n",
			(unsigned long long)call->gpu.report.wrong);
	if (gpu_tell_lost(&call->gpu, "host"))
		return EXIT_PEER_LOST;
	wrong += call->gpu.report.wrong;
	switch (host_run->end) {
	case WALL_END_DONE:
		return is_late(call, host_run) || wrong > 0 ? EXIT_NOT_VALID : EXIT_SUCCESS;
	case WALL_END_LOST:
		if (call->meeting.is_silent)
			fprintf(stderr, "weft host: host %u has said nothing for %u s\n",
				call->meeting.lost, call->choice.timeout_s);
		else
			fprintf(stderr, "weft host: host %u is gone\n", call->meeting.lost);
		return EXIT_PEER_LOST;
	case WALL_END_FAILED:
		fprintf(stderr,
			"weft host: a QP went to ERROR: its peer did not answer for all tries "
			"(transport.rto, rto_linear, rto_doublings)\n");
		return EXIT_PEER_LOST;
	case WALL_END_STOPPED:
		fprintf(stderr,
			*signals_stop() != 0 ? "weft host: interrupted\n"
					     : "weft host: the other host stopped\n");
		return *signals_stop() != 0 ? EXIT_NOT_VALID : EXIT_PEER_LOST;
	default:
		fprintf(stderr, "weft host: a limit was hit: raise %s\n",
			host_run->end == WALL_END_TIME ? "limits.time" : "limits.packets");
		return EXIT_NOT_VALID;
	}
}

static void say_start(const struct call *call)
{
	table_begin(stdout, call);
}

static int perform(struct call *call)
{
	struct host_run host_run = {.is_dealt = call->gathers};
	const struct tap_options taps = {.pcap = call->choice.pcap, .program = WEFT_VERSION_TEXT};
	int rc = call_is_pair(call) ? pair_program(call, &host_run) : 0;
	bool is_first = call_is_pair(call) || call->index == 0;
	if (is_first && !call->choice.is_json)
		host_run.on_start = say_start;
	if (rc == 0 && call->choice.wish.has_bare)
		rc = bare_measure(call, &call->bare[0]);
	if (rc == 0)
		rc = generator_open(call);
	if (rc == 0)
		rc = clocks_before(call);
	if (rc == 0)
		rc = host_run_run(call, &host_run, &taps);
	if (rc == 0 && host_run.end == WALL_END_DONE)
		clocks_after(call, &host_run);
	if (rc == 0)
		pairs_gather(call, &host_run);
	if (rc == 0)
		generator_finish(call, &host_run);
	if (rc == 0 && call->choice.wish.has_bare && host_run.end == WALL_END_DONE)
		rc = bare_measure(call, &call->bare[1]);
	if (rc < 0) {
		generator_drop(call);
		return outcome_refused("host", &call->refusal, rc);
	}
	if (call_is_pair(call))
		pair_read(call, &host_run);
	int status = print(call, &host_run);
	int judged = judge(call, &host_run);
	if (host_run.taps_rc < 0 && status == EXIT_SUCCESS)
		status = outcome_refused("host", &host_run.taps_refusal, host_run.taps_rc);
	rc = folder_write(call, &host_run);
	if (rc < 0 && status == EXIT_SUCCESS)
		status = outcome_refused("host", &call->refusal, rc);
	pairs_drop(call);
	generator_drop(call);
	setup_world_free(&host_run);
	if (status == EXIT_SUCCESS && judged == EXIT_SUCCESS && call->is_missed) {
		fprintf(stderr, "weft host: expectations not met\n");
		judged = EXIT_MISSED;
	}
	return status != EXIT_SUCCESS ? status : judged;
}

static int probe(struct call *call)
{
	int rc = setup_scenario(call);
	if (rc == 0)
		rc = setup_workload(call);
	if (rc == 0)
		rc = probe_run(call);
	dpdk_stop();
	return rc < 0 ? outcome_refused("host", &call->refusal, rc) : outcome_end("host", rc);
}

static int run(struct call *call)
{
	signals_catch();
	int rc = setup_scenario(call);
	if (rc == 0)
		rc = setup_workload(call);
	if (rc == 0)
		rc = generator_check(call);
	if (rc == 0)
		rc = setup_check(call);
	if (rc == 0)
		rc = folder_begin(call);
	if (rc == 0 && call->choice.pcap != NULL)
		rc = files_check_output(call->choice.pcap, &call->refusal);
	if (rc == 0)
		rc = setup_meeting(call);
	if (rc == 0)
		rc = live_open(call);
	if (rc == 0)
		rc = before_traffic_run(call);
	if (rc == 0)
		rc = setup_ramp(call);
	int status = rc < 0 ? outcome_refused("host", &call->refusal, rc) : perform(call);
	meeting_close(&call->meeting);
	dpdk_stop();
	staging_abandon(&call->staging);
	workload_free(&call->workload);
	job_set_free(call->job_files);
	manifest_rows_free(&call->inputs);
	return status;
}

int main(int argc, char **argv)
{
	static struct call call; // large
	command_text("host", argc, argv, call.command, sizeof(call.command));
	file_watch(manifest_take, &call.inputs);
	int rc = choice_parse(&call.choice, argc, argv, &call.refusal);
	if (rc < 0)
		return outcome_refused("host", &call.refusal, rc);
	if (rc == COMMAND_LINE_DONE)
		return outcome_end("host", EXIT_SUCCESS);
	return call.choice.probe != NULL	? probe(&call)
		: call.choice.foreign_count > 0 ? foreign_run(&call)
						: run(&call);
}
