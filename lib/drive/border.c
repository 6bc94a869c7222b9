// SPDX-License-Identifier: Apache-2.0
// Packets that cross from one rank to another, in slabs of fixed size: as many as a window needs,
// the last one marked.

#include "border.h"

#include <errno.h>
#include <string.h>

#include <weft/world_signal.h>

#include "mail.h"
#include "patience.h"

#ifndef SLAB_CROSSINGS	    // tests have small ones: many in a window
#define SLAB_CROSSINGS 1024 // 80 kB: a window of eight thousand busy NICs has some twenty
#endif

#define TAKE_AHEAD 8 // crossings whose cable is fetched ahead

enum crossing_kind { CROSSING_IN_ORDER, CROSSING_LATE, CROSSING_SIGNAL };

struct crossing {
	ps_t at;
	uint32_t cable;
	uint32_t kind; // enum crossing_kind
	union {
		struct packet packet;
		struct signal signal;
	};
};
static_assert(sizeof(struct crossing) == 80, "no hole that would send what is left in memory");

struct slab {
	uint32_t count;
	uint32_t is_last;
	struct crossing crossings[SLAB_CROSSINGS];
};

#define SLAB_HEAD_BYTES offsetof(struct slab, crossings)

struct peer {
	struct slab *out[RANKS_SLOTS];
	uint32_t slot; // being filled
	bool is_under_way[RANKS_SLOTS];
	struct slab *in;
	bool is_awaited; // more of this window is to come
};

struct border {
	struct ranks *ranks;
	struct lane *lane;
	uint64_t *machines;
	struct peer *peers;	   // [ranks]
	struct border_news *views; // [ranks]
	uint64_t stranded;
	uint32_t stream_peer; // of a stream: its bytes lie in the slabs
	size_t stream_at, stream_end;
};

// ---------------------------------------------------------------- building

static int draw_peer(struct peer *peer, struct arena *arena)
{
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++) {
		peer->out[slot] = arena_draw(arena, ARENA_DRIVE, 1, sizeof(struct slab));
		if (peer->out[slot] == NULL)
			return -ENOMEM;
	}
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
	for (uint32_t i = 0; i < (shared->high - shared->low) / shared->span; i++)
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
	border->ranks = ranks;
	border->lane = lane;
	border->machines = arena_draw(arena, ARENA_DRIVE, BITMAP_WORDS(lane->world->machine_count),
				      sizeof(uint64_t));
	border->peers = arena_draw(arena, ARENA_DRIVE, ranks->count, sizeof(*border->peers));
	border->views = arena_draw(arena, ARENA_DRIVE, ranks->count, sizeof(*border->views));
	if (border->machines == NULL || border->peers == NULL || border->views == NULL)
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

// Waits until a slot of `rank` is free, and takes meanwhile what comes: the other one may wait for
// just that.
static void free_slot(struct border *border, uint32_t rank, uint32_t slot)
{
	struct patience patience = {0};
	struct peer *peer = &border->peers[rank];
	while (peer->is_under_way[slot] &&
	       !border->ranks->ops->is_sent(border->ranks, rank, slot)) {
		border_poll(border);
		patience_take(&patience, border->ranks);
	}
	patience_end(&patience, border->ranks);
	peer->is_under_way[slot] = false;
}

static void send_slab(struct border *border, uint32_t rank, size_t bytes)
{
	struct peer *peer = &border->peers[rank];
	uint32_t slot = peer->slot;
	border->ranks->ops->send(border->ranks, rank, slot, peer->out[slot], bytes);
	peer->is_under_way[slot] = true;
	peer->slot = (slot + 1) % RANKS_SLOTS;
	free_slot(border, rank, peer->slot);
}

static void send_crossings(struct border *border, uint32_t rank, bool is_last)
{
	struct peer *peer = &border->peers[rank];
	struct slab *slab = peer->out[peer->slot];
	slab->is_last = is_last;
	send_slab(border, rank, SLAB_HEAD_BYTES + slab->count * sizeof(struct crossing));
	peer->out[peer->slot]->count = 0;
}

// Room for one more to `rank`.
static struct crossing *next_crossing(struct border *border, uint32_t rank)
{
	struct peer *peer = &border->peers[rank];
	if (peer->out[peer->slot]->count == SLAB_CROSSINGS)
		send_crossings(border, rank, false);
	struct slab *slab = peer->out[peer->slot];
	return &slab->crossings[slab->count++];
}

uint32_t border_rank(const struct border *border, const struct cable *cable,
		     const struct packet *packet)
{
	const struct world *world = border->lane->world;
	const struct shared_switch *shared = world_shared(world, cable->to_machine);
	if (shared == NULL)
		return world->shard_of[cable->to_machine];
	if (packet->target < shared->low || packet->target >= shared->high)
		return border->ranks->index; // it is lost here as well as there
#ifdef PLANT_WRONG_SIDE			     // a bug on purpose: a packet goes where its sender is
	return shared->shards[(packet->source - shared->low) / shared->span];
#endif
	return shared->shards[(packet->target - shared->low) / shared->span];
}

void border_send(struct border *border, uint32_t to, uint32_t index, const struct packet *packet,
		 ps_t at, bool is_late)
{
#ifdef PLANT_LOSE_CROSSING // a bug on purpose: the books of all ranks must not balance
	if (rng_mix((uint64_t)at) % 100 == 0)
		return;
#endif
#ifdef PLANT_LATE_CROSSING // a bug on purpose: the digest must tell
	at += border->lane->world->window_ps;
#endif
	*next_crossing(border,
		       to) = (struct crossing){.at = at,
					       .cable = index,
					       .kind = is_late ? CROSSING_LATE : CROSSING_IN_ORDER,
					       .packet = *packet};
}

