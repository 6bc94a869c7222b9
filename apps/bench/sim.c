// SPDX-License-Identifier: Apache-2.0
// weft bench sim: the standard cases, or a scenario, several times in virtual time. All are run
// once, then all once more, so that what disturbs the machine for a while disturbs all alike.

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/core/check.h>
#include <weft/files/files.h>

#include "figures.h"

// The standard cases. What htsim took for the same traffic was counted with callgrind, stock
// binary, on permutations, incasts and rings of these sizes.

#define CASE_TEXT_BYTES 2048

struct bench_case {
	const char *name;
	const char *about;
	const char *fabric, *rate;
	const char *rto;     // htsim's least: 15 us and six full queues
	const char *traffic; // its section
	// x86 instructions that htsim (uet-htsim 40ccb05) took for one packet-hop of the same
	// traffic under callgrind; 0: not counted.
	uint32_t htsim_instructions;
};

// Links of 1 us and switches without latency, as htsim's runs had them.
#define DELAYS "  nic_delay: 1us\n  trunk_delay: 1us\n  switch_delay: 0ns\n"
#define FAT_TREE_128 \
	"  topology: fat-tree\n  nics: 128\n  tor_nics: 4\n  pod_tors: 4\n  pod_aggs: 4\n" \
	"  cores: 16\n" DELAYS
#define FAT_TREE_64 \
	"  topology: fat-tree\n  nics: 64\n  tor_nics: 4\n  pod_tors: 4\n  pod_aggs: 4\n  cores: " \
	"16\n" DELAYS
#define FAT_TREE_1024 \
	"  topology: fat-tree\n  nics: 1024\n  tor_nics: 8\n  pod_tors: 8\n  pod_aggs: 8\n" \
	"  cores: 64\n" DELAYS
#define LEAF_SPINE_1024 \
	"  topology: leaf-spine\n  nics: 1024\n  nics_per_t0: 32\n  t1_count: 32\n" DELAYS
#define LEAF_SPINE_8192 \
	"  topology: leaf-spine\n  nics: 8192\n  nics_per_t0: 64\n  t1_count: 64\n" DELAYS

// Packets of 4,150 B, a SACK for every 16 KiB, trimming to 64 B by a coin, marks from 20 to 80 % of
// queues of one bandwidth-delay product, 128 entropy values and htsim's usual way to choose among
// them. A window of 512 packets is more than NSCC's largest; longer ones give the same runs.
static const char rules[] =
	"queue:\n  ecn_last_hop: true\n  trim_bytes: 64B\n  trim_choice: coin\n"
	"transport:\n  payload: 4086B\n  header: 64B\n  control: 64B\n  path: mixed\n  evs: 128\n"
	"  mpr: 512\n  sack_rule: htsim\n  completion: sack\n  sack_bytes: 16384B\n"
	"  hole_age: off\n";

#define PERMUTATION(bytes) "  kind: permutation\n  bytes: " bytes "\n"
#define INCAST(senders) "  kind: incast\n  senders: " senders "\n  bytes: 2MB\n"
#define RING(ranks) \
	"  kind: ring\n  ranks: " ranks "\n  collective: all_reduce\n  bytes: 16MiB\n" \
	"  channels: 1\n  form: barrier\n"
#define ALL_TO_ALL(bytes) "  kind: all_to_all\n  bytes: " bytes "\n"
// Rings of 128 whose members are in racks one behind the other: one of each rack.
#define RINGS_ACROSS_RACKS \
	"  kind: ring\n  jobs: 64\n  placement: spread\n  bytes: 2MiB\n  channels: 1\n" \
	"  form: barrier\n"

#define RTO_100G "100.656us"
#define RTO_400G "90.198us"
#define RTO_400G_TWO_TIERS "65.298us"
#define RTO_800G_TWO_TIERS "64.053us"

