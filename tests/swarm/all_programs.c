// SPDX-License-Identifier: Apache-2.0
// Random programs on random small fabrics, over MRC or RC, with losses, stalls and slow hosts:
// every operation ends, no program is faster than its computations let it be, and as frames through
// memory the run is the same. That all bytes are placed once is checked inside every run.
//
//   WEFT_PROGRAMS_FIRST=<seed> WEFT_PROGRAMS_COUNT=1 <this program>

#include "../random_world.h"

#define OPS_MAX 200u
#define EDGES_MAX (4 * OPS_MAX)
#define ARENA_BYTES (1u << 20)

struct drawn {
	struct program *program;
	uint32_t nics, edges, from[EDGES_MAX], to[EDGES_MAX];
	uint32_t sends, near_sends, per_host;
};

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));

// ---------------------------------------------------------------- programs

static void add_message(struct drawn *drawn, struct rng *rng)
{
	struct program *program = drawn->program;
	uint32_t from = pick(rng, 0, program->ranks - 1);
	uint32_t to = (from + pick(rng, 1, program->ranks - 1)) % program->ranks;
	uint32_t tag = pick(rng, 0, 2), bytes_max = pick(rng, 0, 2) ? 20000 : 300000;
	uint32_t bytes = pick(rng, 1, bytes_max);
	uint64_t offset = pick(rng, 0, 100000);
	program_send(program, from, to, tag, bytes, 0);
	program_receive(program, to, from, tag, bytes, offset, false);
	drawn->sends++;
	drawn->near_sends += program->nics[from] / drawn->per_host ==
		program->nics[to] / drawn->per_host;
}

// Ranks sit on NICs in a random turn. All dependencies lead from older to younger operations.
static void draw_program(struct drawn *drawn, struct rng *rng)
{
	struct arena arena;
	uint32_t ranks = pick(rng, 2, drawn->nics), ops = pick(rng, 2, OPS_MAX);
	uint32_t turn = pick(rng, 0, drawn->nics - 1);
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(program_create(&drawn->program, &arena, ranks, ops + 1, EDGES_MAX, NULL),
			 0);
	struct program *program = drawn->program;
	for (uint32_t rank = 0; rank < ranks; rank++)
		program->nics[rank] = (rank + turn) % drawn->nics;
	while (program->op_count < ops) {
		uint32_t rank = pick(rng, 0, ranks - 1), us = pick(rng, 0, 40);
		if (pick(rng, 0, 1))
			add_message(drawn, rng);
		else
			program_compute(program, rank, (uint16_t)pick(rng, 0, 1), us * PS_PER_US);
	}
	for (uint32_t i = pick(rng, 0, 3 * ops); i > 0; i--) {
		uint32_t to = pick(rng, 1, ops - 1), from = pick(rng, 0, to - 1);
		if (program->ops[to].rank != program->ops[from].rank)
			continue;
		program_wait(program, to, from);
		drawn->from[drawn->edges] = from;
		drawn->to[drawn->edges++] = to;
	}
	assert_int_equal(program_seal(program, &arena, NULL), 0);
}

// The longest chain of computations, by dependencies and messages.
static ps_t critical_ps(const struct drawn *drawn)
{
	static ps_t end_ps[OPS_MAX + 1];
	ps_t longest = 0;
	for (uint32_t op = 0; op < drawn->program->op_count; op++) {
		const struct op *of = &drawn->program->ops[op];
		ps_t begin = 0;
		for (uint32_t i = 0; i < drawn->edges; i++)
			if (drawn->to[i] == op)
				begin = ps_max(begin, end_ps[drawn->from[i]]);
		if (of->kind == OP_RECEIVE && of->twin < op)
			begin = ps_max(begin, end_ps[of->twin]);
		end_ps[op] = begin + (of->kind == OP_COMPUTE ? of->compute_ps : 0);
		longest = ps_max(longest, end_ps[op]);
	}
	return longest;
}

// ---------------------------------------------------------------- worlds

