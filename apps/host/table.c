// SPDX-License-Identifier: Apache-2.0
// What is printed of a pair.

#include <inttypes.h>
#include <stdlib.h>

#include <weft/result/figures.h>
#include <weft/wire/wire.h>

#include "host.h"

static double us(ps_t time_ps)
{
	return (double)time_ps / PS_PER_US;
}

static void print_times(FILE *to, const struct call *call)
{
	const struct before_traffic *before_traffic = &call->before_traffic;
	const struct transport_config *transport = &call->scenario.transport;
	fprintf(to,
		"before traffic: round trip %.1f us (median), turn under load %.1f us, loop at "
		"most "
		"%.1f us late (p99.9)\n",
		us(before_traffic->rtt_ps), us(before_traffic->turn_ps),
		us(before_traffic->lateness_ps));
	fprintf(to,
		"so: cc.base_rtt %.1f us%s, transport.hole_age %.1f us%s, transport.rto %.1f "
		"us%s\n",
		us(transport->cc.base_rtt_ps), before_traffic->sets_rtt ? "" : " (scenario)",
		us(transport->hole_age_ps), before_traffic->sets_hole ? "" : " (scenario)",
		us(transport->rto_ps), before_traffic->sets_rto ? "" : " (scenario)");
	if (before_traffic->is_rto_short)
		fprintf(to,
			"that transport.rto is the longest there is, and less than ten times what "
			"the loop is late: packets may go again that are only waited for\n");
	if (before_traffic->drained > 0)
		fprintf(to, "%" PRIu64 " frames lay in the ports before, and were thrown away\n",
			before_traffic->drained);
}

static void print_rows(FILE *to, const struct call *call)
{
	fprintf(to, "\n%10s %9s %10s %9s   round trip of such a message and its answer, us\n",
		"bytes", "messages", "bandwidth", "rate");
	fprintf(to, "%10s %9s %10s %9s %10s %10s %10s %10s\n", "", "", "Gb/s", "Mmsg/s", "p50",
		"p99", "p99.9", "max");
	for (uint32_t i = 0; i < call->row_count; i++) {
		const struct pair_row *row = &call->rows[i];
		if (row->took_ps <= 0) {
			fprintf(to, "%10" PRIu64 " %9u   not complete\n", row->bytes,
				row->messages);
			continue;
		}
		double s = (double)row->took_ps / PS_PER_S;
		double bps = (double)row->bytes * row->messages * 8 / s;
		fprintf(to, "%10" PRIu64 " %9u %10.3f %9.4f", row->bytes, row->messages, bps / 1e9,
			row->messages / s / 1e6);
		for (int k = 0; k < 4; k++)
			fprintf(to, " %10.1f", (double)row->rtt_ns[k] / 1000);
		if (bare_bps(call) > 0)
			fprintf(to, " %6.2f of bare", bps / bare_bps(call));
		fprintf(to, "\n");
	}
	fprintf(to, "\n");
}

// As host 0 sees it: all callers together, from its word to go.
static void print_incast(FILE *to, const struct call *call)
{
	uint32_t callers = call->choice.callers;
	fprintf(to, "\n%10s %9s %10s %10s   bandwidth of one of %u callers, Gb/s\n", "bytes",
		"messages", "bandwidth", "rate", callers);
	fprintf(to, "%10s %9s %10s %10s %10s %10s\n", "", "", "Gb/s", "Mmsg/s", "slowest",
		"fastest");
	for (uint32_t i = 0; i < call->row_count; i++) {
		const struct pair_row *row = &call->rows[i];
		uint64_t messages = (uint64_t)row->messages * callers;
		double s = (double)row->took_ps / PS_PER_S;
		fprintf(to, "%10" PRIu64 " %9" PRIu64, row->bytes, messages);
		if (row->took_ps <= 0)
			fprintf(to, "   not complete\n");
		else
			fprintf(to, " %10.3f %10.4f %10.3f %10.3f\n",
				(double)row->bytes * (double)messages * 8 / s / 1e9,
				(double)messages / s / 1e6, row->slowest_bps / 1e9,
				row->fastest_bps / 1e9);
	}
	fprintf(to, "\n");
}

const char *table_fidelity(const struct call *call, ps_t late_ps, ps_t stalled_ps, ps_t wall_ps)
{
	static char text[320];
	double stalled = wall_ps > 0 ? 100.0 * (double)stalled_ps / (double)wall_ps : 0;
	if (late_ps <= call->before_traffic.rtt_ps / 10 && stalled < 1)
		snprintf(text, sizeof(text),
			 "bytes, messages and repeats hold, and times down to %.1f us, in which a "
			 "loop comes to look",
			 us(late_ps));
	else
		snprintf(
			text, sizeof(text),
			"bytes, messages and repeats hold; times below %.0f us are this machine's, "
			"not the fabric's, and bandwidth is a lower bound: loops were so late "
			"(p99.9), and stalled for %.1f %% of the time",
			us(late_ps), stalled);
	return text;
}

