// SPDX-License-Identifier: Apache-2.0
// Private to the room: how much of a packet's frame a capture keeps.
#pragma once

#include <weft/ports/codec.h>
#include <weft/scenario/scenario.h>

// Bytes of a packet's frame.
uint32_t tap_frame_bytes(const struct codec *codec, const struct packet *packet);

// Up to its payload, or to the ICRC where there is none. It follows from the packet, so that a
// frame is cut alike whether it came with the packet or is built.
uint32_t tap_header_bytes(const struct codec *codec, const struct packet *packet);
uint32_t tap_header_bytes_max(const struct codec *codec);

// The most that a capture keeps of any frame, and what it keeps of one of `frame_bytes`. `packet`
// is NULL where that cannot be read.
uint32_t tap_snap_bytes(const struct codec *codec, const struct capture_config *config);
uint32_t tap_captured_bytes(const struct codec *codec, const struct capture_config *config,
			    const struct packet *packet, uint32_t frame_bytes);
