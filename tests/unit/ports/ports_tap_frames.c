// SPDX-License-Identifier: Apache-2.0
// What a capture keeps of frames, whether they are given or built; and what tshark says to it,
// where it is there.

#include "ports_tap_reader.h"

static uint8_t file_b[FILE_BYTES];

// ---------------------------------------------------------------- what is kept

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
		tap_take(set, 0, TAP_LOCATION(3, false), i * PS_PER_NS, &packets[i], NULL, 0);
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
			tap_take(set, 0, TAP_LOCATION(3, false), i * PS_PER_NS, &packets[i], NULL,
				 0);
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
	if (system("command -v tshark >/dev/null 2>&1") != 0) {
		print_message("skipped: tshark is not here\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		build_world(settings[i]);
		struct tap_set *set = open_taps(path_of("a"), NULL, 2);
		ps_t now = take_random(set, 2, false, 11);
		close_taps(set, now);
		assert_int_equal(complaints(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_given_and_built_make_the_same_file),
		cmocka_unit_test(whole_frames_are_what_the_codec_writes),
		cmocka_unit_test(headers_end_where_the_payload_begins),
		cmocka_unit_test(tshark_reads_a_capture_without_complaint),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
