// SPDX-License-Identifier: Apache-2.0
// Knobs as they are written.

#include "inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/scenario/scenario.h>
#include <weft/scenario/scenario_key.h>

#define LOG_FROM 8 // a range with ends so far apart is drawn on a log scale

static int refuse_knob(struct refusal *refusal, const char *text, const char *reason,
		       const char *word)
{
	refusal_name(refusal, text);
	snprintf(refusal->text, sizeof(refusal->text), "%s%s%.100s%s", reason,
		 word[0] != '\0' ? " `" : "", word, word[0] != '\0' ? "`" : "");
	return -EINVAL;
}

// "0.25rtt": a number and a base. False when it is none; *ret_base stays TUNE_PLAIN without one.
static bool read_ratio(const char *word, const struct scenario_key *key, enum tune_base *ret_base,
		       double *ret)
{
	char *end;
	if (strspn(word, "0123456789.") == 0)
		return false;
	*ret = strtod(word, &end);
	*ret_base = tune_base_named(end, key->unit);
	return *ret_base != TUNE_PLAIN;
}

// What is wrong with the value; where that is its unit, a knob may be in ratios, too.
static void refuse_end(struct refusal *refusal, const char *text, const struct scenario_key *key)
{
	char others[64];
	size_t used = strlen(refusal->text);
	tune_bases_of(key->unit, others, sizeof(others));
	if (strstr(refusal->text, "unit") != NULL && others[0] != '\0')
		snprintf(refusal->text + used, sizeof(refusal->text) - used, "; or a ratio: %s",
			 others);
	refusal_name(refusal, text);
}

static int read_end(const char *text, const char *word, const struct scenario_key *key,
		    enum tune_base *ret_base, double *ret, struct refusal *refusal)
{
	uint64_t value;
	*ret_base = TUNE_PLAIN;
	if (read_ratio(word, key, ret_base, ret))
		return 0;
	int rc = scenario_value_of(&value, key, word, refusal);
	*ret = (double)value;
	if (rc < 0)
		refuse_end(refusal, text, key);
	else if (value == UINT64_MAX)
		return refuse_knob(refusal, text, "a range has numbers at its ends, not", word);
	return rc;
}

// What may stand behind a range or words, each behind a colon.
struct conditions {
	const char *scale, *above, *when;
};

static int split_conditions(struct conditions *ret, const char *text, char *value,
			    struct refusal *refusal)
{
	char *rest;
	*ret = (struct conditions){0};
	strtok_r(value, ":", &rest);
	for (char *word = strtok_r(NULL, ":", &rest); word != NULL;
	     word = strtok_r(NULL, ":", &rest)) {
		const char **to = strncmp(word, "above=", 6) == 0 ? &ret->above
			: strncmp(word, "when=", 5) == 0	  ? &ret->when
								  : &ret->scale;
		if (*to != NULL)
			return refuse_knob(refusal, text, "given twice:", word);
		*to = to == &ret->scale ? word : strchr(word, '=') + 1;
	}
	return 0;
}

static int take_scale(struct tune_knob *knob, const char *text, const char *scale,
		      struct refusal *refusal)
{
	bool is_far = knob->low > 0 && knob->high / knob->low >= LOG_FROM;
	if (knob->scale != TUNE_WORDS)
		knob->scale = is_far && !knob->is_whole ? TUNE_LOG : TUNE_LINEAR;
	if (scale == NULL)
		return 0;
	if (knob->scale == TUNE_WORDS ||
	    (strcmp(scale, "log") != 0 && strcmp(scale, "linear") != 0))
		return refuse_knob(
			refusal, text,
			"behind a range may stand log, linear, above=KEY, when=KEY=WORD; not",
			scale);
	knob->scale = strcmp(scale, "log") == 0 ? TUNE_LOG : TUNE_LINEAR;
	if (knob->scale == TUNE_LOG && knob->low <= 0)
		return refuse_knob(refusal, text, "a log scale needs a lower end above 0", "");
	return 0;
}

// Place of the knob of that key, `bytes` long, or -1.
static int knob_named(const struct tune_space *space, const char *key, size_t bytes)
{
	for (uint32_t i = 0; i < space->count; i++)
		if (strlen(space->knobs[i].key) == bytes &&
		    strncmp(space->knobs[i].key, key, bytes) == 0)
			return (int)i;
	return -1;
}

static int take_above(struct tune_space *space, struct tune_knob *knob, const char *text,
		      const char *above, struct refusal *refusal)
{
	knob->above = above != NULL ? knob_named(space, above, strlen(above)) : -1;
	if (above == NULL)
		return 0;
	if (knob->above < 0)
		return refuse_knob(refusal, text, "above= wants a knob given before, not", above);
	const struct tune_knob *other = &space->knobs[knob->above];
	if (other->base != knob->base || other->scale == TUNE_WORDS || knob->scale == TUNE_WORDS ||
	    other->high >= knob->high || knob->is_whole)
		return refuse_knob(refusal, text,
				   "both knobs of above= want ranges in the same unit, this one's "
				   "with the larger upper end; see",
				   above);
	return 0;
}

