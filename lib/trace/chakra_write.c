// SPDX-License-Identifier: Apache-2.0
// A rank as a Chakra execution trace: the layout of fields is that of astra-sim's own files
// (version 0.0.4, is_cpu_op, comm_type and comm_size of 64 bits, comm_src, comm_dst and comm_tag of
// 32, pg_name as text).

#include <weft/trace/trace_run.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chakra.h"
#include "chakra.pb-c.h"

#define VERSION "0.0.4"
#define ATTRIBUTES_MAX 8u
#define RECORD_BYTES_MAX 65536u

// One node while it is packed.
struct record {
	Chakra__Node node;
	Chakra__Attribute attributes[ATTRIBUTES_MAX];
	Chakra__Attribute *list[ATTRIBUTES_MAX];
};

struct writing {
	FILE *to;
	const struct trace_set *set;
	const struct trace_rank *rank;
	uint64_t *waits; // [wait_max] of one node
	uint8_t *bytes;	 // RECORD_BYTES_MAX and more, as the longest list of waits needs
};

static Chakra__Attribute *attribute(struct record *record, const char *name)
{
	Chakra__Attribute *to = &record->attributes[record->node.n_attr];
	chakra__attribute__init(to);
	to->name = (char *)(uintptr_t)name;
	record->list[record->node.n_attr++] = to;
	return to;
}

static void put_wide(struct record *record, const char *name, int64_t value)
{
	Chakra__Attribute *to = attribute(record, name);
	to->value_case = CHAKRA__ATTRIBUTE__VALUE_INT64_VAL;
	to->int64_val = value;
}

static void put_narrow(struct record *record, const char *name, uint32_t value)
{
	Chakra__Attribute *to = attribute(record, name);
	to->value_case = CHAKRA__ATTRIBUTE__VALUE_INT32_VAL;
	to->int32_val = (int32_t)value;
}

static void put_text(struct record *record, const char *name, const char *value)
{
	Chakra__Attribute *to = attribute(record, name);
	to->value_case = CHAKRA__ATTRIBUTE__VALUE_STRING_VAL;
	to->string_val = (char *)(uintptr_t)value;
}

static void put_host(struct record *record, bool is_host)
{
	Chakra__Attribute *to = attribute(record, "is_cpu_op");
	to->value_case = CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL;
	to->bool_val = is_host;
}

// Chakra's bytes of an all-gather are those of one rank: rounded up where the whole does not
// divide, as AICB itself pads it.
static uint64_t part_of(const struct trace_set *set, const struct trace_node *node)
{
	uint32_t ranks = set->groups[node->group].ranks;
	bool is_whole = set->gathers_whole && ranks > 0 &&
		(node->collective == TRACE_COLLECTIVE_ALL_GATHER ||
		 node->collective == TRACE_COLLECTIVE_GATHER);
	return is_whole ? node->bytes / ranks + (node->bytes % ranks != 0) : node->bytes;
}

static void put_collective(struct writing *writing, struct record *record,
			   const struct trace_node *node)
{
	const struct trace_process_group *group = &writing->set->groups[node->group];
	put_wide(record, "comm_type", node->collective);
	put_wide(record, "comm_size", (int64_t)part_of(writing->set, node));
	if (strcmp(group->name, CHAKRA_GROUP_ALL) != 0)
		put_text(record, "pg_name", group->name);
}

