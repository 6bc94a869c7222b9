// SPDX-License-Identifier: Apache-2.0
// See told.h.

#include "told.h"

#include <time.h>

#include <jansson.h>

#include <weft/files/files.h>

static uint64_t cpu_ns(void)
{
	struct timespec used;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void told_of(struct told *ret, const struct call *call, const struct stage *stage)
{
	const struct wall_counts *counts = wall_counts(stage->wall);
	*ret = (struct told){.end = stage->end,
			     .end_ps = stage->world.outcome->end_ps,
			     .wall_ps = (ps_t)(stage->wall_s * (double)PS_PER_S),
			     .lateness_ps = hist_quantile(counts->turn_ns, 999000) * PS_PER_NS,
			     .stalled_ps = counts->stalled_ps,
			     .work_done = wall_work(stage->wall).done,
			     .work_total = wall_work(stage->wall).total,
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
			     .generated_elements = call->gpu.report.elements,
			     .generated_wrong = call->gpu.report.wrong,
			     .cpu_ns = cpu_ns(),
			     .memory_bytes = memory_peak_bytes(),
			     .transport = stage->world.outcome->transport};
}

static void add_one(struct told *ret, const struct told *told)
{
	const uint64_t *from = (const uint64_t *)&told->transport;
	uint64_t *to = (uint64_t *)&ret->transport;
	for (size_t k = 0; k < sizeof(told->transport) / sizeof(*to); k++)
		to[k] += from[k];
	ret->end_ps = ps_max(ret->end_ps, told->end_ps);
	ret->wall_ps = ps_max(ret->wall_ps, told->wall_ps);
	ret->lateness_ps = ps_max(ret->lateness_ps, told->lateness_ps);
	ret->stalled_ps += told->stalled_ps;
	ret->stalls += told->stalls;
	ret->work_done += told->work_done;
	ret->work_total += told->work_total;
	ret->payload_bytes_good += told->payload_bytes_good;
	ret->payload_bytes_wrong += told->payload_bytes_wrong;
	ret->frames_lost += told->frames_lost;
	ret->frames_dropped += told->frames_dropped;
	ret->frames_sent += told->frames_sent;
	ret->frames_received += told->frames_received;
	ret->frames_strange += told->frames_strange;
	ret->frames_faulted += told->frames_faulted;
	ret->links_lost += told->links_lost;
	ret->links_back += told->links_back;
	ret->generated_elements += told->generated_elements;
	ret->generated_wrong += told->generated_wrong;
	ret->cpu_ns += told->cpu_ns;
	if (told->memory_bytes > ret->memory_bytes)
		ret->memory_bytes = told->memory_bytes;
}

void told_add(struct told *ret, const struct told *all, uint32_t count)
{
	*ret = (struct told){0};
	for (uint32_t i = 0; i < count; i++)
		add_one(ret, &all[i]);
}

uint64_t told_again(const struct told *told)
{
	uint64_t sum = 0;
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		sum += told->transport.rtx[i];
	return sum;
}

static json_int_t whole(uint64_t value)
{
	return (json_int_t)value;
}

json_t *told_json(const struct told *told)
{
	const struct transport_counters *count = &told->transport;
	return json_pack(
		"{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,"
		"s:I,s:I,s:I,s:I}",
		"end_ps", (json_int_t)told->end_ps, "lateness_p999_ps",
		(json_int_t)told->lateness_ps, "stalls", whole(told->stalls), "work_done",
		whole(told->work_done), "work_total", whole(told->work_total), "messages_sent",
		whole(count->messages_sent), "messages_received", whole(count->messages_received),
		"data_packets", whole(count->data_packets), "resent", whole(told_again(told)),
		"duplicates", whole(count->duplicates), "payload_bytes_good",
		whole(told->payload_bytes_good), "payload_bytes_wrong",
		whole(told->payload_bytes_wrong), "frames_sent", whole(told->frames_sent),
		"frames_received", whole(told->frames_received), "frames_lost",
		whole(told->frames_lost), "frames_dropped", whole(told->frames_dropped),
		"frames_strange", whole(told->frames_strange), "frames_faulted",
		whole(told->frames_faulted), "links_lost", whole(told->links_lost), "links_back",
		whole(told->links_back), "generated_elements", whole(told->generated_elements),
		"generated_wrong", whole(told->generated_wrong));
}
