// SPDX-License-Identifier: Apache-2.0
// All checks of the generator on a CUDA device, in one program that needs a C compiler and nvcc and
// nothing else: tests/gpu/run builds and runs it. One rank is live and its peers are played, or
// all.
//
//	check DEVICE OUT.json RECORD [SCALE]
//
// DEVICE is a number, or none: the CPU, where what a device must reach is told, but not judged.
// SCALE divides buckets and steps. RECORD is one step of the large job's rank 0.

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/gpu/gpu_lateness.h>
#include <weft/gpu/gpu_record.h>

#include "limit.h"
#include "schedule.h"

#define MIB (UINT64_C(1) << 20)
#define LATE_P99_MAX_NS 20000
#define LONG_NS 50000 // of a fill that can be made and copied within its time
#define FILL_SHARE_MIN 0.70
#define EXPOSED_ERROR_MAX 0.05
#ifndef START_LIMIT_NS
#define START_LIMIT_NS (20 * LIMIT_S) // of a check, and so many times what it takes
#define LIMIT_TIMES 3
#endif
#define SHORT_STEPS 2u
#define STEP_MAX 1.05	   // the middle step over its schedule
#define LARGE_DIVISOR 256u // of its buckets: 25 GB a step, three times over, fit nowhere

struct checks {
	FILE *json;
	uint32_t device; // UINT32_MAX: the CPU
	uint32_t scale;
	uint32_t passed, failed, told;
};

// What one run is of: ranks that are live, the others of their group played.
struct trial {
	const char *what;
	const struct gpu_record *records; // [count]
	uint32_t count;
	enum gpu_damage damage;
	enum gpu_load load;
	bool has_barrier;
};

// What it came to.
struct outcome {
	struct gpu_link_figures figures; // of the first rank
	uint64_t releases, wrong;	 // of all
	int64_t exposed_ns;		 // as the other end of the link saw it
	int64_t late_ns; // 99 % of long fills were released so late at most, as it saw it
	int64_t player_late_ns;
};

// A line of the table and of the JSON.
static void write_line(struct checks *checks, const char *what, double value, const char *unit,
		       const char *verdict)
{
	bool is_first = checks->passed + checks->failed + checks->told == 0;
	printf("  %-58s %14.3f %-8s %s\n", what, value, unit, verdict);
	fprintf(checks->json,
		"%s\n    {\"check\": \"%s\", \"value\": %.6f, \"unit\": \"%s\", \"verdict\": "
		"\"%s\"}",
		is_first ? "" : ",", what, value, unit, verdict);
	fflush(checks->json);
}

static void tell(struct checks *checks, const char *what, double value, const char *unit)
{
	write_line(checks, what, value, unit, "told");
	checks->told++;
}

// What only a device must reach is judged on one.
static void judge(struct checks *checks, const char *what, double value, const char *unit,
		  bool is_good, bool is_of_device)
{
	if (is_of_device && checks->device == UINT32_MAX) {
		tell(checks, what, value, unit);
		return;
	}
	write_line(checks, what, value, unit, is_good ? "passed" : "FAILED");
	checks->passed += is_good;
	checks->failed += !is_good;
}

// ---------------------------------------------------------------- one run

// What the rank's computations waited for communication, and how late it released, by the flags
// alone.
static void look_at_flags(const struct gpu_link *link, struct outcome *ret)
{
	struct gpu_lateness late;
	int64_t end_ns = link->header->start_ns, due_ns = end_ns;
	if (gpu_lateness_init(&late, link->header->op_count) < 0)
		return;
	for (uint32_t i = 0; i < link->header->op_count; i++) {
		const struct gpu_link_flag *asked = gpu_link_flag_of(link, link->asked, 0, i);
		const struct gpu_link_flag *done = gpu_link_flag_of(link, link->done, 0, i);
		uint32_t work = link->ops[i].work;
		if (work == GPU_REDUCE)
			continue;
		if (work != GPU_COMPUTE && link->ops[i].needs_messages != 0 &&
		    asked->at_ns > end_ns)
			ret->exposed_ns += asked->at_ns - end_ns;
		end_ns = done->at_ns;
		if (link->ops[i].needs_messages != 0 && asked->at_ns > due_ns)
			due_ns = asked->at_ns;
		due_ns += link->ops[i].compute_ns;
		if (work == GPU_FILL && link->ops[i].compute_ns >= LONG_NS)
			gpu_lateness_add(&late, end_ns - due_ns);
	}
	ret->late_ns = gpu_lateness_quantile(&late, 990);
	gpu_lateness_free(&late);
}

