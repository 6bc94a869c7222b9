// SPDX-License-Identifier: Apache-2.0
// Fits the times of a job to logs. The forward comes from forward-only steps: with pipelines of
// different lengths from their slope, else from the length of one. The backward is searched for so
// that the steps of the closed schedule come nearest to the logs' in the sum of squares; with logs
// of different numbers of micro-batches the rest of a step is what is left on average.

#include "mllog.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/input_files.h>
#include <weft/run/schedule.h>

#define HALVINGS 40
#define GOLDEN 0.6180339887498949
#define DOMAIN_RANKS 8 // where the job's file does not say it

// One log, and what the fitted times say of its step.
struct fit_log {
	const struct log_file *file;
	struct plan plan; // the job with the log's replicas and micro-batches
	double step_s;	  // as fitted
};

struct fit {
	const struct plan *job;
	struct fit_log logs[FILES_MAX];
	uint32_t count;
	bool has_forward; // from forward-only steps of the logs; else half of the backward
	bool has_other;	  // from logs of different numbers of micro-batches; else the job's
	struct timing timing;
};

// ---------------------------------------------------------------- the logs' jobs

static int take_log(struct fit *fit, const struct log_file *file, struct refusal *refusal)
{
	struct fit_log *to = &fit->logs[fit->count++];
	const struct mllog *log = &file->log;
	*to = (struct fit_log){.file = file, .plan = *fit->job};
	to->plan.timing.has_parts = false;
	struct parallel *cut = &to->plan.parallel;
	if (log->micro_batches > 0)
		cut->micro_batches = log->micro_batches;
	uint64_t each = (uint64_t)cut->micro_batches * cut->samples;
	if (log->batch > 0 && log->batch % each != 0)
		return refuse(
			refusal, -EINVAL,
			"%s: a batch of % samples is not a whole number of replicas of % each",
			log->batch, (int64_t)each);
	if (log->batch > 0)
		cut->dp = (uint32_t)(log->batch / each);
	int rc = plan_check(&to->plan, refusal);
	if (rc < 0)
		refusal_name(refusal, file->path);
	return rc;
}

// Slots of a forward-only pipeline.
static double slots_of(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	return (double)cut->micro_batches * cut->vpp + cut->pp - 1;
}

static double validation_s(const struct fit_log *log)
{
	return log->file->figures.validation_median_s;
}

// Of a cell in the middle, in seconds; 0 when the logs have no forward-only steps.
static double forward_of(const struct fit *fit)
{
	double count = 0, x = 0, y = 0, xx = 0, xy = 0;
	for (uint32_t i = 0; i < fit->count; i++) {
		double slots = slots_of(&fit->logs[i].plan), time = validation_s(&fit->logs[i]);
		if (isnan(time))
			continue;
		count++, x += slots, y += time, xx += slots * slots, xy += slots * time;
	}
	double width = count * xx - x * x;
	if (count == 0)
		return 0;
	return width > 0 ? (count * xy - x * y) / width : y / x;
}

static bool has_lengths(const struct fit *fit)
{
	for (uint32_t i = 1; i < fit->count; i++)
		if (slots_of(&fit->logs[i].plan) != slots_of(&fit->logs[0].plan))
			return true;
	return false;
}

// ---------------------------------------------------------------- the search

// Steps without the rest of them; false when no schedule is made of it.
static bool run_steps(struct fit *fit, double backward_s, struct refusal *refusal)
{
	double forward_s = fit->has_forward ? (double)fit->timing.forward_ps / PS_PER_S
					    : backward_s / 2;
	for (uint32_t i = 0; i < fit->count; i++) {
		struct plan *plan = &fit->logs[i].plan;
		struct exposure exposure;
		plan->timing.forward_ps = (ps_t)(forward_s * PS_PER_S);
		plan->timing.backward_ps = (ps_t)(backward_s * PS_PER_S);
		plan->timing.other_ps = 0;
		plan->site.efficiency_ppb = 0; // times are these, not the device's
		exposure_find(&exposure, plan, plan->parallel.order,
			      plan->site.domain > 0 ? plan->site.domain : DOMAIN_RANKS);
		if (exposure.why_not.text[0] != '\0') {
			*refusal = exposure.why_not;
			return false;
		}
		fit->logs[i].step_s = (double)exposure.times.with.step_ps / PS_PER_S;
	}
	return true;
}

// The rest of a step that goes best with steps that were run, and the squares that are left.
static double settle_other(struct fit *fit)
{
	double other = 0, squares = 0;
	for (uint32_t i = 0; i < fit->count; i++)
		other += (fit->logs[i].file->figures.median_s - fit->logs[i].step_s) / fit->count;
	if (!fit->has_other)
		other = (double)fit->job->timing.other_ps / PS_PER_S;
	other = other > 0 ? other : 0;
	for (uint32_t i = 0; i < fit->count; i++) {
		double off = fit->logs[i].step_s + other - fit->logs[i].file->figures.median_s;
		squares += off * off;
	}
	fit->timing.other_ps = (ps_t)(other * PS_PER_S);
	return squares;
}

