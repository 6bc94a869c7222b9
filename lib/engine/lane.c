// SPDX-License-Identifier: Apache-2.0
// One lane in one window: each machine that has something to do gets its arrivals and leaves its
// departures. Here packets lie on cables in memory; frames.c has the same for frames.

#include "lane.h"

#include <errno.h>

#include <weft/core/bitmap.h>
#include <weft/world/world_signal.h>

#include "prefetch.h"
#include "processes/boundary.h"

#define POLL_EVERY 64 // machines between two looks at what came from other ranks

static bool has_far_tap(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->tap_count; i++)
		if (scenario->taps[i].is_far)
			return true;
	return false;
}

static bool has_damage(const struct world *world)
{
	for (uint32_t i = 0; i < world->scenario->fault_count; i++)
		if (world->scenario->faults[i].kind == FAULT_CORRUPT)
			return true;
	return false;
}

// The most arrivals of a machine in a window: what its neighbours send in one, and what they sent
// before that was held back.
static uint32_t arrivals_max(const struct lane *lane, const struct world *world)
{
	uint32_t most = 0;
	for (uint32_t m = 0; m < world->machine_count; m++) {
		uint32_t reorder_queue = 0;
		for (uint32_t i = lane->cables.base[m]; i < lane->cables.base[m + 1]; i++) {
			const struct stalled *stalled = lane->cables.stalled[i];
			reorder_queue += lane->cables.cables[i].has_reorder_queue *
				REORDER_QUEUE_ROOM;
			reorder_queue += stalled != NULL ? stalled->packets_max : 0;
		}
		most = reorder_queue > most ? reorder_queue : most;
	}
	return world->departures_max + most;
}

// The largest packet without payload: trimmed packets are no larger than a header.
static uint32_t other_bytes_max(const struct world *world)
{
	const struct transport_config *transport = &world->transport;
	uint32_t most = transport->header_bytes > transport->control_bytes
		? transport->header_bytes
		: transport->control_bytes;
	return most > PAUSE_FRAME_BYTES ? most : PAUSE_FRAME_BYTES;
}

static int draw_gathered(struct lane *lane, uint32_t ports_max, struct arena *arena)
{
	lane->gathered = arena_draw(arena, ARENA_DRIVE, 2, sizeof(struct gathered));
	for (uint32_t i = 0; lane->gathered != NULL && i < 2; i++) {
		struct gathered *gathered = &lane->gathered[i];
		gathered->arrivals = arena_draw(arena, ARENA_DRIVE, lane->arrivals_max,
						sizeof(struct arrival));
		gathered->runs = arena_draw(arena, ARENA_DRIVE, ports_max,
					    sizeof(struct arrival_run));
		if (arena_has_failed(arena))
			return -ENOMEM;
	}
	return lane->gathered == NULL ? -ENOMEM : 0;
}

int lane_init(struct lane *lane, const struct world *world, ps_t span_ps, struct arena *arena)
{
	uint32_t ports_max = 0, burst = arrivals_max(lane, world);
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->machines[m].port_count > ports_max)
			ports_max = world->machines[m].port_count;
	lane->world = world;
	lane->arrivals_max = burst;
	lane->takes_single = has_damage(world) || has_far_tap(world->scenario);
	lane->other_bytes_max = other_bytes_max(world);
	lane->scratch[0] = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct arrival));
	lane->scratch[1] = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct arrival));
	lane->out.departures = arena_draw(arena, ARENA_DRIVE, world->departures_max + 1,
					  sizeof(struct departure)); // scatter.c: and the end
	if (arena_has_failed(arena) || draw_gathered(lane, ports_max, arena) < 0)
		return -ENOMEM;
	lane->out.capacity = world->departures_max;
	lane->out.signal_capacity = world_signals_max(world);
	lane->out.signals = arena_draw(arena, ARENA_DRIVE, lane->out.signal_capacity,
				       sizeof(struct signal));
	if (lane->out.signals == NULL)
		return -ENOMEM;
	return window_set_init(&lane->windows, arena, world->machine_count, world->window_ps,
			       span_ps);
}

// ---------------------------------------------------------------- arrivals

