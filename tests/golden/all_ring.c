// SPDX-License-Identifier: Apache-2.0
// A ring in barrier form is a sum of single flows, so it has a closed form: steps x (time of one
// chunk, acknowledged). Tolerance 0.5 %. And a sample of a ring's steps must agree with the whole
// ring within 1 %, and within the error it states.

#include "../rig.h"
#include "../sanitized.h"

static const char barrier[] =
	"name: barrier\n"
	"fabric: {topology: leaf-spine, nics: 16, nics_per_t0: 16, t1_count: 1, link_rate: "
	"100Gb/s, "
	"nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"queue: {trim_bytes: 64B}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate}\n"
	"cc: {algorithm: fixed}\n"
	"traffic: {kind: ring, collective: all_reduce, bytes: 16MiB, channels: 1, ranks: 16, form: "
	"barrier}\n";

// One chunk of `bytes` over two links at 100 Gb/s, until the sender holds the acknowledgement.
static ps_t chunk_ps(uint64_t bytes)
{
	uint64_t packets = (bytes + 4085) / 4086, last = bytes - (packets - 1) * 4086 + 64;
	ps_t full = 4150 * 80;
	return (ps_t)packets * full + (ps_t)last * 80 + 2 * PS_PER_US + 2 * 64 * 80 + 2 * PS_PER_US;
}

static void a_barrier_ring_takes_the_sum_of_its_steps(void **state)
{
	static struct rig rig;
	static const struct {
		const char *set;
		uint64_t steps;
	} kinds[] = {{"traffic.collective=all_reduce", 30},
		     {"traffic.collective=reduce_scatter", 15},
		     {"traffic.collective=all_gather", 15}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		rig_run(&rig, barrier, (const char *const[]){kinds[i].set, NULL});
		assert_int_equal(rig.run.end, RUN_DONE);
		const struct outcome_collective *done = &rig.outcome->collectives[0];
		ps_t measured = done->end_ps - done->start_ps;
		ps_t expected = (ps_t)kinds[i].steps * chunk_ps((16u << 20) / 16);
		printf("%s: %.3f us, closed form %.3f us\n", kinds[i].set, (double)measured / 1e6,
		       (double)expected / 1e6);
		assert_true(llabs(measured - expected) * 200 <= expected);
		world_instance_free(&rig.world_instance);
	}
}

// 256 ranks on 128 hosts of two, 255 steps: small enough to run whole.
static const char big_ring[] =
	"name: big-ring\n"
	"fabric: {topology: clos, nics: 256, nics_per_host: 2, planes: 2, link_rate: 100Gb/s, "
	"nics_per_t0: 32, "
	"t1_count: 32, nic_delay: 500ns, trunk_delay: 500ns, switch_delay: 500ns}\n"
	"scaleup: {rate: 900GB/s, delay: 3us}\n"
	"transport: {evs: 64}\n"
	"cc: {algorithm: nscc}\n"
	"traffic: {kind: ring, collective: reduce_scatter, bytes: 128MiB, channels: 4, ranks: "
	"256}\n";

static ps_t whole_of(const char *steps, const char *seed, ps_t *ret_error_ps)
{
	static struct rig rig;
	rig_run(&rig, big_ring, (const char *const[]){steps, seed, NULL});
	assert_int_equal(rig.run.end, RUN_DONE);
	ps_t whole_ps = rig.outcome->collectives[0].whole_ps;
	*ret_error_ps = rig.outcome->collectives[0].whole_error_ps;
	world_instance_free(&rig.world_instance);
	return whole_ps;
}

static void a_sample_of_the_steps_agrees_with_the_whole_ring(void **state)
{
	static const char *const seeds[] = {"seed=1", "seed=2", "seed=3"};
	static const char *const samples[] = {"sample.steps=8", "sample.steps=32"};
	size_t count = is_sanitized() ? 1 : sizeof(seeds) / sizeof(*seeds);
	for (size_t s = 0; s < count; s++) {
		ps_t error_ps;
		ps_t whole_ps = whole_of("sample=off", seeds[s], &error_ps);
		assert_int_equal(error_ps, 0);
		for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
			ps_t part_ps = whole_of(samples[i], seeds[s], &error_ps);
			printf("%s, %s: %.3f +- %.3f us, whole %.3f us, off by %.3f %%\n", seeds[s],
			       samples[i], (double)part_ps / 1e6, (double)error_ps / 1e6,
			       (double)whole_ps / 1e6,
			       100.0 * (double)(part_ps - whole_ps) / (double)whole_ps);
			assert_true(llabs(part_ps - whole_ps) * 100 <= whole_ps);
			assert_true(error_ps > 0 && llabs(part_ps - whole_ps) <= error_ps);
		}
	}
}
