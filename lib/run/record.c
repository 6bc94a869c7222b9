// SPDX-License-Identifier: Apache-2.0
// Writes what one rank of a run met. See record.h.

#include "run_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/world/world_external_compute.h>

#include <weft/run/call.h>

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
	bool is_step = options->fidelity_kind == FIDELITY_MODEL;
	if (options->fidelity_kind == FIDELITY_NONE &&
	    call->scenario.traffic.kind != TRAFFIC_GRADIENTS)
		why = "--record-rank has no effect here; it needs traffic.kind gradients, or "
		      "traffic.kind model and --fidelity model";
	else if (options->fidelity_kind != FIDELITY_NONE && !is_step)
		why = "--record-rank takes a step of --fidelity model (--measured FILE: with "
		      "collectives as packets had them)";
	else if (is_step && options->jitter != NULL)
		why = "--record-rank takes a step without --jitter";
	else if (!is_step && rank_of(call) < 0)
		why = "--record-rank: the scenario has no such rank";
	else if (options->out == NULL || call->is_comparison || call->is_study ||
		 options->wants_footprint || options->export_form != NULL || call->has_ranks)
		why = "--record-rank writes into the folder of --out, of one run in one process";
	return why == NULL ? 0 : refuse(&call->refusal, -EINVAL, why);
}

// How long messages held it up behind the computation that it follows: of a sum its fill, of the
// others the one before, sums apart.
static void put_parts(struct gpu_record *to, const struct world *world,
		      const struct gradients_config *config)
{
	static const enum gpu_work works[] = {[GRADIENTS_GATE] = GPU_GATE,
					      [GRADIENTS_FILL] = GPU_FILL,
					      [GRADIENTS_REDUCE] = GPU_REDUCE,
					      [GRADIENTS_UPDATE] = GPU_UPDATE};
	ps_t end = 0, fill_end = 0;
	for (uint32_t i = 0; i < to->part_count; i++) {
		struct gradients_part part;
		ps_t begun = 0;
		gradients_part(config, i, &part);
		world_external_compute_has_begun(world, gradients_op(config, to->rank, i), &begun);
		bool is_sum = part.work == GRADIENTS_REDUCE;
		ps_t behind = is_sum ? fill_end : end;
		ps_t wait = part.needs_messages ? ps_max(begun - behind, 0) : 0;
		to->parts[i] = (struct gpu_record_part){.work = works[part.work],
							.step = part.step,
							.bucket = part.bucket,
							.slice = part.slice,
							.compute_ns = part.compute_ps / PS_PER_NS,
							.wait_ns = wait / PS_PER_NS};
		if (!is_sum)
			end = begun + part.compute_ps;
		if (part.work == GRADIENTS_FILL)
			fill_end = end;
	}
}

int record_keep(struct call *call, struct gpu_record *record, uint32_t rank)
{
	char path[STAGING_PATH_BYTES + 32];
	struct atomic_file atomic_file;
	int rc = gpu_record_seal(record, &call->refusal);
	if (rc == -EINVAL)
		return rc; // what cannot be read again is not written
	snprintf(path, sizeof(path), "%s/rank-%u.record", call->staging.part, rank);
	if (rc == 0)
		rc = atomic_file_begin(&atomic_file, path, &call->refusal);
	if (rc < 0)
		return rc;
	return atomic_file_end(&atomic_file, gpu_record_write(atomic_file.to, record),
			       &call->refusal);
}

int record_write(struct call *call)
{
	struct gradients_config config;
	scenario_gradients(&config, &call->scenario);
	struct gpu_record record = {.rank = (uint32_t)rank_of(call),
				    .ranks = config.ranks,
				    .buckets = config.buckets,
				    .steps = config.steps,
				    .part_count = gradients_parts(&config),
				    .slice_bytes = config.bucket_bytes / config.slices,
				    .element_bytes = config.element_bytes,
				    .seed = call->scenario.seed};
	if (record.part_count > GPU_OPS_MAX)
		return refuse(&call->refusal, -EINVAL,
			      "% steps are % computations, and a record has % at most: fewer "
			      "traffic.steps",
			      config.steps, record.part_count, GPU_OPS_MAX);
	record.parts = calloc(record.part_count, sizeof(*record.parts));
	if (record.parts == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for % computations",
			      record.part_count);
	put_parts(&record, &call->world_instance.world, &config);
	int rc = record_keep(call, &record, record.rank);
	gpu_record_free(&record);
	return rc;
}
