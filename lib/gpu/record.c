// SPDX-License-Identifier: Apache-2.0
// Records of a rank. See weft/gpu/gpu_record.h.

#include <weft/gpu/gpu_record.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 256
#define HEAD_LINES 2
#define LINE_BYTES_MIN 15 // "gate 0 0 0 0 0", and its end
#define WAIT_MAX_NS INT64_C(1000000000000)

#define BUCKETS_MAX 65536u
#define SLICES_MAX (1u << 20)
#define STRETCH_BYTES_MAX (UINT64_C(1) << 44)

const char *const gpu_work_names[] = {"gate", "fill", "reduce", "update", "compute"};
_Static_assert(sizeof(gpu_work_names) / sizeof(*gpu_work_names) == GPU_WORK_COUNT,
	       "a name for each");

static int refuse_line(struct refusal *refusal, const char *path, uint32_t line, const char *why)
{
	refusal_name(refusal, path);
	refusal->line = line;
	return refuse(refusal, -EINVAL, why);
}

// ---------------------------------------------------------------- what may be in it

static const char *head_wrong(const struct gpu_record *of)
{
	uint64_t grain = (uint64_t)of->ranks * of->element_bytes;
	if (of->rank >= of->ranks || of->ranks < 2 || of->ranks > GPU_RANKS_MAX ||
	    of->buckets == 0 || of->buckets > BUCKETS_MAX || of->steps == 0 ||
	    of->steps > 1000000 || of->part_count == 0 || of->part_count > GPU_OPS_MAX)
		return "there is no such rank, bucket, step or number of computations";
	if ((of->element_bytes != 2 && of->element_bytes != 4) || of->slice_bytes == 0 ||
	    of->slice_bytes % grain != 0)
		return "a slice has no whole elements of 2 or 4 bytes for each rank";
	if (of->slice_bytes / of->ranks > UINT32_MAX)
		return "a rank's block of a slice is 4 GiB or more";
	return NULL;
}

// What has been seen of a step.
struct seen {
	uint8_t *has_gate;  // [buckets]
	uint32_t *slices;   // [buckets]
	uint32_t gates, at; // computations of the step
};

static const char *gate_wrong(const struct gpu_record *of, const struct gpu_record_part *part,
			      struct seen *seen)
{
	if (part->bucket >= of->buckets || seen->has_gate[part->bucket] != 0)
		return "there is no such bucket, or it had its gate in this step";
	seen->has_gate[part->bucket] = 1;
	seen->gates++;
	return NULL;
}

// A fill is that of the bucket's next slice; behind it comes its sum.
static const char *slice_wrong(const struct gpu_record *of, const struct gpu_record_part *part,
			       struct seen *seen)
{
	bool is_sum = part->work == GPU_REDUCE;
	bool is_behind = seen->at > 0 && part[-1].work == GPU_FILL;
	if (part->bucket >= of->buckets || is_sum != is_behind ||
	    (is_sum && (part->bucket != part[-1].bucket || part->slice != part[-1].slice)))
		return "a fill and its sum are not one behind the other";
	if (!is_sum && part->slice != seen->slices[part->bucket]++)
		return "slices of a bucket do not follow each other";
	return NULL;
}

static const char *part_wrong(const struct gpu_record *of, const struct gpu_record_part *part,
			      struct seen *seen)
{
	if (part->compute_ns < 0 || part->compute_ns > WAIT_MAX_NS || part->wait_ns < 0 ||
	    part->wait_ns > WAIT_MAX_NS)
		return "a time is below 0 or beyond 1000 s";
	if (part->work == GPU_GATE)
		return gate_wrong(of, part, seen);
	if (part->work == GPU_FILL || part->work == GPU_REDUCE)
		return slice_wrong(of, part, seen);
	return seen->at > 0 && part[-1].work == GPU_FILL ? "a fill has no sum" : NULL;
}

// Step 0 up to its update: the shape of all of them. Ends at *ret_at.
static const char *first_wrong(const struct gpu_record *of, struct seen *seen, uint32_t *ret_at)
{
	for (seen->at = 0; seen->at < of->part_count; seen->at++) {
		*ret_at = seen->at;
		const char *wrong = of->parts[seen->at].step != 0
			? "a step has no update at its end"
			: part_wrong(of, &of->parts[seen->at], seen);
		if (wrong != NULL)
			return wrong;
		if (of->parts[seen->at].work != GPU_UPDATE)
			continue;
		seen->at++;
		for (uint32_t i = 0; i < of->buckets; i++)
			if (seen->slices[i] == 0 || seen->has_gate[i] == 0)
				return "a bucket has no gate or no slice in this step";
		return NULL;
	}
	return "a step has no update at its end";
}

