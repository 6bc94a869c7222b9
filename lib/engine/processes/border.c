// SPDX-License-Identifier: Apache-2.0
// Packets that cross from one rank to another, in slabs of fixed size: as many as a window needs,
// the last one marked.

#include "border_slab.h"

#include <errno.h>

#include "backoff.h"
#include "mail.h"

#define CROSS_AHEAD 16 // departures whose packet is fetched ahead, to be copied
#define TAKE_AHEAD 8   // crossings whose cable is fetched ahead

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
static bool leads_away(const struct border *border, const struct cable_plan *plan)
{
	const struct world *world = border->lane->world;
	const struct shared_switch *shared = world_shared(world, plan->to_machine);
	uint32_t own = border->ranks->index;
	if (shared == NULL)
		return world->shard_of[plan->to_machine] != own;
	for (uint32_t i = 0; i < shared->groups; i++)
		if (shared->shards[i] != own)
			return true;
	return false;
}

// Marks the cables that lead away from this rank, and where they begin.
static void mark_cables(struct border *border)
{
	struct lane *lane = border->lane;
	const struct world *world = lane->world;
	uint32_t own = border->ranks->index;
	for (uint32_t i = 0; i < lane->cables.count; i++) {
		const struct cable_plan *plan = &world->cables[lane->cables.plan[i]];
		struct cable *cable = &lane->cables.cables[i];
		cable->is_foreign = !world_is_in(world, plan->to_machine, own);
		if (world_sender_of(world, lane->cables.plan[i]) != own ||
		    !leads_away(border, plan))
			continue;
		cable->is_border = cable->is_special = true;
		bitmap_set(border->machines, plan->from_machine);
	}
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->shard_of[m] == own && world_gives_signals(world, m))
			bitmap_set(border->machines, m);
}

int border_init(struct border **ret, struct lane *lane, struct ranks *ranks, struct arena *arena)
{
	struct border *border = arena_draw(arena, ARENA_DRIVE, 1, sizeof(*border));
	if (border == NULL)
		return -ENOMEM;
	check(lane->cables.count < CABLES_MAX);
	border->ranks = ranks;
	border->lane = lane;
	border->machines = arena_draw(arena, ARENA_DRIVE, BITMAP_WORDS(lane->world->machine_count),
				      sizeof(uint64_t));
	border->peers = arena_draw(arena, ARENA_DRIVE, ranks->count, sizeof(*border->peers));
	border->views = arena_draw(arena, ARENA_DRIVE, ranks->count, sizeof(*border->views));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < ranks->count; i++)
		if (i != ranks->index && draw_peer(&border->peers[i], arena) < 0)
			return -ENOMEM;
	mark_cables(border);
	*ret = border;
	return 0;
}

const uint64_t *border_machines(const struct border *border)
{
	return border->machines;
}

// ---------------------------------------------------------------- sending

