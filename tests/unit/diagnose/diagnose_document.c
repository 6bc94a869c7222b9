// SPDX-License-Identifier: Apache-2.0
// Tests of result.json: its figures and its nulls.

#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <jansson.h>

#include <weft/diagnose/diagnose.h>

#define RIG_DIAGNOSIS (&diagnose_section)
#include "../result/result_at.h"

static void figures_are_exact_and_in_base_units(void **)
{
	struct fake *fake = fake_ring();
	json_t *root = json_of(fake);
	assert_int_equal(number_at(root, "schema"), 2);
	assert_string_equal(text_at(root, "run.digest"), "0123456789abcdef");
	assert_string_equal(text_at(root, "scenario.seed"), "18446744073709551615");
	assert_true(json_is_false(at(root, "run.partial")));
	assert_int_equal(number_at(root, "goodput.traffic_ps"), 40 * PS_PER_MS);
	assert_true(json_real_value(at(root, "goodput.total_bps")) == 8e11);
	assert_int_equal(number_at(root, "collectives.0.time_ps"), 20 * PS_PER_MS);
	assert_int_equal(number_at(root, "collectives.0.steps_all"), 30);
	assert_int_equal(number_at(root, "collectives.0.busbw_bytes_per_s"), 93750000000);
	assert_true(json_real_value(at(root, "collectives.0.busbw_share")) == 0.75);
	assert_string_equal(text_at(root, "collectives.1.kind"), "all_gather");
	assert_string_equal(text_at(root, "messages.1.pair"), "same_t0");
	assert_int_equal(number_at(root, "messages.1.count"), 200);
	assert_int_equal(number_at(root, "messages.1.min_ns"), 10000);
	assert_int_equal(number_at(root, "messages.1.max_ns"), 29900);
	assert_int_equal(number_at(root, "congestion.trimmed_core"), 1000);
	assert_string_equal(text_at(root, "congestion.share_quality"), "measured");
	assert_true(json_real_value(at(root, "congestion.marked_share")) == 0.025);
	assert_int_equal(number_at(root, "drops.0.switches"), 40);
	assert_int_equal(number_at(root, "drops.5.hosts"), 3);
	assert_int_equal(number_at(root, "conservation.dropped"), 100);
	assert_true(json_is_true(at(root, "conservation.holds")));
	assert_int_equal(json_array_size(at(root, "inputs")), 3);
	assert_string_equal(text_at(root, "inputs.2.origin"), "calibrated");
	json_decref(root);
	fake_free(fake);
}

static void a_sample_gives_no_extreme_and_no_thin_quantile(void **)
{
	struct fake *fake = fake_sample();
	json_t *root = json_of(fake);
	assert_true(json_is_true(at(root, "plan.sampled")));
	assert_string_equal(text_at(root, "plan.not_run"), "pp");
	reason_is(root, "messages.0.p50_ns", "no messages");
	reason_is(root, "messages.1.p99_ns", "not valid in this sample"); // 200 messages
	assert_true(number_at(root, "messages.1.p50_ns") > 0);
	assert_true(number_at(root, "messages.2.p99_ns") > 0); // 20,000 messages
	reason_is(root, "messages.2.p999_ns", "not valid in this sample");
	reason_is(root, "messages.2.max_ns", "not valid in this sample");
	reason_is(root, "messages.2.min_ns", "not valid in this sample");
	reason_is(root, "congestion.queue_bytes_max", "not valid in this sample");
	reason_is(root, "planes.nic_max_to_mean", "not valid in this sample");
	reason_is(root, "planes.each.0.bytes_nic_max", "not valid in this sample");
	assert_string_equal(text_at(root, "congestion.share_quality"), "indication");
	assert_true(json_is_true(at(root, "collectives.0.extrapolated")));
	assert_int_equal(number_at(root, "collectives.0.time_error_ps"), PS_PER_MS / 4);
	assert_int_equal(number_at(root, "collectives.0.steps_all"), 510);
	assert_int_equal(number_at(root, "collectives.1.stands_for"), 7);
	json_decref(root);
	fake_free(fake);
}

