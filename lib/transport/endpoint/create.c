// SPDX-License-Identifier: Apache-2.0
// The making of an endpoint: its configuration is checked, its memory measured and drawn. Nothing
// in here runs after the world is built.
#include <weft/core/integer.h>

#include "endpoint.h"
#include "mrc/mpr_grant.h"
#include "path/status.h"

#include <errno.h>

#define MPR_MIN 64u
#define MPR_MAX 32768u
#define EV_COUNT_MAX 65536u
#define SPARE_COMPLETIONS 64u // beyond what one call can cause

static int refuse_sizes(const struct transport_config *config, struct refusal *refusal)
{
	if (config->planes < 1 || config->planes > PLANES_MAX)
		return refuse(refusal, -EINVAL, "planes is %, but must be 1 to %", config->planes,
			      PLANES_MAX);
	if (config->payload_bytes < 1 ||
	    (uint64_t)config->payload_bytes + config->header_bytes > UINT16_MAX)
		return refuse(refusal, -EINVAL,
			      "payload % and header % bytes must make a packet of 1 to 65535 bytes",
			      config->payload_bytes, config->header_bytes);
	if (config->control_bytes < 1 || config->control_bytes > UINT16_MAX)
		return refuse(refusal, -EINVAL, "control packets of % bytes: must be 1 to 65535",
			      config->control_bytes);
	if (!(is_power_of_two(config->mpr) || config->mpr % MPR_GRANT_UNIT == 0) ||
	    config->mpr < MPR_MIN || config->mpr > MPR_MAX)
		return refuse(refusal, -EINVAL,
			      "mpr is %, but must be a multiple of 128 or a power of two, % to %",
			      config->mpr, MPR_MIN, MPR_MAX);
	if (config->sends_max < 1 || config->sends_max > UINT16_MAX)
		return refuse(refusal, -EINVAL, "a QP of % work requests: must be 1 to 65535",
			      config->sends_max);
	if (config->messages_max != 0 && (config->kind == TRANSPORT_RC || config->contexts != 0))
		return refuse(refusal, -EINVAL,
			      "% messages of a QP: RC, and QPs without contexts, have no limit",
			      config->messages_max);
	if (config->regions_max > REGIONS_MAX)
		return refuse(refusal, -EINVAL, "% memory regions: must be 0 to %",
			      config->regions_max, REGIONS_MAX);
	if (config->contexts == 1) // it would have to send and to receive
		return refuse(refusal, -EINVAL, "1 context: must be 2 or more, or 0 for all QPs");
	if (config->wimm_max < 32 || config->wimm_max > MPR_MAX)
		return refuse(refusal, -EINVAL, "wimm_max is %, but must be 32 to %",
			      config->wimm_max, MPR_MAX);
	return 0;
}

static bool has_states(const struct transport_config *config)
{
	return config->kind == TRANSPORT_MRC && config->path_policy == PATH_MRC;
}

// More EVs than the way to choose them can tell apart.
static int refuse_many_evs(const struct transport_config *config, struct refusal *refusal)
{
	if (config->ev_count / config->planes > EVS_OF_PLANE_MAX)
		return refuse(refusal, -EINVAL, "% entropy values on % planes: at most % on each",
			      config->ev_count, config->planes, EVS_OF_PLANE_MAX);
	if (config->path_policy == PATH_REPS && config->ev_count > EVS_OF_REPS_MAX)
		return refuse(refusal, -EINVAL, "% entropy values: reps knows at most %",
			      config->ev_count, EVS_OF_REPS_MAX);
	if (config->plane_share == PLANE_SHARE_MARKS &&
	    (!has_states(config) || config->planes == 1))
		return refuse(refusal, -EINVAL,
			      "shares of planes (plane_share marks) need MRC, its paths and two "
			      "planes or more");
	if (ev_universe(config) != config->ev_count && !has_states(config))
		return refuse(refusal, -EINVAL, "backups of entropy values need MRC and its paths");
	return 0;
}

