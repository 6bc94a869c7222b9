// SPDX-License-Identifier: Apache-2.0
// One rank's part of a ring collective, channel by channel. Pure counting: no bytes are touched and
// no clock is read; the host asks ring_next() what to do and tells the ring what happened.
// Facts: NCCL 2.28.3, ring, Simple protocol: a step of a loop sends one chunk in slices; a slice
// may go when the same slice of the step before has arrived and the next rank has a free slot.
//
// What it is not: NCCL keeps a second buffer at the sender, so that a slice leaves the receive
// buffer before its own credit is there. Here it leaves when it is sent. That costs nothing while
// there are more credits than slices in a chunk, and would stand still for ever otherwise: a slice
// would need the next rank to have sent a slice that is not older than itself. ring_create()
// refuses that.
//
// Numbers of slices run through the whole job on each connection. A rank sends as many as it
// receives in every collective, so that one base serves both directions.

#include <errno.h>

#include <weft/core/check.h>
#include <weft/workload/workload_place.h>

#include "cut.h"
#include "ring.h"

#define CHANNELS_MAX 64u // one bit each; NCCL has 64 at most
#define CREDITS_MAX 32u
#define SLICES_MAX 32u
#define BUFFER_BYTES_MAX (UINT64_C(1) << 44)  // no GPU has so much; sums stay far below 2^64
#define MESSAGE_BYTES_MAX (UINT64_C(1) << 31) // of one RDMA WRITE

// Where the next send stands in its collective.
struct ring_cursor {
	uint64_t loop, step;
	uint32_t slice; // of the chunk
};

struct ring_line {
	struct ring_channel count; // numbers of the whole job, `slices_total` of the collective
	uint64_t base;		   // number of the collective's first slice
	struct ring_cursor at;
	struct cut cut;
};

struct ring {
	struct ring_config config;
	bool is_busy;
	uint64_t ready; // channels where something happened since they last had nothing to do
	uint64_t open;	// channels that have not finished the collective
	struct ring_line *lines;
};

static const char *const kind_names[] = {"reduce_scatter", "all_gather", "all_reduce"};
_Static_assert(sizeof(kind_names) / sizeof(*kind_names) == COLLECTIVE_KIND_COUNT,
	       "a name for each kind");

const char *collective_kind_name(enum collective_kind kind)
{
	check((unsigned)kind < COLLECTIVE_KIND_COUNT);
	return kind_names[kind];
}

// ---------------------------------------------------------------- building

int ring_config_check(const struct ring_config *config, struct refusal *refusal)
{
	if (config->ranks < 2)
		return refuse(refusal, -EINVAL, "a ring needs 2 ranks or more, not %",
			      config->ranks);
	if (config->channels < 1 || config->channels > CHANNELS_MAX)
		return refuse(refusal, -EINVAL, "a ring has 1 to % channels, not %", CHANNELS_MAX,
			      config->channels);
	if (config->credits < 1 || config->credits > CREDITS_MAX)
		return refuse(refusal, -EINVAL, "a ring has 1 to % credits, not %", CREDITS_MAX,
			      config->credits);
	if (config->form == RING_BARRIER)
		return 0;
	if (config->slices < 1 || config->slices > SLICES_MAX)
		return refuse(refusal, -EINVAL, "a chunk has 1 to % slices, not %", SLICES_MAX,
			      config->slices);
	if (config->credits <= config->slices)
		return refuse(refusal, -EINVAL,
			      "credits must be more than the slices of a chunk, or the ring stands "
			      "still: % credits, % slices",
			      config->credits, config->slices);
	if (config->chunk_bytes_max < 1 || config->chunk_bytes_max > MESSAGE_BYTES_MAX)
		return refuse(refusal, -EINVAL, "a chunk has 1 to % bytes at most",
			      (int64_t)MESSAGE_BYTES_MAX);
	return 0;
}

int ring_bytes_check(const struct ring_config *config, uint64_t bytes, struct refusal *refusal)
{
	struct cut cut;
	if (bytes > BUFFER_BYTES_MAX)
		return refuse(refusal, -EINVAL, "a collective has at most % bytes",
			      (int64_t)BUFFER_BYTES_MAX);
	cut_of(&cut, config, COLLECTIVE_ALL_GATHER, bytes, 0);
	if (config->form == RING_BARRIER && cut.share > MESSAGE_BYTES_MAX)
		return refuse(refusal, -EINVAL,
			      "the barrier form sends a shard as one message of % bytes, over the "
			      "largest of %: use more channels or the pipelined form",
			      (int64_t)cut.share, (int64_t)MESSAGE_BYTES_MAX);
	return 0;
}

