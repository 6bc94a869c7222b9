// SPDX-License-Identifier: Apache-2.0
// A switch in the order of time: its departures, arrivals and timers one after the other, for what
// a packet finds depends on what has left at other ports. At equal time departures come before
// arrivals, and these before timers; of ports the lower one comes first.
//
// A pause frame goes ahead of all that waits at its port, and says what is so when it leaves.

#include <errno.h>
#include <string.h>

#include <weft/core/bitmap.h>

#include "switch.h"

bool switch_needs_order(const struct fabric_config *config)
{
	return config->pfc.is_on || config->buffer.bytes > 0;
}

int ordered_init(struct switch_ *self, struct arena *arena, const struct topology *topology,
		 const struct fabric_config *config, const struct switch_plan *plan)
{
	if (!switch_needs_order(config))
		return 0;
	struct ordered *ordered = arena_draw(arena, ARENA_FABRIC, 1, sizeof(*ordered));
	struct pfc_port *pfc = arena_draw(arena, ARENA_FABRIC, plan->port_count, sizeof(*pfc));
	uint64_t *stopped = arena_draw(arena, ARENA_FABRIC, BITMAP_WORDS(plan->port_count),
				       sizeof(*stopped));
	if (arena_has_failed(arena) ||
	    due_init(&ordered->departures, arena, plan->port_count) < 0 ||
	    due_init(&ordered->timers, arena, plan->port_count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->port_count; i++) {
		uint32_t link = topology->port_links[plan->port_first + i];
		pfc_port_init(&pfc[i], topology, config, &topology->links[link]);
		// limits are those of in-ports, or of the buffer
		self->ports[i].limit_bytes[PACKET_CLASS_DATA] = UINT32_MAX;
	}
	ordered->shared = (struct shared_buffer){config->buffer.bytes, 0, config->buffer.alpha_ppb};
	ordered->buffer = config->buffer.bytes > 0 ? &ordered->shared : NULL;
	ordered->gap_bytes = 2 * config->mtu_bytes;
	ordered->stopped = stopped;
	ordered->pfc = pfc;
	ordered->config = config->pfc;
	self->ordered = ordered;
	self->spray.is_ordered = true;
	return 0;
}

// ---------------------------------------------------------------- when

// Sets when the port is due, for a departure and otherwise.
static void plan_port(struct switch_ *self, uint32_t index)
{
	const struct port *port = &self->ports[index];
	const struct pfc_port *pfc = &self->ordered->pfc[index];
	ps_t at = PS_NEVER;
	if (pfc->owes_frame || port->queues[PACKET_CLASS_CONTROL].count > 0)
		at = port->free_at;
	else if (port->queues[PACKET_CLASS_DATA].count > 0)
		at = ps_max(port->free_at, pfc->pause.until);
	due_set(&self->ordered->departures, index, at);
	due_set(&self->ordered->timers, index, pfc_rings_at(pfc));
}

// The peer of the port must hear something.
static void owe_frame(struct switch_ *self, uint32_t index, ps_t now)
{
	struct port *port = &self->ports[index];
	self->ordered->pfc[index].owes_frame = true;
	port->free_at = ps_max(port->free_at, now);
	plan_port(self, index);
}

// ---------------------------------------------------------------- departures

static void send_frame(struct switch_ *self, uint32_t index, struct outbox *out)
{
	struct port *port = &self->ports[index];
	struct pfc_port *pfc = &self->ordered->pfc[index];
	uint32_t frame = packet_get(out->packets);
	if (frame == PACKET_NONE) {
		out->limit = OUTBOX_NO_PACKET;
		return;
	}
	struct packet *packet = packet_at(out->packets, frame);
	memset(packet, 0, sizeof(*packet));
	packet->wire_bytes = PAUSE_FRAME_BYTES;
	packet->klass = PACKET_CLASS_CONTROL;
	packet->opcode = PACKET_PAUSE;
	packet->timestamp = pfc->is_stopped ? PAUSE_QUANTA : 0;
	pfc->owes_frame = false;
	self->counters.pause.pauses_sent += pfc->is_stopped;
	self->counters.pause.resumes_sent += !pfc->is_stopped;
	port_start(port, out, &self->counters, frame, port->free_at);
}

// Lets the peer of a port go on, if there is room again.
static void let_go_on(struct switch_ *self, uint32_t index, ps_t now)
{
	struct ordered *ordered = self->ordered;
	if (!pfc_goes_on(&ordered->pfc[index], ordered->buffer, ordered->gap_bytes))
		return;
	bitmap_clear(ordered->stopped, index);
	owe_frame(self, index, now);
}

// Waiting data left the switch. In a buffer that makes room for all.
static void leave(struct switch_ *self, uint64_t entry, ps_t now)
{
	struct ordered *ordered = self->ordered;
	if (!ordered->config.is_on) {
		ordered->shared.used -= entry_bytes(entry);
		return;
	}
	uint32_t from = entry_from(entry);
	pfc_leave(&ordered->pfc[from], ordered->buffer, entry_bytes(entry));
	if (ordered->buffer == NULL) {
		let_go_on(self, from, now);
		return;
	}
	for (uint32_t word = 0; word < BITMAP_WORDS(self->port_count); word++)
		for (uint64_t rest = ordered->stopped[word]; rest != 0; rest &= rest - 1)
			let_go_on(self, word * 64 + (uint32_t)__builtin_ctzll(rest), now);
}

// The departure that is due first.
static void depart(struct switch_ *self, uint32_t index, struct outbox *out)
{
	struct port *port = &self->ports[index];
	struct pfc_port *pfc = &self->ordered->pfc[index];
	ps_t now = self->ordered->departures.at[index];
	if (out->count == out->capacity) {
		out->limit = OUTBOX_NO_ROOM;
		return;
	}
	port->free_at = now;
	if (pfc->owes_frame) {
		send_frame(self, index, out);
	} else {
		enum packet_class klass = PACKET_CLASS_CONTROL;
		if (!pfc_is_paused(pfc, now))
			klass = port_next_class(port, out);
		uint64_t entry = port_emit_class(port, out, &self->counters, klass);
		if (klass == PACKET_CLASS_DATA)
			leave(self, entry, now);
	}
	plan_port(self, index);
}

// ---------------------------------------------------------------- arrivals

static void drop(struct switch_ *self, uint32_t packet, enum drop_reason reason, struct outbox *out)
{
	self->counters.dropped[reason]++;
	packet_put(out->packets, packet);
}

static void obey(struct switch_ *self, const struct arrival *arrival, struct outbox *out)
{
	struct pfc_port *pfc = &self->ordered->pfc[arrival->port];
	uint32_t quanta = packet_at(out->packets, arrival->packet)->timestamp;
	pfc_obey(pfc, quanta, self->ordered->config.watch_ps, arrival->at);
	self->counters.pause.pauses_received += quanta > 0;
	self->counters.pause.resumes_received += quanta == 0;
	packet_put(out->packets, arrival->packet);
	plan_port(self, arrival->port);
}

// Whether the packet is let in; it is dropped if not.
static bool admit(struct switch_ *self, const struct arrival *arrival, uint32_t to,
		  const struct packet *packet, struct outbox *out)
{
	const struct pfc_port *in = &self->ordered->pfc[arrival->port];
	const struct pfc_port *leads = &self->ordered->pfc[to];
	if (packet->klass != PACKET_CLASS_DATA || !self->ordered->config.is_on)
		return true;
	if (leads->is_dropping && pfc_is_paused(leads, arrival->at)) {
		drop(self, arrival->packet, DROP_PAUSE_WATCH, out);
		return false;
	}
	if (pfc_has_room(in, self->ordered->buffer, packet->wire_bytes))
		return true;
	drop(self, arrival->packet, DROP_HEADROOM_FULL, out);
	return false;
}

// Data that have to wait, with PFC: what came in here is counted.
static void hold_lossless(struct switch_ *self, const struct arrival *arrival, struct port *port,
			  const struct packet *packet, struct outbox *out)
{
	struct ordered *ordered = self->ordered;
	struct pfc_port *in = &ordered->pfc[arrival->port];
	uint64_t *beyond_max = &self->counters.pause.headroom_bytes_max;
	uint64_t entry = entry_with_from(entry_of(arrival->packet, packet), arrival->port);
	port_queue(port, out, &self->counters, PACKET_CLASS_DATA, entry, arrival->at);
	if (pfc_hold(in, ordered->buffer, packet->wire_bytes, arrival->at)) {
		bitmap_set(ordered->stopped, arrival->port);
		owe_frame(self, arrival->port, arrival->at);
	}
	if (in->beyond_bytes > *beyond_max)
		*beyond_max = in->beyond_bytes;
}

// The same in a buffer without PFC: what finds no room there is trimmed or dropped, or another is.
static void hold_shared(struct switch_ *self, const struct arrival *arrival, struct port *port,
			const struct packet *packet, struct outbox *out)
{
	struct shared_buffer *buffer = self->ordered->buffer;
	uint64_t entry = entry_of(arrival->packet, packet);
	uint32_t before = port->queued_bytes[PACKET_CLASS_DATA];
	if (buffer_takes(buffer, before, packet->wire_bytes))
		port_queue(port, out, &self->counters, PACKET_CLASS_DATA, entry, arrival->at);
	else
		port_refuse(port, out, &self->counters, entry);
	buffer->used += (uint64_t)port->queued_bytes[PACKET_CLASS_DATA] - before;
}

// Queues a packet that cannot start at once.
static void hold(struct switch_ *self, const struct arrival *arrival, struct port *port,
		 const struct packet *packet, struct outbox *out)
{
	port->free_at = ps_max(port->free_at, arrival->at);
	if (packet->klass != PACKET_CLASS_DATA) {
		port_queue(port, out, &self->counters, (enum packet_class)packet->klass,
			   entry_of(arrival->packet, packet), arrival->at);
		return;
	}
	if (self->ordered->config.is_on)
		hold_lossless(self, arrival, port, packet, out);
	else
		hold_shared(self, arrival, port, packet, out);
	if (self->ordered->shared.used > self->counters.buffer_bytes_max)
		self->counters.buffer_bytes_max = self->ordered->shared.used;
}

static void arrive(struct switch_ *self, const struct arrival *arrival, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, arrival->packet);
	if (packet->opcode == PACKET_PAUSE) {
		obey(self, arrival, out);
		return;
	}
	packet->hop++;
	switch_reach(self, arrival->at);
	uint32_t to = spray_port(&self->spray, &self->route, self->ports, packet, arrival->at, out,
				 &self->counters);
	if (to == ROUTE_NONE) {
		drop(self, arrival->packet, DROP_NO_ROUTE, out);
		return;
	}
	struct port *port = &self->ports[to];
	if (!admit(self, arrival, to, packet, out))
		return;
	bool is_held_up = packet->klass == PACKET_CLASS_DATA &&
		(port->queues[PACKET_CLASS_DATA].count > 0 ||
		 pfc_is_paused(&self->ordered->pfc[to], arrival->at));
	if (port->free_at <= arrival->at && !is_held_up && out->count < out->capacity)
		port_start(port, out, &self->counters, arrival->packet, arrival->at);
	else
		hold(self, arrival, port, packet, out);
	plan_port(self, to);
}

