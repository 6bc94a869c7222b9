// SPDX-License-Identifier: Apache-2.0
// Where the entropy values of an endpoint come from when its QPs do not draw their own: a table
// that the operator gives (explicit), or values drawn inside the ranges of fields (generated). One
// profile serves all QPs of an endpoint. The modes and the packing of fields are those of the
// controller's API, see docs/protocol.md; lib/wire/ev.c expands such a value into what a frame
// carries.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/bitmap.h>
#include <weft/core/refusal.h>
#include <weft/core/rng.h>
#include <weft/transport/transport.h>

#define PROFILE_NO_EV UINT32_MAX

struct profile {
	uint32_t count;
	uint32_t shift;	   // 32 minus bits of a place in `buckets`
	uint32_t *values;  // [count] by EV number
	uint32_t *buckets; // hash: number + 1 of the EV, 0 = none; twice as many as EVs at least
	uint64_t *denied;  // [count] bits: what new QPs must not use
	uint32_t denied_count;
	uint32_t planes;
	bool has_repeats; // some value is on several planes
};

// Whether the values or fields of a configuration, and what it denies, can be. -EINVAL.
int profile_check(const struct transport_config *config, struct refusal *refusal);

// Bytes of a profile of so many values; of the one that profile_init() draws: 0 with EV_AUTO.
uint64_t profile_bytes_for(uint32_t count);
uint64_t profile_bytes(const struct transport_config *config);

// Makes the profile of a checked configuration; `rng` draws generated values. -ENOMEM.
int profile_init(struct profile *profile, struct arena *arena,
		 const struct transport_config *config, struct rng rng);

// The same in zeroed memory of profile_bytes_for().
void profile_make(struct profile *profile, void *memory, const struct transport_config *config,
		  struct rng rng);

// New QPs must not use this EV number, if it is one; or may again.
void profile_deny(struct profile *profile, uint32_t number);
void profile_allow(struct profile *profile, uint32_t number);

// The number of the EV of that value on that plane, PROFILE_NO_EV when there is none.
uint32_t profile_find_on(const struct profile *profile, uint32_t ev, uint32_t plane);

// Place of a value in `buckets`, where a search for it begins.
static inline uint32_t profile_bucket(const struct profile *profile, uint32_t ev)
{
	return (ev * UINT32_C(0x9e3779b1)) >> profile->shift;
}

// The number of the EV of that value, the first given of several; PROFILE_NO_EV when it is not in
// the profile.
static inline uint32_t profile_find(const struct profile *profile, uint32_t ev)
{
	uint32_t mask = UINT32_MAX >> profile->shift;
	for (uint32_t at = profile_bucket(profile, ev);; at = (at + 1) & mask) {
		uint32_t entry = profile->buckets[at];
		if (entry == 0)
			return PROFILE_NO_EV;
		if (profile->values[entry - 1] == ev)
			return entry - 1;
	}
}
