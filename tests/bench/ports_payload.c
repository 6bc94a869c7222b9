// SPDX-License-Identifier: Apache-2.0
// Comparing a packet with the payload pattern is one pass over it: it takes no longer than writing
// the pattern does. The shortest of many tries counts, so that others on the machine do not.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <weft/ports/payload.h>
#include <weft/ports/tick.h>

#define TRIES 20000
#define BYTES 4096u
#define MOST 1.5

static uint64_t shorter(uint64_t least, uint64_t began)
{
	uint64_t took = ticks() - began;
	return took < least ? took : least;
}

static void a_packet_is_compared_in_one_pass(void **)
{
	static uint8_t packet[BYTES];
	const struct payload_origin spot = {1, 2, 3, 4096};
	uint64_t fill = UINT64_MAX, compare = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t began = ticks();
		payload_fill(&spot, packet, BYTES);
		fill = shorter(fill, began);
		began = ticks();
		assert_int_equal(payload_wrong(&spot, packet, BYTES), 0);
		compare = shorter(compare, began);
	}
	printf("ticks for a packet: written %u, compared %u\n", (unsigned)fill, (unsigned)compare);
	assert_true((double)compare <= MOST * (double)fill);
}
