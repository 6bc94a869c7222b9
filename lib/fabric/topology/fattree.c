// SPDX-License-Identifier: Apache-2.0
// The three-tier fat tree: ToR switches and aggregation switches in pods, cores above. Every ToR
// has one link to each aggregation switch of its pod; core c has one link to aggregation switch c %
// pod_aggs of every pod. Ports: down neighbours first in ascending order, then up neighbours. Cores
// may be absent when there is only one pod. A sample keeps a share of the aggregation switches of
// each pod, rounded up, and the cores above them.

#include <errno.h>

#include <weft/core/refusal.h>

#include "topology.h"

uint32_t fattree_aggs_kept(const struct fabric_config *config)
{
	uint64_t share = (uint64_t)config->pod_aggs * config->trunk_sample_kept;
	return (uint32_t)((share + config->trunk_sample_of - 1) / config->trunk_sample_of);
}

static uint32_t cores_kept(const struct fabric_config *config)
{
	return config->cores / config->pod_aggs * fattree_aggs_kept(config);
}

static int fattree_check_pods(const struct fabric_config *config, uint64_t pod_nics,
			      struct refusal *refusal)
{
	if (config->nics % pod_nics != 0)
		return refuse(refusal, -EINVAL, "% NICs do not fill whole pods of % NICs each",
			      config->nics, (int64_t)pod_nics);
	if (config->nics > pod_nics && config->cores == 0)
		return refuse(refusal, -EINVAL, "% pods need cores",
			      (int64_t)(config->nics / pod_nics));
	if (config->cores % config->pod_aggs != 0)
		return refuse(refusal, -EINVAL,
			      "% cores cannot be shared evenly by % aggregation switches of a pod",
			      config->cores, config->pod_aggs);
	return 0;
}

static int fattree_check(const struct fabric_config *config, struct refusal *refusal)
{
	if (config->tor_nics == 0 || config->pod_tors == 0 || config->pod_aggs == 0)
		return refuse(refusal, -EINVAL,
			      "tor_nics, pod_tors and pod_aggs must be at least 1, not %, % and %",
			      config->tor_nics, config->pod_tors, config->pod_aggs);
	if (config->tor_nics % config->nics_per_host != 0)
		return refuse(refusal, -EINVAL,
			      "hosts of % NICs would straddle ToR switches of % NICs: tor_nics "
			      "must be a multiple of nics_per_host",
			      config->nics_per_host, config->tor_nics);
	if (config->trunk_sample_kept == 0 || config->trunk_sample_kept > config->trunk_sample_of)
		return refuse(refusal, -EINVAL,
			      "a sample keeps 1 to all of the links above ToR switches, not % of %",
			      config->trunk_sample_kept, config->trunk_sample_of);
	return fattree_check_pods(config, (uint64_t)config->tor_nics * config->pod_tors, refusal);
}

int fattree_shape(const struct fabric_config *config, struct refusal *refusal, struct shape *ret)
{
	int error = fattree_check(config, refusal);
	if (error != 0)
		return error;
	uint64_t tors = config->nics / config->tor_nics;
	uint64_t pods = tors / config->pod_tors;
	uint32_t aggs = fattree_aggs_kept(config), cores = cores_kept(config);
	*ret = (struct shape){
		.tiers = cores > 0 ? 3 : 2,
		.switches = {tors, pods * aggs, cores},
		.ports = {(uint64_t)config->tor_nics + aggs,
			  (uint64_t)config->pod_tors + cores / aggs, pods},
		.links = {config->nics, tors * aggs, pods * cores},
		.t0_nics = config->tor_nics,
	};
	return 0;
}

static void fattree_tors(struct topology_builder *topology_builder)
{
	const struct fabric_config *config = topology_builder->config;
	for (uint32_t i = 0; i < topology_builder->shape->switches[0]; i++) {
		struct route route = {
			.low = i * config->tor_nics,
			.high = (i + 1) * config->tor_nics,
			.span = 1,
			.down_links = 1,
			.up_first = config->tor_nics,
			.up_count = fattree_aggs_kept(config),
		};
		topology_builder_switch(topology_builder, 0, i, &route);
	}
}

// Aggregation switches, pod by pod, and cores.
static void fattree_upper(struct topology_builder *topology_builder)
{
	const struct fabric_config *config = topology_builder->config;
	uint32_t pod_nics = config->tor_nics * config->pod_tors;
	uint32_t aggs = fattree_aggs_kept(config), cores = cores_kept(config);
	for (uint32_t i = 0; i < topology_builder->shape->switches[1]; i++) {
		struct route route = {
			.low = i / aggs * pod_nics,
			.high = (i / aggs + 1) * pod_nics,
			.span = config->tor_nics,
			.down_links = 1,
			.up_first = config->pod_tors,
			.up_count = cores / aggs,
		};
		topology_builder_switch(topology_builder, 1, i, &route);
	}
	for (uint32_t i = 0; i < cores; i++) {
		struct route route = {.high = config->nics, .span = pod_nics, .down_links = 1};
		topology_builder_switch(topology_builder, 2, i, &route);
	}
}

void fattree_switches(struct topology_builder *topology_builder)
{
	fattree_tors(topology_builder);
	fattree_upper(topology_builder);
}

// Links between the ToRs and the aggregation switches of their pods.
static void fattree_pod_trunks(struct topology_builder *topology_builder)
{
	const struct fabric_config *config = topology_builder->config;
	uint32_t aggs = fattree_aggs_kept(config);
	for (uint32_t tor = 0; tor < topology_builder->shape->switches[0]; tor++) {
		uint32_t first = tor / config->pod_tors * aggs;
		for (uint32_t i = 0; i < aggs; i++) {
			struct topology_builder_end lower = {topology_builder->tier_first[0] + tor,
							     config->tor_nics + i};
			struct topology_builder_end upper = {topology_builder->tier_first[1] +
								     first + i,
							     tor % config->pod_tors};
			topology_builder_trunk(topology_builder, 1, lower, upper);
		}
	}
}

void fattree_trunks(struct topology_builder *topology_builder)
{
	const struct fabric_config *config = topology_builder->config;
	uint32_t aggs = fattree_aggs_kept(config), cores = cores_kept(config);
	fattree_pod_trunks(topology_builder);
	for (uint32_t core = 0; core < cores; core++) {
		for (uint32_t pod = 0; pod < topology_builder->shape->ports[2]; pod++) {
			struct topology_builder_end lower = {topology_builder->tier_first[1] +
								     pod * aggs + core % aggs,
							     config->pod_tors + core / aggs};
			struct topology_builder_end upper = {topology_builder->tier_first[2] + core,
							     pod};
			topology_builder_trunk(topology_builder, 2, lower, upper);
		}
	}
}