static const struct bench_case cases[] = {
	{"perm128-100g-2mb", "permutation of 2 MB, 128 NICs, three tiers", FAT_TREE_128, "100Gb/s",
	 RTO_100G, PERMUTATION("2MB"), 0},
	{"perm128-400g-2mb", "permutation of 2 MB, 128 NICs, three tiers", FAT_TREE_128, "400Gb/s",
	 RTO_400G, PERMUTATION("2MB"), 3037},
	{"perm128-100g-8mb", "permutation of 8 MB, 128 NICs, three tiers", FAT_TREE_128, "100Gb/s",
	 RTO_100G, PERMUTATION("8MB"), 0},
	{"perm128-400g-8mb", "permutation of 8 MB, 128 NICs, three tiers", FAT_TREE_128, "400Gb/s",
	 RTO_400G, PERMUTATION("8MB"), 0},
	{"incast8-400g", "8 NICs of 128 send 2 MB to one", FAT_TREE_128, "400Gb/s", RTO_400G,
	 INCAST("8"), 0},
	{"incast32-400g", "32 NICs of 128 send 2 MB to one", FAT_TREE_128, "400Gb/s", RTO_400G,
	 INCAST("32"), 2747},
	{"ring64-400g", "all-reduce of 16 MiB in a ring of 64", FAT_TREE_128, "400Gb/s", RTO_400G,
	 RING("64"), 3959},
	{"ring128-400g", "all-reduce of 16 MiB in a ring of 128", FAT_TREE_128, "400Gb/s", RTO_400G,
	 RING("128"), 0},
	{"alltoall64-400g", "128 KiB from each of 64 NICs to each other", FAT_TREE_64, "400Gb/s",
	 RTO_400G, ALL_TO_ALL("128KiB"), 0},
	{"alltoall128-400g", "64 KiB from each of 128 NICs to each other", FAT_TREE_128, "400Gb/s",
	 RTO_400G, ALL_TO_ALL("64KiB"), 0},
	{"perm1024-ls-400g", "permutation of 2 MB, 1,024 NICs, leaf-spine", LEAF_SPINE_1024,
	 "400Gb/s", RTO_400G_TWO_TIERS, PERMUTATION("2MB"), 0},
	{"perm1024-ft-400g", "permutation of 2 MB, 1,024 NICs, three tiers", FAT_TREE_1024,
	 "400Gb/s", RTO_400G, PERMUTATION("2MB"), 0},
	{"perm8192-400g", "permutation of 2 MB, 8,192 NICs, leaf-spine", LEAF_SPINE_8192, "400Gb/s",
	 RTO_400G_TWO_TIERS, PERMUTATION("2MB"), 0},
	{"perm8192-800g", "permutation of 2 MB, 8,192 NICs, leaf-spine", LEAF_SPINE_8192, "800Gb/s",
	 RTO_800G_TWO_TIERS, PERMUTATION("2MB"), 0},
	{"ring8192-400g", "64 rings of 128 across racks, reduce-scatter of 2 MiB", LEAF_SPINE_8192,
	 "400Gb/s", RTO_400G_TWO_TIERS, RINGS_ACROSS_RACKS, 0},
	{"ring8192-800g", "64 rings of 128 across racks, reduce-scatter of 2 MiB", LEAF_SPINE_8192,
	 "800Gb/s", RTO_800G_TWO_TIERS, RINGS_ACROSS_RACKS, 0},
};
#define CASES ((uint32_t)(sizeof(cases) / sizeof(*cases)))

static uint32_t cases_count(void)
{
	return CASES;
}

static const struct bench_case *cases_at(uint32_t index)
{
	check(index < CASES);
	return &cases[index];
}

static bool is_name(const char *word, size_t bytes)
{
	for (uint32_t i = 0; i < CASES; i++)
		if (strlen(cases[i].name) == bytes && memcmp(cases[i].name, word, bytes) == 0)
			return true;
	return false;
}

// Whether the word chooses the case.
static bool chooses(const char *word, size_t bytes, uint32_t index)
{
	const char *name = cases[index].name;
	if (bytes == 0 || strncmp(name, word, bytes) != 0)
		return false;
	return name[bytes] == '\0' || !is_name(word, bytes);
}

