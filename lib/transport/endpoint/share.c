// SPDX-License-Identifier: Apache-2.0
// A QP that shares has an algorithm of its own that knows only where the common one is, in its
// private state. The sum of what all have in flight is kept: each QP's part of it is brought up to
// date when its own flight changed, before another's window is asked for.
#include <weft/core/integer.h>

#include "share.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "endpoint.h"
#include "mrc/flight.h"

#define HASH UINT32_C(2654435761) // Knuth's, of a NIC's number

// The private state of a QP's own struct cc.
struct member {
	struct endpoint *endpoint;
	struct share *share;
	uint32_t next;	  // context of the next who shares, number + 1
	uint32_t context; // own one
	uint32_t counted; // its bytes in flight, as they are in the sum
};
static_assert(sizeof(struct member) <= CC_STATE_WORDS * sizeof(uint64_t), "fits");

static struct member *member_of(const struct qp *qp)
{
	return (struct member *)(void *)(uintptr_t)qp->cc.state;
}

uint64_t share_bytes(const struct transport_config *config, uint32_t qp_max)
{
	return config->shares_cc ? power_of_two(2, 2 * qp_max) * sizeof(struct share) : 0;
}

// ---------------------------------------------------------------- of all who share

static struct qp *member_at(const struct endpoint *endpoint, uint32_t context)
{
	return context == 0 ? NULL : context_at(endpoint, context - 1);
}

struct qp *share_first(const struct endpoint *endpoint, const struct qp *qp)
{
	return member_at(endpoint, member_of(qp)->share->first);
}

struct qp *share_next(const struct endpoint *endpoint, const struct qp *qp)
{
	return member_at(endpoint, member_of(qp)->next);
}

static void count(struct member *member)
{
	uint32_t flying = flight_bytes(context_at(member->endpoint, member->context));
	member->share->flight_bytes += flying - member->counted;
	member->counted = flying;
}

void share_count(struct qp *qp)
{
	count(member_of(qp));
}

void share_refresh(struct qp *qp)
{
	struct member *member = member_of(qp);
	count(member);
	uint32_t others = member->share->flight_bytes - member->counted;
	uint32_t window = member->share->cc.window_bytes;
	qp->cc.window_bytes = window > others ? window - others : 0;
}

void share_audit(const struct endpoint *endpoint, const struct qp *qp)
{
	const struct share *share = member_of(qp)->share;
	uint32_t bytes = 0;
	for (const struct qp *at = share_first(endpoint, qp); at != NULL;
	     at = share_next(endpoint, at))
		bytes += flight_bytes(at);
	check(bytes == share->flight_bytes && "what QPs that share have in flight is counted");
}

bool share_is_mute(const struct endpoint *endpoint, const struct qp *qp)
{
	for (const struct qp *at = share_first(endpoint, qp); at != NULL;
	     at = share_next(endpoint, at))
		if (at->state == QP_RTS && at->inflight != 0 && at->asks_out != 0)
			return false;
	return true;
}

// ---------------------------------------------------------------- what each hears

static void shared_on_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	struct member *member = (struct member *)(void *)cc->state;
	struct cc *common = &member->share->cc;
	struct cc_ack all = *ack;
	count(member);
	all.inflight_bytes = member->share->flight_bytes;
	common->ops->on_ack(common, &all, now);
	cc->window_bytes = common->window_bytes;
}

static void shared_on_loss(struct cc *cc, const struct cc_loss *loss, ps_t now)
{
	struct member *member = (struct member *)(void *)cc->state;
	struct cc *common = &member->share->cc;
	struct cc_loss all = *loss;
	count(member);
	all.inflight_bytes = member->share->flight_bytes;
	common->ops->on_loss(common, &all, now);
	cc->window_bytes = common->window_bytes;
}

static void shared_aims(const struct cc *cc, const struct cc_config *config, struct cc_aims *ret)
{
	const struct member *member = (const struct member *)(const void *)cc->state;
	const struct cc *common = &member->share->cc;
	common->ops->aims(common, config, ret);
}

int share_init(struct endpoint *endpoint, struct arena *arena,
	       const struct transport_config *config, uint32_t qp_max)
{
	struct share_table *table = &endpoint->shares;
	if (!config->shares_cc)
		return 0;
	uint32_t places = power_of_two(2, 2 * qp_max);
	table->shares = arena_draw(arena, ARENA_TRANSPORT, places, sizeof(struct share));
	if (!table->shares)
		return -ENOMEM;
	table->mask = places - 1;
	return 0;
}

void share_ops(struct cc_ops *ret, const struct cc_ops *algorithm)
{
	*ret = *algorithm;
	ret->on_ack = shared_on_ack;
	ret->on_loss = shared_on_loss;
	ret->aims = shared_aims;
}

// ---------------------------------------------------------------- who shares

// The share of a NIC and a profile, or the place where it goes: one that nobody has any more, if
// the search passed one. Those in use are at most half of all.
static struct share *find(struct share_table *table, uint32_t nic, uint32_t cc_profile)
{
	struct share *empty = NULL;
	uint32_t at = nic * HASH >> 7 & table->mask;
	for (uint32_t left = table->mask + 1; left > 0; left--, at = (at + 1) & table->mask) {
		struct share *share = &table->shares[at];
		if (share->is_used && share->nic == nic && share->cc_profile == cc_profile)
			return share;
		if (share->first == 0 && empty == NULL)
			empty = share;
		if (!share->is_used)
			break;
	}
	check(empty != NULL);
	return empty;
}

void share_join(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	const struct cc_choice *choice = endpoint_cc(endpoint, qp);
	struct share *share = find(&endpoint->shares, qp->remote_nic, qp->cc_profile);
	share->is_used = true;
	share->nic = qp->remote_nic;
	share->cc_profile = qp->cc_profile;
	if (share->first == 0) { // of an earlier life it knows nothing
		share->cc = (struct cc){.ops = choice->ops, .credit_bytes = UINT32_MAX};
		share->cc.ops->init(&share->cc, choice->config, now);
		share->flight_bytes = 0;
	}
	qp->cc = (struct cc){.ops = &choice->shared,
			     .window_bytes = share->cc.window_bytes,
			     .credit_bytes = UINT32_MAX,
			     .wake_at = PS_NEVER};
	*member_of(qp) = (struct member){
		.endpoint = endpoint, .share = share, .next = share->first, .context = qp->context};
	share->first = qp->context + 1;
}

struct qp *share_leave(struct endpoint *endpoint, struct qp *qp)
{
	struct share *share = member_of(qp)->share;
	if (qp->cc.ops == NULL || share == NULL) // never born
		return NULL;
	uint32_t *link = &share->first;
	while (*link != qp->context + 1)
		link = &member_of(context_at(endpoint, *link - 1))->next;
	*link = member_of(qp)->next;
	share->flight_bytes -= member_of(qp)->counted;
	member_of(qp)->counted = 0;
	qp->inflight = 0;
	return member_at(endpoint, share->first);
}
