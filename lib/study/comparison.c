// SPDX-License-Identifier: Apache-2.0
// The variants of one scenario side by side: what each came to, and the expectations, of which a
// ratio needs two of them.

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/result/expect.h>
#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
#include <weft/result/jobs.h>
#include <weft/result/links.h>
#include <weft/result/number.h>
#include <weft/result/put.h>
#include <weft/result/warnings.h>

#include <weft/world/world_warning.h>

struct side {
	char name[EXPECT_NAME_BYTES];
	double goodput_bps; // per receiving NIC
	double retransmitted;
	double ideal_share; // of the time; NAN: there is none
	double collide;	    // links_collide()
	ps_t end_ps;	    // the last completion; of a sample that of what ran
	bool is_mrc;	    // else RoCEv2
	bool is_sample, has_collective;
	ps_t collective_ps, error_ps; // of the slowest collective, with its stated error
	const char *reason;	      // why there is none
	uint64_t digest;
	char end[32]; // why it ended
	bool is_partial;
	uint32_t warned;    // bit of each warning
	uint32_t job_count; // of several jobs
	struct job_side jobs[MIX_PARTS_MAX];
};

struct row {
	struct expect_row row;
	char name[EXPECT_NAME_BYTES];
	char run[EXPECT_NAME_BYTES], to[EXPECT_NAME_BYTES];
};

struct report_comparison {
	char scenario[SCENARIO_NAME_BYTES];
	uint32_t side_count, row_count;
	struct side sides[SCENARIO_VARIANTS_MAX];
	struct row rows[SCENARIO_EXPECTATIONS_MAX];
};

struct report_comparison *report_comparison_create(void)
{
	return calloc(1, sizeof(struct report_comparison));
}

void report_comparison_free(struct report_comparison *comparison)
{
	free(comparison);
}

static void take_rows(struct report_comparison *comparison, const struct report_input *input,
		      const char *variant)
{
	const struct scenario *scenario = input->world->scenario;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const struct scenario_expect *expectation = &scenario->expectations[i];
		if (strcmp(expectation->run, variant) != 0)
			continue;
		struct row *row = &comparison->rows[i];
		expect_of(&row->row, input, i);
		snprintf(row->name, sizeof(row->name), "%s", row->row.name);
		snprintf(row->run, sizeof(row->run), "%s", expectation->run);
		snprintf(row->to, sizeof(row->to), "%s", expectation->to);
		row->row.name = row->name;
	}
	comparison->row_count = scenario->expectation_count;
}

// The slowest collective; one that has no time says so for all.
static void take_collective(struct side *side, const struct world *world)
{
	side->is_sample = world->plan.sample.is_on;
	side->has_collective = world->outcome->collective_count > 0;
	for (uint32_t i = 0; i < world->outcome->collective_count && side->reason == NULL; i++) {
		struct collective one;
		collective_of(&one, world, i);
		side->reason = one.reason;
		if (one.reason != NULL || one.outcome->whole_ps <= side->collective_ps)
			continue;
		side->collective_ps = one.outcome->whole_ps;
		side->error_ps = one.outcome->whole_error_ps;
	}
}

void report_comparison_take(struct report_comparison *comparison, const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	struct side *side = &comparison->sides[comparison->side_count++];
	struct goodput goodput;
	goodput_of(&goodput, input);
	*side = (struct side){
		.goodput_bps = goodput.per_nic_bps,
		.retransmitted = share_of(rtx_total(&input->world->outcome->transport),
					  input->run.data_packets),
		.ideal_share = figure_real(figure_find("headline.ideal_share"), input),
		.collide = links_collide(input),
		.end_ps = input->world->outcome->end_ps,
		.digest = input->run.digest,
		.is_partial = input->is_partial,
		.is_mrc = scenario->transport.kind == TRANSPORT_MRC,
		.warned = warnings_bits(input->world),
	};
	take_collective(side, input->world);
	side->job_count = job_sides_of(side->jobs, input);
	snprintf(side->name, sizeof(side->name), "%s",
		 scenario->variants[scenario->variant - 1].name);
	snprintf(side->end, sizeof(side->end), "%s", input->end);
	snprintf(comparison->scenario, sizeof(comparison->scenario), "%s", scenario->name);
	take_rows(comparison, input, side->name);
}

// Zero where that variant did not run.
static double goodput_of_side(const struct report_comparison *comparison, const char *name)
{
	for (uint32_t i = 0; i < comparison->side_count; i++)
		if (strcmp(comparison->sides[i].name, name) == 0)
			return comparison->sides[i].goodput_bps;
	return 0;
}

