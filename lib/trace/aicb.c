// SPDX-License-Identifier: Apache-2.0
// AICB's CSV of a job: an optional first line "[rank0 ~ rankN]", the names of the columns, then
// what each rank does in turn, one line each. Every rank does the same, each in its own groups; or
// sections, "[ pp_stage0: [rank0, rank1] ]" and its lines, say what the ranks of each stage do.
// Facts: AICB's workload files and its workload_applyer.py: msg_size is the whole buffer, of an
// all-gather the output, of a reduce-scatter the input.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/trace/trace_run.h>

#include "set.h"

// Each rank gets its own. Ranks of a stage are numbered tensor first, then data; partners along the
// pipeline have the same place in their stages.

#define AICB_STAGES_MAX 1024u

// In trace_node.peer of a message without a rank: the stage after this one, or before it.
#define AICB_PEER_NEXT (UINT32_MAX - 1)
#define AICB_PEER_PREVIOUS (UINT32_MAX - 2)
// In trace_node.tag of a message: of the backward pass.
#define AICB_BACKWARD 1u

struct aicb_section {
	uint32_t *ranks; // [count] of the job, in the order of the file; owned
	uint32_t count;
	uint32_t line;	       // of the file
	uint32_t first, nodes; // its lines, as nodes of the file's first rank
};

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

static int assign_ranks(struct deal *deal)
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

static int deal_group(struct deal *deal, uint32_t rank, struct trace_node *node)
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

static int deal_message(struct deal *deal, uint32_t rank, struct trace_node *node)
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
		rc = deal_message(deal, rank, node);
	else if (rc == 0 && from->kind == TRACE_KIND_COLLECTIVE)
		rc = deal_group(deal, rank, node);
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
	int rc = assign_ranks(deal);
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
		input->refusal, -EINVAL,
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

// Gives each rank the lines of its section. Without sections, of a file with messages whose ranks
// are told, the stages are blocks of tensor times data ranks, and a message is of the stage whose
// neighbour it names. Nothing in other files. -EINVAL with line and reason, -ENOMEM.
static int aicb_deal(struct trace_input *input, const struct aicb_section *sections, uint32_t count)
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

#define COLUMNS_MAX 16u
#define RANKS_MAX 1048576u

enum column {
	TYPE,
	GROUP,
	GROUP_SIZE,
	BYTES,
	STAGE,
	TARGET,
	SOURCE,
	ADDITIONAL,
	ELAPSED,
	COUNT,
	COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
	"comm_type", "comm_group", "comm_group_size", "msg_size",      "stage",
	"dst",	     "src",	   "additional",      "_elapsed_time", "count"};

struct cell {
	const char *at;
	size_t length;
};

struct csv {
	struct trace_input *input;
	const char *at, *end; // of what is left
	uint32_t line;
	uint32_t cell_count;
	struct cell cells[COLUMNS_MAX];
	int place[COLUMN_COUNT]; // of the column in a line; -1: there is none
	uint32_t columns;	 // cells of a line
	struct aicb_section sections[AICB_STAGES_MAX];
	uint32_t section_count;
};

static int csv_refuse(const struct csv *csv, const char *text, int64_t first, int64_t second)
{
	return input_refuse(csv->input, csv->line, text, first, second);
}

// Parts a line at its commas, but not inside quotes or brackets.
static int part(struct csv *csv, const char *end)
{
	bool is_quoted = false;
	int depth = 0;
	csv->cell_count = 1;
	csv->cells[0] = (struct cell){csv->at, 0};
	for (const char *at = csv->at; at < end; at++) {
		struct cell *cell = &csv->cells[csv->cell_count - 1];
		if ((uint8_t)*at < ' ' || (uint8_t)*at > '~')
			return csv_refuse(csv, "a byte of value % is not text", (uint8_t)*at, 0);
		if (*at == '"')
			is_quoted = !is_quoted;
		depth += !is_quoted && (*at == '(' || *at == '[');
		depth -= !is_quoted && (*at == ')' || *at == ']');
		if (*at != ',' || is_quoted || depth > 0) {
			cell->length++;
			continue;
		}
		if (csv->cell_count == COLUMNS_MAX)
			return csv_refuse(csv, "more than % columns", COLUMNS_MAX, 0);
		csv->cells[csv->cell_count++] = (struct cell){at + 1, 0};
	}
	return is_quoted || depth != 0 ? csv_refuse(csv, "quotes or brackets do not end", 0, 0) : 0;
}