// What the head says, held against the first step.
static const char *count_wrong(struct gpu_record *of, const struct seen *seen)
{
	if (of->part_count != (uint64_t)of->steps * seen->at + of->buckets)
		return "it has not as many computations as its steps have";
	for (uint32_t i = 0; i < of->buckets; i++) {
		of->slices_before[i + 1] = of->slices_before[i] + seen->slices[i];
		if (of->slices_before[i + 1] > SLICES_MAX)
			return "there are too many slices";
	}
	if (of->slices_before[of->buckets] > STRETCH_BYTES_MAX / of->slice_bytes)
		return "the slices of a step are more than 16 TiB";
	return NULL;
}

// Steps that are as the first, and the gates that end it all.
static const char *rest_wrong(const struct gpu_record *of, struct seen *seen, uint32_t *ret_at)
{
	uint32_t step_parts = seen->at;
	memset(seen->has_gate, 0, of->buckets);
	for (*ret_at = step_parts; *ret_at < of->part_count; (*ret_at)++) {
		const struct gpu_record_part *part = &of->parts[*ret_at];
		const struct gpu_record_part *should = &of->parts[*ret_at % step_parts];
		bool is_end = part->step == of->steps;
		if (part->step != *ret_at / step_parts ||
		    (!is_end &&
		     (part->work != should->work || part->bucket != should->bucket ||
		      part->slice != should->slice)))
			return "this is not the computation whose turn it is";
		if (is_end && part->work != GPU_GATE)
			return "gates of all buckets end it";
		seen->at = 0; // nothing behind which this one is
		const char *wrong = is_end ? gate_wrong(of, part, seen) : NULL;
		if (wrong != NULL || part->compute_ns < 0 || part->compute_ns > WAIT_MAX_NS ||
		    part->wait_ns < 0 || part->wait_ns > WAIT_MAX_NS)
			return wrong != NULL ? wrong : "a time is below 0 or beyond 1000 s";
	}
	return NULL;
}

int gpu_record_seal(struct gpu_record *record, struct refusal *refusal)
{
	uint32_t at = 0;
	const char *wrong = head_wrong(record);
	if (wrong != NULL)
		return refuse(refusal, -EINVAL, wrong);
	struct seen seen = {.has_gate = calloc(record->buckets, 1),
			    .slices = calloc(record->buckets, sizeof(uint32_t))};
	record->slices_before = calloc(record->buckets + 1u, sizeof(uint32_t));
	bool has_memory = seen.has_gate != NULL && seen.slices != NULL &&
		record->slices_before != NULL;
	uint32_t line = 0;
	if (has_memory) {
		wrong = first_wrong(record, &seen, &at);
		line = HEAD_LINES + at + 1;
	}
	if (has_memory && wrong == NULL) {
		wrong = count_wrong(record, &seen);
		line = HEAD_LINES;
	}
	if (has_memory && wrong == NULL) {
		wrong = rest_wrong(record, &seen, &at);
		line = HEAD_LINES + at + 1;
	}
	free(seen.has_gate);
	free(seen.slices);
	if (!has_memory)
		return refuse(refusal, -ENOMEM, "no memory for % buckets", record->buckets);
	if (wrong == NULL)
		return 0;
	refusal->line = line;
	return refuse(refusal, -EINVAL, wrong);
}

// ---------------------------------------------------------------- reading

// Words and numbers of a line, one after the other, with one space between two.
struct words {
	const char *at;
	bool is_wrong;
};

static void take_word(struct words *words, const char *word)
{
	size_t length = strlen(word);
	words->is_wrong |= strncmp(words->at, word, length) != 0;
	words->at += words->is_wrong ? 0 : length;
}

// A whole number in decimal, without a sign and zeros before it; what does not fit is wrong, and
// does not wrap.
static uint64_t take_number(struct words *words, uint64_t max)
{
	uint64_t value = 0;
	const char *first = words->at;
	for (; *words->at >= '0' && *words->at <= '9' && !words->is_wrong; words->at++) {
		unsigned digit = (unsigned)(*words->at - '0');
		words->is_wrong = value > (max - digit) / 10;
		value = value * 10 + digit;
	}
	words->is_wrong |= words->at == first || (*first == '0' && words->at > first + 1);
	return words->is_wrong ? 0 : value;
}

static uint32_t take_named(struct words *words, const char *name)
{
	take_word(words, name);
	return (uint32_t)take_number(words, UINT32_MAX);
}

// The next line, whole and with nothing in it that is no text.
static bool read_line(char line[LINE_BYTES], FILE *file)
{
	memset(line, 'x', LINE_BYTES);
	if (fgets(line, LINE_BYTES, file) == NULL)
		return false;
	const char *end = memchr(line, '\n', LINE_BYTES);
	return end != NULL && strlen(line) == (size_t)(end + 1 - line);
}

