// SPDX-License-Identifier: Apache-2.0
// The collective stream of what goes in steps, as coll_halving.c and coll_pat.c put them: a rank
// sends what it has in a step when all messages of the steps before have come. How many of each
// step are here is counted; what comes early waits for nobody.

#include <errno.h>

#include <weft/core/check.h>

#include "coll_stream_form.h"

// A step of a channel: everyone sends to who is `distance` away, in some way or other.
enum phase {
	PHASE_FOLD,    // ranks beyond the power of two hand over what they have
	PHASE_HALVE,   // with who differs in that bit: the half that is the other's
	PHASE_DOUBLE,  // the same, the half that is its own
	PHASE_UNFOLD,  // ranks beyond get the result
	PHASE_SCATTER, // PAT: back
	PHASE_GATHER,  // PAT: ahead
};

struct step {
	enum phase phase;
	uint32_t distance;
};

static uint32_t power_of(const struct coll_stream *coll_stream)
{
	uint32_t power = 1;
	while (power <= coll_stream->config.ranks / 2)
		power *= 2;
	return power;
}

static uint32_t log_of(uint32_t power)
{
	return (uint32_t)__builtin_ctz(power);
}

// The farthest of PAT: the largest power of two below the number of ranks.
static uint32_t far_of(const struct coll_stream *coll_stream)
{
	uint32_t power = power_of(coll_stream);
	return power == coll_stream->config.ranks ? power / 2 : power;
}

static struct step step_of_pat(const struct coll_stream *coll_stream, uint32_t number)
{
	if (coll_stream->config.kind == COLL_ALL_GATHER)
		return (struct step){PHASE_GATHER, far_of(coll_stream) >> number};
	return (struct step){PHASE_SCATTER, 1u << number};
}

static struct step step_of(const struct coll_stream *coll_stream, uint32_t number)
{
	if (coll_stream->config.algorithm == COLL_PAT)
		return step_of_pat(coll_stream, number);
	uint32_t power = power_of(coll_stream), log = log_of(power);
	if (coll_stream->config.kind == COLL_REDUCE_SCATTER)
		return (struct step){PHASE_HALVE, power >> (number + 1)};
	if (coll_stream->config.kind == COLL_ALL_GATHER)
		return (struct step){PHASE_DOUBLE, 1u << number};
	if (number == 0)
		return (struct step){PHASE_FOLD, power};
	if (number <= log)
		return (struct step){PHASE_HALVE, power >> number};
	if (number <= 2 * log)
		return (struct step){PHASE_DOUBLE, 1u << (number - log - 1)};
	return (struct step){PHASE_UNFOLD, power};
}

static uint32_t count_steps(const struct coll_stream *coll_stream)
{
	if (coll_stream->config.algorithm == COLL_PAT)
		return log_of(far_of(coll_stream)) + 1;
	uint32_t log = log_of(power_of(coll_stream));
	return coll_stream->config.kind == COLL_ALL_REDUCE ? 2 * log + 2 : log;
}

// ---------------------------------------------------------------- who with whom

// Whom `rank` sends to in a step, or OP_NONE.
static uint32_t target_of(const struct coll_stream *coll_stream, uint32_t rank, struct step step)
{
	uint32_t ranks = coll_stream->config.ranks, power = power_of(coll_stream);
	switch (step.phase) {
	case PHASE_FOLD:
		return rank >= power ? rank - power : OP_NONE;
	case PHASE_UNFOLD:
		return rank + power < ranks ? rank + power : OP_NONE;
	case PHASE_SCATTER:
		return (rank + ranks - step.distance) % ranks;
	case PHASE_GATHER:
		return (rank + step.distance) % ranks;
	default:
		return rank < power ? rank ^ step.distance : OP_NONE;
	}
}

// Whom it hears of in a step: who sends to it.
static uint32_t source_of(const struct coll_stream *coll_stream, uint32_t rank, struct step step)
{
	static const enum phase back[] = {
		[PHASE_FOLD] = PHASE_UNFOLD,	[PHASE_HALVE] = PHASE_HALVE,
		[PHASE_DOUBLE] = PHASE_DOUBLE,	[PHASE_UNFOLD] = PHASE_FOLD,
		[PHASE_SCATTER] = PHASE_GATHER, [PHASE_GATHER] = PHASE_SCATTER};
	return target_of(coll_stream, rank, (struct step){back[step.phase], step.distance});
}

// ---------------------------------------------------------------- what a step carries

// Blocks of a halving that go each by itself: where channels are parts of blocks.
static bool is_by_blocks(const struct coll_config *config)
{
	return config->algorithm == COLL_PAT ||
		(config->kind != COLL_ALL_REDUCE && config->channels > 1);
}

// Stretches that `from` sends in a step.
static uint32_t count_stretches(const struct coll_stream *coll_stream, struct step step)
{
	if (coll_stream->config.algorithm == COLL_PAT)
		return (coll_stream->config.ranks - 1 - step.distance) / (2 * step.distance) + 1;
	return is_by_blocks(&coll_stream->config) ? step.distance : 1;
}

