// SPDX-License-Identifier: Apache-2.0
// The making of an endpoint: its configuration is checked, its memory measured and drawn. Nothing
// in here runs after the world is built.
#include "endpoint.h"

#include <errno.h>

#define MPR_MIN 64u
#define MPR_MAX 32768u
#define EV_COUNT_MAX 65536u
#define SPARE_COMPLETIONS 64u // beyond what one call can cause

static bool is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

static int refuse_sizes(const struct transport_config *config, struct refusal *refusal)
{
	if (config->planes < 1 || config->planes > PLANES_MAX)
		return refuse(refusal, -EINVAL, "planes is %, but must be 1 to %", config->planes,
			      PLANES_MAX, 0);
	if (config->payload_bytes < 1 ||
	    (uint64_t)config->payload_bytes + config->header_bytes > UINT16_MAX)
		return refuse(refusal, -EINVAL,
			      "payload % and header % bytes must make a packet of 1 to 65535 bytes",
			      config->payload_bytes, config->header_bytes, 0);
	if (config->control_bytes < 1 || config->control_bytes > UINT16_MAX)
		return refuse(refusal, -EINVAL, "control packets of % bytes: must be 1 to 65535",
			      config->control_bytes, 0, 0);
	if (config->ev_count > EV_COUNT_MAX || config->ev_count % config->planes != 0 ||
	    !is_power_of_two(config->ev_count / config->planes))
		return refuse(
			refusal, -EINVAL,
			"% entropy values on % planes: each plane needs the same power of two",
			config->ev_count, config->planes, 0);
	if ((config->ev_bits != 16 && config->ev_bits != 32) ||
	    (config->ev_bits == 16 && config->ev_count > EVS_OF_PORT_MAX))
		return refuse(refusal, -EINVAL,
			      "% entropy values of % bits: 32 bits, or 16 for at most %",
			      config->ev_count, config->ev_bits, EVS_OF_PORT_MAX);
	if (!is_power_of_two(config->mpr) || config->mpr < MPR_MIN || config->mpr > MPR_MAX)
		return refuse(refusal, -EINVAL, "mpr is %, but must be a power of two, % to %",
			      config->mpr, MPR_MIN, MPR_MAX);
	if (config->sends_max < 1 || config->sends_max > UINT16_MAX)
		return refuse(refusal, -EINVAL, "a QP of % work requests: must be 1 to 65535",
			      config->sends_max, 0, 0);
	if (config->regions_max > REGIONS_MAX)
		return refuse(refusal, -EINVAL, "% memory regions: must be 0 to %",
			      config->regions_max, REGIONS_MAX, 0);
	if (config->wimm_max < 32 || config->wimm_max > MPR_MAX)
		return refuse(refusal, -EINVAL, "wimm_max is %, but must be 32 to %",
			      config->wimm_max, MPR_MAX, 0);
	return 0;
}

static int refuse_times(const struct transport_config *config, struct refusal *refusal)
{
	const ps_t wait_max = (ps_t)WAIT_MAX_UNITS << SENT_SHIFT;
	uint64_t tries = (uint64_t)config->rto_linear + config->rto_doublings;
	if (config->rto_ps < PS_PER_NS || config->rto_ps > wait_max)
		return refuse(refusal, -EINVAL, "a timeout of % ps: must be % to %", config->rto_ps,
			      PS_PER_NS, wait_max);
	if (tries < 1 || tries > SLOT_TRIES_MAX)
		return refuse(refusal, -EINVAL, "% tries before a QP fails: must be 1 to %",
			      (int64_t)tries, SLOT_TRIES_MAX, 0);
	if (config->hole_age_ps < 0 || config->hole_age_ps > wait_max / 2)
		return refuse(refusal, -EINVAL, "a hole age of % ps: must be 0 to %",
			      config->hole_age_ps, wait_max / 2, 0);
	if (config->path_retry_ps < 0 || config->path_retry_ps > 1000 * PS_PER_S)
		return refuse(refusal, -EINVAL, "path retry after % ps: must be 0 to %",
			      config->path_retry_ps, 1000 * PS_PER_S, 0);
	return 0;
}

static int refuse_cc(const struct cc_config *cc, struct refusal *refusal)
{
	if (!cc->name || !cc_find(cc->name))
		return refuse(refusal, -EINVAL, "no such congestion control algorithm", 0, 0, 0);
	if (cc->mtu_bytes == 0)
		return refuse(refusal, -EINVAL, "congestion control needs the packet size", 0, 0,
			      0);
	bool is_fixed = cc_find(cc->name) == cc_find("fixed") && cc->window_bytes != 0;
	if (!is_fixed && (cc->rate_bps == 0 || cc->base_rtt_ps <= 0))
		return refuse(refusal, -EINVAL, "congestion control needs a rate and a round trip",
			      0, 0, 0);
	return 0;
}