// Whether `words` (names with commas between them; NULL: all) choose the case: by its name, or, for
// a word that is no case's name, by how it begins.
static bool cases_is_chosen(uint32_t index, const char *words)
{
	if (words == NULL)
		return true;
	for (const char *word = words;; word++) {
		size_t bytes = strcspn(word, ",");
		if (chooses(word, bytes, index))
			return true;
		word += bytes;
		if (*word == '\0')
			return false;
	}
}

// The first of `words` that chooses nothing, with what follows it; NULL when there is none.
static const char *cases_unknown(const char *words)
{
	for (const char *word = words; word != NULL; word++) {
		size_t bytes = strcspn(word, ",");
		uint32_t index = 0;
		while (index < CASES && !chooses(word, bytes, index))
			index++;
		if (index == CASES)
			return word;
		word += bytes;
		if (*word == '\0')
			break;
	}
	return NULL;
}

// The case as a scenario file; CASE_TEXT_BYTES are enough. Returns its bytes.
static size_t cases_text(uint32_t index, char *ret, size_t bytes)
{
	const struct bench_case *one = cases_at(index);
	int length = snprintf(
		ret, bytes,
		"name: %s\ndescription: \"%s, %s\"\nseed: 13\nfabric:\n%s  link_rate: %s\n"
		"%s  rto: %s\ncc:\n  algorithm: nscc\n  htsim: true\ntraffic:\n%s",
		one->name, one->about, one->rate, one->fabric, one->rate, rules, one->rto,
		one->traffic);
	check(length > 0 && (size_t)length < bytes);
	return (size_t)length;
}

#define REPEAT_USUAL 5

// The worlds to run: their texts, and what came of them.
struct bench {
	const struct bench_options *options;
	uint32_t count;
	char **texts;
	size_t *bytes;
	struct figures *figures;
	json_t *then; // figures of --compare, or NULL
	struct refusal refusal;
};

static int say_no_memory(struct bench *bench)
{
	return refuse(&bench->refusal, -ENODEV, "no memory for the figures");
}

static int bench_room(struct bench *bench, uint32_t count)
{
	bench->texts = calloc(count, sizeof(*bench->texts));
	bench->bytes = calloc(count, sizeof(*bench->bytes));
	bench->figures = calloc(count, sizeof(*bench->figures));
	if (bench->texts == NULL || bench->bytes == NULL || bench->figures == NULL)
		return say_no_memory(bench);
	return 0;
}

static void bench_free(struct bench *bench)
{
	for (uint32_t i = 0; i < bench->count; i++)
		free(bench->texts[i]);
	free(bench->texts);
	free(bench->bytes);
	free(bench->figures);
	json_decref(bench->then);
}

// ---------------------------------------------------------------- what is run

static int take_scenario(struct bench *bench)
{
	struct data_file file;
	const char *name = bench->options->scenario_name;
	int rc = bench_room(bench, 1);
	if (rc == 0)
		rc = data_file_read(&file, DATA_PATH_SCENARIOS, name, &bench->refusal);
	if (rc < 0)
		return rc;
	bench->texts[0] = file.text;
	bench->bytes[0] = file.bytes;
	bench->count = 1;
	snprintf(bench->figures[0].name, FIGURES_NAME_BYTES, "%s", name);
	return 0;
}

static int take_case(struct bench *bench, uint32_t index)
{
	uint32_t i = bench->count;
	const struct bench_case *one = cases_at(index);
	bench->texts[i] = malloc(CASE_TEXT_BYTES);
	if (bench->texts[i] == NULL)
		return say_no_memory(bench);
	bench->bytes[i] = cases_text(index, bench->texts[i], CASE_TEXT_BYTES);
	snprintf(bench->figures[i].name, FIGURES_NAME_BYTES, "%s", one->name);
	bench->figures[i].htsim_instructions = one->htsim_instructions;
	bench->count++;
	return 0;
}

static int take_cases(struct bench *bench)
{
	int rc = bench_room(bench, cases_count());
	for (uint32_t i = 0; rc == 0 && i < cases_count(); i++)
		if (cases_is_chosen(i, bench->options->only))
			rc = take_case(bench, i);
	return rc;
}

// ---------------------------------------------------------------- the runs

