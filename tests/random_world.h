// SPDX-License-Identifier: Apache-2.0
// What tests that draw worlds from a seed share: the text of a scenario as it grows, draws, and
// numbers from the environment that choose the seeds.
#pragma once

#include "rig.h"

#define TEXT_BYTES 8192

struct text {
	char at[TEXT_BYTES];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text->at + text->used, TEXT_BYTES - text->used, format, arguments);
	va_end(arguments);
	assert_true(length >= 0 && text->used + (size_t)length < TEXT_BYTES);
	text->used += (size_t)length;
}

// Uniform in [low, high].
static uint32_t pick(struct rng *rng, uint32_t low, uint32_t high)
{
	return low + rng_below(rng, high - low + 1);
}

// One world of three has the entropy values of IPv4 frames. Drawn last: the rest stays as it was.
__attribute__((unused)) static void add_wire(struct text *text, struct rng *rng)
{
	if (pick(rng, 0, 2) == 0)
		add(text, "wire: {ip: 4}\n");
}

// How packets and requests are acknowledged; keys of section transport. Drawn without moving the
// dice: the rest stays as it was.
__attribute__((unused)) static void add_acknowledgement(struct text *text, const struct rng *rng,
							bool has_offers)
{
	uint64_t bits = rng_mix(rng->state ^ 0x61636b);
	add(text, "  completion: %s\n  rtt: %s\n  service_time: %s\n", bits & 3 ? "ack" : "sack",
	    bits & 4 ? "local" : "stamp", bits & 8 ? "true" : "false");
	if (has_offers && bits & 16)
		add(text, "  dynamic_mpr: true\n  mpr_budget: 1024\n");
}

// The number in environment variable `name`, else `otherwise`.
static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

// How large random traffic may become.
struct traffic_range {
	uint32_t incast_spare; // NICs at least that an incast leaves out
	uint32_t ring_kib_max;
	uint32_t flow_bytes_max;
};

// One of four kinds of traffic.
__attribute__((unused)) static void add_some_traffic(struct text *text, struct rng *rng,
						     uint32_t nics,
						     const struct traffic_range *range)
{
	switch (pick(rng, 0, 3)) {
	case 0:
		add(text, "traffic: {kind: permutation, bytes: %uB}\n", pick(rng, 1, 300000));
		break;
	case 1:
		add(text, "traffic: {kind: incast, senders: %u, bytes: %uB}\n",
		    pick(rng, 2, nics - range->incast_spare), pick(rng, 1, 150000));
		break;
	case 2:
		add(text, "traffic: {kind: ring, collective: all_reduce, bytes: %uKiB}\n",
		    pick(rng, 32, range->ring_kib_max));
		break;
	default:
		add(text, "traffic:\n  kind: flows\n  flows:\n");
		for (uint32_t i = pick(rng, 1, 20); i > 0; i--) {
			uint32_t from = pick(rng, 0, nics - 1);
			uint32_t to = (from + pick(rng, 1, nics - 1)) % nics;
			add(text, "    - {from: %u, to: %u, bytes: %uB, start: %uns}\n", from, to,
			    pick(rng, 1, range->flow_bytes_max), pick(rng, 0, 20000));
		}
	}
}
