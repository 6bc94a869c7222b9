// SPDX-License-Identifier: Apache-2.0
// A job's file with other times. Its text stays as it is but for the section `times` and the rows
// of inputs that are about it alone; what was written is read again before it is printed.

#include "mllog.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>
#include <weft/run/plan_files.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)

// ---------------------------------------------------------------- how well it fits

static double percent_off(const struct fit_log *log)
{
	return 100 * (log->step_s / log->file->figures.median_s - 1);
}

static void put_origin(FILE *to, const struct fit *fit)
{
	double worst = 0;
	for (uint32_t i = 0; i < fit->count; i++)
		worst = fmax(worst, fabs(percent_off(&fit->logs[i])));
	fprintf(to,
		"inputs:\n  - {of: times, origin: calibrated, text: \"fitted to the steps of "
		"%" PRIu32 " log%s, at most %.2f %% off\"}\n",
		fit->count, fit->count == 1 ? "" : "s", worst);
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

static void put_times(FILE *to, const struct fit *fit)
{
	const struct timing *timing = &fit->timing;
	put_comment(to, fit);
	fprintf(to, "times:\n");
	if (fit->job->site.device != NULL)
		fprintf(to, "  device: %s\n", fit->job->site.device->name);
	fprintf(to, "  forward: %" PRId64 "ns\n  backward: %" PRId64 "ns\n  other: %" PRId64 "ns\n",
		timing->forward_ps / 1000, timing->backward_ps / 1000, timing->other_ps / 1000);
}

// ---------------------------------------------------------------- the text

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

// A row of inputs that is about times alone.
static bool is_of_times(const char *line)
{
	while (*line == ' ' || *line == '-' || *line == '{')
		line++;
	if (!begins(line, "of: times"))
		return false;
	line += strlen("of: times");
	return *line == ',' || *line == '.';
}

static void put_text(FILE *to, const struct fit *fit, char *text)
{
	bool is_inside = false, has_times = false, has_inputs = false;
	for (char *line = text, *end; *line != '\0'; line = end) {
		end = strchr(line, '\n');
		end = end != NULL ? end + 1 : line + strlen(line);
		bool is_top = *line != ' ' && *line != '\n' && *line != '#';
		is_inside = is_top ? begins(line, "times:") : is_inside && *line == ' ';
		if (is_top && is_inside) {
			put_times(to, fit);
			has_times = true;
		}
		if (is_top && begins(line, "inputs:\n")) {
			put_origin(to, fit);
			has_inputs = true;
			continue;
		}
		if (!is_inside && !is_of_times(line))
			fwrite(line, 1, (size_t)(end - line), to);
	}
	if (!has_times)
		put_times(to, fit);
	if (!has_inputs)
		put_origin(to, fit);
}

// Whether the file says what was fitted.
static int check_text(const struct fit *fit, const char *path, const char *text, size_t bytes,
		      struct refusal *refusal)
{
	static struct plan_file file;
	struct refusal reason = {0};
	const struct timing *timing = &file.plan.timing;
	if (plan_file_read(&file, path, text, bytes, &reason) == 0 && !timing->is_assumed &&
	    timing->forward_ps / 1000 == fit->timing.forward_ps / 1000 &&
	    timing->backward_ps / 1000 == fit->timing.backward_ps / 1000)
		return 0;
	snprintf(refusal->file, sizeof(refusal->file), "%s", path);
	snprintf(refusal->text, sizeof(refusal->text),
		 "write `times:` and `inputs:` as lines of their own, to be edited%s%.200s",
		 reason.text[0] != '\0' ? ": " : "", reason.text);
	return -EINVAL;
}

int fit_file_print(FILE *to, const struct fit *fit, const char *name, struct refusal *refusal)
{
	char path[SCENARIO_PATH_BYTES], *text = NULL, *made = NULL;
	size_t bytes = 0;
	int rc = data_path_find(DATA_PATH_MODELS, name, path, sizeof(path), refusal);
	if (rc == 0)
		rc = file_read(path, FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	FILE *memory = open_memstream(&made, &bytes);
	if (memory == NULL)
		return refuse(refusal, -ENOMEM, "no memory for a job's file", 0, 0, 0);
	put_text(memory, fit, text);
	fclose(memory);
	rc = check_text(fit, path, made, bytes, refusal);
	if (rc == 0)
		fwrite(made, 1, bytes, to);
	free(made);
	free(text);
	return rc;
}
