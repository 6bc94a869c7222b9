// SPDX-License-Identifier: Apache-2.0
// The least time of a set of messages: loads of lines, and what they come to. See world_ideal.h.
//
// Every figure errs to the low side. A line of the simulation is rounded down to 2^-20 ps a byte,
// one part in line_of() of the fastest, and each packet on it to a picosecond: that is taken off.

#include <errno.h>

#include <weft/core/check.h>

#include "ideal.h"

const char *ideal_limit_name(enum ideal_limit limit)
{
	static const char *const names[] = {
		[IDEAL_NIC] = "nic",
		[IDEAL_SCALEUP] = "scaleup",
		[IDEAL_CUT] = "cut",
		[IDEAL_STEPS] = "steps",
	};
	return names[limit];
}

// ---------------------------------------------------------------- loads

static void clear(struct ideal_load *loads, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		loads[i] = (struct ideal_load){.head_ps = PS_NEVER, .tail_ps = PS_NEVER};
}

void ideal_load_add(struct ideal_load *load, uint64_t bytes, uint64_t packets, ps_t head_ps,
		    ps_t tail_ps)
{
	load->bytes += bytes;
	load->packets += packets;
	load->head_ps = ps_min(load->head_ps, head_ps);
	load->tail_ps = ps_min(load->tail_ps, tail_ps);
}

// How long `bytes` take at least over lines of `rate_bps` together, none faster than
// `rate_max_bps`.
static ps_t carry_ps(uint64_t bytes, uint64_t packets, uint64_t rate_bps, uint64_t rate_max_bps)
{
	unsigned __int128 exact = (unsigned __int128)bytes * 8 * PS_PER_S / rate_bps;
	unsigned __int128 rounded = (unsigned __int128)packets * rate_max_bps / rate_bps + 1;
	unsigned __int128 off = exact / line_of(rate_max_bps) + rounded;
	if (exact <= off)
		return 0;
	exact -= off;
	return exact < PS_NEVER / 4 ? (ps_t)exact : PS_NEVER / 4;
}

static ps_t load_ps(const struct ideal_load *load, uint64_t rate_bps, uint64_t rate_max_bps)
{
	if (load->head_ps == PS_NEVER)
		return 0;
	return load->head_ps + carry_ps(load->bytes, load->packets, rate_bps, rate_max_bps) +
		load->tail_ps;
}

// ---------------------------------------------------------------- building

static void find_lines(struct ideal *ideal)
{
	const struct topology *topology = ideal->topology;
	ideal->up_ps = ideal->trunk_ps = ideal->down_ps = PS_NEVER;
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		if (link->tier > 0) {
			ideal->trunk_ps = ps_min(ideal->trunk_ps, link->delay_ab_ps);
			ideal->trunk_ps = ps_min(ideal->trunk_ps, link->delay_ba_ps);
			continue;
		}
		uint32_t nic = link->node_a * topology->nics_per_host +
			link->port_a / topology->planes;
		ideal->nic_rate_bps[nic] += link->rate_bps;
		ideal->up_ps = ps_min(ideal->up_ps, link->delay_ab_ps);
		ideal->down_ps = ps_min(ideal->down_ps, link->delay_ba_ps);
	}
}

// Beyond so many switches a plane links are not remembered, and taken to be as few as can be.
#define LINKS_SWITCHES_MAX 2048u

int ideal_create(struct ideal **ret, struct arena *arena, const struct scenario *scenario,
		 const struct topology *topology, struct refusal *refusal)
{
	uint32_t nics = topology->nics, switches = topology->switch_count / topology->planes;
	bool has_links = topology->nic_switch != NULL && switches <= LINKS_SWITCHES_MAX;
	struct ideal *ideal = arena_draw(arena, ARENA_WORLD, 1, sizeof(*ideal));
	struct ideal_load *loads = arena_draw(arena, ARENA_WORLD, nics, 4 * sizeof(*loads));
	uint64_t *rates = arena_draw(arena, ARENA_WORLD, nics, sizeof(*rates));
	uint8_t *links = has_links ? arena_draw(arena, ARENA_WORLD, switches, switches) : NULL;
	int rc = arena_has_failed(arena) ? -ENOMEM : 0;
	if (rc == 0) {
		*ideal = (struct ideal){.scenario = scenario,
					.topology = topology,
					.nic_rate_bps = rates,
					.out = loads,
					.in = loads + nics,
					.give = loads + 2 * (size_t)nics,
					.take = loads + 3 * (size_t)nics,
					.rate_max_bps = topology->rate_max_bps,
					.links = links,
					.switches = switches};
		find_lines(ideal);
		rc = ideal_find_cuts(ideal, arena);
	}
	if (rc < 0)
		return refuse(refusal, rc, "no memory for the lines of % NICs", nics);
	ideal_clear(ideal);
	*ret = ideal;
	return 0;
}

