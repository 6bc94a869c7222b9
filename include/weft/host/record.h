// SPDX-License-Identifier: Apache-2.0
// What hosts write down while they run: additions only, so that the order of hosts cannot matter,
// nor which of them share a record.
#pragma once

#include <stdint.h>

#include <weft/core/check.h>
#include <weft/core/time.h>
#include <weft/host/outcome.h>

// Times of one collective (a bucket of a group), over its ranks.
struct collective_clock {
	ps_t start_ps; // earliest start of a rank
	ps_t end_ps;   // latest end of a rank
	uint32_t ranks_done;
	uint64_t steps_skipped; // over all loops: jumped over, so that no rank sees them
	ps_t error_ps;		// of the time that they were taken for
	uint32_t steps;		// ring steps over all loops, as run
	uint32_t channels;
	ps_t *front_ps;	       // [channels][steps] when the last rank had the step whole
	ps_t *sum_ps;	       // [channels][steps] sum over these ranks of when they had it
	uint32_t *whole_count; // [channels][steps] ranks that had it
};

// Everything that the hosts of one shard share; hosts of other shards have another one. Never read
// while the world runs.
struct record {
	// Written by hosts: message_ns, flow_ns, dropped_at_host, end_ps, credits_sent, and of
	// flow_end_ps, which all shards share, the cells of the flows that they send. The world's
	// own outcome when there is one shard.
	struct outcome *outcome;
	uint64_t work_done;
	ps_t skipped_ps; // virtual time that was jumped over: all times here are later by so much
			 // than the machines'
	struct collective_clock *clocks; // [collectives]; no channels: no rank is in the shard
	const uint32_t *clock_of_group;	 // [groups] first clock of a group; its buckets follow
};

// Room for adding up, apart from what is added: a run may go on behind it.
struct tally {
	ps_t *step_ps;		       // the steps of the longest loop
	struct collective_clock whole; // of one collective over all shards; unused by one shard
};

// A rank has received step `step` (counted over loops, from 0) whole on one channel.
static inline void record_step(struct collective_clock *clock, uint32_t channel, uint64_t step,
			       ps_t now)
{
	check(channel < clock->channels && step < clock->steps);
	uint64_t at = (uint64_t)channel * clock->steps + step;
	clock->front_ps[at] = ps_max(clock->front_ps[at], now);
	clock->sum_ps[at] += now;
	clock->whole_count[at]++;
}
