// SPDX-License-Identifier: Apache-2.0
// See jobs.h.

#include <weft/result/jobs.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <weft/core/check_memory.h>

#include "sections.h"
#include <weft/result/number.h>
#include <weft/result/put.h>

#define NO_FACTOR "one of the two times is not there"

static bool has_jobs(const struct report_input *input)
{
	return input->world->jobs.bytes != NULL;
}

static bool runs(const struct world *world, uint32_t index)
{
	return world->jobs.ops[index] > 0;
}

// ---------------------------------------------------------------- places that jobs use

// A spine has no cable to a host.
static bool *find_spines(const struct world *world)
{
	uint32_t hosts = world->topology.hosts;
	bool *is_spine = malloc(world->machine_count * sizeof(*is_spine));
	check_memory(is_spine != NULL);
	for (uint32_t i = 0; i < world->machine_count; i++)
		is_spine[i] = i >= hosts;
	for (uint32_t i = 0; i < world->cable_count; i++)
		if (world->cables[i].to_machine < hosts)
			is_spine[world->cables[i].from_machine] = false;
	return is_spine;
}

// Bytes of each job at each place: [places][jobs]. Places are trunks, or spines.
struct places {
	uint32_t count, jobs;
	uint64_t *bytes;
};

static void add_cable(struct places *places, const struct world *world, uint32_t cable,
		      uint32_t place)
{
	for (uint32_t job = 0; job < places->jobs; job++)
		places->bytes[(size_t)place * places->jobs + job] +=
			world->jobs.bytes[(size_t)cable * places->jobs + job];
}

static struct places find_places(const struct world *world, bool is_spines)
{
	uint32_t hosts = world->topology.hosts, count;
	struct places places = {.jobs = world->scenario->job_count};
	bool *is_spine = find_spines(world);
	count = is_spines ? world->machine_count : world->cable_count;
	places.count = count;
	places.bytes = calloc((size_t)count * places.jobs + 1, sizeof(*places.bytes));
	check_memory(places.bytes != NULL);
	for (uint32_t i = 0; i < world->cable_count; i++) {
		const struct cable_plan *cable = &world->cables[i];
		bool is_trunk = cable->from_machine >= hosts && cable->to_machine >= hosts;
		if (is_trunk && (!is_spines || is_spine[cable->to_machine]))
			add_cable(&places, world, i, is_spines ? cable->to_machine : i);
	}
	free(is_spine);
	return places;
}

static bool is_shared(const struct places *places, uint32_t place, uint32_t index, uint32_t other)
{
	const uint64_t *bytes = places->bytes + (size_t)place * places->jobs;
	for (uint32_t job = 0; job < places->jobs; job++)
		if (job != index && (other == OVERLAP_ANY || other == job) && bytes[job] > 0)
			return true;
	return false;
}

// All bytes of the job at such places, and those at places that it shares.
static uint64_t add_up(const struct report_input *input, uint32_t index, uint32_t other,
		       bool is_spines, uint64_t *ret_shared)
{
	struct places places = find_places(input->world, is_spines);
	uint64_t all = 0;
	*ret_shared = 0;
	for (uint32_t place = 0; place < places.count; place++) {
		uint64_t bytes = places.bytes[(size_t)place * places.jobs + index];
		all += bytes;
		if (is_shared(&places, place, index, other))
			*ret_shared += bytes;
	}
	free(places.bytes);
	return all;
}

double jobs_overlap(const struct report_input *input, uint32_t index, uint32_t other,
		    bool is_spines)
{
	uint64_t shared, all = add_up(input, index, other, is_spines, &shared);
	return all == 0 ? -1 : (double)shared / (double)all;
}

// ---------------------------------------------------------------- figures

static uint64_t fabric_bytes(const struct world *world, uint32_t index)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < world->cable_count; i++)
		if (world->cables[i].from_machine < world->topology.hosts)
			bytes += world->jobs.bytes[(size_t)i * world->scenario->job_count + index];
	return bytes;
}

static struct figure alone_of(const struct report_input *input, uint32_t index)
{
	if (input->world->scenario->job_count == 1 || input->world->scenario->job_only > 0)
		return (struct figure){0, "no others ran"};
	if (input->alone_ps == NULL)
		return (struct figure){0, "not run alone"};
	if (input->alone_ps[index] == 0)
		return (struct figure){0, NOT_FINISHED};
	return (struct figure){input->alone_ps[index], NULL};
}

