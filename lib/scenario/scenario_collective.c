// SPDX-License-Identifier: Apache-2.0
// The collective of a scenario: its figures as the workload takes them, and whether they fit the
// fabric.

#include <errno.h>
#include <string.h>

#include <weft/fabric/fabric_capacity.h>
#include <weft/workload/plan.h>

#include "scenario_reader.h"

#define CHANNELS_LEAST 4u
#define DIRECT_RANKS_MAX \
	64u // beyond, a connection for each channel of each pair is too much memory

// Collectives whose ranks send each other blocks with a NIC each, however many channels there are.
static bool is_direct(const struct traffic_config *traffic)
{
	bool is_known = coll_is_known(traffic->collective, COLL_RING);
	if (traffic->kind != TRAFFIC_COLLECTIVE)
		return false;
	return traffic->algorithm == COLL_DIRECT ||
		(traffic->algorithm == TRAFFIC_ALGORITHM_AUTO && !is_known);
}

// GPUs of a host that a ring goes through: of a model those of other tensor and context ranks.
static uint32_t members_of(const struct scenario *scenario)
{
	const struct traffic_config *traffic = &scenario->traffic;
	uint32_t members = scenario->fabric.nics_per_host, ranks = traffic->ring.ranks;
	const struct plan *plan = traffic->kind == TRAFFIC_MODEL ? traffic->plan : NULL;
	if (plan != NULL)
		members /= plan->parallel.tp * plan->parallel.cp;
	if (scenario_use_holds(USE_RANKS, scenario) && ranks > 0 && ranks < members)
		members = ranks;
	return members > 0 ? members : 1;
}

uint32_t scenario_channels(const struct scenario *scenario)
{
	if (is_direct(&scenario->traffic))
		return scenario->traffic.ring.ranks > DIRECT_RANKS_MAX ? 1 : CHANNELS_LEAST;
	return scenario_channels_over(members_of(scenario));
}

void scenario_take_plan(struct scenario *scenario, const struct plan *plan)
{
	scenario->traffic.plan = plan;
	if (scenario->traffic.has_auto_channels)
		scenario->traffic.ring.channels = scenario_channels(scenario);
}

void scenario_model_location(const struct scenario *scenario, struct refusal *refusal)
{
	const struct traffic_config *traffic = &scenario->traffic;
	const char *file = traffic->is_model_set ? "--set" : scenario->path;
	memcpy(refusal->file, file, strlen(file) + 1);
	refusal->line = traffic->model_line;
	refusal->column = traffic->model_column;
}

uint32_t scenario_channels_over(uint32_t members)
{
	uint32_t channels = members;
	while (channels < CHANNELS_LEAST)
		channels += members;
	return channels < COLL_CHANNELS_MAX ? channels : COLL_CHANNELS_MAX;
}

// A router, and a row of them along x.
static void take_torus(struct coll_lines *lines, const struct fabric_config *fabric,
		       uint64_t link_bps)
{
	uint32_t links[3]; // of a router: rows of two have one, and longer ones are rings
	for (int axis = 0; axis < 3; axis++)
		links[axis] = fabric->torus[axis] > 2 ? 2 : fabric->torus[axis] - 1;
	lines->parts[0].ranks = fabric->nics_per_t0;
	lines->parts[0].up_bps = link_bps * (links[0] + links[1] + links[2]);
	lines->parts[1].ranks = fabric->nics_per_t0 * fabric->torus[0];
	lines->parts[1].up_bps = link_bps * fabric->torus[0] * (links[1] + links[2]);
}

// Links between two routers, on average.
static double torus_distance(const struct fabric_config *fabric)
{
	double links = 0;
	for (int axis = 0; axis < 3; axis++)
		links += fabric->torus[axis] > 2 ? fabric->torus[axis] / 4.0
						 : (fabric->torus[axis] - 1) / 2.0;
	return links;
}

// The lowest switches of a .topo file, and its pods.
static void take_tree(struct coll_lines *lines, const struct fabric_config *fabric)
{
	const struct tree_tier *tier = fabric->tree.tier;
	if (fabric->tree.tiers < 2)
		return;
	lines->parts[0].ranks = tier[0].down;
	lines->parts[0].up_bps = tier[1].rate_bps * fabric->planes * tier[0].up;
	if (fabric->tree.tiers < 3)
		return;
	lines->parts[1].ranks = fabric->tree.pod_nics;
	lines->parts[1].up_bps = tier[2].rate_bps * fabric->planes * tier[0].up / tier[1].bundle *
		tier[1].up;
}

