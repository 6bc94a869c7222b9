// SPDX-License-Identifier: Apache-2.0
// Service and queueing of one port. The policy (coin-trimming, ECN from the length after removal,
// a control queue that goes first or has its share of the line) is that of htsim's CompositeQueue,
// rebuilt from its description; it is not a shared buffer or PFC.
//
// A packet leaves its queue when its first bit leaves the port, so the queues hold waiting packets
// only; with PORT_LINE when its last bit does, as in htsim: what a queue holds is more by the
// packet on the line, and marks see what came meanwhile. At equal time departures come before
// arrivals.

#include "port.h"

#include "port_note.h"

// Whether the packet that just left is marked: never up to the low threshold, always above the high
// one, in between with a probability that grows linearly from 0 to ecn_share (Pmax of RED).
static inline bool port_marks(struct port *port, uint64_t entry)
{
	uint32_t queued = port->queued_bytes[PACKET_CLASS_DATA];
	uint32_t low = port->ecn_low_bytes;
	if (__builtin_expect(queued <= low, 1) || !(entry_flags(entry) & PACKET_ECT))
		return false;
	if (queued > port->ecn_high_bytes)
		return true;
	return rng_below(&port->rng, port->ecn_span_bytes) < queued - low;
}

// Marks the packet that just left, if it is its turn. True when it had no mark before.
static inline bool port_mark(struct port *port, const struct outbox *out,
			     struct fabric_counters *counters, uint64_t entry)
{
	if (!port_marks(port, entry))
		return false;
	struct packet *packet = packet_at(out->packets, entry_packet(entry));
	bool is_new = !(packet->flags & PACKET_CE); // packets are counted, not marks
	counters->marked += is_new;
	packet->flags |= PACKET_CE;
	return is_new;
}

// What the service of a port changes with each departure, so that a loop has it in registers.
struct cursor {
	struct departure *next, *end; // room in the outbox: whoever sends has looked
	ps_t free_at;		      // of the port
};

static inline struct cursor cursor_begin(const struct port *port, const struct outbox *out)
{
	return (struct cursor){&out->departures[out->count], &out->departures[out->capacity],
			       port->free_at};
}

static inline void cursor_end(const struct cursor *cursor, struct port *port, struct outbox *out)
{
	out->count = (uint32_t)(cursor->next - out->departures);
	port->free_at = cursor->free_at;
}

// Puts a packet on the line at free_at. There is room.
static inline void cursor_send(struct cursor *cursor, const struct port *port, uint32_t packet,
			       uint32_t bytes, ps_t start)
{
	*cursor->next++ = (struct departure){start, packet, port->index, (uint16_t)bytes};
	cursor->free_at += line_ps(port->line, bytes);
}

// What a port's way is made for, where it is inlined.
enum port_variant {
	VARIANT_PLAIN,	 // most ports: nothing special, and room for all
	VARIANT_WATCHED, // the same, and its queue is measured
	VARIANT_ANY,
};

// Marks where the queue is measured and deep: that may be written down, too.
__attribute__((noinline)) static void port_mark_deep(struct port *port, const struct outbox *out,
						     struct fabric_counters *counters,
						     uint64_t entry, ps_t start)
{
	bool is_marked = port_mark(port, out, counters, entry);
	note_leave(port, entry, start, is_marked);
	note_usual(port);
}

// Takes the next packet out of queue `klass` and puts it on the line at free_at. Whoever goes
// VARIANT_ANY writes down what there is of it.
static inline __attribute__((always_inline)) uint64_t
port_emit(struct port *port, struct cursor *cursor, struct outbox *out,
	  struct fabric_counters *counters, enum packet_class klass, enum port_variant variant)
{
	uint64_t entry = fifo_pop_keep(&port->queues[klass], out->chunks);
	uint32_t bytes = entry_bytes(entry);
	ps_t start = cursor->free_at;
	port->queued_bytes[klass] -= bytes;
	if (klass == PACKET_CLASS_DATA) {
		if (variant != VARIANT_WATCHED)
			port_mark(port, out, counters, entry);
		else if (__builtin_expect(is_deep(port), 0))
			port_mark_deep(port, out, counters, entry, start);
	}
	cursor_send(cursor, port, entry_packet(entry), bytes, start);
	counters->forwarded[klass]++;
	return entry;
}

