// SPDX-License-Identifier: Apache-2.0
// The least time of a collective against closed forms: bytes over the lines of NICs, GPUs and cuts,
// and steps of latency. All fabrics here have 100 Gb/s lines (80 ps a byte), packets of 1,000 bytes
// with 100 bytes of headers, NIC cables of 100 ns, trunks of 200 ns and switches of 50 ns.

// clang-format off
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
// clang-format on

#include <string.h>

#include <weft/world/world.h>
#include <weft/world/world_ideal.h>

#define ARENA_BYTES ((size_t)64 << 20)
#define BYTE_PS 80
#define PACKET_BYTES 1100

static const char text[] = "fabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 1, link_rate: "
			   "100Gb/s, nic_delay: 100ns, trunk_delay: 200ns, switch_delay: 50ns}\n"
			   "transport: {payload: 1000B, header: 100B}\nqueue: {trim_bytes: 90B}\n"
			   "traffic: {kind: collective, collective: all_reduce, algorithm: ring, "
			   "bytes: 8MB, channels: 1, chunk: 2MB, element: 1B}\n";

static struct scenario scenario;
static void *memory;

static struct ideal_time time_of(const char *const *sets)
{
	struct refusal refusal = {0};
	struct ideal_time time;
	struct arena arena;
	uint32_t count = 0;
	while (sets[count] != NULL)
		count++;
	memset(memory, 0, ARENA_BYTES);
	arena_init(&arena, memory, ARENA_BYTES);
	if (scenario_parse(&scenario, "text", text, strlen(text), sets, count, &refusal) < 0 ||
	    ideal_scenario(&time, &arena, &scenario, &refusal) < 0)
		fail_msg("%s", refusal.text);
	return time;
}

#define TIME_OF(...) time_of((const char *const[]){__VA_ARGS__, NULL})

// At most `off_ps` below what it should be, never above.
static void is_just_below(struct ideal_time time, enum ideal_limit limit, ps_t should_ps,
			  ps_t off_ps)
{
	if (time.ps > should_ps || time.ps < should_ps - off_ps || time.limit != limit)
		fail_msg("%lld ps by %s, not %lld - %lld", (long long)time.ps,
			 ideal_limit_name(time.limit), (long long)should_ps, (long long)off_ps);
}

// So many bytes of payload in full packets.
static ps_t full_ps(uint64_t bytes)
{
	return (ps_t)(bytes / 1000 * PACKET_BYTES * BYTE_PS);
}

// From the last bit of a full packet on its first cable: below one T0; over a T1.
#define WAY_NEAR_PS (2 * 100000 + 50000 + PACKET_BYTES * BYTE_PS)
#define WAY_FAR_PS (2 * 100000 + 2 * 200000 + 3 * 50000 + 3 * PACKET_BYTES * BYTE_PS)

// The acknowledgement of 178 bytes with which a message ends at its sender.
#define ANSWER_NEAR_PS (2 * 100000 + 50000 + 2 * 178 * BYTE_PS)
#define ANSWER_FAR_PS (2 * 100000 + 2 * 200000 + 3 * 50000 + 4 * 178 * BYTE_PS)

static void a_ring_sends_what_is_not_its_own(void **)
{
	// blocks of 1 MB, whole messages, go around 2 x 7 times; two of eight hops are far
	ps_t hops = 10 * WAY_NEAR_PS + 4 * WAY_FAR_PS;
	is_just_below(TIME_OF("traffic.chunk=2MB"), IDEAL_STEPS,
		      full_ps(14000000) + hops + ANSWER_FAR_PS, 30000);
	// short ones follow each other: the line of rank 3, whose next is far, never rests
	is_just_below(TIME_OF("traffic.chunk=10kB"), IDEAL_NIC,
		      full_ps(14000000) + WAY_FAR_PS + ANSWER_FAR_PS, 20000);
	is_just_below(TIME_OF("traffic.chunk=10kB", "traffic.collective=all_gather"), IDEAL_NIC,
		      full_ps(7000000) + WAY_FAR_PS + ANSWER_FAR_PS, 20000);
	is_just_below(TIME_OF("traffic.chunk=10kB", "fabric.planes=4"), IDEAL_NIC,
		      full_ps(14000000) / 4 + WAY_FAR_PS + ANSWER_FAR_PS, 20000);
	assert_int_equal(TIME_OF("fabric.planes=4").lines_ps, 14000000 * BYTE_PS / 4);
}

