// SPDX-License-Identifier: Apache-2.0
// How far packets may be from --fidelity model: closed forms once more with what this fabric adds,
// and what no closed form has.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/engine/engine.h>
#include <weft/fabric/fabric_capacity.h>
#include <weft/run/fidelity.h>

// Ranks out of step, queues and windows. Where no trunk is shared, 399 of 400 random small jobs
// whose every packet ran were within such a part and one latency, and the messages of stages;
// tests/property/program_random_jobs.py holds others to it.
#define BESIDE_PARTS 16

// Packets that are spread at random fill no trunk whole. Rings over trunks loaded to three quarters
// took as long as without them, to nine tenths a tenth longer, to the whole a fifth, and steps of
// small jobs up to a third.
#define TRUNK_FULL 0.75

#define TIERS 2 // of trunks, of a Clos or fat tree

struct fabric_of {
	ps_t latency_ps;	       // from NIC to NIC
	double trunks[TIERS];	       // what they carry of what all NICs send; 0: there are none
	uint32_t switched_nics[TIERS]; // below which nothing goes by such a trunk
	bool is_tree;		       // or its trunks carry what depends on who sends to whom
};

static int find_fabric(struct fabric_of *ret, const struct scenario *scenario,
		       struct refusal *refusal)
{
	static struct topology topology; // large: kept off the stack
	const struct fabric_config *fabric = &scenario->fabric;
	struct arena arena;
	int rc = memory_arena(&arena, scenario->memory_bytes_max, refusal);
	if (rc < 0)
		return rc;
	rc = topology_build(&topology, &arena, fabric, scenario->seed, refusal);
	if (rc == 0) {
		ret->latency_ps = topology.base_rtt_ps / 2;
		ret->is_tree = fabric->kind == TOPOLOGY_CLOS || fabric->kind == TOPOLOGY_FAT_TREE;
		ret->switched_nics[0] = topology.t0_nics;
		ret->switched_nics[1] = topology.t0_nics * fabric->pod_tors;
		for (uint32_t i = 0; i < TIERS; i++)
			ret->trunks[i] = (double)topology_tier_ppm(&topology, fabric, i + 1) / 1e6;
	}
	memory_release(arena.base, scenario->memory_bytes_max);
	return rc;
}

// Of what groups send out of their domains, what crosses switches of so many NICs, too. Messages of
// experts and of a context go to all others at once.
static double crossing(const struct world_step *step, enum group_kind kind, uint32_t nics)
{
	const struct gpu_layout below = {nics, step->gpu_layout.gpus_per_tray};
	struct spread domains, switches;
	order_spread(&domains, &step->order, &step->plan, kind, &step->gpu_layout);
	order_spread(&switches, &step->order, &step->plan, kind, &below);
	if (domains.hops_out == 0 || switches.hops_out == 0)
		return 0;
	if (kind == GROUP_EP || kind == GROUP_CP)
		return 1;
	return fmin(1, (double)switches.hops_out / (double)domains.hops_out);
}

static double most_crossing(const struct world_step *step, uint32_t nics)
{
	const struct world_off_domain *of = step->off_domain;
	const bool has_shards = step->plan.parallel.shard_ranks > 0;
	const bool is_there[GROUP_KIND_COUNT] = {
		[GROUP_TP] = of[DIMENSION_TP].is_off_domain,
		[GROUP_CP] = of[DIMENSION_CP].is_off_domain,
		[GROUP_EP] = of[DIMENSION_EP].is_off_domain,
		[GROUP_DP] = !has_shards,
		[GROUP_EDP] = step->plan.architecture->experts > 0,
		[GROUP_SHARD] = has_shards,
		[GROUP_ACROSS] = has_shards,
	};
	double most = 0;
	for (uint32_t kind = 0; kind < GROUP_KIND_COUNT; kind++)
		if (is_there[kind])
			most = fmax(most, crossing(step, (enum group_kind)kind, nics));
	return most;
}

// What trunks leave of the line to what crosses them, 10^-9.
static uint32_t trunk_share_ppb(const struct world_step *step, const struct fabric_of *fabric)
{
	double share = 1;
	for (uint32_t i = 0; i < TIERS; i++) {
		double load = fabric->trunks[i] > 0
			? most_crossing(step, fabric->switched_nics[i]) / fabric->trunks[i]
			: 0;
		if (load > TRUNK_FULL)
			share = fmin(share, TRUNK_FULL / load);
	}
	return (uint32_t)(share * (double)SHARE_WHOLE);
}

