// SPDX-License-Identifier: Apache-2.0
// Tests of derived figures and of the rules that say which of them may be given.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result_events.h"
#include <weft/result/figures.h>

static void traffic_time_is_the_union_of_collectives(void **)
{
	struct fake *fake = fake_ring();
	struct goodput goodput;
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.traffic_ps, 40 * PS_PER_MS); // 10..30 and 25..50 ms
	assert_true(goodput.total_bps == 8e11);		      // 4 GB in 40 ms
	fake->collectives[1].start_ps = 45 * PS_PER_MS;
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.traffic_ps, 25 * PS_PER_MS); // 10..30 and 45..50 ms
	fake->collectives[1].start_ps = 12 * PS_PER_MS;
	fake->collectives[1].end_ps = 20 * PS_PER_MS;
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.traffic_ps, 20 * PS_PER_MS); // one inside the other
	fake_free(fake);
}

static void what_did_not_end_lasts_until_the_run_stopped(void **)
{
	struct fake *fake = fake_unfinished();
	struct goodput goodput;
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.traffic_ps, 45 * PS_PER_MS); // 10 .. 55 ms
	fake->collectives[1].start_ps = PS_NEVER;	      // it did not start either
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.traffic_ps, 20 * PS_PER_MS);
	fake_free(fake);
}

static void channels_bound_the_nics_of_a_ring(void **)
{
	struct fake *fake = fake_ring();
	struct goodput goodput;
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.nics_receiving, 8); // 4 hosts x 2 channels
	fake->world.job.ring.channels = 32;
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.nics_receiving, 16); // a host has 4
	fake->groups[0].ranks = 4;		      // all in one host
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.nics_receiving, 0);
	assert_true(goodput.per_nic_bps == 0);
	fake->scenario.scaleup.rate_bps = 0; // no scale-up domain: everything meets the fabric
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.nics_receiving, 4);
	fake_free(fake);
}

static void flows_count_their_distinct_ends(void **)
{
	struct fake *fake = fake_flows();
	struct goodput goodput;
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.nics_sending, 3);
	assert_int_equal(goodput.nics_receiving, 2);
	assert_int_equal(goodput.traffic_ps, 2 * PS_PER_MS); // 1 ms .. 3 ms, where it was cut
	fake->input.is_partial = false;
	goodput_of(&goodput, &fake->input);
	assert_int_equal(goodput.traffic_ps, PS_PER_MS); // 1 ms .. last completion
	fake_free(fake);
}

static struct latency latency_for(uint32_t count, bool is_sample)
{
	struct fake *fake = fake_world("latency");
	struct latency latency;
	fake_latencies(&fake->outcome.flow_ns, count, 1000, 1);
	latency_of(&latency, &fake->outcome.flow_ns, is_sample);
	fake_free(fake);
	return latency;
}

static void valid(const struct figure *figure, bool is_valid)
{
	if (is_valid)
		assert_null(figure->reason);
	else
		assert_string_equal(figure->reason, "not valid in this sample");
}

static void quantiles_of_a_sample_need_messages_enough(void **)
{
	const uint32_t counts[] = {1, 99, 100, 999, 1000, 9999, 10000, 50000};
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct latency latency = latency_for(counts[i], true);
		assert_int_equal(latency.count, counts[i]);
		valid(&latency.mean_ns, counts[i] >= 100);
		valid(&latency.p50_ns, counts[i] >= 100);
		valid(&latency.p95_ns, counts[i] >= 1000);
		valid(&latency.p99_ns, counts[i] >= 1000);
		valid(&latency.p999_ns, false);
		valid(&latency.max_ns, false);
		valid(&latency.min_ns, false);
		uint32_t ppm = counts[i] >= 1000 ? 990000 : counts[i] >= 100 ? 500000 : 0;
		assert_int_equal(latency_ppm_max(counts[i], true), ppm);
	}
}

// Steps and groups are left out: 4 and 10 % of the value. Where 4 of 32 switches stay, 10 % become
// the root of the squares of 10 and of 28 / (4 x 4 x 32).
static void a_quantile_of_a_sample_has_an_error(void **)
{
	struct fake *fake = fake_sample();
	struct latency latency;
	message_latency(&latency, &fake->input, PAIR_ACROSS_T1);
	int64_t value = latency.p99_ns.value, alone = latency.p99_error_ns.value;
	// as good as alike: the grain, and what could not be seen
	assert_true(alone >= value * 14 / 100 && alone < value * 145 / 1000);
	fake->world.fabric.trunk_sample_kept = 4;
	fake->world.fabric.t1_count = 32;
	message_latency(&latency, &fake->input, PAIR_ACROSS_T1);
	int64_t more = latency.p99_error_ns.value - alone;
	assert_true(more > value * 13 / 1000 && more < value * 15 / 1000);
	assert_int_equal(message_ppm_max(&fake->input, PAIR_ACROSS_T1), 990000);
	fake->world.fabric.t1_count = 8;
	message_latency(&latency, &fake->input, PAIR_ACROSS_T1);
	valid(&latency.p99_ns, false);
	valid(&latency.p99_error_ns, false);
	assert_int_equal(message_ppm_max(&fake->input, PAIR_ACROSS_T1), 0);
	fake->world.plan.sample.is_on = false;
	message_latency(&latency, &fake->input, PAIR_ACROSS_T1);
	assert_int_equal(latency.p99_error_ns.value, 0);
	assert_null(latency.p99_ns.reason);
	fake_free(fake);
}

