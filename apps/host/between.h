// SPDX-License-Identifier: Apache-2.0
// weft host: what hosts have between each other, their clocks (clocks.c) and frames (pairs.c).
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/result/fidelity.h>
#include <weft/wall/meeting.h>

struct call;
struct host_run;
struct json_t;

// The clock of a host against host 0's, before traffic and behind it, and its own at the start.
struct host_clock {
	struct meeting_clock before, after;
	int64_t agreed_ns, start_ns; // to begin at, and begun at, by its own clock
};

struct clocks {
	struct host_clock of[MEETING_HOSTS_MAX];
	bool is_read;  // all have read host 0's, so that a moment can be agreed on
	bool is_whole; // those of all are known, from both times
};

// What each host saw of each other one: [hosts][hosts], NULL where there was no memory.
struct pairs {
	struct seen_pair *of;
	bool is_whole; // else this host's own are there
};

// All hosts read their clocks against host 0's: before traffic (-ECONNRESET where one of them is
// gone), and behind a run that came to its end, when they tell each other. A run has its result
// also where that fails.
int clocks_before(struct call *call);
void clocks_after(struct call *call, const struct host_run *host_run);

// Behind a barrier, all hosts agree on when they begin: `ret_ns` is it by this host's clock, 0
// where the clocks were not read. -ECONNRESET.
int clocks_agree(struct call *call, int64_t *ret_ns);

// When a host began, by host 0's clock, after host 0 did. 0 where that is not known.
int64_t clocks_shift_ns(const struct call *call, uint32_t host);

void clocks_print(FILE *to, const struct call *call);
struct json_t *clocks_json(const struct call *call); // null where they are not known

// Behind a run, all together where it came to its end; to be dropped.
void pairs_gather(struct call *call, const struct host_run *host_run);
void pairs_drop(struct call *call);
void pairs_fidelity(struct report_fidelity *ret, const struct call *call); // ways alone
void pairs_print(FILE *to, const struct call *call);
struct json_t *pairs_json(const struct call *call);
