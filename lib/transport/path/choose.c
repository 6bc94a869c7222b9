// SPDX-License-Identifier: Apache-2.0
// Profiles of an endpoint, made and named by QPs. See choose.h.
#include "choose.h"

#include <errno.h>
#include <string.h>

#include <weft/transport/transport_profiles.h>

#include "endpoint/endpoint.h"

#define LINE_BYTES 64u

static uint64_t lines(uint64_t bytes)
{
	return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

uint64_t choose_bytes(const struct transport_config *config)
{
	uint64_t evs = config->ev_profiles_max;
	return lines((config->cc_profiles_max + UINT64_C(1)) * sizeof(struct cc_choice)) +
		lines(evs * sizeof(struct ev_choice)) +
		evs * lines(profile_bytes_for(ev_universe(config)));
}

// ---------------------------------------------------------------- congestion control

int choose_refuse_cc(const struct cc_config *cc, bool is_rc, bool is_pooled,
		     struct refusal *refusal)
{
	if (!cc->name || !cc_find(cc->name))
		return refuse(refusal, -EINVAL, "no such congestion control algorithm");
	if (cc->mtu_bytes == 0)
		return refuse(refusal, -EINVAL, "congestion control needs the packet size");
	const struct cc_ops *ops = cc_find(cc->name);
	bool is_given = ops->is_fixed && cc->window_bytes != 0;
	if (!is_given && (cc->rate_bps == 0 || cc->base_rtt_ps <= 0))
		return refuse(refusal, -EINVAL, "congestion control needs a rate and a round trip");
	if (!(ops->transports & (is_rc ? CC_ON_RC : CC_ON_MRC)))
		return refuse(refusal, -EINVAL,
			      is_rc ? "this congestion control does not run on RoCEv2 RC"
				    : "this congestion control does not run on MRC");
	if (ops->has_rate && !is_rc)
		return refuse(refusal, -EINVAL, "this congestion control paces RoCEv2 RC only");
	if (ops->has_credit && (is_rc || is_pooled))
		return refuse(refusal, -EINVAL, "credits are for MRC with a context for each QP");
	return 0;
}

// No algorithm opens its window further than it begins with, or closes it below a packet: so far
// apart may windows of an endpoint be.
static void widen(struct endpoint *endpoint, const struct cc_choice *choice)
{
	struct cc first = {.ops = choice->ops, .credit_bytes = UINT32_MAX};
	first.ops->init(&first, choice->config, 0);
	if (first.window_bytes > endpoint->window_max)
		endpoint->window_max = first.window_bytes;
	if (choice->config->mtu_bytes < endpoint->window_min)
		endpoint->window_min = choice->config->mtu_bytes;
}

static void make_cc(struct cc_choice *choice, const struct cc_config *config)
{
	choice->config = config;
	choice->ops = cc_find(config->name);
	choice->is_gate_full = choice->ops->needs_full_gate &&
		!cc_rule_is_htsim(config->send_gate_rule, config->is_htsim);
	choice->is_made = true;
	share_ops(&choice->shared, choice->ops);
}

// A window of MRC's that needs no one else's word.
static int refuse_apart(const struct endpoint *endpoint, const struct cc_config *cc,
			struct refusal *refusal)
{
	if (endpoint->is_rc || endpoint->credit_bps > 0 || cc_find(cc->name)->has_credit)
		return refuse(refusal, -EINVAL,
			      "a congestion control profile is for MRC without credits: these are "
			      "an endpoint's");
	return 0;
}

int endpoint_cc_profile(struct endpoint *endpoint, uint32_t number, const struct cc_config *config,
			struct refusal *refusal)
{
	uint32_t most = endpoint->config->cc_profiles_max;
	if (number < 1 || number > most)
		return refuse(
			refusal, -EINVAL,
			"congestion control profile %: must be 1 to %, as many as there may be",
			number, most);
	struct cc_choice *choice = &endpoint->choices.cc[number];
	if (choice->users > 0)
		return refuse(refusal, -EBUSY, "congestion control profile % is that of % QPs",
			      number, choice->users);
	int rc = choose_refuse_cc(config, endpoint->is_rc, endpoint->is_pooled, refusal);
	if (rc == 0)
		rc = refuse_apart(endpoint, config, refusal);
	if (rc != 0)
		return rc;
	choice->own = *config;
	choice->own.name = cc_find(config->name)->name; // ours, not the caller's
	make_cc(choice, &choice->own);
	widen(endpoint, choice);
	return 0;
}

// ---------------------------------------------------------------- entropy values

// A configuration with the values of a profile in place of its own: all of them are active.
static struct transport_config config_with(const struct endpoint *endpoint, const uint32_t *values,
					   uint32_t count)
{
	struct transport_config config = *endpoint->config;
	config.ev_mode = EV_EXPLICIT;
	config.ev_values = values;
	config.ev_count = count;
	config.ev_universe = 0;
	config.ev_denied_count = 0;
	if (config.ev_min_active > count)
		config.ev_min_active = count;
	return config;
}

static int refuse_values(const struct endpoint *endpoint, const uint32_t *values, uint32_t count,
			 struct refusal *refusal)
{
	const struct transport_config *own = endpoint->config;
	uint32_t planes = own->planes, per_plane = count / planes;
	if (endpoint->is_rc)
		return refuse(refusal, -EINVAL, "an EV profile is for MRC");
	if (per_plane * planes != count || per_plane == 0 || (per_plane & (per_plane - 1)) != 0)
		return refuse(
			refusal, -EINVAL,
			"% entropy values on % planes: each plane needs the same power of two",
			count, planes);
	if (count > own->ev_count)
		return refuse(refusal, -EINVAL, "% entropy values: a QP has room for %", count,
			      own->ev_count);
	struct transport_config config = config_with(endpoint, values, count);
	return profile_check(&config, refusal);
}

int endpoint_ev_profile(struct endpoint *endpoint, uint32_t number, const uint32_t *values,
			uint32_t count, struct refusal *refusal)
{
	uint32_t most = endpoint->config->ev_profiles_max;
	if (number < 1 || number > most)
		return refuse(refusal, -EINVAL,
			      "EV profile %: must be 1 to %, as many as there may be", number,
			      most);
	struct ev_choice *choice = &endpoint->choices.ev[number - 1];
	if (choice->users > 0)
		return refuse(refusal, -EBUSY, "EV profile % is that of % QPs", number,
			      choice->users);
	int rc = refuse_values(endpoint, values, count, refusal);
	if (rc != 0)
		return rc;
	struct transport_config config = config_with(endpoint, values, count);
	memset(choice->memory, 0, profile_bytes_for(ev_universe(endpoint->config)));
	profile_make(&choice->profile, choice->memory, &config, (struct rng){0});
	choice->shape = path_shape_of(&config);
	choice->shape.profile = &choice->profile;
	choice->shape.ports_down = endpoint->shape.ports_down;
	choice->is_made = true;
	check(path_bytes(&choice->shape) <= path_bytes(&endpoint->shape));
	return 0;
}

// ---------------------------------------------------------------- of QPs

int choose_init(struct endpoint *endpoint, struct arena *arena,
		const struct transport_config *config)
{
	struct choices *choices = &endpoint->choices;
	uint32_t evs = config->ev_profiles_max;
	uint64_t profile = lines(profile_bytes_for(ev_universe(config)));
	choices->cc = arena_draw(arena, ARENA_TRANSPORT, config->cc_profiles_max + (size_t)1,
				 sizeof(struct cc_choice));
	if (choices->cc == NULL)
		return -ENOMEM;
	make_cc(&choices->cc[0], &config->cc);
	if (evs == 0)
		return 0;
	choices->ev = arena_draw(arena, ARENA_TRANSPORT, evs, sizeof(struct ev_choice));
	uint8_t *memory = arena_draw(arena, ARENA_TRANSPORT, evs, profile);
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < evs; i++)
		choices->ev[i].memory = memory + i * profile;
	return 0;
}

