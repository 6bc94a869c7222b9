// SPDX-License-Identifier: Apache-2.0
// The tree of a .topo file as a graph: two tiers, or three with pods. The switches above a ToR's
// pod stand as htsim has them: aggregation switch p of every pod links to cores p, p + aggs, p + 2
// aggs and so on. Each tier has its own rate, delay and bundles, which is why the arithmetic of
// fattree.c does not do. Ports: down first, then up, bundles together.

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <weft/core/refusal.h>
#include <weft/fabric/fabric.h>

#include "graph.h"

// A figure of the file.
enum tree_figure { TREE_PODSIZE, TREE_DOWN, TREE_UP };

struct tree_key {
	enum tree_figure figure;
	uint32_t tier; // of TREE_DOWN, TREE_UP
};

// Switches of a tree, as its file's figures say; 0 where they do not divide.
struct tree_counts {
	uint32_t tors, pods, pod_tors, pod_aggs, cores;
};

static uint32_t whole(uint64_t value, uint64_t by)
{
	return by > 0 && value % by == 0 && value / by <= UINT32_MAX ? (uint32_t)(value / by) : 0;
}

static struct tree_counts counts_of(const struct tree_plan *tree)
{
	const struct tree_tier *tier = tree->tier;
	struct tree_counts counts = {
		.tors = whole(tree->nics, tier[0].down),
		.pods = whole(tree->nics, tree->pod_nics),
		.pod_tors = whole(tree->pod_nics, tier[0].down),
		.pod_aggs = whole(tier[0].up, tier[1].bundle),
	};
	if (tree->tiers == 3)
		counts.cores = counts.pod_aggs * whole(tier[1].up, tier[2].bundle);
	return counts;
}

// That the figures of a tree fit together. -EINVAL with the figure that does not in `ret`.
static int tree_check(const struct tree_plan *tree, struct tree_key *ret, struct refusal *refusal)
{
	const struct tree_counts whole_counts = counts_of(tree), *counts = &whole_counts;
	const struct tree_tier *tier = tree->tier;
	bool is_tall = tree->tiers == 3;
	*ret = (struct tree_key){TREE_PODSIZE, 0};
	if (counts->tors == 0 || counts->pods == 0 || counts->pod_tors == 0)
		return refuse(refusal, -EINVAL,
			      "% nodes do not fill whole pods of % below switches with % each",
			      tree->nics, tree->pod_nics, tier[0].down);
	*ret = (struct tree_key){TREE_UP, counts->pod_aggs == 0 ? 0 : 1};
	if (counts->pod_aggs == 0 || (is_tall && counts->cores == 0))
		return refuse(refusal, -EINVAL, "Radix_Up of % and % is not a multiple of Bundle",
			      tier[0].up, tier[1].up);
	*ret = (struct tree_key){TREE_PODSIZE, 0};
	if (!is_tall && counts->pods != 1)
		return refuse(refusal, -EINVAL, "two tiers are one pod: Podsize must be Nodes, %",
			      tree->nics);
	*ret = (struct tree_key){TREE_DOWN, 1};
	if (tier[1].down != counts->pod_tors * tier[1].bundle)
		return refuse(refusal, -EINVAL,
			      "Radix_Down of tier 1 is %, but % switches below with % links each "
			      "need another",
			      tier[1].down, counts->pod_tors, tier[1].bundle);
	*ret = (struct tree_key){TREE_DOWN, 2};
	if (is_tall && tier[2].down != counts->pods * tier[2].bundle)
		return refuse(
			refusal, -EINVAL,
			"Radix_Down of tier 2 is %, but % pods with % links each need another",
			tier[2].down, counts->pods, tier[2].bundle);
	return 0;
}

