// SPDX-License-Identifier: Apache-2.0
// One lane in one window: each machine that has something to do gets its arrivals and leaves its
// departures. Here packets lie on cables in memory; frames.c has the same for frames.

#include "lane.h"

#include <errno.h>
#include <stdlib.h>

#include <weft/bitmap.h>

#include "frames.h"

#define SCATTER_AHEAD 8 // departures whose cable is fetched ahead

int lane_init(struct lane *lane, const struct world *world, ps_t span_ps, struct arena *arena)
{
	uint32_t ports_max = 0, burst = world->departures_max;
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->machines[m].port_count > ports_max)
			ports_max = world->machines[m].port_count;
	lane->world = world;
	lane->arrivals_max = burst;
	lane->arrivals = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct arrival));
	lane->scratch[0] = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct arrival));
	lane->scratch[1] = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct arrival));
	lane->runs = arena_draw(arena, ARENA_DRIVE, ports_max, sizeof(struct arrival_run));
	lane->out.departures = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct departure));
	if (lane->arrivals == NULL || lane->scratch[0] == NULL || lane->scratch[1] == NULL ||
	    lane->runs == NULL || lane->out.departures == NULL)
		return -ENOMEM;
	lane->out.capacity = burst;
	return window_set_init(&lane->windows, arena, world->machine_count, world->window_ps,
			       span_ps);
}

// ---------------------------------------------------------------- arrivals

static void deliver(struct lane *lane, uint32_t cable, const struct arrival *arrival)
{
	const struct packet *packet = packet_at(lane->out.packets, arrival->packet);
	uint64_t what = (uint64_t)packet->psn << 32 | (uint64_t)packet->opcode << 24 |
		(uint64_t)packet->flags << 16 | packet->hop;
	uint64_t who = (uint64_t)packet->qpn << 32 ^ packet->source;
	uint64_t digest = lane->cables.digests[cable] ^
		rng_mix((uint64_t)arrival->at ^ what * UINT64_C(0x9e3779b97f4a7c15));
	lane->cables.digests[cable] = (digest ^ who) * UINT64_C(0xff51afd7ed558ccd) + 1;
	lane->run.delivered++;
	lane->run.data_delivered += packet->payload_bytes > 0;
}

void lane_deliver(struct lane *lane, uint32_t machine, uint32_t count)
{
	uint32_t base = lane->cables.base[machine];
	for (uint32_t i = 0; i < count; i++)
		deliver(lane, base + lane->arrivals[i].port, &lane->arrivals[i]);
}

// Takes the packets of one cable that arrive before the window's end; `to` has room for `room`.
static uint32_t take_cable(struct lane *lane, uint32_t index, struct arrival *to, uint32_t room)
{
	struct cable *cable = &lane->cables.cables[index];
	struct fifo_pool *chunks = lane->out.chunks;
	uint32_t taken = 0;
	while (cable->fifo.count > 0) {
		uint64_t entry = fifo_peek(&cable->fifo, chunks);
		ps_t at = cable_entry_at(entry, lane->window_start);
		if (at >= lane->window_end)
			break;
		check(taken < room);
		fifo_pop(&cable->fifo, chunks);
		uint32_t packet = (uint32_t)(entry >> 32);
		__builtin_prefetch(packet_at(lane->out.packets, packet), 1);
		to[taken++] = (struct arrival){at, packet, cable->to_port};
	}
	return taken;
}

