// SPDX-License-Identifier: Apache-2.0
// Frames that go out: each on the plane that asked, paced by its line, out of the memory that was
// posted.
#include "adapter_rig.h"

static void post(struct rig *rig, const void *local, uint32_t bytes)
{
	struct adapter_write write = {
		.local = local, .bytes = bytes, .rkey = RIG_RKEY, .va = RIG_VA, .has_imm = true};
	assert_int_equal(
		adapter_post(rig->sides[0].adapter, rig->sides[0].qpns[0], &write, rig->now), 0);
}

static void each_plane_gets_frames_of_its_own(void **state)
{
	struct adapter_config config = rig_config();
	config.transport.planes = 4;
	struct rig *rig = rig_open(&config, 1, 1);
	struct adapter *adapter = rig->sides[0].adapter;
	static const uint8_t local[100 * 1024];
	uint8_t frame[9216];
	post(rig, local, sizeof(local));
	for (uint32_t i = 0; i < 40; i++) {
		struct packet packet;
		struct wire_view view;
		int bytes = adapter_pull(adapter, i % 4, frame, sizeof(frame), 0);
		assert_true(bytes > 0 && (size_t)bytes <= adapter_frame_bytes(adapter));
		assert_int_equal(wire_parse(&config.wire, frame, (size_t)bytes, &packet, &view),
				 WIRE_FINE);
		assert_int_equal(packet.plane, i % 4);
		assert_int_equal(packet.source, 10);
		assert_int_equal(packet.target, 11);
		assert_int_equal(view.icrc, WIRE_ICRC_GOOD);
	}
	assert_int_equal(adapter_pull(adapter, 4, frame, sizeof(frame), 0), -EINVAL);
	for (uint32_t plane = 0; plane < 4; plane++)
		assert_int_equal(adapter_transport(adapter)->plane_bytes[plane],
				 adapter_transport(adapter)->plane_bytes[0]);
	rig_close(rig);
}

static void a_buffer_that_is_too_small_loses_nothing(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 2);
	struct adapter *adapter = rig->sides[0].adapter;
	static const uint8_t local[3000];
	size_t largest = adapter_frame_bytes(adapter);
	uint8_t *frame = malloc(largest);
	post(rig, local, sizeof(local));
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(adapter_pull(adapter, 0, frame, largest - 1, 0), -EMSGSIZE);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(adapter_pull(adapter, 0, frame, largest, 0) > 0);
	assert_int_equal(adapter_pull(adapter, 0, frame, largest, 0), 0);
	assert_int_equal(adapter_transport(adapter)->data_packets, 3);
	free(frame);
	rig_close(rig);
}

static void the_largest_frame_is_as_large_as_said(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 3);
	struct adapter *adapter = rig->sides[0].adapter;
	static const uint8_t local[1024]; // one packet, with immediate
	uint8_t frame[9216];
	post(rig, local, sizeof(local));
	assert_int_equal(adapter_pull(adapter, 0, frame, sizeof(frame), 0),
			 (int)adapter_frame_bytes(adapter));
	rig_close(rig);
}

static void a_line_is_free_when_its_frame_has_left(void **state)
{
	struct adapter_config config = rig_config();
	config.plane_bps = 10000000000; // 800 ps a byte
	struct rig *rig = rig_open(&config, 1, 4);
	struct adapter *adapter = rig->sides[0].adapter;
	static const uint8_t local[10240];
	uint8_t frame[9216];
	ps_t start = 5 * PS_PER_US;
	post(rig, local, sizeof(local));
	assert_int_equal(adapter_free_at(adapter, 0), 0);
	int bytes = adapter_pull(adapter, 0, frame, sizeof(frame), start);
	ps_t free_at = start + (bytes + WIRE_LINE_BYTES) * 800;
	assert_int_equal(adapter_free_at(adapter, 0), free_at);
	assert_int_equal(adapter_free_at(adapter, 1), 0);
	assert_int_equal(adapter_next_at(adapter, start), free_at);
	assert_int_equal(adapter_next_at(adapter, free_at), adapter_wake_at(adapter));
	assert_int_equal(adapter_free_at(adapter, 2), PS_NEVER);
	rig_close(rig);
}

