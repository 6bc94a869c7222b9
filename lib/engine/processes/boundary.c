// SPDX-License-Identifier: Apache-2.0
// Packets that cross from one rank to another, in slabs of fixed size: as many as a window needs,
// the last one marked.

#include "boundary_slab.h"

#include <errno.h>

#include "backoff.h"
#include "lane.h"

#define CROSS_PREFETCH 16 // departures whose packet is fetched ahead, to be copied
#define TAKE_PREFETCH 8	  // crossings whose cable is fetched ahead

// Who crosses, and when: kind << 62 | cable << 32 | low half of the time, as a cable has it. What
// is not in the order of a cable may come much later: the next entry is its whole time.
#define KIND_SHIFT 62
#define CABLE_SHIFT 32
#define CABLES_MAX (1u << (KIND_SHIFT - CABLE_SHIFT))

enum crossing_kind { CROSSING_IN_ORDER, CROSSING_LATE, CROSSING_SIGNAL };

// ---------------------------------------------------------------- building

static int draw_peer(struct peer *peer, struct arena *arena)
{
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++) {
		peer->out[slot] = arena_draw(arena, ARENA_DRIVE, 1, sizeof(struct slab));
		if (peer->out[slot] == NULL)
			return -ENOMEM;
	}
	peer->filling = peer->out[0];
	peer->in = arena_draw(arena, ARENA_DRIVE, 1, sizeof(struct slab));
	return peer->in == NULL ? -ENOMEM : 0;
}

// Whether packets of other ranks pass a cable's end: it is theirs, or all ranks have it.
static bool leads_away(const struct boundary *boundary, const struct cable_plan *plan)
{
	const struct world *world = boundary->lane->world;
	const struct shared_switch *shared = world_shared(world, plan->to_machine);
	uint32_t own = boundary->ranks->index;
	if (shared == NULL)
		return world->shard_of[plan->to_machine] != own;
	for (uint32_t i = 0; i < shared->groups; i++)
		if (shared->shards[i] != own)
			return true;
	return false;
}

// Marks the cables that lead away from this rank, and where they begin.
static void mark_cables(struct boundary *boundary)
{
	struct lane *lane = boundary->lane;
	const struct world *world = lane->world;
	uint32_t own = boundary->ranks->index;
	for (uint32_t i = 0; i < lane->cables.count; i++) {
		const struct cable_plan *plan = &world->cables[lane->cables.plan[i]];
		struct cable *cable = &lane->cables.cables[i];
		cable->is_foreign = !world_is_in(world, plan->to_machine, own);
		if (world_sender_of(world, lane->cables.plan[i]) != own ||
		    !leads_away(boundary, plan))
			continue;
		cable->is_boundary = cable->is_special = true;
		bitmap_set(boundary->machines, plan->from_machine);
	}
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->shard_of[m] == own && world_gives_signals(world, m))
			bitmap_set(boundary->machines, m);
}

int boundary_init(struct boundary **ret, struct lane *lane, struct ranks *ranks,
		  struct arena *arena)
{
	struct boundary *boundary = arena_draw(arena, ARENA_DRIVE, 1, sizeof(*boundary));
	if (boundary == NULL)
		return -ENOMEM;
	check(lane->cables.count < CABLES_MAX);
	boundary->ranks = ranks;
	boundary->lane = lane;
	boundary->machines = arena_draw(arena, ARENA_DRIVE,
					BITMAP_WORDS(lane->world->machine_count), sizeof(uint64_t));
	boundary->peers = arena_draw(arena, ARENA_DRIVE, ranks->count, sizeof(*boundary->peers));
	boundary->views = arena_draw(arena, ARENA_DRIVE, ranks->count, sizeof(*boundary->views));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < ranks->count; i++)
		if (i != ranks->index && draw_peer(&boundary->peers[i], arena) < 0)
			return -ENOMEM;
	mark_cables(boundary);
	*ret = boundary;
	return 0;
}

const uint64_t *boundary_machines(const struct boundary *boundary)
{
	return boundary->machines;
}

// ---------------------------------------------------------------- sending

