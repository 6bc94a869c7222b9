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

// Of RC, UC, XRC, MRC; the others are none.
static const uint8_t kinds[256] = {
	[0x00 ... 0x0c] = FLOW_KIND_DATA,
	[0x0d ... 0x10] = FLOW_KIND_RESPONSE,
	[0x11 ... 0x12] = FLOW_KIND_ACK,
	[0x13 ... 0x17] = FLOW_KIND_DATA,
	[0x20 ... 0x2b] = FLOW_KIND_DATA,
	[0xa0 ... 0xac] = FLOW_KIND_DATA,
	[0xad ... 0xb0] = FLOW_KIND_RESPONSE,
	[0xb1 ... 0xb2] = FLOW_KIND_ACK,
	[0xb3 ... 0xb7] = FLOW_KIND_DATA,
	[RC_CNP] = FLOW_KIND_CNP,
	[PACKET_WRITE_FIRST... PACKET_WRITE_ONLY_IMM] = FLOW_KIND_DATA,
	[PACKET_ACK] = FLOW_KIND_ACK,
	[PACKET_SACK] = FLOW_KIND_SACK,
	[PACKET_NACK] = FLOW_KIND_NACK,
};

__attribute__((cold, noinline)) static void add(struct flow *flow, struct flow_stream *stream,
						const struct flow_packet *packet,
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
	enum flow_kind kind = (enum flow_kind)kinds[record->opcode];
	if (kind == FLOW_KIND_DATA && record->is_rtx)
		kind = FLOW_KIND_AGAIN;
	bool has_class = record->layers & (WIRE_LAYER_IPV4 | WIRE_LAYER_IPV6);
	if (kind == FLOW_KIND_NONE || record->is_trimmed || record->icrc == WIRE_ICRC_BAD ||
	    !has_class)
		return;
	if (state->kind_number[kind] != 0 && state->dscp[kind] != record->dscp)
		add(flow, stream, packet, kind);
	state->dscp[kind] = record->dscp;
	state->kind_number[kind] = packet->number;
}
