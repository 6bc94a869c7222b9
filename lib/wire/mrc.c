// SPDX-License-Identifier: Apache-2.0
// The MRC headers. Reserved bits are written as 0 and not read.

#include "mrc.h"

#include <string.h>

#include <weft/core/psn.h>
#include <weft/core/rng.h>
#include <weft/wire/wire_qpn.h>

#include "bytes.h"
#include "rc.h"

#define QPN_MASK 0xffffffu
#define QPN_SHIFT_MAX 0x7fffffu

enum {
	BTH_OPCODE_AT = 0,
	BTH_VERSION_AT = 1, // SE 1, M 1, pad 2, version 4
	BTH_PKEY_AT = 2,
	BTH_QPN_AT = 5,
	BTH_FLAGS_AT = 8,
	BTH_PSN_AT = 9,
};
#define SE_M_HIGH (1 << 7)
#define SE_M_LOW (1 << 6)
#define BTH_TS (1 << 4) // in the flags: a TSETH follows
enum { METH_RQMSN_AT = 0, METH_MSN_AT = 2 };
enum { TSETH_TIMESTAMP_AT = 0, TSETH_TYPE_AT = 2 };
#define TSETH_TYPE 1 // ftype, and ticks of 128 ns
enum { RETH_VA_AT = 0, RETH_RKEY_AT = 8, RETH_LENGTH_AT = 12 };
enum { AETH_SYNDROME_AT = 0, AETH_MSN_AT = 1 };
enum { ERTH_OP_AT = 1, ERTH_PORTS_AT = 4, ERTH_TIMESTAMP_AT = 12 };
enum { EETH_OP_AT = 1, EETH_TIMESTAMP_AT = 28 };
#define OP_MASK 3 // of both; where in the byte is another matter
#define EETH_OP_SHIFT 4
#define EETH_OP_SHIFT_LOW 2
enum { PETH_ID_AT = 4, PETH_TIMESTAMP_AT = 12 };
enum {
	SETH_MARK_AT = 1, // m in bits 6:5, pr in bit 1
	SETH_TRIGGER_AT = 2,
	SETH_EV_AT = 4,
	SETH_CACK_AT = 13,
	SETH_MPR_AT = 17,
	SETH_OFFSET_AT = 18,
	SETH_BITMAP_AT = 20,
	CC_TIMESTAMP_AT = MRC_SETH_BYTES,
	CC_OOO_AT = MRC_SETH_BYTES + 2,
	CC_PENALTY_AT = MRC_SETH_BYTES + 4, // restore_cwnd 1, rcv_cwnd_pen 7
	CC_RCVD_AT = MRC_SETH_BYTES + 5,
};
#define SETH_MARK_SHIFT 5
#define SETH_PROBE (1 << 1)
#define OOO_MAX 0x7fff
enum {
	NETH_REASON_AT = 2,
	NETH_EV_AT = 4,
	NETH_PSN_AT = 13,
	NETH_CC_TYPE_AT = 16,
	NETH_TIMESTAMP_AT = 18,
};
#define NETH_CC_TYPE (2 << 4)

struct mrc_bth mrc_parse_bth(const uint8_t *at)
{
	return (struct mrc_bth){
		.opcode = at[BTH_OPCODE_AT],
		.version = at[BTH_VERSION_AT] & 15,
		.pad_bytes = at[BTH_VERSION_AT] >> 4 & 3,
		.pkey = get_be16(at + BTH_PKEY_AT),
		.has_tseth = at[BTH_FLAGS_AT] & BTH_TS,
		.se_m = at[BTH_VERSION_AT] & (SE_M_HIGH | SE_M_LOW),
	};
}

static bool has_imm(uint8_t opcode)
{
	return opcode == PACKET_WRITE_LAST_IMM || opcode == PACKET_WRITE_ONLY_IMM;
}

uint8_t mrc_se_bit(const struct wire_config *config, uint8_t opcode)
{
	return config->se_low && !rc_is_write(opcode) && opcode != RC_ACK && opcode != RC_CNP
		? SE_M_LOW
		: SE_M_HIGH;
}

