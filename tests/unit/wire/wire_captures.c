// SPDX-License-Identifier: Apache-2.0
// Frames that others made. The ICRC of every whole RoCEv2 frame in the captures of NICs, of Linux
// and of an encoder is computed and must be the one it carries, and as many must be good as the
// table beside the captures says. MRC frames of an independent encoder must mean what it put in.
// Skipped where the captures are not there.

#include "wire_rig.h"

#include <dirent.h>

#include <weft/wire/wire_dissect.h>

#include "wire_captures.h"

#define SKIPPED 77

static const char *folder; // with REFERENCE.md and captures/

// The path of a file below the folder, in memory that the next call uses again.
static const char *path_of(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

// main() has found the folder: a capture that is not in it has another name, and would be skipped
// for ever.
static void open_given(struct capture *capture, const char *name)
{
	if (!capture_open(capture, path_of(name)))
		fail_msg("%s is not there", name);
}

// "ICRC over complete UDP/4791 frames: good N, bad M" in the table's section on `name`; false when
// it has no such line.
static bool reference_icrc(const char *name, uint32_t *ret_good, uint32_t *ret_bad)
{
	char line[4096], title[512];
	bool is_section = false, is_found = false;
	FILE *file = fopen(path_of("REFERENCE.md"), "r");
	assert_non_null(file);
	snprintf(title, sizeof(title), "### captures/given/roce/%s\n", name);
	while (!is_found && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "###", 3) == 0)
			is_section = strcmp(line, title) == 0;
		is_found = is_section &&
			sscanf(line, "- ICRC over complete UDP/4791 frames: good %u, bad %u",
			       ret_good, ret_bad) == 2;
	}
	fclose(file);
	return is_found;
}

struct tally {
	uint32_t good, bad;
	uint32_t v4, v6;
};

// Counts the frame if it is whole RoCEv2.
static void count_frame(const struct captured *captured, struct tally *tally)
{
	struct wire_config config;
	struct wire_record record;
	if (captured->link != LINK_ETHERNET || captured->bytes < captured->line_bytes)
		return;
	uint8_t *exact = malloc(captured->bytes);
	memcpy(exact, captured->frame, captured->bytes);
	wire_config_default(6, &config);
	wire_dissect(&config, captured->link, exact, captured->bytes, captured->line_bytes,
		     &record);
	if (record.icrc == WIRE_ICRC_GOOD || record.icrc == WIRE_ICRC_BAD) {
		*(record.icrc == WIRE_ICRC_GOOD ? &tally->good : &tally->bad) += 1;
		*(record.layers & WIRE_LAYER_IPV4 ? &tally->v4 : &tally->v6) += 1;
	}
	free(exact);
}

static void every_whole_rocev2_frame_has_the_icrc_we_compute(void **)
{
	struct tally all = {0};
	uint32_t files = 0;
	struct dirent *entry;
	DIR *listing = opendir(path_of("captures/given/roce"));
	assert_non_null(listing);
	while ((entry = readdir(listing)) != NULL) {
		char name[512];
		struct tally tally = {0};
		struct capture capture;
		struct captured captured;
		uint32_t good = 0, bad = 0;
		snprintf(name, sizeof(name), "captures/given/roce/%s", entry->d_name);
		if (entry->d_name[0] == '.' || !capture_open(&capture, path_of(name)))
			continue;
		while (capture_next(&capture, &captured))
			count_frame(&captured, &tally);
		capture_close(&capture);
		reference_icrc(entry->d_name, &good, &bad); // no line: none is RoCEv2
		print_message("%s: good %u, bad %u\n", entry->d_name, tally.good, tally.bad);
		assert_int_equal(tally.good, good);
		assert_int_equal(tally.bad, bad);
		all.good += tally.good;
		all.v4 += tally.v4;
		all.v6 += tally.v6;
		files++;
	}
	closedir(listing);
	print_message("%u files: good %u; IPv4 %u, IPv6 %u\n", files, all.good, all.v4, all.v6);
	assert_true(files > 0 && all.v4 > 0 && all.v6 > 0);
}

