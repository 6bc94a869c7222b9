// SPDX-License-Identifier: Apache-2.0
// The front door: memory, and which part of the room a packet is for.

#include <weft/core/integer.h>
#include <weft/flow/flow.h>

#include <string.h>

#include "bursts.h"
#include "rules.h"
#include "sequence.h"

#define STREAMS_DEFAULT 8192
#define PSNS_DEFAULT (1u << 20)
#define REPAIRS_DEFAULT 65536
#define NOTES_DEFAULT 65536
#define TARGETS_DEFAULT 1024
#define CHANGES_DEFAULT 4096

static struct flow_config filled(const struct flow_config *config)
{
	struct flow_config full = *config;
	full.streams_max = full.streams_max != 0 ? full.streams_max : STREAMS_DEFAULT;
	full.psns_max = full.psns_max != 0 ? full.psns_max : PSNS_DEFAULT;
	full.repairs_max = full.repairs_max != 0 ? full.repairs_max : REPAIRS_DEFAULT;
	full.notes_max = full.notes_max != 0 ? full.notes_max : NOTES_DEFAULT;
	full.changes_max = full.changes_max != 0 ? full.changes_max : CHANGES_DEFAULT;
	full.targets_max = full.targets_max != 0 ? full.targets_max : TARGETS_DEFAULT;
	return full;
}

size_t flow_bytes(const struct flow_config *config)
{
	struct flow_config full = filled(config);
	size_t streams = sizeof(struct flow_stream) + sizeof(struct stream_state);
	return sizeof(struct flow) + full.streams_max * streams +
		2 * power_of_two(1, 2 * full.streams_max) * sizeof(uint32_t) +
		power_of_two(1, 2 * full.targets_max) * sizeof(uint32_t) +
		full.psns_max * sizeof(struct flow_psn) +
		full.repairs_max * sizeof(struct flow_repair) +
		full.notes_max * sizeof(struct flow_note) +
		full.targets_max * (sizeof(struct flow_target) + sizeof(struct target_state)) +
		full.changes_max * sizeof(struct flow_change) + 13 * 64;
}

struct flow *flow_create(struct arena *arena, const struct flow_config *config)
{
	struct flow_config full = filled(config);
	struct flow *flow = arena_draw(arena, ARENA_MEASURE, 1, sizeof(*flow));
	if (flow == NULL)
		return NULL;
	uint32_t slots = power_of_two(1, 2 * full.streams_max);
	flow->config = full;
	flow->hash_mask = slots - 1;
	flow->hash = arena_draw(arena, ARENA_MEASURE, slots, sizeof(uint32_t));
	flow->pairs = arena_draw(arena, ARENA_MEASURE, slots, sizeof(uint32_t));
	flow->report.streams = arena_draw(arena, ARENA_MEASURE, full.streams_max,
					  sizeof(struct flow_stream));
	flow->states = arena_draw(arena, ARENA_MEASURE, full.streams_max,
				  sizeof(struct stream_state));
	flow->psns = arena_draw(arena, ARENA_MEASURE, full.psns_max, sizeof(struct flow_psn));
	flow->report.repairs = arena_draw(arena, ARENA_MEASURE, full.repairs_max,
					  sizeof(struct flow_repair));
	flow->report.notes = arena_draw(arena, ARENA_MEASURE, full.notes_max,
					sizeof(struct flow_note));
	flow->report.targets = arena_draw(arena, ARENA_MEASURE, full.targets_max,
					  sizeof(struct flow_target));
	flow->target_mask = power_of_two(1, 2 * full.targets_max) - 1;
	flow->target_slots = arena_draw(arena, ARENA_MEASURE, flow->target_mask + 1,
					sizeof(uint32_t));
	flow->targets = arena_draw(arena, ARENA_MEASURE, full.targets_max,
				   sizeof(struct target_state));
	flow->report.changes = arena_draw(arena, ARENA_MEASURE, full.changes_max,
					  sizeof(struct flow_change));
	return arena_has_failed(arena) ? NULL : flow;
}

// ---------------------------------------------------------------- a packet

enum { SYNDROME_ACK = 0, SYNDROME_RNR = 1, SYNDROME_NAK = 3 };
enum {
	OPERATION_READ_FIRST = 0x0d,
	OPERATION_READ_ONLY = 0x10,
	OPERATION_ACK = 0x11,
	OPERATION_ATOMIC_ACK = 0x12
};
enum { TRANSPORT_RC = 0, TRANSPORT_UC = 1, TRANSPORT_XRC = 5 };

