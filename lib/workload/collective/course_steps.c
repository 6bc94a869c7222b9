// SPDX-License-Identifier: Apache-2.0
// The course of what goes in steps, as coll_halving.c and coll_pat.c put them: a rank sends what it
// has in a step when all messages of the steps before have come. How many of each step are here is
// counted; what comes early waits for nobody.

#include <errno.h>

#include <weft/core/check.h>

#include "course_form.h"

// A step of a channel: everyone sends to who is `distance` away, in some way or other.
enum way {
	WAY_FOLD,    // ranks beyond the power of two hand over what they have
	WAY_HALVE,   // with who differs in that bit: the half that is the other's
	WAY_DOUBLE,  // the same, the half that is its own
	WAY_UNFOLD,  // ranks beyond are told
	WAY_SCATTER, // PAT: back
	WAY_GATHER,  // PAT: ahead
};

struct step {
	enum way way;
	uint32_t distance;
};

static uint32_t power_of(const struct course *course)
{
	uint32_t power = 1;
	while (power <= course->config.ranks / 2)
		power *= 2;
	return power;
}

static uint32_t log_of(uint32_t power)
{
	return (uint32_t)__builtin_ctz(power);
}

// The farthest of PAT: the largest power of two below the number of ranks.
static uint32_t far_of(const struct course *course)
{
	uint32_t power = power_of(course);
	return power == course->config.ranks ? power / 2 : power;
}

static struct step step_of_pat(const struct course *course, uint32_t number)
{
	if (course->config.kind == COLL_ALL_GATHER)
		return (struct step){WAY_GATHER, far_of(course) >> number};
	return (struct step){WAY_SCATTER, 1u << number};
}

static struct step step_of(const struct course *course, uint32_t number)
{
	if (course->config.algorithm == COLL_PAT)
		return step_of_pat(course, number);
	uint32_t power = power_of(course), log = log_of(power);
	if (course->config.kind == COLL_REDUCE_SCATTER)
		return (struct step){WAY_HALVE, power >> (number + 1)};
	if (course->config.kind == COLL_ALL_GATHER)
		return (struct step){WAY_DOUBLE, 1u << number};
	if (number == 0)
		return (struct step){WAY_FOLD, power};
	if (number <= log)
		return (struct step){WAY_HALVE, power >> number};
	if (number <= 2 * log)
		return (struct step){WAY_DOUBLE, 1u << (number - log - 1)};
	return (struct step){WAY_UNFOLD, power};
}

static uint32_t count_steps(const struct course *course)
{
	if (course->config.algorithm == COLL_PAT)
		return log_of(far_of(course)) + 1;
	uint32_t log = log_of(power_of(course));
	return course->config.kind == COLL_ALL_REDUCE ? 2 * log + 2 : log;
}

// ---------------------------------------------------------------- who with whom

// Whom `rank` sends to in a step, or OP_NONE.
static uint32_t target_of(const struct course *course, uint32_t rank, struct step step)
{
	uint32_t ranks = course->config.ranks, power = power_of(course);
	switch (step.way) {
	case WAY_FOLD:
		return rank >= power ? rank - power : OP_NONE;
	case WAY_UNFOLD:
		return rank + power < ranks ? rank + power : OP_NONE;
	case WAY_SCATTER:
		return (rank + ranks - step.distance) % ranks;
	case WAY_GATHER:
		return (rank + step.distance) % ranks;
	default:
		return rank < power ? rank ^ step.distance : OP_NONE;
	}
}

// Whom it hears of in a step: who sends to it.
static uint32_t source_of(const struct course *course, uint32_t rank, struct step step)
{
	static const enum way back[] = {
		[WAY_FOLD] = WAY_UNFOLD, [WAY_HALVE] = WAY_HALVE,    [WAY_DOUBLE] = WAY_DOUBLE,
		[WAY_UNFOLD] = WAY_FOLD, [WAY_SCATTER] = WAY_GATHER, [WAY_GATHER] = WAY_SCATTER};
	return target_of(course, rank, (struct step){back[step.way], step.distance});
}

// ---------------------------------------------------------------- what a step carries

// Blocks of a halving that go each by itself: where channels are parts of blocks.
static bool is_by_blocks(const struct coll_config *config)
{
	return config->algorithm == COLL_PAT ||
		(config->kind != COLL_ALL_REDUCE && config->channels > 1);
}

