// SPDX-License-Identifier: Apache-2.0
// What jobs share, worked out by hand for three leaves and two spines.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/result/jobs.h>

// Hosts 0-2 below leaves 3-5 below spines 6, 7; job 0 talks from leaf 3 to 4, job 1 from 5 to 4 and
// to 3, job 2 inside of its leaf.
static struct cable_plan cables[] = {
	{.from_machine = 0, .to_machine = 3}, {.from_machine = 3, .to_machine = 0},
	{.from_machine = 1, .to_machine = 4}, {.from_machine = 4, .to_machine = 1},
	{.from_machine = 2, .to_machine = 5}, {.from_machine = 5, .to_machine = 2},
	{.from_machine = 3, .to_machine = 6}, {.from_machine = 6, .to_machine = 4},
	{.from_machine = 3, .to_machine = 7}, {.from_machine = 7, .to_machine = 4},
	{.from_machine = 5, .to_machine = 6}, {.from_machine = 6, .to_machine = 3},
};
static uint64_t bytes[12][3] = {
	[0] = {400, 0, 50}, // job 0 sends 400, of which 300 over spine 6
	[4] = {0, 500, 0},  // job 1 sends 500, all over spine 6
	[6] = {300, 0, 0},  [7] = {300, 200, 0}, [8] = {100, 0, 0},
	[9] = {100, 0, 0},  [10] = {0, 500, 0},	 [11] = {0, 300, 0},
};
static struct scenario scenario;
static struct outcome outcome;
static struct world world;
static const ps_t alone_ps[3] = {1000, 0, 400};
static struct report_input input;

static int set_up(void **)
{
	scenario.job_count = 3;
	scenario.jobs[1].start_ps = 100;
	outcome.jobs[0] = (struct outcome_job){1500, 10};
	outcome.jobs[1] = (struct outcome_job){900, 10};
	outcome.jobs[2] = (struct outcome_job){400, 9}; // one operation has not ended
	world = (struct world){.scenario = &scenario,
			       .outcome = &outcome,
			       .machine_count = 8,
			       .cable_count = 12,
			       .cables = cables,
			       .jobs = {.bytes = &bytes[0][0], .ops = {10, 10, 10}}};
	world.topology.hosts = 3;
	input = (struct report_input){.world = &world, .alone_ps = alone_ps};
	return 0;
}

static void near(double is, double should)
{
	assert_true(is > should - 1e-12 && is < should + 1e-12);
}

static void bytes_are_told_apart(void **)
{
	struct job_figures figures;
	job_figures_of(&figures, &input, 0);
	assert_int_equal(figures.fabric_bytes, 400);
	assert_int_equal(figures.trunk_bytes, 800);
	assert_int_equal(figures.spine_bytes, 400);
	job_figures_of(&figures, &input, 2);
	assert_int_equal(figures.fabric_bytes, 50);
	assert_int_equal(figures.trunk_bytes, 0);
}

static void factors_are_of_what_ended(void **)
{
	struct job_figures figures;
	job_figures_of(&figures, &input, 0);
	assert_int_equal(figures.time_ps.value, 1500);
	near(figures.factor, 1.5);
	job_figures_of(&figures, &input, 1);
	assert_int_equal(figures.time_ps.value, 800); // from its start
	assert_string_equal(figures.alone_ps.reason, NOT_FINISHED);
	assert_true(figures.factor == 0);
	job_figures_of(&figures, &input, 2);
	assert_string_equal(figures.time_ps.reason, NOT_FINISHED);
	assert_true(figures.factor == 0);
}

// Of trunks, jobs 0 and 1 meet on the one from spine 6 to leaf 4 alone.
static void shares_are_of_bytes(void **)
{
	near(jobs_overlap(&input, 0, 1, false), 300.0 / 800);
	near(jobs_overlap(&input, 1, 0, false), 200.0 / 1000);
	near(jobs_overlap(&input, 0, 1, true), 300.0 / 400);
	near(jobs_overlap(&input, 1, 0, true), 1);
	near(jobs_overlap(&input, 0, 2, false), 0);
	near(jobs_overlap(&input, 0, OVERLAP_ANY, false), 300.0 / 800);
	near(jobs_overlap(&input, 2, OVERLAP_ANY, false), -1);
}

static void one_job_meets_nobody(void **)
{
	struct job_figures figures;
	scenario.job_only = 1;
	job_figures_of(&figures, &input, 0);
	assert_string_equal(figures.alone_ps.reason, "no others ran");
	scenario.job_only = 0;
	input.alone_ps = NULL;
	job_figures_of(&figures, &input, 0);
	assert_string_equal(figures.alone_ps.reason, "not run alone");
}