static void take_answer(struct flow *flow, struct flow_stream *by, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	uint8_t kind = record->syndrome >> 5 & 3;
	bool is_sequence = kind == SYNDROME_NAK && (record->syndrome & 31) == 0;
	if (!(record->layers & WIRE_LAYER_AETH))
		return;
	by->acks += kind == SYNDROME_ACK;
	by->naks += kind == SYNDROME_NAK;
	by->rnrs += kind == SYNDROME_RNR;
	struct flow_stream *stream = stream_answered(flow, by, record->psn);
	rules_take_answer(flow, by, stream, packet);
	if (record->opcode == OPERATION_ATOMIC_ACK)
		rules_take_response(flow, by, stream, packet);
	if (stream == NULL)
		return;
	if (kind == SYNDROME_ACK)
		answer_ack(flow, stream, packet);
	else if (is_sequence || kind == SYNDROME_RNR)
		answer_nak(flow, stream, packet, kind == SYNDROME_RNR);
	else if (kind == SYNDROME_NAK)
		blame(flow, stream, FLOW_REFUSED, 1);
}

// A response to a READ is data of its own, and acknowledges the requests up to its PSN.
static void take_response(struct flow *flow, struct flow_stream *by,
			  const struct flow_packet *packet)
{
	sequence_take(flow, by, &stream_state(flow, by)->responses, packet);
	struct flow_stream *stream = stream_answered(flow, by, packet->record->psn);
	if (packet_begins_response(packet))
		rules_take_response(flow, by, stream, packet);
	if (stream == NULL)
		return;
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint8_t operation = packet->record->opcode & 31;
	bool is_last = operation >= 0x0f;
	if (!is_last || operation == OPERATION_READ_ONLY)
		sequence_take_mtu(sequence, packet->record->payload_bytes);
	if (is_last)
		answer_advance(flow, stream, psn_extend(sequence->head, packet->record->psn) + 1,
			       packet->at_ns);
}

static void take_cnp(struct flow *flow, struct flow_stream *by, const struct flow_packet *packet)
{
	by->cnps++;
	uint32_t index = stream_state(flow, by)->answers_for;
	if (index == 0)
		return;
	struct sequence *sequence = &flow->states[index - 1].requests;
	if (sequence->last_ce_ns >= 0 && packet->at_ns >= sequence->last_ce_ns)
		flow_lag(&flow->report.ce_to_cnp, packet->at_ns - sequence->last_ce_ns);
	sequence->last_ce_ns = -1;
}

static void take_operation(struct flow *flow, struct flow_stream *stream,
			   const struct flow_packet *packet)
{
	uint8_t operation = packet->record->opcode & 31, transport = packet->record->opcode >> 5;
	if (packet->record->opcode == RC_CNP) {
		take_cnp(flow, stream, packet);
		return;
	}
	if (transport != TRANSPORT_RC && transport != TRANSPORT_UC && transport != TRANSPORT_XRC)
		return;
	if (operation >= OPERATION_READ_FIRST && operation <= OPERATION_READ_ONLY)
		take_response(flow, stream, packet);
	else if ((operation == OPERATION_ACK || operation == OPERATION_ATOMIC_ACK) &&
		 packet->record->icrc == WIRE_ICRC_BAD)
		return; // who gets it drops it
	else if (operation == OPERATION_ACK || operation == OPERATION_ATOMIC_ACK)
		take_answer(flow, stream, packet);
	else
		sequence_take(flow, stream, &stream_state(flow, stream)->requests, packet);
}

// That of the last packet, but for CNPs and damaged ones where there are others.
static void take_transport(struct flow *flow, struct flow_stream *stream,
			   const struct wire_record *record)
{
	struct stream_state *state = stream_state(flow, stream);
	bool tells = record->opcode != RC_CNP && record->icrc != WIRE_ICRC_BAD;
	if (tells || !state->has_transport)
		stream->transport = record->opcode >> 5;
	state->has_transport |= tells;
}

static void take_bth(struct flow *flow, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	struct flow_stream *stream = stream_of(flow, packet);
	uint32_t psn = psn_extend(stream->first_psn + PSN_MASK + 1, record->psn);
	bool is_data = record->payload_bytes > 0 || record->is_trimmed;
	rules_take(flow, stream, packet);
	classes_take(flow, stream, packet);
	bursts_take(flow, stream, packet, is_data);
	take_transport(flow, stream, record);
	stream->packets++;
	stream->bytes += record->original;
	stream->last_number = packet->number;
	stream->last_ns = packet->at_ns;
	stream->last_psn = record->psn;
	stream->opcodes[flow_slot(record->opcode)]++;
	if (psn_distance(psn, stream->low_psn) < 0)
		stream->low_psn = psn;
	if (psn_distance(psn, stream->high_psn) > 0)
		stream->high_psn = psn;
	stream->ect += record->ecn == 1 || record->ecn == 2;
	if (record->ecn == 3) {
		stream->ce++;
		stream_state(flow, stream)->requests.last_ce_ns = packet->at_ns;
	}
	if (record->icrc == WIRE_ICRC_BAD)
		note(flow, stream, FLOW_NOTE_DAMAGED, packet->number, record->psn, 1);
	if (record->found == WIRE_FOUND_MRC)
		mrc_take(flow, stream, packet);
	else
		take_operation(flow, stream, packet);
}