// The NICs and the other links of the switch of NIC 0, which others are taken to be like.
static void take_graph(struct coll_lines *lines, const struct fabric_config *fabric,
		       uint64_t trunk_bps)
{
	const struct graph_plan *graph = &fabric->graph;
	uint32_t node = 0;
	for (uint32_t i = 0; i < graph->link_count; i++)
		if (graph->links[i].is_nic && graph->links[i].b == 0)
			node = graph->links[i].a;
	for (uint32_t i = 0; i < graph->link_count; i++) {
		const struct graph_link *link = &graph->links[i];
		uint64_t bps = link->rate_bps > 0 ? link->rate_bps : trunk_bps;
		if (link->is_nic && link->a == node)
			lines->parts[0].ranks += link->count;
		if (!link->is_nic && (link->a == node || link->b == node))
			lines->parts[0].up_bps += bps * fabric->planes * link->count;
	}
}

// What leads up from the parts of a fabric below each of its tiers.
static void take_parts(struct coll_lines *lines, const struct fabric_config *fabric)
{
	uint64_t trunk_bps = fabric->trunk_rate_bps > 0 ? fabric->trunk_rate_bps
							: fabric->link_rate_bps;
	uint64_t up_bps = trunk_bps * fabric->planes;
	switch (fabric->kind) {
	case TOPOLOGY_CLOS:
	case TOPOLOGY_RAIL:
		lines->is_rail = fabric->kind == TOPOLOGY_RAIL;
		lines->parts[0].ranks = lines->is_rail ? fabric->nics / fabric->nics_per_host
						       : fabric->nics_per_t0;
		lines->parts[0].up_bps = up_bps * fabric->t1_count * fabric->bundle;
		break;
	case TOPOLOGY_DUMBBELL:
		lines->parts[0].ranks = fabric->nics / 2;
		lines->parts[0].up_bps = up_bps * fabric->bundle;
		break;
	case TOPOLOGY_FAT_TREE:
		lines->parts[0].ranks = fabric->tor_nics;
		lines->parts[0].up_bps = up_bps * fabric->pod_aggs;
		lines->parts[1].ranks = fabric->tor_nics * fabric->pod_tors;
		lines->parts[1].up_bps = up_bps * fabric->cores;
		break;
	case TOPOLOGY_TORUS:
		take_torus(lines, fabric, up_bps * fabric->bundle);
		break;
	case TOPOLOGY_FILE:
		take_tree(lines, fabric);
		break;
	case TOPOLOGY_GRAPH:
		take_graph(lines, fabric, trunk_bps);
		break;
	default:
		break;
	}
}

// Propagation of a link, and what a switch adds.
struct hop_parts {
	double nic_us, trunk_us, switch_us;
};

// Of the links that a graph lists, NICs' or those between switches, on average.
static double mean_delay_us(const struct fabric_config *fabric, bool is_nic, ps_t default_ps)
{
	double sum_ps = 0, count = 0;
	for (uint32_t i = 0; i < fabric->graph.link_count; i++) {
		const struct graph_link *link = &fabric->graph.links[i];
		ps_t delay_ps = link->delay_ps < 0 ? default_ps : link->delay_ps;
		if (link->is_nic != is_nic)
			continue;
		sum_ps += (double)delay_ps * link->count;
		count += link->count;
	}
	return (count > 0 ? sum_ps / count : (double)default_ps) / PS_PER_US;
}

// Each switch has a packet whole before it goes on.
static struct hop_parts hop_parts(const struct fabric_config *fabric)
{
	double bytes = fabric->cut_bytes > 0 ? fabric->cut_bytes : fabric->mtu_bytes;
	const struct tree_tier *tier = fabric->tree.tier;
	struct hop_parts parts = {.nic_us = (double)fabric->nic_delay_ps / PS_PER_US,
				  .trunk_us = (double)fabric->trunk_delay_ps / PS_PER_US,
				  .switch_us = (double)fabric->switch_delay_ps / PS_PER_US};
	if (fabric->kind == TOPOLOGY_FILE && fabric->tree.tiers >= 2) {
		parts.nic_us = (double)tier[0].delay_ps / PS_PER_US;
		parts.trunk_us = (double)tier[1].delay_ps / PS_PER_US;
		parts.switch_us = (double)tier[0].switch_delay_ps / PS_PER_US;
	}
	if (fabric->kind == TOPOLOGY_GRAPH) {
		parts.nic_us = mean_delay_us(fabric, true, fabric->nic_delay_ps);
		parts.trunk_us = mean_delay_us(fabric, false, fabric->trunk_delay_ps);
	}
	parts.switch_us += bytes * 8e6 / (double)fabric->link_rate_bps;
	return parts;
}

// A hop over the network by so many switches: two links of a NIC, and those between.
static double hop_us(const struct fabric_config *fabric, double switches)
{
	struct hop_parts parts = hop_parts(fabric);
	return 2 * parts.nic_us + switches * parts.switch_us + (switches - 1) * parts.trunk_us;
}

