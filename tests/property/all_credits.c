// SPDX-License-Identifier: Apache-2.0
// Credits of the receiver over whole worlds: n senders get the same share of the receiver's line,
// nothing is trimmed once the first windows have passed, and a lossy fabric ends no less well.
#include <math.h>

#include "../rig.h"

static struct rig rig;

#define LINE_BPS 100e9
#define FULL 4258.0

static void run_incast(const char *algorithm, uint32_t senders, uint32_t bytes, const char *more)
{
	static const char yaml[] = "name: credits\n"
				   "fabric: {nics: 17, nics_per_t0: 17, t1_count: 1}\n"
				   "cc: {algorithm: %s}\n"
				   "traffic: {kind: incast, senders: %u, bytes: %uB}\n%s";
	char text[1024];
	snprintf(text, sizeof(text), yaml, algorithm, senders, bytes, more);
	rig_run(&rig, text, NULL);
	assert_int_equal(rig.run.end, RUN_DONE);
}

// All packets, and those that were trimmed once more, are granted one after the other at 0.99 of
// the line. The way there and back comes on top; the first windows were not granted.
static void an_incast_is_shared_alike_and_ends_at_the_granted_rate(void **state)
{
	(void)state;
	static const uint32_t counts[] = {2, 8, 16};
	for (int i = 0; i < 6; i++) { // NSCC beside them has nothing to add: no path is shared
		uint32_t senders = counts[i % 3];
		run_incast(i < 3 ? "rccc" : "nscc_rccc", senders, 4000000, "");
		double packets = senders * ceil(4e6 / 4096) +
			(double)rig.outcome->transport.rtx[RTX_NACK];
		double all = packets * FULL * 8 / LINE_BPS / 0.99, sum = 0, squares = 0;
		double last = 0;
		for (uint32_t flow = 0; flow < senders; flow++) {
			double end = (double)rig.outcome->flow_end_ps[flow] / 1e12;
			last = fmax(last, end);
			sum += 1 / end;
			squares += 1 / end / end;
		}
		double base = (double)rig.world_instance.world.topology.base_rtt_ps / 1e12;
		double first = senders * cc_window_auto(&rig.world_instance.world.transport.cc);
		if (last < all - first * 8 / LINE_BPS || last > all + 3 * base)
			fail_msg("%u: ends at %f us, granted %f us", senders, last * 1e6,
				 all * 1e6);
		assert_true(sum * sum / senders / squares > 0.9999); // Jain
		// no more than was sent before the first answers came
		assert_true((double)rig.outcome->transport.rtx[RTX_NACK] < first / FULL);
		assert_int_equal(rig.outcome->transport.rtx[RTX_TIMEOUT], 0);
		world_instance_free(&rig.world_instance);
	}
}

// Told what waits, the first answer ends what is sent without credit: what is trimmed is at most a
// round trip at line rate of each sender, and a packet; the end is at the granted rate all the
// same.
static void what_senders_tell_ends_the_first_window(void **state)
{
	(void)state;
	static const uint32_t counts[] = {2, 8, 16};
	for (int i = 0; i < 6; i++) {
		uint32_t senders = counts[i % 3];
		run_incast(i < 3 ? "rccc, credit_demand: told" : "nscc_rccc, credit_demand: told",
			   senders, 4000000, "");
		const struct transport_counters *of = &rig.outcome->transport;
		double trims = (double)of->rtx[RTX_NACK];
		double all = (senders * ceil(4e6 / 4096) + trims) * FULL * 8 / LINE_BPS / 0.99;
		double base = (double)rig.world_instance.world.topology.base_rtt_ps / 1e12,
		       last = 0;
		for (uint32_t flow = 0; flow < senders; flow++)
			last = fmax(last, (double)rig.outcome->flow_end_ps[flow] / 1e12);
		if (last < all - 1.5 * senders * base || last > all + 3 * base)
			fail_msg("%u: ends at %f us, granted %f us", senders, last * 1e6,
				 all * 1e6);
		assert_true(trims <= senders * (base * LINE_BPS / 8 / FULL + 1));
		assert_int_equal(of->rtx[RTX_TIMEOUT], 0);
		assert_int_equal(of->demands_sent, senders);
		assert_int_equal(of->demands_received, senders);
		world_instance_free(&rig.world_instance);
	}
}

static void lost_packets_and_credits_do_not_end_it(void **state)
{
	(void)state;
	static const char *const algorithms[] = {"rccc", "nscc_rccc", "rccc, credit_demand: told",
						 "nscc_rccc, credit_demand: told"};
	for (int i = 0; i < 4; i++) {
		const struct transport_counters *of;
		run_incast(algorithms[i], 8, 1000000,
			   "faults: [{kind: loss, at: all, probability: 1%}]\n");
		of = &rig.outcome->transport;
		assert_int_equal(of->payload_bytes_placed, 8000000);
		assert_true(of->grants_received < of->grants_sent);
		world_instance_free(&rig.world_instance);
	}
}

// Credits come before acknowledgements, and with the least of windows one that is not taken then
// leaves a QP without: it would wait for its timer.
static void a_window_of_one_packet_goes_round_like_a_fixed_one(void **state)
{
	(void)state;
	static const char yaml[] = "name: one\n"
				   "fabric: {nics: 16, planes: 4, nics_per_t0: 4, t1_count: 2}\n"
				   "traffic: {kind: all_to_all, bytes: 300kB}\n";
	static const char *const credits[] = {"cc.algorithm=rccc", "cc.max_window=4258B", NULL};
	static const char *const fixed[] = {"cc.algorithm=fixed", "cc.window=4258B", NULL};
	rig_run(&rig, yaml, fixed);
	ps_t end_ps = rig.outcome->end_ps;
	world_instance_free(&rig.world_instance);
	rig_run(&rig, yaml, credits);
	assert_in_range(rig.outcome->end_ps, end_ps / 2, end_ps + end_ps / 10);
	world_instance_free(&rig.world_instance);
}

static void windows_change_nothing(void **state)
{
	(void)state;
	static const char yaml[] = "name: all\n"
				   "fabric: {nics: 16, planes: 4, nics_per_t0: 4, t1_count: 2}\n"
				   "traffic: {kind: all_to_all, bytes: 200kB}\n";
	static const char *const windows[] = {"limits.window=500ns", "limits.window=61ns",
					      "limits.window=3ns"};
	uint64_t digest = 0;
	for (int i = 0; i < 12; i++) {
		const char *const sets[] = {
			windows[i % 3], i / 3 % 2 ? "cc.algorithm=nscc_rccc" : "cc.algorithm=rccc",
			i < 6 ? "cc.credit_demand=arrived" : "cc.credit_demand=told", NULL};
		rig_run(&rig, yaml, sets);
		assert_int_equal(rig.run.end, RUN_DONE);
		if (i % 3 > 0)
			assert_true(rig.run.digest == digest);
		digest = rig.run.digest;
		world_instance_free(&rig.world_instance);
	}
}
