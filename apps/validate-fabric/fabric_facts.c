// SPDX-License-Identifier: Apache-2.0
// What cases have to know of the fabric under test.

#include <errno.h>

#include <weft/engine/engine.h>

#include "fabric_facts.h"
#include <weft/cc/cc_derived.h>
#include <weft/run/input_files.h>
#include <weft/transport/transport_auto.h>

#define QUICK_HOPS 6e6 // of a case, about: a second or two
#define WHOLE_HOPS 60e6
#define QUICK_SPAN_PS (1 * PS_PER_MS)
#define WHOLE_SPAN_PS (4 * PS_PER_MS)
#define QUICK_ROUND_TRIPS 10 // at least: senders need four to find their rate
#define SETTLE_ROUND_TRIPS 4
#define WHOLE_ROUND_TRIPS 20

static ps_t round_trip(const struct fabric_config *fabric, double link_bps, uint32_t trunks)
{
	ps_t way = 2 * fabric->nic_delay_ps + trunks * fabric->trunk_delay_ps +
		(trunks + 1) * fabric->switch_delay_ps;
	double bits = 8.0 * (fabric->mtu_bytes + fabric->control_bytes) * (trunks + 2);
	return 2 * way + (ps_t)(bits / link_bps * (double)PS_PER_S);
}

static uint32_t far_ways(const struct fabric_config *fabric)
{
	if (fabric->kind == TOPOLOGY_CLOS)
		return fabric->t1_count * fabric->bundle;
	if (fabric->kind == TOPOLOGY_FAT_TREE)
		return fabric->cores > 0 ? fabric->cores : fabric->pod_aggs;
	return 0;
}

// What only the fabric itself knows: it is built, and kept.
static int measure(struct fabric_facts *ret, struct scenario *scenario, struct refusal *refusal)
{
	static struct topology topology;
	struct arena arena;
	int rc = topology_file_read(scenario, refusal);
	if (rc < 0)
		return rc;
	ret->memory = memory_reserve(ret->memory_bytes_max);
	if (ret->memory == NULL)
		return refuse(refusal, -ENODEV, "not enough memory");
	arena_init(&arena, ret->memory, ret->memory_bytes_max);
	rc = topology_build(&topology, &arena, &scenario->fabric, scenario->seed, refusal);
	if (rc < 0)
		return rc;
	ret->topology = &topology;
	ret->base_rtt_ps = topology.base_rtt_ps;
	ret->queue_bytes = topology.queue_bytes;
	ret->ecn_low_bytes = topology.ecn_low_bytes;
	ret->ecn_high_bytes = topology.ecn_high_bytes;
	rc = tiers_of(ret);
	return rc < 0 ? refuse(refusal, rc, "the ways of this fabric cannot be worked out") : 0;
}

static bool has_one_path(const struct scenario *scenario)
{
	const struct transport_config *transport = &scenario->transport;
	if (scenario->fabric.spray != FABRIC_SPRAY_HASH)
		return false;
	if (transport->kind != TRANSPORT_MRC)
		return scenario->qps_per_connection == 1;
	return transport->path_policy == PATH_SINGLE ||
		transport->ev_count <= scenario->fabric.planes;
}

static void settings_of(struct fabric_facts *ret, const struct scenario *scenario)
{
	const struct fabric_config *fabric = &scenario->fabric;
	const struct transport_config *transport = &scenario->transport;
	*ret = (struct fabric_facts){
		.fabric = fabric,
		.nics = fabric->nics,
		.nics_per_host = fabric->nics_per_host,
		.planes = fabric->planes,
		.nic_rate_bps = (double)fabric->link_rate_bps * fabric->planes,
		.ways = far_ways(fabric),
		.up_share = 1,
		.trunk_share = 1,
		.has_one_path = has_one_path(scenario),
		.scaleup_bps = (double)scenario->scaleup.rate_bps,
		.payload_bytes = transport->payload_bytes,
		.ecn_share_ppb = fabric->ecn_share_ppb,
		.mtu_bytes = fabric->mtu_bytes,
		.window_bytes = transport->cc.max_cwnd_bytes,
		.sack_bytes = transport->sack_bytes,
		.qps = scenario->qps_per_connection,
		.has_pfc = fabric->pfc.is_on,
		.has_trim = fabric->trim_on,
		.has_ecn = fabric->ecn_on,
		.is_mrc = transport->kind == TRANSPORT_MRC,
		.path = transport->path_policy,
		.memory_bytes_max = scenario->memory_bytes_max,
	};
}

int fabric_facts_of(struct fabric_facts *ret, struct scenario *scenario, bool is_quick,
		    struct refusal *refusal)
{
	settings_of(ret, scenario);
	ret->is_quick = is_quick;
	ret->wire_share = (double)ret->payload_bytes /
		(double)(ret->payload_bytes + scenario->transport.header_bytes);
	ret->near_rtt_ps = round_trip(ret->fabric, (double)scenario->fabric.link_rate_bps, 0);
	int rc = measure(ret, scenario, refusal);
	struct transport_config transport = scenario->transport;
	transport.cc.rate_bps = (uint64_t)ret->nic_rate_bps;
	transport.cc.base_rtt_ps = ret->base_rtt_ps;
	transport_derive(&transport);
	ret->mpr = transport.mpr;
	if (ret->window_bytes == 0)
		ret->window_bytes = (uint64_t)cc_window_auto(&transport.cc);
	return rc;
}

void fabric_facts_free(struct fabric_facts *fabric_facts)
{
	if (fabric_facts->memory != NULL)
		memory_release(fabric_facts->memory, fabric_facts->memory_bytes_max);
	fabric_facts->memory = NULL;
}

ps_t span_of(const struct fabric_facts *fabric_facts, uint32_t senders,
	     const struct carried *carried)
{
	double per_s = senders * carried->share * fabric_facts->nic_rate_bps / 8 /
		(double)fabric_facts->payload_bytes * cost_hops_each(fabric_facts, carried->links);
	double budget = fabric_facts->is_quick ? QUICK_HOPS : WHOLE_HOPS;
	double span = budget / per_s * (double)PS_PER_S;
	double most = (double)(fabric_facts->is_quick ? QUICK_SPAN_PS : WHOLE_SPAN_PS);
	double least = (double)((fabric_facts->is_quick ? QUICK_ROUND_TRIPS : WHOLE_ROUND_TRIPS) *
				fabric_facts->base_rtt_ps);
	ps_t ret = (ps_t)(span < least ? least : span > most ? most : span);
	return ret - ret % (20 * PS_PER_NS); // twenty bins of whole nanoseconds
}

ps_t settled_by(const struct fabric_facts *fabric_facts, ps_t span_ps)
{
	ps_t settled = SETTLE_ROUND_TRIPS * fabric_facts->base_rtt_ps, fifth = span_ps / 5;
	return settled > fifth ? settled : fifth;
}

uint64_t bytes_in(const struct fabric_facts *fabric_facts, ps_t span_ps, double share)
{
	double bytes = fabric_facts->nic_rate_bps / 8 * (double)span_ps / (double)PS_PER_S *
		fabric_facts->wire_share * share;
	uint64_t packets = (uint64_t)(bytes / (double)fabric_facts->payload_bytes);
	return (packets == 0 ? 1 : packets) * fabric_facts->payload_bytes;
}
