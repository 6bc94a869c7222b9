// SPDX-License-Identifier: Apache-2.0
// SLEEK: losses inferred from how many packets came out of order, and a probe for those at the end
// that nothing follows. Not MRC: a part of uet-htsim, off there by default and here
// (transport_config.sleek). Facts: docs/protocol.md.
//
// When so many packets wait above a hole that it cannot be reordering, or a probe comes back and
// met no queue, the QP recovers: of all that was sent until then, what is still out goes again,
// oldest first, a window from the oldest PSN on, each once. Recovery ends when all of that is
// acknowledged.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/machine.h>
#include <weft/core/time.h>

struct endpoint;
struct qp;

// What a QP keeps for it, behind its rings; only where it is on.
struct sleek {
	ps_t probe_at;	   // a probe leaves then, unless a SACK comes before
	uint32_t until;	   // recovering: PSN behind the last that is sent again
	uint32_t from;	   // PSNs before went again already
	uint16_t probe_id; // of the last probe
	bool is_recovering;
	bool has_timer;
};

// Starts it for a QP that is born, or that takes up a context, with the PSN that is sent next.
void sleek_start(struct endpoint *endpoint, struct qp *qp);

// A SACK came and was taken: with so many packets above a hole, and of a probe with `probe_id`
// its round trip; 0 and -1 when it answers none.
void sleek_on_sack(struct endpoint *endpoint, struct qp *qp, uint32_t ooo_count, uint16_t probe_id,
		   ps_t probe_rtt_ps, ps_t now);

// Its timer rang.
void sleek_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out);

// The QP failed: no timer rings for it any more.
void sleek_end(struct endpoint *endpoint, struct qp *qp);

// Whether a QP with it recovers: then repairs may leave though the window is full.
bool sleek_is_recovering(const struct endpoint *endpoint, const struct qp *qp);
