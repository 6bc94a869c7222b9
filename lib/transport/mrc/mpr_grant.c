// SPDX-License-Identifier: Apache-2.0
// Dynamic MPR. A NIC has a budget of PSNs in flight towards it, and shares it evenly among the QPs
// that receive at the moment: those that were sent a SACK in this epoch or in the last one,
// whichever are more. An offer only holds new PSNs back: the responder goes on taking all that its
// ring has room for.
#include "mpr_grant.h"

#define EPOCH_SHIFT_MIN 24u // 16.8 us: a few round trips
#define EPOCH_SHIFT_MAX 50u // 19 minutes

// A QP's packets may stand all together at the end of a queue as deep as the budget, and QPs whose
// packets come mixed are sent a SACK each time that all of them have received what makes one. From
// where the least offer times the QPs is the budget, counting more of them changes nothing.
static uint64_t epoch_bits(const struct transport_config *config)
{
	uint64_t qps = (uint64_t)config->mpr_budget / MPR_GRANT_MIN + 1;
	uint64_t sacks = 2 * qps * ((uint64_t)config->sack_bytes + config->payload_bytes);
	uint64_t queue = (uint64_t)config->mpr_budget *
		(config->payload_bytes + config->header_bytes);
	return 8 * (sacks > queue ? sacks : queue);
}

uint8_t mpr_grant_epoch_shift(const struct transport_config *config)
{
	uint64_t rate_mbps = config->cc.rate_bps / 1000000, bits = epoch_bits(config);
	uint8_t shift = EPOCH_SHIFT_MIN;
	if (rate_mbps == 0 || !config->dynamic_mpr)
		return shift;
	while (shift < EPOCH_SHIFT_MAX && ((uint64_t)1 << shift) / PS_PER_US * rate_mbps < bits)
		shift++;
	return shift;
}

// Counts the QPs of this epoch.
static void count_in(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	uint32_t epoch = (uint32_t)(now >> endpoint->epoch_shift) + 1; // 0 is "never"
	if (epoch != endpoint->epoch) {
		bool is_next = epoch == endpoint->epoch + 1;
		endpoint->receivers_before = is_next ? endpoint->receivers : 0;
		endpoint->receivers = 0;
		endpoint->epoch = epoch;
	}
	endpoint->receivers += qp->epoch != epoch;
	qp->epoch = epoch;
}

uint8_t mpr_grant_make(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	count_in(endpoint, qp, now);
	uint32_t receivers = endpoint->receivers, units = endpoint->config->mpr / MPR_GRANT_UNIT;
	if (receivers < endpoint->receivers_before)
		receivers = endpoint->receivers_before;
	if (receivers == 0) // its first epoch is the one whose number says "never"
		receivers = 1;
	uint32_t least = MPR_GRANT_MIN / MPR_GRANT_UNIT;
	uint32_t share = endpoint->config->mpr_budget / MPR_GRANT_UNIT / receivers;
	if (share < least)
		share = least;
	if (units > share)
		units = share;
	return (uint8_t)(units < UINT8_MAX ? units : UINT8_MAX);
}

void mpr_grant_take(struct qp *qp, uint8_t units)
{
	if (units == 0 || !(qp->capabilities & QP_CAN_DYNAMIC_MPR))
		return;
	uint32_t limit = units * MPR_GRANT_UNIT;
	if (limit < MPR_GRANT_MIN)
		limit = MPR_GRANT_MIN;
	qp->mpr_limit = (uint16_t)(limit < qp->mpr_agreed ? limit : qp->mpr_agreed);
}
