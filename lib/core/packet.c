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

static const char *const opcode_names[UINT8_MAX + 1] = {
	[PACKET_WRITE_FIRST] = "WRITE_FIRST",
	[PACKET_WRITE_MIDDLE] = "WRITE_MIDDLE",
	[PACKET_WRITE_LAST] = "WRITE_LAST",
	[PACKET_WRITE_LAST_IMM] = "WRITE_LAST_IMM",
	[PACKET_WRITE_ONLY] = "WRITE_ONLY",
	[PACKET_WRITE_ONLY_IMM] = "WRITE_ONLY_IMM",
	[PACKET_ACK] = "ACK",
	[PACKET_ENDPOINT_REQUEST] = "ENDPOINT_REQUEST",
	[PACKET_ENDPOINT_RESPONSE] = "ENDPOINT_RESPONSE",
	[PACKET_SACK] = "SACK",
	[PACKET_NACK] = "NACK",
	[PACKET_PROBE] = "PROBE",
	[PACKET_CREDIT] = "CREDIT",
	[PACKET_DEMAND] = "DEMAND",
	[RC_WRITE_FIRST] = "RC_WRITE_FIRST",
	[RC_WRITE_MIDDLE] = "RC_WRITE_MIDDLE",
	[RC_WRITE_LAST] = "RC_WRITE_LAST",
	[RC_WRITE_LAST_IMM] = "RC_WRITE_LAST_IMM",
	[RC_WRITE_ONLY] = "RC_WRITE_ONLY",
	[RC_WRITE_ONLY_IMM] = "RC_WRITE_ONLY_IMM",
	[RC_ACK] = "RC_ACK",
	[RC_CNP] = "RC_CNP",
};

const char *packet_opcode_name(uint8_t opcode)
{
	return opcode_names[opcode] != NULL ? opcode_names[opcode] : "UNKNOWN";
}
