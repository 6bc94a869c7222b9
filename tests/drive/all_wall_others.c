// SPDX-License-Identifier: Apache-2.0
// Ports that carry more than packets of the run: frames of others are counted by kind, damaged ones
// by reason, and ARP and neighbour discovery heard and answered. Every byte arrives all the same.
// WEFT_FUZZ_S says for how many seconds frames are made up.

#include <time.h>

#include <weft/core/rng.h>
#include <weft/wire/wire_neighbour.h>

#include "wall_pair.h"

#define FUZZ_S 3
#define FRAME_MAX 9000u

// A frame to host `to`, by its first plane.
static void inject(struct pair *pair, uint32_t to, const uint8_t *bytes, uint32_t length)
{
	struct frame frame;
	assert_true(inner->take(&pair->ports, &frame, 1));
	memcpy(frame.bytes, bytes, length);
	frame.length = length;
	assert_int_equal(inner->send(&pair->ports, (1 - to) * PLANES, &frame, 1), 1);
}

// ---------------------------------------------------------------- by kind

#define ETH_IPV4 [12] = 0x08, [13] = 0
#define ETH_IPV6 [12] = 0x86, [13] = 0xdd

static const struct {
	enum wall_other kind;
	uint8_t bytes[64]; // its first ones
} others[] = {
	{WALL_OTHER_ARP, {255, 255, 255, 255, 255, 255, [12] = 0x08, 0x06}}, // not even whole
	{WALL_OTHER_ARP, {[12] = 0x08, 0x06, 0, 1, 8,  0, 6, 4, 0,	   1, 2, 2,
			  2,	       2,    2, 2, 10, 0, 0, 1, [38] = 10, 0, 0, 2}},
	{WALL_OTHER_ND, {ETH_IPV6, 0x60, [19] = 8, 58, 255, [54] = 133}}, // who is a router?
	{WALL_OTHER_ND, {ETH_IPV6, 0x60, [19] = 24, 58, 255, [54] = 135}},
	{WALL_OTHER_ICMP, {ETH_IPV6, 0x60, [19] = 8, 58, 64, [54] = 128}},
	{WALL_OTHER_ICMP, {ETH_IPV4, 0x45, 0, 0, 40, [23] = 1}},
	{WALL_OTHER_LLDP, {1, 0x80, 0xc2, 0, 0, 0x0e, [12] = 0x88, 0xcc}},
	{WALL_OTHER_PAUSE, {1, 0x80, 0xc2, 0, 0, 1, [12] = 0x88, 0x08, 1, 1}},
	{WALL_OTHER_DHCP, {ETH_IPV4, 0x45, 0, 0, 50, [23] = 17, [34] = 0, 68, 0, 67, 0, 30}},
	{WALL_OTHER_DHCP, {ETH_IPV6, 0x60, [19] = 10, 17, 1, [54] = 2, 34, 2, 35, 0, 10}},
	{WALL_OTHER_TCP, {ETH_IPV4, 0x45, 0, 0, 40, [23] = 6}},
	{WALL_OTHER_UDP, {ETH_IPV4, 0x45, 0, 0, 50, [23] = 17, [34] = 1, 0, 2, 0, 0, 30}},
	{WALL_OTHER_UET, {ETH_IPV4, 0x45, 0, 0, 50, [23] = 17, [34] = 1, 0, 0x12, 0xb9, 0, 30}},
	{WALL_OTHER_IP, {ETH_IPV4, 0x45, 0, 0, 40, [23] = 89}},
	{WALL_OTHER_ROCE1, {[12] = 0x89, 0x15}},
	{WALL_OTHER_ETHERTYPE, {[12] = 0x22, 0xf0}},
	// a SEND to UDP port 4791 between 10.0.0.1 and 10.0.0.2
	{WALL_OTHER_ROCE, {ETH_IPV4, 0x45, 0, 0, 50, [23] = 17, [26] = 10, 0, 0,  1,	   10,
			   0,	     0,	   2, 1, 0,  0x12,	0xb7,	   0, 30, [42] = 4}},
};
#define OTHERS (sizeof(others) / sizeof(*others))

