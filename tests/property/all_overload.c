// SPDX-License-Identifier: Apache-2.0
// Senders that do not slow down, into one receiver. As long as something gets through, all of it
// does in the end and no QP gives up; when trimmed headers alone fill the last link, nothing ever
// gets through, and the run ends with its QPs instead of living on until limits.time.
#include "../rig.h"

static struct rig rig;

static void run_incast(const char *transport, uint32_t senders, uint32_t bytes)
{
	static const char yaml[] = "name: overload\n"
				   "fabric: {nics: 16, nics_per_t0: 16, t1_count: 1}\n"
				   "queue: {trim: true, bytes: 20000B}\n"
				   "limits: {time: 1s}\n"
				   "transport: {evs: 4, payload: 1024B, rto: 20us, %s}\n"
				   "cc: {algorithm: fixed, window: 400kB}\n"
				   "traffic: {kind: incast, senders: %u, bytes: %uB}\n";
	char text[1024];
	snprintf(text, sizeof(text), yaml, transport, senders, bytes);
	rig_run(&rig, text, NULL);
}

static void an_overload_that_lets_something_through_completes(void **state)
{
	(void)state;
	run_incast("rto_linear: 7, rto_doublings: 5", 5, 2000000);
	const struct transport_counters *of = &rig.outcome->transport;
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(of->qps_failed, 0);
	assert_int_equal(of->payload_bytes_placed, 5 * 2000000ull);
	assert_true(of->rtx[RTX_NACK] > 3 * of->data_received); // and an overload it was
	world_instance_free(&rig.world_instance);
}

static void an_overload_that_lets_nothing_through_ends_with_its_qps(void **state)
{
	(void)state;
	run_incast("rto_linear: 3, rto_doublings: 2", 14, 2000000);
	const struct transport_counters *of = &rig.outcome->transport;
	assert_int_equal(rig.run.end, RUN_STALLED);
	assert_true(rig.run.is_drained);
	assert_true(of->qps_failed > 7);
	assert_int_equal(of->qps_failed_remote, 0);
	assert_in_range(rig.run.now_ps, 120 * PS_PER_US, PS_PER_MS); // 180 us of tries, and queues
	world_instance_free(&rig.world_instance);
}