void ideal_clear(struct ideal *ideal)
{
	clear(ideal->out, 4 * ideal->topology->nics); // all four lists
	for (uint32_t i = 0; i < ideal->cut_count; i++)
		clear(ideal->cuts[i].out, 2 * ideal->cuts[i].parts);
	ideal->end_ps = 0;
	ideal->packets = 0;
}

// ---------------------------------------------------------------- messages

static uint32_t links_of(struct ideal *ideal, uint32_t from, uint32_t to)
{
	const struct topology *topology = ideal->topology;
	if (topology->nic_switch == NULL)
		return topology_links(topology, &ideal->scenario->fabric, from, to);
	uint32_t a = topology->nic_switch[from], b = topology->nic_switch[to];
	if (a == b || ideal->links == NULL)
		return a == b ? 2 : 3;
	uint8_t *known = &ideal->links[(size_t)a * ideal->switches + b];
	if (*known == 0)
		*known = (uint8_t)topology_links(topology, &ideal->scenario->fabric, from, to);
	return *known < 2 ? 2 : *known;
}

// From the last bit of the smallest packet on the first line to its last bit at the target.
static ps_t way_ps(const struct ideal *ideal, uint32_t links, uint64_t packet_bytes)
{
	uint32_t cut_bytes = ideal->scenario->fabric.cut_bytes;
	uint64_t read = cut_bytes > 0 && cut_bytes < packet_bytes ? cut_bytes : packet_bytes;
	ps_t packet_ps = line_ps(line_of(ideal->rate_max_bps), read);
	ps_t trunks_ps = links > 2 ? (links - 2) * ideal->trunk_ps : 0;
	return ideal->up_ps + trunks_ps + ideal->down_ps + (links - 1) * packet_ps;
}

ps_t ideal_answer_ps(struct ideal *ideal, uint32_t from, uint32_t to)
{
	uint64_t bytes = ideal->scenario->transport.control_bytes;
	return line_ps(line_of(ideal->rate_max_bps), bytes) +
		way_ps(ideal, links_of(ideal, from, to), bytes);
}

static ps_t add_near(struct ideal *ideal, const struct ideal_message *message)
{
	const struct scaleup_config *scaleup = &ideal->scenario->scaleup;
	if (scaleup->rate_bps == 0) // there will be no world of it: join_locals() refuses
		return message->begin_ps;
	uint64_t rate_bps = scaleup->rate_bps, bytes = message->bytes;
	uint64_t transfers = bytes / message->first_bytes + 1;
	ps_t begin_ps = message->begin_ps, delay_ps = scaleup->delay_ps;
	ideal_load_add(&ideal->give[message->from], bytes, transfers, begin_ps, delay_ps);
	ideal_load_add(&ideal->take[message->to], bytes, transfers, begin_ps, delay_ps);
	return begin_ps + carry_ps(message->first_bytes, 1, rate_bps, rate_bps) + delay_ps;
}

static void add_to_cuts(struct ideal *ideal, uint32_t from, uint32_t to,
			const struct ideal_load *load)
{
	for (uint32_t i = 0; i < ideal->cut_count; i++) {
		struct ideal_cut *cut = &ideal->cuts[i];
		uint32_t a = cut->part_of[from], b = cut->part_of[to];
		if (a == b)
			continue;
		ideal_load_add(&cut->out[a], load->bytes, load->packets, load->head_ps,
			       load->tail_ps);
		ideal_load_add(&cut->in[b], load->bytes, load->packets, load->head_ps,
			       load->tail_ps);
	}
}

uint64_t ideal_packets(const struct ideal *ideal, uint64_t bytes)
{
	uint64_t payload_bytes = ideal->scenario->transport.payload_bytes;
	return (bytes + payload_bytes - 1) / payload_bytes;
}

// What `bytes` in so many packets are on the wire.
static struct ideal_load wire_of(const struct ideal *ideal, uint64_t bytes, uint64_t packets)
{
	uint64_t header_bytes = ideal->scenario->transport.header_bytes;
	return (struct ideal_load){.bytes = bytes + packets * header_bytes, .packets = packets};
}

static ps_t add_far(struct ideal *ideal, const struct ideal_message *message)
{
	uint32_t from = message->from, to = message->to;
	uint64_t packets = ideal_packets(ideal, message->bytes);
	struct ideal_load all = wire_of(ideal, message->bytes,
					message->packets > 0 ? message->packets : packets);
	struct ideal_load first = wire_of(ideal, message->first_bytes,
					  ideal_packets(ideal, message->first_bytes));
	ps_t begin_ps = message->begin_ps;
	uint64_t packet_bytes = message->packet_bytes + ideal->scenario->transport.header_bytes;
	ps_t along_ps = way_ps(ideal, links_of(ideal, from, to), packet_bytes);
	ps_t answer_ps = ideal_answer_ps(ideal, to, from);
	all.head_ps = begin_ps;
	all.tail_ps = along_ps + answer_ps;
	ideal_load_add(&ideal->out[from], all.bytes, all.packets, begin_ps, all.tail_ps);
	ideal_load_add(&ideal->in[to], all.bytes, all.packets, begin_ps + along_ps, answer_ps);
	// the first over a cut of these may be from a NIC beside it, and the last to one
	enum topology_kind kind = ideal->topology->kind;
	bool is_listed = kind == TOPOLOGY_TORUS || kind == TOPOLOGY_GRAPH;
	if (is_listed && links_of(ideal, from, to) > 3)
		all.tail_ps = way_ps(ideal, 3, packet_bytes) + answer_ps;
	add_to_cuts(ideal, from, to, &all);
	ideal->packets += all.packets;
	return begin_ps + along_ps +
		carry_ps(first.bytes, first.packets, ideal->nic_rate_bps[from],
			 ideal->rate_max_bps);
}