static int refuse_evs(const struct transport_config *config, struct refusal *refusal)
{
	uint32_t universe = ev_universe(config);
	if (config->ev_count > EV_COUNT_MAX || config->ev_count % config->planes != 0 ||
	    !is_power_of_two(config->ev_count / config->planes))
		return refuse(
			refusal, -EINVAL,
			"% entropy values on % planes: each plane needs the same power of two",
			config->ev_count, config->planes);
	if ((config->ev_bits != 16 && config->ev_bits != 32) ||
	    (config->ev_bits == 16 && universe > EVS_OF_PORT_MAX))
		return refuse(refusal, -EINVAL,
			      "% entropy values of % bits: 32 bits, or 16 for at most %", universe,
			      config->ev_bits, EVS_OF_PORT_MAX);
	if (universe < config->ev_count || universe > EV_COUNT_MAX ||
	    universe % config->planes != 0)
		return refuse(refusal, -EINVAL,
			      "% entropy values with backups: as many per plane, % to %", universe,
			      config->ev_count, EV_COUNT_MAX);
	if (config->ev_min_active > config->ev_count)
		return refuse(refusal, -EINVAL, "% of % entropy values stay in use: too many",
			      config->ev_min_active, config->ev_count);
	if (config->ev_mode == EV_EXPLICIT && universe > EV_VALUES_MAX)
		return refuse(refusal, -EINVAL, "an explicit profile of % values: at most %",
			      universe, EV_VALUES_MAX);
	if (config->probe_successes > PROBE_SUCCESSES_MAX)
		return refuse(refusal, -EINVAL, "% probes that come back: must be 1 to %",
			      config->probe_successes, PROBE_SUCCESSES_MAX);
	return profile_check(config, refusal);
}

static int refuse_offers(const struct transport_config *config, struct refusal *refusal)
{
	if (!config->dynamic_mpr)
		return 0;
	if (config->mpr < MPR_GRANT_UNIT)
		return refuse(refusal, -EINVAL, "mpr is %: offers are made in units of %",
			      config->mpr, MPR_GRANT_UNIT);
	if (config->mpr_budget == 0)
		return refuse(refusal, -EINVAL, "a dynamic mpr needs a budget");
	return 0;
}

// Paths without states cannot leave a plane.
static int refuse_ports(const struct transport_config *config, struct refusal *refusal)
{
	if (config->port_status && !has_states(config))
		return refuse(refusal, -EINVAL, "port status needs MRC and its paths");
	return 0;
}

static int refuse_times(const struct transport_config *config, struct refusal *refusal)
{
	const ps_t wait_max = (ps_t)WAIT_MAX_UNITS << SENT_SHIFT;
	if (config->rto_ps < PS_PER_NS || config->rto_ps > wait_max)
		return refuse(refusal, -EINVAL, "a timeout of % ps: must be % to %", config->rto_ps,
			      PS_PER_NS, wait_max);
	if (config->rto_linear > RTO_LINEAR_MAX || config->rto_doublings > RTO_DOUBLINGS_FOREVER)
		return refuse(
			refusal, -EINVAL,
			"% linear and % exponential tries: at most % and 25, which is forever",
			config->rto_linear, config->rto_doublings, RTO_LINEAR_MAX);
	if (config->rto_linear + config->rto_doublings == 0)
		return refuse(refusal, -EINVAL, "a QP needs a try before it fails");
	if (config->hole_age_ps < 0 || config->hole_age_ps > wait_max / 2)
		return refuse(refusal, -EINVAL, "a hole age of % ps: must be 0 to %",
			      config->hole_age_ps, wait_max / 2);
	if (config->skip_ps < SKIP_BY_MARKS || config->skip_ps > PS_PER_S)
		return refuse(refusal, -EINVAL, "a skip of % ps: must be 0 to %", config->skip_ps,
			      PS_PER_S);
	if (config->path_retry_ps < 0 || config->path_retry_ps > 1000 * PS_PER_S)
		return refuse(refusal, -EINVAL, "path retry after % ps: must be 0 to %",
			      config->path_retry_ps, 1000 * PS_PER_S);
	return 0;
}

