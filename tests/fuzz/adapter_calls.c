// SPDX-License-Identifier: Apache-2.0
// Fuzz target: two adapters that a program drives, and a peer that lies. The input is a list of
// calls: posts, pulls, frames that arrive, late, twice, changed or made up (with the right ICRC),
// timers, polls. Nothing may be written beside a region, whatever comes.
#include "target.h"

#include <errno.h>

#include <weft/adapter/adapter.h>

#define REGION 20000u
#define GUARD 64u
#define FRAME 4096u
#define HELD 8u
#define MEMORY (1u << 20)
#define VA 0x1000u
#define QPN(number) ((number) + ADAPTER_QPN_FIRST)
#define RKEY 5u

struct held {
	uint8_t bytes[FRAME];
	int length;
};

struct play {
	const uint8_t *at, *end; // what is left of the input
	struct adapter *adapters[2];
	struct adapter_config config;
	struct held held[HELD];
	ps_t now;
	uint32_t next;
};

static _Alignas(ADAPTER_ALIGN) uint8_t memories[2][MEMORY];
static uint8_t regions[2][REGION + 2 * GUARD];
static const uint8_t local[REGION];

static uint32_t take(struct play *play, uint32_t bytes)
{
	uint32_t value = 0;
	for (; bytes > 0; bytes--)
		value = value << 8 | (play->at < play->end ? *play->at++ : 0);
	return value;
}

static void start(struct play *play)
{
	struct adapter_exchange exchanges[2][2];
	struct refusal refusal;
	uint32_t qpn;
	adapter_config_default(&play->config);
	play->config.qp_max = 2;
	play->config.completion_max = 8;
	play->config.transport.payload_bytes = 256;
	play->config.transport.ev_count = 4;
	play->config.transport.mpr = 64;
	play->config.transport.sends_max = 8;
	play->config.transport.wimm_max = 32;
	for (uint32_t side = 0; side < 2; side++) {
		play->config.nic = side;
		int rc = adapter_create(&play->adapters[side], memories[side], MEMORY,
					&play->config, &refusal);
		check(rc == 0);
		memset(regions[side], 0xa5, sizeof(regions[side]));
		check(adapter_register(play->adapters[side], RKEY, regions[side] + GUARD, VA,
				       REGION) == 0);
		for (uint32_t qp = 0; qp < 2; qp++)
			check(adapter_open(play->adapters[side], &qpn, &exchanges[side][qp]) == 0);
	}
	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t qp = 0; qp < 2; qp++)
			check(adapter_connect(play->adapters[side], QPN(qp),
					      &exchanges[1 - side][qp], 0, &refusal) == 0);
}

static void post(struct play *play, uint32_t side)
{
	uint32_t bits = take(play, 1);
	struct adapter_write write = {
		.local = local,
		.bytes = take(play, 2) % REGION,
		.rkey = RKEY + (bits >> 7),
		.va = VA + take(play, 2) % REGION,
		.has_imm = bits & 1,
	};
	adapter_post(play->adapters[side], QPN(bits >> 1 & 1), &write, play->now);
}

// Takes the next frame of `side` out, to be delivered now or later.
static struct held *pull(struct play *play, uint32_t side)
{
	struct held *held = &play->held[play->next++ % HELD];
	held->length = adapter_pull(play->adapters[side], take(play, 1) & 1, held->bytes, FRAME,
				    play->now);
	check(held->length >= 0);
	return held;
}

static void feed(struct play *play, uint32_t side, const struct held *held)
{
	if (held->length > 0)
		adapter_feed(play->adapters[side], held->bytes, (size_t)held->length, play->now);
}

// Changes bytes of what a frame says, and makes its ICRC right again.
static void change(struct play *play, struct held *held)
{
	struct packet packet;
	struct wire_view view;
	enum wire_reason reason = wire_parse(&play->config.wire, held->bytes, (size_t)held->length,
					     &packet, &view);
	if (held->length == 0 || reason != WIRE_FINE)
		return;
	for (uint32_t left = 1 + take(play, 1) % 4; left > 0; left--)
		held->bytes[view.bth_at + take(play, 1) % 64] ^= (uint8_t)take(play, 1);
	wire_seal(held->bytes, &view);
}

// A write, SACK, NACK or other packet of any content between two QPs.
static void forge(struct play *play, uint32_t side)
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
	struct packet packet = {.source = 1 - side, .target = side};
	struct wire_view view;
	static uint8_t frame[FRAME];
	packet.opcode = opcodes[take(play, 1) % sizeof(opcodes)];
	packet.klass = PACKET_CLASS_CONTROL;
	packet.qpn = take(play, 1) & 7; // reserved ones, QPs, and others
	packet.psn = take(play, 3);
	packet.bth = (uint8_t)(take(play, 1) & (PACKET_AR | PACKET_RTX));
	for (uint32_t i = 0; i < sizeof(packet.u); i++)
		((uint8_t *)&packet.u)[i] = (uint8_t)take(play, 1);
	if (packet.opcode <= PACKET_WRITE_ONLY_IMM) {
		packet.klass = PACKET_CLASS_DATA;
		packet.payload_bytes = (uint16_t)(take(play, 1) % 3 ? 256 : take(play, 2) % 300);
	}
	size_t bytes = wire_build(&play->config.wire, &packet, frame, FRAME, &view);
	wire_seal(frame, &view);
	adapter_feed(play->adapters[side], frame, bytes, play->now);
}