// Whether a packet that came over `cable` is found to be damaged there: a NIC checks all of it, a
// switch only headers, and of a trimmed packet nothing else is left.
static bool is_refused(struct lane *lane, const struct cable *cable, uint32_t index)
{
	const struct packet *packet = packet_at(lane->out.packets, index);
	if (!(packet->flags & PACKET_DAMAGED) ||
	    !(lane->world->machines[cable->to_machine].is_host || packet->flags & PACKET_TRIMMED))
		return false;
	lane->run.dropped[DROP_BAD_FRAME]++;
	packet_put(lane->out.packets, index);
	return true;
}

// Shows a packet that leaves cable `index` at `at` to the taps behind the faults of cables.
static __attribute__((noinline)) void tap_far(struct lane *lane, uint32_t index, ps_t at,
					      uint32_t packet)
{
	uint32_t place = TAP_LOCATION(lane->cables.plan[index], true);
	if (tap_listens(lane->taps, place, at))
		tap_take(lane->taps, lane->index, place, at, packet_at(lane->out.packets, packet),
			 NULL, 0);
}

// Takes the first packet of a cable with faults, if it arrives before the window's end.
static bool take_first(struct lane *lane, uint32_t index, ps_t *ret_at, uint32_t *ret_packet)
{
	struct cable *cable = &lane->cables.cables[index];
	struct reorder_queue *reorder_queue = lane->cables.reorder_queue[index];
	ps_t at = PS_NEVER,
	     reorder_queue_at = cable->has_reorder_queue ? reorder_queue_first_at(reorder_queue)
							 : PS_NEVER;
	if (cable->fifo.count > 0)
		at = cable_entry_at(cable, fifo_peek(&cable->fifo, lane->out.chunks),
				    lane->window_start);
	*ret_at = ps_min(at, reorder_queue_at);
	if (*ret_at >= lane->window_end)
		return false;
	*ret_packet = reorder_queue_at < at
		? (uint32_t)reorder_queue_pop(reorder_queue)
		: (uint32_t)(fifo_pop(&cable->fifo, lane->out.chunks) >> 32);
	if (lane->taps != NULL)
		tap_far(lane, index, *ret_at, *ret_packet);
	return true;
}

// Takes a packet that arrives at `at`, unless it is found to be damaged.
static uint32_t take_one(struct lane *lane, uint32_t index, ps_t at, uint32_t packet,
			 struct arrival *to, uint32_t room)
{
	const struct cable *cable = &lane->cables.cables[index];
	if (is_refused(lane, cable, packet))
		return 0;
	check(room > 0);
	*to = (struct arrival){at, packet, cable->to_port};
	return 1;
}

// What waited for the host of the cable and is taken at `at` or before.
static uint32_t take_stalled(struct lane *lane, uint32_t index, ps_t at, struct arrival *to,
			     uint32_t room)
{
	struct stalled *stalled = lane->cables.stalled[index];
	uint32_t taken = 0;
	while (stalled_is_due(stalled, at, lane->window_end)) {
		uint32_t packet = (uint32_t)fifo_pop(&stalled->fifo, lane->out.chunks);
		taken += take_one(lane, index, stalled->until, packet, to + taken, room - taken);
	}
	return taken;
}

// The same for cables to hosts that stall: first what waited, then what comes.
static uint32_t take_waiting(struct lane *lane, uint32_t index, struct arrival *to, uint32_t room)
{
	uint32_t taken = 0, packet;
	bool is_lost;
	ps_t at;
	while (take_first(lane, index, &at, &packet)) {
		taken += take_stalled(lane, index, at, to + taken, room - taken);
		if (!lane_stalls(lane, index, at, packet, &is_lost))
			taken += take_one(lane, index, at, packet, to + taken, room - taken);
		else if (is_lost)
			packet_put(lane->out.packets, packet);
	}
	return taken + take_stalled(lane, index, PS_NEVER, to + taken, room - taken);
}

