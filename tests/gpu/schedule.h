// SPDX-License-Identifier: Apache-2.0
// Records that check.c plays: made in the shape of a large job's step, or read, and how long they
// take.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/gpu/gpu_record.h>

#define MS INT64_C(1000000)
#define RECORD_BYTES_MAX (1 << 20)
#define RANKS 8u   // of the group of made records
#define SLICES 16u // of their steps

// A rank's step in the shape of the large job's: 5.3 ms of forward and 9.75 ms of backward for each
// of its chunks (calibrated to published step times), in buckets that fit.
static int make_record(struct gpu_record *ret, uint32_t steps, uint64_t bucket_bytes,
		       int64_t forward_ns, int64_t backward_ns)
{
	*ret = (struct gpu_record){.ranks = RANKS,
				   .buckets = 8,
				   .steps = steps,
				   .element_bytes = 2,
				   .slice_bytes = bucket_bytes / 2,
				   .seed = 1};
	uint32_t step_parts = 8 + 2 * 8 * 2 + 1;
	ret->part_count = steps * step_parts + 8;
	ret->parts = calloc(ret->part_count, sizeof(*ret->parts));
	for (uint32_t i = 0; ret->parts != NULL && i < ret->part_count; i++) {
		struct gpu_record_part *part = &ret->parts[i];
		uint32_t at = i % step_parts;
		part->step = i / step_parts;
		if (at < 8) {
			part->work = GPU_GATE;
			part->bucket = at;
			part->compute_ns = part->step < steps ? forward_ns : 0;
			part->wait_ns = part->step > 0 ? 400000 : 0;
		} else if (at + 1 == step_parts) {
			part->work = GPU_UPDATE;
			part->compute_ns = MS;
			part->wait_ns = 300000;
		} else {
			bool is_sum = (at - 8) % 2 == 1;
			part->work = is_sum ? GPU_REDUCE : GPU_FILL;
			part->bucket = (at - 8) / 2 / 2;
			part->slice = (at - 8) / 2 % 2;
			part->compute_ns = is_sum ? 0 : backward_ns / 2;
			part->wait_ns = is_sum ? 200000 : 0;
		}
	}
	struct refusal refusal = {0};
	return ret->parts == NULL ? -ENOMEM : gpu_record_seal(ret, &refusal);
}

// All that a rank computes and waits for, without what its sums are behind.
static int64_t schedule_ns(const struct gpu_record *of, uint32_t first_step, uint32_t steps)
{
	int64_t sum_ns = 0;
	for (uint32_t i = 0; i < of->part_count; i++)
		if (of->parts[i].work != GPU_REDUCE && of->parts[i].step >= first_step &&
		    of->parts[i].step < first_step + steps)
			sum_ns += of->parts[i].compute_ns + of->parts[i].wait_ns;
	return sum_ns;
}

// A record of one step, `steps` times. Its gates at the end stay there.
static int repeat(struct gpu_record *of, uint32_t steps, struct refusal *refusal)
{
	uint32_t step_parts = of->part_count - of->buckets;
	uint32_t count = steps * step_parts + of->buckets;
	struct gpu_record_part *parts = calloc(count, sizeof(*parts));
	if (parts == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = i < steps * step_parts ? i % step_parts
						       : i - (steps - 1) * step_parts;
		parts[i] = of->parts[from];
		parts[i].step = i / step_parts;
	}
	gpu_record_free(of);
	of->parts = parts;
	of->part_count = count;
	of->steps = steps;
	return gpu_record_seal(of, refusal);
}

static int read_record(struct gpu_record *ret, const char *path, struct refusal *refusal)
{
	static char text[RECORD_BYTES_MAX];
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return refuse(refusal, -ENOENT, "cannot be read");
	size_t bytes = fread(text, 1, sizeof(text), file);
	fclose(file);
	return gpu_record_read(ret, path, text, bytes, refusal);
}
