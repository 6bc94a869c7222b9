// SPDX-License-Identifier: Apache-2.0
// NSCC and credits of the receiver together, as UEC 1.0 allows and uet-htsim does without
// -sender_cc_only or -receiver_cc_only: a packet leaves when the sender's window has room for it
// and the receiver granted it. NSCC answers to the core, credits to the last hop; so a trim there
// is the credits' business, by the specification alone (cc_config.last_hop_rule). Not a part of
// MRC.
#include <assert.h>

#include "algorithms.h"

static_assert(NSCC_WORDS * sizeof(uint64_t) + sizeof(struct rccc) <=
		      CC_STATE_WORDS * sizeof(uint64_t),
	      "both fit the private state");
static_assert(RCCC_RECEIVER_WORDS < CC_RECEIVER_WORDS, "room for the penalty");

static struct rccc *rccc_of(struct cc *cc)
{
	return (struct rccc *)(void *)&cc->state[NSCC_WORDS];
}

static void settle(struct cc *cc)
{
	uint32_t window_bytes = nscc_window(cc);
	cc->window_bytes = window_bytes < cc->credit_bytes ? window_bytes : cc->credit_bytes;
}

static void nscc_rccc_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	cc_nscc.init(cc, config, now);
	rccc_start(cc, rccc_of(cc), config);
	settle(cc);
}

static void nscc_rccc_on_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	cc_nscc.on_ack(cc, ack, now);
	rccc_take(cc, rccc_of(cc), ack->newly_bytes, now);
	settle(cc);
}

static void nscc_rccc_on_loss(struct cc *cc, const struct cc_loss *loss, ps_t now)
{
	cc_nscc.on_loss(cc, loss, now);
	if (loss->is_trim) // one that was lost on the way used no credit up
		rccc_take(cc, rccc_of(cc), loss->bytes, now);
	settle(cc);
}

static void nscc_rccc_on_credit(struct cc *cc, uint32_t bytes, ps_t now)
{
	(void)now;
	rccc_grant(cc, rccc_of(cc), bytes);
	settle(cc);
}

static void nscc_rccc_on_time(struct cc *cc, ps_t now)
{
	(void)now;
	rccc_borrow(cc, rccc_of(cc));
	settle(cc);
}

static void nscc_rccc_aims(const struct cc *cc, const struct cc_config *config, struct cc_aims *ret)
{
	cc_nscc.aims(cc, config, ret);
}

static void nscc_rccc_receiver_init(uint64_t state[CC_RECEIVER_WORDS],
				    const struct cc_config *config)
{
	rccc_receiver_init(state, config);
	cc_nscc.receiver_init(&state[RCCC_RECEIVER_WORDS], config);
}

static uint8_t nscc_rccc_receiver_on_data(uint64_t state[CC_RECEIVER_WORDS], uint32_t bytes,
					  bool is_marked, bool is_trimmed, ps_t now)
{
	rccc_receiver_on_data(state, bytes, is_marked, is_trimmed, now);
	return cc_nscc.receiver_on_data(&state[RCCC_RECEIVER_WORDS], bytes, is_marked, is_trimmed,
					now);
}

const struct cc_ops cc_nscc_rccc = {
	.name = "nscc_rccc",
	.transports = CC_ON_MRC,
	.keys = CC_KEYS_TARGET | CC_KEYS_NSCC | CC_KEYS_CREDIT | CC_KEYS_LAST_HOP,
	.needs_marks = true,
	.needs_full_gate = true,
	.has_credit = true,
	.init = nscc_rccc_init,
	.on_ack = nscc_rccc_on_ack,
	.on_loss = nscc_rccc_on_loss,
	.on_cnp = cc_on_cnp_none,
	.on_time = nscc_rccc_on_time,
	.on_sent = cc_on_sent_none,
	.on_credit = nscc_rccc_on_credit,
	.aims = nscc_rccc_aims,
	.receiver_init = nscc_rccc_receiver_init,
	.receiver_on_data = nscc_rccc_receiver_on_data,
	.receiver_notified = rccc_receiver_notified,
	.receiver_grant = rccc_receiver_grant,
};
