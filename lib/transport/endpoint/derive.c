// SPDX-License-Identifier: Apache-2.0
// See weft/transport/transport_auto.h.
#include <weft/cc/cc_derived.h>
#include <weft/transport/transport_auto.h>

#define MPR_USUAL 4096u
#define MPR_AUTO_MAX 16384u // as far as transport.mpr goes
#define BDP_PACKETS_LEAST 17u

// Whole packets, up to sack_bytes. With htsim's rule a SACK comes sooner, and its windows know
// nothing of this.
static uint32_t gather_bytes(const struct transport_config *config)
{
	uint64_t packet = config->payload_bytes + config->header_bytes;
	if (config->sack_rule == SACK_HTSIM)
		return 0;
	uint64_t bytes = (config->sack_bytes + packet - 1) / packet * packet;
	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static uint32_t auto_mpr(const struct transport_config *config)
{
	const struct cc_config *cc = &config->cc;
	bool is_fixed = cc_find(cc->name)->is_fixed;
	double window = is_fixed ? cc->window_bytes : cc->max_cwnd_bytes;
	if (window == 0)
		window = cc_window_auto(cc);
	uint32_t mpr = MPR_USUAL;
	while (mpr < MPR_AUTO_MAX && (double)mpr * cc->mtu_bytes < window)
		mpr *= 2;
	return config->dynamic_mpr ? MPR_USUAL : mpr;
}

uint32_t transport_bdp_packets_least(const struct transport_config *config)
{
	return config->kind == TRANSPORT_MRC && !config->cc.is_htsim ? BDP_PACKETS_LEAST : 0;
}

static ps_t sized_rtt_ps(const struct transport_config *config)
{
	const struct cc_config *cc = &config->cc;
	double packets = (double)transport_bdp_packets_least(config) * config->planes;
	return cc->rate_bps == 0 ? 0
				 : (ps_t)(packets * cc->mtu_bytes * 8e12 / (double)cc->rate_bps);
}

void transport_derive(struct transport_config *config)
{
	config->cc.sized_rtt_ps = sized_rtt_ps(config);
	config->cc.gather_bytes = gather_bytes(config);
	if (config->mpr == 0)
		config->mpr = auto_mpr(config);
}
