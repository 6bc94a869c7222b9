// SPDX-License-Identifier: Apache-2.0
// From a scenario to a world: job, sample, topology, shards, hosts, switches, cables, pools. Draws
// once; nothing allocates later.

#include "build.h"
#include "fast_forward/fast_forward.h"
#include "outcome/flow_evs.h"

#include <errno.h>
#include <string.h>

#include <weft/fabric/fabric_capacity.h>
#include <weft/workload/plan.h>
#include <weft/workload/workload_goal.h>
#include <weft/world/world_signal.h>

#include <weft/host/host.h>

// ---------------------------------------------------------------- traffic

static uint32_t pattern_count(const struct traffic_config *traffic, uint32_t nics)
{
	switch (traffic->kind) {
	case TRAFFIC_PERMUTATION:
		return nics;
	case TRAFFIC_INCAST:
		return traffic->senders;
	case TRAFFIC_ALL_TO_ALL:
		return nics * (nics - 1);
	case TRAFFIC_OUTCAST:
		return traffic->receivers;
	case TRAFFIC_TORNADO:
		return nics;
	case TRAFFIC_BUTTERFLY:
		return nics * pattern_butterfly_rounds(nics);
	default:
		return traffic->flow_count;
	}
}

// One round's flows less: those of the first wait for nothing.
static int build_butterfly(struct world *world, struct refusal *refusal)
{
	uint32_t nics = world->fabric.nics, waiting = world->flow_count - nics;
	world->triggers = arena_draw(world->arena, ARENA_WORKLOAD, waiting,
				     sizeof(*world->triggers));
	if (waiting > 0 && world->triggers == NULL)
		return build_no_memory(world, refusal);
	world->trigger_count = waiting;
	pattern_butterfly(world->flows, world->triggers, nics, world->scenario->traffic.bytes);
	return 0;
}

// Behind the traffic's own flows a message from each NIC to another one, of dice of its own:
// another permutation than the traffic's.
static int build_beside(struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	uint32_t nics = world->fabric.nics, count = world->flow_count;
	if (scenario->traffic.beside_bytes == 0)
		return 0;
	if (world->job.group_count > 0 && scenario->sample.is_on)
		return refuse(refusal, -EINVAL,
			      "a sample leaves out what traffic.beside would meet: sample off goes "
			      "with it");
	struct flow *flows = arena_draw(world->arena, ARENA_WORKLOAD, (size_t)count + nics,
					sizeof(*flows));
	if (flows == NULL)
		return build_no_memory(world, refusal);
	for (uint32_t i = 0; i < count; i++)
		flows[i] = world->flows[i];
	pattern_permutation(flows + count, nics, scenario->traffic.beside_bytes,
			    rng_mix(scenario->seed));
	world->flows = flows;
	world->flow_count = count + nics;
	return 0;
}

static int build_patterns(struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	const struct traffic_config *traffic = &scenario->traffic;
	uint32_t nics = world->fabric.nics, per_host = world->fabric.nics_per_host;
	uint32_t count = pattern_count(traffic, nics);
	struct flow *flows = arena_draw(world->arena, ARENA_WORKLOAD, count, sizeof(*flows));
	if (flows == NULL)
		return build_no_memory(world, refusal);
	world->flows = flows;
	world->flow_count = count;
	switch (traffic->kind) {
	case TRAFFIC_PERMUTATION:
		pattern_permutation(flows, nics, traffic->bytes, scenario->seed);
		return 0;
	case TRAFFIC_ALL_TO_ALL:
		pattern_all_to_all(flows, nics, traffic->bytes);
		return 0;
	case TRAFFIC_INCAST:
		return pattern_incast(flows, nics, per_host, count, traffic->bytes, scenario->seed,
				      refusal);
	case TRAFFIC_OUTCAST:
		return pattern_outcast(flows, nics, per_host, count, traffic->bytes, scenario->seed,
				       refusal);
	case TRAFFIC_TORNADO:
		pattern_tornado(flows, nics, traffic->bytes);
		return 0;
	case TRAFFIC_BUTTERFLY:
		return build_butterfly(world, refusal);
	default:
		for (uint32_t i = 0; i < count; i++)
			flows[i] = traffic->flows[i];
		return 0;
	}
}

// Each QP of a connection has a share of its flow. Other flows were checked with their scenario.
static int build_shares(const struct matrix *matrix, uint32_t qps, struct refusal *refusal)
{
	for (uint32_t i = 0; i < matrix->flow_count; i++) {
		uint64_t bytes = matrix->flows[i].bytes;
		if (flow_last_share_bytes(bytes, qps) == 0)
			return refuse(
				refusal, -EINVAL,
				"% QPs share a connection of % B by % B each, which leaves the "
				"last of them nothing: set transport.qps_per_connection lower",
				qps, (int64_t)bytes, (int64_t)flow_share_bytes(bytes, qps));
	}
	return 0;
}

