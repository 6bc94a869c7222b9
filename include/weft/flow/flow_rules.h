// SPDX-License-Identifier: Apache-2.0
// Of a report of room flow: classes that change along a stream, and what the protocols forbid.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Packets of one kind in a stream have one DSCP: a repeat of MRC (RTX) is a kind of its own.
enum flow_kind {
	FLOW_KIND_NONE, // trimmed, datagrams, what is neither data nor an answer
	FLOW_KIND_DATA, // requests
	FLOW_KIND_AGAIN,
	FLOW_KIND_RESPONSE, // to a READ
	FLOW_KIND_ACK,
	FLOW_KIND_SACK,
	FLOW_KIND_NACK,
	FLOW_KIND_CNP,
	FLOW_KIND_COUNT
};

// From one packet of a kind to the next one.
struct flow_change {
	uint64_t number, before; // packets: the first with the new DSCP, the last with the old one
	int64_t at_ns;
	uint32_t stream; // index into flow_report.streams
	uint8_t kind;
	uint8_t from, to; // DSCP
};

// What the protocols forbid; each is a row of a table (rules.c) with its source.
enum flow_rule {
	FLOW_RULE_ACK_UNSENT,
	FLOW_RULE_ACK_BACK,
	FLOW_RULE_MSN_BACK,
	FLOW_RULE_NAK_TWICE,
	FLOW_RULE_NAK_IGNORED,
	FLOW_RULE_RESPONSE_UNASKED,
	FLOW_RULE_PSN_JUMP,
	FLOW_RULE_LENGTH,
	FLOW_RULE_LENGTH_MAX,
	FLOW_RULE_NO_LAST,
	FLOW_RULE_NO_FIRST,
	FLOW_RULE_OPCODE_ORDER,
	FLOW_RULE_PACKET_SIZE,
	FLOW_RULE_PADDING,
	FLOW_RULE_TRANSPORT,
	FLOW_RULE_OPCODE,
	FLOW_RULE_VERSION,
	FLOW_RULE_SYNDROME,
	FLOW_RULE_SACK_UNSENT, // MRC, from here on
	FLOW_RULE_EV_UNSENT,
	FLOW_RULE_NACK_REASON,
	FLOW_RULE_MSN_STEP,
	FLOW_RULE_COUNT
};

struct flow_broken {
	uint64_t count, first; // packets; the number of the first one
	uint32_t stream;       // of the first one
};

#ifdef __cplusplus
extern "C" {
#endif

// "data", "ACKs"; "ack_of_unsent", what that is in words, and who says so.
const char *flow_kind_name(enum flow_kind kind);
const char *flow_rule_name(enum flow_rule rule);
const char *flow_rule_words(enum flow_rule rule);
const char *flow_rule_source(enum flow_rule rule);
#ifdef __cplusplus
}
#endif
