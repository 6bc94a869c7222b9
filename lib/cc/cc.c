// SPDX-License-Identifier: Apache-2.0
// Finds an algorithm, and the arithmetic that they share. No algorithm is in here; each has a file
// of its own and a row in CC_ALL (algorithms.h).
#include "algorithms.h"

#include <string.h>

#include <weft/cc/cc_derived.h>
#include <weft/core/check.h>

const struct cc_ops *cc_find(const char *name)
{
	for (uint32_t row = 0; cc_all[row]; row++) {
		check(strcmp(cc_all[row]->name, cc_names[row]) == 0 &&
		      "an algorithm has the name of its row in CC_ALL");
		if (strcmp(cc_names[row], name) == 0)
			return cc_all[row];
	}
	return NULL;
}

uint64_t cc_bdp_bytes(const struct cc_config *config)
{
	// bit/s times ps would leave 64 bits at 800 Gb/s and 23 us, so this is a double.
	return (uint64_t)((double)config->rate_bps / 8e12 * (double)config->base_rtt_ps);
}

// The bandwidth-delay product is of packets that are answered at once. What the receiver gathers is
// out besides, and so is a packet at either end: one that completes an answer, one that is sent.
double cc_window_of_bdp(double bdp_bytes, uint32_t gather_bytes, uint32_t mtu_bytes)
{
	double usual = 1.5 * bdp_bytes, busy = bdp_bytes + gather_bytes + 2.0 * mtu_bytes;
	double window = gather_bytes > 0 && busy > usual ? busy : usual;
	return window < mtu_bytes ? mtu_bytes : window;
}

static ps_t sized_rtt_ps(const struct cc_config *config)
{
	return ps_max(config->base_rtt_ps, config->sized_rtt_ps);
}

double cc_window_auto(const struct cc_config *config)
{
	double bdp_bytes = (double)cc_bdp_bytes(config);
	if (config->sized_rtt_ps > config->base_rtt_ps)
		bdp_bytes = (double)config->rate_bps / 8e12 * (double)config->sized_rtt_ps;
	return cc_window_of_bdp(bdp_bytes, config->gather_bytes, config->mtu_bytes);
}

double cc_window_max(const struct cc_config *config)
{
	double most = config->max_cwnd_bytes;
	if (config->max_cwnd_bytes == 0)
		most = cc_window_auto(config);
	if (most < config->mtu_bytes)
		most = config->mtu_bytes;
	return most > (double)UINT32_MAX ? (double)UINT32_MAX : most;
}

#define FLOOR_DOUBTS 64 // about a window of SACKs, and more
#define FLOOR_SHIFT 13
#define FLOOR_MAX 0x1ffffffu

static uint32_t floor_units(ps_t ps)
{
	return ps >> FLOOR_SHIFT < FLOOR_MAX ? (uint32_t)(ps >> FLOOR_SHIFT) : FLOOR_MAX;
}

bool cc_floor_sink(struct cc_floor *floor, ps_t *base_ps, ps_t rtt_ps)
{
	floor->other = floor_units(*base_ps) & FLOOR_MAX;
	floor->doubts = rtt_ps < *base_ps / 4 ? FLOOR_DOUBTS : 0;
	*base_ps = rtt_ps;
	return true;
}

bool cc_floor_doubt(struct cc_floor *floor, ps_t *base_ps, ps_t rtt_ps)
{
	uint32_t units = floor_units(rtt_ps);
	if (units < floor->other)
		floor->other = units & FLOOR_MAX;
	ps_t other_ps = (ps_t)floor->other << FLOOR_SHIFT;
	if (other_ps <= 2 * *base_ps) { // it is not alone
		floor->doubts = 0;
		return false;
	}
	if (--floor->doubts > 0)
		return false;
	*base_ps = other_ps;
	return true;
}

void cc_on_ack_none(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	(void)cc;
	(void)ack;
	(void)now;
}

void cc_on_loss_none(struct cc *cc, const struct cc_loss *loss, ps_t now)
{
	(void)cc;
	(void)loss;
	(void)now;
}

void cc_on_cnp_none(struct cc *cc, ps_t now)
{
	(void)cc;
	(void)now;
}

void cc_on_time_none(struct cc *cc, ps_t now)
{
	(void)now;
	cc->wake_at = PS_NEVER;
}

void cc_on_sent_none(struct cc *cc, uint32_t bytes, ps_t now)
{
	(void)cc;
	(void)bytes;
	(void)now;
}

ps_t cc_target_ps(const struct cc_config *config)
{
	if (config->target_delay_ps != 0)
		return config->target_delay_ps;
	return config->has_trimming ? sized_rtt_ps(config) * 3 / 4 : sized_rtt_ps(config);
}

ps_t cc_swift_target_ps(const struct cc_config *config)
{
	return config->target_delay_ps != 0 ? config->target_delay_ps : sized_rtt_ps(config) / 2;
}

ps_t cc_delay_aim(const struct cc_config *config)
{
	return cc_find(config->name)->keys & CC_KEYS_NSCC ? cc_target_ps(config)
							  : cc_swift_target_ps(config);
}

void cc_aims_of_config(const struct cc *cc, const struct cc_config *config, struct cc_aims *ret)
{
	(void)cc;
	*ret = (struct cc_aims){.base_rtt_ps = config->base_rtt_ps,
				.target_ps = cc_target_ps(config),
				.window_max = (uint32_t)cc_window_max(config)};
}

void cc_receiver_notified_none(uint64_t state[CC_RECEIVER_WORDS], uint32_t asked, uint32_t unpaid)
{
	(void)state;
	(void)asked;
	(void)unpaid;
}

uint32_t cc_receiver_grant_none(uint64_t state[CC_RECEIVER_WORDS], uint32_t passed_bytes)
{
	(void)state;
	return 0;
}

void cc_receiver_init_none(uint64_t state[CC_RECEIVER_WORDS], const struct cc_config *config)
{
	(void)config;
	memset(state, 0, CC_RECEIVER_WORDS * sizeof(state[0]));
}

uint8_t cc_receiver_on_data_none(uint64_t state[CC_RECEIVER_WORDS], uint32_t bytes, bool is_marked,
				 bool is_trimmed, ps_t now)
{
	(void)state;
	(void)bytes;
	(void)is_marked;
	(void)is_trimmed;
	(void)now;
	return 0;
}
