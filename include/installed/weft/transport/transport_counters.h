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
	uint64_t data_packets;		  // sent, retransmissions included
	uint64_t data_bytes;		  // wire bytes of these
	uint64_t payload_bytes_new;	  // payload sent the first time
	uint64_t plane_bytes[PLANES_MAX]; // wire bytes of data sent per plane
	uint64_t rtx[RTX_REASON_COUNT];	  // retransmissions by reason
	uint64_t sacks_sent, sacks_received;
	uint64_t nacks_sent, nacks_received;
	uint64_t acks_sent, acks_received; // transport ACKs
	uint64_t naks_sent, naks_received; // transport NAKs
	uint64_t nacks_resource;	   // of those received: the target had no room
	uint64_t nacks_window;	       // of those received: the PSN was outside the target's window
	uint64_t data_received;	       // whole data packets, duplicates included
	uint64_t payload_bytes_placed; // payload placed (once per PSN)
	uint64_t duplicates;	       // whole data packets that were here before
	uint64_t rtx_placed;	       // repeats (MRC's say so) that were new here
	uint64_t rtx_spurious;	       // repeats that were here before
	uint64_t out_of_window;	       // PSN above the window or far below it: dropped
	uint64_t marks_received;       // data packets that came with CE
	uint64_t trims_received;       // trimmed headers
	uint64_t trims_last_hop;       // of these, trimmed at the last hop
	uint64_t trims_new;	       // of these, of packets that were not here: a NACK each
	uint64_t messages_sent, messages_received; // completed
	uint64_t messages_flushed;	       // work requests that ended with their QP in ERROR
	uint64_t payload_bytes_flushed;	       // of these; some may have been placed
	uint64_t paths_skipped, paths_retired; // EV state changes to SKIP, to ASSUMED_BAD
	uint64_t paths_replaced;	       // of those retired: a backup took the place
	uint64_t paths_reinstated;	       // from ASSUMED_BAD to GOOD or SKIP
	uint64_t probes_sent, probes_answered; // own probes; answers that were taken
	uint64_t probes_lost;		       // no answer came in time
	uint64_t probes_late;		       // of these, the answer came afterwards
	uint64_t probes_received;	       // of the peer's
	uint64_t qps_failed;		       // QPs that went to ERROR
	uint64_t qps_failed_remote;	       // of these, because their target said so
	uint64_t stamps_stale;	// echoed time stamps too old to tell the sendings of a packet apart
	uint64_t window_stalls; // the line was free, data waited for the window
	uint64_t no_qp;		// packets for a QP that is not there or is in ERROR: dropped
	uint64_t cnps_sent, cnps_received;	 // RC: congestion notifications
	uint64_t grants_sent, grants_received;	 // credits of a receiver
	uint64_t demands_sent, demands_received; // what senders asked for
	uint64_t answers_dropped; // SACKs, NACKs, ACKs and NAKs for which a plane's control queue
				  // had no room
	uint64_t refused[REFUSED_REASON_COUNT];	 // dropped; data are in data_received, too
	uint64_t contexts_given, contexts_taken; // to a QP that had none; of these, from another
	uint64_t posts_deferred;		 // refused: no context was to be had
	uint64_t packets_deferred;		 // data packets not taken for the same reason
	uint64_t answers_idle; // answers for a QP that has no context: nothing is out
	uint64_t port_downs;   // own ports that went down
	uint64_t requests_sent, requests_received;   // endpoint requests, repeated ones included
	uint64_t requests_lost;			     // that nobody answered, after all tries
	uint64_t responses_sent, responses_received; // endpoint responses
};

// How many packets were refused, for whatever reason.
static inline uint64_t transport_refused(const struct transport_counters *counters)
{
	uint64_t total = 0;
	for (int reason = 0; reason < REFUSED_REASON_COUNT; reason++)
		total += counters->refused[reason];
	return total;
}