// A write of another tenant, whole and sealed, whose addresses are not of this world.
static uint32_t build_foreign(const struct pair *pair, uint8_t *ret)
{
	struct codec codec;
	struct refusal refusal;
	struct packet packet = {.opcode = PACKET_WRITE_ONLY_IMM, .target = 1, .payload_bytes = 512};
	assert_int_equal(codec_init(&codec, &pair->world[0], &refusal), 0);
	codec.nic.ipv6_prefix ^= UINT64_C(1) << 20;
	codec.nic.ipv4_prefix ^= UINT32_C(1) << 20;
	return codec_write(&codec, &packet, ret);
}

static void frames_of_others_are_counted_by_kind(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 32MiB}", "");
	uint64_t expected[WALL_OTHER_COUNT] = {0};
	uint8_t foreign[FRAME_MAX];
	uint32_t length = build_foreign(pair, foreign);
	for (uint32_t round = 0; round < 50; round++) {
		for (size_t i = 0; i < OTHERS; i++) {
			inject(pair, 1, others[i].bytes, 64);
			inject(pair, 0, others[i].bytes, 64);
			expected[others[i].kind]++;
		}
		inject(pair, 1, foreign, length);
		inject(pair, 0, foreign, length);
		expected[WALL_OTHER_ROCE]++;
		look(pair, LOOK_PS, pair->now + 4 * LOOK_PS);
	}
	assert_false(is_done(pair)); // all of them came beside traffic
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 32 << 20);
	assert_int_equal(resent(pair), 0);
	for (uint32_t host = 0; host < HOSTS; host++)
		for (int i = 0; i < WALL_OTHER_COUNT; i++)
			if (wall_counts(pair->wall[host])->others[i] != expected[i])
				fail_msg("host %u, %s: %u, not %u", host, wall_other_name(i),
					 (unsigned)wall_counts(pair->wall[host])->others[i],
					 (unsigned)expected[i]);
	pair_close(pair);
}

// ---------------------------------------------------------------- made up

// The last frame that a host sent.
static uint8_t model[HOSTS][FRAME_MAX];
static uint32_t model_bytes[HOSTS];

static void keep(uint32_t host, const struct frame *frame)
{
	memcpy(model[host], frame->bytes, frame->length);
	model_bytes[host] = frame->length;
}

// A frame that was sent, with some bytes changed or its end cut off; or nothing but dice.
static uint32_t make_up(struct rng *rng, uint32_t host, uint8_t *ret)
{
	uint32_t length = model_bytes[host];
	if (length == 0 || rng_below(rng, 8) == 0) {
		length = rng_below(rng, 256);
		for (uint32_t i = 0; i < length; i++)
			ret[i] = (uint8_t)rng_next(rng);
		return length;
	}
	memcpy(ret, model[host], length);
	if (rng_below(rng, 4) == 0)
		length = rng_below(rng, length);
	uint32_t changes = 1 + rng_below(rng, 6);
	for (; length > 0 && changes > 0; changes--) {
		bool is_anywhere = rng_below(rng, 2) == 0;
		uint32_t at = rng_below(rng, is_anywhere || length < 96 ? length : 96);
		ret[at] = (uint8_t)rng_next(rng);
	}
	return length;
}

// How many of the frames that a host took for itself were no packets for it.
static uint64_t turned_away(const struct pair *pair, uint32_t host)
{
	const struct wall_counts *counts = wall_counts(pair->wall[host]);
	uint64_t sum = counts->frames_strange + counts->neighbours_heard;
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		sum += counts->bad_frames[i];
	for (int i = 0; i < WALL_OTHER_COUNT; i++)
		sum += counts->others[i];
	return sum;
}

// Whether a made-up frame still is a packet for `host`: what was changed is not covered by the
// ICRC, as a hop limit is not.
static bool is_packet(const struct codec *codec, uint32_t host, const uint8_t *bytes,
		      uint32_t length)
{
	struct packet packet;
	struct wire_view view;
	return wire_parse(&codec->nic, bytes, length, &packet, &view) == WIRE_FINE &&
		packet.target == host && packet.plane == 0 && packet.source < HOSTS;
}

