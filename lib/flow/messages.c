// SPDX-License-Identifier: Apache-2.0
// When messages end. Where a packet of the last one is acknowledged, that is when; of MRC a SACK
// says that packets came, and where its receiver sends ACKs, these say that a message is done.

#include "sequence.h"

void message_size(struct flow_stream *stream, uint64_t bytes)
{
	if (stream->sizes == 0 || bytes < stream->size_min)
		stream->size_min = bytes;
	if (stream->sizes == 0 || bytes > stream->size_max)
		stream->size_max = bytes;
	stream->sizes++;
}

static void count(struct flow *flow, struct flow_stream *stream, const struct message *message,
		  int64_t at_ns)
{
	int64_t took_ns = at_ns - message->began_ns;
	stream->done++;
	if (stream->opcodes[0x06] + stream->opcodes[0x0a] + stream->opcodes[0x0b] == 0 &&
	    !stream->has_reads) // else the RETH says it
		message_size(stream, message->bytes);
	stream->done_bytes += message->bytes;
	if (stream->messages.count == 0 || took_ns < stream->messages.min_ns)
		stream->messages.min_ns = took_ns;
	if (stream->messages.count == 0 || took_ns > stream->messages.max_ns)
		stream->messages.max_ns = took_ns;
	stream->messages.count++;
	stream->messages.sum_ns += (double)took_ns;
	flow_lag(&flow->report.messages, took_ns);
}

// The first one that waits is done.
static void pop(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		int64_t at_ns)
{
	count(flow, stream, &sequence->waiting[0], at_ns);
	sequence->waiting_count--;
	for (uint32_t i = 0; i < sequence->waiting_count; i++)
		sequence->waiting[i] = sequence->waiting[i + 1];
}

void message_end(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		 uint32_t psn, int64_t at_ns)
{
	struct message message = {sequence->message_ns, at_ns, sequence->message_bytes, psn};
	sequence->message_ns = -1;
	if (message.began_ns < 0)
		return;
	if (stream->found != WIRE_FOUND_MRC || sequence->is_done_by_sack) {
		count(flow, stream, &message, at_ns);
		return;
	}
	if (sequence->waiting_count == MESSAGES_WAITING) {
		sequence->is_done_by_sack = !sequence->has_message_ack;
		pop(flow, stream, sequence, sequence->waiting[0].sacked_ns);
	}
	sequence->waiting[sequence->waiting_count++] = message;
	if (sequence->is_done_by_sack)
		message_settle(flow, stream, sequence);
}

void message_ack(struct flow *flow, struct flow_stream *stream, uint32_t psn, int64_t at_ns)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	sequence->has_message_ack = true;
	sequence->is_done_by_sack = false;
	while (sequence->waiting_count > 0 && psn_distance(psn, sequence->waiting[0].psn) >= 0)
		pop(flow, stream, sequence, at_ns);
}

void message_settle(struct flow *flow, struct flow_stream *stream, struct sequence *sequence)
{
	while (!sequence->has_message_ack && sequence->waiting_count > 0)
		pop(flow, stream, sequence, sequence->waiting[0].sacked_ns);
	sequence->waiting_count = 0;
}
