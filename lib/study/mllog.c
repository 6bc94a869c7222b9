// SPDX-License-Identifier: Apache-2.0
// Reads MLPerf logs. Facts: MLPerf's logging writes one line per event, ":::MLLOG {json}", which a
// launcher may prefix with a rank; NVIDIA's training code logs each step as
// {"train_step_time": s, "reduced_train_loss": x} under "tracked_stats", and before each evaluation
// the mean over the block of steps in the same field, without a loss. A reader that takes such a
// mean for a step counts a few steps too many. Other code says "step_time".

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/study/mllog.h>

#define MARK ":::MLLOG"
#define NOT_UPWARDS "steps do not count upwards here: a log of one rank and one run is needed"
#define STEP_S_MAX 1e6 // nothing trains at a step in eleven days

struct reader {
	struct mllog *log;
	struct refusal *refusal;
	uint32_t step_room, validation_room;
	bool has_losses;	  // steps say their loss, so what has none is a mean
	bool is_after_evaluation; // the next step is the first
	bool is_several;	  // logs of several ranks in one file
	double last_number;
	char stats[MLLOG_TEXT_BYTES]; // what the first statistics without a time of a step say
};

// It goes to a terminal.
static void make_plain(char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text >= 127)
			*text = '?';
}

static int bad(struct reader *reader, size_t column, const char *text)
{
	reader->refusal->line = reader->log->lines;
	reader->refusal->column = (uint32_t)column;
	snprintf(reader->refusal->text, sizeof(reader->refusal->text), "%s", text);
	make_plain(reader->refusal->text);
	return -EINVAL;
}

// Room for one more of `count` elements. NULL when the system gives none.
static void *grown(void *list, uint32_t count, uint32_t *room, size_t size)
{
	if (count < *room)
		return list;
	uint32_t wanted = *room == 0 ? 256 : *room * 2;
	void *larger = realloc(list, wanted * size);
	if (larger != NULL)
		*room = wanted;
	return larger;
}

static int no_memory(struct reader *reader)
{
	snprintf(reader->refusal->text, sizeof(reader->refusal->text),
		 "not enough memory for the steps of a log");
	return -ENOMEM;
}

// The time under `name`, in seconds; 0 when there is none.
static int time_of(struct reader *reader, const json_t *value, const char *name, double *ret)
{
	const json_t *time = json_object_get(value, name);
	*ret = 0;
	if (time == NULL)
		return 0;
	*ret = json_number_value(time);
	if (!json_is_number(time) || !isfinite(*ret) || *ret <= 0 || *ret > STEP_S_MAX) {
		char text[128];
		snprintf(text, sizeof(text), "%s is not a positive number of seconds", name);
		return bad(reader, 0, text);
	}
	return 0;
}

// ---------------------------------------------------------------- records

static int take_step(struct reader *reader, const json_t *entry, const json_t *value, double time_s)
{
	struct mllog *log = reader->log;
	const json_t *number = json_object_get(json_object_get(entry, "metadata"), "step");
	struct mllog_step step = {
		.time_s = time_s,
		.number = json_is_number(number) ? json_number_value(number) : -1,
		.line = log->lines,
		.is_mean = json_object_get(value, "reduced_train_loss") == NULL,
	};
	reader->has_losses |= !step.is_mean;
	if (!step.is_mean) {
		reader->is_several = step.number >= 0 && step.number <= reader->last_number;
		if (reader->is_several)
			return bad(reader, 0, NOT_UPWARDS);
		if (step.number >= 0)
			reader->last_number = step.number;
		step.is_after_evaluation = reader->is_after_evaluation;
		reader->is_after_evaluation = false;
	}
	struct mllog_step *steps = grown(log->steps, log->step_count, &reader->step_room,
					 sizeof(*steps));
	if (steps == NULL)
		return no_memory(reader);
	log->steps = steps;
	steps[log->step_count++] = step;
	return 0;
}

static int take_validation(struct reader *reader, double time_s)
{
	struct mllog *log = reader->log;
	double *times = grown(log->validations_s, log->validation_count, &reader->validation_room,
			      sizeof(*times));
	if (times == NULL)
		return no_memory(reader);
	log->validations_s = times;
	times[log->validation_count++] = time_s;
	return 0;
}

static void note_stats(struct reader *reader, const json_t *value)
{
	const char *name = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)value));
	if (reader->stats[0] != '\0' || name == NULL)
		return;
	snprintf(reader->stats, sizeof(reader->stats), "%s", name);
	make_plain(reader->stats);
}

static int take_stats(struct reader *reader, const json_t *entry, const json_t *value)
{
	double step_s, validation_s;
	int rc = time_of(reader, value, "train_step_time", &step_s);
	if (rc == 0 && step_s == 0)
		rc = time_of(reader, value, "step_time", &step_s);
	if (rc == 0 && step_s == 0)
		note_stats(reader, value);
	if (rc == 0)
		rc = time_of(reader, value, "validation_step_time", &validation_s);
	if (rc == 0 && step_s > 0)
		rc = take_step(reader, entry, value, step_s);
	if (rc == 0 && validation_s > 0)
		rc = take_validation(reader, validation_s);
	return rc;
}

static void take_text(char *to, const json_t *value)
{
	const char *text = json_string_value(value);
	if (text == NULL || to[0] != '\0')
		return;
	snprintf(to, MLLOG_TEXT_BYTES, "%s", text);
	make_plain(to);
}

