// SPDX-License-Identifier: Apache-2.0
// What the files of this room share: the algorithms of the table, and a receiver half that never
// asks for anything.
#pragma once

#include <weft/cc/cc.h>

// The table of algorithms: cc_NAME is the const struct cc_ops of the name NAME.
#define CC_ALL(ROW) \
	ROW(fixed) \
	ROW(nscc) \
	ROW(swift) \
	ROW(mprdma) \
	ROW(dctcp) \
	ROW(dcqcn) \
	ROW(rccc) \
	ROW(nscc_rccc)

#define CC_DECLARE(name) extern const struct cc_ops cc_##name;
CC_ALL(CC_DECLARE)
#undef CC_DECLARE

// NSCC's share of cc.state, and the window that it would have by itself.
#define NSCC_WORDS 28
uint32_t nscc_window(const struct cc *cc);

// The least round trip so far. One that is less than a quarter of all before it and less than half
// of all that follow for a while was none, but a wrong time stamp or SACK: it is
// forgotten then. (The first packet of an incast may well take half as long as all others.)
struct cc_floor {
	uint32_t other : 25; // least of the others, in units of 8192 ps
	uint32_t doubts : 7; // samples that may still confirm it; 0: it stands
};

// Takes a sample: whether `base_ps` changed by it.
bool cc_floor_sink(struct cc_floor *floor, ps_t *base_ps, ps_t rtt_ps);
bool cc_floor_doubt(struct cc_floor *floor, ps_t *base_ps, ps_t rtt_ps);
static inline bool cc_floor_take(struct cc_floor *floor, ps_t *base_ps, ps_t rtt_ps)
{
	if (rtt_ps < *base_ps)
		return cc_floor_sink(floor, base_ps, rtt_ps);
	return __builtin_expect(floor->doubts != 0, 0) && cc_floor_doubt(floor, base_ps, rtt_ps);
}

// The largest window, which is the first one, too: as configured, or cc_window_auto(); at least a
// packet.
double cc_window_max(const struct cc_config *config);

// cc_window_auto() of these figures.
double cc_window_of_bdp(double bdp_bytes, uint32_t gather_bytes, uint32_t mtu_bytes);

// A window between a packet and the largest.
static inline double cc_window_within(double cwnd, uint32_t mtu_bytes, double cwnd_max)
{
	if (cwnd > cwnd_max)
		cwnd = cwnd_max;
	return cwnd < mtu_bytes ? mtu_bytes : cwnd;
}

// on_ack and on_loss of those that work on CNPs, or on nothing.
void cc_on_ack_none(struct cc *cc, const struct cc_ack *ack, ps_t now);
void cc_on_loss_none(struct cc *cc, const struct cc_loss *loss, ps_t now);

// on_cnp of those that work on SACKs, or on nothing.
void cc_on_cnp_none(struct cc *cc, ps_t now);

// on_time of those that never ask to be woken.
void cc_on_time_none(struct cc *cc, ps_t now);

// on_sent of those that do not count what leaves, on_credit of those without credits.
void cc_on_sent_none(struct cc *cc, uint32_t bytes, ps_t now);

// aims of those that keep none of their own: as configured, with NSCC's defaults.
void cc_aims_of_config(const struct cc *cc, const struct cc_config *config, struct cc_aims *ret);
ps_t cc_target_ps(const struct cc_config *config);

// The same of Swift.
ps_t cc_swift_target_ps(const struct cc_config *config);

// receiver_notified and receiver_grant of those without credits.
void cc_receiver_notified_none(uint64_t state[CC_RECEIVER_WORDS], uint32_t asked, uint32_t unpaid);
uint32_t cc_receiver_grant_none(uint64_t state[CC_RECEIVER_WORDS], uint32_t passed_bytes);

// A receiver half with penalty 0 for ever. NSCC leaves the rule that sets the penalty to the
// implementer and no source publishes one, so all algorithms use this.
void cc_receiver_init_none(uint64_t state[CC_RECEIVER_WORDS], const struct cc_config *config);
uint8_t cc_receiver_on_data_none(uint64_t state[CC_RECEIVER_WORDS], uint32_t bytes, bool is_marked,
				 bool is_trimmed, ps_t now);

// The rows of an algorithm whose receiver has no part in it.
#define CC_SENDER_ALONE \
	.on_credit = cc_on_sent_none, .receiver_init = cc_receiver_init_none, \
	.receiver_on_data = cc_receiver_on_data_none, \
	.receiver_notified = cc_receiver_notified_none, .receiver_grant = cc_receiver_grant_none

// Credits of the receiver, for the algorithm that has these alone (rccc.c) and the one that has a
// window of the sender, too (nscc_rccc.c). What may be in flight by credits is cc.credit_bytes.

struct rccc {
	uint32_t window_max, mtu_bytes;
	uint32_t borrowed_bytes; // sent without credit, which the next ones pay
};

// The receiver half: both algorithms have the same.
#define RCCC_RECEIVER_WORDS 5

// Starts with a first window, and no timer.
void rccc_start(struct cc *cc, struct rccc *rccc, const struct cc_config *config);

// So many bytes were acknowledged or trimmed: their credit is used up.
void rccc_take(struct cc *cc, struct rccc *rccc, uint32_t bytes, ps_t now);

// The receiver granted so many more.
void rccc_grant(struct cc *cc, struct rccc *rccc, uint32_t bytes);

// Nothing was granted for long: one packet is borrowed.
void rccc_borrow(struct cc *cc, struct rccc *rccc);

void rccc_receiver_init(uint64_t state[CC_RECEIVER_WORDS], const struct cc_config *config);
uint8_t rccc_receiver_on_data(uint64_t state[CC_RECEIVER_WORDS], uint32_t bytes, bool is_marked,
			      bool is_trimmed, ps_t now);
void rccc_receiver_notified(uint64_t state[CC_RECEIVER_WORDS], uint32_t asked, uint32_t unpaid);
uint32_t rccc_receiver_grant(uint64_t state[CC_RECEIVER_WORDS], uint32_t passed_bytes);
