// SPDX-License-Identifier: Apache-2.0
// How much of a frame a capture keeps.

#include "tap_parts.h"

#include <weft/wire/wire_pause.h>

uint32_t tap_frame_bytes(const struct codec *codec, const struct packet *packet)
{
	return packet->opcode == PACKET_PAUSE ? WIRE_PAUSE_BYTES
					      : (uint32_t)wire_frame_bytes(&codec->nic, packet);
}

uint32_t tap_header_bytes(const struct codec *codec, const struct packet *packet)
{
	struct packet empty = *packet;
	empty.payload_bytes = 0;
	uint32_t bytes = (uint32_t)wire_frame_bytes(&codec->nic, &empty);
	return packet->flags & PACKET_TRIMMED ? bytes : bytes - WIRE_ICRC_BYTES;
}

uint32_t tap_header_bytes_max(const struct codec *codec)
{
	const struct packet sack = {.opcode = PACKET_SACK};
	const struct packet write = {.opcode = PACKET_WRITE_ONLY_IMM};
	uint32_t of_sack = tap_header_bytes(codec, &sack);
	uint32_t of_write = tap_header_bytes(codec, &write);
	return of_sack > of_write ? of_sack : of_write;
}

uint32_t tap_snap_bytes(const struct codec *codec, const struct capture_config *config)
{
	uint32_t longest = codec->frame_bytes_max;
	if (config->is_headers_only)
		longest = tap_header_bytes_max(codec);
	return config->snap_bytes > 0 && config->snap_bytes < longest ? config->snap_bytes
								      : longest;
}

uint32_t tap_captured_bytes(const struct codec *codec, const struct capture_config *config,
			    const struct packet *packet, uint32_t frame_bytes)
{
	uint32_t captured = frame_bytes, longest = tap_snap_bytes(codec, config);
	if (packet == NULL) // nobody knows where its headers end
		return longest < captured ? longest : captured;
	if (packet->opcode == PACKET_PAUSE)
		return captured; // shorter than any limit
	if (config->is_headers_only && tap_header_bytes(codec, packet) < captured)
		captured = tap_header_bytes(codec, packet);
	return config->snap_bytes > 0 && config->snap_bytes < captured ? config->snap_bytes
								       : captured;
}
