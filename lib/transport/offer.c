// SPDX-License-Identifier: Apache-2.0
// Dynamic MPR. A NIC has a budget of PSNs in flight towards it, and shares it evenly among the QPs
// that receive at the moment: those that were sent a SACK in this epoch or in the last one,
// whichever are more. An offer only holds new PSNs back: the responder goes on taking all that its
// ring has room for.
#include "offer.h"

#define EPOCH_SHIFT 24 // an epoch is 2^24 ps, 16.8 us: a few round trips

// Counts the QPs of this epoch.
static void count_in(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	uint32_t epoch = (uint32_t)(now >> EPOCH_SHIFT) + 1; // 0 is "never"
	if (epoch != endpoint->epoch) {
		bool is_next = epoch == endpoint->epoch + 1;
		endpoint->receivers_before = is_next ? endpoint->receivers : 0;
		endpoint->receivers = 0;
		endpoint->epoch = epoch;
	}
	endpoint->receivers += qp->epoch != epoch;
	qp->epoch = epoch;
}

uint8_t offer_make(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	count_in(endpoint, qp, now);
	uint32_t receivers = endpoint->receivers, units = endpoint->config->mpr / MPR_OFFER_UNIT;
	if (receivers < endpoint->receivers_before)
		receivers = endpoint->receivers_before;
	if (receivers == 0) // its first epoch is the one whose number says "never"
		receivers = 1;
	uint32_t least = MPR_OFFER_MIN / MPR_OFFER_UNIT;
	uint32_t share = endpoint->config->mpr_budget / MPR_OFFER_UNIT / receivers;
	if (share < least)
		share = least;
	if (units > share)
		units = share;
	return (uint8_t)(units < UINT8_MAX ? units : UINT8_MAX);
}

void offer_take(struct qp *qp, uint8_t units)
{
	if (units == 0 || !(qp->capabilities & QP_CAN_DYNAMIC_MPR))
		return;
	uint32_t limit = units * MPR_OFFER_UNIT;
	if (limit < MPR_OFFER_MIN)
		limit = MPR_OFFER_MIN;
	qp->mpr_limit = (uint16_t)(limit < qp->mpr_agreed ? limit : qp->mpr_agreed);
}