// A line is one of the file that the scenario names.
static int refused_in(const char *path, struct refusal *refusal, int rc)
{
	if (refusal != NULL && refusal->line > 0)
		memcpy(refusal->file, path, strlen(path) + 1);
	return rc;
}

static int build_matrix(struct world *world, const char *text, size_t bytes,
			struct refusal *refusal)
{
	struct matrix matrix;
	int rc = matrix_parse(&matrix, world->arena, text, bytes,
			      world->scenario->traffic.start_unit_ps, refusal);
	if (rc < 0)
		return refused_in(world->scenario->traffic.matrix, refusal, rc);
	if (matrix.nics != world->fabric.nics)
		return refuse(refusal, -EINVAL,
			      "the matrix is of % nodes, but fabric.nics is %: set fabric.nics=%",
			      matrix.nics, world->fabric.nics, matrix.nics);
	rc = build_shares(&matrix, world->scenario->qps_per_connection, refusal);
	if (rc < 0)
		return rc;
	world->flows = matrix.flows;
	world->flow_count = matrix.flow_count;
	world->triggers = matrix.triggers;
	world->trigger_count = matrix.trigger_count;
	world->has_starts = matrix.has_starts;
	return 0;
}

static bool does_something(const struct program *program)
{
	for (uint32_t i = 0; i < program->op_count; i++)
		if (program->ops[i].kind != OP_COMPUTE || program->ops[i].compute_ps > 0)
			return true;
	return false;
}

static int read_goal(struct world *world, const char *text, size_t bytes, ps_t unit_ps,
		     struct refusal *refusal)
{
	struct program *program;
	int rc = goal_parse(&program, world->arena, text, bytes, unit_ps, refusal);
	if (rc < 0)
		return refused_in(world->scenario->traffic.file, refusal, rc);
	bool has_nics = program->ranks <= world->fabric.nics; // else that is refused
	if (has_nics && !does_something(program))
		rc = refuse(
			refusal, -EINVAL,
			"the program sends nothing and computes no time: there is nothing to run");
	if (rc == 0)
		world->program = program;
	return rc;
}

// A program that the caller gave outlives the world. The groups of its job are at NICs that exist.
static int take_program(struct world *world, struct refusal *refusal)
{
	world->program = world->scenario->traffic.program;
	if (world->program->job == NULL)
		return 0;
	int rc = opgraph_hosts_check_nics(world, refusal);
	if (rc == 0)
		world->job = *world->program->job;
	return rc;
}

static int build_goal(struct world *world, const char *text, size_t bytes, struct refusal *refusal)
{
	const struct traffic_config *traffic = &world->scenario->traffic;
	if (traffic->program == NULL)
		return read_goal(world, text, bytes, traffic->unit_ps, refusal);
	return take_program(world, refusal);
}

// A trace of nodes comes as a program.
static int build_nodes(struct world *world, struct refusal *refusal)
{
	if (!world->scenario->sample.is_on)
		return take_program(world, refusal);
	return refuse(refusal, -EINVAL,
		      "a trace of nodes is run whole: a sample has no effect on it (--sample off)");
}

static int build_trace_job(struct world *world, const char *text, size_t bytes,
			   struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	if (scenario->traffic.program != NULL)
		return build_nodes(world, refusal);
	int rc = trace_simai_parse(&world->trace, world->arena, text, bytes, refusal);
	if (rc < 0)
		return rc;
	if (world->trace.gpus == 0 && // AICB does not say it
	    world->fabric.nics % world->trace.tp != 0)
		return refuse(refusal, -EINVAL,
			      "fabric.nics, %, does not divide by the trace's tensor parallel "
			      "size, %",
			      world->fabric.nics, world->trace.tp);
	if (world->trace.gpus == 0)
		world->trace.gpus = world->fabric.nics;
	if (world->trace.gpus > world->fabric.nics)
		return refuse(refusal, -EINVAL,
			      "the trace is of % GPUs, but fabric.nics is %: set fabric.nics=%",
			      world->trace.gpus, world->fabric.nics, world->trace.gpus);
	// GPUs of a host that differ in their tensor rank are in data groups of their own
	struct ring_config ring = scenario->traffic.ring;
	uint32_t members = world->fabric.nics_per_host / world->trace.tp;
	if (scenario->traffic.has_auto_channels)
		ring.channels = scenario_channels_over(members > 0 ? members : 1);
	return job_from_trace(&world->job, world->arena, &world->trace, world->fabric.nics_per_host,
			      &ring, refusal);
}