bool mrc_is_solicited(const struct wire_config *config, uint8_t opcode)
{
	return config->has_solicited &&
		(has_imm(opcode) || opcode == RC_WRITE_LAST_IMM || opcode == RC_WRITE_ONLY_IMM);
}

uint32_t mrc_bytes(uint8_t opcode, bool has_tseth)
{
	if (mrc_is_write(opcode))
		return MRC_BTH_BYTES + MRC_METH_BYTES + (has_tseth ? MRC_TSETH_BYTES : 0) +
			MRC_RETH_BYTES + (has_imm(opcode) ? MRC_IMM_BYTES : 0);
	switch (opcode) {
	case PACKET_ACK:
		return MRC_BTH_BYTES + MRC_AETH_BYTES;
	case PACKET_ENDPOINT_REQUEST:
		return MRC_BTH_BYTES + MRC_ERTH_BYTES;
	case PACKET_ENDPOINT_RESPONSE:
		return MRC_BTH_BYTES + MRC_EETH_BYTES;
	case PACKET_SACK:
		return MRC_BTH_BYTES + MRC_SETH_BYTES + MRC_CC_STATE_BYTES;
	case PACKET_NACK:
		return MRC_BTH_BYTES + MRC_NETH_BYTES;
	case PACKET_PROBE:
		return MRC_BTH_BYTES + MRC_PETH_BYTES;
	case PACKET_CREDIT:
		return MRC_BTH_BYTES + WEFT_CREDIT_BYTES;
	case PACKET_DEMAND:
		return MRC_BTH_BYTES + WEFT_DEMAND_BYTES;
	default:
		return 0;
	}
}

uint8_t mrc_headers(uint8_t opcode, bool has_tseth)
{
	if (!mrc_is_write(opcode))
		return opcode == PACKET_PROBE ? WIRE_HAS_PETH : 0;
	return (uint8_t)(WIRE_HAS_METH | WIRE_HAS_RETH | (has_tseth ? WIRE_HAS_TSETH : 0) |
			 (has_imm(opcode) ? WIRE_HAS_IMM : 0));
}

// Takes `need` bytes off the front of what is left. NULL when there are not so many, and then for
// all that follow.
static const uint8_t *take(const uint8_t **at, size_t *left, size_t need)
{
	const uint8_t *here = *at;
	if (*left < need) {
		*left = 0;
		return NULL;
	}
	*at += need;
	*left -= need;
	return here;
}

void mrc_parse_reth(const uint8_t *at, struct packet *packet)
{
	struct packet_data *data = &packet->u.data;
	data->va = get_be64(at + RETH_VA_AT);
	data->rkey = get_be32(at + RETH_RKEY_AT);
	data->message_bytes = get_be32(at + RETH_LENGTH_AT);
}

static uint8_t parse_write(const uint8_t *at, size_t left, bool has_tseth, struct packet *packet)
{
	struct packet_data *data = &packet->u.data;
	const uint8_t *header;
	uint8_t headers = 0;
	if ((header = take(&at, &left, MRC_METH_BYTES)) != NULL) {
		data->rqmsn = get_be16(header + METH_RQMSN_AT);
		data->msn = get_be16(header + METH_MSN_AT);
		headers |= WIRE_HAS_METH;
	}
	if (has_tseth && (header = take(&at, &left, MRC_TSETH_BYTES)) != NULL) {
		packet->timestamp = get_be16(header + TSETH_TIMESTAMP_AT);
		headers |= WIRE_HAS_TSETH;
	}
	if ((header = take(&at, &left, MRC_RETH_BYTES)) != NULL) {
		mrc_parse_reth(header, packet);
		headers |= WIRE_HAS_RETH;
	}
	if (has_imm(packet->opcode) && (header = take(&at, &left, MRC_IMM_BYTES)) != NULL) {
		data->imm = get_be32(header);
		headers |= WIRE_HAS_IMM;
	}
	return headers;
}

