// SPDX-License-Identifier: Apache-2.0
// A switch as a machine: takes its arrivals in time order, routes each, and leaves the departures
// of its ports. Output queued. A route by hash never reads a queue, so only the port a packet goes
// to has to be brought to the packet's time, and packets are taken port by port. Where the switch
// itself spreads packets (spray.h) they are taken in the order of their times, and so is all that
// happens where ports depend on each other (ordered.c).

#include <errno.h>

#include <weft/core/bitmap.h>
#include <weft/fabric/fabric.h>

#include "port.h"
#include "switch.h"

// Where the line from no marks at the low threshold, which reaches ecn_share at the high one, would
// come to all of them: bytes above the low one.
static uint32_t ecn_span(uint64_t low_bytes, uint64_t high_bytes, uint32_t share_ppb)
{
	uint64_t bytes = high_bytes - low_bytes;
	if (share_ppb != 0)
		bytes = bytes * SHARE_WHOLE / share_ppb;
	return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static void port_init(struct port *port, const struct topology *topology,
		      const struct fabric_config *config, const struct link_plan *link)
{
	bool leads_to_nic = link->tier == 0;
	bool marks = config->ecn_on && (!leads_to_nic || config->ecn_last_hop);
	port->line = line_of(link->rate_bps);
	port->leads_to_nic = leads_to_nic;
	port->ecn_low_bytes = marks ? (uint32_t)topology->ecn_low_bytes : UINT32_MAX;
	port->ecn_high_bytes = marks ? (uint32_t)topology->ecn_high_bytes : UINT32_MAX;
	port->ecn_span_bytes = ecn_span(topology->ecn_low_bytes, topology->ecn_high_bytes,
					config->ecn_share_ppb);
	port->limit_bytes[PACKET_CLASS_CONTROL] = (uint32_t)topology->control_queue_bytes;
	port->limit_bytes[PACKET_CLASS_DATA] = (uint32_t)(leads_to_nic
								  ? topology->last_hop_queue_bytes
								  : topology->queue_bytes);
	if (config->round_control > 0) {
		port->special = PORT_ROUNDS;
		port->round_control = config->round_control;
		port->round_data = config->round_data;
	} else {
		port->special = config->control_share_ppb > 0 ? PORT_SHARES : 0;
		port->control_share_ppb = config->control_share_ppb;
	}
	port->special |= config->counts_line ? PORT_LINE : 0;
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
	uint64_t *busy = arena_draw(arena, ARENA_FABRIC, BITMAP_WORDS(plan->port_count),
				    sizeof *busy);
	uint32_t *batch_end = arena_draw(arena, ARENA_FABRIC, plan->port_count + 1,
					 sizeof *batch_end);
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for switch % with % ports", switch_index,
			      plan->port_count);
	for (uint32_t i = 0; i < plan->port_count; i++) {
		uint32_t link = topology->port_links[plan->port_first + i];
		port_init(&ports[i], topology, config, &topology->links[link]);
		ports[i].index = (uint16_t)i;
		ports[i].rng = rng_of(seed, RNG_PORT, (uint64_t)switch_index << 16 | i);
	}
	self->ports = ports;
	self->busy = busy;
	self->batch_end = batch_end;
	self->port_count = plan->port_count;
	self->route = plan->route;
	self->is_by_time = config->spray != FABRIC_SPRAY_HASH || config->by_time;
	if (spray_init(&self->spray, arena, config->spray, &self->route,
		       rng_of(seed, RNG_SPRAY, switch_index)) < 0)
		return refuse(refusal, -ENOMEM, "no memory for switch %", switch_index);
	self->spray.gap_ps = config->flowlet_gap_ps > 0 ? config->flowlet_gap_ps
							: topology->base_rtt_ps / 2;
	if (ordered_init(self, arena, topology, config, plan) < 0)
		return refuse(refusal, -ENOMEM, "no memory for PFC of switch %", switch_index);
	*ret = self;
	return 0;
}