// Places of a QP in the timer heap: one for retransmission, one for congestion control; a whole
// cache line of them, so that each QP draws the same.
#define TIMERS_PER_QP 4u

// Places of the completion ring: what one call to receive can cause, and some more.
static uint32_t completion_places(const struct transport_config *config)
{
	uint32_t most = config->sends_max > config->wimm_max ? config->sends_max : config->wimm_max;
	uint32_t places = 1;
	while (places < most + SPARE_COMPLETIONS)
		places *= 2;
	return places;
}

uint64_t endpoint_qp_bytes(const struct transport_config *config)
{
	struct path_shape shape = path_shape_of(config);
	struct qp_layout layout;
	qp_layout_of(config, &shape, &layout);
	return layout.bytes + TIMERS_PER_QP * sizeof(struct heap_item);
}

uint64_t endpoint_bytes(const struct transport_config *config, uint32_t qp_max)
{
	const uint64_t parts[] = {
		sizeof(struct endpoint),
		completion_places(config) * sizeof(struct completion),
		PLACES * sizeof(struct place),
		region_bytes(config->regions_max),
		qp_max * endpoint_qp_bytes(config), // its places in the timer heap included
	};
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		bytes += (parts[i] + 63) & ~UINT64_C(63);
	return bytes;
}

static struct endpoint *draw(struct arena *arena, const struct transport_config *config,
			     uint32_t qp_max)
{
	struct endpoint *endpoint = arena_draw(arena, ARENA_TRANSPORT, 1, sizeof(*endpoint));
	if (!endpoint)
		return NULL;
	uint32_t places = completion_places(config);
	endpoint->shape = path_shape_of(config);
	qp_layout_of(config, &endpoint->shape, &endpoint->layout);
	endpoint->completions_mask = places - 1;
	endpoint->completions = arena_draw(arena, ARENA_TRANSPORT, places,
					   sizeof(struct completion));
	endpoint->places = arena_draw(arena, ARENA_TRANSPORT, PLACES, sizeof(struct place));
	endpoint->qps = arena_draw(arena, ARENA_TRANSPORT, qp_max, endpoint->layout.bytes);
	if (!endpoint->completions || !endpoint->places || !endpoint->qps ||
	    heap_init(&endpoint->timers, arena, ARENA_TRANSPORT, TIMERS_PER_QP * qp_max) != 0 ||
	    region_init(&endpoint->regions, arena, config->regions_max) != 0)
		return NULL;
	return endpoint;
}

int endpoint_create(struct endpoint **ret, struct arena *arena,
		    const struct transport_config *config, uint32_t nic, uint32_t qp_max,
		    uint64_t seed, struct refusal *refusal)
{
	int error = refuse_sizes(config, refusal);
	if (error == 0)
		error = refuse_times(config, refusal);
	if (error == 0)
		error = refuse_cc(&config->cc, refusal);
	if (error != 0)
		return error;
	struct endpoint *endpoint = draw(arena, config, qp_max);
	if (!endpoint)
		return refuse(refusal, -ENOMEM, "no memory for % QPs of % bytes", qp_max,
			      (int64_t)endpoint_qp_bytes(config), 0);
	endpoint->config = config;
	endpoint->nic = nic;
	endpoint->qp_max = qp_max;
	endpoint->seed = seed;
	endpoint->qp_stride = endpoint->layout.bytes;
	endpoint->full_bytes = config->payload_bytes + config->header_bytes;
	// offsets on the packet are signed 16 bits
	endpoint->mpr_limit = config->mpr < MPR_MAX ? config->mpr : MPR_MAX - 1;
	endpoint->mpr_mask = endpoint->layout.mpr_mask;
	endpoint->sends_mask = endpoint->layout.sends_mask;
	endpoint->stash_mask = endpoint->layout.stash_mask;
	endpoint->rto_units = (uint32_t)((config->rto_ps + SENT_ROUND_UP) >> SENT_SHIFT);
	endpoint->is_rc = config->kind == TRANSPORT_RC;
	endpoint->is_single = endpoint->shape.policy == PATH_SINGLE;
	endpoint->cc_ops = cc_find(config->cc.name);
	for (uint32_t number = 0; number < qp_max; number++)
		endpoint_qp(endpoint, number)->number = number;
	*ret = endpoint;
	return 0;
}