// Stretches that `from` sends in a step.
static uint32_t count_stretches(const struct course *course, struct step step)
{
	if (course->config.algorithm == COLL_PAT)
		return (course->config.ranks - 1 - step.distance) / (2 * step.distance) + 1;
	return is_by_blocks(&course->config) ? step.distance : 1;
}

// The first of the blocks that `from` sends with the one across.
static uint32_t first_block(uint32_t from, struct step step)
{
	uint32_t own = from / step.distance * step.distance;
	return step.way == WAY_HALVE ? own ^ step.distance : own;
}

static struct coll_part stretch(const struct course *course, uint32_t channel, struct step step,
				uint32_t from, uint32_t index)
{
	const struct coll_config *config = &course->config;
	uint32_t ranks = config->ranks, x = 2 * step.distance * index;
	struct coll_part share = coll_share(config, channel);
	if (step.way == WAY_FOLD || step.way == WAY_UNFOLD)
		return share;
	if (step.way == WAY_GATHER)
		return coll_block(config, channel, (from + ranks - x) % ranks);
	if (step.way == WAY_SCATTER) // the place of who is sent to
		return coll_block(config, channel, (from + 2 * ranks - step.distance - x) % ranks);
	uint32_t first = first_block(from, step), power = power_of(course);
	if (is_by_blocks(config))
		return coll_block(config, channel, first + index);
	struct coll_part part = coll_cut(config, share, first, power);
	struct coll_part end = coll_cut(config, share, first + step.distance - 1, power);
	part.bytes = end.offset + end.bytes - part.offset;
	return part;
}

// Messages that `from` sends in a step.
static uint32_t count_messages(const struct course *course, uint32_t channel, struct step step,
			       uint32_t from)
{
	uint32_t messages = 0, stretches = count_stretches(course, step);
	if (target_of(course, from, step) == OP_NONE)
		return 0;
	for (uint32_t i = 0; i < stretches; i++) {
		uint64_t bytes = stretch(course, channel, step, from, i).bytes;
		messages += (uint32_t)coll_pieces(&course->config, bytes);
	}
	return messages;
}

// ---------------------------------------------------------------- numbers

// Number of piece `piece` of stretch `index` of a step of a channel.
static uint32_t number_of(const struct course *course, uint32_t channel, uint32_t step,
			  uint32_t index, uint32_t piece)
{
	return (channel * course->steps + step) * course->step_numbers + index * course->pieces +
		piece;
}

static struct course_message message(const struct course *course, uint32_t from, uint32_t to,
				     uint32_t number)
{
	uint32_t in_step = number % course->step_numbers, at = number / course->step_numbers;
	struct step step = step_of(course, at % course->steps);
	check(target_of(course, from, step) == to);
	struct coll_part part = stretch(course, at / course->steps, step, from,
					in_step / course->pieces);
	struct coll_part piece = coll_piece(&course->config, part, in_step % course->pieces);
	return (struct course_message){to, number, (uint32_t)piece.bytes, piece.offset};
}

// ---------------------------------------------------------------- building

static void measure(struct course *course)
{
	const struct coll_config *config = &course->config;
	uint64_t most = course_block_pieces(course);
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		uint64_t pieces = coll_pieces(config, coll_share(config, channel).bytes);
		if (!is_by_blocks(config))
			most = pieces > most ? pieces : most;
	}
	course->pieces = course_capped(most);
	course->steps = count_steps(course);
	uint64_t stretches = 0;
	for (uint32_t i = 0; i < course->steps; i++) {
		uint32_t count = count_stretches(course, step_of(course, i));
		stretches = count > stretches ? count : stretches;
	}
	uint64_t in_step = stretches * course->pieces;
	course->numbers = config->channels * course->steps * in_step;
	course->step_numbers = in_step < OP_NONE ? (uint32_t)in_step : OP_NONE;
	course->ready_max = config->channels * config->ranks * in_step;
}

// Every block comes to every rank but its own once, in a step or another.
static void add_pat(struct course *course)
{
	const struct coll_config *config = &course->config;
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t owner = 0; owner < config->ranks; owner++)
			course_add(course, coll_block(config, channel, owner), config->ranks - 1);
}