// ---------------------------------------------------------------- timers

// The port was paused for too long.
static void watch(struct switch_ *self, uint32_t index, ps_t now, struct outbox *out)
{
	struct pfc_port *pfc = &self->ordered->pfc[index];
	struct fifo *data = &self->ports[index].queues[PACKET_CLASS_DATA];
	pfc->watch_at = PS_NEVER;
	if (!pfc_is_paused(pfc, now)) // it ran out by itself
		return;
	self->counters.pause.watch_fired++;
	if (self->ordered->config.watch_action != PAUSE_WATCH_DROP)
		return;
	pfc->is_dropping = true;
	while (data->count > 0) {
		uint64_t entry = fifo_pop(data, out->chunks);
		self->ports[index].queued_bytes[PACKET_CLASS_DATA] -= entry_bytes(entry);
		drop(self, entry_packet(entry), DROP_PAUSE_WATCH, out);
		leave(self, entry, now);
	}
}

static void ring(struct switch_ *self, uint32_t index, struct outbox *out)
{
	struct pfc_port *pfc = &self->ordered->pfc[index];
	ps_t now = self->ordered->timers.at[index];
	if (pfc->is_stopped && pfc->again_at <= now) {
		pfc->again_at = now + pfc->length_ps / 2;
		owe_frame(self, index, now);
	}
	if (pfc->watch_at <= now)
		watch(self, index, now, out);
	plan_port(self, index);
}

// ---------------------------------------------------------------- the machine

ps_t ordered_run(struct switch_ *self, const struct inbox *in, ps_t until, struct outbox *out)
{
	const struct arrival *arrival = merge_runs(in), *end = arrival + in->arrival_count;
	struct ordered *ordered = self->ordered;
	for (;;) {
		ps_t departs = due_at(&ordered->departures), rings = due_at(&ordered->timers);
		ps_t arrives = arrival < end ? arrival->at : PS_NEVER;
		ps_t first = ps_min(departs, ps_min(arrives, rings));
		if (first >= until)
			return first;
		if (departs == first)
			depart(self, due_port(&ordered->departures), out);
		else if (arrives == first)
			arrive(self, arrival++, out);
		else
			ring(self, due_port(&ordered->timers), out);
		if (__builtin_expect(out->limit != OUTBOX_WITHIN, 0))
			break; // the run ends with this window; what came in has to be somewhere
	}
	for (; arrival < end; arrival++)
		arrive(self, arrival, out);
	return until;
}
