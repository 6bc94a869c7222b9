// SPDX-License-Identifier: Apache-2.0
// Frames that are none, frames that lie, writes to where nothing may be written, and programs that
// do not poll: nothing is ever placed that should not be.
#include "adapter_rig.h"

#define GUARD 64 // bytes before and behind a region that must stay as they are

// A region of `bytes` bytes on side 1, with guards.
static uint8_t *guarded(struct rig *rig, uint32_t rkey, uint64_t bytes)
{
	uint8_t *memory = malloc(bytes + 2 * GUARD);
	memset(memory, RIG_UNTOUCHED, bytes + 2 * GUARD);
	assert_int_equal(
		adapter_register(rig->sides[1].adapter, rkey, memory + GUARD, RIG_VA, bytes), 0);
	return memory;
}

static void check_untouched(const uint8_t *memory, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at++)
		assert_int_equal(memory[at], RIG_UNTOUCHED);
}

static void garbage_is_told_by_its_reason_and_places_nothing(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 1);
	uint8_t *memory = guarded(rig, RIG_RKEY, 4096);
	uint64_t refused = 0;
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t bytes = rng_below(&rig->rng, 300);
		uint8_t *frame = malloc(bytes);
		for (uint32_t at = 0; at < bytes; at++)
			frame[at] = (uint8_t)rng_next(&rig->rng);
		if (i % 2 == 0 && bytes > 14) { // at least an IP header
			frame[12] = i % 4 == 0 ? 0x86 : 0x08;
			frame[13] = i % 4 == 0 ? 0xdd : 0x00;
			frame[14] = i % 4 == 0 ? 0x60 : 0x45;
		}
		assert_true(adapter_feed(rig->sides[1].adapter, frame, bytes, i) > 0);
		free(frame);
	}
	for (int reason = 0; reason < WIRE_REASON_COUNT; reason++)
		refused += adapter_counters(rig->sides[1].adapter)->refused[reason];
	assert_int_equal(refused, 20000);
	assert_int_equal(adapter_counters(rig->sides[1].adapter)->frames_fed, 0);
	check_untouched(memory, 0, 4096 + 2 * GUARD);
	free(memory);
	rig_close(rig);
}

// Damages a copy of a frame: bits, its end, or a piece from elsewhere in it.
static uint32_t damage(struct rig *rig, uint8_t *frame, uint32_t bytes)
{
	uint32_t kind = rng_below(&rig->rng, 4), from = rng_below(&rig->rng, bytes);
	if (kind == 0)
		return from;
	if (kind == 1) {
		uint32_t to = rng_below(&rig->rng, bytes);
		memmove(frame + to, frame + from, bytes - (from > to ? from : to));
		return bytes;
	}
	for (uint32_t bits = 1 + rng_below(&rig->rng, 8); bits > 0; bits--) {
		uint32_t place = rng_below(&rig->rng, bytes);
		frame[place] ^= (uint8_t)(1 << rng_below(&rig->rng, 8));
	}
	return bytes;
}

static void damaged_frames_place_no_wrong_byte(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 2);
	uint8_t *memory = guarded(rig, RIG_RKEY, 8192);
	uint8_t local[8192], frame[9216], bad[9216];
	int bytes;
	for (uint32_t i = 0; i < sizeof(local); i++)
		local[i] = (uint8_t)(i * 7 % 163); // never RIG_UNTOUCHED
	struct adapter_write write = {
		.local = local, .bytes = 8192, .rkey = RIG_RKEY, .va = RIG_VA};
	assert_int_equal(adapter_post(rig->sides[0].adapter, rig->sides[0].qpns[0], &write, 0), 0);
	while ((bytes = adapter_pull(rig->sides[0].adapter, 0, frame, sizeof(frame), 0)) > 0) {
		for (uint32_t i = 0; i < 2000; i++) {
			memcpy(bad, frame, (size_t)bytes);
			uint32_t left = damage(rig, bad, (uint32_t)bytes);
			adapter_feed(rig->sides[1].adapter, bad, left, 0);
		}
	}
	for (uint32_t i = 0; i < sizeof(local); i++)
		assert_true(memory[GUARD + i] == local[i] || memory[GUARD + i] == RIG_UNTOUCHED);
	check_untouched(memory, 0, GUARD);
	check_untouched(memory, GUARD + 8192, 8192 + 2 * GUARD);
	free(memory);
	rig_close(rig);
}

