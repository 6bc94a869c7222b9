// SPDX-License-Identifier: Apache-2.0
// The ICRC of frames of every length and head against the same sum taken bit by bit over a copy
// that is masked as annex A17 of the InfiniBand specification says.

#include <weft/wire/wire_icrcs.h>

#include "wire_rig.h"

#define LINK_BYTES 8
#define UDP_BYTES 8
#define BTH_BYTES 12
#define FRAME_BYTES_MAX 400
#define IP_AT 14
#define DUE WIRE_ICRCS_MAX

static uint32_t crc_bit_by_bit(const uint8_t *at, size_t bytes)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < bytes; i++) {
		crc ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

// Of the `bytes` bytes from the IP header on, of which `ip_bytes` are that header.
static uint32_t icrc_plainly(const uint8_t *ip, uint8_t version, uint32_t ip_bytes, uint32_t bytes)
{
	uint8_t copy[LINK_BYTES + FRAME_BYTES_MAX];
	uint8_t *at = copy + LINK_BYTES;
	memset(copy, 0xff, LINK_BYTES);
	memcpy(at, ip, bytes);
	if (version == 4) {
		at[1] = at[8] = at[10] = at[11] = 0xff; // class, hops, checksum
	} else {
		at[0] |= 0x0f;
		at[1] = at[2] = at[3] = at[7] = 0xff; // class and label, hops
	}
	at[ip_bytes + 6] = at[ip_bytes + 7] = 0xff; // checksum of UDP
	at[ip_bytes + UDP_BYTES + 4] = 0xff;	    // BTH: congestion marks
	return crc_bit_by_bit(copy, LINK_BYTES + bytes);
}

static void the_icrc_is_that_of_the_masked_bytes(void **)
{
	uint8_t frame[FRAME_BYTES_MAX], before[FRAME_BYTES_MAX];
	for (uint32_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(i * 37 + (i >> 3));
	memcpy(before, frame, sizeof(frame));
	for (uint32_t ip_bytes = 20; ip_bytes <= 60; ip_bytes += 4) {
		uint32_t head = ip_bytes + UDP_BYTES + BTH_BYTES;
		for (uint32_t bytes = head; bytes <= head + 2 * 64 + 1; bytes++) {
			for (uint8_t version = 4; version <= 6; version += 2) {
				if (version == 6 && ip_bytes != 40)
					continue;
				struct wire_view view = {.ip_at = IP_AT,
							 .bth_at = IP_AT + ip_bytes + UDP_BYTES,
							 .icrc_at = IP_AT + bytes,
							 .ip_version = version};
				assert_int_equal(
					wire_icrc(frame, &view),
					icrc_plainly(frame + IP_AT, version, ip_bytes, bytes));
			}
		}
	}
	assert_memory_equal(frame, before, sizeof(frame)); // it is the caller's
}

static uint8_t frames[DUE][FRAME_MAX];
static size_t sizes[DUE];
static struct wire_record records[DUE];

static void make_frames(struct rng *rng, struct wire_config *config)
{
	*config = random_config(rng);
	for (int i = 0; i < DUE; i++) {
		struct packet packet = random_packet(rng, config, opcodes[rng_below(rng, OPCODES)]);
		struct wire_view view;
		packet.flags &= (uint8_t)~PACKET_TRIMMED;
		if (packet.payload_bytes > 0 && i % 5 != 4)
			packet.payload_bytes = 4096; // mostly of one length
		sizes[i] = random_frame(rng, config, &packet, frames[i], &view);
	}
}

static void check_together(const struct wire_config *config, struct wire_icrcs *icrcs, int count)
{
	for (int i = 0; i < count; i++)
		wire_dissect_due(config, WIRE_LINK_ETHERNET, frames[i], (uint32_t)sizes[i],
				 (uint32_t)sizes[i], &records[i], icrcs);
	wire_icrcs_check(icrcs);
	for (int i = 0; i < count; i++) {
		struct wire_record alone;
		wire_dissect(config, WIRE_LINK_ETHERNET, frames[i], (uint32_t)sizes[i],
			     (uint32_t)sizes[i], &alone);
		assert_memory_equal(&records[i], &alone, sizeof(alone));
	}
}

// As many frames as there may be: none wrong, then one or several by random bits.
static void together_icrcs_are_as_each_by_itself(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	struct wire_config config;
	for (int round = 0; round < 400; round++) {
		struct wire_icrcs icrcs = {.count = 0};
		make_frames(&rng, &config);
		int count = 1 + (int)rng_below(&rng, DUE);
		check_together(&config, &icrcs, count);
		assert_false(icrcs.is_apart);
		for (int i = 0; i <= (int)rng_below(&rng, 3); i++) {
			int which = (int)rng_below(&rng, (uint32_t)count);
			size_t at = sizes[which] - 1 - rng_below(&rng, 4);
			frames[which][at] ^= (uint8_t)(1 << rng_below(&rng, 8));
		}
		check_together(&config, &icrcs, count);
		check_together(&config, &icrcs, count); // each by itself from here on
		assert_int_equal(icrcs.count, 0);
	}
}

// Frames of one packet, of which two or more are wrong by the same bits: they do not cancel.
static void the_same_wrong_bits_do_not_cancel(void **)
{
	struct rng rng = rng_of(2, RNG_TEST, 0);
	struct wire_config config;
	wire_config_default(6, &config);
	struct packet packet = random_packet(&rng, &config, PACKET_WRITE_MIDDLE);
	packet.flags &= (uint8_t)~PACKET_TRIMMED;
	packet.payload_bytes = 4096;
	for (int round = 0; round < 2000; round++) {
		uint32_t wrong = round == 0 ? 1 : 1 + rng_below(&rng, UINT32_MAX);
		struct wire_icrcs icrcs = {.count = 0};
		struct wire_view view;
		size_t at = 100 + rng_below(&rng, 4000);
		for (int i = 0; i < DUE; i++) {
			if (round == 0)
				sizes[i] = random_frame(&rng, &config, &packet, frames[i], &view);
			frames[i][at] ^= wrong >> i & 1 ? 0x81 : 0;
		}
		check_together(&config, &icrcs, DUE);
		assert_true(icrcs.is_apart);
		for (int i = 0; i < DUE; i++)
			frames[i][at] ^= wrong >> i & 1 ? 0x81 : 0;
	}
}
