// SPDX-License-Identifier: Apache-2.0
// Work requests of a NIC that its endpoint refused for want of a context, in posting order for each
// QP, until the endpoint says that the QP may post. Only worlds with fewer contexts than QPs have
// any.
#pragma once

#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/transport/transport.h>

struct backlog_entry;

struct backlog {
	struct backlog_entry *entries; // [capacity]; entry i is named i + 1
	uint32_t *heads, *tails;       // [QPs] 0 = none
	uint32_t free;		       // first of the unused ones
};

// Draws room for `capacity` requests of `qps` QPs. -ENOMEM.
int backlog_init(struct backlog *backlog, struct arena *arena, uint32_t qps, uint32_t capacity);

// Puts a request behind the others of its QP. There must be room.
void backlog_push(struct backlog *backlog, uint32_t qpn, const struct work *work);

// The oldest request of a QP, NULL when it has none; takes it out.
const struct work *backlog_first(const struct backlog *backlog, uint32_t qpn);
void backlog_pop(struct backlog *backlog, uint32_t qpn);