// A row with what was measured, now that all have run.
static struct expect_row settled(const struct report_comparison *comparison, uint32_t index)
{
	const struct row *row = &comparison->rows[index];
	struct expect_row ret = row->row;
	if (ret.measure != EXPECT_RATIO)
		return ret;
	double to = goodput_of_side(comparison, row->to);
	ret.measured = to > 0 ? ret.measured / to : NAN;
	ret.reason = to > 0 ? NULL : "the other variant did not run, or received nothing";
	ret.is_inside = expect_is_inside(&ret);
	return ret;
}

bool report_comparison_is_expected(const struct report_comparison *comparison)
{
	bool is_inside = true;
	for (uint32_t i = 0; i < comparison->row_count; i++)
		is_inside &= settled(comparison, i).is_inside;
	return is_inside;
}

// ---------------------------------------------------------------- showing

static const char *percent(struct text *ret, double share)
{
	snprintf(ret->at, sizeof(ret->at), isnan(share) ? "-" : "%.0f %%", 100 * share);
	return ret->at;
}

static void sides_table(FILE *to, const struct report_comparison *comparison)
{
	struct text text[4];
	double first = comparison->sides[0].goodput_bps;
	bool has_sample = false;
	for (uint32_t i = 0; i < comparison->side_count; i++)
		has_sample |= comparison->sides[i].is_sample;
	fprintf(to, "%s: variants side by side (goodput per receiving NIC)%s\n",
		comparison->scenario,
		has_sample ? "\nOf a sample some ring steps ran: the time of the slowest "
			     "collective is extrapolated from them"
			   : "");
	fprintf(to, "  %-20s %12s %9s %12s %8s %13s  %-6s  %s\n", "", "goodput", "of first",
		"done at", "of ideal", "retransmitted", "run", "digest");
	for (uint32_t i = 0; i < comparison->side_count; i++) {
		const struct side *side = &comparison->sides[i];
		fprintf(to, "  %-20s %12s %9.3f %12s %8s %13s  %-6s  %016llx%s%s\n", side->name,
			number_rate(&text[0], side->goodput_bps),
			first > 0 ? side->goodput_bps / first : 0,
			side->is_sample ? "-" : number_time(&text[1], side->end_ps),
			percent(&text[3], side->ideal_share),
			number_share(&text[2], side->retransmitted),
			side->is_sample ? "sample" : "whole", (unsigned long long)side->digest,
			side->is_partial ? " " : "", side->is_partial ? side->end : "");
	}
}

// What two runs are compared by, where both have it: the slowest collective, or the end.
static ps_t time_of(const struct side *side)
{
	if (side->is_partial || side->reason != NULL)
		return 0;
	return side->collective_ps > 0 ? side->collective_ps : side->is_sample ? 0 : side->end_ps;
}

// The first variant of MRC against each of RoCEv2.
static void mrc_against_roce(FILE *to, const struct report_comparison *comparison)
{
	const struct side *mrc = NULL;
	for (uint32_t i = 0; i < comparison->side_count && mrc == NULL; i++)
		mrc = comparison->sides[i].is_mrc ? &comparison->sides[i] : NULL;
	for (uint32_t i = 0; i < comparison->side_count && mrc != NULL; i++) {
		const struct side *roce = &comparison->sides[i];
		if (roce->is_mrc || roce->goodput_bps <= 0)
			continue;
		fprintf(to, "MRC against RoCE (%s against %s): %.2f times the goodput", mrc->name,
			roce->name, mrc->goodput_bps / roce->goodput_bps);
		if (time_of(mrc) > 0 && time_of(roce) > 0)
			fprintf(to, ", %.2f of the time",
				(double)time_of(mrc) / (double)time_of(roce));
		fputc('\n', to);
	}
}

static void warnings_of_sides(FILE *to, const struct report_comparison *comparison)
{
	for (uint32_t i = 0; i < comparison->side_count; i++)
		for (uint32_t bit = 0; world_warning_name(bit) != NULL; bit++)
			if (comparison->sides[i].warned & 1u << bit)
				fprintf(to, "WARNING %s: %s\n", world_warning_name(bit),
					comparison->sides[i].name);
}

// Where one of them collides, all in which flows meet.
static void collisions_of_sides(FILE *to, const struct report_comparison *comparison)
{
	double most = 0;
	for (uint32_t i = 0; i < comparison->side_count; i++)
		most = fmax(most, comparison->sides[i].collide);
	if (most < LINKS_COLLIDE_MIN)
		return;
	fprintf(to, "\nECMP collisions (the busiest line over the mean of its kind)\n");
	for (uint32_t i = 0; i < comparison->side_count; i++) {
		const struct side *side = &comparison->sides[i];
		if (!isnan(side->collide))
			fprintf(to, "  %-20s %12.2f%s\n", side->name, side->collide,
				side->collide < LINKS_COLLIDE_MIN
					? ""
					: "  collide: several flows are on one link");
	}
}