// A whole frame of side 0 with whatever `packet` says, ICRC included.
static uint32_t forge(struct rig *rig, const struct packet *packet, uint8_t *frame)
{
	struct wire_view view;
	size_t bytes = wire_build(&rig->config.wire, packet, frame, 9216, &view);
	memset(frame + view.payload_at, 0x77, view.payload_bytes);
	wire_seal(frame, &view);
	return (uint32_t)bytes;
}

static uint64_t near(struct rig *rig, uint64_t value)
{
	return value + rng_below(&rig->rng, 4096) - 2048;
}

static void frames_that_lie_never_write_beside_a_region(void **state)
{
	static const uint8_t opcodes[] = {PACKET_WRITE_FIRST,
					  PACKET_WRITE_MIDDLE,
					  PACKET_WRITE_LAST,
					  PACKET_WRITE_LAST_IMM,
					  PACKET_WRITE_ONLY,
					  PACKET_WRITE_ONLY_IMM,
					  PACKET_SACK,
					  PACKET_NACK,
					  PACKET_PROBE,
					  PACKET_ACK,
					  PACKET_ENDPOINT_REQUEST,
					  PACKET_ENDPOINT_RESPONSE};
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 2, 3);
	uint8_t *memory = guarded(rig, RIG_RKEY, 3000), frame[9216];
	struct completion done[8];
	struct adapter_end ends[2];
	for (uint32_t side = 0; side < 2; side++)
		adapter_exchange_read(&rig->sides[side].exchanges[0], &ends[side], &rig->refusal);
	for (uint32_t i = 0; i < 30000; i++) {
		struct packet packet = {.source = 10, .target = 11};
		packet.ev = (uint32_t)rng_next(&rig->rng);
		packet.plane = (uint8_t)rng_below(&rig->rng, 3);
		packet.opcode = opcodes[rng_below(&rig->rng, sizeof(opcodes))];
		packet.qpn = rng_below(&rig->rng, 3 + ADAPTER_QPN_FIRST);
		packet.psn = (uint32_t)near(rig, ends[0].first_psn ^ ends[1].first_psn) & 0xffffff;
		packet.klass = packet.opcode <= PACKET_WRITE_ONLY_IMM ? PACKET_CLASS_DATA
								      : PACKET_CLASS_CONTROL;
		if (packet.opcode <= PACKET_WRITE_ONLY_IMM) {
			packet.payload_bytes = (uint16_t)(i % 3 ? 1024
								: rng_below(&rig->rng, 1025));
			packet.u.data.va = near(rig, RIG_VA + (i % 2 ? 0 : 3000));
			packet.u.data.rkey = RIG_RKEY + (i % 5 == 0);
			packet.u.data.message_bytes = (uint32_t)near(rig, 3000);
			packet.u.data.msn = (uint16_t)rng_next(&rig->rng);
			packet.u.data.rqmsn = (uint16_t)rng_below(&rig->rng, 40);
		} else {
			for (uint32_t at = 0; at < sizeof(packet.u); at++)
				((uint8_t *)&packet.u)[at] = (uint8_t)rng_next(&rig->rng);
		}
		adapter_feed(rig->sides[1].adapter, frame, forge(rig, &packet, frame), i);
		adapter_poll(rig->sides[1].adapter, done, 8);
		for (uint32_t plane = 0; plane < 2; plane++)
			adapter_pull(rig->sides[1].adapter, plane, frame, sizeof(frame), i);
	}
	assert_true(adapter_counters(rig->sides[1].adapter)->bytes_placed > 0); // some were true
	assert_true(adapter_transport(rig->sides[1].adapter)->refused[REFUSED_BOUNDS] > 0);
	check_untouched(memory, 0, GUARD);
	check_untouched(memory, GUARD + 3000, 3000 + 2 * GUARD);
	free(memory);
	rig_close(rig);
}

// Posts one message to side 1 and runs until nothing moves; returns its completion.
static struct completion post_and_run(struct rig *rig, const struct adapter_write *write)
{
	struct completion done = {0};
	assert_int_equal(
		adapter_post(rig->sides[0].adapter, rig->sides[0].qpns[0], write, rig->now), 0);
	rig->is_polling = false;
	rig_run(rig, rig->now + PS_PER_S);
	assert_int_equal(adapter_poll(rig->sides[0].adapter, &done, 1), 1);
	assert_int_equal(adapter_poll(rig->sides[1].adapter, &(struct completion){0}, 1), 0);
	return done;
}