// Fetches the cables that hold packets for machine `m`, then their oldest entries: they come from
// as many places in memory.
static void prefetch_cables(const struct lane *lane, uint32_t m)
{
	const struct cable *cables = lane->cables.cables + lane->cables.base[m];
	const struct fifo_chunk *chunks = lane->out.chunks->chunks;
	const uint64_t *waiting = lane->cables.waiting[m];
	uint32_t words = BITMAP_WORDS(lane->world->machines[m].port_count);
	for (uint32_t word = 0; word < words; word++)
		for (uint64_t rest = waiting[word]; rest != 0; rest &= rest - 1)
			__builtin_prefetch(&cables[(word << 6) + (uint32_t)__builtin_ctzll(rest)],
					   1);
	for (uint32_t word = 0; word < words; word++) {
		for (uint64_t rest = waiting[word]; rest != 0; rest &= rest - 1) {
			uint32_t port = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			const struct fifo *fifo = &cables[port].fifo;
			__builtin_prefetch(&chunks[fifo->head].entries[fifo->head_at]);
		}
	}
}

// ---------------------------------------------------------------- departures

bool lane_loses(struct lane *lane, uint32_t index, const struct departure *departure, ps_t at)
{
	enum drop_reason fate = cable_fate(&lane->cables.cables[index], lane->world->cable_faults,
					   &lane->cables.rng[index], departure->start, at);
	if (fate == DROP_REASON_COUNT)
		return false;
	lane->run.dropped[fate]++;
	return true;
}

// A tap listens before the cable's faults.
static void tap(struct lane *lane, uint32_t index, const struct departure *departure)
{
	uint32_t plan = lane->cables.plan[index];
	if (tap_listens(lane->taps, plan, departure->start))
		tap_take(lane->taps, lane->index, plan, departure->start,
			 packet_at(lane->out.packets, departure->packet), NULL, 0);
}

// Lays the departures of machine `m` onto its cables.
static void scatter(struct lane *lane, uint32_t m)
{
	const uint32_t *out_cable = lane->cables.out + lane->cables.base[m];
	struct cable *cables = lane->cables.cables;
	for (uint32_t i = 0; i < lane->out.count; i++) {
		const struct departure *departure = &lane->out.departures[i];
		if (i + SCATTER_AHEAD < lane->out.count)
			__builtin_prefetch(&cables[out_cable[departure[SCATTER_AHEAD].port]], 1);
		uint32_t index = out_cable[departure->port];
		if (lane->taps != NULL)
			tap(lane, index, departure);
		ps_t at = lane_depart(lane, index, departure);
		if (at == PS_NEVER) {
			packet_put(lane->out.packets, departure->packet);
			continue;
		}
		fifo_push(&cables[index].fifo, lane->out.chunks,
			  cable_entry(at, departure->packet));
		lane_mark(lane, &cables[index], at);
	}
}

// ---------------------------------------------------------------- a machine, a window

static void run_machine(struct lane *lane, uint32_t m)
{
	const struct machine *machine = &lane->world->machines[m];
	struct inbox in;
	ps_t next;
	if (lane->ports == NULL) {
		prefetch_cables(lane, m);
		lane_gather(lane, m, take_cable, &in);
		next = machine->run(machine->self, &in, lane->window_end, &lane->out);
		scatter(lane, m);
	} else {
		next = frames_run_machine(lane, m);
	}
	lane->run.hops += lane->out.count;
	lane->window_sent += lane->out.count;
	if (machine->is_host)
		lane->run.sent += lane->out.count;
	lane->out.count = 0;
	lane->run.visits++;
	// The last window may end early, at the time limit: what is due then belongs to the next
	// one all the same.
	if (next != PS_NEVER)
		window_mark(&lane->windows, m,
			    ps_max(next, lane->window_start + lane->windows.length_ps));
}

void lane_run_window(struct lane *lane)
{
	uint64_t *bits = window_bits(&lane->windows);
	for (uint32_t word = 0; word < lane->windows.words; word++) {
		while (bits[word] != 0) {
			uint32_t m = (word << 6) + (uint32_t)__builtin_ctzll(bits[word]);
			bits[word] &= bits[word] - 1;
			run_machine(lane, m);
		}
	}
#ifdef PLANT_ALLOCATE // a bug on purpose: the watch over malloc must find it
	void *volatile planted = malloc(1);
	free(planted);
#endif
}
