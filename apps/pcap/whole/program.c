// SPDX-License-Identifier: Apache-2.0
// Messages out as a traffic matrix of htsim or as GOAL, which room workload reads.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <weft/files/files.h>

#include "messages.h"

bool program_is_matrix(const struct messages *messages)
{
	return messages->count == messages->stream_count;
}

static void write_matrix(const struct messages *messages, uint32_t nics, FILE *to)
{
	fprintf(to, "Nodes %u\nConnections %u\n", nics, messages->count);
	for (uint32_t i = 0; i < messages->count; i++) {
		const struct message *of = &messages->list[i];
		fprintf(to, "%u->%u id %u start %" PRId64 " size %" PRIu64 "\n", of->from, of->to,
			i + 1, (of->start_ns - messages->list[0].start_ns) * 1000, of->bytes);
	}
}

// ---------------------------------------------------------------- GOAL

// Messages by one of their ends: those of node n are order[first[n]] up to order[first[n + 1]].
struct by_end {
	uint32_t *first, *order;
};

static bool sort_by_end(const struct messages *messages, bool is_target, struct by_end *ret)
{
	uint32_t nodes = messages->node_count;
	ret->first = calloc(nodes + 2u, sizeof(*ret->first));
	ret->order = calloc(messages->count + 1u, sizeof(*ret->order));
	if (ret->first == NULL || ret->order == NULL)
		return false;
	for (uint32_t i = 0; i < messages->count; i++) {
		const struct message *of = &messages->list[i];
		ret->first[(is_target ? of->to : of->from) + 2u]++;
	}
	for (uint32_t n = 2; n < nodes + 2; n++)
		ret->first[n] += ret->first[n - 1];
	for (uint32_t i = 0; i < messages->count; i++) {
		const struct message *of = &messages->list[i];
		ret->order[ret->first[(is_target ? of->to : of->from) + 1u]++] = i;
	}
	return true;
}

// A send waits for a computation that ends when the message began.
static void write_sends(const struct messages *messages, const struct by_end *by, uint32_t node,
			FILE *to)
{
	int64_t at_ns = 0;
	uint32_t calc = UINT32_MAX;
	for (uint32_t k = by->first[node]; k < by->first[node + 1]; k++) {
		uint32_t i = by->order[k];
		const struct message *of = &messages->list[i];
		int64_t start_ns = of->start_ns - messages->list[0].start_ns;
		if (start_ns > at_ns) {
			fprintf(to, "c%u: calc %" PRId64 "\n", i, start_ns - at_ns);
			if (calc != UINT32_MAX)
				fprintf(to, "c%u requires c%u\n", i, calc);
			calc = i;
			at_ns = start_ns;
		}
		fprintf(to, "s%u: send %" PRIu64 "b to %u tag 0\n", i, of->bytes, of->to);
		if (calc != UINT32_MAX)
			fprintf(to, "s%u requires c%u\n", i, calc);
	}
}

static int write_goal(const struct messages *messages, FILE *to, struct refusal *refusal)
{
	struct by_end sends = {0}, receives = {0};
	int rc = 0;
	fprintf(to, "num_ranks %u\n", messages->node_count);
	if (!sort_by_end(messages, false, &sends) || !sort_by_end(messages, true, &receives))
		rc = refuse(refusal, -ENODEV, "no memory for the messages of a capture");
	for (uint32_t node = 0; rc == 0 && node < messages->node_count; node++) {
		fprintf(to, "rank %u {\n", node);
		write_sends(messages, &sends, node, to);
		for (uint32_t k = receives.first[node]; k < receives.first[node + 1]; k++) {
			uint32_t i = receives.order[k];
			fprintf(to, "r%u: recv %" PRIu64 "b from %u tag 0\n", i,
				messages->list[i].bytes, messages->list[i].from);
		}
		fputs("}\n", to);
	}
	free(sends.first);
	free(sends.order);
	free(receives.first);
	free(receives.order);
	return rc;
}

int program_write(const struct messages *messages, uint32_t nics, const char *path,
		  struct refusal *refusal)
{
	struct atomic_file atomic_file;
	int rc = atomic_file_begin(&atomic_file, path, refusal);
	if (rc < 0)
		return rc;
	if (program_is_matrix(messages))
		write_matrix(messages, nics > messages->node_count ? nics : messages->node_count,
			     atomic_file.to);
	else
		rc = write_goal(messages, atomic_file.to, refusal);
	return atomic_file_end(&atomic_file, rc, refusal);
}
