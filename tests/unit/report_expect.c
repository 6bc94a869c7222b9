// SPDX-License-Identifier: Apache-2.0
// What the formulas of expectations come to, against figures worked out by hand, and when a run is
// as expected. The run of the rig receives 12 Gb/s per NIC: 3 MB in 1 ms to two NICs.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "expect.h"
#include "figures.h"
#include "report_runs.h"

static struct fake *fake;

static int setup(void **)
{
	fake = fake_flows();
	fake->input.is_partial = false;
	fake->outcome.end_ps = 2 * PS_PER_MS;
	return 0;
}

static int teardown(void **)
{
	fake_free(fake);
	return 0;
}

static struct expect_row row_of(struct scenario_expect expectation)
{
	struct expect_row row;
	fake->scenario.expectations[0] = expectation;
	expect_of(&row, &fake->input, 0);
	return row;
}

static void assert_value(struct scenario_expect expectation, double expected, const char *text)
{
	struct expect_row row = row_of(expectation);
	assert_true(fabs(row.expected - expected) < 1e-9 * expected);
	assert_string_equal(row.text, text);
}

static void formulas_are_worked_out_from_the_configuration(void **)
{
	const char *line = "2 planes x 100.0 Gb/s x 4000 B / (4000 + 1000) B";
	char text[160];
	assert_value((struct scenario_expect){.formula = EXPECT_ONE_WAY}, 160e9, line);
	snprintf(text, sizeof(text), "%s x (2 - 1) / 2", line);
	assert_value((struct scenario_expect){.formula = EXPECT_PLANES_LEFT, .planes = 1}, 80e9,
		     text);
	snprintf(text, sizeof(text), "%s x (2 - 2 x 25.000 %%) / 2", line);
	assert_value((struct scenario_expect){.formula = EXPECT_PLANES_FLAPPING,
					      .planes = 2,
					      .time_ppb = 250000000},
		     120e9, text);
	snprintf(text, sizeof(text), "%s x (1 - 10.000 %%)^4", line);
	assert_value(
		(struct scenario_expect){.formula = EXPECT_LOSS_REPAIRED, .loss_ppb = 100000000},
		160e9 * 0.6561, text);
	assert_value((struct scenario_expect){.measure = EXPECT_RETRANSMITTED,
					      .formula = EXPECT_LOSS_ON_WAY,
					      .loss_ppb = 100000000},
		     0.3439, "1 - (1 - 10.000 %)^4 cables");
}

static void a_ring_pays_for_sacks_and_credits(void **)
{
	fake->scenario.transport.control_bytes = 200;
	fake->scenario.transport.sack_bytes = 8000;
	fake->scenario.traffic.ring.chunk_bytes_max = 32000;
	fake->scenario.traffic.ring.slices = 2;
	struct expect_row row = row_of((struct scenario_expect){.formula = EXPECT_RING_WRITES});
	// 4 packets of data and a credit; 2 SACKs of data, one of the credit
	assert_true(fabs(row.expected - 200e9 * 16064 / (16064 + 5000 + 600)) < 1);
}

static void a_run_is_as_expected_within_the_tolerance(void **)
{
	fake->scenario.expectations[0] = (struct scenario_expect){.formula = EXPECT_ONE_WAY,
								  .tolerance_ppb = 10000000};
	struct goodput goodput;
	goodput_of(&goodput, &fake->input);
	double exact = goodput.per_nic_bps;
	for (int percent = 97; percent <= 103; percent++) { // line rate: 2 x 4/5 of it is goodput
		fake->scenario.fabric.link_rate_bps = (uint64_t)(exact * 100 / percent / 1.6);
		bool is_near = percent >= 100 ? percent <= 101 : percent >= 99;
		fake->scenario.expectations[0].tolerance_ppb = 10100000;
		assert_int_equal(report_is_expected(&fake->input), is_near);
	}
	fake->scenario.expectation_count = 0;
	assert_true(report_is_expected(&fake->input));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(formulas_are_worked_out_from_the_configuration,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_ring_pays_for_sacks_and_credits, setup, teardown),
		cmocka_unit_test_setup_teardown(a_run_is_as_expected_within_the_tolerance, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
