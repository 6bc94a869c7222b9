// SPDX-License-Identifier: Apache-2.0
// What is printed of a pair, as JSON.

#include <jansson.h>

#include <weft/result/figures.h>
#include <weft/result/put.h>
#include <weft/wire/wire.h>

#include "host.h"

json_t *json_times(const struct call *call)
{
	const struct transport_config *transport = &call->scenario.transport;
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:I}", "round_trip_ps",
			 (json_int_t)call->before_traffic.rtt_ps, "turn_ps",
			 (json_int_t)call->before_traffic.turn_ps, "lateness_p999_ps",
			 (json_int_t)call->before_traffic.lateness_ps, "base_rtt_ps",
			 (json_int_t)transport->cc.base_rtt_ps, "hole_age_ps",
			 (json_int_t)transport->hole_age_ps, "rto_ps",
			 (json_int_t)transport->rto_ps, "rto_is_short",
			 call->before_traffic.is_rto_short, "frames_drained",
			 whole(call->before_traffic.drained));
}

// As host 0 of an incast sees it.
static json_t *incast_rows(const struct call *call)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < call->row_count; i++) {
		const struct pair_row *row = &call->rows[i];
		uint64_t messages = (uint64_t)row->messages * call->choice.callers;
		double s = (double)row->took_ps / PS_PER_S;
		if (row->took_ps > 0)
			json_array_append_new(
				list,
				json_pack("{s:I,s:I,s:i,s:f,s:f,s:f,s:f}", "bytes",
					  whole(row->bytes), "messages", whole(messages), "callers",
					  (int)call->choice.callers, "bandwidth_bps",
					  (double)row->bytes * (double)messages * 8 / s,
					  "messages_per_s", (double)messages / s, "slowest_bps",
					  row->slowest_bps, "fastest_bps", row->fastest_bps));
	}
	return list;
}

// Those that came to their end.
static json_t *rows(const struct call *call)
{
	if (call->index == 0 && call_is_incast(call))
		return incast_rows(call);
	json_t *list = json_array();
	for (uint32_t i = 0; call->index != 0 && i < call->row_count; i++) {
		const struct pair_row *row = &call->rows[i];
		if (row->took_ps <= 0)
			continue;
		double s = (double)row->took_ps / PS_PER_S;
		json_array_append_new(
			list,
			json_pack("{s:I,s:i,s:f,s:f,s:i,s:{s:I,s:I,s:I,s:I}}", "bytes",
				  whole(row->bytes), "messages", (int)row->messages,
				  "bandwidth_bps", (double)row->bytes * row->messages * 8 / s,
				  "messages_per_s", row->messages / s, "pings", (int)row->pings,
				  "round_trip_ns", "p50", (json_int_t)row->rtt_ns[0], "p99",
				  (json_int_t)row->rtt_ns[1], "p99.9", (json_int_t)row->rtt_ns[2],
				  "max", (json_int_t)row->rtt_ns[3]));
	}
	return list;
}

static json_t *transport(const struct host_run *host_run)
{
	const struct transport_counters *count = &host_run->world.outcome->transport;
	json_t *again = json_object();
	for (enum rtx_reason reason = 0; reason < RTX_REASON_COUNT; reason++)
		json_object_set_new(again, rtx_name(reason),
				    json_integer(whole(count->rtx[reason])));
	json_t *planes = json_array();
	for (uint32_t i = 0; i < host_run->world.fabric.planes; i++)
		json_array_append_new(planes, json_integer(whole(count->plane_bytes[i])));
	return json_pack("{s:I,s:o,s:I,s:I,s:I,s:o}", "data_packets", whole(count->data_packets),
			 "sent_again", again, "data_received", whole(count->data_received),
			 "duplicates", whole(count->duplicates), "qps_failed",
			 whole(count->qps_failed), "plane_bytes", planes);
}

// Times in ns: of all frames together.
static json_t *stages(const struct host_run *host_run)
{
	const struct wall_counts *count = wall_counts(host_run->wall);
	json_t *all = json_object();
	for (int i = 0; i < WALL_STAGE_COUNT; i++)
		json_object_set_new(all, wall_stage_name((enum wall_stage)i),
				    json_real((double)count->stage_ticks[i] * count->tick_ns));
	return all;
}

static json_t *idle(const struct host_run *host_run)
{
	const struct wall_counts *count = wall_counts(host_run->wall);
	return json_pack("{s:I,s:I,s:I,s:I}", "yields", whole(count->yields), "sleeps",
			 whole(count->sleeps), "asleep_ns", (json_int_t)count->asleep_ns,
			 "shortest_sleep_ns", (json_int_t)count->sleep_least_ns);
}

static json_t *bare_stages(const struct bare_counts *count)
{
	json_t *all = json_object();
	for (int i = 0; i < WALL_STAGE_COUNT; i++)
		json_object_set_new(all, wall_stage_name((enum wall_stage)i),
				    json_real(count->stage_ns[i]));
	return all;
}

