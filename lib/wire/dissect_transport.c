// SPDX-License-Identifier: Apache-2.0
// The BTH and what is behind it: InfiniBand's transports (InfiniBand specification, chapter 9, and
// annex A17) by a table of their operations, MRC, and the head of a UET packet.

#include <stddef.h>
#include <string.h>

#include "bytes.h"
#include "class.h"
#include "dissect.h"
#include "mrc.h"
#include "rc.h"
#include "udp.h"

void dissect_add(struct dissection *d, enum wire_span_kind kind, uint32_t at, uint32_t bytes)
{
	struct wire_spans *spans = d->spans;
	bool is_sum = kind >= SPAN_SUM_IP;
	uint32_t left = at < d->captured ? d->captured - at : 0;
	if (bytes == 0 || (!is_sum && left < bytes))
		return;
	check(spans->count < SPANS_MAX);
	spans->list[spans->count++] = (struct wire_span){.at = at,
							 .bytes = left < bytes ? left : bytes,
							 .ip_at = d->ip_at,
							 .kind = (uint8_t)kind,
							 .ip_version = d->ip_version};
	if (!is_sum)
		dissect_know(d, at + bytes);
}

enum { // headers behind the BTH, in the order in which they stand
	HAS_RDETH = 1,
	HAS_DETH = 2,
	HAS_XRCETH = 4,
	HAS_RETH = 8,
	HAS_ATOMICETH = 16,
	HAS_AETH = 32,
	HAS_ATOMICACK = 64,
	HAS_IMM = 128,
	HAS_IETH = 256,
};
static const uint8_t header_bytes[] = {4, 8, 4, 16, 28, 4, 8, 4, 4};

// Operations, the low 5 bits of an opcode; the transport is the high 3.
static const struct operation {
	const char *name;
	uint16_t headers;
} operations[32] = {
	[0x00] = {"SEND_FIRST", 0},
	[0x01] = {"SEND_MIDDLE", 0},
	[0x02] = {"SEND_LAST", 0},
	[0x03] = {"SEND_LAST_IMM", HAS_IMM},
	[0x04] = {"SEND_ONLY", 0},
	[0x05] = {"SEND_ONLY_IMM", HAS_IMM},
	[0x06] = {"WRITE_FIRST", HAS_RETH},
	[0x07] = {"WRITE_MIDDLE", 0},
	[0x08] = {"WRITE_LAST", 0},
	[0x09] = {"WRITE_LAST_IMM", HAS_IMM},
	[0x0a] = {"WRITE_ONLY", HAS_RETH},
	[0x0b] = {"WRITE_ONLY_IMM", HAS_RETH | HAS_IMM},
	[0x0c] = {"READ_REQ", HAS_RETH},
	[0x0d] = {"READ_RSP_FIRST", HAS_AETH},
	[0x0e] = {"READ_RSP_MIDDLE", 0},
	[0x0f] = {"READ_RSP_LAST", HAS_AETH},
	[0x10] = {"READ_RSP_ONLY", HAS_AETH},
	[0x11] = {"ACK", HAS_AETH},
	[0x12] = {"ATOMIC_ACK", HAS_AETH | HAS_ATOMICACK},
	[0x13] = {"CMP_SWAP", HAS_ATOMICETH},
	[0x14] = {"FETCH_ADD", HAS_ATOMICETH},
	[0x16] = {"SEND_LAST_INV", HAS_IETH},
	[0x17] = {"SEND_ONLY_INV", HAS_IETH},
};

enum { TRANSPORT_RC, TRANSPORT_UC, TRANSPORT_RD, TRANSPORT_UD, TRANSPORT_CNP, TRANSPORT_XRC };
static const uint16_t transport_headers[8] = {[TRANSPORT_RD] = HAS_RDETH | HAS_DETH,
					      [TRANSPORT_UD] = HAS_DETH,
					      [TRANSPORT_XRC] = HAS_XRCETH};
#define LOW_24 0xffffffu    // of a word whose first byte is something else: one load
#define RESPONSE_FIRST 0x0d // a READ response; up to the atomic ACK: no DETH of RD, no XRCETH
#define RESPONSE_LAST 0x12

static uint16_t headers_of(uint8_t opcode)
{
	uint8_t operation = opcode & 31, transport = opcode >> 5;
	uint16_t headers = operations[operation].headers | transport_headers[transport];
	if (operation >= RESPONSE_FIRST && operation <= RESPONSE_LAST)
		headers &= (uint16_t) ~(HAS_DETH | HAS_XRCETH);
	return headers;
}