// The first of the blocks that `from` sends with the one across.
static uint32_t first_block(uint32_t from, struct step step)
{
	uint32_t own = from / step.distance * step.distance;
	return step.phase == PHASE_HALVE ? own ^ step.distance : own;
}

static struct coll_part stretch(const struct coll_stream *coll_stream, uint32_t channel,
				struct step step, uint32_t from, uint32_t index)
{
	const struct coll_config *config = &coll_stream->config;
	uint32_t ranks = config->ranks, x = 2 * step.distance * index;
	struct coll_part share = coll_share(config, channel);
	if (step.phase == PHASE_FOLD || step.phase == PHASE_UNFOLD)
		return share;
	if (step.phase == PHASE_GATHER)
		return coll_block(config, channel, (from + ranks - x) % ranks);
	if (step.phase == PHASE_SCATTER) // the place of who is sent to
		return coll_block(config, channel, (from + 2 * ranks - step.distance - x) % ranks);
	uint32_t first = first_block(from, step), power = power_of(coll_stream);
	if (is_by_blocks(config))
		return coll_block(config, channel, first + index);
	struct coll_part part = coll_cut(config, share, first, power);
	struct coll_part end = coll_cut(config, share, first + step.distance - 1, power);
	part.bytes = end.offset + end.bytes - part.offset;
	return part;
}

// Messages that `from` sends in a step.
static uint32_t count_messages(const struct coll_stream *coll_stream, uint32_t channel,
			       struct step step, uint32_t from)
{
	uint32_t messages = 0, stretches = count_stretches(coll_stream, step);
	if (target_of(coll_stream, from, step) == OP_NONE)
		return 0;
	for (uint32_t i = 0; i < stretches; i++) {
		uint64_t bytes = stretch(coll_stream, channel, step, from, i).bytes;
		messages += (uint32_t)coll_pieces(&coll_stream->config, bytes);
	}
	return messages;
}

// ---------------------------------------------------------------- numbers

// Number of piece `piece` of stretch `index` of a step of a channel.
static uint32_t number_of(const struct coll_stream *coll_stream, uint32_t channel, uint32_t step,
			  uint32_t index, uint32_t piece)
{
	return (channel * coll_stream->steps + step) * coll_stream->step_numbers +
		index * coll_stream->pieces + piece;
}

static struct coll_stream_message message(const struct coll_stream *coll_stream, uint32_t from,
					  uint32_t to, uint32_t number)
{
	uint32_t in_step = number % coll_stream->step_numbers,
		 at = number / coll_stream->step_numbers;
	struct step step = step_of(coll_stream, at % coll_stream->steps);
	check(target_of(coll_stream, from, step) == to);
	struct coll_part part = stretch(coll_stream, at / coll_stream->steps, step, from,
					in_step / coll_stream->pieces);
	struct coll_part piece = coll_piece(&coll_stream->config, part,
					    in_step % coll_stream->pieces);
	return (struct coll_stream_message){to, number, (uint32_t)piece.bytes, piece.offset};
}

// ---------------------------------------------------------------- building

static void measure(struct coll_stream *coll_stream)
{
	const struct coll_config *config = &coll_stream->config;
	uint64_t most = coll_stream_block_pieces(coll_stream);
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		uint64_t pieces = coll_pieces(config, coll_share(config, channel).bytes);
		if (!is_by_blocks(config))
			most = pieces > most ? pieces : most;
	}
	coll_stream->pieces = coll_stream_capped(most);
	coll_stream->steps = count_steps(coll_stream);
	uint64_t stretches = 0;
	for (uint32_t i = 0; i < coll_stream->steps; i++) {
		uint32_t count = count_stretches(coll_stream, step_of(coll_stream, i));
		stretches = count > stretches ? count : stretches;
	}
	uint64_t in_step = stretches * coll_stream->pieces;
	coll_stream->numbers = config->channels * coll_stream->steps * in_step;
	coll_stream->step_numbers = in_step < OP_NONE ? (uint32_t)in_step : OP_NONE;
	coll_stream->ready_max = config->channels * config->ranks * in_step;
}

// Every block comes to every rank but its own once, in a step or another.
static void add_pat(struct coll_stream *coll_stream)
{
	const struct coll_config *config = &coll_stream->config;
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t owner = 0; owner < config->ranks; owner++)
			coll_stream_add(coll_stream, coll_block(config, channel, owner),
					config->ranks - 1);
}

static void add_step(struct coll_stream *coll_stream, uint32_t channel, struct step step)
{
	uint32_t stretches = count_stretches(coll_stream, step);
	for (uint32_t from = 0; from < coll_stream->config.ranks; from++)
		for (uint32_t i = 0; target_of(coll_stream, from, step) != OP_NONE && i < stretches;
		     i++)
			coll_stream_add(coll_stream, stretch(coll_stream, channel, step, from, i),
					1);
}

