// SPDX-License-Identifier: Apache-2.0
// See workload_steady.h.

#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/workload.h>
#include <weft/workload/workload_steady.h>

#define PPM UINT64_C(1000000)

// Packets under way are a figure of a moment: a block's mean of them may be off by this share. Most
// of it is where in a step the moments lie.
#define HELD_PPM 100000u

void steady_init(struct steady *steady, uint32_t block, uint32_t tolerance_ppm)
{
	check(block >= 2 && block <= STEADY_BLOCK_MAX);
	*steady = (struct steady){.block = block, .tolerance_ppm = tolerance_ppm};
}

void steady_begin(struct steady *steady, ps_t at)
{
	steady->count = steady->blocks = 0;
	steady->begin_at = steady->last_at = at;
}

static void add_lead(struct steady *steady, uint64_t ahead)
{
	if (steady->count % steady->block == 0) {
		steady->blocks++;
		steady->lead = 0;
	}
	steady->lead += ahead;
	if ((steady->blocks & (steady->blocks - 1)) == 0)
		steady->marks[__builtin_ctz(steady->blocks)] = steady->lead;
}

void steady_step(struct steady *steady, ps_t at, uint64_t held, uint64_t ahead)
{
	uint32_t block = steady->block;
	if (steady->count == 2 * block) {
		memmove(steady->step_ps, steady->step_ps + block, block * sizeof(ps_t));
		memmove(steady->held, steady->held + block, block * sizeof(uint64_t));
		steady->count = block;
	}
	add_lead(steady, ahead);
	steady->step_ps[steady->count] = at - steady->last_at;
	steady->held[steady->count++] = held;
	steady->last_at = at;
}

bool steady_has_block(const struct steady *steady)
{
	return steady->count > 0 && steady->count % steady->block == 0;
}

bool steady_has_both(const struct steady *steady)
{
	return steady->count == 2 * steady->block;
}

// Whether two figures differ by no more than `ppm` of the first.
static bool is_near(uint64_t a, uint64_t b, uint64_t ppm)
{
	uint64_t off = a > b ? a - b : b - a;
	return (unsigned __int128)off * PPM <= (unsigned __int128)a * ppm;
}

static uint64_t sum_of(const uint64_t *of, uint32_t count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += of[i];
	return sum;
}

static uint64_t time_of(const ps_t *of, uint32_t count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += (uint64_t)of[i];
	return sum;
}

// Ranks that come further than the last of them drift, and those behind are not the pace of all for
// long. One line alone may be away by a step: that much lies between two looks.
static bool is_apart(const struct steady *steady, const struct steady_lines *lines)
{
	uint64_t expected = lines->lines * lines->step_slices * 2 * steady->block;
	return lines->off_most > lines->step_slices ||
		!is_near(expected, lines->gain, steady->tolerance_ppm);
}

// The part of `time_ps` by which the last rank would come nearer to the others, or fall farther
// behind, if they went on as they did.
static ps_t drift_ps(const struct steady *steady, const struct steady_lines *lines, ps_t time_ps)
{
	uint64_t expected = lines->lines * lines->step_slices * 2 * steady->block;
	uint64_t off = lines->gain > expected ? lines->gain - expected : expected - lines->gain;
	return expected == 0 ? 0 : (ps_t)((__int128)time_ps * off / expected);
}

// Whether all steps that were seen took no longer than lines need for their bytes.
static bool is_full(const struct steady *steady, const struct steady_lines *lines)
{
	uint64_t took = (uint64_t)(steady->last_at - steady->begin_at);
	uint64_t least = (uint64_t)steady->blocks * steady->block * (uint64_t)lines->line_ps;
	return least >= took || is_near(took, least, steady->tolerance_ppm);
}

// Lines have room: whether ranks use it to come apart. Over the blocks from `mark` to the newest
// their lead grew or fell by `off` (summed over the steps of a block) while `expected` slices came.
static enum steady_verdict judge_lead(const struct steady *steady, const struct steady_lines *lines,
				      struct steady_jump *jump)
{
	if (steady->blocks < STEADY_BLOCKS_MIN)
		return STEADY_SLACK;
	uint32_t log = 30u - (uint32_t)__builtin_clz(steady->blocks - 1), mark = 1u << log;
	uint64_t then = steady->marks[log], now = steady->lead;
	uint64_t off = then > now ? then - now : now - then;
	uint64_t expected = lines->lines * lines->step_slices * steady->block * steady->block *
		(steady->blocks - mark);
	ps_t drift = expected == 0 ? 0 : (ps_t)((__int128)jump->time_ps * off / expected);
	jump->error_ps = ps_max(jump->error_ps, drift);
	return is_near(expected, expected + off, steady->tolerance_ppm / 2) ? STEADY : STEADY_APART;
}

enum steady_verdict steady_judge(const struct steady *steady, const struct steady_lines *lines,
				 struct steady_jump *jump)
{
	uint32_t block = steady->block;
	uint64_t first = time_of(steady->step_ps, block);
	uint64_t second = time_of(steady->step_ps + block, block);
	check(steady_has_both(steady) && jump->steps > 0);
	jump->time_ps = sample_repeat(steady->step_ps, 2 * block, jump->steps, &jump->error_ps);
	ps_t spread_ps = jump->error_ps;
	jump->error_ps = ps_max(spread_ps, drift_ps(steady, lines, jump->time_ps));
	if (!is_near(first, second, steady->tolerance_ppm))
		return STEADY_PACE;
	if (!is_near((uint64_t)jump->time_ps, (uint64_t)(jump->time_ps + spread_ps),
		     steady->tolerance_ppm))
		return STEADY_JITTER;
	if (is_apart(steady, lines))
		return STEADY_APART;
	if (!is_near(sum_of(steady->held, block), sum_of(steady->held + block, block), HELD_PPM))
		return STEADY_QUEUES;
	return is_full(steady, lines) ? STEADY : judge_lead(steady, lines, jump);
}
