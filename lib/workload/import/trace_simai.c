// SPDX-License-Identifier: Apache-2.0
// Reads the workload text of SimAI (ASTRA-sim 1.0 with line 1 extended):
//   line 1   policy, then keys with a number each: model_parallel_NPU_group ep pp vpp ga all_gpus
//            checkpoints checkpoint_initiates pp_comm
//   line 2   the number of layers
//   layers   name, dependency, then three times (compute ns, communication, bytes) for forward,
//            input gradient, weight gradient, then the time of the update: 12 columns
// Columns are parted by tabs or blanks. Facts: SimAI's example and its own lines (Workload.cc).
//
// AICB writes the same layers below a line 1 without ep, pp, vpp, ga and all_gpus (all of them or
// none): they are 1 then, and the GPUs are those of the fabric that runs it. Its lists of single
// collectives have MICRO as line 1.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/trace_simai.h>

#include "pattern/lines.h"

#define COLUMNS 12u

static const char *const comm_names[] = {"NONE",	  "ALLREDUCE", "ALLGATHER",
					 "REDUCESCATTER", "ALLTOALL",  "BROADCAST"};
_Static_assert(sizeof(comm_names) / sizeof(*comm_names) == TRACE_COMM_COUNT, "a name for each");

static const char *const group_names[] = {"tp", "dp", "ep", "dp_ep"};
_Static_assert(sizeof(group_names) / sizeof(*group_names) == TRACE_GROUP_COUNT, "a name for each");

const char *trace_comm_name(enum trace_comm comm)
{
	check((unsigned)comm < TRACE_COMM_COUNT);
	return comm_names[comm];
}

const char *trace_group_name(enum trace_group group)
{
	check((unsigned)group < TRACE_GROUP_COUNT);
	return group_names[group];
}

// ---------------------------------------------------------------- line 1

enum header_key {
	KEY_TP,
	KEY_EP,
	KEY_PP,
	KEY_VPP,
	KEY_GA,
	KEY_GPUS,
	KEY_CHECKPOINTS,
	KEY_CHECKPOINT_INITIATES,
	KEY_PP_COMM,
	KEY_COUNT
};

// pp_comm comes without a colon in SimAI's own example; the others always have one.
static const char *const key_names[KEY_COUNT] = {
	"model_parallel_NPU_group:", "ep:",	"pp:", "vpp:", "ga:", "all_gpus:", "checkpoints:",
	"checkpoint_initiates:",     "pp_comm",
};

static const char *const key_missing[KEY_COUNT] = {
	"line 1 lacks model_parallel_NPU_group:",
	"line 1 lacks ep: (or, as AICB writes it, must lack pp:, vpp:, ga: and all_gpus:, too)",
	"line 1 lacks pp:",
	"line 1 lacks vpp:",
	"line 1 lacks ga:",
	"line 1 lacks all_gpus:",
	NULL, // not needed
	NULL,
	"line 1 lacks pp_comm, and pp is above 1",
};

struct header {
	uint64_t value[KEY_COUNT];
	bool is_there[KEY_COUNT];
	bool is_aicb; // no sizes but that of tensor parallel
};

static bool is_list(unsigned key)
{
	return key == KEY_CHECKPOINTS || key == KEY_CHECKPOINT_INITIATES;
}

static int header_key(const struct lines *lines, struct header *header, const char **at,
		      const struct lines_word *word)
{
	unsigned key = 0;
	while (key < KEY_COUNT && !lines_word_is(word, key_names[key]))
		key++;
	if (key == KEY_COUNT && lines_word_is(word, "pp_comm:"))
		key = KEY_PP_COMM;
	if (key == KEY_COUNT)
		return lines_refuse(lines, word->column, "a key that SimAI's line 1 does not have",
				    0, 0);
	if (header->is_there[key])
		return lines_refuse(lines, word->column, "this key is on line 1 twice", 0, 0);
	header->is_there[key] = true;
	struct lines_word value = lines_take(lines, at);
	uint64_t max = key == KEY_PP_COMM ? INT64_MAX : INT32_MAX, item;
	int rc = lines_number(lines, &value, max, &header->value[key]);
	// The checkpoints' count is followed by so many layers.
	for (uint64_t i = 0; rc == 0 && is_list(key) && i < header->value[key]; i++) {
		value = lines_take(lines, at);
		rc = lines_number(lines, &value, INT32_MAX, &item);
	}
	return rc;
}

