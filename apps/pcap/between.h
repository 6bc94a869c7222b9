// SPDX-License-Identifier: Apache-2.0
// What happened between two capture points, from the packets that passed both: each is known by
// what no switch changes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>

// One way between the points. Counts are of the time in which both captures ran.
struct between_way {
	uint64_t sent, arrived;	   // seen where it enters; of these, at the other point
	uint64_t lost;		   // not there
	uint64_t doubled;	   // copies of which there were fewer before
	uint64_t unsent;	   // seen at the end alone: by another path, or missed by the first
	uint64_t overtaken;	   // by a later packet of its QP
	uint64_t overtaken_most;   // by how many
	uint64_t marked;	   // CE set between
	uint64_t remarked;	   // another DSCP, but for what was trimmed
	uint64_t first_remarked;   // packet number where it enters; 0: none
	uint8_t dscp_in, dscp_out; // of that one
	uint64_t trimmed, damaged; // between
	uint32_t hops_min, hops_max; // by hop limits
	int64_t shortest_ns;	     // by the two clocks; with the offset taken off
	int64_t above_p50_ns, above_p99_ns, above_max_ns; // above the shortest
	uint64_t first_lost;				  // packet number where it enters; 0: none
};

struct between {
	uint64_t frames[2];	    // with a BTH, in A and in B
	uint64_t common;	    // in both
	struct between_way ways[2]; // A to B, B to A
	bool has_both_ways;
	bool is_assumed; // which way is which: by the clocks alone
	bool has_drift;
	bool are_two_events; // no clocks explain the times: the packets only look alike
	int64_t offset_ns;   // B's clock less A's, when both captures began
	int64_t error_ns;    // at most, if no packet arrives before it was sent
	double drift_ppm;    // B's clock against A's
	int64_t window_ns;   // in which both ran
};

// Reads both. -errno with a reason that names the file.
int between_read(struct between *ret, const char *const paths[2], struct refusal *refusal);
