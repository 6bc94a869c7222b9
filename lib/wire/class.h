// SPDX-License-Identifier: Apache-2.0
// What DSCP, ECN and hop limit say of a packet, and the other way round. Which DSCP stands for
// which class is the operator's choice.
#pragma once

#include <weft/wire/wire.h>

#include "ip.h"

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline enum wire_class class_of_packet(const struct packet *packet)
{
	if (packet->flags & PACKET_TRIMMED)
		return packet->flags & PACKET_TRIMMED_LAST ? WIRE_CLASS_TRIMMED_LAST
							   : WIRE_CLASS_TRIMMED;
	if (packet->klass == PACKET_CLASS_CONTROL)
		return WIRE_CLASS_CONTROL;
	if (!(packet->flags & PACKET_TRIMMABLE))
		return WIRE_CLASS_NO_TRIM;
	return packet->bth & PACKET_RTX ? WIRE_CLASS_TRIMMABLE_RETX : WIRE_CLASS_TRIMMABLE;
}

// The class behind a DSCP; values that stand for none are best effort, which no switch trims.
static inline enum wire_class class_of_dscp(const struct wire_config *config, uint8_t dscp)
{
	static const uint8_t order[] = {WIRE_CLASS_TRIMMED, WIRE_CLASS_TRIMMED_LAST,
					WIRE_CLASS_CONTROL, WIRE_CLASS_TRIMMABLE,
					WIRE_CLASS_TRIMMABLE_RETX};
	for (size_t i = 0; i < sizeof(order); i++)
		if (config->dscp[order[i]] == dscp)
			return order[i];
	return WIRE_CLASS_NO_TRIM;
}

static inline bool is_trimmed_dscp(const struct wire_config *config, uint8_t dscp)
{
	return dscp == config->dscp[WIRE_CLASS_TRIMMED] ||
		dscp == config->dscp[WIRE_CLASS_TRIMMED_LAST];
}

static inline uint8_t flags_of(enum wire_class klass, uint8_t ecn)
{
	static const uint8_t flags[WIRE_CLASS_COUNT] = {
		[WIRE_CLASS_TRIMMABLE] = PACKET_TRIMMABLE,
		[WIRE_CLASS_TRIMMABLE_RETX] = PACKET_TRIMMABLE,
		[WIRE_CLASS_TRIMMED] = PACKET_TRIMMABLE | PACKET_TRIMMED,
		[WIRE_CLASS_TRIMMED_LAST] = PACKET_TRIMMABLE | PACKET_TRIMMED | PACKET_TRIMMED_LAST,
	};
	uint8_t marks = ecn == ECN_NONE ? 0 : ecn == ECN_CE ? PACKET_ECT | PACKET_CE : PACKET_ECT;
	return flags[klass] | marks;
}

static inline bool is_trimmed_class(enum wire_class klass)
{
	return klass == WIRE_CLASS_TRIMMED || klass == WIRE_CLASS_TRIMMED_LAST;
}

static inline uint8_t ecn_of(const struct packet *packet)
{
	if (packet->flags & PACKET_CE)
		return ECN_CE;
	return packet->flags & PACKET_ECT ? ECN_ECT0 : ECN_NONE;
}

static inline uint8_t hop_limit_of(const struct wire_config *config, const struct packet *packet)
{
	return packet->hop < config->hop_limit ? (uint8_t)(config->hop_limit - packet->hop) : 0;
}