static int take_count(struct reader *reader, uint32_t *to, const json_t *value, const char *name)
{
	double number = json_number_value(value);
	char text[128];
	if (json_is_number(value) && number >= 1 && number <= 1e9 && number == floor(number)) {
		*to = (uint32_t)number;
		return 0;
	}
	snprintf(text, sizeof(text), "%s is not a whole number from 1", name);
	return bad(reader, 0, text);
}

// Ranks may each say that the run begins, but not behind its steps.
static int take_run_start(struct reader *reader)
{
	reader->is_several = reader->log->step_count > 0;
	if (!reader->is_several)
		return 0;
	return bad(reader, 0,
		   "another run begins here (run_start behind steps): a log of one rank and one "
		   "run is needed");
}

static int take_entry(struct reader *reader, const json_t *entry)
{
	struct mllog *log = reader->log;
	const char *key = json_string_value(json_object_get(entry, "key"));
	const json_t *value = json_object_get(entry, "value");
	if (key == NULL)
		return bad(reader, 0, "an entry of the log has no key");
	log->entries++;
	if (strcmp(key, "tracked_stats") == 0)
		return take_stats(reader, entry, value);
	if (strcmp(key, "run_start") == 0)
		return take_run_start(reader);
	if (strcmp(key, "global_batch_size") == 0)
		return take_count(reader, &log->batch, value, key);
	if (strcmp(key, "gradient_accumulation_steps") == 0)
		return take_count(reader, &log->micro_batches, value, key);
	if (strcmp(key, "eval_start") == 0)
		log->evaluations++;
	if (strcmp(key, "eval_start") == 0 || strcmp(key, "eval_stop") == 0)
		reader->is_after_evaluation = true;
	if (strcmp(key, "submission_benchmark") == 0)
		take_text(log->benchmark, value);
	else if (strcmp(key, "submission_org") == 0)
		take_text(log->org, value);
	else if (strcmp(key, "submission_platform") == 0)
		take_text(log->platform, value);
	return 0;
}

// ---------------------------------------------------------------- lines

static int take_line(struct reader *reader, const char *line, size_t bytes)
{
	const char *mark = memmem(line, bytes, MARK, strlen(MARK));
	json_error_t error;
	if (mark == NULL)
		return 0;
	const char *text = mark + strlen(MARK);
	size_t before = (size_t)(text - line);
	json_t *entry = json_loadb(text, bytes - before, JSON_REJECT_DUPLICATES, &error);
	if (entry == NULL) {
		char why[256];
		snprintf(why, sizeof(why), "not JSON: %.200s", error.text);
		return bad(reader, before + (size_t)(error.position < 1 ? 1 : error.position), why);
	}
	int rc = json_is_object(entry) ? take_entry(reader, entry)
				       : bad(reader, before + 1, "not a JSON object");
	json_decref(entry);
	return rc;
}

// A damaged line is left out; what it is worth stands in the first one's reason.
static int leave_out(struct reader *reader, int rc)
{
	struct mllog *log = reader->log;
	if (rc != -EINVAL || reader->is_several)
		return rc;
	if (log->damaged++ == 0)
		log->first_damaged = *reader->refusal;
	*reader->refusal = (struct refusal){0};
	return 0;
}

static int check_steps(const struct reader *reader)
{
	const struct mllog *log = reader->log;
	struct refusal *refusal = reader->refusal;
	if (log->step_count > 0)
		return 0;
	if (log->damaged > 0) {
		*refusal = log->first_damaged;
		return -EINVAL;
	}
	if (log->entries == 0)
		return refuse(refusal, -EINVAL, "not an MLPerf log: none of % lines has " MARK,
			      log->lines);
	snprintf(refusal->text, sizeof(refusal->text),
		 "no train_step_time or step_time in %u entries of the log%s%s", log->entries,
		 reader->stats[0] == '\0' ? "" : "; its tracked_stats say ", reader->stats);
	return -EINVAL;
}

// Steps that say no loss at all, as other code than NVIDIA's may log them, are steps all the same.
static int settle(struct reader *reader)
{
	struct mllog *log = reader->log;
	double last = -1;
	for (uint32_t i = 0; !reader->has_losses && i < log->step_count; i++) {
		struct mllog_step *step = &log->steps[i];
		step->is_mean = false;
		if (step->number >= 0 && step->number < last) {
			log->lines = step->line;
			return bad(reader, 0, NOT_UPWARDS);
		}
		last = step->number >= 0 ? step->number : last;
	}
	return 0;
}

int mllog_parse(struct mllog *ret, const char *text, size_t bytes, struct refusal *refusal)
{
	struct reader reader = {.log = ret, .refusal = refusal, .last_number = -1};
	const char *end = text + bytes;
	int rc = 0;
	*ret = (struct mllog){0};
	while (rc == 0 && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		if (stop == NULL)
			stop = end;
		ret->lines++;
		rc = leave_out(&reader, take_line(&reader, text, (size_t)(stop - text)));
		text = stop + 1;
	}
	if (rc == 0)
		rc = check_steps(&reader);
	if (rc == 0)
		rc = settle(&reader);
	if (rc < 0)
		mllog_free(ret);
	return rc;
}

void mllog_free(struct mllog *log)
{
	free(log->steps);
	free(log->validations_s);
	*log = (struct mllog){0};
}