void flow_expect(const struct flow *flow, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	bool is_mrc = record->found == WIRE_FOUND_MRC;
	if (!(record->layers & WIRE_LAYER_BTH))
		return;
	__builtin_prefetch(
		totals_ev(&flow->report.totals, is_mrc ? record->ev : record->source_port));
	__builtin_prefetch(&flow->report.totals.source_ports[record->source_port]);
}

void flow_take(struct flow *flow, const struct flow_packet *packet)
{
	totals_take(flow, packet);
	if (packet->record->layers & WIRE_LAYER_BTH)
		take_bth(flow, packet);
}

void flow_take_unread(struct flow *flow)
{
	flow->report.unread++;
}

// MRC sprays each QP over all planes. A tap that sees a part of them misses most PSNs in good
// order: then a repeat whose first copy never passed here says nothing of where that was lost.
static void end_partial(struct flow *flow, struct flow_stream *stream)
{
	struct flow_report *report = &flow->report;
	stream->is_partial = true;
	report->partial_streams++;
	report->partial_acked += stream->acked_psns;
	report->partial_unseen += stream->acked_unseen;
	blame(flow, stream, FLOW_LOSS_BEFORE, -(int64_t)stream->causes[FLOW_LOSS_BEFORE]);
	for (uint32_t i = 0; i < report->repair_count; i++) {
		struct flow_repair *repair = &report->repairs[i];
		if (&report->streams[repair->stream] == stream && repair->cause == FLOW_LOSS_BEFORE)
			repair->cause = FLOW_CAPTURE;
	}
}

const struct flow_report *flow_end(struct flow *flow)
{
	bursts_end(flow);
	for (uint32_t i = 0; i < flow->report.stream_count; i++) {
		struct flow_stream *stream = &flow->report.streams[i];
		stream_end(flow, stream);
		stream->low_psn &= PSN_MASK;
		stream->high_psn &= PSN_MASK;
		if (stream_is_partial(stream))
			end_partial(flow, stream);
		else if (stream->acked_unseen > 0)
			blame(flow, stream, FLOW_CAPTURE, (int64_t)stream->acked_unseen);
	}
	totals_end(flow);
	return &flow->report;
}

// ---------------------------------------------------------------- names

const char *flow_cause_name(enum flow_cause cause)
{
	static const char *const names[FLOW_CAUSE_COUNT] = {
		[FLOW_LOSS_BEFORE] = "loss_before",
		[FLOW_LOSS_BEHIND] = "loss_behind",
		[FLOW_CORRUPT_BEFORE] = "corruption_before",
		[FLOW_REORDER_BEFORE] = "reordering_before",
		[FLOW_GONE_BEFORE] = "lost_or_late_before",
		[FLOW_REORDER_BEHIND] = "reordering_behind",
		[FLOW_GONE_BEHIND] = "lost_or_late_behind",
		[FLOW_TIMEOUT] = "needless_timeout",
		[FLOW_TIMER] = "timeout",
		[FLOW_DUPLICATE] = "duplicate",
		[FLOW_COPY_OR_LATE] = "doubled_or_late",
		[FLOW_NOT_READY] = "receiver_not_ready",
		[FLOW_REFUSED] = "refused",
		[FLOW_TRIM_BEFORE] = "trim_before",
		[FLOW_TRIM_BEHIND] = "trim_behind",
		[FLOW_CONGESTION] = "congestion",
		[FLOW_PAUSE] = "pause",
		[FLOW_CAPTURE] = "capture",
	};
	return cause < FLOW_CAUSE_COUNT ? names[cause] : "unknown";
}

// Opcodes of one stream share their transport, but for CNPs and weft's demand.
enum { SLOT_CNP = 31, SLOT_DEMAND = 23 };

uint8_t flow_slot(uint8_t opcode)
{
	return opcode == RC_CNP ? SLOT_CNP : opcode == PACKET_DEMAND ? SLOT_DEMAND : opcode & 31;
}

uint8_t flow_opcode(const struct flow_stream *stream, uint8_t slot)
{
	bool is_mrc = stream->found == WIRE_FOUND_MRC;
	if (slot == SLOT_CNP)
		return RC_CNP;
	if (is_mrc && slot == SLOT_DEMAND)
		return PACKET_DEMAND;
	if (is_mrc && slot == (PACKET_CREDIT & 31))
		return PACKET_CREDIT;
	return (uint8_t)((is_mrc ? 0xc0 : stream->transport << 5) | slot);
}
