// SPDX-License-Identifier: Apache-2.0
// From a configuration to nodes and links: the checks all kinds share, the automatic queue figures
// and the base round trip. A NIC's place is its index: NIC n hangs below T0 n / t0_nics in every
// plane. Per plane the switches stand tier by tier and the links tier by tier.

#include "topology.h"

#include <errno.h>

#include <weft/core/check.h>
#include <weft/core/refusal.h>
#include <weft/fabric/fabric_capacity.h>

#include "graph.h"
#include "route.h"

#define NICS_MAX (UINT32_C(1) << 24)
#define QUEUE_BYTES_MAX (UINT64_C(1) << 31) // a port counts in 32 bits
#define DELAY_MAX_PS (100 * PS_PER_MS)	    // the round trip stays below 2^43 ps
#define RATE_MIN_BPS UINT64_C(1000000)
#define RATE_MAX_BPS UINT64_C(8000000000000) // 1 ps a byte

uint64_t trunk_rate(const struct fabric_config *config)
{
	return config->trunk_rate_bps > 0 ? config->trunk_rate_bps : config->link_rate_bps;
}

static int check_nics(const struct fabric_config *config, struct refusal *refusal)
{
	if (config->nics == 0 || config->nics > NICS_MAX)
		return refuse(refusal, -EINVAL, "nics must be 1 to %, not %", NICS_MAX,
			      config->nics);
	if (config->planes == 0 || config->planes > PLANES_MAX)
		return refuse(refusal, -EINVAL, "planes must be 1 to %, not %", PLANES_MAX,
			      config->planes);
	if (config->nics_per_host == 0 || config->nics % config->nics_per_host != 0)
		return refuse(refusal, -EINVAL, "% NICs do not fill whole hosts of % NICs each",
			      config->nics, config->nics_per_host);
	if ((uint64_t)config->nics_per_host * config->planes > PORTS_MAX)
		return refuse(refusal, -EINVAL,
			      "a host of % NICs with % planes has more than % ports",
			      config->nics_per_host, config->planes, PORTS_MAX);
	return 0;
}

static int check_line(const struct fabric_config *config, struct refusal *refusal)
{
	const ps_t delays[] = {config->nic_delay_ps, config->trunk_delay_ps,
			       config->switch_delay_ps};
	const uint64_t rates[] = {config->link_rate_bps, trunk_rate(config)};
	for (uint32_t i = 0; i < 2; i++)
		if (rates[i] < RATE_MIN_BPS || rates[i] > RATE_MAX_BPS)
			return refuse(refusal, -EINVAL, "link rate must be % to % bit/s, not %",
				      (int64_t)RATE_MIN_BPS, (int64_t)RATE_MAX_BPS,
				      (int64_t)rates[i]);
	for (uint32_t i = 0; i < 3; i++)
		if (delays[i] < 0 || delays[i] > DELAY_MAX_PS)
			return refuse(refusal, -EINVAL, "a delay must be 0 to % ps, not %",
				      DELAY_MAX_PS, delays[i]);
	return 0;
}

static int check_packets(const struct fabric_config *config, struct refusal *refusal)
{
	if (config->mtu_bytes == 0 || config->mtu_bytes > UINT16_MAX)
		return refuse(refusal, -EINVAL, "mtu_bytes must be 1 to %, not %", UINT16_MAX,
			      config->mtu_bytes);
	if (config->control_bytes == 0 || config->control_bytes > UINT16_MAX)
		return refuse(refusal, -EINVAL, "control_bytes must be 1 to %, not %", UINT16_MAX,
			      config->control_bytes);
	if (config->trim_on && (config->trim_bytes == 0 || config->trim_bytes > config->mtu_bytes))
		return refuse(refusal, -EINVAL, "trim_bytes must be 1 to %, not %",
			      config->mtu_bytes, config->trim_bytes);
	if (config->trim_choice > TRIM_NEWEST)
		return refuse(refusal, -EINVAL, "unknown trim choice %", config->trim_choice);
	return 0;
}

static int check_config(const struct fabric_config *config, struct refusal *refusal)
{
	int error = 0;
	if ((uint32_t)config->kind >= TOPOLOGY_KIND_COUNT)
		error = refuse(refusal, -EINVAL, "unknown topology %", config->kind);
	if (error == 0)
		error = check_nics(config, refusal);
	if (error == 0)
		error = check_line(config, refusal);
	if (error == 0)
		error = check_packets(config, refusal);
	return error;
}