static void a_write_that_leaves_its_region_fails_at_the_target(void **state)
{
	static const uint32_t sizes[] = {101, 1025, 5000}; // at 4000 of 4100 bytes
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct adapter_config config = rig_config();
		struct rig *rig = rig_open(&config, 1, 4);
		uint8_t *memory = guarded(rig, RIG_RKEY, 4100), local[5000];
		memset(local, 0x11, sizeof(local));
		struct adapter_write write = {.local = local,
					      .bytes = sizes[i],
					      .rkey = RIG_RKEY,
					      .va = RIG_VA + 4000,
					      .has_imm = true,
					      .cookie = 99};
		struct completion done = post_and_run(rig, &write);
		assert_int_equal(done.kind, COMPLETION_FLUSHED);
		assert_int_equal(done.cookie, 99);
		assert_int_equal(done.failure, QP_FAILURE_REMOTE);
		assert_int_equal(adapter_transport(rig->sides[0].adapter)->paths_retired, 0);
		assert_int_equal(adapter_state(rig->sides[0].adapter, rig->sides[0].qpns[0]),
				 ADAPTER_ERROR);
		assert_int_equal(adapter_post(rig->sides[0].adapter, rig->sides[0].qpns[0], &write,
					      rig->now),
				 -ECONNRESET);
		assert_true(adapter_transport(rig->sides[1].adapter)->refused[REFUSED_BOUNDS] > 0);
		assert_int_equal(adapter_counters(rig->sides[1].adapter)->bytes_placed, 0);
		check_untouched(memory, 0, 4100 + 2 * GUARD);
		free(memory);
		rig_close(rig);
	}
}

static void an_unknown_rkey_fails_at_the_target(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 5);
	uint8_t *memory = guarded(rig, RIG_RKEY, 4100);
	struct adapter_write write = {
		.local = "byte", .bytes = 4, .rkey = RIG_RKEY + 1, .va = RIG_VA};
	struct completion done = post_and_run(rig, &write);
	assert_int_equal(done.kind, COMPLETION_FLUSHED);
	assert_int_equal(done.failure, QP_FAILURE_REMOTE);
	assert_int_equal(adapter_transport(rig->sides[1].adapter)->refused[REFUSED_KEY], 1);
	assert_int_equal(adapter_transport(rig->sides[0].adapter)->paths_retired, 0);
	check_untouched(memory, 0, 4100 + 2 * GUARD);
	free(memory);
	rig_close(rig);
}

static void memory_that_is_not_registered_any_more_stays_as_it_is(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 6);
	uint8_t *memory = guarded(rig, RIG_RKEY, 4096), local[4096];
	memset(local, 0x11, sizeof(local));
	struct adapter_write write = {
		.local = local, .bytes = 4096, .rkey = RIG_RKEY, .va = RIG_VA};
	assert_int_equal(post_and_run(rig, &write).kind, COMPLETION_SENT);
	assert_memory_equal(memory + GUARD, local, 4096);
	assert_int_equal(adapter_unregister(rig->sides[1].adapter, RIG_RKEY), 0);
	memset(memory, RIG_UNTOUCHED, 4096 + 2 * GUARD);
	assert_int_equal(post_and_run(rig, &write).kind, COMPLETION_FLUSHED);
	assert_true(adapter_transport(rig->sides[1].adapter)->refused[REFUSED_KEY] > 0);
	check_untouched(memory, 0, 4096 + 2 * GUARD);
	free(memory);
	rig_close(rig);
}

static void any_rkey_and_any_address_will_do(void **state)
{
	static const uint32_t rkeys[] = {0, 1, 0x7fffffff, RKEY_NOTICE, UINT32_MAX};
	static const uint64_t vas[] = {0, 1, RIG_VA, UINT64_C(1) << 63, UINT64_MAX - 2999};
	for (uint32_t i = 0; i < 5; i++) {
		struct adapter_config config = rig_config();
		struct rig *rig = rig_open(&config, 1, 10);
		uint8_t memory[3000] = {0}, local[3000];
		memset(local, 0x44, sizeof(local));
		assert_int_equal(adapter_register(rig->sides[1].adapter, rkeys[i], memory, vas[i],
						  sizeof(memory)),
				 0);
		struct adapter_write write = {
			.local = local, .bytes = 3000, .rkey = rkeys[i], .va = vas[i]};
		assert_int_equal(post_and_run(rig, &write).kind, COMPLETION_SENT);
		assert_memory_equal(memory, local, sizeof(memory));
		rig_close(rig);
	}
}