// A window of MRC's that can be divided among QPs.
static int refuse_shares(const struct transport_config *config, struct refusal *refusal)
{
	const struct cc_ops *ops = cc_find(config->cc.name);
	bool is_other = config->kind == TRANSPORT_RC || config->contexts != 0;
	if (config->shares_cc && (is_other || ops->has_credit || ops->has_rate || config->sleek))
		return refuse(refusal, -EINVAL,
			      "a shared window is for MRC with a context for each QP, without "
			      "credits or SLEEK");
	return 0;
}

// It infers losses from SACKs, against a window and a round trip of the sender.
static int refuse_sleek(const struct transport_config *config, struct refusal *refusal)
{
	const struct cc_ops *ops = cc_find(config->cc.name);
	if (config->sleek && (config->kind == TRANSPORT_RC || ops->is_credit_alone))
		return refuse(refusal, -EINVAL, "SLEEK needs SACKs and a window of the sender");
	if (config->sleek && config->cc.base_rtt_ps <= 0)
		return refuse(refusal, -EINVAL, "SLEEK needs a round trip");
	return 0;
}

// Places of a context in the timer heap: for retransmission, congestion control, probes, SLEEK; a
// whole cache line of them, so that each draws the same.
#define TIMERS_PER_CONTEXT 5u
#define CONTEXT_TIMER_BYTES (TIMERS_PER_CONTEXT * sizeof(struct heap_item))

#define CREDIT_SHARE_PPB 990000000u // htsim's

// Places of the completion ring: what one call to receive can cause, and some more; or all that
// there will ever be, each message at both of its ends.
static uint32_t completion_places(const struct transport_config *config, uint32_t qp_max)
{
	uint32_t most = config->sends_max > config->wimm_max ? config->sends_max : config->wimm_max;
	uint32_t dma_writes = 1;
	most += SPARE_COMPLETIONS;
	if (config->messages_max != 0 && 2 * (uint64_t)config->messages_max * qp_max < most)
		most = 2 * config->messages_max * qp_max;
	while (dma_writes < most)
		dma_writes *= 2;
	return dma_writes;
}

uint32_t endpoint_contexts(const struct transport_config *config, uint32_t qp_max)
{
	bool is_whole = config->contexts == 0 || config->contexts >= qp_max ||
		config->kind == TRANSPORT_RC;
	return is_whole ? qp_max : config->contexts;
}

// The rate at which a receiver grants.
static uint64_t credit_bps(const struct cc_config *cc)
{
	uint32_t share_ppb = cc->credit_rate_ppb != 0 ? cc->credit_rate_ppb : CREDIT_SHARE_PPB;
	if (!cc_find(cc->name)->has_credit)
		return 0;
	return cc->rate_bps / 1000 * (share_ppb / 1000) / 1000;
}

// Timers of the endpoint itself.
static uint32_t own_timers(const struct transport_config *config, uint32_t qp_max)
{
	return 1 + status_timers(config, qp_max) + cc_find(config->cc.name)->has_credit +
		config->cc.credit_notified;
}

// Places for QPs that may wait for their rate, in whole cache lines.
static uint32_t paced_max(const struct transport_config *config, uint32_t qp_max)
{
	return cc_find(config->cc.name)->has_rate ? (qp_max + 3) & ~3u : 0;
}

uint64_t endpoint_qp_bytes(void)
{
	return sizeof(struct qp_record) + PEER_BYTES + sizeof(struct heap_item);
}

uint64_t endpoint_ev_bytes(const struct transport_config *config)
{
	struct path_shape shape = path_shape_of(config);
	uint32_t evs = ev_universe(config);
	return evs == 0 ? 0 : path_bytes(&shape) / evs;
}