void table_data(FILE *to, const struct transport_counters *count)
{
	uint64_t again = 0;
	const char *separator = " (";
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		again += count->rtx[i];
	fprintf(to, "data packets: %" PRIu64 " sent, %" PRIu64 " of them again",
		count->data_packets, again);
	for (enum rtx_reason reason = 0; reason < RTX_REASON_COUNT; reason++) {
		if (count->rtx[reason] == 0)
			continue;
		fprintf(to, "%s%" PRIu64 " by %s", separator, count->rtx[reason], rtx_name(reason));
		separator = ", ";
	}
	fprintf(to, "%s; %" PRIu64 " came, %" PRIu64 " of them twice\n", again > 0 ? ")" : "",
		count->data_received, count->duplicates);
}

const char *host_run_fidelity(const struct call *call, const struct host_run *host_run)
{
	const struct wall_counts *count = wall_counts(host_run->wall);
	return table_fidelity(call, hist_quantile(count->turn_ns, 999000) * PS_PER_NS,
			      count->stalled_ps, (ps_t)(host_run->wall_s * (double)PS_PER_S));
}

static void print_transport(FILE *to, const struct host_run *host_run)
{
	const struct transport_counters *count = &host_run->world.outcome->transport;
	table_data(to, count);
	fprintf(to, "planes:");
	for (uint32_t i = 0; i < host_run->world.fabric.planes; i++)
		fprintf(to, " %.1f MB", (double)count->plane_bytes[i] / 1e6);
	fprintf(to, " of data sent\n");
}

static void print_loop(FILE *to, const struct host_run *host_run)
{
	const struct wall_counts *count = wall_counts(host_run->wall);
	fprintf(to,
		"payload: %" PRIu64 " bytes placed here, every byte compared, %" PRIu64 " wrong\n",
		count->payload_bytes_good + count->payload_bytes_wrong, count->payload_bytes_wrong);
	fprintf(to,
		"frames: %" PRIu64 " sent, %" PRIu64 " received, %" PRIu64 " unsent, %" PRIu64
		" found no buffer, %" PRIu64 " dropped by full ports, %" PRIu64
		" taken by faults, %" PRIu64 " for others",
		count->frames_sent, count->frames_received, count->frames_unsent,
		count->frames_missing, count->frames_dropped, count->frames_faulted,
		count->frames_strange);
	for (int i = 0; i < WALL_OTHER_COUNT; i++)
		if (count->others[i] > 0)
			fprintf(to, ", %" PRIu64 " %s", count->others[i],
				wall_other_name((enum wall_other)i));
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		if (count->bad_frames[i] > 0)
			fprintf(to, ", %" PRIu64 " %s", count->bad_frames[i],
				wire_reason_name((enum wire_reason)i));
	fprintf(to,
		"\nneighbours: %" PRIu64 " frames of ARP and ND sent, %" PRIu64 " came, %" PRIu64
		" MACs known by them, %" PRIu64
		" changed\nloop: from look to look p50 %.1f, p99 %.1f, p99.9 %.1f, max "
		"%.1f us; %" PRIu64 " stalls, %.1f ms; %" PRIu64 " packets at once, %" PRIu64
		" frames waited for a port\n",
		count->neighbours_said, count->neighbours_heard, count->neighbours_learnt,
		count->neighbours_moved, (double)hist_quantile(count->turn_ns, 500000) / 1000,
		(double)hist_quantile(count->turn_ns, 990000) / 1000,
		(double)hist_quantile(count->turn_ns, 999000) / 1000,
		(double)count->turn_ns->max / 1000, count->stalls,
		(double)count->stalled_ps / PS_PER_MS, count->burst_max, count->queued_max);
}

void table_links(FILE *to, uint64_t lost, uint64_t back)
{
	if (lost > 0)
		fprintf(to,
			"links of ports: lost %" PRIu64 " times, back %" PRIu64
			" times; NICs knew, and informed their peers\n",
			lost, back);
}

// By what frames leave: the worst of ports that send by their clocks, or why none does.
static void print_pacing(FILE *to, const struct call *call)
{
	struct device_clock clock, worst = {0};
	const char *why_not = "";
	char words[96];
	uint32_t timed = 0;
	for (uint32_t i = call->ports.queue_count; i-- > 0;) {
		const char *why = port_device_untimed(&call->ports, i, &clock);
		why_not = why[0] != '\0' ? why : why_not;
		timed += why[0] == '\0';
		if (why[0] == '\0' && llabs(clock.off_ns) >= llabs(worst.off_ns))
			worst = clock;
	}
	if (timed > 0) {
		device_clock_describe(&worst, words, sizeof(words));
		fprintf(to,
			"pacing: %u ports send by clocks of their own, %.1f us behind the loop, so "
			"that a late turn keeps distances; the worst clock %s\n",
			timed, us(call->before_traffic.lag_ps), words);
	}
	if (timed < call->ports.queue_count)
		fprintf(to, "pacing: %u ports send as the loop turns (%s)\n",
			call->ports.queue_count - timed, why_not);
}

