// SPDX-License-Identifier: Apache-2.0
// See aicb.h. Ranks of a stage are numbered tensor first, then data; partners along the pipeline
// have the same place in their stages.

#include "aicb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/trace/trace_run.h>

struct deal {
	struct trace_input *input;
	const struct aicb_section *sections;
	uint32_t count, ranks;
	struct trace_node *nodes;	 // of the file, its groups those of aicb.c
	uint32_t *section_of, *place_of; // [ranks]
	uint32_t *members;		 // [ranks] of one group
	bool is_shared;			 // every section has all lines
};

static uint32_t group_ranks(const struct trace_set *set, const char *name)
{
	for (uint32_t i = 0; i < set->group_count; i++)
		if (strcmp(set->groups[i].name, name) == 0 && set->groups[i].ranks > 0)
			return set->groups[i].ranks;
	return 0;
}

static uint32_t tensor_ranks(const struct trace_set *set)
{
	uint32_t ranks = group_ranks(set, "tp_group");
	return ranks == 0 ? 1 : ranks;
}

// ---------------------------------------------------------------- who is where

static int seat(struct deal *deal)
{
	struct trace_input *input = deal->input;
	for (uint32_t rank = 0; rank < deal->ranks; rank++)
		deal->section_of[rank] = UINT32_MAX;
	for (uint32_t i = 0; i < deal->count; i++)
		for (uint32_t k = 0; k < deal->sections[i].count; k++) {
			uint32_t rank = deal->sections[i].ranks[k];
			if (rank >= deal->ranks)
				return input_refuse(input, deal->sections[i].line,
						    "rank % of the sections' % ranks: they must be "
						    "those from 0 on",
						    rank, deal->ranks);
			if (deal->section_of[rank] != UINT32_MAX)
				return input_refuse(input, deal->sections[i].line,
						    "rank % is in two sections, or twice in one",
						    rank, 0);
			deal->section_of[rank] = i;
			deal->place_of[rank] = k;
		}
	return 0;
}

// ---------------------------------------------------------------- groups

// Size and distance of a group within a section; 0 ranks: there is no telling.
static void shape_of(const struct deal *deal, const struct aicb_section *section,
		     const struct trace_process_group *group, uint32_t *ret_ranks,
		     uint32_t *ret_stride)
{
	uint32_t tensor = tensor_ranks(deal->input->set);
	bool is_data = strcmp(group->name, "dp_group") == 0;
	*ret_ranks = group->ranks;
	*ret_stride = is_data ? tensor : 1;
	if (*ret_ranks == 0)
		*ret_ranks = is_data && section->count % tensor == 0 ? section->count / tensor : 0;
	if (*ret_ranks == section->count)
		*ret_stride = 1;
	else if (*ret_ranks > 1 && !is_data && strcmp(group->name, "tp_group") != 0)
		*ret_ranks = 0;
}

static int take_group(struct deal *deal, uint32_t rank, struct trace_node *node)
{
	const struct aicb_section *section = &deal->sections[deal->section_of[rank]];
	const struct trace_process_group *group = &deal->input->set->groups[node->group];
	uint32_t ranks, stride, place = deal->place_of[rank];
	char name[TRACE_NAME_BYTES];
	memcpy(name, group->name, sizeof(name));
	if (group->ranks == deal->ranks || strcmp(name, "all") == 0)
		return input_all_members(deal->input, name, deal->ranks, &node->group);
	shape_of(deal, section, group, &ranks, &stride);
	if (ranks == 0 || section->count % (ranks * stride) != 0)
		return input_refuse(
			deal->input, node->place,
			"a group of % ranks of a stage of % whose members the file does "
			"not name",
			group->ranks, section->count);
	uint32_t first = place / (ranks * stride) * (ranks * stride) + place % stride;
	for (uint32_t m = 0; m < ranks; m++)
		deal->members[m] = section->ranks[first + m * stride];
	return input_members(deal->input, name, deal->members, ranks, &node->group);
}

// ---------------------------------------------------------------- messages

