// SPDX-License-Identifier: Apache-2.0
// The numbers that MRC packets carry: opcodes, reasons, marks. What they do is in docs/protocol.md,
// where they stand in a frame and who says so in docs/wire.md.
#pragma once

// MRC opcodes (BTH byte 0) as the OCP MRC 1.0 readers agree on them; see docs/protocol.md.
enum packet_opcode {
	PACKET_WRITE_FIRST = 0xc6,
	PACKET_WRITE_MIDDLE = 0xc7,
	PACKET_WRITE_LAST = 0xc8,
	PACKET_WRITE_LAST_IMM = 0xc9,
	PACKET_WRITE_ONLY = 0xca,
	PACKET_WRITE_ONLY_IMM = 0xcb,
	PACKET_ACK = 0xd1, // transport ACK or NAK: the operation, not the packet
	PACKET_ENDPOINT_REQUEST = 0xd8,
	PACKET_ENDPOINT_RESPONSE = 0xd9,
	PACKET_SACK = 0xdc,
	PACKET_NACK = 0xdd,
	PACKET_PROBE = 0xde,
	PACKET_PAUSE = 0xff, // no opcode of any BTH: a MAC control frame, from port to port
};

// weft's own, not MRC's: InfiniBand leaves numbers from 0xc0 on to makers, MRC took some of these.
enum weft_opcode {
	PACKET_CREDIT = 0xf0, // what a receiver grants, see cc_ops.has_credit
	PACKET_DEMAND = 0xf1, // what a sender asks it for, see cc_config.credit_notified
};

// Opcodes of InfiniBand's reliable connection that RoCEv2 carries: those of the baseline that MRC
// is compared with. MRC's are these and 0xc0.
enum rc_opcode {
	RC_WRITE_FIRST = 0x06,
	RC_WRITE_MIDDLE = 0x07,
	RC_WRITE_LAST = 0x08,
	RC_WRITE_LAST_IMM = 0x09,
	RC_WRITE_ONLY = 0x0a,
	RC_WRITE_ONLY_IMM = 0x0b,
	RC_ACK = 0x11, // or NAK: packet_ack says which
	RC_CNP = 0x81, // congestion notification
};

// Requests of that connection that weft does not have: a NAK answers them. The last are opcodes
// that InfiniBand has given no meaning.
enum rc_request {
	RC_REQUEST_SEND,
	RC_REQUEST_READ,
	RC_REQUEST_ATOMIC,
	RC_REQUEST_RESERVED,
	RC_REQUEST_COUNT
};

// Which of them an opcode is, RC_REQUEST_COUNT: none.
static inline enum rc_request rc_request_of(unsigned opcode)
{
	if (opcode < RC_WRITE_FIRST || opcode == 0x16 || opcode == 0x17) // these invalidate a key
		return RC_REQUEST_SEND;
	if (opcode == 0x0c)
		return RC_REQUEST_READ;
	if (opcode == 0x13 || opcode == 0x14)
		return RC_REQUEST_ATOMIC;
	return opcode > 0x12 && opcode < 0x20 ? RC_REQUEST_RESERVED : RC_REQUEST_COUNT;
}

// InfiniBand keeps QPs 0 and 1 for its management: frames number those of RC from here on.
#define RC_QPN_FIRST 2u

// packet_nack_info.reason
enum packet_nack {
	PACKET_NACK_TRIMMED = 0x01,
	PACKET_NACK_TRIMMED_LAST = 0x02,
	PACKET_NACK_NO_BITMAP = 0x06,
	PACKET_NACK_NO_PKT_BUFFER = 0x07,
	PACKET_NACK_NO_RESOURCE = 0x0a,
	PACKET_NACK_PSN_OOR_WINDOW = 0x0b, // its PSN is outside the receiver's window
	PACKET_NACK_UNEXP_EVENT = 0x19,	   // fatal to the QP
};

// packet_sack.mark: what the sender is to do with the EV of the packet that caused the SACK
enum packet_mark { PACKET_MARK_NONE, PACKET_MARK_SKIP_ONCE, PACKET_MARK_SKIP_ALWAYS };

// packet_ack.syndrome (AETH). The credits of an ACK are always 0x1f: MRC has none end to end.
enum packet_syndrome {
	PACKET_ACK_FINE = 0x1f,
	PACKET_NAK_SEQUENCE = 0x60, // codes of InfiniBand's reliable connection
	PACKET_NAK_REQUEST = 0x61,  // invalid
	PACKET_NAK_ACCESS = 0x62,   // to the region
	PACKET_NAK_OPERATION = 0x63,
};

// packet_request.op
enum packet_request_op { PACKET_REQUEST_PORT_STATUS, PACKET_REQUEST_EV_PROBE };

// An endpoint request and its response are for this QP, and their PSN is the request's id.
#define PACKET_ENDPOINT_QPN 2
#define PACKET_REQUEST_ID_MASK 0xffffu
