// SPDX-License-Identifier: Apache-2.0
// The making of a profile: checked values, a hash of them, and the draw of generated ones. See
// profile.h.
#include "profile.h"

#include <errno.h>
#include <string.h>

// Bits that generated fields may fill, from the highest on. Of a port the two highest are set.
static uint32_t field_bits(const struct transport_config *config)
{
	return config->ev_bits == 16 ? EV_PORT_BITS : 32;
}

// How many values the fields give.
static uint64_t combinations(const struct transport_config *config)
{
	uint64_t count = 1;
	for (uint32_t i = 0; i < config->ev_field_count; i++)
		count *= (uint64_t)config->ev_fields[i].max + 1;
	return count;
}

static uint32_t buckets_for(uint32_t count)
{
	uint32_t buckets = 4;
	while (buckets < 2 * count)
		buckets *= 2;
	return buckets;
}

// --- checks

static int check_fields(const struct transport_config *config, struct refusal *refusal)
{
	uint32_t bits = 0;
	if (config->ev_field_count < 1 || config->ev_field_count > EV_FIELDS_MAX)
		return refuse(refusal, -EINVAL, "% EV fields: must be 1 to %",
			      config->ev_field_count, EV_FIELDS_MAX, 0);
	for (uint32_t i = 0; i < config->ev_field_count; i++) {
		const struct ev_field *field = &config->ev_fields[i];
		if (field->bits < 1 || field->bits > 32)
			return refuse(refusal, -EINVAL, "EV field % of % bits: must be 1 to 32", i,
				      field->bits, 0);
		if (field->bits < 32 && field->max >> field->bits != 0)
			return refuse(refusal, -EINVAL, "EV field %: % does not fit in % bits", i,
				      field->max, field->bits);
		bits += field->bits;
	}
	if (bits > field_bits(config))
		return refuse(refusal, -EINVAL, "EV fields of % bits: there are %", bits,
			      field_bits(config), 0);
	if (combinations(config) < ev_universe(config))
		return refuse(refusal, -EINVAL, "EV fields give % values, not %",
			      (int64_t)combinations(config), ev_universe(config), 0);
	return 0;
}

static int check_values(const struct transport_config *config, struct refusal *refusal)
{
	const uint32_t *values = config->ev_values;
	if (values == NULL)
		return refuse(refusal, -EINVAL, "an explicit profile has no values", 0, 0, 0);
	for (uint32_t i = 0; i < ev_universe(config); i++) {
		if (config->ev_bits == 16 && (values[i] < EV_PORT_FIRST || values[i] > UINT16_MAX))
			return refuse(refusal, -EINVAL, "EV % is %: a UDP port of % and up", i,
				      values[i], EV_PORT_FIRST);
		for (uint32_t other = 0; other < i; other++)
			if (values[other] == values[i])
				return refuse(refusal, -EINVAL, "EVs % and % are both %", other, i,
					      values[i]);
	}
	return 0;
}

int profile_check(const struct transport_config *config, struct refusal *refusal)
{
	if (config->ev_denied_count >= ev_universe(config))
		return refuse(refusal, -EINVAL, "% of % entropy values are denied: none is left",
			      config->ev_denied_count, ev_universe(config), 0);
	if (config->ev_mode == EV_GENERATED)
		return check_fields(config, refusal);
	if (config->ev_mode == EV_EXPLICIT)
		return check_values(config, refusal);
	if (config->ev_denied_count != 0)
		return refuse(refusal, -EINVAL, "EVs that each QP draws cannot be denied by value",
			      0, 0, 0);
	return 0;
}

uint64_t profile_bytes(const struct transport_config *config)
{
	uint64_t count = ev_universe(config);
	if (config->ev_mode == EV_AUTO)
		return 0;
	return BITMAP_WORDS(count) * sizeof(uint64_t) +
		(count + buckets_for((uint32_t)count)) * sizeof(uint32_t);
}

// --- making

// Puts a value in as the next number, unless it is there.
static bool add(struct profile *profile, uint32_t ev)
{
	if (profile_find(profile, ev) != PROFILE_NO_EV)
		return false;
	uint32_t mask = UINT32_MAX >> profile->shift;
	uint32_t at = profile_bucket(profile, ev);
	while (profile->buckets[at] != 0)
		at = (at + 1) & mask;
	profile->values[profile->count++] = ev;
	profile->buckets[at] = profile->count;
	return true;
}

// The value whose fields, read as digits, make the number `rank`.
static uint32_t packed(const struct transport_config *config, uint64_t rank)
{
	uint32_t left = field_bits(config), ev = 0;
	for (uint32_t i = 0; i < config->ev_field_count; i++)
		left -= config->ev_fields[i].bits;
	for (uint32_t i = config->ev_field_count; i > 0; i--) { // from the lowest field
		const struct ev_field *field = &config->ev_fields[i - 1];
		uint64_t values = (uint64_t)field->max + 1;
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

// Gives the numbers out anew: what was drawn last is more often high.
static void shuffle(struct profile *profile, struct rng *rng)
{
	for (uint32_t left = profile->count; left > 1; left--) {
		uint32_t other = rng_below(rng, left), last = left - 1;
		uint32_t value = profile->values[last];
		profile->values[last] = profile->values[other];
		profile->values[other] = value;
	}
	uint32_t count = profile->count;
	profile->count = 0;
	memset(profile->buckets, 0, (UINT64_C(1) << (32 - profile->shift)) * sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
		add(profile, profile->values[i]);
}

static void deny(struct profile *profile, const struct transport_config *config)
{
	for (uint32_t i = 0; i < config->ev_denied_count; i++) {
		uint32_t index = profile_find(profile, config->ev_denied[i]);
		if (index == PROFILE_NO_EV || bitmap_get(profile->denied, index))
			continue;
		bitmap_set(profile->denied, index);
		profile->denied_count++;
	}
}

int profile_init(struct profile *profile, struct arena *arena,
		 const struct transport_config *config, struct rng rng)
{
	uint32_t count = ev_universe(config), buckets = buckets_for(count);
	*profile = (struct profile){.shift = (uint32_t)__builtin_clz(buckets) + 1};
	profile->denied = arena_draw(arena, ARENA_TRANSPORT, 1, profile_bytes(config));
	if (!profile->denied)
		return -ENOMEM;
	profile->values = (uint32_t *)(profile->denied + BITMAP_WORDS(count));
	profile->buckets = profile->values + count;
	if (config->ev_mode == EV_GENERATED) {
		generate(profile, config, &rng);
		shuffle(profile, &rng);
	}
	for (uint32_t i = 0; config->ev_mode == EV_EXPLICIT && i < count; i++)
		add(profile, config->ev_values[i]);
	deny(profile, config);
	return 0;
}
