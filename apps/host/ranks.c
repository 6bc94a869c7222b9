// SPDX-License-Identifier: Apache-2.0
// What all hosts of a scenario came to: each tells host 0, which prints it.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <weft/host/record.h>
#include <weft/result/put.h>

#include "host.h"

#define COLLECTIVES_MAX 4096u // whose times are gathered

// When the ranks of one host began and ended a collective.
struct span {
	ps_t start_ps, end_ps;
	uint64_t ranks_done;
};

struct gathered {
	uint32_t hosts, collectives;
	struct host_summary *host_summary; // [hosts]
	struct span *spans;		   // [hosts][collectives], by host 0's clock
};

static void tell_spans(const struct host_run *host_run, struct span *ret, uint32_t count)
{
	const struct collective_clock *clocks =
		host_run->world.records[host_run->world.shard_of[host_run->host]]->clocks;
	for (uint32_t i = 0; i < count; i++)
		ret[i] = (struct span){clocks[i].start_ps, clocks[i].end_ps, clocks[i].ranks_done};
}

// A collective that no rank of the host began or ended stays so.
static void move(struct span *span, ps_t by_ps)
{
	if (span->start_ps != PS_NEVER)
		span->start_ps += by_ps;
	if (span->ranks_done > 0)
		span->end_ps += by_ps;
}

// Where the run did not come to its end, the hosts hear no more of each other: then it is this
// host's part alone.
static int gather(struct call *call, const struct host_run *host_run, struct gathered *ret)
{
	struct host_summary mine;
	bool is_together = host_run->end == WALL_END_DONE;
	uint32_t hosts = is_together ? call->meeting.options.count : 1;
	uint32_t collectives = host_run->world.outcome->collective_count;
	*ret = (struct gathered){.hosts = hosts,
				 .collectives = collectives < COLLECTIVES_MAX ? collectives
									      : COLLECTIVES_MAX};
	uint32_t bytes = ret->collectives * (uint32_t)sizeof(struct span);
	struct span *spans = calloc(ret->collectives + 1, sizeof(*spans));
	ret->host_summary = calloc(hosts, sizeof(*ret->host_summary));
	ret->spans = calloc((size_t)hosts * ret->collectives + 1, sizeof(*ret->spans));
	int rc = spans == NULL || ret->host_summary == NULL || ret->spans == NULL
		? refuse(&call->refusal, -ENOMEM, "no memory for what hosts tell")
		: 0;
	if (rc == 0) {
		host_summary_of(&mine, call, host_run);
		tell_spans(host_run, spans, ret->collectives);
		ret->host_summary[0] = mine;
		memcpy(ret->spans, spans, bytes);
	}
	if (rc == 0 && is_together)
		rc = meeting_share(&call->meeting, &mine, ret->host_summary, sizeof(mine),
				   &call->refusal);
	if (rc == 0 && is_together && bytes > 0)
		rc = meeting_share(&call->meeting, spans, ret->spans, bytes, &call->refusal);
	for (uint32_t i = 0; rc == 0 && i < hosts * ret->collectives; i++)
		move(&ret->spans[i], clocks_shift_ns(call, i / ret->collectives) * PS_PER_NS);
	free(spans);
	return rc;
}

static void drop(struct gathered *all)
{
	free(all->host_summary);
	free(all->spans);
}

// ---------------------------------------------------------------- all together

static struct span span_of(const struct gathered *all, uint32_t index)
{
	struct span whole = {PS_NEVER, 0, 0};
	for (uint32_t host = 0; host < all->hosts; host++) {
		const struct span *part = &all->spans[(size_t)host * all->collectives + index];
		whole.start_ps = ps_min(whole.start_ps, part->start_ps);
		whole.end_ps = ps_max(whole.end_ps, part->end_ps);
		whole.ranks_done += part->ranks_done;
	}
	return whole;
}

// nccl-tests: algbw = S / t; busbw is that times (n-1)/n, twice that for an all-reduce.
static double algbw(const struct bucket *bucket, const struct span *span)
{
	return (double)bucket->bytes / ((double)(span->end_ps - span->start_ps) / PS_PER_S);
}

static double bus_factor(const struct bucket *bucket, uint32_t ranks)
{
	return (bucket->kind == COLLECTIVE_ALL_REDUCE ? 2.0 : 1.0) * (ranks - 1) / ranks;
}