// The next line into cells. 1, 0 at the end, -EINVAL.
static int next(struct csv *csv)
{
	if (csv->at == csv->end)
		return 0;
	const char *end = memchr(csv->at, '\n', (size_t)(csv->end - csv->at));
	const char *after = end == NULL ? csv->end : end + 1;
	end = end == NULL ? csv->end : end;
	csv->line++;
	int rc = part(csv, end > csv->at && end[-1] == '\r' ? end - 1 : end);
	csv->at = after;
	return rc < 0 ? rc : 1;
}

static bool is_word(const struct cell *cell, const char *word)
{
	return cell->length == strlen(word) && memcmp(cell->at, word, cell->length) == 0;
}

static bool number_of(const char *at, size_t length, uint64_t max, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < length; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		uint64_t digit = (uint64_t)(at[i] - '0');
		if (digit > max || *ret > (max - digit) / 10)
			return false;
		*ret = *ret * 10 + digit;
	}
	return length > 0;
}

// "[rank0 ~ rank127]": the job's ranks.
static int take_ranks(struct csv *csv)
{
	const struct cell *cell = &csv->cells[0];
	const char *last = memmem(cell->at, cell->length, "~ rank", 6);
	uint64_t number;
	if (last == NULL || cell->at[cell->length - 1] != ']' ||
	    !number_of(last + 6, (size_t)(cell->at + cell->length - 1 - (last + 6)), INT32_MAX - 1,
		       &number))
		return csv_refuse(csv, "line 1 must be [rank0 ~ rankN] or the names of columns", 0,
				  0);
	csv->input->set->world = (uint32_t)number + 1;
	return 0;
}

static bool is_bracket(const struct csv *csv)
{
	return csv->cells[0].length > 0 && csv->cells[0].at[0] == '[';
}

// Ranks of "... [rank0, rank1, rank4 ~ rank7] ]" into `ranks`; how many, or -1.
static int64_t list_ranks(const char *at, const char *end, uint32_t *ranks)
{
	int64_t count = 0;
	uint64_t last = 0;
	while ((at = memmem(at, (size_t)(end - at), "rank", 4)) != NULL) {
		const char *digits = at + 4, *after = digits, *mark = at;
		uint64_t number;
		while (after < end && *after >= '0' && *after <= '9')
			after++;
		if (!number_of(digits, (size_t)(after - digits), RANKS_MAX - 1, &number))
			return -1;
		while (mark[-1] == ' ')
			mark--;
		uint64_t first = count > 0 && mark[-1] == '~' ? last + 1 : number;
		if (first > number)
			return -1;
		for (uint64_t rank = first; rank <= number; rank++) {
			if (count == RANKS_MAX)
				return -1;
			ranks[count++] = (uint32_t)rank;
		}
		last = number;
		at = after;
	}
	return count;
}

// "[ pp_stage0: [rank0, rank1] ]": whose lines follow.
static int take_section(struct csv *csv)
{
	const struct cell *cell = &csv->cells[0];
	const char *end = cell->at + cell->length;
	const char *colon = memchr(cell->at, ':', cell->length);
	if (csv->section_count == AICB_STAGES_MAX)
		return csv_refuse(csv, "more than % sections", AICB_STAGES_MAX, 0);
	uint32_t *ranks = calloc(RANKS_MAX, sizeof(*ranks));
	if (ranks == NULL)
		return input_no_memory(csv->input);
	int64_t count = colon == NULL || csv->cell_count > 1 ? -1 : list_ranks(colon, end, ranks);
	if (count < 1) {
		free(ranks);
		return csv_refuse(csv, "a section must be [ NAME: [rank0, rank1, ...] ]", 0, 0);
	}
	void *less = realloc(ranks, (size_t)count * sizeof(*ranks));
	csv->sections[csv->section_count++] = (struct aicb_section){
		.ranks = less == NULL ? ranks : less,
		.count = (uint32_t)count,
		.line = csv->line,
		.first = csv->input->rank->node_count};
	return 0;
}

static int take_names(struct csv *csv)
{
	csv->columns = csv->cell_count;
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		csv->place[i] = -1;
		for (uint32_t k = 0; k < csv->cell_count; k++)
			if (is_word(&csv->cells[k], column_names[i]))
				csv->place[i] = (int)k;
	}
	if (csv->place[TYPE] < 0 || csv->place[GROUP] < 0 || csv->place[BYTES] < 0)
		return csv_refuse(csv, "there must be columns comm_type, comm_group and msg_size",
				  0, 0);
	return 0;
}