// The header at offset `from`, all of which was captured.
static void take_header(struct dissection *d, uint16_t header, uint32_t from)
{
	struct wire_record *ret = d->ret;
	const uint8_t *at = d->frame + from;
	switch (header) {
	case HAS_DETH:
		ret->layers |= WIRE_LAYER_DETH;
		ret->qkey = get_be32(at);
		ret->source_qpn = get_be24(at + 5);
		dissect_note(d, SPAN_KEY, from, 4);
		break;
	case HAS_RETH:
		ret->layers |= WIRE_LAYER_RETH;
		ret->virtual_address = get_be64(at);
		ret->key = get_be32(at + 8);
		ret->message_bytes = get_be32(at + 12);
		dissect_note(d, SPAN_VA, from, 8);
		dissect_note(d, SPAN_KEY, from + 8, 4);
		break;
	case HAS_ATOMICETH:
		ret->layers |= WIRE_LAYER_ATOMIC;
		ret->virtual_address = get_be64(at);
		ret->key = get_be32(at + 8);
		dissect_note(d, SPAN_VA, from, 8);
		dissect_note(d, SPAN_KEY, from + 8, 4);
		dissect_note(d, SPAN_DATA, from + 12, 16);
		break;
	case HAS_ATOMICACK:
		dissect_note(d, SPAN_DATA, from, 8);
		break;
	case HAS_AETH:
		ret->layers |= WIRE_LAYER_AETH;
		ret->syndrome = at[0];
		ret->msn = get_be24(at + 1);
		break;
	case HAS_IMM:
		ret->layers |= WIRE_LAYER_IMM;
		ret->immediate = get_be32(at);
		dissect_note(d, SPAN_IMM, from, 4);
		break;
	case HAS_IETH:
		ret->key = get_be32(at);
		dissect_note(d, SPAN_KEY, from, 4);
		break;
	default:
		break;
	}
}

// Where the packet ends but for its ICRC; the payload is what lies before, without padding.
static void take_payload(struct dissection *d, uint8_t pad_bytes)
{
	uint32_t behind = d->at + pad_bytes + WIRE_ICRC_BYTES;
	d->ret->payload_bytes = d->end > behind ? d->end - behind : 0;
}

// RoCEv1 and InfiniBand have no UDP header between the GRH and the BTH, so that wire_icrc() cannot
// be asked.
static void check_icrc(struct dissection *d)
{
	struct wire_record *ret = d->ret;
	bool is_udp = ret->found == WIRE_FOUND_ROCE || ret->found == WIRE_FOUND_MRC;
	uint32_t icrc_at = d->end - WIRE_ICRC_BYTES;
	bool is_whole = d->end <= d->captured &&
		d->end >= d->at + WIRE_ICRC_BYTES; // behind all headers
	ret->icrc = WIRE_ICRC_UNKNOWN;
	if (!is_udp || !is_whole)
		return;
	uint32_t head = d->bth_at - d->ip_at;
	uint32_t ip_bytes_max = d->ip_version == 4 ? IPV4_BYTES_MAX : IPV6_BYTES;
	if (head > ip_bytes_max + UDP_BYTES)
		return; // extension headers, which the specification does not speak of
	struct wire_view view = {.ip_at = d->ip_at,
				 .bth_at = d->bth_at,
				 .icrc_at = icrc_at,
				 .ip_version = d->ip_version};
	if (d->spans != NULL) {
		d->spans->has_icrc = true;
		d->spans->icrc = view;
	}
	if (d->config->icrc_unchecked ||
	    (d->icrcs != NULL && icrcs_add(d->icrcs, d->frame, &view, ret)))
		return;
	bool is_good = get_le32(d->frame + icrc_at) == wire_icrc(d->frame, &view);
	ret->icrc = is_good ? WIRE_ICRC_GOOD : WIRE_ICRC_BAD;
}