// Both runs of the bare loop; null where it did not run.
static json_t *bare(const struct call *call)
{
	json_t *list = json_array();
	if (!call->choice.wish.has_bare) {
		json_decref(list);
		return json_null();
	}
	for (int i = 0; i < 2; i++) {
		const struct bare_counts *count = &call->bare[i];
		json_array_append_new(
			list,
			json_pack("{s:I,s:I,s:I,s:I,s:I,s:o}", "frames", whole(count->frames),
				  "frames_in_ramp", whole(count->ramp_frames), "wrong",
				  whole(count->wrong), "lost", whole(count->lost), "took_ns",
				  (json_int_t)count->took_ns, "stages_ns", bare_stages(count)));
	}
	return json_pack("{s:f,s:o}", "bandwidth_bps", bare_bps(call), "runs", list);
}

static json_t *ports_down(const struct host_run *host_run)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < DEVICES_MAX; i++)
		if ((host_run->ports_down >> i & 1) != 0)
			json_array_append_new(list, json_integer((json_int_t)i));
	return list;
}

json_t *json_ports(const struct call *call)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < call->ports.queue_count; i++) {
		struct device_clock clock;
		const char *why = port_device_takes_all(&call->ports, i);
		const char *why_not = port_device_untimed(&call->ports, i, &clock);
		json_array_append_new(
			list,
			json_pack("{s:s,s:b,s:s?,s:b,s:s?,s:I,s:I,s:f,s:I}", "port",
				  call->choice.devices[i].word, "takes_all", why[0] != '\0',
				  "takes_all_because", why[0] != '\0' ? why : NULL, "timed",
				  why_not[0] == '\0', "untimed_because",
				  why_not[0] != '\0' ? why_not : NULL, "clock_readings",
				  (json_int_t)clock.readings, "clock_off_ns",
				  (json_int_t)clock.off_ns, "clock_drift_ppm", clock.drift_ppm,
				  "lag_ps",
				  why_not[0] == '\0' ? (json_int_t)call->before_traffic.lag_ps
						     : 0));
	}
	return list;
}

json_t *json_loop(const struct host_run *host_run)
{
	const struct wall_counts *count = wall_counts(host_run->wall);
	json_t *bad = json_object(), *others = json_object();
	for (int i = 0; i < WALL_OTHER_COUNT; i++)
		if (count->others[i] > 0)
			json_object_set_new(others, wall_other_name((enum wall_other)i),
					    json_integer(whole(count->others[i])));
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		if (count->bad_frames[i] > 0)
			json_object_set_new(bad, wire_reason_name((enum wire_reason)i),
					    json_integer(whole(count->bad_frames[i])));
	return json_pack(
		"{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,"
		"s:I,s:I,s:I}",
		"frames_sent", whole(count->frames_sent), "frames_received",
		whole(count->frames_received), "frames_unsent", whole(count->frames_unsent),
		"frames_missing", whole(count->frames_missing), "frames_dropped",
		whole(count->frames_dropped), "frames_strange", whole(count->frames_strange),
		"frames_faulted", whole(count->frames_faulted), "bad_frames", bad, "others", others,
		"payload_bytes_good", whole(count->payload_bytes_good), "payload_bytes_wrong",
		whole(count->payload_bytes_wrong), "stalls", whole(count->stalls), "stalled_ps",
		(json_int_t)count->stalled_ps, "turns", whole(count->turns), "turn_p50_ns",
		(json_int_t)hist_quantile(count->turn_ns, 500000), "turn_p999_ns",
		(json_int_t)hist_quantile(count->turn_ns, 999000), "turn_max_ns",
		(json_int_t)count->turn_ns->max, "neighbours_said", whole(count->neighbours_said),
		"neighbours_heard", whole(count->neighbours_heard), "neighbours_learnt",
		whole(count->neighbours_learnt), "neighbours_moved", whole(count->neighbours_moved),
		"links_lost", whole(count->links_lost), "links_back", whole(count->links_back));
}

void json_print(FILE *to, const struct call *call, const struct host_run *host_run)
{
	json_t *all = json_pack(
		"{s:s,s:i,s:s,s:b,s:f,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "scenario",
		call->scenario.name, "host", (int)call->index, "end", wall_end_name(host_run->end),
		"partial", host_run->end != WALL_END_DONE, "wall_s", host_run->wall_s, "conclude",
		host_run_fidelity(call, host_run), "measured", json_times(call), "clocks",
		clocks_json(call), "pairs", pairs_json(call), "ports", json_ports(call),
		"ports_down", ports_down(host_run), "rows", rows(call), "transport",
		transport(host_run), "loop", json_loop(host_run), "stages_ns", stages(host_run),
		"idle", idle(host_run), "bare", bare(call));
	document_print(to, all, JSON_REAL_PRECISION(12));
}
