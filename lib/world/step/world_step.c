// SPDX-License-Identifier: Apache-2.0
// From a scenario to one step of its schedule.
// Assumed: 9 us for a slice from rank to rank over the network (NCCL's tuner has 14 us), 50 us for
// activations to the next stage inside a domain, and rails of 4 NICs a tray.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/fabric/fabric_capacity.h>
#include <weft/workload/plan_memory.h>
#include <weft/world/world_step.h>

// What of a step's activations leaves its domain in an order of ranks, and what it costs a cell.
// Facts: with sequence parallelism tensor ranks gather and scatter activations between the matrix
// products of a layer; nothing of a layer can be computed meanwhile.
// Assumed: context and expert ranks wait for all of their traffic, too (frameworks hide some of
// it), and it has the NICs for itself. Of ten tensor messages of a layer four are of its forward,
// of three context messages one, of four expert messages two (see plan_bucket.c).

#define STEP_SEND_PS (50 * PS_PER_US) // activations to the next stage inside a domain

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

static void price(struct world_step *step, enum dimension dimension, uint64_t nic_Bps)
{
	const struct parallel *cut = &step->plan.parallel;
	const struct kind_of *kind = &kinds[dimension];
	struct world_off_domain *of = &step->off_domain[dimension];
	order_spread(&of->spread, &step->order, &step->plan, kind->group, &step->gpu_layout);
	if (of->spread.domains_max < 2)
		return;
	of->messages = plan_message_most(&step->plan, kind->message);
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

// Prices each dimension whose groups leave their domain, at `nic_Bps` of a NIC, into the step's
// setup.
static void world_step_off_domain(struct world_step *step, uint64_t nic_Bps)
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

#define NETWORK_PS (9 * PS_PER_US)
#define GPUS_PER_TRAY 4u

// ---------------------------------------------------------------- faults

// What is left of plane `plane` of NIC `nic`, per 10^9.
static uint32_t left_of(const struct scenario *scenario, uint32_t nic, uint32_t plane)
{
	uint32_t left = (uint32_t)SHARE_WHOLE;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		const struct link_location *at = &fault->at;
		bool is_here = at->where == LINK_AT_ALL ||
			(at->where == LINK_AT_PLANE && at->plane == plane) ||
			(at->where == LINK_AT_NIC_WHOLE && at->index == nic) ||
			(at->where == LINK_AT_NIC && at->index == nic && at->plane == plane);
		uint32_t rate = fault->kind == FAULT_SLOW ? fault->rate_ppb : 0;
		if (is_here && rate < left)
			left = rate;
	}
	return left;
}

static uint32_t nic_left(const struct scenario *scenario, uint32_t nic)
{
	uint64_t sum = 0;
	for (uint32_t plane = 0; plane < scenario->fabric.planes; plane++)
		sum += left_of(scenario, nic, plane);
	return (uint32_t)(sum / scenario->fabric.planes);
}

static int check_fault(const struct scenario *scenario, const struct fault *fault,
		       struct refusal *refusal)
{
	const struct link_location *at = &fault->at;
	bool is_known = (fault->kind == FAULT_LINK_DOWN || fault->kind == FAULT_SLOW) &&
		(at->where == LINK_AT_NIC || at->where == LINK_AT_PLANE ||
		 at->where == LINK_AT_ALL || at->where == LINK_AT_NIC_WHOLE);
	if (!is_known || fault->from_ps > 0 || fault->until_ps != PS_NEVER)
		return refuse(refusal, -EINVAL,
			      "a schedule knows only faults that hold for the whole step: "
			      "link_down and slow, of a nic, a plane or all");
	if (at->where != LINK_AT_ALL && at->where != LINK_AT_PLANE &&
	    at->index >= scenario->fabric.nics)
		return refuse(refusal, -EINVAL, "there is no NIC %", at->index);
	if ((at->where == LINK_AT_NIC || at->where == LINK_AT_PLANE) &&
	    at->plane >= scenario->fabric.planes)
		return refuse(refusal, -EINVAL, "there is no plane %", at->plane);
	return 0;
}

