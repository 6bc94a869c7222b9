// SPDX-License-Identifier: Apache-2.0
// Reads a workload file and parses it once for its errors and its size; the world parses it again
// into its own memory. See workload.h.

#include <weft/run/workload.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weft/engine/engine.h>
#include <weft/run/trace_files.h>
#include <weft/workload/mix.h>
#include <weft/workload/workload_goal.h>

// The ranks of a trace on the NICs of a fabric that has more of them: as they are, or in several
// copies side by side.

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

// How many ranks the trace is run with: its own, or all NICs where it does not tell. -EINVAL where
// they do not go onto the fabric.
static int trace_place_ranks(const struct workload *workload, const struct scenario *scenario,
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

// Says among the scenario's inputs what of the trace was left out so that it can run.
static void trace_place_note(const struct workload *workload, struct scenario *scenario)
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

// Puts as many copies of the program that was expanded onto the fabric as traffic.copies says, each
// on NICs of its own that lie to hosts as those of the first one. -EINVAL with the reason, -ENOMEM.
static int trace_place(struct workload *workload, struct scenario *scenario,
		       struct refusal *refusal)
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

#define WORKLOAD_BYTES_MAX ((size_t)1 << 28)

// The most memory that parsing takes: a flow of 40 bytes, and 4 to order it, needs a line of 16 or
// more; an operation of some 300 with its label, channel and order one of 7.
size_t workload_room(enum traffic_kind kind, size_t bytes)
{
	return bytes * (kind == TRAFFIC_GOAL ? 64 : 16) + ((size_t)1 << 20);
}

// Whether a sample of its data-parallel collectives has anything to run, and the data packets of 4
// KiB that the whole would send at most.
static bool has_sample(const struct trace *trace, uint64_t *ret_packets)
{
	bool has = false;
	*ret_packets = 0;
	for (uint32_t i = 0; i < trace->entry_count; i++) {
		const struct trace_entry *entry = &trace->entries[i];
		uint32_t data = trace->gpus / (trace->tp * trace->pp);
		bool is_dp = entry->group == TRACE_GROUP_DP && data > 1;
		is_dp |= entry->group == TRACE_GROUP_DP_EP && data / trace->ep > 1;
		has |= trace->gpus == 0 ||
			(is_dp && entry->comm != TRACE_ALLTOALL && entry->comm != TRACE_BROADCAST);
		*ret_packets += entry->bytes / 2048 * (trace->gpus == 0 ? 1024 : trace->gpus);
	}
	return has;
}

static int parse(enum traffic_kind kind, struct arena *arena, struct workload *workload,
		 uint32_t *ret_nics, struct refusal *refusal)
{
	struct trace trace;
	struct matrix matrix;
	struct program *program;
	int rc;
	switch (kind) {
	case TRAFFIC_TRACE:
		rc = trace_simai_parse(&trace, arena, workload->text, workload->bytes, refusal);
		*ret_nics = rc < 0 ? 0 : trace.gpus;
		if (rc == 0)
			workload->has_sample = has_sample(&trace, &workload->packets_max);
		return rc;
	case TRAFFIC_GOAL: // the unit of time is not what can be wrong
		rc = goal_parse(&program, arena, workload->text, workload->bytes, 1, refusal);
		*ret_nics = rc < 0 ? 0 : program->ranks;
		return rc;
	default:
		rc = matrix_parse(&matrix, arena, workload->text, workload->bytes, 1, refusal);
		*ret_nics = rc < 0 ? 0 : matrix.nics;
		return rc;
	}
}

static int parse_text(struct workload *workload, enum traffic_kind kind, const char *path,
		      uint32_t *ret_nics, struct refusal *refusal)
{
	size_t room = workload_room(kind, workload->bytes);
	void *memory = memory_reserve(room);
	if (memory == NULL)
		return refuse(refusal, -ENODEV, "not enough memory to read the workload");
	struct arena arena;
	arena_init(&arena, memory, room);
	int rc = parse(kind, &arena, workload, ret_nics, refusal);
	memory_release(memory, room);
	if (rc < 0)
		refusal_name(refusal, path);
	return rc;
}

// ---------------------------------------------------------------- traces of nodes

static bool is_folder(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// Whether it is a folder, packed, or begins as a trace of nodes does. What we do not know at all is
// refused as the text that it is not.
static bool is_of_nodes(const char *text, size_t bytes)
{
	struct refusal ignored;
	enum trace_format format;
	if (text == NULL || trace_is_packed(text, bytes))
		return true;
	if (trace_recognise(&format, text, bytes, &ignored) < 0)
		return false;
	return format != TRACE_FORMAT_SIMAI && format != TRACE_FORMAT_AICB &&
		format != TRACE_FORMAT_MICRO;
}

static int read_nodes(struct workload *workload, const char *path, uint32_t *ret_nics,
		      struct refusal *refusal)
{
	char *paths[] = {(char *)(uintptr_t)path};
	free(workload->text);
	*workload = (struct workload){.has_set = true,
				      .skips_damaged = workload->skips_damaged,
				      .memory_bytes_max = workload->memory_bytes_max};
	int rc = trace_files_read(&workload->set, paths, 1, TRACE_FORMAT_COUNT,
				  workload->skips_damaged, workload->memory_bytes_max, refusal);
	*ret_nics = rc < 0 ? 0 : trace_ranks(&workload->set);
	return rc;
}

const char *workload_file(const struct traffic_config *traffic)
{
	switch (traffic->kind) {
	case TRAFFIC_TRACE:
		return traffic->trace;
	case TRAFFIC_MATRIX:
		return traffic->matrix;
	case TRAFFIC_GOAL:
		return traffic->file;
	default:
		return NULL;
	}
}

int workload_read(struct workload *ret, enum traffic_kind kind, const char *path,
		  uint32_t *ret_nics, struct refusal *refusal)
{
	bool is_trace = kind == TRAFFIC_TRACE;
	int rc = is_trace && is_folder(path)
		? 0
		: file_read(path, WORKLOAD_BYTES_MAX, &ret->text, &ret->bytes, refusal);
	if (rc < 0)
		return rc;
	if (is_trace && is_of_nodes(ret->text, ret->bytes))
		return read_nodes(ret, path, ret_nics, refusal);
	return parse_text(ret, kind, path, ret_nics, refusal);
}

int workload_read_nodes(struct workload *workload, const char *path, struct refusal *refusal)
{
	enum trace_format format;
	int rc = trace_recognise(&format, workload->text, workload->bytes, refusal);
	if (rc < 0)
		return rc;
	workload->has_set = true;
	trace_set_init(&workload->set, format);
	workload->set.memory_bytes_max = workload->memory_bytes_max;
	return trace_set_add(&workload->set, path, workload->text, workload->bytes, refusal);
}

static int expand(struct workload *workload, struct scenario *scenario, struct refusal *refusal)
{
	bool is_text = scenario->traffic.kind == TRAFFIC_TRACE && workload->text != NULL;
	if (is_text && scenario->sample.is_on && workload->has_sample)
		return 0;
	if (is_text && !workload->has_set) {
		int rc = workload_read_nodes(workload, scenario->traffic.trace, refusal);
		if (rc < 0)
			return rc;
	}
	if (is_text)
		scenario->sample.is_on = false; // it has nothing to take a sample of
	struct trace_run run = {
		.rank_host = scenario->fabric.nics_per_host,
		.ring = scenario->traffic.ring,
		.cuts_circles = scenario->traffic.cuts_circles,
		.memory_bytes_max = scenario->memory_bytes_max,
	};
	if (!workload->has_set)
		return 0;
	trace_program_free(&workload->program);
	int rc = trace_place_ranks(workload, scenario, &run.ranks, refusal);
	if (rc == 0)
		rc = trace_expand(&workload->program, &workload->set, &run, refusal);
	if (rc == 0)
		trace_place_note(workload, scenario);
	return rc == 0 ? trace_place(workload, scenario, refusal) : rc;
}

// What limits.memory forbids is -EINVAL; what the system does not give is no fault of the input.
int workload_expand(struct workload *workload, struct scenario *scenario, struct refusal *refusal)
{
	int rc = expand(workload, scenario, refusal);
	return rc == -ENOMEM ? -ENODEV : rc;
}

void workload_free(struct workload *workload)
{
	free(workload->text);
	trace_program_free(&workload->program);
	trace_program_free(&workload->placed);
	if (workload->has_set)
		trace_set_free(&workload->set);
	*workload = (struct workload){0};
}
