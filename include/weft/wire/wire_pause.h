// SPDX-License-Identifier: Apache-2.0
// A frame of priority flow control (IEEE 802.1Qbb), for captures: whoever gets a pause in a world
// reads the descriptor.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <weft/wire/wire.h>

#define WIRE_PAUSE_BYTES 60 // without FCS

#ifdef __cplusplus
extern "C" {
#endif

// Writes the frame of a PACKET_PAUSE into `frame`, and returns it: its quanta (of 512 bits; 0: go
// on) for the priorities of the classes of data, which are the upper 3 bits of their DSCPs. A
// switch has no MAC in weft: it is sent by that of no NIC.
const uint8_t *wire_pause_build(const struct wire_config *config, const struct packet *packet,
				uint8_t frame[WIRE_PAUSE_BYTES]);

#ifdef __cplusplus
}
#endif
