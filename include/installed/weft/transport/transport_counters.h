// SPDX-License-Identifier: Apache-2.0
// What an endpoint counts, and the reasons that it counts by.
#pragma once

#include <stdint.h>

#include <weft/measure/measure.h>

// Why a packet is sent again; also the reasons of transport_counters.rtx[].
enum rtx_reason {
	RTX_NACK,
	RTX_TIMEOUT,
	RTX_HOLE,
	RTX_SLEEK, // too many packets out of order, or a probe overtook it (transport_config.sleek)
	RTX_ACK,   // no transport ACK came, or nothing at the end of what may be sent: tail.h
	RTX_REASON_COUNT
};

// Why a packet that reached its QP was refused: nothing was placed, no window moved.
enum refused_reason {
	REFUSED_KEY,	  // data for a key that no region has
	REFUSED_BOUNDS,	  // data that leaves its region
	REFUSED_LENGTH,	  // data whose payload contradicts its opcode or the message's length
	REFUSED_IMM,	  // a WRITE_WITH_IMM beyond the limit, or of a number that is taken or done
	REFUSED_OPCODE,	  // not an opcode of this endpoint
	REFUSED_SACK,	  // tells of PSNs never sent
	REFUSED_NACK,	  // of a PSN never sent, over an EV that is not the QP's, or without sense
	REFUSED_PROBE,	  // answers a probe that is not out any more, or never was; asks without a
			  // number
	REFUSED_ACK,	  // transport ACK or NAK of a request never sent, or without sense
	REFUSED_REQUEST,  // an endpoint request of ports that cannot be, or of an unknown operation
	REFUSED_RESPONSE, // an endpoint response that answers nothing
	REFUSED_REASON_COUNT
};

// Everything an endpoint counts. All are events of the network, none is an error.
struct transport_counters {
#define COUNTER(name, ...) uint64_t name;
#include <weft/transport/transport_counters.def>
#undef COUNTER
	uint64_t plane_bytes[PLANES_MAX];	// wire bytes of data sent per plane
	uint64_t rtx[RTX_REASON_COUNT];		// retransmissions by reason
	uint64_t rtx_placed;			// repeats (MRC's say so) that were new here
	uint64_t rtx_spurious;			// repeats that were here before
	uint64_t refused[REFUSED_REASON_COUNT]; // dropped; data are in data_received, too
};

// How many packets were refused, for whatever reason.
static inline uint64_t transport_refused(const struct transport_counters *counters)
{
	uint64_t total = 0;
	for (int reason = 0; reason < REFUSED_REASON_COUNT; reason++)
		total += counters->refused[reason];
	return total;
}
