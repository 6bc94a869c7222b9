// SPDX-License-Identifier: Apache-2.0
// Messages out of packets. Packets and answers are gathered in one pass; which answers are those of
// which way of a QP is settled at the end, when all are known.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/order.h>
#include <weft/core/psn.h>
#include <weft/wire/wire_dissect.h>
#include <weft/wire/wire_ends.h>

#include "gather.h"
#include "pcap.h"

#define ACK_KIND_MASK 0x60 // of a syndrome; 0: an ACK

// ---------------------------------------------------------------- what is met

static uint32_t node_of(struct gather *all, const uint8_t address[16])
{
	uint8_t key[16];
	memcpy(key, address, sizeof(key));
	wire_leave_out_plane(&all->wire, key);
	return table_of_find(&all->nodes, key);
}

static struct stream *stream_of(struct gather *all, const struct stream_key *key, uint32_t psn,
				uint32_t place)
{
	uint32_t before = all->streams.count;
	uint32_t index = table_of_find(&all->streams, key);
	if (index == UINT32_MAX)
		return NULL;
	struct stream *stream = table_of_at(&all->streams, index);
	if (all->streams.count > before) {
		stream->place = place;
		stream->head = psn + PSN_MASK + 1;
	}
	return stream;
}

static struct message *add_message(struct gather *all, struct stream *stream)
{
	struct messages *ret = all->ret;
	if (ret->count == all->messages_room) {
		uint32_t room = all->messages_room == 0 ? 1024 : 2 * all->messages_room;
		void *list = realloc(ret->list, room * sizeof(*ret->list));
		ret->list = list != NULL ? list : ret->list;
		void *olders = list != NULL ? realloc(all->olders, room * sizeof(*all->olders))
					    : NULL;
		all->olders = olders != NULL ? olders : all->olders;
		all->is_short |= olders == NULL;
		if (olders == NULL)
			return NULL;
		all->messages_room = room;
	}
	all->olders[ret->count] = stream->newest;
	stream->newest = ++ret->count;
	struct message *message = &ret->list[ret->count - 1];
	*message = (struct message){.from = stream->key.source,
				    .to = stream->key.target,
				    .stream = table_of_index(&all->streams, stream),
				    .end_ns = -1};
	return message;
}

// The newest message of the stream that begins at `psn` or before; NULL: none.
static struct message *message_at(struct gather *all, const struct stream *stream, uint32_t psn)
{
	uint32_t index = stream->newest;
	while (index != 0 && psn_distance(all->ret->list[index - 1].first_psn, psn) > 0)
		index = all->olders[index - 1];
	return index == 0 ? NULL : &all->ret->list[index - 1];
}

// ---------------------------------------------------------------- packets

enum { BEGINS = 1, ENDS = 2, IS_SEND = 4 };

// What a request's operation is to its message; -1: not one of these.
static int part_of(uint8_t opcode)
{
	static const int8_t parts[] = {
		BEGINS | IS_SEND,
		IS_SEND,
		ENDS | IS_SEND,
		ENDS | IS_SEND,
		BEGINS | ENDS | IS_SEND,
		BEGINS | ENDS | IS_SEND,
		BEGINS,
		0,
		ENDS,
		ENDS,
		BEGINS | ENDS,
		BEGINS | ENDS,
	};
	uint8_t operation = opcode & 31;
	if (operation == 0x16 || operation == 0x17) // SEND with invalidate
		return ENDS | IS_SEND | (operation == 0x17 ? BEGINS : 0);
	return operation < sizeof(parts) ? parts[operation] : -1;
}

static void take_data(struct gather *all, struct stream *stream, const struct wire_record *record,
		      int part, int64_t at_ns)
{
	uint32_t psn = psn_extend(stream->head, record->psn);
	bool is_new = psn_distance(psn, stream->head) >= 0;
	if (is_new)
		stream->head = psn + 1;
	struct message *message = message_at(all, stream, psn);
	bool is_known = message != NULL && message->first_psn == psn;
	if (part & BEGINS && !is_known) {
		message = add_message(all, stream);
		if (message == NULL)
			return;
		message->first_psn = psn;
		message->start_ns = at_ns;
		message->bytes = part & IS_SEND ? 0 : record->message_bytes;
	}
	if (message == NULL) {
		all->ret->headless++;
		return;
	}
	if (part & IS_SEND && (is_new || (part & BEGINS && !is_known)))
		message->bytes += record->payload_bytes;
	if (part & ENDS && !message->has_last) {
		message->last_psn = psn;
		message->has_last = true;
	}
}

