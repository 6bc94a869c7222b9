// SPDX-License-Identifier: Apache-2.0
// Words of the command line: times, numbers, names.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "goodput.h"
#include <weft/run/outcome.h>

#define TIME_MAX_S (100 * 365 * 86400.0)
#define RATE_MAX 1e9

// Digits with at most a point among them, at the beginning of `word`; *behind is what follows.
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

int words_time(struct call *call, double *to, const char *option, const char *word)
{
	static const struct {
		const char *name;
		double s;
	} units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
	const char *unit;
	double value;
	bool is_good = is_plain(word, &value, &unit);
	for (size_t i = 0; is_good && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		*to = value * units[i].s;
		if (*to > 0 && *to <= TIME_MAX_S)
			return 0;
	}
	char what[96];
	snprintf(what, sizeof(what),
		 "%s is a time above 0, as 90s or 10min (ms, s, min, h, d), not", option);
	return outcome_bad_word(&call->refusal, what, word);
}

int words_number(struct call *call, double *to, const char *option, const char *word, double min,
		 double max)
{
	const char *behind;
	char what[96];
	if (is_plain(word, to, &behind) && *behind == '\0' && *to >= min && *to <= max)
		return 0;
	snprintf(what, sizeof(what), "%s is a number from %g to %g, not", option, min, max);
	return outcome_bad_word(&call->refusal, what, word);
}

int words_count(struct call *call, uint32_t *to, const char *option, const char *word, uint32_t min,
		uint32_t max)
{
	size_t digits = strspn(word, "0123456789");
	unsigned long value = digits > 0 && digits < 10 ? strtoul(word, NULL, 10) : 0;
	char what[96];
	if (digits > 0 && digits < 10 && word[digits] == '\0' && value >= min && value <= max) {
		*to = (uint32_t)value;
		return 0;
	}
	snprintf(what, sizeof(what), "%s is a whole number from %u to %u, not", option, min, max);
	return outcome_bad_word(&call->refusal, what, word);
}

int words_rates(struct call *call, const char *word)
{
	for (const struct rates *at = rates_all; at->name != NULL; at++) {
		if (strcmp(at->name, word) == 0) {
			call->rates = at;
			return 0;
		}
	}
	return outcome_bad_word(&call->refusal, "--rates: there are none (--list has all) of",
				word);
}

int words_recovery(struct call *call, const char *word)
{
	for (const struct recovery *at = recoveries; at->name != NULL; at++) {
		if (strcmp(at->name, word) == 0) {
			call->recovery = at;
			return 0;
		}
	}
	return outcome_bad_word(&call->refusal,
				"--recovery: there is none (--list has all) of name", word);
}

// "network=40"
int words_rate(struct call *call, const char *word)
{
	size_t length = strcspn(word, "=");
	for (uint32_t i = 0; components[i].name != NULL; i++) {
		if (strlen(components[i].name) != length ||
		    memcmp(components[i].name, word, length) != 0 || word[length] != '=')
			continue;
		if (!isnan(call->rate_of[i]))
			return outcome_bad_word(&call->refusal, "given twice: --rate", word);
		return words_number(call, &call->rate_of[i], "--rate COMPONENT=RATE",
				    word + length + 1, 0, RATE_MAX);
	}
	return outcome_bad_word(&call->refusal,
				"--rate is COMPONENT=RATE (--list has the components), not", word);
}
