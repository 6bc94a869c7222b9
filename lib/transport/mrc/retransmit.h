// SPDX-License-Identifier: Apache-2.0
// What is missing: PSNs held lost, by timer, by NACK, by the age of a hole.
#pragma once

#include "endpoint/endpoint.h"

// The oldest PSN held lost; there must be one.
uint32_t retransmit_first(struct endpoint *endpoint, struct qp *qp);

// Makes sure that a timer runs for a QP that has just sent.
void retransmit_arm(struct endpoint *endpoint, struct qp *qp, ps_t now);

// Holds lost every hole that is older than what was acknowledged by hole_age_ps.
void retransmit_holes(struct endpoint *endpoint, struct qp *qp, ps_t now);

// Holds lost all that is in flight in [from, end), by SLEEK. Returns the PSN behind the last of it,
// or `from`.
uint32_t retransmit_all(struct endpoint *endpoint, struct qp *qp, uint32_t from, uint32_t end,
			ps_t now);

// The target did not keep a packet, and says why.
void retransmit_on_nack(struct endpoint *endpoint, struct qp *qp, const struct packet *nack,
			ps_t now);

// How long the wait number `waits` (from 0) is, in units of send times.
uint32_t retransmit_wait(const struct endpoint *endpoint, uint32_t waits);

// Whether one more try is allowed after `tries` that were used up.
bool retransmit_may_try(const struct endpoint *endpoint, uint32_t tries);

// The QP's retransmission timer rang.
void retransmit_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now);
