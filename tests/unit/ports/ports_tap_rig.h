// SPDX-License-Identifier: Apache-2.0
// What tests of taps share: a small world, taps on it whose files are in a folder of the test, and
// random packets for them.
#pragma once

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/core/rng.h>
#include <weft/files/files.h>

#include <weft/ports/tap.h>

#define MEMORY_BYTES ((size_t)512 << 20)
#define FILE_BYTES ((size_t)32 << 20)
#define PACKETS 400

// 4 NICs on 2 T0, 2 T1: 8 links, of which the first 4 are of NICs
#define FABRIC \
	"fabric: {nics: 4, nics_per_t0: 2, t1_count: 2, bundle: 1}\n" \
	"traffic: {kind: permutation, bytes: 1MB}\n"
#define NIC_CABLES 8

static struct scenario scenario;
static struct arena arena;
static struct world world;
static struct codec codec;
static void *memory;
static char folder[64];
static uint8_t file_a[FILE_BYTES];

__attribute__((unused)) static const char *path_of(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

__attribute__((unused)) static size_t file_of(const char *path, uint8_t *ret)
{
	FILE *file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	size_t bytes = fread(ret, 1, FILE_BYTES - 1, file);
	fclose(file);
	assert_true(bytes < FILE_BYTES - 1);
	ret[bytes] = '\0';
	return bytes;
}

__attribute__((unused)) static void build_world(const char *more)
{
	char text[1024];
	struct refusal refusal = {0};
	snprintf(text, sizeof(text), "%s%s", FABRIC, more);
	if (scenario_parse(&scenario, "text", text, strlen(text), NULL, 0, &refusal) != 0)
		fail_msg("%u:%u: %s", refusal.line, refusal.column, refusal.text);
	if (memory != NULL)
		memory_release(memory, MEMORY_BYTES);
	memory = memory_reserve(MEMORY_BYTES);
	assert_non_null(memory);
	arena_init(&arena, memory, MEMORY_BYTES);
	if (world_build(&world, &arena, &scenario, NULL, 0, &refusal) != 0 ||
	    codec_init(&codec, &world, &refusal) != 0)
		fail_msg("%s", refusal.text);
}

__attribute__((unused)) static struct tap_set *open_taps(const char *pcap, const char *log,
							 uint32_t lanes)
{
	const struct tap_options options = {.pcap = pcap, .log = log, .program = "weft test"};
	files_force(); // the next takes the place of the last
	struct refusal refusal = {0};
	struct tap_set *set = NULL;
	if (tap_open(&set, &world, &options, &codec, lanes, &refusal) != 0)
		fail_msg("%s: %s", refusal.file, refusal.text);
	return set;
}

__attribute__((unused)) static struct tap_counts close_taps(struct tap_set *set, ps_t now)
{
	struct tap_counts counts = {0};
	struct refusal refusal = {0};
	if (tap_close(set, now, &counts, &refusal) != 0)
		fail_msg("%s: %s", refusal.file, refusal.text);
	return counts;
}

__attribute__((unused)) static void random_write(struct rng *rng, struct packet *ret)
{
	static const uint8_t opcodes[] = {PACKET_WRITE_FIRST, PACKET_WRITE_MIDDLE,
					  PACKET_WRITE_LAST_IMM, PACKET_WRITE_ONLY_IMM};
	uint16_t payload = world.transport.payload_bytes;
	ret->opcode = opcodes[rng_next(rng) % 4];
	ret->klass = PACKET_CLASS_DATA;
	ret->flags = PACKET_ECT | PACKET_TRIMMABLE | (rng_next(rng) % 2 ? PACKET_CE : 0);
	ret->bth = (uint8_t)(rng_next(rng) % 2 ? PACKET_AR : PACKET_RTX);
	ret->payload_bytes = payload;
	ret->u.data = (struct packet_data){.message_bytes = 16u * payload};
	ret->u.data.va = rng_next(rng) >> 16;
	ret->u.data.rkey = (uint32_t)rng_next(rng);
	ret->u.data.imm = (uint32_t)rng_next(rng);
	ret->u.data.msn = (uint16_t)rng_next(rng);
	ret->u.data.rqmsn = (uint16_t)rng_next(rng);
	if (ret->opcode == PACKET_WRITE_LAST_IMM || ret->opcode == PACKET_WRITE_ONLY_IMM) {
		ret->payload_bytes = (uint16_t)(1 + rng_next(rng) % payload);
		ret->u.data.message_bytes = ret->payload_bytes;
	}
	if (rng_next(rng) % 8 == 0) {
		ret->flags |= PACKET_TRIMMED;
		ret->klass = PACKET_CLASS_CONTROL;
		ret->payload_bytes = 0;
	}
}

__attribute__((unused)) static struct packet random_packet(struct rng *rng)
{
	struct packet packet = {.klass = PACKET_CLASS_CONTROL};
	packet.source = (uint32_t)(rng_next(rng) % 4);
	packet.target = (uint32_t)(rng_next(rng) % 4);
	packet.ev = (uint32_t)rng_next(rng);
	packet.hop = (uint8_t)(rng_next(rng) % 4);
	packet.timestamp = (uint16_t)rng_next(rng);
	packet.qpn = (uint32_t)rng_next(rng) & 0xffffff;
	packet.psn = (uint32_t)rng_next(rng) & 0xffffff;
	switch (rng_next(rng) % 4) {
	case 0:
		packet.opcode = PACKET_SACK;
		packet.u.sack = (struct packet_sack){
			.rcvd_256 = 0xabcdef,
			.trigger_offset = -3,
			.offset = -64,
			.ooo_count = 7,
			.mark = 1,
			.penalty = 0x85,
		};
		packet.u.sack.bitmap = rng_next(rng);
		packet.u.sack.ev_echo = (uint32_t)rng_next(rng);
		break;
	case 1:
		packet.opcode = PACKET_NACK;
		packet.u.nack = (struct packet_nack_info){
			(uint32_t)rng_next(rng), packet.psn, PACKET_NACK_TRIMMED_LAST, {0}};
		break;
	default:
		random_write(rng, &packet);
	}
	packet.wire_bytes = (uint16_t)wire_line_bytes(&codec.nic, &packet);
	return packet;
}

// Packets of one seed on random tapped cables, a window each for 50 of them; as frames or not. Even
// cables are lane 0's, odd ones the last lane's. Returns the time reached.
__attribute__((unused)) static ps_t take_random(struct tap_set *set, uint32_t lanes,
						bool has_frames, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_TEST, 0);
	static uint8_t frame[1 << 16];
	ps_t window = 0;
	for (uint32_t i = 0; i < PACKETS; i++) {
		struct packet packet = random_packet(&rng);
		uint32_t cable = (uint32_t)(rng_next(&rng) % NIC_CABLES);
		uint32_t bytes = has_frames ? codec_write(&codec, &packet, frame) : 0;
		ps_t at = window + (ps_t)(rng_next(&rng) % 50) * 100;
		if (tap_listens(set, TAP_LOCATION(cable, false), at))
			tap_take(set, cable % 2 == 0 ? 0 : lanes - 1, TAP_LOCATION(cable, false),
				 at, &packet, has_frames ? frame : NULL, bytes);
		if (i % 50 == 49) {
			tap_window_end(set);
			window += 5000;
		}
	}
	return window;
}

__attribute__((unused)) static int make_folder(void **state)
{
	const char *parent = getenv("TMPDIR");
	snprintf(folder, sizeof(folder), "%s/weft-tap-XXXXXX", parent != NULL ? parent : P_tmpdir);
	return mkdtemp(folder) == NULL;
}

__attribute__((unused)) static int remove_folder(void **state)
{
	static const char *const names[] = {"a", "b", "a.csv", "b.csv"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}