static int take_gate(struct tune_space *space, struct tune_knob *knob, const char *text,
		     const char *when, struct refusal *refusal)
{
	if (when == NULL)
		return 0;
	size_t bytes = strcspn(when, "=");
	knob->gate = knob_named(space, when, bytes);
	const char *word = when[bytes] == '=' ? when + bytes + 1 : "";
	for (uint32_t i = 0; knob->gate >= 0 && i < space->knobs[knob->gate].word_count; i++)
		if (strcmp(space->knobs[knob->gate].words[i], word) == 0) {
			knob->gate_word = i;
			return 0;
		}
	return refuse_knob(refusal, text,
			   "when= wants a knob given before and one of its words, not", when);
}

static int read_range(struct tune_knob *knob, const char *text, char *value,
		      const struct scenario_key *key, struct refusal *refusal)
{
	char *dots = strstr(value, "..");
	enum tune_base other;
	if (key->words != NULL || strcmp(key->unit, "text") == 0 || strcmp(key->unit, "list") == 0)
		return refuse_knob(refusal, text, "this key has words and no range:", key->path);
	*dots = '\0';
	int rc = read_end(text, value, key, &knob->base, &knob->low, refusal);
	if (rc == 0)
		rc = read_end(text, dots + 2, key, &other, &knob->high, refusal);
	if (rc < 0)
		return rc;
	if (other != knob->base)
		return refuse_knob(refusal, text, "both ends count in the same unit, not in",
				   other != TUNE_PLAIN ? tune_base_suffix(other)
						       : tune_base_suffix(knob->base));
	if (!(knob->high > knob->low))
		return refuse_knob(refusal, text,
				   "an empty range: the upper end is not above the lower", "");
	knob->is_whole = strcmp(key->unit, "count") == 0 || strcmp(key->unit, "ratio") == 0;
	return 0;
}

static int read_words(struct tune_knob *knob, const char *text, char *value,
		      const struct scenario_key *key, struct refusal *refusal)
{
	char *rest;
	knob->scale = TUNE_WORDS;
	for (char *word = strtok_r(value, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		uint64_t ignored;
		if (strcmp(key->unit, "text") == 0 || strcmp(key->unit, "list") == 0)
			return refuse_knob(refusal, text, "this key cannot be tuned:", key->path);
		if (scenario_value_of(&ignored, key, word, refusal) < 0) {
			refusal_name(refusal, text);
			return -EINVAL;
		}
		if (knob->word_count == TUNE_WORDS_MAX || strlen(word) >= TUNE_WORD_BYTES)
			return refuse_knob(refusal, text, "too many or too long words, at", word);
		for (uint32_t i = 0; i < knob->word_count; i++)
			if (strcmp(knob->words[i], word) == 0)
				return refuse_knob(refusal, text, "given twice:", word);
		strcpy(knob->words[knob->word_count++], word);
	}
	if (knob->word_count < 2)
		return refuse_knob(refusal, text,
				   "a knob wants LOW..HIGH, or two words or more with commas", "");
	return 0;
}

int tune_space_add(struct tune_space *space, const char *text, struct refusal *refusal)
{
	char copy[TUNE_KEY_BYTES + TUNE_WORDS_MAX * TUNE_WORD_BYTES];
	if (space->count == TUNE_KNOBS_MAX || strlen(text) >= sizeof(copy))
		return refuse_knob(refusal, text, "too many knobs, or too long a one", "");
	strcpy(copy, text);
	char *value = strchr(copy, '=');
	if (value == NULL)
		return refuse_knob(refusal, text, "a knob is KEY=LOW..HIGH or KEY=WORD,WORD", "");
	*value++ = '\0';
	const struct scenario_key *key = scenario_key_of(copy, refusal);
	if (key == NULL || strlen(key->path) >= TUNE_KEY_BYTES) {
		refusal_name(refusal, text);
		return -EINVAL;
	}
	if (strcmp(key->path, "seed") == 0)
		return refuse_knob(refusal, text,
				   "all settings meet the same seeds (--search-seeds), which the "
				   "search draws: no knob is",
				   key->path);
	struct tune_knob *knob = &space->knobs[space->count];
	*knob = (struct tune_knob){.above = -1, .gate = -1};
	strcpy(knob->key, key->path);
	for (uint32_t i = 0; i < space->count; i++)
		if (strcmp(space->knobs[i].key, knob->key) == 0)
			return refuse_knob(refusal, text, "this knob is given twice:", knob->key);
	struct conditions conditions;
	int rc = split_conditions(&conditions, text, value, refusal);
	if (rc == 0)
		rc = strstr(value, "..") != NULL ? read_range(knob, text, value, key, refusal)
						 : read_words(knob, text, value, key, refusal);
	if (rc == 0)
		rc = take_scale(knob, text, conditions.scale, refusal);
	if (rc == 0)
		rc = take_above(space, knob, text, conditions.above, refusal);
	if (rc == 0)
		rc = take_gate(space, knob, text, conditions.when, refusal);
	space->count += rc == 0;
	return rc;
}