// What the encoder put into a frame of the mixed capture, as far as it is asked.
struct expected {
	uint32_t frame;
	uint8_t opcode, bth, flags;
	uint32_t psn, ev, payload_bytes;
};
static const struct expected mixed[] = {
	{0, 0xc6, 0, PACKET_TRIMMABLE, 0x64, 0x11111111, 1024},
	{4, 0xc7, 0, PACKET_TRIMMABLE, 0x68, 0x55555555, 1024},
	{14, 0xc8, 0, PACKET_TRIMMABLE, 0x73, 0x88888888, 1024},
	{15, 0xdc, 0, 0, 0x68, 0x44444444, 0},
	{16, 0xdd, 0, 0, 0x69, 0x66666666, 0},
	{17, 0xc7, PACKET_RTX, PACKET_TRIMMABLE, 0x69, 0x77777777, 1024},
	{19, 0xca, 0, PACKET_TRIMMABLE, 0x74, 0xaaaa5555, 256},
	{20, 0xcb, 0, PACKET_TRIMMABLE, 0x75, 0x11111111, 64},
	{24, 0xc9, 0, PACKET_TRIMMABLE, 0x79, 0x44444444, 1024},
	{25, 0xdc, 0, 0, 0x79, 0x11111111, 0},
	{26, 0xde, 0, PACKET_TRIMMABLE, 0, 0x33333333, 0},
	{27, 0xd8, 0, 0, 9, 0x55555555, 0},
	{28, 0xd9, 0, 0, 9, 0x55555555, 0},
	{29, 0xd8, 0, 0, 10, 0, 0},
};

// A probe, an endpoint request that probes an EV, its response, and one that tells ports.
static void check_mixed_requests(uint32_t frame, const struct packet *packet)
{
	const struct packet_request *request = &packet->u.request;
	if (frame == 26) {
		assert_true(packet->qpn == 0x202 && packet->timestamp == 0x1092);
		assert_true(packet->klass == PACKET_CLASS_DATA && packet->u.probe.probe_id == 0x4d);
		return;
	}
	if (frame < 27)
		return;
	assert_int_equal(packet->qpn, PACKET_ENDPOINT_QPN);
	assert_int_equal(packet->timestamp, 0x22b + frame - 27);
	assert_int_equal(packet->klass, frame == 27 ? PACKET_CLASS_DATA : PACKET_CLASS_CONTROL);
	if (frame == 28) {
		assert_int_equal(packet->u.response.op, PACKET_REQUEST_EV_PROBE);
		return;
	}
	assert_int_equal(request->op,
			 frame == 27 ? PACKET_REQUEST_EV_PROBE : PACKET_REQUEST_PORT_STATUS);
	assert_int_equal(request->port_status_mask, frame == 27 ? 0 : 15);
}

static void check_mixed_details(uint32_t frame, const struct packet *packet)
{
	const struct packet_data *data = &packet->u.data;
	const struct packet_sack *sack = &packet->u.sack;
	if (frame == 0) {
		assert_int_equal(packet->qpn, 0x202);
		assert_true(data->va == 0x7f0000000000 && data->rkey == 0x1234abcd);
		assert_int_equal(data->message_bytes, 0x4000);
		assert_true(data->msn == 1 && data->rqmsn == 1);
	} else if (frame == 15) {
		assert_int_equal(packet->qpn, 0x101);
		assert_true(sack->trigger_offset == 11 && sack->ev_echo == 0x4444);
		assert_true(sack->bitmap == 0x3fe && sack->offset == 0 && sack->mark == 0);
	} else if (frame == 16) {
		assert_true(packet->u.nack.psn == 0x69 && packet->u.nack.ev_echo == 0x6666);
		assert_int_equal(packet->u.nack.reason, PACKET_NACK_TRIMMED);
	} else if (frame == 19) {
		assert_int_equal(packet->timestamp, 0x3e8);
		assert_true(data->msn == 2 && data->rqmsn == 2 && data->va == 0x7f0000010000);
	} else if (frame == 20) {
		assert_int_equal(data->imm, 0xfeed0003);
	} else if (frame == 24) {
		assert_true(data->imm == 0xfeed0004 && data->message_bytes == 0x1000);
	} else if (frame == 25) {
		assert_int_equal(sack->mark, PACKET_MARK_SKIP_ONCE);
	}
	check_mixed_requests(frame, packet);
}