// Alone it is the least time of the whole run.
static struct figure ideal_of(const struct report_input *input, uint32_t index)
{
	const struct scenario *scenario = input->world->scenario;
	ps_t start_ps = scenario->jobs[index].start_ps;
	bool is_alone = scenario->job_count == 1 || scenario->job_only > 0;
	if (is_alone && input->ideal.ps > start_ps)
		return (struct figure){input->ideal.ps - start_ps, NULL};
	if (!is_alone && input->job_ideal_ps != NULL && input->job_ideal_ps[index] > 0)
		return (struct figure){input->job_ideal_ps[index], NULL};
	return (struct figure){
		0, is_alone || input->job_ideal_ps != NULL ? "no closed form" : "not run alone"};
}

void job_figures_of(struct job_figures *ret, const struct report_input *input, uint32_t index)
{
	const struct world *world = input->world;
	const struct outcome_job *outcome = &world->outcome->jobs[index];
	uint64_t shared;
	bool has_ended = outcome->ended == world->jobs.ops[index];
	*ret = (struct job_figures){
		.time_ps = {outcome->end_ps - world->scenario->jobs[index].start_ps, NULL},
		.alone_ps = alone_of(input, index),
		.ideal_ps = ideal_of(input, index),
		.fabric_bytes = fabric_bytes(world, index),
		.trunk_bytes = add_up(input, index, OVERLAP_ANY, false, &shared),
		.spine_bytes = add_up(input, index, OVERLAP_ANY, true, &shared),
	};
	if (!has_ended)
		ret->time_ps = (struct figure){0, NOT_FINISHED};
	if (ret->time_ps.reason == NULL && ret->alone_ps.reason == NULL)
		ret->factor = (double)ret->time_ps.value / (double)ret->alone_ps.value;
}

// ---------------------------------------------------------------- words

static const char *const kinds[] = {"ring", "collective", "model", "goal", "trace"};
static const char *const placements[] = {"packed", "spread", "random", "list"};

// ---------------------------------------------------------------- result.json

static void put_share(json_t *to, const char *key, double share)
{
	if (share < 0)
		put_reason(to, key, "it sends nothing there");
	else
		put_real(to, key, share);
}

static void put_overlaps(json_t *row, const struct report_input *input, uint32_t index)
{
	const struct scenario *scenario = input->world->scenario;
	put_share(row, "overlap_trunks", jobs_overlap(input, index, OVERLAP_ANY, false));
	put_share(row, "overlap_spines", jobs_overlap(input, index, OVERLAP_ANY, true));
	json_t *array = array_in(row, "overlaps");
	for (uint32_t other = 0; other < scenario->job_count; other++) {
		if (other == index || !runs(input->world, other))
			continue;
		json_t *to = row_in(array);
		put_text(to, "with", scenario->jobs[other].name);
		put_share(to, "trunks", jobs_overlap(input, index, other, false));
		put_share(to, "spines", jobs_overlap(input, index, other, true));
	}
}

static void put_nics(json_t *row, const struct world *world, uint32_t index)
{
	json_t *array = array_in(row, "nics");
	for (uint32_t nic = 0; nic < world->fabric.nics; nic++)
		if (world->jobs.owner_of[nic] == index)
			json_array_append_new(array, json_integer(nic));
}

static void put_job(json_t *row, const struct report_input *input, uint32_t index)
{
	const struct scenario_job *job = &input->world->scenario->jobs[index];
	struct job_figures figures;
	job_figures_of(&figures, input, index);
	put_text(row, "name", job->name);
	put_text(row, "kind", kinds[job->kind]);
	put_count(row, "ranks", job->placement.ranks);
	put_text(row, "placement", placements[job->placement.kind]);
	put_nics(row, input->world, index);
	put_time(row, "start_ps", job->start_ps);
	put_count(row, "repeats", job->repeats);
	put_count(row, "operations", input->world->jobs.ops[index]);
	put_figure(row, "time_ps", &figures.time_ps);
	put_figure(row, "alone_ps", &figures.alone_ps);
	put_figure(row, "ideal_ps", &figures.ideal_ps);
	if (figures.factor > 0)
		put_real(row, "interference_factor", figures.factor);
	else
		put_reason(row, "interference_factor", NO_FACTOR);
	put_count(row, "fabric_bytes", figures.fabric_bytes);
	put_count(row, "trunk_bytes", figures.trunk_bytes);
	put_count(row, "spine_bytes", figures.spine_bytes);
	put_overlaps(row, input, index);
}