static void add_all(struct coll_stream *coll_stream)
{
	if (coll_stream->config.algorithm == COLL_PAT) {
		add_pat(coll_stream);
		return;
	}
	for (uint32_t channel = 0; channel < coll_stream->config.channels; channel++)
		for (uint32_t i = 0; i < coll_stream->steps; i++)
			add_step(coll_stream, channel, step_of(coll_stream, i));
}

static int create(struct coll_stream *coll_stream, struct arena *arena)
{
	const struct coll_config *config = &coll_stream->config;
	measure(coll_stream);
	size_t cells = (size_t)config->ranks * config->channels;
	coll_stream->paces = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(*coll_stream->paces));
	coll_stream->arrived = arena_draw(arena, ARENA_WORKLOAD, cells * coll_stream->steps,
					  sizeof(uint32_t));
	if (arena_has_failed(arena))
		return -ENOMEM;
	add_all(coll_stream);
	return 0;
}

// ---------------------------------------------------------------- events

static void tell_step(const struct coll_stream *coll_stream, uint32_t rank, uint32_t channel,
		      uint32_t number, const struct coll_stream_listener *to)
{
	struct step step = step_of(coll_stream, number);
	uint32_t target = target_of(coll_stream, rank, step),
		 stretches = count_stretches(coll_stream, step);
	for (uint32_t i = 0; target != OP_NONE && i < stretches; i++) {
		struct coll_part part = stretch(coll_stream, channel, step, rank, i);
		uint64_t pieces = coll_pieces(&coll_stream->config, part.bytes);
		for (uint32_t k = 0; k < pieces; k++) {
			struct coll_part piece = coll_piece(&coll_stream->config, part, k);
			struct coll_stream_message next = {
				target, number_of(coll_stream, channel, number, i, k),
				(uint32_t)piece.bytes, piece.offset};
			coll_stream_tell(to, &next);
		}
	}
}

// Comes to the step of `pace`: sends what is its part, and knows how much it waits for.
static void enter(const struct coll_stream *coll_stream, uint32_t rank, uint32_t channel,
		  struct coll_stream_pace *pace, const struct coll_stream_listener *to)
{
	if (pace->step == coll_stream->steps)
		return;
	struct step step = step_of(coll_stream, pace->step);
	uint32_t source = source_of(coll_stream, rank, step);
	tell_step(coll_stream, rank, channel, pace->step, to);
	pace->expected = source == OP_NONE ? 0 : count_messages(coll_stream, channel, step, source);
}

// Goes on while all of a step is here.
static void go_on(const struct coll_stream *coll_stream, uint32_t rank, uint32_t channel,
		  const struct coll_stream_listener *to)
{
	size_t cell = (size_t)rank * coll_stream->config.channels + channel;
	struct coll_stream_pace *pace = &coll_stream->paces[cell];
	const uint32_t *arrived = &coll_stream->arrived[cell * coll_stream->steps];
	while (pace->step < coll_stream->steps && arrived[pace->step] == pace->expected) {
		pace->step++;
		enter(coll_stream, rank, channel, pace, to);
	}
}

static void begin(struct coll_stream *coll_stream, uint32_t rank,
		  const struct coll_stream_listener *to)
{
	for (uint32_t channel = 0; channel < coll_stream->config.channels; channel++) {
		size_t cell = (size_t)rank * coll_stream->config.channels + channel;
		enter(coll_stream, rank, channel, &coll_stream->paces[cell], to);
		go_on(coll_stream, rank, channel, to);
	}
}

static void arrived(struct coll_stream *coll_stream, uint32_t rank, uint32_t number,
		    const struct coll_stream_listener *to)
{
	uint32_t at = number / coll_stream->step_numbers;
	uint32_t channel = at / coll_stream->steps, step = at % coll_stream->steps;
	size_t cell = (size_t)rank * coll_stream->config.channels + channel;
	const struct coll_stream_pace *pace = &coll_stream->paces[cell];
	check(step > pace->step ||
	      (step == pace->step &&
	       coll_stream->arrived[cell * coll_stream->steps + step] < pace->expected));
	coll_stream->arrived[cell * coll_stream->steps + step]++;
	go_on(coll_stream, rank, channel, to);
}

// ---------------------------------------------------------------- peers

// Whether `rank` is in a list.
static bool is_listed(uint32_t rank, const uint32_t *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i] == rank)
			return true;
	return false;
}

static uint32_t peers(const struct coll_stream *coll_stream, uint32_t rank, uint32_t *ret)
{
	uint32_t count = 0;
	for (uint32_t at = 0; at < coll_stream->config.channels * coll_stream->steps; at++) {
		struct step step = step_of(coll_stream, at % coll_stream->steps);
		uint32_t target = target_of(coll_stream, rank, step);
		if (target == OP_NONE || is_listed(target, ret, count) ||
		    count_messages(coll_stream, at / coll_stream->steps, step, rank) == 0)
			continue;
		ret[count++] = target;
	}
	return count;
}

const struct coll_stream_form coll_stream_steps = {create, begin, arrived, message, peers};
