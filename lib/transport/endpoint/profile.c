// SPDX-License-Identifier: Apache-2.0
// The making of a profile: checked values, a hash of them, and the draw of generated ones. See
// profile.h.
#include <weft/core/integer.h>

#include "profile.h"

#include <errno.h>
#include <string.h>

// Bits that generated fields may fill, from the highest on. Of a port the two highest are set.
static uint32_t field_bits(const struct transport_config *config)
{
	return config->ev_bits == 16 ? EV_PORT_BITS : 32;
}

static uint64_t drawn_values(const struct ev_field *field)
{
	return field->is_even ? 1 : (uint64_t)field->max + 1;
}

// How many values the fields give that are drawn.
static uint64_t combinations(const struct transport_config *config)
{
	uint64_t count = 1;
	for (uint32_t i = 0; i < config->ev_field_count; i++)
		count *= drawn_values(&config->ev_fields[i]);
	return count;
}

// --- checks

static int check_fields(const struct transport_config *config, struct refusal *refusal)
{
	uint32_t bits = 0;
	if (config->ev_field_count < 1 || config->ev_field_count > EV_FIELDS_MAX)
		return refuse(refusal, -EINVAL, "% EV fields: must be 1 to %",
			      config->ev_field_count, EV_FIELDS_MAX);
	for (uint32_t i = 0; i < config->ev_field_count; i++) {
		const struct ev_field *field = &config->ev_fields[i];
		if (field->bits < 1 || field->bits > 32)
			return refuse(refusal, -EINVAL, "EV field % of % bits: must be 1 to 32", i,
				      field->bits);
		if (field->bits < 32 && field->max >> field->bits != 0)
			return refuse(refusal, -EINVAL, "EV field %: % does not fit in % bits", i,
				      field->max, field->bits);
		bits += field->bits;
	}
	if (bits > field_bits(config))
		return refuse(refusal, -EINVAL, "EV fields of % bits: there are %", bits,
			      field_bits(config));
	if (combinations(config) < ev_universe(config))
		return refuse(refusal, -EINVAL, "EV fields give % values, not %",
			      (int64_t)combinations(config), ev_universe(config));
	return 0;
}

static int check_values(const struct transport_config *config, struct refusal *refusal)
{
	const uint32_t *values = config->ev_values;
	if (values == NULL)
		return refuse(refusal, -EINVAL, "an explicit profile has no values");
	for (uint32_t i = 0; i < ev_universe(config); i++) {
		if (config->ev_bits == 16 && (values[i] < EV_PORT_FIRST || values[i] > UINT16_MAX))
			return refuse(refusal, -EINVAL, "EV % is %: a UDP port of % and up", i,
				      values[i], EV_PORT_FIRST);
		for (uint32_t other = i % config->planes; other < i; other += config->planes)
			if (values[other] == values[i]) // on one plane: the same path
				return refuse(refusal, -EINVAL, "EVs % and % are both %", other, i,
					      values[i]);
	}
	return 0;
}

static bool is_denied(const struct transport_config *config, uint32_t value)
{
	for (uint32_t i = 0; i < config->ev_denied_count; i++)
		if (config->ev_denied[i] == value)
			return true;
	return false;
}

// How many EVs of a table are denied: a value on several planes is so on all.
static uint32_t denied_in_table(const struct transport_config *config)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < ev_universe(config); i++)
		count += is_denied(config, config->ev_values[i]);
	return count;
}

static int refuse_denied(const struct transport_config *config, uint32_t denied,
			 struct refusal *refusal)
{
	if (denied < ev_universe(config))
		return 0;
	return refuse(refusal, -EINVAL, "% of % entropy values are denied: none is left", denied,
		      ev_universe(config));
}

int profile_check(const struct transport_config *config, struct refusal *refusal)
{
	int rc = refuse_denied(config, config->ev_denied_count, refusal);
	if (rc == 0 && config->ev_mode == EV_GENERATED)
		rc = check_fields(config, refusal);
	if (rc == 0 && config->ev_mode == EV_EXPLICIT)
		rc = check_values(config, refusal);
	if (rc == 0 && config->ev_mode == EV_EXPLICIT && config->ev_denied_count > 0)
		rc = refuse_denied(config, denied_in_table(config), refusal);
	if (rc == 0 && config->ev_mode == EV_AUTO && config->ev_denied_count != 0)
		return refuse(refusal, -EINVAL, "EVs that each QP draws cannot be denied by value");
	return rc;
}

uint64_t profile_bytes_for(uint32_t count)
{
	return BITMAP_WORDS((uint64_t)count) * sizeof(uint64_t) +
		((uint64_t)count + power_of_two(4, 2 * count)) * sizeof(uint32_t);
}

uint64_t profile_bytes(const struct transport_config *config)
{
	return config->ev_mode == EV_AUTO ? 0 : profile_bytes_for(ev_universe(config));
}

// --- making

uint32_t profile_find_on(const struct profile *profile, uint32_t ev, uint32_t plane)
{
	uint32_t mask = UINT32_MAX >> profile->shift;
	for (uint32_t at = profile_bucket(profile, ev);; at = (at + 1) & mask) {
		uint32_t entry = profile->buckets[at];
		if (entry == 0)
			return PROFILE_NO_EV;
		if (profile->values[entry - 1] == ev && (entry - 1) % profile->planes == plane)
			return entry - 1;
	}
}

// Puts a value in as the next number.
static void put(struct profile *profile, uint32_t ev)
{
	uint32_t mask = UINT32_MAX >> profile->shift;
	uint32_t at = profile_bucket(profile, ev);
	while (profile->buckets[at] != 0)
		at = (at + 1) & mask;
	profile->values[profile->count++] = ev;
	profile->buckets[at] = profile->count;
}

