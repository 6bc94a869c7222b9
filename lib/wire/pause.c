// SPDX-License-Identifier: Apache-2.0
#include <weft/wire/wire_pause.h>

#include <string.h>

#include "bytes.h"
#include "eth.h"

#define ETH_TYPE_CONTROL 0x8808
#define OPCODE_PRIORITY 0x0101
enum { TYPE_AT = 12, OPCODE_AT = 14, PRIORITIES_AT = 16, QUANTA_AT = 18 };

const uint8_t *wire_pause_build(const struct wire_config *config, const struct packet *packet,
				uint8_t frame[WIRE_PAUSE_BYTES])
{
	static const uint8_t to_who_is_next[] = {0x01, 0x80, 0xc2, 0, 0, 0x01};
	static const uint8_t data[] = {WIRE_CLASS_NO_TRIM, WIRE_CLASS_TRIMMABLE,
				       WIRE_CLASS_TRIMMABLE_RETX};
	memset(frame, 0, WIRE_PAUSE_BYTES);
	memcpy(frame, to_who_is_next, sizeof(to_who_is_next));
	eth_put_mac(config, packet->plane, UINT32_MAX, frame + 6); // all of NIC's bytes are 0
	put_be16(frame + TYPE_AT, ETH_TYPE_CONTROL);
	put_be16(frame + OPCODE_AT, OPCODE_PRIORITY);
	uint8_t control = config->dscp[WIRE_CLASS_CONTROL] >> 3;
	for (size_t i = 0; i < sizeof(data); i++) {
		uint8_t priority = config->dscp[data[i]] >> 3;
		if (priority == control)
			continue; // that goes on
		frame[PRIORITIES_AT + 1] |= (uint8_t)(1u << priority);
		put_be16(frame + QUANTA_AT + 2 * priority, packet->timestamp);
	}
	return frame;
}
