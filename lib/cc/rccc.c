// SPDX-License-Identifier: Apache-2.0
// Credits of the receiver, after RCCC of UEC 1.0 section 3.6.14 and NDP, from which that comes. Not
// a part of MRC: the packet that grants them is an extension of weft's (docs/wire.md).
//
// The receiver owes a QP as many bytes as came from it, whole or trimmed, and grants them in quanta
// at the pace of its line (lib/transport/mrc/credit.c), all that send in turn. A sender may send
// what it was granted, and 1.5 BDP at first. In the terms of a window: what is in flight and what
// is granted; so an acknowledgement takes from both, and a credit adds.
//
// Timer: a sender without credit for a packet waits for one; when none came for a millisecond, the
// last one may be lost, and it sends a packet without, for which the next one pays.
//
// RCCC has the sender tell how much waits (credit_target), and its first answer ends what is sent
// without credit: so it is here with cc_config.credit_notified (a packet of weft's own, too).
// Without, what came stands for what waits, and what was sent at first circulates.

#include <assert.h>

#include "algorithms.h"

#include <weft/cc/cc_derived.h>

#define QUANTUM_PACKETS 4u // htsim's
#define PATIENCE_PS PS_PER_MS

static_assert(sizeof(struct rccc) <= CC_STATE_WORDS * sizeof(uint64_t), "fits the private state");

// Running numbers of bytes since the QP began.
struct rccc_receiver {
	uint32_t arrived, trimmed; // whole or trimmed, each as a whole; trimmed ones alone
	uint32_t granted;
	uint32_t asked, unpaid; // as the sender announced
	uint32_t window_max;	// that may be granted and not have come
	uint32_t quantum_bytes, mtu_bytes;
	bool is_notified;
};
static_assert(sizeof(struct rccc_receiver) <= RCCC_RECEIVER_WORDS * sizeof(uint64_t), "fits, too");

static struct rccc *rccc_of(struct cc *cc)
{
	return (struct rccc *)(void *)cc->state;
}

static struct rccc_receiver *receiver_of(uint64_t *state)
{
	return (struct rccc_receiver *)(void *)state;
}

void rccc_start(struct cc *cc, struct rccc *rccc, const struct cc_config *config)
{
	*rccc = (struct rccc){.window_max = (uint32_t)cc_window_max(config),
			      .mtu_bytes = config->mtu_bytes};
	cc->credit_bytes = rccc->window_max;
	cc->wake_at = PS_NEVER;
}

void rccc_take(struct cc *cc, struct rccc *rccc, uint32_t bytes, ps_t now)
{
	uint32_t taken = bytes < cc->credit_bytes ? bytes : cc->credit_bytes;
	cc->credit_bytes -= taken;
	rccc->borrowed_bytes += bytes - taken; // a packet left with less than its credit
	if (cc->credit_bytes < rccc->mtu_bytes)
		cc->wake_at = now + PATIENCE_PS;
}

// A credit may be here before the acknowledgement of what it is for: then that is still in flight,
// and no more than a first window can be. What is above comes of packets that were held lost and
// arrived.
static void add(struct cc *cc, const struct rccc *rccc, uint32_t bytes)
{
	uint64_t most = 2 * (uint64_t)rccc->window_max, window = cc->credit_bytes;
	window = window + bytes < most ? window + bytes : most;
	cc->credit_bytes = window < UINT32_MAX ? (uint32_t)window : UINT32_MAX;
	if (cc->credit_bytes >= rccc->mtu_bytes)
		cc->wake_at = PS_NEVER;
}

void rccc_grant(struct cc *cc, struct rccc *rccc, uint32_t bytes)
{
	uint32_t paid = bytes < rccc->borrowed_bytes ? bytes : rccc->borrowed_bytes;
	rccc->borrowed_bytes -= paid;
	add(cc, rccc, bytes - paid);
}

void rccc_borrow(struct cc *cc, struct rccc *rccc)
{
	rccc->borrowed_bytes += rccc->mtu_bytes;
	add(cc, rccc, rccc->mtu_bytes);
}

// ---------------------------------------------------------------- credits alone

static void rccc_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	(void)now;
	rccc_start(cc, rccc_of(cc), config);
	cc->window_bytes = cc->credit_bytes;
	cc->rate_bps = 0;
}

static void rccc_on_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	rccc_take(cc, rccc_of(cc), ack->newly_bytes, now);
	cc->window_bytes = cc->credit_bytes;
}

