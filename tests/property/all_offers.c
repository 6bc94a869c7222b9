// SPDX-License-Identifier: Apache-2.0
// Dynamic MPR in an incast: senders whose congestion control does not hold them back fill the queue
// of the last hop with all that their MPR lets through. A receiver that shares out a budget keeps
// it as deep as the budget, and nobody is any later for it.
#include "../rig.h"

static struct rig rig;

#define BYTES 3000000u
#define PAYLOAD 256u
#define WIRE (PAYLOAD + 162u)

static void run_incast(uint32_t senders, const char *transport)
{
	static const char yaml[] = "name: offers\n"
				   "fabric: {nics: 64, nics_per_t0: 64, t1_count: 1}\n"
				   "queue: {trim: false, ecn: false, bytes: 128MiB}\n"
				   "limits: {packets: 400000}\n"
				   "transport: {evs: 4, payload: %uB, rto: 20ms, %s}\n"
				   "cc: {algorithm: fixed, window: 64MB}\n"
				   "traffic: {kind: incast, senders: %u, bytes: %uB}\n";
	char text[1024];
	snprintf(text, sizeof(text), yaml, PAYLOAD, transport, senders, BYTES);
	rig_run(&rig, text, NULL);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(rig.outcome->transport.payload_bytes_placed, (uint64_t)senders * BYTES);
	assert_int_equal(rig.outcome->transport.data_packets,
			 senders * ((BYTES + PAYLOAD - 1) / PAYLOAD));
}

// When all was there, less what the answers to the idle receiver's probes took of the line.
static ps_t end_of_data(void)
{
	uint64_t answers = rig.outcome->transport.probes_answered;
	uint64_t bytes = answers * rig.world_instance.world.transport.control_bytes;
	return rig.outcome->end_ps -
		line_ps(line_of(rig.world_instance.world.transport.cc.rate_bps), bytes);
}

static void an_incast_needs_as_much_queue_as_the_budget(void **state)
{
	(void)state;
	run_incast(8, "mpr: 8192");
	uint64_t without = rig.outcome->fabric.queue_bytes_max;
	ps_t end = end_of_data();
	world_instance_free(&rig.world_instance);
	run_incast(8, "mpr: 8192, dynamic_mpr: true, mpr_budget: 16384");
	uint64_t some = rig.outcome->fabric.queue_bytes_max;
	world_instance_free(&rig.world_instance);
	run_incast(8, "mpr: 8192, dynamic_mpr: true, mpr_budget: 8192");
	uint64_t least = rig.outcome->fabric.queue_bytes_max;
	printf("deepest queue: %llu without, %llu and %llu bytes with offers\n",
	       (unsigned long long)without, (unsigned long long)some, (unsigned long long)least);
	// 65,536 PSNs, then 16,384 and 8,192 in flight; what is on the way is not in the queue
	assert_in_range(without, 8 * 7000ull * WIRE, 8 * 8192ull * WIRE);
	assert_in_range(some, 8 * 1900ull * WIRE, 8 * 2048ull * WIRE);
	assert_in_range(least, 8 * 900ull * WIRE, 8 * 1024ull * WIRE);
	assert_in_range(end_of_data(), end - end / 100, end + end / 100);
	world_instance_free(&rig.world_instance);
}

// The more senders there are, the more seldom each is sent a SACK; all of them count all the same.
// (Until its first SACK a sender has its whole MPR: SACKs must come before that fills the queue.)
static void many_senders_share_the_budget_too(void **state)
{
	(void)state;
	run_incast(48, "mpr: 8192, sack_bytes: 4KiB, dynamic_mpr: true, mpr_budget: 98304");
	printf("deepest queue of 48: %llu bytes\n",
	       (unsigned long long)rig.outcome->fabric.queue_bytes_max);
	assert_in_range(rig.outcome->fabric.queue_bytes_max, 48 * 1900ull * WIRE,
			48 * 2048ull * WIRE);
	world_instance_free(&rig.world_instance);
}

// Without senders beside it a flow has all of its MPR.
static void a_single_sender_is_not_held_back(void **state)
{
	(void)state;
	ps_t ends[2];
	for (uint32_t i = 0; i < 2; i++) {
		static const char *const words[] = {"dynamic_mpr: false", "dynamic_mpr: true"};
		char text[512];
		snprintf(text, sizeof(text),
			 "name: one\nfabric: {nics: 4, nics_per_t0: 2, t1_count: 1, trunk_delay: "
			 "5us}\n"
			 "transport: {evs: 4, payload: 256B, mpr: 8192, %s}\n"
			 "cc: {algorithm: fixed, window: 64MB}\n"
			 "traffic: {kind: flows, flows: [{from: 0, to: 3, bytes: 5MB}]}\n",
			 words[i]);
		rig_run(&rig, text, NULL);
		assert_int_equal(rig.run.end, RUN_DONE);
		ends[i] = rig.outcome->end_ps;
		world_instance_free(&rig.world_instance);
	}
	assert_int_equal(ends[0], ends[1]);
}
