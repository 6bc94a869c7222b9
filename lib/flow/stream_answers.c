// SPDX-License-Identifier: Apache-2.0
// Which stream an answer is about: InfiniBand's answers name only the QP that they go to, so that
// addresses and PSNs must tell.

#include <string.h>

#include "sequence.h"

#define ANSWER_REACH 65536 // PSNs: farther from what was seen an answer is of another stream

static uint64_t mix_address(uint64_t hash, const uint8_t address[16])
{
	uint64_t half[2];
	memcpy(half, address, sizeof(half));
	return stream_mix(stream_mix(hash, half[0]), half[1]);
}

uint32_t stream_pair_slot(const struct flow *flow, const uint8_t source[16],
			  const uint8_t target[16], uint32_t place)
{
	uint64_t hash = mix_address(mix_address(stream_mix(FNV_START, place), source), target);
	return (uint32_t)(hash >> 20) & flow->hash_mask;
}

// Whether an answer of this PSN can be about what the stream sent.
static bool can_answer(struct flow *flow, const struct flow_stream *stream, uint32_t psn)
{
	const struct sequence *sequence = &stream_state(flow, stream)->requests;
	if (!sequence->has_begun)
		return false;
	bool has_responses = psn_distance(sequence->read_end, sequence->head) > 0;
	uint32_t end = has_responses ? sequence->read_end : sequence->head;
	int32_t ahead = psn_distance(psn_extend(end, psn), end);
	return ahead < 1 && -ahead <= ANSWER_REACH;
}

static bool is_back(const struct flow_stream *stream, const struct flow_stream *by)
{
	return stream->place == by->place && stream->found == by->found && stream->is_used &&
		memcmp(stream->source, by->target, 16) == 0 &&
		memcmp(stream->target, by->source, 16) == 0;
}

struct flow_stream *stream_before(struct flow *flow, const struct flow_stream *by)
{
	uint32_t index = stream_state(flow, by)->answers_for;
	struct flow_stream *stream = index == 0 ? NULL : &flow->report.streams[index - 1];
	bool is_good = stream != NULL && is_back(stream, by) &&
		stream_state(flow, stream)->requests.has_begun;
	return is_good ? stream : NULL;
}

bool stream_is_sole(struct flow *flow, const struct flow_stream *stream,
		    const struct flow_stream *by)
{
	for (uint32_t at = flow->pairs[stream_pair_slot(flow, by->target, by->source, by->place)];
	     at != 0; at = flow->states[at - 1].pair_next) {
		const struct flow_stream *other = &flow->report.streams[at - 1];
		if (other != stream && is_back(other, by) && other->data > 0)
			return false;
	}
	return true;
}

// Whether it is the first one that did not pass here: an answer to another stream, or missed.
static bool is_next(const struct sequence *sequence, uint32_t psn)
{
	return psn_extend(sequence->head, psn) == sequence->head &&
		psn_distance(sequence->read_end, sequence->head) <= 0;
}

// How many frames ago it passed, or what it is the NAK for: whose PSN came first is answered first.
static uint64_t age_of(const struct sequence *sequence, uint32_t psn, uint64_t number)
{
	for (uint32_t at = psn; at != psn + 2; at++) {
		const struct flow_psn *slot = psn_find(sequence, at);
		uint64_t age = slot != NULL ? number - slot->first_number : 0;
		if (slot != NULL && slot->flags & PSN_SEEN)
			return age < UINT32_MAX ? age : UINT32_MAX;
	}
	return 0;
}

// How little the PSN looks like an answer to the stream: not to what it waits for, to another QP
// number than its own, to one that another stream answers already, to what did not pass here; then
// how late it passed.
static uint64_t distance_of(struct flow *flow, const struct flow_stream *stream,
			    const struct flow_stream *by, uint32_t psn)
{
	const struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t own = (uint32_t)(by - flow->report.streams) + 1;
	uint32_t running = psn_extend(sequence->head, psn);
	bool is_taken = stream->peer != 0 && stream->peer != own;
	bool is_waited_for = psn_distance(running + 1, sequence->acked) >= 0;
	return UINT32_MAX - age_of(sequence, running, by->last_number) +
		(stream->qpn != by->qpn ? UINT64_C(1) << 32 : 0) +
		(is_waited_for ? 0 : UINT64_C(1) << 33) + (is_taken ? UINT64_C(1) << 34 : 0) +
		(is_next(sequence, psn) ? UINT64_C(1) << 35 : 0);
}