static void a_partial_run_says_so_and_what_did_not_end_has_no_time(void **)
{
	struct fake *fake = fake_unfinished();
	json_t *root = json_of(fake);
	assert_true(json_is_true(at(root, "run.partial")));
	reason_is(root, "collectives.1.time_ps", "not finished");
	reason_is(root, "collectives.1.busbw_bytes_per_s", "not finished");
	reason_is(root, "collectives.1.busbw_share", "not finished");
	assert_int_equal(number_at(root, "collectives.0.time_ps"), 20 * PS_PER_MS);
	json_decref(root);
	fake_free(fake);
	fake = fake_flows();
	root = json_of(fake);
	assert_true(json_is_true(at(root, "run.partial")));
	assert_string_equal(text_at(root, "run.limit_option"), "limits.packets");
	assert_true(json_is_null(at(root, "plan")));
	assert_int_equal(number_at(root, "flows.max_ns"), 800000);
	assert_int_equal(number_at(root, "messages.0.above_range"), 1);
	assert_int_equal(number_at(root, "conservation.held"), 2);
	assert_int_equal(number_at(root, "conservation.not_sent"), 1);
	assert_true(json_is_true(at(root, "conservation.holds")));
	json_decref(root);
	fake_free(fake);
}

static void a_run_without_traffic_has_no_rate(void **)
{
	struct fake *fake = fake_silence();
	json_t *root = json_of(fake);
	reason_is(root, "goodput.total_bps", "no traffic");
	reason_is(root, "goodput.per_nic_bps", "no traffic");
	assert_true(json_is_null(at(root, "flows")));
	json_decref(root);
	fake_free(fake);
}

static void only_speed_differs_between_runs_of_one_scenario(void **)
{
	struct fake *fake = fake_ring();
	json_t *first = json_of(fake);
	fake->input.run.cpu_s = 7;
	fake->input.run.wall_s = 8;
	fake->input.memory_peak_bytes = 9;
	json_t *second = json_of(fake);
	assert_false(json_equal(first, second));
	json_object_del(first, "speed");
	json_object_del(second, "speed");
	assert_true(json_equal(first, second));
	json_decref(first);
	json_decref(second);
	fake_free(fake);
}

static void frames_pace_and_captures_have_their_objects(void **)
{
	struct fake *fake = fake_emulated();
	json_t *root = json_of(fake);
	assert_true(json_real_value(at(root, "pace.dilation")) == 86.2);
	assert_true(json_is_true(at(root, "pace.by_trial")));
	assert_int_equal(number_at(root, "pace.lanes"), 1);
	assert_int_equal(number_at(root, "pace.lateness.count"), 1000000);
	assert_int_equal(number_at(root, "pace.lateness.p50_ns"), 0);
	assert_int_equal(number_at(root, "pace.lateness.p99_ns"),
			 hist_quantile(&fake->lateness_ns, 990000));
	assert_int_equal(number_at(root, "pace.lateness.max_ns"), 5600000);
	assert_int_equal(number_at(root, "pace.gap.max_ns"), 7800000);
	assert_string_equal(text_at(root, "ports.name"), "net_ring");
	assert_int_equal(number_at(root, "ports.buffers"), 16384);
	assert_int_equal(number_at(root, "ports.frames_sent"), 5000000);
	assert_true(json_is_true(at(root, "ports.frames_agree")));
	assert_int_equal(number_at(root, "ports.payload_bytes_good"), 4000000000);
	assert_int_equal(number_at(root, "ports.payload_bytes_wrong"), 0);
	assert_int_equal(json_array_size(at(root, "ports.damaged")), 2);
	assert_string_equal(text_at(root, "ports.damaged.0.reason"), "bad ICRC");
	assert_int_equal(number_at(root, "ports.damaged.1.frames"), 2);
	assert_string_equal(text_at(root, "capture.pcap"), "out/ring.pcapng");
	assert_int_equal(number_at(root, "capture.frames_lost"), 3);
	json_decref(root);
	fake->input.ports.missed = 1;
	fake->world.plan.sample.is_on = true; // lateness is of the run, not of the job
	root = json_of(fake);
	assert_true(json_is_false(at(root, "ports.frames_agree")));
	assert_int_equal(number_at(root, "pace.lateness.max_ns"), 5600000);
	json_decref(root);
	fake_free(fake);
}

static void a_run_that_waits_for_no_clock_has_no_lateness(void **)
{
	struct fake *fake = fake_emulated();
	struct hist none;
	check(hist_init(&none, &fake->arena, 2, 1000) == 0);
	fake->input.pace.dilation_milli = 0;
	fake->input.pace.lateness_ns = &none;
	fake->input.taps.pcap = NULL;
	json_t *root = json_of(fake);
	assert_true(json_is_null(at(root, "pace.dilation")));
	assert_true(json_is_null(at(root, "pace.lateness")));
	assert_int_equal(number_at(root, "pace.gap.count"), 3000000);
	assert_true(json_is_null(at(root, "capture.pcap")));
	assert_string_equal(text_at(root, "capture.log"), "out/ring.csv");
	json_decref(root);
	fake_free(fake);
}

