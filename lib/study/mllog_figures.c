// SPDX-License-Identifier: Apache-2.0
// Statistics of step times. What is left out is counted, so that nobody takes the rest for all.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/order.h>
#include <weft/study/mllog.h>

#define NORMAL_95 \
	1.96 // standard deviations around the mean that hold 95 % of a normal distribution

// Sorts `times`.
static double median_of(double *times, uint32_t count)
{
	if (count == 0)
		return NAN;
	qsort(times, count, sizeof(*times), order_double);
	return count % 2 == 1 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
}

static double mean_of(const double *times, uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += times[i];
	return sum / count;
}

static double deviation_of(const double *times, uint32_t count)
{
	double mean = mean_of(times, count), sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += (times[i] - mean) * (times[i] - mean);
	return count < 2 ? NAN : sqrt(sum / (count - 1));
}

// Keeps `outliers` sorted, the longest first.
static void note_outlier(struct mllog_figures *figures, const struct mllog_step *step)
{
	uint32_t at = figures->outlier_count;
	if (at < MLLOG_OUTLIERS_MAX)
		figures->outlier_count++;
	else if (figures->outliers[--at].step->time_s >= step->time_s)
		return;
	for (; at > 0 && figures->outliers[at - 1].step->time_s < step->time_s; at--)
		figures->outliers[at] = figures->outliers[at - 1];
	figures->outliers[at] = (struct mllog_outlier){step,
						       step->time_s / figures->steps_median_s};
}

bool mllog_is_kept(const struct mllog_figures *figures, const struct mllog_step *step)
{
	return !step->is_mean && !step->is_after_evaluation &&
		step->time_s <= figures->slow_ratio * figures->steps_median_s;
}

// Copies what is kept to `times`, in the order of the log.
static void keep(struct mllog_figures *figures, const struct mllog *log, double *times)
{
	double limit_s = figures->slow_ratio * figures->steps_median_s;
	for (uint32_t i = 0; i < log->step_count; i++) {
		const struct mllog_step *step = &log->steps[i];
		if (step->is_mean)
			continue;
		if (step->time_s > limit_s) {
			figures->slow++;
			note_outlier(figures, step);
		} else if (step->is_after_evaluation) {
			figures->after_evaluation++;
		} else {
			times[figures->kept++] = step->time_s;
		}
	}
}

// Means over consecutive steps; the rest that fills no block is left out.
static void find_blocks(struct mllog_figures *figures, const double *times, double *means)
{
	uint32_t length = figures->block_steps, count = figures->kept / length;
	figures->blocks = count;
	figures->block_min_s = figures->block_max_s = NAN;
	for (uint32_t i = 0; i < count; i++) {
		means[i] = mean_of(times + (size_t)i * length, length);
		figures->block_min_s = fmin(figures->block_min_s, means[i]);
		figures->block_max_s = fmax(figures->block_max_s, means[i]);
	}
	figures->block_cv = deviation_of(means, count) / figures->mean_s;
	figures->block_cv_if_independent = figures->cv / sqrt(length);
}

static void find_kept(struct mllog_figures *figures, double *times, double *room)
{
	figures->mean_s = mean_of(times, figures->kept);
	figures->deviation_s = deviation_of(times, figures->kept);
	figures->cv = figures->deviation_s / figures->mean_s;
	figures->half_width = NORMAL_95 * figures->cv / sqrt(figures->kept);
	find_blocks(figures, times, room);
	figures->median_s = median_of(times, figures->kept); // sorts, so the last
	figures->min_s = times[0];
	figures->max_s = times[figures->kept - 1];
}

static void find_medians(struct mllog_figures *figures, const struct mllog *log, double *times)
{
	uint32_t steps = 0;
	for (uint32_t i = 0; i < log->step_count; i++)
		times[i] = log->steps[i].time_s;
	figures->records = log->step_count;
	figures->records_median_s = median_of(times, log->step_count);
	for (uint32_t i = 0; i < log->step_count; i++)
		if (!log->steps[i].is_mean)
			times[steps++] = log->steps[i].time_s;
	figures->steps = steps;
	figures->means = log->step_count - steps;
	figures->steps_median_s = median_of(times, steps);
}

int mllog_figures(struct mllog_figures *ret, const struct mllog *log, double slow_ratio,
		  uint32_t block_steps, struct refusal *refusal)
{
	uint32_t most = log->step_count > log->validation_count ? log->step_count
								: log->validation_count;
	double *times = calloc(2 * ((size_t)most + 1), sizeof(*times)), *room = times + most + 1;
	if (times == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for % steps", most);
	*ret = (struct mllog_figures){.slow_ratio = slow_ratio, .block_steps = block_steps};
	find_medians(ret, log, times);
	for (uint32_t i = 0; i < log->validation_count; i++)
		times[i] = log->validations_s[i];
	ret->validation_median_s = median_of(times, log->validation_count);
	keep(ret, log, times);
	if (ret->kept >= 2)
		find_kept(ret, times, room);
	free(times);
	if (ret->kept >= 2)
		return 0;
	return refuse(refusal, -EINVAL,
		      "% steps are left of %: at least 2 are needed (slow ones and the first after "
		      "an evaluation do not count)",
		      ret->kept, ret->steps);
}