static struct flow_stream *search(struct flow *flow, struct flow_stream *by, uint32_t psn)
{
	struct flow_stream *best = NULL;
	uint64_t best_distance = UINT64_MAX;
	uint32_t fits = 0; // as well as the best
	for (uint32_t at = flow->pairs[stream_pair_slot(flow, by->target, by->source, by->place)];
	     at != 0; at = flow->states[at - 1].pair_next) {
		struct flow_stream *stream = &flow->report.streams[at - 1];
		if (!is_back(stream, by) || !can_answer(flow, stream, psn))
			continue;
		uint64_t distance = distance_of(flow, stream, by, psn);
		if (distance >> 32 < best_distance >> 32)
			fits = 0;
		fits += distance >> 32 <= best_distance >> 32;
		if (distance < best_distance) {
			best_distance = distance;
			best = stream;
		}
	}
	flow->report.ambiguous += fits > 1;
	flow->report.unpaired += fits == 0;
	return best;
}

// Streams that count on side by side are taken for one another at first: what a stream's answers
// name before it passed is another's, if nothing else answers that.
struct flow_stream *stream_answered(struct flow *flow, struct flow_stream *by, uint32_t psn)
{
	struct stream_state *state = stream_state(flow, by);
	uint32_t own = (uint32_t)(by - flow->report.streams) + 1;
	struct flow_stream *known = NULL;
	if (state->answers_for != 0)
		known = &flow->report.streams[state->answers_for - 1];
	if (known != NULL && (!is_back(known, by) || !can_answer(flow, known, psn)))
		known = NULL;
	if (known != NULL && !is_next(&stream_state(flow, known)->requests, psn))
		return known;
	struct flow_stream *found = search(flow, by, psn);
	bool is_taken = found != NULL && found->peer != 0 && found->peer != own;
	if (found == NULL || (known != NULL && is_taken))
		return known;
	if (known != NULL && known->peer == own)
		known->peer = 0;
	state->answers_for = (uint32_t)(found - flow->report.streams) + 1;
	found->peer = own;
	return found;
}

static void pair(struct flow *flow, uint32_t index, uint32_t peer)
{
	flow->report.streams[index - 1].peer = peer;
	if (peer != 0)
		flow->states[peer - 1].answers_for = index;
}

// The packet that caused a SACK passed in this stream with its EV (1), with another one alone (-1),
// or nobody knows (0).
static int tells_ev(struct flow *flow, const struct flow_stream *stream,
		    const struct wire_record *record)
{
	const struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t acked = psn_extend(sequence->head, record->sack_psn);
	const struct flow_psn *slot = psn_find(sequence,
					       acked + (uint32_t)(int32_t)record->sack_trigger);
	if (record->is_probe)
		return 0;
	if (slot == NULL ||
	    !(slot->flags & PSN_SEEN)) // it may be of another one that has come so far
		return -1;
	if (slot->id_last == 0)
		return 0;
	if (slot->id_last == ev_mark(record->ev))
		return 1;
	return slot->first_ns == slot->last_ns ? -1 : 0;
}

// Where QPs count on side by side, PSNs alone took the answers of one for another's.
struct flow_stream *stream_sacked(struct flow *flow, struct flow_stream *by,
				  const struct wire_record *record)
{
	struct flow_stream *stream = stream_answered(flow, by, record->sack_psn);
	if (stream == NULL || tells_ev(flow, stream, record) >= 0)
		return stream;
	for (uint32_t at = flow->pairs[stream_pair_slot(flow, by->target, by->source, by->place)];
	     at != 0; at = flow->states[at - 1].pair_next) {
		struct flow_stream *other = &flow->report.streams[at - 1];
		if (other == stream || !is_back(other, by) || tells_ev(flow, other, record) < 1)
			continue;
		pair(flow, (uint32_t)(stream - flow->report.streams) + 1, other->peer);
		pair(flow, at, (uint32_t)(by - flow->report.streams) + 1);
		return other;
	}
	return stream;
}

// Whether a NAK that was taken for one to `other` waits for just this repeat.
static bool is_asked(struct flow *flow, const struct flow_stream *other,
		     const struct flow_stream *stream, uint32_t psn)
{
	const struct sequence *sequence = &stream_state(flow, other)->requests;
	return other != stream && other->is_used && other->place == stream->place &&
		other->found == stream->found && sequence->has_nak && !sequence->is_rnr &&
		((sequence->nak_psn ^ psn) & PSN_MASK) == 0 &&
		memcmp(other->source, stream->source, 16) == 0 &&
		memcmp(other->target, stream->target, 16) == 0;
}

struct sequence *stream_take_nak_beside(struct flow *flow, struct flow_stream *stream, uint32_t psn)
{
	uint32_t own = (uint32_t)(stream - flow->report.streams) + 1;
	for (uint32_t at = flow->pairs[stream_pair_slot(flow, stream->source, stream->target,
							stream->place)];
	     at != 0; at = flow->states[at - 1].pair_next) {
		if (!is_asked(flow, &flow->report.streams[at - 1], stream, psn))
			continue;
		uint32_t peer = stream->peer;
		pair(flow, own, flow->report.streams[at - 1].peer);
		pair(flow, at, peer);
		return &flow->states[at - 1].requests;
	}
	return NULL;
}
