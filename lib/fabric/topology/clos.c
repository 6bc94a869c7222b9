// SPDX-License-Identifier: Apache-2.0
// The two-tier Clos plane as MRC deploys it: every T0 has `bundle` links to every T1. T0 ports:
// NICs first, then T1 by T1 with the bundle together. T1 ports: T0 by T0, the bundle together.

#include <errno.h>

#include <weft/core/refusal.h>

#include "topology.h"

uint32_t clos_t1_kept(const struct fabric_config *config)
{
	uint64_t share = (uint64_t)config->t1_count * config->trunk_sample_kept;
	return (uint32_t)((share + config->trunk_sample_of - 1) / config->trunk_sample_of);
}

static int clos_check(const struct fabric_config *config, struct refusal *refusal)
{
	if (config->nics_per_t0 == 0)
		return refuse(refusal, -EINVAL, "nics_per_t0 must be at least 1");
	if (config->nics % config->nics_per_t0 != 0)
		return refuse(refusal, -EINVAL,
			      "% NICs do not fill whole T0 switches of % NICs each", config->nics,
			      config->nics_per_t0);
	if (config->nics_per_t0 % config->nics_per_host != 0)
		return refuse(refusal, -EINVAL,
			      "hosts of % NICs would straddle T0 switches of % NICs: nics_per_t0 "
			      "must be a multiple of nics_per_host",
			      config->nics_per_host, config->nics_per_t0);
	if (config->t1_count == 0 && config->nics > config->nics_per_t0)
		return refuse(refusal, -EINVAL, "% T0 switches per plane need at least one T1",
			      config->nics / config->nics_per_t0);
	if (config->t1_count > 0 && config->bundle == 0)
		return refuse(refusal, -EINVAL,
			      "bundle must be at least 1: links between a T0 and a T1");
	if (config->t1_count > UINT16_MAX || config->bundle > UINT16_MAX)
		return refuse(refusal, -EINVAL, "% T1 switches in bundles of % are too many",
			      config->t1_count, config->bundle);
	if (config->trunk_sample_kept == 0 || config->trunk_sample_kept > config->trunk_sample_of)
		return refuse(refusal, -EINVAL,
			      "a sample keeps 1 to all of the T0-T1 links, not % of %",
			      config->trunk_sample_kept, config->trunk_sample_of);
	return 0;
}

int clos_shape(const struct fabric_config *config, struct refusal *refusal, struct shape *ret)
{
	int error = clos_check(config, refusal);
	if (error != 0)
		return error;
	uint64_t t0 = config->nics / config->nics_per_t0;
	uint64_t t1 = clos_t1_kept(config);
	*ret = (struct shape){
		.tiers = t1 > 0 ? 2 : 1,
		.switches = {t0, t1},
		.ports = {config->nics_per_t0 + t1 * config->bundle, t0 * config->bundle},
		.links = {config->nics, t0 * t1 * config->bundle},
		.t0_nics = config->nics_per_t0,
	};
	return 0;
}

// The bundles of one T0.
static void clos_trunks_of(struct topology_builder *topology_builder, uint32_t t0,
			   uint32_t t1_count)
{
	uint32_t bundle = topology_builder->config->bundle;
	for (uint32_t i = 0; i < t1_count * bundle; i++) {
		struct topology_builder_end lower = {topology_builder->tier_first[0] + t0,
						     topology_builder->config->nics_per_t0 + i};
		struct topology_builder_end upper = {topology_builder->tier_first[1] + i / bundle,
						     t0 * bundle + i % bundle};
		topology_builder_trunk(topology_builder, 1, lower, upper);
	}
}

void clos_switches(struct topology_builder *topology_builder)
{
	const struct fabric_config *config = topology_builder->config;
	uint32_t t0_count = (uint32_t)topology_builder->shape->switches[0];
	uint32_t t1_count = (uint32_t)topology_builder->shape->switches[1];
	for (uint32_t i = 0; i < t0_count; i++) {
		struct route route = {
			.low = i * config->nics_per_t0,
			.high = (i + 1) * config->nics_per_t0,
			.span = 1,
			.down_links = 1,
			.up_first = config->nics_per_t0,
			.up_count = t1_count * config->bundle,
		};
		topology_builder_switch(topology_builder, 0, i, &route);
	}
	for (uint32_t i = 0; i < t1_count; i++) {
		struct route route = {
			.high = config->nics,
			.span = config->nics_per_t0,
			.down_links = config->bundle,
		};
		topology_builder_switch(topology_builder, 1, i, &route);
	}
}

void clos_trunks(struct topology_builder *topology_builder)
{
	uint32_t t1_count = (uint32_t)topology_builder->shape->switches[1];
	for (uint32_t i = 0; i < topology_builder->shape->switches[0]; i++)
		clos_trunks_of(topology_builder, i, t1_count);
}