// Whose turn it is, by packets.
static enum packet_class port_turn(struct port *port)
{
	int64_t left = port->round_left;
	port->round_left = left + 1 < port->round_control + port->round_data ? left + 1 : 0;
	return left < port->round_control ? PACKET_CLASS_CONTROL : PACKET_CLASS_DATA;
}

// Which class is next while both wait and share the line: control, until it had its share of the
// bytes. When one has nothing the other has all of the line, and what comes then begins anew.
__attribute__((noinline)) static enum packet_class port_share(struct port *port,
							      const struct outbox *out)
{
	const struct fifo *control = &port->queues[PACKET_CLASS_CONTROL];
	const struct fifo *data = &port->queues[PACKET_CLASS_DATA];
	if (control->count == 0 || data->count == 0) {
		port->control_lead = 0;
		return control->count > 0 ? PACKET_CLASS_CONTROL : PACKET_CLASS_DATA;
	}
	if (port->special & PORT_ROUNDS)
		return port_turn(port);
	enum packet_class klass = port->control_lead <= 0 ? PACKET_CLASS_CONTROL
							  : PACKET_CLASS_DATA;
	uint64_t entry = fifo_peek(&port->queues[klass], out->chunks);
	if (klass == PACKET_CLASS_CONTROL)
		port->control_lead += (int64_t)entry_bytes(entry) *
			(SHARE_WHOLE - (int64_t)port->control_share_ppb);
	else
		port->control_lead -= (int64_t)entry_bytes(entry) * port->control_share_ppb;
	return klass;
}

static uint32_t scaled(uint32_t bytes, uint32_t rate_ppb)
{
	if (bytes == UINT32_MAX) // never
		return bytes;
	return (uint32_t)((uint64_t)bytes * rate_ppb / (uint64_t)SHARE_WHOLE);
}

// Takes the changes of rate that are due at `now`. A packet on the line keeps its time.
__attribute__((noinline)) static void port_slow(struct port *port, ps_t now)
{
	const struct port_nominal *nominal = &port->beside->nominal;
	for (; port->slow_count > 0 && port->slow->at <= now; port->slow++, port->slow_count--) {
		uint32_t rate_ppb = port->slow->rate_ppb;
		port->line = line_slowed(nominal->line, rate_ppb);
		if (!port->is_slow_scaled)
			continue;
		port->limit_bytes[PACKET_CLASS_DATA] = scaled(nominal->data_bytes, rate_ppb);
		port->ecn_low_bytes = scaled(nominal->ecn_low_bytes, rate_ppb);
		port->ecn_high_bytes = scaled(nominal->ecn_high_bytes, rate_ppb);
		port->ecn_span_bytes = scaled(nominal->ecn_span_bytes, rate_ppb);
	}
}

enum packet_class port_next_class(struct port *port, const struct outbox *out)
{
	if (port->special & (PORT_SHARES | PORT_ROUNDS))
		return port_share(port, out);
	return port->queues[PACKET_CLASS_CONTROL].count > 0 ? PACKET_CLASS_CONTROL
							    : PACKET_CLASS_DATA;
}

// Whether the outbox has room for one more; else the run ends with this window.
static inline bool has_room(const struct cursor *cursor, struct outbox *out)
{
	if (__builtin_expect(cursor->next < cursor->end, 1))
		return true;
	out->limit = OUTBOX_NO_ROOM;
	return false;
}

// ---------------------------------------------------------------- service

// Takes the oldest packet of a class off the queue of a port that may be watched.
static uint64_t port_emit_noted(struct port *port, struct cursor *cursor, struct outbox *out,
				struct fabric_counters *counters, enum packet_class klass)
{
	ps_t start = cursor->free_at;
	uint64_t marked = counters->marked;
	uint64_t entry = port_emit(port, cursor, out, counters, klass, VARIANT_ANY);
	if (klass == PACKET_CLASS_DATA && port->special & PORT_WATCHED)
		note_leave(port, entry, start, counters->marked != marked);
	return entry;
}