// One run of each. A single run needs no process of its own.
static int run_all(struct bench *bench, long repeat)
{
	struct attempt attempt;
	bool is_apart = bench->count > 1 || repeat > 1;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < bench->count; i++) {
		struct figures *figures = &bench->figures[i];
		rc = attempt_run(figures->name, bench->texts[i], bench->bytes[i], is_apart,
				 &attempt, &bench->refusal);
		if (rc == 0)
			rc = figures_take(figures, &attempt, &bench->refusal);
	}
	return rc;
}

static int run_rounds(struct bench *bench)
{
	long repeat = bench->options->repeat > 0 ? bench->options->repeat : REPEAT_USUAL;
	int rc = 0;
	for (long i = 0; rc == 0 && i < repeat; i++) {
		if (isatty(STDERR_FILENO))
			outcome_bar("\rround %ld of %ld ", i + 1, repeat);
		rc = run_all(bench, repeat);
	}
	if (isatty(STDERR_FILENO))
		outcome_bar("\r%40s\r", "");
	for (uint32_t i = 0; rc == 0 && i < bench->count; i++)
		figures_conclude(&bench->figures[i]);
	return rc;
}

static void count_instructions(struct bench *bench)
{
	bool is_case = bench->options->scenario_name == NULL;
	for (uint32_t i = 0; i < bench->count; i++) {
		struct figures *figures = &bench->figures[i];
		figures->instructions = instructions_count(
			is_case ? "--only" : "--scenario",
			is_case ? figures->name : bench->options->scenario_name, figures->reason,
			sizeof(figures->reason));
	}
}

static int show(const struct bench *bench)
{
	const char *json = bench->options->json;
	bool is_shown = json == NULL || strcmp(json, "-") != 0;
	if (is_shown)
		figures_show(bench->figures, bench->count);
	if (is_shown && bench->then != NULL)
		compare_show(bench->then, bench->figures, bench->count);
	return json == NULL ? 0 : json_file_write(figures_json(bench->figures, bench->count), json);
}

static int status_of(int rc)
{
	return rc == -EIO ? EXIT_NOT_VALID : outcome_status(rc);
}

static int run_bench(struct bench *bench)
{
	const struct bench_options *options = bench->options;
	int rc = options->scenario_name != NULL ? take_scenario(bench) : take_cases(bench);
	if (rc == 0 && options->compare != NULL)
		rc = compare_read(options->compare, &bench->then, &bench->refusal);
	if (rc == 0 && json_file_check(options->json) != 0)
		return EXIT_BAD_INPUT;
	if (rc == 0)
		rc = run_rounds(bench);
	if (rc == 0 && options->has_instructions)
		count_instructions(bench);
	return rc < 0 ? say_refusal(&bench->refusal, status_of(rc)) : show(bench);
}

// `words`: the case that is none, and what stands behind it.
static int refuse_case(const char *words)
{
	char name[NEAR_WORD_BYTES];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(words, ","), words);
	struct near_word near_word = near_word_of(name);
	for (uint32_t i = 0; i < cases_count(); i++)
		near_word_see(&near_word, cases_at(i)->name);
	return bad_name("--list names the cases; there is no", &near_word);
}

int bench_sim(const struct bench_options *options)
{
	struct bench bench = {.options = options};
	const char *unknown = options->only != NULL ? cases_unknown(options->only) : NULL;
	if (unknown != NULL)
		return refuse_case(unknown);
	int status = run_bench(&bench);
	bench_free(&bench);
	return status;
}

// ---------------------------------------------------------------- questions

int bench_list(void)
{
	for (uint32_t i = 0; i < cases_count(); i++) {
		const struct bench_case *one = cases_at(i);
		printf("%-20s %s, %s\n", one->name, one->about, one->rate);
	}
	return 0;
}

int bench_show(const char *name)
{
	char text[CASE_TEXT_BYTES];
	for (uint32_t i = 0; i < cases_count(); i++)
		if (strcmp(cases_at(i)->name, name) == 0) {
			cases_text(i, text, sizeof(text));
			fputs(text, stdout);
			return 0;
		}
	return refuse_case(name);
}