static void bytes_are_read_when_a_packet_leaves(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 5);
	uint8_t local[600], frame[9216];
	struct packet packet;
	struct wire_view view;
	memset(local, 1, sizeof(local));
	post(rig, local, sizeof(local));
	for (uint8_t try = 2; try < 5; try++) { // the first, and two after timeouts
		memset(local, try, sizeof(local));
		int bytes = adapter_pull(rig->sides[0].adapter, 0, frame, sizeof(frame), rig->now);
		assert_true(bytes > 0);
		assert_int_equal(wire_parse(&config.wire, frame, (size_t)bytes, &packet, &view),
				 WIRE_FINE);
		assert_memory_equal(frame + view.payload_at, local, sizeof(local));
		assert_int_equal(
			adapter_pull(rig->sides[0].adapter, 0, frame, sizeof(frame), rig->now), 0);
		rig->now = adapter_wake_at(rig->sides[0].adapter);
		adapter_on_time(rig->sides[0].adapter, rig->now);
	}
	rig_close(rig);
}

static void a_plane_that_is_never_free_stops_nothing(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 6);
	rig_prepare(rig, 30, 9000);
	rig->planes_free = 1; // plane 1 is there, but its line is not
	rig_run(rig, PS_PER_S);
	rig_check_done(rig);
	for (uint32_t side = 0; side < 2; side++)
		assert_int_equal(adapter_transport(rig->sides[side].adapter)->plane_bytes[1], 0);
	rig_close(rig);
}

static void time_never_goes_back(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 7);
	struct adapter *adapter = rig->sides[0].adapter;
	uint8_t frame[9216];
	post(rig, "late", 4);
	assert_true(adapter_pull(adapter, 0, frame, sizeof(frame), PS_PER_MS) > 0);
	ps_t wake_at = adapter_wake_at(adapter);
	assert_true(wake_at > PS_PER_MS);
	adapter_on_time(adapter, 0);
	post(rig, "early", 5); // rig->now is 0
	assert_true(adapter_pull(adapter, 0, frame, sizeof(frame), 0) > 0);
	assert_true(adapter_free_at(adapter, 0) > PS_PER_MS);
	assert_int_equal(adapter_wake_at(adapter), wake_at);
	rig_close(rig);
}

static void two_qps_of_one_adapter_may_be_peers(void **state)
{
	struct adapter_config config = rig_config();
	config.qp_max = 2;
	struct refusal refusal;
	struct adapter *adapter;
	struct adapter_exchange exchanges[2];
	struct completion done[2];
	uint32_t qpns[2];
	uint8_t target[5000] = {0}, local[5000], frame[9216];
	size_t bytes = adapter_bytes(&config, &refusal);
	void *memory = aligned_alloc(ADAPTER_ALIGN, bytes);
	int length;
	memset(local, 0x33, sizeof(local));
	assert_int_equal(adapter_create(&adapter, memory, bytes, &config, &refusal), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(adapter_open(adapter, &qpns[i], &exchanges[i]), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(adapter_connect(adapter, qpns[i], &exchanges[1 - i], 0, &refusal),
				 0);
	assert_int_equal(adapter_register(adapter, 1, target, 0, sizeof(target)), 0);
	struct adapter_write write = {
		.local = local, .bytes = sizeof(local), .rkey = 1, .has_imm = true, .imm = 5};
	assert_int_equal(adapter_post(adapter, qpns[0], &write, 0), 0);
	while ((length = adapter_pull(adapter, 0, frame, sizeof(frame), 0)) > 0)
		assert_int_equal(adapter_feed(adapter, frame, (size_t)length, 0), 0);
	assert_int_equal(adapter_poll(adapter, done, 2), 2);
	assert_int_equal(done[0].kind, COMPLETION_RECEIVED);
	assert_int_equal(done[0].qp, qpns[1]);
	assert_int_equal(done[1].kind, COMPLETION_SENT);
	assert_int_equal(done[1].qp, qpns[0]);
	assert_memory_equal(target, local, sizeof(local));
	free(memory);
}