static void a_run_in_virtual_time_has_none_of_these_objects(void **)
{
	struct fake *fake = fake_ring();
	json_t *plain = json_of(fake);
	fake_free(fake);
	fake = fake_emulated();
	json_t *root = json_of(fake);
	const char *const keys[] = {"pace", "ports", "capture"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		assert_null(json_object_get(plain, keys[i]));
		assert_int_equal(json_object_del(root, keys[i]), 0);
	}
	assert_int_equal(json_object_del(root, "speed"), 0); // the arena of this one holds more
	assert_int_equal(json_object_del(plain, "speed"), 0);
	assert_true(json_equal(plain, root));
	json_decref(plain);
	json_decref(root);
	fake_free(fake);
}

static void a_stream_that_takes_nothing_is_refused(void **)
{
	struct fake *fake = fake_ring();
	FILE *full = fopen("/dev/full", "w");
	if (full == NULL) {
		fake_free(fake);
		print_message("skipped: this system has no /dev/full\n");
		skip();
	}
	assert_int_equal(report_json(full, &fake->input), -ENOSPC);
	fclose(full);
	fake_free(fake);
}

static void a_program_says_what_it_sent_and_when_it_ended(void **)
{
	struct fake *fake = fake_program();
	json_t *root = json_of(fake);
	assert_int_equal(number_at(root, "program.ranks"), 3);
	assert_int_equal(number_at(root, "program.operations"), 5);
	assert_int_equal(number_at(root, "program.computations"), 1);
	assert_int_equal(number_at(root, "program.messages"), 2);
	assert_int_equal(number_at(root, "program.dependencies"), 1);
	assert_int_equal(number_at(root, "program.fabric_messages"), 1);
	assert_int_equal(number_at(root, "program.fabric_bytes"), 300);
	assert_int_equal(number_at(root, "program.scaleup_messages"), 1);
	assert_int_equal(number_at(root, "program.scaleup_bytes"), 20);
	assert_int_equal(number_at(root, "program.end_ps"), 4 * PS_PER_US);
	assert_int_equal(number_at(root, "goodput.traffic_ps"), 4 * PS_PER_US);
	assert_int_equal(number_at(root, "goodput.nics_sending"), 1);
	assert_int_equal(number_at(root, "goodput.nics_receiving"), 1);
	json_decref(root);
	fake->input.is_partial = true;
	root = json_of(fake);
	assert_true(json_is_null(at(root, "program.end_ps")));
	json_decref(root);
	fake_free(fake);
}

static void a_run_with_pfc_says_who_was_paused(void **)
{
	struct fake *fake = fake_paused();
	json_t *root = json_of(fake);
	assert_int_equal(number_at(root, "buffer.used_max_bytes"), 800000);
	assert_true(json_real_value(at(root, "buffer.alpha")) == 0.5);
	assert_true(json_is_null(at(root, "pfc.xoff_bytes"))); // it moves
	fake->world.fabric.buffer.bytes = 0;
	json_decref(root);
	root = json_of(fake);
	assert_null(json_object_get(root, "buffer"));
	assert_int_equal(number_at(root, "pfc.xoff_bytes"), 100000);
	assert_int_equal(number_at(root, "pfc.pauses_sent"), 70);
	assert_int_equal(number_at(root, "pfc.pauses_to_nics"), 30);
	assert_int_equal(number_at(root, "pfc.pauses_to_switches"), 40);
	assert_int_equal(number_at(root, "pfc.switch_paused_ps"), 5 * PS_PER_MS);
	assert_int_equal(number_at(root, "pfc.headroom_drops"), 5);
	assert_int_equal(number_at(root, "pfc.paused_cables"), 3);
	assert_string_equal(text_at(root, "pfc.cables.1.name"), "nic 0 plane 0 > t0 0");
	assert_int_equal(number_at(root, "pfc.cables.0.paused_ps"), 4 * PS_PER_MS);
	assert_int_equal(number_at(root, "pfc.deadlock.ports"), 2);
	assert_string_equal(text_at(root, "pfc.deadlock.cables.1"), "nic 1 plane 0 > t0 0");
	assert_true(json_is_true(at(root, "conservation.holds"))); // frames are counted, too
	json_decref(root);
	fake_free(fake);
	fake = fake_ring();
	root = json_of(fake);
	assert_null(json_object_get(root, "pfc"));
	json_decref(root);
	fake_free(fake);
}
