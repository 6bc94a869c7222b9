// SPDX-License-Identifier: Apache-2.0
// What cases have to know of the fabric under test, and how much traffic a case has on it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/scenario/scenario.h>

// What a built fabric carries between pairs of NICs that send at the same time.

struct fabric_facts;

struct pair {
	uint32_t from, to;
};

struct carried {
	double share; // of a NIC's rate, all ports: what each pair has while all of them send
	double links; // cables on a way, on average
	bool is_even; // no pair could have more; false: those that meet no full link could
};

// Loads the links of a plane with `count` pairs, each of which sends `weight` of its NIC's rate:
// the ways as switches know them, in equal parts where several are equal. The fullest link says
// what each pair has; a pair that has one path gets no more than its slowest link. -EINVAL where no
// way leads from one NIC to the other, -ENOMEM.
int carry(struct carried *ret, const struct fabric_facts *fabric_facts, const struct pair *pairs,
	  uint32_t count, double weight);

#define DRILL_FLOWS 8 // at most, while something breaks
#define FABRIC_FACTS_T0_MAX 16
#define FABRIC_FACTS_PLACE_BYTES 96
#define NIC_NONE UINT32_MAX

struct fabric_facts {
	const struct fabric_config *fabric;
	const struct topology *topology; // built; fabric_facts_free() gives it up
	uint32_t nics, nics_per_host, planes;
	// A T0 is a switch with NICs. These figures are of that of NIC 0, and of a plane.
	uint32_t nics_per_t0, t0_count;
	uint32_t t0[FABRIC_FACTS_T0_MAX]; // the first of them, by their places
	uint32_t ups;			  // its links to other switches
	uint32_t ways;			  // from it to one far away, shortest ones; 0: not known
	double up_share;    // capacity of these links over that of its NICs, at most 1
	double trunk_share; // rate of a link upwards over that of a NIC's port
	// Pairs of a NIC below it and one as far away as any, no more than its links carry; the
	// first is NIC 0's.
	uint32_t drill_count; // 0: nothing is farther away than over one switch
	struct pair drills[DRILL_FLOWS];
	struct carried drilled; // what these pairs have at the same time
	// What breaks: the link that drills leave by first, the switch behind it, and the T0, as
	// faults name them, with the share of the drills' ways that goes with them.
	char trunk_at[FABRIC_FACTS_PLACE_BYTES], next_at[FABRIC_FACTS_PLACE_BYTES],
		t0_at[FABRIC_FACTS_PLACE_BYTES];
	double trunk_lost, next_lost;
	bool is_full;	   // a tree that is over-subscribed nowhere
	bool has_one_path; // a connection has one path in a plane
	uint32_t near;	   // a NIC below the same T0 as NIC 0; NIC_NONE: there is none
	uint32_t far;	   // one as far away as any
	double nic_rate_bps;
	double wire_share; // payload of a full packet over all of it
	uint64_t payload_bytes;
	ps_t base_rtt_ps;
	uint32_t ecn_share_ppb; // 0: all
	uint32_t mtu_bytes;	// a full packet on the line
	uint64_t sack_bytes;
	uint32_t mpr;	    // packets of a connection that may be out
	double scaleup_bps; // of a GPU within its host; 0: NICs carry all
	ps_t near_rtt_ps;   // between two NICs of a T0
	bool has_pfc, has_trim, has_ecn, is_mrc;
	enum path_policy path;
	uint32_t qps; // of a connection
	uint64_t ecn_low_bytes, ecn_high_bytes;
	uint64_t queue_bytes;  // of a port of a switch
	uint64_t window_bytes; // at most in flight of a connection
	uint64_t memory_bytes_max;
	bool is_quick;
	void *memory; // of the topology
};

// -errno with place and reason when this is no fabric.
int fabric_facts_of(struct fabric_facts *ret, struct scenario *scenario, bool is_quick,
		    struct refusal *refusal);
void fabric_facts_free(struct fabric_facts *fabric_facts);

// What follows from the built fabric: T0s, links upwards, drills and places that break (tiers.c).
// -EINVAL, -ENOMEM.
int tiers_of(struct fabric_facts *fabric_facts);

// NIC `index` of those below T0 `t0`, counted from 0; NIC_NONE: it has fewer.
uint32_t fabric_facts_nic(const struct fabric_facts *fabric_facts, uint32_t t0, uint32_t index);

// How long `senders` NICs have to send, each with `carried->share` of its rate, so that a run is
// not larger than the book allows.
ps_t span_of(const struct fabric_facts *fabric_facts, uint32_t senders,
	     const struct carried *carried);
// When senders have found their rate: a fifth of the span, or some round trips.
ps_t settled_by(const struct fabric_facts *fabric_facts, ps_t span_ps);
// Bytes that a NIC sends in such a time at `share` of its rate, at least a packet.
uint64_t bytes_in(const struct fabric_facts *fabric_facts, ps_t span_ps, double share);

// What a case costs, before it runs: packets, packet-hops, memory, seconds.

// A hop is a packet over one cable, acknowledgements too (docs/scaling.md).
struct cost {
	double packets; // with payload, sent once
	double hops;
	double connections; // each QP counts
	uint32_t senders;   // NICs
};

// Hops that a data packet of a long message causes over so many cables, its share of
// acknowledgements among them.
double cost_hops_each(const struct fabric_facts *fabric_facts, double links);

// Messages that cross so many cables, from each of so many connections.
struct messages {
	double connections, each; // messages of each
	double bytes, links;	  // of a message
};

void cost_add(struct cost *cost, const struct fabric_facts *fabric_facts,
	      const struct messages *messages);

// Bytes that the world of such a case draws.
double cost_memory_bytes(const struct fabric_facts *fabric_facts, const struct cost *cost);

// Processor time, good to a factor of two on an idle machine like that of docs/scaling.md.
double cost_s(const struct fabric_facts *fabric_facts, const struct cost *cost);

// The most hops and bytes that a case may have to be asked, and the hops at which it is given up.
double cost_hops_max(const struct fabric_facts *fabric_facts);
double cost_memory_max(const struct fabric_facts *fabric_facts);
double cost_hops_given_up(const struct cost *cost);
