// SPDX-License-Identifier: Apache-2.0
// Jitter from a measured list: what a list may hold, and that operations come out as it says.

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/order.h>
#include <weft/workload/plan.h>
#include <weft/workload/step.h>

#include "../../shipped_plans.h"
#include "schedule/step_cells.h"
#include "schedule/step_operation.h"

static struct refusal refusal;
static uint64_t list[16];
static uint32_t count;

static void parsed(const char *text)
{
	refusal = (struct refusal){0};
	if (jitter_list_parse(list, 16, text, strlen(text), &count, &refusal) < 0)
		fail_msg("refused: %u:%u: %s", refusal.line, refusal.column, refusal.text);
}

static void refused(const char *text, uint32_t line, uint32_t column, const char *why)
{
	refusal = (struct refusal){0};
	assert_int_equal(jitter_list_parse(list, 16, text, strlen(text), &count, &refusal),
			 -EINVAL);
	assert_int_equal(refusal.line, line);
	assert_int_equal(refusal.column, column);
	assert_string_equal(refusal.text, why);
}

static void numbers_are_read_to_nine_decimals(void **)
{
	parsed("# a log\n1\n 0.98 # fast\n\n1.0213456789123\n1000\n.5\n2.\n");
	static const uint64_t expected[] = {1000000000,	   980000000, 1021345678,
					    1000000000000, 500000000, 2000000000};
	assert_int_equal(count, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(list[i], expected[i]);
}

static void what_is_no_list_is_refused_with_its_line(void **)
{
	refused("1\n1.0x\n", 2, 1, "a ratio is as 1.0213");
	refused("1\n-1\n", 2, 1, "a ratio is as 1.0213");
	refused("1\n1.2.3\n", 2, 1, "a ratio is as 1.0213");
	refused("1\n\n  1e3\n", 3, 3, "a ratio is as 1.0213");
	refused("1\n0.0\n", 2, 1, "a ratio is above 0 and at most 1000");
	refused("1\n.\n", 2, 1, "a ratio is above 0 and at most 1000");
	refused("1000.1\n", 1, 1, "a ratio is above 0 and at most 1000");
	refused("99999999999999999999999\n", 1, 1, "a ratio is above 0 and at most 1000");
	refused("1 1.1\n", 1, 3, "a line has one ratio");
	refused("1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n", 17, 1,
		"there are more than 16 ratios");
	refused("# nothing\n1.1\n", 0, 0, "a list has 2 ratios or more, not 1");
}

#define DRAWS 4096u

// Operations of a stage in the middle, whose time is one without jitter.
static void the_steps_have_the_quantiles_of_the_list(void **)
{
	static ps_t times[DRAWS];
	const struct plan *plan = plan_find("llama-3.1-405b-azure");
	const struct step_cell cell = {.layers = 2, .slots = 2};
	struct step_setup setup = {.slow_stage = UINT32_MAX,
				   .jitter_kind = JITTER_LIST,
				   .jitter_list = list,
				   .replicas = 64,
				   .seed = 3};
	parsed("0.97\n0.98\n0.99\n1\n1\n1\n1.01\n1.02\n1.05\n1.4\n");
	setup.jitter_count = count;
	for (uint32_t i = 0; i < DRAWS; i++) {
		struct step_place place = {.stage = 3, .replica = i / 64, .index = i % 64};
		setup.jitter_count = 0;
		ps_t plain = step_compute_ps(plan, &cell, &setup, &place);
		setup.jitter_count = count;
		// over the time without, so that forwards and backwards are alike
		times[i] = step_compute_ps(plan, &cell, &setup, &place) * 1000000 / plain;
	}
	qsort(times, DRAWS, sizeof(*times), order_int64);
	static const double quantiles[] = {0.05, 0.15, 0.25, 0.45, 0.65, 0.75, 0.85, 0.95};
	static const ps_t expected[] = {970000,	 980000,  990000,  1000000,
					1010000, 1020000, 1050000, 1400000};
	for (uint32_t i = 0; i < 8; i++) { // each 0.05 from where the value changes: 6 deviations
		ps_t found = times[(uint32_t)(quantiles[i] * DRAWS)];
		ps_t should = expected[i];
		assert_in_range(found, should - 2, should + 2);
	}
}
