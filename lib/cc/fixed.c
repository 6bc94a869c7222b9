// SPDX-License-Identifier: Apache-2.0
// A window that never moves: the configured one, or cc_window_auto(). The baseline of
// every comparison, and the algorithm for tests that must not depend on feedback.
#include "algorithms.h"

#include <weft/cc/cc_derived.h>

static void fixed_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	(void)now;
	double window = config->window_bytes;
	if (config->window_bytes == 0)
		window = cc_window_auto(config);
	if (window < config->mtu_bytes)
		window = config->mtu_bytes;
	cc->window_bytes = window > UINT32_MAX ? UINT32_MAX : (uint32_t)window;
	cc->rate_bps = 0;
	cc->wake_at = PS_NEVER;
}

const struct cc_ops cc_fixed = {
	.name = "fixed",
	.transports = CC_ON_MRC | CC_ON_RC,
	.is_fixed = true,
	.init = fixed_init,
	.on_ack = cc_on_ack_none,
	.on_loss = cc_on_loss_none,
	.on_cnp = cc_on_cnp_none,
	.on_time = cc_on_time_none,
	.on_sent = cc_on_sent_none,
	.aims = cc_aims_of_config,
	CC_SENDER_ALONE,
};