// ---------------------------------------------------------------- as a table

static void print_collectives(FILE *to, const struct gathered *all, const struct host_run *host_run)
{
	const struct job *job = &host_run->world.job;
	if (all->collectives > 0)
		fprintf(to, "\n%-24s %12s %6s %12s %12s %12s\n", "collective", "bytes", "ranks",
			"time, us", "algbw, GB/s", "busbw, GB/s");
	for (uint32_t i = 0; i < all->collectives; i++) {
		const struct outcome_collective *of = &host_run->world.outcome->collectives[i];
		const struct bucket *bucket = &job->buckets[of->bucket];
		const struct span span = span_of(all, i);
		uint32_t ranks = job->groups[of->group].ranks;
		fprintf(to, "%-24s %12" PRIu64 " %6u", bucket->label, bucket->bytes, ranks);
		if (span.ranks_done < ranks) {
			fprintf(to, " %12s  %" PRIu64 " of %u ranks ended it\n", "-",
				span.ranks_done, ranks);
			continue;
		}
		double rate = algbw(bucket, &span) / 1e9;
		fprintf(to, " %12.1f %12.3f %12.3f\n",
			(double)(span.end_ps - span.start_ps) / PS_PER_US, rate,
			rate * bus_factor(bucket, ranks));
	}
}

static void print_hosts(FILE *to, const struct gathered *all, uint32_t first)
{
	fprintf(to, "\n%5s %14s %8s %13s %9s %8s %11s %11s\n", "host", "bytes placed", "wrong",
		"data packets", "resent", "stalls", "late p99.9", "ended at");
	for (uint32_t i = 0; i < all->hosts; i++) {
		const struct host_summary *host_summary = &all->host_summary[i];
		fprintf(to,
			"%5u %14" PRIu64 " %8" PRIu64 " %13" PRIu64 " %9" PRIu64 " %8" PRIu64
			" %8.1f us %8.1f us%s%s\n",
			first + i, host_summary->payload_bytes_good,
			host_summary->payload_bytes_wrong, host_summary->transport.data_packets,
			host_summary_retransmitted(host_summary), host_summary->stalls,
			(double)host_summary->lateness_ps / PS_PER_US,
			(double)host_summary->end_ps / PS_PER_US,
			host_summary->end == WALL_END_DONE ? "" : "  ",
			host_summary->end == WALL_END_DONE
				? ""
				: wall_end_name((enum wall_end)host_summary->end));
	}
}

static const char *fidelity(const struct call *call, const struct gathered *all,
			    const struct host_summary *sum, const struct host_run *host_run)
{
	return table_fidelity(call, sum->lateness_ps, sum->stalled_ps,
			      (ps_t)(host_run->wall_s * (double)PS_PER_S) * all->hosts);
}

// Why fewer bytes than the job has, or none, came to the ports.
static void print_not_sent(FILE *to, const struct host_summary *sum, const struct job *job)
{
	uint32_t at = 0;
	if (sum->transport.messages_sent == 0 && sum->work_done == sum->work_total)
		fprintf(to, "nothing left the hosts: all that was sent stayed inside them\n");
	for (const char *name; (name = job_leaving(job, &at)) != NULL;)
		fprintf(to, "not in this run: messages of %s between hosts; weft plan has them\n",
			name);
}