static int header_policy(const struct lines *lines, const struct lines_word *word)
{
	if (lines_word_is(word, "HYBRID_TRANSFORMER_FWD_IN_BCKWD") ||
	    lines_word_is(word, "HYBRID_TRANSFORMER") || lines_word_is(word, "MICRO"))
		return 0;
	return lines_refuse(lines, word->column,
			    "line 1 must begin with HYBRID_TRANSFORMER_FWD_IN_BCKWD, "
			    "HYBRID_TRANSFORMER or MICRO",
			    0, 0);
}

// AICB says the tensor parallel size alone, and nothing in a MICRO file.
static void header_complete(struct header *header, bool is_micro)
{
	bool is_aicb = is_micro || header->is_there[KEY_TP];
	for (unsigned key = KEY_EP; key <= KEY_GPUS; key++)
		is_aicb = is_aicb && !header->is_there[key];
	for (unsigned key = KEY_TP; is_aicb && key < KEY_GPUS; key++) {
		header->value[key] = header->is_there[key] ? header->value[key] : 1;
		header->is_there[key] = true;
	}
	header->is_aicb = is_aicb;
	header->is_there[KEY_GPUS] |= is_aicb;
}

static int header_check(const struct lines *lines, const struct header *header)
{
	uint32_t end = lines_column(lines, lines->line_end);
	for (unsigned key = 0; key < KEY_COUNT; key++) {
		if (header->is_there[key] || key_missing[key] == NULL)
			continue;
		if (key == KEY_PP_COMM && header->value[KEY_PP] == 1)
			continue;
		return lines_refuse(lines, end, key_missing[key], 0, 0);
	}
	for (unsigned key = 0; key <= KEY_GPUS; key++)
		if (header->value[key] == 0 && !(key == KEY_GPUS && header->is_aicb))
			return lines_refuse(lines, end, "a parallel size on line 1 is 0", 0, 0);
	uint64_t replica = header->value[KEY_TP] * header->value[KEY_PP];
	if (header->value[KEY_GPUS] % replica != 0)
		return lines_refuse(lines, end, "all_gpus, %, does not divide by tp x pp, %",
				    (int64_t)header->value[KEY_GPUS], (int64_t)replica);
	uint64_t data = header->value[KEY_GPUS] / replica;
	if (data % header->value[KEY_EP] != 0)
		return lines_refuse(lines, end, "% data ranks do not divide by ep, %",
				    (int64_t)data, (int64_t)header->value[KEY_EP]);
	return 0;
}

static int read_header(struct lines *lines, struct trace *trace)
{
	int rc = lines_next(lines);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return lines_refuse(lines, 0, "the trace is empty", 0, 0);
	const char *at = lines->line_start;
	struct lines_word word = lines_take(lines, &at);
	if ((rc = header_policy(lines, &word)) < 0)
		return rc;
	struct header header = {0};
	trace->is_micro = lines_word_is(&word, "MICRO");
	while ((word = lines_take(lines, &at)).length > 0)
		if ((rc = header_key(lines, &header, &at, &word)) < 0)
			return rc;
	header_complete(&header, trace->is_micro);
	if ((rc = header_check(lines, &header)) < 0)
		return rc;
	trace->tp = (uint32_t)header.value[KEY_TP];
	trace->ep = (uint32_t)header.value[KEY_EP];
	trace->pp = (uint32_t)header.value[KEY_PP];
	trace->vpp = (uint32_t)header.value[KEY_VPP];
	trace->ga = (uint32_t)header.value[KEY_GA];
	trace->gpus = (uint32_t)header.value[KEY_GPUS];
	trace->pp_bytes = header.value[KEY_PP_COMM];
	return 0;
}

