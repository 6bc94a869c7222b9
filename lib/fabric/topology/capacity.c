// SPDX-License-Identifier: Apache-2.0
// What trunks carry of what NICs send.
#include <weft/fabric/fabric_capacity.h>

#define MBPS 1000000u
#define PPM 1000000u
#define PPB_OF_PPM 1000u

// The links of a tier, all in one direction.
static uint64_t tier_mbps(const struct topology *topology, uint32_t tier)
{
	uint64_t mbps = 0;
	for (uint32_t i = 0; i < topology->link_count; i++)
		if (topology->links[i].tier == tier)
			mbps += topology->links[i].rate_bps / MBPS;
	return mbps;
}

uint64_t topology_tier_ppm(const struct topology *topology, const struct fabric_config *config,
			   uint32_t tier)
{
	if (topology->kind == TOPOLOGY_TORUS || topology->kind == TOPOLOGY_GRAPH)
		return 0;
	uint64_t nics_mbps = tier_mbps(topology, 0), mbps = tier_mbps(topology, tier);
	if (topology->kind == TOPOLOGY_DUMBBELL)
		nics_mbps /= 2; // of one side
	if (config->trunk_sample_kept > 0)
		mbps = mbps * config->trunk_sample_of / config->trunk_sample_kept;
	return mbps * PPM / nics_mbps;
}

uint32_t topology_trunk_ppb(const struct topology *topology, const struct fabric_config *config)
{
	uint64_t least_ppm = PPM;
	for (uint32_t tier = 1; tier < TOPOLOGY_TIERS_MAX; tier++) {
		uint64_t ppm = topology_tier_ppm(topology, config, tier);
		if (ppm > 0 && ppm < least_ppm)
			least_ppm = ppm;
	}
	return least_ppm < PPM ? (uint32_t)least_ppm * PPB_OF_PPM : 0;
}
