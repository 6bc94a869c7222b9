// SPDX-License-Identifier: Apache-2.0
// Frames that are cut, damaged, or somebody else's: each is refused with its reason, none is read
// past its end, and no whole frame with a wrong ICRC is taken.

#include "wire_rig.h"

#include <errno.h>

static uint8_t frame[FRAME_MAX], damaged[FRAME_MAX];

// The reason for refusing the first `bytes` of a whole frame.
static enum wire_reason reason_for_cut(const struct wire_view *view, size_t bytes)
{
	if (bytes < 14)
		return WIRE_SHORT_ETH;
	if (bytes < view->udp_at)
		return WIRE_SHORT_IP;
	if (bytes < view->bth_at)
		return WIRE_SHORT_UDP;
	if (bytes < view->bth_at + 12)
		return WIRE_SHORT_BTH;
	return bytes < view->payload_at ? WIRE_SHORT_EXTENSION : WIRE_SHORT_PAYLOAD;
}

static void a_cut_at_any_byte_is_refused_where_it_is(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (int i = 0; i < 800; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]);
		struct packet untouched, back;
		struct wire_view view, no_view;
		if (packet.payload_bytes > 64)
			packet.payload_bytes = 64;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		memset(&untouched, 0xcc, sizeof(untouched));
		back = untouched;
		for (size_t cut = 0; cut < bytes; cut++) {
			enum wire_reason reason = parse_exact(&config, frame, cut, &back, &no_view);
			if ((packet.flags & PACKET_TRIMMED) && cut >= view.bth_at + 12) {
				assert_int_equal(reason, WIRE_FINE); // it may lose more on its way
				back = untouched;
				continue;
			}
			assert_int_equal(reason, reason_for_cut(&view, cut));
			assert_memory_equal(&back, &untouched, sizeof(back));
		}
	}
}

// A frame that is consistent in itself, lengths and ICRC, but whose body has `body` bytes, whatever
// its opcode asks for; that is in `ret_body`.
static enum wire_reason parse_stretched(uint8_t opcode, size_t body, size_t *ret_body,
					struct packet *ret)
{
	struct wire_config config;
	struct wire_view view;
	struct packet packet = {.opcode = opcode, .klass = PACKET_CLASS_CONTROL};
	wire_config_default(6, &config);
	memset(frame, 0, sizeof(frame));
	size_t built = wire_build(&config, &packet, frame, sizeof(frame), &view);
	size_t body_at = view.bth_at + 12, bytes = body_at + body + 4;
	*ret_body = built - body_at - 4;
	frame[19] = (uint8_t)(bytes - 54); // of IP's payload, and of UDP
	frame[59] = (uint8_t)(bytes - 54);
	view.icrc_at = (uint32_t)bytes - 4;
	wire_seal(frame, &view);
	return parse_exact(&config, frame, bytes, ret, &view);
}

static void a_body_of_another_length_is_refused(void **)
{
	static const uint8_t of[] = {PACKET_ENDPOINT_REQUEST, PACKET_ENDPOINT_RESPONSE, PACKET_ACK,
				     PACKET_SACK, PACKET_NACK};
	for (uint32_t i = 0; i < sizeof(of); i++) {
		for (size_t body = 0; body < 128; body++) {
			size_t true_body;
			struct packet untouched, back;
			memset(&untouched, 0xcc, sizeof(untouched));
			back = untouched;
			enum wire_reason reason = parse_stretched(of[i], body, &true_body, &back);
			assert_in_range(true_body, 4, 100);
			assert_int_equal(reason == WIRE_FINE, body == true_body);
			if (reason != WIRE_FINE)
				assert_memory_equal(&back, &untouched, sizeof(back));
		}
	}
}

// Whether the ICRC leaves out the byte at `at`, or the frame's addresses are there, or an outer
// header.
static bool is_uncovered(const struct wire_view *view, size_t at)
{
	if (at < 12 || at == view->udp_at + 6 || at == view->udp_at + 7 || at == view->bth_at + 4)
		return true;
	if (view->has_srv6 && at >= view->outer_at && at < view->ip_at)
		return true;
	if (view->has_srv6 && view->ip_version == 4) // TTL and class, checksum: not looked at
		return false;
	return view->ip_version == 6 && at > view->ip_at &&
		(at <= view->ip_at + 3 || at == view->ip_at + 7);
}

