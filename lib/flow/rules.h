// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the protocols forbid, and the class of a stream's packets.
#pragma once

#include "sequence.h"

// The next packet of a stream: whether its class is that of those before.
void classes_take(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet);

// A rule is broken by packet `number` of a stream.
__attribute__((cold)) void rules_broken(struct flow *flow, const struct flow_stream *stream,
					enum flow_rule rule, uint64_t number);

// What any packet with a BTH has to keep, of one that may not; before the stream counts it.
__attribute__((cold)) void rules_take_odd(struct flow *flow, const struct flow_stream *stream,
					  const struct flow_packet *packet);

static inline void rules_take(struct flow *flow, const struct flow_stream *stream,
			      const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	bool is_odd = record->opcode >> 5 != stream->transport ||
		(record->qpn < 2 && record->opcode < 0xc0) ||
		(record->payload_bytes + record->pad_bytes) % 4 != 0 || record->stopped != 0;
	if (is_odd && record->icrc != WIRE_ICRC_BAD)
		rules_take_odd(flow, stream, packet);
}

// A request that was not seen before, with its slot; before it is kept there.
void rules_take_data(struct flow *flow, const struct flow_stream *stream, struct sequence *sequence,
		     const struct flow_psn *slot, const struct flow_packet *packet);

// An ACK or NAK by `by`, about `stream` (NULL: not known).
void rules_take_answer(struct flow *flow, const struct flow_stream *by, struct flow_stream *stream,
		       const struct flow_packet *packet);

// A response to a READ, or of an atomic, begins.
void rules_take_response(struct flow *flow, const struct flow_stream *by,
			 struct flow_stream *stream, const struct flow_packet *packet);

// A SACK or NACK of MRC.
void rules_take_sack(struct flow *flow, const struct flow_stream *by, struct flow_stream *stream,
		     const struct flow_packet *packet);

// MRC: a packet with its EV.
void rules_take_ev(struct flow *flow, uint32_t ev);

// Nothing more comes of it: what waited until the tap's part of its planes was known.
void rules_end(struct flow *flow, struct flow_stream *stream);
