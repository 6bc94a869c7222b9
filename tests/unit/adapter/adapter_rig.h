// SPDX-License-Identifier: Apache-2.0
// Two adapters and the wires between them, frames as bytes: one line per plane and direction, with
// delay, jitter (so reordering), loss, duplicates, damage, marks and trims from a seeded stream.
// Messages are numbered: each must come out once, in posting order, with the bytes that were
// posted, and nothing else may change in registered memory. For the tests of room adapter only.
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/adapter/adapter.h>
#include <weft/core/rng.h>

#define RIG_FLIGHTS 8192u
#define RIG_QPS 4u
#define RIG_RKEY 0x1234u
#define RIG_VA UINT64_C(0x7000000000)
#define RIG_UNTOUCHED 0xa5 // registered memory that nobody may write to
#define RIG_TAKEN 0x5a	   // and where a message was taken from

struct flight {
	ps_t at;
	uint8_t *bytes;
	uint32_t length;
	uint32_t to;
};

// One direction of one QP: messages lie one behind the other, in both memories alike.
struct rig_stream {
	uint8_t *local;
	uint32_t *sizes; // of the messages, and where they begin
	uint64_t *starts;
	uint32_t count, posted, sent, received, flushed;
};

struct rig_side {
	struct adapter *adapter;
	void *memory;
	uint8_t *region; // the peer writes here
	uint64_t region_bytes;
	uint32_t qpns[RIG_QPS];
	struct adapter_exchange exchanges[RIG_QPS];
	struct rig_stream streams[RIG_QPS]; // what this side sends
};

struct rig {
	struct adapter_config config;
	struct wire_config in_switch;
	struct rig_side sides[2];
	struct refusal refusal;
	struct rng rng;
	ps_t now;
	struct flight flights[RIG_FLIGHTS];
	uint32_t flying, flying_max;
	uint32_t qps;
	bool is_polling;      // whether completions are taken
	uint32_t planes_free; // the first of them: the others' lines are never
	uint32_t dark;	      // bits of planes whose wires take everything

	// the wires
	ps_t delay_ps, jitter_ps;
	uint32_t loss_ppm, duplicate_ppm, damage_ppm, mark_ppm, trim_ppm;

	// what happened
	uint64_t lost, duplicated, damaged, trimmed, refused;
	uint64_t pulled[2][PLANES_MAX]; // frames, by sender
};

static inline bool rig_dice(struct rig *rig, uint32_t ppm)
{
	return ppm != 0 && rng_below(&rig->rng, 1000000) < ppm;
}

static inline void rig_make_side(struct rig *rig, uint32_t side)
{
	struct adapter_config config = rig->config;
	config.nic = 10 + side;
	config.seed = 100 + side;
	size_t bytes = adapter_bytes(&config, &rig->refusal);
	assert_int_not_equal(bytes, 0);
	struct rig_side *own = &rig->sides[side];
	own->memory = aligned_alloc(ADAPTER_ALIGN, bytes);
	assert_non_null(own->memory);
	memset(own->memory, 0xee, bytes); // it need not be clean
	assert_int_equal(adapter_create(&own->adapter, own->memory, bytes, &config, &rig->refusal),
			 0);
	for (uint32_t qp = 0; qp < rig->qps; qp++)
		assert_int_equal(adapter_open(own->adapter, &own->qpns[qp], &own->exchanges[qp]),
				 0);
}

// Two adapters whose first `qps` QPs are connected with each other.
static inline struct rig *rig_open(const struct adapter_config *config, uint32_t qps, uint64_t seed)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	assert_non_null(rig);
	rig->config = *config;
	rig->config.qp_max = qps;
	rig->in_switch = config->wire;
	rig->in_switch.icrc_unchecked = true;
	rig->qps = qps;
	rig->rng = rng_of(seed, RNG_TEST, 0);
	rig->delay_ps = PS_PER_US;
	rig->is_polling = true;
	rig->planes_free = config->transport.planes;
	for (uint32_t side = 0; side < 2; side++)
		rig_make_side(rig, side);
	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t qp = 0; qp < qps; qp++)
			assert_int_equal(adapter_connect(rig->sides[side].adapter,
							 rig->sides[side].qpns[qp],
							 &rig->sides[1 - side].exchanges[qp], 0,
							 &rig->refusal),
					 0);
	return rig;
}

