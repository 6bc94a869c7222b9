// SPDX-License-Identifier: Apache-2.0
// Taps: what stands in their files, in which order, how much of a frame is kept, what is lost and
// what is refused. Captures are read back by a reader of its own, and by tshark where it is there.

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
#include <sys/stat.h>
#include <unistd.h>

#include <weft/rng.h>

#include "tap.h"
#include "tap_sort.h"

#define MEMORY_BYTES ((size_t)512 << 20)
#define FILE_BYTES ((size_t)32 << 20)
#define FRAMES_MAX 4096
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
static char folder[] = "/tmp/weft-tap-XXXXXX";
static uint8_t file_a[FILE_BYTES], file_b[FILE_BYTES];

static const char *path_of(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static size_t file_of(const char *path, uint8_t *ret)
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

static bool is_there(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0;
}

static void build_world(const char *more)
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

static struct tap_set *open_taps(const char *pcap, const char *log, uint32_t lanes)
{
	const struct tap_options options = {.pcap = pcap, .log = log, .program = "weft test"};
	struct refusal refusal = {0};
	struct tap_set *set = NULL;
	if (tap_open(&set, &world, &options, &codec, lanes, &refusal) != 0)
		fail_msg("%s: %s", refusal.file, refusal.text);
	return set;
}

static struct tap_counts close_taps(struct tap_set *set, ps_t now)
{
	struct tap_counts counts = {0};
	struct refusal refusal = {0};
	if (tap_close(set, now, &counts, &refusal) != 0)
		fail_msg("%s: %s", refusal.file, refusal.text);
	return counts;
}

static void random_write(struct rng *rng, struct packet *ret)
{
	static const uint8_t opcodes[] = {PACKET_WRITE_FIRST, PACKET_WRITE_MIDDLE,
					  PACKET_WRITE_LAST_IMM, PACKET_WRITE_ONLY_IMM};
	uint16_t payload = world.transport.payload_bytes;
	ret->opcode = opcodes[rng_next(rng) % 4];
	ret->klass = PACKET_CLASS_DATA;
	ret->flags = PACKET_ECT | PACKET_TRIMMABLE | (rng_next(rng) % 2 ? PACKET_CE : 0);
	ret->bth = (uint8_t)(rng_next(rng) % 2 ? PACKET_AR : PACKET_RTX);
	ret->payload_bytes = payload;
	ret->u.data = (struct packet_data){
		.va = rng_next(rng) >> 16,
		.rkey = (uint32_t)rng_next(rng),
		.message_bytes = 16u * payload,
		.imm = (uint32_t)rng_next(rng),
		.msn = (uint16_t)rng_next(rng),
		.rqmsn = (uint16_t)rng_next(rng),
	};
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

static struct packet random_packet(struct rng *rng)
{
	struct packet packet = {
		.source = (uint32_t)(rng_next(rng) % 4),
		.target = (uint32_t)(rng_next(rng) % 4),
		.ev = (uint32_t)rng_next(rng),
		.hop = (uint8_t)(rng_next(rng) % 4),
		.timestamp = (uint16_t)rng_next(rng),
		.qpn = (uint32_t)rng_next(rng) & 0xffffff,
		.psn = (uint32_t)rng_next(rng) & 0xffffff,
		.klass = PACKET_CLASS_CONTROL,
	};
	switch (rng_next(rng) % 4) {
	case 0:
		packet.opcode = PACKET_SACK;
		packet.u.sack = (struct packet_sack){
			.bitmap = rng_next(rng),
			.ev_echo = (uint32_t)rng_next(rng),
			.rcvd_256 = (uint32_t)rng_next(rng) & 0xffffff,
			.trigger_offset = -3,
			.offset = -64,
			.ooo_count = 7,
			.mark = 1,
			.penalty = 0x85,
		};
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
static ps_t take_random(struct tap_set *set, uint32_t lanes, bool has_frames, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_TEST, 0);
	static uint8_t frame[1 << 16];
	ps_t window = 0;
	for (uint32_t i = 0; i < PACKETS; i++) {
		struct packet packet = random_packet(&rng);
		uint32_t cable = (uint32_t)(rng_next(&rng) % NIC_CABLES);
		uint32_t bytes = has_frames ? codec_write(&codec, &packet, frame) : 0;
		ps_t at = window + (ps_t)(rng_next(&rng) % 50) * 100;
		if (tap_listens(set, cable, at))
			tap_take(set, cable % 2 == 0 ? 0 : lanes - 1, cable, at, &packet,
				 has_frames ? frame : NULL, bytes);
		if (i % 50 == 49) {
			tap_window_end(set);
			window += 5000;
		}
	}
	return window;
}

// ---------------------------------------------------------------- a reader of captures

struct seen {
	uint32_t interface, captured, original;
	uint64_t ns;
	const uint8_t *bytes;
};

struct reader {
	uint32_t interfaces, statistics, frames;
	uint64_t received, lost;
	char names[64][WORLD_CABLE_NAME_BYTES];
	struct seen seen[FRAMES_MAX];
};

static struct reader reader;

static uint32_t u32_at(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void read_block(const uint8_t *at)
{
	switch (u32_at(at)) {
	case 1: // the name is the first option
		assert_int_equal(at[16], 2);
		memcpy(reader.names[reader.interfaces++], at + 20, at[18]);
		break;
	case 5:
		assert_int_equal(u32_at(at + 8), reader.statistics);
		reader.statistics++;
		reader.received += u32_at(at + 24);
		reader.lost += u32_at(at + 36);
		break;
	case 6:
		assert_true(reader.frames < FRAMES_MAX);
		reader.seen[reader.frames++] = (struct seen){
			.interface = u32_at(at + 8),
			.ns = (uint64_t)u32_at(at + 12) << 32 | u32_at(at + 16),
			.captured = u32_at(at + 20),
			.original = u32_at(at + 24),
			.bytes = at + 28,
		};
		break;
	default:
		assert_int_equal(u32_at(at), 0x0a0d0d0a);
	}
}

// Reads the whole of `path` into `reader`; frames stay in file_a.
static void read_capture(const char *path)
{
	size_t bytes = file_of(path, file_a), at = 0;
	memset(&reader, 0, sizeof(reader));
	while (at < bytes) {
		uint32_t length = u32_at(file_a + at + 4);
		assert_true(length >= 12 && length <= bytes - at);
		read_block(file_a + at);
		at += length;
	}
	assert_int_equal(reader.statistics, reader.interfaces);
}

// ---------------------------------------------------------------- order

static void equal_keys_stay_in_their_order(void **state)
{
	static struct tap_key keys[1000], scratch[1000];
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (uint32_t count = 0; count <= 1000; count += count < 10 ? 1 : 90) {
		for (uint32_t i = 0; i < count; i++)
			keys[i] = (struct tap_key){(ps_t)(rng_next(&rng) % 20),
						   (uint32_t)(rng_next(&rng) % 3), i};
		const struct tap_key *sorted = tap_sort(keys, scratch, count);
		uint64_t places = 0;
		for (uint32_t i = 0; i < count; i++) {
			const struct tap_key *b = &sorted[i], *a = i > 0 ? b - 1 : b;
			places += b->place;
			if (i > 0 && a->at == b->at && a->cable == b->cable)
				assert_true(a->place < b->place);
			else
				assert_true(a->at < b->at || a->at == b->at);
			if (a->at == b->at)
				assert_true(a->cable <= b->cable);
		}
		assert_int_equal(places, (uint64_t)count * (count > 0 ? count - 1 : 0) / 2);
	}
}

static void files_are_in_order_of_time_and_cable(void **state)
{
	build_world("");
	struct tap_set *set = open_taps(path_of("a.pcapng"), path_of("a.csv"), 3);
	struct packet packet = {.opcode = PACKET_WRITE_ONLY, .payload_bytes = 100};
	static const struct {
		uint32_t lane, cable;
		ps_t at;
	} takes[] = {{2, 6, 5000}, {2, 1, 5000}, {2, 1, 7000}, {0, 4, 5000},
		     {0, 4, 5000}, {1, 2, 4000}, {1, 2, 5000}, {1, 0, 9000}};
	static const uint32_t order[] = {5, 1, 6, 3, 4, 0, 2, 7};
	for (uint32_t i = 0; i < 8; i++) {
		packet.psn = i;
		tap_take(set, takes[i].lane, takes[i].cable, takes[i].at, &packet, NULL, 0);
	}
	tap_window_end(set);
	packet.psn = 8;
	tap_take(set, 1, 0, 10000, &packet, NULL, 0); // this window never ends
	struct tap_counts counts = close_taps(set, 12345);
	assert_int_equal(counts.frames, 9);
	assert_int_equal(counts.lost, 0);
	read_capture(path_of("a.pcapng"));
	assert_int_equal(reader.frames, 9);
	assert_int_equal(reader.received, 9);
	for (uint32_t i = 0; i < 8; i++) {
		const struct seen *seen = &reader.seen[i];
		assert_int_equal(seen->interface, takes[order[i]].cable);
		assert_int_equal(seen->ns, TAP_BASE_NS + (uint64_t)takes[order[i]].at / 1000);
		assert_int_equal(seen->bytes[14 + 40 + 8 + 11], order[i]); // PSN
	}
	file_of(path_of("a.csv"), file_b);
	char *line = strchr((char *)file_b, '\n') + 1;
	for (uint32_t i = 0; i < 8; i++, line = strchr(line, '\n') + 1) {
		char start[128], name[WORLD_CABLE_NAME_BYTES];
		world_cable_name(&world, takes[order[i]].cable, name, sizeof(name));
		snprintf(start, sizeof(start), "%lld,%s,0,0,0,0,0xca,WRITE_ONLY,,,0,%u,",
			 (long long)takes[order[i]].at, name, order[i]);
		assert_memory_equal(line, start, strlen(start));
	}
}

static void lanes_do_not_change_the_files(void **state)
{
	build_world("");
	for (uint32_t lanes = 1; lanes <= 2; lanes++) {
		struct tap_set *set = open_taps(path_of(lanes == 1 ? "a" : "b"),
						path_of(lanes == 1 ? "a.csv" : "b.csv"), lanes);
		ps_t now = take_random(set, lanes, false, 5);
		struct tap_counts counts = close_taps(set, now);
		size_t bytes = file_of(path_of(lanes == 1 ? "a" : "b"), file_a);
		bytes += file_of(path_of(lanes == 1 ? "a.csv" : "b.csv"), file_a);
		assert_int_equal(counts.frames, PACKETS);
		assert_int_equal(counts.bytes, bytes);
	}
	size_t bytes = file_of(path_of("a"), file_a);
	assert_int_equal(file_of(path_of("b"), file_b), bytes);
	assert_memory_equal(file_a, file_b, bytes);
	bytes = file_of(path_of("a.csv"), file_a);
	assert_int_equal(file_of(path_of("b.csv"), file_b), bytes);
	assert_memory_equal(file_a, file_b, bytes);
}

// ---------------------------------------------------------------- frames

static void frames_given_and_built_make_the_same_file(void **state)
{
	static const char *const settings[] = {
		"",
		"capture: {snap: 90B}\n",
		"capture: {snap: 1000B}\n",
		"capture: {keep: headers}\n",
		"wire: {ip: 6, udp_checksum: true}\n",
		"wire: {ip: 6, udp_checksum: true}\ncapture: {keep: headers}\n",
		"wire: {ip: 6, udp_checksum: true, trim_lengths: kept}\ncapture: {snap: 100B}\n",
	};
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		build_world(settings[i]);
		struct tap_set *built = open_taps(path_of("a"), NULL, 1);
		ps_t now = take_random(built, 1, false, i);
		close_taps(built, now);
		struct tap_set *given = open_taps(path_of("b"), NULL, 1);
		assert_int_equal(take_random(given, 1, true, i), now);
		close_taps(given, now);
		size_t bytes = file_of(path_of("a"), file_a);
		assert_int_equal(file_of(path_of("b"), file_b), bytes);
		assert_memory_equal(file_a, file_b, bytes);
	}
}

static void whole_frames_are_what_the_codec_writes(void **state)
{
	static uint8_t frame[1 << 16];
	build_world("");
	struct rng rng = rng_of(3, RNG_TEST, 0);
	struct packet packets[64];
	struct tap_set *set = open_taps(path_of("a"), NULL, 1);
	for (uint32_t i = 0; i < 64; i++) {
		packets[i] = random_packet(&rng);
		tap_take(set, 0, 3, i * PS_PER_NS, &packets[i], NULL, 0);
	}
	close_taps(set, PS_PER_US);
	read_capture(path_of("a"));
	assert_int_equal(reader.frames, 64);
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t bytes = codec_write(&codec, &packets[i], frame);
		assert_int_equal(reader.seen[i].captured, bytes);
		assert_int_equal(reader.seen[i].original, bytes);
		assert_memory_equal(reader.seen[i].bytes, frame, bytes);
	}
}

static void headers_end_where_the_payload_begins(void **state)
{
	static uint8_t frame[1 << 16];
	for (uint32_t snap = 0; snap <= 90; snap += 90) {
		build_world(snap == 0 ? "capture: {keep: headers}\n"
				      : "capture: {keep: headers, snap: 90B}\n");
		struct rng rng = rng_of(4, RNG_TEST, 0);
		struct packet packets[64];
		struct tap_set *set = open_taps(path_of("a"), NULL, 1);
		for (uint32_t i = 0; i < 64; i++) {
			packets[i] = random_packet(&rng);
			tap_take(set, 0, 3, i * PS_PER_NS, &packets[i], NULL, 0);
		}
		close_taps(set, PS_PER_US);
		read_capture(path_of("a"));
		assert_int_equal(reader.frames, 64);
		for (uint32_t i = 0; i < 64; i++) {
			struct wire_view view;
			uint32_t bytes = codec_write(&codec, &packets[i], frame);
			codec_write_headers(&codec, &packets[i], frame, &view);
			uint32_t kept = snap > 0 && snap < view.payload_at ? snap : view.payload_at;
			assert_int_equal(reader.seen[i].captured, kept);
			assert_int_equal(reader.seen[i].original, bytes);
			assert_memory_equal(reader.seen[i].bytes, frame, kept);
		}
	}
}

// ---------------------------------------------------------------- places

static void without_taps_all_cables_of_nics_are_tapped(void **state)
{
	build_world("");
	struct tap_set *set = open_taps(path_of("a"), NULL, 1);
	for (uint32_t i = 0; i < world.cable_count; i++)
		assert_int_equal(tap_listens(set, i, 0), i < NIC_CABLES);
	close_taps(set, 0);
	read_capture(path_of("a"));
	assert_int_equal(reader.interfaces, NIC_CABLES);
	for (uint32_t i = 0; i < NIC_CABLES; i++) {
		char name[WORLD_CABLE_NAME_BYTES];
		world_cable_name(&world, i, name, sizeof(name));
		assert_string_equal(reader.names[i], name);
	}
}

static void a_tap_listens_on_its_cable_in_its_time(void **state)
{
	build_world("taps:\n"
		    "  - {at: {nic: 1, plane: 0}, direction: down, from: 10us, until: 20us}\n"
		    "  - {at: {t0: 0, up: 0, plane: 0}}\n");
	struct tap_set *set = open_taps(path_of("a"), NULL, 1);
	uint32_t points = 0;
	for (uint32_t i = 0; i < world.cable_count; i++) {
		bool is_timed = i == 3;
		points += tap_listens(set, i, 15 * PS_PER_US);
		assert_int_equal(tap_listens(set, i, 15 * PS_PER_US),
				 world_cable_has_tap(&world, i));
		assert_int_equal(tap_listens(set, i, 20 * PS_PER_US),
				 world_cable_has_tap(&world, i) && !is_timed);
	}
	assert_int_equal(points, 3);
	close_taps(set, 0);
	read_capture(path_of("a"));
	assert_int_equal(reader.interfaces, 3);
}

static void what_finds_no_room_is_counted(void **state)
{
	const uint32_t packets = 60000;
	build_world("taps:\n  - {at: {nic: 1, plane: 0}, direction: up}\n");
	struct tap_set *set = open_taps(path_of("a"), path_of("a.csv"), 1);
	struct packet packet = {.opcode = PACKET_WRITE_MIDDLE,
				.payload_bytes = world.transport.payload_bytes,
				.u.data.message_bytes = 1 << 20};
	for (uint32_t i = 0; i < packets; i++)
		tap_take(set, 0, 2, i, &packet, NULL, 0);
	tap_window_end(set);
	for (uint32_t i = 0; i < 3; i++) // there is room again
		tap_take(set, 0, 2, packets + i, &packet, NULL, 0);
	struct tap_counts counts = close_taps(set, PS_PER_US);
	assert_true(counts.frames > 3);
	assert_true(counts.lost > 0);
	assert_int_equal(counts.frames + counts.lost, packets + 3);
	read_capture(path_of("a"));
	assert_int_equal(reader.frames, counts.frames);
	assert_int_equal(reader.received, packets + 3);
	assert_int_equal(reader.lost, counts.lost);
	size_t bytes = file_of(path_of("a.csv"), file_b), lines = 0;
	for (size_t i = 0; i < bytes; i++)
		lines += file_b[i] == '\n';
	assert_int_equal(lines, 1 + counts.frames);
}

// ---------------------------------------------------------------- the log

static void a_line_has_the_fields_of_its_opcode(void **state)
{
	build_world("");
	struct tap_set *set = open_taps(NULL, path_of("a.csv"), 1);
	struct packet write = {
		.source = 1,
		.target = 2,
		.ev = 0xabcd0001,
		.wire_bytes = 1156,
		.payload_bytes = 1000,
		.flags = PACKET_ECT | PACKET_CE | PACKET_TRIMMABLE,
		.hop = 2,
		.opcode = PACKET_WRITE_LAST_IMM,
		.bth = PACKET_AR | PACKET_RTX,
		.timestamp = 65535,
		.qpn = 17,
		.psn = 0x123456,
		.u.data = {UINT64_MAX, 7, 4096, 0xdeadbeef, 3, 65535},
	};
	struct packet sack = {.opcode = PACKET_SACK,
			      .klass = PACKET_CLASS_CONTROL,
			      .u.sack = {0x8000000000000001, 5, 9, -32768, 32767, 6, 1, 0x85}};
	struct packet nack = {.opcode = PACKET_NACK,
			      .klass = PACKET_CLASS_CONTROL,
			      .u.nack = {5, 77, PACKET_NACK_TRIMMED, {0}}};
	struct packet trimmed = write;
	trimmed.opcode = PACKET_WRITE_MIDDLE;
	trimmed.payload_bytes = 0;
	trimmed.flags = PACKET_TRIMMED | PACKET_TRIMMED_LAST | PACKET_TRIMMABLE;
	tap_take(set, 0, 2, 0, &write, NULL, 0);
	tap_take(set, 0, 2, 1, &sack, NULL, 0);
	tap_take(set, 0, 2, 2, &nack, NULL, 0);
	tap_take(set, 0, 2, PS_PER_S, &trimmed, NULL, 0);
	close_taps(set, PS_PER_S);
	file_of(path_of("a.csv"), file_a);
	const char *lines = strchr((char *)file_a, '\n') + 1;
	assert_string_equal(
		lines,
		"0,nic 1 plane 0 > t0 0,1,2,0,2,0xc9,WRITE_LAST_IMM,ect ce trimmable,ar "
		"rtx,17,1193046,0xabcd0001,65535,1156,1000,0xffffffffffffffff,0x00000007,4096,"
		"0xdeadbeef,3,65535,,,,,,,,,,\n"
		"1,nic 1 plane 0 > t0 0,0,0,0,0,0xdc,SACK,,,0,0,0x00000000,0,0,0,,,,,,,-32768,"
		"32767,0x8000000000000001,0x00000005,6,1,0x85,9,,\n"
		"2,nic 1 plane 0 > t0 0,0,0,0,0,0xdd,NACK,,,0,0,0x00000000,0,0,0,,,,,,,,,,"
		"0x00000005,,,,,77,0x01\n"
		"1000000000000,nic 1 plane 0 > t0 0,1,2,0,2,0xc7,WRITE_MIDDLE,trimmed last "
		"trimmable,ar rtx,17,1193046,0xabcd0001,65535,1156,0,0xffffffffffffffff,0x00000007,"
		"4096,,3,65535,,,,,,,,,,\n");
	size_t commas = 0;
	for (const uint8_t *at = file_a; *at != '\0'; at++)
		commas += *at == ',';
	assert_int_equal(commas, 5 * 31);
}

// ---------------------------------------------------------------- refusals

static void refused(const char *pcap, const char *log, int code, const char *file)
{
	const struct tap_options options = {.pcap = pcap, .log = log};
	struct refusal refusal = {0};
	struct tap_set *set = NULL;
	assert_int_equal(tap_open(&set, &world, &options, &codec, 1, &refusal), code);
	assert_null(set);
	assert_string_equal(refusal.file, file);
	assert_true(strlen(refusal.text) > 10);
}

static void files_that_cannot_be_written_are_refused(void **state)
{
	build_world("");
	unlink(path_of("a"));
	refused(folder, NULL, -EISDIR, folder);
	refused(path_of("none/a"), NULL, -ENOENT, path_of("none/a"));
	refused(NULL, NULL, -EINVAL, "");
	refused(path_of("a"), path_of("none/a"), -ENOENT, path_of("none/a"));
	assert_false(is_there(path_of("a")));
	refused(path_of("a"), path_of("a"), -EINVAL, "");
	assert_false(is_there(path_of("a")));
	FILE *file = fopen(path_of("a"), "w");
	fputs("of an earlier run", file);
	fclose(file);
	refused(path_of("a"), folder, -EISDIR, folder);
	assert_int_equal(file_of(path_of("a"), file_a), 17); // it was not touched
	struct tap_set *set = open_taps(path_of("a"), NULL, 1);
	close_taps(set, 0);
	read_capture(path_of("a")); // and now nothing else is in it
}

static void taps_beyond_the_memory_leave_no_file(void **state)
{
	build_world("");
	unlink(path_of("a"));
	arena.size = arena.used + 4096;
	refused(path_of("a"), NULL, -ENOMEM, "");
	assert_false(is_there(path_of("a")));
}

static void a_full_disk_is_told_at_the_end(void **state)
{
	for (int i = 0; i < 2; i++) {
		build_world("");
		struct tap_set *set = open_taps(i == 0 ? "/dev/full" : path_of("a"),
						i == 0 ? path_of("a") : "/dev/full", 1);
		ps_t now = take_random(set, 1, false, 9);
		struct refusal refusal = {0};
		struct tap_counts counts = {0};
		assert_int_equal(tap_close(set, now, &counts, &refusal), -EIO);
		assert_string_equal(refusal.file, "/dev/full");
		assert_non_null(strstr(refusal.text, strerror(ENOSPC)));
		assert_int_equal(counts.bytes, file_of(path_of("a"), file_a)); // the other is whole
		assert_true(counts.bytes > 10000);
	}
}

// ---------------------------------------------------------------- others' reading

// Frames of the capture that tshark finds something to say about: an expert's note, a wrong
// checksum, a dissector that gave up. Its dissectors are those that are on by default. A UDP
// checksum of 0 is what RoCEv2 has and what a trim leaves, but over IPv6 it must be told to take
// it.
static uint32_t complaints(void)
{
	char command[512], line[512];
	uint32_t frames = 0, lines = 0;
	snprintf(command, sizeof(command),
		 "tshark -n -r %s -o udp.ignore_ipv6_zero_checksum:TRUE -o "
		 "udp.check_checksum:TRUE -T fields -e udp.dstport -e _ws.malformed -e "
		 "_ws.expert.message 2>/dev/null",
		 path_of("a"));
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe) != NULL) {
		frames += strncmp(line, "4791\t", 5) == 0;
		lines += strcmp(line, "4791\t\t\n") != 0;
	}
	assert_int_equal(pclose(pipe), 0);
	assert_int_equal(frames, PACKETS);
	return lines;
}