// Both ends of a link whose ranks are claimed, and who plays the run's.
static int open_ends(const struct trial *of, struct gpu_link *here, struct gpu_link *there,
		     struct gpu_replay **replay)
{
	struct refusal refusal = {0};
	int rc = gpu_record_link(here, NULL, of->records, of->count, of->has_barrier, &refusal);
	if (rc == 0)
		rc = gpu_link_join(there, here, &refusal);
	for (uint32_t i = 0; rc == 0 && i < of->count; i++)
		rc = gpu_link_claim(there, i, "checked", &refusal);
	if (rc == 0)
		rc = gpu_replay_start(replay, here, of->records, of->damage, &refusal);
	if (rc < 0)
		fprintf(stderr, "check: %s\n", refusal.text);
	return rc;
}

static int run(const struct checks *checks, const struct trial *of, struct outcome *ret)
{
	static const uint32_t ranks[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct refusal refusal = {0};
	struct limit limit;
	struct gpu_link here, there;
	struct gpu_replay *replay;
	const struct gpu_generator_options options = {
		.ranks = ranks, .rank_count = of->count, .load = of->load, .stop = &limit.stop};
	*ret = (struct outcome){0};
	int rc = open_ends(of, &here, &there, &replay);
	if (rc < 0)
		return rc;
	limit_begin(&limit, of->what, &there,
		    START_LIMIT_NS + LIMIT_TIMES * schedule_ns(of->records, 0, of->records->steps));
	rc = checks->device == UINT32_MAX
		? gpu_host_run(&there, &options, &refusal)
		: gpu_cuda_run(&there, &options, checks->device, &refusal);
	if (rc < 0)
		fprintf(stderr, "check: %s\n", refusal.text);
	for (uint32_t i = 0; i < of->count; i++) {
		if (rc < 0)
			gpu_link_set_rank(&there, i, GPU_RANK_FAILED);
		ret->releases += there.ranks[i].figures.releases;
		ret->wrong += there.ranks[i].figures.wrong;
	}
	ret->player_late_ns = gpu_replay_end(replay);
	limit_end(&limit);
	ret->figures = there.ranks[0].figures;
	if (rc == 0)
		look_at_flags(&there, ret);
	gpu_link_close(&there);
	gpu_link_close(&here);
	return rc;
}

// ---------------------------------------------------------------- the checks

static void check_rates(struct checks *checks)
{
	struct gpu_cuda_rates rates;
	struct refusal refusal = {0};
	struct limit limit;
	if (checks->device == UINT32_MAX)
		return;
	limit_begin(&limit, "rates", NULL, START_LIMIT_NS);
	int rc = gpu_cuda_measure(checks->device, 512 * MIB, &rates, &refusal);
	limit_end(&limit);
	if (rc < 0) {
		fprintf(stderr, "check: %s\n", refusal.text);
		judge(checks, "rates were measured", 0, "", false, true);
		return;
	}
	judge(checks, "copy in the device's memory, read and written", rates.copy / 1e9, "GB/s",
	      rates.copy > 0, true);
	judge(checks, "gradients made", rates.fill / 1e9, "GB/s", rates.fill > 0, true);
	judge(checks, "gradients made over copied, 0.70 and up", rates.fill / rates.copy, "",
	      rates.fill >= FILL_SHARE_MIN * rates.copy, true);
	judge(checks, "parts checked and summed", rates.reduce / 1e9, "GB/s", rates.reduce > 0,
	      true);
}

static void check_damage(struct checks *checks, enum gpu_damage damage, const char *what)
{
	struct gpu_record record;
	struct outcome outcome = {0};
	const struct trial trial = {.what = what, .records = &record, .count = 1, .damage = damage};
	int rc = make_record(&record, SHORT_STEPS, 128 * 1024, MS, 2 * MS);
	if (rc == 0)
		rc = run(checks, &trial, &outcome);
	bool is_found = damage == GPU_DAMAGE_NONE ? outcome.wrong == 0 : outcome.wrong > 0;
	if (damage == GPU_DAMAGE_BIT)
		is_found = outcome.wrong == 1;
	bool is_whole = outcome.releases == SHORT_STEPS * SLICES;
	judge(checks, what, (double)outcome.wrong, "wrong", rc == 0 && is_found && is_whole, false);
	gpu_record_free(&record);
}

// All ranks of a group on one device: their kernels wait for each other's slices.
static void check_together(struct checks *checks, bool has_barrier, const char *what)
{
	struct gpu_record records[RANKS] = {0};
	struct outcome outcome = {0};
	const struct trial trial = {
		.what = what, .records = records, .count = RANKS, .has_barrier = has_barrier};
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < RANKS; i++) {
		rc = make_record(&records[i], SHORT_STEPS, 128 * 1024, MS, 2 * MS);
		records[i].rank = i;
	}
	if (rc == 0)
		rc = run(checks, &trial, &outcome);
	judge(checks, what, (double)outcome.wrong, "wrong",
	      rc == 0 && outcome.wrong == 0 && outcome.releases == SHORT_STEPS * SLICES * RANKS,
	      false);
	for (uint32_t i = 0; i < RANKS; i++)
		gpu_record_free(&records[i]);
}