// It takes meanwhile what comes: the other one may wait for just that.
void boundary_free_slot(struct boundary *boundary, uint32_t rank, uint32_t slot)
{
	struct backoff backoff = {0};
	struct peer *peer = &boundary->peers[rank];
	while (peer->is_in_flight[slot] &&
	       !boundary->ranks->ops->is_sent(boundary->ranks, rank, slot)) {
		boundary_poll(boundary);
		backoff_take(&backoff, boundary->ranks);
	}
	backoff_end(&backoff, boundary->ranks);
	peer->is_in_flight[slot] = false;
}

// Where a crossing is in a slab: its block, and its place there.
static inline struct block *block_of(struct slab *slab, uint32_t i)
{
	return &slab->blocks[i / BLOCK_CROSSINGS];
}

static size_t slab_bytes(const struct slab *slab)
{
	uint32_t blocks = (slab->count + BLOCK_CROSSINGS - 1) / BLOCK_CROSSINGS;
	return offsetof(struct slab, blocks) + blocks * sizeof(struct block);
}

void boundary_send_slab(struct boundary *boundary, uint32_t rank, size_t bytes)
{
	struct peer *peer = &boundary->peers[rank];
	uint32_t slot = peer->slot;
	boundary->ranks->ops->send(boundary->ranks, rank, slot, peer->filling, bytes);
	peer->is_in_flight[slot] = true;
	peer->slot = (slot + 1) % RANKS_SLOTS;
	boundary_free_slot(boundary, rank, peer->slot);
	peer->filling = peer->out[peer->slot];
}

static __attribute__((noinline)) void send_crossings(struct boundary *boundary, uint32_t rank,
						     bool is_last)
{
	struct slab *slab = boundary->peers[rank].filling;
	slab->is_last = is_last;
	boundary_send_slab(boundary, rank, slab_bytes(slab));
	boundary->peers[rank].filling->count = 0;
}

// The slab to `rank`, with room for `count` more.
static inline struct slab *slab_to(struct boundary *boundary, uint32_t rank, uint32_t count)
{
	struct peer *peer = &boundary->peers[rank];
	if (__builtin_expect(peer->filling->count + count > SLAB_CROSSINGS, 0))
		send_crossings(boundary, rank, false);
	return peer->filling;
}

// What ranks a packet may go to at the end of a cable: one, or by its target.
struct way {
	const struct shared_switch *shared; // NULL: always to `rank`
	uint32_t rank;
};

static struct way way_over(const struct boundary *boundary, const struct cable *cable)
{
	const struct world *world = boundary->lane->world;
	const struct shared_switch *shared = world_shared(world, cable->to_machine);
	return (struct way){shared,
			    shared == NULL ? world->shard_of[cable->to_machine]
					   : boundary->ranks->index};
}

static inline uint32_t rank_by(const struct way *way, const struct packet *packet)
{
	const struct shared_switch *shared = way->shared;
	if (shared == NULL)
		return way->rank;
	if (packet->target < shared->low || packet->target >= shared->high)
		return way->rank; // it is lost here as well as there
	return shared->shards[(packet->target - shared->low) / shared->span];
}

uint32_t boundary_rank(const struct boundary *boundary, const struct cable *cable,
		       const struct packet *packet)
{
	const struct way way = way_over(boundary, cable);
	return rank_by(&way, packet);
}

// A packet crosses in the order of its cable.
static inline void cross(struct boundary *boundary, uint32_t to, uint32_t index,
			 const struct packet *packet, ps_t at)
{
	const struct cable *cable = &boundary->lane->cables.cables[index];
	struct slab *slab = slab_to(boundary, to, 1);
	uint32_t i = slab->count++;
	struct block *block = block_of(slab, i);
	block->entries[i % BLOCK_CROSSINGS] = cable_entry(cable, at, index); // CABLE_SHIFT
	block->what[i % BLOCK_CROSSINGS].packet = *packet;
}

// Room for one that is not in the order of a cable.
static struct block *cross_at(struct boundary *boundary, uint32_t to, enum crossing_kind kind,
			      uint32_t index, ps_t at, uint32_t *ret)
{
	struct slab *slab = slab_to(boundary, to, 2);
	uint32_t i = slab->count, next = i + 1;
	slab->count += 2;
	block_of(slab, next)->entries[next % BLOCK_CROSSINGS] = (uint64_t)kind << KIND_SHIFT |
		(uint64_t)at;
	struct block *block = block_of(slab, i);
	block->entries[i % BLOCK_CROSSINGS] = (uint64_t)kind << KIND_SHIFT |
		(uint64_t)index << CABLE_SHIFT;
	*ret = i % BLOCK_CROSSINGS;
	return block;
}

