// SPDX-License-Identifier: Apache-2.0
// Student's t for whole degrees of freedom has finite sums (Abramowitz and Stegun, 26.7.3 and
// 26.7.4): with x = atan(t / sqrt(n)), P(|T| <= t) is
//   n even   sin x (1 + 1/2 cos^2 x + 1*3/(2*4) cos^4 x + ... up to cos^(n-2) x)
//   n odd    2/pi (x + sin x (cos x + 2/3 cos^3 x + 2*4/(3*5) cos^5 x + ... up to cos^(n-2) x))

#include <weft/study/report_spread.h>

#include <assert.h>
#include <math.h>
#include <stddef.h>

double student_beyond(double t, uint32_t freedom)
{
	bool is_odd = freedom % 2 == 1;
	double angle = atan(fabs(t) / sqrt(freedom)), cosine = cos(angle);
	double term = is_odd ? cosine : 1, sum = 0;
	for (uint32_t power = is_odd ? 1 : 0; power + 2 <= freedom; power += 2) {
		sum += term;
		term *= cosine * cosine * (power + 1) / (power + 2);
	}
	double within = sin(angle) * sum;
	if (is_odd)
		within = 2 / M_PI * (angle + within);
	return within >= 1 ? 0 : 1 - within;
}

double student_bound(double chance, uint32_t freedom)
{
	double low = 0, high = 1;
	while (student_beyond(high, freedom) > chance && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && low < high; i++) {
		double middle = low + (high - low) / 2;
		if (middle == low || middle == high)
			break;
		if (student_beyond(middle, freedom) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

// Value i, or how much it is above `less`.
static double value_at(const double *values, const double *less, uint32_t i)
{
	return less == NULL ? values[i] : values[i] - less[i];
}

static void extremes(struct spread_figures *ret, const double *values, const double *less,
		     uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		double value = value_at(values, less, i);
		if (isnan(value))
			continue;
		if (ret->count == 0 || value < ret->min)
			ret->min = value;
		if (ret->count == 0 || value > ret->max)
			ret->max = value;
		sum += value;
		ret->count++;
	}
	// all alike: exactly that value, whatever a sum rounds to
	if (ret->count > 0)
		ret->mean = ret->min == ret->max ? ret->min : sum / ret->count;
}

// Mean first, then squares around it: values of runs lie close together.
static void spread(struct spread_figures *ret, const double *values, const double *less,
		   uint32_t count)
{
	double squares = 0;
	*ret = (struct spread_figures){.half = NAN};
	extremes(ret, values, less, count);
	if (ret->count < 2)
		return;
	for (uint32_t i = 0; i < count; i++) {
		double off = value_at(values, less, i) - ret->mean;
		squares += isnan(off) ? 0 : off * off;
	}
	ret->sd = ret->min == ret->max ? 0 : sqrt(squares / (ret->count - 1));
	ret->half = student_bound(1 - SPREAD_CONFIDENCE, ret->count - 1) * ret->sd /
		sqrt(ret->count);
}

void spread_of(struct spread_figures *ret, const double *values, uint32_t count)
{
	spread(ret, values, NULL, count);
}

void spread_difference_of(struct spread_difference *ret, const double *a, const double *b,
			  uint32_t count, uint32_t comparisons)
{
	*ret = (struct spread_difference){.chance = NAN};
	spread(&ret->spread, b, a, count);
	const struct spread_figures *apart = &ret->spread;
	if (apart->count < 2)
		return;
	bool is_zero = apart->min == 0 && apart->max == 0;
	if (apart->sd > 0)
		ret->chance = student_beyond(apart->mean / apart->sd * sqrt(apart->count),
					     apart->count - 1);
	else
		ret->chance = is_zero ? 1 : 0;
	ret->verdict = is_zero					      ? SPREAD_SAME
		: ret->chance < (1 - SPREAD_CONFIDENCE) / comparisons ? SPREAD_DIFFERS
								      : SPREAD_NOISE;
}

const char *spread_verdict_name(enum spread_verdict verdict)
{
	static const char *const names[] = {"unknown", "same", "noise", "differs"};
	static_assert(sizeof(names) / sizeof(*names) == SPREAD_DIFFERS + 1, "a name for each");
	return verdict <= SPREAD_DIFFERS ? names[verdict] : "unknown";
}