int ring_create(struct ring **ret, struct arena *arena, const struct ring_config *config,
		struct refusal *refusal)
{
	int rc = ring_config_check(config, refusal);
	if (rc < 0)
		return rc;
	struct ring *ring = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*ring));
	struct ring_line *lines = arena_draw(arena, ARENA_WORKLOAD, config->channels,
					     sizeof(*lines));
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for a ring of % channels",
			      config->channels);
	*ring = (struct ring){.config = *config, .lines = lines};
	for (uint32_t i = 0; i < config->channels; i++) {
		lines[i].count.granted = config->credits;
		lines[i].count.credits = config->credits;
	}
	*ret = ring;
	return 0;
}

// ---------------------------------------------------------------- what may be done

static const struct cut_chunk *chunk_at(const struct ring_line *line)
{
	return line->at.loop < line->cut.loops_full ? &line->cut.full : &line->cut.tail;
}

static uint64_t sent(const struct ring_line *line)
{
	return line->count.sent_next - line->base;
}

// Slices received that belong to the running collective; a neighbour may be ahead of it.
static uint64_t received(const struct ring_line *line)
{
	uint64_t count = line->count.received - line->base;
	return count < line->count.slices_total ? count : line->count.slices_total;
}

static bool may_send(const struct ring *ring, const struct ring_line *line)
{
	const struct ring_channel *count = &line->count;
	if (sent(line) == count->slices_total)
		return false;
	// Step 0 sends the rank's own data; each later step passes on what the step before brought.
	uint64_t needed = line->at.step == 0 ? 0 : sent(line) - chunk_at(line)->slices + 1;
	if (received(line) < needed)
		return false;
	if (ring->config.form == RING_BARRIER)
		return count->sent_done == count->sent_next;
	return count->sent_next < count->credits &&
		count->sent_next - count->sent_done < ring->config.credits;
}

static struct ring_action send_next(struct ring_line *line, uint32_t channel)
{
	const struct cut_chunk *chunk = chunk_at(line);
	bool is_last = line->at.slice + 1 == chunk->slices;
	struct ring_action action = {.kind = RING_SEND,
				     .channel = channel,
				     .slice = line->count.sent_next++,
				     .step = line->at.loop * line->cut.steps + line->at.step,
				     .bytes = is_last ? chunk->last_bytes : chunk->bytes};
	line->at.slice++;
	if (!is_last)
		return action;
	line->at.slice = 0;
	if (++line->at.step == line->cut.steps) {
		line->at.step = 0;
		line->at.loop++;
	}
	return action;
}

// A slice leaves the receive buffer when it is passed on; those of a loop's last step at once, for
// they go no further.
static uint64_t consumable(const struct ring_line *line)
{
	uint64_t count = sent(line);
	if (line->cut.steps == 1 || count == line->count.slices_total)
		return line->count.slices_total;
	if (line->at.step == 0)
		return count - line->at.slice; // all of the loops before
	return count - chunk_at(line)->slices;
}

static void consume(struct ring_line *line)
{
	uint64_t here = received(line), limit = consumable(line);
	line->count.consumed = line->base + (here < limit ? here : limit);
}

static bool owes_grant(const struct ring *ring, const struct ring_line *line)
{
	return ring->config.form != RING_BARRIER &&
		line->count.granted < line->count.consumed + ring->config.credits;
}

static bool is_finished(const struct ring_line *line)
{
	uint64_t end = line->base + line->count.slices_total;
	return line->count.sent_done == end && line->count.consumed == end;
}

// ---------------------------------------------------------------- the running collective

void ring_start(struct ring *ring, enum collective_kind kind, uint64_t bytes)
{
	check(!ring->is_busy);
	ring->is_busy = true;
	ring->open = UINT64_MAX >> (CHANNELS_MAX - ring->config.channels);
	ring->ready = ring->open;
	for (uint32_t i = 0; i < ring->config.channels; i++) {
		struct ring_line *line = &ring->lines[i];
		cut_of(&line->cut, &ring->config, kind, bytes, i);
		line->base = line->count.sent_next;
		line->at = (struct ring_cursor){0};
		line->count.slices_total = cut_slices(&line->cut);
	}
}

static struct ring_action line_next(struct ring *ring, uint32_t channel)
{
	struct ring_line *line = &ring->lines[channel];
	consume(line);
	if (owes_grant(ring, line))
		return (struct ring_action){
			.kind = RING_GRANT, .channel = channel, .slice = line->count.granted++};
	if (may_send(ring, line))
		return send_next(line, channel);
	if (is_finished(line))
		ring->open &= ~(UINT64_C(1) << channel);
	return (struct ring_action){.kind = RING_NOTHING};
}