// What routing reads: copies, as the compiler would read all of it again after each write into a
// packet.
struct guide {
	struct route route;
	uint32_t *count; // [port_count + 1] arrivals by out-port; the last one: those without a way
	uint64_t *busy;
	uint32_t port_count;
};

// Routes one arrival: its port becomes the out-port, or port_count when it has no way.
static inline __attribute__((always_inline)) void guide_route(const struct guide *guide,
							      struct arrival *arrival,
							      struct packet *packet, bool is_plain)
{
	packet->hop++;
	uint32_t port = is_plain ? route_port_plain(&guide->route, packet, guide->port_count)
				 : route_port(&guide->route, packet);
	if (!is_plain && port == ROUTE_NONE)
		port = guide->port_count;
	if (__builtin_expect(guide->count[port]++ == 0, 0))
		if (port < guide->port_count)
			bitmap_set(guide->busy, port);
	arrival->port = port;
}

static inline __attribute__((always_inline)) void route_all(const struct switch_ *self,
							    const struct inbox *in,
							    const struct outbox *out, bool is_plain)
{
	const struct guide guide = {self->route, self->batch_end, self->busy, self->port_count};
	struct packet *packets = out->packets->packets;
	struct arrival *arrival = in->runs[0].first; // the runs lie one behind the other
	const struct arrival *end = arrival + in->arrival_count;
	const struct arrival_run *last = &in->runs[in->run_count - 1];
	check(last->first + last->count == end);
	for (; arrival < end; arrival++)
		guide_route(&guide, arrival, &packets[arrival->packet], is_plain);
}

static __attribute__((noinline)) void route_plain(const struct switch_ *self,
						  const struct inbox *in, const struct outbox *out)
{
	route_all(self, in, out, true);
}

// The same where routes change in this window: each arrival has those of its time.
static __attribute__((cold, noinline)) void
route_changing(const struct switch_ *self, const struct inbox *in, const struct outbox *out)
{
	struct arrival *arrival = in->runs[0].first;
	for (const struct arrival *end = arrival + in->arrival_count; arrival < end; arrival++) {
		const struct route *route = &self->route;
		const struct route_epoch *epoch = self->next;
		for (; epoch != NULL && epoch->at < arrival->at; epoch = epoch->next)
			route = &epoch->route;
		const struct guide guide = {*route, self->batch_end, self->busy, self->port_count};
		guide_route(&guide, arrival, packet_at(out->packets, arrival->packet), false);
	}
}

// Routes every arrival, and counts them by out-port.
static __attribute__((noinline)) void switch_route(const struct switch_ *self,
						   const struct inbox *in, const struct outbox *out,
						   ps_t until)
{
	if (__builtin_expect(self->next != NULL, 0) && self->next->at < until)
		route_changing(self, in, out);
	else if (self->route.is_plain)
		route_plain(self, in, out);
	else
		route_all(self, in, out, false);
}

// Drops those that have no way.
static __attribute__((cold, noinline)) void
switch_lose(struct switch_ *self, const struct arrival *lost, uint32_t count, struct outbox *out)
{
	for (uint32_t i = 0; i < count; i++)
		packet_put(out->packets, lost[i].packet);
	self->counters.dropped[DROP_NO_ROUTE] += count;
}

// Brings arrivals that go to the same port together at `to`, in ascending order of ports.
// Afterwards batch_end is the end of each busy port's batch. Returns how many go anywhere.
static __attribute__((noinline)) uint32_t switch_group(struct switch_ *self, const struct inbox *in,
						       struct arrival *to, struct outbox *out)
{
	uint32_t *ends = self->batch_end, end = 0;
	for (uint32_t word = 0; word < BITMAP_WORDS(self->port_count); word++) {
		for (uint64_t bits = self->busy[word]; bits != 0; bits &= bits - 1) {
			uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t first = end;
			__builtin_prefetch(&self->ports[port], 1);
			end += ends[port];
			ends[port] = first;
		}
	}
	ends[self->port_count] = end;
	const struct arrival *from = in->runs[0].first;
	for (const struct arrival *stop = from + in->arrival_count; from < stop; from++)
		to[ends[from->port]++] = *from;
	if (__builtin_expect(end < in->arrival_count, 0))
		switch_lose(self, to + end, in->arrival_count - end, out);
	ends[self->port_count] = 0;
	return end;
}