static void take_single(struct gather *all, const struct stream_key *key,
			const struct wire_record *record, uint32_t place, int64_t at_ns)
{
	struct stream *stream = record->payload_bytes > 0 ? stream_of(all, key, record->psn, place)
							  : NULL;
	if (stream == NULL || stream->place != place)
		return;
	uint32_t psn = psn_extend(stream->head, record->psn);
	struct message *message = add_message(all, stream);
	if (message == NULL)
		return;
	message->first_psn = message->last_psn = psn;
	message->bytes = record->payload_bytes;
	message->start_ns = message->end_ns = at_ns;
	bool is_below = psn_distance(psn, stream->head) < 0;
	message->is_again = record->found == WIRE_FOUND_MRC ? record->is_rtx : is_below;
	if (!is_below)
		stream->head = psn + 1;
}

static void take_answer(struct gather *all, const struct stream_key *key,
			const struct answer *answer)
{
	uint32_t index = table_of_find(&all->answers, key);
	if (index == UINT32_MAX)
		return;
	struct answers *answers = table_of_at(&all->answers, index);
	if (answers->count == answers->room) {
		uint32_t room = answers->room == 0 ? 64 : 2 * answers->room;
		void *list = realloc(answers->list, room * sizeof(*answers->list));
		all->is_short |= list == NULL;
		if (list == NULL)
			return;
		answers->list = list;
		answers->room = room;
	}
	answers->list[answers->count++] = *answer;
	answers->acks += !answer->is_sack;
}

static void take_packet(struct gather *all, const struct wire_record *record, uint32_t place,
			int64_t at_ns)
{
	if (!(record->layers & WIRE_LAYER_BTH) || record->stopped == WIRE_UNKNOWN_OPCODE)
		return;
	bool is_mrc = record->found == WIRE_FOUND_MRC;
	uint8_t transport = is_mrc ? 0 : record->opcode >> 5, operation = record->opcode & 31;
	struct stream_key key = {node_of(all, record->source), node_of(all, record->target),
				 record->qpn, record->found};
	if (key.source == UINT32_MAX || key.target == UINT32_MAX)
		return;
	if (all->are_packets) {
		take_single(all, &key, record, place, at_ns);
		return;
	}
	bool is_sack = is_mrc && record->opcode == PACKET_SACK;
	bool is_ack = operation == 0x11 && transport < 4;
	if (is_sack || (is_ack && !(record->syndrome & ACK_KIND_MASK))) {
		struct answer answer = {is_sack ? record->sack_psn : record->psn, place, at_ns,
					is_sack};
		take_answer(all, &key, &answer);
		return;
	}
	int part = is_mrc &&
			!(record->opcode >= PACKET_WRITE_FIRST &&
			  record->opcode <= PACKET_WRITE_ONLY_IMM)
		? -1
		: part_of(record->opcode);
	if (transport >= 3 || part < 0) { // UD, CNP
		all->ret->datagrams += transport == 3 && part >= 0;
		all->ret->reads += transport < 3 && !is_mrc &&
			(operation == 0x0c || operation == 0x13 || operation == 0x14);
		return;
	}
	struct stream *stream = stream_of(all, &key, record->psn, place);
	if (stream != NULL && stream->place == place)
		take_data(all, stream, record, part, at_ns);
}

// ---------------------------------------------------------------- nodes and order

#define NICS_MAX 65536 // that a rule of addresses may lead to; else there would be no end of NICs

// The NICs that weft's rule names. False: some node is none.
static bool number_by_rule(struct gather *all, uint32_t *numbers)
{
	struct messages *ret = all->ret;
	ret->node_count = 0;
	for (uint32_t i = 0; i < all->nodes.count; i++) {
		if (!wire_nic_by_rule(&all->wire, table_of_at(&all->nodes, i), &numbers[i]) ||
		    numbers[i] >= NICS_MAX)
			return false;
		if (numbers[i] >= ret->node_count)
			ret->node_count = numbers[i] + 1;
	}
	return true;
}

