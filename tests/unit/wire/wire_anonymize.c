// SPDX-License-Identifier: Apache-2.0
// A frame without who and where is dissected as it was but for that, wherever it was cut off.

#include <weft/wire/wire_anonymize.h>

#include "wire_rig.h"

static uint8_t frame[FRAME_MAX];
static struct wire_anonymizer anonymizer;

// What may differ is blanked: who and where.
static struct wire_record seen(const struct wire_config *config, uint16_t link, const uint8_t *at,
			       uint32_t captured, uint32_t original)
{
	struct wire_record ret;
	wire_dissect(config, link, at, captured, original, &ret);
	memset(ret.source, 0, sizeof(ret.source));
	memset(ret.target, 0, sizeof(ret.target));
	ret.source_mac = ret.target_mac = ret.virtual_address = 0;
	ret.key = ret.qkey = ret.immediate = 0;
	return ret;
}

// Of the first `captured` bytes of the frame, in memory of exactly that size.
static void assert_same(const struct wire_config *config, uint16_t link, uint32_t captured,
			uint32_t original)
{
	static const uint8_t key[WIRE_ANONYMIZE_KEY_BYTES] = {7};
	wire_anonymizer_init(&anonymizer, config, key);
	uint8_t *exact = malloc(captured > 0 ? captured : 1);
	memcpy(exact, frame, captured);
	struct wire_record was = seen(config, link, exact, captured, original);
	wire_anonymize(&anonymizer, link, exact, captured, original);
	struct wire_record is = seen(config, link, exact, captured, original);
	assert_memory_equal(&is, &was, sizeof(is));
	free(exact);
}

static void a_cut_frame_of_ours_stays_what_it_was(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (int i = 0; i < 400; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]);
		struct wire_view view;
		uint32_t bytes = (uint32_t)random_frame(&rng, &config, &packet, frame, &view);
		for (uint32_t cut = 0; cut <= bytes && cut < 300; cut++)
			assert_same(&config, WIRE_LINK_ETHERNET, cut, bytes);
		assert_same(&config, WIRE_LINK_ETHERNET, bytes, bytes);
	}
}

// An MRC write with an immediate, and only the opcode of its BTH; and all but its immediate.
static void what_names_a_packet_is_no_rest(void **)
{
	static const uint8_t write[] = {
		0x45, 0x10, 0, 80,   0,	   1, 0, 0, 64, 17, 0, 0, 10, 0, 0,  1,
		10,   0,    0, 2,    0xc0, 1, 0, 0, 0,	60, 0, 0,		// UDP
		0,    0x40, 0, 0xff, 0,	   0, 0, 9, 0,	0,  0, 5,		// BTH
		0,    0,    0, 3,						// METH
		0,    0,    0, 0,    0,	   0, 1, 0, 0,	0,  0, 2, 0,  0, 16, 1, // RETH
		1,    2,    3, 4,						// immediate
	};
	struct wire_config config;
	wire_config_default(6, &config);
	memcpy(frame, write, sizeof(write));
	frame[22] = (uint8_t)(config.port >> 8);
	frame[23] = (uint8_t)config.port;
	frame[28] = PACKET_WRITE_ONLY_IMM;
	struct wire_record record;
	wire_dissect(&config, WIRE_LINK_RAW, frame, sizeof(write), sizeof(write), &record);
	assert_int_equal(record.found, WIRE_FOUND_MRC);
	for (uint32_t cut = 0; cut < sizeof(write); cut++)
		assert_same(&config, WIRE_LINK_RAW, cut, 80);
}

// The most segments that a routing header has room for, tunnel in tunnel: none of them stays, and
// what is behind them does.
static void every_segment_is_hidden(void **)
{
	struct wire_config config;
	wire_config_default(6, &config);
	uint32_t at = 0;
	memset(frame, 0, sizeof(frame));
	for (int nest = 0; nest < 4; nest++) {
		uint8_t *ip = frame + at;
		ip[0] = 0x60;
		ip[6] = 43;
		ip[40] = nest < 3 ? 41 : 17;
		ip[41] = 254;
		ip[42] = 4;
		memset(ip + 48, 0x5a, (size_t)16 * 127);
		at += 40 + 255 * 8;
	}
	frame[at + 2] = WIRE_PORT >> 8;
	frame[at + 3] = WIRE_PORT & 0xff;
	frame[at + 8] = RC_ACK;
	frame[at + 19] = 77; // PSN
	uint32_t bytes = at + 8 + 12 + 4 + 4;
	struct wire_record record;
	assert_same(&config, WIRE_LINK_RAW, bytes, bytes);
	wire_anonymize(&anonymizer, WIRE_LINK_RAW, frame, bytes, bytes);
	wire_dissect(&config, WIRE_LINK_RAW, frame, bytes, bytes, &record);
	assert_int_equal(record.psn, 77);
	for (uint32_t i = 48; i + 16 <= at; i += 16)
		assert_true(frame[i + 15] != 0x5a || frame[i + 14] != 0x5a);
}