void mrc_parse_ack(const uint8_t *at, struct packet *packet)
{
	packet->u.ack = (struct packet_ack){
		.msn = get_be24(at + AETH_MSN_AT),
		.syndrome = at[AETH_SYNDROME_AT],
	};
}

static void parse_request(const uint8_t *at, struct packet *packet)
{
	packet->timestamp = get_be16(at + ERTH_TIMESTAMP_AT);
	packet->u.request = (struct packet_request){
		.port_status_mask = get_be32(at + ERTH_PORTS_AT),
		.op = at[ERTH_OP_AT] & OP_MASK,
	};
}

static uint32_t eeth_op_shift(const struct wire_config *config)
{
	return config->eeth_op_low ? EETH_OP_SHIFT_LOW : EETH_OP_SHIFT;
}

static void parse_response(const struct wire_config *config, const uint8_t *at,
			   struct packet *packet)
{
	packet->timestamp = get_be16(at + EETH_TIMESTAMP_AT);
	packet->u.response = (struct packet_response){
		.op = at[EETH_OP_AT] >> eeth_op_shift(config) & OP_MASK,
	};
}

// A probe that was trimmed may lack its header, or a part of it.
static uint8_t parse_probe(const uint8_t *at, size_t bytes, struct packet *packet)
{
	if (bytes < MRC_PETH_BYTES)
		return 0;
	packet->timestamp = get_be16(at + PETH_TIMESTAMP_AT);
	packet->u.probe = (struct packet_probe){.probe_id = get_be16(at + PETH_ID_AT)};
	return WIRE_HAS_PETH;
}

static void parse_sack(const uint8_t *at, struct packet *packet)
{
	uint16_t trigger = get_be16(at + SETH_TRIGGER_AT);
	bool is_probe = at[SETH_MARK_AT] & SETH_PROBE;
	packet->psn = get_be24(at + SETH_CACK_AT); // the BTH should say the same
	packet->timestamp = get_be16(at + CC_TIMESTAMP_AT);
	packet->u.sack = (struct packet_sack){
		.bitmap = get_be64(at + SETH_BITMAP_AT),
		.ev_echo = get_be32(at + SETH_EV_AT),
		.rcvd_256 = get_be24(at + CC_RCVD_AT),
		.trigger_offset = is_probe ? 0 : (int16_t)trigger,
		.offset = (int16_t)get_be16(at + SETH_OFFSET_AT),
		.ooo_count = get_be16(at + CC_OOO_AT) & OOO_MAX,
		.mark = at[SETH_MARK_AT] >> SETH_MARK_SHIFT & 3,
		.penalty = at[CC_PENALTY_AT],
		.mpr = at[SETH_MPR_AT],
		.is_probe = is_probe,
		.probe_id = is_probe ? trigger : 0,
	};
}

static void parse_nack(const uint8_t *at, struct packet *packet)
{
	packet->timestamp = get_be16(at + NETH_TIMESTAMP_AT);
	packet->u.nack = (struct packet_nack_info){
		.ev_echo = get_be32(at + NETH_EV_AT),
		.psn = get_be24(at + NETH_PSN_AT),
		.reason = at[NETH_REASON_AT],
	};
}

// By what a QP number of the packet's target is more in its frame. Not so much that one which
// begins at 0 comes round to the numbers 0 and 1, which InfiniBand has reserved.
static uint32_t qpn_shift(const struct wire_config *config, const struct packet *packet)
{
	uint32_t first = packet->opcode < PACKET_WRITE_FIRST ? RC_QPN_FIRST : 0;
	if (config->qpn_key == 0)
		return first;
	return first + 2 + (rng_mix(config->qpn_key ^ packet->target) & QPN_SHIFT_MAX);
}

uint32_t wire_qpn(const struct wire_config *config, const struct packet *packet)
{
	return (packet->qpn + qpn_shift(config, packet)) & QPN_MASK;
}

