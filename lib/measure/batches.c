// SPDX-License-Identifier: Apache-2.0
// How far a quantile of a sample may be from that of the whole. Values that came about near each
// other depend on each other, so their number says nothing; but parts that lie apart vary as much
// as one sample does from another. Each part's own quantile is taken, and the error is that of the
// mean of them:
//
//   t x s / sqrt(n), s the standard deviation of the n parts' quantiles, t that of Student for 95 %
//
// and never less than the grain of the parts' histograms, one part in a hundred. What all parts
// have in common is not in it.

#include <weft/core/check.h>
#include <weft/core/integer.h>
#include <weft/measure/measure_batches.h>

#define DIGITS 2u
#define GRAIN 100
#define PARTS_NEEDED 4u

// Student's t of 95 %, both sides, for n - 1 degrees of freedom, in thousandths.
static const int64_t student[BATCH_COUNT + 1] = {
	[4] = 3182, [5] = 2776, [6] = 2571, [7] = 2447, [8] = 2365};

int batches_init(struct batches *batches, struct arena *arena, uint64_t value_max)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < BATCH_COUNT; i++)
		rc = hist_init(&batches->of[i], arena, DIGITS, value_max);
	for (uint32_t i = 0; rc == 0 && i < PHASE_COUNT; i++)
		rc = hist_init(&batches->phases[i], arena, DIGITS, value_max);
	return rc;
}

void batches_empty(struct batches *batches)
{
	for (uint32_t i = 0; i < BATCH_COUNT; i++)
		hist_empty(&batches->of[i]);
	for (uint32_t i = 0; i < PHASE_COUNT; i++)
		hist_empty(&batches->phases[i]);
}

void batches_add(struct batches *batches, uint32_t batch, uint32_t phase, int64_t value)
{
	check(batch < BATCH_COUNT && phase < PHASE_COUNT);
	if (batches->of[batch].cells == 0)
		return;
	hist_add(&batches->of[batch], value);
	hist_add(&batches->phases[phase], value);
}

void batches_merge(struct batches *into, const struct batches *from)
{
	for (uint32_t i = 0; i < BATCH_COUNT; i++)
		if (from->of[i].cells > 0)
			hist_merge(&into->of[i], &from->of[i]);
	for (uint32_t i = 0; i < PHASE_COUNT; i++)
		if (from->phases[i].cells > 0)
			hist_merge(&into->phases[i], &from->phases[i]);
}

// In thousandths of the unit, so that nothing is rounded before the end.
static int64_t error_of(const int64_t *values, uint32_t count)
{
	unsigned __int128 squares = 0;
	__int128 sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	for (uint32_t i = 0; i < count; i++) {
		__int128 off = ((__int128)values[i] * count - sum) * 1000 / count;
		squares += (unsigned __int128)(off * off);
	}
	int64_t grain = (int64_t)(sum / count * 1000 / GRAIN);
	int64_t error = (int64_t)square_root(squares / ((uint64_t)count * (count - 1))) *
		student[count] / 1000;
	return error > grain ? error : grain;
}

int64_t batches_error(const struct batches *batches, uint32_t parts_per_million,
		      uint64_t values_min)
{
	int64_t values[BATCH_COUNT];
	uint32_t count = 0;
	for (uint32_t i = 0; i < BATCH_COUNT; i++)
		if (batches->of[i].total > 0 && batches->of[i].total >= values_min)
			values[count++] = hist_quantile(&batches->of[i], parts_per_million);
	return count < PARTS_NEEDED ? -1 : (error_of(values, count) + 999) / 1000;
}

static int64_t apart(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

int64_t batches_drift(const struct batches *batches, uint32_t parts_per_million,
		      uint64_t values_min)
{
	int64_t of[PHASE_COUNT];
	for (uint32_t i = 0; i < PHASE_COUNT; i++)
		of[i] = hist_quantile(&batches->phases[i], parts_per_million);
	const struct hist *middle = &batches->phases[1], *last = &batches->phases[2];
	if (middle->total < values_min || last->total < values_min || last->total == 0 || of[1] < 0)
		return -1;
	return apart(of[1], of[2]) + (of[0] < 0 ? 0 : apart(of[0], of[2]));
}
