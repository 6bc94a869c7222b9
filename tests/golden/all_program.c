// SPDX-License-Identifier: Apache-2.0
// Programs run by hosts: each operation begins when those before it have ended, to the picosecond;
// over the fabric, the scale-up, behind a slow host, and refused where they cannot run.

#include <errno.h>

#include "../rig.h"

#define FABRIC \
	"name: program\n" \
	"fabric: {topology: leaf-spine, nics: 16, nics_per_t0: 16, t1_count: 1, link_rate: " \
	"100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n" \
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, " \
	"sack_bytes: 1B, completion: sack}\n" \
	"queue: {trim_bytes: 64B}\ncc: {algorithm: fixed, window: 4MB}\n"
#define HOSTS "fabric.nics_per_host=2", "scaleup.rate=100GB/s", "scaleup.delay=900ns"

// One packet over two links of 1 us at 80 ps a byte, and its answer: the closed form of
// all_triggers.c.
#define THERE_PS (2 * 4150 * 80 + 2000000)
#define BACK_PS (2 * 64 * 80 + 2000000)
#define NEAR_PS (4086 * 10) // a message over the scale-up at 100 GB/s; 900 ns later it is there

static struct rig rig;

static int build(const char *goal, const char *const *sets)
{
	static const struct sim_options options;
	const char *words[8] = {"traffic.kind=goal", "traffic.file=here"};
	uint32_t count = 2;
	while (sets != NULL && *sets != NULL)
		words[count++] = *sets++;
	memset(&rig, 0, sizeof(rig));
	int rc = scenario_parse(&rig.scenario, "program", FABRIC, strlen(FABRIC), words, count,
				&rig.refusal);
	return rc < 0 ? rc
		      : world_instance_build(&rig.world_instance, &rig.scenario, goal, strlen(goal),
					     &options, &rig.refusal);
}

// Runs to the end; the program ends at `end_ps`.
static void expect_end(const char *goal, const char *const *sets, ps_t end_ps)
{
	if (build(goal, sets) < 0)
		fail_msg("%u:%u: %s", rig.refusal.line, rig.refusal.column, rig.refusal.text);
	sim_run(rig.world_instance.sim, &rig.run);
	rig.outcome = rig.world_instance.world.outcome;
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(rig.outcome->end_ps, end_ps);
	assert_true(rig.run.now_ps >= end_ps); // a result that says less is refused
}

static void expect_messages(uint64_t fabric, uint64_t scaleup)
{
	const struct outcome_program *program = &rig.outcome->program;
	assert_int_equal(program->fabric_messages, fabric);
	assert_int_equal(program->scaleup_messages, scaleup);
	assert_int_equal(program->fabric_bytes, fabric * 4086);
	assert_int_equal(program->scaleup_bytes, scaleup * 4086);
	world_instance_free(&rig.world_instance);
}

static void computations_take_their_time(void **)
{
	expect_end("num_ranks 1\nrank 0 {\na: calc 30\nb: calc 12\nc: calc 50 cpu 1\n"
		   "d: calc 5\nd requires c\n}\n",
		   NULL, 55 * PS_PER_NS);
	expect_messages(0, 0);
	expect_end("num_ranks 1\nrank 0 {\na: calc 30\nb: calc 12\n}\n",
		   (const char *const[]){"traffic.unit=1us", NULL}, 42 * PS_PER_US);
	world_instance_free(&rig.world_instance);
}

// There, and back again: what the receiver sends waits for the answer on its line, 64 bytes.
static void an_echo_takes_what_the_closed_form_says(void **)
{
	const char *echo = "num_ranks 2\nrank 0 {\nc: calc 1000\ns: send 4086b to 1\n"
			   "s requires c\nr: recv 4086b from 1\ne: calc 300\ne requires r\n}\n"
			   "rank 1 {\nr: recv 4086b from 0\ns: send 4086b to 0\ns requires r\n}\n";
	ps_t back_ps = PS_PER_US + THERE_PS + 64 * 80 + THERE_PS;
	ps_t sent_ps = back_ps + BACK_PS; // rank 1 knows that last
	expect_end(echo, NULL, sent_ps);
	expect_messages(2, 0);
	expect_end(echo, (const char *const[]){HOSTS, NULL},
		   PS_PER_US + 2 * (NEAR_PS + 900 * PS_PER_NS) + 300 * PS_PER_NS);
	expect_messages(0, 2);
}