void mrc_parse_head(const struct wire_config *config, const uint8_t *at, uint8_t flags,
		    struct packet *packet)
{
	packet->opcode = at[BTH_OPCODE_AT];
	packet->bth = at[BTH_FLAGS_AT] & flags;
	packet->qpn = (get_be24(at + BTH_QPN_AT) - qpn_shift(config, packet)) & QPN_MASK;
	packet->psn = get_be24(at + BTH_PSN_AT);
}

uint8_t mrc_parse(const struct wire_config *config, const uint8_t *at, size_t bytes,
		  struct packet *packet)
{
	struct mrc_bth bth = mrc_parse_bth(at);
	mrc_parse_head(config, at, PACKET_AR | PACKET_RTX, packet);
	if (mrc_is_write(bth.opcode))
		return parse_write(at + MRC_BTH_BYTES, bytes - MRC_BTH_BYTES, bth.has_tseth,
				   packet);
	if (bth.opcode == PACKET_PROBE)
		return parse_probe(at + MRC_BTH_BYTES, bytes - MRC_BTH_BYTES, packet);
	check(bytes >= mrc_bytes(bth.opcode, false)); // no other is cut
	at += MRC_BTH_BYTES;
	if (bth.opcode == PACKET_SACK)
		parse_sack(at, packet);
	else if (bth.opcode == PACKET_NACK)
		parse_nack(at, packet);
	else if (bth.opcode == PACKET_ACK)
		mrc_parse_ack(at, packet);
	else if (bth.opcode == PACKET_ENDPOINT_REQUEST)
		parse_request(at, packet);
	else if (bth.opcode == PACKET_ENDPOINT_RESPONSE)
		parse_response(config, at, packet);
	else if (bth.opcode == PACKET_CREDIT)
		packet->u.credit.granted = get_be32(at);
	else if (bth.opcode == PACKET_DEMAND)
		packet->u.demand = (struct packet_demand){get_be32(at), get_be32(at + 4)};
	return 0;
}

// A time stamp with its kind of tick, as the TSETH has it.
static void put_timestamp(const struct packet *packet, uint8_t *at)
{
	put_be16(at + TSETH_TIMESTAMP_AT, packet->timestamp);
	put_be16(at + TSETH_TYPE_AT, TSETH_TYPE);
}

void mrc_build_reth(const struct packet *packet, uint8_t *at)
{
	const struct packet_data *data = &packet->u.data;
	put_be64(at + RETH_VA_AT, data->va);
	put_be32(at + RETH_RKEY_AT, data->rkey);
	put_be32(at + RETH_LENGTH_AT, data->message_bytes);
}

static void build_write(const struct wire_config *config, const struct packet *packet, uint8_t *at)
{
	const struct packet_data *data = &packet->u.data;
	put_be16(at + METH_RQMSN_AT, data->rqmsn);
	put_be16(at + METH_MSN_AT, data->msn);
	at += MRC_METH_BYTES;
	if (config->has_tseth) {
		put_timestamp(packet, at);
		at += MRC_TSETH_BYTES;
	}
	mrc_build_reth(packet, at);
	at += MRC_RETH_BYTES;
	if (has_imm(packet->opcode))
		put_be32(at, data->imm);
}

void mrc_build_ack(const struct packet *packet, uint8_t *at)
{
	at[AETH_SYNDROME_AT] = packet->u.ack.syndrome;
	put_be24(at + AETH_MSN_AT, packet->u.ack.msn);
}

static void build_request(const struct packet *packet, uint8_t *at)
{
	at[ERTH_OP_AT] = packet->u.request.op & OP_MASK;
	put_be32(at + ERTH_PORTS_AT, packet->u.request.port_status_mask);
	put_timestamp(packet, at + ERTH_TIMESTAMP_AT);
}

static void build_response(const struct wire_config *config, const struct packet *packet,
			   uint8_t *at)
{
	at[EETH_OP_AT] = (uint8_t)((packet->u.response.op & OP_MASK) << eeth_op_shift(config));
	put_be16(at + EETH_TIMESTAMP_AT, packet->timestamp);
}