static inline void rig_close(struct rig *rig)
{
	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t qp = 0; qp < RIG_QPS; qp++) {
			free(rig->sides[side].streams[qp].local);
			free(rig->sides[side].streams[qp].sizes);
			free(rig->sides[side].streams[qp].starts);
		}
		free(rig->sides[side].region);
		free(rig->sides[side].memory);
	}
	for (uint32_t i = 0; i < rig->flying; i++)
		free(rig->flights[i].bytes);
	free(rig);
}

// Between two messages lies memory that nobody may touch.
#define RIG_GAP 37

// Prepares `count` messages of up to `bytes_max` bytes in each direction and on each QP, and the
// memory that they go to, a region for each QP.
static inline void rig_prepare(struct rig *rig, uint32_t count, uint32_t bytes_max)
{
	for (uint32_t side = 0; side < 2; side++) {
		struct rig_side *from = &rig->sides[side], *to = &rig->sides[1 - side];
		uint64_t at = RIG_GAP;
		for (uint32_t qp = 0; qp < rig->qps; qp++) {
			struct rig_stream *stream = &from->streams[qp];
			stream->count = count;
			stream->sizes = calloc(count, sizeof(*stream->sizes));
			stream->starts = calloc(count, sizeof(*stream->starts));
			for (uint32_t i = 0; i < count; i++) {
				stream->sizes[i] = 1 + rng_below(&rig->rng, bytes_max);
				stream->starts[i] = at;
				at += stream->sizes[i] + RIG_GAP;
			}
			stream->local = malloc((size_t)count * bytes_max);
			for (size_t i = 0; i < (size_t)count * bytes_max; i++)
				stream->local[i] = (uint8_t)rng_next(&rig->rng);
		}
		to->region = malloc(at);
		to->region_bytes = at;
		memset(to->region, RIG_UNTOUCHED, at);
		assert_int_equal(adapter_register(to->adapter, RIG_RKEY, to->region, RIG_VA, at),
				 0);
	}
}

// The bytes of message `i`: at odd places, so that nothing is aligned.
static inline uint8_t *rig_bytes(const struct rig_stream *stream, uint32_t i)
{
	uint64_t at = 0;
	for (uint32_t before = 0; before < i; before++)
		at += stream->sizes[before];
	return stream->local + at;
}

static inline void rig_post(struct rig *rig, uint32_t side)
{
	for (uint32_t qp = 0; qp < rig->qps; qp++) {
		struct rig_side *own = &rig->sides[side];
		struct rig_stream *stream = &own->streams[qp];
		while (stream->posted < stream->count) {
			uint32_t i = stream->posted;
			struct adapter_write write = {
				.local = rig_bytes(stream, i),
				.bytes = stream->sizes[i],
				.rkey = RIG_RKEY,
				.va = RIG_VA + stream->starts[i],
				.cookie = (uint64_t)qp << 32 | i,
				.imm = i,
				.has_imm = true,
			};
			int rc = adapter_post(own->adapter, own->qpns[qp], &write, rig->now);
			if (rc == -ENOBUFS || rc == -ECONNRESET)
				break;
			assert_int_equal(rc, 0);
			stream->posted++;
		}
	}
}

static inline uint32_t rig_qp_of(const struct rig_side *own, uint32_t qpn)
{
	uint32_t qp = 0;
	while (own->qpns[qp] != qpn)
		qp++;
	return qp;
}

static inline void rig_on_sent(struct rig_side *own, const struct completion *done)
{
	struct rig_stream *stream = &own->streams[done->cookie >> 32];
	assert_int_equal((uint32_t)done->cookie, stream->sent);
	assert_int_equal(done->bytes, stream->sizes[stream->sent]);
	memset(rig_bytes(stream, stream->sent), 0, done->bytes); // it is ours again
	stream->sent++;
}

