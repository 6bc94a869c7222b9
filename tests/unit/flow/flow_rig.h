// SPDX-License-Identifier: Apache-2.0
// Packets written as words, one after the other, each a microsecond behind the last:
//
//   RoCE   F0 M1 L2 O3       WRITE first, middle, last (which asks for an ACK), only; PSN
//          S4 B5 E6          SEND only, first, last
//          Q8,4              READ request of 4 packets of 1,024 B; q8 ... its responses: first, y
//                            middle, z last, p only
//          U5                UC WRITE only
//   answers, the other way:  A2 ACK, N1 NAK, R1 RNR, V1 NAK of another kind, C0 CNP
//   MRC    w0 m1 l2 o3       WRITE first, middle, last, only; SACK is K2[,bits], NACK (trimmed) k2,
//                            ACK D2
//   behind a word: =  the IPv4 identification of the packet before    #7  this one    ~9  EV 9
//          !  ICRC bad
//          <2  the PSN that caused a SACK, so far below the cumulative one
//          *  CE    r  RTX    t  trimmed    @2  QP 2
//          :26  DSCP    ^3  MSN    $9  payload    &3  padding    ?34  opcode    /99  syndrome, or
//          reason of a NACK    |5  with host 5 in place of the sender
//   X      a frame that was not read
//   +50    wait 50 us         -50  the clock steps back           %1  from here on at place 1
//   v4 v0 v6   IPv4 with identifications that count up, IPv4 with none, IPv6
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/flow/flow.h>

#define MTU 1024u

struct rig {
	void *base;
	struct flow *flow;
	const struct flow_report *report;
	uint64_t number;
	int64_t at_ns;
	uint16_t id, answer_id;
	uint32_t place;
	char ip;
};

static struct rig rig_of(const struct flow_config *config)
{
	struct rig rig = {.at_ns = 1000000000, .id = 1000, .answer_id = 9000, .ip = '4'};
	struct arena arena;
	size_t bytes = flow_bytes(config);
	rig.base = calloc(1, bytes);
	assert_non_null(rig.base);
	arena_init(&arena, rig.base, bytes);
	rig.flow = flow_create(&arena, config);
	assert_non_null(rig.flow);
	return rig;
}

static uint8_t opcode_of(char word)
{
	static const char words[] = "FMLOSBEQqyzpUANRVCwmloKkD";
	static const uint8_t opcodes[] = {0x06, 0x07, 0x08, 0x0a, 0x04, 0x00, 0x02, 0x0c, 0x0d,
					  0x0e, 0x0f, 0x10, 0x2a, 0x11, 0x11, 0x11, 0x11, 0x81,
					  0xc6, 0xc7, 0xc8, 0xca, 0xdc, 0xdd, 0xd1};
	const char *at = strchr(words, word);
	assert_non_null(at);
	return opcodes[at - words];
}

// The address of the sender (1) or the receiver (2).
static void put_address(const struct rig *rig, uint8_t to[16], uint8_t who)
{
	memset(to, 0, 16);
	to[10] = to[11] = rig->ip == '6' ? 0 : 0xff;
	to[0] = rig->ip == '6' ? 0x20 : 0;
	to[12] = 10;
	to[15] = who;
}

// What the letters behind the PSN change.
static void take_marks(struct rig *rig, struct wire_record *record, const char *at, bool is_back)
{
	uint16_t *id = is_back ? &rig->answer_id : &rig->id;
	bool is_same = false, is_given = false;
	for (; *at != '\0' && *at != ' '; at++) {
		is_same |= *at == '=';
		record->icrc = *at == '!' ? WIRE_ICRC_BAD : record->icrc;
		record->ecn = *at == '*' ? 3 : record->ecn;
		record->is_rtx |= *at == 'r';
		if (*at == 't') {
			record->is_trimmed = true;
			record->payload_bytes = 0;
		} else if (*at == '#') {
			record->identification = (uint16_t)strtoul(at + 1, NULL, 10);
			is_given = true;
		} else if (*at == '~') {
			record->ev = (uint32_t)strtoul(at + 1, NULL, 10);
		} else if (*at == '<') {
			record->sack_trigger = (int16_t)-strtol(at + 1, NULL, 10);
		} else if (*at == '@') {
			record->qpn = (uint32_t)strtoul(at + 1, NULL, 10);
		} else if (*at == ':') {
			record->dscp = (uint8_t)strtoul(at + 1, NULL, 10);
		} else if (*at == '^') {
			record->msn = (uint32_t)strtoul(at + 1, NULL, 10);
		} else if (*at == '$') {
			record->payload_bytes = (uint32_t)strtoul(at + 1, NULL, 10);
		} else if (*at == '&') {
			record->pad_bytes = (uint8_t)strtoul(at + 1, NULL, 10);
		} else if (*at == '?') {
			record->opcode = (uint8_t)strtoul(at + 1, NULL, 10);
		} else if (*at == '/') {
			record->syndrome = record->reason = (uint8_t)strtoul(at + 1, NULL, 10);
		} else if (*at == '|') {
			uint8_t *sender = is_back ? record->target : record->source;
			sender[15] = (uint8_t)strtoul(at + 1, NULL, 10);
		} else if (*at == ',') {
			record->message_bytes = (uint32_t)strtoul(at + 1, NULL, 10) * MTU;
			record->sack_bitmap = strtoul(at + 1, NULL, 2);
		}
	}
	if (rig->ip != '4')
		record->identification = 0;
	else if (!is_given)
		record->identification = is_same ? *id : ++*id;
}

