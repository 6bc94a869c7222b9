// SPDX-License-Identifier: Apache-2.0
// The table of warnings about a world: each looks at it and says in a sentence what is odd.
#include <weft/world_warning.h>

#include <inttypes.h>
#include <stdio.h>

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

// The EV says nothing where switches choose and there is one plane. MRC's own path still probes.
static bool warn_path(const struct world *world, char *text)
{
	const struct transport_config *transport = &world->transport;
	if (!has_switch_choice(world) || transport->kind != TRANSPORT_MRC ||
	    transport->planes > 1 || transport->path_policy == PATH_MRC)
		return false;
	snprintf(text, SIZE,
		 "transport.path %s has no effect here: with fabric.spray %s switches choose the "
		 "way, whatever the entropy value, and there is one plane",
		 scenario_word("transport.path", transport->path_policy), spray_word(world));
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
		 "front of a NIC, as an incast does, slows nobody down",
		 name);
	return true;
}

// The largest switch chips announced up to 2026 carry 102.4 Tb/s, in at most 512 ports (Broadcom
// Tomahawk 6, 2025: 64 of 1.6 Tb/s to 512 of 200 Gb/s); those before 51.2 Tb/s, 512 of 100 Gb/s.
#define RADIX_MAX 512u
#define CAPACITY_MAX_BPS UINT64_C(102400000000000)

static bool warn_radix(const struct world *world, char *text)
{
	const struct topology *topology = &world->topology;
	uint32_t ports_max = 0;
	uint64_t most_bps = 0;
	for (uint32_t i = 0; i < topology->switch_count; i++) {
		const struct switch_plan *plan = &topology->switches[i];
		uint64_t bps = 0;
		for (uint32_t port = 0; port < plan->port_count; port++)
			bps += topology->links[topology->port_links[plan->port_first + port]]
				       .rate_bps;
		ports_max = plan->port_count > ports_max ? plan->port_count : ports_max;
		most_bps = bps > most_bps ? bps : most_bps;
	}
	if (ports_max <= RADIX_MAX && most_bps <= CAPACITY_MAX_BPS)
		return false;
	snprintf(text, SIZE,
		 "fabric.topology: a switch here has %" PRIu32 " ports, and one carries %" PRIu64
		 ".%" PRIu64 " Tb/s; no switch of today has more than %u ports or 102.4 Tb/s",
		 ports_max, most_bps / 1000000000000, most_bps / 100000000000 % 10, RADIX_MAX);
	return true;
}

static const struct {
	const char *name;
	bool (*holds)(const struct world *world, char *text);
} warnings[] = {
	{"rc-reordering", warn_reordering},   {"path-unused", warn_path},  {"no-marks", warn_marks},
	{"no-last-hop-marks", warn_last_hop}, {"switch-size", warn_radix},
};

uint32_t world_warnings(const struct world *world, struct world_warning *ret)
{
	uint32_t count = 0;
	for (size_t i = 0; i < sizeof(warnings) / sizeof(*warnings); i++)
		if (warnings[i].holds(world, ret[count].text))
			ret[count++].name = warnings[i].name;
	return count;
}