struct ring_action ring_next(struct ring *ring)
{
	if (!ring->is_busy)
		return (struct ring_action){.kind = RING_NOTHING};
	while (ring->ready != 0) {
		uint32_t channel = (uint32_t)__builtin_ctzll(ring->ready);
		struct ring_action action = line_next(ring, channel);
		if (action.kind != RING_NOTHING)
			return action;
		ring->ready &= ~(UINT64_C(1) << channel);
	}
	if (ring->open != 0)
		return (struct ring_action){.kind = RING_NOTHING};
	ring->is_busy = false;
	return (struct ring_action){.kind = RING_DONE};
}

// ---------------------------------------------------------------- events

void ring_on_received(struct ring *ring, uint32_t channel)
{
	struct ring_channel *count = &ring->lines[channel].count;
	count->received++;
	check(ring->config.form == RING_BARRIER || count->received <= count->granted);
	ring->ready |= UINT64_C(1) << channel;
}

void ring_on_sent(struct ring *ring, uint32_t channel)
{
	struct ring_channel *count = &ring->lines[channel].count;
	check(count->sent_done < count->sent_next);
	count->sent_done++;
	ring->ready |= UINT64_C(1) << channel;
}

void ring_on_credit(struct ring *ring, uint32_t channel)
{
	ring->lines[channel].count.credits++;
	ring->ready |= UINT64_C(1) << channel;
}

// ---------------------------------------------------------------- questions

bool ring_is_busy(const struct ring *ring)
{
	return ring->is_busy;
}

uint64_t ring_steps_received(const struct ring *ring, uint32_t channel)
{
	const struct ring_line *line = &ring->lines[channel];
	const struct cut *cut = &line->cut;
	uint64_t slices = received(line), steps = cut->loops_full * cut->steps;
	if (slices == 0)
		return 0;
	if (slices <= steps * cut->full.slices)
		return slices / cut->full.slices;
	return steps + (slices - steps * cut->full.slices) / cut->tail.slices;
}

// ---------------------------------------------------------------- steps left out

bool ring_place(const struct ring *ring, uint32_t channel, struct ring_place *ret)
{
	const struct ring_line *line = &ring->lines[channel];
	if (!ring->is_busy || sent(line) == line->count.slices_total)
		return false;
	const struct cut_chunk *chunk = chunk_at(line);
	uint64_t before = line->at.loop * line->cut.steps * line->cut.full.slices;
	*ret = (struct ring_place){
		.loop = line->at.loop,
		.step = line->at.step,
		.steps = line->cut.steps,
		.slices = chunk->slices,
		.received = (int64_t)received(line) - (int64_t)before,
		.step_bytes = (chunk->slices - 1) * chunk->bytes + chunk->last_bytes,
	};
	return true;
}

// Numbers on the connection go on as they are; where the collective began on it moves back. It may
// move below zero: all that follows from it are differences.
void ring_fast_forward(struct ring *ring, uint32_t channel, uint64_t steps)
{
	struct ring_line *line = &ring->lines[channel];
	check(ring->is_busy && line->at.step + steps < line->cut.steps);
	line->at.step += steps;
	line->base -= steps * chunk_at(line)->slices;
}

uint64_t ring_step_packets(const struct ring *ring, uint32_t channel, uint64_t payload_bytes)
{
	const struct ring_line *line = &ring->lines[channel];
	return cut_chunk_packets(chunk_at(line), payload_bytes);
}

uint64_t ring_packets(const struct ring *ring, uint32_t channel, uint64_t payload_bytes)
{
	return cut_packets(&ring->lines[channel].cut, payload_bytes);
}

void ring_plan(struct ring_plan *ret, const struct ring_config *config, enum collective_kind kind,
	       uint64_t bytes)
{
	struct cut cut;
	cut_of(&cut, config, kind, bytes, 0);
	uint64_t all = cut_steps_all(config->ranks, kind);
	*ret = (struct ring_plan){.loops = cut.loops_full + cut.has_tail,
				  .steps_per_loop = cut.steps,
				  .steps_per_loop_all = all,
				  .slices_per_channel = cut_slices(&cut),
				  .bytes_per_channel = cut.steps * cut.share,
				  .bytes_per_channel_all = all * cut.share};
}

uint64_t ring_plan_packets(const struct ring_config *config, enum collective_kind kind,
			   uint64_t bytes, uint32_t channel, uint64_t payload_bytes)
{
	struct cut cut;
	cut_of(&cut, config, kind, bytes, channel);
	return cut_packets(&cut, payload_bytes);
}
