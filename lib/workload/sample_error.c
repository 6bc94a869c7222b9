// SPDX-License-Identifier: Apache-2.0
// From the steps that were run to the whole collective, with an error that is stated.
//
//   whole = run + (steps left out) x (mean step)
//   error = (steps left out) x max(statistics, drift, resolution), each an error of the mean step:
//
// statistics  Two standard errors, of the mean that was seen and of the steps left out, which have
// a
//             mean of their own: variance / n + variance / left out. Neighbouring steps are not
//             independent (a slice that is late in one step starts late in the next), so that the
//             plain formula states too little. From 16 steps on the means of about sqrt(n) blocks
//             of sqrt(n) steps are taken for the sample instead: correlation shorter than a block
//             is inside the blocks.
// drift       Half of the difference between the means of the two halves: a ring that is still
//             filling, or slowing down, has not shown its steady step.
// resolution  A quarter of a step over the whole window. Steps are read off whole chunks, which
//             arrive in two slices at least where they can, so each end of the window is known to
//             no better than a fraction of a step; no sample may state less.
//
// One step alone says nothing of its own error: the whole of what it adds is stated.

#include <weft/check.h>
#include <weft/workload.h>

#define BLOCKS_FROM 16u

typedef __int128 wide_t;

// The largest root with root^2 <= value, by bits from the top.
static uint64_t root_of(unsigned __int128 value)
{
	uint64_t root = 0;
	for (int bit = 63; bit >= 0; bit--) {
		uint64_t more = root | UINT64_C(1) << bit;
		if ((unsigned __int128)more * more <= value)
			root = more;
	}
	return root;
}

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

// Two standard errors of the mean, times `left_out`: 2 L sqrt(sum of squares / (blocks (blocks -
// 1))). Deviations are taken of block sums, so that nothing is rounded before the root.
static wide_t statistics(const ps_t *step_ps, uint32_t count, uint64_t left_out)
{
	uint32_t length = count < BLOCKS_FROM ? 1 : (uint32_t)root_of(count);
	uint32_t blocks = count / length;
	const ps_t *first = step_ps + count % length; // the oldest steps fill no block
	wide_t mean = divide_round(sum_of(first, blocks * length), blocks);
	unsigned __int128 squares = 0;
	for (uint32_t i = 0; i < blocks; i++) {
		wide_t off = sum_of(first + (uint64_t)i * length, length) - mean;
		squares += (unsigned __int128)(off * off);
	}
	unsigned __int128 variance = squares / ((uint64_t)blocks * (blocks - 1));
	wide_t times = (wide_t)root_of((unsigned __int128)left_out * (left_out + count));
	return divide_round(2 * (wide_t)root_of(variance) * times, length);
}

static wide_t drift(const ps_t *step_ps, uint32_t count, uint64_t left_out)
{
	uint32_t half = count / 2;
	wide_t difference = sum_of(step_ps + count - half, half) - sum_of(step_ps, half);
	if (difference < 0)
		difference = -difference;
	return divide_round(difference * (wide_t)left_out, 2 * (wide_t)half);
}

static ps_t clamp(wide_t value)
{
	return value > PS_NEVER ? PS_NEVER : (ps_t)value;
}

ps_t sample_extrapolate(ps_t run_ps, const ps_t *step_ps, uint32_t count, uint64_t steps_left_out,
			ps_t *ret_error_ps)
{
	if (steps_left_out == 0) {
		*ret_error_ps = 0;
		return run_ps;
	}
	check(count > 0); // sample_apply() runs one step after the fill at least
	wide_t sum = sum_of(step_ps, count);
	wide_t added = divide_round(sum * (wide_t)steps_left_out, count);
	wide_t error = added < 0 ? -added : added;
	if (count > 1) {
		wide_t floor = divide_round(error, 4 * (wide_t)count);
		wide_t spread = statistics(step_ps, count, steps_left_out);
		wide_t change = drift(step_ps, count, steps_left_out);
		error = spread > change ? spread : change;
		error = error > floor ? error : floor;
	}
	*ret_error_ps = clamp(error);
	return clamp(run_ps + added);
}