static void build_probe(const struct packet *packet, uint8_t *at)
{
	put_be16(at + PETH_ID_AT, packet->u.probe.probe_id);
	put_timestamp(packet, at + PETH_TIMESTAMP_AT);
}

static void build_sack(const struct packet *packet, uint8_t *at)
{
	const struct packet_sack *sack = &packet->u.sack;
	at[SETH_MARK_AT] = (uint8_t)((sack->mark & 3) << SETH_MARK_SHIFT |
				     (sack->is_probe ? SETH_PROBE : 0));
	put_be16(at + SETH_TRIGGER_AT,
		 sack->is_probe ? sack->probe_id : (uint16_t)sack->trigger_offset);
	put_be32(at + SETH_EV_AT, sack->ev_echo);
	put_be24(at + SETH_CACK_AT, packet->psn);
	at[SETH_MPR_AT] = sack->mpr;
	put_be16(at + SETH_OFFSET_AT, (uint16_t)sack->offset);
	put_be64(at + SETH_BITMAP_AT, sack->bitmap);
	put_be16(at + CC_TIMESTAMP_AT, packet->timestamp);
	put_be16(at + CC_OOO_AT, sack->ooo_count < OOO_MAX ? sack->ooo_count : OOO_MAX);
	at[CC_PENALTY_AT] = sack->penalty;
	put_be24(at + CC_RCVD_AT, sack->rcvd_256);
}

static void build_nack(const struct packet *packet, uint8_t *at)
{
	const struct packet_nack_info *nack = &packet->u.nack;
	at[NETH_REASON_AT] = nack->reason;
	put_be32(at + NETH_EV_AT, nack->ev_echo);
	put_be24(at + NETH_PSN_AT, nack->psn);
	at[NETH_CC_TYPE_AT] = NETH_CC_TYPE;
	put_be16(at + NETH_TIMESTAMP_AT, packet->timestamp);
}

void mrc_build_head(const struct wire_config *config, const struct packet *packet,
		    uint8_t pad_bytes, uint8_t flags, uint8_t *at)
{
	at[BTH_OPCODE_AT] = packet->opcode;
	uint8_t se = mrc_is_solicited(config, packet->opcode) ? mrc_se_bit(config, packet->opcode)
							      : 0;
	at[BTH_VERSION_AT] = (uint8_t)(pad_bytes << 4 | se);
	put_be16(at + BTH_PKEY_AT, config->pkey);
	put_be24(at + BTH_QPN_AT, wire_qpn(config, packet));
	at[BTH_FLAGS_AT] = flags;
	put_be24(at + BTH_PSN_AT, packet->psn & PSN_MASK);
}

void mrc_build(const struct wire_config *config, const struct packet *packet, uint8_t pad_bytes,
	       uint8_t *at)
{
	bool has_tseth = mrc_is_write(packet->opcode) && config->has_tseth;
	uint32_t bytes = mrc_bytes(packet->opcode, has_tseth);
	check(bytes != 0);
	memset(at, 0, bytes);
	mrc_build_head(
		config, packet, pad_bytes,
		(uint8_t)((packet->bth & (PACKET_AR | PACKET_RTX)) | (has_tseth ? BTH_TS : 0)), at);
	at += MRC_BTH_BYTES;
	switch (packet->opcode) {
	case PACKET_ACK:
		return mrc_build_ack(packet, at);
	case PACKET_ENDPOINT_REQUEST:
		return build_request(packet, at);
	case PACKET_ENDPOINT_RESPONSE:
		return build_response(config, packet, at);
	case PACKET_SACK:
		return build_sack(packet, at);
	case PACKET_NACK:
		return build_nack(packet, at);
	case PACKET_PROBE:
		return build_probe(packet, at);
	case PACKET_CREDIT:
		return put_be32(at, packet->u.credit.granted);
	case PACKET_DEMAND:
		put_be32(at, packet->u.demand.asked);
		return put_be32(at + 4, packet->u.demand.unpaid);
	default:
		return build_write(config, packet, at);
	}
}
