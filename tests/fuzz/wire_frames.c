// SPDX-License-Identifier: Apache-2.0
// Any bytes as a frame: it is refused and nothing is written, or what was read of it holds
// together; what a switch then changes is read back, and so is a frame built from the packet. The
// first bytes of an input choose the configuration and the changes, the rest is the frame, in
// memory of exactly its size. First inputs: frames of every kind, and frames of captures where they
// are.

#include "target.h"

#include <weft/wire/wire.h>

#include "../unit/wire/wire_captures.h"

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {NULL};
#endif

#define CHOICE_BYTES 4 // configuration, more of it, changes, hops
enum {		       // of the first
	IS_V4 = 1 << 0,
	IS_ANY_ADDRESS = 1 << 1,
	IS_UNCHECKED = 1 << 2,
	IS_ICRC_IGNORED = 1 << 3,
	IS_MENDED = 1 << 4, // checksums and ICRC are made good before it is read
	IS_CHARGED = 1 << 5,
	LEAVES_LENGTHS = 1 << 6,
	KEEPS_MORE = 1 << 7, // a trim keeps some of the payload, or cuts the headers
};
enum { // of the second
	ENTROPY = 3,
	KNOWS_FULL = 1 << 2,
	HAS_CHECKSUM = 1 << 3,
	IS_OTHER_PORT = 1 << 4,
	HAS_LOW_OP = 1 << 5,  // of the EETH
	IS_LOW_HALF = 1 << 6, // of the EV in the source port
	HAS_SRH = 1 << 7,     // as the list is long; IS_SRH: as it is asked for
};
enum {
	IS_MARKED = 1 << 0,
	IS_CUT = 1 << 1,
	IS_LAST_HOP = 1 << 2,
	IS_SRH = 1 << 3,
	IS_SOLICITED = 1 << 4
}; // of the third

static uint32_t least_kept(const struct wire_config *config)
{
	return config->entropy == WIRE_ENTROPY_SRV6 ? 82 + WIRE_SRV6_BYTES_MAX : 82;
}

static struct wire_config config_of(const uint8_t *choice)
{
	struct wire_config config;
	struct refusal refusal;
	uint8_t first = choice[0], second = choice[1];
	wire_config_default(first & IS_V4 ? 4 : 6, &config);
	config.addresses = first & IS_ANY_ADDRESS ? WIRE_ADDRESSES_ANY : WIRE_ADDRESSES_BY_RULE;
	config.icrc_unchecked = first & IS_UNCHECKED;
	config.icrc_ignored = first & IS_ICRC_IGNORED;
	config.trim_rewrites_lengths = !(first & LEAVES_LENGTHS);
	config.entropy = (second & ENTROPY) % 3;
	config.ev_place = second & IS_LOW_HALF ? WIRE_EV_PORT_LOW : WIRE_EV_PORT_HIGH;
	if (first & KEEPS_MORE)
		config.trim_frame_bytes = (uint16_t)(second + least_kept(&config));
	for (; second & HAS_SRH && config.srv6.usid_count < 9; config.srv6.usid_count++)
		config.srv6.usids[config.srv6.usid_count] = (struct wire_usid){.init = 7};
	config.srv6.has_srh = choice[2] & IS_SRH;
	config.has_solicited = config.se_low = choice[2] & IS_SOLICITED;
	config.full_payload_bytes = second & KNOWS_FULL ? 1000 : 0;
	config.has_udp_checksum = second & HAS_CHECKSUM;
	config.eeth_op_low = second & HAS_LOW_OP;
	config.port = second & IS_OTHER_PORT ? WIRE_PORT_OTHER : WIRE_PORT;
	if (first & IS_CHARGED) {
		config.charged_header_bytes = 162;
		config.charged_control_bytes = 178;
		config.charged_trimmed_bytes = 142;
	}
	check(wire_config_check(&config, &refusal) == 0);
	return config;
}

