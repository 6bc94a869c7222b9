// SPDX-License-Identifier: Apache-2.0
// What a QP has of its own, drawn: paths, with values that stand on several planes, and congestion
// control. What leaves is held against it. For tests/property/adapter_pairs.c.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <weft/adapter/adapter.h>
#include <weft/core/packet.h>
#include <weft/core/rng.h>

#define OWN_PATHS_MAX 128u

struct own {
	struct adapter_path paths[OWN_PATHS_MAX];
	uint32_t count;	      // of these; 0: the adapter's
	uint32_t window_most; // it may never be wider; 0: the adapter's
	uint64_t used;	      // packets that left over one of them
};

static inline bool own_has(const struct own *own, uint32_t ev, uint32_t plane)
{
	for (uint32_t i = 0; i < own->count; i++)
		if (own->paths[i].ev == ev && own->paths[i].plane == plane)
			return true;
	return false;
}

static inline bool own_is_elsewhere(const struct own *own, uint32_t ev, uint32_t plane)
{
	for (uint32_t i = 0; i < own->count; i++)
		if (own->paths[i].ev == ev && own->paths[i].plane != plane)
			return true;
	return false;
}

// Each plane gets the same power of two; values are few, so that many are on several planes.
static inline void own_draw_paths(struct own *own, struct rng *rng,
				  const struct adapter_config *config)
{
	const struct transport_config *transport = &config->transport;
	uint32_t planes = transport->planes, per_plane = 1;
	while (2 * per_plane * planes <= transport->ev_count && rng_below(rng, 3) > 0)
		per_plane *= 2;
	uint32_t first = EV_PORT_FIRST + rng_below(rng, 1000);
	for (uint32_t plane = 0; plane < planes; plane++) {
		for (uint32_t i = 0; i < per_plane;) {
			uint32_t ev = first + rng_below(rng, 2 * per_plane);
			if (own_has(own, ev, plane))
				continue;
			own->paths[own->count++] = (struct adapter_path){ev, plane};
			i++;
		}
	}
	for (uint32_t i = own->count; i > 1; i--) { // in any order
		uint32_t other = rng_below(rng, i);
		struct adapter_path path = own->paths[other];
		own->paths[other] = own->paths[i - 1];
		own->paths[i - 1] = path;
	}
}

static inline void own_draw_cc(struct own *own, struct rng *rng, struct cc_config *cc)
{
	static const char *const algorithms[] = {"nscc", "swift", "fixed", "dctcp", "mprdma"};
	*cc = (struct cc_config){.name = algorithms[rng_below(rng, 5)]};
	cc->base_rtt_ps = (5 + rng_below(rng, 15)) * PS_PER_US;
	cc->has_trimming = rng_below(rng, 2) == 0;
	own->window_most = 10000 + rng_below(rng, 200000);
	cc->window_bytes = cc->max_cwnd_bytes = own->window_most;
	cc->gamma_ppb = rng_below(rng, 2) * 500000000u;
	cc->eta_bytes = rng_below(rng, 2) * 2000u;
	cc->disable_qa = rng_below(rng, 3) == 0;
}

// Makes profiles and gives them to a QP that is not connected, or leaves it what the adapter has.
static inline void own_draw(struct own *own, struct rng *rng, struct adapter *adapter,
			    const struct adapter_config *config, uint32_t qpn)
{
	struct refusal refusal;
	uint32_t ev_profile = rng_below(rng, 3);
	uint32_t cc_profile = rng_below(rng, 3);
	struct cc_config cc;
	if (ev_profile > 0) {
		own_draw_paths(own, rng, config);
		assert_int_equal(
			adapter_ev_profile(adapter, ev_profile, own->paths, own->count, &refusal),
			0);
	}
	if (cc_profile > 0) {
		own_draw_cc(own, rng, &cc);
		assert_int_equal(adapter_cc_profile(adapter, cc_profile, &cc, &refusal), 0);
	}
	assert_int_equal(adapter_choose(adapter, qpn, ev_profile, cc_profile, &refusal), 0);
}

// A packet left by a plane: over a path of its QP's own, if that has any.
static inline void own_depart(struct own *own, const struct packet *packet, uint32_t plane)
{
	if (own->count == 0)
		return;
	if (!own_has(own, packet->ev, plane))
		fail_msg("a packet %u over value %u on plane %u, which is no path of its QP",
			 packet->opcode, packet->ev, plane);
	own->used += own_is_elsewhere(own, packet->ev, plane);
}

// What its window may be at most: one packet, or what its own congestion control says.
static inline void own_compare(const struct own *own, const struct qp_view *view)
{
	if (own->window_most != 0 && view->window_bytes > own->window_most)
		fail_msg("a window of %u bytes, but its own is %u at most", view->window_bytes,
			 own->window_most);
}
