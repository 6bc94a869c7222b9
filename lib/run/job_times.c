// SPDX-License-Identifier: Apache-2.0
#include <weft/run/input_files.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>

// What stands in place of the old times.
struct job_times {
	const struct plan *job;
	const struct timing *timing;
	const char *comment;
};

static void put_origin(FILE *to, const struct job_times *times)
{
	fprintf(to, "inputs:\n  - {of: times, origin: calibrated, text: \"%s\"}\n",
		times->timing->origin);
}

static void put_times(FILE *to, const struct job_times *times)
{
	const struct timing *timing = times->timing;
	fprintf(to, "%stimes:\n", times->comment);
	if (times->job->site.device != NULL)
		fprintf(to, "  device: %s\n", times->job->site.device->name);
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

static void put_text(FILE *to, const struct job_times *times, char *text)
{
	bool is_inside = false, has_times = false, has_inputs = false;
	for (char *line = text, *end; *line != '\0'; line = end) {
		end = strchr(line, '\n');
		end = end != NULL ? end + 1 : line + strlen(line);
		bool is_top = *line != ' ' && *line != '\n' && *line != '#';
		is_inside = is_top ? begins(line, "times:") : is_inside && *line == ' ';
		if (is_top && is_inside) {
			put_times(to, times);
			has_times = true;
		}
		if (is_top && begins(line, "inputs:\n")) {
			put_origin(to, times);
			has_inputs = true;
			continue;
		}
		if (!is_inside && !is_of_times(line))
			fwrite(line, 1, (size_t)(end - line), to);
	}
	if (!has_times)
		put_times(to, times);
	if (!has_inputs)
		put_origin(to, times);
}

// Whether the file says what was written.
static int check_text(const struct job_times *times, const char *path, const char *text,
		      size_t bytes, struct refusal *refusal)
{
	static struct plan_file file;
	struct refusal reason = {0};
	const struct timing *timing = &file.plan.timing;
	if (plan_file_read(&file, path, text, bytes, &reason) == 0 &&
	    timing->rests_on != INPUT_ASSUMED &&
	    timing->forward_ps / 1000 == times->timing->forward_ps / 1000 &&
	    timing->backward_ps / 1000 == times->timing->backward_ps / 1000)
		return 0;
	refusal_name(refusal, path);
	snprintf(refusal->text, sizeof(refusal->text),
		 "write `times:` and `inputs:` as lines of their own, to be edited%s%.200s",
		 reason.text[0] != '\0' ? ": " : "", reason.text);
	return -EINVAL;
}

int job_times_print(FILE *to, const char *name, const struct plan *job, const struct timing *timing,
		    const char *comment, struct refusal *refusal)
{
	const struct job_times times = {job, timing, comment};
	struct data_file file;
	char *made = NULL;
	size_t bytes = 0;
	int rc = data_file_read(&file, DATA_PATH_MODELS, name, refusal);
	if (rc < 0)
		return rc;
	FILE *memory = open_memstream(&made, &bytes);
	if (memory == NULL)
		return refuse(refusal, -ENOMEM, "no memory for a job's file");
	put_text(memory, &times, file.text);
	rc = fclose(memory) == 0 ? check_text(&times, file.path, made, bytes, refusal)
				 : refuse(refusal, -ENOMEM, "no memory for a job's file");
	if (rc == 0)
		fwrite(made, 1, bytes, to);
	free(made);
	free(file.text);
	return rc;
}
