// SPDX-License-Identifier: Apache-2.0
// Weak scaling as a table, and as comma-separated values.

#include <inttypes.h>

#include "scaling.h"
#include <weft/result/figures.h>

static void print_row(FILE *to, const struct call *call, const struct point *point)
{
	fprintf(to,
		"  %7" PRIu32 " %8" PRIu32 " %6" PRIu32 " %11.3f %9.3f %8.2f%% %10.3f%% %10.3f%%",
		point->racks, point->gpus, point->ring_ranks, point->step_s * 1e3,
		point->exposed_s * 1e3, point->exposed_s / point->step_s * 100,
		point->efficiency * 100, point->consistency * 100);
	if (call->is_sample)
		fprintf(to, " %8.3f", point->error_s * 1e3);
	if (call->seed_count > 0)
		fprintf(to, " %8.3f %7.3f%%  %s", point->spread.half * 1e3,
			point->spread.sd / point->spread.mean * 100,
			point == call->reference ? "reference"
						 : spread_verdict_name(point->against.verdict));
	else if (point == call->reference)
		fputs("  reference", to);
	fputc('\n', to);
}

static void print_notes(FILE *to, const struct call *call)
{
	const struct point *point = call->reference;
	fprintf(to, "  step rests on times that are %s: %s\n", origin_name(call->timing.rests_on),
		call->timing.origin);
	if (call->is_other_site)
		fprintf(to, "  %s\n", call->site);
	if (call->seed_count > 0)
		fprintf(to,
			"  %" PRIu32 " seeds each: step is the mean, differs: by more than chance "
			"(95 %%, all rows together)\n",
			call->seed_count);
	if (call->jitter.list != NULL)
		fprintf(to, "  jitter of ratios in %s on each forward and backward\n",
			call->jitter.list);
	else if (call->jitter_text != NULL)
		fprintf(to, "  jitter of %g %% on each forward and backward, %s\n",
			call->jitter.ppb / 1e7, jitter_kind_text(call->jitter.kind));
	if (call->is_sample)
		fprintf(to,
			"  error: of ring steps that did not run in a sample of %" PRIu32
			" groups of %" PRIu32
			"; what other stages add to all rows alike is not in it\n",
			point->groups, point->groups_all);
	else
		fputs("  Not in it: packets, congestion, losses, and what larger fabrics do to "
		      "switches (--fidelity sample).\n",
		      to);
	fputs("  Not in it: failures (weft goodput).\n", to);
}

void table_print(FILE *to, const struct call *call)
{
	const char *racks = call->reference->racks == 1 ? "rack" : "racks";
	fprintf(to,
		"%s: weak scaling over racks of %" PRIu32
		" GPUs, each step from its schedule, %s\n\n",
		call->name, call->gpus_per_rack,
		call->is_sample ? "with collectives packet by packet" : "no packets");
	fprintf(to, "  %7s %8s %6s %11s %9s %9s %11s %11s%s%s\n", "racks", "GPUs", "ring",
		"step ms", "exposed", "of step", "efficiency", "consistency",
		call->is_sample ? " error ms" : "",
		call->seed_count > 0 ? "   95 % ms       CV  against" : "");
	for (uint32_t i = 0; i < call->point_count; i++)
		print_row(to, call, &call->points[i]);
	fprintf(to,
		"\n  efficiency   T(%" PRIu32
		" %s) / T: weak scaling; above 100 %% the step is faster\n"
		"  consistency  1 - |T - T(%" PRIu32 " %s)| / T(%" PRIu32
		" %s): below 100 %% for a faster step, too\n",
		call->reference->racks, racks, call->reference->racks, racks,
		call->reference->racks, racks);
	print_notes(to, call);
}

void csv_print(FILE *to, const struct call *call)
{
	fputs("racks,gpus,replicas,batch,ring_ranks,step_s,exposed_s,error_s,efficiency,"
	      "consistency,seeds,"
	      "step_half_95_s,step_sd_s,step_min_s,step_max_s,times\n",
	      to);
	for (uint32_t i = 0; i < call->point_count; i++) {
		const struct point *point = &call->points[i];
		fprintf(to,
			"%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32
			",%.12g,%.12g,%.12g,%.12g,%.12g",
			point->racks, point->gpus, point->replicas, point->batch, point->ring_ranks,
			point->step_s, point->exposed_s, point->error_s, point->efficiency,
			point->consistency);
		if (call->seed_count > 0)
			fprintf(to, ",%" PRIu32 ",%.12g,%.12g,%.12g,%.12g", call->seed_count,
				point->spread.half, point->spread.sd, point->spread.min,
				point->spread.max);
		else
			fputs(",,,,,", to);
		fprintf(to, ",%s\n", origin_name(call->timing.rests_on));
	}
}
