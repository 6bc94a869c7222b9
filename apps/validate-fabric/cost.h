// SPDX-License-Identifier: Apache-2.0
// What a case costs, before it runs: packets, packet-hops, memory, seconds.
#pragma once

#include "fabric_facts.h"

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
