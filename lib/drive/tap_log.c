// SPDX-License-Identifier: Apache-2.0
// Lines of the packet log. Numbers have the width that they have in a frame, so that a log of
// descriptors can be held against a capture.

#include "tap_log.h"

#include <stdbool.h>
#include <string.h>

#define MASK_24 0xffffffu
#define OOO_MAX 0x7fffu // packets above a hole: 15 bits in a frame

const char tap_log_head[] =
	"time_ps,tap,source,target,plane,hop,opcode,name,flags,bth,qpn,psn,ev,timestamp,wire_bytes,"
	"payload_bytes,va,rkey,message_bytes,imm,msn,rqmsn,trigger_offset,offset,bitmap,ev_echo,"
	"ooo_count,mark,penalty,rcvd_256,nack_psn,reason\n";

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

static void put_packet(struct line *line, const struct packet *packet)
{
	put_number(line, packet->source);
	put_number(line, packet->target);
	put_number(line, packet->plane);
	put_number(line, packet->hop);
	put_hex(line, packet->opcode, 2);
	*line->at++ = ',';
	put_text(line, packet_opcode_name(packet->opcode));
	put_flags(line, packet);
	put_number(line, packet->qpn & MASK_24);
	put_number(line, packet->psn & MASK_24);
	put_hex(line, packet->ev, 8);
	put_number(line, packet->timestamp);
	put_number(line, packet->wire_bytes);
	put_number(line, packet->payload_bytes);
}

#define DATA_COLUMNS 6
#define SACK_COLUMNS 8
#define NACK_COLUMNS 2

static void put_data(struct line *line, const struct packet *packet)
{
	const struct packet_data *data = &packet->u.data;
	put_hex(line, data->va, 16);
	put_hex(line, data->rkey, 8);
	put_number(line, data->message_bytes);
	if (packet->opcode == PACKET_WRITE_LAST_IMM || packet->opcode == PACKET_WRITE_ONLY_IMM)
		put_hex(line, data->imm, 8);
	else
		put_empty(line, 1);
	put_number(line, data->msn);
	put_number(line, data->rqmsn);
	put_empty(line, SACK_COLUMNS + NACK_COLUMNS);
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

size_t tap_log_line(char *ret, ps_t at, const char *tap, const struct packet *packet)
{
	struct line line = {ret};
	put_digits(&line, (uint64_t)at);
	*line.at++ = ',';
	put_text(&line, tap);
	put_packet(&line, packet);
	if (packet->opcode == PACKET_SACK)
		put_sack(&line, &packet->u.sack);
	else if (packet->opcode == PACKET_NACK)
		put_nack(&line, &packet->u.nack);
	else
		put_data(&line, packet);
	*line.at++ = '\n';
	return (size_t)(line.at - ret);
}