static int check_shape(const struct fabric_config *config, const struct shape *shape,
		       struct refusal *refusal)
{
	uint64_t links = 0;
	for (uint32_t tier = 0; tier < shape->tiers; tier++) {
		if (shape->ports[tier] > PORTS_MAX)
			return refuse(refusal, -EINVAL,
				      "a switch of tier % would have % ports, more than %", tier,
				      (int64_t)shape->ports[tier], PORTS_MAX);
		links += shape->links[tier];
	}
	if (links * config->planes > LINKS_MAX)
		return refuse(refusal, -EINVAL, "% links in % planes are more than %",
			      (int64_t)links, config->planes, (int64_t)LINKS_MAX);
	return 0;
}

static bool is_tree(enum topology_kind kind)
{
	return kind == TOPOLOGY_CLOS || kind == TOPOLOGY_FAT_TREE;
}

static int shape_of(const struct fabric_config *config, struct refusal *refusal, struct shape *ret)
{
	bool is_clos = config->kind == TOPOLOGY_CLOS;
	int error = (is_clos ? clos_shape : fattree_shape)(config, refusal, ret);
	return error != 0 ? error : check_shape(config, ret, refusal);
}

// The smallest delay of any link: no packet can be felt elsewhere earlier.
static ps_t delay_min(const struct fabric_config *config, const struct shape *shape)
{
	ps_t trunk_ps = config->trunk_delay_ps + config->switch_delay_ps;
	return shape->tiers > 1 ? ps_min(config->nic_delay_ps, trunk_ps) : config->nic_delay_ps;
}

// Links on the longest way within a plane.
static uint32_t shape_links_max(const struct fabric_config *config, const struct shape *shape)
{
	if (shape->switches[0] == 1)
		return 2;
	if (config->kind == TOPOLOGY_CLOS || shape->switches[0] == config->pod_tors)
		return 4;
	return 6;
}

// What of a packet is sent before the next link begins.
uint32_t head_of(const struct fabric_config *config, uint32_t bytes)
{
	return config->cut_bytes > 0 && config->cut_bytes < bytes ? config->cut_bytes : bytes;
}

// One MTU packet over `hops` links, each sent whole before the next link starts (with cut-through,
// its head), and one control packet back. A link into a switch has the latency of that switch.
static ps_t base_rtt(const struct fabric_config *config, uint32_t hops)
{
	line_t line = line_of(config->link_rate_bps), trunk = line_of(trunk_rate(config));
	ps_t way = 2 * config->nic_delay_ps + (hops - 2) * config->trunk_delay_ps +
		(hops - 1) * config->switch_delay_ps;
	uint32_t data = head_of(config, config->mtu_bytes);
	uint32_t control = head_of(config, config->control_bytes);
	return line_ps(line, config->mtu_bytes) + line_ps(line, config->control_bytes) +
		line_ps(line, data) + line_ps(line, control) +
		(hops - 2) * (line_ps(trunk, data) + line_ps(trunk, control)) + 2 * way;
}

// Bytes of `tenths` tenths of a queue of `packets` packets, rounded up to whole packets.
static uint64_t tenths_of(uint64_t packets, uint32_t tenths, uint32_t mtu_bytes)
{
	return (packets * tenths + 9) / 10 * mtu_bytes;
}

// Queue sizes and thresholds. The automatic ones are one bandwidth-delay product in whole packets,
// and 20 % and 80 % of that, as UEC recommends (1.0, section 3.6.17) and htsim computes them.
static void derive_queues(const struct fabric_config *config, struct topology *topology)
{
	uint64_t mtu = config->mtu_bytes;
	uint64_t packet_line = line_of(config->link_rate_bps) * mtu;
	uint64_t rtt = (uint64_t)topology->base_rtt_ps << 20;
	uint64_t bdp_packets = (rtt + packet_line - 1) / packet_line;
	if (bdp_packets < config->bdp_packets_least)
		bdp_packets = config->bdp_packets_least;
	uint64_t most = QUEUE_BYTES_MAX / 2 / mtu; // control has twice the room
	uint64_t queue = config->queue_bytes > 0 ? config->queue_bytes
						 : (bdp_packets < most ? bdp_packets : most) * mtu;
	bool is_automatic = config->ecn_low_bytes == 0 && config->ecn_high_bytes == 0;
	topology->queue_bytes = queue;
	topology->last_hop_queue_bytes = config->last_hop_queue_bytes > 0
		? config->last_hop_queue_bytes
		: queue;
	topology->control_queue_bytes = config->control_queue_bytes > 0
		? config->control_queue_bytes
		: 2 * queue;
	topology->ecn_low_bytes = is_automatic ? tenths_of(queue / mtu, 2, config->mtu_bytes)
					       : config->ecn_low_bytes;
	topology->ecn_high_bytes = is_automatic ? tenths_of(queue / mtu, 8, config->mtu_bytes)
						: config->ecn_high_bytes;
	pfc_derive(config, topology);
}