// take_cable() for cables with faults, and where packets may be damaged or taps look at them.
static __attribute__((noinline)) uint32_t take_faulty(struct lane *lane, uint32_t index,
						      struct arrival *to, uint32_t room)
{
	uint32_t taken = 0, packet;
	ps_t at;
	if (lane->cables.stalled[index] != NULL)
		return take_waiting(lane, index, to, room);
	while (take_first(lane, index, &at, &packet))
		taken += take_one(lane, index, at, packet, to + taken, room - taken);
	return taken;
}

static inline __attribute__((always_inline)) struct arrival *
take_row_as(const struct lane *lane, const uint64_t *entries, struct arrival *to,
	    const struct arrival *end, uint32_t port, uint8_t shift, bool fetches)
{
	const struct packet *packets = lane->out.packets->packets;
	const ps_t start = lane->window_start >> shift;
	const uint32_t length = (uint32_t)(cable_units(lane->window_end, shift) - start);
	for (; to < end; to++) {
		struct cable_halves entry = cable_get(--entries);
		uint32_t into = entry.at - (uint32_t)start; // of the window: arrivals are never
		if (into >= length)			    // before it
			break;
		if (fetches)
			__builtin_prefetch(&packets[entry.packet], 1);
		to->at = (start + into) << shift;
		to->packet = entry.packet;
		to->port = port;
	}
	return to;
}

// Takes the packets of a row of entries, the oldest one before `entries`, that arrive before the
// window's end, up to `end`. Returns behind the last one. A function of its own, so that all of the
// loop is in registers.
static __attribute__((noinline)) struct arrival *
take_row(const struct lane *lane, const uint64_t *entries, struct arrival *to,
	 const struct arrival *end, const struct cable *cable)
{
	const uint32_t port = cable->to_port;
	if (cable->unit_shift > 0)
		return take_row_as(lane, entries, to, end, port, cable->unit_shift, false);
	if (prefetch_pays(lane))
		return take_row_as(lane, entries, to, end, port, 0, true);
	return take_row_as(lane, entries, to, end, port, 0, false);
}

// Takes the packets of one cable that arrive before the window's end; `to` has room for `room`.
static uint32_t take_cable(struct lane *lane, uint32_t index, struct arrival *to, uint32_t room)
{
	struct cable *cable = &lane->cables.cables[index];
	struct fifo fifo = cable->fifo;
	uint32_t taken = 0;
	if (cable->has_reorder_queue || lane->takes_single)
		return take_faulty(lane, index, to, room);
	while (fifo.count > 0) {
		uint32_t row = fifo_row(&fifo), most = room - taken;
		const struct arrival *end = to + taken + (row < most ? row : most);
		uint32_t got = (uint32_t)(take_row(lane, &lane->out.chunks->words[fifo.get],
						   to + taken, end, cable) -
					  (to + taken));
		fifo_skip(&fifo, lane->out.chunks, got);
		taken += got;
		if (got < row)
			break;
	}
	check(taken < room || fifo.count == 0 ||
	      cable_entry_at(cable, fifo_peek(&fifo, lane->out.chunks), lane->window_start) >=
		      lane->window_end);
	cable->fifo = fifo;
	return taken;
}

// ---------------------------------------------------------------- departures

// Shows the departures of machine `m` to the taps, those before the faults of cables.
static __attribute__((noinline)) void tap(struct lane *lane, uint32_t m)
{
	for (uint32_t i = 0; i < lane->out.count; i++) {
		const struct departure *departure = &lane->out.departures[i];
		uint32_t place = TAP_LOCATION(lane->cables.plan[lane_cable(lane, m, departure)],
					      false);
		if (tap_listens(lane->taps, place, departure->start))
			tap_take(lane->taps, lane->index, place, departure->start,
				 packet_at(lane->out.packets, departure->packet), NULL, 0);
	}
}

// ---------------------------------------------------------------- a machine, a window

// Runs machine `m` with what was gathered for it; packets lie on cables in memory.
static ps_t run_gathered(struct lane *lane, uint32_t m, const struct gathered *gathered)
{
	const struct machine *machine = &lane->world->machines[m];
	struct inbox in = lane_inbox(lane, m, gathered);
	ps_t next = machine->run(machine->self, &in, lane->window_end, &lane->out);
	if (lane->taps != NULL)
		tap(lane, m);
	if (lane->world->jobs.bytes != NULL)
		lane_count_jobs(lane, m);
	if (lane->world->packet_traces[lane->shard] != NULL)
		lane_keep_packets(lane, m);
	lane_scatter(lane, m);
	return next;
}