// Computations that are work: so many bytes, or operations, a nanosecond of theirs.
static void check_load(struct checks *checks, enum gpu_load load, const char *what)
{
	struct gpu_record record;
	struct outcome outcome = {0};
	const struct trial trial = {.what = what, .records = &record, .count = 1, .load = load};
	int rc = make_record(&record, SHORT_STEPS, 128 * 1024, 5 * MS, 10 * MS);
	if (rc == 0)
		rc = run(checks, &trial, &outcome);
	const struct gpu_link_figures *of = &outcome.figures;
	double computed_ns = SHORT_STEPS * (double)(8 * 5 * MS + 8 * 10 * MS);
	double rate = (double)(of->load_bytes + of->load_flops) / computed_ns;
	judge(checks, what, rate, load == GPU_LOAD_COPY ? "GB/s" : "GFLOP/s", rate > 0, true);
	judge(checks, "  slices that were due were released", (double)outcome.releases, "",
	      rc == 0 && outcome.wrong == 0 && outcome.releases == SHORT_STEPS * SLICES, false);
	tell(checks, "  released after due, p50", (double)of->late_p50_ns / 1e3, "us");
	tell(checks, "  longest step", (double)of->step_max_ns / 1e6, "ms");
	gpu_record_free(&record);
}

// What a run of many steps came to; one takes `step_ns` by its schedule.
static void judge_steps(struct checks *checks, const struct outcome *outcome, uint64_t releases,
			int64_t step_ns)
{
	const struct gpu_link_figures *of = &outcome->figures;
	double device_ns = (double)(of->gates_ns + of->update_wait_ns);
	double error = (device_ns - (double)outcome->exposed_ns) / (double)outcome->exposed_ns;
	judge(checks, "  slices released", (double)of->releases, "", of->releases == releases,
	      false);
	judge(checks, "  elements that are wrong", (double)of->wrong, "", of->wrong == 0, false);
	judge(checks, "  elements that were looked at", (double)of->elements, "", of->elements > 0,
	      false);
	tell(checks, "  released after due, p50", (double)of->late_p50_ns / 1e3, "us");
	tell(checks, "  released after due, p99", (double)of->late_p99_ns / 1e3, "us");
	tell(checks, "  released after due, max", (double)of->late_max_ns / 1e3, "us");
	judge(checks, "  by the host, those of 50 us, p99, 20 us and below",
	      (double)outcome->late_ns / 1e3, "us", outcome->late_ns <= LATE_P99_MAX_NS, true);
	judge(checks, "  exposed by the device's clock", device_ns / 1e6, "ms", device_ns > 0,
	      false);
	judge(checks, "  exposed by the host's clock", (double)outcome->exposed_ns / 1e6, "ms",
	      outcome->exposed_ns > 0, false);
	judge(checks, "  first over second - 1, 0.05 and below", error, "",
	      error <= EXPOSED_ERROR_MAX && error >= -EXPOSED_ERROR_MAX, true);
	tell(checks, "  shortest step", (double)of->step_min_ns / 1e6, "ms");
	tell(checks, "  middle step", (double)of->step_p50_ns / 1e6, "ms");
	judge(checks, "  middle step over its schedule, 1.05 and below",
	      (double)of->step_p50_ns / (double)step_ns, "",
	      (double)of->step_p50_ns <= STEP_MAX * (double)step_ns, true);
	tell(checks, "  mean step", (double)of->step_mean_ns / 1e6, "ms");
	tell(checks, "  longest step", (double)of->step_max_ns / 1e6, "ms");
	tell(checks, "  error of the clocks' relation", (double)of->clock_error_ns / 1e3, "us");
	tell(checks, "  made and staged",
	     of->fill_ns > 0 ? (double)of->fill_bytes / (double)of->fill_ns : 0, "GB/s");
	tell(checks, "  peers played back late, at most", (double)outcome->player_late_ns / 1e3,
	     "us");
}

