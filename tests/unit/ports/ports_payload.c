// SPDX-License-Identifier: Apache-2.0
// The payload pattern: every byte of it is compared, wherever it begins and ends.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <weft/ports/payload.h>

#define ROOM 4200u
#define BEGINS 17u
#define ENDS 300u // lengths up to here, and a whole packet

static const struct payload_origin origin = {3, 7, 11, UINT64_C(0xfffffff8)};
static uint8_t whole[ROOM], part[ROOM];

static struct payload_origin at(uint32_t offset)
{
	struct payload_origin spot = origin;
	spot.va += offset;
	return spot;
}

// The pattern is one for all addresses: a part of it is that part, wherever it begins.
static void a_part_is_a_part_of_the_whole(void **)
{
	payload_fill(&origin, whole, ROOM);
	for (uint32_t begin = 0; begin < BEGINS; begin++)
		for (uint32_t bytes = 0; bytes < ENDS; bytes++) {
			struct payload_origin spot = at(begin);
			memset(part, 0x5a, sizeof(part));
			payload_fill(&spot, part, bytes);
			assert_memory_equal(part, whole + begin, bytes);
			assert_int_equal(part[bytes], 0x5a);
			assert_int_equal(payload_wrong(&spot, whole + begin, bytes), 0);
		}
}

// One bit anywhere is one byte, and no byte outside counts.
static void each_byte_is_compared(void **)
{
	payload_fill(&origin, whole, ROOM);
	for (uint32_t begin = 0; begin < BEGINS; begin++) {
		const struct payload_origin spot = at(begin);
		for (uint32_t wrong = 0; wrong < ENDS; wrong++) {
			whole[wrong] ^= (uint8_t)(1u << wrong % 8);
			bool is_inside = wrong >= begin && wrong < begin + 200;
			assert_int_equal(payload_wrong(&spot, whole + begin, 200), is_inside);
			whole[wrong] ^= (uint8_t)(1u << wrong % 8);
		}
	}
	for (uint32_t wrong = 0; wrong < 4096; wrong++) {
		whole[wrong] ^= 0x80;
		assert_int_equal(payload_wrong(&origin, whole, 4096), 1);
		whole[wrong] ^= 0x80;
	}
	memset(part, 0, sizeof(part));
	uint32_t zeros = 0;
	for (uint32_t i = 0; i < 4096; i++)
		zeros += whole[i] == 0;
	assert_int_equal(payload_wrong(&origin, part, 4096), 4096 - zeros);
}

// What was placed elsewhere is wrong there.
static void another_place_is_another_pattern(void **)
{
	const struct payload_origin others[] = {{4, 7, 11, origin.va},
						{3, 8, 11, origin.va},
						{3, 7, 12, origin.va},
						{3, 7, 11, origin.va + 8}};
	payload_fill(&origin, whole, ROOM);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_true(payload_wrong(&others[i], whole, 4096) > 4000);
}