// A machine has run, and has something to do at `next` without a new arrival.
static void end_machine(struct lane *lane, uint32_t m, ps_t next)
{
	if (__builtin_expect(lane->out.signal_count > 0, 0))
		signal_queue_pass(lane);
	lane->run.hops += lane->out.count;
	lane->window_sent += lane->out.count;
	if (lane->world->machines[m].is_host)
		lane->run.sent += lane->out.count;
	lane->out.count = 0;
	lane->run.visits++;
	// The last window may end early, at the time limit: what is due then belongs to the next
	// one all the same.
	if (next != PS_NEVER)
		window_mark(&lane->windows, m,
			    ps_max(next, lane->window_start + lane->windows.length_ps));
}

// The machines of a window, in ascending order.
struct walk {
	uint64_t *bits;
	const uint64_t *only; // of these; NULL: of all
	uint32_t word, words;
	bool polls; // looks now and then at what came from other ranks
};

static inline uint32_t walk_next(struct walk *walk)
{
	for (; walk->word < walk->words; walk->word++) {
		uint64_t rest = walk->bits[walk->word];
		if (walk->only != NULL)
			rest &= walk->only[walk->word];
		if (rest == 0)
			continue;
		walk->bits[walk->word] &= ~(rest & -rest);
		return (walk->word << 6) + (uint32_t)__builtin_ctzll(rest);
	}
	return MACHINE_NONE;
}

// Runs the machines of `walk`. What they need is fetched in steps while those before them run, and
// the arrivals of the next one are gathered: nothing that a machine sends arrives in this window.
static void run_walk(struct lane *lane, struct walk walk)
{
	enum { NOW, NEXT, ROW = PREFETCH_STEPS + 1 };
	struct gathered *now = &lane->gathered[0], *prefetch = &lane->gathered[1];
	uint32_t row[ROW]; // the machine that runs, and those after it
	uint32_t left = 0; // of them
	uint32_t turn = 0;
	for (int i = 0; i < ROW; i++)
		row[i] = MACHINE_NONE;
	do {
		for (int i = 0; i < ROW - 1; i++)
			row[i] = row[i + 1];
		row[ROW - 1] = walk_next(&walk);
		left += row[ROW - 1] != MACHINE_NONE;
		if (prefetch_pays(lane))
			prefetch_next(lane, &row[NEXT]);
		if (row[NEXT] != MACHINE_NONE)
			lane_gather(lane, row[NEXT], take_cable, prefetch);
		if (row[NOW] != MACHINE_NONE) {
			end_machine(lane, row[NOW], run_gathered(lane, row[NOW], now));
			left--;
		}
		struct gathered *taken = now;
		now = prefetch;
		prefetch = taken;
		if (walk.polls && ++turn % POLL_EVERY == 0)
			boundary_poll(lane->boundary);
	} while (left > 0);
}

static void run_machines(struct lane *lane)
{
	struct walk walk = {window_bits(&lane->windows), NULL, 0, lane->windows.words, false};
	uint32_t m;
	if (lane->ports == NULL)
		run_walk(lane, walk);
	else
		while ((m = walk_next(&walk)) != MACHINE_NONE)
			end_machine(lane, m, frames_run_machine(lane, m));
}

// First the machines at the boundary, so that what they leave travels while the others run.
static void run_ranked(struct lane *lane)
{
	const uint64_t *first = boundary_machines(lane->boundary);
	uint64_t *bits = window_bits(&lane->windows);
	boundary_open(lane->boundary);
	run_walk(lane, (struct walk){bits, first, 0, lane->windows.words, false});
	boundary_flush(lane->boundary);
	run_walk(lane, (struct walk){bits, NULL, 0, lane->windows.words, true});
	boundary_close(lane->boundary);
}

void lane_run_window(struct lane *lane)
{
	if (lane->boundary != NULL)
		run_ranked(lane);
	else
		run_machines(lane);
}
