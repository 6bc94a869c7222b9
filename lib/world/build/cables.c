// SPDX-License-Identifier: Apache-2.0
// The cables of a world: two for each link, each with the faults of the timeline that hit it; how
// they are called, and which of them are tapped. Cable 2 * link leads away from the NICs, the next
// one back.

#include <errno.h>

#include <weft/world/world_signal.h>

#include "build.h"
#include "traffic_engine.h"
#include <weft/host/trigger_flows.h>

// Parts per 10^9 as a threshold for 32 random bits; everything is 2^32 - 1.
static uint32_t threshold_of(uint32_t share_ppb)
{
	uint64_t threshold = ((uint64_t)share_ppb << 32) / 1000000000u;
	return threshold > UINT32_MAX ? UINT32_MAX : (uint32_t)threshold;
}

// Whether a straggler has something to be late with: of flows, those that start after 0 by a time
// of their own.
static bool has_work(const struct world *world, const struct fault *fault)
{
	if (world->job.group_count > 0 || traffic_engine_of(world) != NULL)
		return true;
	for (uint32_t i = 0; i < world->flow_count; i++) {
		const struct flow *flow = &world->flows[i];
		uint32_t host = flow->from / world->fabric.nics_per_host;
		if (flow->start_ps > 0 && flow->trigger == 0 &&
		    (fault->at.where == LINK_AT_ALL || fault->at.index == host))
			return true;
	}
	return false;
}

static int check_straggler(const struct world *world, const struct fault *fault,
			   struct refusal *refusal)
{
	if (fault->kind != FAULT_STRAGGLER || has_work(world, fault))
		return 0;
	return refuse(refusal, -EINVAL,
		      "a straggler has no effect here: it is late with what starts after 0, and "
		      "no flow of its NICs does");
}

static int check_faults(struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		int rc = fault_check(&scenario->faults[i], &world->topology, refusal);
		if (rc == 0 && scenario->faults[i].kind == FAULT_SLOW &&
		    world->fabric.cut_bytes > 0)
			rc = refuse(
				refusal, -EINVAL,
				"a slow line and cut-through exclude each other: a switch would "
				"have to send what has not come yet");
		if (rc == 0)
			rc = check_straggler(world, &scenario->faults[i], refusal);
		if (rc < 0) {
			scenario_fault_location(scenario, i, refusal);
			return rc;
		}
	}
	return 0;
}

static int check_tap(const struct world *world, const struct tap *tap, struct refusal *refusal)
{
	if (tap->direction > TAP_DOWN)
		return refuse(refusal, -EINVAL, "unknown direction of a tap %", tap->direction);
	if (tap->from_ps < 0 || tap->until_ps <= tap->from_ps)
		return refuse(refusal, -EINVAL,
			      "a tap must end after it begins: it is from % to % ps", tap->from_ps,
			      tap->until_ps);
	return link_location_check(&tap->at, &world->topology, refusal);
}

static int check_taps(struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	for (uint32_t i = 0; i < scenario->tap_count; i++) {
		int rc = check_tap(world, &scenario->taps[i], refusal);
		if (rc < 0) {
			if (refusal != NULL)
				scenario_tap_location(scenario, i, refusal);
			return rc;
		}
	}
	return 0;
}

// How many faults hit link `link` on its way up (else down); they are written to `ret` when that is
// not NULL.
static uint32_t faults_of(const struct world *world, uint32_t link, bool is_up,
			  struct cable_fault *ret)
{
	const struct scenario *scenario = world->scenario;
	uint32_t count = 0;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (fault_is_setting(fault->kind) ||
		    fault->direction == (is_up ? FAULT_DOWN : FAULT_UP) ||
		    !link_location_hits(&fault->at, &world->topology, link))
			continue;
		if (ret != NULL)
			ret[count] = (struct cable_fault){
				.kind = fault->kind,
				.from_ps = fault->from_ps,
				.until_ps = fault->until_ps,
				.threshold = threshold_of(fault->share_ppb),
				.down_ps = fault->down_ps,
				.up_ps = fault->up_ps,
				.delay_ps = fault->delay_ps,
				.rate_ppb = fault->rate_ppb,
				.burst = fault_burst(fault),
				.good_threshold = threshold_of(fault->good_loss_ppb),
				.bad_threshold = threshold_of(fault->bad_loss_ppb > 0
								      ? fault->bad_loss_ppb
								      : SHARE_WHOLE),
				.queue_packets = fault->queue_packets > 0 ? fault->queue_packets
									  : STALL_QUEUE_PACKETS};
		count++;
	}
	return count;
}

