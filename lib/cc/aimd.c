// SPDX-License-Identifier: Apache-2.0
// Windows that grow by a packet per window of acknowledgements and shrink by a share of what came
// back marked: MPRDMA as the REPS artifact has it (a quarter of the marked bytes), and the
// DCTCP-like rule of uet-htsim (a third). A lost or trimmed packet takes its own size. Neither
// looks at delay.
//
// DCTCP proper, which cuts once per round trip by half the smoothed share of marks, is not here;
// MPRDMA's paper takes half a packet per mark.
#include "algorithms.h"

#include <assert.h>
#include <string.h>

#define MPRDMA_SHARE 4
#define DCTCP_SHARE 3

struct aimd {
	double cwnd, cwnd_max; // bytes
	uint32_t mtu_bytes;
	uint32_t share; // one of so many marked bytes comes off the window
};
static_assert(sizeof(struct aimd) <= CC_STATE_WORDS * sizeof(uint64_t), "fits the private state");

static struct aimd *aimd_of(struct cc *cc)
{
	return (struct aimd *)(void *)cc->state;
}

static void set_window(struct cc *cc, struct aimd *a, double cwnd)
{
	a->cwnd = cc_window_within(cwnd, a->mtu_bytes, a->cwnd_max);
	cc->window_bytes = (uint32_t)a->cwnd;
}

static void start(struct cc *cc, const struct cc_config *config, uint32_t share)
{
	struct aimd *a = aimd_of(cc);
	*a = (struct aimd){
		.cwnd_max = cc_window_max(config), .mtu_bytes = config->mtu_bytes, .share = share};
	cc->rate_bps = 0;
	cc->wake_at = PS_NEVER;
	set_window(cc, a, a->cwnd_max);
}

static void mprdma_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	(void)now;
	start(cc, config, MPRDMA_SHARE);
}

static void dctcp_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	(void)now;
	start(cc, config, DCTCP_SHARE);
}

static void aimd_on_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	struct aimd *a = aimd_of(cc);
	double newly = ack->newly_bytes;
	(void)now;
	if (ack->is_marked)
		set_window(cc, a, a->cwnd - newly / a->share);
	else
		set_window(cc, a, a->cwnd + newly * a->mtu_bytes / a->cwnd);
}

static void aimd_on_loss(struct cc *cc, const struct cc_loss *loss, ps_t now)
{
	struct aimd *a = aimd_of(cc);
	(void)now;
	set_window(cc, a, a->cwnd - loss->bytes);
}

const struct cc_ops cc_mprdma = {
	.name = "mprdma",
	.transports = CC_ON_MRC,
	.needs_marks = true,
	.init = mprdma_init,
	.on_ack = aimd_on_ack,
	.on_loss = aimd_on_loss,
	.on_cnp = cc_on_cnp_none,
	.on_time = cc_on_time_none,
	.on_sent = cc_on_sent_none,
	.aims = cc_aims_of_config,
	CC_SENDER_ALONE,
};

const struct cc_ops cc_dctcp = {
	.name = "dctcp",
	.transports = CC_ON_MRC,
	.needs_marks = true,
	.init = dctcp_init,
	.on_ack = aimd_on_ack,
	.on_loss = aimd_on_loss,
	.on_cnp = cc_on_cnp_none,
	.on_time = cc_on_time_none,
	.on_sent = cc_on_sent_none,
	.aims = cc_aims_of_config,
	CC_SENDER_ALONE,
};
