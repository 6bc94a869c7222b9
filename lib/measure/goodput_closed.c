// SPDX-License-Identifier: Apache-2.0
// Closed forms of a job that fails. Failures of rate 1/M hit a round of i + C with the chance
// 1 - e^(-(i + C) / M); a restart of R can be hit itself. The mean time of a round that ends is
// M / a (e^((i + C) / M) - 1), with a the mean of e^(-R / M).

#include <weft/measure/measure_goodput.h>

#include <math.h>

#define GOLDEN 0.6180339887498949

double goodput_mtbf_s(const struct goodput_setup *setup)
{
	double rate_per_s = 0;
	for (uint32_t i = 0; i < setup->count; i++)
		if (setup->failures[i].reaction == FAILURE_RESTART)
			rate_per_s += setup->failures[i].rate_per_s;
	return 1 / rate_per_s;
}

double goodput_young_s(double save_s, double mtbf_s)
{
	return sqrt(2 * save_s * mtbf_s);
}

double goodput_daly_s(double save_s, double mtbf_s)
{
	double part = save_s / (2 * mtbf_s);
	if (part >= 1)
		return mtbf_s;
	return sqrt(2 * save_s * mtbf_s) * (1 + sqrt(part) / 3 + part / 9) - save_s;
}

// Mean speed while the job runs: outages of one kind are a queue with servers for all, so the
// number at a time is Poisson's and the mean of (1 - s)^n is e^(-s rate outage). A stall that
// begins in another one only prolongs it.
static double mean_speed(const struct goodput_setup *setup)
{
	double lost = 0, stalled = 0;
	for (uint32_t i = 0; i < setup->count; i++) {
		const struct failure *failure = &setup->failures[i];
		double load = failure->rate_per_s * failure->outage_s;
		lost += failure->reaction == FAILURE_SLOW ? load * failure->slow : 0;
		stalled += failure->reaction == FAILURE_STALL ? load : 0;
	}
	return exp(-lost - stalled);
}

double goodput_closed(const struct goodput_setup *setup)
{
	double mtbf_s = goodput_mtbf_s(setup), speed = mean_speed(setup), alive = 0;
	double round_s = setup->interval_s / speed + setup->save_s;
	if (isinf(mtbf_s))
		return setup->interval_s / round_s;
	for (uint32_t i = 0; i < setup->count; i++) {
		const struct failure *failure = &setup->failures[i];
		if (failure->reaction == FAILURE_RESTART)
			alive += failure->rate_per_s * mtbf_s *
				exp(-(failure->notice_s + setup->restart_s) / mtbf_s);
	}
	return setup->interval_s * alive / mtbf_s / (exp(round_s / mtbf_s) - 1);
}

// Golden section over the logarithm of the interval.
double goodput_closed_interval_s(const struct goodput_setup *setup)
{
	struct goodput_setup trial = *setup;
	double around_s = goodput_young_s(setup->save_s, goodput_mtbf_s(setup));
	if (around_s == 0 || isinf(around_s))
		return around_s;
	double low = log(around_s / 64), high = log(around_s * 64);
	while (high - low > 1e-9) {
		double left = high - GOLDEN * (high - low), right = low + GOLDEN * (high - low);
		trial.interval_s = exp(left);
		double at_left = goodput_closed(&trial);
		trial.interval_s = exp(right);
		if (at_left > goodput_closed(&trial))
			high = right;
		else
			low = left;
	}
	return exp((low + high) / 2);
}