static const char *read_head(struct gpu_record *ret, FILE *file, uint32_t *ret_line)
{
	char line[LINE_BYTES];
	struct words words = {.at = line};
	*ret_line = 1;
	if (!read_line(line, file) || strcmp(line, "weft-record 2\n") != 0)
		return "this is not a record of a rank: its first line is not `weft-record 2`";
	*ret_line = 2;
	if (!read_line(line, file))
		return "the second line does not say what was recorded";
	ret->rank = take_named(&words, "rank ");
	ret->ranks = take_named(&words, " ranks ");
	ret->buckets = take_named(&words, " buckets ");
	ret->steps = take_named(&words, " steps ");
	ret->part_count = take_named(&words, " parts ");
	take_word(&words, " slice_bytes ");
	ret->slice_bytes = take_number(&words, UINT64_MAX);
	ret->element_bytes = take_named(&words, " element_bytes ");
	take_word(&words, " seed ");
	ret->seed = take_number(&words, UINT64_MAX);
	take_word(&words, "\n");
	return words.is_wrong ? "the second line does not say what was recorded" : head_wrong(ret);
}

static bool take_work(struct words *words, uint32_t *ret)
{
	size_t length = strcspn(words->at, " ");
	for (*ret = 0; *ret < GPU_WORK_COUNT; (*ret)++)
		if (strlen(gpu_work_names[*ret]) == length &&
		    strncmp(words->at, gpu_work_names[*ret], length) == 0)
			break;
	words->at += length;
	return *ret < GPU_WORK_COUNT;
}

static const char *read_part(struct gpu_record_part *ret, FILE *file)
{
	char line[LINE_BYTES];
	struct words words = {.at = line};
	if (!read_line(line, file))
		return feof(file) ? "the file ends before its computations do"
				  : "this line is too long, or no text";
	if (!take_work(&words, &ret->work))
		return "there is no such work: gate, fill, reduce, update, compute";
	ret->step = take_named(&words, " ");
	ret->bucket = take_named(&words, " ");
	ret->slice = take_named(&words, " ");
	take_word(&words, " ");
	ret->compute_ns = (int64_t)take_number(&words, INT64_MAX);
	take_word(&words, " ");
	ret->wait_ns = (int64_t)take_number(&words, INT64_MAX);
	take_word(&words, "\n");
	return words.is_wrong
		? "this is not a computation: work, step, bucket, slice, its time, its "
		  "wait, as whole numbers"
		: NULL;
}

// A file that is too short for what it says gets no memory for it.
static int read_all(struct gpu_record *ret, FILE *file, size_t bytes, const char *path,
		    struct refusal *refusal)
{
	uint32_t line;
	const char *wrong = read_head(ret, file, &line);
	if (wrong == NULL && bytes / LINE_BYTES_MIN < ret->part_count)
		wrong = "the file is too short for as many computations";
	if (wrong != NULL)
		return refuse_line(refusal, path, line, wrong);
	ret->parts = calloc(ret->part_count, sizeof(*ret->parts));
	if (ret->parts == NULL)
		return refuse(refusal, -ENOMEM, "no memory for % computations", ret->part_count);
	for (uint32_t i = 0; i < ret->part_count; i++) {
		wrong = read_part(&ret->parts[i], file);
		if (wrong != NULL)
			return refuse_line(refusal, path, HEAD_LINES + i + 1, wrong);
	}
	if (fgetc(file) != EOF)
		return refuse_line(refusal, path, HEAD_LINES + ret->part_count + 1,
				   "there is more than the second line says");
	int rc = gpu_record_seal(ret, refusal);
	if (rc < 0)
		refusal_name(refusal, path);
	return rc;
}

int gpu_record_read(struct gpu_record *ret, const char *path, const char *text, size_t bytes,
		    struct refusal *refusal)
{
	*ret = (struct gpu_record){0};
	if (bytes == 0)
		return refuse_line(refusal, path, 1, "the file is empty");
	FILE *file = fmemopen((void *)(uintptr_t)text, bytes, "r");
	if (file == NULL)
		return refuse(refusal, -ENOMEM, "no memory to read a record");
	int rc = read_all(ret, file, bytes, path, refusal);
	fclose(file);
	if (rc < 0)
		gpu_record_free(ret);
	return rc;
}

void gpu_record_free(struct gpu_record *record)
{
	free(record->parts);
	free(record->slices_before);
	record->parts = NULL;
	record->slices_before = NULL;
}