static int build_several(struct world *world, struct refusal *refusal)
{
	const struct traffic_config *traffic = &world->scenario->traffic;
	struct several several = {.jobs = traffic->jobs,
				  .gpus = world->fabric.nics,
				  .gpus_per_host = world->fabric.nics_per_host,
				  .placement = traffic->placement,
				  .kind = (enum collective_kind)traffic->collective,
				  .bytes = traffic->bytes,
				  .seed = world->scenario->seed};
	return job_from_several(&world->job, world->arena, &several, &traffic->ring, refusal);
}

// As many replicas as the NICs hold.
static int build_plan_job(struct world *world, struct refusal *refusal)
{
	const struct traffic_config *traffic = &world->scenario->traffic;
	struct plan plan;
	if (traffic->plan == NULL)
		return refuse(refusal, -EINVAL, "the file of traffic.model was not read");
	int rc = plan_resize(&plan, traffic->plan, world->fabric.nics, refusal);
	if (rc < 0)
		return rc;
	if (world->scenario->order != NULL)
		plan.parallel.order = world->scenario->order;
	return (world->scenario->is_tensor ? job_from_tensors : job_from_plan)(
		&world->job, world->arena, &plan, world->fabric.nics_per_host, &traffic->ring,
		refusal);
}

static int build_collective(struct world *world, struct refusal *refusal)
{
	struct coll_config config;
	struct program *program;
	scenario_collective(&config, world->scenario);
	if (world->scenario->traffic.is_coll_stream)
		return coll_stream_create(&world->coll_stream, world->arena, &config, refusal);
	int rc = coll_program(&program, world->arena, &config, refusal);
	if (rc == 0)
		world->program = program;
	return rc;
}

static int build_gradients(struct world *world, struct refusal *refusal)
{
	struct gradients_config config;
	struct program *program;
	scenario_gradients(&config, world->scenario);
	int rc = gradients_program(&program, world->arena, &config, refusal);
	if (rc == 0)
		world->program = program;
	return rc;
}

static int build_job(struct world *world, const char *text, size_t bytes, struct refusal *refusal)
{
	const struct traffic_config *traffic = &world->scenario->traffic;
	switch (traffic->kind) {
	case TRAFFIC_RING:
		if (traffic->jobs > 1)
			return build_several(world, refusal);
		if (traffic->axes != 0)
			return job_from_axes(&world->job, world->arena, traffic->axes,
					     world->fabric.torus,
					     (enum collective_kind)traffic->collective,
					     traffic->bytes, &traffic->ring, refusal);
		return job_from_ring(&world->job, world->arena,
				     (enum collective_kind)traffic->collective, traffic->bytes,
				     world->fabric.nics_per_host, &traffic->ring, refusal);
	case TRAFFIC_MODEL:
		return world->scenario->step != NULL ? build_step(world, refusal)
						     : build_plan_job(world, refusal);
	case TRAFFIC_TRACE:
		return build_trace_job(world, text, bytes, refusal);
	case TRAFFIC_MATRIX:
		return build_matrix(world, text, bytes, refusal);
	case TRAFFIC_GOAL:
		return build_goal(world, text, bytes, refusal);
	case TRAFFIC_COLLECTIVE:
		return build_collective(world, refusal);
	case TRAFFIC_JOBS:
		return build_jobs(world, refusal);
	case TRAFFIC_GRADIENTS:
		return build_gradients(world, refusal);
	default:
		return build_patterns(world, refusal);
	}
}

// Takes the sample out of the job, and the load of what is left out off the trunks by thinning
// them. Rows of a torus share no link: what is left out is missed nowhere.
static int build_sample(struct world *world, struct refusal *refusal)
{
	struct trunk_sampling trunk_sampling;
	if (world->job.group_count == 0)
		return 0;
	if (world->scenario->traffic.axes != 0)
		return sample_apply(&world->job, &world->scenario->sample,
				    world->transport.payload_bytes, &world->plan, refusal);
	if (world->program != NULL && world->scenario->sample.is_on)
		return refuse(refusal, -EINVAL, "a program runs whole: sample off goes with it");
	if (trunk_sampling_before(&trunk_sampling, world) < 0)
		return build_no_memory(world, refusal);
	int rc = sample_apply(&world->job, &world->scenario->sample, world->transport.payload_bytes,
			      &world->plan, refusal);
	if (rc < 0)
		return rc;
	if (!world->scenario->sample.is_unthinned)
		trunk_sampling_after(&trunk_sampling, world);
	return 0;
}

// ---------------------------------------------------------------- machines