// Puts the oldest packet of the next class on the line at free_at, where it stays in its queue.
static void line_begin(struct port *port, struct cursor *cursor, struct outbox *out)
{
	if (port->special & PORT_SLOWS)
		port_slow(port, cursor->free_at);
	enum packet_class klass = port_next_class(port, out);
	uint64_t entry = fifo_peek(&port->queues[klass], out->chunks);
	port->line_holds = (1u + klass) & 3u;
	port->started_at = cursor->free_at;
	cursor->free_at += line_ps(port->line, entry_bytes(entry));
}

// The last bit of the packet on the line is out.
static void line_end(struct port *port, struct cursor *cursor, struct outbox *out,
		     struct fabric_counters *counters)
{
	ps_t free_at = cursor->free_at;
	cursor->free_at = port->started_at;
	enum packet_class klass = (enum packet_class)(port->line_holds - 1);
	uint64_t marked = counters->marked;
	uint64_t entry = port_emit(port, cursor, out, counters, klass, VARIANT_ANY);
	if (klass == PACKET_CLASS_DATA && port->special & PORT_WATCHED)
		note_leave(port, entry, free_at, counters->marked != marked);
	cursor->free_at = free_at; // even when its rate changed meanwhile
	port->line_holds = 0;
}

// port_serve where queues count the packet on the line: each is emitted when it is out.
__attribute__((noinline)) static void line_serve(struct port *port, struct cursor *cursor,
						 struct outbox *out,
						 struct fabric_counters *counters, ps_t last)
{
	while (port_is_backlogged(port)) {
		if (port->line_holds == 0)
			line_begin(port, cursor, out);
		if (cursor->free_at > last || !has_room(cursor, out))
			return;
		line_end(port, cursor, out, counters);
	}
}

// Emits every departure that starts at or before `last`. `way` is known where this is
// inlined.
static inline __attribute__((always_inline)) void
port_serve(struct port *port, struct cursor *cursor, struct outbox *out,
	   struct fabric_counters *counters, ps_t last, enum port_variant variant)
{
	if (variant == VARIANT_ANY && port->special & PORT_LINE) {
		line_serve(port, cursor, out, counters, last);
		return;
	}
	while (cursor->free_at <= last) {
		if (variant == VARIANT_ANY) {
			if (!port_is_backlogged(port) || !has_room(cursor, out))
				return;
			if (port->special & PORT_SLOWS)
				port_slow(port, cursor->free_at);
			port_emit_noted(port, cursor, out, counters, port_next_class(port, out));
		} else if (port->queues[PACKET_CLASS_CONTROL].count > 0) {
			port_emit(port, cursor, out, counters, PACKET_CLASS_CONTROL, variant);
		} else if (port->queues[PACKET_CLASS_DATA].count > 0) {
			port_emit(port, cursor, out, counters, PACKET_CLASS_DATA, variant);
		} else {
			return;
		}
	}
}

static void port_drop(struct outbox *out, struct fabric_counters *counters, uint64_t entry,
		      enum drop_reason reason)
{
	counters->dropped[reason]++;
	packet_put(out->packets, entry_packet(entry));
}

// Queues an entry if there is room. An empty queue takes any packet, or a packet larger than the
// queue could never pass.
static inline bool port_enqueue(struct port *port, struct fifo_pool *chunks,
				enum packet_class klass, uint64_t entry)
{
	uint32_t after = port->queued_bytes[klass] + entry_bytes(entry);
	if (after > port->limit_bytes[klass] && port->queues[klass].count > 0)
		return false;
	fifo_push(&port->queues[klass], chunks, entry);
	port->queued_bytes[klass] = after;
	return true;
}

// Cuts the payload off and lets the rest go ahead as a control packet.
static void port_trim(struct port *port, struct outbox *out, struct fabric_counters *counters,
		      uint64_t entry)
{
	struct packet *packet = packet_at(out->packets, entry_packet(entry));
	if (packet->wire_bytes > port->trim_bytes)
		packet->wire_bytes = (uint16_t)port->trim_bytes;
	packet->payload_bytes = 0;
	packet->klass = PACKET_CLASS_CONTROL;
	packet->flags |= PACKET_TRIMMED;
	packet->flags &= (uint8_t)~PACKET_DAMAGED; // cut away: it was behind the headers
	counters->trimmed++;
	if (port->leads_to_nic) {
		packet->flags |= PACKET_TRIMMED_LAST;
		counters->trimmed_last_hop++;
	}
	entry = entry_of(entry_packet(entry), packet);
	if (!port_enqueue(port, out->chunks, PACKET_CLASS_CONTROL, entry))
		port_drop(out, counters, entry, DROP_CONTROL_FULL);
}