// The stage at the other end of a message of `stage`; -EINVAL when there is none.
static int stage_behind(const struct deal *deal, uint32_t stage, const struct trace_node *node,
			uint32_t *ret)
{
	if (node->peer == AICB_PEER_NEXT || node->peer == AICB_PEER_PREVIOUS) {
		*ret = node->peer == AICB_PEER_NEXT ? stage + 1 : stage - 1;
		return *ret < deal->count
			? 0
			: input_refuse(deal->input, node->place,
				       "stage % of % has no such neighbour", stage, deal->count);
	}
	if (node->peer >= deal->ranks)
		return input_refuse(deal->input, node->place, "the other rank is %, of % there are",
				    node->peer, deal->ranks);
	*ret = deal->section_of[node->peer];
	return 0;
}

// Of lines that all stages share, whether `stage` does this one: activations go on, gradients back.
static bool is_own(const struct deal *deal, uint32_t stage, const struct trace_node *node)
{
	bool is_back = node->tag == AICB_BACKWARD, is_send = node->kind == TRACE_KIND_SEND;
	if (!deal->is_shared)
		return true;
	if (node->peer == AICB_PEER_NEXT)
		return stage + 1 < deal->count;
	if (node->peer == AICB_PEER_PREVIOUS)
		return stage > 0;
	if (node->peer >= deal->ranks)
		return true; // stage_behind() refuses
	uint32_t other = deal->section_of[node->peer];
	return is_send != is_back ? stage + 1 == other : stage == other + 1;
}

static int take_message(struct deal *deal, uint32_t rank, struct trace_node *node)
{
	uint32_t stage = deal->section_of[rank], other = 0;
	int rc = stage_behind(deal, stage, node, &other);
	if (rc < 0)
		return rc;
	const struct aicb_section *section = &deal->sections[other];
	if (other == stage || section->count != deal->sections[stage].count)
		return input_refuse(deal->input, node->place,
				    "a message from a stage of % ranks to one of %, or to itself",
				    deal->sections[stage].count, section->count);
	node->peer = section->ranks[deal->place_of[rank]];
	node->tag = 0;
	return 0;
}

// ---------------------------------------------------------------- the whole

static int take_node(struct deal *deal, uint32_t rank, const struct trace_node *from)
{
	bool is_message = from->kind == TRACE_KIND_SEND || from->kind == TRACE_KIND_RECEIVE;
	struct trace_rank *file = deal->input->rank;
	if (is_message && !is_own(deal, deal->section_of[rank], from))
		return 0;
	struct trace_node *node = input_node(deal->input, from->id, from->place);
	if (node == NULL)
		return input_no_memory(deal->input);
	uint32_t wait_first = node->wait_first;
	*node = *from;
	node->wait_first = wait_first;
	node->wait_count = 0;
	int rc = 0;
	if (file->node_count > 1)
		rc = input_wait(deal->input, file->nodes[file->node_count - 2].id);
	if (rc == 0 && is_message)
		rc = take_message(deal, rank, node);
	else if (rc == 0 && from->kind == TRACE_KIND_COLLECTIVE)
		rc = take_group(deal, rank, node);
	return rc;
}

static int deal_all(struct deal *deal)
{
	struct trace_input *input = deal->input;
	struct trace_set *set = input->set;
	struct trace_rank *first = &set->ranks[0];
	uint64_t records = first->records;
	deal->nodes = first->nodes;
	first->nodes = NULL;
	first->node_count = first->node_max = first->wait_count = 0;
	int rc = seat(deal);
	if (rc == 0 && trace_make_ranks(set, deal->ranks - 1) < 0)
		rc = input_no_memory(input);
	for (uint32_t rank = 0; rc == 0 && rank < deal->ranks; rank++) {
		const struct aicb_section *section = &deal->sections[deal->section_of[rank]];
		input->rank = &set->ranks[rank];
		memcpy(input->rank->path, set->ranks[0].path, sizeof(input->rank->path));
		for (uint32_t i = 0; rc == 0 && i < section->nodes; i++)
			rc = take_node(deal, rank, &deal->nodes[section->first + i]);
	}
	set->ranks[0].records = records;
	free(deal->nodes);
	return rc;
}