static void one_wrong_bit_anywhere_under_the_icrc_is_refused(void **)
{
	struct rng rng = rng_of(2, RNG_TEST, 0);
	for (int i = 0; i < 400; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]), back;
		struct wire_view view, back_view;
		if ((packet.flags & PACKET_TRIMMED) || packet.payload_bytes > 64)
			continue;
		packet.hop = 1; // a flip of the hop limit may be good
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		for (size_t bit = 0; bit < bytes * 8; bit++) {
			bool is_class = view.ip_version == 6 && bit / 8 == view.ip_at &&
				bit % 8 < 4;
			if (is_uncovered(&view, bit / 8) || is_class)
				continue;
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_not_equal(parse_exact(&config, frame, bytes, &back, &back_view),
					     WIRE_FINE);
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &back_view), WIRE_FINE);
	}
}

// A frame that was taken is whole and has a good ICRC, or it has a trimmed class.
static void check_taken(const struct wire_config *config, const uint8_t *at, size_t bytes,
			const struct wire_view *view)
{
	assert_true(view->frame_bytes <= bytes && view->payload_at <= view->frame_bytes);
	assert_true(view->payload_at + view->payload_bytes <= view->frame_bytes);
	if (view->icrc == WIRE_ICRC_ABSENT) {
		assert_true(view->dscp == config->dscp[WIRE_CLASS_TRIMMED] ||
			    view->dscp == config->dscp[WIRE_CLASS_TRIMMED_LAST]);
		return;
	}
	assert_int_equal(view->icrc, WIRE_ICRC_GOOD);
	assert_int_equal(view->icrc_at + 4, view->frame_bytes);
	if (view->udp_at - view->ip_at != 20 && view->ip_version == 4)
		return; // options: icrc_of() has none
	uint32_t crc = icrc_of(at, view->icrc_at);
	for (int i = 0; i < 4; i++)
		assert_int_equal(at[view->icrc_at + i], (uint8_t)(crc >> 8 * i));
}

static void random_damage_never_passes_for_a_whole_frame(void **)
{
	struct rng rng = rng_of(3, RNG_TEST, 0);
	uint32_t reasons[WIRE_REASON_COUNT] = {0};
	for (int i = 0; i < 150000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]), back;
		struct wire_view view, taken;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		uint32_t wounds = 1 + rng_below(&rng, 6);
		for (uint32_t wound = 0; wound < wounds; wound++) { // headers more often
			uint32_t range = rng_below(&rng, 2) ? (uint32_t)bytes : 80;
			uint32_t place = rng_below(&rng, range);
			frame[place] = (uint8_t)rng_next(&rng);
		}
		if (rng_below(&rng, 4) == 0)
			bytes = rng_below(&rng, (uint32_t)bytes + 1);
		enum wire_reason reason = parse_exact(&config, frame, bytes, &back, &taken);
		reasons[reason]++;
		if (reason == WIRE_FINE)
			check_taken(&config, frame, bytes, &taken);
	}
	assert_true(reasons[WIRE_FINE] > 0 && reasons[WIRE_BAD_ICRC] > 0);
}

static void noise_is_refused(void **)
{
	struct rng rng = rng_of(4, RNG_TEST, 0);
	struct wire_config config;
	wire_config_default(6, &config);
	for (int i = 0; i < 200000; i++) {
		struct packet packet;
		struct wire_view view;
		size_t bytes = rng_below(&rng, 200);
		for (size_t at = 0; at < bytes; at++)
			damaged[at] = (uint8_t)rng_next(&rng);
		if (bytes > 20) { // so that it gets past Ethernet and IP's first bytes
			bool is_v4 = rng_below(&rng, 2);
			damaged[12] = is_v4 ? 0x08 : 0x86;
			damaged[13] = is_v4 ? 0x00 : 0xdd;
			damaged[14] = is_v4 ? 0x45 : 0x60;
			static const uint8_t inside[] = {17, 17, 4, 41, 43};
			damaged[is_v4 ? 23 : 20] = is_v4 ? 17 : inside[rng_below(&rng, 5)];
		}
		if (bytes > 66 && damaged[20] == 43) { // an SRH of one segment, IPv6 inside
			static const uint8_t srh[] = {41, 2, 4, 1, 0};
			memcpy(damaged + 54, srh, sizeof(srh));
		}
		assert_int_not_equal(parse_exact(&config, damaged, bytes, &packet, &view), 0);
	}
}