static void frames_for_others_are_foreign(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 7);
	uint8_t frame[9216];
	struct packet packet = {.source = 10, .target = 12, .opcode = PACKET_SACK};
	struct adapter *adapter = rig->sides[1].adapter;
	assert_int_equal(adapter_feed(adapter, frame, forge(rig, &packet, frame), 0),
			 WIRE_FOREIGN_ADDRESS);
	packet.target = 11;
	packet.plane = 2; // of planes 0 and 1
	assert_int_equal(adapter_feed(adapter, frame, forge(rig, &packet, frame), 0),
			 WIRE_FOREIGN_ADDRESS);
	assert_int_equal(adapter_counters(adapter)->refused[WIRE_FOREIGN_ADDRESS], 2);
	rig_close(rig);
}

static void who_does_not_poll_gets_no_more_frames_until_he_does(void **state)
{
	struct adapter_config config = rig_config();
	config.completion_max = 1;
	struct rig *rig = rig_open(&config, RIG_QPS, 8);
	rig_prepare(rig, 40, 1500);
	rig->is_polling = false;
	rig_run(rig, PS_PER_MS);
	assert_true(adapter_counters(rig->sides[0].adapter)->no_room > 0);
	assert_true(adapter_counters(rig->sides[1].adapter)->no_room > 0);
	for (uint32_t side = 0; side < 2; side++) { // that is nobody's path's fault
		const struct transport_counters *counters = adapter_transport(
			rig->sides[side].adapter);
		assert_int_equal(counters->paths_retired, 0);
		assert_true(counters->nacks_received > 0);
		assert_int_equal(counters->qps_failed, 0);
	}
	rig->is_polling = true;
	rig_poll(rig, 0);
	rig_poll(rig, 1);
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	rig_close(rig);
}

// A target that is behind takes window from its peers, and gives it back.
static void who_polls_late_asks_for_less_until_he_does(void **state)
{
	(void)state;
	struct adapter_config config = rig_config();
	struct qp_view before, pressed, after;
	config.completion_max = 40;
	config.transport.cc.max_cwnd_bytes = 100000;
	struct rig *rig = rig_open(&config, 2, 9);
	struct adapter *sender = rig->sides[0].adapter;
	rig_prepare(rig, 600, 1000);
	for (uint32_t qp = 0; qp < 2; qp++) // one direction alone
		rig->sides[1].streams[qp].count = 0;
	adapter_query(sender, rig->sides[0].qpns[0], &before);
	rig->is_polling = false;
	rig_run(rig, PS_PER_MS);
	adapter_query(sender, rig->sides[0].qpns[0], &pressed);
	assert_true(adapter_counters(rig->sides[1].adapter)->presses > 0);
	assert_true(pressed.window_bytes < before.window_bytes / 4);
	rig->is_polling = true;
	rig_poll(rig, 1);
	rig_poll(rig, 0);
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	adapter_query(sender, rig->sides[0].qpns[0], &after);
	assert_true(after.window_bytes > before.window_bytes / 2);
	rig_close(rig);
}

// Sends messages to a target with so many receive requests; returns how many it completed.
static uint32_t receive(uint32_t count, uint32_t receives, bool *ret_failed)
{
	struct adapter_config config = rig_config();
	config.receives_max = 20;
	struct rig *rig = rig_open(&config, 1, 10);
	struct adapter *target = rig->sides[1].adapter;
	uint32_t qpn = rig->sides[1].qpns[0];
	rig->jitter_ps = 3 * PS_PER_US;
	rig_prepare(rig, count, 3000);
	for (uint32_t i = 0; i < 20; i++) // the other way there are enough
		assert_int_equal(
			adapter_post_receive(rig->sides[0].adapter, rig->sides[0].qpns[0], i), 0);
	for (uint32_t i = 0; i < receives; i++)
		assert_int_equal(adapter_post_receive(target, qpn, 1000 + i), 0);
	rig_run(rig, PS_PER_S);
	*ret_failed = adapter_state(rig->sides[0].adapter, rig->sides[0].qpns[0]) == ADAPTER_ERROR;
	const struct transport_counters *sender = adapter_transport(rig->sides[0].adapter);
	assert_int_equal(sender->qps_failed_remote, *ret_failed);
	assert_int_equal(adapter_counters(target)->no_receive > 0, *ret_failed);
	uint32_t received = rig->sides[0].streams[0].received;
	rig_close(rig);
	return received;
}