uint64_t endpoint_context_bytes(const struct transport_config *config)
{
	struct path_shape shape = path_shape_of(config);
	struct qp_layout layout;
	qp_layout_of(config, &shape, &layout);
	return layout.bytes + CONTEXT_TIMER_BYTES;
}

uint64_t endpoint_bytes(const struct transport_config *config, uint32_t qp_max)
{
	const uint64_t parts[] = {
		sizeof(struct endpoint),
		completion_places(config, qp_max) * sizeof(struct completion),
		DMA_WRITES * sizeof(struct dma_write),
		region_bytes(config->regions_max),
		profile_bytes(config),
		qp_max * sizeof(struct qp_record),
		endpoint_contexts(config, qp_max) *
			(endpoint_context_bytes(config) - CONTEXT_TIMER_BYTES),
		endpoint_contexts(config, qp_max) * CONTEXT_TIMER_BYTES +
			own_timers(config, qp_max) * sizeof(struct heap_item),
		peers_bytes(config->port_status ? qp_max : 0),
		paced_max(config, qp_max) * sizeof(struct heap_item),
		share_bytes(config, qp_max),
		choose_bytes(config),
	};
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		bytes += (parts[i] + 63) & ~UINT64_C(63);
	return bytes;
}

static struct endpoint *draw(struct arena *arena, const struct transport_config *config,
			     uint32_t qp_max, struct rng rng)
{
	struct endpoint *endpoint = arena_draw(arena, ARENA_TRANSPORT, 1, sizeof(*endpoint));
	if (!endpoint)
		return NULL;
	uint32_t dma_writes = completion_places(config, qp_max);
	endpoint->shape = path_shape_of(config);
	qp_layout_of(config, &endpoint->shape, &endpoint->layout);
	endpoint->completions_mask = dma_writes - 1;
	endpoint->completions = arena_draw(arena, ARENA_TRANSPORT, dma_writes,
					   sizeof(struct completion));
	endpoint->dma_writes = arena_draw(arena, ARENA_TRANSPORT, DMA_WRITES,
					  sizeof(struct dma_write));
	uint32_t contexts = endpoint_contexts(config, qp_max);
	endpoint->records = arena_draw(arena, ARENA_TRANSPORT, qp_max, sizeof(struct qp_record));
	endpoint->contexts = arena_draw(arena, ARENA_TRANSPORT, contexts, endpoint->layout.bytes);
	endpoint->is_pooled = contexts < qp_max;
	if (!endpoint->completions || !endpoint->dma_writes || !endpoint->records ||
	    !endpoint->contexts ||
	    heap_init(&endpoint->timers, arena, ARENA_TRANSPORT,
		      TIMERS_PER_CONTEXT * contexts + own_timers(config, qp_max)) != 0 ||
	    (cc_find(config->cc.name)->has_rate &&
	     heap_init(&endpoint->paced, arena, ARENA_TRANSPORT, paced_max(config, qp_max)) != 0) ||
	    peers_init(&endpoint->peers, arena, config->port_status ? qp_max : 0) != 0 ||
	    choose_init(endpoint, arena, config) != 0 ||
	    share_init(endpoint, arena, config, qp_max) != 0 ||
	    region_init(&endpoint->regions, arena, config->regions_max) != 0)
		return NULL;
	if (config->ev_mode == EV_AUTO)
		return endpoint;
	endpoint->shape.profile = &endpoint->profile;
	return profile_init(&endpoint->profile, arena, config, rng) == 0 ? endpoint : NULL;
}

// Contexts are named for life; where there is one for each QP, it is that of its number.
static void number_contexts(struct endpoint *endpoint, uint32_t count)
{
	for (uint32_t context = 0; context < count; context++) {
		context_at(endpoint, context)->context = context;
		context_at(endpoint, context)->number = context;
		if (!endpoint->is_pooled)
			endpoint->records[context].context = context + 1;
	}
	if (endpoint->is_pooled)
		context_pool_init(endpoint, count);
}