static int check_derived(const struct fabric_config *config, const struct topology *topology,
			 struct refusal *refusal)
{
	if (topology->delay_min_ps == 0)
		return refuse(refusal, -EINVAL,
			      "cables need a propagation delay: it is the lookahead of the run");
	uint64_t least = topology->queue_bytes;
	uint64_t most = topology->last_hop_queue_bytes;
	if (least > most) {
		least = topology->last_hop_queue_bytes;
		most = topology->queue_bytes;
	}
	if (least < config->mtu_bytes)
		return refuse(refusal, -EINVAL, "a queue of % bytes holds no packet of % bytes",
			      (int64_t)least, config->mtu_bytes);
	if (most > QUEUE_BYTES_MAX || topology->control_queue_bytes > QUEUE_BYTES_MAX)
		return refuse(refusal, -EINVAL, "queues of % and % bytes: % is the most",
			      (int64_t)most, (int64_t)topology->control_queue_bytes,
			      (int64_t)QUEUE_BYTES_MAX);
	if (config->control_share_ppb >= SHARE_WHOLE)
		return refuse(refusal, -EINVAL, "a share of %/10^9 leaves nothing for data",
			      config->control_share_ppb);
	if ((config->round_control == 0) != (config->round_data == 0) ||
	    (config->round_control > 0 && config->control_share_ppb > 0))
		return refuse(refusal, -EINVAL,
			      "a round of % and % packets: both classes need some, and no share of "
			      "bytes",
			      config->round_control, config->round_data);
	if (topology->ecn_low_bytes > topology->ecn_high_bytes)
		return refuse(refusal, -EINVAL, "ecn_low_bytes % is above ecn_high_bytes %",
			      (int64_t)topology->ecn_low_bytes, (int64_t)topology->ecn_high_bytes);
	// of a shared buffer the share of a queue moves, and with PFC queues have no limit
	bool is_limited = config->buffer.bytes == 0 && !config->pfc.is_on;
	if (config->ecn_on && is_limited && topology->ecn_low_bytes > most)
		return refuse(refusal, -EINVAL,
			      "queue.ecn_low: % B is never reached in a queue of % B",
			      (int64_t)topology->ecn_low_bytes, (int64_t)most);
	if (topology->ecn_high_bytes > QUEUE_BYTES_MAX)
		return refuse(refusal, -EINVAL, "ecn_high_bytes % is above %",
			      (int64_t)topology->ecn_high_bytes, (int64_t)QUEUE_BYTES_MAX);
	return pfc_check(config, topology, refusal);
}

static int draw(struct topology *topology, struct arena *arena, const struct shape *shape,
		struct refusal *refusal)
{
	uint64_t ports = 0;
	for (uint32_t tier = 0; tier < shape->tiers; tier++) {
		topology->switch_count += (uint32_t)shape->switches[tier];
		topology->link_count += (uint32_t)shape->links[tier];
		ports += shape->switches[tier] * shape->ports[tier];
	}
	topology->switch_count *= topology->planes;
	topology->link_count *= topology->planes;
	ports *= topology->planes;
	topology->switches = arena_draw(arena, ARENA_FABRIC, topology->switch_count,
					sizeof *topology->switches);
	topology->links = arena_draw(arena, ARENA_FABRIC, topology->link_count,
				     sizeof *topology->links);
	topology->port_links = arena_draw(arena, ARENA_FABRIC, ports, sizeof *topology->port_links);
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for % switches and % links",
			      topology->switch_count, topology->link_count);
	return 0;
}

void topology_builder_place(struct topology_builder *topology_builder,
			    const struct switch_plan *counts)
{
	struct switch_plan *plan =
		&topology_builder->topology->switches[topology_builder->switch_at];
	*plan = *counts;
	plan->plane = (uint8_t)topology_builder->plane;
	plan->port_first = topology_builder->port_at;
	plan->route.is_static = topology_builder->config->forwarding == FABRIC_USID;
	bool is_same = topology_builder->config->hash_seed == FABRIC_SEED_SAME;
	route_init(&plan->route, topology_builder->seed, is_same ? 0 : topology_builder->switch_at);
	topology_builder->port_at += plan->port_count;
	topology_builder->switch_at++;
}