void boundary_send(struct boundary *boundary, uint32_t to, uint32_t index,
		   const struct packet *packet, ps_t at, bool is_late)
{
	uint32_t i;
	if (is_late)
		cross_at(boundary, to, CROSSING_LATE, index, at, &i)->what[i].packet = *packet;
	else
		cross(boundary, to, index, packet, at);
}

const struct departure *boundary_cross(struct boundary *boundary, uint32_t index,
				       const struct departure *departure,
				       const struct departure *end)
{
	struct lane *lane = boundary->lane;
	struct cable *cable = &lane->cables.cables[index];
	const struct packet *packets = lane->out.packets->packets;
	const uint32_t port = departure->port, own = boundary->ranks->index;
	const struct way way = way_over(boundary, cable);
	do {
		if (end - departure > CROSS_PREFETCH)
			__builtin_prefetch(&packets[departure[CROSS_PREFETCH].packet]);
		ps_t at = lane_depart(lane, cable, departure);
		uint32_t to = rank_by(&way, &packets[departure->packet]);
		if (to == own) {
			lane_lay(lane, cable, cable_entry(cable, at, departure->packet), at);
			continue;
		}
		cross(boundary, to, index, &packets[departure->packet], at);
		packet_put(lane->out.packets, departure->packet);
	} while (++departure < end && departure->port == port);
	return departure;
}

void boundary_signal(struct boundary *boundary, const struct signal *signal)
{
	for (uint32_t rank = 0; rank < boundary->ranks->count; rank++) {
		if (rank == boundary->ranks->index)
			continue;
		uint32_t i;
		struct block *block = cross_at(boundary, rank, CROSSING_SIGNAL, 0, signal->at, &i);
		block->what[i].signal = *signal;
	}
}

// ---------------------------------------------------------------- taking

// A packet of the pool for one that came, which lies at `from`; PACKET_NONE when there is none.
static inline uint32_t settle(struct boundary *boundary, const struct cable *cable,
			      const struct packet *from)
{
	struct lane *lane = boundary->lane;
	uint32_t packet = packet_get(lane->out.packets);
	check(!cable->is_foreign);
	if (__builtin_expect(packet == PACKET_NONE, 0)) {
		lane->out.limit = OUTBOX_NO_PACKET; // the run ends with this window
		boundary->stranded++;
		return packet;
	}
	*packet_at(lane->out.packets, packet) = *from;
	return packet;
}

static inline void lay_in_order(struct boundary *boundary, uint64_t entry,
				const struct packet *from)
{
	struct lane *lane = boundary->lane;
	struct cable *cable = &lane->cables.cables[entry >> CABLE_SHIFT];
	ps_t at = cable_entry_at(cable, entry, lane->window_start);
	check(at >= lane->window_end);
	uint32_t packet = settle(boundary, cable, from);
	if (packet != PACKET_NONE)
		lane_lay(lane, cable, cable_entry(cable, at, packet), at);
}

static __attribute__((noinline)) void lay_at(struct boundary *boundary, const struct block *block,
					     uint32_t i, uint64_t time)
{
	struct lane *lane = boundary->lane;
	uint64_t entry = block->entries[i];
	ps_t at = (ps_t)(time & ((UINT64_C(1) << KIND_SHIFT) - 1));
	uint32_t index = entry >> CABLE_SHIFT & (CABLES_MAX - 1);
	check(at >= lane->window_end);
	if (entry >> KIND_SHIFT == CROSSING_SIGNAL) {
		lane_hear(lane, &block->what[i].signal);
		return;
	}
	uint32_t packet = settle(boundary, &lane->cables.cables[index], &block->what[i].packet);
	if (packet != PACKET_NONE)
		lane_push_reorder_queue(lane, index, at, packet);
}

