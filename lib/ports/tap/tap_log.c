// SPDX-License-Identifier: Apache-2.0
// Lines of the packet log. Numbers have the width that they have in a frame, so that a log of
// descriptors can be held against a capture.

#include "tap_parts.h"

#include <stdbool.h>
#include <string.h>

#include <weft/wire/wire_qpn.h>

#define MASK_24 0xffffffu
#define OOO_MAX 0x7fffu // packets above a hole: 15 bits in a frame

const char tap_log_head[] =
	"time_ps,tap,source,target,plane,hop,opcode,name,flags,bth,qpn,psn,ev,timestamp,wire_bytes,"
	"payload_bytes,va,rkey,message_bytes,imm,msn,rqmsn,trigger_offset,offset,bitmap,ev_echo,"
	"ooo_count,mark,penalty,rcvd_256,mpr,nack_psn,reason,ports,op\n";

struct line {
	char *at;
};

static void put_text(struct line *line, const char *text)
{
	size_t bytes = strlen(text);
	memcpy(line->at, text, bytes);
	line->at += bytes;
}

static void put_digits(struct line *line, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);
	do {
		digits[--first] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	memcpy(line->at, digits + first, sizeof(digits) - first);
	line->at += sizeof(digits) - first;
}

// Each of these ends the column before it.
static void put_number(struct line *line, uint64_t value)
{
	*line->at++ = ',';
	put_digits(line, value);
}

static void put_signed(struct line *line, int32_t value)
{
	*line->at++ = ',';
	if (value < 0)
		*line->at++ = '-';
	put_digits(line, (uint64_t)(value < 0 ? -(int64_t)value : value));
}

static void put_hex(struct line *line, uint64_t value, unsigned digits)
{
	put_text(line, ",0x");
	while (digits-- > 0)
		*line->at++ = "0123456789abcdef"[value >> (4 * digits) & 15];
}

static void put_empty(struct line *line, unsigned columns)
{
	while (columns-- > 0)
		*line->at++ = ',';
}

static void put_word(struct line *line, bool is_set, const char *word)
{
	if (!is_set)
		return;
	if (line->at[-1] != ',')
		*line->at++ = ' ';
	put_text(line, word);
}

static void put_flags(struct line *line, const struct packet *packet)
{
	*line->at++ = ',';
	put_word(line, packet->flags & PACKET_ECT, "ect");
	put_word(line, packet->flags & PACKET_CE, "ce");
	put_word(line, packet->flags & PACKET_TRIMMED, "trimmed");
	put_word(line, packet->flags & PACKET_TRIMMED_LAST, "last");
	put_word(line, packet->flags & PACKET_TRIMMABLE, "trimmable");
	*line->at++ = ',';
	put_word(line, packet->bth & PACKET_AR, "ar");
	put_word(line, packet->bth & PACKET_RTX, "rtx");
}

static bool is_rc(const struct packet *packet)
{
	return packet->opcode < PACKET_WRITE_FIRST;
}

static void put_packet(struct line *line, const struct wire_config *wire,
		       const struct packet *packet)
{
	put_number(line, packet->source);
	put_number(line, packet->target);
	put_number(line, packet->plane);
	put_number(line, packet->hop);
	put_hex(line, packet->opcode, 2);
	*line->at++ = ',';
	put_text(line, packet_opcode_name(packet->opcode));
	put_flags(line, packet);
	put_number(line, wire_qpn(wire, packet));
	put_number(line, packet->psn & MASK_24);
	put_hex(line, packet->ev, 8);
	put_number(line, is_rc(packet) ? 0 : packet->timestamp); // no header of RC has it
	put_number(line, packet->wire_bytes);
	put_number(line, packet->payload_bytes);
}

#define COLUMNS 35 // of a line
#define DATA_COLUMNS 6
#define SACK_COLUMNS 9
#define NACK_COLUMNS 2
#define STATUS_COLUMNS 2

static bool has_imm(uint8_t opcode)
{
	return opcode == PACKET_WRITE_LAST_IMM || opcode == PACKET_WRITE_ONLY_IMM ||
		opcode == RC_WRITE_LAST_IMM || opcode == RC_WRITE_ONLY_IMM;
}

static void put_place(struct line *line, const struct packet_data *data)
{
	put_hex(line, data->va, 16);
	put_hex(line, data->rkey, 8);
	put_number(line, data->message_bytes);
}

static void put_imm(struct line *line, const struct packet *packet)
{
	if (has_imm(packet->opcode))
		put_hex(line, packet->u.data.imm, 8);
	else
		put_empty(line, 1);
}

