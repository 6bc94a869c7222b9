// SPDX-License-Identifier: Apache-2.0
// What a shard measured, piece by piece. Whatever a machine writes down for reports has its place
// here; tests compare every cell of the outcome.

#include <weft/measure/measure_slices.h>
#include <weft/world/world_delays.h>
#include <weft/world/world_pieces.h>

#include "build/build.h"
#include "flow_evs.h"
#include <weft/host/host.h>

struct visitor {
	world_piece_fn *visit;
	void *context;
	uint32_t shard, own;
};

static void tell(const struct visitor *visitor, void *memory, size_t bytes)
{
	if (bytes > 0)
		visitor->visit(visitor->context, memory, bytes);
}

static void tell_hist(const struct visitor *visitor, struct hist *hist)
{
	tell(visitor, hist->counts, hist->cells * sizeof(*hist->counts));
	tell(visitor, &hist->total, sizeof(hist->total));
	tell(visitor, &hist->over, sizeof(hist->over));
	tell(visitor, &hist->min, sizeof(hist->min));
	tell(visitor, &hist->max, sizeof(hist->max));
	tell(visitor, &hist->sum, sizeof(hist->sum));
}

static void tell_outcome(const struct visitor *visitor, struct outcome *outcome)
{
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		tell_hist(visitor, &outcome->message_ns[i]);
		for (uint32_t j = 0; j < BATCH_COUNT; j++)
			tell_hist(visitor, &outcome->message_batches[i].of[j]);
		for (uint32_t j = 0; j < PHASE_COUNT; j++)
			tell_hist(visitor, &outcome->message_batches[i].phases[j]);
	}
	tell_hist(visitor, &outcome->flow_ns);
	for (uint32_t i = 0; i < outcome->racks.groups * outcome->racks.groups; i++)
		tell_hist(visitor, &outcome->racks.of[i]);
	tell(visitor, outcome->dropped_at_host, sizeof(outcome->dropped_at_host));
	tell(visitor, &outcome->end_ps, sizeof(outcome->end_ps));
	tell(visitor, &outcome->credits_sent, sizeof(outcome->credits_sent));
	tell(visitor, &outcome->program, sizeof(outcome->program));
	tell(visitor, outcome->jobs, sizeof(outcome->jobs));
	struct series *series = &outcome->series;
	tell(visitor, &series->bin_ps, sizeof(series->bin_ps));
	tell(visitor, series->bins, series->count * sizeof(*series->bins));
	tell(visitor, series->after, sizeof(series->after));
}

static void tell_one(void *context, struct hist *hist)
{
	tell_hist(context, hist);
}

static void tell_paths(const struct visitor *visitor, struct paths *paths)
{
	size_t cells = (size_t)paths->count * paths->cells;
	tell(visitor, paths->counts, cells * sizeof(*paths->counts));
	tell(visitor, paths->sums, paths->count * sizeof(*paths->sums));
}

static void tell_tail(const struct visitor *visitor, struct tail *tail)
{
	if (tail == NULL)
		return;
	tell(visitor, tail->packets, sizeof(tail->packets));
	tell(visitor, tail->counts, TAIL_LEVELS * (size_t)tail->cables * sizeof(*tail->counts));
}

// Of packets, and of messages to others from the shard's NICs.
static void tell_delays(const struct visitor *visitor, const struct world *world, uint32_t shard)
{
	struct world_delays *delays = world->delays;
	struct visitor own = *visitor;
	if (delays == NULL)
		return;
	delays_visit(delays->of[shard], tell_one, &own);
	tell_paths(visitor, &delays->of[shard]->one_way_paths_ns);
	tell_paths(visitor, &delays->of[shard]->rtt_paths_ns);
	tell_tail(visitor, delays->tails[shard]);
	for (uint32_t i = 0; delays->incasts != NULL && i < world->topology.nics; i++)
		if (world->shard_of[i / world->fabric.nics_per_host] == shard)
			tell(visitor, &delays->incasts[i], sizeof(*delays->incasts));
	for (uint32_t i = 0; i < delays->pair_count; i++)
		if (world->shard_of[delays->pairs[i].from_nic / world->fabric.nics_per_host] ==
		    shard)
			tell_hist(visitor, &delays->pairs[i].message_ns);
}