static void read_operation(struct dissection *d, uint8_t pad_bytes)
{
	uint8_t opcode = d->ret->opcode;
	if (opcode == RC_CNP) {
		d->ret->layers |= WIRE_LAYER_EXTENSIONS;
		return;
	}
	if (wire_opcode_name(WIRE_FOUND_ROCE, opcode) == NULL) {
		d->ret->stopped = WIRE_UNKNOWN_OPCODE;
		return;
	}
	uint32_t layers = WIRE_LAYER_EXTENSIONS;
	for (uint32_t left = headers_of(opcode); left != 0; left &= left - 1) {
		uint32_t bytes = header_bytes[__builtin_ctz(left)];
		if (layers != 0 && dissect_has(d, bytes, WIRE_SHORT_EXTENSION))
			take_header(d, (uint16_t)(left & -left), d->at);
		else
			layers = 0; // cut: sizes are those of the line all the same
		d->at += bytes;
	}
	d->ret->layers |= (uint16_t)layers;
	take_payload(d, pad_bytes);
}

// ---------------------------------------------------------------- MRC

enum {
	SETH_MARK = 1,
	SETH_TRIGGER = 2,
	SETH_EV = 4,
	SETH_CACK = 13,
	SETH_OFFSET = 18,
	SETH_BITMAP = 20
};
enum { NETH_REASON = 2, NETH_EV = 4, NETH_PSN = 13 };

static void take_mrc(struct dissection *d, bool has_tseth, uint32_t bytes)
{
	struct wire_record *ret = d->ret;
	const uint8_t *at = d->frame + d->at;
	uint32_t reth_at = MRC_METH_BYTES + (has_tseth ? MRC_TSETH_BYTES : 0u);
	if (mrc_is_write(ret->opcode)) {
		ret->msn = bytes >= MRC_METH_BYTES ? get_be16(at + 2) : 0;
		if (bytes < reth_at + MRC_RETH_BYTES)
			return;
		take_header(d, HAS_RETH, d->at + reth_at);
		dissect_know(d, d->at + reth_at + MRC_RETH_BYTES);
		bool has_imm = ret->opcode == PACKET_WRITE_LAST_IMM ||
			ret->opcode == PACKET_WRITE_ONLY_IMM;
		if (has_imm && bytes >= reth_at + MRC_RETH_BYTES + MRC_IMM_BYTES)
			take_header(d, HAS_IMM, d->at + reth_at + MRC_RETH_BYTES);
	} else if (ret->opcode == PACKET_ACK && bytes >= MRC_AETH_BYTES) {
		take_header(d, HAS_AETH, d->at);
	} else if (ret->opcode == PACKET_SACK && bytes >= MRC_SETH_BYTES) {
		ret->mark = at[SETH_MARK] >> 5 & 3;
		ret->is_probe = at[SETH_MARK] & 2;
		ret->sack_trigger = (int16_t)get_be16(at + SETH_TRIGGER);
		ret->ev = get_be32(at + SETH_EV);
		ret->sack_psn = get_be24(at + SETH_CACK);
		ret->sack_offset = (int16_t)get_be16(at + SETH_OFFSET);
		ret->sack_bitmap = get_be64(at + SETH_BITMAP);
	} else if (ret->opcode == PACKET_NACK && bytes >= NETH_PSN + 3) {
		ret->reason = at[NETH_REASON];
		ret->ev = get_be32(at + NETH_EV);
		ret->sack_psn = get_be24(at + NETH_PSN);
	}
}

static void put_ev(struct dissection *d)
{
	struct wire_record *ret = d->ret;
	uint32_t label = ret->flow_label & UINT16_MAX, port = ret->source_port;
	bool has_label = d->ip_version == 6 && d->config->entropy != WIRE_ENTROPY_PORT;
	bool is_low = d->config->ev_place == WIRE_EV_PORT_LOW;
	ret->ev = !has_label ? port : is_low ? label << 16 | port : port << 16 | label;
}

static void read_mrc(struct dissection *d, uint8_t pad_bytes, uint8_t flags)
{
	struct wire_record *ret = d->ret;
	bool has_tseth = flags & 1 << 4;
	uint32_t all = mrc_bytes(ret->opcode, has_tseth);
	if (all == 0) {
		ret->stopped = WIRE_UNKNOWN_OPCODE;
		return;
	}
	ret->is_rtx = flags & 1 << 5;
	ret->is_trimmed = is_trimmed_dscp(d->config, ret->dscp) && mrc_is_trimmable(ret->opcode);
	if (mrc_is_write(ret->opcode) || ret->opcode == PACKET_PROBE)
		put_ev(d);
	uint32_t behind = all - MRC_BTH_BYTES, there = d->captured - d->at;
	there = there < behind ? there : behind;
	take_mrc(d, has_tseth, there);
	dissect_know(d, d->at + (mrc_is_write(ret->opcode) ? MRC_METH_BYTES : there));
	dissect_know(d, d->at + behind);
	if (there >= behind)
		ret->layers |= WIRE_LAYER_EXTENSIONS;
	else
		ret->stopped = WIRE_SHORT_EXTENSION;
	d->at += behind;
	take_payload(d, pad_bytes);
	if (ret->is_trimmed)
		ret->payload_bytes = 0;
}

