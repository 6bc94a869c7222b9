// SPDX-License-Identifier: Apache-2.0
// What the formulas of expectations come to, against figures worked out by hand, and when a run is
// as expected. The run of the rig receives 12 Gb/s per NIC: 3 MB in 1 ms to two NICs.

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../result/result_runs.h"
#include <weft/result/expect.h>
#include <weft/result/figures.h>

static struct fake *fake;

static int set_up(void **)
{
	fake = fake_flows();
	fake->input.is_partial = false;
	fake->outcome.end_ps = 2 * PS_PER_MS;
	return 0;
}

static int tear_down(void **)
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

// It is inside of nothing, and result.json says why.
static void assert_unmeasured(struct scenario_expect expectation, const char *reason)
{
	struct expect_row row = row_of(expectation);
	assert_true(isnan(row.measured) && !row.is_inside);
	assert_string_equal(row.reason, reason);
	char *table = NULL;
	size_t bytes;
	FILE *to = open_memstream(&table, &bytes);
	json_t *json = expect_row_json(&row);
	expect_table_row(to, json);
	fclose(to);
	assert_null(strstr(table, "nan"));
	assert_non_null(strstr(table, reason));
	free(table);
	assert_true(json_is_null(json_object_get(json, "measured")));
	assert_string_equal(json_string_value(json_object_get(json, "measured_reason")), reason);
	json_decref(json);
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

static void a_way_through_a_t1_is_two_switches_and_two_trunks_longer(void **)
{
	fake->scenario.transport.control_bytes = 200;
	fake->scenario.fabric.switch_delay_ps = 500 * PS_PER_NS;
	fake->scenario.fabric.trunk_delay_ps = 225 * PS_PER_NS;
	// there 1000 B and 1 MB at 100 Gb/s, back 200 B
	assert_value(
		(struct scenario_expect){.measure = EXPECT_FURTHER, .formula = EXPECT_TWO_SWITCHES},
		(4 * 725 + 2 * (80080 + 16)) * 1e-9,
		"2 x (2 x (500 + 225) ns + 80080.00 ns of data + 16.00 ns of ACK)");
}

// 5 paths of 5000 B packets over two lines of 100 Gb/s: a path has a turn every us.
static void a_grey_link_is_used_until_a_packet_is_lost_on_it(void **)
{
	struct scenario_expect expectation = {.measure = EXPECT_LOST,
					      .formula = EXPECT_GREY_LEARNING,
					      .until_ps = 2 * PS_PER_US,
					      .links = 1,
					      .loss_ppb = 500000000};
	fake->scenario.transport.ev_count = 5;
	fake->scenario.transport.path_retry_ps = 8 * PS_PER_US;
	fake->scenario.fabric.t1_count = 2;
	fake->scenario.fabric.bundle = 1;
	fake->world.transport.hole_age_ps = PS_PER_US / 2;
	fake->world.topology.base_rtt_ps = PS_PER_US / 2;
	fake_series(fake, 4);
	// of each path that meets it a half in the first turn and a quarter in the second; then one
	// turn more until it is known
	assert_value(expectation, 0.25 * 0.75 * 1.5 / 2,
		     "1 of 4 links x (1 - (1 - 50.000 %)^n) x (1 + 1.0 x 50.000 %) / n, n = 2");
	// two turns until a loss and one until it is known, then a rest of eight
	expectation.formula = EXPECT_GREY_LEARNT;
	assert_value(expectation, 0.25 * 0.5 * 3 / 11,
		     "1 of 4 links x 50.000 % x 0.00 ms / (0.00 + 0.01) ms");
}

static void a_dead_path_is_left_when_a_hole_is_old_enough_to_be_a_loss(void **)
{
	struct scenario_expect expectation = {.measure = EXPECT_BYPASS, .formula = EXPECT_HOLES};
	fake->world.transport.hole_age_ps = 30 * PS_PER_US;
	fake->world.topology.base_rtt_ps = 10 * PS_PER_US;
	fake->world.topology.queue_bytes = 125000;
	fake->scenario.transport.sack_bytes = 25000;
	fake->scenario.transport.ev_count = 5;
	assert_value(expectation, 51e-6,
		     "30.00 us hole_age + 10.00 us RTT + 10.00 us queue + 1.00 us SACK");
	expectation.formula = EXPECT_HOLES_OF_ALL; // a round is 1 us
	assert_value(
		expectation, 53e-6,
		"30.00 us hole_age + 10.00 us RTT + 10.00 us queue + 1.00 us SACK + 2 x 1.00 us");
	expectation = (struct scenario_expect){
		.measure = EXPECT_BYPASS, .formula = EXPECT_LIMIT, .limit_ps = 50 * PS_PER_US};
	assert_value(expectation, 50e-6, "50.00 us, given");
}

// Whatever the bound: of nothing nothing is known.
static void what_was_not_measured_is_inside_of_nothing(void **)
{
	struct scenario_expect expectation = {.measure = EXPECT_LEAVING,
					      .formula = EXPECT_LIMIT,
					      .limit_ps = PS_PER_S,
					      .quantile_ppb = 500000000};
	fake->world.shard_count = 2;
	fake_bypasses(fake);
	for (int bound = 0; bound < EXPECT_BOUND_COUNT; bound++) {
		expectation.bound = bound;
		struct expect_row row = row_of(expectation);
		assert_true(isnan(row.measured) && !row.is_inside);
	}
}

static void a_ring_pays_for_answers_and_credits(void **)
{
	fake->scenario.transport.control_bytes = 200;
	fake->scenario.transport.sack_bytes = 8000;
	fake->scenario.traffic.ring.chunk_bytes_max = 32000;
	fake->scenario.traffic.ring.slices = 2;
	struct expect_row row = row_of((struct scenario_expect){.formula = EXPECT_RING_WRITES});
	// 4 packets of data and a credit; 2 SACKs of data, one of the credit; an ACK of each
	assert_true(fabs(row.expected - 200e9 * 16064 / (16064 + 5000 + 1000)) < 1);
}

// Two flows on two planes: with one pair of neighbours both fall on one plane in half of the cases,
// so that 1.5 are the most to be expected; of two pairs, one or both in three of four.
static void the_busiest_plane_of_a_ring_is_worked_out_over_all_draws(void **)
{
	struct scenario_expect expectation = {.measure = EXPECT_RATIO,
					      .formula = EXPECT_BUSIEST_PLANE};
	fake->scenario.traffic.ring.channels = 2;
	fake->scenario.qps_per_connection = 1;
	fake->scenario.traffic.ring.ranks = 1;
	assert_value(expectation, 1 / 1.5,
		     "2 flows / 2 planes / 1.50, the most of them on a plane in 1 draws");
	fake->scenario.traffic.ring.ranks = 2;
	assert_value(expectation, 1 / 1.75,
		     "2 flows / 2 planes / 1.75, the most of them on a plane in 2 draws");
	fake->scenario.traffic.ring.channels = 1; // one flow leaves a plane empty
	assert_value(expectation, 0.5,
		     "1 flows / 2 planes / 1.00, the most of them on a plane in 2 draws");
	// three on two planes: 3 and 0 in a quarter of the cases
	fake->scenario.traffic.ring.channels = 1;
	fake->scenario.qps_per_connection = 3;
	fake->scenario.traffic.ring.ranks = 1;
	assert_value(expectation, 1.5 / 2.25,
		     "3 flows / 2 planes / 2.25, the most of them on a plane in 1 draws");
	fake->scenario.fabric.planes = 1;
	assert_value(expectation, 1,
		     "3 flows / 1 planes / 3.00, the most of them on a plane in 1 draws");
}

static void take_variant(struct report_comparison *comparison, uint32_t variant, uint64_t placed)
{
	fake->scenario.variant = variant;
	fake->outcome.transport.payload_bytes_placed = placed;
	report_comparison_take(comparison, &fake->input);
}

static void a_ratio_is_of_two_variants(void **)
{
	struct report_comparison *comparison = report_comparison_create();
	fake->scenario.variant_count = 2;
	strcpy(fake->scenario.variants[0].name, "a");
	strcpy(fake->scenario.variants[1].name, "b");
	fake->scenario.expectations[0] = (struct scenario_expect){
		.measure = EXPECT_RATIO, .formula = EXPECT_EQUAL, .run = "a", .to = "b"};
	fake->scenario.expectation_count = 1;
	assert_true(report_is_expected(&fake->input)); // of one run it says nothing
	take_variant(comparison, 1, 1000000);
	take_variant(comparison, 2, 1000000);
	assert_true(report_comparison_is_expected(comparison));
	report_comparison_free(comparison);
	comparison = report_comparison_create();
	fake->scenario.expectations[0].bound = EXPECT_AT_LEAST;
	take_variant(comparison, 1, 2000000);
	take_variant(comparison, 2, 1000000);
	assert_true(report_comparison_is_expected(comparison));
	report_comparison_free(comparison);
	comparison = report_comparison_create();
	take_variant(comparison, 1, 1000000);
	take_variant(comparison, 2, 2000000);
	assert_false(report_comparison_is_expected(comparison));
	report_comparison_free(comparison);
}

static void an_expectation_is_of_its_variant(void **)
{
	fake->scenario.variant_count = 1;
	strcpy(fake->scenario.variants[0].name, "a");
	fake->scenario.expectations[0] = (struct scenario_expect){.formula = EXPECT_ONE_WAY,
								  .run = "a"};
	fake->scenario.expectation_count = 1;
	assert_true(report_is_expected(&fake->input)); // the scenario as it is
	fake->scenario.variant = 1;
	assert_false(report_is_expected(&fake->input));
}

static void a_window_is_measured_apart_from_the_rest(void **)
{
	struct scenario_expect expectation = {
		.formula = EXPECT_ONE_WAY, .from_ps = PS_PER_US, .until_ps = 3 * PS_PER_US};
	fake_series(fake, 4);
	series_add(&fake->outcome.series, SERIES_PLACED, PS_PER_US - 1, 7777);
	series_add(&fake->outcome.series, SERIES_PLACED, PS_PER_US, 30000);
	series_add(&fake->outcome.series, SERIES_PLACED, 3 * PS_PER_US - 1, 10000);
	series_add(&fake->outcome.series, SERIES_PLACED, 3 * PS_PER_US, 7777);
	assert_true(row_of(expectation).measured == 80e9); // 40 kB in 2 us to two NICs
	series_add(&fake->outcome.series, SERIES_ARRIVED, PS_PER_US, 30);
	series_add(&fake->outcome.series, SERIES_LOST, PS_PER_US, 10);
	series_add(&fake->outcome.series, SERIES_LOST, 0, 1000);
	expectation.measure = EXPECT_LOST;
	assert_true(row_of(expectation).measured == 0.25);
	expectation.bound = EXPECT_AT_MOST; // nothing is at most anything, but it is no measurement
	expectation.from_ps = 2 * PS_PER_US;
	assert_unmeasured(expectation, "no data packet was lost or arrived in this part");
}

static void shares_of_no_packets_are_not_measured(void **)
{
	struct scenario_expect expectation = {.measure = EXPECT_RETRANSMITTED,
					      .formula = EXPECT_LOSS_REPAIRED,
					      .bound = EXPECT_AT_MOST};
	assert_true(row_of(expectation).measured >= 0);
	fake->input.run.data_packets = 0;
	assert_unmeasured(expectation, "no data packet was sent");
}

static void the_shortest_messages_tell_how_much_further_it_is(void **)
{
	struct scenario_expect expectation = {.measure = EXPECT_FURTHER,
					      .formula = EXPECT_TWO_SWITCHES};
	assert_unmeasured(expectation, "no messages of one of the two kinds");
	fake_latencies(&fake->outcome.message_ns[PAIR_SAME_T0], 5, 4321, 10);
	fake_latencies(&fake->outcome.message_ns[PAIR_ACROSS_T1], 5, 7654, 10);
	assert_true(fabs(row_of(expectation).measured - 3333e-9) < 1e-15);
}

static void a_bound_holds_on_one_side_only(void **)
{
	struct goodput goodput;
	goodput_of(&goodput, &fake->input);
	struct scenario_expect expectation = {.formula = EXPECT_ONE_WAY};
	for (int side = -1; side <= 1; side += 2) {
		fake->scenario.fabric.link_rate_bps = (uint64_t)(goodput.per_nic_bps / 1.6) +
			side * 1000000;
		expectation.bound = EXPECT_NEAR;
		assert_false(row_of(expectation).is_inside);
		expectation.bound = EXPECT_AT_MOST;
		assert_int_equal(row_of(expectation).is_inside, side > 0);
		expectation.bound = EXPECT_AT_LEAST;
		assert_int_equal(row_of(expectation).is_inside, side < 0);
	}
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

static void goodput_is_kept_of_what_was_before_the_first_fault(void **)
{
	struct scenario_expect expectation = {.measure = EXPECT_GOODPUT_KEPT,
					      .formula = EXPECT_CAPACITY_LEFT,
					      .bound = EXPECT_AT_LEAST,
					      .lost_ppb = 250000000,
					      .from_ps = 2 * PS_PER_US,
					      .until_ps = 3 * PS_PER_US};
	fake_series(fake, 4);
	series_add(&fake->outcome.series, SERIES_PLACED, PS_PER_US, 9); // a fault begins here
	series_add(&fake->outcome.series, SERIES_PLACED, 2 * PS_PER_US, 700);
	fake->scenario.faults[0].from_ps = 0;
	fake->scenario.faults[1].from_ps = 3 * PS_PER_US;
	fake->scenario.faults[2].from_ps = 2 * PS_PER_US - 1;
	fake->scenario.fault_count = 1; // from the start on: before it there is nothing
	assert_unmeasured(expectation, "no fault begins between since and from");
	fake->scenario.fault_count = 2; // behind what is compared
	assert_unmeasured(expectation, "no fault begins between since and from");
	fake->scenario.fault_count = 3;
	assert_unmeasured(expectation, "nothing was received before the first fault");
	series_add(&fake->outcome.series, SERIES_PLACED, 0, 1000);
	assert_value(expectation, 0.75, "1 - 25.000 % of the capacity");
	struct expect_row row = row_of(expectation);
	assert_true(fabs(row.measured - 0.7) < 1e-12 && !row.is_inside);
	expectation.tolerance_ppb = 70000000;
	assert_true(row_of(expectation).is_inside);
}