// Whether a full data queue gives up its newest packet for the arriving one. It does not when the
// newest may not be trimmed or when the arriving one would not fit in its place.
static bool port_trims_newest(struct port *port, uint64_t newest, uint64_t arriving)
{
	if (port->trim_bytes == 0 || port->trim_choice == TRIM_ARRIVING)
		return false;
	if (port->line_holds == 1 + PACKET_CLASS_DATA && port->queues[PACKET_CLASS_DATA].count == 1)
		return false; // it is on the line
	if (port->trim_choice == TRIM_COIN && rng_next(&port->rng) >> 63)
		return false;
	uint32_t after = port->queued_bytes[PACKET_CLASS_DATA] - entry_bytes(newest) +
		entry_bytes(arriving);
	return (entry_flags(newest) & PACKET_TRIMMABLE) &&
		after <= port->limit_bytes[PACKET_CLASS_DATA];
}

// Trims a packet of data, or drops it.
static void port_give_up(struct port *port, struct outbox *out, struct fabric_counters *counters,
			 uint64_t entry)
{
	bool trims = port->trim_bytes > 0 && (entry_flags(entry) & PACKET_TRIMMABLE);
	if (port->special & PORT_WATCHED) {
		port->beside->watch.trimmed += trims;
		port->beside->watch.dropped += !trims;
	}
	if (trims)
		port_trim(port, out, counters, entry);
	else
		port_drop(out, counters, entry, DROP_QUEUE_FULL);
}

// The data queue is full: trims a packet, or drops the arriving one. Kept out of the way of the
// packets that find room.
__attribute__((cold, noinline)) static void port_overflow(struct port *port, struct outbox *out,
							  struct fabric_counters *counters,
							  uint64_t arriving)
{
	uint64_t *newest = fifo_newest(&port->queues[PACKET_CLASS_DATA], out->chunks);
	uint64_t victim = arriving;
	if (port_trims_newest(port, *newest, arriving)) {
		victim = *newest;
		*newest = arriving;
		port->queued_bytes[PACKET_CLASS_DATA] += entry_bytes(arriving) -
			entry_bytes(victim);
	}
	port_give_up(port, out, counters, victim);
}

// Queues a packet that cannot start at once.
static inline __attribute__((always_inline)) void port_wait(struct port *port, struct outbox *out,
							    struct fabric_counters *counters,
							    enum packet_class klass, uint64_t entry)
{
	if (klass == PACKET_CLASS_CONTROL) {
		if (!port_enqueue(port, out->chunks, PACKET_CLASS_CONTROL, entry))
			port_drop(out, counters, entry, DROP_CONTROL_FULL);
		return;
	}
	if (!port_enqueue(port, out->chunks, PACKET_CLASS_DATA, entry))
		port_overflow(port, out, counters, entry);
	if (port->queued_bytes[PACKET_CLASS_DATA] > counters->queue_bytes_max)
		counters->queue_bytes_max = port->queued_bytes[PACKET_CLASS_DATA];
}

// Takes an arrival: starts it when the line is idle, else queues it.
static inline __attribute__((always_inline)) void
port_take(struct port *port, struct cursor *cursor, struct outbox *out,
	  struct fabric_counters *counters, uint32_t index, ps_t now, enum port_variant variant)
{
	port_serve(port, cursor, out, counters, now, variant);
	if (variant == VARIANT_ANY && port->special & PORT_SLOWS)
		port_slow(port, now);
	uint64_t entry = entry_of(index, packet_at(out->packets, index));
	enum packet_class klass = entry_class(entry);
	check(klass < PACKET_CLASS_COUNT);
	if (cursor->free_at > now || (variant == VARIANT_ANY && !has_room(cursor, out))) {
		port_wait(port, out, counters, klass, entry);
		if (variant == VARIANT_WATCHED ||
		    (variant == VARIANT_ANY && port->special & PORT_WATCHED))
			note_wait(port, klass, now);
		return;
	}
	cursor->free_at = now; // idle: nothing waits, so the packet never enters a queue
	if (variant == VARIANT_ANY && port->special & PORT_LINE) {
		port_wait(port, out, counters, klass, entry);
		return;
	}
	cursor_send(cursor, port, index, entry_bytes(entry), now);
	counters->forwarded[klass]++;
}

