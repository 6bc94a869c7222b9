// SPDX-License-Identifier: Apache-2.0
// Tests of what result.json says of packets, pairs of NICs and queues.

#include <math.h>

#include "result_at.h"

static void packets_are_told_by_what_took_time(void **)
{
	struct fake *fake = fake_timed();
	json_t *root = json_of(fake);
	reason_is(root, "delays.rows.0.p50_ns", "no packets");
	assert_string_equal(text_at(root, "delays.rows.1.what"), "one_way");
	assert_string_equal(text_at(root, "delays.rows.1.which"), "same_t0");
	assert_int_equal(number_at(root, "delays.rows.1.max_ns"), 4090);
	assert_string_equal(text_at(root, "delays.rows.3.by"), "plane");
	assert_string_equal(text_at(root, "delays.rows.3.which"), "1");
	assert_string_equal(text_at(root, "delays.rows.4.what"), "one_way");
	assert_string_equal(text_at(root, "delays.rows.4.by"), "ev");
	assert_string_equal(text_at(root, "delays.rows.4.which"), "3");
	assert_int_equal(number_at(root, "delays.rows.4.max_ns"), 4090);
	assert_string_equal(text_at(root, "delays.rows.6.by"), "ev");
	assert_string_equal(text_at(root, "delays.rows.6.which"), "3");
	assert_int_equal(number_at(root, "delays.rows.6.max_ns"), 8000);
	assert_int_equal(json_array_size(at(root, "delays.rows")), 7);
	// all packets took one of four EVs
	assert_true(json_real_value(at(root, "delays.paths.jain")) == 0.25);
	assert_true(json_real_value(at(root, "delays.paths.max_to_mean")) == 4);
	assert_int_equal(number_at(root, "delays.paths.evs"), 4);
	assert_int_equal(number_at(root, "delays.paths.used"), 1);
	assert_int_equal(json_array_size(at(root, "delays.evs_rest")), 0);
	assert_int_equal(number_at(root, "delays.order.overtaken"), 3);
	assert_int_equal(number_at(root, "delays.order.p50_packets"), 0);
	assert_int_equal(number_at(root, "delays.incast.max_connections"), 3);
	assert_int_equal(number_at(root, "delays.incast_series.bin_ps"), PS_PER_US);
	assert_int_equal(number_at(root, "delays.incast_series.most_connections.0"), 2);
	assert_int_equal(number_at(root, "delays.incast_series.most_connections.2"), 7);
	assert_int_equal(json_array_size(at(root, "delays.incast_series.most_connections")), 3);
	assert_int_equal(number_at(root, "delays.incast_series.nics.0.nic"), 5);
	assert_int_equal(number_at(root, "delays.incast_series.nics.1.nic"), 3);
	assert_int_equal(number_at(root, "delays.incast_series.nics.1.most_connections.1"), 2);
	assert_int_equal(number_at(root, "delays.incast_series.nics.1.most_connections.2"), 2);
	assert_int_equal(json_array_size(at(root, "delays.incast_series.nics")), 2);
	assert_int_equal(number_at(root, "delays.gaps.pairs.1.p50_ns"), 340);
	reason_is(root, "delays.gaps.pairs.0.p50_ns", "no packets");
	assert_int_equal(number_at(root, "delays.pairs_talked"), 20);
	assert_int_equal(json_array_size(at(root, "delays.pairs")), 16);
	assert_int_equal(number_at(root, "delays.pairs.0.from_nic"), 19); // the slowest
	assert_int_equal(number_at(root, "delays.pairs.15.from_nic"), 4);
	assert_int_equal(number_at(root, "delays.pairs_rest.0.pairs"), 4);
	assert_int_equal(number_at(root, "delays.pairs_rest.0.max_ns"), 10300);
	json_decref(root);
	fake->input.ports.name = "net_ring";
	fake->world.transport.kind = TRANSPORT_RC;
	root = json_of(fake);
	reason_is(root, "delays.rows.0.p50_ns", "frames do not carry when they left");
	reason_is(root, "congestion.retransmitted_spurious",
		  "RoCEv2's packets do not say that they are repeats");
	json_decref(root);
	fake_free(fake);
}