// Rank 2 waits for nothing, so its message is there before its receive begins; the sum is that of
// rank 1's computation alone.
static void a_receive_waits_for_what_is_before_it(void **)
{
	expect_end("num_ranks 3\nrank 0 {\n}\nrank 1 {\nc: calc 90000\nr: recv 4086b from 2\n"
		   "r requires c\ne: calc 10\ne requires r\n}\nrank 2 {\nsend 4086b to 1\n}\n",
		   NULL, 90010 * PS_PER_NS);
	expect_messages(1, 0);
}

// At 40 % of its speed from 10 us on: 10 us of work are done by then, 20 us are left.
static void a_slow_host_computes_longer(void **)
{
	const char *text = FABRIC
		"faults: [{kind: straggler, at: {host: 1}, rate: 40%, from: 10us}]\n"
		"traffic: {kind: goal, file: here}\n";
	const char *goal = "num_ranks 2\nrank 0 {\ncalc 30000\n}\nrank 1 {\na: calc 5000\n"
			   "b: calc 25000\nb requires a\n}\n";
	static const struct sim_options options;
	memset(&rig, 0, sizeof(rig));
	assert_int_equal(
		scenario_parse(&rig.scenario, "program", text, strlen(text), NULL, 0, &rig.refusal),
		0);
	assert_int_equal(world_instance_build(&rig.world_instance, &rig.scenario, goal,
					      strlen(goal), &options, &rig.refusal),
			 0);
	sim_run(rig.world_instance.sim, &rig.run);
	assert_int_equal(rig.world_instance.world.outcome->end_ps, 60 * PS_PER_US);
	world_instance_free(&rig.world_instance);
}

// ---------------------------------------------------------------- collectives

#define RACKS \
	"name: program\nfabric: {topology: clos, nics: 16, nics_per_host: 2, nics_per_t0: 8, " \
	"t1_count: 4, planes: 2, link_rate: 100Gb/s}\nscaleup: {rate: 450GB/s, delay: 900ns}\n"
#define RING_BYTES 4000000

static uint8_t memory[8u << 20] __attribute__((aligned(64)));
static const struct ring_config ring = {16, 4, 2 << 20, 2, 4, RING_PIPELINED, 0};

// A ring of all 16 NICs whose two buckets are operations: the first waits for `before_ps` of
// computation at rank 3, the second at each rank for `between_ps` after the first. Then all compute
// for 1 us.
static struct program *ring_program(struct job *job, ps_t before_ps, ps_t between_ps)
{
	struct arena arena;
	struct program *program;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(
		job_from_ring(job, &arena, COLLECTIVE_ALL_REDUCE, RING_BYTES, 2, &ring, NULL), 0);
	static struct bucket buckets[2];
	buckets[0] = buckets[1] = job->buckets[0];
	job->buckets = buckets;
	job->bucket_count = job->groups[0].bucket_count = 2;
	assert_int_equal(program_create(&program, &arena, 16, 80, 80, NULL), 0);
	program_use_job(program, job);
	for (uint32_t rank = 0; rank < 16; rank++) {
		uint32_t first = program_collective(program, rank, 0, rank, 0);
		uint32_t second = program_collective(program, rank, 0, rank, 1);
		program_wait(program, program_compute(program, rank, 0, PS_PER_US), second);
		if (rank == 3)
			program_wait(program, first, program_compute(program, rank, 0, before_ps));
		if (between_ps == 0)
			continue;
		uint32_t between = program_compute(program, rank, 0, between_ps);
		program_wait(program, between, first);
		program_wait(program, second, between);
	}
	assert_int_equal(program_seal(program, &arena, NULL), 0);
	return program;
}