// The same, unless it is there.
static bool add(struct profile *profile, uint32_t ev)
{
	if (profile_find(profile, ev) != PROFILE_NO_EV)
		return false;
	put(profile, ev);
	return true;
}

// The value whose fields that are drawn, read as digits, make the number `rank`; the others are 0.
static uint32_t packed(const struct transport_config *config, uint64_t rank)
{
	uint32_t left = field_bits(config), ev = 0;
	for (uint32_t i = 0; i < config->ev_field_count; i++)
		left -= config->ev_fields[i].bits;
	for (uint32_t i = config->ev_field_count; i > 0; i--) { // from the lowest field
		const struct ev_field *field = &config->ev_fields[i - 1];
		uint64_t values = drawn_values(field);
		ev |= (uint32_t)(rank % values) << left;
		rank /= values;
		left += field->bits;
	}
	return config->ev_bits == 16 ? EV_PORT_FIRST | ev : ev;
}

// Draws different values, each set of them as likely as another: Floyd's method, which takes one
// random number for each, however few are left over.
static void generate(struct profile *profile, const struct transport_config *config,
		     struct rng *rng)
{
	uint64_t all = combinations(config);
	uint32_t count = ev_universe(config);
	for (uint64_t last = all - count; last < all; last++) {
		uint64_t rank = (uint64_t)(((unsigned __int128)rng_next(rng) * (last + 1)) >> 64);
		if (!add(profile, packed(config, rank)))
			add(profile, packed(config, last));
	}
}

// How far the next turn of a circle of `count` is from this one: all have their turn before one has
// a second, and those of few turns lie far apart, for neighbours lead to the same T1.
static uint64_t golden_step(uint64_t count)
{
	uint64_t step = count * 618 / 1000;
	while (step > 1 && greatest_divisor(count, step) != 1)
		step--;
	return step > 1 ? step : 1;
}

// What fields that are even add to the `turn`th EV of a plane.
static uint32_t even_part(const struct transport_config *config, const uint64_t *starts,
			  uint32_t turn)
{
	uint32_t left = field_bits(config), ret = 0;
	for (uint32_t i = 0; i < config->ev_field_count; i++) {
		const struct ev_field *field = &config->ev_fields[i];
		uint64_t count = (uint64_t)field->max + 1;
		left -= field->bits;
		if (field->is_even)
			ret |= (uint32_t)((starts[i] + turn * golden_step(count)) % count) << left;
	}
	return ret;
}

// Gives the numbers out anew: what was drawn last is more often high.
static void shuffle(struct profile *profile, const struct transport_config *config, struct rng *rng)
{
	uint64_t starts[EV_FIELDS_MAX] = {0};
	for (uint32_t last = profile->count - 1; last > 0; last--) {
		uint32_t other = rng_below(rng, last + 1), value = profile->values[last];
		profile->values[last] = profile->values[other];
		profile->values[other] = value;
	}
	uint32_t count = profile->count;
	profile->count = 0;
	memset(profile->buckets, 0, (UINT64_C(1) << (32 - profile->shift)) * sizeof(uint32_t));
	for (uint32_t i = 0; i < config->ev_field_count; i++)
		if (config->ev_fields[i].is_even)
			starts[i] = rng_next(rng) % ((uint64_t)config->ev_fields[i].max + 1);
	for (uint32_t i = 0; i < count; i++)
		add(profile, profile->values[i] | even_part(config, starts, i / config->planes));
}

// A value is denied on all of its planes.
static void deny(struct profile *profile, const struct transport_config *config)
{
	for (uint32_t i = 0; i < config->ev_denied_count; i++)
		for (uint32_t plane = 0; plane < profile->planes; plane++)
			profile_deny(profile,
				     profile_find_on(profile, config->ev_denied[i], plane));
}

void profile_deny(struct profile *profile, uint32_t number)
{
	if (number == PROFILE_NO_EV || bitmap_get(profile->denied, number))
		return;
	bitmap_set(profile->denied, number);
	profile->denied_count++;
}

void profile_allow(struct profile *profile, uint32_t number)
{
	if (!bitmap_get(profile->denied, number))
		return;
	bitmap_clear(profile->denied, number);
	profile->denied_count--;
}

void profile_make(struct profile *profile, void *memory, const struct transport_config *config,
		  struct rng rng)
{
	uint32_t count = ev_universe(config), buckets = power_of_two(4, 2 * count);
	*profile = (struct profile){.shift = (uint32_t)__builtin_clz(buckets) + 1,
				    .planes = config->planes,
				    .denied = memory};
	profile->values = (uint32_t *)(profile->denied + BITMAP_WORDS(count));
	profile->buckets = profile->values + count;
	if (config->ev_mode == EV_GENERATED) {
		generate(profile, config, &rng);
		shuffle(profile, config, &rng);
	}
	for (uint32_t i = 0; config->ev_mode == EV_EXPLICIT && i < count; i++) {
		uint32_t ev = config->ev_values[i];
		profile->has_repeats |= profile_find(profile, ev) != PROFILE_NO_EV;
		put(profile, ev);
	}
	deny(profile, config);
}

int profile_init(struct profile *profile, struct arena *arena,
		 const struct transport_config *config, struct rng rng)
{
	void *memory = arena_draw(arena, ARENA_TRANSPORT, 1, profile_bytes(config));
	if (!memory)
		return -ENOMEM;
	profile_make(profile, memory, config, rng);
	return 0;
}
