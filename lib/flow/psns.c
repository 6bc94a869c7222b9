// SPDX-License-Identifier: Apache-2.0
// Rings of PSNs: each stream's grows with its window, out of one fixed pool; rings that are given
// back wait for others of their size.

#include <string.h>

#include "sequence.h"

#define RING_MIN 64u
#define RING_MAX 65536u
#define RING_WITHOUT_ANSWERS 1024u // one way alone was captured: nothing says what is done

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

static bool grow(struct flow *flow, struct sequence *sequence, uint32_t size)
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
static void fit(struct flow *flow, struct sequence *sequence, uint32_t psn)
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

struct flow_psn *psn_slot(struct flow *flow, struct sequence *sequence, uint32_t psn)
{
	if (psn_distance(psn, sequence->head) >= 0)
		fit(flow, sequence, psn);
	uint32_t size = sequence->ring_size;
	bool is_far = psn_distance(sequence->head, psn) > (int32_t)size;
	if (size == 0 || is_far || psn_distance(psn, sequence->low) < 0)
		return NULL;
	struct flow_psn *slot = &sequence->ring[psn & (size - 1)];
	if (slot->psn != psn || slot->flags == 0) {
		sequence->unfilled += (slot->flags & PSN_MISSING) != 0;
		memset(slot, 0, sizeof(*slot));
		slot->psn = psn;
	}
	return slot;
}

void psn_keep(struct flow_psn *slot, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	uint8_t operation = record->opcode & 31;
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
	slot->flags |= (uint16_t)(PSN_SEEN | (psn_begins(operation) ? PSN_BEGINS : 0) |
				  (psn_ends(operation) ? PSN_ENDS : 0) |
				  (record->asks_ack ? PSN_ASKS : 0) | psn_kind(operation) |
				  (record->icrc == WIRE_ICRC_BAD ? PSN_BAD : 0));
}