static void run_ring(ps_t before_ps, ps_t between_ps)
{
	static const struct sim_options options;
	const char *text = RACKS "traffic: {kind: goal, file: given}\n";
	struct job job;
	memset(&rig, 0, sizeof(rig));
	assert_int_equal(
		scenario_parse(&rig.scenario, "ring", text, strlen(text), NULL, 0, &rig.refusal),
		0);
	rig.scenario.traffic.program = ring_program(&job, before_ps, between_ps);
	if (world_instance_build(&rig.world_instance, &rig.scenario, NULL, 0, &options,
				 &rig.refusal) < 0)
		fail_msg("%s", rig.refusal.text);
	sim_run(rig.world_instance.sim, &rig.run);
	rig.outcome = rig.world_instance.world.outcome;
	assert_int_equal(rig.run.end, RUN_DONE);
}

// Time of one bucket as the scenario's own ring runs it.
static ps_t ring_alone(void)
{
	rig_run(&rig,
		RACKS "traffic: {kind: ring, collective: all_reduce, ranks: 16, bytes: 4MB, "
		      "channels: 4}\n",
		NULL);
	ps_t whole_ps = rig.outcome->collectives[0].whole_ps;
	world_instance_free(&rig.world_instance);
	return whole_ps;
}

static void a_collective_starts_when_its_operation_may_begin(void **)
{
	ps_t alone_ps = ring_alone();
	run_ring(0, 0);
	const struct outcome_collective *first = &rig.outcome->collectives[0], *second = first + 1;
	assert_int_equal(rig.outcome->end_ps, second->end_ps + PS_PER_US);
	assert_true(second->start_ps < first->end_ps); // ranks that are done go on
	world_instance_free(&rig.world_instance);
	run_ring(0, 500 * PS_PER_US);
	first = &rig.outcome->collectives[0];
	assert_int_equal(first->whole_ps, alone_ps); // the same ring, packet by packet
	assert_true(first[1].start_ps >= first->start_ps + 500 * PS_PER_US);
	assert_true(first[1].end_ps > first->end_ps + 500 * PS_PER_US);
	assert_true(first[1].end_ps < first->end_ps + 500 * PS_PER_US + alone_ps * 11 / 10);
	world_instance_free(&rig.world_instance);
	run_ring(300 * PS_PER_US, 0);
	first = &rig.outcome->collectives[0];
	assert_true(first->end_ps > 300 * PS_PER_US);
	assert_true(first->end_ps < 300 * PS_PER_US + alone_ps);
	assert_int_equal(rig.outcome->end_ps, first[1].end_ps + PS_PER_US);
	world_instance_free(&rig.world_instance);
}

static void a_program_with_collectives_is_not_sampled(void **)
{
	struct job job;
	static const struct sim_options options;
	const char *text = RACKS "traffic: {kind: goal, file: given}\n";
	assert_int_equal(
		scenario_parse(&rig.scenario, "ring", text, strlen(text), NULL, 0, &rig.refusal),
		0);
	rig.scenario.traffic.program = ring_program(&job, 0, 0);
	rig.scenario.sample.is_on = true;
	assert_int_equal(world_instance_build(&rig.world_instance, &rig.scenario, NULL, 0, &options,
					      &rig.refusal),
			 -EINVAL);
	assert_string_equal(rig.refusal.text, "a program runs whole: sample off goes with it");
}

static void expect_refused(const char *goal, const char *const *sets, const char *reason)
{
	assert_int_equal(build(goal, sets), -EINVAL);
	assert_string_equal(rig.refusal.text, reason);
}

static void what_cannot_run_is_refused(void **)
{
	const char *pair = "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n";
	expect_refused(pair, (const char *const[]){"fabric.nics_per_host=2", NULL},
		       "NIC 0 and NIC 1 of one host talk, and nothing joins them: give "
		       "scaleup.rate, or fabric.nics_per_host 1");
	expect_refused(pair, (const char *const[]){"sample.steps=2", NULL},
		       "sample.steps has no effect here; it needs traffic.kind ring, model or "
		       "trace");
	expect_refused("num_ranks 2\nrank 0 {\n", NULL,
		       "the file ends within rank 0: } is missing");
	char many[1024] = "num_ranks 17\n";
	for (int i = 0; i < 17; i++)
		sprintf(many + strlen(many), "rank %d {\n}\n", i);
	expect_refused(many, NULL,
		       "the program is of 17 ranks, but fabric.nics is 16: each rank needs a NIC");
}