static void a_small_ring_takes_its_steps(void **)
{
	// 14 hops of a block of one packet; two of eight neighbours are across
	ps_t hops = 14 * PACKET_BYTES * BYTE_PS, near = 14 * WAY_NEAR_PS;
	ps_t more = WAY_FAR_PS - WAY_NEAR_PS;
	is_just_below(TIME_OF("traffic.bytes=8kB"), IDEAL_STEPS,
		      hops + near + 4 * more + ANSWER_FAR_PS, 20000);
}

static void a_tree_is_as_deep_as_it_is(void **)
{
	// one packet: rank 3 hangs below 2, 4 and 0. Down is as up.
	ps_t up = 3 * PACKET_BYTES * BYTE_PS + WAY_NEAR_PS + 2 * WAY_FAR_PS;
	// rank 3 has it before rank 4 knows that rank 2 has
	ps_t last = PACKET_BYTES * BYTE_PS + WAY_NEAR_PS;
	is_just_below(TIME_OF("traffic.bytes=1000B", "traffic.algorithm=tree"), IDEAL_STEPS,
		      2 * up - last + ANSWER_FAR_PS, 6000);
	is_just_below(TIME_OF("traffic.bytes=1000B", "traffic.algorithm=tree",
			      "traffic.collective=broadcast"),
		      IDEAL_STEPS, up - last + ANSWER_FAR_PS, 3000);
}

static void a_gather_fills_the_line_of_its_root(void **)
{
	struct ideal_time time = TIME_OF("traffic.collective=gather", "traffic.algorithm=direct");
	is_just_below(time, IDEAL_NIC, full_ps(7000000) + WAY_NEAR_PS + ANSWER_NEAR_PS, 10000);
	assert_int_equal(time.packets, 7000);
}

static void what_crosses_t0s_passes_their_trunks(void **)
{
	// all_to_all: half of what each of four NICs sends leaves its T0, over one trunk of two
	is_just_below(TIME_OF("traffic.collective=all_to_all", "traffic.algorithm=direct",
			      "fabric.t1_count=1"),
		      IDEAL_CUT, full_ps(4 * 4000000) + WAY_FAR_PS + ANSWER_FAR_PS, 20000);
	is_just_below(TIME_OF("traffic.collective=all_to_all", "traffic.algorithm=direct"),
		      IDEAL_CUT, full_ps(2 * 4000000) + WAY_FAR_PS + ANSWER_FAR_PS, 20000);
	is_just_below(TIME_OF("traffic.collective=all_to_all", "traffic.algorithm=direct",
			      "fabric.t1_count=4"),
		      IDEAL_NIC, full_ps(7000000) + WAY_NEAR_PS + ANSWER_NEAR_PS, 10000);
	// of lines alone: trunks do not count
	assert_int_equal(TIME_OF("traffic.collective=all_to_all", "traffic.algorithm=direct",
				 "fabric.t1_count=1")
				 .lines_ps,
			 7000000 * BYTE_PS);
}

static void what_stays_in_a_host_takes_its_lines(void **)
{
	// hosts of 4, pieces of 10 kB: 3/4 of 8 MB in, and out again; the half of 2 MB twice
	// outside
	struct ideal_time time = TIME_OF("traffic.algorithm=hierarchical", "traffic.chunk=10kB",
					 "fabric.nics_per_host=4", "scaleup.rate=10Gb/s",
					 "scaleup.delay=1us");
	is_just_below(time, IDEAL_SCALEUP, 12000000LL * 800 + 1000000, 20000);
	assert_int_equal(time.packets, 8 * 2000);
	assert_int_equal(time.lines_ps, 12000000LL * 800);
	is_just_below(TIME_OF("traffic.algorithm=hierarchical", "traffic.chunk=10kB",
			      "fabric.nics_per_host=4", "fabric.t1_count=4", "scaleup.rate=100Gb/s",
			      "scaleup.delay=1us", "traffic.collective=reduce_scatter"),
		      IDEAL_STEPS,
		      6000000LL * 80 + 1000000 + full_ps(10000) + WAY_FAR_PS + ANSWER_FAR_PS,
		      620000); // 600 messages in turn, each rounded down to a nanosecond
	// NICs of host 0 begin with a piece that host 1 has summed and sent
	is_just_below(TIME_OF("traffic.algorithm=hierarchical", "traffic.chunk=10kB",
			      "fabric.nics_per_host=4", "fabric.t1_count=4", "scaleup.rate=10Tb/s",
			      "scaleup.delay=1us"),
		      IDEAL_NIC,
		      full_ps(2000000) + WAY_FAR_PS + 1000000 + 3 * 8000 + full_ps(10000) +
			      WAY_FAR_PS + ANSWER_FAR_PS,
		      40000);
}