static void mend_v4(uint8_t *ip, size_t bytes)
{
	size_t header = (ip[0] & 15u) * 4;
	uint32_t sum = 0;
	if (bytes < 20 || bytes < header || header < 20)
		return;
	ip[10] = ip[11] = 0;
	for (size_t i = 0; i < header; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

// So that damage gets past the checks that would find nearly all of it.
static void mend(const struct wire_config *config, uint8_t *frame, size_t bytes)
{
	struct wire_config lenient = *config;
	struct packet packet;
	struct wire_view view;
	if (bytes > 34 && frame[12] == 0x08 && frame[13] == 0)
		mend_v4(frame + 14, bytes - 14);
	if (bytes > 54 && frame[12] == 0x86 && frame[20] == 4) // IPv4 in SRv6
		mend_v4(frame + 54, bytes - 54);
	lenient.icrc_unchecked = true;
	if (wire_parse(&lenient, frame, bytes, &packet, &view) != WIRE_FINE || view.icrc_at == 0)
		return;
	uint32_t crc = wire_icrc(frame, &view);
	for (int i = 0; i < 4; i++)
		frame[view.icrc_at + i] = (uint8_t)(crc >> 8 * i);
}

static void check_view(const struct wire_view *view, size_t bytes)
{
	check(view->has_srv6 == (view->outer_at != 0) && view->has_srh == (view->srh_at != 0));
	check(view->ip_at >= (view->has_srh ? 54u + 24 : view->has_srv6 ? 54u : 14u));
	check(view->ip_at < view->udp_at && view->udp_at + 8 == view->bth_at);
	check(view->bth_at + 12 <= view->payload_at && view->payload_at <= view->frame_bytes);
	check(view->frame_bytes <= bytes);
	check(view->payload_at + view->payload_bytes <= view->frame_bytes);
	if (view->icrc == WIRE_ICRC_ABSENT)
		return;
	check(view->icrc_at + WIRE_ICRC_BYTES == view->frame_bytes);
	check(view->payload_at + view->payload_bytes + view->pad_bytes == view->icrc_at);
}

static bool is_mrc_write(const struct packet *packet)
{
	return packet->opcode >= PACKET_WRITE_FIRST && packet->opcode <= PACKET_WRITE_ONLY_IMM;
}

static bool is_rc_write(const struct packet *packet)
{
	return packet->opcode >= RC_WRITE_FIRST && packet->opcode <= RC_WRITE_ONLY_IMM;
}

static bool is_trimmable(const struct packet *packet)
{
	return is_mrc_write(packet) || packet->opcode == PACKET_PROBE;
}

// What a trim leaves of the descriptor, when `cut` was read behind it.
static void expect_cut(const struct wire_config *config, const struct wire_view *cut,
		       struct packet *packet)
{
	packet->payload_bytes = 0;
	packet->wire_bytes = config->charged_trimmed_bytes != 0
		? config->charged_trimmed_bytes
		: (uint16_t)(cut->frame_bytes + WIRE_LINE_BYTES);
	if (packet->opcode == PACKET_PROBE) {
		if (!(cut->headers & WIRE_HAS_PETH))
			packet->timestamp = packet->u.probe.probe_id = 0;
		return;
	}
	if (!(cut->headers & WIRE_HAS_METH))
		packet->u.data.msn = packet->u.data.rqmsn = 0;
	if (!(cut->headers & WIRE_HAS_TSETH))
		packet->timestamp = 0;
	if (!(cut->headers & WIRE_HAS_RETH)) {
		packet->u.data.va = 0;
		packet->u.data.rkey = packet->u.data.message_bytes = 0;
	}
	if (!(cut->headers & WIRE_HAS_IMM))
		packet->u.data.imm = 0;
}

// A switch changes the frame, another one reads it.
static void patch_one(const struct wire_config *config, const uint8_t *choice, uint8_t *frame,
		      const struct packet *packet, const struct wire_view *view)
{
	struct packet changed = *packet, back;
	struct wire_view again;
	bool is_cut = (choice[2] & IS_CUT) && is_trimmable(packet) &&
		(packet->flags & PACKET_TRIMMABLE) && !(packet->flags & PACKET_TRIMMED);
	changed.hop = choice[3] % (config->hop_limit + 1);
	changed.flags |= choice[2] & IS_MARKED ? PACKET_ECT | PACKET_CE : 0;
	if (is_cut) {
		changed.flags |= PACKET_TRIMMED;
		changed.flags |= choice[2] & IS_LAST_HOP ? PACKET_TRIMMED_LAST : 0;
		changed.klass = PACKET_CLASS_CONTROL;
	}
	size_t bytes = wire_patch(config, &changed, frame, view);
	check(bytes <= view->frame_bytes && (is_cut || bytes == view->frame_bytes));
	if (bytes < view->bth_at + 12)
		return; // long IPv4 options, and a trim that keeps little: not even a BTH is left
	uint8_t *exact = malloc(bytes);
	check(exact != NULL);
	memcpy(exact, frame, bytes);
	enum wire_reason reason = wire_parse(config, exact, bytes, &back, &again);
	free(exact);
	if (reason == WIRE_FOREIGN_ADDRESS && view->has_srh)
		return; // the next segment leads somewhere else
	check(reason == WIRE_FINE);
	check_view(&again, bytes);
	check(!is_cut || (again.icrc == WIRE_ICRC_ABSENT && !again.has_udp_checksum));
	check(is_cut || again.icrc == view->icrc);
	if (is_cut)
		expect_cut(config, &again, &changed);
	check(memcmp(&back, &changed, sizeof(back)) == 0);
}

// A NIC builds a frame of the packet, as it would have sent it.
static void build_one(const struct wire_config *config, const struct packet *packet,
		      const struct wire_view *view)
{
	struct wire_config own = *config;
	struct packet expected = *packet, back;
	struct wire_view built, again;
	own.ip_version = view->ip_version;
	if (view->has_srv6 || config->entropy == WIRE_ENTROPY_SRV6)
		own.entropy = view->has_srv6 ? WIRE_ENTROPY_SRV6 : WIRE_ENTROPY_STEV;
	if (packet->source >= wire_nics_max(&own) || packet->target >= wire_nics_max(&own) ||
	    packet->plane >= wire_planes_max(&own))
		return;					// no uSIDs for it
	own.has_tseth = view->headers & WIRE_HAS_TSETH; // only writes ask
	size_t bytes = wire_frame_bytes(&own, packet);
	if (bytes + WIRE_LINE_BYTES > UINT16_MAX)
		return; // it had no padding, and has
	uint8_t *frame = malloc(bytes);
	check(frame != NULL);
	check(wire_build(&own, packet, frame, bytes, &built) == bytes);
	memset(frame + built.payload_at, 0x5a, built.payload_bytes);
	wire_seal(frame, &built);
	own.icrc_unchecked = own.icrc_ignored = false;
	check(wire_parse(&own, frame, bytes, &back, &again) == WIRE_FINE);
	free(frame);
	check_view(&again, bytes);
	check(again.has_udp_checksum == built.has_udp_checksum);
	check(again.pad_bytes == built.pad_bytes && again.payload_at == built.payload_at);
	expected.wire_bytes = (uint16_t)wire_line_bytes(&own, packet);
	check(memcmp(&back, &expected, sizeof(back)) == 0);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct packet packet, untouched;
	struct wire_view view;
	if (bytes < CHOICE_BYTES)
		return;
	struct wire_config config = config_of(data), lenient = config;
	size_t size = bytes - CHOICE_BYTES;
	uint8_t *frame = malloc(size > 0 ? size : 1); // of this size: a reader beyond it is seen
	check(frame != NULL);
	memcpy(frame, data + CHOICE_BYTES, size);
	if (data[0] & IS_MENDED)
		mend(&config, frame, size);
	memset(&packet, 0xcc, sizeof(packet));
	untouched = packet;
	enum wire_reason reason = wire_parse(&config, frame, size, &packet, &view);
	check(reason < WIRE_REASON_COUNT);
	check(reason == WIRE_FINE || memcmp(&packet, &untouched, sizeof(packet)) == 0);
	if (reason == WIRE_FINE) {
		struct packet other;
		struct wire_view other_view;
		check_view(&view, size);
		lenient.icrc_unchecked = true;
		lenient.addresses = WIRE_ADDRESSES_ANY;
		check(wire_parse(&lenient, frame, size, &other, &other_view) == WIRE_FINE);
		check(other.psn == packet.psn && other_view.frame_bytes == view.frame_bytes);
		build_one(&config, &packet, &view);
		patch_one(&config, data, frame, &packet, &view);
	}
	free(frame);
}

// --- first inputs

typedef void (*keep_fn)(const void *data, size_t bytes);

static void keep_frame(keep_fn keep, const uint8_t *choice, const uint8_t *frame, size_t bytes)
{
	static uint8_t input[FUZZ_BYTES_MAX];
	if (bytes + CHOICE_BYTES > sizeof(input))
		return;
	memcpy(input, choice, CHOICE_BYTES);
	memcpy(input + CHOICE_BYTES, frame, bytes);
	keep(input, CHOICE_BYTES + bytes);
}

static void keep_capture(keep_fn keep, const char *variable, const char *folder, const char *name)
{
	static const uint8_t choice[] = {IS_ANY_ADDRESS | IS_MENDED, 0, IS_MARKED | IS_CUT, 2};
	char path[4096];
	struct capture capture;
	struct captured captured;
	const char *root = getenv(variable);
	snprintf(path, sizeof(path), "%s/%s/%s", root != NULL ? root : ".", folder, name);
	if (!capture_open(&capture, path))
		return;
	for (uint32_t i = 0; i < 30 && capture_next(&capture, &captured); i++)
		keep_frame(keep, choice, captured.frame, captured.bytes);
	capture_close(&capture);
}

static void keep_captures(keep_fn keep)
{
	static const char *const given[] = {
		"other/mrc_thirdparty_mixed.pcap",    "other/mrc_thirdparty_srv6_usid.pcap",
		"roce/rxe_write_clean.pcap",	      "roce/oferby_ud_ipv6_hw_part2.pcap",
		"robust/pcpp_frag_with_padding.pcap",
	};
	static const char *const own[] = {"trim-on-the-way", "ring-credits", "ipv4",
					  "udp-checksum",    "srv6",	     "trim-last-hop"};
	char name[64];
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		keep_capture(keep, "WEFT_SHARED", "data/captures/given", given[i]);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		snprintf(name, sizeof(name), "%s.pcapng", own[i]);
		keep_capture(keep, "WEFT_SOURCE", "pcaps", name);
	}
}

static void keep_first_inputs(keep_fn keep)
{
	static const uint8_t entropies[] = {WIRE_ENTROPY_STEV, WIRE_ENTROPY_SRV6,
					    WIRE_ENTROPY_SRV6 | HAS_SRH, WIRE_ENTROPY_PORT};
	static const uint8_t opcodes[] = {0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xdc,
					  0xdd, 0xd1, 0xd8, 0xd9, 0xde, 0x06, 0x07,
					  0x08, 0x09, 0x0a, 0x0b, 0x11, 0x81};
	static uint8_t frame[2048];
	for (uint8_t kind = 0; kind < 4 * sizeof(opcodes); kind++) {
		uint8_t choice[] = {(uint8_t)(kind & (IS_V4 | IS_CHARGED)) | IS_MENDED,
				    (uint8_t)((kind & 8 ? KNOWS_FULL | HAS_CHECKSUM : 0) |
					      entropies[(kind + kind / 4) % 4]),
				    (uint8_t)(IS_MARKED | IS_CUT | (kind & 16 ? IS_SRH : 0)), kind};
		struct wire_config config = config_of(choice);
		struct wire_view view;
		struct packet packet = {.source = 1, .target = 999, .plane = 1, .ev = 0x1234};
		packet.opcode = opcodes[kind >> 2];
		bool is_write = is_mrc_write(&packet) || is_rc_write(&packet);
		packet.klass = is_write || is_trimmable(&packet) ? PACKET_CLASS_DATA
								 : PACKET_CLASS_CONTROL;
		if (is_write) {
			packet.flags = PACKET_ECT | (is_trimmable(&packet) ? PACKET_TRIMMABLE : 0);
			packet.payload_bytes = kind & 2 ? 1000 : 5;
			packet.u.data.message_bytes = 5005;
		}
		choice[0] |= kind & 1 ? IS_V4 : 0;
		config = config_of(choice);
		memset(frame, kind, sizeof(frame));
		size_t bytes = wire_build(&config, &packet, frame, sizeof(frame), &view);
		wire_seal(frame, &view);
		keep_frame(keep, choice, frame, bytes);
	}
	keep_captures(keep);
}

#ifdef WITH_LIBFUZZER

static uint32_t written;

static void keep_file(const void *data, size_t bytes)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/first_%u", getenv("WEFT_FUZZ_FIRST"), written++);
	FILE *file = fopen(path, "wb");
	check(file != NULL && fwrite(data, 1, bytes, file) == bytes);
	fclose(file);
}

// Before the first input: writes them where WEFT_FUZZ_FIRST says.
int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	(void)count;
	(void)arguments;
	if (getenv("WEFT_FUZZ_FIRST") != NULL)
		keep_first_inputs(keep_file);
	return 0;
}

#else

// main() is the same for all targets and knows texts only.
__attribute__((constructor)) static void keep_before_main(void)
{
	keep_first_inputs(fuzz_keep);
}

#endif