bool endpoint_has_profiles(const struct endpoint *endpoint, uint32_t ev_profile,
			   uint32_t cc_profile)
{
	const struct choices *choices = &endpoint->choices;
	if (cc_profile > endpoint->config->cc_profiles_max ||
	    ev_profile > endpoint->config->ev_profiles_max)
		return false;
	return choices->cc[cc_profile].is_made &&
		(ev_profile == 0 || choices->ev[ev_profile - 1].is_made);
}

void choose_take(struct endpoint *endpoint, const struct qp_record *record)
{
	endpoint->choices.cc[record->cc_profile].users++;
	if (record->ev_profile != 0)
		endpoint->choices.ev[record->ev_profile - 1].users++;
}

void choose_leave(struct endpoint *endpoint, const struct qp_record *record)
{
	if (record->cc_profile != 0)
		endpoint->choices.cc[record->cc_profile].users--;
	if (record->ev_profile != 0)
		endpoint->choices.ev[record->ev_profile - 1].users--;
}

const struct path_shape *choose_shape(const struct endpoint *endpoint, uint32_t number)
{
	return number == 0 ? &endpoint->shape : &endpoint->choices.ev[number - 1].shape;
}

void choose_ports(struct endpoint *endpoint, uint32_t ports_down)
{
	for (uint32_t i = 0; i < endpoint->config->ev_profiles_max; i++)
		endpoint->choices.ev[i].shape.ports_down = ports_down;
}
