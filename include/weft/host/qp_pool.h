// SPDX-License-Identifier: Apache-2.0
// Connections of everyone with everyone, made when they are first used. A NIC has a number for each
// connection, which packets carry and which names its dice, as if all were there from the start;
// and few QPs, its pool. A connection has a pooled QP from its first packet until all its
// messages are done and another connection needs the place. What is kept beyond is one bit for each
// sender: whether all of its messages came, so that what comes again is known as such.
//
// A rank sends to few at once (coll_stream_pairs_max()) while its channels keep step, and has
// pooled QPs for so many; what receives has the others. Where losses hold up one channel, those
// before it go on to NICs further away: their messages wait for a pooled QP. That ends, as the
// channel behind finds its connections open at both ends. A packet that finds no pooled QP is lost,
// and comes again.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/first_psn.h>
#include <weft/core/packet.h>

struct coll_stream;
struct nic;
struct topology;
struct transport_config;

// What pooled QPs are of: all outlive them.
struct qp_pool_config {
	const struct coll_stream *coll_stream;
	const struct topology *topology;
	const struct transport_config *transport;
	struct first_psn first_psn;
};

struct pooled_qp {
	uint32_t number; // of the connection
	uint32_t left;	 // messages of it that are not done
	uint32_t chain;	 // the one behind it in its bucket; OP_NONE: none
	uint32_t next;	 // the one that came to rest behind it; OP_NONE: none
};

struct qp_pool {
	const struct coll_stream *coll_stream;
	const struct topology *topology;
	const struct transport_config *transport;
	struct first_psn first_psn;
	uint32_t nic;
	uint32_t count, fresh;		 // QPs; the first that was never used
	uint32_t sending;		 // that send and are not done
	uint32_t arriving, arriving_max; // that receive and are not done; at most
	uint32_t mask;
	uint32_t *buckets;	       // [mask + 1] by number
	struct pooled_qp *list;	       // [count]
	uint32_t rest_head, rest_tail; // done, the oldest first
	uint64_t *met;		       // [ranks] bits: all messages of that rank came
	uint32_t wait_first,
		wait_last; // messages that wait for a pooled QP (coll_stream_host.h), or OP_NONE
};

// QPs that each NIC of a collective stream (or NULL) needs; 0: it has no such.
uint32_t qp_pool_count(const struct coll_stream *coll_stream);

// How many of these receive at once, at most.
uint32_t qp_pool_arriving_max(const struct coll_stream *coll_stream);

// Whether that may be too few for all that a rank sends: messages may have to wait for a pooled QP.
bool qp_pool_is_small(const struct coll_stream *coll_stream);

// Draws the pooled QPs of NIC `nic`, whose endpoint has that many QPs. -ENOMEM.
int qp_pool_build(struct qp_pool **ret, struct arena *arena, const struct qp_pool_config *of,
		  uint32_t nic);

// The pooled QP over which NIC `to` is sent to; OP_NONE: there is none yet.
uint32_t qp_pool_to(struct nic *nic, uint32_t to);

// Puts a packet that came in on the QP of its connection. False when it has none: it is late, or
// there is no place.
bool qp_pool_admit(struct nic *nic, struct packet *packet);

// One more message of a pooled QP is done.
void qp_pool_done(struct nic *nic, uint32_t pooled_qp);