static void a_whole_run_may_give_everything_it_has(void **)
{
	struct latency latency = latency_for(1, false);
	assert_null(latency.p999_ns.reason);
	assert_int_equal(latency.p999_ns.value, 1000);
	assert_int_equal(latency.max_ns.value, 1000);
	assert_int_equal(latency_ppm_max(1, false), 1000000);
	latency = latency_for(0, false);
	assert_string_equal(latency.p50_ns.reason, "no messages");
	assert_string_equal(latency.max_ns.reason, "no messages");
	latency = latency_for(0, true);
	assert_string_equal(latency.max_ns.reason, "no messages");
}

static void planes_compare_with_their_mean(void **)
{
	struct fake *fake = fake_ring();
	struct planes planes;
	planes_of(&planes, &fake->input);
	assert_int_equal(planes.count, 2);
	assert_true(planes.max_to_mean > 1.0999 && planes.max_to_mean < 1.1001);
	// 22 and 18: 40^2 / (2 (22^2 + 18^2)) = 1600 / 1616
	assert_true(planes.jain > 0.990098 && planes.jain < 0.990100);
	// 300 MB of one NIC; a port of 8 NICs x 2 planes carries 250 MB in the mean
	assert_true(planes.nic_max_to_mean > 1.1999 && planes.nic_max_to_mean < 1.2001);
	memset(fake->outcome.transport.plane_bytes, 0, sizeof(fake->outcome.transport.plane_bytes));
	planes_of(&planes, &fake->input);
	assert_true(planes.max_to_mean == 0 && planes.jain == 0);
	assert_true(jain_of(5, 25, 4) == 0.25 && jain_of(8, 16, 4) == 1); // one of four; all alike
	fake_free(fake);
}

static void every_packet_is_accounted_for(void **)
{
	struct fake *fake = fake_flows();
	struct conservation sum;
	conservation_of(&sum, &fake->input);
	assert_true(sum.holds);
	assert_int_equal(sum.dropped, 100); // what hosts dropped was delivered first
	assert_int_equal(sum.held, 2);
	assert_int_equal(sum.unsent, 1);
	assert_int_equal(drops_of(&fake->input, DROP_UNKNOWN_QP), 3);
	assert_int_equal(drops_of(&fake->input, DROP_RANDOM_LOSS), 60);
	fake->input.run.dropped[DROP_LINK_DOWN]++;
	conservation_of(&sum, &fake->input);
	assert_false(sum.holds);
	fake_free(fake);
}

static void a_collective_knows_whether_it_was_extrapolated(void **)
{
	struct fake *fake = fake_sample();
	struct collective one;
	collective_of(&one, &fake->world, 0);
	assert_int_equal(one.steps_run, 12);
	assert_int_equal(one.steps_all, 510); // all-reduce goes round twice
	assert_true(one.is_extrapolated && one.is_finished && one.reason == NULL);
	fake->collectives[0].ideal_ps = fake->collectives[0].whole_ps;
	collective_of(&one, &fake->world, 0);
	assert_null(one.reason);
	fake->collectives[0].ideal_ps++; // it cannot be so short
	collective_of(&one, &fake->world, 0);
	assert_string_equal(one.reason, BELOW_IDEAL);
	fake->world.job.ring.steps_max = 300; // more than a reduce-scatter has
	collective_of(&one, &fake->world, 1);
	assert_int_equal(one.steps_run, 255);
	assert_false(one.is_extrapolated);
	fake_free(fake);
}

static void words_are_given_for_every_value(void **)
{
	assert_string_equal(traffic_name(TRAFFIC_FLOWS), "flows");
	assert_string_equal(traffic_name(TRAFFIC_TRACE), "trace");
	assert_string_equal(traffic_name(TRAFFIC_MATRIX), "matrix");
	assert_string_equal(rtx_name(RTX_NACK), "nack");
	assert_string_equal(rtx_name(RTX_HOLE), "hole");
	assert_string_equal(origin_name(INPUT_FACT), "fact");
	assert_string_equal(origin_name(INPUT_CALIBRATED), "calibrated");
	assert_true(share_of(1, 0) == 0);
}
