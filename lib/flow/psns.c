// SPDX-License-Identifier: Apache-2.0
// Rings of PSNs: each stream's grows with its window, out of one fixed pool; rings that are given
// back wait for others of their size.

#include <string.h>

#include "sequence.h"

#define RING_MIN 64u
#define RING_MAX 65536u
#define RING_WITHOUT_ANSWERS 1024u // one way alone was captured: nothing says what is done

enum { BEGINS = PSN_BEGINS, ENDS = PSN_ENDS, ONLY = PSN_BEGINS | PSN_ENDS };
const uint16_t psn_flags[32] = {
	[0x00] = BEGINS | PSN_SENDS,	    // SEND_FIRST
	[0x01] = PSN_SENDS,		    // SEND_MIDDLE
	[0x02 ... 0x03] = ENDS | PSN_SENDS, // SEND_LAST, _IMM
	[0x04 ... 0x05] = ONLY | PSN_SENDS, // SEND_ONLY, _IMM
	[0x06] = BEGINS,		    // WRITE_FIRST
	[0x08 ... 0x09] = ENDS,		    // WRITE_LAST, _IMM
	[0x0a ... 0x0b] = ONLY,		    // WRITE_ONLY, _IMM
	[0x0c] = ONLY | PSN_READS,	    // READ_REQ
	[0x0d] = BEGINS,		    // READ_RSP_FIRST
	[0x0f] = ENDS,			    // READ_RSP_LAST
	[0x10] = ONLY,			    // READ_RSP_ONLY
	[0x11 ... 0x12] = ENDS,		    // ACK, ATOMIC_ACK
	[0x13 ... 0x14] = ONLY | PSN_READS, // CMP_SWAP, FETCH_ADD
	[0x15] = ENDS,			    // reserved
	[0x16] = ENDS | PSN_SENDS,	    // SEND_LAST_INV
	[0x17] = ONLY | PSN_SENDS,	    // SEND_ONLY_INV
	[0x18 ... 0x1f] = ENDS,		    // reserved
};

static struct flow_psn *draw(struct flow *flow, uint32_t size)
{
	struct flow_psn **spare = &flow->free_rings[__builtin_ctz(size)];
	struct flow_psn *ring = *spare;
	if (ring != NULL) {
		memcpy(spare, (const void *)ring,
		       sizeof(ring)); // its first bytes say which is the next one
	} else {
		if (flow->config.psns_max - flow->psns_used < size)
			return NULL;
		ring = flow->psns + flow->psns_used;
		flow->psns_used += size;
	}
	memset(ring, 0, size * sizeof(*ring));
	return ring;
}

static void give_back(struct flow *flow, struct flow_psn *ring, uint32_t size)
{
	struct flow_psn **spare = &flow->free_rings[__builtin_ctz(size)];
	memcpy((void *)ring, spare, sizeof(ring));
	*spare = ring;
}

void psn_release(struct flow *flow, struct sequence *sequence)
{
	if (sequence->ring_size > 0)
		give_back(flow, sequence->ring, sequence->ring_size);
	sequence->ring = NULL;
	sequence->ring_size = 0;
}

__attribute__((cold, noinline)) static bool grow(struct flow *flow, struct sequence *sequence,
						 uint32_t size)
{
	struct flow_psn *ring = draw(flow, size);
	if (ring == NULL)
		return false;
	for (uint32_t i = 0; i < sequence->ring_size; i++) {
		struct flow_psn *slot = &sequence->ring[i];
		if (slot->flags != 0)
			ring[slot->psn & (size - 1)] = *slot;
	}
	psn_release(flow, sequence);
	sequence->ring = ring;
	sequence->ring_size = size;
	return true;
}

// What is not acknowledged must fit twice, so that repeats of what is are known as such. Where the
// pool has no ring so large, the largest that it has: an earlier PSN then never asks for a larger
// one, which would take the slot of this one away.
void psn_fit(struct flow *flow, struct sequence *sequence, uint32_t psn)
{
	bool is_answered = sequence->acked != sequence->low;
	int32_t open = psn_distance(psn, sequence->acked) + 1;
	uint32_t want = open < 1 ? RING_MIN : 2u * (uint32_t)open;
	uint32_t most = is_answered ? RING_MAX : RING_WITHOUT_ANSWERS;
	uint32_t size = sequence->ring_size < RING_MIN ? RING_MIN : sequence->ring_size;
	while (size < want && size < most)
		size *= 2;
	while (size > sequence->ring_size && !grow(flow, sequence, size))
		size /= 2;
}

void psn_keep(struct flow_psn *slot, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	if (slot == NULL)
		return;
	if (!(slot->flags & PSN_SEEN)) {
		slot->first_ns = packet->at_ns;
		slot->first_number = packet->number;
		slot->id_first = record->identification;
		slot->bytes = record->payload_bytes;
	}
	slot->id_last = record->identification;
	slot->last_ns = packet->at_ns;
	slot->copies++;
	slot->flags &= (uint16_t) ~(PSN_BAD | PSN_UNREAD | PSN_STRAY);
	slot->flags |= (uint16_t)(PSN_SEEN | psn_flags[record->opcode & 31] |
				  (record->asks_ack ? PSN_ASKS : 0) |
				  (record->icrc == WIRE_ICRC_BAD ? PSN_BAD : 0));
}
