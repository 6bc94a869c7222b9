// SPDX-License-Identifier: Apache-2.0
// What algorithms derive of their configuration where it gives nothing, for reports. NSCC's
// parameters are in cc.h (cc_settings_of).
#pragma once

#include <weft/cc/cc.h>

#ifdef __cplusplus
extern "C" {
#endif

// DCQCN's rates in bit/s, given or derived: its two steps of growth, and the least rate.
struct cc_rates {
	uint64_t ai_bps, hai_bps, min_bps;
};
void cc_rates_of(const struct cc_config *config, struct cc_rates *ret);

// The window that an algorithm takes by itself, in bytes: 1.5 bandwidth-delay products, and no less
// than keeps the line busy while the receiver gathers `gather_bytes` before it answers. Not below
// a packet.
double cc_window_auto(const struct cc_config *config);

// The queueing delay that NSCC or Swift aims at.
ps_t cc_delay_aim(const struct cc_config *config);

// Bytes in one credit of RCCC, given or derived.
uint32_t cc_credit_quantum(const struct cc_config *config);

#ifdef __cplusplus
}
#endif
