// SPDX-License-Identifier: Apache-2.0
// QP numbers as frames have them.
#pragma once

#include <weft/wire/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

// The QP number that a packet's frame has: of RoCEv2 2 more than packet.qpn, and what qpn_key adds
// to those of its target.
uint32_t wire_qpn(const struct wire_config *config, const struct packet *packet);

#ifdef __cplusplus
}
#endif
