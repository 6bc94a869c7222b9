// SPDX-License-Identifier: Apache-2.0
// What is missing: PSNs held lost, and the waits of those that are out.
#pragma once

#include "endpoint/endpoint.h"

// The oldest PSN held lost; there must be one.
uint32_t loss_first(struct endpoint *endpoint, struct qp *qp);

// Ends the flight of a PSN: it will be sent again. `loss` says what congestion control hears; its
// bytes are filled in.
void loss_of(struct endpoint *endpoint, struct qp *qp, uint32_t psn, enum rtx_reason reason,
	     struct cc_loss *loss, ps_t now);

// The PSNs in [from, from + 64) that are in flight and before `end`, as bits.
uint64_t loss_flying(const struct endpoint *endpoint, const struct qp *qp, uint32_t from,
		     uint32_t end);

// Holds lost every hole that is older than what was acknowledged by hole_age_ps.
void loss_holes(struct endpoint *endpoint, struct qp *qp, ps_t now);

// Holds lost all that is in flight in [from, end), by SLEEK. Returns the PSN behind the last of it,
// or `from`.
uint32_t loss_all(struct endpoint *endpoint, struct qp *qp, uint32_t from, uint32_t end, ps_t now);

// How long the wait number `waits` (from 0) is, in units of send times.
uint32_t loss_wait(const struct endpoint *endpoint, uint32_t waits);

// The same in time: RC's rule, too, as InfiniBand's is a case of it.
ps_t loss_wait_ps(const struct transport_config *config, uint32_t waits);

// Whether one more try is allowed after `tries` that were used up.
bool loss_may_try(const struct endpoint *endpoint, uint32_t tries);

// The QP's retransmission timer is to ring in so many units; or, for a QP that has just sent, after
// a base wait unless it runs already.
void loss_arm_at(struct endpoint *endpoint, struct qp *qp, ps_t now, uint32_t units);
void loss_arm(struct endpoint *endpoint, struct qp *qp, ps_t now);