static void collectives_of_sides(FILE *to, const struct report_comparison *comparison)
{
	struct text text[2];
	if (!comparison->sides[0].has_collective)
		return;
	fprintf(to, "\nSlowest collective\n  %-20s %12s %15s\n", "", "time", "stated error");
	for (uint32_t i = 0; i < comparison->side_count; i++) {
		const struct side *side = &comparison->sides[i];
		if (side->reason != NULL)
			fprintf(to, "  %-20s %s\n", side->name, side->reason);
		else
			fprintf(to, "  %-20s %12s %15s\n", side->name,
				number_time(&text[0], side->collective_ps),
				side->error_ps > 0 ? number_time(&text[1], side->error_ps)
						   : "exact");
	}
}

static void jobs_of_sides(FILE *to, const struct report_comparison *comparison)
{
	if (comparison->sides[0].job_count == 0)
		return;
	fprintf(to,
		"\nJobs (factor: time over time alone; shared: share of its bytes on trunks that "
		"others use)\n  %-20s %-14s %12s %13s %8s %14s\n",
		"", "", "time", "alone", "factor", "shared");
	for (uint32_t i = 0; i < comparison->side_count; i++)
		job_sides_table(to, comparison->sides[i].name, comparison->sides[i].jobs,
				comparison->sides[i].job_count);
}

void report_comparison_table(FILE *to, const struct report_comparison *comparison)
{
	sides_table(to, comparison);
	mrc_against_roce(to, comparison);
	warnings_of_sides(to, comparison);
	collisions_of_sides(to, comparison);
	collectives_of_sides(to, comparison);
	jobs_of_sides(to, comparison);
	if (comparison->row_count > 0)
		expect_table_head(to);
	for (uint32_t i = 0; i < comparison->row_count; i++) {
		const struct row *row = &comparison->rows[i];
		struct expect_row shown = settled(comparison, i);
		if (shown.name == NULL) // its variant did not run
			continue;
		json_t *object = expect_row_json(&shown);
		expect_table_row(to, object);
		json_decref(object);
		fprintf(to, "    of %s%s%s\n", row->run, row->to[0] != '\0' ? " to " : "", row->to);
	}
}

static json_t *side_json(const struct side *side)
{
	char digest[20];
	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)side->digest);
	json_t *ret = json_pack("{ss sf sf ss ss sb ss sb}", "name", side->name, "goodput_bps",
				side->goodput_bps, "retransmitted", side->retransmitted, "digest",
				digest, "end", side->end, "partial", side->is_partial, "transport",
				side->is_mrc ? "mrc" : "rc", "sample", side->is_sample);
	const struct figure end = {side->end_ps, side->is_sample ? NOT_IN_SAMPLE : NULL};
	const struct figure time = {side->collective_ps, side->reason};
	const struct figure error = {side->error_ps, side->reason};
	put_figure(ret, "end_ps", &end);
	if (!isnan(side->ideal_share))
		put_real(ret, "ideal_share", side->ideal_share);
	if (!isnan(side->collide))
		put_real(ret, "collide", side->collide);
	warnings_names_json(ret, side->warned);
	if (side->has_collective) {
		put_figure(ret, "collective_ps", &time);
		put_figure(ret, "collective_error_ps", &error);
	}
	if (side->job_count > 0)
		json_object_set_new(ret, "jobs", job_sides_json(side->jobs, side->job_count));
	return ret;
}

int report_comparison_json(FILE *to, const struct report_comparison *comparison)
{
	json_t *sides = json_array(), *rows = json_array();
	for (uint32_t i = 0; i < comparison->side_count; i++)
		json_array_append_new(sides, side_json(&comparison->sides[i]));
	for (uint32_t i = 0; i < comparison->row_count; i++) {
		const struct row *row = &comparison->rows[i];
		struct expect_row shown = settled(comparison, i);
		if (shown.name == NULL) // its variant did not run
			continue;
		json_t *object = expect_row_json(&shown);
		json_object_set_new(object, "run", json_string(row->run));
		json_object_set_new(object, "to",
				    row->to[0] != '\0' ? json_string(row->to) : json_null());
		json_array_append_new(rows, object);
	}
	json_t *root = json_pack("{ss so so}", "scenario", comparison->scenario, "variants", sides,
				 "expect", rows);
	return document_print(to, root, JSON_ENSURE_ASCII);
}
