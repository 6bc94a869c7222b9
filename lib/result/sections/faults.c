// SPDX-License-Identifier: Apache-2.0
// Faults as lines of text. Figures are shown where the fault has them.

#include "sections.h"

#include <stdio.h>
#include <string.h>

#include <weft/result/number.h>
#include <weft/result/put.h>

#define FIGURES_BYTES 256

static const char *plane_text(char ret[24], uint32_t plane)
{
	if (plane == PLANE_EACH)
		ret[0] = '\0';
	else
		snprintf(ret, 24, " plane %u", plane);
	return ret;
}

const char *fault_place_text(char ret[FAULT_PLACE_BYTES], const struct link_location *at)
{
	char plane[24];
	plane_text(plane, at->plane);
	switch (at->where) {
	case LINK_AT_ALL:
		return strcpy(ret, "all");
	case LINK_AT_PLANE:
		return strcpy(ret, plane + 1);
	case LINK_AT_NIC:
		snprintf(ret, FAULT_PLACE_BYTES, "nic %u%s", at->index, plane);
		break;
	case LINK_AT_NIC_WHOLE:
		snprintf(ret, FAULT_PLACE_BYTES, "nic %u", at->index);
		break;
	case LINK_AT_HOST:
		snprintf(ret, FAULT_PLACE_BYTES, "host %u", at->index);
		break;
	case LINK_AT_T0:
	case LINK_AT_T1:
		snprintf(ret, FAULT_PLACE_BYTES, "%s %u%s", at->where == LINK_AT_T0 ? "t0" : "t1",
			 at->index, plane);
		break;
	case LINK_AT_TRUNK:
	case LINK_AT_T1_TRUNK:
		snprintf(ret, FAULT_PLACE_BYTES, "%s %u up %u%s",
			 at->where == LINK_AT_TRUNK ? "t0" : "t1", at->index, at->port, plane);
		break;
	case LINK_AT_BUNDLE:
		snprintf(ret, FAULT_PLACE_BYTES, "t0 %u t1 %u%s", at->index, at->port, plane);
		break;
	case LINK_AT_NODE:
	case LINK_AT_EDGE:
		snprintf(ret, FAULT_PLACE_BYTES, "%.40s%s", at->name, plane);
		break;
	}
	return ret;
}

// ---------------------------------------------------------------- figures

struct line {
	char at[FIGURES_BYTES];
	size_t used;
};

static void add(struct line *line, const char *name, const char *figure)
{
	line->used += (size_t)snprintf(line->at + line->used, sizeof(line->at) - line->used,
				       "%s%s %s", line->used > 0 ? ", " : "", name, figure);
}

static void add_time(struct line *line, const char *name, ps_t time_ps)
{
	struct text text;
	if (time_ps > 0)
		add(line, name, number_time(&text, time_ps));
}

static void add_share(struct line *line, const char *name, uint32_t ppb)
{
	struct text text;
	if (ppb > 0)
		add(line, name, number_share(&text, (double)ppb / SHARE_WHOLE));
}

static void add_number(struct line *line, const char *name, uint32_t number)
{
	struct text text;
	if (number > 0)
		add(line, name, number_grouped(&text, number));
}

static void figures(struct line *line, const struct fault *fault)
{
	static const char *const ways[] = {"both", "up", "down"};
	if (fault->direction != FAULT_BOTH_DIRECTIONS)
		add(line, "way", ways[fault->direction]);
	add_share(line, "probability", fault->share_ppb);
	add_share(line, "rate left", fault->rate_ppb);
	add_time(line, "down for", fault->down_ps);
	add_time(line, "up for", fault->up_ps);
	add_time(line, "delay", fault->delay_ps);
	add_number(line, "burst", fault->burst_packets);
	add_share(line, "enter", fault->enter_ppb);
	add_share(line, "leave", fault->leave_ppb);
	add_number(line, "queue", fault->queue_packets);
	add_number(line, "low", fault->ecn_low_bytes);
	add_number(line, "high", fault->ecn_high_bytes);
	add_number(line, "evs", fault->ev_count);
}

void faults_json(json_t *root, const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	json_t *array = array_in(root, "faults");
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		struct line line = {.at = ""};
		char place[FAULT_PLACE_BYTES];
		json_t *row = row_in(array);
		put_text(row, "kind", scenario_fault_name(fault->kind));
		put_text(row, "at", fault_place_text(place, &fault->at));
		put_time(row, "from_ps", fault->from_ps);
		put_time(row, "until_ps", fault->until_ps);
		figures(&line, fault);
		put_text(row, "text", line.at);
	}
}

// ---------------------------------------------------------------- of no effect

// A cable that is down takes no packet, and a stalled host is no cable: these are not asked.
static bool needs_packets(enum fault_kind kind)
{
	return !fault_is_setting(kind) && kind != FAULT_LINK_DOWN && kind != FAULT_FLAP &&
		kind != FAULT_STALL;
}

static bool has_packets(const struct world *world, const struct fault *fault)
{
	static const enum fault_direction other[] = {FAULT_DOWN, FAULT_UP};
	for (uint32_t i = 0; i < 2 * world->topology.link_count; i++)
		if (world->links.counts[i].packets > 0 && fault->direction != other[i % 2] &&
		    link_location_hits(&fault->at, &world->topology, i / 2))
			return true;
	return false;
}

bool faults_without_effect(const struct report_input *input, char *ret, size_t bytes)
{
	const struct world *world = input->world;
	char place[FAULT_PLACE_BYTES];
	for (uint32_t i = 0; i < world->scenario->fault_count; i++) {
		const struct fault *fault = &world->scenario->faults[i];
		bool is_late = !input->is_partial && !fault_is_setting(fault->kind) &&
			fault->from_ps > world->outcome->end_ps;
		if (!is_late &&
		    (!cables_are_counted(world) || !needs_packets(fault->kind) ||
		     has_packets(world, fault)))
			continue;
		snprintf(ret, bytes, "faults[%u], %s at %s, has no effect: %s", i,
			 scenario_fault_name(fault->kind), fault_place_text(place, &fault->at),
			 !is_late ? "no packet is sent there"
				 : world->scenario->sample.is_on
				 ? "it begins after what the sample runs"
				 : "it begins after the traffic ended");
		return true;
	}
	return false;
}
