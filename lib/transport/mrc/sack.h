// SPDX-License-Identifier: Apache-2.0
// What a SACK tells the requester.
#pragma once

#include "endpoint/endpoint.h"

void sack_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *sack, ps_t now);

// All PSNs before `una` are known to be there, though no SACK said so yet.
void sack_take_all(struct endpoint *endpoint, struct qp *qp, uint32_t una, ps_t now);

// Gives congestion control a place in the timer heap when it wants to be woken.
void sack_arm_cc(struct endpoint *endpoint, struct qp *qp);