// A line of 99 Tb/s is rounded by five parts in a million.
static void a_fast_line_is_as_fast_as_it_is(void **)
{
	struct ideal_time time = TIME_OF(
		"traffic.collective=send_receive", "traffic.algorithm=direct", "traffic.bytes=1GB",
		"traffic.chunk=1GB", "traffic.ranks=2", "fabric.nics_per_host=4",
		"scaleup.rate=99Tb/s", "scaleup.delay=1us");
	ps_t bytes_ps = line_ps(line_of(99000000000000), 1000000000);
	is_just_below(time, IDEAL_STEPS, bytes_ps + 1000000, 1000);
}

static void a_torus_is_cut_in_rows(void **)
{
	// a row of 8, a NIC each, all_to_all: each half sends 4 x 4 blocks of 1 MB over two links
	is_just_below(TIME_OF("traffic.collective=all_to_all", "traffic.algorithm=direct",
			      "fabric.topology=torus", "fabric.torus_x=8", "fabric.torus_y=1",
			      "fabric.nics_per_t0=1"),
		      IDEAL_CUT, full_ps(16000000) / 2 + 1000000 + 500000 + 3 * 178 * BYTE_PS,
		      1000000);
}

static void rings_with_credits_send_all_of_their_steps(void **)
{
	// a step is two slices of 500,096 and 499,904 bytes, in 1,001 packets
	struct ideal_time time = TIME_OF("traffic.kind=ring");
	ps_t more = 14 * 100 * BYTE_PS;
	is_just_below(time, IDEAL_NIC, full_ps(14000000) + more + WAY_FAR_PS + ANSWER_FAR_PS,
		      300000);
	assert_int_equal(time.packets, 8 * 14 * 1001);
	assert_int_equal(time.lines_ps, 14000000 * BYTE_PS);
	struct ideal_time sample = TIME_OF("traffic.kind=ring", "sample.packets=1000");
	assert_int_equal(sample.ps, time.ps);
	// slices of 256, 256 and 88 bytes of 600, each with headers
	struct ideal_time small = TIME_OF("traffic.kind=ring", "traffic.chunk=600B",
					  "traffic.slices=3", "traffic.bytes=4800B");
	assert_int_equal(small.packets, 8 * 14 * 3);
	ps_t line = 14 * (600 + 3 * 100) * BYTE_PS;
	assert_true(small.ps > line);
}

static void long_ones_are_not_walked_message_by_message(void **)
{
	struct ideal_time whole = TIME_OF("traffic.bytes=512MB", "traffic.chunk=1kB");
	ps_t should = full_ps(512000000 / 8 * 14);
	assert_true(whole.ps > should - should / 100 && whole.ps < should + 10000000);
	// so many that two are told as one
	struct ideal_time small = TIME_OF("traffic.bytes=300MB", "traffic.chunk=101B",
					  "traffic.element=4B", "traffic.collective=gather",
					  "traffic.algorithm=direct");
	assert_int_equal(small.packets, 7 * 375000);
	is_just_below(small, IDEAL_NIC,
		      (ps_t)small.packets * 200 * BYTE_PS + WAY_NEAR_PS + ANSWER_NEAR_PS,
		      3000000); // each packet is rounded down
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_sends_what_is_not_its_own),
		cmocka_unit_test(a_small_ring_takes_its_steps),
		cmocka_unit_test(a_tree_is_as_deep_as_it_is),
		cmocka_unit_test(a_gather_fills_the_line_of_its_root),
		cmocka_unit_test(what_crosses_t0s_passes_their_trunks),
		cmocka_unit_test(what_stays_in_a_host_takes_its_lines),
		cmocka_unit_test(a_fast_line_is_as_fast_as_it_is),
		cmocka_unit_test(a_torus_is_cut_in_rows),
		cmocka_unit_test(rings_with_credits_send_all_of_their_steps),
		cmocka_unit_test(long_ones_are_not_walked_message_by_message),
	};
	memory = aligned_alloc(64, ARENA_BYTES);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(memory);
	return failed;
}
