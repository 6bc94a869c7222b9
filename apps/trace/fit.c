// SPDX-License-Identifier: Apache-2.0
// Times of a job from traces of its ranks. A rank's phase is that of all its micro-batches through
// all its cells, the last cell with its loss; the time of a cell in the middle follows. Of several
// ranks the mean counts.

#include "call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/input_files.h>
#include <weft/run/schedule.h>
#include <weft/run/trace_files.h>
#include <weft/trace/trace_phases.h>
#include <weft/workload/order.h>
#include <weft/workload/plan_memory.h>

#define DOMAIN_RANKS 8 // where the job's file does not say it

struct fit {
	struct plan plan; // the job, with the times that are found
	const struct plan *job;
	uint32_t count;
	double forward_ps, backward_ps, other_ps, step_ps; // sums over files
	FILE *comment;
};

static int take_stage(const struct fit *fit, const struct trace_phases *phases, uint32_t *ret,
		      struct refusal *refusal)
{
	struct order order;
	int rc = order_parse(&order, fit->plan.parallel.order, &fit->plan, refusal);
	*ret = 0;
	if (rc < 0 || (fit->plan.parallel.pp == 1 && !phases->has_rank))
		return rc;
	if (!phases->has_rank)
		return refuse(refusal, -EINVAL,
			      "distributedInfo.rank is not there: which of % stages it is of is "
			      "not known",
			      fit->plan.parallel.pp);
	if (phases->rank >= plan_ranks(&fit->plan))
		return refuse(refusal, -EINVAL, "rank %: the job has % ranks", phases->rank,
			      plan_ranks(&fit->plan));
	*ret = order_stage(&order, &fit->plan, phases->rank);
	return 0;
}

// Cells in the middle that a rank of that stage does in a step.
static double cells_of(const struct plan *plan, uint32_t stage)
{
	const struct parallel *cut = &plan->parallel;
	double cells = 0;
	for (uint32_t chunk = 0; chunk < cut->vpp; chunk++)
		cells += (double)plan_layers(plan, stage, chunk) / plan_slots(plan);
	if (stage + 1 == cut->pp)
		cells += plan_loss_ppb(plan) / 1e9;
	return cells * cut->micro_batches;
}

static int take_file(struct fit *fit, const char *path, const char *text, size_t bytes,
		     struct refusal *refusal)
{
	struct trace_phases phases;
	uint32_t stage;
	int rc = trace_phases(&phases, text, bytes, refusal);
	if (rc == 0)
		rc = take_stage(fit, &phases, &stage, refusal);
	if (rc < 0) {
		refusal_name(refusal, path);
		return rc;
	}
	double cells = cells_of(&fit->plan, stage);
	const char *slash = strrchr(path, '/');
	fit->forward_ps += (double)phases.phase_ps[PHASE_FORWARD] / cells;
	fit->backward_ps += (double)phases.phase_ps[PHASE_BACKWARD] / cells;
	fit->other_ps += (double)phases.phase_ps[PHASE_OPTIMIZER];
	fit->step_ps += (double)phases.step_ps;
	fit->count++;
	fprintf(fit->comment,
		"#   %s: %" PRIu32
		" steps of %.3f ms (%.3f to %.3f), in them forward %.3f, backward "
		"%.3f, optimizer %.3f\n",
		slash != NULL ? slash + 1 : path, phases.steps, (double)phases.step_ps / 1e9,
		(double)phases.least_ps / 1e9, (double)phases.most_ps / 1e9,
		(double)phases.phase_ps[PHASE_FORWARD] / 1e9,
		(double)phases.phase_ps[PHASE_BACKWARD] / 1e9,
		(double)phases.phase_ps[PHASE_OPTIMIZER] / 1e9);
	return 0;
}

static int take_one(void *context, const char *path, const char *text, size_t bytes,
		    struct refusal *refusal)
{
	return take_file(context, path, text, bytes, refusal);
}

// What a step comes to with these times, held against the traces' own.
static void put_step(struct fit *fit)
{
	struct plan *plan = &fit->plan;
	struct exposure exposure;
	double step_ps = fit->step_ps / fit->count;
	exposure_find(&exposure, plan, plan->parallel.order,
		      plan->site.domain > 0 ? plan->site.domain : DOMAIN_RANKS);
	if (exposure.why_not.text[0] != '\0') {
		fprintf(fit->comment, "#   How well the step fits is not known: %s.\n",
			exposure.why_not.text);
		return;
	}
	double found_ps = (double)exposure.times.with.step_ps;
	fprintf(fit->comment,
		"#   The job's step with them: %.3f ms, of which %.3f exposed; the traces' is "
		"%.3f, "
		"%+.2f %%.\n",
		found_ps / 1e9, (double)exposure_ps(&exposure) / 1e9, step_ps / 1e9,
		100 * (found_ps / step_ps - 1));
}

static int put_file(FILE *to, struct fit *fit, struct call *call, char **comment)
{
	struct timing *timing = &fit->plan.timing;
	char origin[96];
	timing->forward_ps = (ps_t)(fit->forward_ps / fit->count);
	timing->backward_ps = (ps_t)(fit->backward_ps / fit->count);
	timing->other_ps = (ps_t)(fit->other_ps / fit->count);
	snprintf(origin, sizeof(origin), "kernels of %" PRIu32 " profiler trace%s", fit->count,
		 fit->count == 1 ? "" : "s");
	timing->origin = origin;
	if (timing->forward_ps < PS_PER_NS || timing->backward_ps < PS_PER_NS)
		return refuse(
			&call->refusal, -EINVAL,
			"no kernel ran in the forward, or in the backward: there are no times");
	put_step(fit);
	if (fflush(fit->comment) != 0)
		return refuse(&call->refusal, -ENOMEM, "no memory for a job's file");
	return job_times_print(to, call->fit, fit->job, timing, *comment, &call->refusal);
}

int fit_print(FILE *to, struct call *call)
{
	static struct fit fit; // large
	char *comment = NULL;
	size_t bytes;
	int rc = plan_files_find(&fit.job, call->fit, NULL, &call->refusal);
	if (rc < 0)
		return rc;
	fit.plan = *fit.job;
	fit.plan.site.efficiency_ppb = 0;
	fit.plan.timing.has_parts = false;
	fit.comment = open_memstream(&comment, &bytes);
	if (fit.comment == NULL)
		return refuse(&call->refusal, -ENOMEM, "no memory for a job's file");
	fprintf(fit.comment,
		"# Times from traces of PyTorch's profiler: medians over steps of the time in "
		"which "
		"kernels ran,\n# without those of NCCL; the rest of a step is the optimizer.\n");
	rc = trace_files_each(call->paths, call->path_count, take_one, &fit, &call->refusal);
	if (rc == 0)
		rc = put_file(to, &fit, call, &comment);
	fclose(fit.comment);
	free(comment);
	return rc;
}
