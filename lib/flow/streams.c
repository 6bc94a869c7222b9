// SPDX-License-Identifier: Apache-2.0
// The table of streams: found by both addresses and the target QP, the one that was quiet for
// longest makes room.

#include <string.h>

#include <weft/wire/wire_ends.h>

#include "bursts.h"
#include "rules.h"

#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15) // 2^64 by the golden ratio
#define AGE_PARTS 128	// of the table: so many frames apart, the order of the quiet is kept
#define PARTIAL_SHARE 5 // more than a fifth of what was acknowledged never passed here

struct key {
	uint8_t source[16], target[16];
	uint32_t qpn, place;
	uint8_t found;
};

static struct key key_of(struct flow *flow, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	struct key key = {.qpn = record->qpn, .place = packet->place, .found = record->found};
	memcpy(key.source, record->source, sizeof(key.source));
	memcpy(key.target, record->target, sizeof(key.target));
	if (record->found == WIRE_FOUND_MRC) {
		flow->plane = wire_leave_out_plane(&flow->config.wire, key.source);
		wire_leave_out_plane(&flow->config.wire, key.target);
	}
	return key;
}

static bool is_same(const struct flow_stream *stream, const struct key *key)
{
	return stream->qpn == key->qpn && stream->place == key->place &&
		stream->found == key->found && memcmp(stream->source, key->source, 16) == 0 &&
		memcmp(stream->target, key->target, 16) == 0;
}

// ---------------------------------------------------------------- the order of last packets

static void unlink_age(struct flow *flow, uint32_t index)
{
	struct stream_state *state = &flow->states[index - 1];
	if (state->older != 0)
		flow->states[state->older - 1].newer = state->newer;
	else
		flow->oldest = state->newer;
	if (state->newer != 0)
		flow->states[state->newer - 1].older = state->older;
	else
		flow->newest = state->older;
}

static void link_newest(struct flow *flow, uint32_t index)
{
	struct stream_state *state = &flow->states[index - 1];
	state->older = flow->newest;
	state->newer = 0;
	if (flow->newest != 0)
		flow->states[flow->newest - 1].newer = index;
	else
		flow->oldest = index;
	flow->newest = index;
}

// ---------------------------------------------------------------- making and evicting

bool stream_is_partial(const struct flow_stream *stream)
{
	return stream->found == WIRE_FOUND_MRC &&
		stream->acked_unseen * PARTIAL_SHARE > stream->acked_psns;
}

// Holes between packets of MRC are normal, and decide nothing.
void stream_end(struct flow *flow, struct flow_stream *stream)
{
	struct stream_state *state = stream_state(flow, stream);
	if (!stream_is_partial(stream))
		rules_end(flow, stream);
	if (stream->found == WIRE_FOUND_MRC) {
		message_settle(flow, stream, &state->requests);
		return;
	}
	sequence_end(flow, stream, &state->requests);
	sequence_end(flow, stream, &state->responses);
}

static uint32_t hash_slot(const struct flow *flow, const struct key *key)
{
	uint32_t pair = stream_pair_slot(flow, key->source, key->target, key->place);
	return (uint32_t)stream_mix(stream_mix(FNV_START, pair),
				    (uint64_t)key->qpn << 8 | key->found) &
		flow->hash_mask;
}

static void unlink_chain(struct flow *flow, uint32_t *first, uint32_t index, bool is_pair)
{
	for (uint32_t *at = first; *at != 0;) {
		struct stream_state *state = &flow->states[*at - 1];
		uint32_t *next = is_pair ? &state->pair_next : &state->hash_next;
		if (*at == index) {
			*at = *next;
			return;
		}
		at = next;
	}
}

__attribute__((cold, noinline)) static uint32_t evict(struct flow *flow)
{
	uint32_t index = flow->oldest;
	struct flow_stream *stream = &flow->report.streams[index - 1];
	struct stream_state *state = &flow->states[index - 1];
	struct key key = {.qpn = stream->qpn, .place = stream->place, .found = stream->found};
	memcpy(key.source, stream->source, 16);
	memcpy(key.target, stream->target, 16);
	unlink_age(flow, index);
	unlink_chain(flow, &flow->hash[hash_slot(flow, &key)], index, false);
	unlink_chain(flow, &flow->pairs[stream_pair_slot(flow, key.source, key.target, key.place)],
		     index, true);
	stream_end(flow, stream);
	psn_release(flow, &state->requests);
	psn_release(flow, &state->responses);
	flow->report.evicted++;
	flow->generation++;
	memset(state, 0, sizeof(*state));
	memset(stream, 0, sizeof(*stream));
	return index;
}

