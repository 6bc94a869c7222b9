// SPDX-License-Identifier: Apache-2.0
// From a scenario to one step of its schedule.
// Assumed: 9 us for a slice from rank to rank over the network (NCCL's tuner has 14 us), 50 us for
// activations to the next stage inside a domain, and rails of 4 NICs a tray.

#include <errno.h>
#include <string.h>

#include <weft/fabric/fabric_capacity.h>
#include <weft/workload/plan_memory.h>

#include "world_step_off_domain.h"

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
			      "--fidelity has no effect here; it needs traffic.kind model");
	int rc = plan_resize(&step->plan, plan, scenario->fabric.nics, refusal);
	step->gpu_layout = (struct gpu_layout){scenario->fabric.nics_per_host, GPUS_PER_TRAY};
	if (rc == 0)
		plan_roofline(&step->plan);
	return rc;
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
