// SPDX-License-Identifier: Apache-2.0
// What of a book has a verdict, and what --require asks of that: a number of cases, a share of
// them, all, or sections and cases by name.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acceptance.h"
#include <weft/core/near_word.h>
#include <weft/run/outcome.h>

static bool is_covered(const struct case_run *run)
{
	return run->state == CASE_PASS || run->state == CASE_FAIL;
}

uint32_t coverage_count(const struct acceptance *acceptance)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		count += is_covered(&acceptance->cases[i]);
	return count;
}

static bool is_named(const struct case_run *run, const char *word)
{
	return strcmp(run->of->name, word) == 0 ||
		strcmp(section_word(run->of->section), word) == 0;
}

// Cases that a number, a share or "all" asks for; NAN: it is none of these.
static double number_of(const struct acceptance *acceptance, const char *word)
{
	char *end;
	double number = strtod(word, &end);
	if (strcmp(word, "all") == 0)
		return acceptance->case_count;
	if (end == word || word[0] < '0' || word[0] > '9')
		return NAN;
	if (strcmp(end, "%") == 0)
		return number <= 100 ? ceil(number / 100 * acceptance->case_count) : NAN;
	return *end == '\0' && number == floor(number) ? number : NAN;
}

bool coverage_holds(const struct acceptance *acceptance, const char *word)
{
	double number = number_of(acceptance, word);
	if (!isnan(number))
		return coverage_count(acceptance) >= number;
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (is_named(&acceptance->cases[i], word) && !is_covered(&acceptance->cases[i]))
			return false;
	return true;
}

bool coverage_holds_all(const struct acceptance *acceptance)
{
	for (uint32_t i = 0; i < acceptance->required_count; i++)
		if (!coverage_holds(acceptance, acceptance->required[i]))
			return false;
	return true;
}

int coverage_check(struct acceptance *acceptance)
{
	for (uint32_t i = 0; i < acceptance->required_count; i++) {
		const char *word = acceptance->required[i];
		double number = number_of(acceptance, word);
		bool is_known = number >= 1 && number <= acceptance->case_count;
		struct near_word near_word = near_word_of(word);
		near_word_see(&near_word, "all");
		for (uint32_t c = 0; c < acceptance->case_count; c++) {
			const struct acceptance_case *of = acceptance->cases[c].of;
			is_known |= isnan(number) && is_named(&acceptance->cases[c], word);
			near_word_see(&near_word, section_word(of->section));
			near_word_see(&near_word, of->name);
		}
		if (!is_known)
			return outcome_bad_name(&acceptance->refusal,
						"--require is all, a number or share (%) of the "
						"cases, or names of these; not",
						&near_word);
	}
	return 0;
}
