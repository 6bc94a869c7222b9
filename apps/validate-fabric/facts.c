// SPDX-License-Identifier: Apache-2.0
// What cases have to know of the fabric under test.

#include <errno.h>

#include <weft/drive.h>

#include "../run/topology_file.h"
#include "book.h"

#define QUICK_PACKETS 1.2e6 // data packets of a case, about: a second or two
#define WHOLE_PACKETS 12e6
#define QUICK_SPAN_PS (1 * PS_PER_MS)
#define WHOLE_SPAN_PS (4 * PS_PER_MS)
#define QUICK_ROUND_TRIPS 10 // at least: senders need four to find their rate
#define SETTLE_ROUND_TRIPS 4
#define WINDOW_BDPS 1.5 // cc.window and cc.max_window, when not given
#define WHOLE_ROUND_TRIPS 20

// What the links between the two switches of a dumbbell carry in a plane.
static double shared_bps(const struct fabric_config *fabric)
{
	uint64_t rate = fabric->trunk_rate_bps == 0 ? fabric->link_rate_bps
						    : fabric->trunk_rate_bps;
	return (double)rate * (fabric->bundle == 0 ? 1 : fabric->bundle);
}

// Switches of a tree have tiers that faults can name.
static void tiers_of(struct facts *ret, const struct fabric_config *fabric)
{
	switch (fabric->kind) {
	case TOPOLOGY_CLOS:
		ret->nics_per_t0 = fabric->nics_per_t0;
		ret->ups = fabric->t1_count * fabric->bundle;
		ret->ways = ret->ups;
		break;
	case TOPOLOGY_FAT_TREE:
		ret->nics_per_t0 = fabric->tor_nics;
		ret->ups = fabric->pod_aggs;
		ret->ways = fabric->cores > 0 ? fabric->cores : fabric->pod_aggs;
		break;
	case TOPOLOGY_DUMBBELL:
		ret->up_share = shared_bps(fabric) /
			((double)(fabric->nics / 2) * (double)fabric->link_rate_bps);
		return;
	default:
		return;
	}
	ret->t0_count = ret->nics / ret->nics_per_t0;
}

static ps_t round_trip(const struct fabric_config *fabric, double link_bps, uint32_t trunks)
{
	ps_t way = 2 * fabric->nic_delay_ps + trunks * fabric->trunk_delay_ps +
		(trunks + 1) * fabric->switch_delay_ps;
	double bits = 8.0 * (fabric->mtu_bytes + fabric->control_bytes) * (trunks + 2);
	return 2 * way + (ps_t)(bits / link_bps * (double)PS_PER_S);
}

// What only the fabric itself knows: it is built, and given up again.
static int measure(struct facts *ret, struct scenario *scenario, struct refusal *refusal)
{
	struct arena arena;
	struct topology topology;
	int rc = topology_file_read(scenario, refusal);
	if (rc < 0)
		return rc;
	void *memory = memory_reserve(scenario->memory_bytes_max);
	if (memory == NULL)
		return refuse(refusal, -ENODEV, "the system gives no memory", 0, 0, 0);
	arena_init(&arena, memory, scenario->memory_bytes_max);
	rc = topology_build(&topology, &arena, &scenario->fabric, scenario->seed, refusal);
	if (rc == 0) {
		ret->base_rtt_ps = topology.base_rtt_ps;
		ret->queue_bytes = topology.queue_bytes;
		ret->ecn_low_bytes = topology.ecn_low_bytes;
		ret->ecn_high_bytes = topology.ecn_high_bytes;
	}
	memory_release(memory, scenario->memory_bytes_max);
	return rc;
}

