// SPDX-License-Identifier: Apache-2.0
// The book: what is asked of a fabric, in the order of the BMWG draft on AI-fabric training
// benchmarks (../../docs/howto/validate-a-fabric.md). Each case says in one line what it asks.

#include <string.h>

#include "acceptance.h"

static const struct {
	const char *word, *title;
} sections[SECTION_COUNT] = {
	[SECTION_BASELINE] = {"baseline", "RDMA baseline"},
	[SECTION_MRC] = {"mrc", "Multipath Reliable Connection"},
	[SECTION_CONGESTION] = {"congestion", "Congestion management"},
	[SECTION_BALANCE] = {"balance", "Load balancing"},
	[SECTION_COLLECTIVES] = {"collectives", "Collective communication"},
	[SECTION_STEP] = {"step", "Job completion time"},
	[SECTION_CONVERGENCE] = {"convergence", "Scale and convergence"},
	[SECTION_SOAK] = {"soak", "Soak"},
};

const char *section_title(enum section section)
{
	return sections[section].title;
}

const char *section_word(enum section section)
{
	return sections[section].word;
}

const struct acceptance_case acceptance_cases[] = {
	{SECTION_BASELINE, "one-packet", "does one packet take the idle round trip", NULL,
	 ask_one_packet, 0, false, 0, NULL},
	{SECTION_BASELINE, "pair-near", "do two NICs of a T0 fill their lines", "steady",
	 ask_pair_near, 0, false, 0, NULL},
	{SECTION_BASELINE, "pair-far", "do two NICs fill their lines across the fabric", "steady",
	 ask_pair_far, 0, false, RELIES_ON_SPREAD, NULL},
	{SECTION_BASELINE, "permutation-1", "each NIC to another: is the fabric full", "steady",
	 ask_permutation, 1, false, RELIES_ON_SPREAD, NULL},
	{SECTION_BASELINE, "permutation-2", "the same with another permutation", "steady",
	 ask_permutation, 2, false, RELIES_ON_SPREAD, NULL},
	{SECTION_BASELINE, "permutation-3", "the same with a third", "steady", ask_permutation, 3,
	 false, RELIES_ON_SPREAD, NULL},
	{SECTION_BASELINE, "twins", "each NIC to its twin in the other half", "steady", ask_twins,
	 0, false, RELIES_ON_SPREAD, NULL},
	{SECTION_MRC, "spray", "do NICs load their planes evenly", "spray", ask_spray, 1, false,
	 RELIES_ON_SPREAD, "permutation-1"},
	{SECTION_MRC, "trim-repair", "is each trim answered and repaired", "trimming", ask_trims, 8,
	 false, RELIES_ON_CONTROL, NULL},
	{SECTION_MRC, "incast-no-pause", "32 to 1 without pauses: no loss, no timeout",
	 "many-to-one", ask_no_pause, 32, false, RELIES_ON_CONTROL, NULL},
	{SECTION_MRC, "retire-restore", "is a dead path left, probed and taken back",
	 "retire-restore", ask_retire, 0, false, RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{SECTION_MRC, "port-status", "does a peer learn of a port that is down", "port-status",
	 ask_port_status, 0, false, RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{SECTION_CONGESTION, "incast-2", "2 to 1: full receiver, fair senders", "many-to-one",
	 ask_incast, 2, false, RELIES_ON_CONTROL, NULL},
	{SECTION_CONGESTION, "incast-4", "4 to 1", "many-to-one", ask_incast, 4, false,
	 RELIES_ON_CONTROL, NULL},
	{SECTION_CONGESTION, "incast-8", "8 to 1", "many-to-one", ask_incast, 8, false,
	 RELIES_ON_CONTROL, NULL},
	{SECTION_CONGESTION, "incast-16", "16 to 1", "many-to-one", ask_incast, 16, true,
	 RELIES_ON_CONTROL, NULL},
	{SECTION_CONGESTION, "incast-32", "32 to 1", "many-to-one", ask_incast, 32, true,
	 RELIES_ON_CONTROL, NULL},
	{SECTION_CONGESTION, "incast-64", "64 to 1", "many-to-one", ask_incast, 64, false,
	 RELIES_ON_CONTROL, NULL},
	{SECTION_CONGESTION, "marks", "do switches mark as their thresholds say", NULL, ask_marks,
	 2, false, 0, NULL},
	{SECTION_CONGESTION, "pauses", "8 to 1 over PFC: pauses, no loss, no deadlock",
	 "incast-lossless", ask_pauses, 8, false, 0, NULL},
	{SECTION_BALANCE, "tail", "are all messages of a permutation done at about the same time",
	 "even", ask_tail, 1, false, RELIES_ON_SPREAD, "permutation-1"},
	{SECTION_BALANCE, "slow-trunk",
	 "does a trunk at half its rate cost no more than it carries", "goes-on", ask_slow_trunk, 0,
	 false, RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{SECTION_COLLECTIVES, "all-reduce", "bus bandwidth of a large all-reduce", NULL,
	 ask_collective, COLL_ALL_REDUCE, false, RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "all-gather", "of a large all-gather", NULL, ask_collective,
	 COLL_ALL_GATHER, false, RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "reduce-scatter", "of a large reduce-scatter", NULL, ask_collective,
	 COLL_REDUCE_SCATTER, false, RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "all-to-all", "of a large all-to-all", NULL, ask_all_to_all, 0, false,
	 RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "small-all-reduce", "does a small all-reduce take its steps", NULL,
	 ask_small_collective, 0, false, 0, NULL},
	{SECTION_COLLECTIVES, "all-reduce-1MB", "an all-reduce of 1 MB", NULL, ask_size, 1, false,
	 RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "all-reduce-8MB", "an all-reduce of 8 MB", NULL, ask_size, 8, false,
	 RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "all-reduce-64MB", "an all-reduce of 64 MB", NULL, ask_size, 64,
	 false, RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "all-reduce-256MB", "an all-reduce of 256 MB", NULL, ask_size, 256,
	 true, RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "all-reduce-1GB", "an all-reduce of 1 GB", NULL, ask_size, 1000, true,
	 RELIES_ON_SPREAD, NULL},
	{SECTION_COLLECTIVES, "all-reduce-4GB", "an all-reduce of 4 GB", NULL, ask_size, 4000, true,
	 RELIES_ON_SPREAD, NULL},
	{SECTION_STEP, "step", "computation and all-reduce in turn: near its roofline", NULL,
	 ask_step, 8, false, RELIES_ON_SPREAD, NULL},
	{SECTION_CONVERGENCE, "scale-4", "all-gather over 4 NICs", NULL, ask_scale, 4, false,
	 RELIES_ON_SPREAD, NULL},
	{SECTION_CONVERGENCE, "scale-16", "over 16", NULL, ask_scale, 16, false, RELIES_ON_SPREAD,
	 NULL},
	{SECTION_CONVERGENCE, "scale-64", "over 64", NULL, ask_scale, 64, true, RELIES_ON_SPREAD,
	 NULL},
	{SECTION_CONVERGENCE, "trunk-down", "a trunk dies: does traffic go on", "failure-drill",
	 ask_trunk_down, 0, false, RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{SECTION_CONVERGENCE, "t1-down", "a T1 switch dies", "failure-drill", ask_t1_down, 0, false,
	 RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{SECTION_CONVERGENCE, "t0-down", "a T0 switch of one plane dies", "failure-drill",
	 ask_t0_down, 0, false, RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{SECTION_CONVERGENCE, "port-down", "a port of a NIC dies", "failure-drill", ask_port_down,
	 0, false, RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{SECTION_CONVERGENCE, "plane-down", "a whole plane dies", "failure-drill", ask_plane_down,
	 0, false, RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{SECTION_SOAK, "sustained", "80 % of all lines, message by message: does it hold", "steady",
	 ask_soak, 128, false, RELIES_ON_SPREAD, NULL},
	{SECTION_SOAK, "flaps", "a trunk flaps all the time: no connection is lost", "flap-soak",
	 ask_flaps, 0, false, RELIES_ON_SPREAD | RELIES_ON_DETOUR, NULL},
	{0, NULL, NULL, NULL, NULL, 0, false, 0, NULL},
};

uint32_t acceptance_case_count(void)
{
	uint32_t count = 0;
	while (acceptance_cases[count].name != NULL)
		count++;
	return count;
}
