// SPDX-License-Identifier: Apache-2.0
// Entropy values expanded field by field: profiles like those of MRC's API worked out by hand, and
// random ones beside an expansion that goes bit by bit over text.

#include "wire_rig.h"

#define BITS_MAX (8 * WIRE_EV_BYTES_MAX)

static void structured_values_of_three_fields_are_packed_high_bit_first(void **)
{
	uint8_t out[2];
	static const struct wire_ev_field all[] = {
		{.mask = 0xff, .max = 0xff, .width = 8},
		{.mask = 0xf, .max = 0xf, .width = 4},
		{.mask = 0xf, .max = 0xf, .width = 4},
	};
	static const struct wire_ev_field some[] = {
		{.init = 0xa5, .mask = 0x0f, .max = 0xf, .width = 8}, // its 5 gives way
		{.init = 0, .mask = 0xf, .max = 0xf, .width = 4},
		{.init = 0x8, .mask = 0x7, .max = 0x7, .width = 4},
	};
	assert_int_equal(wire_ev_check(all, 3, 2, NULL), 0);
	assert_true(wire_ev_expand(all, 3, (const uint8_t[]){0xab, 0xcd}, 2, out));
	assert_memory_equal(out, ((const uint8_t[]){0xab, 0xcd}), 2);
	// 1101 0011 101: d, 3, 5
	assert_int_equal(wire_ev_check(some, 3, 2, NULL), 0);
	assert_true(wire_ev_expand(some, 3, (const uint8_t[]){0xd3, 0xa0}, 2, out));
	assert_memory_equal(out, ((const uint8_t[]){0xad, 0x3d}), 2);
}

static void a_mask_with_holes_takes_the_next_bits_of_the_value(void **)
{
	uint8_t out[4];
	static const struct wire_ev_field fields[] = {
		{.init = 0x1000, .mask = 0x0f0f, .max = 0xff, .width = 16},
		{.init = 0x2000, .mask = 0x0f0f, .max = 0xff, .width = 16},
	};
	assert_int_equal(wire_ev_check(fields, 2, 4, NULL), 0);
	assert_true(wire_ev_expand(fields, 2, (const uint8_t[]){0x5a, 0x3c}, 4, out));
	assert_memory_equal(out, ((const uint8_t[]){0x15, 0x0a, 0x23, 0x0c}), 4);
}

static void a_block_and_four_usids_leave_the_rest_of_an_address_zero(void **)
{
	uint8_t out[16];
	struct wire_ev_field fields[5] = {{.init = 0x13131313, .width = 32}};
	static const uint8_t expected[16] = {0x13, 0x13, 0x13, 0x13, 0x01, 0x01,
					     0x02, 0x02, 0x03, 0x03, 0x04, 0x04};
	for (uint32_t i = 1; i < 5; i++)
		fields[i] = (struct wire_ev_field){
			.init = i << 8, .mask = 0x000f, .max = 0xf, .width = 16};
	memset(out, 0xee, sizeof(out));
	assert_int_equal(wire_ev_check(fields, 5, 16, NULL), 0);
	assert_true(wire_ev_expand(fields, 5, (const uint8_t[]){0x12, 0x34}, 16, out));
	assert_memory_equal(out, expected, 16);
}

static void a_segment_of_four_usids_makes_224_bits(void **)
{
	uint8_t ev[20], out[32], expected[32] = {0};
	struct wire_ev_field fields[12];
	for (uint32_t i = 0; i < 12; i++)
		fields[i] = (struct wire_ev_field){.mask = 0xffff, .width = 16};
	fields[0] = (struct wire_ev_field){.init = 0xcafecafe, .width = 32};
	fields[7] = (struct wire_ev_field){.init = 0xdecafbad, .width = 32};
	for (uint8_t i = 0; i < sizeof(ev); i++)
		ev[i] = (uint8_t)(i * 11 + 1);
	memcpy(expected, (const uint8_t[]){0xca, 0xfe, 0xca, 0xfe}, 4);
	memcpy(expected + 4, ev, 12);
	memcpy(expected + 16, (const uint8_t[]){0xde, 0xca, 0xfb, 0xad}, 4);
	memcpy(expected + 20, ev + 12, 8);
	memset(out, 0xee, sizeof(out));
	assert_int_equal(wire_ev_check(fields, 12, 28, NULL), 0); // 224 bits
	assert_true(wire_ev_expand(fields, 12, ev, 32, out));
	assert_memory_equal(out, expected, 32);
}

