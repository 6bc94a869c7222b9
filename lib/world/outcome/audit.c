// SPDX-License-Identifier: Apache-2.0
// The laws that every run keeps, checked when it ends (docs/validation.md lists them): machines'
// books, what arrived against what was sent, and no flow faster than its lines and cables are.

#include "build/build.h"
#include "build/traffic_engine.h"
#include "flow_evs.h"
#include <weft/host/host.h>

void world_audit_machines(const struct world *world, struct fifo_pool *const *chunks, bool is_whole)
{
	uint32_t hosts = world->topology.hosts;
	for (uint32_t i = 0; i < hosts; i++)
		for (uint32_t n = 0; n < world->hosts[i]->nic_count; n++)
			if (chunks[world->shard_of[i]] != NULL &&
			    world->hosts[i]->nics[n].endpoint != NULL)
				endpoint_audit(world->hosts[i]->nics[n].endpoint);
	for (uint32_t shard = 0; shard < world->shard_count; shard++)
		for (uint32_t i = 0; chunks[shard] != NULL && i < world->topology.switch_count; i++)
			if (world_is_in(world, hosts + i, shard))
				switch_audit(world->switches[i], chunks[shard]);
	flow_evs_audit(world);
	const struct traffic_engine *engine = traffic_engine_of(world);
	bool has_left = is_whole && engine != NULL && engine->left != NULL;
	for (uint32_t shard = 0; has_left && shard < world->shard_count; shard++)
		if (chunks[shard] != NULL)
			check(engine->left(world, shard) == 0 && "all operations ended");
}

// What one end counts as received against what the others count as sent; cables may double.
static void audit_arrivals(const struct world *world, uint64_t doubled)
{
	const struct transport_counters *of = &world->outcome->transport;
	uint64_t sent = of->data_packets + of->probes_sent + doubled;
	check(of->data_received + of->trims_received <= sent && "no data out of nothing");
	check(of->sacks_received <= of->sacks_sent + doubled && "SACKs received were sent");
	check(of->nacks_received <= of->nacks_sent + doubled && "NACKs received were sent");
	check(of->acks_received <= of->acks_sent + doubled && "ACKs received were sent");
	check(of->payload_bytes_placed <= of->payload_bytes_new && "payload is placed once");
}

// Marks and trims are bits that nothing covers.
static void audit_marks(const struct world *world, uint64_t doubled)
{
	const struct transport_counters *of = &world->outcome->transport;
	const struct fabric_counters *fabric = &world->outcome->fabric;
	check(of->trims_received <= fabric->trimmed + doubled && "trims are the switches'");
	check(of->marks_received <= fabric->marked + doubled && "marks are the switches'");
}

static uint64_t bytes_of_flows(const struct world *world)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < world->flow_count; i++)
		bytes += world->flows[i].bytes;
	return bytes;
}

// A run that came to its end and has nothing under way placed all that was to be sent, once. A
// collective is done although the QP of its last credits failed: what is missing is of the messages
// that were flushed, and no more than they have.
static void audit_whole(const struct world *world)
{
	const struct transport_counters *of = &world->outcome->transport;
	bool has_more = world->job.group_count > 0 ||
		traffic_engine_of(world) != NULL; // beside its flows
	check(of->payload_bytes_placed + of->payload_bytes_flushed >= of->payload_bytes_new &&
	      "all payload is placed");
	if (world->flow_count > 0 && !has_more)
		check(of->payload_bytes_placed == bytes_of_flows(world) &&
		      "all bytes of all flows are placed");
}

// The same of a program or a collective stream, and flows beside it: every byte that left a host
// was placed.
static void audit_program(const struct world *world, const struct traffic_engine *engine)
{
	uint64_t bytes = engine->fabric_bytes(world);
	const struct outcome *outcome = world->outcome;
	check(outcome->program.fabric_bytes == bytes && "every message was sent once");
	if (engine->fabric_messages != NULL)
		check(outcome->program.fabric_messages == engine->fabric_messages(world));
	if (world->job.group_count == 0)
		check(outcome->transport.payload_bytes_placed == bytes + bytes_of_flows(world) &&
		      "all bytes of all messages are placed");
}

// How a message is cut into packets: how many, and the payload of the last.
struct cut {
	uint64_t packets, last;
};

static struct cut cut_of(const struct transport_config *transport, uint64_t bytes)
{
	uint64_t packets = (bytes + transport->payload_bytes - 1) / transport->payload_bytes;
	return (struct cut){packets, bytes - (packets - 1) * transport->payload_bytes};
}

// The least time of a flow on a net that is its own: its bytes leave on all planes at once, the
// last packet takes every further line by itself, and so does the answer on its way back. Every
// cable is as short as the shortest; trunks are as fast as they are.
static ps_t flow_least_ps(const struct world *world, const struct flow *flow)
{
	const struct transport_config *transport = &world->transport;
	uint32_t links = topology_links(&world->topology, &world->fabric, flow->from, flow->to);
	line_t line = line_of(world->fabric.link_rate_bps);
	line_t fastest = line_of(world->topology.rate_max_bps);
	uint32_t qps = world->scenario->qps_per_connection;
	struct cut first = cut_of(transport, flow_share_bytes(flow->bytes, qps));
	struct cut rest = cut_of(transport, flow_last_share_bytes(flow->bytes, qps));
	uint64_t packets = (qps - 1) * first.packets + rest.packets;
	uint64_t last = first.last < rest.last ? first.last : rest.last;
	uint64_t wire = flow->bytes + packets * transport->header_bytes;
	uint64_t share = wire / world->topology.planes;
	uint32_t read = (uint32_t)last + transport->header_bytes; // by a switch, before it sends on
	uint32_t answer = transport->control_bytes;
	if (world->fabric.cut_bytes > 0) {
		read = read < world->fabric.cut_bytes ? read : world->fabric.cut_bytes;
		answer = answer < world->fabric.cut_bytes ? answer : world->fabric.cut_bytes;
	}
	return line_ps(line, share < UINT32_MAX ? (uint32_t)share : UINT32_MAX) +
		(links - 1) * line_ps(fastest, read) + links * line_ps(fastest, answer) +
		2 * links * world->lookahead_ps;
}

static void audit_flows(const struct world *world)
{
	for (uint32_t i = 0; i < world->flow_count; i++) {
		const struct flow *flow = &world->flows[i];
		if (world->outcome->flow_end_ps[i] == 0)
			continue;
		check(world->outcome->flow_end_ps[i] - flow->start_ps >=
			      flow_least_ps(world, flow) &&
		      "no flow is faster than its lines");
	}
}

void world_audit(const struct world *world, const struct world_audit *of)
{
	audit_arrivals(world, of->doubled);
	audit_flows(world);
	if (!of->is_forged)
		audit_marks(world, of->doubled);
	if (of->is_whole)
		audit_whole(world);
	if (of->is_whole && traffic_engine_of(world) != NULL)
		audit_program(world, traffic_engine_of(world));
}