int tree_size(const struct fabric_config *config, struct refusal *refusal, struct graph_size *ret)
{
	const struct tree_plan *tree = &config->tree;
	if (tree->tiers == 0)
		return refuse(refusal, -EINVAL, "the file of the topology was not read");
	if (tree->nics != config->nics)
		return refuse(refusal, -EINVAL,
			      "the topology is of % nodes, but fabric.nics is %: set "
			      "fabric.nics=%",
			      tree->nics, config->nics, tree->nics);
	if (tree->tier[0].rate_bps != config->link_rate_bps)
		return refuse(refusal, -EINVAL,
			      "the links of NICs have % b/s in the file, but fabric.link_rate is "
			      "% b/s: set it to the same",
			      (int64_t)tree->tier[0].rate_bps, (int64_t)config->link_rate_bps);
	struct tree_counts counts = counts_of(tree);
	struct tree_key spot;
	int error = tree_check(tree, &spot, refusal);
	if (error != 0)
		return error;
	if (tree->tier[0].down % config->nics_per_host != 0)
		return refuse(refusal, -EINVAL, "hosts of % NICs would straddle switches of % NICs",
			      config->nics_per_host, tree->tier[0].down);
	uint64_t aggs = (uint64_t)counts.pods * counts.pod_aggs;
	*ret = (struct graph_size){
		counts.tors + aggs + counts.cores,
		(uint64_t)counts.tors * tree->tier[0].up +
			(tree->tiers == 3 ? aggs * tree->tier[1].up : 0),
	};
	return 0;
}

// Joins two switches by the links of `tier`.
static void join(struct graph *graph, const struct tree_tier *tier, uint32_t lower, uint32_t upper)
{
	for (uint32_t i = 0; i < tier->bundle; i++)
		graph->edges[graph->edge_count++] = (struct graph_edge){
			.a = lower,
			.b = upper,
			.rate_bps = tier->rate_bps,
			.delay_ps = tier->delay_ps,
		};
}

// Says which tier the `count` switches from `first` on are.
static void set_tier(struct graph *graph, const struct tree_plan *tree, uint32_t tier,
		     uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		graph->tier[first + i] = (uint8_t)tier;
		graph->index[first + i] = i;
		graph->switch_delay_ps[first + i] = tree->tier[tier].switch_delay_ps;
	}
}

int tree_fill(struct graph *graph, const struct fabric_config *config, struct refusal *)
{
	const struct tree_plan *tree = &config->tree;
	const struct tree_counts counts = counts_of(tree);
	uint32_t agg_first = counts.tors, core_first = agg_first + counts.pods * counts.pod_aggs;
	for (uint32_t nic = 0; nic < config->nics; nic++)
		graph->nics[nic] = (struct graph_nic){nic / tree->tier[0].down,
						      tree->tier[0].delay_ps};
	set_tier(graph, tree, 0, 0, counts.tors);
	set_tier(graph, tree, 1, agg_first, core_first - agg_first);
	set_tier(graph, tree, 2, core_first, counts.cores);
	for (uint32_t tor = 0; tor < counts.tors; tor++)
		for (uint32_t i = 0; i < counts.pod_aggs; i++)
			join(graph, &tree->tier[1], tor,
			     agg_first + tor / counts.pod_tors * counts.pod_aggs + i);
	for (uint32_t core = 0; core < counts.cores; core++)
		for (uint32_t pod = 0; pod < counts.pods; pod++)
			join(graph, &tree->tier[2],
			     agg_first + pod * counts.pod_aggs + core % counts.pod_aggs,
			     core_first + core);
	return 0;
}

// Reads a .topo file of htsim: `Nodes`, `Tiers`, `Podsize`, then a section `Tier N` for each tier
// with one figure a line; letter case does not matter and `#` begins a comment. Written from
// descriptions of the format. What the fabric cannot do (queues of a tier) and what is not known is
// refused with its place. Whether the figures fit together is tree.c's to say, and what
// `Oversubscribed` says is compared with them here; either way the error has the place of a figure.

#define GBPS UINT64_C(1000000000)
#define COUNT_MAX (UINT64_C(1) << 24)
#define RATE_MAX UINT64_C(8000)	      // Gb/s
#define DELAY_MAX UINT64_C(100000000) // ns

enum word_kind { WORD_OF_FILE, WORD_OF_TIER };

enum word_id {
	WORD_NODES,
	WORD_TIERS,
	WORD_PODSIZE,
	WORD_TIER,
	WORD_RATE,
	WORD_DOWN,
	WORD_UP,
	WORD_LATENCY,
	WORD_SWITCH,
	WORD_OVER,
	WORD_BUNDLE,
	WORD_QUEUE_UP,
	WORD_QUEUE_DOWN,
	WORD_COUNT
};

