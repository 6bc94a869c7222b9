// SPDX-License-Identifier: Apache-2.0
// One congestion control for all QPs that lead to one NIC, where the configuration says so
// (transport_config.shares_cc): UEC's congestion control context is that of a pair of NICs. Each QP
// hears of its own SACKs and losses and passes them on; what may be in flight is that of all.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/cc/cc.h>
#include <weft/core/arena.h>

struct endpoint;
struct qp;
struct transport_config;

// One NIC at the other end, and who shares its window.
struct share {
	struct cc cc;
	uint32_t nic;
	uint32_t cc_profile;   // whose windows are of one kind
	uint32_t flight_bytes; // of all who share
	uint32_t first;	       // context, number + 1; 0 = none, and the place may be free
	bool is_used;
};

struct share_table {
	struct share *shares; // [mask + 1] by a hash of the NIC; NULL = nothing is shared
	uint32_t mask;
};

// What QPs that share have in the place of an algorithm.
void share_ops(struct cc_ops *ret, const struct cc_ops *algorithm);

// Bytes of an endpoint's table; 0 when nothing is shared.
uint64_t share_bytes(const struct transport_config *config, uint32_t qp_max);

// Draws the table. -ENOMEM.
int share_init(struct endpoint *endpoint, struct arena *arena,
	       const struct transport_config *config, uint32_t qp_max);

// A QP is born, or goes back to RESET: then one of those that are left is given, who may have room
// now; NULL: nobody is.
void share_join(struct endpoint *endpoint, struct qp *qp, ps_t now);
struct qp *share_leave(struct endpoint *endpoint, struct qp *qp);

// Sets the QP's window to what the others leave of all's.
void share_refresh(struct qp *qp);

// What the QP has in flight changed.
void share_count(struct qp *qp);

// Stops when the sum is not that of the QPs: a bug.
void share_audit(const struct endpoint *endpoint, const struct qp *qp);

// Whether nothing that is in flight to that NIC asks for a SACK.
bool share_is_mute(const struct endpoint *endpoint, const struct qp *qp);

// Those that share the QP's window, itself among them, one after the other; NULL: no more.
struct qp *share_first(const struct endpoint *endpoint, const struct qp *qp);
struct qp *share_next(const struct endpoint *endpoint, const struct qp *qp);
