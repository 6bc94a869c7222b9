// SPDX-License-Identifier: Apache-2.0
// From the steps of a collective that ran to the whole collective, with a stated error.
//
//   whole = run + (steps left out) x (mean step)
//   error = max(root(statistics^2 + drift^2 + trend^2), resolution)
//
// statistics  Student's t at 95 % times the standard error of the prediction: the mean of the steps
//             that ran and the mean of those left out both vary, variance / n + variance / left
//             out. Neighbouring steps depend on each other (a slice that is late in one step starts
//             late in the next), so from 16 steps on the deviations are those of about sqrt(n)
//             blocks of sqrt(n) steps: correlation shorter than a block stays inside it.
// drift       (Steps left out) x the difference between the means of the two halves: a ring that
//             still fills, or slows down, has not shown its steady step.
// trend       What a drift adds when it goes on to the end, where it is clearly more than chance:
//             difference x (1 + left out / n), of a difference above two standard errors of it.
// resolution  A third of a step over the whole window. A step ends with a whole chunk, so the time
//             at each end of the window is known to a fraction of a step only.
//
// tests/property/all_sample_error.c holds the error to random rings that run whole. One step alone
// says nothing of its own error: the error is then all that was added.

#include <weft/core/check.h>
#include <weft/core/integer.h>
#include <weft/workload/workload.h>

#define BLOCKS_FROM 16u
#define TREND_FROM 4u

typedef __int128 wide_t;

static wide_t sum_of(const ps_t *step_ps, uint32_t count)
{
	wide_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += step_ps[i];
	return sum;
}

// To the nearest; halves away from zero.
static wide_t divide_round(wide_t value, wide_t by)
{
	return value < 0 ? -((by / 2 - value) / by) : (value + by / 2) / by;
}

// Two-sided 95 % quantile of Student's t, in hundredths, never below the exact value.
static uint32_t student_centi(uint32_t freedom)
{
	static const uint16_t table[] = {1271, 431, 319, 278, 258, 245, 237, 231, 227, 223,
					 221,  218, 217, 215, 214, 212, 211, 211, 210, 209};
	const uint32_t rows = sizeof(table) / sizeof(*table);
	return freedom <= rows ? table[freedom - 1] : table[rows - 1];
}

static uint32_t block_length(uint32_t count)
{
	return count < BLOCKS_FROM ? 1 : (uint32_t)square_root(count);
}

// t L sqrt(sum of squares / (blocks (blocks - 1))), t in hundredths. Deviations are those of block
// sums, so that nothing is rounded before the root.
static wide_t statistics(const ps_t *step_ps, uint32_t count, uint64_t left_out, uint32_t t_centi)
{
	uint32_t length = block_length(count), blocks = count / length;
	const ps_t *first = step_ps + count % length; // the oldest steps fill no block
	wide_t mean = divide_round(sum_of(first, blocks * length), blocks);
	unsigned __int128 squares = 0;
	for (uint32_t i = 0; i < blocks; i++) {
		wide_t off = sum_of(first + (uint64_t)i * length, length) - mean;
		squares += (unsigned __int128)(off * off);
	}
	unsigned __int128 variance = squares / ((uint64_t)blocks * (blocks - 1));
	wide_t times = (wide_t)square_root((unsigned __int128)left_out * (left_out + count));
	wide_t error = (wide_t)t_centi * (wide_t)square_root(variance) * times;
	return divide_round(error, 100 * (wide_t)length);
}

// Mean of the later half less that of the earlier one.
static wide_t difference_of(const ps_t *step_ps, uint32_t count)
{
	uint32_t half = count / 2;
	return divide_round(sum_of(step_ps + count - half, half) - sum_of(step_ps, half), half);
}

static wide_t magnitude(wide_t value)
{
	return value < 0 ? -value : value;
}

// Two standard errors of the difference between the halves, by what is left of the steps when
// mean and trend are taken away.
static wide_t chance(const ps_t *step_ps, uint32_t count, wide_t difference)
{
	wide_t mean = divide_round(sum_of(step_ps, count), count);
	unsigned __int128 squares = 0;
	for (uint32_t i = 0; i < count; i++) {
		wide_t from_middle = 2 * (wide_t)i + 1 - count; // in halves of a step
		wide_t off = step_ps[i] - mean - divide_round(difference * from_middle, count);
		squares += (unsigned __int128)(off * off);
	}
	return 4 * (wide_t)square_root(squares / ((uint64_t)count * (count - 2)));
}

static wide_t trend(const ps_t *step_ps, uint32_t count, uint64_t left_out, wide_t difference)
{
	if (count < TREND_FROM)
		return 0;
	wide_t beyond = magnitude(difference) - chance(step_ps, count, difference);
	if (beyond <= 0)
		return 0;
	return divide_round(beyond * (wide_t)left_out * (wide_t)(count + left_out), count);
}

static ps_t clamp(wide_t value)
{
	return value > PS_NEVER ? PS_NEVER : (ps_t)value;
}

static wide_t error_of(const ps_t *step_ps, uint32_t count, uint64_t left_out, wide_t added)
{
	wide_t difference = difference_of(step_ps, count);
	uint32_t t_centi = student_centi(count / block_length(count) - 1);
	const wide_t parts[] = {statistics(step_ps, count, left_out, t_centi),
				magnitude(difference) * (wide_t)left_out,
				trend(step_ps, count, left_out, difference)};
	unsigned __int128 squares = 0;
	for (uint32_t i = 0; i < 3; i++) {
		unsigned __int128 part = (unsigned __int128)clamp(parts[i]);
		squares += part * part;
	}
	wide_t error = (wide_t)square_root(squares),
	       floor = divide_round(magnitude(added), 3 * count);
	return error > floor ? error : floor;
}

// run + added, with the error that `state` gives it.
static ps_t extrapolate(ps_t run_ps, const ps_t *step_ps, uint32_t count, uint64_t left_out,
			wide_t (*state)(const ps_t *, uint32_t, uint64_t, wide_t),
			ps_t *ret_error_ps)
{
	*ret_error_ps = 0;
	if (left_out == 0)
		return run_ps;
	check(count > 0); // sample_apply() runs one step after the fill at least
	wide_t added = divide_round(sum_of(step_ps, count) * (wide_t)left_out, count);
	wide_t error = count > 1 ? state(step_ps, count, left_out, added) : magnitude(added);
	*ret_error_ps = clamp(error);
	return clamp(run_ps + added);
}

ps_t sample_extrapolate(ps_t run_ps, const ps_t *step_ps, uint32_t count, uint64_t steps_left_out,
			ps_t *ret_error_ps)
{
	return extrapolate(run_ps, step_ps, count, steps_left_out, error_of, ret_error_ps);
}

// Of steps that were found to repeat: two standard errors, half of the drift, a quarter of a step.
static wide_t repeated_error_of(const ps_t *step_ps, uint32_t count, uint64_t left_out,
				wide_t added)
{
	wide_t error = statistics(step_ps, count, left_out, 200);
	wide_t drift = magnitude(difference_of(step_ps, count)) * (wide_t)left_out / 2;
	wide_t floor = divide_round(magnitude(added), 4 * (wide_t)count);
	error = error > drift ? error : drift;
	return error > floor ? error : floor;
}

ps_t sample_repeat(const ps_t *step_ps, uint32_t count, uint64_t steps_left_out, ps_t *ret_error_ps)
{
	return extrapolate(0, step_ps, count, steps_left_out, repeated_error_of, ret_error_ps);
}