static void tshark_reads_a_capture_without_complaint(void **state)
{
	static const char *const settings[] = {
		"",
		"capture: {keep: headers}\n",
		"capture: {snap: 100B}\n",
		"wire: {udp_checksum: true}\n",
		"wire: {udp_checksum: true}\ncapture: {keep: headers}\n",
	};
	if (system("command -v tshark >/dev/null 2>&1") != 0)
		skip();
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		build_world(settings[i]);
		struct tap_set *set = open_taps(path_of("a"), NULL, 2);
		ps_t now = take_random(set, 2, false, 11);
		close_taps(set, now);
		assert_int_equal(complaints(), 0);
	}
}

static int make_folder(void **state)
{
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"a", "b", "a.csv", "b.csv", "a.pcapng"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_stay_in_their_order),
		cmocka_unit_test(files_are_in_order_of_time_and_cable),
		cmocka_unit_test(lanes_do_not_change_the_files),
		cmocka_unit_test(frames_given_and_built_make_the_same_file),
		cmocka_unit_test(whole_frames_are_what_the_codec_writes),
		cmocka_unit_test(headers_end_where_the_payload_begins),
		cmocka_unit_test(without_taps_all_cables_of_nics_are_tapped),
		cmocka_unit_test(a_tap_listens_on_its_cable_in_its_time),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(a_line_has_the_fields_of_its_opcode),
		cmocka_unit_test(files_that_cannot_be_written_are_refused),
		cmocka_unit_test(taps_beyond_the_memory_leave_no_file),
		cmocka_unit_test(a_full_disk_is_told_at_the_end),
		cmocka_unit_test(tshark_reads_a_capture_without_complaint),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