static int check_faults(const struct scenario *scenario, struct refusal *refusal)
{
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		int rc = check_fault(scenario, &scenario->faults[i], refusal);
		if (rc < 0) {
			scenario_fault_location(scenario, i, refusal);
			return rc;
		}
	}
	return 0;
}

// NICs without a fault of their own are NIC `nics`, which does not exist.
static int find_left(struct world_step *step, const struct scenario *scenario,
		     struct refusal *refusal)
{
	uint32_t nobody = scenario->fabric.nics, whole = nic_left(scenario, nobody);
	uint32_t least = whole, members = step->nics_per_group;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct link_location *at = &scenario->faults[i].at;
		bool is_own = at->where == LINK_AT_NIC || at->where == LINK_AT_NIC_WHOLE;
		uint32_t left = is_own ? nic_left(scenario, at->index) : whole;
		least = left < least ? left : least;
	}
	if (least == 0)
		return refuse(refusal, -EINVAL, "a NIC without any link: the step would not end");
	step->even_ppb = least;
	step->split_ppb = (uint32_t)(((uint64_t)whole * (members - 1) + least) / members);
	return 0;
}

// ---------------------------------------------------------------- groups

// A channel of a ring leaves a domain by one NIC.
static uint32_t nics_of(const struct spread *spread, uint32_t channels)
{
	return spread->per_domain_min < channels ? spread->per_domain_min : channels;
}

static int ring_of(struct ring_time *ret, const struct world_step *step,
		   const struct scenario *scenario, enum group_kind kind, struct refusal *refusal)
{
	struct spread spread;
	order_spread(&spread, &step->order, &step->plan, kind, &step->gpu_layout);
	if (spread.per_domain_min != spread.per_domain_max)
		return refuse(refusal, -EINVAL,
			      "a group of % ranks has % of them in one domain and % in another",
			      spread.ranks, spread.per_domain_min, spread.per_domain_max);
	*ret = (struct ring_time){
		.ranks = spread.ranks,
		.ranks_per_domain = spread.per_domain_min,
		.channels = scenario->traffic.ring.channels,
		.network_Bps = step->nic_Bps * nics_of(&spread, scenario->traffic.ring.channels),
		.domain_Bps = scenario->scaleup.rate_bps > 0 ? scenario->scaleup.rate_bps / 8
							     : step->nic_Bps,
		.network_ps = NETWORK_PS,
		.domain_ps = scenario->scaleup.delay_ps,
		.chunk_bytes = scenario->traffic.ring.chunk_bytes_max,
	};
	return ring_time_check(ret, refusal);
}

static uint64_t share(uint64_t value, uint32_t ppb)
{
	return (uint64_t)((unsigned __int128)value * ppb / SHARE_WHOLE);
}

static int find_groups(struct world_step *step, const struct scenario *scenario,
		       struct refusal *refusal)
{
	bool has_experts = step->plan.architecture->experts > 0;
	bool has_shards = step->plan.parallel.shard_ranks > 0;
	int rc = ring_of(&step->setup.dense, step, scenario, has_shards ? GROUP_SHARD : GROUP_DP,
			 refusal);
	step->setup.experts = step->setup.dense;
	if (rc == 0 && (has_experts || has_shards))
		rc = ring_of(&step->setup.experts, step, scenario,
			     has_shards ? GROUP_ACROSS : GROUP_EDP, refusal);
	step->nics_per_group = (uint32_t)(step->setup.dense.network_Bps / step->nic_Bps);
	return rc;
}

// ---------------------------------------------------------------- the step

static int find_plan(struct world_step *step, const struct scenario *scenario,
		     struct refusal *refusal)
{
	const struct plan *plan = scenario->traffic.kind == TRAFFIC_MODEL ? scenario->traffic.plan
									  : NULL;
	if (plan == NULL)
		return refuse(refusal, -EINVAL,
			      "only a training job has steps: traffic.kind must be model");
	int rc = plan_resize(&step->plan, plan, scenario->fabric.nics, refusal);
	step->gpu_layout = (struct gpu_layout){scenario->fabric.nics_per_host, GPUS_PER_TRAY};
	if (rc == 0)
		plan_roofline(&step->plan);
	return rc;
}