void border_signal(struct border *border, const struct signal *signal)
{
	for (uint32_t rank = 0; rank < border->ranks->count; rank++) {
		if (rank == border->ranks->index)
			continue;
#ifdef PLANT_LOSE_SIGNAL // a bug on purpose: what waits for it must be missed
		if (signal->trigger % 7 == 3)
			continue;
#endif
		struct crossing *crossing = next_crossing(border, rank);
		memset(crossing, 0, sizeof(*crossing)); // a signal leaves most of it empty
		crossing->at = signal->at;
		crossing->kind = CROSSING_SIGNAL;
		crossing->signal = *signal;
	}
}

// ---------------------------------------------------------------- taking

static void lay_crossing(struct border *border, const struct crossing *crossing)
{
	struct lane *lane = border->lane;
	if (crossing->kind == CROSSING_SIGNAL) {
		check(crossing->at >= lane->window_end);
		mail_hear(lane, &crossing->signal);
		return;
	}
	struct cable *cable = &lane->cables.cables[crossing->cable];
	uint32_t packet = packet_get(lane->out.packets);
	check(crossing->at >= lane->window_end &&
	      world_is_in(lane->world, cable->to_machine, border->ranks->index));
	if (packet == PACKET_NONE) {
		lane->out.limit = OUTBOX_NO_PACKET; // the run ends with this window
		border->stranded++;
		return;
	}
	*packet_at(lane->out.packets, packet) = crossing->packet;
	if (crossing->kind == CROSSING_LATE)
		lane_push_late(lane, crossing->cable, crossing->at, packet);
	else
		lane_lay(lane, cable, cable_entry(crossing->at, packet), crossing->at);
}

// Brings the cable of a crossing to come into the cache, and, of one that comes sooner, where its
// next entry goes.
static inline __attribute__((always_inline)) void fetch_cables(const struct lane *lane,
							       const struct slab *slab, uint32_t i)
{
	const struct cable *cables = lane->cables.cables;
	if (i + 2 * TAKE_AHEAD >= slab->count)
		return;
	uint32_t put = cables[slab->crossings[i + TAKE_AHEAD].cable].fifo.put;
	__builtin_prefetch(&cables[slab->crossings[i + 2 * TAKE_AHEAD].cable], 1);
	__builtin_prefetch(&lane->out.chunks->words[put - (put > 0)], 1);
}

static void take_slab(struct border *border, uint32_t rank, size_t bytes)
{
	struct peer *peer = &border->peers[rank];
	const struct slab *slab = peer->in;
	check(bytes == SLAB_HEAD_BYTES + slab->count * sizeof(struct crossing));
	for (uint32_t i = 0; i < slab->count; i++) {
		fetch_cables(border->lane, slab, i);
		packet_fetch(border->lane->out.packets, TAKE_AHEAD);
		lay_crossing(border, &slab->crossings[i]);
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
	struct patience patience = {0};
	while (border_poll(border), is_awaiting(border))
		patience_take(&patience, border->ranks);
	patience_end(&patience, border->ranks);
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
	*news = (struct border_news){.next_window = INT64_MAX};
	for (uint32_t rank = 0; rank < border->ranks->count; rank++) {
		const struct border_news *view = &border->views[rank];
		if (view->next_window < news->next_window)
			news->next_window = view->next_window;
		if (view->limit > news->limit)
			news->limit = view->limit;
		news->work_done += view->work_done;
		news->data_so_far += view->data_so_far;
		news->wants_stop |= view->wants_stop;
	}
}

// ---------------------------------------------------------------- bringing together

void border_write(void *context, void *from, size_t bytes)
{
	struct border *border = context;
	struct peer *peer = &border->peers[0];
	for (size_t done = 0, more; done < bytes; done += more) {
		if (border->stream_at == sizeof(struct slab)) {
			send_slab(border, 0, sizeof(struct slab));
			border->stream_at = 0;
		}
		more = sizeof(struct slab) - border->stream_at;
		more = bytes - done < more ? bytes - done : more;
		memcpy((char *)peer->out[peer->slot] + border->stream_at, (char *)from + done,
		       more);
		border->stream_at += more;
	}
}

void border_written(struct border *border)
{
	struct peer *peer = &border->peers[0];
	send_slab(border, 0, border->stream_at);
	border->stream_at = 0;
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++)
		free_slot(border, 0, slot);
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++)
		peer->out[slot]->count = 0; // a run may go on
}

void border_read_from(struct border *border, uint32_t rank)
{
	check(border->stream_at == border->stream_end); // the one before is read to its end
	border->stream_peer = rank;
	border->stream_at = border->stream_end = 0;
}

static void read_slab(struct border *border)
{
	struct patience patience = {0};
	uint32_t from = border->stream_peer;
	struct slab *in = border->peers[from].in;
	border->ranks->ops->expect(border->ranks, from, in, sizeof(*in));
	while (!border->ranks->ops->has_come(border->ranks, from, &border->stream_end))
		patience_take(&patience, border->ranks);
	border->stream_at = 0;
}

void border_read(void *context, void *to, size_t bytes)
{
	struct border *border = context;
	for (size_t done = 0, more; done < bytes; done += more) {
		if (border->stream_at == border->stream_end)
			read_slab(border);
		more = border->stream_end - border->stream_at;
		more = bytes - done < more ? bytes - done : more;
		const struct slab *in = border->peers[border->stream_peer].in;
		memcpy((char *)to + done, (const char *)in + border->stream_at, more);
		border->stream_at += more;
	}
}
