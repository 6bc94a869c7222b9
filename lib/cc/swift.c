// SPDX-License-Identifier: Apache-2.0
// Swift (SIGCOMM 2020): a window moved by delay alone. Below the target delay it grows by a packet
// per window of acknowledgements; above it shrinks by a share of the excess, at most once per round
// trip and to no less than half. The target is higher for small windows, so that many flows leave
// each other room: by fs_a / sqrt(cwnd) + fs_b, between 0 and fs_range.
//
// Constants as uet-htsim has them: ai 1 packet, beta 0.8, max_mdf 0.5, fs_range five targets, for
// windows from 0.1 to 100 packets. Ours: the target for hops and base is one figure above the base
// round trip (half of it, unless one is given), because the base round trip already holds the hops;
// no window below one packet, so no pacing; a lost or trimmed packet takes its own size.
#include "algorithms.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define BETA 0.8
#define MAX_MDF 0.5
#define FS_TARGETS 5.0	// fs_range, in targets
#define FS_CWND_MIN 0.1 // packets
#define FS_CWND_MAX 100.0

struct swift {
	double cwnd, cwnd_max; // bytes
	double fs_a_ps, fs_b_ps, fs_range_ps;
	ps_t target_ps;	  // queueing delay aimed at by a large window
	ps_t base_rtt_ps; // smallest round trip seen or configured
	struct cc_floor floor;
	ps_t rtt_ps; // last sample
	ps_t decreased_at;
	uint32_t mtu_bytes;
	bool has_decreased;
};
static_assert(sizeof(struct swift) <= CC_STATE_WORDS * sizeof(uint64_t), "fits the private state");

static struct swift *swift_of(struct cc *cc)
{
	return (struct swift *)(void *)cc->state;
}

static void set_window(struct cc *cc, struct swift *s, double cwnd)
{
	s->cwnd = cc_window_within(cwnd, s->mtu_bytes, s->cwnd_max);
	cc->window_bytes = (uint32_t)s->cwnd;
}

static void swift_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	struct swift *s = swift_of(cc);
	(void)now;
	*s = (struct swift){.cwnd_max = cc_window_max(config),
			    .base_rtt_ps = config->base_rtt_ps,
			    .target_ps = cc_swift_target_ps(config),
			    .mtu_bytes = config->mtu_bytes};
	s->fs_range_ps = FS_TARGETS * (double)s->target_ps;
	s->fs_a_ps = s->fs_range_ps / (1 / sqrt(FS_CWND_MIN) - 1 / sqrt(FS_CWND_MAX));
	s->fs_b_ps = -s->fs_a_ps / sqrt(FS_CWND_MAX);
	cc->rate_bps = 0;
	cc->wake_at = PS_NEVER;
	set_window(cc, s, s->cwnd_max);
}

// The delay aimed at by a window of this size.
static double target_of(const struct swift *s)
{
	double extra = s->fs_a_ps / sqrt(s->cwnd / s->mtu_bytes) + s->fs_b_ps;
	if (extra < 0)
		extra = 0;
	if (extra > s->fs_range_ps)
		extra = s->fs_range_ps;
	return (double)s->target_ps + extra;
}

static bool may_decrease(const struct swift *s, ps_t now)
{
	return !s->has_decreased || now - s->decreased_at >= s->rtt_ps;
}

static void swift_on_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	struct swift *s = swift_of(cc);
	if (ack->rtt_ps < 0)
		return;
	s->rtt_ps = ack->rtt_ps;
	cc_floor_take(&s->floor, &s->base_rtt_ps, ack->rtt_ps);
	double delay = (double)(ack->rtt_ps - s->base_rtt_ps), target = target_of(s);
	if (delay < target) {
		set_window(cc, s, s->cwnd + (double)ack->newly_bytes * s->mtu_bytes / s->cwnd);
	} else if (may_decrease(s, now)) {
		double factor = 1 - BETA * (delay - target) / delay;
		set_window(cc, s, s->cwnd * (factor > MAX_MDF ? factor : MAX_MDF));
		s->decreased_at = now;
		s->has_decreased = true;
	}
}

static void swift_on_loss(struct cc *cc, const struct cc_loss *loss, ps_t now)
{
	struct swift *s = swift_of(cc);
	(void)now;
	set_window(cc, s, s->cwnd - loss->bytes);
}

const struct cc_ops cc_swift = {
	.name = "swift",
	.transports = CC_ON_MRC,
	.keys = CC_KEYS_TARGET,
	.init = swift_init,
	.on_ack = swift_on_ack,
	.on_loss = swift_on_loss,
	.on_cnp = cc_on_cnp_none,
	.on_time = cc_on_time_none,
	.on_sent = cc_on_sent_none,
	.aims = cc_aims_of_config,
	CC_SENDER_ALONE,
};