static void add_step(struct course *course, uint32_t channel, struct step step)
{
	uint32_t stretches = count_stretches(course, step);
	for (uint32_t from = 0; from < course->config.ranks; from++)
		for (uint32_t i = 0; target_of(course, from, step) != OP_NONE && i < stretches; i++)
			course_add(course, stretch(course, channel, step, from, i), 1);
}

static void add_all(struct course *course)
{
	if (course->config.algorithm == COLL_PAT) {
		add_pat(course);
		return;
	}
	for (uint32_t channel = 0; channel < course->config.channels; channel++)
		for (uint32_t i = 0; i < course->steps; i++)
			add_step(course, channel, step_of(course, i));
}

static int create(struct course *course, struct arena *arena)
{
	const struct coll_config *config = &course->config;
	measure(course);
	size_t cells = (size_t)config->ranks * config->channels;
	course->paces = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(*course->paces));
	course->arrived = arena_draw(arena, ARENA_WORKLOAD, cells * course->steps,
				     sizeof(uint32_t));
	if (arena_has_failed(arena))
		return -ENOMEM;
	add_all(course);
	return 0;
}

// ---------------------------------------------------------------- events

static void tell_step(const struct course *course, uint32_t rank, uint32_t channel, uint32_t number,
		      const struct course_listener *to)
{
	struct step step = step_of(course, number);
	uint32_t target = target_of(course, rank, step), stretches = count_stretches(course, step);
	for (uint32_t i = 0; target != OP_NONE && i < stretches; i++) {
		struct coll_part part = stretch(course, channel, step, rank, i);
		uint64_t pieces = coll_pieces(&course->config, part.bytes);
		for (uint32_t k = 0; k < pieces; k++) {
			struct coll_part piece = coll_piece(&course->config, part, k);
			struct course_message next = {target,
						      number_of(course, channel, number, i, k),
						      (uint32_t)piece.bytes, piece.offset};
			course_tell(to, &next);
		}
	}
}

// Comes to the step of `pace`: sends what is its part, and knows how much it waits for.
static void enter(const struct course *course, uint32_t rank, uint32_t channel,
		  struct course_pace *pace, const struct course_listener *to)
{
	if (pace->step == course->steps)
		return;
	struct step step = step_of(course, pace->step);
	uint32_t source = source_of(course, rank, step);
	tell_step(course, rank, channel, pace->step, to);
	pace->expected = source == OP_NONE ? 0 : count_messages(course, channel, step, source);
}

// Goes on while all of a step is here.
static void go_on(const struct course *course, uint32_t rank, uint32_t channel,
		  const struct course_listener *to)
{
	size_t cell = (size_t)rank * course->config.channels + channel;
	struct course_pace *pace = &course->paces[cell];
	const uint32_t *arrived = &course->arrived[cell * course->steps];
	while (pace->step < course->steps && arrived[pace->step] == pace->expected) {
		pace->step++;
		enter(course, rank, channel, pace, to);
	}
}

static void begin(struct course *course, uint32_t rank, const struct course_listener *to)
{
	for (uint32_t channel = 0; channel < course->config.channels; channel++) {
		size_t cell = (size_t)rank * course->config.channels + channel;
		enter(course, rank, channel, &course->paces[cell], to);
		go_on(course, rank, channel, to);
	}
}

static void arrived(struct course *course, uint32_t rank, uint32_t number,
		    const struct course_listener *to)
{
	uint32_t at = number / course->step_numbers;
	uint32_t channel = at / course->steps, step = at % course->steps;
	size_t cell = (size_t)rank * course->config.channels + channel;
	const struct course_pace *pace = &course->paces[cell];
	check(step > pace->step ||
	      (step == pace->step &&
	       course->arrived[cell * course->steps + step] < pace->expected));
	course->arrived[cell * course->steps + step]++;
	go_on(course, rank, channel, to);
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

static uint32_t peers(const struct course *course, uint32_t rank, uint32_t *ret)
{
	uint32_t count = 0;
	for (uint32_t at = 0; at < course->config.channels * course->steps; at++) {
		struct step step = step_of(course, at % course->steps);
		uint32_t target = target_of(course, rank, step);
		if (target == OP_NONE || is_listed(target, ret, count) ||
		    count_messages(course, at / course->steps, step, rank) == 0)
			continue;
		ret[count++] = target;
	}
	return count;
}

const struct course_form course_steps = {create, begin, arrived, message, peers};
