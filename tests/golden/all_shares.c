// SPDX-License-Identifier: Apache-2.0
// A flow over several QPs is shared among them, and done when all shares are. Its time can be said
// beforehand:
//
// - On one line the packets of all shares leave in turn, each link sends one when it has it whole
//   and the one before is gone, and the last answer comes back. With either transport. Exact.
// - RC puts each QP on one path, by a hash: n QPs on k paths are balls in boxes, and the flow takes
//   as long as the fullest box. Exact for what a run drew; the mean of many runs is that of balls
//   in boxes, counted out here.
//
// Shares are NCCL's (net_ib.cc, NCCL_IB_SPLIT_DATA_ON_QPS=1): the n-th part, rounded up to 128 B.

#include "../rig.h"

#include <errno.h>
#include <math.h>

#define PAYLOAD 4096u
#define HEADER 64u
#define ACK 64u
#define BYTE_PS 80 // 100 Gb/s
#define US PS_PER_US

static const uint32_t counts[] = {1, 4, 8, 16};
#define COUNTS (sizeof(counts) / sizeof(*counts))

// ---------------------------------------------------------------- shares

static void shares_are_even_in_units_and_make_the_whole(void **)
{
	assert_int_equal(flow_share_bytes(1000000, 1), 1000000);
	assert_int_equal(flow_last_share_bytes(1000000, 1), 1000000);
	assert_int_equal(flow_share_bytes(1 << 20, 16), 65536);
	assert_int_equal(flow_last_share_bytes(1 << 20, 16), 65536);
	assert_int_equal(flow_share_bytes(1000000, 16), 62592); // 62,500 is 488.3 units
	assert_int_equal(flow_last_share_bytes(1000000, 16), 1000000 - 15 * 62592);
	assert_int_equal(flow_share_bytes(129, 2), 128);
	assert_int_equal(flow_last_share_bytes(129, 2), 1);
	assert_int_equal(flow_last_share_bytes(128, 2), 0); // one unit, two QPs
	assert_int_equal(flow_last_share_bytes(17 * 128, 16), 0);
	assert_int_equal(flow_last_share_bytes(17 * 128, 17), 128);
	assert_int_equal(flow_share_bytes(UINT32_MAX, 128), UINT64_C(1) << 25);
}

// ---------------------------------------------------------------- one line

#define LINKS 3

static const char one_line[] =
	"name: shares\nfabric: {topology: dumbbell, nics: 8, bundle: 1, link_rate: 100Gb/s,\n"
	"  nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"queue: {bytes: 64MB, ecn: false, trim_bytes: 64B}\n"
	"transport: {qps_per_connection: %u, payload: 4096B, header: 64B, control: 64B,\n"
	"  evs: 16, path: rotate, sack_rule: htsim, sack_bytes: 16384B, completion: sack, "
	"hole_age: off, rto: 100ms}\n"
	"cc: {algorithm: fixed, window: 100MB}\n"
	"traffic: {kind: flows, flows: [{from: 1, to: 6, bytes: %uB, start: 3us}]}\n";

// When the sender knows that the last packet is there, were its NIC to take a packet of each QP in
// turn.
static ps_t expected_end(uint32_t qps, uint32_t bytes)
{
	uint64_t left[16], share = flow_share_bytes(bytes, qps);
	ps_t free_at[LINKS] = {0}, at = 3 * US;
	free_at[0] = at;
	for (uint32_t qp = 0; qp < qps; qp++)
		left[qp] = qp < qps - 1 ? share : bytes - (qps - 1) * share;
	for (uint64_t all = bytes, qp = 0; all > 0; qp = (qp + 1) % qps) {
		uint64_t payload = left[qp] < PAYLOAD ? left[qp] : PAYLOAD;
		left[qp] -= payload;
		all -= payload;
		if (payload == 0)
			continue;
		at = 0;
		for (uint32_t i = 0; i < LINKS; i++) {
			free_at[i] = ps_max(at, free_at[i]) + (ps_t)(payload + HEADER) * BYTE_PS;
			at = free_at[i] + US;
		}
	}
	return at + LINKS * (ACK * BYTE_PS + US);
}

static void run_line(const char *kind, uint32_t qps, uint32_t bytes)
{
	static struct rig rig;
	char text[1024];
	char set[32];
	snprintf(text, sizeof(text), one_line, qps, bytes);
	snprintf(set, sizeof(set), "transport.kind=%s", kind);
	rig_run(&rig, text, (const char *const[]){set, NULL});
	ps_t measured = rig.outcome->flow_end_ps[0], expected = expected_end(qps, bytes);
	printf("%-3s %2u QPs %8u B: %10.4f us, expected %10.4f, %lld ps off\n", kind, qps, bytes,
	       (double)measured / 1e6, (double)expected / 1e6, (long long)(measured - expected));
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(measured, expected);
	assert_int_equal(rig.world_instance.world.qp_count, 2 * qps);
	assert_int_equal(rig.outcome->transport.messages_sent, qps);
	assert_int_equal(rig.outcome->transport.messages_received, qps);
	assert_int_equal(rig.outcome->transport.payload_bytes_placed, bytes);
	assert_int_equal(rig.outcome->flow_ns.total, 1);
	assert_int_equal(rig.outcome->flow_ns.max, (measured - 3 * US) / PS_PER_NS);
	world_instance_free(&rig.world_instance);
}

