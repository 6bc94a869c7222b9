// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces: messages of protocol buffers, each behind its length as a varint. The
// first is the file's metadata, the others are nodes. Facts: et_def.proto and the feeder of
// MLCommons Chakra (type of a node 0 to 10, attributes by name), traces of astra-sim.
//
// A collective that the CPU called (is_cpu_op) has no comm_size; the kernel that moved the data is
// a node of its own. So the former are counted as calls. comm_size is what one rank puts in (so
// astra-sim's ring reads it): of an all-gather the part, not the whole.

#include "set.h"

#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>

#include "chakra.h"
#include "chakra.pb-c.h"

// What a node's attributes say.
struct attributes {
	int64_t comm_type, comm_size, source, target, tag, thread, duration_ps;
	bool has_type, has_size, has_source, has_target, is_host;
	const char *group;
	char number[24];	     // a name that is one
	size_t dimensions, left_out; // of involved_dim: how many, and how many are false
};

static bool integer_of(const Chakra__Attribute *attribute, int64_t *ret)
{
	switch (attribute->value_case) {
	case CHAKRA__ATTRIBUTE__VALUE_INT32_VAL:
		*ret = attribute->int32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_INT64_VAL:
		*ret = attribute->int64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL:
		*ret = attribute->uint32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
		*ret = (int64_t)attribute->uint64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_SINT32_VAL:
		*ret = attribute->sint32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_SINT64_VAL:
		*ret = attribute->sint64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_FIXED32_VAL:
		*ret = attribute->fixed32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_FIXED64_VAL:
		*ret = (int64_t)attribute->fixed64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_SFIXED32_VAL:
		*ret = attribute->sfixed32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_SFIXED64_VAL:
		*ret = attribute->sfixed64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL:
		*ret = attribute->bool_val;
		return true;
	default:
		return false;
	}
}

// Names are texts; some converters write them as numbers.
static bool take_name(struct attributes *to, const Chakra__Attribute *attribute)
{
	int64_t number;
	if (attribute->value_case == CHAKRA__ATTRIBUTE__VALUE_STRING_VAL) {
		to->group = attribute->string_val;
		return true;
	}
	if (!integer_of(attribute, &number))
		return false;
	snprintf(to->number, sizeof(to->number), "%lld", (long long)number);
	to->group = to->number;
	return true;
}

static bool take_dimensions(struct attributes *to, const Chakra__Attribute *attribute)
{
	if (attribute->value_case != CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST)
		return false;
	to->dimensions = attribute->bool_list->n_values;
	for (size_t i = 0; i < to->dimensions; i++)
		to->left_out += !attribute->bool_list->values[i];
	return true;
}

// An attribute that we know, with a value of another kind: -EINVAL.
static int take_attribute(struct trace_input *input, uint32_t place, struct attributes *to,
			  const Chakra__Attribute *attribute)
{
	bool is_host = to->is_host, ignored;
	int64_t host = is_host;
	const struct {
		const char *name;
		int64_t *value;
		bool *has;
	} known[] = {
		{"comm_type", &to->comm_type, &to->has_type},
		{"comm_size", &to->comm_size, &to->has_size},
		{"comm_src", &to->source, &to->has_source},
		{"comm_dst", &to->target, &to->has_target},
		{"comm_tag", &to->tag, &ignored},
		{"tid", &to->thread, &ignored},
		{"is_cpu_op", &host, &ignored},
		{CHAKRA_PICO, &to->duration_ps, &ignored},
	};
	if (strcmp(attribute->name, "pg_name") == 0)
		return take_name(to, attribute)
			? 0
			: input_refuse(input, 0, "message %: pg_name is not a name", place, 0);
	if (strcmp(attribute->name, "involved_dim") == 0)
		return take_dimensions(to, attribute)
			? 0
			: input_refuse(input, 0,
				       "message %: involved_dim is not a list of booleans", place,
				       0);
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(attribute->name, known[i].name) != 0)
			continue;
		if (!integer_of(attribute, known[i].value))
			return input_refuse(
				input, 0,
				"message %: one of comm_type, comm_size, comm_src, "
				"comm_dst, comm_tag, tid, is_cpu_op, duration_ps is not a whole "
				"number",
				place, 0);
		*known[i].has = true;
	}
	to->is_host = host != 0;
	return 0;
}

static bool is_rank(int64_t value)
{
	return value >= 0 && value <= INT32_MAX;
}

static int take_message(struct trace_input *input, struct trace_node *node,
			const struct attributes *with)
{
	bool is_send = node->kind == TRACE_KIND_SEND;
	int64_t peer = is_send ? with->target : with->source;
	int64_t own = is_send ? with->source : with->target;
	if (!(is_send ? with->has_target : with->has_source))
		return input_refuse(input, 0,
				    is_send ? "message %: a send without comm_dst"
					    : "message %: a receive without comm_src",
				    node->place, 0);
	if (!is_rank(peer) || !is_rank(with->tag))
		return input_refuse(input, 0,
				    "message %: comm_src, comm_dst or comm_tag is not a "
				    "number from 0 to 2147483647",
				    node->place, 0);
	if ((is_send ? with->has_source : with->has_target) &&
	    (!is_rank(own) || !trace_file_rank_takes(input->rank, (uint32_t)own)))
		return input_refuse(input, 0,
				    is_send ? "message %: comm_src of this send is %, which is not "
					      "the rank that the file is of"
					    : "message %: comm_dst of this receive is %, which is "
					      "not the rank that the file is of",
				    node->place, own);
	node->peer = (uint32_t)peer;
	node->tag = (uint32_t)with->tag;
	return 0;
}

