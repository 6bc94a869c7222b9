// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the closed forms: sizes, lines, ways, and the time of one flow on an idle net.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "validate.h"

#define PAYLOAD 4086u // of a full packet
#define HEADER 64u
#define ACK 64u // on the line
#define FULL (PAYLOAD + HEADER)

// Links at 100 Gb/s with 1 us each, or at 800 Gb/s with 0.5 us, and 0.5 us per switch.
struct way {
	uint32_t links;
	bool is_fast;
};

static inline ps_t way_line(const struct way *way, uint64_t bytes)
{
	return (ps_t)bytes * (way->is_fast ? 10 : 80);
}

static inline ps_t way_delay(const struct way *way)
{
	if (way->is_fast)
		return (ps_t)(2 * way->links - 1) * 500 * PS_PER_NS;
	return way->links * PS_PER_US;
}

static inline uint32_t form_packets(uint64_t bytes)
{
	return (uint32_t)((bytes + PAYLOAD - 1) / PAYLOAD);
}

// Wire bytes of the last packet.
static inline uint64_t form_last(uint64_t bytes)
{
	return bytes - (uint64_t)(form_packets(bytes) - 1) * PAYLOAD + HEADER;
}

static inline ps_t form_answer_ps(const struct way *way)
{
	return way->links * way_line(way, ACK) + way_delay(way);
}

// Until the receiver has all.
static inline ps_t form_there_ps(const struct way *way, uint64_t bytes)
{
	uint32_t packets = form_packets(bytes);
	ps_t there = way->links * way_line(way, form_last(bytes));
	if (packets > 1)
		there = (packets + way->links - 2) * way_line(way, FULL) +
			way_line(way, form_last(bytes));
	return there + way_delay(way);
}

// Until the sender knows it.
static inline ps_t form_flow_ps(const struct way *way, uint64_t bytes)
{
	return form_there_ps(way, bytes) + form_answer_ps(way);
}

static inline struct claim claim_of(const char *name, const char *source, double expected,
				    double tolerance, const char *why)
{
	struct claim claim = {
		.source = source, .unit = "us", .expected = expected, .tolerance = tolerance};
	snprintf(claim.name, sizeof(claim.name), "%s", name);
	snprintf(claim.why, sizeof(claim.why), "%s", why);
	return claim;
}

static inline double us_of(ps_t time)
{
	return (double)time / PS_PER_US;
}