// Operations that the lines of all ranks become at least: each of a computation or a collective
// one.
static uint64_t least_operations(const struct trace_rank *file, const struct aicb_section *sections,
				 uint32_t count)
{
	uint64_t ret = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < sections[i].nodes; k++) {
			uint8_t kind = file->nodes[sections[i].first + k].kind;
			bool is_message = kind == TRACE_KIND_SEND || kind == TRACE_KIND_RECEIVE;
			ret += is_message ? 0 : sections[i].count;
		}
	return ret;
}

// Before the lines are dealt, which takes time and memory for each of them and each rank.
static int check_memory(const struct trace_input *input, const struct aicb_section *sections,
			uint32_t count, uint32_t ranks)
{
	uint64_t most = input->set->memory_bytes_max;
	uint64_t operations = least_operations(input->rank, sections, count);
	uint64_t bytes = operations * (sizeof(struct op) + sizeof(uint32_t));
	if (most == 0 || bytes <= most)
		return 0;
	return refuse(
		input->refusal, -ENODEV,
		"its lines make % operations of % ranks at least, which take % MiB of the % MiB "
		"that there are (limits.memory): run a sample or fewer ranks, or raise it",
		(int64_t)operations, ranks, (int64_t)(bytes >> 20), (int64_t)(most >> 20));
}

static int deal_to(struct trace_input *input, const struct aicb_section *sections, uint32_t count,
		   uint32_t ranks, bool is_shared)
{
	struct deal deal = {.input = input,
			    .sections = sections,
			    .count = count,
			    .ranks = ranks,
			    .section_of = calloc(ranks, sizeof(uint32_t)),
			    .place_of = calloc(ranks, sizeof(uint32_t)),
			    .members = calloc(ranks, sizeof(uint32_t)),
			    .is_shared = is_shared};
	int rc = check_memory(input, sections, count, ranks);
	if (rc == 0)
		rc = deal.section_of == NULL || deal.place_of == NULL || deal.members == NULL
			? input_no_memory(input)
			: deal_all(&deal);
	free(deal.section_of);
	free(deal.place_of);
	free(deal.members);
	return rc;
}

// Ranks of a stage where the file has no sections. 0: there is no telling.
static uint32_t stage_ranks(const struct trace_set *set)
{
	uint32_t stages = group_ranks(set, "pp_group"), data = group_ranks(set, "dp_group");
	if (stages > 1)
		return set->world % stages == 0 ? set->world / stages : 0;
	return data * tensor_ranks(set);
}

static int deal_blocks(struct trace_input *input)
{
	uint32_t ranks = input->set->world, each = stage_ranks(input->set);
	if (each == 0 || ranks % each != 0 || ranks / each > AICB_STAGES_MAX)
		return input_refuse(
			input, 0,
			"messages, and stages of % of % ranks: the sizes of its groups do "
			"not say how many ranks a stage has",
			each, ranks);
	uint32_t count = ranks / each, *numbers = calloc(ranks, sizeof(*numbers));
	struct aicb_section *sections = calloc(count, sizeof(*sections));
	int rc = numbers == NULL || sections == NULL ? input_no_memory(input) : 0;
	for (uint32_t i = 0; rc == 0 && i < ranks; i++)
		numbers[i] = i;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		sections[i] = (struct aicb_section){.ranks = numbers + i * each,
						    .count = each,
						    .nodes = input->rank->node_count};
	if (rc == 0)
		rc = deal_to(input, sections, count, ranks, true);
	free(numbers);
	free(sections);
	return rc;
}

static bool has_messages(const struct trace_rank *rank)
{
	for (uint32_t i = 0; i < rank->node_count; i++)
		if (rank->nodes[i].kind == TRACE_KIND_SEND ||
		    rank->nodes[i].kind == TRACE_KIND_RECEIVE)
			return true;
	return false;
}

int aicb_deal(struct trace_input *input, const struct aicb_section *sections, uint32_t count)
{
	uint32_t ranks = 0;
	bool is_dealt = count > 0 || (input->set->world > 0 && has_messages(input->rank));
	if (!is_dealt)
		return 0;
	if (input->set->rank_count > 1)
		return input_refuse(input, 0, "this file holds all ranks: there is no second", 0,
				    0);
	for (uint32_t i = 0; i < count; i++)
		ranks += sections[i].count;
	return count > 0 ? deal_to(input, sections, count, ranks, false) : deal_blocks(input);
}