static void print_table(FILE *to, const struct call *call, const struct gathered *all,
			const struct host_run *host_run)
{
	struct host_summary sum;
	host_summary_add(&sum, all->host_summary, all->hosts);
	const struct transport_counters *count = &sum.transport;
	if (host_run->end != WALL_END_DONE)
		fprintf(to, "PARTIAL RESULT, of host %u alone: %s\n", call->index,
			wall_end_name(host_run->end));
	print_collectives(to, all, host_run);
	print_hosts(to, all, host_run->end == WALL_END_DONE ? 0 : call->index);
	fprintf(to,
		"\nmessages: %" PRIu64 " sent, %" PRIu64 " received; %" PRIu64 " of %" PRIu64
		" pieces of work done\n",
		count->messages_sent, count->messages_received, sum.work_done, sum.work_total);
	print_not_sent(to, &sum, &host_run->world.job);
	if (call->has_generators)
		fprintf(to,
			"payload: %" PRIu64 " bytes placed; of %" PRIu64
			" elements that generators "
			"checked %" PRIu64 " are wrong\n",
			sum.payload_bytes_good, sum.generated_elements, sum.generated_wrong);
	else
		fprintf(to,
			"payload: %" PRIu64 " bytes placed, every byte compared, %" PRIu64
			" wrong\n",
			sum.payload_bytes_good + sum.payload_bytes_wrong, sum.payload_bytes_wrong);
	if (sum.triggers_told > 0)
		fprintf(to,
			"triggers: %" PRIu64 " fired for other hosts, which heard of them %" PRIu64
			" times beside the ports\n",
			sum.triggers_told, sum.triggers_heard);
	table_data(to, count);
	fprintf(to,
		"frames: %" PRIu64 " found no port or buffer, %" PRIu64
		" were dropped by full ports, %" PRIu64 " were for others, %" PRIu64
		" were taken by faults of the scenario\n",
		sum.frames_lost, sum.frames_dropped, sum.frames_strange, sum.frames_faulted);
	table_ports(to, call);
	table_links(to, sum.links_lost, sum.links_back);
	clocks_print(to, call);
	pairs_print(to, call);
	generator_print(to, call);
	fprintf(to, "conclude: %s\n", fidelity(call, all, &sum, host_run));
}

// ---------------------------------------------------------------- as JSON

static json_t *json_collectives(const struct gathered *all, const struct host_run *host_run)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < all->collectives; i++) {
		const struct outcome_collective *of = &host_run->world.outcome->collectives[i];
		const struct bucket *bucket = &host_run->world.job.buckets[of->bucket];
		const struct span span = span_of(all, i);
		uint32_t ranks = host_run->world.job.groups[of->group].ranks;
		bool is_whole = span.ranks_done == ranks;
		double rate = is_whole ? algbw(bucket, &span) : 0;
		json_t *one = json_pack("{s:s,s:I,s:i}", "label", bucket->label, "bytes",
					whole(bucket->bytes), "ranks", (int)ranks);
		json_object_set_new(one, "time_ps",
				    is_whole ? json_integer(span.end_ps - span.start_ps)
					     : json_null());
		json_object_set_new(one, "algbw_bytes_per_s",
				    is_whole ? json_real(rate) : json_null());
		json_object_set_new(one, "busbw_bytes_per_s",
				    is_whole ? json_real(rate * bus_factor(bucket, ranks))
					     : json_null());
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *json_not_run(const struct job *job)
{
	json_t *list = json_array();
	uint32_t at = 0;
	for (const char *name; (name = job_leaving(job, &at)) != NULL;)
		json_array_append_new(list, json_string(name));
	return list;
}

static void print_json(FILE *to, const struct call *call, const struct gathered *all,
		       const struct host_run *host_run)
{
	struct host_summary sum;
	json_t *hosts = json_array();
	bool is_partial = false;
	host_summary_add(&sum, all->host_summary, all->hosts);
	for (uint32_t i = 0; i < all->hosts; i++) {
		json_t *one = host_summary_json(&all->host_summary[i]);
		json_object_set_new(
			one, "end",
			json_string(wall_end_name((enum wall_end)all->host_summary[i].end)));
		json_array_append_new(hosts, one);
		is_partial |= all->host_summary[i].end != WALL_END_DONE;
	}
	json_t *document = json_pack(
		"{s:s,s:o,s:b,s:f,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "scenario",
		call->scenario.name, "not_run", json_not_run(&host_run->world.job), "partial",
		is_partial, "wall_s", host_run->wall_s, "conclude",
		fidelity(call, all, &sum, host_run), "measured", json_times(call), "clocks",
		clocks_json(call), "pairs", pairs_json(call), "ports", json_ports(call), "gpu",
		generator_json(call), "collectives", json_collectives(all, host_run), "all",
		host_summary_json(&sum), "hosts", hosts);
	document_print(to, document, JSON_REAL_PRECISION(12));
}

int ranks_print(FILE *to, struct call *call, const struct host_run *host_run)
{
	struct gathered all;
	int rc = gather(call, host_run, &all);
	bool is_mine = call->index == 0 || host_run->end != WALL_END_DONE;
	if (rc == 0 && is_mine && call->choice.is_json)
		print_json(to, call, &all, host_run);
	else if (rc == 0 && is_mine)
		print_table(to, call, &all, host_run);
	drop(&all);
	return rc;
}
