// SPDX-License-Identifier: Apache-2.0
// A ring collective as operations of one rank: what collective.c does event by event, written down
// before. A slice goes on when the same slice of the step before is here, a credit says that the
// next rank has room for it, and no more are under way than there are credits. A credit goes back
// when the slice that it frees is passed on. The barrier form has no credits: a slice goes when the
// one before has been sent.

#include <weft/core/check.h>

#include "collective/cut.h"
#include "step_emit.h"

// ---------------------------------------------------------------- operations

uint32_t emit_compute(struct step_emit *emit, uint16_t stream, ps_t time)
{
	uint32_t index = (uint32_t)emit->size.ops++;
	if (emit->program == NULL)
		return index;
	return program_compute(emit->program, emit->rank, stream, time);
}

static bool is_off_domain(const struct step_emit *emit, uint32_t peer)
{
	const struct gpu_layout *gpu_layout = emit->gpu_layout;
	return gpu_layout != NULL &&
		gpu_location_of(gpu_layout, emit->rank).domain !=
		gpu_location_of(gpu_layout, peer).domain;
}

uint32_t emit_send(struct step_emit *emit, uint32_t to, uint32_t tag, uint64_t bytes,
		   uint64_t offset)
{
	uint32_t index = (uint32_t)emit->size.ops++, payload = emit->payload_bytes;
	check(bytes > 0 && bytes <= UINT32_MAX);
	if (is_off_domain(emit, to))
		emit->size.packets += (bytes + payload - 1) / payload;
	if (emit->program == NULL)
		return index;
	return program_send(emit->program, emit->rank, to, tag, (uint32_t)bytes, offset);
}

uint32_t emit_receive(struct step_emit *emit, uint32_t from, uint32_t tag, uint64_t bytes,
		      uint64_t offset, bool is_sum)
{
	uint32_t index = (uint32_t)emit->size.ops++;
	if (emit->program == NULL)
		return index;
	return program_receive(emit->program, emit->rank, from, tag, (uint32_t)bytes, offset,
			       is_sum);
}

void emit_wait(struct step_emit *emit, uint32_t op, uint32_t before)
{
	if (before == OP_NONE)
		return;
	emit->size.edges++;
	if (emit->program != NULL)
		program_wait(emit->program, op, before);
}

// ---------------------------------------------------------------- one channel

struct channel {
	struct step_emit *emit;
	struct cut cut;
	uint32_t next, previous, slice_tag, credit_tag, credits, begin, end;
	bool has_credits;
	uint64_t total;
	const struct step_ring *ring;
	uint32_t number;
	uint64_t shard, share_first; // of a block; where the channel's part of one begins
};

// Where a slice stands in its collective.
struct place {
	uint64_t step;
	uint32_t slices; // of its chunk
	uint64_t bytes;
	uint64_t offset; // in the channel's part of a block
};

static struct place place_of(const struct cut *cut, uint64_t slice)
{
	uint64_t full = cut->loops_full * cut->steps * cut->full.slices;
	bool is_tail = slice >= full;
	const struct cut_chunk *chunk = is_tail ? &cut->tail : &cut->full;
	uint64_t within = is_tail ? slice - full : slice % (cut->steps * cut->full.slices);
	bool is_last = within % chunk->slices + 1 == chunk->slices;
	uint64_t whole = cut->full.slices == 0
		? 0
		: (cut->full.slices - 1) * cut->full.bytes + cut->full.last_bytes;
	uint64_t loop = is_tail ? cut->loops_full : slice / (cut->steps * cut->full.slices);
	return (struct place){within / chunk->slices, chunk->slices,
			      is_last ? chunk->last_bytes : chunk->bytes,
			      loop * whole + within % chunk->slices * chunk->bytes};
}

// ---------------------------------------------------------------- data

// Which block a rank passes on in a step: so many places before it in the ring. A reduce-scatter
// begins with the block of the one before, so that a rank's own comes last; a gather with its own.
static uint64_t steps_back(const struct channel *of, uint64_t step)
{
	if (of->ring->kind == COLLECTIVE_ALL_GATHER)
		return step;
	return step + 1; // round the ring: after N - 1 steps a rank passes on its own, then others'
}

static bool is_summed(const struct channel *of, uint64_t step)
{
	return of->ring->kind != COLLECTIVE_ALL_GATHER && step < of->ring->group->ranks - 1;
}

// Where the bytes of a slice that rank `at` sends lie in every rank's buffer.
static uint64_t offset_of(const struct channel *of, uint32_t at, const struct place *place)
{
	if (!of->ring->has_data)
		return 0;
	uint64_t back = steps_back(of, place->step) % of->ring->group->ranks;
	for (; back > 0; back--)
		at = group_previous(of->ring->group, of->number, at);
	return at * of->shard + of->share_first + place->offset;
}

