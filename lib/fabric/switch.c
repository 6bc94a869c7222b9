// SPDX-License-Identifier: Apache-2.0
// A switch as a machine: takes its arrivals in time order, routes each, and leaves the departures
// of its ports. Store and forward, output queued; no shared buffer, no PFC, no adaptive routing: a
// route never reads a queue, so only the port a packet goes to has to be brought to the packet's
// time.

#include <errno.h>

#include <weft/bitmap.h>
#include <weft/fabric.h>

#include "port.h"
#include "route.h"

// How far the routing of an arrival runs ahead of its queueing, and the reading of its descriptor
// ahead of the routing: the time of a cache miss or two.
#define ROUTE_AHEAD 4u
#define READ_AHEAD 8u
static_assert((ROUTE_AHEAD & (ROUTE_AHEAD - 1)) == 0, "indexes a ring by mask");

struct switch_ {
	struct port *ports;   // [port_count]
	uint64_t *backlogged; // bit per port; may also be set for a port that has drained
	uint32_t port_count;
	struct route route;
	struct fabric_counters counters;
};

static void port_init(struct port *port, const struct topology *topology,
		      const struct fabric_config *config, const struct link_plan *link)
{
	bool leads_to_nic = link->tier == 0;
	bool marks = config->ecn_on && (!leads_to_nic || config->ecn_last_hop);
	port->line = line_of(link->rate_bps);
	port->leads_to_nic = leads_to_nic;
	port->ecn_low_bytes = marks ? (uint32_t)topology->ecn_low_bytes : UINT32_MAX;
	port->ecn_high_bytes = marks ? (uint32_t)topology->ecn_high_bytes : UINT32_MAX;
	port->limit_bytes[PACKET_CLASS_CONTROL] = (uint32_t)topology->control_queue_bytes;
	port->limit_bytes[PACKET_CLASS_DATA] = (uint32_t)topology->queue_bytes;
	port->trim_bytes = config->trim_on ? config->trim_bytes : 0;
	port->trim_choice = (uint8_t)config->trim_choice;
}

int switch_create(struct switch_ **ret, struct arena *arena, const struct topology *topology,
		  const struct fabric_config *config, uint32_t switch_index, uint64_t seed,
		  struct refusal *refusal)
{
	check(switch_index < topology->switch_count);
	const struct switch_plan *plan = &topology->switches[switch_index];
	struct switch_ *self = arena_draw(arena, ARENA_FABRIC, 1, sizeof *self);
	struct port *ports = arena_draw(arena, ARENA_FABRIC, plan->port_count, sizeof *ports);
	uint64_t *backlogged = arena_draw(arena, ARENA_FABRIC, BITMAP_WORDS(plan->port_count),
					  sizeof *backlogged);
	if (self == NULL || ports == NULL || backlogged == NULL)
		return refuse(refusal, -ENOMEM, "no memory for switch % with % ports", switch_index,
			      plan->port_count, 0);
	for (uint32_t i = 0; i < plan->port_count; i++) {
		uint32_t link = topology->port_links[plan->port_first + i];
		port_init(&ports[i], topology, config, &topology->links[link]);
		ports[i].index = (uint16_t)i;
		ports[i].rng = rng_of(seed, RNG_PORT, (uint64_t)switch_index << 16 | i);
	}
	self->ports = ports;
	self->backlogged = backlogged;
	self->port_count = plan->port_count;
	self->route = plan->route;
	*ret = self;
	return 0;
}

// Routes the packet of an arrival and starts to fetch the port it will need.
static inline uint32_t switch_route(const struct switch_ *self, const struct outbox *out,
				    const struct arrival *arrival)
{
	struct packet *packet = packet_at(out->packets, arrival->packet);
	packet->hop++;
	uint32_t port = route_port(&self->route, packet);
	if (port != ROUTE_NONE) {
		__builtin_prefetch(&self->ports[port], 1);
		__builtin_prefetch(&self->ports[port].rng, 1);
	}
	return port;
}

static inline void switch_forward(struct switch_ *self, struct outbox *out,
				  const struct arrival *arrival, uint32_t port)
{
	if (__builtin_expect(port == ROUTE_NONE, 0)) {
		self->counters.dropped[DROP_NO_ROUTE]++;
		packet_put(out->packets, arrival->packet);
		return;
	}
	bool waits = port_accept(&self->ports[port], out, &self->counters, arrival->packet,
				 arrival->at);
	if (waits)
		bitmap_set(self->backlogged, port);
}

static void switch_take(struct switch_ *self, const struct arrival *arrivals, uint32_t count,
			struct outbox *out)
{
	uint32_t ports[ROUTE_AHEAD]; // out-ports of the arrivals that are routed and not yet queued
	for (uint32_t i = 0; i < count + ROUTE_AHEAD; i++) {
		if (i >= ROUTE_AHEAD)
			switch_forward(self, out, &arrivals[i - ROUTE_AHEAD],
				       ports[i % ROUTE_AHEAD]);
		if (i < count)
			ports[i % ROUTE_AHEAD] = switch_route(self, out, &arrivals[i]);
		if (i + READ_AHEAD < count)
			__builtin_prefetch(packet_at(out->packets, arrivals[i + READ_AHEAD].packet),
					   1);
	}
}

// Brings the ports with waiting packets to the end of the window. Returns when the first of those
// that still have some can start the next, or PS_NEVER.
static ps_t switch_drain(struct switch_ *self, ps_t until, struct outbox *out)
{
	ps_t next = PS_NEVER;
	for (uint32_t word = 0; word < BITMAP_WORDS(self->port_count); word++) {
		for (uint64_t bits = self->backlogged[word]; bits != 0; bits &= bits - 1) {
			uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
			struct port *port = &self->ports[index];
			port_advance(port, out, &self->counters, until - 1);
			if (port_is_backlogged(port))
				next = ps_min(next, ps_max(port->free_at, until));
			else
				bitmap_clear(self->backlogged, index);
		}
	}
	return next;
}

ps_t switch_run(void *self, const struct inbox *in, ps_t until, struct outbox *out)
{
	if (in->arrival_count > 0) {
		const struct arrival *arrivals = merge_runs(in);
		check(arrivals[in->arrival_count - 1].at < until);
		switch_take(self, arrivals, in->arrival_count, out);
	}
	return switch_drain(self, until, out);
}

const struct fabric_counters *switch_counters(const struct switch_ *self)
{
	return &self->counters;
}

uint32_t switch_held(const struct switch_ *self)
{
	uint32_t held = 0;
	for (uint32_t i = 0; i < self->port_count; i++)
		for (uint32_t klass = 0; klass < PACKET_CLASS_COUNT; klass++)
			held += self->ports[i].queues[klass].count;
	return held;
}
