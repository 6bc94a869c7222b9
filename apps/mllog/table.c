// SPDX-License-Identifier: Apache-2.0
// Figures of logs for people: one section per log.

#include <inttypes.h>
#include <math.h>

#include "mllog.h"

static void print_head(FILE *to, const struct log_file *file)
{
	const struct mllog *log = &file->log;
	fprintf(to, "%s\n", file->path);
	if (log->platform[0] != '\0' || log->org[0] != '\0')
		fprintf(to, "  %s, %s: %s\n", log->org, log->platform, log->benchmark);
	if (log->batch > 0)
		fprintf(to, "  batch of %" PRIu32 " samples", log->batch);
	if (log->micro_batches > 0)
		fprintf(to, "%s%" PRIu32 " micro-batches a step", log->batch > 0 ? ", " : "  ",
			log->micro_batches);
	fprintf(to, "%s%" PRIu32 " evaluations\n",
		log->batch > 0 || log->micro_batches > 0 ? ", " : "  ", log->evaluations);
}

static void print_steps(FILE *to, const struct mllog_figures *figures)
{
	fprintf(to, "  records with a step time %7" PRIu32 "   median %.4f s\n", figures->records,
		figures->records_median_s);
	if (figures->means > 0)
		fprintf(to, "    means over blocks      %7" PRIu32 "   no steps\n", figures->means);
	fprintf(to, "    steps                  %7" PRIu32 "   median %.4f s\n", figures->steps,
		figures->steps_median_s);
	fprintf(to, "  left out                 %7" PRIu32 "   over %.4g medians\n", figures->slow,
		figures->slow_ratio);
	fprintf(to, "                           %7" PRIu32 "   first after an evaluation\n",
		figures->after_evaluation);
}

static void print_kept(FILE *to, const struct mllog_figures *figures)
{
	fprintf(to, "  kept                     %7" PRIu32 "   median %.4f s, mean %.4f s\n",
		figures->kept, figures->median_s, figures->mean_s);
	fprintf(to, "                                     from %.4f s to %.4f s\n", figures->min_s,
		figures->max_s);
	fprintf(to, "    CV                     %9.3f %%  deviation %.2f ms\n", figures->cv * 100,
		figures->deviation_s * 1e3);
	fprintf(to, "    half-width of the mean %9.3f %%  95 %%, if steps were independent\n",
		figures->half_width * 100);
	if (figures->blocks == 0)
		return;
	fprintf(to,
		"  blocks of %-6" PRIu32 "         %7" PRIu32 "   means from %.4f s to %.4f s\n",
		figures->block_steps, figures->blocks, figures->block_min_s, figures->block_max_s);
	if (figures->blocks > 1)
		fprintf(to,
			"    CV of the means        %9.3f %%  independent steps would give %.3f "
			"%%\n",
			figures->block_cv * 100, figures->block_cv_if_independent * 100);
}

static void print_outliers(FILE *to, const struct mllog_figures *figures)
{
	for (uint32_t i = 0; i < figures->outlier_count; i++) {
		const struct mllog_outlier *outlier = &figures->outliers[i];
		fprintf(to, "%s %10.4f s   %.2f medians, line %" PRIu32,
			i == 0 ? "  longest steps          " : "                         ",
			outlier->step->time_s, outlier->ratio, outlier->step->line);
		if (outlier->step->number >= 0)
			fprintf(to, ", step %.0f", outlier->step->number);
		fputc('\n', to);
	}
}

void table_print(FILE *to, const struct call *call)
{
	for (uint32_t i = 0; i < call->count; i++) {
		const struct log_file *file = &call->files[i];
		if (i > 0)
			fputc('\n', to);
		print_head(to, file);
		print_steps(to, &file->figures);
		print_kept(to, &file->figures);
		if (!isnan(file->figures.validation_median_s))
			fprintf(to, "  validation steps         %7" PRIu32 "   median %.4f s\n",
				file->log.validation_count, file->figures.validation_median_s);
		print_outliers(to, &file->figures);
		if (call->result != NULL)
			fprintf(to,
				"  result                   %9.4f s  %+.2f %% of the kept steps' "
				"median: %s\n",
				call->result_s, log_file_off(call, file) * 100, call->result);
	}
}

void ratios_print(FILE *to, const struct call *call)
{
	for (uint32_t i = 0; i < call->count; i++) {
		const struct log_file *file = &call->files[i];
		const struct mllog_figures *figures = &file->figures;
		fprintf(to, "# %s: %" PRIu32 " steps over their mean, %.6f s\n", file->path,
			figures->kept, figures->mean_s);
		for (uint32_t k = 0; k < file->log.step_count; k++)
			if (mllog_is_kept(figures, &file->log.steps[k]))
				fprintf(to, "%.9f\n", file->log.steps[k].time_s / figures->mean_s);
	}
}
