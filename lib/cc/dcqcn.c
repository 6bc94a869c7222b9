// SPDX-License-Identifier: Apache-2.0
// DCQCN (Zhu et al., SIGCOMM 2015), the reaction point: a rate moved by congestion notifications.
// A CNP cuts it by half of alpha, an estimate of how much comes marked; the rate aimed at is the
// one before the cut. Then time and bytes bring it back, in three stages:
//
//   fast recovery       the first F increases: half of the way back to the rate aimed at
//   additive increase   after more than F by one of the two counters: the rate aimed at grows by
//   R_AI hyper increase      after more than F by both of them: by R_HAI
//
// Timers: one, for the increase by time; it runs while the rate is below that of the line. Alpha
// decays once per alpha timer without a CNP; nothing reads it before the next one, so it is worked
// out then. Byte counter: bytes that leave, as cc_ops.on_sent tells. No window, unless one is
// given.
//
// The paper has alpha 1 at first, so that the first CNP halves. It leaves hyper increase to QCN,
// whose step grows with each round; here it is R_HAI each time, as public models of adapters have
// it. Ours is the least rate, one R_AI.
#include "algorithms.h"

#include <weft/cc/cc_derived.h>

#include <assert.h>

#define PPB 1e9
#define GAIN (1.0 / 256.0)
#define ALPHA_TIMER_PS (55 * PS_PER_US)
#define RATE_TIMER_PS (55 * PS_PER_US)
#define RATE_BYTES 10000000u
#define ROUNDS 5u
#define AI_PER_LINE 1000 // 40 Mb/s at the paper's 40 Gb/s
#define HAI_PER_AI 10	 // as HPCC's simulator has the two

struct dcqcn {
	double rate, target; // bit/s
	double alpha, gain;
	double line, least, ai, hai;	 // bit/s
	uint64_t step_bytes, sent_bytes; // an increase per so many bytes; since the last one
	ps_t alpha_timer_ps, rate_timer_ps;
	ps_t cut_at;			    // the last CNP
	uint32_t rounds, by_time, by_bytes; // increases since then
	bool has_cut;
};
static_assert(sizeof(struct dcqcn) <= CC_STATE_WORDS * sizeof(uint64_t), "fits the private state");

static struct dcqcn *dcqcn_of(struct cc *cc)
{
	return (struct dcqcn *)(void *)cc->state;
}

static void set_rate(struct cc *cc, struct dcqcn *d, double rate)
{
	if (rate > d->line)
		rate = d->line;
	if (rate < d->least)
		rate = d->least;
	d->rate = rate;
	cc->rate_bps = (uint64_t)rate;
}

static double rate_or(uint64_t given_bps, double derived)
{
	return given_bps != 0 ? (double)given_bps : derived;
}

static void set_steps(struct dcqcn *d, const struct cc_config *config)
{
	d->ai = rate_or(config->rate_ai_bps, (double)config->rate_bps / AI_PER_LINE);
	d->hai = rate_or(config->rate_hai_bps, d->ai * HAI_PER_AI);
	d->least = rate_or(config->rate_min_bps, d->ai);
}

void cc_rates_of(const struct cc_config *config, struct cc_rates *ret)
{
	struct dcqcn d;
	set_steps(&d, config);
	*ret = (struct cc_rates){(uint64_t)d.ai, (uint64_t)d.hai, (uint64_t)d.least};
}

static void dcqcn_init(struct cc *cc, const struct cc_config *config, ps_t now)
{
	struct dcqcn *d = dcqcn_of(cc);
	(void)now;
	*d = (struct dcqcn){
		.alpha = 1,
		.gain = config->gain_ppb ? config->gain_ppb / PPB : GAIN,
		.line = (double)config->rate_bps,
		.alpha_timer_ps = config->alpha_timer_ps ? config->alpha_timer_ps : ALPHA_TIMER_PS,
		.rate_timer_ps = config->rate_timer_ps ? config->rate_timer_ps : RATE_TIMER_PS,
		.step_bytes = config->rate_bytes ? config->rate_bytes : RATE_BYTES,
		.rounds = config->recovery_rounds ? config->recovery_rounds : ROUNDS,
	};
	set_steps(d, config);
	d->target = d->line;
	cc->window_bytes = config->max_cwnd_bytes ? config->max_cwnd_bytes : UINT32_MAX;
	cc->wake_at = PS_NEVER;
	set_rate(cc, d, d->line);
}

// alpha after the periods without a CNP that ended before `now`. By squaring, so that two CPUs come
// to the same number and a long silence costs nothing.
static double decayed_alpha(const struct dcqcn *d, ps_t now)
{
	uint64_t periods = 0;
	if (d->has_cut && now > d->cut_at)
		periods = (uint64_t)((now - d->cut_at - 1) / d->alpha_timer_ps);
	double alpha = d->alpha, factor = 1.0 - d->gain;
	for (; periods != 0; periods >>= 1, factor *= factor)
		if (periods & 1)
			alpha *= factor;
	return alpha;
}

static void dcqcn_on_cnp(struct cc *cc, ps_t now)
{
	struct dcqcn *d = dcqcn_of(cc);
	double alpha = decayed_alpha(d, now);
	d->target = d->rate;
	set_rate(cc, d, d->rate * (1.0 - alpha / 2.0));
	d->alpha = (1.0 - d->gain) * alpha + d->gain;
	d->has_cut = true;
	d->cut_at = now;
	d->by_time = d->by_bytes = 0;
	d->sent_bytes = 0;
	cc->wake_at = now + d->rate_timer_ps;
}

// One more increase, by time or by bytes.
static void increase(struct cc *cc, struct dcqcn *d)
{
	uint32_t most = d->by_time > d->by_bytes ? d->by_time : d->by_bytes;
	uint32_t least = d->by_time < d->by_bytes ? d->by_time : d->by_bytes;
	if (least > d->rounds)
		d->target += d->hai;
	else if (most > d->rounds)
		d->target += d->ai;
	if (d->target > d->line)
		d->target = d->line;
	set_rate(cc, d, (d->rate + d->target) / 2.0);
}

// Whether nothing is left to increase: within a bit per second of the line.
static bool is_done(const struct dcqcn *d)
{
	return d->line - d->rate < 1.0;
}

static void dcqcn_on_time(struct cc *cc, ps_t now)
{
	struct dcqcn *d = dcqcn_of(cc);
	d->by_time++;
	increase(cc, d);
	cc->wake_at = is_done(d) ? PS_NEVER : now + d->rate_timer_ps;
}

static void dcqcn_on_sent(struct cc *cc, uint32_t bytes, ps_t now)
{
	struct dcqcn *d = dcqcn_of(cc);
	(void)now;
	for (d->sent_bytes += bytes; d->sent_bytes >= d->step_bytes;
	     d->sent_bytes -= d->step_bytes) {
		if (is_done(d))
			continue;
		d->by_bytes++;
		increase(cc, d);
	}
}

// Neither ACKs nor losses say anything about the rate: DCQCN counts on a fabric without loss.
const struct cc_ops cc_dcqcn = {
	.name = "dcqcn",
	.transports = CC_ON_RC,
	.keys = CC_KEYS_DCQCN,
	.needs_marks = true,
	.has_rate = true,
	.init = dcqcn_init,
	.on_ack = cc_on_ack_none,
	.on_loss = cc_on_loss_none,
	.on_cnp = dcqcn_on_cnp,
	.on_time = dcqcn_on_time,
	.on_sent = dcqcn_on_sent,
	.aims = cc_aims_of_config,
	CC_SENDER_ALONE,
};
