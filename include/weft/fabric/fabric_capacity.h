// SPDX-License-Identifier: Apache-2.0
// What the trunks of a fabric carry of what its NICs send.
#pragma once

#include <weft/fabric/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of what all NICs send at once, the share in 10^-9 that the trunks of the narrowest tier carry, of
// the whole fabric also where a sample has but a part of it; 0 = all of it or more, no trunks, or
// a torus or graph, where it depends on who sends to whom.
uint32_t topology_trunk_ppb(const struct topology *topology, const struct fabric_config *config);

// The same of the trunks of tier `tier`, 1 or more, in 10^-6, above the whole too; 0 = no trunks
// there, or a torus or graph.
uint64_t topology_tier_ppm(const struct topology *topology, const struct fabric_config *config,
			   uint32_t tier);

// Rate of a port of NIC `nic`: that of its link in a graph that says one, else link_rate_bps; and
// the least of all NICs.
uint64_t fabric_nic_rate(const struct fabric_config *config, uint32_t nic);
uint64_t fabric_nic_rate_least(const struct fabric_config *config);

#ifdef __cplusplus
}
#endif