static uint32_t step_count(const struct checks *checks)
{
	return 100 / checks->scale > 2 ? 100 / checks->scale : 2;
}

// Buckets are of a size that a core of the host can play the peers of.
static int steps_record(const struct checks *checks, struct gpu_record *ret)
{
	uint64_t bytes = 8 * MIB / checks->scale / checks->scale / 256 * 256;
	return make_record(ret, step_count(checks), bytes > 256 ? bytes : 256,
			   5300000 / checks->scale, 9750000 / checks->scale);
}

static void check_steps(struct checks *checks, const struct gpu_record *record)
{
	static const char what[] = "steps of 8 buckets at real time";
	struct outcome outcome = {0};
	int rc = run(checks, &(struct trial){.what = what, .records = record, .count = 1},
		     &outcome);
	judge(checks, what, record->steps, "steps", rc == 0, false);
	if (rc == 0)
		judge_steps(checks, &outcome, (uint64_t)record->steps * SLICES,
			    schedule_ns(record, 1, 1));
}

// ---------------------------------------------------------------- the large job

static int large_record(const struct checks *checks, struct gpu_record *ret, const char *path)
{
	struct refusal refusal = {0};
	int rc = read_record(ret, path, &refusal);
	if (rc == 0)
		rc = repeat(ret, step_count(checks), &refusal);
	if (rc < 0)
		fprintf(stderr, "check: %s: %s\n", path, refusal.text);
	else
		gpu_record_scale(ret, LARGE_DIVISOR * checks->scale);
	return rc;
}

// Rank 0 of 8,192, every forward, backward and slice of its step, at real time.
static void check_large(struct checks *checks, const struct gpu_record *record)
{
	static const char what[] = "rank 0 of azure-gb200-llama405b at real time";
	struct outcome outcome = {0};
	int64_t step_ns = schedule_ns(record, 0, 1);
	uint32_t fills = record->slices_before[record->buckets];
	int rc = run(checks, &(struct trial){.what = what, .records = record, .count = 1},
		     &outcome);
	judge(checks, what, record->steps, "steps", rc == 0, false);
	if (rc < 0)
		return;
	tell(checks, "  its buckets are divided by", LARGE_DIVISOR * checks->scale, "");
	tell(checks, "  gradients of a step", (double)(fills * record->slice_bytes) / 1e6, "MB");
	judge(checks, "  step by the model", (double)step_ns / 1e6, "ms",
	      outcome.figures.step_min_ns + 2 * outcome.figures.clock_error_ns >= step_ns, false);
	judge_steps(checks, &outcome, (uint64_t)record->steps * fills, step_ns);
}

