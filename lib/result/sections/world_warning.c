// SPDX-License-Identifier: Apache-2.0
// The table of warnings about a world: each looks at it and says in a sentence what is odd.
#include <weft/world/world_warning.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SIZE sizeof(((struct world_warning *)NULL)->text)

static const char *spray_word(const struct world *world)
{
	return scenario_word("fabric.spray", world->fabric.spray);
}

// Switches choose the way packet by packet, whatever the EV says.
static bool has_switch_choice(const struct world *world)
{
	return world->fabric.spray == FABRIC_SPRAY_ROUND_ROBIN ||
		world->fabric.spray == FABRIC_SPRAY_ADAPTIVE;
}

// Go-back-N with an in-order receiver takes what overtook for a loss. Adapters that run RC over
// adaptive routing place packets out of order (ConnectX-5 and later).
static bool warn_reordering(const struct world *world, char *text)
{
	if (world->transport.kind != TRANSPORT_RC || !has_switch_choice(world))
		return false;
	snprintf(
		text, SIZE,
		"fabric.spray %s reorders packets, and transport.kind rc takes them in order alone "
		"and goes back for the rest: goodput collapses. Adapters that run RC over such "
		"switches place packets out of order, which this RC does not; set fabric.spray "
		"hash or transport.kind mrc",
		spray_word(world));
	return true;
}

// Where switches choose, the EV says no more than the plane, and all paths but MRC's own (which
// probes, and leaves planes) and a single one take planes in turn.
static bool warn_path(const struct world *world, char *text)
{
	const struct transport_config *transport = &world->transport;
	bool is_one_plane = transport->planes == 1;
	if (!has_switch_choice(world) || transport->kind != TRANSPORT_MRC ||
	    transport->path_policy == PATH_MRC ||
	    (transport->path_policy == PATH_SINGLE && !is_one_plane))
		return false;
	snprintf(text, SIZE,
		 "transport.path %s has no effect here: with fabric.spray %s switches choose the "
		 "way, whatever the entropy value, and %s",
		 scenario_word("transport.path", transport->path_policy), spray_word(world),
		 is_one_plane ? "there is one plane"
			      : "planes are taken in turn, as all but mrc and single do");
	return true;
}

static bool warn_marks(const struct world *world, char *text)
{
	const char *name = world->transport.cc.name;
	if (world->fabric.ecn_on || !cc_find(name)->needs_marks)
		return false;
	snprintf(text, SIZE,
		 "cc.algorithm %s works on marks, and queue.ecn is false: nothing but losses slows "
		 "a sender down",
		 name);
	return true;
}

// RC's incasts end where ports do not mark by default.
static bool warn_last_hop(const struct world *world, char *text)
{
	const char *name = world->transport.cc.name;
	if (world->transport.kind != TRANSPORT_RC || !world->fabric.ecn_on ||
	    world->fabric.ecn_last_hop || !cc_find(name)->needs_marks)
		return false;
	snprintf(text, SIZE,
		 "cc.algorithm %s works on marks, and queue.ecn_last_hop is false: what queues in "
		 "front of a NIC, as an incast does, slows no sender down",
		 name);
	return true;
}

// The window in force: given, or derived; 0 where a rate alone holds a flow back.
static uint64_t window_of(const struct transport_config *transport, bool *ret_is_given)
{
	const struct cc_config *cc = &transport->cc;
	const struct cc_ops *ops = cc_find(cc->name);
	uint64_t given = ops->is_fixed ? cc->window_bytes : cc->max_cwnd_bytes;
	*ret_is_given = given > 0;
	return given > 0 ? given : ops->has_rate ? 0 : (uint64_t)cc_window_auto(cc);
}

static const char *window_word(const struct transport_config *transport)
{
	return cc_find(transport->cc.name)->is_fixed ? "cc.window" : "cc.max_window";
}

// A window is bytes, mpr packets: the smaller one holds. A window of several QPs has the packets of
// them all, and a rate without a window needs none.
static bool warn_window(const struct world *world, char *text)
{
	const struct transport_config *transport = &world->transport;
	bool is_given;
	uint64_t window = window_of(transport, &is_given);
	uint64_t most = (uint64_t)transport->mpr * transport->cc.mtu_bytes;
	if (transport->shares_cc || window <= most)
		return false;
	snprintf(text, SIZE,
		 "%s, %" PRIu64 " B%s, is never reached: transport.mpr, %u packets in flight at "
		 "most, are %" PRIu64 " B",
		 window_word(transport), window, is_given ? "" : " (auto)", transport->mpr, most);
	return true;
}