static void put_kind(struct writing *writing, struct record *record, const struct trace_node *node)
{
	static const uint32_t types[TRACE_KIND_COUNT] = {
		[TRACE_KIND_OTHER] = TYPE_METADATA,
		[TRACE_KIND_COMPUTE] = TYPE_COMPUTE,
		[TRACE_KIND_SEND] = TYPE_SEND,
		[TRACE_KIND_RECEIVE] = TYPE_RECEIVE,
		[TRACE_KIND_COLLECTIVE] = TYPE_COLLECTIVE,
		[TRACE_KIND_CALL] = TYPE_COLLECTIVE,
	};
	bool is_send = node->kind == TRACE_KIND_SEND;
	record->node.type = types[node->kind];
	put_host(record, node->is_host || node->kind == TRACE_KIND_CALL);
	if (node->stream != 0)
		put_wide(record, "tid", node->stream);
	if (node->kind == TRACE_KIND_COLLECTIVE)
		put_collective(writing, record, node);
	if (!is_send && node->kind != TRACE_KIND_RECEIVE)
		return;
	put_wide(record, "comm_type", types[node->kind]);
	put_wide(record, "comm_size", (int64_t)node->bytes);
	put_narrow(record, is_send ? "comm_dst" : "comm_src", node->peer);
	put_narrow(record, "comm_tag", node->tag);
}

static void put_length(FILE *to, size_t bytes)
{
	for (; bytes >= 0x80; bytes >>= 7)
		fputc((int)(bytes & 0x7f) | 0x80, to);
	fputc((int)bytes, to);
}

static void put_node(struct writing *writing, const struct trace_node *node)
{
	const struct trace_rank *rank = writing->rank;
	struct record record;
	chakra__node__init(&record.node);
	record.node.id = node->id;
	record.node.name = (char *)(uintptr_t)node->name;
	record.node.attr = record.list;
	record.node.duration_micros = (uint64_t)(node->duration_ps / PS_PER_US);
	record.node.data_deps = writing->waits;
	for (uint32_t i = 0; i < node->wait_count; i++) {
		uint32_t before = rank->waits[node->wait_first + i];
		writing->waits[record.node.n_data_deps++] = before == TRACE_NONE_WAITED
			? rank->wait_ids[node->wait_first + i]
			: rank->nodes[before].id;
	}
	put_kind(writing, &record, node);
	if (node->duration_ps % PS_PER_US != 0)
		put_wide(&record, CHAKRA_PICO, node->duration_ps);
	size_t bytes = chakra__node__pack(&record.node, writing->bytes);
	put_length(writing->to, bytes);
	fwrite(writing->bytes, 1, bytes, writing->to);
}

static void put_metadata(struct writing *writing)
{
	Chakra__Metadata metadata;
	chakra__metadata__init(&metadata);
	metadata.version = (char *)(uintptr_t)VERSION;
	size_t bytes = chakra__metadata__pack(&metadata, writing->bytes);
	put_length(writing->to, bytes);
	fwrite(writing->bytes, 1, bytes, writing->to);
}

int trace_chakra_text(char **ret_text, size_t *ret_bytes, const struct trace_set *set,
		      uint32_t rank, struct refusal *refusal)
{
	struct writing writing = {.set = set, .rank = &set->ranks[rank]};
	if (set->ranks[rank].split_count > 0)
		return refuse(
			refusal, -EINVAL,
			"an all-to-all of rank % has split sizes, which Chakra has no word for: "
			"--export goal has its messages",
			rank);
	size_t waits = writing.rank->wait_count + 1;
	writing.waits = calloc(waits, sizeof(*writing.waits));
	writing.bytes = malloc(RECORD_BYTES_MAX + 10 * waits); // a varint has 10 bytes at most
	writing.to = open_memstream(ret_text, ret_bytes);
	bool has_memory = writing.waits != NULL && writing.bytes != NULL && writing.to != NULL;
	int rc = has_memory ? 0 : -ENOMEM;
	if (has_memory)
		put_metadata(&writing);
	for (uint32_t i = 0; has_memory && i < writing.rank->node_count; i++)
		put_node(&writing, &writing.rank->nodes[i]);
	if (writing.to != NULL && fclose(writing.to) != 0)
		rc = -ENOMEM;
	if (rc < 0 && writing.to != NULL)
		free(*ret_text);
	if (rc == -ENOMEM)
		refuse(refusal, rc, "no memory for the trace of rank %", rank);
	free(writing.waits);
	free(writing.bytes);
	return rc;
}
