// SPDX-License-Identifier: Apache-2.0
// Runs that jump over steady states, against the same runs packet by packet: times agree within the
// error that is stated, what ran and what did not are together all that there was, and where there
// is no steady state nothing is jumped over and the run is the same to the packet.

#include "../rig.h"
#include "../sanitized.h"

#include <errno.h>

#include <weft/scenario/world_fast_forward.h>

static const char ring[] =
	"name: ring\n"
	"fabric: {topology: clos, nics: 64, nics_per_host: 1, planes: 2, link_rate: 100Gb/s, "
	"nics_per_t0: 16, t1_count: 16}\n"
	"transport: {evs: 64}\n"
	"traffic: {kind: ring, collective: reduce_scatter, bytes: 32MiB, channels: 2, ranks: 64}\n";

struct found {
	struct world_fast_forward skip;
	uint64_t digest, packets, payload_bytes, resent;
	ps_t whole_ps[16], error_ps[16], end_ps;
	uint32_t collectives;
};

static struct found run(const char *yaml, const char *const *sets, bool is_skipping)
{
	static struct rig rig;
	const char *all[RIG_SETS_MAX] = {is_skipping ? "fast_forward.steady=true"
						     : "fast_forward.steady=false"};
	for (uint32_t i = 0; sets != NULL && sets[i] != NULL; i++)
		all[i + 1] = sets[i];
	rig_run(&rig, yaml, all);
	assert_int_equal(rig.run.end, RUN_DONE);
	const struct transport_counters *counters = &rig.outcome->transport;
	struct found found = {.digest = rig.run.digest,
			      .packets = rig.run.data_packets,
			      .payload_bytes = counters->payload_bytes_placed,
			      .end_ps = rig.outcome->end_ps,
			      .collectives = rig.outcome->collective_count};
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		found.resent += counters->rtx[i];
	for (uint32_t i = 0; i < found.collectives; i++) {
		found.whole_ps[i] = rig.outcome->collectives[i].whole_ps;
		found.error_ps[i] = rig.outcome->collectives[i].whole_error_ps;
	}
	assert_true((rig.world_instance.world.skipped != NULL) == is_skipping);
	if (is_skipping)
		found.skip = *rig.world_instance.world.skipped;
	world_instance_free(&rig.world_instance);
	return found;
}

// Nothing is lost of what would have been sent: packets of new data and bytes of payload are equal
// to the last one.
static void assert_accounted(const struct found *part, const struct found *whole)
{
	assert_int_equal(part->packets - part->resent + part->skip.packets,
			 whole->packets - whole->resent);
	assert_int_equal(part->payload_bytes + part->skip.payload_bytes, whole->payload_bytes);
}

// With sanitizers one case of each kind is enough.
static size_t cases(size_t all)
{
	return is_sanitized() ? 1 : all;
}

static void steps_that_repeat_are_jumped_over(void **)
{
	static const char *const seeds[] = {"seed=1", "seed=2", "seed=3"};
	for (size_t i = 0; i < cases(sizeof(seeds) / sizeof(*seeds)); i++) {
		const char *const sets[] = {seeds[i], NULL};
		struct found whole = run(ring, sets, false), part = run(ring, sets, true);
		ps_t off = part.whole_ps[0] - whole.whole_ps[0];
		printf("%s: whole %.3f us, with a jump over %lu steps %.3f +- %.3f us\n", seeds[i],
		       (double)whole.whole_ps[0] / 1e6, (unsigned long)part.skip.steps,
		       (double)part.whole_ps[0] / 1e6, (double)part.error_ps[0] / 1e6);
		assert_int_equal(part.skip.jumps, 1);
		assert_int_equal(part.skip.confirmed, 1);
		assert_true(part.packets * 2 < whole.packets);
		assert_true(llabs(off) <= part.error_ps[0]);
		assert_true(part.error_ps[0] < part.whole_ps[0] / 50);
		assert_true(part.end_ps == whole.end_ps + off);
		assert_accounted(&part, &whole);
	}
}

// With credits, with one QP more, over NVLink, and in both of an all-reduce's halves.
static void other_rings_are_jumped_over_too(void **)
{
	static const char *const kinds[][5] = {
		{"traffic.collective=all_reduce", "traffic.bytes=16MiB", NULL},
		{"transport.qps_per_connection=2", NULL},
		{"fabric.nics_per_host=4", "scaleup.rate=900GB/s", "traffic.bytes=128MiB",
		 "traffic.channels=4", NULL},
		{"traffic.chunk=160KiB", NULL}, // two loops, of which the second is short
		{"traffic.form=barrier", NULL},
	};
	for (size_t i = 0; i < cases(sizeof(kinds) / sizeof(*kinds)); i++) {
		struct found whole = run(ring, kinds[i], false), part = run(ring, kinds[i], true);
		ps_t off = part.whole_ps[0] - whole.whole_ps[0];
		printf("%s: whole %.3f us, %lu jumps over %lu steps %.3f +- %.3f us\n", kinds[i][0],
		       (double)whole.whole_ps[0] / 1e6, (unsigned long)part.skip.jumps,
		       (unsigned long)part.skip.steps, (double)part.whole_ps[0] / 1e6,
		       (double)part.error_ps[0] / 1e6);
		assert_true(part.skip.jumps >= 1);
		assert_true(llabs(off) <= part.error_ps[0]);
		assert_accounted(&part, &whole);
	}
}

// The same gathers and reduces again and again, between computations.
static const char job[] =
	"name: job\n"
	"fabric: {topology: clos, nics: 128, nics_per_host: 8, planes: 2, link_rate: 100Gb/s, "
	"nics_per_t0: 16, t1_count: 16}\n"
	"scaleup: {rate: 900GB/s, delay: 3us}\n"
	"sample: {groups: 1}\n"
	"traffic: {kind: model, model: llama-small, channels: 2}\n";