void topology_builder_switch(struct topology_builder *topology_builder, uint32_t tier,
			     uint32_t index, const struct route *route)
{
	topology_builder_place(topology_builder,
			       &(struct switch_plan){
				       .tier = (uint8_t)tier,
				       .index = index,
				       .port_count = (uint32_t)topology_builder->shape->ports[tier],
				       .up_first = route->up_first,
				       .up_ports = route->up_count,
				       .nics_first = route->low,
				       .nics_count = route->high - route->low,
				       .route = *route,
			       });
}

void topology_builder_link(struct topology_builder *topology_builder, const struct link_plan *ends)
{
	struct topology *topology = topology_builder->topology;
	struct link_plan *link = &topology->links[topology_builder->link_at];
	*link = *ends;
	link->plane = (uint8_t)topology_builder->plane;
	const struct switch_plan *upper = &topology->switches[link->node_b - topology->hosts];
	topology->port_links[upper->port_first + link->port_b] = topology_builder->link_at;
	if (link->tier > 0) {
		const struct switch_plan *lower =
			&topology->switches[link->node_a - topology->hosts];
		topology->port_links[lower->port_first + link->port_a] = topology_builder->link_at;
	}
	topology_builder->link_at++;
}

void topology_builder_trunk(struct topology_builder *topology_builder, uint32_t tier,
			    struct topology_builder_end lower, struct topology_builder_end upper)
{
	ps_t delay_ps = topology_builder->config->trunk_delay_ps +
		topology_builder->config->switch_delay_ps;
	topology_builder_link(topology_builder,
			      &(struct link_plan){
				      .node_a = topology_builder->topology->hosts + lower.place,
				      .node_b = topology_builder->topology->hosts + upper.place,
				      .port_a = lower.port,
				      .port_b = upper.port,
				      .rate_bps = trunk_rate(topology_builder->config),
				      .delay_ab_ps = delay_ps,
				      .delay_ba_ps = delay_ps,
				      .tier = (uint8_t)tier,
			      });
}

void topology_builder_nic(struct topology_builder *topology_builder, uint32_t nic,
			  struct topology_builder_end end, ps_t delay_ps, ps_t switch_delay_ps)
{
	const struct topology *topology = topology_builder->topology;
	uint32_t within = nic % topology->nics_per_host;
	topology_builder_link(topology_builder,
			      &(struct link_plan){
				      .node_a = nic / topology->nics_per_host,
				      .node_b = topology->hosts + end.place,
				      .port_a = within * topology->planes + topology_builder->plane,
				      .port_b = end.port,
				      .rate_bps = fabric_nic_rate(topology_builder->config, nic),
				      .delay_ab_ps = delay_ps + switch_delay_ps,
				      .delay_ba_ps = delay_ps,
			      });
}

static void topology_builder_nics(struct topology_builder *topology_builder)
{
	const struct topology *topology = topology_builder->topology;
	for (uint32_t nic = 0; nic < topology->nics; nic++) {
		struct topology_builder_end end = {topology_builder->tier_first[0] +
							   nic / topology->t0_nics,
						   nic % topology->t0_nics};
		topology_builder_nic(topology_builder, nic, end,
				     topology_builder->config->nic_delay_ps,
				     topology_builder->config->switch_delay_ps);
	}
}

static void topology_builder_planes(struct topology *topology, const struct fabric_config *config,
				    const struct shape *shape, uint64_t seed)
{
	struct topology_builder topology_builder = {
		.topology = topology, .config = config, .shape = shape, .seed = seed};
	for (topology_builder.plane = 0; topology_builder.plane < topology->planes;
	     topology_builder.plane++) {
		uint32_t first = topology_builder.switch_at;
		for (uint32_t tier = 0; tier < shape->tiers; tier++) {
			topology_builder.tier_first[tier] = first;
			first += (uint32_t)shape->switches[tier];
		}
		bool is_clos = config->kind == TOPOLOGY_CLOS;
		(is_clos ? clos_switches : fattree_switches)(&topology_builder);
		topology_builder_nics(&topology_builder);
		(is_clos ? clos_trunks : fattree_trunks)(&topology_builder);
	}
	check(topology_builder.switch_at == topology->switch_count &&
	      topology_builder.link_at == topology->link_count);
}

