// SPDX-License-Identifier: Apache-2.0
// What the generators of collectives are built of: blocks, and messages that are cut in pieces.
// Without a program it only counts, or tells somebody, so that both are the same code.
#pragma once

#include <weft/workload/coll.h>

// A stretch of a rank's buffer.
struct coll_part {
	uint64_t offset, bytes;
};

struct coll_writer {
	const struct coll_config *config;
	struct program *program; // NULL: counts
	const struct coll_place *place;
	uint32_t *after;	    // [ranks] what a member's first messages wait for
	uint32_t *join;		    // [ranks] ends with the member's part; NULL: nobody asked
	uint32_t *last;		    // [ranks] scratch: what a member received last
	uint32_t *parent, *rank_at; // [ranks] scratch: trees, rings
	uint32_t *sent;		    // [ranks] scratch: a member's last message in turn
	uint32_t *turns; // [peers][channels][ranks] scratch: a member's last message in that lane
	uint64_t ops, edges;
	coll_walk_fn *tell; // NULL: nobody is called
	void *context;
	uint32_t sent_last; // the send, or its mark, of the message put last
};

// Of everyone with everyone: lanes of all members, in each of which one message follows another.
static inline size_t coll_turns(const struct coll_config *config)
{
	return (size_t)config->peers * config->channels * config->ranks;
}

// Part `index` of `count` of a stretch, cut at elements.
struct coll_part coll_cut(const struct coll_config *config, struct coll_part whole, uint64_t index,
			  uint64_t count);
struct coll_part coll_whole(const struct coll_config *config);

// What `channel` carries: of the whole buffer, and of block `rank` of it.
struct coll_part coll_share(const struct coll_config *config, uint32_t channel);
struct coll_part coll_block(const struct coll_config *config, uint32_t channel, uint32_t rank);

// Piece `index` of a part, as long as a message may be, and how many there are.
uint64_t coll_pieces(const struct coll_config *config, uint64_t bytes);
struct coll_part coll_piece(const struct coll_config *config, struct coll_part part,
			    uint64_t index);

// The way of a message.
struct coll_hop {
	uint32_t from, to, channel;
	bool is_sum;
};

// One message, at most a chunk long: `from` sends it to the same place at `to` when its operation
// `after` has ended (OP_NONE: with what the collective begins after). Returns the receive, which
// waits for `before` of `to`; just `before` when there are no bytes.
uint32_t coll_send(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
		   uint32_t after, uint32_t before);

// As many messages as it takes, to `to_offset`; the receives wait for each other.
uint32_t coll_send_to(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
		      uint64_t to_offset, uint32_t after, uint32_t before);
uint32_t coll_send_all(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
		       uint32_t after, uint32_t before);

// `last` of every member is OP_NONE.
void coll_forget(struct coll_writer *writer);

// The same for writer->sent, and coll_send_all() to `to_offset` of what waits for the sender's last
// message there in place of an operation: so that members who take turns keep to them.
void coll_forget_turns(struct coll_writer *writer);
uint32_t coll_send_in_turn(struct coll_writer *writer, struct coll_hop hop, struct coll_part part,
			   uint64_t to_offset, uint32_t before);

// Whom a domain hangs below in tree 0 or 1; OP_NONE: it is on top.
uint32_t coll_tree_parent(uint32_t domain, uint32_t domains, uint32_t tree, uint32_t root);

// Whom each rank hangs below in tree 0 or 1 of a channel; OP_NONE: it is on top.
void coll_seat_tree(const struct coll_config *config, uint32_t channel, uint32_t tree,
		    uint32_t *ret_parent);

void coll_put_ring(struct coll_writer *writer);
void coll_put_chain(struct coll_writer *writer);
void coll_put_tree(struct coll_writer *writer);
void coll_put_halving(struct coll_writer *writer);
void coll_put_pat(struct coll_writer *writer);
void coll_put_direct(struct coll_writer *writer);
void coll_put_levels(struct coll_writer *writer);
void coll_put_exchange(struct coll_writer *writer);
