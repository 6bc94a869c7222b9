// SPDX-License-Identifier: Apache-2.0
// The value of an option: read by its kind, or refused with what it may be.

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/near_word.h>
#include <weft/files/files.h>
#include <weft/run/command_line.h>
#include <weft/run/outcome.h>

#define TIME_MAX_S (100 * 365 * 86400.0)

static void *field(void *to, size_t at)
{
	return (char *)to + at;
}

static int bad_value(const struct option_row *row, const char *what, const char *word,
		     struct refusal *refusal)
{
	char text[256];
	snprintf(text, sizeof(text), "--%s is %s, not", row->name, what);
	return outcome_bad_word(refusal, text, word);
}

static int take_count(const struct option_row *row, void *to, const char *word,
		      struct refusal *refusal)
{
	char what[96], *end;
	errno = 0;
	uint64_t value = isdigit((unsigned char)word[0]) ? strtoull(word, &end, 10) : 0;
	if (isdigit((unsigned char)word[0]) && *end == '\0' && errno == 0 && value >= row->min &&
	    value <= row->max) {
		if (row->bytes == sizeof(uint64_t))
			*(uint64_t *)field(to, row->at) = value;
		else
			*(uint32_t *)field(to, row->at) = (uint32_t)value;
		return 0;
	}
	snprintf(what, sizeof(what), "a whole number from %" PRIu64 " to %" PRIu64, row->min,
		 row->max);
	return bad_value(row, what, word, refusal);
}

// Digits with at most a point among them, at the head of `word`; *behind is what follows.
static bool is_plain(const char *word, double *ret, const char **behind)
{
	size_t length = strspn(word, "0123456789.");
	char digits[32], *end;
	if (length == 0 || length >= sizeof(digits))
		return false;
	memcpy(digits, word, length);
	digits[length] = '\0';
	*ret = strtod(digits, &end);
	*behind = word + length;
	return *end == '\0';
}

static int take_real(const struct option_row *row, void *to, const char *word,
		     struct refusal *refusal)
{
	const char *behind;
	char what[96];
	double value = 0;
	bool is_below = row->low < 0 && word[0] == '-';
	bool is_good = is_plain(word + is_below, &value, &behind) && *behind == '\0';
	value = is_below ? -value : value;
	if (is_good && value >= row->low && value <= row->high) {
		*(double *)field(to, row->at) = value;
		return 0;
	}
	snprintf(what, sizeof(what), "a number from %.9g to %.9g", row->low, row->high);
	return bad_value(row, what, word, refusal);
}

static int take_size(const struct option_row *row, void *to, const char *word,
		     struct refusal *refusal)
{
	static const char units[] = "KMGT";
	char what[96], *end = "x";
	errno = 0;
	uint64_t value = isdigit((unsigned char)word[0]) ? strtoull(word, &end, 10) : 0;
	const char *unit = *end == '\0' ? NULL : strchr(units, toupper((unsigned char)*end));
	uint64_t shift = unit != NULL ? (uint64_t)(unit - units + 1) * 10 : 0;
	bool is_whole = errno == 0 && *(unit != NULL ? end + 1 : end) == '\0';
	if (is_whole && value <= row->max >> shift && value << shift >= row->min) {
		*(uint64_t *)field(to, row->at) = value << shift;
		return 0;
	}
	if (row->max == UINT64_MAX)
		snprintf(what, sizeof(what), "%" PRIu64 " or more, as 4096 or 4K", row->min);
	else
		snprintf(what, sizeof(what), "%" PRIu64 " to %" PRIu64 ", as 4096 or 4K", row->min,
			 row->max);
	return bad_value(row, what, word, refusal);
}

