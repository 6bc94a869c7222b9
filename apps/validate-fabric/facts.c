// SPDX-License-Identifier: Apache-2.0
// What cases have to know of the fabric under test.

#include "book.h"

#define QUICK_PACKETS 1.2e6 // data packets of a case, about: a second or two
#define WHOLE_PACKETS 12e6
#define QUICK_SPAN_PS (1 * PS_PER_MS)
#define WHOLE_SPAN_PS (4 * PS_PER_MS)
#define QUICK_ROUND_TRIPS 5 // at least; 8,192 NICs make ten million packets of that
#define WHOLE_ROUND_TRIPS 20

// Switches of a tree have tiers that faults can name.
static void tiers_of(struct facts *ret, const struct fabric_config *fabric)
{
	switch (fabric->kind) {
	case TOPOLOGY_CLOS:
		ret->nics_per_t0 = fabric->nics_per_t0;
		ret->ups = fabric->t1_count * fabric->bundle;
		break;
	case TOPOLOGY_FAT_TREE:
		ret->nics_per_t0 = fabric->tor_nics;
		ret->ups = fabric->pod_aggs;
		break;
	default:
		ret->nics_per_t0 = 0;
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

void facts_of(struct facts *ret, const struct scenario *scenario, bool is_quick)
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
		.payload_bytes = scenario->transport.payload_bytes,
		.ecn_share_ppb = fabric->ecn_share_ppb,
		.mtu_bytes = fabric->mtu_bytes,
		.sack_bytes = scenario->transport.sack_bytes,
		.has_pfc = fabric->pfc.is_on,
		.has_trim = fabric->trim_on,
		.has_ecn = fabric->ecn_on,
		.is_mrc = scenario->transport.kind == TRANSPORT_MRC,
		.is_quick = is_quick,
	};
	ret->wire_share = (double)ret->payload_bytes /
		(double)(ret->payload_bytes + scenario->transport.header_bytes);
	ret->base_rtt_ps = round_trip(fabric, link_bps, fabric->kind == TOPOLOGY_FAT_TREE ? 4 : 2);
	ret->near_rtt_ps = round_trip(fabric, link_bps, 0);
	tiers_of(ret, fabric);
	ret->far = ret->nics / 2;
	if (ret->t0_count == 1)
		ret->ups = 0;
	if (ret->ups == 0)
		return;
	double share = ret->ups * trunk_bps / (ret->nics_per_t0 * link_bps);
	ret->up_share = share < 1 ? share : 1;
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

uint64_t bytes_in(const struct facts *facts, ps_t span_ps, double share)
{
	double bytes = facts->nic_rate_bps / 8 * (double)span_ps / (double)PS_PER_S *
		facts->wire_share * share;
	uint64_t packets = (uint64_t)(bytes / (double)facts->payload_bytes);
	return (packets == 0 ? 1 : packets) * facts->payload_bytes;
}

void facts_learn(struct facts *facts, const struct case_figures *figures)
{
	facts->base_rtt_ps = (ps_t)figures->base_rtt_ps;
	facts->ecn_low_bytes = (uint64_t)figures->ecn_low_bytes;
	facts->ecn_high_bytes = (uint64_t)figures->ecn_high_bytes;
}