static void a_value_above_a_fields_highest_is_told_and_expanded(void **)
{
	uint8_t out[2];
	static const struct wire_ev_field fields[] = {
		{.init = 0x40, .mask = 0x0f, .max = 11, .width = 8},
		{.mask = 0xff, .width = 8}, // any
	};
	assert_true(wire_ev_expand(fields, 2, (const uint8_t[]){0xbf, 0xf0}, 2, out));
	assert_memory_equal(out, ((const uint8_t[]){0x4b, 0xff}), 2);
	assert_false(wire_ev_expand(fields, 2, (const uint8_t[]){0xcf, 0xf0}, 2, out));
	assert_memory_equal(out, ((const uint8_t[]){0x4c, 0xff}), 2);
}

static struct wire_ev_field random_field(struct rng *rng)
{
	uint32_t width = 1 + rng_below(rng, 32);
	uint32_t all = width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1;
	uint32_t mask = (uint32_t)rng_next(rng) & all;
	mask &= (uint32_t)rng_next(rng); // a quarter of the bits
	if (rng_below(rng, 4) == 0)
		mask = rng_below(rng, 2) ? all : 0;
	return (struct wire_ev_field){
		.init = (uint32_t)rng_next(rng) & all, .mask = mask, .width = (uint8_t)width};
}

// The same as text of 0 and 1: each field's bits from the highest on, from the EV where masked.
static void expand_text(const struct wire_ev_field *fields, size_t count, const uint8_t *ev,
			char *text)
{
	uint32_t from = 0;
	for (size_t i = 0; i < count; i++)
		for (int bit = fields[i].width - 1; bit >= 0; bit--) {
			bool is_one = fields[i].init >> bit & 1;
			if (fields[i].mask >> bit & 1) {
				is_one = ev[from / 8] >> (7 - from % 8) & 1;
				from++;
			}
			*text++ = is_one ? '1' : '0';
		}
	*text = 0;
}

static void random_profiles_expand_as_their_bits_one_by_one(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (int i = 0; i < 20000; i++) {
		struct wire_ev_field fields[BITS_MAX];
		uint8_t ev[WIRE_EV_BYTES_MAX], out[WIRE_EV_BYTES_MAX];
		char text[BITS_MAX + 1];
		size_t count = 0, bits = 0;
		while (rng_below(&rng, 12) != 0) {
			fields[count] = random_field(&rng);
			if (bits + fields[count].width > BITS_MAX)
				break;
			bits += fields[count++].width;
		}
		for (size_t at = 0; at < sizeof(ev); at++)
			ev[at] = (uint8_t)rng_next(&rng);
		assert_int_equal(wire_ev_check(fields, count, sizeof(out), NULL), 0);
		assert_true(wire_ev_expand(fields, count, ev, sizeof(out), out));
		expand_text(fields, count, ev, text);
		for (size_t bit = 0; bit < BITS_MAX; bit++)
			assert_int_equal(out[bit / 8] >> (7 - bit % 8) & 1,
					 bit < bits && text[bit] == '1');
	}
}

static void a_profile_that_cannot_be_is_refused(void **)
{
	static const struct {
		struct wire_ev_field field;
		const char *part;
	} wrong[] = {
		{{.width = 0}, "1 to 32"},
		{{.width = 33}, "1 to 32"},
		{{.init = 0x10, .width = 4}, "wider"},
		{{.mask = 0x10, .width = 4}, "wider"},
		{{.mask = 0x5, .max = 4, .width = 4}, "highest value 4"},
		{{.max = 1, .width = 4}, "highest value 1"},
	};
	struct wire_ev_field two[2] = {{.width = 32}, {.width = 1}};
	struct refusal refusal;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memset(&refusal, 0, sizeof(refusal));
		assert_true(wire_ev_check(&wrong[i].field, 1, 16, &refusal) < 0);
		assert_non_null(strstr(refusal.text, wrong[i].part));
	}
	assert_int_equal(wire_ev_check(two, 1, 4, &refusal), 0);
	assert_true(wire_ev_check(two, 2, 4, &refusal) < 0);
	assert_non_null(strstr(refusal.text, "33 bits in a format of 32"));
}