static void tell_clock(const struct visitor *visitor, struct collective_clock *clock)
{
	size_t cells = (size_t)clock->channels * clock->steps;
	tell(visitor, &clock->start_ps, sizeof(clock->start_ps));
	tell(visitor, &clock->end_ps, sizeof(clock->end_ps));
	tell(visitor, &clock->ranks_done, sizeof(clock->ranks_done));
	tell(visitor, clock->front_ps, cells * sizeof(*clock->front_ps));
	tell(visitor, clock->sum_ps, cells * sizeof(*clock->sum_ps));
	tell(visitor, clock->whole_count, cells * sizeof(*clock->whole_count));
}

static void tell_bypass(const struct visitor *visitor, struct bypass *bypass)
{
	tell(visitor, &bypass->count, sizeof(bypass->count));
	tell(visitor, bypass->events, bypass->count * sizeof(*bypass->events));
	tell(visitor, &bypass->missed, sizeof(bypass->missed));
}

static void tell_packet_trace(const struct visitor *visitor, struct packet_trace *packet_trace)
{
	tell(visitor, &packet_trace->count, sizeof(packet_trace->count));
	tell(visitor, packet_trace->steps, packet_trace->count * sizeof(*packet_trace->steps));
	tell(visitor, &packet_trace->missed, sizeof(packet_trace->missed));
}

static void tell_record(const struct visitor *visitor, const struct world *world, uint32_t shard)
{
	struct record *record = world->records[shard];
	tell_outcome(visitor, record->outcome);
	tell(visitor, &record->work_done, sizeof(record->work_done));
	for (uint32_t i = 0; i < world->outcome->collective_count; i++)
		tell_clock(visitor, &record->clocks[i]);
	if (world->bypass[shard] != NULL)
		tell_bypass(visitor, world->bypass[shard]);
	tell_delays(visitor, world, shard);
	for (int group = 0; world->links.depths != NULL && group < LINK_GROUP_COUNT; group++)
		tell_hist(visitor, &world->links.depths[shard][group]);
	if (world->packet_traces[shard] != NULL)
		tell_packet_trace(visitor, world->packet_traces[shard]);
}

// What did not run is counted at its sender.
static void tell_skipped(const struct visitor *visitor, const struct world *world)
{
	struct world_fast_forward *skipped = world->skipped;
	if (skipped == NULL)
		return;
	uint64_t counts[] = {skipped->packets, skipped->payload_bytes};
	tell(visitor, counts, sizeof(counts));
	if (visitor->shard == visitor->own)
		return;
	skipped->packets += counts[0];
	skipped->payload_bytes += counts[1];
}

static void tell_slices(const struct visitor *visitor, struct slices *slices)
{
	size_t cells = (size_t)slices->channels * slices->max;
	tell(visitor, slices->sent, cells * sizeof(*slices->sent));
	tell(visitor, slices->came, cells * sizeof(*slices->came));
	tell(visitor, slices->came_count, slices->channels * sizeof(*slices->came_count));
	tell(visitor, slices->parts, slices->buckets * sizeof(*slices->parts));
}

// Of an endpoint that another process has only the sums are kept.
static void tell_endpoint(const struct visitor *visitor, struct world *world, const struct nic *nic)
{
	struct world_others *others = &world->others;
	struct transport_counters counters = {0};
	if (!nic->has_qps)
		return;
	if (nic->endpoint != NULL)
		counters = outcome_counters(nic->endpoint);
	tell(visitor, &counters, sizeof(counters));
	if (nic->endpoint == NULL)
		outcome_add_counters(&others->transport, others->plane_bytes_nic_max, &counters);
}

static void tell_host(const struct visitor *visitor, struct world *world, uint32_t index)
{
	struct world_host *host = world->hosts[index];
	uint32_t bins = world->scenario->watch.bins;
	for (uint32_t i = 0; i < host->nic_count; i++)
		tell_endpoint(visitor, world, &host->nics[i]);
	for (uint32_t i = 0; world->pauses != NULL && i < host->nic_count; i++)
		tell(visitor, host->nics[i].pauses,
		     host->nics[i].planes * sizeof(*host->nics[i].pauses));
	for (uint32_t i = 0; world->slices != NULL && i < host->rank_count; i++)
		tell_slices(visitor, host->ranks[i].slices);
	if (host->placed != NULL)
		tell(visitor, host->placed, (size_t)host->nic_count * bins * sizeof(uint64_t));
	if (host->work != NULL) {
		uint32_t ports = host->nic_count * host->planes;
		tell(visitor, host->work, sizeof(*host->work));
		tell(visitor, world->links.spread[(size_t)index * ports],
		     ports * sizeof(*world->links.spread));
		tell(visitor, host->was_down, ports * sizeof(*host->was_down));
	}
}