// It takes meanwhile what comes: the other one may wait for just that.
void border_free_slot(struct border *border, uint32_t rank, uint32_t slot)
{
	struct backoff backoff = {0};
	struct peer *peer = &border->peers[rank];
	while (peer->is_under_way[slot] &&
	       !border->ranks->ops->is_sent(border->ranks, rank, slot)) {
		border_poll(border);
		backoff_take(&backoff, border->ranks);
	}
	backoff_end(&backoff, border->ranks);
	peer->is_under_way[slot] = false;
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

void border_send_slab(struct border *border, uint32_t rank, size_t bytes)
{
	struct peer *peer = &border->peers[rank];
	uint32_t slot = peer->slot;
	border->ranks->ops->send(border->ranks, rank, slot, peer->filling, bytes);
	peer->is_under_way[slot] = true;
	peer->slot = (slot + 1) % RANKS_SLOTS;
	border_free_slot(border, rank, peer->slot);
	peer->filling = peer->out[peer->slot];
}

static __attribute__((noinline)) void send_crossings(struct border *border, uint32_t rank,
						     bool is_last)
{
	struct slab *slab = border->peers[rank].filling;
	slab->is_last = is_last;
	border_send_slab(border, rank, slab_bytes(slab));
	border->peers[rank].filling->count = 0;
}

// The slab to `rank`, with room for `count` more.
static inline struct slab *slab_to(struct border *border, uint32_t rank, uint32_t count)
{
	struct peer *peer = &border->peers[rank];
	if (__builtin_expect(peer->filling->count + count > SLAB_CROSSINGS, 0))
		send_crossings(border, rank, false);
	return peer->filling;
}

// What ranks a packet may go to at the end of a cable: one, or by its target.
struct way {
	const struct shared_switch *shared; // NULL: always to `rank`
	uint32_t rank;
};

static struct way way_over(const struct border *border, const struct cable *cable)
{
	const struct world *world = border->lane->world;
	const struct shared_switch *shared = world_shared(world, cable->to_machine);
	return (struct way){
		shared, shared == NULL ? world->shard_of[cable->to_machine] : border->ranks->index};
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

uint32_t border_rank(const struct border *border, const struct cable *cable,
		     const struct packet *packet)
{
	const struct way way = way_over(border, cable);
	return rank_by(&way, packet);
}

// A packet crosses in the order of its cable.
static inline void cross(struct border *border, uint32_t to, uint32_t index,
			 const struct packet *packet, ps_t at)
{
	const struct cable *cable = &border->lane->cables.cables[index];
	struct slab *slab = slab_to(border, to, 1);
	uint32_t i = slab->count++;
	struct block *block = block_of(slab, i);
	block->entries[i % BLOCK_CROSSINGS] = cable_entry(cable, at, index); // CABLE_SHIFT
	block->what[i % BLOCK_CROSSINGS].packet = *packet;
}

// Room for one that is not in the order of a cable.
static struct block *cross_at(struct border *border, uint32_t to, enum crossing_kind kind,
			      uint32_t index, ps_t at, uint32_t *ret)
{
	struct slab *slab = slab_to(border, to, 2);
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

void border_send(struct border *border, uint32_t to, uint32_t index, const struct packet *packet,
		 ps_t at, bool is_late)
{
	uint32_t i;
	if (is_late)
		cross_at(border, to, CROSSING_LATE, index, at, &i)->what[i].packet = *packet;
	else
		cross(border, to, index, packet, at);
}

const struct departure *border_cross(struct border *border, uint32_t index,
				     const struct departure *departure, const struct departure *end)
{
	struct lane *lane = border->lane;
	struct cable *cable = &lane->cables.cables[index];
	const struct packet *packets = lane->out.packets->packets;
	const uint32_t port = departure->port, own = border->ranks->index;
	const struct way way = way_over(border, cable);
	do {
		if (end - departure > CROSS_AHEAD)
			__builtin_prefetch(&packets[departure[CROSS_AHEAD].packet]);
		ps_t at = lane_depart(lane, cable, departure);
		uint32_t to = rank_by(&way, &packets[departure->packet]);
		if (to == own) {
			lane_lay(lane, cable, cable_entry(cable, at, departure->packet), at);
			continue;
		}
		cross(border, to, index, &packets[departure->packet], at);
		packet_put(lane->out.packets, departure->packet);
	} while (++departure < end && departure->port == port);
	return departure;
}

void border_signal(struct border *border, const struct signal *signal)
{
	for (uint32_t rank = 0; rank < border->ranks->count; rank++) {
		if (rank == border->ranks->index)
			continue;
		uint32_t i;
		struct block *block = cross_at(border, rank, CROSSING_SIGNAL, 0, signal->at, &i);
		block->what[i].signal = *signal;
	}
}

// ---------------------------------------------------------------- taking

// A packet of the pool for one that came, which lies at `from`; PACKET_NONE when there is none.
static inline uint32_t settle(struct border *border, const struct cable *cable,
			      const struct packet *from)
{
	struct lane *lane = border->lane;
	uint32_t packet = packet_get(lane->out.packets);
	check(!cable->is_foreign);
	if (__builtin_expect(packet == PACKET_NONE, 0)) {
		lane->out.limit = OUTBOX_NO_PACKET; // the run ends with this window
		border->stranded++;
		return packet;
	}
	*packet_at(lane->out.packets, packet) = *from;
	return packet;
}

static inline void lay_in_order(struct border *border, uint64_t entry, const struct packet *from)
{
	struct lane *lane = border->lane;
	struct cable *cable = &lane->cables.cables[entry >> CABLE_SHIFT];
	ps_t at = cable_entry_at(cable, entry, lane->window_start);
	check(at >= lane->window_end);
	uint32_t packet = settle(border, cable, from);
	if (packet != PACKET_NONE)
		lane_lay(lane, cable, cable_entry(cable, at, packet), at);
}

static __attribute__((noinline)) void lay_at(struct border *border, const struct block *block,
					     uint32_t i, uint64_t time)
{
	struct lane *lane = border->lane;
	uint64_t entry = block->entries[i];
	ps_t at = (ps_t)(time & ((UINT64_C(1) << KIND_SHIFT) - 1));
	uint32_t index = entry >> CABLE_SHIFT & (CABLES_MAX - 1);
	check(at >= lane->window_end);
	if (entry >> KIND_SHIFT == CROSSING_SIGNAL) {
		mail_hear(lane, &block->what[i].signal);
		return;
	}
	uint32_t packet = settle(border, &lane->cables.cables[index], &block->what[i].packet);
	if (packet != PACKET_NONE)
		lane_push_late(lane, index, at, packet);
}

// Brings the cable of a crossing to come into the cache, and, of one that comes sooner, where its
// next entry goes.
static inline __attribute__((always_inline)) void fetch_cables(const struct lane *lane,
							       struct slab *slab, uint32_t i)
{
	const struct cable *cables = lane->cables.cables;
	uint32_t near = i + TAKE_AHEAD, far = i + 2 * TAKE_AHEAD;
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

static void take_slab(struct border *border, uint32_t rank, size_t bytes)
{
	struct peer *peer = &border->peers[rank];
	struct slab *slab = peer->in;
	check(slab->count <= SLAB_CROSSINGS && bytes == slab_bytes(slab));
	for (uint32_t i = 0; i < slab->count; i++) {
		const struct block *block = block_of(slab, i);
		uint32_t at = i % BLOCK_CROSSINGS, next = i + 1;
		fetch_cables(border->lane, slab, i);
		packet_fetch(border->lane->out.packets, TAKE_AHEAD);
		if (__builtin_expect(block->entries[at] >> KIND_SHIFT == CROSSING_IN_ORDER, 1)) {
			lay_in_order(border, block->entries[at], &block->what[at].packet);
			continue;
		}
		lay_at(border, block, at, block_of(slab, next)->entries[next % BLOCK_CROSSINGS]);
		i++;
	}
	peer->is_awaited = !slab->is_last;
	if (peer->is_awaited)
		border->ranks->ops->expect(border->ranks, rank, peer->in, sizeof(*peer->in));
}

void border_open(struct border *border)
{
	for (uint32_t rank = 0; rank < border->ranks->count; rank++) {
		struct peer *peer = &border->peers[rank];
		if (rank == border->ranks->index)
			continue;
		peer->is_awaited = true;
		border->ranks->ops->expect(border->ranks, rank, peer->in, sizeof(*peer->in));
	}
}

void border_flush(struct border *border)
{
	for (uint32_t rank = 0; rank < border->ranks->count; rank++)
		if (rank != border->ranks->index)
			send_crossings(border, rank, true);
}

void border_poll(struct border *border)
{
	size_t bytes;
	for (uint32_t rank = 0; rank < border->ranks->count; rank++)
		while (border->peers[rank].is_awaited &&
		       border->ranks->ops->has_come(border->ranks, rank, &bytes))
			take_slab(border, rank, bytes);
}

static bool is_awaiting(const struct border *border)
{
	for (uint32_t rank = 0; rank < border->ranks->count; rank++)
		if (border->peers[rank].is_awaited)
			return true;
	return false;
}

void border_close(struct border *border)
{
	struct backoff backoff = {0};
	while (border_poll(border), is_awaiting(border))
		backoff_take(&backoff, border->ranks);
	backoff_end(&backoff, border->ranks);
}

uint64_t border_stranded(const struct border *border)
{
	return border->stranded;
}

// ---------------------------------------------------------------- agreeing

void border_agree(struct border *border, struct border_news *news)
{
	const struct border_news mine = *news;
	ranks_share(border->ranks, &mine, border->views, sizeof(mine));
	*news = (struct border_news){.next_window = INT64_MAX, .has_front = true};
	for (uint32_t rank = 0; rank < border->ranks->count; rank++) {
		const struct border_news *view = &border->views[rank];
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