// Brings the cable of a crossing to come into the cache, and, of one that comes sooner, where its
// next entry goes.
static inline __attribute__((always_inline)) void fetch_cables(const struct lane *lane,
							       struct slab *slab, uint32_t i)
{
	const struct cable *cables = lane->cables.cables;
	uint32_t near = i + TAKE_PREFETCH, far = i + 2 * TAKE_PREFETCH;
	if (far >= slab->count)
		return;
	uint64_t next = block_of(slab, near)->entries[near % BLOCK_CROSSINGS];
	uint64_t later = block_of(slab, far)->entries[far % BLOCK_CROSSINGS];
	if ((next | later) >> KIND_SHIFT != CROSSING_IN_ORDER)
		return;
	uint32_t put = cables[next >> CABLE_SHIFT].fifo.put;
	__builtin_prefetch(&cables[later >> CABLE_SHIFT], 1);
	__builtin_prefetch(&lane->out.chunks->words[put - (put > 0)], 1);
}

static void take_slab(struct boundary *boundary, uint32_t rank, size_t bytes)
{
	struct peer *peer = &boundary->peers[rank];
	struct slab *slab = peer->in;
	check(slab->count <= SLAB_CROSSINGS && bytes == slab_bytes(slab));
	for (uint32_t i = 0; i < slab->count; i++) {
		const struct block *block = block_of(slab, i);
		uint32_t at = i % BLOCK_CROSSINGS, next = i + 1;
		fetch_cables(boundary->lane, slab, i);
		packet_fetch(boundary->lane->out.packets, TAKE_PREFETCH);
		if (__builtin_expect(block->entries[at] >> KIND_SHIFT == CROSSING_IN_ORDER, 1)) {
			lay_in_order(boundary, block->entries[at], &block->what[at].packet);
			continue;
		}
		lay_at(boundary, block, at, block_of(slab, next)->entries[next % BLOCK_CROSSINGS]);
		i++;
	}
	peer->is_awaited = !slab->is_last;
	if (peer->is_awaited)
		boundary->ranks->ops->expect(boundary->ranks, rank, peer->in, sizeof(*peer->in));
}

void boundary_open(struct boundary *boundary)
{
	for (uint32_t rank = 0; rank < boundary->ranks->count; rank++) {
		struct peer *peer = &boundary->peers[rank];
		if (rank == boundary->ranks->index)
			continue;
		peer->is_awaited = true;
		boundary->ranks->ops->expect(boundary->ranks, rank, peer->in, sizeof(*peer->in));
	}
}

void boundary_flush(struct boundary *boundary)
{
	for (uint32_t rank = 0; rank < boundary->ranks->count; rank++)
		if (rank != boundary->ranks->index)
			send_crossings(boundary, rank, true);
}

void boundary_poll(struct boundary *boundary)
{
	size_t bytes;
	for (uint32_t rank = 0; rank < boundary->ranks->count; rank++)
		while (boundary->peers[rank].is_awaited &&
		       boundary->ranks->ops->has_come(boundary->ranks, rank, &bytes))
			take_slab(boundary, rank, bytes);
}

static bool is_awaiting(const struct boundary *boundary)
{
	for (uint32_t rank = 0; rank < boundary->ranks->count; rank++)
		if (boundary->peers[rank].is_awaited)
			return true;
	return false;
}

void boundary_close(struct boundary *boundary)
{
	struct backoff backoff = {0};
	while (boundary_poll(boundary), is_awaiting(boundary))
		backoff_take(&backoff, boundary->ranks);
	backoff_end(&backoff, boundary->ranks);
}

uint64_t boundary_stranded(const struct boundary *boundary)
{
	return boundary->stranded;
}

// ---------------------------------------------------------------- agreeing

void boundary_agree(struct boundary *boundary, struct boundary_news *news)
{
	const struct boundary_news mine = *news;
	ranks_share(boundary->ranks, &mine, boundary->views, sizeof(mine));
	*news = (struct boundary_news){.next_window = INT64_MAX, .has_front = true};
	for (uint32_t rank = 0; rank < boundary->ranks->count; rank++) {
		const struct boundary_news *view = &boundary->views[rank];
		if (view->next_window < news->next_window)
			news->next_window = view->next_window;
		if (view->limit > news->limit)
			news->limit = view->limit;
		news->work_done += view->work_done;
		news->data_so_far += view->data_so_far;
		news->hops += view->hops;
		news->wants_stop |= view->wants_stop;
		news->has_front &= view->has_front;
	}
}
