// SPDX-License-Identifier: Apache-2.0
// What follows for an endpoint from its line, where its configuration leaves it open.
#pragma once

#include <weft/transport/transport_config.h>

#ifdef __cplusplus
extern "C" {
#endif

// Sets cc.gather_bytes, the wire bytes that may arrive before the responder says so, and `mpr`
// where it is 0: 4,096 packets, or up to 16,384 where the window holds more. cc.rate_bps,
// cc.base_rtt_ps, cc.mtu_bytes and the sizes of packets must be there.
void transport_derive(struct transport_config *config);

#ifdef __cplusplus
}
#endif
