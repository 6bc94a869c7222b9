// SPDX-License-Identifier: Apache-2.0
// ARP and neighbour discovery against frames written by hand after RFC 826 and RFC 4861; their
// checksums were worked out by another program.
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/wire/wire_neighbour.h>

#define ETH 14
#define IPV6 40

static const uint8_t arp_question[60] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0,  0, 0, 0x0a, 0x01, 0x08, 0x06, //
	0,    1,    8,	  0,	6,    4,    0,	  1,				    // asks
	0x02, 0,    0,	  0,	0x0a, 0x01, 198,  18, 0, 1,			    // who asks
	0,    0,    0,	  0,	0,    0,    198,  18, 0, 2};			    // for whom

// fd00::1 asks for fd00::2, with its MAC as an option.
static const uint8_t nd_question[86] = {
	0x33, 0x33, 0xff, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x0a, 0x01, 0x86, 0xdd, 0x60,
	0x00, 0x00, 0x00, 0x00, 0x20, 0x3a, 0xff, 0xfd, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xff, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x01, 0xff, 0x00, 0x00, 0x02, 0x87, 0x00, 0x72, 0x96, 0x00, 0x00,
	0x00, 0x00, 0xfd, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x02, 0x01, 0x01, 0x02, 0x00, 0x00, 0x00, 0x0b, 0x02};
static const uint8_t asker[6] = {0x02, 0, 0, 0, 0x0a, 0x01}, other[6] = {0x02, 0, 0, 0, 0x0b, 0x02};

static const uint8_t v4_source[16] = {[10] = 0xff, [11] = 0xff, [12] = 198, 18, 0, 1};
static const uint8_t v4_target[16] = {[10] = 0xff, [11] = 0xff, [12] = 198, 18, 0, 2};
static const uint8_t v6_source[16] = {0xfd, [15] = 1}, v6_target[16] = {0xfd, [15] = 2};

// What was not written is seen.
static struct wire_neighbour poison(void)
{
	struct wire_neighbour ret;
	memset(&ret, 0xaa, sizeof(ret));
	return ret;
}

static void a_question_of_arp_is_read_and_written(void **)
{
	struct wire_neighbour heard = poison();
	uint8_t frame[WIRE_NEIGHBOUR_BYTES];
	assert_true(wire_neighbour_parse(arp_question, sizeof(arp_question), &heard));
	assert_false(heard.tells);
	assert_memory_equal(heard.source, v4_source, 16);
	assert_memory_equal(heard.target, v4_target, 16);
	assert_memory_equal(heard.source_mac, asker, 6);
	assert_int_equal(wire_neighbour_build(&heard, frame), sizeof(arp_question));
	assert_memory_equal(frame, arp_question, sizeof(arp_question));
}

static const uint8_t arp_answer[60] = {0x02, 0,	   0,	 0, 0x0a, 0x01, 0x02, 0,  0, 0, 0x0b,
				       0x02, 0x08, 0x06,				//
				       0,    1,	   8,	 0, 6,	  4,	0,    2,	// tells
				       0x02, 0,	   0,	 0, 0x0b, 0x02, 198,  18, 0, 2, // who tells
				       0x02, 0,	   0,	 0, 0x0a, 0x01, 198,  18, 0, 1}; // whom

static void an_answer_of_arp_is_read_and_written(void **)
{
	struct wire_neighbour heard = poison();
	uint8_t frame[WIRE_NEIGHBOUR_BYTES];
	assert_true(wire_neighbour_parse(arp_answer, sizeof(arp_answer), &heard));
	assert_true(heard.tells);
	assert_memory_equal(heard.source, v4_target, 16);
	assert_memory_equal(heard.target, v4_source, 16);
	assert_memory_equal(heard.source_mac, other, 6);
	assert_memory_equal(heard.target_mac, asker, 6);
	assert_int_equal(wire_neighbour_build(&heard, frame), sizeof(arp_answer));
	assert_memory_equal(frame, arp_answer, sizeof(arp_answer));
}

// Gratuitous ARP (RFC 5227): a question for one's own address, which is an answer to all.
static void what_all_are_told_is_no_question(void **)
{
	struct wire_neighbour heard = poison();
	uint8_t frame[sizeof(arp_question)], back[WIRE_NEIGHBOUR_BYTES];
	memcpy(frame, arp_question, sizeof(frame));
	frame[ETH + 27] = 1; // 198.18.0.1
	assert_true(wire_neighbour_parse(frame, sizeof(frame), &heard));
	assert_true(heard.tells);
	assert_memory_equal(heard.source, v4_source, 16);
	assert_memory_equal(heard.source_mac, asker, 6);
	assert_int_equal(wire_neighbour_build(&heard, back), sizeof(frame));
	assert_memory_equal(back, frame, sizeof(frame));
}

static void a_question_of_nd_is_read_and_written(void **)
{
	struct wire_neighbour heard = poison();
	uint8_t frame[WIRE_NEIGHBOUR_BYTES];
	assert_true(wire_neighbour_parse(nd_question, sizeof(nd_question), &heard));
	assert_false(heard.tells);
	assert_memory_equal(heard.source, v6_source, 16);
	assert_memory_equal(heard.target, v6_target, 16);
	assert_memory_equal(heard.source_mac, other, 6);
	assert_int_equal(wire_neighbour_build(&heard, frame), sizeof(nd_question));
	assert_memory_equal(frame + ETH, nd_question + ETH, sizeof(nd_question) - ETH);
}

// The option may be left out where the MAC is known: then it is that of the frame's sender, and
// nothing that was on the stack.
static void without_an_option_the_mac_is_that_of_the_frame(void **)
{
	struct wire_neighbour heard = poison();
	uint8_t frame[78];
	memcpy(frame, nd_question, sizeof(frame));
	frame[ETH + 5] = 0x18; // length
	frame[ETH + IPV6 + 2] = 0x80, frame[ETH + IPV6 + 3] = 0xa1;
	assert_true(wire_neighbour_parse(frame, sizeof(frame), &heard));
	assert_memory_equal(heard.source_mac, asker, 6);
}

static void what_is_not_whole_or_wrong_is_no_neighbour(void **)
{
	struct wire_neighbour heard;
	uint8_t frame[sizeof(nd_question)];
	for (uint32_t bytes = 0; bytes < sizeof(nd_question); bytes++)
		assert_false(wire_neighbour_parse(nd_question, bytes, &heard));
	for (uint32_t bytes = 0; bytes < 42; bytes++)
		assert_false(wire_neighbour_parse(arp_question, bytes, &heard));
	for (uint32_t at = ETH + IPV6; at < sizeof(frame); at++) { // the checksum covers them
		memcpy(frame, nd_question, sizeof(frame));
		frame[at] ^= 0x10;
		assert_false(wire_neighbour_parse(frame, sizeof(frame), &heard));
	}
	memcpy(frame, nd_question, sizeof(frame));
	frame[ETH + 7] = 254; // came through a router
	assert_false(wire_neighbour_parse(frame, sizeof(frame), &heard));
}