static void wait(struct play *play)
{
	play->now += (ps_t)take(play, 2) * PS_PER_US;
	for (uint32_t side = 0; side < 2; side++)
		adapter_on_time(play->adapters[side], play->now);
}

static void poll(struct play *play, uint32_t side)
{
	struct completion done[4];
	uint32_t count = adapter_poll(play->adapters[side], done, 4);
	for (uint32_t i = 0; i < count; i++)
		check(done[i].qp >= QPN(0) && done[i].qp <= QPN(1) &&
		      done[i].kind <= COMPLETION_FLUSHED);
}

// Both ends of a QP begin anew; or one of them, which then waits for the other for ever.
static void live_again(struct play *play, uint32_t qp, bool is_half)
{
	struct adapter_exchange exchanges[2];
	struct refusal refusal;
	struct qp_view view;
	for (uint32_t side = 0; side < 2u - is_half; side++)
		check(adapter_reset(play->adapters[side], QPN(qp), &exchanges[side]) == 0);
	check(adapter_query(play->adapters[0], QPN(qp), &view) == 0 && view.state == QP_RESET);
	check(adapter_reset(play->adapters[0], QPN(2), &exchanges[0]) == -EINVAL);
	for (uint32_t side = 0; side < 2 && !is_half; side++)
		check(adapter_connect(play->adapters[side], QPN(qp), &exchanges[1 - side],
				      play->now, &refusal) == 0);
}

static void call(struct play *play)
{
	uint32_t what = take(play, 1), side = what >> 4 & 1;
	switch (what & 15) {
	case 0:
	case 1:
		return post(play, side);
	case 2:
	case 3:
	case 4: // a frame goes its way
		return feed(play, 1 - side, pull(play, side));
	case 5: // it is lost, or late
		pull(play, side);
		return;
	case 6: // an old one comes, once more maybe
		return feed(play, side, &play->held[take(play, 1) % HELD]);
	case 7: {
		struct held *held = pull(play, side);
		change(play, held);
		return feed(play, 1 - side, held);
	}
	case 8:
		return wait(play);
	case 9:
	case 10:
		return poll(play, side);
	case 11: {
		size_t left = (size_t)(play->end - play->at), bytes = take(play, 1);
		adapter_feed(play->adapters[side], play->at, bytes < left ? bytes : left / 2,
			     play->now);
		return;
	}
	case 13: // one of both ports loses its light or has it again; else a packet is made up
		if (what >> 5 != 1 && what >> 5 != 2)
			return forge(play, side);
		check(adapter_port(play->adapters[side], take(play, 1) & 1, what >> 5 & 1,
				   play->now) == 0);
		check(adapter_port(play->adapters[side], 2, false, play->now) == -EINVAL);
		return;
	case 12:
		if (take(play, 1) == 0)
			adapter_unregister(play->adapters[side], RKEY);
		else
			live_again(play, what >> 5 & 1, what >> 6 & 1);
		return;
	default:
		return forge(play, side);
	}
}

static void check_guards(void)
{
	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t i = 0; i < GUARD; i++)
			check(regions[side][i] == 0xa5 &&
			      regions[side][GUARD + REGION + i] == 0xa5);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static struct play play;
	play = (struct play){.at = data, .end = data + bytes};
	start(&play);
	for (uint32_t calls = 0; play.at < play.end && calls < 4000; calls++)
		call(&play);
	check_guards();
}

#ifndef WITH_LIBFUZZER

const char *const fuzz_folders[] = {NULL};
// Letters whose low bits are calls: p and q post, b to d carry a frame, h waits, i and j poll.
const char *const fuzz_texts[] = {
	"pa1234b0B0b0B0b0B0i0I0", "qAzz00qBzz00s0S0s0c0C0c0C0c0C0c0hzzb0b0b0r0r0r0iIhzzzzb0",
	"pa0p00u0u0u0u0f1f2f3v1v0f1hzz0b0b0B0hzz0B0jJ",
	"pa0p00b0w2abcdefB0w1gh345678W3yxz7W0b0b0hz0b0b0iiII",
	"pa0p00b0m6abcdefghijklmnopqrstuvwxyz0123456789n7zyxwvutsrqponmlkjihgfedcba",
	"o7abcdefghijklmnopqrstuvwxyz012345678944444444o6000000000000000000000000000",
	"pa0p00b0b0l1b0b0iIpa1234b0B0b0B0L1hzzb0lAb0iIpa1234b0B0",
	// M and ] take a port down, - and = bring it back
	"pa1234qa1234M1b0r0b0r0]0b0r1b1r1hzz-1b0r0=0b1r1b0r0M0M1b0hzz-0b0b0r0iI", NULL};

#endif