// Hops between domains: of a ring only the last of a part goes to the next.
static void take_hops(struct coll_lines *lines, const struct fabric_config *fabric, uint32_t domain)
{
	double near_us = hop_us(fabric, 1), far_us = hop_us(fabric, 3), next_us = far_us;
	uint32_t ranks = lines->parts[0].ranks;
	double leave = ranks > domain ? (double)domain / ranks : 1;
	bool is_one = lines->parts[0].up_bps == 0;
	if (fabric->kind == TOPOLOGY_TORUS) {
		next_us = hop_us(fabric, 2);
		far_us = hop_us(fabric, 1 + torus_distance(fabric));
	}
	if (fabric->kind == TOPOLOGY_DUMBBELL || fabric->kind == TOPOLOGY_GRAPH)
		next_us = far_us = hop_us(fabric, 2);
	if (lines->is_rail) // trees stay on theirs
		leave = domain > 1 || ranks >= fabric->nics ? 1 : 0;
	lines->near_us = near_us;
	lines->ring_us = is_one ? near_us : (1 - leave) * near_us + leave * next_us;
	lines->network_us = is_one || (lines->is_rail && domain > 1) ? near_us : far_us;
}

struct coll_lines scenario_lines(const struct scenario *scenario, uint32_t domain)
{
	const struct fabric_config *fabric = &scenario->fabric;
	struct coll_lines lines = {
		.bus_bps = fabric_nic_rate_least(fabric) * fabric->planes * domain,
		.inside_bps = scenario->scaleup.rate_bps,
		.inside_us = (double)scenario->scaleup.delay_ps / PS_PER_US,
	};
	take_parts(&lines, fabric);
	take_hops(&lines, fabric, domain);
	return lines;
}

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
	enum coll_algorithm other;
	if (traffic->algorithm == TRAFFIC_ALGORITHM_AUTO && traffic->has_fastest) {
		ret->algorithm = traffic->fastest;
	} else if (traffic->algorithm == TRAFFIC_ALGORITHM_AUTO) {
		const struct coll_lines lines = scenario_lines(scenario, domain);
		ret->algorithm = coll_choose(ret, &lines, &other);
	}
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
					 .is_external_compute = traffic->is_external_compute};
}

static int check_group(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	uint32_t ranks = reader->scenario->traffic.ring.ranks;
	bool is_given = reader_is_given(reader, "traffic.ranks");
	struct mark mark = reader_mark(reader, is_given ? "traffic.ranks" : "traffic.kind");
	if (ranks > fabric->nics)
		return reader_refuse(reader, mark, "traffic.ranks: %u is more than fabric.nics, %u",
				     ranks, fabric->nics);
	if (ranks > fabric->nics_per_host && ranks % fabric->nics_per_host != 0)
		return reader_refuse(reader, mark,
				     "traffic.ranks: %u ranks do not fill hosts of %u NICs", ranks,
				     fabric->nics_per_host);
	if (reader->scenario->traffic.axes != 0)
		return reader_check_axes(reader);
	uint32_t jobs = reader->scenario->traffic.jobs;
	bool is_several = scenario_use_holds(USE_JOBS, reader->scenario);
	if (is_several &&
	    ((uint64_t)ranks * jobs > fabric->nics || ranks < 2 ||
	     ranks % fabric->nics_per_host != 0))
		return reader_refuse(reader, reader_mark(reader, "traffic.jobs"),
				     "traffic.jobs: %u rings of %u ranks, whole hosts each, do not "
				     "go onto %u NICs",
				     jobs, ranks, fabric->nics);
	if (fabric->nics_per_host > 1 && reader->scenario->scaleup.rate_bps == 0)
		return reader_refuse(reader, reader_mark(reader, "fabric.nics_per_host"),
				     "fabric.nics_per_host: %u NICs of one host are neighbours in "
				     "the ring, and nothing joins them; give scaleup.rate, as "
				     "450GB/s",
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

static int check_gradients(struct reader *reader)
{
	struct gradients_config config;
	struct refusal why;
	scenario_gradients(&config, reader->scenario);
	if (gradients_check(&config, &why) == 0)
		return 0;
	bool is_element = config.element_bytes != 2 && config.element_bytes != 4;
	const char *key = is_element ? "traffic.element" : "traffic.bytes";
	return reader_refuse(reader, reader_mark(reader, key), "%s: %s", key, why.text);
}

int reader_check_collective(struct reader *reader)
{
	const struct traffic_config *traffic = &reader->scenario->traffic;
	struct refusal why;
	struct coll_config config;
	int rc = check_group(reader);
	if (rc < 0)
		return rc;
	if (traffic->kind == TRAFFIC_GRADIENTS)
		return check_gradients(reader);
	if (traffic->kind == TRAFFIC_RING && traffic->collective > COLL_ALL_REDUCE)
		return reader_refuse(reader, reader_mark(reader, "traffic.collective"),
				     "traffic.collective: a ring does no %s; traffic.kind "
				     "collective has it",
				     coll_kind_name(traffic->collective));
	if (traffic->kind == TRAFFIC_RING)
		return 0;
	scenario_collective(&config, reader->scenario);
	if (coll_check(&config, &why) == 0)
		return 0;
	const char *key = key_of(&config);
	return reader_refuse(reader, reader_mark(reader, key), "%s: %s", key, why.text);
}