static const struct {
	const char *text; // in lower case
	enum word_kind kind;
	uint64_t min, max;
} words[WORD_COUNT] = {
	[WORD_NODES] = {"nodes", WORD_OF_FILE, 2, COUNT_MAX},
	[WORD_TIERS] = {"tiers", WORD_OF_FILE, 2, TOPOLOGY_TIERS_MAX},
	[WORD_PODSIZE] = {"podsize", WORD_OF_FILE, 1, COUNT_MAX},
	[WORD_TIER] = {"tier", WORD_OF_FILE, 0, TOPOLOGY_TIERS_MAX - 1},
	[WORD_RATE] = {"downlink_speed_gbps", WORD_OF_TIER, 1, RATE_MAX},
	[WORD_DOWN] = {"radix_down", WORD_OF_TIER, 1, COUNT_MAX},
	[WORD_UP] = {"radix_up", WORD_OF_TIER, 1, COUNT_MAX},
	[WORD_LATENCY] = {"downlink_latency_ns", WORD_OF_TIER, 1, DELAY_MAX},
	[WORD_SWITCH] = {"switch_latency_ns", WORD_OF_TIER, 0, DELAY_MAX},
	[WORD_OVER] = {"oversubscribed", WORD_OF_TIER, 1, COUNT_MAX},
	[WORD_BUNDLE] = {"bundle", WORD_OF_TIER, 1, COUNT_MAX},
	[WORD_QUEUE_UP] = {"queue_up", WORD_OF_TIER, 0, UINT64_MAX / 16},
	[WORD_QUEUE_DOWN] = {"queue_down", WORD_OF_TIER, 0, UINT64_MAX / 16},
};

struct word_place {
	uint32_t line, column; // 1-based; 0: it was not given
};

struct reader {
	const char *text, *end;
	uint32_t line;
	struct refusal *refusal;
	struct tree_plan tree;
	uint32_t tier;				// section; TOPOLOGY_TIERS_MAX before the first
	uint32_t given[TOPOLOGY_TIERS_MAX + 1]; // bits of words, by section
	uint32_t over[TOPOLOGY_TIERS_MAX];
	struct word_place places[TOPOLOGY_TIERS_MAX + 1]
				[WORD_COUNT]; // by section; of a heading in its own
};

static struct word_place place_of(const struct reader *reader, const char *at)
{
	const char *start = at;
	while (start > reader->text && start[-1] != '\n')
		start--;
	return (struct word_place){reader->line, (uint32_t)(at - start) + 1};
}

static void set_place(const struct reader *reader, struct word_place place)
{
	if (reader->refusal == NULL)
		return;
	reader->refusal->line = place.line;
	reader->refusal->column = place.column;
}

