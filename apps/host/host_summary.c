// SPDX-License-Identifier: Apache-2.0
// See host.h.

#include "host.h"

#include <time.h>

#include <jansson.h>

#include <weft/files/clock.h>
#include <weft/files/files.h>

void host_summary_of(struct host_summary *ret, const struct call *call,
		     const struct host_run *host_run)
{
	const struct wall_counts *counts = wall_counts(host_run->wall);
	*ret = (struct host_summary){.end = host_run->end,
				     .end_ps = host_run->world.outcome->end_ps,
				     .wall_ps = (ps_t)(host_run->wall_s * (double)PS_PER_S),
				     .lateness_ps = hist_quantile(counts->turn_ns, 999000) *
					     PS_PER_NS,
				     .stalled_ps = counts->stalled_ps,
				     .work_done = wall_work(host_run->wall).done,
				     .work_total = wall_work(host_run->wall).total,
				     .stalls = counts->stalls,
				     .payload_bytes_good = counts->payload_bytes_good,
				     .payload_bytes_wrong = counts->payload_bytes_wrong,
				     .frames_lost = counts->frames_unsent + counts->frames_missing,
				     .frames_dropped = counts->frames_dropped,
				     .frames_sent = counts->frames_sent,
				     .frames_received = counts->frames_received,
				     .frames_strange = counts->frames_strange,
				     .frames_faulted = counts->frames_faulted,
				     .links_lost = counts->links_lost,
				     .links_back = counts->links_back,
				     .triggers_told = counts->triggers_told,
				     .triggers_heard = counts->triggers_heard,
				     .generated_elements = call->gpu.report.elements,
				     .generated_wrong = call->gpu.report.wrong,
				     .cpu_ns = (uint64_t)clock_ns(CLOCK_PROCESS_CPUTIME_ID),
				     .memory_bytes = memory_peak_bytes(),
				     .transport = host_run->world.outcome->transport};
}

static void add_one(struct host_summary *ret, const struct host_summary *host_summary)
{
	const uint64_t *from = (const uint64_t *)&host_summary->transport;
	uint64_t *to = (uint64_t *)&ret->transport;
	for (size_t k = 0; k < sizeof(host_summary->transport) / sizeof(*to); k++)
		to[k] += from[k];
	ret->end_ps = ps_max(ret->end_ps, host_summary->end_ps);
	ret->wall_ps = ps_max(ret->wall_ps, host_summary->wall_ps);
	ret->lateness_ps = ps_max(ret->lateness_ps, host_summary->lateness_ps);
	ret->stalled_ps += host_summary->stalled_ps;
	ret->stalls += host_summary->stalls;
	ret->work_done += host_summary->work_done;
	ret->work_total += host_summary->work_total;
	ret->payload_bytes_good += host_summary->payload_bytes_good;
	ret->payload_bytes_wrong += host_summary->payload_bytes_wrong;
	ret->frames_lost += host_summary->frames_lost;
	ret->frames_dropped += host_summary->frames_dropped;
	ret->frames_sent += host_summary->frames_sent;
	ret->frames_received += host_summary->frames_received;
	ret->frames_strange += host_summary->frames_strange;
	ret->frames_faulted += host_summary->frames_faulted;
	ret->links_lost += host_summary->links_lost;
	ret->links_back += host_summary->links_back;
	ret->triggers_told += host_summary->triggers_told;
	ret->triggers_heard += host_summary->triggers_heard;
	ret->generated_elements += host_summary->generated_elements;
	ret->generated_wrong += host_summary->generated_wrong;
	ret->cpu_ns += host_summary->cpu_ns;
	if (host_summary->memory_bytes > ret->memory_bytes)
		ret->memory_bytes = host_summary->memory_bytes;
}

void host_summary_add(struct host_summary *ret, const struct host_summary *all, uint32_t count)
{
	*ret = (struct host_summary){0};
	for (uint32_t i = 0; i < count; i++)
		add_one(ret, &all[i]);
}

uint64_t host_summary_retransmitted(const struct host_summary *host_summary)
{
	uint64_t sum = 0;
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		sum += host_summary->transport.rtx[i];
	return sum;
}

json_t *host_summary_json(const struct host_summary *host_summary)
{
	const struct transport_counters *count = &host_summary->transport;
	return json_pack(
		"{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,"
		"s:I,s:I,s:I,s:I,s:I,s:I}",
		"end_ps", (json_int_t)host_summary->end_ps, "lateness_p999_ps",
		(json_int_t)host_summary->lateness_ps, "stalls", whole(host_summary->stalls),
		"work_done", whole(host_summary->work_done), "work_total",
		whole(host_summary->work_total), "messages_sent", whole(count->messages_sent),
		"messages_received", whole(count->messages_received), "data_packets",
		whole(count->data_packets), "resent",
		whole(host_summary_retransmitted(host_summary)), "duplicates",
		whole(count->duplicates), "payload_bytes_good",
		whole(host_summary->payload_bytes_good), "payload_bytes_wrong",
		whole(host_summary->payload_bytes_wrong), "frames_sent",
		whole(host_summary->frames_sent), "frames_received",
		whole(host_summary->frames_received), "frames_lost",
		whole(host_summary->frames_lost), "frames_dropped",
		whole(host_summary->frames_dropped), "frames_strange",
		whole(host_summary->frames_strange), "frames_faulted",
		whole(host_summary->frames_faulted), "links_lost", whole(host_summary->links_lost),
		"links_back", whole(host_summary->links_back), "triggers_told",
		whole(host_summary->triggers_told), "triggers_heard",
		whole(host_summary->triggers_heard), "generated_elements",
		whole(host_summary->generated_elements), "generated_wrong",
		whole(host_summary->generated_wrong));
}
