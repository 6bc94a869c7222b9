// SPDX-License-Identifier: Apache-2.0
// See fidelity.h.

#include <weft/result/fidelity.h>

#include <inttypes.h>
#include <string.h>

#include <weft/result/put.h>
#include <weft/result/report.h>

#define COLUMNS 98 // of the table

// One way from a host to another, by both ends; NULL: what that end saw is not known.
struct host_pair {
	struct seen_pair ends[2];
	const struct seen_pair *left, *came;
};

// Whether frames went there.
static bool host_pair_of(struct host_pair *ret, const struct report_fidelity *of, uint32_t from,
			 uint32_t to)
{
	bool is_whole = of->own == FIDELITY_EVERY;
	*ret = (struct host_pair){0};
	if (from == to)
		return false;
	if (is_whole || from == of->own) {
		of->pair(of->context, from, to, &ret->ends[0]);
		ret->left = &ret->ends[0];
	}
	if (is_whole || to == of->own) {
		of->pair(of->context, to, from, &ret->ends[1]);
		ret->came = &ret->ends[1];
	}
	return ret->ends[0].frames_left > 0 || ret->ends[1].frames_came > 0;
}

// ---------------------------------------------------------------- a line for all

struct range {
	int64_t low, high;
	bool is_set;
};

// Takes in what the row's two keys say, if they say it.
static void widen(struct range *range, const json_t *row, const char *least, const char *most)
{
	const json_t *low = json_object_get(row, least), *high = json_object_get(row, most);
	if (!json_is_integer(low) || !json_is_integer(high))
		return;
	if (!range->is_set || json_integer_value(low) < range->low)
		range->low = json_integer_value(low);
	if (!range->is_set || json_integer_value(high) > range->high)
		range->high = json_integer_value(high);
	range->is_set = true;
}

static void print_range(FILE *to, const char *before, const struct range *range, const char *what)
{
	if (!range->is_set)
		return;
	fprintf(to, "%s%" PRId64, before, range->low);
	if (range->low < range->high)
		fprintf(to, " to %" PRId64, range->high);
	fprintf(to, "%s", what);
}

void fidelity_host_pairs_line(FILE *to, const char *before, const json_t *ways)
{
	struct range paths_left = {0}, paths_came = {0}, hops = {0};
	int64_t left = 0, came = 0;
	bool is_whole = true;
	const json_t *row;
	size_t i;
	if (json_array_size(ways) == 0)
		return;
	json_array_foreach(ways, i, row)
	{
		const json_t *of_left = json_object_get(row, "frames_left"),
			     *of_came = json_object_get(row, "frames_came");
		is_whole &= json_is_integer(of_left) && json_is_integer(of_came);
		left += json_integer_value(of_left); // 0 of null
		came += json_integer_value(of_came);
		widen(&paths_left, row, "paths_left", "paths_left");
		widen(&paths_came, row, "paths_came", "paths_came");
		widen(&hops, row, "hops_least", "hops_most");
	}
	fprintf(to, "%sways: %zu from host to host%s; %" PRId64 " frames left, %" PRId64 " came",
		before, json_array_size(ways), is_whole ? "" : ", as this host saw its own", left,
		came);
	fprintf(to, "\n%s  ", before);
	print_range(to, "by ", &paths_left, " paths each (planes and EVs)");
	print_range(to, paths_left.is_set ? ", came by " : "came by ", &paths_came, "");
	print_range(to, ", over ", &hops, " hops that count");
	fprintf(to, "\n");
}

// ---------------------------------------------------------------- one by one

static void put_host_pair(json_t *array, uint32_t from, uint32_t to,
			  const struct host_pair *host_pair)
{
	const struct seen_pair *left = &host_pair->ends[0], *came = &host_pair->ends[1];
	bool is_left = host_pair->left != NULL, is_there = host_pair->came != NULL;
	json_t *row = row_in(array);
	put_count(row, "from", from);
	put_count(row, "to", to);
	put_known(row, "frames_left", is_left, (int64_t)left->frames_left);
	put_known(row, "frames_came", is_there, (int64_t)came->frames_came);
	put_known(row, "paths_left", is_left, (int64_t)left->paths_left);
	put_known(row, "paths_came", is_there, (int64_t)came->paths_came);
	put_known(row, "hops_least", came->frames_came > 0, (int64_t)came->hops_least);
	put_known(row, "hops_most", came->frames_came > 0, (int64_t)came->hops_most);
	put(row, "more_paths", json_boolean(left->is_more || came->is_more));
}

json_t *fidelity_host_pairs(const struct report_fidelity *fidelity)
{
	struct host_pair host_pair;
	json_t *array = json_array();
	for (uint32_t i = 0; i < fidelity->hosts; i++)
		for (uint32_t k = 0; k < fidelity->hosts; k++)
			if (host_pair_of(&host_pair, fidelity, i, k))
				put_host_pair(array, i, k, &host_pair);
	return array;
}

void fidelity_json(json_t *root, const struct report_input *input)
{
	const struct report_fidelity *fidelity = &input->fidelity;
	if (fidelity->conclude[0] == '\0')
		return;
	json_t *to = object_in(root, "fidelity");
	put_text(to, "conclude", fidelity->conclude);
	put(to, "ways", fidelity_host_pairs(fidelity));
}

// In lines that are no longer than others.
static void print_sentence(FILE *to, const char *text)
{
	fprintf(to, "  conclude:");
	for (size_t at = strlen("  conclude:"), length; *text != '\0'; text += length) {
		text += strspn(text, " ");
		length = strcspn(text, " ");
		bool is_over = at + 1 + length > COLUMNS;
		fprintf(to, "%s%.*s", is_over ? "\n    " : " ", (int)length, text);
		at = is_over ? 4 + length : at + 1 + length;
	}
	fprintf(to, "\n");
}

void fidelity_table(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "fidelity");
	if (!json_is_object(of))
		return;
	fprintf(to, "\nFidelity\n");
	fidelity_host_pairs_line(to, "  ", json_object_get(of, "ways"));
	print_sentence(to, document_text(of, "conclude"));
}
