// SPDX-License-Identifier: Apache-2.0
// The best interval by trying. Near the best one, losses over the logarithm of the interval are
// nearly a hyperbolic cosine: symmetric, so that the lowest point of a parabola through them is not
// off to one side, however flat it lies and however rough the few failures of a run make it.

#include <weft/measure/measure_goodput.h>

#include <math.h>

#define FINE_STEPS 12 // to each side of the best power of two
#define FINE_PER_OCTAVE 8

double goodput_mean(const struct goodput_setup *setup, uint32_t runs)
{
	struct goodput_run run;
	double sum_s = 0;
	for (uint32_t i = 0; i < runs; i++) {
		goodput_run(&run, setup, i);
		sum_s += run.kept_s;
	}
	return sum_s / runs / setup->length_s;
}

static double mean_at(const struct goodput_setup *setup, double interval_s, uint32_t runs)
{
	struct goodput_setup trial = *setup;
	trial.interval_s = interval_s;
	return goodput_mean(&trial, runs);
}

// The best of the powers of two below the length of a run, and not so short that saving is all.
static double coarse_s(const struct goodput_setup *setup, uint32_t runs)
{
	double best_s = setup->length_s, best = -1;
	double least_s = setup->save_s / 16 > setup->length_s / 1e8 ? setup->save_s / 16
								    : setup->length_s / 1e8;
	for (double interval_s = setup->length_s; interval_s >= least_s; interval_s /= 2) {
		double mean = mean_at(setup, interval_s, runs);
		if (mean > best) {
			best = mean;
			best_s = interval_s;
		}
	}
	return best_s;
}

double goodput_best_interval_s(const struct goodput_setup *setup, uint32_t runs)
{
	double middle_s = coarse_s(setup, runs);
	// least squares of y = a + b x + c x^2 over places that lie evenly around 0
	double n = 2 * FINE_STEPS + 1, x2 = 0, x4 = 0, y = 0, xy = 0, x2y = 0;
	for (int i = -FINE_STEPS; i <= FINE_STEPS; i++) {
		double x = (double)i / FINE_PER_OCTAVE;
		double mean = mean_at(setup, middle_s * exp2(x), runs);
		x2 += x * x;
		x4 += x * x * x * x;
		y += mean;
		xy += x * mean;
		x2y += x * x * mean;
	}
	double c = (n * x2y - x2 * y) / (n * x4 - x2 * x2), b = xy / x2;
	double vertex = c < 0 ? -b / (2 * c) : 0; // no peak in sight: the best that was tried
	double side = (double)FINE_STEPS / FINE_PER_OCTAVE;
	vertex = vertex < -side ? -side : vertex > side ? side : vertex;
	double found_s = middle_s * exp2(vertex);
	return found_s < setup->length_s ? found_s : setup->length_s;
}
