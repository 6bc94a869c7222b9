// SPDX-License-Identifier: Apache-2.0
// Records of a rank. See weft/gpu_record.h.

#include <weft/gpu_record.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 256
#define WAIT_MAX_NS INT64_C(1000000000000)

static const char *const works[] = {"gate", "fill", "reduce", "update"};
_Static_assert(sizeof(works) / sizeof(*works) == GPU_WORK_COUNT, "a name for each");

static int refuse_line(struct refusal *refusal, const char *path, uint32_t line, const char *why)
{
	snprintf(refusal->file, sizeof(refusal->file), "%.*s", (int)sizeof(refusal->file) - 1,
		 path);
	refusal->line = line;
	return refuse(refusal, -EINVAL, why, 0, 0, 0);
}

// ---------------------------------------------------------------- reading

static const char *read_head(struct gpu_record *ret, FILE *file)
{
	char line[LINE_BYTES], rest;
	if (fgets(line, sizeof(line), file) == NULL || strcmp(line, "weft-record 1\n") != 0)
		return "this is no record of a rank: its first line is not `weft-record 1`";
	if (fgets(line, sizeof(line), file) == NULL ||
	    sscanf(line,
		   "rank %" SCNu32 " ranks %" SCNu32 " buckets %" SCNu32 " slices %" SCNu32
		   " steps %" SCNu32 " bucket_bytes %" SCNu64 " element_bytes %" SCNu32
		   " seed %" SCNu64 " %c",
		   &ret->rank, &ret->ranks, &ret->buckets, &ret->slices, &ret->steps,
		   &ret->bucket_bytes, &ret->element_bytes, &ret->seed, &rest) != 8)
		return "the second line does not say what was recorded";
	if (ret->rank >= ret->ranks || ret->ranks > GPU_RANKS_MAX || ret->buckets == 0 ||
	    ret->buckets > 65536 || ret->slices == 0 || ret->slices > 1024 || ret->steps == 0 ||
	    ret->steps > 1000000)
		return "there is no such rank, bucket, slice or step";
	uint64_t step = ret->buckets + 2ull * ret->buckets * ret->slices + 1;
	if (ret->steps * step + ret->buckets > GPU_OPS_MAX)
		return "there are too many computations";
	ret->part_count = (uint32_t)(ret->steps * step + ret->buckets);
	return NULL;
}

// What computation `index` is, so that a file cannot say anything else.
static struct gpu_record_part part_at(const struct gpu_record *of, uint32_t index)
{
	uint32_t step_parts = of->buckets + 2 * of->buckets * of->slices + 1;
	uint32_t at = index % step_parts, number = (at - of->buckets) / 2;
	struct gpu_record_part part = {.work = GPU_GATE, .step = index / step_parts, .bucket = at};
	if (at + 1 == step_parts) {
		part.work = GPU_UPDATE;
		part.bucket = 0;
	} else if (at >= of->buckets) {
		part.work = (at - of->buckets) % 2 == 0 ? GPU_FILL : GPU_REDUCE;
		part.bucket = number / of->slices;
		part.slice = number % of->slices;
	}
	return part;
}

static const char *read_part(struct gpu_record *of, uint32_t index, FILE *file)
{
	char line[LINE_BYTES], work[16], rest;
	struct gpu_record_part should = part_at(of, index), *ret = &of->parts[index];
	if (fgets(line, sizeof(line), file) == NULL)
		return "the file ends before its computations do";
	if (sscanf(line, "%15s %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNd64 " %" SCNd64 " %c",
		   work, &ret->step, &ret->bucket, &ret->slice, &ret->compute_ns, &ret->wait_ns,
		   &rest) != 6)
		return "this is no computation: work, step, bucket, slice, its time, its wait";
	ret->work = should.work;
	if (strcmp(work, works[should.work]) != 0 || ret->step != should.step ||
	    ret->bucket != should.bucket || ret->slice != should.slice)
		return "this is not the computation whose turn it is";
	if (ret->compute_ns < 0 || ret->compute_ns > WAIT_MAX_NS || ret->wait_ns < 0 ||
	    ret->wait_ns > WAIT_MAX_NS)
		return "a time is below 0 or beyond 1000 s";
	return NULL;
}

static int read_all(struct gpu_record *ret, FILE *file, const char *path, struct refusal *refusal)
{
	const char *wrong = read_head(ret, file);
	if (wrong != NULL)
		return refuse_line(refusal, path, 1, wrong);
	ret->parts = calloc(ret->part_count, sizeof(*ret->parts));
	if (ret->parts == NULL)
		return refuse(refusal, -ENOMEM, "no memory for % computations", ret->part_count, 0,
			      0);
	for (uint32_t i = 0; i < ret->part_count; i++) {
		wrong = read_part(ret, i, file);
		if (wrong != NULL)
			return refuse_line(refusal, path, i + 3, wrong);
	}
	return fgetc(file) == EOF ? 0
				  : refuse_line(refusal, path, ret->part_count + 3,
						"there is more than the second line says");
}

int gpu_record_read(struct gpu_record *ret, const char *path, struct refusal *refusal)
{
	FILE *file = fopen(path, "r");
	*ret = (struct gpu_record){0};
	if (file == NULL) {
		int error = errno;
		refuse_line(refusal, path, 0, "");
		snprintf(refusal->text, sizeof(refusal->text), "%s", strerror(error));
		return -error;
	}
	int rc = read_all(ret, file, path, refusal);
	fclose(file);
	if (rc < 0)
		gpu_record_free(ret);
	return rc;
}

void gpu_record_free(struct gpu_record *record)
{
	free(record->parts);
	record->parts = NULL;
}

// ---------------------------------------------------------------- its link

static struct gpu_link_op op_of(const struct gpu_record *record, const struct gpu_record_part *part)
{
	uint64_t slice_bytes = record->bucket_bytes / record->slices;
	struct gpu_link_op op = {.work = part->work,
				 .needs_messages = part->work != GPU_FILL,
				 .step = part->step,
				 .bucket = part->bucket,
				 .slice = part->slice,
				 .offset = part->bucket * record->bucket_bytes,
				 .bytes = record->bucket_bytes,
				 .compute_ns = part->compute_ns};
	if (part->work == GPU_GATE)
		op.needs_messages = part->step > 0;
	else if (part->work == GPU_UPDATE)
		op.bytes = record->buckets * record->bucket_bytes;
	else {
		op.offset += part->slice * slice_bytes;
		op.bytes = slice_bytes;
	}
	return op;
}

int gpu_record_link(struct gpu_link *ret, const char *path, const struct gpu_record *record,
		    struct refusal *refusal)
{
	const struct gpu_link_shape shape = {
		.rank_count = record->ranks,
		.op_count = record->part_count,
		.stretch_bytes = record->buckets * record->bucket_bytes,
		.bucket_bytes = record->bucket_bytes,
		.slice_bytes = record->bucket_bytes / record->slices,
		.block_bytes = record->bucket_bytes / record->slices / record->ranks,
		.element_bytes = record->element_bytes,
		.seed = record->seed,
		.dilation_milli = 1000};
	int rc = gpu_link_create(ret, path, &shape, refusal);
	for (uint32_t i = 0; rc == 0 && i < record->part_count; i++)
		ret->ops[i] = op_of(record, &record->parts[i]);
	if (rc == 0)
		gpu_link_offer(ret);
	return rc;
}