// Behind the blocks: nobody looks at it.
static uint64_t credit_offset(const struct channel *of)
{
	return of->ring->has_data ? of->ring->group->ranks * of->shard : 0;
}

static void set_data(struct channel *of, uint32_t channels)
{
	uint32_t ranks = of->ring->group->ranks;
	uint64_t shard = (of->ring->bytes + ranks - 1) / ranks, rest = shard % channels;
	of->shard = shard;
	of->share_first = of->number * (shard / channels) + (of->number < rest ? of->number : rest);
}

// ---------------------------------------------------------------- slices

// What slice `slice` needs besides its data: room at the next rank, and in its own queue.
static void wait_for_room(const struct channel *of, uint32_t op, uint64_t slice)
{
	emit_wait(of->emit, op, of->begin);
	if (slice < of->credits)
		return;
	if (of->has_credits)
		emit_wait(of->emit, op, of->emit->credits[slice - of->credits]);
	emit_wait(of->emit, op, of->emit->sends[slice - of->credits]);
}

static void send_slice(const struct channel *of, uint64_t slice, const struct place *place)
{
	struct step_emit *emit = of->emit;
	uint32_t op = emit_send(emit, of->next, of->slice_tag, place->bytes,
				offset_of(of, of->ring->at, place));
	emit->sends[slice] = op;
	wait_for_room(of, op, slice);
	if (place->step > 0)
		emit_wait(emit, op, emit->receives[slice - place->slices]);
	if (slice + of->credits >= of->total)
		emit_wait(emit, of->end, op);
}

// Tells the previous rank that there is room again; it needs no more than `total` in all.
static void send_credit(const struct channel *of, uint64_t slice, const struct place *place)
{
	struct step_emit *emit = of->emit;
	if (slice + of->credits >= of->total || !of->has_credits)
		return;
	uint32_t op = emit_send(emit, of->previous, of->credit_tag, RING_CREDIT_BYTES,
				credit_offset(of));
	emit_wait(emit, op, emit->receives[slice]);
	if (place->step + 1 < of->cut.steps)
		wait_for_room(of, op, slice + place->slices);
	else
		emit_wait(emit, op, of->begin);
	emit_wait(emit, of->end, op);
}

static void emit_channel(struct channel *of)
{
	struct step_emit *emit = of->emit;
	uint32_t previous_at = group_previous(of->ring->group, of->number, of->ring->at);
	for (uint64_t slice = 0; slice < of->total; slice++) {
		struct place place = place_of(&of->cut, slice);
		emit->receives[slice] = emit_receive(emit, of->previous, of->slice_tag, place.bytes,
						     offset_of(of, previous_at, &place),
						     is_summed(of, place.step));
		if (slice + of->credits < of->total && of->has_credits)
			emit->credits[slice] = emit_receive(emit, of->next, of->credit_tag,
							    RING_CREDIT_BYTES, credit_offset(of),
							    false);
		if (place.step + 1 == of->cut.steps)
			emit_wait(emit, of->end, emit->receives[slice]);
		send_slice(of, slice, &place);
		send_credit(of, slice, &place);
	}
}

// ---------------------------------------------------------------- the collective

static struct ring_config config_of(const struct ring_config *of, const struct step_ring *ring)
{
	struct ring_config config = *of;
	config.ranks = ring->group->ranks;
	return config;
}

uint64_t emit_ring_slices(const struct ring_config *of, const struct step_ring *ring)
{
	struct ring_config config = config_of(of, ring);
	struct cut cut;
	cut_of(&cut, &config, ring->kind, ring->bytes, 0);
	return cut_slices(&cut);
}

uint32_t emit_ring(struct step_emit *emit, const struct step_ring *ring, uint32_t begin)
{
	struct ring_config config = config_of(emit->ring, ring);
	bool is_barrier = config.form == RING_BARRIER;
	uint32_t end = emit_compute(emit, ring->stream, 0);
	emit_wait(emit, end, begin);
	for (uint32_t i = 0; i < config.channels; i++) {
		struct channel channel = {
			.emit = emit,
			.ring = ring,
			.number = i,
			.next = ring->group->gpus[group_next(ring->group, i, ring->at)],
			.previous = ring->group->gpus[group_previous(ring->group, i, ring->at)],
			.slice_tag = ring->slice_tag + i,
			.credit_tag = ring->credit_tag + i,
			.credits = is_barrier ? 1 : config.credits,
			.has_credits = !is_barrier,
			.begin = begin,
			.end = end};
		set_data(&channel, config.channels);
		cut_of(&channel.cut, &config, ring->kind, ring->bytes, i);
		channel.total = cut_slices(&channel.cut);
		check(channel.total <= emit->slices_max);
		emit_channel(&channel);
	}
	return end;
}