static void a_message_without_a_receive_request_ends_its_qp(void **state)
{
	(void)state;
	bool is_failed;
	assert_int_equal(receive(10, 10, &is_failed), 10);
	assert_false(is_failed);
	assert_true(receive(10, 9, &is_failed) <= 9);
	assert_true(is_failed);
	assert_int_equal(receive(10, 0, &is_failed), 0);
	assert_true(is_failed);
}

static void receive_requests_come_back_in_order(void **state)
{
	(void)state;
	struct adapter_config config = rig_config();
	struct completion done;
	config.receives_max = 3;
	struct rig *rig = rig_open(&config, 1, 11);
	struct adapter *sender = rig->sides[0].adapter, *target = rig->sides[1].adapter;
	uint32_t qpn = rig->sides[1].qpns[0], got = 0;
	uint8_t memory[8];
	assert_int_equal(adapter_register(target, RIG_RKEY, memory, RIG_VA, sizeof(memory)), 0);
	assert_int_equal(adapter_post_receive(target, qpn + 1, 0), -EINVAL);
	for (uint64_t i = 0; i < 70000; i++) { // their numbers come round
		struct adapter_write write = {.local = "x",
					      .bytes = 1,
					      .rkey = RIG_RKEY,
					      .va = RIG_VA,
					      .imm = (uint32_t)i,
					      .has_imm = true};
		if (i == 0)
			for (uint64_t first = 0; first < 2; first++)
				assert_int_equal(adapter_post_receive(target, qpn, first), 0);
		assert_int_equal(adapter_post_receive(target, qpn, i + 2), 0);
		assert_int_equal(adapter_post_receive(target, qpn, 0), -ENOBUFS);
		assert_int_equal(adapter_post(sender, rig->sides[0].qpns[0], &write, rig->now), 0);
		rig->is_polling = false;
		rig_run(rig, rig->now + 20 * PS_PER_US);
		while (adapter_poll(sender, &done, 1) == 1)
			assert_int_equal(done.kind, COMPLETION_SENT);
		while (adapter_poll(target, &done, 1) == 1) {
			assert_int_equal(done.kind, COMPLETION_RECEIVED);
			assert_int_equal(done.cookie, got++);
		}
		assert_int_equal(got, i + 1);
	}
	assert_int_equal(adapter_counters(target)->no_receive, 0);
	rig_close(rig);
	config.receives_max = 0;
	rig = rig_open(&config, 1, 12);
	assert_int_equal(adapter_post_receive(rig->sides[0].adapter, ADAPTER_QPN_FIRST, 0),
			 -EINVAL);
	rig_close(rig);
}

static void a_peer_that_is_silent_gives_all_requests_back(void **state)
{
	struct adapter_config config = rig_config();
	config.completion_max = 1;
	config.transport.sends_max = 100;
	config.transport.mpr = 64;
	struct rig *rig = rig_open(&config, RIG_QPS, 9);
	rig_prepare(rig, 100, 1500);
	rig->loss_ppm = 1000000;
	rig->is_polling = false; // more requests than places: the rest waits in the endpoint
	rig_run(rig, 100 * PS_PER_S);
	rig->is_polling = true;
	rig_poll(rig, 0);
	rig_poll(rig, 1);
	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t qp = 0; qp < RIG_QPS; qp++) {
			assert_int_equal(rig->sides[side].streams[qp].flushed, 100);
			assert_int_equal(
				adapter_state(rig->sides[side].adapter, rig->sides[side].qpns[qp]),
				ADAPTER_ERROR);
		}
		assert_int_equal(adapter_next_at(rig->sides[side].adapter, rig->now), PS_NEVER);
	}
	rig_close(rig);
}
