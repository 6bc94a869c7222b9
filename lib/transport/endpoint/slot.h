// SPDX-License-Identifier: Apache-2.0
// The entries of a QP's rings: what is remembered of a PSN, of a work request, and of an immediate.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/transport/transport.h>

// Send times are kept in units of 1024 ps in 32 bits, so they wrap after 4.4 s and no wait may be
// longer than half of that.
#define SENT_SHIFT 10
#define SENT_ROUND_UP ((1 << SENT_SHIFT) - 1)
#define WAIT_MAX_UNITS 0x7fffffffu

#define TIMESTAMP_PS (128 * PS_PER_NS) // one tick of packet.timestamp

// Time stamps come round after 8.39 ms: from half of that on they tell no sending from another.
#define STAMP_AGE_MAX (TIMESTAMP_PS << 15)

// What is remembered of a PSN between its sending and its acknowledgement.
struct slot {
	uint32_t sent_at; // units of 1024 ps
	uint16_t ev_index;
	uint16_t flags; // and three small numbers
};
static_assert(sizeof(struct slot) == 8, "eight to a cache line");

enum {
	SLOT_SHORT = 1 << 0,   // less than a full packet: its size is in the work request
	SLOT_RTX = 1 << 1,     // was retransmitted: a round-trip sample must be of the right copy
	SLOT_ASKS = 1 << 2,    // asked for a SACK, and is counted in asks_out
	SLOT_USED = 1 << 3,    // some PSN had this slot: its send time means something
	SLOT_REASON_SHIFT = 4, // 2 bits: enum rtx_reason, while it is held lost
	SLOT_WAITS_SHIFT = 6,  // 5 bits: waits that ended in a row, since the last NACK
	SLOT_TRIES_SHIFT = 11, // 5 bits: tries used up, by waits and by NACKs
};
static_assert(RTX_SLEEK < 4, "reasons of packets held lost are two bits");
// In the place of the reason, while it is in flight: was sent again more than once.
#define SLOT_AGAIN (1u << SLOT_REASON_SHIFT)
#define SLOT_FIVE_BITS 31u
#define SLOT_TRIES_MAX 32u // a slot counts to one less: the last try ends the QP
static_assert(RTO_LINEAR_MAX + RTO_DOUBLINGS_FOREVER - 1 <= SLOT_TRIES_MAX, "room to count");

static inline uint32_t slot_waits(const struct slot *slot)
{
	return slot->flags >> SLOT_WAITS_SHIFT & SLOT_FIVE_BITS;
}

static inline uint32_t slot_tries(const struct slot *slot)
{
	return slot->flags >> SLOT_TRIES_SHIFT;
}

static inline enum rtx_reason slot_reason(const struct slot *slot)
{
	return (enum rtx_reason)(slot->flags >> SLOT_REASON_SHIFT & 3);
}

// A posted work request.
struct send {
	uint64_t va;
	uint64_t cookie;
	ps_t posted_at;
	uint32_t rkey;
	uint32_t bytes;
	uint32_t imm;
	uint32_t first_psn, last_psn;
	uint16_t msn, rqmsn;
	uint16_t last_wire; // wire bytes of its last packet
	bool has_imm;
	uint8_t unused[9];
};
static_assert(sizeof(struct send) == 64, "one cache line");

// A WRITE_WITH_IMM whose last packet came, until all before it is here.
struct pending_imm {
	uint32_t psn;
	uint32_t imm;
	uint32_t bytes;
	uint16_t rqmsn;
	bool is_full;
};

static inline uint32_t sent_units(ps_t now)
{
	return (uint32_t)((uint64_t)now >> SENT_SHIFT);
}