// What is out at most must be a bandwidth-delay product, and what the receiver gathers before it
// answers. Several QPs of a connection have a window each.
static bool warn_below_line(const struct world *world, char *text)
{
	const struct transport_config *transport = &world->transport;
	const struct cc_config *cc = &transport->cc;
	uint32_t qps = transport->shares_cc ? 1 : world->scenario->qps_per_connection;
	uint64_t packets = (uint64_t)transport->mpr * cc->mtu_bytes;
	bool is_given;
	uint64_t window = window_of(transport, &is_given);
	bool is_mpr = window == 0 || packets < window;
	uint64_t bdp = cc_bdp_bytes(cc), most = qps * (is_mpr ? packets : window);
	if (most >= bdp + cc->gather_bytes || (!is_mpr && !is_given))
		return false;
	// a window lets whole packets out, one in any case
	uint64_t each = most / qps / cc->mtu_bytes,
		 whole = qps * (each > 0 ? each : 1) * cc->mtu_bytes;
	char share[80] = "its line is not always busy";
	if (whole < bdp)
		snprintf(share, sizeof(share),
			 "with full packets it reaches %.3g %% of its line at most",
			 100.0 * (double)whole / (double)bdp);
	snprintf(text, SIZE,
		 "a flow that is alone does not fill its line: %s lets %" PRIu64
		 " B be in flight, a bandwidth-delay product is %" PRIu64
		 " B, and a receiver gathers %u B before it answers; %s",
		 is_mpr ? "transport.mpr" : window_word(transport), most, bdp, cc->gather_bytes,
		 share);
	return true;
}

// A port is paused before its queue is as deep as that: all that other ports may hold together.
static bool warn_high_marks(const struct world *world, char *text)
{
	const struct topology *topology = &world->topology;
	uint64_t room = topology->pfc_room_bytes;
	if (!world->fabric.pfc.is_on || !world->fabric.ecn_on || topology->ecn_low_bytes < room)
		return false;
	snprintf(text, SIZE,
		 "queue.ecn_low, %" PRIu64 " B, is never reached: with queue.pfc a switch has its "
		 "peers pause, and holds %" PRIu64 " B at most; no packet is marked",
		 topology->ecn_low_bytes, room);
	return true;
}

// An EV of RC is a UDP source port, of which not all may be used.
static bool warn_evs(const struct world *world, char *text)
{
	uint32_t asked = world->scenario->transport.ev_count;
	if (world->transport.ev_count == asked)
		return false;
	snprintf(text, SIZE,
		 "transport.evs %u is %u here: with transport.kind rc an entropy value is a UDP "
		 "source port, and no more of them name paths",
		 asked, world->transport.ev_count);
	return true;
}

// A timer that ends before an answer can be there sends everything again.
static bool warn_timer(const struct world *world, char *text)
{
	ps_t rto_ps = world->transport.rto_ps, base_rtt_ps = world->topology.base_rtt_ps;
	if (rto_ps > base_rtt_ps)
		return false;
	snprintf(text, SIZE,
		 "transport.rto, %.3f us, is no longer than the round trip of the empty fabric, "
		 "%.3f "
		 "us: the timer sends each packet again before its answer can be there",
		 (double)rto_ps / 1e6, (double)base_rtt_ps / 1e6);
	return true;
}

// The largest switch chip that is known here: Broadcom's Tomahawk 6 comes with 1,024 SerDes lanes
// of 100 Gb/s or with 512 of 200 Gb/s (press release "Broadcom Ships Tomahawk 6: World's First
// 102.4 Tbps Switch", 3 June 2025; ServeTheHome, "Broadcom Tomahawk 6 Launched for 1.6TbE
// Generation"). A port takes whole lanes. A box may hold several chips, which then are several
// switches in here.
static const struct {
	uint64_t rate_bps;
	uint64_t lanes;
} chips[] = {{UINT64_C(100000000000), 1024}, {UINT64_C(200000000000), 512}};

#define CHIPS (sizeof(chips) / sizeof(*chips))

static bool fits_a_chip(const uint64_t *lanes)
{
	for (size_t i = 0; i < CHIPS; i++)
		if (lanes[i] <= chips[i].lanes)
			return true;
	return false;
}

