// SPDX-License-Identifier: Apache-2.0
// The collective of a scenario: its figures as the workload takes them, and whether they fit the
// fabric.

#include <errno.h>

#include "scenario_draft.h"

void scenario_collective(struct coll_config *ret, const struct scenario *scenario)
{
	const struct traffic_config *traffic = &scenario->traffic;
	const struct fabric_config *fabric = &scenario->fabric;
	uint32_t ranks = traffic->ring.ranks, members = fabric->nics_per_host;
	uint32_t domain = ranks < members ? ranks : members;
	*ret = (struct coll_config){.kind = traffic->collective,
				    .algorithm = traffic->algorithm,
				    .ranks = ranks,
				    .bytes = traffic->bytes,
				    .element_bytes = traffic->element_bytes,
				    .channels = traffic->ring.channels,
				    .chunk_bytes = (uint32_t)traffic->ring.chunk_bytes_max,
				    .domain = domain,
				    .peers = traffic->peers,
				    .root = coll_has_root(traffic->collective) ? traffic->root : 0};
	if (traffic->algorithm == TRAFFIC_ALGORITHM_AUTO)
		ret->algorithm = coll_choose(ret, fabric->link_rate_bps * fabric->planes * domain);
}

void scenario_gradients(struct gradients_config *ret, const struct scenario *scenario)
{
	const struct traffic_config *traffic = &scenario->traffic;
	*ret = (struct gradients_config){.ranks = traffic->ring.ranks,
					 .buckets = traffic->buckets,
					 .slices = traffic->ring.slices,
					 .steps = traffic->steps,
					 .bucket_bytes = traffic->bytes,
					 .element_bytes = traffic->element_bytes,
					 .forward_ps = traffic->forward_ps,
					 .backward_ps = traffic->backward_ps,
					 .update_ps = traffic->update_ps,
					 .is_outside = traffic->is_outside};
}

static int check_group(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	uint32_t ranks = draft->scenario->traffic.ring.ranks;
	bool is_given = draft_is_given(draft, "traffic.ranks");
	struct mark mark = draft_mark(draft, is_given ? "traffic.ranks" : "traffic.kind");
	if (ranks > fabric->nics)
		return draft_refuse(draft, mark, "traffic.ranks: %u is more than fabric.nics, %u",
				    ranks, fabric->nics);
	if (ranks > fabric->nics_per_host && ranks % fabric->nics_per_host != 0)
		return draft_refuse(draft, mark,
				    "traffic.ranks: %u ranks do not fill hosts of %u NICs", ranks,
				    fabric->nics_per_host);
	if (draft->scenario->traffic.axes != 0)
		return draft_check_axes(draft);
	uint32_t jobs = draft->scenario->traffic.jobs;
	bool is_several = scenario_use_holds(USE_JOBS, draft->scenario);
	if (is_several &&
	    ((uint64_t)ranks * jobs > fabric->nics || ranks < 2 ||
	     ranks % fabric->nics_per_host != 0))
		return draft_refuse(draft, draft_mark(draft, "traffic.jobs"),
				    "traffic.jobs: %u rings of %u ranks, whole hosts each, do not "
				    "go onto %u NICs",
				    jobs, ranks, fabric->nics);
	if (fabric->nics_per_host > 1 && draft->scenario->scaleup.rate_bps == 0)
		return draft_refuse(draft, draft_mark(draft, "fabric.nics_per_host"),
				    "fabric.nics_per_host: %u NICs of one host are neighbours in "
				    "the ring, and nothing joins them; give scaleup.rate",
				    fabric->nics_per_host);
	return 0;
}

// The key that a refusal of coll_check() is about.
static const char *key_of(const struct coll_config *config)
{
	uint32_t element_bytes = config->element_bytes;
	if (coll_has_root(config->kind) && config->root >= config->ranks)
		return "traffic.root";
	if ((element_bytes & (element_bytes - 1)) != 0)
		return "traffic.element";
	return config->bytes % element_bytes != 0 ? "traffic.bytes" : "traffic.algorithm";
}

static int check_gradients(struct draft *draft)
{
	struct gradients_config config;
	struct refusal why;
	scenario_gradients(&config, draft->scenario);
	if (gradients_check(&config, &why) == 0)
		return 0;
	bool is_element = config.element_bytes != 2 && config.element_bytes != 4;
	const char *key = is_element ? "traffic.element" : "traffic.bytes";
	return draft_refuse(draft, draft_mark(draft, key), "%s: %s", key, why.text);
}

int draft_check_collective(struct draft *draft)
{
	const struct traffic_config *traffic = &draft->scenario->traffic;
	struct refusal why;
	struct coll_config config;
	int rc = check_group(draft);
	if (rc < 0)
		return rc;
	if (traffic->kind == TRAFFIC_GRADIENTS)
		return check_gradients(draft);
	if (traffic->kind == TRAFFIC_RING && traffic->collective > COLL_ALL_REDUCE)
		return draft_refuse(draft, draft_mark(draft, "traffic.collective"),
				    "traffic.collective: a ring does no %s; traffic.kind "
				    "collective has it",
				    coll_kind_name(traffic->collective));
	if (traffic->kind == TRAFFIC_RING)
		return 0;
	scenario_collective(&config, draft->scenario);
	if (coll_check(&config, &why) == 0)
		return 0;
	const char *key = key_of(&config);
	return draft_refuse(draft, draft_mark(draft, key), "%s: %s", key, why.text);
}
