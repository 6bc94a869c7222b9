// SPDX-License-Identifier: Apache-2.0
// Writes what one rank of a run met. See record.h.

#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/world_outside.h>

#include "call.h"

// The rank that was asked for; -1: the word is no rank of the scenario.
static int64_t rank_of(const struct call *call)
{
	char *end;
	const char *word = call->options.record_rank;
	bool is_number = word[0] >= '0' && word[0] <= '9' && strlen(word) < 10;
	int64_t rank = is_number ? strtol(word, &end, 10) : -1;
	return is_number && *end == '\0' && rank < call->scenario.traffic.ring.ranks ? rank : -1;
}

int record_check(struct call *call)
{
	const struct options *options = &call->options;
	const char *why = NULL;
	if (call->scenario.traffic.kind != TRAFFIC_GRADIENTS)
		why = "--record-rank has no effect here; it needs traffic.kind gradients";
	else if (rank_of(call) < 0)
		why = "--record-rank: the scenario has no such rank";
	else if (options->out == NULL || call->is_comparison || call->is_study ||
		 options->wants_footprint || options->export != NULL || call->has_ranks)
		why = "--record-rank writes into the folder of --out, of one run in one process";
	return why == NULL ? 0 : refuse(&call->refusal, -EINVAL, why, 0, 0, 0);
}

// How long messages held it up behind the computation that it follows: of a sum its fill, of the
// others the one before, sums apart.
static void put_parts(FILE *to, const struct world *world, const struct gradients_config *config,
		      uint32_t rank)
{
	ps_t end = 0, fill_end = 0;
	for (uint32_t i = 0; i < gradients_parts(config); i++) {
		struct gradients_part part;
		ps_t begun = 0;
		gradients_part(config, i, &part);
		world_outside_has_begun(world, gradients_op(config, rank, i), &begun);
		bool is_sum = part.work == GRADIENTS_REDUCE;
		ps_t behind = is_sum ? fill_end : end;
		ps_t wait = part.needs_messages ? ps_max(begun - behind, 0) : 0;
		fprintf(to, "%s %u %u %u %" PRId64 " %" PRId64 "\n", gradients_work_name(part.work),
			part.step, part.bucket, part.slice, part.compute_ps / PS_PER_NS,
			wait / PS_PER_NS);
		if (!is_sum)
			end = begun + part.compute_ps;
		if (part.work == GRADIENTS_FILL)
			fill_end = end;
	}
}

static int write_to(FILE *to, const struct call *call, uint32_t rank)
{
	struct gradients_config config;
	scenario_gradients(&config, &call->scenario);
	fprintf(to,
		"weft-record 1\n"
		"rank %u ranks %u buckets %u slices %u steps %u bucket_bytes %" PRIu64
		" element_bytes %u seed %" PRIu64 "\n",
		rank, config.ranks, config.buckets, config.slices, config.steps,
		config.bucket_bytes, config.element_bytes, call->scenario.seed);
	put_parts(to, &call->stage.world, &config, rank);
	return ferror(to) != 0 ? -EIO : 0;
}

int record_write(struct call *call)
{
	char path[PATH_MAX];
	uint32_t rank = (uint32_t)rank_of(call);
	snprintf(path, sizeof(path), "%s/rank-%u.record", call->options.out, rank);
	FILE *to = fopen(path, "w");
	int rc = to == NULL ? -errno : write_to(to, call, rank);
	if (to != NULL && fclose(to) != 0 && rc == 0)
		rc = -EIO;
	if (rc == 0)
		return 0;
	snprintf(call->refusal.file, sizeof(call->refusal.file), "%.255s", path);
	return refuse(&call->refusal, rc, "the record cannot be written", 0, 0, 0);
}