// One run with made-up frames for both ends between any two looks. Returns how many there were.
static uint64_t fuzz_run(struct rng *rng, const char *transport)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 8MiB}", transport);
	uint8_t bytes[FRAME_MAX];
	uint64_t made = 0, strangers[HOSTS] = {0};
	struct codec codec;
	assert_int_equal(codec_init(&codec, &pair->world[0], &pair->refusal), 0);
	harm.seen = keep;
	memset(model_bytes, 0, sizeof(model_bytes));
	while (!is_done(pair) && pair->now < PS_PER_S) {
		for (uint32_t to = 0; to < HOSTS; to++)
			for (uint32_t i = rng_below(rng, 8); i > 0; i--) {
				uint32_t length = make_up(rng, 1 - to, bytes);
				inject(pair, to, bytes, length);
				strangers[to] += !is_packet(&codec, to, bytes, length);
				made++;
			}
		look(pair, LOOK_PS, pair->now + LOOK_PS);
	}
	for (int i = 0; i < 8; i++) { // what still lies there
		wall_turn(pair->wall[0], pair->now += LOOK_PS);
		wall_turn(pair->wall[1], pair->now);
	}
	assert_true(is_done(pair));
	assert_int_equal(counters(pair, 1)->payload_bytes_placed, 8 << 20);
	assert_int_equal(wall_counts(pair->wall[1])->payload_bytes_good, 8 << 20);
	for (uint32_t host = 0; host < HOSTS; host++) {
		assert_int_equal(wall_counts(pair->wall[host])->payload_bytes_wrong, 0);
		assert_int_equal(wall_qps_failed(pair->wall[host]), 0);
		assert_int_equal(turned_away(pair, host), strangers[host]);
	}
	pair_close(pair);
	return made;
}

static void made_up_frames_have_no_effect(void **)
{
	const char *said = getenv("WEFT_FUZZ_S");
	time_t until = time(NULL) + (said != NULL ? atoi(said) : FUZZ_S);
	struct rng rng = rng_of(1, RNG_CABLE, 0);
	uint64_t made = 0, runs = 0;
	do {
		static const char *const kinds[] = {"", "}\nwire: {ip: 4"};
		made += fuzz_run(&rng, kinds[runs++ % 2]);
	} while (time(NULL) < until);
	printf("%llu made-up frames in %llu runs\n", (unsigned long long)made,
	       (unsigned long long)runs);
	assert_true(made > 1000);
}

// ---------------------------------------------------------------- neighbours

static uint64_t to_port_macs, to_other_macs;

static void check_macs(uint32_t host, const struct frame *frame)
{
	uint8_t target[6], source[6];
	uint32_t plane = frame->bytes[5];
	if (frame->bytes[0] & 1)
		return; // to all
	port_mac(1 - host, plane, target);
	port_mac(host, plane, source);
	bool is_known = memcmp(frame->bytes, target, 6) == 0 &&
		memcmp(frame->bytes + 6, source, 6) == 0;
	to_port_macs += is_known;
	to_other_macs += !is_known;
}

static void hosts_tell_where_they_are(void **state)
{
	const char *transport = *state;
	has_macs = true;
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 1MiB}", transport);
	has_macs = false;
	wall_announce(pair->wall[0]);
	wall_announce(pair->wall[1]);
	look(pair, LOOK_PS, 4 * LOOK_PS); // meanwhile by the address rule
	to_port_macs = to_other_macs = 0;
	harm.seen = check_macs;
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 1 << 20);
	for (uint32_t host = 0; host < HOSTS; host++) {
		const struct wall_counts *counts = wall_counts(pair->wall[host]);
		assert_int_equal(counts->neighbours_learnt, PLANES);
		// each plane: one word to all, one question, one answer
		assert_int_equal(counts->neighbours_said, 3 * PLANES);
		assert_int_equal(counts->neighbours_heard, 3 * PLANES);
		for (int i = 0; i < WALL_OTHER_COUNT; i++)
			assert_int_equal(counts->others[i], 0);
	}
	assert_true(to_port_macs > 256);
	assert_int_equal(to_other_macs, 0);
	pair_close(pair);
}