static void rig_packet(struct rig *rig, const char *word)
{
	char kind = word[0];
	char *rest;
	bool is_back = strchr("ANRVCKkqyzpD", kind) != NULL;
	struct wire_record record = {.original = 1082, .captured = 1082, .icrc = WIRE_ICRC_GOOD};
	record.opcode = opcode_of(kind);
	record.psn = record.sack_psn = (uint32_t)strtoul(word + 1, &rest, 10) & 0xffffffu;
	record.found = record.opcode >= 0xc0 ? WIRE_FOUND_MRC : WIRE_FOUND_ROCE;
	record.layers = WIRE_LAYER_BTH | WIRE_LAYER_EXTENSIONS |
		(rig->ip == '6' ? WIRE_LAYER_IPV6 : WIRE_LAYER_IPV4);
	record.payload_bytes = strchr("ANRVCQKkD", kind) == NULL ? MTU : 0;
	record.qpn = 17;
	record.ecn = 2;
	record.source_port = 50000;
	record.asks_ack = strchr("LOSE", kind) != NULL;
	if (strchr("FOwomlQ", kind) != NULL) {
		record.layers |= WIRE_LAYER_RETH;
		record.message_bytes = strchr("Oo", kind) != NULL ? MTU : 3 * MTU;
	}
	if (strchr("ANRVD", kind) != NULL) {
		record.layers |= WIRE_LAYER_AETH;
		record.syndrome = kind == 'A' || kind == 'D' ? 0x1f
			: kind == 'N'			     ? 0x60
			: kind == 'R'			     ? 0x2c
							     : 0x62;
	}
	record.reason = PACKET_NACK_TRIMMED;
	record.sack_offset = 1; // bits begin behind the cumulative PSN
	put_address(rig, record.source, is_back ? 2 : 1);
	put_address(rig, record.target, is_back ? 1 : 2);
	take_marks(rig, &record, rest, is_back);
	struct flow_packet packet = {.record = &record,
				     .number = ++rig->number,
				     .at_ns = rig->at_ns,
				     .has_time = true,
				     .place = rig->place};
	rig->at_ns += 1000;
	flow_take(rig->flow, &packet);
}

// The words of one text, in their order.
static void rig_take(struct rig *rig, const char *text)
{
	for (const char *at = text; *at != '\0';) {
		if (*at == '+' || *at == '-')
			rig->at_ns += strtol(at, NULL, 10) * 1000;
		else if (*at == '%')
			rig->place = (uint32_t)strtoul(at + 1, NULL, 10);
		else if (*at == 'X')
			flow_take_unread(rig->flow);
		else if (*at == 'v')
			rig->ip = at[1];
		else
			rig_packet(rig, at);
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
}

static const struct flow_report *rig_end(struct rig *rig)
{
	rig->report = flow_end(rig->flow);
	return rig->report;
}

static void rig_free(struct rig *rig)
{
	free(rig->base);
	rig->base = NULL;
}

// A report of such packets; frees that of the call before.
static const struct flow_report *told(const char *text)
{
	static struct rig rig;
	struct flow_config config = {.streams_max = 16, .psns_max = 1u << 14, .repairs_max = 256};
	wire_config_default(6, &config.wire);
	rig_free(&rig);
	rig = rig_of(&config);
	rig_take(&rig, text);
	return rig_end(&rig);
}

// Whether a report has these causes and no other; ends with -1.
static inline void assert_causes(const struct flow_report *report, ...)
{
	uint64_t wanted[FLOW_CAUSE_COUNT] = {0};
	va_list list;
	va_start(list, report);
	for (int cause; (cause = va_arg(list, int)) >= 0;)
		wanted[cause] = (uint64_t)va_arg(list, int);
	va_end(list);
	for (int cause = 0; cause < FLOW_CAUSE_COUNT; cause++)
		if (report->causes[cause] != wanted[cause])
			fail_msg("%s: %llu, not %llu", flow_cause_name((enum flow_cause)cause),
				 (unsigned long long)report->causes[cause],
				 (unsigned long long)wanted[cause]);
}