// The ranks or the first section, and the names of the columns.
static int take_header(struct csv *csv)
{
	int rc = next(csv);
	if (rc == 1 && is_bracket(csv)) {
		bool is_section = memchr(csv->cells[0].at, ':', csv->cells[0].length) != NULL;
		rc = is_section ? take_section(csv) : take_ranks(csv);
		if (rc == 0)
			rc = next(csv);
	}
	return rc < 0 ? rc : take_names(csv);
}

static bool holds(const struct cell *cell, const char *word)
{
	return memmem(cell->at, cell->length, word, strlen(word)) != NULL;
}

// The cell of a column; empty where there is no such column, or "None".
static struct cell cell_of(const struct csv *csv, enum column column)
{
	const int place = csv->place[column];
	struct cell cell = place < 0 ? (struct cell){"", 0} : csv->cells[place];
	return is_word(&cell, "None") ? (struct cell){"", 0} : cell;
}

// Groups whose size says how the job's ranks are parted.
static bool is_dimension(const char *name)
{
	return strcmp(name, "tp_group") == 0 || strcmp(name, "pp_group") == 0;
}

static int take_group(struct csv *csv, struct trace_node *node)
{
	static const char prefix[] = "CommGroup.";
	struct cell group = cell_of(csv, GROUP), size = cell_of(csv, GROUP_SIZE);
	char name[TRACE_NAME_BYTES];
	uint64_t ranks = 0;
	size_t skip = strlen(prefix);
	if (group.length <= skip || memcmp(group.at, prefix, skip) != 0 ||
	    group.length - skip >= sizeof(name))
		return csv_refuse(csv, "comm_group must be CommGroup. and a name", 0, 0);
	if (size.length > 0 && (!number_of(size.at, size.length, INT32_MAX, &ranks) || ranks == 0))
		return csv_refuse(csv, "comm_group_size is not a number of ranks", 0, 0);
	memcpy(name, group.at + skip, group.length - skip);
	name[group.length - skip] = '\0';
	uint32_t known = group_ranks(csv->input->set, name);
	if (is_dimension(name) && ranks > 0 && known > 0 && ranks != known)
		return csv_refuse(csv,
				  "comm_group_size is %, and % in a line above: a job has one "
				  "size of its tensor and of its pipeline groups",
				  (int64_t)ranks, known);
	return input_group(csv->input, name, (uint32_t)ranks, 0, &node->group);
}

static int take_bytes(struct csv *csv, struct trace_node *node)
{
	struct cell bytes = cell_of(csv, BYTES);
	if (!number_of(bytes.at, bytes.length, INT64_MAX, &node->bytes))
		return csv_refuse(csv, "msg_size is not a number of bytes", 0, 0);
	return 0;
}

// _elapsed_time of a computation is in nanoseconds (workload_applyer.py sleeps it / 1e9 s).
static int take_compute(struct csv *csv, struct trace_node *node)
{
	struct cell time = cell_of(csv, ELAPSED);
	uint64_t ns = 0;
	node->kind = TRACE_KIND_COMPUTE;
	if (time.length > 0 && !number_of(time.at, time.length, INT64_MAX / PS_PER_NS, &ns))
		return csv_refuse(csv, "_elapsed_time is not a whole number of nanoseconds", 0, 0);
	node->duration_ps = (ps_t)ns * PS_PER_NS;
	csv->input->set->has_times |= ns > 0;
	return 0;
}

// isend and irecv: the rank is in dst or src; without one, `additional` says which neighbour of the
// pipeline it is ("send_next", "recv_prev").
static int take_message(struct csv *csv, struct trace_node *node, bool is_send)
{
	struct cell peer = cell_of(csv, is_send ? TARGET : SOURCE);
	struct cell which = cell_of(csv, ADDITIONAL), stage = cell_of(csv, STAGE);
	uint64_t number = 0;
	node->kind = is_send ? TRACE_KIND_SEND : TRACE_KIND_RECEIVE;
	node->tag = holds(&stage, "backward") ? AICB_BACKWARD : 0;
	if (peer.length > 0 && !number_of(peer.at, peer.length, RANKS_MAX, &number))
		return csv_refuse(csv, "dst or src is not a rank", 0, 0);
	if (peer.length == 0 && !holds(&which, "next") && !holds(&which, "prev"))
		return csv_refuse(csv, "a message without dst, src or the neighbour in additional",
				  0, 0);
	node->peer = peer.length > 0	? (uint32_t)number
		: holds(&which, "next") ? AICB_PEER_NEXT
					: AICB_PEER_PREVIOUS;
	int rc = take_group(csv, node);
	return rc < 0 ? rc : take_bytes(csv, node);
}