// A message is here: compared with a copy that was put aside, and marked as taken.
static inline void rig_on_received(struct rig *rig, uint32_t side, const struct completion *done)
{
	struct rig_side *own = &rig->sides[side];
	uint32_t qp = rig_qp_of(own, done->qp);
	struct rig_stream *stream = &rig->sides[1 - side].streams[qp];
	uint32_t i = stream->received++;
	assert_int_equal(done->imm, i);
	assert_int_equal(done->bytes, stream->sizes[i]);
	assert_true(stream->sent <= i); // so the bytes are still those that were posted
	uint8_t *at = own->region + stream->starts[i];
	assert_memory_equal(at, rig_bytes(stream, i), done->bytes);
	memset(at, RIG_TAKEN, done->bytes);
}

static inline void rig_poll(struct rig *rig, uint32_t side)
{
	struct completion done[3];
	uint32_t count;
	if (!rig->is_polling)
		return;
	while ((count = adapter_poll(rig->sides[side].adapter, done, 3)) > 0) {
		for (uint32_t i = 0; i < count; i++) {
			if (done[i].kind == COMPLETION_SENT)
				rig_on_sent(&rig->sides[side], &done[i]);
			else if (done[i].kind == COMPLETION_RECEIVED)
				rig_on_received(rig, side, &done[i]);
			else
				rig->sides[side].streams[done[i].cookie >> 32].flushed++;
		}
	}
	rig_post(rig, side);
}

static inline void rig_launch(struct rig *rig, uint32_t to, const uint8_t *frame, uint32_t length,
			      ps_t at)
{
	assert_true(rig->flying < RIG_FLIGHTS);
	ps_t jitter = rig->jitter_ps == 0 ? 0
					  : (ps_t)(rng_next(&rig->rng) % (uint64_t)rig->jitter_ps);
	uint8_t *bytes = malloc(length); // as long as the frame: ASan sees who reads past it
	memcpy(bytes, frame, length);
	rig->flights[rig->flying++] = (struct flight){at + rig->delay_ps + jitter, bytes, length,
						      to};
	if (rig->flying > rig->flying_max)
		rig->flying_max = rig->flying;
}

// What switches do: marks and trims. Returns the frame's length.
static inline uint32_t rig_switch(struct rig *rig, uint8_t *frame, uint32_t length)
{
	struct packet packet;
	struct wire_view view;
	assert_int_equal(wire_parse(&rig->in_switch, frame, length, &packet, &view), WIRE_FINE);
	packet.hop++;
	if ((packet.flags & PACKET_ECT) && rig_dice(rig, rig->mark_ppm))
		packet.flags |= PACKET_CE;
	if ((packet.flags & PACKET_TRIMMABLE) && rig_dice(rig, rig->trim_ppm)) {
		packet.flags |= PACKET_TRIMMED;
		if (rig_dice(rig, 500000))
			packet.flags |= PACKET_TRIMMED_LAST;
		packet.payload_bytes = 0;
		packet.klass = PACKET_CLASS_CONTROL;
		rig->trimmed++;
	}
	return (uint32_t)wire_patch(&rig->in_switch, &packet, frame, &view);
}

static inline void rig_carry(struct rig *rig, uint32_t to, uint8_t *frame, uint32_t length, ps_t at)
{
	if (rig_dice(rig, rig->loss_ppm)) {
		rig->lost++;
		return;
	}
	length = rig_switch(rig, frame, length);
	if (rig_dice(rig, rig->duplicate_ppm)) {
		rig->duplicated++;
		rig_launch(rig, to, frame, length, at);
	}
	if (rig_dice(rig, rig->damage_ppm)) {
		uint32_t bit = rng_below(&rig->rng, length * 8);
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		rig->damaged++;
	}
	rig_launch(rig, to, frame, length, at);
}

static inline void rig_pull(struct rig *rig, uint32_t side)
{
	struct adapter *adapter = rig->sides[side].adapter;
	uint8_t frame[9216];
	for (uint32_t plane = 0; plane < rig->planes_free; plane++) {
		while (adapter_free_at(adapter, plane) <= rig->now) {
			int length = adapter_pull(adapter, plane, frame, sizeof(frame), rig->now);
			assert_true(length >= 0);
			if (length == 0)
				break;
			assert_true(adapter_free_at(adapter, plane) > rig->now);
			rig->pulled[side][plane]++;
			if (rig->dark >> plane & 1)
				rig->lost++;
			else
				rig_carry(rig, 1 - side, frame, (uint32_t)length,
					  adapter_free_at(adapter, plane));
		}
	}
}