static int take_time(const struct option_row *row, void *to, const char *word,
		     struct refusal *refusal)
{
	static const struct {
		const char *name;
		double s;
	} units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
		     {"min", 60},  {"h", 3600},	 {"d", 86400}};
	const char *unit = "";
	double value = 0;
	bool is_good = is_plain(word, &value, &unit);
	for (size_t i = 0; is_good && i < sizeof(units) / sizeof(*units); i++) {
		double s = value * units[i].s;
		if (strcmp(unit, units[i].name) != 0 || s > TIME_MAX_S || s * 1e9 < 0.5)
			continue;
		if (row->kind == OPTION_TIME_NS)
			*(int64_t *)field(to, row->at) = (int64_t)(s * 1e9 + 0.5);
		else
			*(double *)field(to, row->at) = s;
		return 0;
	}
	return bad_value(row, "a time from 1ns on, as 50us or 10min (ns, us, ms, s, min, h, d)",
			 word, refusal);
}

// Which of words with '|' between them; -1: none. `ret` has them as a sentence does, `near_word`
// the one that `word` was meant to be.
static int find_word(const char *words, const char *word, char *ret, size_t bytes,
		     struct near_word *near_word)
{
	int index = -1, count = 0;
	size_t used = 0;
	for (const char *at = words, *end; at != NULL; at = end != NULL ? end + 1 : NULL, count++) {
		end = strchr(at, '|');
		size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
		bool is_last = end == NULL && count > 0;
		used += (size_t)snprintf(ret + used, bytes - used, "%s%.*s",
					 count == 0	   ? ""
						 : is_last ? " or "
							   : ", ",
					 (int)length, at);
		check(used < bytes);
		if (strlen(word) == length && memcmp(at, word, length) == 0)
			index = count;
		char one[NEAR_WORD_BYTES];
		if (length < sizeof(one)) {
			snprintf(one, sizeof(one), "%.*s", (int)length, at);
			near_word_see(near_word, one);
		}
	}
	return index;
}

static int take_word(const struct option_row *row, void *to, const char *word,
		     struct refusal *refusal)
{
	char all[192], text[256];
	struct near_word near_word = near_word_of(word);
	int index = row->words != NULL ? find_word(row->words, word, all, sizeof(all), &near_word)
				       : 0;
	if (index < 0) {
		snprintf(text, sizeof(text), "--%s is %s, not", row->name, all);
		return outcome_bad_name(refusal, text, &near_word);
	}
	if (row->kind == OPTION_INDEX)
		*(int *)field(to, row->at) = index + (int)row->min;
	else
		*(const char **)field(to, row->at) = word;
	return 0;
}

static int take_list(const struct option_row *row, void *to, const char *word,
		     struct refusal *refusal)
{
	uint32_t *count = field(to, row->second);
	char text[96];
	if (*count == row->max) {
		snprintf(text, sizeof(text), "too many --%s, at", row->name);
		return outcome_bad_word(refusal, text, word);
	}
	((const char **)field(to, row->at))[(*count)++] = word;
	return 0;
}

static int take_none(const struct option_row *row, struct refusal *refusal)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s%s has no effect here: %s",
		 row->name[0] != '\0' ? "--" : "-",
		 row->name[0] != '\0' ? row->name : (const char[]){row->letter, '\0'}, row->words);
	return -EINVAL;
}

int option_take(const struct option_row *row, void *to, const char *word, struct refusal *refusal)
{
	char name[64];
	bool may_be_empty = row->kind == OPTION_LIST || row->kind == OPTION_TAKE;
	snprintf(name, sizeof(name), "--%s", row->name);
	if (word != NULL && word[0] == '\0' && !may_be_empty)
		return outcome_bad_word(refusal, "an empty value for", name);
	if (row->has_flag)
		*(bool *)field(to, row->flag) = true;
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)field(to, row->at) = true;
		return 0;
	case OPTION_TEXT:
	case OPTION_INDEX:
		return take_word(row, to, word, refusal);
	case OPTION_COUNT:
		return take_count(row, to, word, refusal);
	case OPTION_REAL:
		return take_real(row, to, word, refusal);
	case OPTION_SIZE:
		return take_size(row, to, word, refusal);
	case OPTION_TIME_NS:
	case OPTION_TIME_S:
		return take_time(row, to, word, refusal);
	case OPTION_LIST:
		return take_list(row, to, word, refusal);
	case OPTION_TAKE:
		return row->take(to, word, refusal);
	case OPTION_FORCE:
		files_force();
		return 0;
	case OPTION_NONE:
		return take_none(row, refusal);
	}
	check(false);
}
