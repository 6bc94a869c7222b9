// SPDX-License-Identifier: Apache-2.0
// See brief_line.h.

#include "brief_line.h"

#include <inttypes.h>
#include <string.h>

#include <weft/result/figures.h>
#include <weft/result/number.h>
#include <weft/result/report_stall.h>

// ---------------------------------------------------------------- traffic

static void collective_words(struct brief_line *line, const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	struct coll_config config;
	struct text bytes;
	scenario_collective(&config, scenario);
	brief_add(line, BRIEF_PLAIN, 0, "%s %s%s%s", coll_kind_name(config.kind),
		  number_bytes(&bytes, config.bytes),
		  scenario->traffic.kind == TRAFFIC_COLLECTIVE ? ", " : "",
		  scenario->traffic.kind == TRAFFIC_COLLECTIVE
			  ? coll_algorithm_name(config.algorithm)
			  : "");
}

// "64 flows of 2.00 MB": from the smallest to the largest.
static void flows_words(struct brief_line *line, const struct world *world)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct text text[3];
	for (uint32_t i = 0; i < world->flow_count; i++) {
		uint64_t bytes = world->flows[i].bytes;
		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	const char *first = number_bytes(&text[1], least), *last = number_bytes(&text[2], most);
	bool is_one = strcmp(first, last) == 0;
	const char *kind = traffic_name(world->scenario->traffic.kind);
	bool is_said = strcmp(kind, world->scenario->name) == 0 || strcmp(kind, "flows") == 0;
	brief_add(line, BRIEF_PLAIN, 0, "%s%s%s flow%s of %s%s%s", is_said ? "" : kind,
		  is_said ? "" : ", ", number_grouped(&text[0], world->flow_count),
		  world->flow_count == 1 ? "" : "s", first, is_one ? "" : " to ",
		  is_one ? "" : last);
}

static void traffic_words(struct brief_line *line, const struct report_input *input)
{
	const struct world *world = input->world;
	const struct traffic_config *traffic = &world->scenario->traffic;
	bool is_ring = traffic->kind == TRAFFIC_RING && traffic->jobs <= 1 && traffic->axes == 0;
	struct text text;
	if (world->jobs.bytes != NULL)
		brief_add(line, BRIEF_PLAIN, 0, "%" PRIu32 " jobs", world->scenario->job_count);
	else if (is_ring || traffic->kind == TRAFFIC_COLLECTIVE)
		collective_words(line, input);
	else if (world->job.group_count > 0)
		brief_add(line, BRIEF_PLAIN, 0, "%s%s%s: %s collectives",
			  traffic_name(traffic->kind), traffic->model[0] == '\0' ? "" : " ",
			  traffic->model, number_grouped(&text, world->outcome->collective_count));
	else if (world->flow_count > 0)
		flows_words(line, world);
	else if (strcmp(traffic_name(traffic->kind), world->scenario->name) != 0)
		brief_add(line, BRIEF_PLAIN, 0, "%s", traffic_name(traffic->kind));
	if (world->plan.sample.is_on)
		brief_add(line, BRIEF_WARN, 0, "sample: %s of %s",
			  number_bytes(&(struct text){{0}}, world->plan.bytes_run),
			  number_bytes(&text, world->plan.bytes_all));
}

// ---------------------------------------------------------------- the line

static void cc_name(const struct world *world, char *ret, size_t bytes)
{
	const char *name = world->transport.cc.name;
	bool has_none = world->transport.kind == TRANSPORT_RC && strcmp(name, "fixed") == 0;
	snprintf(ret, bytes, "%s", has_none ? "no control" : name);
	if (has_none)
		return;
	for (char *at = ret; *at != '\0'; at++)
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
}

static void end_word(struct brief_line *line, const struct report_input *input)
{
	char end[32];
	snprintf(end, sizeof(end), "%s", input->is_partial ? input->end : "done");
	for (char *at = end; *at != '\0'; at++)
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	brief_add(line, input->is_partial ? BRIEF_BAD : BRIEF_GOOD, 0, "%s", end);
}

static void fabric_words(struct brief_line *line, const struct world *world)
{
	const struct topology *topology = &world->topology;
	double gbps = (double)world->fabric.link_rate_bps / 1e9;
	struct text text[2];
	char hosts[48] = "";
	if (topology->hosts < topology->nics)
		snprintf(hosts, sizeof(hosts), " on %s host%s",
			 number_grouped(&text[1], topology->hosts),
			 topology->hosts == 1 ? "" : "s");
	brief_add(line, BRIEF_PLAIN, 0, "%s NICs%s, %" PRIu32 " x %.4g Gb/s",
		  number_grouped(&text[0], topology->nics), hosts, topology->planes, gbps);
}

void brief_what(struct brief_line *line, const struct report_input *input)
{
	const struct world *world = input->world;
	char cc[32];
	bool is_rc = world->transport.kind == TRANSPORT_RC;
	brief_begin(line, "");
	line->gap = 2;
	brief_add(line, BRIEF_BOLD, 0, "%s", world->scenario->name);
	traffic_words(line, input);
	fabric_words(line, world);
	cc_name(world, cc, sizeof(cc));
	brief_add(line, BRIEF_PLAIN, 0, "%s, %s", is_rc ? "RoCEv2" : "MRC", cc);
	brief_add(line, BRIEF_DIM, 0, "seed %" PRIu64, world->scenario->seed);
	end_word(line, input);
	brief_end(line);
}

void brief_why_partial(const struct report_input *input, char *ret, size_t bytes)
{
	if (input->limit_option != NULL)
		snprintf(ret, bytes, "PARTIAL RESULT: a limit was reached: raise %s",
			 input->limit_option);
	else if (strcmp(input->end, "stalled") == 0)
		report_stall(input, ret, bytes);
	else
		snprintf(ret, bytes, "PARTIAL RESULT: %s; figures are of what was done",
			 input->end);
}
