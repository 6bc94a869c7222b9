// SPDX-License-Identifier: Apache-2.0
// After the world is built, nothing allocates: this program stands in for malloc and counts while a
// run is under way. The arena is sealed by then; drawing from it would stop the program.

#include "../rig.h"

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *from, size_t bytes);

static volatile bool
	is_watching; // read by malloc, of which compilers think that it reads nothing of ours
static uint64_t calls;

void *malloc(size_t bytes)
{
	calls += is_watching;
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	calls += is_watching;
	return __libc_calloc(count, bytes);
}

void *realloc(void *from, size_t bytes)
{
	calls += is_watching;
	return __libc_realloc(from, bytes);
}

#define YAML(traffic, watch) \
	"name: quiet\n" \
	"fabric: {topology: clos, nics: 32, nics_per_host: 2, nics_per_t0: 8, t1_count: 4, " \
	"planes: 2, link_rate: 100Gb/s}\n" \
	"scaleup: {rate: 900GB/s, delay: 1us}\n" \
	"queue: {bytes: 40000B}\n" \
	"transport: {evs: 32, rto: 80us}\n" \
	"traffic: {" traffic "}\n" \
	"watch: {bin: 10us, bins: 50, nics: true, bypasses: 64, delays: true, gaps: true, " \
	"links: true" watch "}\n" \
	"faults: [{kind: loss, at: all, probability: 0.5%}, {kind: link_down, at: {t0: 1, up: 1, " \
	"plane: 0}, from: 20us, until: 90us}]\n"

static const char ring[] = YAML(
	"kind: ring, collective: all_reduce, ranks: 32, bytes: 8MiB, channels: 2", "");
static const char flows[] = YAML(
	"kind: flows, flows: [{from: 8, to: 31, bytes: 2MB, evs: [3, 4, 9]}, {from: 9, to: 30, "
	"bytes: 2MB, evs: 8}, {from: 10, to: 29, bytes: 2MB}]",
	", evs: true");

static void the_watch_sees_an_allocation(void **state)
{
	is_watching = true;
	void *volatile block = malloc(10);
	is_watching = false;
	free(block);
	assert_int_equal(calls, 1);
	calls = 0;
}

// Runs the world as `options` say while malloc is watched.
static void watch_run(const char *yaml, const struct sim_options *options)
{
	static struct rig rig;
	if (rig_build_with(&rig, yaml, NULL, options) < 0)
		fail_msg("refused: %s", rig.refusal.text);
	assert_true(rig.world_instance.arena.is_sealed);
	size_t used = rig.world_instance.arena.used;
	is_watching = true;
	sim_run(rig.world_instance.sim, &rig.run);
	is_watching = false;
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(rig.run.dropped[DROP_RANDOM_LOSS] > 0);
	assert_true(rig.world_instance.world.outcome->series.bins[1][SERIES_PLACED] > 0);
	assert_true(rig.world_instance.world.bypass[0]->count > 0);
	assert_int_equal(rig.run.ports.name != NULL, options->ports.kind == PORTS_MEMORY);
	assert_int_equal(rig.run.lateness_ns != NULL, options->pace.is_on);
	assert_int_equal(calls, 0);
	assert_int_equal(rig.world_instance.arena.used, used);
	world_instance_free(&rig.world_instance);
}

static void nothing_allocates_once_the_world_is_built(void **state)
{
	static const struct sim_options options;
	watch_run(ring, &options);
	watch_run(flows, &options);
}

static void nothing_allocates_with_frames_and_a_clock(void **state)
{
	struct sim_options options = {.ports.kind = PORTS_MEMORY};
	watch_run(ring, &options);
	options.pace = (struct pace_options){.is_on = true, .dilation_milli = 1000};
	watch_run(ring, &options);
	options.pace.dilation_milli = 0; // a trial
	options.pace.calibration = pace_calibration_create();
	assert_non_null(options.pace.calibration);
	watch_run(ring, &options);
	assert_true(pace_calibration_dilation(options.pace.calibration) >= 1000);
	pace_calibration_free(options.pace.calibration);
}