static int take_kind(struct csv *csv, struct trace_node *node)
{
	static const char prefix[] = "CommType.";
	struct cell type = cell_of(csv, TYPE);
	char name[32];
	size_t skip = strlen(prefix);
	int rc;
	if (type.length <= skip || memcmp(type.at, prefix, skip) != 0 ||
	    type.length - skip >= sizeof(name))
		return csv_refuse(csv, "comm_type must be CommType. and a name", 0, 0);
	memcpy(name, type.at + skip, type.length - skip);
	name[type.length - skip] = '\0';
	node_name(node, name, strlen(name));
	if (strcmp(name, "epoch_end") == 0)
		return 0;
	if (strcmp(name, "computation") == 0)
		return take_compute(csv, node);
	if (strcmp(name, "isend") == 0 || strcmp(name, "irecv") == 0)
		return take_message(csv, node, name[1] == 's');
	enum trace_collective collective = collective_find(name);
	if (collective == TRACE_COLLECTIVE_COUNT)
		return csv_refuse(csv, "a comm_type that AICB does not have", 0, 0);
	node->kind = TRACE_KIND_COLLECTIVE;
	node->collective = (uint8_t)collective;
	rc = take_group(csv, node);
	return rc < 0 || collective == TRACE_COLLECTIVE_BARRIER ? rc : take_bytes(csv, node);
}

// AICB writes 1 in each line; that another number would mean so many calls is not known.
static int check_count(const struct csv *csv)
{
	struct cell count = cell_of(csv, COUNT);
	uint64_t number = 1;
	if (count.length > 0 &&
	    (!number_of(count.at, count.length, INT64_MAX, &number) || number != 1))
		return csv_refuse(csv, "count is not 1: a line is one call", 0, 0);
	return 0;
}

static int take_line(struct csv *csv)
{
	struct trace_rank *rank = csv->input->rank;
	if (csv->cell_count != csv->columns)
		return csv_refuse(csv, "there are % columns, this line has %", csv->columns,
				  csv->cell_count);
	struct trace_node *node = input_node(csv->input, csv->line, csv->line);
	if (node == NULL)
		return input_no_memory(csv->input);
	int rc = check_count(csv);
	if (rc == 0)
		rc = take_kind(csv, node);
	// each line is done when the one before has ended
	return rc < 0 || rank->node_count == 1
		? rc
		: input_wait(csv->input, rank->nodes[rank->node_count - 2].id);
}

// A line of the file, a section, or the names of columns once more below one.
static int take_any(struct csv *csv)
{
	struct input_mark mark = input_mark(csv->input);
	if (is_bracket(csv)) {
		if (csv->section_count == 0)
			return csv_refuse(csv, "a section, where the lines above have none", 0, 0);
		return take_section(csv);
	}
	if (csv->section_count > 0 && is_word(&csv->cells[0], column_names[TYPE]))
		return take_names(csv);
	int rc = input_settle(csv->input, mark, take_line(csv));
	if (csv->section_count > 0)
		csv->sections[csv->section_count - 1].nodes = csv->input->rank->node_count -
			csv->sections[csv->section_count - 1].first;
	return rc;
}

static int take_all(struct csv *csv)
{
	struct trace_input *input = csv->input;
	int rc = take_header(csv), more;
	while (rc == 0 && (more = next(csv)) != 0)
		rc = more < 0 ? input_settle(input, input_mark(input), more) : take_any(csv);
	input->rank->records = csv->line;
	if (rc == 0 && input->rank->node_count == 0)
		return csv_refuse(csv, "there is no line below the names of columns", 0, 0);
	return rc == 0 ? aicb_deal(input, csv->sections, csv->section_count) : rc;
}

int trace_read_aicb(struct trace_input *input)
{
	struct csv *csv = calloc(1, sizeof(*csv));
	if (csv == NULL)
		return input_no_memory(input);
	csv->input = input;
	csv->at = input->text;
	csv->end = input->text + input->bytes;
	input->set->gathers_whole = true;
	int rc = take_all(csv);
	for (uint32_t i = 0; i < csv->section_count; i++)
		free(csv->sections[i].ranks);
	free(csv);
	return rc;
}