int gpu_record_write(FILE *to, const struct gpu_record *of)
{
	fprintf(to,
		"weft-record 2\n"
		"rank %u ranks %u buckets %u steps %u parts %u slice_bytes %" PRIu64
		" element_bytes %u seed %" PRIu64 "\n",
		of->rank, of->ranks, of->buckets, of->steps, of->part_count, of->slice_bytes,
		of->element_bytes, of->seed);
	for (uint32_t i = 0; i < of->part_count; i++) {
		const struct gpu_record_part *part = &of->parts[i];
		fprintf(to, "%s %u %u %u %" PRId64 " %" PRId64 "\n", gpu_work_names[part->work],
			part->step, part->bucket, part->slice, part->compute_ns, part->wait_ns);
	}
	return ferror(to) != 0 ? -EIO : 0;
}

void gpu_record_scale(struct gpu_record *record, uint32_t divisor)
{
	uint64_t grain = (uint64_t)record->ranks * record->element_bytes;
	uint64_t grains = record->slice_bytes / grain;
	record->slice_bytes = (grains + divisor - 1) / divisor * grain;
}

// ---------------------------------------------------------------- its link

static struct gpu_link_op op_of(const struct gpu_record *record, const struct gpu_record_part *part)
{
	uint64_t slice_bytes = record->slice_bytes;
	struct gpu_link_op op = {.work = part->work,
				 .needs_messages = part->work != GPU_FILL,
				 .step = part->step,
				 .bucket = part->bucket,
				 .slice = part->slice,
				 .compute_ns = part->compute_ns};
	if (part->work == GPU_UPDATE) {
		op.bytes = record->slices_before[record->buckets] * slice_bytes;
	} else if (part->work == GPU_COMPUTE) {
		op.needs_messages = part->wait_ns > 0;
	} else {
		op.offset = record->slices_before[part->bucket] * slice_bytes;
		op.bytes = record->slices_before[part->bucket + 1] * slice_bytes - op.offset;
	}
	if (part->work == GPU_GATE)
		op.needs_messages = part->step > 0 || part->wait_ns > 0;
	if (part->work == GPU_FILL || part->work == GPU_REDUCE) {
		op.offset += part->slice * slice_bytes;
		op.bytes = slice_bytes;
	}
	return op;
}

// Ranks of one run do the same at the same pace.
static int check_together(const struct gpu_record *records, uint32_t count, struct refusal *refusal)
{
	const struct gpu_record *first = &records[0];
	for (uint32_t i = 1; i < count; i++) {
		const struct gpu_record *other = &records[i];
		bool is_same = first->ranks == other->ranks && first->seed == other->seed &&
			first->slice_bytes == other->slice_bytes &&
			first->element_bytes == other->element_bytes &&
			first->part_count == other->part_count && first->steps == other->steps;
		for (uint32_t k = 0; is_same && k < first->part_count; k++) {
			const struct gpu_link_op a = op_of(first, &first->parts[k]);
			const struct gpu_link_op b = op_of(other, &other->parts[k]);
			is_same = memcmp(&a, &b, sizeof(a)) == 0;
		}
		if (!is_same)
			return refuse(refusal, -EINVAL,
				      "ranks % and % do not do the same at the same pace: they are "
				      "not of one stage of one run",
				      first->rank, other->rank);
		for (uint32_t k = 0; k < i; k++)
			if (records[k].rank == other->rank)
				return refuse(refusal, -EINVAL, "rank % is given twice",
					      other->rank);
	}
	return 0;
}

int gpu_record_link(struct gpu_link *ret, const char *path, const struct gpu_record *records,
		    uint32_t count, bool has_barrier, struct refusal *refusal)
{
	const struct gpu_record *first = &records[0];
	const struct gpu_link_shape shape = {
		.rank_count = count,
		.group_ranks = first->ranks,
		.has_barrier = has_barrier,
		.op_count = first->part_count,
		.stretch_bytes = first->slices_before[first->buckets] * first->slice_bytes,
		.bucket_bytes = first->slice_bytes, // buckets have whole slices, and not as many
		.slice_bytes = first->slice_bytes,
		.block_bytes = first->slice_bytes / first->ranks,
		.element_bytes = first->element_bytes,
		.seed = first->seed,
		.dilation_milli = 1000};
	int rc = check_together(records, count, refusal);
	if (rc == 0)
		rc = gpu_link_create(ret, path, &shape, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < first->part_count; i++)
		ret->ops[i] = op_of(first, &first->parts[i]);
	for (uint32_t i = 0; i < count; i++)
		ret->numbers[i] = records[i].rank;
	rc = gpu_link_offer(ret, refusal);
	if (rc < 0)
		gpu_link_close(ret);
	return rc;
}
