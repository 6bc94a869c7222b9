// SPDX-License-Identifier: Apache-2.0
// Frames that a device sends at a time which they say (send-on-timestamp), by a clock of its own
// that is seen to agree with ours. See device_clock.h.
#pragma once

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include <weft/ports/device.h>
#include <weft/ports/device_clock.h>
#include <weft/ports/pacing.h>

struct dpdk_ports;

struct timed {
	bool is_asked; // the port was configured for it
	bool is_on;
	struct device_clock clock;
	char why_not[DEVICE_WHY_BYTES];
};

// What a time stands in, of all frames.
struct timed_field {
	int at; // offset
	uint64_t flag;
	pace_clock_fn *clock; // ours
	void *context;
};

// The offload that a port is configured with for it, or 0 with the reason.
uint64_t timed_offload(struct timed *timed, const char *driver, uint64_t capable);

// Puts the moment into a frame: `ns` of our clock.
static inline void timed_stamp(const struct timed_field *field, const struct timed *timed,
			       struct rte_mbuf *mbuf, int64_t ns)
{
	*RTE_MBUF_DYNFIELD(mbuf, field->at, rte_mbuf_timestamp_t *) = device_clock_at(&timed->clock,
										      ns);
	mbuf->ol_flags |= field->flag;
}

// Reads the clock of a port that runs while it sends by it, and gives it up where it went astray.
void timed_check(struct timed *timed, const struct timed_field *field, uint16_t port);

// Reads it before a run, some ms long; from then on frames are sent by it, if it agrees.
void timed_begin(struct timed *timed, struct timed_field *field, uint16_t port);