// Hands over what is here by now.
static inline void rig_deliver(struct rig *rig)
{
	for (uint32_t i = 0; i < rig->flying;) {
		struct flight flight = rig->flights[i];
		if (flight.at > rig->now) {
			i++;
			continue;
		}
		rig->flights[i] = rig->flights[--rig->flying];
		int rc = adapter_feed(rig->sides[flight.to].adapter, flight.bytes, flight.length,
				      rig->now);
		rig->refused += rc != 0;
		memset(flight.bytes, 0xdd, flight.length); // nobody may keep it
		free(flight.bytes);
		rig_poll(rig, flight.to);
	}
}

static inline ps_t rig_next_at(const struct rig *rig)
{
	ps_t at = ps_min(adapter_next_at(rig->sides[0].adapter, rig->now),
			 adapter_next_at(rig->sides[1].adapter, rig->now));
	for (uint32_t i = 0; i < rig->flying; i++)
		at = ps_min(at, rig->flights[i].at);
	return at;
}

// Runs until `until` or until nothing is left to do.
static inline void rig_run(struct rig *rig, ps_t until)
{
	rig_post(rig, 0);
	rig_post(rig, 1);
	for (;;) {
		rig_pull(rig, 0);
		rig_pull(rig, 1);
		ps_t at = rig_next_at(rig);
		if (at == PS_NEVER || at > until)
			return;
		rig->now = ps_max(rig->now, at);
		rig_deliver(rig);
		for (uint32_t side = 0; side < 2; side++) {
			if (adapter_wake_at(rig->sides[side].adapter) <= rig->now)
				adapter_on_time(rig->sides[side].adapter, rig->now);
			rig_poll(rig, side);
		}
	}
}

// The packet of a frame that is on the way.
static inline struct packet rig_packet_of(const struct rig *rig, const struct flight *flight)
{
	struct packet packet;
	struct wire_view view;
	assert_int_equal(wire_parse(&rig->in_switch, flight->bytes, flight->length, &packet, &view),
			 WIRE_FINE);
	return packet;
}

// Every message came out once, and no byte beside them was written.
static inline void rig_check_done(struct rig *rig)
{
	for (uint32_t side = 0; side < 2; side++) {
		struct rig_side *own = &rig->sides[side];
		uint64_t at = 0;
		for (uint32_t qp = 0; qp < rig->qps; qp++) {
			const struct rig_stream *stream = &rig->sides[1 - side].streams[qp];
			assert_int_equal(stream->posted, stream->count);
			assert_int_equal(stream->sent, stream->count);
			assert_int_equal(stream->received, stream->count);
			assert_int_equal(stream->flushed, 0);
			for (uint32_t i = 0; i < stream->count; i++) {
				for (; at < stream->starts[i]; at++)
					assert_int_equal(own->region[at], RIG_UNTOUCHED);
				for (; at < stream->starts[i] + stream->sizes[i]; at++)
					assert_int_equal(own->region[at], RIG_TAKEN);
			}
		}
		for (; at < own->region_bytes; at++)
			assert_int_equal(own->region[at], RIG_UNTOUCHED);
		assert_int_equal(adapter_transport(own->adapter)->qps_failed, 0);
		assert_int_equal(adapter_next_at(own->adapter, rig->now), PS_NEVER);
	}
}

static inline struct adapter_config rig_config(void)
{
	struct adapter_config config;
	adapter_config_default(&config);
	config.transport.payload_bytes = 1024;
	config.transport.ev_count = 32;
	config.transport.mpr = 256;
	config.transport.sends_max = 16;
	config.transport.wimm_max = 32;
	config.transport.rto_ps = 50 * PS_PER_US;
	config.transport.path_retry_ps = 200 * PS_PER_US;
	return config;
}