// Of many EVs the slowest are listed, and the others are told by plane: none is left out.
static void of_many_evs_the_slowest_are_listed(void **)
{
	struct fake *fake = fake_paths();
	json_t *root = json_of(fake);
	// three classes, two planes
	assert_string_equal(text_at(root, "delays.rows.5.by"), "ev");
	assert_string_equal(text_at(root, "delays.rows.5.which"), "7");
	assert_int_equal(number_at(root, "delays.rows.5.count"), 11);
	assert_int_equal(number_at(root, "delays.rows.5.min_ns"), 4070);
	assert_int_equal(number_at(root, "delays.rows.5.mean_ns"), (10 * 4070 + 70000) / 11);
	assert_int_equal(number_at(root, "delays.rows.5.max_ns"), 70000);
	assert_string_equal(text_at(root, "delays.rows.6.which"), "79");
	assert_string_equal(text_at(root, "delays.rows.20.which"), "65");
	assert_string_equal(text_at(root, "delays.rows.21.what"), "round_trip");
	reason_is(root, "delays.rows.21.p50_ns", "no packets");
	assert_int_equal(json_array_size(at(root, "delays.rows")), 22);
	assert_int_equal(json_array_size(at(root, "delays.evs_rest")), 2);
	assert_int_equal(number_at(root, "delays.evs_rest.0.plane"), 0);
	assert_int_equal(number_at(root, "delays.evs_rest.0.evs"), 33); // of 40: 66, ..., 78 not
	assert_int_equal(number_at(root, "delays.evs_rest.0.max_ns"), 4640);
	assert_int_equal(number_at(root, "delays.evs_rest.1.evs"), 31); // 7, 65, ..., 79 not
	assert_int_equal(number_at(root, "delays.evs_rest.1.count"), 310);
	assert_int_equal(number_at(root, "delays.paths.used"), 80);
	assert_int_equal(number_at(root, "delays.paths.digits"), 2);
	reason_is(root, "delays.gaps", "not measured: watch.gaps is false");
	reason_is(root, "delays.incast_series", "not kept: more than 16,384 NICs");
	double jain = 801.0 * 801 / 80 / (79 * 100 + 121);
	assert_true(fabs(json_real_value(at(root, "delays.paths.jain")) - jain) < 1e-9);
	assert_true(fabs(json_real_value(at(root, "delays.paths.max_to_mean")) - 880.0 / 801) <
		    1e-9);
	json_decref(root);
	fake->input.ports.name = "net_ring";
	root = json_of(fake);
	reason_is(root, "delays.paths.jain", "frames do not carry when they left");
	reason_is(root, "delays.paths.used", "frames do not carry when they left");
	reason_is(root, "delays.rows.5.max_ns", "frames do not carry when they left");
	json_decref(root);
	fake_free(fake);
}

static void queues_are_told_by_depth_and_over_time(void **)
{
	struct fake *fake = fake_culprit();
	json_t *root = json_of(fake);
	assert_string_equal(text_at(root, "links.depths.2.group"), "nic_down");
	assert_int_equal(number_at(root, "links.depths.2.count"), 13);
	assert_int_equal(number_at(root, "links.depths.2.max_bytes"), 9000);
	reason_is(root, "links.depths.0.p99_bytes", "nothing had to wait");
	assert_int_equal(number_at(root, "links.depth_series.bin_ps"), PS_PER_US);
	assert_int_equal(number_at(root, "links.depth_series.ports.0.most_bytes.1"), 9000);
	json_decref(root);
	fake_free(fake);
	fake = fake_crowd();
	root = json_of(fake);
	reason_is(root, "links.depth_series", "not kept: more than 16,384 ports of switches");
	json_decref(root);
	fake_free(fake);
}