static void mrc_frames_of_an_independent_encoder_mean_the_same(void **)
{
	struct capture capture;
	struct captured captured;
	struct wire_config config;
	uint32_t taken = 0, number = 0;
	size_t next = 0;
	wire_config_default(6, &config);
	config.addresses = WIRE_ADDRESSES_ANY;
	config.icrc_ignored = true; // its ICRC is not that of RoCEv2
	open_given(&capture, "captures/given/other/mrc_thirdparty_mixed.pcap");
	for (; capture_next(&capture, &captured); number++) {
		struct packet packet;
		struct wire_view view;
		enum wire_reason reason = parse_exact(&config, captured.frame, captured.bytes,
						      &packet, &view);
		assert_string_equal(wire_reason_name(reason), "fine");
		taken++;
		assert_int_equal(packet.hop, 0);
		assert_int_equal(view.target_port, WIRE_PORT_OTHER);
		assert_int_equal(view.icrc, WIRE_ICRC_BAD); // told, not hidden
		if (next == sizeof(mixed) / sizeof(mixed[0]) || mixed[next].frame != number)
			continue;
		const struct expected *expected = &mixed[next++];
		assert_int_equal(packet.opcode, expected->opcode);
		assert_int_equal(packet.bth, expected->bth);
		assert_int_equal(packet.flags, expected->flags);
		assert_int_equal(packet.psn, expected->psn);
		assert_int_equal(packet.ev, expected->ev);
		assert_int_equal(packet.payload_bytes, expected->payload_bytes);
		check_mixed_details(number, &packet);
	}
	capture_close(&capture);
	assert_int_equal(next, sizeof(mixed) / sizeof(mixed[0]));
	assert_int_equal(taken, 30);
}

// Writes behind SRv6: three uSIDs in the outer destination, every third with an SRH of two
// segments, PSNs that wrap.
static void check_usid_frame(uint32_t number, const struct captured *captured,
			     const struct packet *packet, const struct wire_view *view)
{
	const uint8_t *target = captured->frame + view->outer_at + 24;
	bool has_srh = captured->bytes == 1202;
	assert_true(view->has_srv6 && view->has_srh == has_srh && view->outer_at == 14);
	assert_int_equal(view->ip_at, has_srh ? 54 + 40 : 54);
	assert_int_equal(view->ip_version, 6);
	assert_true(view->dscp == 0 && view->inner_dscp == 4 && view->hop_limit == 64);
	assert_int_equal(view->icrc, WIRE_ICRC_BAD); // told, not hidden
	assert_int_equal(view->target_port, WIRE_PORT_OTHER);
	assert_int_equal(target[0] << 8 | target[1], 0x5f00);
	assert_int_equal(target[5], 1 + number % 4);
	assert_int_equal(target[7], 0x11 + number % 16 / 4);
	assert_int_equal(target[8] << 8 | target[9], 0xe000 + number % 8);
	assert_int_equal(packet->opcode, PACKET_WRITE_ONLY);
	assert_int_equal(packet->psn, (0xfffff0 + number) & PSN_MASK);
	assert_true(packet->qpn == 0x222 && packet->payload_bytes == 1024);
	assert_true(packet->u.data.va == 0x7e0000000000 + 1024 * (uint64_t)number);
	assert_true(packet->u.data.rkey == 0x77 && packet->u.data.message_bytes == 1024);
	assert_true(packet->u.data.msn == number && packet->u.data.rqmsn == number);
}

