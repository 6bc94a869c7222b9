// SPDX-License-Identifier: Apache-2.0
// Which way a control packet takes: of a QP, and one that is for a NIC.
#pragma once

#include "endpoint/endpoint.h"

// An EV number for a control packet on `plane`: one not known to be bad, if there is one. With all
// denied it leaves by another plane: path_control_plane().
uint32_t path_control(struct path_set *set, uint32_t plane);
uint32_t path_control_plane(const struct path_set *set, uint32_t plane);

// The same of an answer: on a fabric of one plane every other one takes the EV that was heard of
// last while others are blocked, since who waits for it may know no better.
uint32_t path_answer(struct path_set *set, uint32_t plane);

// The plane for a packet to a peer that would take `plane`: the next one that is up at both ends.
uint32_t control_path_plane(const struct endpoint *endpoint, const struct peer *peer,
			    uint32_t plane);

// An EV for it. Where no QP to that peer has a context, the first of the plane will do.
uint32_t control_path_ev(const struct endpoint *endpoint, const struct peer *peer, uint32_t plane);

// What is known of the paths to the peer of a QP: what the QP itself lost, else what the QP to the
// same peer lost that lost last, for as long as it holds something bad. A QP that only receives
// learns of one path in a round trip.
struct path_set *control_path_known(const struct endpoint *endpoint, struct qp *qp);

// A QP lost a path: those to the same peer may know.
void control_path_lost(struct endpoint *endpoint, const struct qp *qp);
