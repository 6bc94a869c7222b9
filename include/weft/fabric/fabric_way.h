// SPDX-License-Identifier: Apache-2.0
// The route of one packet through a built topology, by what stands in the packet.
#pragma once

#include <weft/fabric/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

// Follows a packet that left its source's NIC over `first_link` as switches that choose by hash
// send it: one more in counts[] for each cable of its way, 2 x link, and 1 for the way from b to a.
// A bug where no switch leads to the target.
void topology_follow(const struct topology *topology, uint32_t first_link,
		     const struct packet *packet, uint64_t *counts);

#ifdef __cplusplus
}
#endif