static void lay_link(struct world *world, uint32_t link)
{
	const struct link_plan *plan = &world->topology.links[link];
	struct cable_fault *faults = world->cable_faults + world->cable_fault_count;
	uint32_t up_count = faults_of(world, link, true, faults);
	uint32_t down_count = faults_of(world, link, false, faults + up_count);
	struct cable_plan there = {
		.from_machine = plan->node_a,
		.from_port = plan->port_a,
		.to_machine = plan->node_b,
		.to_port = plan->port_b,
		.line = line_of(plan->rate_bps),
		.delay_ps = plan->delay_ab_ps,
		.fault_first = world->cable_fault_count,
		.fault_count = up_count,
		.tier = plan->tier,
		.plane = plan->plane,
	};
	there.head_bytes = world->fabric.cut_bytes; // the upper end is a switch
	struct cable_plan back = there;
	if (plan->node_a < world->topology.hosts)
		back.head_bytes = 0;
	back.from_machine = plan->node_b;
	back.from_port = plan->port_b;
	back.to_machine = plan->node_a;
	back.to_port = plan->port_a;
	back.delay_ps = plan->delay_ba_ps;
	back.fault_first += up_count;
	back.fault_count = down_count;
	world->cable_fault_count += up_count + down_count;
	world->cables[world->cable_count++] = there;
	world->cables[world->cable_count++] = back;
}

uint32_t world_packet_bytes_max(const struct world *world)
{
	const struct transport_config *transport = &world->transport;
	uint32_t data = transport->header_bytes + transport->payload_bytes;
	return data > transport->control_bytes ? data : transport->control_bytes;
}

// The most packets one machine can send, or get, in one window: every port busy with the smallest
// packets.
static uint64_t departures_max(const struct world *world)
{
	const struct transport_config *transport = &world->transport;
	uint32_t smallest = transport->header_bytes + 1;
	if (transport->control_bytes < smallest)
		smallest = transport->control_bytes;
	if (world->fabric.trim_on && world->fabric.trim_bytes < smallest)
		smallest = world->fabric.trim_bytes;
	if (world->fabric.pfc.is_on && smallest > PAUSE_FRAME_BYTES)
		smallest = PAUSE_FRAME_BYTES;
	ps_t shortest = line_ps(line_of(world->topology.rate_max_bps), smallest);
	uint32_t ports = 0;
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->machines[m].port_count > ports)
			ports = world->machines[m].port_count;
	return ports * ((uint64_t)(world->window_ps / (shortest > 0 ? shortest : 1)) + 3);
}

#define DEPARTURES_USUAL (UINT64_C(1) << 20)
#define DEPARTURES_MAX (UINT64_C(1) << 27) // 2 GiB of them

int cables_build(struct world *world, struct refusal *refusal)
{
	const struct topology *topology = &world->topology;
	int rc = check_faults(world, refusal);
	if (rc == 0)
		rc = check_taps(world, refusal);
	if (rc < 0)
		return rc;
	uint64_t hits = 0;
	for (uint32_t i = 0; i < topology->link_count; i++)
		hits += faults_of(world, i, true, NULL) + faults_of(world, i, false, NULL);
	world->cables = arena_draw(world->arena, ARENA_WORLD, 2 * (size_t)topology->link_count,
				   sizeof(*world->cables));
	world->cable_faults = arena_draw(world->arena, ARENA_WORLD, hits,
					 sizeof(*world->cable_faults));
	if (arena_has_failed(world->arena))
		return build_no_memory(world, refusal);
	for (uint32_t i = 0; i < topology->link_count; i++)
		lay_link(world, i);
	world->lookahead_ps = topology->delay_min_ps;
	if (world_signals_total(world) > 0) // they are cables of their own
		world->lookahead_ps = ps_min(world->lookahead_ps, world->starters->delay_ps);
	if (world->lookahead_ps < PS_PER_NS)
		return refuse(refusal, -EINVAL,
			      "the shortest cable takes % ps; at least 1000 ps are needed",
			      world->lookahead_ps);
	// it would ring for every packet, and be due in the window in which it is set
	if (world->transport.rto_ps <= world->lookahead_ps + PS_PER_NS)
		return refuse(
			refusal, -EINVAL,
			"transport.rto is % ps, and no answer can be back by then: the shortest "
			"cable alone takes % ps",
			world->transport.rto_ps, world->lookahead_ps);
	if (world->scenario->window_ps > world->lookahead_ps)
		return refuse(refusal, -EINVAL,
			      "limits.window: a window of % ps is longer than the shortest delay, "
			      "% ps; what is sent in it could arrive in it",
			      world->scenario->window_ps, world->lookahead_ps);
	world->window_ps = world->scenario->window_ps > 0 ? world->scenario->window_ps
							  : world->lookahead_ps;
	// a shorter window tells nothing else, and needs less room
	while (world->scenario->window_ps == 0 && departures_max(world) > DEPARTURES_USUAL &&
	       world->window_ps > PS_PER_US)
		world->window_ps /= 2;
	uint64_t departures = departures_max(world);
	if (departures > DEPARTURES_MAX)
		return refuse(
			refusal, -EINVAL,
			"a machine could send % packets in one window of % ps: set limits.window "
			"to less",
			(int64_t)departures, world->window_ps);
	world->departures_max = (uint32_t)departures;
	return 0;
}

