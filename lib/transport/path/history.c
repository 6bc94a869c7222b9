// SPDX-License-Identifier: Apache-2.0
// See history.h.
#include "history.h"

#define ROW_TURN 3u // up to this row a skip is one turn, above it twice as many for each
#define ROW_MAX 9u
#define ROW_MOST 13u // of few
#define FEW 4u	 // of more, whose marks come of chance as much as of a slow path, a share says more
#define MANY 16u // whose longest rest is ROW_MAX
#define STEP_MAX 3u
#define LATE_STEP 3u
#define LATE_LOG 150u	     // 1.5 times, in 256ths of octaves
#define LATER_LOG 256u	     // twice
#define RATE_ZERO (32u << 8) // no round trip has a larger logarithm
#define LATE_SHIFT 3	     // the mean is over about 8 answers, and kept times that
#define LATE_ROW_MAX 3u	     // in a row: then it is no matter of an EV
#define TRIM_HALVES 5 // base round trips that a packet would have taken that was trimmed, times 2
#define TRIM_HALVES_FAILING 8
#define SOON 16 // waits, within which a loss says that the last was too short
#define LEVEL_SHIFT 4
#define LEVEL_MAX 7u // first retry times 64

// A share of few EVs says little: one of two that is slow is half of them. There one that is marked
// again soon rests, as long as there is another without marks.
static bool has_few(const struct path_set *set)
{
	return set->shape->per_plane <= FEW;
}

// So many packets of the plane as the longest rest of many EVs are.
static uint32_t row_max(const struct path_set *set)
{
	uint32_t most = ROW_MAX;
	if (!has_few(set))
		return most;
	for (uint32_t evs = set->shape->per_plane; evs <= MANY && most < ROW_MOST; evs *= 2)
		most++;
	return most;
}

// What a mark adds to a row, of which each use takes one: rows grow where more than one in four
// uses is marked while few on the plane are. Where a fifth of the plane is marked they only fall.
static uint32_t step(const struct path_set *set, const struct path_plane *plane, uint32_t row)
{
	uint32_t mean = plane->marked_mean, all = set->shape->per_plane * ROUNDS_MEAN;
	if (has_few(set))
		return row == 0 ? 2 : ROW_MOST;
	if (mean * 8 <= all)
		return STEP_MAX;
	return mean * 5 <= all ? 2 : 0;
}

bool history_stands_out(const struct path_set *set, uint32_t index)
{
	const struct path_plane *plane = &set->planes[index % set->shape->planes];
	uint32_t row = set->history[index] & HISTORY_ROW;
	if (!set->shape->has_rows || row <= ROW_TURN)
		return false;
	if (has_few(set))
		return plane->rows < set->shape->per_plane;
	if (row >= HISTORY_LATER)
		return true;
	return plane->marked_mean * 5u <= set->shape->per_plane * ROUNDS_MEAN;
}

// In 256ths of octaves, between powers of two on a line.
static uint32_t log_of(uint64_t units)
{
	uint32_t bounded = units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
	uint32_t top = 31u - (uint32_t)__builtin_clz(bounded);
	return top << 8 | (uint32_t)((units << 8 >> top) & 255);
}

// The same of a round trip, in units of 8 ns.
static uint32_t rtt_log(ps_t rtt_ps)
{
	return log_of((uint64_t)rtt_ps >> 13 | 1);
}

static uint32_t late_step(uint32_t log, uint32_t mean)
{
	if (mean == 0 || log < mean + LATE_LOG)
		return 0;
	return log < mean + LATER_LOG ? LATE_STEP : HISTORY_LATER;
}

// A mean of logarithms, since of half of the EVs that take a hundred times as long a plain one
// would say that nothing is late.
uint32_t history_late(struct path_set *set, uint32_t index, ps_t rtt_ps)
{
	struct path_plane *plane = ev_slot_plane(set, index);
	if (!set->shape->has_rows || rtt_ps < 0)
		return 0;
	uint32_t log = rtt_log(rtt_ps), mean = plane->rtt_mean >> LATE_SHIFT;
	uint32_t kept = mean == 0 ? log << LATE_SHIFT : plane->rtt_mean - mean + log;
	plane->rtt_mean = (uint16_t)kept;
	uint32_t step = late_step(log, mean);
	plane->late = step == 0 ? 0 : (uint8_t)(plane->late + (plane->late < LATE_ROW_MAX));
	return plane->late < LATE_ROW_MAX ? step : 0;
}