static int refuse_at(struct reader *reader, const char *at, const char *why, int64_t first,
		     int64_t second)
{
	set_place(reader, place_of(reader, at));
	return refuse(reader->refusal, -EINVAL, why, first, second);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

// Whether [at, at + length) is the word, in whatever case.
static bool is_word(const char *at, size_t length, const char *word)
{
	if (strlen(word) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (lower(at[i]) != word[i])
			return false;
	return true;
}

// Takes the next word of the line; its length is 0 at the end.
static size_t take_word(const char **at, const char *line_end)
{
	while (*at < line_end && is_space(**at))
		(*at)++;
	size_t length = 0;
	while (*at + length < line_end && !is_space((*at)[length]))
		length++;
	return length;
}

static int read_number(struct reader *reader, const char *at, size_t length, enum word_id id,
		       uint64_t *ret)
{
	uint64_t value = 0;
	if (length == 0)
		return refuse_at(reader, at, "a number is expected here", 0, 0);
	for (size_t i = 0; i < length; i++) {
		if (at[i] < '0' || at[i] > '9')
			return refuse_at(reader, at, "a whole number is expected here", 0, 0);
		if (value > UINT64_MAX / 16)
			break; // above every maximum
		value = value * 10 + (uint64_t)(at[i] - '0');
	}
	if (value < words[id].min || value > words[id].max)
		return refuse_at(reader, at, "this may be % to %", (int64_t)words[id].min,
				 (int64_t)words[id].max);
	*ret = value;
	return 0;
}

static void store_of_file(struct reader *reader, enum word_id id, uint64_t value)
{
	if (id == WORD_NODES)
		reader->tree.nics = (uint32_t)value;
	else if (id == WORD_TIERS)
		reader->tree.tiers = (uint32_t)value;
	else if (id == WORD_PODSIZE)
		reader->tree.pod_nics = (uint32_t)value;
	else
		reader->tier = (uint32_t)value;
}

static void store_of_tier(struct reader *reader, enum word_id id, uint64_t value)
{
	struct tree_tier *tier = &reader->tree.tier[reader->tier];
	if (id == WORD_RATE)
		tier->rate_bps = value * GBPS;
	else if (id == WORD_DOWN)
		tier->down = (uint32_t)value;
	else if (id == WORD_UP)
		tier->up = (uint32_t)value;
	else if (id == WORD_LATENCY)
		tier->delay_ps = (ps_t)value * PS_PER_NS;
	else if (id == WORD_SWITCH)
		tier->switch_delay_ps = (ps_t)value * PS_PER_NS;
	else if (id == WORD_BUNDLE)
		tier->bundle = (uint32_t)value;
	else if (id == WORD_OVER)
		reader->over[reader->tier] = (uint32_t)value;
}

// Takes a figure into its section, once.
static int store(struct reader *reader, const char *at, enum word_id id, uint64_t value)
{
	bool is_of_tier = words[id].kind == WORD_OF_TIER;
	if (is_of_tier && reader->tier == TOPOLOGY_TIERS_MAX)
		return refuse_at(reader, at, "this belongs below a line `Tier 0` to `Tier 2`", 0,
				 0);
	if (id == WORD_QUEUE_UP || id == WORD_QUEUE_DOWN)
		return refuse_at(reader, at,
				 "queues are what the scenario's queue.bytes says: leave this line "
				 "out",
				 0, 0);
	uint32_t section = is_of_tier ? reader->tier : TOPOLOGY_TIERS_MAX;
	uint32_t bit = id == WORD_TIER ? UINT32_C(1) << (WORD_COUNT + value) : UINT32_C(1) << id;
	if (reader->given[section] & bit)
		return refuse_at(reader, at, "this appears twice", 0, 0);
	reader->given[section] |= bit;
	reader->places[id == WORD_TIER ? value : section][id] = place_of(reader, at);
	if (is_of_tier)
		store_of_tier(reader, id, value);
	else
		store_of_file(reader, id, value);
	return 0;
}

static int read_line(struct reader *reader, const char *at, const char *line_end)
{
	const char *comment = at;
	while (comment < line_end && *comment != '#')
		comment++;
	size_t length = take_word(&at, comment);
	if (length == 0)
		return 0;
	uint32_t id = 0;
	while (id < WORD_COUNT && !is_word(at, length, words[id].text))
		id++;
	if (id == WORD_COUNT)
		return refuse_at(reader, at, "this is not a figure of a topology that is known", 0,
				 0);
	const char *word = at;
	at += length;
	uint64_t value = 0;
	length = take_word(&at, comment);
	int error = read_number(reader, at, length, id, &value);
	if (error != 0)
		return error;
	const char *rest = at + length;
	if (take_word(&rest, comment) > 0)
		return refuse_at(reader, rest, "nothing may follow the number", 0, 0);
	return store(reader, word, id, value);
}

// ---------------------------------------------------------------- the whole

// What a section of a tier has.
static int check_tier(const struct reader *reader, uint32_t tier)
{
	const uint32_t needed = 1u << WORD_RATE | 1u << WORD_DOWN | 1u << WORD_LATENCY;
	uint32_t given = reader->given[tier], tiers = reader->tree.tiers;
	const struct word_place *places = reader->places[tier];
	// one that is not there at all is missed where they are counted
	set_place(reader,
		  places[WORD_TIER].line > 0 ? places[WORD_TIER]
					     : reader->places[TOPOLOGY_TIERS_MAX][WORD_TIERS]);
	if ((given & needed) != needed)
		return refuse(reader->refusal, -EINVAL,
			      "tier % needs Downlink_speed_Gbps, Radix_Down and "
			      "Downlink_Latency_ns",
			      tier);
	if (places[WORD_UP].line > 0)
		set_place(reader, places[WORD_UP]);
	if ((given >> WORD_UP & 1) != (tier + 1 < tiers))
		return refuse(reader->refusal, -EINVAL,
			      "Radix_Up belongs to every tier but the top one, %", tiers - 1);
	return 0;
}

// What every file has, and every section; what it lacks is missed behind its last line.
static int check_given(struct reader *reader)
{
	const uint32_t of_file = 1u << WORD_NODES | 1u << WORD_TIERS;
	set_place(reader, (struct word_place){reader->line + 1, 0});
	if ((reader->given[TOPOLOGY_TIERS_MAX] & of_file) != of_file)
		return refuse(reader->refusal, -EINVAL, "Nodes and Tiers are needed");
	uint32_t tiers = reader->tree.tiers;
	for (uint32_t tier = tiers; tier < TOPOLOGY_TIERS_MAX; tier++) {
		set_place(reader, reader->places[tier][WORD_TIER]);
		if (reader->places[tier][WORD_TIER].line > 0)
			return refuse(reader->refusal, -EINVAL,
				      "there is a tier %, but Tiers says %", tier, tiers);
	}
	int error = 0;
	for (uint32_t tier = 0; error == 0 && tier < tiers; tier++)
		error = check_tier(reader, tier);
	return error;
}

// That a tier has as much more below as `Oversubscribed` says, to the next whole number. Above the
// top one there is nothing that could be less.
static int check_over(const struct reader *reader, uint32_t tier)
{
	const struct tree_tier *own = &reader->tree.tier[tier];
	uint32_t over = reader->over[tier];
	set_place(reader, reader->places[tier][WORD_OVER]);
	if (over > 1 && tier + 1 == reader->tree.tiers)
		return refuse(
			reader->refusal, -EINVAL,
			"nothing is above the top tier: Oversubscribed is 1 there, or left out");
	if (over == 0 || tier + 1 == reader->tree.tiers)
		return 0;
	uint64_t down = own->down * (own->rate_bps / GBPS);
	uint64_t up = own->up * (reader->tree.tier[tier + 1].rate_bps / GBPS);
	if (down == up * over)
		return 0;
	return refuse(reader->refusal, -EINVAL,
		      "Oversubscribed is %, but % Gb/s below and % Gb/s above are not in that "
		      "relation",
		      over, (int64_t)down, (int64_t)up);
}

// That the figures fit together.
static int check_tree(const struct reader *reader)
{
	static const enum word_id words_of[] = {
		[TREE_PODSIZE] = WORD_PODSIZE,
		[TREE_DOWN] = WORD_DOWN,
		[TREE_UP] = WORD_UP,
	};
	struct tree_key spot;
	int error = tree_check(&reader->tree, &spot, reader->refusal);
	if (error == 0)
		return 0;
	bool is_of_file = spot.figure == TREE_PODSIZE;
	const struct word_place *places =
		reader->places[is_of_file ? TOPOLOGY_TIERS_MAX : spot.tier];
	struct word_place place = places[words_of[spot.figure]];
	set_place(reader, place.line > 0 ? place : places[WORD_NODES]); // without a Podsize
	return error;
}

int tree_parse(struct tree_plan *ret, const char *text, size_t bytes, struct refusal *refusal)
{
	struct reader reader = {
		.text = text, .end = text + bytes, .refusal = refusal, .tier = TOPOLOGY_TIERS_MAX};
	for (uint32_t tier = 0; tier < TOPOLOGY_TIERS_MAX; tier++)
		reader.tree.tier[tier].bundle = 1;
	for (const char *at = text; at < reader.end;) {
		const char *line_end = at;
		reader.line++;
		while (line_end < reader.end && *line_end != '\n')
			line_end++;
		int error = read_line(&reader, at, line_end);
		if (error != 0)
			return error;
		at = line_end + (line_end < reader.end);
	}
	int error = check_given(&reader);
	for (uint32_t tier = 0; error == 0 && tier < reader.tree.tiers; tier++)
		error = check_over(&reader, tier);
	if (reader.tree.pod_nics == 0)
		reader.tree.pod_nics = reader.tree.nics;
	if (error == 0)
		error = check_tree(&reader);
	if (error != 0)
		return error;
	if (refusal != NULL)
		refusal->line = refusal->column = 0; // places were only tried
	*ret = reader.tree;
	return 0;
}
