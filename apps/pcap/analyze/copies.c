// SPDX-License-Identifier: Apache-2.0
// Whether the capture point doubles frames: nearly all, answers included, are here twice within a
// few frames. A network or a sender that repeats does not do that. What a mirror may change of a
// copy (MACs, VLAN, hop limit) is not looked at.

#include <string.h>

#include "pcap.h"

#define FRAMES_LEAST 20
#define SHARE_PERCENT 90

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

// What all copies of a frame have in common, and no other frame of one point soon after. Two sums
// side by side: one multiplication does not wait for the one before.
static uint64_t key_of(const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	uint64_t words[4], one = packet->place + 1, two = record->sack_bitmap;
	memcpy(words, record->source, 16);
	memcpy(words + 2, record->target, 16);
	one = mix(one, words[0] ^ (words[2] << 21 | words[2] >> 43));
	two = mix(two, words[1] ^ (words[3] << 21 | words[3] >> 43));
	one = mix(one, (uint64_t)record->psn << 32 | record->msn);
	two = mix(two, (uint64_t)record->sack_psn << 32 | record->qpn);
	one = mix(one, (uint64_t)record->source_port << 16 | record->identification);
	two = mix(two, (uint64_t)record->flow_label << 32 | record->payload_bytes);
	one = mix(one,
		  (uint64_t)(uint16_t)record->sack_offset << 32 | record->opcode << 16 |
			  record->syndrome << 1 | record->is_rtx);
	one ^= two >> 29 ^ two << 35;
	return one ^ one >> 32;
}

void copies_take(struct copies *copies, const struct flow_packet *packet)
{
	if (!(packet->record->layers & WIRE_LAYER_BTH))
		return;
	uint64_t key = key_of(packet);
	copies->frames++;
	bool may_be = copies->marks[key % COPIES_MARKS] > 0;
	for (uint32_t i = 0; may_be && i < COPIES_RECENT; i++) {
		if (copies->recent[i] != key)
			continue;
		int64_t after_ns = packet->at_ns - copies->at_ns[i];
		bool is_first = copies->pairs == 0;
		copies->min_ns = is_first || after_ns < copies->min_ns ? after_ns : copies->min_ns;
		copies->max_ns = is_first || after_ns > copies->max_ns ? after_ns : copies->max_ns;
		copies->pairs++;
		copies->recent[i] = 0;
		copies->marks[key % COPIES_MARKS]--;
		return;
	}
	uint64_t *slot = &copies->recent[copies->at % COPIES_RECENT];
	if (*slot != 0)
		copies->marks[*slot % COPIES_MARKS]--;
	*slot = key;
	copies->marks[key % COPIES_MARKS] += key != 0;
	copies->at_ns[copies->at++ % COPIES_RECENT] = packet->at_ns;
}

bool copies_are_of_tap(const struct copies *copies)
{
	return copies->frames >= FRAMES_LEAST &&
		200 * copies->pairs >= SHARE_PERCENT * copies->frames;
}