// One wrong byte, and why the frame is refused then.
struct wound {
	uint8_t version; // of IP
	uint8_t opcode;
	uint8_t at, value;
	enum wire_reason reason;
};
static const struct wound wounds[] = {
	{6, PACKET_SACK, 12, 0x88, WIRE_NOT_IP},
	{6, PACKET_SACK, 14, 0x40, WIRE_BAD_VERSION},
	{6, PACKET_SACK, 20, 6, WIRE_NOT_UDP},
	{6, PACKET_SACK, 20, 43, WIRE_NOT_UDP}, // a routing header of no kind
	{6, PACKET_SACK, 20, 60, WIRE_NOT_UDP}, // destination options
	{6, PACKET_SACK, 20, 41, WIRE_BAD_VERSION},
	{6, PACKET_SACK, 18, 0x7f, WIRE_BAD_LENGTH},
	{6, PACKET_SACK, 19, 7, WIRE_BAD_LENGTH},
	{6, PACKET_SACK, 19, 19, WIRE_BAD_LENGTH},
	{6, PACKET_SACK, 59, 7, WIRE_BAD_LENGTH}, // UDP's length
	{6, PACKET_SACK, 59, 61, WIRE_BAD_LENGTH},
	{6, PACKET_SACK, 57, 0, WIRE_NOT_MRC},
	{6, PACKET_SACK, 21, 65, WIRE_BAD_HOP},
	{6, PACKET_SACK, 22, 0xfe, WIRE_FOREIGN_ADDRESS},
	{6, PACKET_SACK, 29, 9, WIRE_FOREIGN_ADDRESS},	 // the source's plane
	{6, PACKET_SACK, 62, 0x04, WIRE_UNKNOWN_OPCODE}, // SEND Only of RoCEv2
	{6, PACKET_SACK, 62, 0x10, WIRE_UNKNOWN_OPCODE}, // its READ response
	{6, PACKET_SACK, 62, 0x06, WIRE_BAD_ICRC},	 // its WRITE First, with some payload
	{6, PACKET_SACK, 62, 0x11, WIRE_BAD_LENGTH},	 // its ACK is shorter
	{6, PACKET_SACK, 62, 0x81, WIRE_BAD_LENGTH},	 // so is its CNP
	{6, PACKET_SACK, 62, 0xdf, WIRE_UNKNOWN_OPCODE},
	{6, PACKET_SACK, 62, 0xd0, WIRE_UNKNOWN_OPCODE},
	{6, PACKET_SACK, 62, 0xda, WIRE_UNKNOWN_OPCODE},
	{6, PACKET_SACK, 62, 0xde, WIRE_BAD_LENGTH}, // a probe is shorter, too
	{6, PACKET_SACK, 62, 0xdd, WIRE_BAD_LENGTH}, // a NACK is shorter
	{6, PACKET_SACK, 62, 0xd8, WIRE_BAD_LENGTH}, // so is an endpoint request
	{6, PACKET_ENDPOINT_RESPONSE, 62, 0xd8, WIRE_BAD_LENGTH},
	{6, PACKET_ENDPOINT_REQUEST, 62, 0xd9, WIRE_BAD_LENGTH}, // and its response longer
	{6, PACKET_SACK, 63, 0x01, WIRE_BAD_VERSION},
	{6, PACKET_SACK, 63, 0x30, WIRE_BAD_LENGTH}, // padding of nothing
	{6, PACKET_SACK, 113, 0x99, WIRE_BAD_ICRC},
	{4, PACKET_SACK, 14, 0x65, WIRE_BAD_VERSION},
	{4, PACKET_SACK, 14, 0x44, WIRE_BAD_LENGTH},
	{4, PACKET_SACK, 15, 0x01, WIRE_BAD_CHECKSUM},
	{4, PACKET_SACK, 24, 0x99, WIRE_BAD_CHECKSUM},
	{6, PACKET_WRITE_ONLY, 63, 0x30, WIRE_BAD_LENGTH}, // more padding than payload
	{6, RC_WRITE_ONLY, 63, 0x30, WIRE_BAD_LENGTH},
	{6, RC_WRITE_ONLY, 14, 0x63, WIRE_NOT_TRIMMABLE}, // DSCP 12: no switch trims RoCEv2
};