uint32_t history_late_beside(const struct path_set *set, uint32_t index, ps_t rtt_ps)
{
	const struct path_plane *plane = &set->planes[index % set->shape->planes];
	if (!set->shape->has_rows || set->shape->per_plane <= MANY || rtt_ps <= 0)
		return 0;
	return late_step(rtt_log(rtt_ps), plane->rtt_mean >> LATE_SHIFT);
}

// A full queue is a path's where others are bad, for it has their packets; else dice may have
// filled it. What is left of a trimmed packet waits for one on each line, and for no queue: on a
// plane without a share, whose window answers each trim, it says itself how slow the line is.
uint32_t history_late_trim(const struct path_set *set, uint32_t index, ps_t base_rtt_ps,
			   ps_t rtt_ps)
{
	bool is_failing = set->planes[index % set->shape->planes].bad > 0;
	ps_t halves = is_failing ? TRIM_HALVES_FAILING : TRIM_HALVES;
	ps_t least_ps = base_rtt_ps * halves / 2;
	return history_late_beside(set, index,
				   set->shape->planes == 1 ? ps_max(rtt_ps, least_ps) : least_ps);
}

uint32_t history_rate(const struct path_set *set, uint32_t plane, uint32_t flying_bytes)
{
	uint32_t mean = set->planes[plane].rtt_mean >> LATE_SHIFT;
	return mean == 0 || flying_bytes == 0 ? 0 : RATE_ZERO + log_of(flying_bytes) - mean;
}

static void raise(struct path_set *set, struct path_plane *plane, uint32_t index, uint32_t by)
{
	uint32_t before = set->history[index] & HISTORY_ROW, most = row_max(set);
	uint32_t row = before + by > most ? most : before + by;
	plane->rows = (uint16_t)(plane->rows + (before == 0 && row > 0));
	set->history[index] = (uint8_t)((set->history[index] & ~HISTORY_ROW) | row);
}

void history_raise(struct path_set *set, uint32_t index, uint32_t by)
{
	if (!has_few(set))
		raise(set, ev_slot_plane(set, index), index, by);
}

void history_mark(struct path_set *set, uint32_t index)
{
	struct path_plane *plane = ev_slot_plane(set, index);
	raise(set, plane, index, step(set, plane, set->history[index] & HISTORY_ROW));
	plane->marked++;
}

// Rounds of a plane are numbered: an EV waits for one that its row divides, each EV for others,
// lest all come back at once. No more than three quarters of a plane rest for longer than a turn.
bool history_skips_on(const struct path_set *set, uint32_t index)
{
	const struct path_shape *shape = set->shape;
	const struct path_plane *plane = &set->planes[index % shape->planes];
	uint32_t row = set->history[index] & HISTORY_ROW;
	if (row <= ROW_TURN || plane->unusable * 4u > shape->per_plane * 3u)
		return false;
	if (has_few(set) && plane->rows >= shape->per_plane)
		return false;
	uint32_t turns = 1u << (row - ROW_TURN);
	return ((plane->round + index / shape->planes) & (turns - 1)) != 0;
}

// Whether it is lost soon after the probe that brought it back, whose time retry_at still is.
static bool is_lost_soon(const struct path_set *set, uint32_t index, uint32_t level,
			 uint32_t now_units)
{
	ps_t last = set->shape->retry_ps << (level - 1);
	uint32_t soon = set->retry_at[index] + (uint32_t)(SOON * last >> PATH_UNIT_SHIFT);
	return (int32_t)(now_units - soon) < 0;
}

ps_t history_lose(struct path_set *set, uint32_t index, uint32_t now_units)
{
	uint32_t level = set->history[index] >> LEVEL_SHIFT;
	ps_t first = set->shape->retry_ps;
	if (level == 0 || !is_lost_soon(set, index, level, now_units))
		level = 1;
	else if (level < LEVEL_MAX && first << level <= HISTORY_RETRY_MAX_PS)
		level++;
	set->history[index] = (uint8_t)((set->history[index] & HISTORY_ROW) | level << LEVEL_SHIFT);
	return (first << (level - 1)) - first;
}