static int read_count(struct lines *lines, struct trace *trace)
{
	int rc = lines_next(lines);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return lines_refuse(lines, 0, "the trace ends before its number of layers", 0, 0);
	const char *at = lines->line_start;
	struct lines_word word = lines_take(lines, &at);
	uint64_t count;
	if ((rc = lines_number(lines, &word, INT32_MAX, &count)) < 0)
		return rc;
	word = lines_take(lines, &at);
	if (word.length > 0)
		return lines_refuse(lines, word.column,
				    "line 2 is the number of layers and nothing else", 0, 0);
	trace->layer_count = (uint32_t)count;
	return 0;
}

// ---------------------------------------------------------------- layers

// ALLTOALL_EP is expert parallel, ALLGATHER_DP_EP expert data parallel. A name without an ending is
// tensor parallel in the forward and input gradient columns and data parallel in the weight
// gradient column: so SimAI reads it.
static bool comm_parse(const struct lines_word *word, unsigned column, struct trace_entry *ret)
{
	for (unsigned comm = 0; comm < TRACE_COMM_COUNT; comm++) {
		size_t length = strlen(comm_names[comm]);
		if (word->length < length || memcmp(word->at, comm_names[comm], length) != 0)
			continue;
		struct lines_word ending = {word->at + length, word->length - length, 0};
		ret->comm = (enum trace_comm)comm;
		if (ending.length == 0)
			ret->group = column == 2 ? TRACE_GROUP_DP : TRACE_GROUP_TP;
		else if (comm != TRACE_NONE && lines_word_is(&ending, "_EP"))
			ret->group = TRACE_GROUP_EP;
		else if (comm != TRACE_NONE && lines_word_is(&ending, "_DP_EP"))
			ret->group = TRACE_GROUP_DP_EP;
		else
			return false;
		return true;
	}
	return false;
}

static int add_compute(const struct lines *lines, struct trace *trace,
		       const struct lines_word *word, uint64_t compute_ns)
{
	trace->compute_ns += compute_ns; // each is below 2^54
	if (trace->compute_ns > INT64_MAX / PS_PER_NS)
		return lines_refuse(lines, word->column,
				    "the compute times add up to more than 106 days", 0, 0);
	return 0;
}

// Compute, communication and bytes of one direction. The entry is taken when something is sent.
static int read_direction(const struct lines *lines, struct trace *trace,
			  const struct lines_word *words, struct trace_entry entry)
{
	int rc = lines_number(lines, &words[0], INT64_MAX / PS_PER_NS, &entry.compute_ns);
	if (rc == 0)
		rc = add_compute(lines, trace, &words[0], entry.compute_ns);
	if (rc < 0)
		return rc;
	if (!comm_parse(&words[1], entry.column, &entry))
		return lines_refuse(
			lines, words[1].column,
			"not a communication: NONE, or ALLREDUCE, ALLGATHER, REDUCESCATTER, "
			"ALLTOALL or BROADCAST, each alone or with _EP or _DP_EP",
			0, 0);
	if ((rc = lines_number(lines, &words[2], INT64_MAX, &entry.bytes)) < 0)
		return rc;
	if (entry.comm == TRACE_NONE && entry.bytes > 0)
		return lines_refuse(lines, words[2].column, "NONE cannot have % bytes",
				    (int64_t)entry.bytes, 0);
	if (entry.comm == TRACE_NONE)
		return 0;
	if (trace->entries != NULL)
		trace->entries[trace->entry_count] = entry;
	trace->entry_count++;
	return 0;
}

// SimAI prints a layer's dependency and runs the layers in their order all the same; what writes
// its texts writes -1. A number would wait for nothing, so it is not taken for one that does.
static int read_dependency(const struct lines *lines, const struct lines_word *word)
{
	if (lines_word_is(word, "-1"))
		return 0;
	return lines_refuse(lines, word->column,
			    "a layer's dependency must be -1, none: layers run in their order, in "
			    "SimAI too whatever stands here",
			    0, 0);
}