static void every_wound_has_its_reason(void **)
{
	for (size_t i = 0; i < sizeof(wounds) / sizeof(wounds[0]); i++) {
		const struct wound *wound = &wounds[i];
		struct wire_config config;
		struct wire_view view;
		wire_config_default(wound->version, &config);
		struct packet packet = {.source = 1, .target = 2, .opcode = wound->opcode}, back;
		packet.klass = packet.opcode == PACKET_SACK ? PACKET_CLASS_CONTROL
							    : PACKET_CLASS_DATA;
		size_t bytes = wire_build(&config, &packet, frame, sizeof(frame), &view);
		wire_seal(frame, &view);
		assert_int_equal(wire_parse(&config, frame, bytes, &back, &view), WIRE_FINE);
		frame[wound->at] = wound->value;
		assert_string_equal(
			wire_reason_name(wire_parse(&config, frame, bytes, &back, &view)),
			wire_reason_name(wound->reason));
	}
}

static enum wire_reason reason_of_pkeys(struct wire_config config, uint16_t own, uint16_t told)
{
	struct packet packet = {.source = 1, .target = 2, .opcode = PACKET_WRITE_ONLY}, back;
	struct wire_view view;
	config.pkey = told;
	size_t bytes = wire_build(&config, &packet, frame, sizeof(frame), &view);
	wire_seal(frame, &view);
	config.pkey = own;
	return wire_parse(&config, frame, bytes, &back, &view);
}

