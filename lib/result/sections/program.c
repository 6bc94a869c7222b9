// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <inttypes.h>
#include <stdlib.h>

#include <weft/result/figures.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

// What there is of a program, or of a collective stream, whose messages are no operations in
// memory.
struct sizes {
	uint64_t ranks, operations, dependencies;
	uint64_t kinds[OP_KIND_COUNT];
};

static void count_kinds(const struct program *program, uint64_t ret[OP_KIND_COUNT])
{
	for (int kind = 0; kind < OP_KIND_COUNT; kind++)
		ret[kind] = 0;
	for (uint32_t i = 0; i < program->op_count; i++)
		ret[program->ops[i].kind]++;
}

static bool sizes_of(const struct world *world, struct sizes *ret)
{
	const struct program *program = world->program;
	*ret = (struct sizes){0};
	if (world->coll_stream != NULL) {
		ret->ranks = coll_stream_config(world->coll_stream)->ranks;
		ret->operations = 2 * coll_stream_messages(world->coll_stream);
		ret->kinds[OP_SEND] = ret->kinds[OP_RECEIVE] = coll_stream_messages(
			world->coll_stream);
		return true;
	}
	if (program == NULL)
		return false;
	ret->ranks = program->ranks;
	ret->operations = program->op_count;
	ret->dependencies = program->edge_count;
	count_kinds(program, ret->kinds);
	return true;
}

// What runs a collective: as asked for, or what `auto` came to.
static const char *algorithm_of(const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	struct coll_config config;
	if (scenario->traffic.kind != TRAFFIC_COLLECTIVE)
		return NULL;
	scenario_collective(&config, scenario);
	return coll_algorithm_name(config.algorithm);
}

// What the rank that computes most computes, and what of the step is left: communication that it
// waits for. Exact where each rank computes on one stream and no fault makes a host late; else the
// computations are longer, and what is exposed is at most this.
struct step {
	ps_t compute_ps, exposed_ps;
	bool is_exact;
};

static ps_t busiest_stream(const struct program *program, ps_t *sums)
{
	ps_t most = 0;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		if (op->kind != OP_COMPUTE || op->compute_ps == OP_EXTERNAL_COMPUTE_PS)
			continue;
		ps_t *sum = &sums[program->stream_first[op->rank] + op->stream];
		*sum += op->compute_ps;
		most = *sum > most ? *sum : most;
	}
	return most;
}

static bool step_of(const struct report_input *input, struct step *ret)
{
	const struct program *program = input->world->program;
	if (program == NULL || input->is_partial)
		return false;
	uint64_t streams = program->stream_first[program->ranks];
	ps_t *sums = calloc(streams + 1, sizeof(*sums));
	ps_t end_ps = input->world->outcome->end_ps;
	if (sums == NULL)
		return false;
	*ret = (struct step){.compute_ps = busiest_stream(program, sums)};
	ret->is_exact = streams <= program->ranks && input->world->scenario->fault_count == 0;
	ret->exposed_ps = end_ps > ret->compute_ps ? end_ps - ret->compute_ps : 0;
	free(sums);
	return ret->compute_ps > 0;
}

static void step_json(json_t *to, const struct report_input *input)
{
	struct step step;
	if (!step_of(input, &step)) {
		put_reason(to, "compute_ps",
			   input->is_partial ? "not all of it ended" : "nothing is computed");
		put_reason(to, "exposed_ps",
			   input->is_partial ? "not all of it ended" : "nothing is computed");
		return;
	}
	put_time(to, "compute_ps", step.compute_ps);
	put_time(to, "exposed_ps", step.exposed_ps);
}

bool program_step_text(const struct report_input *input, char ret[PROGRAM_STEP_BYTES])
{
	const ps_t end_ps = input->world->outcome->end_ps;
	struct step step;
	struct text text[2];
	if (!step_of(input, &step))
		return false;
	snprintf(ret, PROGRAM_STEP_BYTES, "%s, of which %s%s exposed (%.1f %%)",
		 number_time(&text[0], end_ps), step.is_exact ? "" : "at most ",
		 number_time(&text[1], step.exposed_ps),
		 100.0 * (double)step.exposed_ps / (double)end_ps);
	return true;
}

void program_json(json_t *root, const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	struct sizes sizes;
	if (!sizes_of(input->world, &sizes))
		return;
	json_t *to = object_in(root, "program");
	put_count(to, "ranks", sizes.ranks);
	put_text(to, "algorithm", algorithm_of(input));
	put(to, "algorithm_is_auto",
	    json_boolean(input->world->scenario->traffic.algorithm == TRAFFIC_ALGORITHM_AUTO));
	put_count(to, "operations", sizes.operations);
	put_count(to, "computations", sizes.kinds[OP_COMPUTE]);
	put_count(to, "messages", sizes.kinds[OP_SEND]);
	put_count(to, "collectives", sizes.kinds[OP_COLLECTIVE]);
	if (input->world->coll_stream != NULL)
		put_reason(to, "dependencies", "messages are generated on demand");
	else
		put_count(to, "dependencies", sizes.dependencies);
	put_count(to, "fabric_messages", outcome->program.fabric_messages);
	put_count(to, "fabric_bytes", outcome->program.fabric_bytes);
	put_count(to, "scaleup_messages", outcome->program.scaleup_messages);
	put_count(to, "scaleup_bytes", outcome->program.scaleup_bytes);
	if (input->is_partial)
		put_reason(to, "end_ps", "not all of it ended");
	else
		put_time(to, "end_ps", outcome->end_ps);
	step_json(to, input);
}

void program_table(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "program");
	const char *step = document_text(result, "headline.step"),
		   *algorithm = document_text(of, "algorithm");
	if (of == NULL)
		return;
	table_say(to, of,
		  json_is_integer(json_object_get(of, "end_ps"))
			  ? "\nProgram of {ranks} ranks: ended at {end_ps}\n"
			  : "\nProgram of {ranks} ranks: {end_ps}\n");
	if (*step != '\0')
		fprintf(to, "  step %s: communication that computations wait for\n", step);
	fprintf(to, "  %-28s ", "operations");
	table_say(to, of, "{operations:,17}   computations {computations}, messages {messages}");
	if (document_number(of, "collectives") > 0)
		table_say(to, of, ", parts of collectives {collectives}");
	fprintf(to, "\n");
	if (*algorithm != '\0')
		fprintf(to, "  %-28s %17s%s\n", "algorithm", algorithm,
			json_is_true(json_object_get(of, "algorithm_is_auto")) ? "   (auto)" : "");
	fprintf(to, "  %-28s ", "sent over the fabric");
	table_say(to, of, "{fabric_messages:,17}   {fabric_bytes}\n");
	fprintf(to, "  %-28s ", "sent over the scale-up");
	table_say(to, of, "{scaleup_messages:,17}   {scaleup_bytes}\n");
}