// Tokens that are gathered over the ranks which cut an expert are part of a cell's time.
static int check_expert_tensors(const struct world_step *step, struct refusal *refusal)
{
	struct spread spread;
	if (plan_expert_tensor_ranks(&step->plan) == 1)
		return 0;
	order_spread(&spread, &step->order, &step->plan, GROUP_ETP, &step->gpu_layout);
	return spread.domains_max < 2
		? 0
		: refuse(refusal, -EINVAL,
			 "cut.etp: % ranks that cut an expert lie in % domains; here they stay in "
			 "one",
			 spread.ranks, spread.domains_max);
}

int world_step(struct world_step *ret, const struct scenario *scenario, const char *order,
	       struct refusal *refusal)
{
	const struct transport_config *transport = &scenario->transport;
	uint64_t payload = transport->payload_bytes;
	*ret = (struct world_step){
		.planes = scenario->fabric.planes,
		.nic_Bps = scenario->fabric.planes * fabric_nic_rate_least(&scenario->fabric) / 8,
		.header_ppb = (uint32_t)(payload * (uint64_t)SHARE_WHOLE /
					 (payload + transport->header_bytes)),
		.setup = {.send_ps = STEP_SEND_PS,
			  .slow_stage = UINT32_MAX,
			  .replicas = 1,
			  .seed = scenario->seed},
	};
	int rc = find_plan(ret, scenario, refusal);
	if (rc == 0)
		ret->setup.loss_ppb = plan_loss_ppb(&ret->plan);
	if (rc == 0)
		rc = order_parse(&ret->order, order != NULL ? order : ret->plan.parallel.order,
				 &ret->plan, refusal);
	if (rc == 0 && order != NULL && strcmp(order, ret->plan.parallel.order) != 0) {
		ret->plan.published_ps = 0; // of its own order
		ret->plan.parallel.order = order;
	}
	if (rc == 0)
		rc = find_groups(ret, scenario, refusal);
	if (rc == 0)
		rc = check_expert_tensors(ret, refusal);
	if (rc == 0)
		rc = check_faults(scenario, refusal);
	if (rc == 0)
		rc = find_left(ret, scenario, refusal);
	if (rc < 0)
		return rc;
	world_step_off_domain(ret, share(ret->nic_Bps, ret->even_ppb));
	ret->setup.dense.network_Bps = share(ret->setup.dense.network_Bps, ret->even_ppb);
	ret->setup.experts.network_Bps = share(ret->setup.experts.network_Bps, ret->even_ppb);
	return 0;
}

// ---------------------------------------------------------------- on its fabric

static void fill_ring(struct ring_time *ring, uint64_t network_Bps, uint32_t credits,
		      ps_t latency_ps)
{
	ring->network_Bps = network_Bps;
	ring->network_ps = ring->credit_ps = latency_ps;
	ring->credits = credits;
	ring->is_filled = true;
}

// What headers and SACKs leave of a rate for payload.
static uint64_t payload_Bps(const struct transport_config *transport, uint64_t rate_Bps)
{
	uint64_t payload = transport->payload_bytes, sack = transport->sack_bytes;
	uint64_t whole = (payload + transport->header_bytes) * sack +
		payload * transport->control_bytes;
	return (uint64_t)((unsigned __int128)rate_Bps * payload * sack / whole);
}

void world_step_on_fabric(struct world_step *step, const struct scenario *scenario, ps_t latency_ps,
			  uint32_t share_ppb)
{
	struct ring_time *const rings[] = {&step->setup.dense, &step->setup.experts};
	uint64_t nic_Bps = share(share(step->nic_Bps, step->even_ppb), share_ppb);
	ps_t silent_ps = step->setup.silent_send_ps;
	for (int i = 0; i < 2; i++)
		fill_ring(
			rings[i],
			payload_Bps(&scenario->transport, share(rings[i]->network_Bps, share_ppb)),
			scenario->traffic.ring.credits, latency_ps);
	step->setup.off_domain_forward_ps = step->setup.off_domain_backward_ps = 0;
	world_step_off_domain(step, payload_Bps(&scenario->transport, nic_Bps));
	step->setup.silent_send_ps = silent_ps;
}
