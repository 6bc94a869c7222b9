// SPDX-License-Identifier: Apache-2.0
// See weft/cc/cc_throttle.h.
#include <weft/cc/cc_throttle.h>

#define TARGET 0.3    // share of marks that is not too much
#define DECREASE 0.5  // of the share, for each share of marks above it
#define INCREASE 0.01 // of the lines, in the first step up
#define WEIGHT 0.5    // of the newest step in the average of marks
#define SHARE_MIN 0.01
#define TRUNK_PART 0.9 // the least share is so much of an even part of the trunks
#define DOUBLINGS 7    // steps up until one of them is all of the lines
#define SILENT 0.001   // an average of marks that tells nothing any more

// 1.5 round trips, a quarter more or less, so that receivers do not step together.
static ps_t interval(struct throttle *throttle)
{
	uint32_t more = rng_below(&throttle->rng, 1u << 20);
	double times = 1.5 * (0.75 + 0.5 * more / (1u << 20));
	return (ps_t)(times * (double)throttle->base_rtt_ps) + 1;
}

void throttle_init(struct throttle *ret, ps_t base_rtt_ps, uint32_t trunk_ppb, struct rng rng)
{
	*ret = (struct throttle){.base_rtt_ps = base_rtt_ps, .share = 1, .rng = rng};
	ret->share_min = trunk_ppb < THROTTLE_ALL ? TRUNK_PART * trunk_ppb / THROTTLE_ALL : 0;
	if (ret->share_min < SHARE_MIN)
		ret->share_min = SHARE_MIN;
	ret->step_at = interval(ret);
}

// Trims at the last hop count among what came, and lower nothing: credits answer to these.
static bool lower(struct throttle *throttle)
{
	uint32_t trims = throttle->trims, whole = throttle->whole;
	double marked = whole > 0 ? (double)throttle->marks / whole : 0;
	throttle->marked += WEIGHT * (marked - throttle->marked);
	if (trims > 0)
		throttle->share -= (double)trims / (whole + trims + throttle->last_trims);
	if (throttle->marked > TARGET)
		throttle->share *= 1 - DECREASE * (throttle->marked - TARGET);
	return trims > 0 || throttle->marked > TARGET;
}

// A step up is twice the one before as long as nothing is marked.
static void lift(struct throttle *throttle)
{
	uint32_t doublings = throttle->rises < DOUBLINGS ? throttle->rises : DOUBLINGS;
	throttle->share += throttle->marks > 0 ? INCREASE : INCREASE * (1u << doublings);
	throttle->rises++;
}

static void step(struct throttle *throttle)
{
	if (lower(throttle))
		throttle->rises = 0;
	else
		lift(throttle);
	if (throttle->share < throttle->share_min)
		throttle->share = throttle->share_min;
	if (throttle->share > 1)
		throttle->share = 1;
	throttle->whole = throttle->marks = throttle->trims = throttle->last_trims = 0;
	throttle->step_at += interval(throttle);
}

void throttle_until(struct throttle *throttle, ps_t now)
{
	while (throttle->step_at <= now) {
		step(throttle);
		if (throttle->share < 1 || throttle->marked > SILENT || throttle->step_at > now)
			continue;
		throttle->marked = 0;
		throttle->step_at = now + interval(throttle);
	}
}

void throttle_data(struct throttle *throttle, bool is_marked, bool is_trimmed, bool is_last_hop,
		   ps_t now)
{
	throttle_until(throttle, now);
	throttle->whole += !is_trimmed;
	throttle->marks += !is_trimmed && is_marked;
	throttle->trims += is_trimmed && !is_last_hop;
	throttle->last_trims += is_trimmed && is_last_hop;
}

ps_t throttle_ps(struct throttle *throttle, ps_t line_ps, ps_t now)
{
	throttle_until(throttle, now);
	return (ps_t)((double)line_ps / throttle->share);
}
