// SPDX-License-Identifier: Apache-2.0
// A packet is one descriptor of 64 bytes that says what a frame means; there are no bytes behind it
// in virtual time. Switches touch the first 28 bytes, endpoints the rest. Packets are named by
// their index in the pool; 0 is "none". A packet has exactly one owner: the endpoint that made it,
// a port's queue, a cable, or the endpoint that got it.
#pragma once

#include <assert.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/check.h>
#include <weft/core/opcode.h>

#define PACKET_NONE 0u

// Traffic classes, highest first: a port serves a lower number before a higher one.
enum packet_class { PACKET_CLASS_CONTROL, PACKET_CLASS_DATA, PACKET_CLASS_COUNT };

// packet.flags
enum {
	PACKET_ECT = 1 << 0,	      // may be marked
	PACKET_CE = 1 << 1,	      // was marked: congestion experienced
	PACKET_TRIMMED = 1 << 2,      // lost its payload at a switch
	PACKET_TRIMMED_LAST = 1 << 3, // with PACKET_TRIMMED: the switch was the last hop
	PACKET_TRIMMABLE = 1 << 4,    // a full queue may trim it; else it drops it
	PACKET_DAMAGED = 1 << 5, // bits flipped on a cable; with frames these tell it themselves
};

// packet.bth (BTH byte 8)
enum {
	PACKET_AR = 1 << 7,  // asks for a SACK at once
	PACKET_RTX = 1 << 5, // is a retransmission
};

// 64 bits that may stand at any multiple of 4, so that the union of struct packet does.
typedef uint64_t packet_u64 __attribute__((aligned(4)));

struct packet_data {
	packet_u64 va;		// where this packet's payload goes in the target's region
	uint32_t rkey;		// region
	uint32_t message_bytes; // RETH.dmalen: the whole message
	uint32_t imm;		// with an _IMM opcode
	uint16_t msn;		// request number
	uint16_t rqmsn;		// number of the WRITE_WITH_IMM, the receiver's completion order
	uint32_t sent_at;	// packet_stamp(): no part of a frame; 0 = not known
};

struct packet_sack {
	packet_u64 bitmap; // bit i: PSN psn + offset + i was received
	uint32_t ev_echo;  // EV of the packet that caused this SACK
	uint32_t rcvd_256; // bytes received so far on this QP, in units of 256, rounded up (24 bits
			   // on the wire)
	int16_t trigger_offset; // PSN that caused this SACK minus psn (which is the cumulative ack)
	int16_t offset;		// start of the bitmap relative to psn
	uint16_t ooo_count;	// packets received above a hole
	uint8_t mark;		// enum packet_mark: 1 when the trigger was marked CE
	uint8_t penalty;	// bit 7 restore window, bits 6:0 window penalty
	uint8_t mpr;		// the window that the receiver offers, in units of 128 PSNs; 0 none
	uint8_t is_probe;	// 1: answers the probe `probe_id`
	uint16_t probe_id;	// on the wire in the place of trigger_offset, which is then 0
};

struct packet_nack_info {
	uint32_t ev_echo; // EV of the trimmed packet
	uint32_t psn;	  // PSN of the trimmed packet
	uint8_t reason;	  // enum packet_nack
	uint8_t reserved[15];
};

struct packet_ack {
	uint32_t msn;	  // requests done so far, 24 bits
	uint8_t syndrome; // enum packet_syndrome
	uint8_t reserved[3];
};

struct packet_probe {
	uint16_t probe_id; // the SACK that answers has it
	uint16_t reserved;
};

struct packet_request {
	uint32_t port_status_mask; // bit i: the sender's port i is up
	uint8_t op;		   // enum packet_request_op
	uint8_t reserved[3];
};

struct packet_credit {	  // weft's own
	uint32_t granted; // bytes since the QP began, modulo 2^32
};