static uint8_t answer[FRAME_MAX];
static uint32_t answer_bytes;

static void keep_answer(uint32_t host, const struct frame *frame)
{
	if (host != 1 || !wire_is_neighbour(frame->bytes, frame->length))
		return;
	memcpy(answer, frame->bytes, frame->length);
	answer_bytes = frame->length;
}

// Somebody else on the link asks for host 1. Then host 0 says where it is, and, as another NIC
// would, that it is elsewhere.
static void who_asks_is_answered_and_the_last_word_holds(void **state)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 1MiB}", *state);
	struct wire_neighbour asks = {.source_mac = {2, 9, 9, 9, 9, 9}}, said, rule;
	struct codec codec;
	uint8_t frame[FRAME_MAX];
	assert_int_equal(codec_init(&codec, &pair->world[0], &pair->refusal), 0);
	wire_address(&codec.nic, 4000, 0, asks.source);
	wire_address(&codec.nic, 1, 0, asks.target);
	wire_mac(&codec.nic, 1, 0, rule.source_mac);
	harm.seen = keep_answer;
	answer_bytes = 0;
	inject(pair, 1, frame, wire_neighbour_build(&asks, frame));
	look(pair, LOOK_PS, pair->now + 8 * LOOK_PS);
	assert_true(wire_neighbour_parse(answer, answer_bytes, &said));
	assert_true(said.tells);
	assert_memory_equal(said.source, asks.target, 16);
	assert_memory_equal(said.source_mac, rule.source_mac, 6);
	assert_memory_equal(answer, asks.source_mac, 6); // to who asked, and nobody else
	assert_int_equal(wall_counts(pair->wall[1])->neighbours_learnt, 0);
	struct wire_neighbour first = {.tells = true}, second = {.tells = true};
	wire_address(&codec.nic, 0, 0, first.source);
	memcpy(first.target, first.source, 16);
	memcpy(first.source_mac, (const uint8_t[]){2, 1, 1, 1, 1, 1}, 6);
	second = first;
	second.source_mac[1] = 7;
	inject(pair, 1, frame, wire_neighbour_build(&first, frame));
	inject(pair, 1, frame, wire_neighbour_build(&first, frame));
	look(pair, LOOK_PS, pair->now + 8 * LOOK_PS);
	assert_int_equal(wall_counts(pair->wall[1])->neighbours_learnt, 1);
	assert_int_equal(wall_counts(pair->wall[1])->neighbours_moved, 0); // the same again
	inject(pair, 1, frame, wire_neighbour_build(&second, frame));
	look(pair, LOOK_PS, pair->now + 8 * LOOK_PS);
	memset(model, 0, sizeof(model));
	harm.seen = keep;
	while (!is_done(pair) && pair->now < PS_PER_S) {
		look(pair, LOOK_PS, pair->now + LOOK_PS);
		if (model[1][12] != 0 && model[1][7] == 0) // a frame was seen, of plane 0
			assert_memory_equal(model[1], second.source_mac, 6);
	}
	assert_int_equal(wall_counts(pair->wall[1])->neighbours_learnt, 1);
	assert_int_equal(wall_counts(pair->wall[1])->neighbours_moved, 1);
	all_is_right(pair, 1 << 20);
	pair_close(pair);
}

int main(void)
{
	static char v6[] = "", v4[] = "}\nwire: {ip: 4";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_others_are_counted_by_kind),
		cmocka_unit_test(made_up_frames_have_no_effect),
		cmocka_unit_test_prestate(hosts_tell_where_they_are, v6),
		cmocka_unit_test_prestate(hosts_tell_where_they_are, v4),
		cmocka_unit_test_prestate(who_asks_is_answered_and_the_last_word_holds, v6),
		cmocka_unit_test_prestate(who_asks_is_answered_and_the_last_word_holds, v4),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
