// SPDX-License-Identifier: Apache-2.0
// What the target's answers tell the requester, each in a file of its own: SACKs in sack.c,
// transport ACKs and NAKs in ack.c, NACKs in retransmit.c, and what is done when no answer comes.
#pragma once

#include "endpoint/endpoint.h"

void sack_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *sack, ps_t now);
void ack_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *packet, ps_t now);

// The target did not keep a packet, and says why.
void retransmit_on_nack(struct endpoint *endpoint, struct qp *qp, const struct packet *nack,
			ps_t now);

// The QP's retransmission timer rang.
void retransmit_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now);

// All PSNs before `una` are known to be there, though no SACK said so yet.
void sack_take_all(struct endpoint *endpoint, struct qp *qp, uint32_t una, ps_t now);

// Gives congestion control a place in the timer heap when it wants to be woken.
void sack_arm_cc(struct endpoint *endpoint, struct qp *qp);
