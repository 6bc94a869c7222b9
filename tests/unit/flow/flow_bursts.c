// SPDX-License-Identifier: Apache-2.0
// Traffic by time: bins of 1, 10 and 100 us, peaks, bursts, senders that meet; and when stamps do
// not allow it.

#include "flow_rig.h"

static struct rig rig;

static void begin(uint32_t targets)
{
	struct flow_config config = {.streams_max = 1024,
				     .psns_max = 1u << 16,
				     .repairs_max = 16,
				     .targets_max = targets};
	wire_config_default(6, &config.wire);
	rig_free(&rig);
	rig = rig_of(&config);
}

// A packet of 1,000 B with data from one host to another at a time.
static void packet(uint32_t from, uint32_t to, int64_t at_ns)
{
	struct wire_record record = {.found = WIRE_FOUND_ROCE,
				     .layers = WIRE_LAYER_BTH | WIRE_LAYER_IPV4,
				     .opcode = 0x04,
				     .qpn = 9,
				     .original = 1000,
				     .payload_bytes = 900};
	static uint32_t psn;
	record.psn = psn++;
	record.source[13] = (uint8_t)(from >> 8);
	record.source[14] = (uint8_t)from;
	record.target[14] = (uint8_t)to;
	struct flow_packet packet = {
		.record = &record, .number = ++rig.number, .at_ns = at_ns, .has_time = at_ns >= 0};
	flow_take(rig.flow, &packet);
}

static const struct flow_target *end(uint32_t to)
{
	const struct flow_report *report = rig_end(&rig);
	for (uint32_t i = 0; i < report->target_count; i++)
		if (report->targets[i].address[14] == to)
			return &report->targets[i];
	return NULL;
}

static enum flow_bins_state state(const struct flow_target *target, int index)
{
	return flow_bins_state(rig.report, target, index);
}

static void the_fullest_bin_of_each_width(void **)
{
	begin(8);
	for (int i = 0; i < 1000; i++) // one a microsecond, and eight in the 500th
		packet(1, 2, 1000000 + i * 1000);
	for (int i = 1; i < 8; i++)
		packet(1, 2, 1000000 + 999 * 1000 + i);
	const struct flow_target *target = end(2);
	assert_int_equal(target->packets, 1007);
	assert_int_equal(target->bytes, 1007000);
	assert_int_equal(target->bins[0].peak_bytes, 8000);
	assert_int_equal(target->bins[0].peak_ns, 1999000);
	assert_int_equal(target->bins[0].peak_first, 1000);
	assert_int_equal(target->bins[0].peak_last, 1007);
	assert_int_equal(target->bins[1].peak_bytes, 17000);
	assert_int_equal(target->bins[1].peak_first, 991);
	assert_int_equal(target->bins[2].peak_bytes, 107000);
	assert_int_equal(target->bins[2].peak_first, 901);
	for (int i = 0; i < FLOW_BINS; i++) {
		assert_int_equal(target->bins[i].senders_most, 1);
		assert_int_equal(state(target, i), FLOW_BINS_TOLD);
		uint64_t sum = 0;
		for (int k = 0; k < FLOW_BIN_SIZES; k++)
			sum += target->bins[i].bytes_by_size[k];
		assert_int_equal(sum, target->bytes);
	}
}

static void bursts_have_a_share(void **)
{
	begin(8);
	for (int i = 0; i < 3000; i++) // always the same
		packet(1, 2, i * 1000 + i % 7);
	const struct flow_target *even = end(2);
	assert_true(flow_burst_share(even, 0) == 0);
	assert_true(flow_burst_share(even, 1) == 0);
	begin(8);
	for (int burst = 0; burst < 30; burst++) // ten in a microsecond, each 100 us
		for (int i = 0; i < 10; i++)
			packet(1, 2, burst * 100000 + i * 90 + 3);
	const struct flow_target *bursty = end(2);
	assert_true(flow_burst_share(bursty, 0) == 1);
	assert_true(flow_burst_share(bursty, 1) == 1);
	assert_true(flow_burst_share(bursty, 2) == 0);
	begin(8);
	packet(1, 2, 1000);
	packet(1, 2, 2000);
	assert_true(flow_burst_share(end(2), 0) == -1);
}

static void senders_that_meet_are_counted(void **)
{
	begin(8);
	for (uint32_t i = 0; i < 40; i++) // one after the other
		packet(1 + i % 8, 2, i * 30000);
	for (uint32_t i = 0; i < 8; i++) // eight in 4 us, one of them twice
		packet(1 + i, 2, 2000000 + i * 500);
	packet(3, 2, 2004000);
	const struct flow_target *target = end(2);
	assert_int_equal(target->senders, 8);
	assert_int_equal(target->bins[0].senders_most, 2);
	assert_int_equal(target->bins[1].senders_most, 8);
	assert_int_equal(target->bins[1].senders_ns, 2000000);
	assert_int_equal(target->bins[1].senders_first, 41);
	assert_int_equal(target->bins[1].senders_last, 49);
	assert_int_equal(target->bins[2].senders_most, 8);
	assert_false(target->is_crowded);
	begin(8);
	for (uint32_t i = 0; i < 300; i++)
		packet(1 + i, 2, i * 10);
	target = end(2);
	assert_int_equal(target->senders, FLOW_SENDERS);
	assert_int_equal(target->bins[1].senders_most, FLOW_SENDERS);
	assert_true(target->is_crowded);
}