// The lanes of each chip that the ports take, and their rates together.
static uint64_t lanes_of(const struct topology *topology, const struct switch_plan *plan,
			 uint64_t ret_lanes[CHIPS])
{
	uint64_t all_bps = 0;
	for (size_t i = 0; i < CHIPS; i++)
		ret_lanes[i] = 0;
	for (uint32_t port = 0; port < plan->port_count; port++) {
		uint64_t bps =
			topology->links[topology->port_links[plan->port_first + port]].rate_bps;
		all_bps += bps;
		for (size_t i = 0; i < CHIPS; i++)
			ret_lanes[i] += (bps + chips[i].rate_bps - 1) / chips[i].rate_bps;
	}
	return all_bps;
}

static bool warn_switch(const struct world *world, char *text)
{
	const struct topology *topology = &world->topology;
	uint32_t ports = 0;
	uint64_t most[CHIPS] = {0}, most_bps = 0;
	for (uint32_t i = 0; i < topology->switch_count; i++) {
		uint64_t lanes[CHIPS], bps = lanes_of(topology, &topology->switches[i], lanes);
		if (fits_a_chip(lanes) || lanes[0] <= most[0])
			continue;
		memcpy(most, lanes, sizeof(most));
		most_bps = bps;
		ports = topology->switches[i].port_count;
	}
	if (ports == 0)
		return false;
	snprintf(text, SIZE,
		 "fabric.topology: a switch here has %" PRIu32 " ports, together %" PRIu64
		 ".%" PRIu64 " Tb/s, which take %" PRIu64 " lanes of 100 Gb/s or %" PRIu64
		 " of 200 Gb/s; the largest switch chip (Tomahawk 6, 2025) has 1024 or 512",
		 ports, most_bps / 1000000000000, most_bps / 100000000000 % 10, most[0], most[1]);
	return true;
}

#define EVS_LEAST 8u	  // on a plane: with fewer, uplinks differ by a quarter and more
#define UPLINKS_DOUBLE 2u // what a T0 has up beside what its NICs have, where two EVs will do
#define EVS_OF_DOUBLE_LEAST 2u

static uint64_t ports_bps(const struct topology *topology, const struct switch_plan *plan,
			  uint32_t first, uint32_t end)
{
	uint64_t sum = 0;
	for (uint32_t port = first; port < end; port++)
		sum += topology->links[topology->port_links[plan->port_first + port]].rate_bps;
	return sum;
}

// A hash puts the EVs of several flows on one uplink of a T0 and those of none on another. A flow
// that has many EVs hardly feels it.
static bool warn_few_evs(const struct world *world, char *text)
{
	const struct topology *topology = &world->topology;
	const struct transport_config *transport = &world->transport;
	const struct switch_plan *plan = &topology->switches[0];
	uint32_t evs = transport->ev_count / transport->planes, uplinks = plan->route.up_count;
	if (transport->kind != TRANSPORT_MRC || world->fabric.spray != FABRIC_SPRAY_HASH ||
	    plan->route.is_static || transport->path_policy == PATH_SINGLE)
		return false;
	uint32_t first = plan->route.up_first;
	uint64_t up_bps = ports_bps(topology, plan, first, first + uplinks);
	uint64_t down_bps = ports_bps(topology, plan, 0, first);
	bool is_wide = up_bps >= UPLINKS_DOUBLE * down_bps;
	if (evs >= uplinks || evs >= EVS_LEAST || (is_wide && evs >= EVS_OF_DOUBLE_LEAST))
		return false;
	snprintf(text, SIZE,
		 "transport.evs: a flow has %u on a plane, which a hash puts on %u uplinks of its "
		 "T0: flows meet on some, and others are idle. A full fabric is not filled; with "
		 "16 on a plane it nearly is",
		 evs, uplinks);
	return true;
}

static const struct {
	const char *name;
	bool (*holds)(const struct world *world, char *text);
} warnings[] = {
	{"rc-reordering", warn_reordering},
	{"path-unused", warn_path},
	{"no-marks", warn_marks},
	{"no-last-hop-marks", warn_last_hop},
	{"switch-size", warn_switch},
	{"window-above-mpr", warn_window},
	{"below-line", warn_below_line},
	{"ecn-above-xoff", warn_high_marks},
	{"fewer-evs", warn_evs},
	{"rto-below-rtt", warn_timer},
	{"few-evs", warn_few_evs},
};

uint32_t world_warnings(const struct world *world, struct world_warning *ret)
{
	uint32_t count = 0;
	for (size_t i = 0; i < sizeof(warnings) / sizeof(*warnings); i++)
		if (warnings[i].holds(world, ret[count].text)) {
			ret[count].index = (uint32_t)i;
			ret[count++].name = warnings[i].name;
		}
	return count;
}

const char *world_warning_name(uint32_t index)
{
	return index < sizeof(warnings) / sizeof(*warnings) ? warnings[index].name : NULL;
}
