// SPDX-License-Identifier: Apache-2.0
// What cases have to know of the fabric under test, and how much traffic a case has on it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/refusal.h>
#include <weft/scenario.h>

struct facts {
	uint32_t nics, nics_per_host, planes;
	uint32_t nics_per_t0, t0_count; // 0: its switches have no tiers
	uint32_t ups;			// links of a T0 upwards, in a plane
	uint32_t ways;			// from a T0 to one far away, in a plane; 0: not known
	double nic_rate_bps;
	double up_share;    // capacity above a T0 (of a dumbbell: between its switches) over that
			    // below it, at most 1
	double trunk_share; // rate of a link upwards over that of a NIC's port
	double wire_share;  // payload of a full packet over all of it
	uint64_t payload_bytes;
	ps_t base_rtt_ps;
	uint32_t ecn_share_ppb; // 0: all
	uint32_t mtu_bytes;	// a full packet on the line
	uint64_t sack_bytes;
	double scaleup_bps; // of a GPU within its host; 0: NICs carry all
	ps_t near_rtt_ps;   // between two NICs of a T0
	bool has_pfc, has_trim, has_ecn, is_mrc;
	enum path_policy path;
	uint64_t ecn_low_bytes, ecn_high_bytes;
	uint64_t queue_bytes;  // of a port of a switch
	uint64_t window_bytes; // at most in flight of a connection
	uint32_t far;	       // a NIC that NIC 0 reaches through the top of the fabric
	bool is_quick;
};

// -errno with place and reason when this is no fabric.
int facts_of(struct facts *ret, struct scenario *scenario, bool is_quick, struct refusal *refusal);

// How long traffic has to run, so that a run of `nics` senders is not larger than the book allows.
ps_t span_of(const struct facts *facts, uint32_t nics);
// Data packets of a case in which all NICs send for such a time.
double packets_of_all(const struct facts *facts);
// When senders have found their rate: a fifth of the span, or some round trips.
ps_t settled_by(const struct facts *facts, ps_t span_ps);
// Flows from NICs of one T0, no more than its links upwards carry, and the share of their lines
// that these give each.
uint32_t crossing_flows(const struct facts *facts, uint32_t most);
double crossing_share(const struct facts *facts, uint32_t flows);
// Bytes that a NIC sends in such a time at `share` of its rate, at least a packet.
uint64_t bytes_in(const struct facts *facts, ps_t span_ps, double share);