// A tree: what follows from its counts is known before anything is drawn.
static int build_tree(struct topology *topology, struct arena *arena,
		      const struct fabric_config *config, uint64_t seed, struct refusal *refusal)
{
	struct shape shape;
	int error = shape_of(config, refusal, &shape);
	if (error != 0)
		return error;
	topology->t0_nics = shape.t0_nics;
	topology->links_max = shape_links_max(config, &shape);
	topology->base_rtt_ps = base_rtt(config, topology->links_max);
	topology->delay_min_ps = delay_min(config, &shape);
	topology->rate_max_bps = config->link_rate_bps;
	if (shape.tiers > 1 && trunk_rate(config) > topology->rate_max_bps)
		topology->rate_max_bps = trunk_rate(config);
	derive_queues(config, topology);
	error = check_derived(config, topology, refusal);
	if (error == 0)
		error = draw(topology, arena, &shape, refusal);
	if (error == 0)
		topology_builder_planes(topology, config, &shape, seed);
	return error;
}

static int build_graph(struct topology *topology, struct arena *arena,
		       const struct fabric_config *config, uint64_t seed, struct refusal *refusal)
{
	int error = graph_build(topology, arena, config, seed, refusal);
	if (error != 0)
		return error;
	derive_queues(config, topology);
	return check_derived(config, topology, refusal);
}

// A switch that sends a packet on before it has all of it must not send faster than it gets.
static int check_cut(const struct fabric_config *config, const struct topology *topology,
		     struct refusal *refusal)
{
	for (uint32_t i = 0; config->cut_bytes > 0 && i < topology->link_count; i++)
		if (topology->links[i].rate_bps != config->link_rate_bps)
			return refuse(
				refusal, -EINVAL,
				"cut-through wants one rate for all links, and there are % and "
				"% b/s",
				(int64_t)config->link_rate_bps,
				(int64_t)topology->links[i].rate_bps);
	return 0;
}

int topology_build(struct topology *ret, struct arena *arena, const struct fabric_config *config,
		   uint64_t seed, struct refusal *refusal)
{
	int error = check_config(config, refusal);
	if (error != 0)
		return error;
	struct topology topology = {
		.kind = config->kind,
		.nics = config->nics,
		.hosts = config->nics / config->nics_per_host,
		.nics_per_host = config->nics_per_host,
		.planes = config->planes,
		.t0_nics = 1,
	};
	error = (is_tree(config->kind) ? build_tree : build_graph)(&topology, arena, config, seed,
								   refusal);
	if (error == 0)
		error = check_cut(config, &topology, refusal);
	if (error == 0)
		error = pfc_derive_headroom(config, &topology, refusal);
	if (error == 0)
		*ret = topology;
	return error;
}

// Walks the tables: in a graph all ways from one switch to another are equally long.
static uint32_t graph_links(const struct topology *topology, uint32_t from, uint32_t to)
{
	uint16_t ports[MACHINE_PORTS_MAX];
	uint32_t at = topology->nic_switch[from], links = 2;
	for (; at != topology->nic_switch[to]; links++) {
		if (topology_ports(topology, at, to, ports) == 0)
			return 0;
		at = topology_behind(topology, at, ports[0]) - topology->hosts;
	}
	return links;
}

uint32_t topology_links(const struct topology *topology, const struct fabric_config *config,
			uint32_t from, uint32_t to)
{
	if (topology->nic_switch != NULL)
		return graph_links(topology, from, to);
	uint32_t from_t0 = from / topology->t0_nics;
	uint32_t to_t0 = to / topology->t0_nics;
	if (from_t0 == to_t0)
		return 2;
	if (config->kind == TOPOLOGY_CLOS || from_t0 / config->pod_tors == to_t0 / config->pod_tors)
		return 4;
	return 6;
}

uint32_t topology_thinned(const struct fabric_config *config)
{
	if (config->kind == TOPOLOGY_CLOS)
		return clos_t1_kept(config);
	return config->kind == TOPOLOGY_FAT_TREE ? fattree_aggs_kept(config) : 0;
}

uint32_t topology_switch(const struct topology *topology, uint32_t nic)
{
	return topology->nic_switch != NULL ? topology->nic_switch[nic] : nic / topology->t0_nics;
}

enum pair_class topology_pair(const struct topology *topology, uint32_t from, uint32_t to)
{
	if (from / topology->nics_per_host == to / topology->nics_per_host)
		return PAIR_SAME_RACK;
	bool is_near = topology_switch(topology, from) == topology_switch(topology, to);
	return is_near ? PAIR_SAME_T0 : PAIR_ACROSS_T1;
}
