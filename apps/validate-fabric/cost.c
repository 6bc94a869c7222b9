// SPDX-License-Identifier: Apache-2.0
// The cost model of cases, fitted to books of the shipped scenarios:
// docs/howto/validate-a-fabric.md holds it against what they took.

#include "fabric_facts.h"

#include <math.h>

#define QUICK_HOPS_MAX 150e6 // of a case: half a minute
#define WHOLE_HOPS_MAX 1500e6
#define QUICK_MEMORY_MAX (8.0 * (UINT64_C(1) << 30))
#define GIVEN_UP_TIMES 8 // what a case that repairs what it loses takes is below that
#define GIVEN_UP_MORE 4e6

#define NEAR_NS 90 // a hop where all is in a cache
#define FAR_NS 170 // more where nothing is
#define FAR_NICS 256
#define START_S 0.03 // a process, its result, its report
#define PLANE_S 4e-6 // to build a NIC's share of a plane
#define TABLE_S 1e-7 // to find the ways of a graph from one switch to another

#define PLANE_BYTES 4500.0 // a NIC's share of a plane of switches, cables and queues
#define QP_BYTES 32e3	   // its two ends, without packets
#define PACKET_BYTES 200.0 // a packet that may be out, with its entries in lists

// Acknowledgements for a data packet of a long message.
static double answers_each(const struct fabric_facts *fabric_facts)
{
	return fmin(1, (double)fabric_facts->payload_bytes / (double)fabric_facts->sack_bytes);
}

double cost_hops_each(const struct fabric_facts *fabric_facts, double links)
{
	return links * (1 + answers_each(fabric_facts));
}

void cost_add(struct cost *cost, const struct fabric_facts *fabric_facts,
	      const struct messages *messages)
{
	double count = messages->connections * messages->each;
	double packets = ceil(messages->bytes / (double)fabric_facts->payload_bytes);
	double answers = fmax(1, packets * answers_each(fabric_facts));
	cost->packets += count * packets;
	cost->hops += count * (packets + answers) * messages->links;
	cost->connections += messages->connections * fabric_facts->qps;
}

// As a world has room for them when limits.packets is not given.
static double packets_out(const struct fabric_facts *fabric_facts)
{
	double mtu = fabric_facts->mtu_bytes;
	double bdp = fabric_facts->nic_rate_bps / 8 * (double)fabric_facts->base_rtt_ps /
		(double)PS_PER_S;
	return fmin(4 * bdp / mtu + 256, fabric_facts->mpr) + 64;
}

double cost_memory_bytes(const struct fabric_facts *fabric_facts, const struct cost *cost)
{
	return fabric_facts->nics * (double)fabric_facts->planes * PLANE_BYTES +
		cost->connections * (QP_BYTES + PACKET_BYTES * packets_out(fabric_facts));
}

double cost_s(const struct fabric_facts *fabric_facts, const struct cost *cost)
{
	double far = cost->senders / (double)(cost->senders + FAR_NICS);
	double switches = fabric_facts->topology->switch_count / fabric_facts->topology->planes;
	double tables = fabric_facts->topology->nic_switch != NULL ? switches * switches : 0;
	return START_S + tables * TABLE_S +
		fabric_facts->nics * (double)fabric_facts->planes * PLANE_S +
		cost->hops * (NEAR_NS + FAR_NS * far) * 1e-9;
}

double cost_hops_max(const struct fabric_facts *fabric_facts)
{
	return fabric_facts->is_quick ? QUICK_HOPS_MAX : WHOLE_HOPS_MAX;
}

double cost_memory_max(const struct fabric_facts *fabric_facts)
{
	double most = (double)fabric_facts->memory_bytes_max;
	return fabric_facts->is_quick ? fmin(most, QUICK_MEMORY_MAX) : most;
}

double cost_hops_given_up(const struct cost *cost)
{
	return GIVEN_UP_TIMES * cost->hops + GIVEN_UP_MORE;
}