void dissect_transport(struct dissection *d)
{
	struct wire_record *ret = d->ret;
	d->bth_at = d->at;
	if (!dissect_has(d, MRC_BTH_BYTES, WIRE_SHORT_BTH))
		return;
	const uint8_t *at = d->frame + d->at;
	ret->layers |= WIRE_LAYER_BTH;
	ret->opcode = at[0];
	ret->pkey = get_be16(at + 2);
	ret->is_becn = at[4] & 0x40;
	ret->qpn = get_be32(at + 4) & LOW_24;
	ret->asks_ack = at[8] & 0x80;
	ret->psn = get_be32(at + 8) & LOW_24;
	if (at[1] & 15)
		ret->stopped = WIRE_BAD_VERSION;
	d->at += MRC_BTH_BYTES;
	ret->pad_bytes = at[1] >> 4 & 3;
	if (ret->found == WIRE_FOUND_MRC)
		read_mrc(d, at[1] >> 4 & 3, at[8]);
	else
		read_operation(d, at[1] >> 4 & 3);
	if (!ret->is_trimmed)
		check_icrc(d);
}

// ---------------------------------------------------------------- UET

__attribute__((cold, noinline)) void dissect_uet(struct dissection *d)
{
	d->ret->found = WIRE_FOUND_UET;
	if (!dissect_has(d, 2, WIRE_SHORT_BTH))
		return;
	const uint8_t *at = d->frame + d->at;
	d->ret->service = at[0] >> 3;
	d->ret->opcode = at[0] >> 3;
	if (dissect_has(d, 12, WIRE_SHORT_EXTENSION)) {
		d->ret->psn = get_be32(at + 4);
		d->ret->qpn = get_be16(at + 10);
	}
}

// ---------------------------------------------------------------- names

static const char *mrc_name(uint8_t opcode)
{
	const char *name = packet_opcode_name(opcode);
	return opcode < PACKET_WRITE_FIRST || strcmp(name, "UNKNOWN") == 0 ? NULL : name;
}

static const char *const uet_names[] = {
	NULL,	  "TSS",     "RUD_REQ", "ROD_REQ", "RUDI_REQ", "RUDI_RESP",  "UUD_REQ",	   "ACK",
	"ACK_CC", "ACK_CCX", "NACK",	"CONTROL", "NACK_CCX", "RUD_CC_REQ", "ROD_CC_REQ",
};

// The transports' own names, but for RC's, which go without.
static const char *const ud_names[] = {[4] = "UD_SEND_ONLY", [5] = "UD_SEND_ONLY_IMM"};
static const char *const uc_names[] = {
	"UC_SEND_FIRST", "UC_SEND_MIDDLE",    "UC_SEND_LAST",	"UC_SEND_LAST_IMM",
	"UC_SEND_ONLY",	 "UC_SEND_ONLY_IMM",  "UC_WRITE_FIRST", "UC_WRITE_MIDDLE",
	"UC_WRITE_LAST", "UC_WRITE_LAST_IMM", "UC_WRITE_ONLY",	"UC_WRITE_ONLY_IMM",
};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *wire_opcode_name(enum wire_found found, uint8_t opcode)
{
	uint8_t operation = opcode & 31, transport = opcode >> 5;
	if (found == WIRE_FOUND_MRC)
		return mrc_name(opcode);
	if (found == WIRE_FOUND_UET)
		return opcode < COUNT(uet_names) ? uet_names[opcode] : NULL;
	if (opcode == RC_CNP)
		return "CNP";
	if (transport == TRANSPORT_UD)
		return operation < COUNT(ud_names) ? ud_names[operation] : NULL;
	if (transport == TRANSPORT_UC)
		return operation < COUNT(uc_names) ? uc_names[operation] : NULL;
	bool is_reliable = transport == TRANSPORT_RC || transport == TRANSPORT_XRC ||
		transport == TRANSPORT_RD;
	return is_reliable ? operations[operation].name : NULL;
}
