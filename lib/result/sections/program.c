// SPDX-License-Identifier: Apache-2.0
// See program.h.

#include "program.h"

#include <inttypes.h>

#include <weft/result/figures.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

// What there is of a program, or of a course, whose messages are no operations in memory.
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

void program_json(json_t *root, const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	struct sizes sizes;
	if (!sizes_of(input->world, &sizes))
		return;
	json_t *to = object_in(root, "program");
	put_count(to, "ranks", sizes.ranks);
	put_text(to, "algorithm", algorithm_of(input));
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
}

static void went_over(FILE *to, const char *what, uint64_t messages, uint64_t bytes)
{
	struct text text[2];
	fprintf(to, "  %-28s %17s   %s\n", what, number_grouped(&text[0], messages),
		number_bytes(&text[1], bytes));
}

void program_table(FILE *to, const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	struct sizes sizes;
	struct text text[4];
	if (!sizes_of(input->world, &sizes))
		return;
	fprintf(to, "\nProgram of %s ranks: ", number_grouped(&text[0], sizes.ranks));
	if (input->is_partial)
		fprintf(to, "not all of it ended\n");
	else
		fprintf(to, "ended at %s\n", number_time(&text[1], outcome->end_ps));
	fprintf(to, "  %-28s %17s   computations %s, messages %s", "operations",
		number_grouped(&text[0], sizes.operations),
		number_grouped(&text[1], sizes.kinds[OP_COMPUTE]),
		number_grouped(&text[2], sizes.kinds[OP_SEND]));
	if (sizes.kinds[OP_COLLECTIVE] > 0)
		fprintf(to, ", parts of collectives %s",
			number_grouped(&text[3], sizes.kinds[OP_COLLECTIVE]));
	fprintf(to, "\n");
	if (algorithm_of(input) != NULL)
		fprintf(to, "  %-28s %17s%s\n", "algorithm", algorithm_of(input),
			input->world->scenario->traffic.algorithm == TRAFFIC_ALGORITHM_AUTO
				? "   (auto)"
				: "");
	went_over(to, "sent over the fabric", outcome->program.fabric_messages,
		  outcome->program.fabric_bytes);
	went_over(to, "sent over the scale-up", outcome->program.scaleup_messages,
		  outcome->program.scaleup_bytes);
}