__attribute__((cold, noinline)) static struct flow_stream *
make(struct flow *flow, const struct key *key, const struct flow_packet *packet)
{
	bool is_full = flow->report.stream_count == flow->config.streams_max;
	uint32_t index = is_full ? evict(flow) : ++flow->report.stream_count;
	struct flow_stream *stream = &flow->report.streams[index - 1];
	struct stream_state *state = &flow->states[index - 1];
	memcpy(stream->source, key->source, 16);
	memcpy(stream->target, key->target, 16);
	stream->qpn = key->qpn;
	stream->place = key->place;
	stream->found = key->found;
	stream->is_used = true;
	stream->first_number = packet->number;
	stream->first_ns = packet->at_ns;
	stream->first_psn = packet->record->psn;
	stream->low_psn = stream->high_psn = packet->record->psn + PSN_MASK + 1;
	stream->transport = key->found == WIRE_FOUND_MRC ? packet->record->opcode >> 5 : 0;
	state->requests.message_ns = state->responses.message_ns = -1;
	state->requests.last_ce_ns = -1;
	uint32_t *hash = &flow->hash[hash_slot(flow, key)];
	uint32_t *pair = &flow->pairs[stream_pair_slot(flow, key->source, key->target, key->place)];
	state->hash_next = *hash;
	*hash = index;
	state->pair_next = *pair;
	*pair = index;
	link_newest(flow, index);
	state->linked_number = packet->number;
	bursts_meet(flow, stream);
	return stream;
}

static uint32_t recent_slot(const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	uint64_t source, target;
	memcpy(&source, record->source + 8, sizeof(source));
	memcpy(&target, record->target + 8, sizeof(target));
	uint64_t plane = (uint64_t)record->source[7] << 40; // by weft's rule
	uint64_t hash = stream_mix(source, (uint64_t)packet->place << 32 ^ record->qpn ^ plane);
	hash = (hash ^ target) * HASH_FACTOR;
	return (uint32_t)(hash >> (64 - RECENT_STREAMS_BITS)); // which are mixed best
}

static bool is_recent(const struct flow *flow, const struct recent_stream *recent,
		      const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	return recent->index != 0 && recent->generation == flow->generation &&
		recent->qpn == record->qpn && recent->place == packet->place &&
		recent->found == record->found && memcmp(recent->source, record->source, 16) == 0 &&
		memcmp(recent->target, record->target, 16) == 0;
}

static struct flow_stream *find_or_make(struct flow *flow, const struct flow_packet *packet)
{
	struct key key = key_of(flow, packet);
	for (uint32_t at = flow->hash[hash_slot(flow, &key)]; at != 0;
	     at = flow->states[at - 1].hash_next)
		if (is_same(&flow->report.streams[at - 1], &key))
			return &flow->report.streams[at - 1];
	return make(flow, &key, packet);
}

struct flow_stream *stream_of(struct flow *flow, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	struct recent_stream *recent = &flow->recent[recent_slot(packet)];
	if (is_recent(flow, recent, packet)) {
		flow->plane = recent->plane;
	} else {
		const struct flow_stream *stream = find_or_make(flow, packet);
		*recent = (struct recent_stream){
			.qpn = record->qpn,
			.place = packet->place,
			.index = (uint32_t)(stream - flow->report.streams) + 1,
			.generation = flow->generation,
			.plane = flow->plane,
			.found = record->found};
		memcpy(recent->source, record->source, sizeof(recent->source));
		memcpy(recent->target, record->target, sizeof(recent->target));
	}
	struct stream_state *state = &flow->states[recent->index - 1];
	if (flow->newest != recent->index &&
	    packet->number - state->linked_number >= flow->config.streams_max / AGE_PARTS) {
		unlink_age(flow, recent->index);
		link_newest(flow, recent->index);
		state->linked_number = packet->number;
	}
	return &flow->report.streams[recent->index - 1];
}