// All checks, the short ones first. How long they take is known before.
static int check_all(struct checks *checks, const char *path)
{
	struct gpu_record steps = {0}, large = {0};
	int rc = steps_record(checks, &steps);
	if (rc == 0)
		rc = large_record(checks, &large, path);
	if (rc == 0) {
		int64_t ns = schedule_ns(&steps, 0, steps.steps) +
			schedule_ns(&large, 0, large.steps);
		printf("  %.0f s and the start of each check\n", (double)ns / LIMIT_S);
		check_rates(checks);
		check_damage(checks, GPU_DAMAGE_NONE, "sound data are found sound");
		check_damage(checks, GPU_DAMAGE_BIT, "a single bit that flipped is found");
		check_damage(checks, GPU_DAMAGE_SWAP, "two slices that changed places are found");
		check_together(checks, false, "8 ranks beside each other");
		check_together(checks, true, "8 ranks that begin each step together");
		check_load(checks, GPU_LOAD_COPY, "copied while it computes");
		check_load(checks, GPU_LOAD_MATRIX, "multiplied and added while it computes");
		check_steps(checks, &steps);
		check_large(checks, &large);
	}
	gpu_record_free(&steps);
	gpu_record_free(&large);
	return rc;
}

static void show_device(const struct checks *checks)
{
	struct gpu_probe probe;
	char date[32];
	time_t now = time(NULL);
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	gpu_probe(&probe);
	const char *name = checks->device < probe.count ? probe.devices[checks->device].name
							: "CPU";
	printf("%s, driver for CUDA %d.%d, %s\n", name, probe.driver_version / 1000,
	       probe.driver_version % 1000 / 10, date);
	fprintf(checks->json,
		"{\n  \"device\": \"%s\",\n  \"date\": \"%s\",\n  \"driver\": %d,\n  \"checks\": [",
		name, date, probe.driver_version);
}

static bool is_there(const struct checks *checks)
{
	struct gpu_probe probe;
	gpu_probe(&probe);
	if (checks->device == UINT32_MAX || checks->device < probe.count)
		return true;
	fprintf(stderr, "check: there is no CUDA device %u: %s\n", checks->device,
		probe.count == 0 ? probe.reason : "the driver has fewer");
	return false;
}

int main(int argc, char **argv)
{
	struct checks checks = {.device = UINT32_MAX, .scale = 1};
	if (argc < 4 || argc > 5) {
		fputs("check DEVICE|none OUT.json RECORD [SCALE]\n", stderr);
		return 2;
	}
	if (strcmp(argv[1], "none") != 0)
		checks.device = (uint32_t)strtoul(argv[1], NULL, 10);
	if (argc == 5 && (checks.scale = (uint32_t)strtoul(argv[4], NULL, 10)) == 0)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0); // who ends it sees how far it came
	if (!is_there(&checks))
		return 3;
	checks.json = fopen(argv[2], "w");
	if (checks.json == NULL) {
		perror(argv[2]);
		return 3;
	}
	show_device(&checks);
	if (check_all(&checks, argv[3]) < 0)
		return 2;
	fprintf(checks.json, "\n  ],\n  \"passed\": %u,\n  \"failed\": %u,\n  \"told\": %u\n}\n",
		checks.passed, checks.failed, checks.told);
	printf("%u passed, %u failed, %u told\n", checks.passed, checks.failed, checks.told);
	return fclose(checks.json) == 0 && checks.failed == 0 ? 0 : 1;
}
