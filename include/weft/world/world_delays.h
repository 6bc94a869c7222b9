// SPDX-License-Identifier: Apache-2.0
// What a world measures of single packets and messages, with watch.delays.
#pragma once

#include <weft/host/host_delays.h>
#include <weft/host/tail.h>
#include <weft/measure/measure_delay.h>
#include <weft/measure/measure_link.h>
#include <weft/world/world.h>

struct world_delays {
	struct delays *of[WORLD_RECORDS_MAX]; // [shards]
	struct delays *whole;		      // over all of them, after world_collect()
	struct pair_delay *pairs;	      // [pair_count] that may talk, by sender
	uint32_t pair_count;
	struct nic_incast *incasts; // [nics]; NULL with more than DEPTH_PORTS_MAX
	bool has_qp_pool;	    // connections are made on demand: there are no figures by pair
	uint64_t pairs_all;	    // more than DELAY_PAIRS_MAX: there are no figures by pair
	struct tail *tails[WORLD_RECORDS_MAX]; // [shards]
	struct tail *tail;	 // over all of them, after world_collect(); NULL: there is none,
	const char *tail_reason; // and why
};