// A trimmed packet used its credit, and its receiver owes it anew. One that was lost on the way did
// not: nobody there knows of it.
static void rccc_on_loss(struct cc *cc, const struct cc_loss *loss, ps_t now)
{
	if (loss->is_trim)
		rccc_take(cc, rccc_of(cc), loss->bytes, now);
	cc->window_bytes = cc->credit_bytes;
}

static void rccc_on_credit(struct cc *cc, uint32_t bytes, ps_t now)
{
	(void)now;
	rccc_grant(cc, rccc_of(cc), bytes);
	cc->window_bytes = cc->credit_bytes;
}

static void rccc_on_time(struct cc *cc, ps_t now)
{
	(void)now;
	rccc_borrow(cc, rccc_of(cc));
	cc->window_bytes = cc->credit_bytes;
}

// ---------------------------------------------------------------- the receiver

uint32_t cc_credit_quantum(const struct cc_config *config)
{
	return config->credit_quantum_bytes ? config->credit_quantum_bytes
					    : QUANTUM_PACKETS * config->mtu_bytes;
}

void rccc_receiver_init(uint64_t state[CC_RECEIVER_WORDS], const struct cc_config *config)
{
	*receiver_of(state) = (struct rccc_receiver){.mtu_bytes = config->mtu_bytes,
						     .window_max = (uint32_t)cc_window_max(config),
						     .quantum_bytes = cc_credit_quantum(config)};
}

// Of a trimmed packet only its headers are left: it is owed a full one.
uint8_t rccc_receiver_on_data(uint64_t state[CC_RECEIVER_WORDS], uint32_t bytes, bool is_marked,
			      bool is_trimmed, ps_t now)
{
	struct rccc_receiver *receiver = receiver_of(state);
	(void)is_marked;
	(void)now;
	receiver->arrived += is_trimmed ? receiver->mtu_bytes : bytes;
	receiver->trimmed += is_trimmed ? receiver->mtu_bytes : 0;
	return 0;
}

// An overtaken one is old news: both numbers are of the newest, which asked for most.
void rccc_receiver_notified(uint64_t state[CC_RECEIVER_WORDS], uint32_t asked, uint32_t unpaid)
{
	struct rccc_receiver *receiver = receiver_of(state);
	if (receiver->is_notified && (int32_t)(asked - receiver->asked) < 0)
		return;
	receiver->is_notified = true;
	receiver->asked = asked;
	receiver->unpaid = unpaid;
}

// What came without a credit is owed one, and when the sender announced how much waits, so is that:
// but no more than a first window that has not left the sender, as far as can be known here. What a
// later packet passed on the way has left: it waits in queues, and would hold up what follows. Half
// a window of it at most: a sender takes two windows, of which answers under way are a part.
static int64_t owed(const struct rccc_receiver *receiver, uint32_t passed_bytes)
{
	int64_t paid = (int32_t)(receiver->arrived - receiver->unpaid - receiver->granted);
	if (!receiver->is_notified)
		return paid;
	int64_t waits = (int32_t)(receiver->asked + receiver->trimmed - receiver->granted);
	uint32_t passed_max = receiver->window_max / 2;
	int64_t room = receiver->window_max + paid;
	room += passed_bytes < passed_max ? passed_bytes : passed_max;
	waits = waits > paid ? waits : paid;
	return waits < room ? waits : room;
}

uint32_t rccc_receiver_grant(uint64_t state[CC_RECEIVER_WORDS], uint32_t passed_bytes)
{
	struct rccc_receiver *receiver = receiver_of(state);
	int64_t bytes = owed(receiver, passed_bytes);
	if (bytes > receiver->quantum_bytes)
		bytes = receiver->quantum_bytes;
	if (bytes <= 0)
		return 0;
	receiver->granted += (uint32_t)bytes;
	return (uint32_t)bytes;
}

const struct cc_ops cc_rccc = {
	.name = "rccc",
	.transports = CC_ON_MRC,
	.keys = CC_KEYS_CREDIT,
	.is_credit_alone = true,
	.has_credit = true,
	.init = rccc_init,
	.on_ack = rccc_on_ack,
	.on_loss = rccc_on_loss,
	.on_cnp = cc_on_cnp_none,
	.on_time = rccc_on_time,
	.on_sent = cc_on_sent_none,
	.on_credit = rccc_on_credit,
	.aims = cc_aims_of_config,
	.receiver_init = rccc_receiver_init,
	.receiver_on_data = rccc_receiver_on_data,
	.receiver_notified = rccc_receiver_notified,
	.receiver_grant = rccc_receiver_grant,
};
