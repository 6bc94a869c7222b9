// SPDX-License-Identifier: Apache-2.0
// What a book has room for, said before its first case: a case that is too large is left out, with
// the reason, and the rest is estimated.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acceptance.h"
#include "words.h"

#define GB 1e9
#define MILLION 1e6

const char *budget_reason(const struct fabric_facts *fabric_facts, struct case_text *to)
{
	double hops_max = cost_hops_max(fabric_facts), memory_max = cost_memory_max(fabric_facts);
	double memory = cost_memory_bytes(fabric_facts, &to->cost);
	bool is_acceptance = memory_max < (double)fabric_facts->memory_bytes_max;
	to->is_left_out = true;
	if (to->cost.hops > hops_max)
		return words_reason(
			to,
			"left out: it takes %.0f million packet-hops, and a case "
			"may take %.0f at most%s",
			to->cost.hops / MILLION, hops_max / MILLION,
			fabric_facts->is_quick ? "; without --quick it has ten times as many" : "");
	if (memory > memory_max)
		return words_reason(
			to, "left out: it takes about %.1f GB, and %s %.1f GB", memory / GB,
			is_acceptance ? "a case of --quick may take" : "limits.memory is",
			memory_max / GB);
	to->is_left_out = false;
	return NULL;
}

// Writes each case to nowhere.
static int count_case(const struct acceptance *acceptance, struct case_run *run)
{
	char *texts[3];
	size_t bytes[3];
	struct case_text to = {0};
	FILE **const files[] = {&to.fabric_file, &to.checks, &to.goal};
	int rc = 0;
	for (uint32_t i = 0; i < 3; i++) {
		*files[i] = open_memstream(&texts[i], &bytes[i]);
		rc = *files[i] == NULL ? -ENOMEM : rc;
	}
	const char *reason = rc < 0 ? NULL
				    : run->of->write(run->of, &acceptance->fabric_facts, &to);
	if (rc == 0 && reason == NULL)
		reason = budget_reason(&acceptance->fabric_facts, &to);
	if (rc == 0 && reason == NULL)
		run->cost = to.cost;
	run->is_in_budget = rc == 0 && reason == NULL;
	for (uint32_t i = 0; i < 3; i++)
		if (*files[i] != NULL) {
			fclose(*files[i]);
			free(texts[i]);
		}
	return rc;
}

static bool shares_run(const struct acceptance *acceptance, const struct case_run *run)
{
	for (const struct case_run *one = acceptance->cases; one < run; one++)
		if (run->of->run_of != NULL && strcmp(one->of->name, run->of->run_of) == 0)
			return one->is_in_budget;
	return false;
}

int budget_count(struct acceptance *acceptance)
{
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		struct case_run *run = &acceptance->cases[i];
		int rc = count_case(acceptance, run);
		if (rc < 0)
			return refuse(&acceptance->refusal, rc, "not enough memory");
		bool is_run = run->is_in_budget && !shares_run(acceptance, run);
		run->estimate_s = is_run ? cost_s(&acceptance->fabric_facts, &run->cost) : 0;
	}
	return 0;
}

void budget_say(FILE *to, const struct acceptance *acceptance)
{
	double hops = 0, seconds = 0;
	uint32_t count = 0;
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		const struct case_run *run = &acceptance->cases[i];
		count += run->is_in_budget;
		hops += run->estimate_s > 0 ? run->cost.hops : 0;
		seconds += run->estimate_s;
	}
	fprintf(to, "%u of %u cases, ", count, acceptance->case_count);
	fprintf(to, hops < MILLION ? "%.0f" : "%.3g million",
		hops < MILLION ? hops : hops / MILLION);
	fprintf(to, " packet-hops: ");
	if (seconds < 0.5)
		fprintf(to, "less than a second");
	else
		fprintf(to, seconds < 90 ? "about %.0f s" : "about %.0f min",
			seconds < 90 ? seconds : seconds / 60);
	fprintf(to, " of processor time%s\n",
		acceptance->at_once > 1 ? ", over all that run at once" : "");
	fflush(to);
}
