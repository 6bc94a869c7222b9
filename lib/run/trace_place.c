// SPDX-License-Identifier: Apache-2.0
// See trace_place.h.

#include "trace_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/workload/mix.h>

#define ALIGNMENT 64
#define DRAW_BYTES 64 // what rounding of one draw takes at most

// Where copies lie: as many as go into a host, or each from a host on.
struct places {
	uint32_t ranks, per_host; // NICs of a host
	uint32_t most;		  // copies that there is room for
};

static struct places places_of(const struct scenario *scenario, uint32_t ranks)
{
	uint32_t per_host = scenario->fabric.nics_per_host,
		 hosts = scenario->fabric.nics / per_host;
	uint32_t hosts_each = (ranks + per_host - 1) / per_host;
	uint32_t most = ranks < per_host ? per_host / ranks * hosts : hosts / hosts_each;
	return (struct places){ranks, per_host, most};
}

static uint32_t first_nic(const struct places *places, uint32_t copy)
{
	uint32_t ranks = places->ranks, per_host = places->per_host;
	if (ranks >= per_host)
		return copy * ((ranks + per_host - 1) / per_host) * per_host;
	uint32_t in_host = per_host / ranks;
	return copy / in_host * per_host + copy % in_host * ranks;
}

int trace_place_ranks(const struct workload *workload, const struct scenario *scenario,
		      uint32_t *ret, struct refusal *refusal)
{
	uint32_t nics = scenario->fabric.nics, ranks = trace_ranks(&workload->set);
	*ret = ranks > 0 ? ranks : nics;
	if (ranks > nics)
		return refuse(
			refusal, -EINVAL,
			"the trace is of % ranks, but fabric.nics is %: set fabric.nics=%, or "
			"a multiple that fills its hosts and switches",
			ranks, nics, ranks);
	if (ranks == 0 && scenario->traffic.copies != 1)
		return refuse(refusal, -EINVAL,
			      "traffic.copies: the trace does not say of how many ranks it is, and "
			      "runs on all % NICs already",
			      nics);
	return 0;
}

void trace_place_note(const struct workload *workload, struct scenario *scenario)
{
	const struct trace_set *set = &workload->set;
	uint64_t cut = 0;
	for (uint32_t i = 0; i < set->rank_count; i++)
		cut += set->ranks[i].cut;
	if (cut == 0 || scenario->input_count == SCENARIO_INPUTS_MAX)
		return;
	struct scenario_input *input = &scenario->inputs[scenario->input_count++];
	input->origin = INPUT_ASSUMED;
	snprintf(input->text, sizeof(input->text),
		 "%llu waits of the trace's nodes, each of which closed a circle, are left out "
		 "(traffic.cut_circles)",
		 (unsigned long long)cut);
}

// ---------------------------------------------------------------- copies

// What mix_program() draws, roughly from above.
static uint64_t room_for(const struct program *program, uint32_t copies, uint32_t nics)
{
	const struct job *job = program->job;
	uint64_t each = ((uint64_t)program->op_count + program->ranks) * sizeof(uint32_t) +
		4 * DRAW_BYTES;
	for (uint32_t g = 0; job != NULL && g < job->group_count; g++) {
		uint64_t ranks = job->groups[g].ranks, buckets = job->groups[g].bucket_count;
		each += sizeof(struct group) + 4 * DRAW_BYTES + 4 * sizeof(uint64_t) * ranks +
			buckets * (sizeof(struct bucket) + 4 * sizeof(uint64_t) * ranks);
	}
	uint64_t ops = (uint64_t)copies * (program->op_count + program->ranks);
	uint64_t edges = (uint64_t)copies *
		(program->edge_count + 2 * (uint64_t)program->op_count + program->ranks);
	if (ops >= OP_NONE || edges >= OP_NONE)
		return 0; // mix_program() says so
	return program_bytes(nics, (uint32_t)ops, (uint32_t)edges) + copies * each +
		sizeof(struct job) + 64 * DRAW_BYTES;
}

static int copy(struct workload *workload, const struct scenario *scenario,
		const struct places *places, uint32_t copies, struct refusal *refusal)
{
	const struct program *program = workload->program.program;
	uint32_t nics = scenario->fabric.nics, ranks = places->ranks;
	uint64_t bytes = (room_for(program, copies, nics) + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
	struct mix_part *parts = calloc(copies, sizeof(*parts));
	uint32_t *at = calloc((size_t)copies * ranks, sizeof(*at));
	workload->placed.memory = aligned_alloc(ALIGNMENT, bytes);
	int rc = parts == NULL || at == NULL || workload->placed.memory == NULL ? -ENOMEM : 0;
	for (uint32_t i = 0; rc == 0 && i < copies; i++) {
		parts[i] = (struct mix_part){program, at + (size_t)i * ranks, 0, 1};
		for (uint32_t rank = 0; rank < ranks; rank++)
			at[(size_t)i * ranks + rank] = first_nic(places, i) + rank;
	}
	if (rc == 0) {
		struct arena arena;
		memset(workload->placed.memory, 0, bytes);
		arena_init(&arena, workload->placed.memory, bytes);
		rc = mix_program(&workload->placed.program, &arena, parts, copies, nics,
				 places->per_host, &scenario->traffic.ring, refusal);
	}
	free(parts);
	free(at);
	return rc == -ENOMEM
		? refuse(refusal, -ENOMEM, "no memory for % copies of the trace", copies)
		: rc;
}

int trace_place(struct workload *workload, struct scenario *scenario, struct refusal *refusal)
{
	uint32_t copies = scenario->traffic.copies, ranks = workload->program.program->ranks;
	const struct places places = places_of(scenario, ranks);
	trace_program_free(&workload->placed);
	scenario->traffic.program = workload->program.program;
	if (copies == 0)
		copies = places.most;
	if (copies > places.most)
		return refuse(
			refusal, -EINVAL,
			"traffic.copies: % copies of % ranks do not go onto % NICs in hosts of "
			"%; there is room for %",
			copies, ranks, scenario->fabric.nics, places.per_host, places.most);
	if (copies < 2)
		return 0;
	int rc = copy(workload, scenario, &places, copies, refusal);
	scenario->traffic.program = workload->placed.program;
	return rc;
}