static int expose_on(ps_t *ret, const struct world_step *step, const struct scenario *scenario,
		     ps_t latency_ps, uint32_t share_ppb, struct refusal *refusal)
{
	static struct world_step world; // large: kept off the stack
	struct step_exposed times;
	world = *step;
	world_step_on_fabric(&world, scenario, latency_ps, share_ppb);
	int rc = schedule_expose(&times, &world.plan, &world.setup, NULL, refusal);
	*ret = rc == 0 ? fidelity_exposed(&times) : 0;
	return rc;
}

int fidelity_find_bounds(struct fidelity_bounds *ret, const struct call *call,
			 const struct world_step *step, struct refusal *refusal)
{
	static struct world_step world; // large: kept off the stack
	const struct scenario *scenario = &call->scenario;
	struct fabric_of fabric = {0};
	struct step_exposed own;
	ps_t full_trunks_ps;
	*ret = (struct fidelity_bounds){0};
	world = *step;
	world_step_own_sends(&world, scenario);
	int rc = find_fabric(&fabric, scenario, refusal);
	if (rc == 0)
		rc = schedule_expose(&own, &world.plan, &world.setup, NULL, refusal);
	if (rc == 0)
		rc = expose_on(&ret->fabric_ps, &world, scenario, fabric.latency_ps,
			       (uint32_t)SHARE_WHOLE, refusal);
	if (rc == 0)
		rc = expose_on(&full_trunks_ps, &world, scenario, fabric.latency_ps,
			       trunk_share_ppb(&world, &fabric), refusal);
	if (rc < 0)
		return rc;
	ret->silent_ps = own.without.step_ps;
	ret->has_more = fabric.is_tree;
	ret->trunks_ps = full_trunks_ps - ret->fabric_ps;
	ret->beside_ps = llabs(ret->fabric_ps) / BESIDE_PARTS + fabric.latency_ps;
	ret->messages_ps = fidelity_messages_ps(&world, &scenario->fabric);
	ret->stages_more_ps = fidelity_stages_ps(&world);
	return 0;
}

struct fidelity_error fidelity_error(const struct fidelity_bounds *bounds,
				     const struct step_exposed *times)
{
	ps_t low = bounds->fabric_ps - bounds->beside_ps;
	ps_t high = bounds->fabric_ps + bounds->beside_ps + bounds->trunks_ps + bounds->messages_ps;
	ps_t exposed = fidelity_exposed(times), step = times->with.step_ps - bounds->silent_ps;
	return (struct fidelity_error){.exposed_less_ps = ps_max(0, exposed - low),
				       .exposed_more_ps = ps_max(0, high - exposed),
				       .step_less_ps = ps_max(0, step - low),
				       .step_more_ps = ps_max(0, high - step)};
}

static void print_part(const char *sign, ps_t time, const char *what)
{
	if (time > 0)
		printf("        %s%.3f %s\n", sign, fidelity_ms(time), what);
}

void fidelity_print_error(const struct fidelity_bounds *bounds, const struct step_exposed *times)
{
	const struct fidelity_error error = fidelity_error(bounds, times);
	printf("      by packets up to %.3f less", fidelity_ms(error.exposed_less_ps));
	if (bounds->has_more)
		printf(", %.3f more\n", fidelity_ms(error.exposed_more_ps));
	else
		printf("; how much more only packets know, in a torus or graph\n");
	printf("        %+.3f latency, credits, headers and SACKs of this fabric, filling of "
	       "rings\n",
	       fidelity_ms(bounds->fabric_ps - fidelity_exposed(times)));
	print_part("+- ", bounds->beside_ps, "ranks out of step, queues, windows");
	print_part("up to +", bounds->trunks_ps, "trunks that are full");
	print_part("up to +", bounds->messages_ps, "messages between domains that meet");
	if (bounds->stages_more_ps > 0)
		printf("      and up to %.3f more: messages between stages share a NIC with "
		       "reduces and gathers\n",
		       fidelity_ms(bounds->stages_more_ps));
}
