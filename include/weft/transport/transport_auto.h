// SPDX-License-Identifier: Apache-2.0
// What follows for an endpoint from its line, where its configuration leaves it open.
#pragma once

#include <weft/transport/transport_config.h>

#ifdef __cplusplus
extern "C" {
#endif

// Packets that a line holds at least, for what is sized by its bandwidth-delay product: sprayed
// packets make queues of a few wherever they meet, and thresholds below these take that for
// congestion. 0, any, where one path is taken, and where NSCC is htsim's.
uint32_t transport_bdp_packets_least(const struct transport_config *config);

// Sets cc.gather_bytes, the wire bytes that may arrive before the responder says so, and `mpr`
// where it is 0: 4,096 packets, or up to 16,384 where the window holds more; and cc.sized_rtt_ps,
// by the packets above. cc.rate_bps, cc.base_rtt_ps, cc.mtu_bytes and the sizes of packets must be
// there.
void transport_derive(struct transport_config *config);

#ifdef __cplusplus
}
#endif