// weft's own: bytes since the QP began, modulo 2^32.
struct packet_demand {
	uint32_t asked;	 // that a sender wants credit for, but for what was trimmed
	uint32_t unpaid; // sent without, less what was granted and given up
};

struct packet_response {
	uint8_t op; // its PSN says whose request it answers; readers disagree where this is
	uint8_t reserved[3];
};

struct packet {
	// --- what switches touch
	uint32_t target;	// NIC index
	uint32_t source;	// NIC index
	uint32_t ev;		// entropy value; with `plane` it names the path
	uint32_t payload;	// payload handle, 0 = none (virtual time has none)
	uint16_t wire_bytes;	// what the line carries, all overheads included
	uint8_t flags;		// PACKET_ECT ...
	uint8_t klass;		// enum packet_class; a queue's entry has these three in one word
	uint16_t payload_bytes; // what is left of it for the target's memory
	uint8_t hop;		// switches passed
	uint8_t plane;		// NIC port the packet left by
	// --- what endpoints touch
	uint8_t opcode;	    // enum packet_opcode
	uint8_t bth;	    // PACKET_AR, PACKET_RTX
	uint16_t timestamp; // 128 ns ticks: of a data packet (TSETH), probe or request; its echo in
			    // a SACK, NACK or response. RC: data that its NIC has sent before
	uint32_t qpn;	    // destination QP, 24 bits
	uint32_t psn;	    // data: its PSN; SACK: the cumulative ack; request: its id; 24 bits
	union {
		struct packet_data data;
		struct packet_sack sack;
		struct packet_nack_info nack;
		struct packet_ack ack;
		struct packet_probe probe;
		struct packet_request request;
		struct packet_response response;
		struct packet_credit credit;
		struct packet_demand demand;
	} u;
};
static_assert(sizeof(struct packet) == 64, "a packet is one cache line");

// The packets of one shard: an array, and a stack of indices that were given back. Those never
// given out are not touched, so that memory follows use.
struct packet_pool {
	struct packet *packets; // [capacity + 1]; index 0 is never given out
	uint32_t *free;		// stack of indices that were given back
	uint32_t returned;	// length of the stack
	uint32_t fresh;		// lowest index that was never given out
	uint32_t capacity;
	uint32_t taken_max; // the most that were out at once
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws a pool of `capacity` packets. -ENOMEM when the arena is too small.
int packet_pool_init(struct packet_pool *pool, struct arena *arena, uint32_t capacity);

// The name of an opcode, for logs.
const char *packet_opcode_name(uint8_t opcode);

// Packets that are out: taken and not given back.
static inline uint32_t packet_pool_taken(const struct packet_pool *pool)
{
	return pool->fresh - 1 - pool->returned;
}

static inline struct packet *packet_at(const struct packet_pool *pool, uint32_t index)
{
	return &pool->packets[index];
}

// Takes a packet, of undefined content. PACKET_NONE: the pool is empty, and the run ends so.
static inline uint32_t packet_get(struct packet_pool *pool)
{
	uint32_t index;
	if (pool->returned > 0)
		index = pool->free[--pool->returned];
	else if (pool->fresh <= pool->capacity)
		index = pool->fresh++;
	else
		return PACKET_NONE;
	uint32_t taken = packet_pool_taken(pool);
	if (taken > pool->taken_max)
		pool->taken_max = taken;
	return index;
}

// Brings the packet into the cache that packet_get() gives after `ahead` others.
static inline void packet_fetch(const struct packet_pool *pool, uint32_t ahead)
{
	if (pool->returned > ahead)
		__builtin_prefetch(&pool->packets[pool->free[pool->returned - 1 - ahead]], 1);
}

// Gives a packet back. Its owner must not use it any more.
static inline void packet_put(struct packet_pool *pool, uint32_t index)
{
	check(index != PACKET_NONE && pool->returned + 1 < pool->fresh);
	pool->free[pool->returned++] = index;
}

#ifdef __cplusplus
}
#endif
