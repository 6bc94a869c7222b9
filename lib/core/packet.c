// SPDX-License-Identifier: Apache-2.0
// The packet pool and the names of opcodes.

#include <weft/core/packet.h>

#include <errno.h>

int packet_pool_init(struct packet_pool *pool, struct arena *arena, uint32_t capacity)
{
	struct packet *packets = arena_draw(arena, ARENA_CORE, (size_t)capacity + 1,
					    sizeof(*packets));
	uint32_t *free = arena_draw(arena, ARENA_CORE, capacity, sizeof(*free));
	if (arena_has_failed(arena))
		return -ENOMEM;
	*pool = (struct packet_pool){
		.packets = packets, .free = free, .fresh = 1, .capacity = capacity};
	return 0;
}

const char *packet_opcode_name(uint8_t opcode)
{
	switch (opcode) {
	case PACKET_WRITE_FIRST:
		return "WRITE_FIRST";
	case PACKET_WRITE_MIDDLE:
		return "WRITE_MIDDLE";
	case PACKET_WRITE_LAST:
		return "WRITE_LAST";
	case PACKET_WRITE_LAST_IMM:
		return "WRITE_LAST_IMM";
	case PACKET_WRITE_ONLY:
		return "WRITE_ONLY";
	case PACKET_WRITE_ONLY_IMM:
		return "WRITE_ONLY_IMM";
	case PACKET_ACK:
		return "ACK";
	case PACKET_ENDPOINT_REQUEST:
		return "ENDPOINT_REQUEST";
	case PACKET_ENDPOINT_RESPONSE:
		return "ENDPOINT_RESPONSE";
	case PACKET_SACK:
		return "SACK";
	case PACKET_NACK:
		return "NACK";
	case PACKET_PROBE:
		return "PROBE";
	case PACKET_CREDIT:
		return "CREDIT";
	case PACKET_DEMAND:
		return "DEMAND";
	case RC_WRITE_FIRST:
		return "RC_WRITE_FIRST";
	case RC_WRITE_MIDDLE:
		return "RC_WRITE_MIDDLE";
	case RC_WRITE_LAST:
		return "RC_WRITE_LAST";
	case RC_WRITE_LAST_IMM:
		return "RC_WRITE_LAST_IMM";
	case RC_WRITE_ONLY:
		return "RC_WRITE_ONLY";
	case RC_WRITE_ONLY_IMM:
		return "RC_WRITE_ONLY_IMM";
	case RC_ACK:
		return "RC_ACK";
	case RC_CNP:
		return "RC_CNP";
	default:
		return "UNKNOWN";
	}
}
