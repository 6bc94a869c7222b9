// SPDX-License-Identifier: Apache-2.0
// What each stream's packets of one kind are marked with (DSCP), and where that changes. A trimmed
// packet has another class by what it is, and so has a repeat of MRC (RTX); datagrams of one QP may
// differ.

#include "rules.h"

static const char *const names[FLOW_KIND_COUNT] = {
	[FLOW_KIND_NONE] = "other",    [FLOW_KIND_DATA] = "data",
	[FLOW_KIND_AGAIN] = "repeats", [FLOW_KIND_RESPONSE] = "responses",
	[FLOW_KIND_ACK] = "ACKs",      [FLOW_KIND_SACK] = "SACKs",
	[FLOW_KIND_NACK] = "NACKs",    [FLOW_KIND_CNP] = "CNPs",
};

const char *flow_kind_name(enum flow_kind kind)
{
	return names[kind];
}

static enum flow_kind kind_of(const struct wire_record *record)
{
	uint8_t operation = record->opcode & 31, transport = record->opcode >> 5;
	if (record->found == WIRE_FOUND_MRC) {
		bool is_write = record->opcode >= PACKET_WRITE_FIRST &&
			record->opcode <= PACKET_WRITE_ONLY_IMM;
		return is_write ? record->is_rtx ? FLOW_KIND_AGAIN : FLOW_KIND_DATA
			: record->opcode == PACKET_SACK ? FLOW_KIND_SACK
			: record->opcode == PACKET_NACK ? FLOW_KIND_NACK
			: record->opcode == PACKET_ACK	? FLOW_KIND_ACK
							: FLOW_KIND_NONE;
	}
	if (record->opcode == RC_CNP)
		return FLOW_KIND_CNP;
	if (transport != 0 && transport != 1 && transport != 5)
		return FLOW_KIND_NONE;
	if (operation == 0x11 || operation == 0x12)
		return FLOW_KIND_ACK;
	return operation >= 0x0d && operation <= 0x10 ? FLOW_KIND_RESPONSE : FLOW_KIND_DATA;
}

static void add(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet,
		enum flow_kind kind)
{
	struct flow_report *report = &flow->report;
	const struct stream_state *state = stream_state(flow, stream);
	stream->class_changes++;
	report->class_changes++;
	note(flow, stream, FLOW_NOTE_CLASS, packet->number, packet->record->psn,
	     (uint32_t)state->dscp[kind] << 8 | packet->record->dscp);
	if (report->change_count == flow->config.changes_max)
		return;
	report->changes[report->change_count++] = (struct flow_change){
		.number = packet->number,
		.before = state->kind_number[kind],
		.at_ns = packet->at_ns,
		.stream = (uint32_t)(stream - report->streams),
		.kind = (uint8_t)kind,
		.from = state->dscp[kind],
		.to = packet->record->dscp};
}

void classes_take(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	struct stream_state *state = stream_state(flow, stream);
	enum flow_kind kind = kind_of(record);
	bool has_class = record->layers & (WIRE_LAYER_IPV4 | WIRE_LAYER_IPV6);
	if (kind == FLOW_KIND_NONE || record->is_trimmed || record->icrc == WIRE_ICRC_BAD ||
	    !has_class)
		return;
	if (state->kind_number[kind] != 0 && state->dscp[kind] != record->dscp)
		add(flow, stream, packet, kind);
	state->dscp[kind] = record->dscp;
	state->kind_number[kind] = packet->number;
}
