// SPDX-License-Identifier: Apache-2.0
// DCQCN over whole worlds: flows share a line as they should, the line is full and its queue within
// the marks, and nothing depends on where windows end.
#include <math.h>

#include "../rig.h"

#define PAYLOAD_BPS (100e9 * 4096 / 4258) // what a line carries of full packets

static struct rig rig;

// Marks as operators set them: 400 kB, 1600 kB and 20 % per 100 Gb/s (HPCC's authors).
#define MARKS "queue: {bytes: 8MiB, ecn_low: 400kB, ecn_high: 1600kB, ecn_share: 20%, "
#define RC \
	"transport: {kind: rc, rto: 10ms}\n" \
	"cc: {algorithm: dcqcn}\n"

static ps_t end_of(uint32_t flow)
{
	return rig.outcome->flow_end_ps[flow];
}

static void assert_lossless(void)
{
	assert_int_equal(rig.run.end, RUN_DONE);
	for (int reason = 0; reason < DROP_REASON_COUNT; reason++)
		assert_int_equal(rig.outcome->fabric.dropped[reason], 0);
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		assert_int_equal(rig.outcome->transport.rtx[reason], 0);
}

// The second flow begins when the first has had the line for long. Were the line shared fairly from
// that instant on, the first would end at start + 2 (S / C - start); were it not shared, at S / C,
// and without anything left for it at 2 S / C: 28 % before that and 43 % behind it. The cuts at the
// start, by half each, and the way back, a thousandth of the line per 55 us, take some per cent.
static void a_late_flow_gets_its_share(void **state)
{
	(void)state;
	static const char yaml[] = "name: late\n"
				   "fabric: {topology: dumbbell, nics: 4}\n" MARKS
				   "trim: false}\n" RC "traffic: {kind: flows, flows: [\n"
				   "  {from: 0, to: 2, bytes: 400MB},\n"
				   "  {from: 1, to: 3, bytes: 400MB, start: 20ms}]}\n";
	const double alone = 400e6 * 8 / PAYLOAD_BPS, start = 20e-3;
	rig_run(&rig, yaml, NULL);
	assert_lossless();
	double first = (double)end_of(0) / 1e12, second = (double)end_of(1) / 1e12;
	double fair = start + 2 * (alone - start);
	if (fabs(first - fair) > 0.1 * fair)
		fail_msg("the first ends at %f s, not at %f s", first, fair);
	if (second > 1.1 * 2 * alone || second < 2 * alone)
		fail_msg("the second ends at %f s, not at %f s", second, 2 * alone);
	assert_in_range(rig.outcome->fabric.queue_bytes_max, 400000, 1600000);
	world_instance_free(&rig.world_instance);
}

#define INCAST \
	"name: incast\n" \
	"fabric: {nics: 8, nics_per_t0: 8, t1_count: 1}\n" MARKS \
	"ecn_last_hop: true, trim: false}\n" RC \
	"traffic: {kind: incast, senders: 7, bytes: 60MB}\n"

// Payload that came through until `time`, an assignment.
static double payload_until(const char *time)
{
	const char *const sets[] = {time, NULL};
	rig_run(&rig, INCAST, sets);
	double bytes = (double)rig.outcome->transport.payload_bytes_placed;
	world_instance_free(&rig.world_instance);
	return bytes;
}

// Once the rates have met, the queue never runs dry; and all are done at about the same time.
static void an_incast_is_shared_and_its_line_is_full(void **state)
{
	(void)state;
	const double all = 7 * 60e6 * 8 / PAYLOAD_BPS;
	double bytes = payload_until("limits.time=25ms") - payload_until("limits.time=15ms");
	if (bytes * 8 / 10e-3 < 0.99 * PAYLOAD_BPS)
		fail_msg("%f Gb/s of %f came through", bytes * 8 / 10e-3 / 1e9, PAYLOAD_BPS / 1e9);
	rig_run(&rig, INCAST, NULL);
	assert_lossless();
	double last = 0, first = 1;
	for (uint32_t flow = 0; flow < 7; flow++) {
		last = fmax(last, (double)end_of(flow) / 1e12);
		first = fmin(first, (double)end_of(flow) / 1e12);
	}
	if (last > 1.2 * all || first < 0.9 * all)
		fail_msg("from %f s to %f s, with a full line %f s", first, last, all);
	world_instance_free(&rig.world_instance);
}

// Who waits for a rate is asked when a line is free, and that must not be when windows end.
static void windows_change_nothing(void **state)
{
	(void)state;
	static const char yaml[] = "name: all\n"
				   "fabric: {nics: 16, planes: 4, nics_per_t0: 4, t1_count: 2}\n"
				   "queue: {bytes: 8MiB, ecn_low: 10kB, ecn_high: 100kB, "
				   "ecn_last_hop: true, trim: false}\n"
				   "transport: {kind: rc, rto: 10ms, cnp_interval: 5us}\n"
				   "cc: {algorithm: dcqcn, rate_timer: 20us, rate_bytes: 100kB}\n"
				   "traffic: {kind: all_to_all, bytes: 400kB}\n";
	static const char *const windows[] = {"limits.window=500ns", "limits.window=61ns",
					      "limits.window=3ns"};
	uint64_t digest = 0;
	for (int i = 0; i < 3; i++) {
		const char *const sets[] = {windows[i], NULL};
		rig_run(&rig, yaml, sets);
		assert_lossless();
		assert_true(rig.outcome->transport.cnps_received > 100);
		if (i > 0)
			assert_true(rig.run.digest == digest);
		digest = rig.run.digest;
		world_instance_free(&rig.world_instance);
	}
}
