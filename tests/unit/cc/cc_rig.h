// SPDX-License-Identifier: Apache-2.0
// NSCC at 100 Gb/s, six hops of 1 us: the reference row. What comes back to it, and what is lost.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/cc/cc.h>

#define RATE_BPS 100000000000u
#define RTT_PS ((ps_t)14023000)
#define MTU 4150u
#define BDP 175287.0 // bytes: rate times base round trip
#define TARGET_PS (RTT_PS * 3 / 4)

static struct cc_config usual(void)
{
	return (struct cc_config){.name = "nscc",
				  .rate_bps = RATE_BPS,
				  .base_rtt_ps = RTT_PS,
				  .mtu_bytes = MTU,
				  .has_trimming = true};
}

static struct cc start(const struct cc_config *config)
{
	struct cc cc = {.ops = cc_find("nscc")};
	cc.ops->init(&cc, config, 0);
	return cc;
}

static inline void lose(struct cc *cc, uint32_t bytes)
{
	cc->ops->on_loss(cc, &(struct cc_loss){.bytes = bytes}, 0);
}

static inline void ack(struct cc *cc, uint32_t bytes, ps_t delay_ps, bool is_marked, ps_t now)
{
	cc->ops->on_ack(cc,
			&(struct cc_ack){.newly_bytes = bytes,
					 .inflight_bytes = cc->window_bytes - bytes,
					 .rtt_ps = RTT_PS + delay_ps,
					 .is_marked = is_marked},
			now);
}

static void assert_near(double value, double expected, double off)
{
	if (fabs(value - expected) > off)
		fail_msg("%f is not %f +- %f", value, expected, off);
}

// Some bytes are achieved in the first period of quick adapt, and a packet was trimmed in it.
static inline struct cc trimmed(const struct cc_config *config, uint32_t achieved)
{
	struct cc cc = start(config);
	ack(&cc, MTU, 0, true, 0); // begins the first period, counts in none
	ack(&cc, achieved, 0, true, 1);
	cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = MTU, .is_trim = true}, 2);
	return cc;
}
