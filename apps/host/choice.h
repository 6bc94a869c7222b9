// SPDX-License-Identifier: Apache-2.0
// weft host: its command line.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/ports/device.h>
#include <weft/ports/dpdk.h>
#include <weft/run/command_line.h>
#include <weft/wall/wall.h>

#include "pair.h"

#define SETS_MAX 64

// What a port leads to, where --port says it.
struct port_place {
	bool is_named;
	uint32_t plane, peer; // of this host; the only other host at its end
};

struct choice {
	const char *listen, *to; // one of them: a pair
	const char *meet;	 // else the address of rank 0, of so many:
	uint32_t rank, ranks;
	bool has_rank;
	const char *scenario; // NULL: two NICs under one T0
	const char *sets[SETS_MAX];
	uint32_t set_count;
	struct device devices[DEVICES_MAX]; // --port
	struct port_place places[DEVICES_MAX];
	uint32_t device_count; // 0: memif by the address
	struct pair_wish wish;
	uint32_t callers;		// of a pair: more than one is an incast
	bool has_wish;			// -b, -e, -f, -n or --depth was given
	struct wall_foreign foreign[2]; // the peer's: what it sends with, what it receives with
	uint32_t foreign_count;
	bool is_plain; // with them: writes without immediate, and one that has it
	const char *pcap;
	const char *out;   // folder of the result of all ranks, or NULL
	const char *probe; // a port, which is only looked at
	bool owns_network; // with it and `to`: frames may go to any address
	const char *from;  // with it and `to`, an IP address: from where, or NULL
	bool is_json, owns_core;
	uint32_t timeout_s;
	bool has_telemetry;
	const char *gpu;	 // the link of generators, or NULL
	const char *eal;	 // words for DPDK's start, or NULL
	struct dpdk_words words; // the same, cut, with those of other options
	const char *max_rate;	 // of each port, as text; NULL: the line
	int64_t ramp_ns;	 // until max_rate is reached; 0: at once
	int64_t max_lateness_ns; // 0: any
};

// Every word is understood or refused. 0, COMMAND_LINE_DONE, or -EINVAL with a reason.
int choice_parse(struct choice *ret, int argc, char **argv, struct refusal *refusal);