// Of a switch that all have the ports are theirs to whose machines they lead.
static void tell_switch(const struct visitor *visitor, struct world *world, uint32_t index)
{
	const struct topology *topology = &world->topology;
	struct switch_ *of = world->switches[index];
	bool is_shared = world_shared(world, topology->hosts + index) != NULL;
	const struct fabric_counters own = *switch_counters(of);
	struct fabric_counters counters = own;
	tell(visitor, &counters, sizeof(counters));
	if (is_shared && visitor->shard != visitor->own)
		fabric_counters_add(&counters, &own);
	switch_set_counters(of, &counters);
	if (world->pauses != NULL)
		switch_pause_pieces(of, &world->chunks, visitor->shard != visitor->own,
				    visitor->visit, visitor->context);
	for (uint32_t i = 0; i < topology->switches[index].port_count; i++) {
		struct queue_watch *watch = switch_port_watch(of, i);
		uint32_t behind = topology_behind(topology, index, i);
		if (watch == NULL || (is_shared && world->shard_of[behind] != visitor->shard))
			continue;
		tell(visitor, watch, sizeof(*watch));
		struct depth_series *series = switch_port_depth(of, i)->series;
		if (series != NULL)
			tell(visitor, series, sizeof(*series));
	}
}

// What is put on a cable is counted where it leaves.
static void tell_cable(const struct visitor *visitor, struct world *world, uint32_t index)
{
	uint32_t jobs = world->scenario->job_count;
	if (world->jobs.bytes != NULL)
		tell(visitor, world->jobs.bytes + (size_t)index * jobs, jobs * sizeof(uint64_t));
	if (world->links.counts != NULL)
		tell(visitor, &world->links.counts[index], sizeof(*world->links.counts));
}

// A flow's times are its sender's.
static void tell_flow(const struct visitor *visitor, struct world *world, uint32_t index)
{
	tell(visitor, &world->flows[index].start_ps, sizeof(ps_t));
	tell(visitor, &world->outcome->flow_end_ps[index], sizeof(ps_t));
	struct ev_count *counts = flow_evs_counts(world, index);
	if (counts != NULL)
		tell(visitor, counts, ev_universe(&world->transport) * sizeof(*counts));
}

// An operation's times are its rank's.
static void tell_operation(const struct visitor *visitor, const struct world *world, uint32_t index)
{
	tell(visitor, &world->op_times[index], sizeof(*world->op_times));
}

static uint32_t host_of_operation(const struct world *world, uint32_t index)
{
	const struct program *program = world->program;
	return program->nics[program->ops[index].rank] / world->fabric.nics_per_host;
}

void world_pieces(struct world *world, uint32_t shard, uint32_t own, world_piece_fn *visit,
		  void *context)
{
	const struct visitor visitor = {visit, context, shard, own};
	uint32_t hosts = world->topology.hosts;
	check(shard < world->shard_count && world->shard_count > 1);
	if (shard == own)
		world_settle(world);
	tell_record(&visitor, world, shard);
	tell_skipped(&visitor, world);
	for (uint32_t i = 0; i < hosts; i++)
		if (world->shard_of[i] == shard)
			tell_host(&visitor, world, i);
	for (uint32_t i = 0; i < world->topology.switch_count; i++)
		if (world_is_in(world, hosts + i, shard))
			tell_switch(&visitor, world, i);
	for (uint32_t i = 0; i < world->cable_count; i++)
		if (world_sender_of(world, i) == shard)
			tell_cable(&visitor, world, i);
	for (uint32_t i = 0; i < world->flow_count; i++)
		if (world->shard_of[world->flows[i].from / world->fabric.nics_per_host] == shard)
			tell_flow(&visitor, world, i);
	for (uint32_t i = 0; world->op_times != NULL && i < world->program->op_count; i++)
		if (world->shard_of[host_of_operation(world, i)] == shard)
			tell_operation(&visitor, world, i);
}