static void put_data(struct line *line, const struct packet *packet)
{
	put_place(line, &packet->u.data);
	put_imm(line, packet);
	put_number(line, packet->u.data.msn);
	put_number(line, packet->u.data.rqmsn);
	put_empty(line, SACK_COLUMNS + NACK_COLUMNS);
}

// As frames have it: a first packet alone says where its message goes.
static void put_rc_data(struct line *line, const struct packet *packet)
{
	if (packet->opcode == RC_WRITE_FIRST || packet->opcode == RC_WRITE_ONLY ||
	    packet->opcode == RC_WRITE_ONLY_IMM)
		put_place(line, &packet->u.data);
	else
		put_empty(line, 3);
	put_imm(line, packet);
	put_empty(line, 2 + SACK_COLUMNS + NACK_COLUMNS);
}

// An ACK or NAK: the requests that are done, and the syndrome in the place of a reason.
static void put_ack(struct line *line, const struct packet_ack *ack)
{
	put_empty(line, 4);
	put_number(line, ack->msn & MASK_24);
	put_empty(line, 1 + SACK_COLUMNS + 1);
	put_hex(line, ack->syndrome, 2);
}

static void put_rc(struct line *line, const struct packet *packet)
{
	if (packet->opcode == RC_ACK)
		put_ack(line, &packet->u.ack);
	else if (packet->opcode == RC_CNP)
		put_empty(line, DATA_COLUMNS + SACK_COLUMNS + NACK_COLUMNS);
	else
		put_rc_data(line, packet);
}

static void put_sack(struct line *line, const struct packet_sack *sack)
{
	put_empty(line, DATA_COLUMNS);
	put_signed(line, sack->trigger_offset);
	put_signed(line, sack->offset);
	put_hex(line, sack->bitmap, 16);
	put_hex(line, sack->ev_echo, 8);
	put_number(line, sack->ooo_count < OOO_MAX ? sack->ooo_count : OOO_MAX);
	put_number(line, sack->mark & 3);
	put_hex(line, sack->penalty, 2);
	put_number(line, sack->rcvd_256 & MASK_24);
	put_number(line, sack->mpr);
	put_empty(line, NACK_COLUMNS);
}

static void put_nack(struct line *line, const struct packet_nack_info *nack)
{
	put_empty(line, DATA_COLUMNS + 3);
	put_hex(line, nack->ev_echo, 8);
	put_empty(line, SACK_COLUMNS - 4);
	put_number(line, nack->psn & MASK_24);
	put_hex(line, nack->reason, 2);
}

// An endpoint request tells of ports, or asks for a probe; a response says which of both.
static void put_status(struct line *line, const struct packet *packet)
{
	bool is_request = packet->opcode == PACKET_ENDPOINT_REQUEST;
	put_empty(line, DATA_COLUMNS + SACK_COLUMNS + NACK_COLUMNS);
	if (is_request)
		put_hex(line, packet->u.request.port_status_mask, 8);
	else
		put_empty(line, 1);
	put_number(line, is_request ? packet->u.request.op : packet->u.response.op);
}

static bool is_status(const struct packet *packet)
{
	return packet->opcode == PACKET_ENDPOINT_REQUEST ||
		packet->opcode == PACKET_ENDPOINT_RESPONSE;
}

static void put_fields(struct line *line, const struct wire_config *wire,
		       const struct packet *packet)
{
	put_packet(line, wire, packet);
	if (is_status(packet))
		put_status(line, packet);
	else if (packet->opcode == PACKET_SACK)
		put_sack(line, &packet->u.sack);
	else if (packet->opcode == PACKET_NACK)
		put_nack(line, &packet->u.nack);
	else if (packet->opcode == PACKET_ACK)
		put_ack(line, &packet->u.ack);
	else if (is_rc(packet))
		put_rc(line, packet);
	else
		put_data(line, packet);
	if (!is_status(packet))
		put_empty(line, STATUS_COLUMNS);
}

size_t tap_log_line(char *ret, const struct wire_config *wire, ps_t at, const char *tap,
		    const struct packet *packet)
{
	struct line line = {ret};
	put_digits(&line, (uint64_t)at);
	*line.at++ = ',';
	put_text(&line, tap);
	if (packet != NULL)
		put_fields(&line, wire, packet);
	else
		put_empty(&line, COLUMNS - 2);
	*line.at++ = '\n';
	return (size_t)(line.at - ret);
}