uint64_t port_emit_class(struct port *port, struct outbox *out, struct fabric_counters *counters,
			 enum packet_class klass)
{
	struct cursor cursor = cursor_begin(port, out);
	check(cursor.next < cursor.end);
	if (port->special & PORT_SLOWS)
		port_slow(port, port->free_at);
	uint64_t entry = port_emit_noted(port, &cursor, out, counters, klass);
	cursor_end(&cursor, port, out);
	return entry;
}

void port_start(struct port *port, struct outbox *out, struct fabric_counters *counters,
		uint32_t index, ps_t now)
{
	const struct packet *packet = packet_at(out->packets, index);
	if (port->special & PORT_SLOWS)
		port_slow(port, now);
	outbox_send(out, port->index, index, packet->wire_bytes, now);
	port->free_at = now + line_ps(port->line, packet->wire_bytes);
	counters->forwarded[packet->klass]++;
}

void port_refuse(struct port *port, struct outbox *out, struct fabric_counters *counters,
		 uint64_t entry)
{
	uint32_t limit = port->limit_bytes[PACKET_CLASS_DATA];
	if (port->queues[PACKET_CLASS_DATA].count == 0) {
		port_give_up(port, out, counters, entry);
		return;
	}
	port->limit_bytes[PACKET_CLASS_DATA] = port->queued_bytes[PACKET_CLASS_DATA];
	port_overflow(port, out, counters, entry);
	port->limit_bytes[PACKET_CLASS_DATA] = limit;
}

void port_queue(struct port *port, struct outbox *out, struct fabric_counters *counters,
		enum packet_class klass, uint64_t entry, ps_t now)
{
	port_wait(port, out, counters, klass, entry);
	if (port->special & PORT_WATCHED)
		note_wait(port, klass, now);
}

void port_advance(struct port *port, struct outbox *out, struct fabric_counters *counters,
		  ps_t last)
{
	struct cursor cursor = cursor_begin(port, out);
	port_serve(port, &cursor, out, counters, last, VARIANT_ANY);
	cursor_end(&cursor, port, out);
}

bool port_accept(struct port *port, struct outbox *out, struct fabric_counters *counters,
		 uint32_t index, ps_t now)
{
	struct cursor cursor = cursor_begin(port, out);
	port_take(port, &cursor, out, counters, index, now, VARIANT_ANY);
	cursor_end(&cursor, port, out);
	return port_is_backlogged(port);
}

static inline __attribute__((always_inline)) void port_run_as(struct port *port, struct outbox *out,
							      struct fabric_counters *counters,
							      const struct batch *batch, ps_t until,
							      enum port_variant variant)
{
	struct cursor cursor = cursor_begin(port, out);
	const struct arrival *arrivals = batch->arrivals;
	for (const struct arrival *end = arrivals + batch->count; arrivals < end; arrivals++)
		port_take(port, &cursor, out, counters, arrivals->packet, arrivals->at, variant);
	port_serve(port, &cursor, out, counters, until - 1, variant);
	cursor_end(&cursor, port, out);
}

// Whether the outbox has room for all that may leave: what waits and what comes.
static inline bool has_room_for_all(const struct port *port, const struct outbox *out,
				    uint32_t coming)
{
	uint64_t most = (uint64_t)port->queues[PACKET_CLASS_CONTROL].count +
		port->queues[PACKET_CLASS_DATA].count + coming;
	return most <= out->capacity - out->count;
}

void port_run(struct port *port, struct outbox *out, struct fabric_counters *counters,
	      const struct batch *batch, ps_t until)
{
	if (batch->count > 1)
		batch_sort(batch);
	check(batch->count == 0 || batch->arrivals[batch->count - 1].at < until);
	if (__builtin_expect(
		    port->special & ~PORT_WATCHED || !has_room_for_all(port, out, batch->count), 0))
		port_run_as(port, out, counters, batch, until, VARIANT_ANY);
	else if (port->special)
		port_run_as(port, out, counters, batch, until, VARIANT_WATCHED);
	else
		port_run_as(port, out, counters, batch, until, VARIANT_PLAIN);
}