static int read_layer(const struct lines *lines, struct trace *trace, uint32_t number)
{
	struct lines_word words[COLUMNS];
	const char *at = lines->line_start;
	uint32_t count = 0;
	for (struct lines_word word; (word = lines_take(lines, &at)).length > 0; count++)
		if (count < COLUMNS)
			words[count] = word;
	if (count != COLUMNS)
		return lines_refuse(lines, lines_column(lines, lines->line_end),
				    "a layer has % columns, this line has %", COLUMNS, count);
	struct trace_entry entry = {.line = lines->line, .at = number};
	if (words[0].length >= sizeof(entry.layer))
		return lines_refuse(lines, words[0].column,
				    "the name of a layer has at most % letters",
				    sizeof(entry.layer) - 1, 0);
	memcpy(entry.layer, words[0].at, words[0].length);
	int rc = read_dependency(lines, &words[1]);
	for (uint8_t i = 0; rc == 0 && i < 3; i++) {
		entry.column = i;
		rc = read_direction(lines, trace, &words[2 + 3 * i], entry);
	}
	uint64_t layer_ns[4];
	if (rc == 0)
		rc = lines_number(lines, &words[11], INT64_MAX / PS_PER_NS, &layer_ns[3]);
	if (rc < 0 || (rc = add_compute(lines, trace, &words[11], layer_ns[3])) < 0)
		return rc;
	for (unsigned i = 0; i < 3; i++)
		lines_number(lines, &words[2 + 3 * i], INT64_MAX, &layer_ns[i]);
	if (trace->layer_ns != NULL)
		memcpy(trace->layer_ns[number], layer_ns, sizeof(layer_ns));
	return 0;
}

// Layers to the end of the text; empty lines are allowed after the last one.
static int read_layers(struct lines *lines, struct trace *trace)
{
	uint32_t found = 0, empty = 0;
	int rc;
	while ((rc = lines_next(lines)) > 0) {
		const char *at = lines->line_start;
		if (lines_take(lines, &at).length == 0) {
			empty++;
			continue;
		}
		if (empty > 0)
			return lines_refuse(lines, 1, "an empty line stands before this layer", 0,
					    0);
		if (found++ == trace->layer_count)
			return lines_refuse(lines, 1, "line 2 says % layers, here is one more",
					    trace->layer_count, 0);
		if ((rc = read_layer(lines, trace, found - 1)) < 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	if (found != trace->layer_count)
		return lines_refuse(lines, 0, "line 2 says % layers, but the trace ends after %",
				    trace->layer_count, found);
	return 0;
}

static int read_all(struct trace *trace, const char *text, size_t bytes, struct refusal *refusal)
{
	struct lines lines = {.at = text, .end = text + bytes, .refusal = refusal};
	trace->entry_count = 0;
	trace->compute_ns = 0;
	int rc = read_header(&lines, trace);
	if (rc == 0)
		rc = read_count(&lines, trace);
	if (rc == 0)
		rc = read_layers(&lines, trace);
	trace->line_count = lines.line;
	return rc;
}

// Reads twice: first to count and check everything, then to keep it.
int trace_simai_parse(struct trace *ret, struct arena *arena, const char *text, size_t bytes,
		      struct refusal *refusal)
{
	struct trace trace = {0};
	int rc = read_all(&trace, text, bytes, refusal);
	if (rc < 0)
		return rc;
	trace.entries = arena_draw(arena, ARENA_WORKLOAD, trace.entry_count,
				   sizeof(*trace.entries));
	trace.layer_ns = arena_draw(arena, ARENA_WORKLOAD, trace.layer_count,
				    sizeof(*trace.layer_ns));
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for the % communications of the trace",
			      trace.entry_count);
	rc = read_all(&trace, text, bytes, refusal);
	check(rc == 0);
	*ret = trace;
	return 0;
}