// Brings the oldest entries of the queues of busy ports into the cache. Inlined always: else gcc
// leaves out the call, as of a function without effect.
static inline __attribute__((always_inline)) void fetch_queues(const struct switch_ *self,
							       const struct fifo_pool *chunks)
{
	for (uint32_t word = 0; word < BITMAP_WORDS(self->port_count); word++) {
		for (uint64_t bits = self->busy[word]; bits != 0; bits &= bits - 1) {
			uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(bits);
			fifo_fetch(&self->ports[port].queues[PACKET_CLASS_DATA], chunks);
		}
	}
}

// Serves every busy port; `arrivals` are grouped by port. Returns when the first port that still
// has packets can start one, or PS_NEVER.
static ps_t switch_walk(struct switch_ *self, struct batch all, ps_t until, struct outbox *out)
{
	ps_t next = PS_NEVER;
	uint32_t first = 0;
	fetch_queues(self, out->chunks);
	for (uint32_t word = 0; word < BITMAP_WORDS(self->port_count); word++) {
		for (uint64_t bits = self->busy[word]; bits != 0; bits &= bits - 1) {
			uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
			struct port *port = &self->ports[index];
			uint32_t end = all.count > 0 ? self->batch_end[index] : first;
			struct batch batch = {all.arrivals + first, all.spare + first, end - first};
			port_run(port, out, &self->counters, &batch, until);
			self->batch_end[index] = 0;
			first = end;
			if (port_is_backlogged(port))
				next = ps_min(next, ps_max(port->free_at, until));
			else
				bitmap_clear(self->busy, index);
		}
	}
	return next;
}

// Takes every arrival in the order of time, each when its port is at that time.
static void switch_take_in_order(struct switch_ *self, const struct inbox *in, struct outbox *out)
{
	const struct arrival *arrivals = merge_runs(in);
	for (uint32_t i = 0; i < in->arrival_count; i++) {
		struct packet *packet = packet_at(out->packets, arrivals[i].packet);
		packet->hop++;
		switch_reach(self, arrivals[i].at);
		uint32_t port = spray_port(&self->spray, &self->route, self->ports, packet,
					   arrivals[i].at, out, &self->counters);
		if (port == ROUTE_NONE) {
			self->counters.dropped[DROP_NO_ROUTE]++;
			packet_put(out->packets, arrivals[i].packet);
			continue;
		}
		port_accept(&self->ports[port], out, &self->counters, arrivals[i].packet,
			    arrivals[i].at);
		bitmap_set(self->busy, port);
	}
}

ps_t switch_run(void *self, const struct inbox *in, ps_t until, struct outbox *out)
{
	struct batch all = {in->scratch[0], in->scratch[1], 0};
	struct switch_ *it = self;
	if (it->ordered != NULL)
		return ordered_run(it, in, until, out);
	if (it->is_by_time) {
		switch_take_in_order(self, in, out);
	} else if (in->arrival_count > 0) {
		switch_route(self, in, out, until);
		all.count = switch_group(self, in, all.arrivals, out);
	}
	switch_reach(it, until);
	return switch_walk(self, all, until, out);
}

int switch_slow(struct switch_ *self, struct arena *arena, uint32_t index,
		const struct rate_change *changes, uint32_t count, bool is_scaled)
{
	struct port *port = &self->ports[index];
	check(index < self->port_count && count <= UINT16_MAX);
	if (port->beside == NULL)
		port->beside = arena_draw(arena, ARENA_FABRIC, 1, sizeof(*port->beside));
	if (port->beside == NULL)
		return -ENOMEM;
	port->beside->nominal = (struct port_nominal){
		port->line, port->limit_bytes[PACKET_CLASS_DATA], port->ecn_low_bytes,
		port->ecn_high_bytes, port->ecn_span_bytes};
	port->slow = changes;
	port->slow_count = (uint16_t)count;
	port->is_slow_scaled = is_scaled;
	port->special |= PORT_SLOWS;
	return 0;
}

