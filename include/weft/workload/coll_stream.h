// SPDX-License-Identifier: Apache-2.0
// Collectives as streams of collectives: the same messages as coll.h's programs have, in the same
// order, but none is stored. What a rank sends next follows from what arrived or was sent, from its
// own number and from closed forms of the schedule; what is remembered are counts of ranks, so that
// memory grows with ranks and with what is under way, and not with messages or pairs.
//
//   coll_stream.c        names, checks, dispatch    coll_stream_ring.c   rings
//   coll_stream_tree.c   trees, double trees        coll_stream_steps.c  halving and doubling, PAT
//   coll_stream_direct.c everyone with everyone
//
// A message is named at its two ends by (from, to, number); the number goes with it as immediate
// data. One rank a scale-up domain: what stays inside one is a program's (coll.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/workload/coll.h>

#ifdef __cplusplus
extern "C" {
#endif

struct coll_stream;

// A message to be sent now.
struct coll_stream_message {
	uint32_t to, number, bytes;
	uint64_t offset; // of the target's buffer
};

typedef void coll_stream_send_fn(void *context, const struct coll_stream_message *message);

// Draws what a checked collective (coll_check()) needs to run. -EINVAL with the reason: no
// collective stream has this form, several ranks a domain, blocks without an element for each
// channel (direct), more messages than numbers tell apart. -ENOMEM.
int coll_stream_create(struct coll_stream **ret, struct arena *arena,
		       const struct coll_config *config, struct refusal *refusal);

const struct coll_config *coll_stream_config(const struct coll_stream *coll_stream);

// All messages of all ranks, and their bytes.
uint64_t coll_stream_messages(const struct coll_stream *coll_stream);
uint64_t coll_stream_bytes(const struct coll_stream *coll_stream);

// The most messages that all ranks together may have ready at once, from above.
uint64_t coll_stream_ready_max(const struct coll_stream *coll_stream);

// Tells `send` what `rank` sends at first; then what it may send because message `number` of `from`
// is there; because its own to `to` was sent. Each message is returned once. An arrival is held
// against the form: other bytes are our bug.
void coll_stream_begin(struct coll_stream *coll_stream, uint32_t rank, coll_stream_send_fn *send,
		       void *context);
void coll_stream_arrived(struct coll_stream *coll_stream, uint32_t rank, uint32_t from,
			 uint32_t number, uint32_t bytes, coll_stream_send_fn *send, void *context);
void coll_stream_sent(struct coll_stream *coll_stream, uint32_t rank, uint32_t to, uint32_t number,
		      coll_stream_send_fn *send, void *context);

// Message `number` from one rank to another, once more.
struct coll_stream_message coll_stream_message(const struct coll_stream *coll_stream, uint32_t from,
					       uint32_t to, uint32_t number);

// Whether a rank sends to few others, which coll_stream_peers() lists in the order in which it
// first does, and returns how many they are; all find room in `ret`. Else everyone sends to
// everyone.
bool coll_stream_has_peers(const struct coll_stream *coll_stream);
uint32_t coll_stream_peers(const struct coll_stream *coll_stream, uint32_t rank, uint32_t *ret);

// Of one that everyone sends to everyone in: messages, packets and bytes from one rank to another,
// and with how many others a rank is at it at once at most.
uint32_t coll_stream_pair_messages(const struct coll_stream *coll_stream, uint32_t from,
				   uint32_t to);
uint64_t coll_stream_pair_packets(const struct coll_stream *coll_stream, uint32_t from, uint32_t to,
				  uint32_t payload_bytes);
uint64_t coll_stream_pair_bytes(const struct coll_stream *coll_stream, uint32_t from, uint32_t to);

// The most of any pair.
uint32_t coll_stream_pair_messages_max(const struct coll_stream *coll_stream);
uint64_t coll_stream_pair_packets_max(const struct coll_stream *coll_stream,
				      uint32_t payload_bytes);
uint32_t coll_stream_pairs_max(const struct coll_stream *coll_stream);

#ifdef __cplusplus
}
#endif
