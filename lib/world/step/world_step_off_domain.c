// SPDX-License-Identifier: Apache-2.0
// What of a step's activations leaves its domain in an order of ranks, and what it costs a cell.
// Facts: with sequence parallelism tensor ranks gather and scatter activations between the matrix
// products of a layer; nothing of a layer can be computed meanwhile.
// Assumed: context and expert ranks wait for all of their traffic, too (frameworks hide some of
// it), and it has the NICs for itself. Of ten tensor messages of a layer four are of its forward,
// of three context messages one, of four expert messages two (see plan_bucket.c).

#include "world_step_off_domain.h"

#include <weft/core/check.h>

struct kind_of {
	enum group_kind group;
	enum message_kind message;
	uint32_t forward, all; // messages of a layer
};

static const struct kind_of kinds[DIMENSION_COUNT] = {
	[DIMENSION_TP] = {GROUP_TP, MESSAGE_TP, 4, 10},
	[DIMENSION_CP] = {GROUP_CP, MESSAGE_CP, 1, 3},
	[DIMENSION_EP] = {GROUP_EP, MESSAGE_EP, 2, 4},
	[DIMENSION_PP] = {GROUP_PP, MESSAGE_PP, 0, 0},
};

static ps_t time_at(uint64_t bytes, uint64_t rate_Bps)
{
	return (ps_t)((unsigned __int128)bytes * PS_PER_S / rate_Bps);
}

// One message over the network: of a ring of the ranks for tensors, else from rank to rank.
static ps_t message_ps(const struct world_step *step, const struct spread *spread,
		       enum message_kind kind, uint64_t bytes, uint64_t nic_Bps)
{
	struct ring_time ring = step->setup.dense;
	uint32_t here = spread->per_domain_min;
	if (kind != MESSAGE_TP)
		return ring.network_ps +
			time_at(order_nic_bytes(spread, kind, bytes, false), nic_Bps);
	ring.ranks = spread->ranks;
	ring.ranks_per_domain = spread->ranks % here == 0 ? here : 1;
	ring.network_Bps = nic_Bps * ring.ranks_per_domain;
	return ring_time_ps(&ring, bytes);
}

// The stage that has most of it; its cells in the middle stand for all.
static struct message_sum most_of(const struct plan *plan, enum message_kind kind)
{
	struct message_sum most = {0}, sums[MESSAGE_COUNT];
	for (uint32_t stage = 0; stage < plan->parallel.pp; stage++) {
		plan_messages(plan, stage, sums);
		if (sums[kind].total_bytes > most.total_bytes)
			most = sums[kind];
	}
	return most;
}

static void price(struct world_step *step, enum dimension dimension, uint64_t nic_Bps)
{
	const struct parallel *cut = &step->plan.parallel;
	const struct kind_of *kind = &kinds[dimension];
	struct world_off_domain *of = &step->off_domain[dimension];
	order_spread(&of->spread, &step->order, &step->plan, kind->group, &step->gpu_layout);
	if (of->spread.domains_max < 2)
		return;
	of->messages = most_of(&step->plan, kind->message);
	of->is_off_domain = of->messages.count > 0;
	if (!of->is_off_domain)
		return;
	of->message_ps = message_ps(step, &of->spread, kind->message, of->messages.bytes, nic_Bps);
	if (kind->all == 0)
		return;
	uint64_t cells = (uint64_t)cut->micro_batches * cut->vpp;
	unsigned __int128 all = (unsigned __int128)of->message_ps * of->messages.count / cells;
	of->forward_ps = (ps_t)(all * kind->forward / kind->all);
	of->backward_ps = (ps_t)all - of->forward_ps;
}

// What is assumed of a send inside a domain is for large ones: it is never slower than outside.
static ps_t inside_send_ps(const struct world_step *step)
{
	ps_t off_domain = step->off_domain[DIMENSION_PP].message_ps;
	return off_domain < STEP_SEND_PS ? off_domain : STEP_SEND_PS;
}

void world_step_off_domain(struct world_step *step, uint64_t nic_Bps)
{
	static const enum dimension dimensions[] = {DIMENSION_TP, DIMENSION_CP, DIMENSION_EP,
						    DIMENSION_PP};
	for (uint32_t i = 0; i < 4; i++) {
		const struct world_off_domain *of = &step->off_domain[dimensions[i]];
		price(step, dimensions[i], nic_Bps);
		step->setup.off_domain_forward_ps += of->forward_ps;
		step->setup.off_domain_backward_ps += of->backward_ps;
	}
	if (!step->off_domain[DIMENSION_PP].is_off_domain)
		return;
	step->setup.send_ps = step->off_domain[DIMENSION_PP].message_ps;
	step->setup.silent_send_ps = inside_send_ps(step);
}

static ps_t scaled(ps_t time, ps_t to, ps_t from)
{
	return (ps_t)((__int128)time * to / from);
}

void world_step_tensor(struct world_step *step, ps_t message_ps)
{
	struct world_off_domain *of = &step->off_domain[DIMENSION_TP];
	check(of->is_off_domain && of->message_ps > 0);
	ps_t forward_ps = scaled(of->forward_ps, message_ps, of->message_ps);
	ps_t backward_ps = scaled(of->backward_ps, message_ps, of->message_ps);
	step->setup.off_domain_forward_ps += forward_ps - of->forward_ps;
	step->setup.off_domain_backward_ps += backward_ps - of->backward_ps;
	of->forward_ps = forward_ps;
	of->backward_ps = backward_ps;
	of->message_ps = message_ps;
}

bool world_step_inside(const struct world_step *step, enum dimension dimension,
		       struct step_setup *ret)
{
	const struct world_off_domain *of = &step->off_domain[dimension];
	if (!of->is_off_domain)
		return false;
	*ret = step->setup;
	ret->off_domain_forward_ps -= of->forward_ps;
	ret->off_domain_backward_ps -= of->backward_ps;
	if (dimension == DIMENSION_PP)
		ret->send_ps = inside_send_ps(step);
	return true;
}

void world_step_own_sends(struct world_step *step, const struct scenario *scenario)
{
	const struct parallel *cut = &step->plan.parallel;
	const struct scaleup_config *lines = &scenario->scaleup;
	struct message_sum sums[MESSAGE_COUNT] = {0};
	if (step->off_domain[DIMENSION_PP].is_off_domain || lines->rate_bps == 0 || cut->pp < 2)
		return;
	plan_cell_messages(&step->plan, 0, 0, sums);
	step->setup.send_ps = lines->delay_ps +
		time_at(sums[MESSAGE_PP].bytes, lines->rate_bps / 8);
}