int facts_of(struct facts *ret, struct scenario *scenario, bool is_quick, struct refusal *refusal)
{
	const struct fabric_config *fabric = &scenario->fabric;
	double link_bps = (double)fabric->link_rate_bps;
	double trunk_bps = fabric->trunk_rate_bps == 0 ? link_bps : (double)fabric->trunk_rate_bps;
	*ret = (struct facts){
		.nics = fabric->nics,
		.nics_per_host = fabric->nics_per_host,
		.planes = fabric->planes,
		.nic_rate_bps = link_bps * fabric->planes,
		.up_share = 1,
		.trunk_share = 1,
		.scaleup_bps = (double)scenario->scaleup.rate_bps,
		.payload_bytes = scenario->transport.payload_bytes,
		.ecn_share_ppb = fabric->ecn_share_ppb,
		.mtu_bytes = fabric->mtu_bytes,
		.window_bytes = scenario->transport.cc.max_cwnd_bytes,
		.sack_bytes = scenario->transport.sack_bytes,
		.has_pfc = fabric->pfc.is_on,
		.has_trim = fabric->trim_on,
		.has_ecn = fabric->ecn_on,
		.is_mrc = scenario->transport.kind == TRANSPORT_MRC,
		.path = scenario->transport.path_policy,
		.is_quick = is_quick,
	};
	ret->wire_share = (double)ret->payload_bytes /
		(double)(ret->payload_bytes + scenario->transport.header_bytes);
	ret->near_rtt_ps = round_trip(fabric, link_bps, 0);
	tiers_of(ret, fabric);
	ret->far = ret->nics / 2;
	if (ret->t0_count == 1)
		ret->ups = 0;
	if (ret->ups > 0) {
		double share = ret->ups * trunk_bps / (ret->nics_per_t0 * link_bps);
		ret->up_share = share < 1 ? share : 1;
		ret->trunk_share = trunk_bps / link_bps;
	}
	int rc = measure(ret, scenario, refusal);
	if (ret->window_bytes == 0)
		ret->window_bytes = (uint64_t)(WINDOW_BDPS * ret->nic_rate_bps / 8 *
					       (double)ret->base_rtt_ps / (double)PS_PER_S);
	return rc;
}

ps_t span_of(const struct facts *facts, uint32_t nics)
{
	double per_s = nics * facts->nic_rate_bps / 8 / (double)facts->payload_bytes;
	double budget = facts->is_quick ? QUICK_PACKETS : WHOLE_PACKETS;
	double span = budget / per_s * (double)PS_PER_S;
	double most = (double)(facts->is_quick ? QUICK_SPAN_PS : WHOLE_SPAN_PS);
	double least = (double)((facts->is_quick ? QUICK_ROUND_TRIPS : WHOLE_ROUND_TRIPS) *
				facts->base_rtt_ps);
	ps_t ret = (ps_t)(span < least ? least : span > most ? most : span);
	return ret - ret % (20 * PS_PER_NS); // twenty bins of whole nanoseconds
}

double packets_of_all(const struct facts *facts)
{
	double span_s = (double)span_of(facts, facts->nics) / (double)PS_PER_S;
	return facts->nics * facts->nic_rate_bps / 8 / (double)facts->payload_bytes * span_s;
}

ps_t settled_by(const struct facts *facts, ps_t span_ps)
{
	ps_t settled = SETTLE_ROUND_TRIPS * facts->base_rtt_ps, fifth = span_ps / 5;
	return settled > fifth ? settled : fifth;
}

uint32_t crossing_flows(const struct facts *facts, uint32_t most)
{
	double carried = facts->nics_per_t0 * facts->up_share;
	uint32_t flows = carried < 1 ? 1 : (uint32_t)carried;
	return flows < most ? flows : most;
}

double crossing_share(const struct facts *facts, uint32_t flows)
{
	double share = facts->ups * facts->trunk_share / flows;
	return facts->ups == 0 || share > 1 ? 1 : share;
}

uint64_t bytes_in(const struct facts *facts, ps_t span_ps, double share)
{
	double bytes = facts->nic_rate_bps / 8 * (double)span_ps / (double)PS_PER_S *
		facts->wire_share * share;
	uint64_t packets = (uint64_t)(bytes / (double)facts->payload_bytes);
	return (packets == 0 ? 1 : packets) * facts->payload_bytes;
}
