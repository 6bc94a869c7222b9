// SPDX-License-Identifier: Apache-2.0
// What one end sent and what of it came to its peer, kept by who sees both: held against what the
// sender believes to be in flight. For tests/property/adapter_pairs.c.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/packet.h>
#include <weft/core/psn.h>
#include <weft/transport/qp.h>

#define PSNS 4096u // of one direction at most

// What one end has sent, and what of it has come.
struct books {
	uint32_t first_psn, header_bytes, full_bytes; // its first PSN, and its own charge
	uint32_t sent;				      // PSNs
	uint32_t charges[PSNS]; // what each counts at its sender, and that of all before it
	uint64_t charges_to[PSNS + 1];
	bool is_here[PSNS];
	uint32_t came;		    // PSNs that are with the peer
	uint64_t came_to[PSNS + 1]; // bytes of the first so many that came
	uint32_t told;		    // so many are there, as the sender heard
	bool is_known[PSNS];	    // which of them it was told one by one
	uint64_t known;		    // bytes of these
	bool is_agreed;		    // the sender was told what a packet counts at its peer
	uint64_t checks, far_max;
};

static inline bool books_are_of(const struct packet *packet)
{
	return packet->opcode >= PACKET_WRITE_FIRST && packet->opcode <= PACKET_WRITE_ONLY_IMM;
}

// The place in the books of a PSN on a packet.
static inline uint32_t books_place(const struct books *books, uint32_t psn)
{
	uint32_t place = (psn - books->first_psn) & PSN_MASK;
	assert_true(place < PSNS);
	return place;
}

static inline void books_depart(struct books *books, const struct packet *packet)
{
	uint32_t place = books_place(books, packet->psn);
	if (place < books->sent)
		return;
	assert_int_equal(place, books->sent);
	books->charges[place] = packet->payload_bytes + books->header_bytes;
	books->charges_to[place + 1] = books->charges_to[place] + books->charges[place];
	books->sent++;
}

// A frame was taken; by what was placed one knows whether it was new.
static inline void books_arrive(struct books *books, const struct packet *packet, uint64_t placed)
{
	uint32_t place = books_place(books, packet->psn);
	if (placed == 0)
		return;
	assert_false(books->is_here[place]);
	assert_int_equal(placed, packet->payload_bytes);
	books->is_here[place] = true;
	books->came++;
	books->came_to[books->came] = books->came_to[books->came - 1] + books->charges[place];
}

static inline void books_know(struct books *books, uint32_t place)
{
	assert_true(books->is_here[place]);
	if (!books->is_known[place])
		books->known += books->charges[place];
	books->is_known[place] = true;
}

// What a SACK, and all ACKs before it, say of single PSNs.
static inline void books_hear(struct books *books, const struct packet *packet, uint32_t acked)
{
	const struct packet_sack *sack = &packet->u.sack;
	uint32_t first = packet->psn + (uint32_t)(int32_t)sack->offset - books->first_psn;
	for (uint32_t place = 0; place < acked; place++)
		books_know(books, place);
	for (uint32_t i = 0; i < 64; i++)
		if (sack->bitmap >> i & 1)
			books_know(books, (first + i) & PSN_MASK);
}

// A SACK was taken: what its sender holds to be in flight is what left, less what it was told of.
static inline void books_compare(struct books *books, const struct packet *packet,
				 const struct qp_view *view)
{
	uint32_t told = (packet->psn + 1 - books->first_psn + packet->u.sack.ooo_count) & PSN_MASK;
	uint32_t acked = books_place(books, view->psn_acked);
	assert_true(told <= books->came);
	books->told = told > books->told ? told : books->told;
	books_hear(books, packet, acked);
	if (view->psns_lost > 0 || !books->is_agreed) // lost: neither in flight nor there
		return;
	uint64_t there = books->came_to[books->told];
	there = there > books->known ? there : books->known;
	uint64_t truth = books->charges_to[books->sent] - there;
	uint64_t far = truth > view->flight_bytes ? truth - view->flight_bytes
						  : view->flight_bytes - truth;
	books->checks++;
	books->far_max = far > books->far_max ? far : books->far_max;
	if (far > books->full_bytes)
		fail_msg("%u bytes in flight are believed, but %llu are: more than a packet apart",
			 view->flight_bytes, (unsigned long long)truth);
}