static void answers_are_no_senders(void **)
{
	const struct flow_report *report = told("O0 O0|5 O0|6 O0|7 A0 A0|5 A0|6 A0|7 +99 A0");
	for (uint32_t i = 0; i < report->target_count; i++) {
		const struct flow_target *target = &report->targets[i];
		bool is_receiver = target->address[15] == 2;
		assert_int_equal(target->bins[1].senders_most, is_receiver ? 4 : 0);
	}
	assert_int_equal(report->target_count, 5);
}

static void stamps_that_are_too_coarse_say_nothing(void **)
{
	begin(8);
	for (int i = 0; i < 100; i++)
		packet(1, 2, i * 10000);
	const struct flow_target *target = end(2);
	assert_int_equal(state(target, 0), FLOW_BINS_COARSE);
	assert_int_equal(state(target, 1), FLOW_BINS_TOLD);
	begin(8);
	for (int i = 0; i < 1000; i++) // microseconds, several packets in each
		packet(1, 2, i / 5 * 1000);
	assert_int_equal(state(end(2), 0), FLOW_BINS_TOLD);
	begin(8);
	for (int i = 0; i < 1000; i++) // one stamp for each burst of five
		packet(1, 2, i / 5 * 7013);
	target = end(2);
	assert_int_equal(state(target, 0), FLOW_BINS_SHARED);
	assert_int_equal(state(target, 1), FLOW_BINS_SHARED);
	assert_int_equal(state(target, 2), FLOW_BINS_TOLD);
	begin(8);
	packet(1, 2, -1);
	assert_int_equal(state(end(2), 2), FLOW_BINS_UNTIMED);
	assert_string_equal(flow_bins_reason(FLOW_BINS_COARSE), "stamps are coarser");
	assert_null(flow_bins_reason(FLOW_BINS_TOLD));
}

// A packet of MRC from NIC 1 to NIC 2 on a plane.
static void packet_on(uint8_t plane, int64_t at_ns)
{
	struct wire_record record = {
		.found = WIRE_FOUND_MRC,
		.layers = WIRE_LAYER_BTH | WIRE_LAYER_IPV6,
		.opcode = PACKET_WRITE_ONLY,
		.original = 1000,
		.payload_bytes = 900,
		.source = {0xfd, 0x77, 0x65, 0x66, 0x74, 0, 0, plane, [15] = 1},
		.target = {0xfd, 0x77, 0x65, 0x66, 0x74, 0, 0, plane, [15] = 2}};
	static uint32_t psn;
	record.psn = psn++;
	struct flow_packet packet = {
		.record = &record, .number = ++rig.number, .at_ns = at_ns, .has_time = true};
	flow_take(rig.flow, &packet);
}

static void planes_have_stamps_of_their_own(void **)
{
	begin(8);
	for (int i = 0; i < 800; i++) // one after the other on each of eight
		packet_on((uint8_t)(i % 8), i / 8 * 7013);
	const struct flow_report *report = rig_end(&rig);
	assert_int_equal(report->target_count, 1);
	assert_int_equal(report->targets[0].packets, 800);
	assert_int_equal(report->targets[0].same_stamp, 0);
	begin(8);
	for (int i = 0; i < 800; i++) // bursts of 32 over eight
		packet_on((uint8_t)(i % 8), i / 32 * 70013);
	report = rig_end(&rig);
	assert_int_equal(report->targets[0].same_stamp, 800 - 8 * 25);
	assert_int_equal(state(&report->targets[0], 0), FLOW_BINS_SHARED);
}

static void stamps_that_go_back(void **)
{
	begin(8);
	for (int i = 0; i < 1000; i++) // pairs the wrong way round, 3 us apart
		packet(1, 2, 1000000 + i * 2003 + (i % 2 == 0 ? 3000 : 0));
	const struct flow_target *target = end(2);
	assert_int_equal(state(target, 0), FLOW_BINS_BACKWARD);
	assert_int_equal(state(target, 2), FLOW_BINS_TOLD);
	begin(8);
	for (int i = 0; i < 1000; i++) // a clock that is set back once
		packet(1, 2, 5000000000 + i * 2003 - (i < 500 ? 0 : 2000000000));
	target = end(2);
	assert_int_equal(state(target, 0), FLOW_BINS_TOLD);
	assert_int_equal(target->bins[0].peak_bytes, 1000);
	assert_int_equal(target->bins[2].peak_bytes, 50000);
}

static void destinations_without_room_are_counted(void **)
{
	begin(2);
	for (uint32_t i = 0; i < 5; i++)
		packet(1, 2 + i, i * 1000);
	packet(1, 2, 9000);
	const struct flow_target *target = end(2);
	assert_int_equal(target->packets, 2);
	assert_int_equal(rig.report->target_count, 2);
	assert_int_equal(rig.report->targets_left_out, 3);
}
