// SPDX-License-Identifier: Apache-2.0
// The words that a scenario's keys may have, in the order of their values. For scenario_keys.c.
#pragma once

#include <stddef.h>

static const char *const flag_words[] = {"false", "true", NULL};
static const char *const preset_words[] = {"none", "roce-dcqcn",      "roce-pfc", "mrc",
					   "uec",  "mrc-nccl-plugin", NULL};
static const char *const idle_words[] = {"false", "true", "auto", NULL};
static const char *const not_words[] = {"true", "false", NULL}; // the field says the opposite
static const char *const topology_words[] = {"clos", "fat-tree", "dumbbell",   "rail", "torus",
					     "file", "graph",	 "leaf-spine", NULL};
static const char *const trim_words[] = {"coin", "arriving", "newest", NULL};
static const char *const switching_words[] = {"store_and_forward", "cut_through", NULL};
static const char *const watch_words[] = {"count", "drop", NULL};
static const char *const psns_words[] = {"same", "drawn", NULL};
static const char *const transport_words[] = {"mrc", "rc", NULL};
static const char *const path_words[] = {"rotate", "mrc",	  "single", "random",  "bitmap",
					 "reps",   "reps_legacy", "mixed",  "flowlet", NULL};
static const char *const plane_share_words[] = {"auto", "line", "marks", NULL};
static const char *const throttle_words[] = {"auto", "off", "on", NULL};
static const char *const profile_words[] = {"auto", "explicit", "generated", NULL};
static const char *const forwarding_words[] = {"ecmp", "usid", NULL};
static const char *const hash_seed_words[] = {"each", "same", NULL};
static const char *const spray_words[] = {"hash", "round_robin", "adaptive", "flowlet", NULL};
static const char *const order_words[] = {"port", "time", NULL};
static const char *const sack_words[] = {"mrc", "htsim", NULL};
static const char *const window_words[] = {"nack", "silent", NULL};
static const char *const completion_words[] = {"ack", "sack", NULL};
static const char *const refused_words[] = {"silent", "nak", NULL};
static const char *const rtt_words[] = {"local", "stamp", "once", NULL};
static const char *const timeout_words[] = {"known", "zero", NULL};
static const char *const rule_words[] = {"auto", "spec", "htsim", NULL};
static const char *const context_words[] = {"connection", "destination", NULL};
static const char *const kind_words[] = {"flows",      "permutation", "incast",	   "ring",
					 "model",      "trace",	      "matrix",	   "all_to_all",
					 "outcast",    "tornado",     "butterfly", "goal",
					 "collective", "jobs",	      "gradients", NULL};
static const char *const job_words[] = {"ring", "collective", "model", "goal", "trace", NULL};
static const char *const collective_words[] = {
	"reduce_scatter", "all_gather", "all_reduce", "all_to_all",   "broadcast",
	"reduce",	  "gather",	"scatter",    "send_receive", NULL};
static const char *const algorithm_words[] = {"ring", "tree",	"double_tree",	"halving_doubling",
					      "pat",  "direct", "hierarchical", "auto",
					      NULL};
static const char *const messages_words[] = {"stored", "made", NULL};
static const char *const placement_words[] = {"packed", "spread", "random", NULL};
static const char *const job_placement_words[] = {"packed", "spread", "random", "list", NULL};
static const char *const axes_words[] = {"none", "x",  "y",   "xy", "z",
					 "xz",	 "yz", "xyz", NULL}; // x = 1, y = 2, z = 4
static const char *const form_words[] = {"pipelined", "barrier", NULL};
static const char *const off_words[] = {"off", NULL};
static const char *const fault_words[] = {"link_down", "loss", "flap",	"corrupt", "duplicate",
					  "reorder",   "slow", "burst", "stall",   "straggler",
					  "ecn",       "evs",  NULL};
static const char *const counts_words[] = {"waiting", "line", NULL};
static const char *const demand_words[] = {"arrived", "told", NULL};
static const char *const slow_words[] = {"kept", "scaled", NULL};
static const char *const entropy_words[] = {"port", "stev", "srv6", NULL};
static const char *const ev_words[] = {"port-high", "port-low", NULL};
static const char *const identification_words[] = {"zero", "sent", NULL};
static const char *const qpns_words[] = {"counted", "drawn", NULL};
static const char *const se_words[] = {"ibta", "swapped", NULL};
static const char *const lengths_words[] = {"kept", "rewritten", NULL};
static const char *const keep_words[] = {"whole", "headers", NULL};
static const char *const end_words[] = {"near", "far", NULL};
static const char *const direction_words[] = {"both", "up", "down", NULL};
static const char *const all_words[] = {"all", NULL};
static const char *const measure_words[] = {
	"goodput", "retransmitted", "lost",  "further",	     "bypass",
	"leaving", "recovery",	    "ratio", "goodput_kept", NULL};
static const char *const formula_words[] = {
	"one_way",	 "ring_writes",	  "planes_left",   "planes_flapping",
	"loss_repaired", "loss_on_way",	  "busiest_plane", "equal",
	"two_switches",	 "grey_learning", "grey_learnt",   "limit",
	"holes",	 "holes_of_all",  "capacity_left", NULL};
static const char *const bound_words[] = {"near", "at_most", "at_least", NULL};
static const char *const origin_words[] = {"fact", "assumed", "calibrated", NULL};