void switch_set_ecn(struct switch_ *self, uint32_t low_bytes, uint32_t high_bytes,
		    uint32_t share_ppb)
{
	for (uint32_t i = 0; i < self->port_count; i++) {
		struct port *port = &self->ports[i];
		if (port->ecn_low_bytes == UINT32_MAX) // it never marks
			continue;
		port->ecn_low_bytes = low_bytes;
		port->ecn_high_bytes = high_bytes;
		port->ecn_span_bytes = ecn_span(low_bytes, high_bytes, share_ppb);
	}
}

int switch_watch(struct switch_ *self, struct arena *arena, const struct topology *topology,
		 const struct fabric_config *config)
{
	struct port_beside *beside = arena_draw(arena, ARENA_FABRIC, self->port_count,
						sizeof(*beside));
	if (beside == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < self->port_count; i++) {
		check(self->ports[i].beside == NULL);
		beside[i].watch = (struct queue_watch){
			.threshold_bytes = (uint32_t)topology->ecn_low_bytes,
			.span_bytes = ecn_span(topology->ecn_low_bytes, topology->ecn_high_bytes,
					       config->ecn_share_ppb),
			.full_bytes = (uint32_t)topology->ecn_high_bytes,
			.marked_min_bytes = UINT32_MAX,
			.above_since_ps = PS_NEVER};
		beside[i].least_bytes = UINT32_MAX;
		self->ports[i].beside = &beside[i];
		self->ports[i].special |= PORT_WATCHED;
	}
	return 0;
}

// Adds what was counted of usual depths to the histogram and to those that waited.
static inline void settle(struct port_beside *beside)
{
	depth_note_most(&beside->depth, &beside->watch);
	uint64_t most = beside->watch.queue_max_bytes, limit = beside->depth.bytes->value_max;
	const struct hist_sum sum = {.total = beside->waited,
				     .sum = beside->waited_bytes,
				     .min = beside->least_bytes,
				     .max = (int64_t)(most < limit ? most : limit)};
	hist_add_sum(beside->depth.bytes, &sum);
	beside->watch.waited += beside->waited;
	beside->waited = beside->waited_bytes = 0;
}

void switch_settle(struct switch_ *self)
{
	for (uint32_t i = 0; i < self->port_count; i++)
		if (self->ports[i].special & PORT_WATCHED)
			settle(self->ports[i].beside);
}

struct depth_watch *switch_port_depth(const struct switch_ *self, uint32_t port)
{
	check(port < self->port_count);
	return self->ports[port].special & PORT_WATCHED ? &self->ports[port].beside->depth : NULL;
}

struct queue_watch *switch_port_watch(const struct switch_ *self, uint32_t port)
{
	check(port < self->port_count);
	return self->ports[port].special & PORT_WATCHED ? &self->ports[port].beside->watch : NULL;
}

const struct fabric_counters *switch_counters(const struct switch_ *self)
{
	return &self->counters;
}

void switch_set_counters(struct switch_ *self, const struct fabric_counters *counters)
{
	self->counters = *counters;
}

const struct pause *switch_pause(const struct switch_ *self, uint32_t port)
{
	check(port < self->port_count);
	return self->ordered == NULL ? NULL : &self->ordered->pfc[port].pause;
}

uint32_t switch_held(const struct switch_ *self)
{
	uint32_t held = 0;
	for (uint32_t i = 0; i < self->port_count; i++)
		for (uint32_t klass = 0; klass < PACKET_CLASS_COUNT; klass++)
			held += self->ports[i].queues[klass].count;
	return held;
}
