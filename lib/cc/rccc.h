// SPDX-License-Identifier: Apache-2.0
// Credits of the receiver, for the algorithm that has these alone (rccc.c) and the one that has a
// window of the sender, too (nscc_rccc.c). What may be in flight by credits is cc.credit_bytes.
#pragma once

#include <weft/cc/cc.h>

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