static void draw_world(struct text *text, struct rng *rng, struct drawn *drawn)
{
	static const char *const kinds[] = {"mrc", "mrc", "rc"};
	uint32_t planes = pick(rng, 1, 2), host = pick(rng, 0, 2);
	drawn->per_host = 1u << host;
	drawn->nics = 8 * pick(rng, 1, 3);
	add(text,
	    "name: program\nseed: %u\nfabric: {nics: %u, nics_per_host: %u, nics_per_t0: 4, "
	    "t1_count: 2, planes: %u, link_rate: 100Gb/s}\n",
	    pick(rng, 1, 1000), drawn->nics, drawn->per_host, planes);
	if (host > 0)
		add_scaleup(text, rng, 900);
	uint32_t qps = pick(rng, 1, 3), sends = pick(rng, 1, 4);
	const char *kind = kinds[pick(rng, 0, 2)];
	add(text, "transport: {kind: %s, rto: 80us, qps_per_connection: %u, sends: %u", kind, qps,
	    sends);
	if (kind[0] == 'm')
		add(text, ", evs: %u, contexts: %u", 8 * planes, pick(rng, 8, 30));
	else
		add(text, "}\ncc: {algorithm: fixed");
	add(text, "}\ntraffic: {kind: goal, file: given}\n");
	add(text, "limits: {packets: 40000, memory: 256MiB, time: 1s}\n");
	add(text, "faults:\n  - {kind: straggler, at: {host: 0}, rate: 0.%u, from: 5us}\n",
	    pick(rng, 3, 9));
	if (pick(rng, 0, 1))
		add(text, "  - {kind: loss, at: all, probability: 0.0%02u}\n", pick(rng, 1, 20));
	add_rare_faults(text, rng, 1);
}

static void run(struct rig *rig, const struct text *text, const struct drawn *drawn,
		const struct sim_options *options)
{
	memset(rig, 0, sizeof(*rig));
	int rc = scenario_parse(&rig->scenario, "test", text->at, text->used, NULL, 0,
				&rig->refusal);
	rig->scenario.traffic.program = drawn->program;
	if (rc == 0)
		rc = world_instance_build(&rig->world_instance, &rig->scenario, NULL, 0, options,
					  &rig->refusal);
	if (rc < 0)
		fail_msg("refused: %u:%u %s\n%s", rig->refusal.line, rig->refusal.column,
			 rig->refusal.text, text->at);
	sim_run(rig->world_instance.sim, &rig->run);
	rig->outcome = rig->world_instance.world.outcome;
	assert_int_equal(rig->run.end, RUN_DONE);
}

static void expect_sound(const struct rig *rig, const struct drawn *drawn)
{
	const struct outcome_program *sent = &rig->outcome->program;
	if (rig->outcome->end_ps < critical_ps(drawn))
		fail_msg("no program is faster than its computations");
	assert_int_equal(sent->scaleup_messages, drawn->near_sends);
	assert_int_equal(sent->fabric_messages, drawn->sends - drawn->near_sends);
	assert_int_equal(rig->outcome->transport.payload_bytes_placed, sent->fabric_bytes);
}

// ---------------------------------------------------------------- all of it

static void random_programs_end_on_random_worlds(void **)
{
	static const struct sim_options plain, frames = {.ports.kind = PORTS_MEMORY};
	static struct rig rig, other;
	uint64_t first = number("WEFT_PROGRAMS_FIRST", 1);
	uint64_t count = number("WEFT_PROGRAMS_COUNT", 150), packets = 0, lost = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 0);
		struct text text = {0};
		struct drawn drawn = {0};
		seed_begin("WEFT_PROGRAMS", seed);
		draw_world(&text, &rng, &drawn);
		draw_program(&drawn, &rng);
		run(&rig, &text, &drawn, &plain);
		expect_sound(&rig, &drawn);
		packets += rig.outcome->transport.data_packets;
		lost += rig.outcome->dropped[DROP_RANDOM_LOSS] + rig.run.dropped[DROP_RANDOM_LOSS];
		if (seed % 3 == 0) {
			run(&other, &text, &drawn, &frames);
			assert_int_equal(other.run.digest, rig.run.digest);
			assert_int_equal(other.outcome->end_ps, rig.outcome->end_ps);
			assert_int_equal(other.run.payload_bytes_wrong, 0);
			world_instance_free(&other.world_instance);
		}
		world_instance_free(&rig.world_instance);
	}
	seeds_end();
	printf("%llu packets, %llu lost\n", (unsigned long long)packets, (unsigned long long)lost);
	assert_true(count < 20 || (packets > 100 * count && lost > count));
}
