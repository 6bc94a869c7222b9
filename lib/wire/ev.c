// SPDX-License-Identifier: Apache-2.0
// Entropy values, field by field, as the API of MRC 1.0 describes it: a profile is a list of fields
// that say which of their bits an EV fills. What it is expanded to is a source port, a flow label,
// or the uSIDs of SRv6 addresses.

#include <weft/wire/wire.h>

#include <errno.h>
#include <string.h>

static uint32_t ones(uint32_t bits)
{
	return bits == 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
}

// The next `count` bits of an EV.
static uint32_t take(const uint8_t *ev, uint32_t *at, uint32_t count)
{
	uint32_t value = 0;
	for (uint32_t end = *at + count; *at < end; ++*at)
		value = value << 1 | (ev[*at / 8] >> (7 - *at % 8) & 1u);
	return value;
}

// Puts `bits`, from the highest on, where `mask` is set, from the highest on.
static uint32_t spread(uint32_t mask, uint32_t bits)
{
	uint32_t value = 0;
	for (; mask != 0; mask &= mask - 1, bits >>= 1) // both from their low ends: the same
		value |= (bits & 1) != 0 ? mask & -mask : 0;
	return value;
}

// Writes the low `width` bits of a value behind the `at` bits that are there.
static void append(uint8_t *to, uint32_t at, uint32_t value, uint32_t width)
{
	while (width > 0) {
		uint32_t room = 8 - at % 8, piece = width < room ? width : room;
		uint32_t bits = value >> (width - piece) & ones(piece);
		to[at / 8] |= (uint8_t)(bits << (room - piece));
		at += piece;
		width -= piece;
	}
}

bool wire_ev_expand(const struct wire_ev_field *fields, size_t count, const uint8_t *ev,
		    size_t bytes, uint8_t *ret)
{
	uint32_t from = 0, to = 0;
	bool is_good = true;
	memset(ret, 0, bytes);
	for (size_t i = 0; i < count; i++) {
		const struct wire_ev_field *field = &fields[i];
		uint32_t bits = take(ev, &from, (uint32_t)__builtin_popcount(field->mask));
		check(to + field->width <= bytes * 8);
		append(ret, to, (field->init & ~field->mask) | spread(field->mask, bits),
		       field->width);
		to += field->width;
		is_good = is_good && (field->max == 0 || bits <= field->max);
	}
	return is_good;
}

int wire_ev_check(const struct wire_ev_field *fields, size_t count, size_t bytes,
		  struct refusal *refusal)
{
	size_t bits = 0;
	for (size_t i = 0; i < count; i++) {
		const struct wire_ev_field *field = &fields[i];
		if (field->width < 1 || field->width > 32)
			return refuse(refusal, -EINVAL, "EV field % of % bits: 1 to 32", i,
				      field->width);
		if ((field->init | field->mask) & ~ones(field->width))
			return refuse(refusal, -EINVAL,
				      "EV field %: start value or mask is wider than its % bits", i,
				      field->width);
		if (field->max > ones((uint32_t)__builtin_popcount(field->mask)))
			return refuse(refusal, -EINVAL,
				      "EV field %: the mask has no room for its highest value %", i,
				      field->max);
		bits += field->width;
	}
	if (bits > bytes * 8)
		return refuse(refusal, -EINVAL, "EV fields of % bits in a format of %", bits,
			      bytes * 8);
	return 0;
}
