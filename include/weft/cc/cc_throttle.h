// SPDX-License-Identifier: Apache-2.0
// What share of its lines a receiver of credits grants where trunks carry less than all NICs send:
// its credits alone answer to the last hop only. From public facts about htsim's control of that
// kind (docs/decisions/0034-receivers-grant-less-where-trunks-are-few.md). Not a part of MRC.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/rng.h>
#include <weft/core/time.h>

#define THROTTLE_ALL 1000000000u

// One of each receiver, for all that send to it.
struct throttle {
	ps_t base_rtt_ps, step_at; // the round trip without queues; when the next step is due
	double share, share_min;   // granted of its lines, and the least of it
	double marked;		   // moving average of the share of whole packets that were marked
	uint32_t whole, marks;	   // since the last step: packets that came whole, marked of these,
	uint32_t trims, last_trims; // and trimmed on the way, and at the last hop
	uint32_t rises;		    // steps in a row that lowered nothing
	struct rng rng;
};

#ifdef __cplusplus
extern "C" {
#endif

// Trunks carry `trunk_ppb` of what all NICs send, THROTTLE_ALL or more: all of it.
void throttle_init(struct throttle *ret, ps_t base_rtt_ps, uint32_t trunk_ppb, struct rng rng);

// Takes the steps that were due until now; after a silence that undid them all, it begins anew.
void throttle_until(struct throttle *throttle, ps_t now);

// A packet came: whole and maybe marked, or trimmed.
void throttle_data(struct throttle *throttle, bool is_marked, bool is_trimmed, bool is_last_hop,
		   ps_t now);

// How long a receiver waits after it granted what takes its lines `line_ps`.
ps_t throttle_ps(struct throttle *throttle, ps_t line_ps, ps_t now);

#ifdef __cplusplus
}
#endif