// No algorithm opens its window further than it begins with, or closes it below a packet; but a
// window of credits is empty when they are spent, and may be granted a second time over.
static void measure_window(struct endpoint *endpoint)
{
	struct cc first = {.ops = endpoint->cc_ops};
	first.ops->init(&first, &endpoint->config->cc, 0);
	endpoint->window_min = endpoint->config->cc.mtu_bytes;
	endpoint->window_max = first.window_bytes;
	endpoint->credit_first = first.credit_bytes;
	if (endpoint->credit_bps > 0)
		endpoint->window_min = 0;
	if (endpoint->cc_ops->is_credit_alone)
		endpoint->window_max = first.window_bytes < UINT32_MAX / 2 ? 2 * first.window_bytes
									   : UINT32_MAX;
}

int endpoint_create(struct endpoint **ret, struct arena *arena,
		    const struct transport_config *config, uint32_t nic, uint32_t qp_max,
		    uint64_t seed, struct refusal *refusal)
{
	int error = refuse_sizes(config, refusal);
	if (error == 0)
		error = refuse_evs(config, refusal);
	if (error == 0)
		error = refuse_many_evs(config, refusal);
	if (error == 0)
		error = refuse_offers(config, refusal);
	if (error == 0)
		error = refuse_times(config, refusal);
	if (error == 0)
		error = refuse_ports(config, refusal);
	if (error == 0)
		error = choose_refuse_cc(&config->cc, config->kind == TRANSPORT_RC,
					 config->contexts != 0, refusal);
	if (error == 0)
		error = refuse_sleek(config, refusal);
	if (error == 0)
		error = refuse_shares(config, refusal);
	if (error != 0)
		return error;
	struct endpoint *endpoint = draw(arena, config, qp_max, rng_of(seed, RNG_PROFILE, nic));
	if (!endpoint)
		return refuse(refusal, -ENOMEM, "no memory for % QPs and % contexts of % bytes",
			      qp_max, endpoint_contexts(config, qp_max),
			      (int64_t)endpoint_context_bytes(config));
	endpoint->config = config;
	endpoint->nic = nic;
	endpoint->qp_max = qp_max;
	endpoint->seed = seed;
	endpoint->context_stride = endpoint->layout.bytes;
	endpoint->mpr_mask = endpoint->layout.mpr_mask;
	endpoint->mpr_last = config->mpr - 1;
	endpoint->sends_mask = endpoint->layout.sends_mask;
	endpoint->pending_imm_mask = endpoint->layout.pending_imm_mask;
	endpoint->epoch_shift = mpr_grant_epoch_shift(config);
	endpoint->rto_units = (uint32_t)((config->rto_ps + SENT_ROUND_UP) >> SENT_SHIFT);
	endpoint->reads_stamps = config->rtt == RTT_STAMP || config->service_time;
	endpoint->is_rc = config->kind == TRANSPORT_RC;
	endpoint->has_shares = config->shares_cc;
	endpoint->has_sleek = config->sleek;
	endpoint->is_single = endpoint->shape.policy == PATH_SINGLE;
	endpoint->cc_ops = cc_find(config->cc.name);
	endpoint->credit_bps = credit_bps(&config->cc);
	endpoint->has_throttle = has_throttle(config);
	if (endpoint->has_throttle)
		throttle_init(&endpoint->throttle, config->cc.base_rtt_ps,
			      config->trunk_ppb != 0 ? config->trunk_ppb : THROTTLE_ALL,
			      rng_of(seed, RNG_CREDIT, nic));
	endpoint->has_demand = endpoint->credit_bps > 0 && config->cc.credit_notified;
	measure_window(endpoint);
	number_contexts(endpoint, endpoint_contexts(config, qp_max));
	*ret = endpoint;
	return 0;
}