ps_t ideal_add(struct ideal *ideal, const struct ideal_message *message)
{
	uint32_t per_host = ideal->topology->nics_per_host, nics = ideal->topology->nics;
	check(message->from < nics && message->to < nics && message->from != message->to);
	check(message->first_bytes > 0 && message->first_bytes <= message->bytes);
	bool is_near = message->from / per_host == message->to / per_host && !message->is_by_nic;
	ps_t there_ps = (is_near ? add_near : add_far)(ideal, message);
	ps_t answer_ps = is_near ? 0 : ideal_answer_ps(ideal, message->to, message->from);
	ideal->end_ps = ps_max(ideal->end_ps, there_ps + answer_ps);
	return there_ps;
}

// ---------------------------------------------------------------- what they come to

static void take(struct ideal_time *time, ps_t ps, enum ideal_limit limit)
{
	if (ps <= time->ps)
		return;
	time->ps = ps;
	time->limit = limit;
}

static void take_cut(struct ideal_time *time, const struct ideal *ideal,
		     const struct ideal_cut *cut)
{
	for (uint32_t part = 0; part < cut->parts; part++) {
		uint64_t rate_bps = cut->rate_bps[part];
		if (rate_bps == 0)
			continue; // rails without spines: nothing crosses
		take(time, load_ps(&cut->out[part], rate_bps, ideal->rate_max_bps), IDEAL_CUT);
		take(time, load_ps(&cut->in[part], rate_bps, ideal->rate_max_bps), IDEAL_CUT);
	}
}

// How long the payload of a load takes at a line's rate and nothing else.
static ps_t payload_ps(const struct ideal_load *load, uint64_t header_bytes, uint64_t rate_bps)
{
	uint64_t bytes = load->bytes - load->packets * header_bytes;
	return (ps_t)((unsigned __int128)bytes * 8 * PS_PER_S / rate_bps);
}

static ps_t lines_ps(const struct ideal *ideal)
{
	uint64_t near_bps = ideal->scenario->scaleup.rate_bps, nics = ideal->topology->nics;
	uint64_t header_bytes = ideal->scenario->transport.header_bytes;
	ps_t ret = 0;
	for (uint32_t nic = 0; nic < nics; nic++) {
		uint64_t rate_bps = ideal->nic_rate_bps[nic];
		if (rate_bps > 0) {
			ret = ps_max(ret, payload_ps(&ideal->out[nic], header_bytes, rate_bps));
			ret = ps_max(ret, payload_ps(&ideal->in[nic], header_bytes, rate_bps));
		}
		if (near_bps > 0) {
			ret = ps_max(ret, payload_ps(&ideal->give[nic], 0, near_bps));
			ret = ps_max(ret, payload_ps(&ideal->take[nic], 0, near_bps));
		}
	}
	return ret;
}

struct ideal_time ideal_time(const struct ideal *ideal)
{
	struct ideal_time time = {.ps = ideal->end_ps,
				  .limit = IDEAL_STEPS,
				  .lines_ps = lines_ps(ideal),
				  .steps_ps = ideal->end_ps,
				  .base_rtt_ps = ideal->topology->base_rtt_ps,
				  .packets = ideal->packets};
	uint64_t near_bps = ideal->scenario->scaleup.rate_bps;
	for (uint32_t nic = 0; nic < ideal->topology->nics; nic++) {
		uint64_t rate_bps = ideal->nic_rate_bps[nic];
		if (rate_bps > 0) {
			take(&time, load_ps(&ideal->out[nic], rate_bps, ideal->rate_max_bps),
			     IDEAL_NIC);
			take(&time, load_ps(&ideal->in[nic], rate_bps, ideal->rate_max_bps),
			     IDEAL_NIC);
		}
		if (near_bps > 0) {
			take(&time, load_ps(&ideal->give[nic], near_bps, near_bps), IDEAL_SCALEUP);
			take(&time, load_ps(&ideal->take[nic], near_bps, near_bps), IDEAL_SCALEUP);
		}
	}
	for (uint32_t i = 0; i < ideal->cut_count; i++)
		take_cut(&time, ideal, &ideal->cuts[i]);
	return time;
}
