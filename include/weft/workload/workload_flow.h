// SPDX-License-Identifier: Apache-2.0
// Messages between NICs outside of any collective: patterns of them, and the traffic matrices of
// htsim. A flow may wait for others, if it begins where they end.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>

// One message from NIC to NIC. Triggers are counted from 1; 0 = none.
struct flow {
	uint32_t from, to;
	uint64_t bytes;
	ps_t start_ps;	      // of one that waits: PS_NEVER, then when its trigger started it
	uint32_t trigger;     // that starts it
	uint32_t on_sent;     // fires when the sender knows that all has arrived
	uint32_t on_received; // fires when the receiver has all
	uint32_t next; // of the flows that a trigger starts (at one host), index + 1; 0 = the last
};

enum trigger_kind {
	TRIGGER_NONE,
	TRIGGER_BARRIER,   // starts all its flows once it was fired `needed` times; a oneshot: once
	TRIGGER_MULTISHOT, // starts one flow each time, in order; fired at one NIC alone
};

// Starts flows when others are done.
struct trigger {
	enum trigger_kind kind;
	uint32_t needed;
	uint32_t fired; // of a matrix while it is read
	uint32_t nic;	// of a multishot: where it is fired
	uint32_t first; // flow that it starts (next), index + 1; 0 = none
};

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------- shares

// A connection of several QPs shares a flow among them as NCCL does a message with
// NCCL_IB_SPLIT_DATA_ON_QPS=1 (its net_ib.cc): each QP in turn gets the same share, the n-th part
// rounded up to this unit, and the last what is left.
#define FLOW_SHARE_UNIT 128u

// Bytes of every share but the last, of `bytes` among `qps` QPs, 1 or more: all of them with one.
uint64_t flow_share_bytes(uint64_t bytes, uint32_t qps);

// Bytes of the last share; 0: rounding up has left it nothing.
uint64_t flow_last_share_bytes(uint64_t bytes, uint32_t qps);

// ---------------------------------------------------------------- patterns

// A random derangement of `nics` NICs, one flow each. `ret` has room for `nics`.
void pattern_permutation(struct flow *ret, uint32_t nics, uint64_t bytes, uint64_t seed);

// Each NIC sends to each other, its next neighbour first: nics x (nics - 1) flows.
void pattern_all_to_all(struct flow *ret, uint32_t nics, uint64_t bytes);

// `senders` random NICs (none in the receiver's host) to one random receiver. -EINVAL when there
// are too few.
int pattern_incast(struct flow *ret, uint32_t nics, uint32_t nics_per_host, uint32_t senders,
		   uint64_t bytes, uint64_t seed, struct refusal *refusal);

// The reverse: one random sender to `receivers` random NICs, none in its host.
int pattern_outcast(struct flow *ret, uint32_t nics, uint32_t nics_per_host, uint32_t receivers,
		    uint64_t bytes, uint64_t seed, struct refusal *refusal);

// Each NIC sends to its twin in the other half, nics / 2 further on: `nics` flows, an even number.
void pattern_tornado(struct flow *ret, uint32_t nics, uint64_t bytes);

// log2(nics) rounds, `nics` a power of two: in round r NIC i exchanges `bytes` with NIC i ^ 2^r,
// and goes on to the next round when it has sent and received those of this one. Flow r * nics + i
// is that of NIC i; `triggers` has room for pattern_butterfly_rounds() - 1 times `nics`.
void pattern_butterfly(struct flow *ret, struct trigger *triggers, uint32_t nics, uint64_t bytes);

// log2(nics); 0 when `nics` is no power of two above 1.
uint32_t pattern_butterfly_rounds(uint32_t nics);

// ---------------------------------------------------------------- traffic matrix of htsim

struct matrix {
	uint32_t nics; // Nodes
	uint32_t flow_count, trigger_count;
	struct flow *flows;	  // in the order of the file
	struct trigger *triggers; // by number
	ps_t unit_ps;		  // of a start
	bool has_starts;	  // other than 0
};

// Parses the text of a *.cm file, which need not end with NUL. A start is in units of `unit_ps`.
// Flows are drawn from `arena`. On damage: -EINVAL with line (and column) and reason; -ENOMEM.
int matrix_parse(struct matrix *ret, struct arena *arena, const char *text, size_t bytes,
		 ps_t unit_ps, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