// ---------------------------------------------------------------- taps

static bool tap_hits(const struct world *world, const struct tap *tap, uint32_t place)
{
	uint32_t cable = place / 2;
	bool is_up = cable % 2 == 0;
	if (tap->is_far != place % 2)
		return false;
	if (tap->direction != TAP_BOTH && is_up != (tap->direction == TAP_UP))
		return false;
	return link_location_hits(&tap->at, &world->topology, cable / 2);
}

bool world_cable_is_tapped(const struct world *world, uint32_t place, ps_t at)
{
	const struct scenario *scenario = world->scenario;
	check(place / 2 < world->cable_count);
	for (uint32_t i = 0; i < scenario->tap_count; i++) {
		const struct tap *tap = &scenario->taps[i];
		if (at >= tap->from_ps && at < tap->until_ps && tap_hits(world, tap, place))
			return true;
	}
	return false;
}

bool world_cable_has_tap(const struct world *world, uint32_t place)
{
	const struct scenario *scenario = world->scenario;
	check(place / 2 < world->cable_count);
	for (uint32_t i = 0; i < scenario->tap_count; i++)
		if (tap_hits(world, &scenario->taps[i], place))
			return true;
	return false;
}

// ---------------------------------------------------------------- names

struct name {
	char *at, *end; // end: where the last NUL may stand
};

static void put_word(struct name *name, const char *word)
{
	for (; *word != '\0' && name->at < name->end; word++)
		*name->at++ = *word;
}

// A word and a number behind it.
static void put_number(struct name *name, const char *word, uint32_t number)
{
	char digits[11];
	char *at = digits + sizeof(digits) - 1;
	*at = '\0';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	put_word(name, word);
	put_word(name, at);
}

static void put_switch(struct name *name, const struct topology *topology,
		       const struct switch_plan *plan)
{
	if (topology->names != NULL) {
		put_word(name, topology->names[plan->index]);
		return;
	}
	const char *const tiers[] = {"t0 ", "t1 ", "t2 "};
	check(plan->tier < sizeof(tiers) / sizeof(*tiers));
	put_number(name, tiers[plan->tier], plan->index);
}

// The end that is nearer to the NICs, in the words of a place in a scenario: it is the one that
// names the link.
static void put_lower(struct name *name, const struct topology *topology,
		      const struct link_plan *link)
{
	if (link->tier == 0) {
		uint32_t within = link->port_a / topology->planes;
		put_number(name, "nic ", link->node_a * topology->nics_per_host + within);
	} else {
		const struct switch_plan *lower =
			&topology->switches[link->node_a - topology->hosts];
		put_switch(name, topology, lower);
		put_number(name, topology->names != NULL ? " link " : " up ",
			   link->port_a - lower->up_first);
	}
	put_number(name, " plane ", link->plane);
}

void world_switch_name(const struct world *world, uint32_t index, char *ret, size_t bytes)
{
	check(index < world->topology.switch_count && bytes > 0);
	struct name name = {ret, ret + bytes - 1};
	put_switch(&name, &world->topology, &world->topology.switches[index]);
	*name.at = '\0';
}

void world_cable_name(const struct world *world, uint32_t cable, char *ret, size_t bytes)
{
	const struct topology *topology = &world->topology;
	check(cable < world->cable_count && bytes > 0);
	const struct link_plan *link = &topology->links[cable / 2];
	const struct switch_plan *upper = &topology->switches[link->node_b - topology->hosts];
	struct name name = {ret, ret + bytes - 1};
	bool is_up = cable % 2 == 0;
	if (is_up)
		put_lower(&name, topology, link);
	else
		put_switch(&name, topology, upper);
	put_word(&name, " > ");
	if (is_up)
		put_switch(&name, topology, upper);
	else
		put_lower(&name, topology, link);
	*name.at = '\0';
}
