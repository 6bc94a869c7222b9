// SPDX-License-Identifier: Apache-2.0
// AICB's CSV of a job: an optional first line "[rank0 ~ rankN]", the names of the columns, then
// what each rank does in turn, one line each. Every rank does the same, each in its own groups; or
// sections, "[ pp_stage0: [rank0, rank1] ]" and its lines, say what the ranks of each stage do.
// Facts: AICB's workload files and its workload_applyer.py: msg_size is the whole buffer, of an
// all-gather the output, of a reduce-scatter the input.

#include "aicb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
		return csv_refuse(csv, "comm_group_size is no number of ranks", 0, 0);
	memcpy(name, group.at + skip, group.length - skip);
	name[group.length - skip] = '\0';
	return input_group(csv->input, name, (uint32_t)ranks, 0, &node->group);
}

static int take_bytes(struct csv *csv, struct trace_node *node)
{
	struct cell bytes = cell_of(csv, BYTES);
	if (!number_of(bytes.at, bytes.length, INT64_MAX, &node->bytes))
		return csv_refuse(csv, "msg_size is no number of bytes", 0, 0);
	return 0;
}

// _elapsed_time of a computation is in nanoseconds (workload_applyer.py sleeps it / 1e9 s).
static int take_compute(struct csv *csv, struct trace_node *node)
{
	struct cell time = cell_of(csv, ELAPSED);
	uint64_t ns = 0;
	node->kind = TRACE_KIND_COMPUTE;
	if (time.length > 0 && !number_of(time.at, time.length, INT64_MAX / PS_PER_NS, &ns))
		return csv_refuse(csv, "_elapsed_time is no whole number of nanoseconds", 0, 0);
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
		return csv_refuse(csv, "dst or src is no rank", 0, 0);
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

static int take_line(struct csv *csv)
{
	struct trace_rank *rank = csv->input->rank;
	if (csv->cell_count != csv->columns)
		return csv_refuse(csv, "there are % columns, this line has %", csv->columns,
				  csv->cell_count);
	struct trace_node *node = input_node(csv->input, csv->line, csv->line);
	if (node == NULL)
		return input_no_memory(csv->input);
	int rc = take_kind(csv, node);
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