static void a_flow_of_several_qps_takes_as_long_as_its_packets_in_turn(void **)
{
	for (uint32_t i = 0; i < COUNTS; i++) {
		run_line("rc", counts[i], 16 * PAYLOAD);
		run_line("rc", counts[i], 1 << 20);
		run_line("rc", counts[i], 1000000);
		run_line("mrc", counts[i], 16 * PAYLOAD);
		run_line("mrc", counts[i], 1 << 20);
		run_line("mrc", counts[i], 1000000);
	}
}

// ---------------------------------------------------------------- paths

#define PLANES 8

static const char planes[] =
	"name: shares\nseed: %u\n"
	"fabric: {nics: 8, nics_per_t0: 4, t1_count: 1, planes: 8, link_rate: 100Gb/s,\n"
	"  nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"queue: {bytes: 64MB, ecn: false}\n"
	"cc: {algorithm: fixed}\ntransport: {kind: rc, qps_per_connection: %u, payload: 4096B, "
	"header: 64B, control: 64B}\n"
	"traffic: {kind: flows, flows: [{from: 0, to: 5, bytes: 64KiB}]}\n";

// Four links, and all packets full.
static ps_t closed_form(uint32_t packets)
{
	return (ps_t)(packets + 3) * (PAYLOAD + HEADER) * BYTE_PS + 4 * ACK * BYTE_PS + 8 * US;
}

// Shares on the fullest plane: the flow takes as long as they do, to the picosecond.
static uint32_t run_planes(uint32_t seed, uint32_t qps)
{
	static struct rig rig;
	char text[1024];
	uint32_t share = 16 / qps, packets = 0, most = 0;
	snprintf(text, sizeof(text), planes, seed, qps);
	rig_run(&rig, text, NULL);
	for (uint32_t plane = 0; plane < PLANES; plane++) {
		uint64_t bytes = rig.outcome->transport.plane_bytes[plane];
		uint32_t here = (uint32_t)(bytes / (PAYLOAD + HEADER));
		assert_int_equal(bytes % (PAYLOAD + HEADER), 0);
		assert_int_equal(here % share, 0); // a QP has one plane
		packets += here;
		most = here > most ? here : most;
	}
	assert_int_equal(packets, 16);
	assert_int_equal(rig.outcome->flow_end_ps[0], closed_form(most));
	world_instance_free(&rig.world_instance);
	return most / share;
}

// The mean of the fullest of `boxes` boxes with `balls` balls: P(no box above m) is balls! times
// the coefficient of x^balls in (sum of x^i / i!, i to m)^boxes, over boxes^balls.
static double fullest(uint32_t balls, uint32_t boxes)
{
	double mean = 0;
	for (uint32_t most = 0; most < balls; most++) {
		double way[17] = {1};
		for (uint32_t box = 0; box < boxes; box++) {
			double next[17] = {0};
			for (uint32_t i = 0; i <= balls; i++)
				for (uint32_t add = 0; add <= most && i + add <= balls; add++)
					next[i + add] += way[i] / tgamma(add + 1);
			memcpy(way, next, sizeof(way));
		}
		mean += 1 - way[balls] * tgamma(balls + 1) / pow(boxes, balls);
	}
	return mean;
}

#define DRAWS 300

// Four standard errors; the fullest box of these differs by less than one ball from run to run.
static void rc_spreads_its_qps_over_paths_as_balls_over_boxes(void **)
{
	assert_true(fabs(fullest(2, 2) - 1.5) < 1e-12 && fabs(fullest(3, 2) - 2.25) < 1e-12);
	for (uint32_t i = 0; i < COUNTS; i++) {
		double sum = 0, squares = 0;
		for (uint32_t seed = 0; seed < DRAWS; seed++) {
			double most = run_planes(seed, counts[i]);
			sum += most;
			squares += most * most;
		}
		double mean = sum / DRAWS, expected = fullest(counts[i], PLANES);
		double error = sqrt((squares / DRAWS - mean * mean) / DRAWS);
		printf("%2u QPs on %u planes: %.3f on the fullest, +- %.3f, expected %.3f\n",
		       counts[i], PLANES, mean, error, expected);
		assert_true(fabs(mean - expected) <= 4 * error);
		assert_true(error < 0.1);
	}
}

// ---------------------------------------------------------------- refusals

static void qps_without_a_share_are_refused(void **)
{
	static struct rig rig;
	char text[1024];
	snprintf(text, sizeof(text), one_line, 16, 17 * 128);
	assert_int_equal(rig_build(&rig, text, NULL), -EINVAL);
	assert_int_equal(rig.refusal.line, 8);
	assert_non_null(strstr(rig.refusal.text,
			       "traffic.flows[].bytes: 16 QPs (transport.qps_per_connection) share "
			       "2176 B by 256 B each, which leaves the last of them nothing"));
	assert_int_equal(rig_build(&rig,
				   "name: a\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 1}\n"
				   "traffic: {kind: permutation, bytes: 1kB}\n",
				   (const char *const[]){"transport.qps_per_connection=9", NULL}),
			 -EINVAL);
	assert_int_equal(rig.refusal.line, 3);
	assert_non_null(strstr(rig.refusal.text, "traffic.bytes: 9 QPs"));
}