static void frames_behind_srv6_of_an_independent_encoder_mean_the_same(void **)
{
	struct capture capture;
	struct captured captured;
	struct wire_config config;
	uint32_t number = 0, with_srh = 0;
	wire_config_default(6, &config);
	config.addresses = WIRE_ADDRESSES_ANY;
	config.icrc_ignored = true;
	open_given(&capture, "captures/given/other/mrc_thirdparty_srv6_usid.pcap");
	for (; capture_next(&capture, &captured); number++) {
		struct packet packet;
		struct wire_view view;
		enum wire_reason reason = parse_exact(&config, captured.frame, captured.bytes,
						      &packet, &view);
		assert_string_equal(wire_reason_name(reason), "fine");
		check_usid_frame(number, &captured, &packet, &view);
		with_srh += view.has_srh;
	}
	capture_close(&capture);
	assert_true(number == 24 && with_srh == 8);
}

// Nothing in any capture, well made or not, may be read past its end.
static void no_capture_of_others_is_read_past_a_frames_end(void **)
{
	static const char *const names[] = {
		"captures/given/other/mrc_thirdparty_srv6_usid.pcap",
		"captures/given/other/uet_pds_xdp2.pcap",
		"captures/given/other/pktgen_0001_flow_udp_over_srv6.pcap",
		"captures/given/other/tcpdump_ipv6-srh-ext-header.pcap",
		"captures/given/other/tcpdump_ipv6-srh-insert-cksum.pcap",
		"captures/given/other/tcpdump_ipv6-srh-tlv-hmac.pcap",
		"captures/given/other/xdp2_srv6-end-64.pcap",
		"captures/given/other/xdp2_srv6-end_dt6-64.pcap",
		"captures/given/other/xdp2_srv6-end_dx2-64.pcap",
		"captures/given/other/xdp2_srv6-t_encaps_l2-64.pcap",
		"captures/given/robust/tcpdump_bigtcp-ipv4.pcap",
		"captures/given/robust/tcpdump_bigtcp-ipv6-hbh.pcap",
		"captures/given/robust/pcpp_ip4_bad_fragment.pcap",
		"captures/given/malformed/ipv4_invalid_length.pcap",
		"captures/given/malformed/ipv4_invalid_hdr_length.pcap",
		"captures/given/malformed/ipv6_jumbogram_invalid_length.pcap",
		"captures/given/malformed/ipv6-bad-version.pcap",
	};
	struct wire_config config;
	uint32_t frames = 0;
	wire_config_default(6, &config);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct capture capture;
		struct captured captured;
		open_given(&capture, names[i]);
		for (; capture_next(&capture, &captured); frames++) {
			struct packet packet;
			struct wire_view view;
			assert_int_not_equal(parse_exact(&config, captured.frame, captured.bytes,
							 &packet, &view),
					     WIRE_FINE);
		}
		capture_close(&capture);
	}
	assert_true(frames > sizeof(names) / sizeof(names[0]));
}

int main(void)
{
	static char data[4000];
	const char *shared = getenv("WEFT_SHARED");
	snprintf(data, sizeof(data), "%s/data", shared != NULL ? shared : ".");
	folder = data;
	DIR *listing = opendir(path_of("captures/given/roce"));
	if (listing == NULL) {
		printf("%s/captures/given/roce is not there: skipped\n", folder);
		return SKIPPED;
	}
	closedir(listing);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_whole_rocev2_frame_has_the_icrc_we_compute),
		cmocka_unit_test(mrc_frames_of_an_independent_encoder_mean_the_same),
		cmocka_unit_test(frames_behind_srv6_of_an_independent_encoder_mean_the_same),
		cmocka_unit_test(no_capture_of_others_is_read_past_a_frames_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