static int build_switches(struct world *world, struct refusal *refusal)
{
	const struct topology *topology = &world->topology;
	world->switches = arena_draw(world->arena, ARENA_WORLD, topology->switch_count,
				     sizeof(*world->switches));
	if (world->switches == NULL)
		return build_no_memory(world, refusal);
	for (uint32_t i = 0; i < topology->switch_count; i++) {
		uint32_t node = topology->hosts + i;
		if (i == 0 || world->shard_of[node] != world->shard_of[node - 1])
			shards_fence(world, ARENA_FABRIC, SHARD_LINE_BYTES);
		int rc = switch_create(&world->switches[i], world->arena, topology, &world->fabric,
				       i, world->scenario->seed, refusal);
		if (rc == -ENOMEM)
			return build_no_memory(world, refusal);
		if (rc < 0)
			return rc;
		world->machines[node] = (struct machine){
			.run = switch_run,
			.self = world->switches[i],
			.port_count = topology->switches[i].port_count};
	}
	return 0;
}

static int build_machines(struct world *world, struct refusal *refusal)
{
	world->machines = arena_draw(world->arena, ARENA_WORLD, world->machine_count,
				     sizeof(*world->machines));
	if (world->machines == NULL)
		return build_no_memory(world, refusal);
	int rc = hosts_build(world, refusal);
	if (rc == 0)
		rc = build_switches(world, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->machines[m].port_count > MACHINE_PORTS_MAX)
			return refuse(refusal, -EINVAL,
				      "a machine would have % ports; at most % are supported",
				      world->machines[m].port_count, MACHINE_PORTS_MAX);
	return 0;
}

// ---------------------------------------------------------------- the world

int world_build(struct world *ret, struct arena *arena, const struct scenario *scenario,
		const char *trace_text, size_t trace_bytes, struct refusal *refusal)
{
	return world_build_shards(ret, arena, scenario, trace_text, trace_bytes,
				  (struct world_shards){.count = 1}, refusal);
}

int world_build_shards(struct world *ret, struct arena *arena, const struct scenario *scenario,
		       const char *trace_text, size_t trace_bytes, struct world_shards shards,
		       struct refusal *refusal)
{
	*ret = (struct world){.scenario = scenario,
			      .arena = arena,
			      .fabric = scenario->fabric,
			      .transport = scenario->transport,
			      .shard_count = shards.count,
			      .own_shard = shards.are_processes ? shards.index : WORLD_EVERY_SHARD,
			      .has_host_shards = shards.are_hosts};
	uint32_t most = shards.are_hosts ? WORLD_RECORDS_MAX : WORLD_SHARDS_MAX;
	if (shards.count == 0 || shards.count > most)
		return refuse(refusal, -EINVAL, "% shards asked for; 1 to % are supported",
			      shards.count, most);
	check(!shards.are_processes || shards.index < shards.count);
	int rc = build_job(ret, trace_text, trace_bytes, refusal);
	if (rc == 0)
		rc = build_beside(ret, refusal);
	if (rc == 0)
		rc = build_sample(ret, refusal);
	if (rc == 0)
		rc = topology_build(&ret->topology, arena, &ret->fabric, scenario->seed, refusal);
	if (rc == -ENOMEM)
		return build_no_memory(ret, refusal);
	if (rc < 0 && refusal != NULL)
		scenario_preset_reason(scenario, refusal);
	if (rc < 0)
		return rc;
	if (ret->fabric.forwarding == FABRIC_USID &&
	    ret->fabric.trunk_sample_kept < ret->fabric.trunk_sample_of)
		return refuse(refusal, -EINVAL,
			      "this sample keeps % of % trunks, and source routes name the others, "
			      "too: fabric.forwarding ecmp goes with it",
			      ret->fabric.trunk_sample_kept, ret->fabric.trunk_sample_of);
	ret->machine_count = ret->topology.hosts + ret->topology.switch_count;
	transport_build(ret);
	check(!shards.are_hosts || (shards.are_processes && shards.count == ret->topology.hosts));
	if (shards.are_processes && !shards.are_hosts && shards.count > 1 && shared_draw(ret) < 0)
		return build_no_memory(ret, refusal);
	int (*const steps[])(struct world *, struct refusal *) = {
		shards_build,	    outcome_build, links_build,	  build_machines, cables_build,
		link_state_build,   setting_build, reroute_build, links_watch,	  flow_evs_build,
		delays_build,	    slow_build,	   slices_build,  pauses_build,	  jobs_draw_counts,
		fast_forward_build, build_pools};
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		rc = steps[i](ret, refusal);
		if (rc < 0)
			return rc;
	}
	return 0;
}