static void packets_of_another_partition_are_refused(void **)
{
	static const struct {
		uint16_t own, told;
		bool is_ours;
	} cases[] = {
		{0xffff, 0xffff, true},	 {0xffff, 0x7fff, true},  {0x7fff, 0xffff, true},
		{0x7fff, 0x7fff, false}, {0xffff, 0x8001, false}, {0x8001, 0x8001, true},
		{0x8001, 0x0001, true},	 {0x8001, 0x8000, false}, {0x8001, 0x9001, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_config config;
		wire_config_default(6, &config);
		assert_int_equal(reason_of_pkeys(config, cases[i].own, cases[i].told),
				 cases[i].is_ours ? WIRE_FINE : WIRE_FOREIGN_PARTITION);
		config.icrc_unchecked = true; // a switch has no partition
		assert_int_equal(reason_of_pkeys(config, cases[i].own, cases[i].told), WIRE_FINE);
	}
}

static void a_key_of_no_partition_is_no_configuration(void **)
{
	struct wire_config config;
	struct refusal refusal;
	wire_config_default(6, &config);
	config.pkey = 0x8000;
	assert_int_equal(wire_config_check(&config, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "P_Key 32768"));
}

// Writes the IPv4 checksum anew after a change.
static void repair_checksum(uint8_t *ip)
{
	uint32_t sum = 0;
	ip[10] = ip[11] = 0;
	for (int i = 0; i < (ip[0] & 15) * 4; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void a_good_checksum_does_not_excuse_the_rest_of_ipv4(void **)
{
	static const struct wound more[] = {
		{4, 0, 23, 6, WIRE_NOT_UDP},
		{4, 0, 20, 0x20, WIRE_FRAGMENT},
		{4, 0, 21, 0x01, WIRE_FRAGMENT},
		{4, 0, 17, 19, WIRE_BAD_LENGTH},
		{4, 0, 17, 27, WIRE_BAD_LENGTH},
		{4, 0, 26, 10, WIRE_FOREIGN_ADDRESS},
		{4, 0, 22, 65, WIRE_BAD_HOP},
		{4, 0, 15, 12 << 2, WIRE_NOT_TRIMMABLE},
		{4, 0, 15, 16 << 2, WIRE_NOT_TRIMMABLE},
	};
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		struct wire_config config;
		struct wire_view view;
		wire_config_default(4, &config);
		struct packet packet = {.opcode = PACKET_NACK, .klass = PACKET_CLASS_CONTROL}, back;
		size_t bytes = wire_build(&config, &packet, frame, sizeof(frame), &view);
		wire_seal(frame, &view);
		frame[more[i].at] = more[i].value;
		repair_checksum(frame + 14);
		assert_string_equal(
			wire_reason_name(wire_parse(&config, frame, bytes, &back, &view)),
			wire_reason_name(more[i].reason));
	}
}

static void a_bad_icrc_can_be_told_instead_of_refused(void **)
{
	struct wire_config config;
	struct wire_view view;
	struct packet packet = {.opcode = PACKET_WRITE_ONLY, .payload_bytes = 9}, back;
	wire_config_default(6, &config);
	size_t bytes = wire_build(&config, &packet, frame, sizeof(frame), &view);
	memset(frame + view.payload_at, 7, 9);
	wire_seal(frame, &view);
	frame[view.payload_at] ^= 1;
	config.icrc_ignored = true;
	assert_int_equal(wire_parse(&config, frame, bytes, &back, &view), WIRE_FINE);
	assert_int_equal(view.icrc, WIRE_ICRC_BAD);
	frame[view.payload_at] ^= 1;
	assert_int_equal(wire_parse(&config, frame, bytes, &back, &view), WIRE_FINE);
	assert_int_equal(view.icrc, WIRE_ICRC_GOOD);
}

static void what_a_packet_cannot_count_is_refused(void **)
{
	static uint8_t large[65536];
	struct wire_config config;
	struct wire_view view;
	struct packet packet = {.opcode = PACKET_WRITE_ONLY}, back;
	for (uint32_t payload = 65300; payload < 65500; payload += 4) {
		wire_config_default(4, &config);
		packet.payload_bytes = (uint16_t)payload;
		if (wire_frame_bytes(&config, &packet) + WIRE_LINE_BYTES > UINT16_MAX)
			break;
		size_t bytes = wire_build(&config, &packet, large, sizeof(large), &view);
		wire_seal(large, &view);
		config.charged_header_bytes = 162;
		enum wire_reason reason = wire_parse(&config, large, bytes, &back, &view);
		assert_int_equal(reason, payload + 162 > UINT16_MAX ? WIRE_BAD_LENGTH : WIRE_FINE);
		if (reason == WIRE_FINE)
			assert_int_equal(back.wire_bytes, payload + 162);
	}
	// four bytes more of it by its lengths
	size_t bytes = view.frame_bytes;
	while (bytes + WIRE_LINE_BYTES <= UINT16_MAX)
		bytes += 4;
	config.charged_header_bytes = 0;
	large[16] = (uint8_t)((bytes - 14) >> 8);
	large[17] = (uint8_t)(bytes - 14);
	large[38] = (uint8_t)((bytes - 34) >> 8);
	large[39] = (uint8_t)(bytes - 34);
	repair_checksum(large + 14);
	view.icrc_at = (uint32_t)bytes - 4;
	wire_seal(large, &view);
	assert_int_equal(wire_parse(&config, large, bytes, &back, &view), WIRE_BAD_LENGTH);
	large[15] = 12 << 2; // nor when it was trimmed
	repair_checksum(large + 14);
	assert_int_equal(wire_parse(&config, large, bytes, &back, &view), WIRE_BAD_LENGTH);
}

static void ipv4_options_are_stepped_over(void **)
{
	struct wire_config config;
	struct wire_view view;
	struct packet packet = {.opcode = PACKET_NACK, .klass = PACKET_CLASS_CONTROL}, back;
	wire_config_default(4, &config);
	size_t bytes = wire_build(&config, &packet, frame, sizeof(frame), &view);
	memmove(frame + 38, frame + 34, bytes - 34); // four bytes of no-operation behind the header
	memset(frame + 34, 1, 4);
	frame[14] = 0x46;
	frame[17] = (uint8_t)(frame[17] + 4);
	repair_checksum(frame + 14);
	view.udp_at += 4;
	view.bth_at += 4;
	view.payload_at += 4;
	view.icrc_at += 4;
	wire_seal(frame, &view);
	assert_int_equal(wire_parse(&config, frame, bytes + 4, &back, &view), WIRE_FINE);
	assert_int_equal(view.bth_at, 14 + 24 + 8);
	back.hop = 3;
	assert_int_equal(wire_patch(&config, &back, frame, &view), bytes + 4);
	assert_int_equal(wire_parse(&config, frame, bytes + 4, &packet, &view), WIRE_FINE);
	assert_int_equal(packet.hop, 3);
}