void jobs_json(json_t *root, const struct report_input *input)
{
	if (!has_jobs(input))
		return;
	json_t *array = array_in(root, "jobs");
	for (uint32_t i = 0; i < input->world->scenario->job_count; i++)
		if (runs(input->world, i))
			put_job(row_in(array), input, i);
}

// ---------------------------------------------------------------- comparisons

uint32_t job_sides_of(struct job_side *ret, const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	uint32_t count = 0;
	for (uint32_t i = 0; has_jobs(input) && i < scenario->job_count; i++) {
		struct job_side *side = &ret[count];
		if (!runs(input->world, i))
			continue;
		snprintf(side->name, sizeof(side->name), "%s", scenario->jobs[i].name);
		job_figures_of(&side->figures, input, i);
		side->trunks = jobs_overlap(input, i, OVERLAP_ANY, false);
		count++;
	}
	return count;
}

json_t *job_sides_json(const struct job_side *sides, uint32_t count)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < count; i++) {
		json_t *row = row_in(array);
		put_text(row, "name", sides[i].name);
		put_figure(row, "time_ps", &sides[i].figures.time_ps);
		put_figure(row, "alone_ps", &sides[i].figures.alone_ps);
		if (sides[i].figures.factor > 0)
			put_real(row, "interference_factor", sides[i].figures.factor);
		else
			put_reason(row, "interference_factor", NO_FACTOR);
		put_share(row, "overlap_trunks", sides[i].trunks);
	}
	return array;
}

// ---------------------------------------------------------------- the table

bool jobs_line(FILE *to, const json_t *result)
{
	const char *only = document_text(result, "scenario.only_job");
	double count = document_number(result, "scenario.jobs");
	if (count == 0)
		return false;
	fprintf(to, "  %.0f jobs side by side", count);
	if (*only != '\0')
		fprintf(to, ", of which %s runs", only);
	fprintf(to, "\n");
	return true;
}

static const char *time_text(struct text *ret, const struct figure *figure)
{
	return figure->reason != NULL ? figure->reason : number_time(ret, figure->value);
}

static const char *share_text(struct text *ret, double share)
{
	if (share < 0)
		return "none";
	snprintf(ret->at, sizeof(ret->at), "%.1f %%", share * 100);
	return ret->at;
}

static void job_row(FILE *to, const json_t *job)
{
	struct text text[6];
	double factor = document_number(job, "interference_factor");
	char factor_text[24] = "-";
	bool has_ideal = json_is_number(json_object_get(job, "ideal_ps"));
	if (!isnan(factor))
		snprintf(factor_text, sizeof(factor_text), "%.3f", factor);
	fprintf(to, "  %-11.11s %-10s %5.0f %12s %13s %10s %6s %8s %7s %7s\n",
		document_text(job, "name"), document_text(job, "kind"),
		document_number(job, "ranks"), table_figure(&text[0], job, "time_ps", TABLE_TIME),
		table_figure(&text[1], job, "alone_ps", TABLE_TIME),
		has_ideal ? table_figure(&text[2], job, "ideal_ps", TABLE_TIME) : "-", factor_text,
		table_figure(&text[3], job, "fabric_bytes", TABLE_BYTES),
		share_text(&text[4], document_number_or(job, "overlap_trunks", -1)),
		share_text(&text[5], document_number_or(job, "overlap_spines", -1)));
}

void jobs_table(FILE *to, const json_t *result)
{
	const json_t *list = json_object_get(result, "jobs"), *job;
	size_t i;
	if (list == NULL)
		return;
	fprintf(to,
		"\nJobs (factor: time over time alone; shared: of its bytes on trunks, through "
		"spines,\nthe share that goes where other jobs' go, too)\n");
	fprintf(to, "  %-11s %-10s %5s %12s %13s %10s %6s %8s %7s %7s\n", "name", "kind", "ranks",
		"time", "alone", "ideal", "factor", "sent", "trunks", "spines");
	json_array_foreach(list, i, job) job_row(to, job);
}

void job_sides_table(FILE *to, const char *variant, const struct job_side *sides, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct job_figures *figures = &sides[i].figures;
		struct text text[3];
		char factor[24] = "-";
		if (figures->factor > 0)
			snprintf(factor, sizeof(factor), "%.3f", figures->factor);
		fprintf(to, "  %-20s %-14.14s %12s %13s %8s %14s\n", i == 0 ? variant : "",
			sides[i].name, time_text(&text[0], &figures->time_ps),
			time_text(&text[1], &figures->alone_ps), factor,
			share_text(&text[2], sides[i].trunks));
	}
}