static void number_by_address(struct gather *all, uint32_t *numbers)
{
	uint32_t count = all->nodes.count;
	all->ret->node_count = count;
	for (uint32_t i = 0; i < count; i++) {
		numbers[i] = 0;
		for (uint32_t k = 0; k < count; k++)
			numbers[i] += memcmp(table_of_at(&all->nodes, k),
					     table_of_at(&all->nodes, i), 16) < 0;
	}
}

static bool number_nodes(struct gather *all, bool renumbers)
{
	struct messages *ret = all->ret;
	uint32_t *numbers = calloc(all->nodes.count + 1u, sizeof(*numbers));
	if (numbers == NULL)
		return false;
	ret->is_by_rule = !renumbers && number_by_rule(all, numbers);
	if (!ret->is_by_rule)
		number_by_address(all, numbers);
	ret->nodes = calloc(ret->node_count + 1u, sizeof(*ret->nodes));
	for (uint32_t i = 0; ret->nodes != NULL && i < all->nodes.count; i++)
		memcpy(ret->nodes[numbers[i]], table_of_at(&all->nodes, i), 16);
	for (uint32_t i = 0; i < ret->count; i++) {
		ret->list[i].from = numbers[ret->list[i].from];
		ret->list[i].to = numbers[ret->list[i].to];
	}
	free(numbers);
	return ret->nodes != NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct message *one = a, *other = b;
	int order = ORDER(one->start_ns, other->start_ns) ?: ORDER(one->from, other->from);
	order = order ?: ORDER(one->stream, other->stream);
	return order ?: psn_distance(one->first_psn, other->first_psn);
}

static void read_frames(struct gather *all)
{
	struct capture_frame frame;
	struct wire_record record;
	while (!all->is_short && capture_next(&all->reader, &frame)) {
		const struct capture_interface *interface =
			&all->reader.interfaces[frame.interface];
		wire_dissect(&all->wire, interface->link, frame.bytes, frame.captured,
			     frame.original, &record);
		if (frame.has_time)
			take_packet(all, &record,
				    places_find(&all->places, &all->reader, interface),
				    frame.at_ns);
		all->is_short |= all->nodes.is_short || all->streams.is_short ||
			all->answers.is_short;
	}
	all->ret->frames = all->reader.frames;
	all->ret->stream_count = all->streams.count;
	memcpy(all->ret->end, all->reader.why, sizeof(all->ret->end));
}

int messages_read(struct messages *ret, const char *path, const struct messages_options *options,
		  struct refusal *refusal)
{
	static struct gather all; // large: kept off the stack
	memset(&all, 0, sizeof(all));
	memset(ret, 0, sizeof(*ret));
	all.ret = ret;
	all.are_packets = options->are_packets;
	wire_config_default(6, &all.wire);
	all.wire.icrc_unchecked = true;
	table_of_init(&all.nodes, 16, 16);
	table_of_init(&all.streams, sizeof(struct stream_key), sizeof(struct stream));
	table_of_init(&all.answers, sizeof(struct stream_key), sizeof(struct answers));
	struct source source;
	all.reader.buffer = malloc(CAPTURE_BUFFER_BYTES);
	all.reader.capacity = CAPTURE_BUFFER_BYTES;
	int rc = all.reader.buffer == NULL ? -ENODEV
					   : source_open(&source, path, &all.reader, refusal);
	if (rc == 0) {
		read_frames(&all);
		source_close(&source);
		all.is_short |= (!all.are_packets && !gather_settle(&all)) ||
			!number_nodes(&all, options->renumbers);
		if (ret->count > 1)
			qsort(ret->list, ret->count, sizeof(*ret->list), by_start);
	}
	if (all.is_short || all.reader.buffer == NULL)
		rc = refuse(refusal, -ENODEV, "no memory for the messages of a capture");
	for (uint32_t i = 0; i < all.answers.count; i++)
		free(((struct answers *)table_of_at(&all.answers, i))->list);
	table_of_free(&all.nodes);
	table_of_free(&all.streams);
	table_of_free(&all.answers);
	free(all.olders);
	free(all.reader.buffer);
	if (rc < 0)
		messages_free(ret);
	return rc;
}

void messages_free(struct messages *messages)
{
	free(messages->list);
	free(messages->nodes);
	messages->list = NULL;
	messages->nodes = NULL;
}