static void whole_collectives_are_jumped_over(void **)
{
	const char *const sets[] = {"fast_forward.block=4", "fast_forward.fill=3",
				    "fast_forward.tolerance=4%", NULL};
	struct found whole = run(job, NULL, false), part = run(job, sets, true);
	printf("%lu jumps over %lu steps, %lu collectives; ends %.3f and %.3f ms\n",
	       (unsigned long)part.skip.jumps, (unsigned long)part.skip.steps,
	       (unsigned long)part.skip.collectives, (double)whole.end_ps / 1e9,
	       (double)part.end_ps / 1e9);
	assert_true(part.skip.collectives >= 1);
	assert_int_equal(part.collectives, whole.collectives);
	for (uint32_t i = 0; i < whole.collectives; i++) {
		ps_t off = part.whole_ps[i] - whole.whole_ps[i];
		printf("  %.3f us, %.3f +- %.3f\n", (double)whole.whole_ps[i] / 1e6,
		       (double)part.whole_ps[i] / 1e6, (double)part.error_ps[i] / 1e6);
		assert_true(llabs(off) <= part.error_ps[i]);
	}
	assert_accounted(&part, &whole);
}

static void assert_same_run(const struct found *part, const struct found *whole)
{
	assert_int_equal(part->skip.jumps, 0);
	assert_int_equal(part->skip.time_ps, 0);
	assert_true(part->digest == whole->digest);
	assert_int_equal(part->packets, whole->packets);
	assert_int_equal(part->whole_ps[0], whole->whole_ps[0]);
	assert_int_equal(part->error_ps[0], 0);
}

static const char with_fault[] =
	"name: ring\n"
	"fabric: {topology: clos, nics: 64, nics_per_host: 1, planes: 2, link_rate: 100Gb/s, "
	"nics_per_t0: 16, t1_count: 16}\n"
	"transport: {evs: 64}\n"
	"traffic: {kind: ring, collective: reduce_scatter, bytes: 32MiB, channels: 2, ranks: 64}\n"
	"faults:\n"
	"  - {kind: slow, at: {nic: 3, plane: 0}, rate: 50%, from: 900us, until: 1100us}\n";

static void nobody_jumps_over_a_fault(void **)
{
	struct found whole = run(with_fault, NULL, false), part = run(with_fault, NULL, true);
	assert_true(part.skip.refused[FAST_FORWARD_FAULT] >= 2);
	assert_same_run(&part, &whole);
}

// A queue that is too short, and timers that wait: every step takes its own time.
static void steps_that_jitter_are_run(void **)
{
	const char *const sets[] = {"queue.bytes=20KiB", "queue.trim=false",
				    "transport.path=single", NULL};
	struct found whole = run(ring, sets, false), part = run(ring, sets, true);
	uint64_t refused = part.skip.refused[FAST_FORWARD_PACE] +
		part.skip.refused[FAST_FORWARD_JITTER] + part.skip.refused[FAST_FORWARD_APART] +
		part.skip.refused[FAST_FORWARD_QUEUES];
	assert_true(refused >= 2);
	assert_same_run(&part, &whole);
}

// Slices of 32 KiB on lines that are not quite full: blocks are alike, and over the whole loop the
// last rank falls behind by seven steps. A jump from an early block was up to 3.4 % short.
static const char drifting[] =
	"name: drift\n"
	"fabric: {topology: clos, nics: 256, nics_per_host: 2, planes: 2, link_rate: 100Gb/s, "
	"nics_per_t0: 64, t1_count: 64}\n"
	"scaleup: {rate: 900GB/s, delay: 3us}\n"
	"seed: 2\n"
	"traffic: {kind: ring, collective: reduce_scatter, bytes: 64MiB, channels: 4}\n";

static void ranks_that_drift_are_run(void **)
{
	if (cases(2) < 2) // long, and nothing of its own to sanitize
		return;
	struct found part = run(drifting, NULL, true);
	assert_int_equal(part.skip.jumps, 0);
	assert_true(part.skip.refused[FAST_FORWARD_SLACK] >= 1);
	assert_true(part.skip.refused[FAST_FORWARD_APART] >= 5);
	assert_int_equal(part.error_ps[0], 0);
}

static void what_would_be_wrong_is_refused(void **)
{
	static const struct {
		const char *set, *says;
	} all[] = {{"sample.steps=4", "sample.steps leaves out steps, too"},
		   {"watch.bin=10us", "watch counts what runs over time"},
		   {"watch.packets=10", "watch counts what runs over time"},
		   {"watch.bypasses=10", "watch counts what runs over time"},
		   {"fast_forward.tolerance=1.5%", "no mean step is known better than 1.5625 %"},
		   {"traffic.kind=permutation", "fast_forward.steady"}};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		static struct rig rig;
		const char *const sets[] = {"fast_forward.steady=true", all[i].set, NULL};
		assert_int_equal(rig_build(&rig, ring, sets), -EINVAL);
		if (strstr(rig.refusal.text, all[i].says) == NULL)
			fail_msg("%s: %s", all[i].set, rig.refusal.text);
	}
	static struct rig rig;
	const struct sim_options frames = {.ports.kind = PORTS_MEMORY};
	const char *const sets[] = {"fast_forward.steady=true", NULL};
	assert_int_equal(rig_build_with(&rig, ring, sets, &frames), -EINVAL);
	assert_non_null(strstr(rig.refusal.text, "without frames"));
}