static int take_collective(struct trace_input *input, struct trace_node *node,
			   const struct attributes *with)
{
	if (!with->has_type && !with->has_size && with->is_host) {
		node->kind = TRACE_KIND_CALL;
		return 0;
	}
	if (!with->has_type || with->comm_type < 0 || with->comm_type >= TRACE_COLLECTIVE_COUNT)
		return input_refuse(input, 0, "message %: a collective needs comm_type from 0 to %",
				    node->place, TRACE_COLLECTIVE_COUNT - 1);
	node->collective = (uint8_t)with->comm_type;
	if (with->group != NULL && with->group[0] != '\0')
		return input_group(input, with->group, 0, 0, &node->group);
	if (with->left_out > 0)
		return input_refuse(input, 0,
				    "message %: involved_dim leaves out dimensions, and no trace "
				    "says how many ranks one has: name the group by pg_name, with "
				    "its members in comm_group.json",
				    node->place, 0);
	return input_group(input, CHAKRA_GROUP_ALL, 0, 0, &node->group);
}

// The kind of a node's type.
static enum trace_kind kind_of(uint32_t type)
{
	switch (type) {
	case TYPE_COMPUTE:
		return TRACE_KIND_COMPUTE;
	case TYPE_SEND:
		return TRACE_KIND_SEND;
	case TYPE_RECEIVE:
		return TRACE_KIND_RECEIVE;
	case TYPE_COLLECTIVE:
		return TRACE_KIND_COLLECTIVE;
	default:
		return TRACE_KIND_OTHER;
	}
}

static int take_communication(struct trace_input *input, struct trace_node *node,
			      const struct attributes *with)
{
	bool is_barrier = with->has_type && with->comm_type == TRACE_COLLECTIVE_BARRIER;
	int rc = node->kind == TRACE_KIND_COLLECTIVE ? take_collective(input, node, with)
						     : take_message(input, node, with);
	if (rc < 0 || node->kind == TRACE_KIND_CALL)
		return rc;
	if (with->comm_size < 0 || (!with->has_size && !is_barrier))
		return input_refuse(input, 0, "message %: a communication needs comm_size",
				    node->place, 0);
	node->bytes = (uint64_t)with->comm_size;
	return 0;
}

static int take_node(struct trace_input *input, const Chakra__Node *from, uint32_t place)
{
	struct attributes with = {0};
	int rc = 0;
	if (from->type == TYPE_INVALID || from->type >= TYPE_COUNT)
		return input_refuse(input, 0, "message %: a node has a type from 1 to 10, not %",
				    place, from->type);
	for (size_t i = 0; rc == 0 && i < from->n_attr; i++)
		rc = take_attribute(input, place, &with, from->attr[i]);
	if (rc < 0)
		return rc;
	struct trace_node *node = input_node(input, from->id, place);
	if (node == NULL)
		return input_no_memory(input);
	node_name(node, from->name, strlen(from->name));
	node->kind = (uint8_t)kind_of(from->type);
	node->is_host = with.is_host;
	node->stream = (uint32_t)with.thread;
	if (micros_ps((double)from->duration_micros, &node->duration_ps) < 0 ||
	    micros_ps((double)from->start_time_micros, &node->start_ps) < 0)
		return input_refuse(input, 0, "message %: a time is over 106 days", place, 0);
	if (with.duration_ps > 0)
		node->duration_ps = with.duration_ps;
	input->set->has_times |= node->duration_ps > 0;
	if (from->type >= TYPE_SEND && from->type <= TYPE_COLLECTIVE)
		rc = take_communication(input, node, &with);
	for (size_t i = 0; rc == 0 && i < from->n_ctrl_deps; i++)
		rc = input_wait(input, from->ctrl_deps[i]);
	for (size_t i = 0; rc == 0 && i < from->n_data_deps; i++)
		rc = input_wait(input, from->data_deps[i]);
	return rc;
}

// The length at *at, which moves behind it. False when there is none, or no so many bytes.
static bool take_length(const struct trace_input *input, size_t *at, size_t *ret)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 35; shift += 7) {
		if (*at == input->bytes)
			return false;
		uint8_t byte = (uint8_t)input->text[(*at)++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = (size_t)value;
			return value <= input->bytes - *at;
		}
	}
	return false;
}

static int take_record(struct trace_input *input, size_t at, size_t bytes, uint32_t place)
{
	const uint8_t *data = (const uint8_t *)input->text + at;
	if (place == 1) {
		Chakra__Metadata *metadata = chakra__metadata__unpack(NULL, bytes, data);
		bool is_good = metadata != NULL;
		chakra__metadata__free_unpacked(metadata, NULL);
		return is_good
			? 0
			: input_refuse(input, 0, "message 1 is not metadata of Chakra", 0, 0);
	}
	Chakra__Node *node = chakra__node__unpack(NULL, bytes, data);
	if (node == NULL)
		return input_refuse(input, 0, "message %, at byte %, is not a node of Chakra",
				    place, (int64_t)at);
	int rc = take_node(input, node, place);
	chakra__node__free_unpacked(node, NULL);
	return rc;
}

int trace_read_chakra(struct trace_input *input)
{
	uint32_t place = 0;
	for (size_t at = 0, bytes = 0; at < input->bytes; at += bytes) {
		size_t start = at;
		place++;
		if (!take_length(input, &at, &bytes))
			return input_refuse(input, 0,
					    "message %, at byte %, is longer than what is left of "
					    "the file",
					    place, (int64_t)start);
		struct input_mark mark = input_mark(input);
		int rc = input_settle(input, mark, take_record(input, at, bytes, place));
		if (rc < 0)
			return rc;
	}
	input->rank->records = place;
	return place > 0 ? 0 : input_refuse(input, 0, "the trace is empty", 0, 0);
}