static double squares_at(struct fit *fit, double backward_s, struct refusal *refusal)
{
	return run_steps(fit, backward_s, refusal) ? settle_other(fit) : INFINITY;
}

// Golden section: a step grows with its backward, so the squares have one least value.
static int search(struct fit *fit, struct refusal *refusal)
{
	double low = 1e-9, high = 1, middle_squares, far_squares;
	for (uint32_t i = 0; i < fit->count; i++) // no backward is longer than the step that has it
		high = fmin(high, fit->logs[i].file->figures.median_s);
	double middle = high - (high - low) * GOLDEN, far = low + (high - low) * GOLDEN;
	middle_squares = squares_at(fit, middle, refusal);
	far_squares = squares_at(fit, far, refusal);
	if (isinf(middle_squares) || isinf(far_squares))
		return -EINVAL;
	for (int i = 0; i < 2 * HALVINGS; i++) {
		if (middle_squares <= far_squares) {
			high = far, far = middle, far_squares = middle_squares;
			middle = high - (high - low) * GOLDEN;
			middle_squares = squares_at(fit, middle, refusal);
		} else {
			low = middle, middle = far, middle_squares = far_squares;
			far = low + (high - low) * GOLDEN;
			far_squares = squares_at(fit, far, refusal);
		}
	}
	if (!run_steps(fit, middle, refusal))
		return -EINVAL;
	(void)settle_other(fit);
	fit->timing.forward_ps = fit->logs[0].plan.timing.forward_ps;
	fit->timing.backward_ps = fit->logs[0].plan.timing.backward_ps;
	for (uint32_t i = 0; i < fit->count; i++)
		fit->logs[i].step_s += (double)fit->timing.other_ps / PS_PER_S;
	return 0;
}

// ---------------------------------------------------------------- how well it fits

static double percent_off(const struct fit_log *log)
{
	return 100 * (log->step_s / log->file->figures.median_s - 1);
}

static void put_comment(FILE *to, const struct fit *fit)
{
	fprintf(to, "# Times fitted to the median of the kept steps of logs: %s, %s, %s.\n",
		fit->has_forward ? "forward by forward-only steps" : "forward half of backward",
		"backward by the steps",
		fit->has_other ? "the rest by their different lengths"
			       : "the rest as the job had it");
	for (uint32_t i = 0; i < fit->count; i++) {
		const struct fit_log *log = &fit->logs[i];
		const char *slash = strrchr(log->file->path, '/');
		fprintf(to,
			"#   %s: %" PRIu32
			" steps of %.4f s, which vary by %.2f %%; fitted %.4f s, "
			"%+.2f %%\n",
			slash != NULL ? slash + 1 : log->file->path, log->file->figures.kept,
			log->file->figures.median_s, 100 * log->file->figures.cv, log->step_s,
			percent_off(log));
	}
	if (fit->count <= 1u + fit->has_other)
		fprintf(to, "#   As many unknown times as steps: they fit by construction.\n");
}

static int put_file(FILE *to, struct fit *fit, struct call *call)
{
	char origin[96], *comment = NULL;
	size_t bytes;
	double worst = 0;
	for (uint32_t i = 0; i < fit->count; i++)
		worst = fmax(worst, fabs(percent_off(&fit->logs[i])));
	snprintf(origin, sizeof(origin),
		 "fitted to the steps of %" PRIu32 " log%s, at most %.2f %% off", fit->count,
		 fit->count == 1 ? "" : "s", worst);
	fit->timing.origin = origin;
	FILE *memory = open_memstream(&comment, &bytes);
	if (memory == NULL)
		return refuse(&call->refusal, -ENOMEM, "no memory for a job's file");
	put_comment(memory, fit);
	int rc = fclose(memory) != 0
		? refuse(&call->refusal, -ENOMEM, "no memory for a job's file")
		: job_times_print(to, call->fit, fit->job, &fit->timing, comment, &call->refusal);
	free(comment);
	return rc;
}

int fit_print(FILE *to, struct call *call)
{
	static struct fit fit; // large
	int rc = plan_files_find(&fit.job, call->fit, NULL, &call->refusal);
	for (uint32_t i = 0; rc == 0 && i < call->count; i++)
		rc = take_log(&fit, &call->files[i], &call->refusal);
	if (rc < 0)
		return rc;
	double forward_s = forward_of(&fit);
	fit.has_forward = forward_s > 0;
	fit.has_other = has_lengths(&fit);
	fit.timing.forward_ps = (ps_t)(forward_s * PS_PER_S);
	rc = search(&fit, &call->refusal);
	return rc < 0 ? rc : put_file(to, &fit, call);
}