void table_ports(FILE *to, const struct call *call)
{
	uint32_t count = call->ports.queue_count, all = 0;
	const char *why = "";
	for (uint32_t i = count; i-- > 0;) {
		const char *takes_all = port_device_takes_all(&call->ports, i);
		all += takes_all[0] != '\0';
		why = takes_all[0] != '\0' ? takes_all : why;
	}
	if (all == 0)
		fprintf(to, "ports: %u, to which frames of this run alone come\n", count);
	else
		fprintf(to, "ports: %u; frames of others come to %u, too, and are counted (%s)\n",
			count, all, why);
	print_pacing(to, call);
}

// Time of a stage of weft's loop, in ns.
static double stage_ns(const struct wall_counts *count, enum wall_stage host_run)
{
	return (double)count->stage_ticks[host_run] * count->tick_ns;
}

static void print_bare(FILE *to, const struct call *call)
{
	double payload = call->scenario.transport.payload_bytes;
	const struct bare_counts *bare = call->bare;
	fprintf(to, "bare loop on these ports:");
	for (int i = 0; i < 2; i++)
		fprintf(to, "%s %.3f Gb/s %s (%" PRIu64 " frames wrong, %" PRIu64 " lost)",
			i > 0 ? "," : "",
			bare[i].took_ns > 0
				? (double)bare[i].frames * payload * 8 / (double)bare[i].took_ns
				: 0,
			i > 0 ? "after" : "before", bare[i].wrong, bare[i].lost);
	fprintf(to, "\n");
}

// Where a frame's time goes, in weft's loop and in the bare one.
static void table_stages(FILE *to, const struct call *call, const struct host_run *host_run)
{
	const struct wall_counts *count = wall_counts(host_run->wall);
	double frames = (double)(count->frames_sent + count->frames_received), all_ns = 0;
	const struct bare_counts *bare = call->bare;
	double bare_frames = (double)(bare[0].frames + bare[0].ramp_frames + bare[1].frames +
				      bare[1].ramp_frames) *
		5 / 4;
	fprintf(to, "stages, ns a frame:");
	for (int i = 0; frames > 0 && i < WALL_STAGE_COUNT; i++) {
		all_ns += stage_ns(count, (enum wall_stage)i);
		fprintf(to, " %s %.0f", wall_stage_name((enum wall_stage)i),
			stage_ns(count, (enum wall_stage)i) / frames);
		if (bare_frames > 0)
			fprintf(to, " (bare %.0f)",
				(call->bare[0].stage_ns[i] + call->bare[1].stage_ns[i]) /
					bare_frames);
	}
	fprintf(to,
		"; they take %.1f %% of the time\nidle: %" PRIu64 " yields, %" PRIu64
		" sleeps, %.1f ms asleep (the shortest takes %.1f us here)\n",
		host_run->wall_s > 0 ? all_ns / host_run->wall_s / 1e7 : 0, count->yields,
		count->sleeps, (double)count->asleep_ns / 1e6, (double)count->sleep_least_ns / 1e3);
	if (call->choice.wish.has_bare)
		print_bare(to, call);
}

void table_begin(FILE *to, const struct call *call)
{
	uint32_t planes = call->scenario.fabric.planes;
	uint32_t bytes = call->scenario.transport.payload_bytes;
	if (call_is_incast(call))
		fprintf(to,
			"incast, host %u: %s writes from %u hosts to host 0 over %u planes, %u B a "
			"packet\n",
			call->index,
			call->scenario.transport.kind == TRANSPORT_RC ? "RoCEv2" : "MRC",
			call->choice.callers, planes, bytes);
	else if (call_is_pair(call))
		fprintf(to,
			"%s of host %u: %s writes from host 1 to host 0 over %u planes, %u B a "
			"packet\n",
			call->scenario.name, call->index,
			call->scenario.transport.kind == TRANSPORT_RC ? "RoCEv2" : "MRC", planes,
			bytes);
	else
		fprintf(to, "%s, host %u of %u, over %u planes, %u B a packet\n",
			call->scenario.name, call->index, call->meeting.options.count, planes,
			bytes);
	print_times(to, call);
	fflush(to);
}

void table_end(FILE *to, const struct call *call, const struct host_run *host_run)
{
	if (host_run->end != WALL_END_DONE)
		fprintf(to, "PARTIAL RESULT: %s\n", wall_end_name(host_run->end));
	if (call->index != 0)
		print_rows(to, call);
	else if (call_is_incast(call))
		print_incast(to, call);
	print_transport(to, host_run);
	for (uint32_t i = 0; i < call->ports.queue_count; i++)
		if ((host_run->ports_down >> i & 1) != 0)
			fprintf(to, "port %u has no link at the end: %s\n", i,
				call->choice.devices[i].word);
	table_ports(to, call);
	table_links(to, wall_counts(host_run->wall)->links_lost,
		    wall_counts(host_run->wall)->links_back);
	print_loop(to, host_run);
	table_stages(to, call, host_run);
	clocks_print(to, call);
	pairs_print(to, call);
	fprintf(to, "conclude: %s\n", host_run_fidelity(call, host_run));
}
