// SPDX-License-Identifier: Apache-2.0
// Every combination of transport, control, path, spray, lossless, trimming and marks that the keys
// allow runs under its name, or is refused by the name of a key. The values are those of the tables
// of keys, so a new one is here at once. Where a key changes nothing beside a value of another, the
// run warns. docs/combinations.md is what comes of it; with WEFT_WRITE=1 this test writes it.

#include <errno.h>

#include "../rig.h"

#include <weft/scenario/scenario_key.h>
#include <weft/world/world_warning.h>

#define KEYS 7
#define PATH 2 // the key whose last value is: not said
#define ROWS_MAX 65536
#define PAIRS_MIN 4 // as many pairs of runs that are the same tell that a key is moot

static const char *const paths[KEYS] = {"transport.kind", "cc.algorithm", "transport.path",
					"fabric.spray",	  "queue.pfc",	  "queue.trim",
					"queue.ecn"};

// Trunks that packets of six flows share, unevenly as entropy values are few, a last hop that all
// fill, and queues that overflow.
static const char small[] =
	"name: combinations\nfabric: {nics: 8, nics_per_t0: 2, t1_count: 4}\n"
	"queue: {bytes: 40kB, ecn_last_hop: true}\ntransport: {evs: 16}\n"
	"traffic: {kind: incast, senders: 6, bytes: 1MB}\nlimits: {time: 50ms}\n";

struct row {
	uint64_t digest;
	bool runs;
	uint32_t warned;      // bit of each warning in names
	uint32_t warned_keys; // bit of each key that a warning names
};

static const char *const *words[KEYS];
static uint32_t counts[KEYS], row_count;
static struct row rows[ROWS_MAX];
static const char *names[WORLD_WARNINGS_MAX];

static uint32_t step_of(uint32_t key)
{
	uint32_t step = 1;
	for (uint32_t i = 0; i < key; i++)
		step *= counts[i];
	return step;
}

static uint32_t value_of(uint32_t row, uint32_t key)
{
	return row / step_of(key) % counts[key];
}

// NULL: not said.
static const char *word(uint32_t key, uint32_t value)
{
	return words[key][value];
}

static void read_tables(void)
{
	row_count = 1;
	for (uint32_t k = 0; k < KEYS; k++) {
		for (const struct scenario_key *key = scenario_keys(); key->path != NULL; key++)
			if (strcmp(key->path, paths[k]) == 0)
				words[k] = key->words;
		assert_non_null(words[k]);
		while (words[k][counts[k]] != NULL)
			counts[k]++;
		counts[k] += k == PATH;
		row_count *= counts[k];
	}
	assert_true(row_count <= ROWS_MAX);
}

// ---------------------------------------------------------------- runs

static uint32_t bit_of(const char *name)
{
	for (uint32_t i = 0; i < WORLD_WARNINGS_MAX; i++) {
		if (names[i] == NULL)
			names[i] = name;
		if (strcmp(names[i], name) == 0)
			return 1u << i;
	}
	fail_msg("more warnings than places");
	return 0;
}

static void note_warnings(struct row *row, const struct world *world)
{
	struct world_warning of[WORLD_WARNINGS_MAX];
	uint32_t count = world_warnings(world, of);
	for (uint32_t i = 0; i < count; i++) {
		row->warned |= bit_of(of[i].name);
		for (uint32_t k = 0; k < KEYS; k++)
			if (strstr(of[i].text, paths[k]) != NULL)
				row->warned_keys |= 1u << k;
	}
}

static void same_name(uint32_t row, uint32_t key, const char *ran)
{
	const char *asked = word(key, value_of(row, key));
	if (asked != NULL && strcmp(asked, ran) != 0)
		fail_msg("row %u: %s: %s ran in place of %s", row, paths[key], ran, asked);
}

// What ran is what was asked for, as a result has it.
static void check_names(uint32_t row, const struct world *world)
{
	same_name(row, 0, scenario_word(paths[0], world->transport.kind));
	same_name(row, 1, world->transport.cc.name);
	same_name(row, 2, scenario_word(paths[2], world->transport.path_policy));
	same_name(row, 3, scenario_word(paths[3], world->fabric.spray));
	same_name(row, 4, world->fabric.pfc.is_on ? "true" : "false");
	same_name(row, 5, world->fabric.trim_on ? "true" : "false");
	same_name(row, 6, world->fabric.ecn_on ? "true" : "false");
}

static void check_refusal(uint32_t row, const char *text)
{
	for (uint32_t k = 0; k < KEYS; k++)
		if (strncmp(text, paths[k], strlen(paths[k])) == 0)
			return;
	fail_msg("row %u is refused without the name of a key: %s", row, text);
}

static void run_row(uint32_t row)
{
	static struct rig rig;
	char text[KEYS][64];
	const char *sets[KEYS + 1] = {NULL};
	uint32_t count = 0;
	for (uint32_t k = 0; k < KEYS; k++) {
		const char *value = word(k, value_of(row, k));
		if (value == NULL)
			continue;
		snprintf(text[k], sizeof(text[k]), "%s=%s", paths[k], value);
		sets[count++] = text[k];
	}
	if (rig_build(&rig, small, sets) < 0) {
		check_refusal(row, rig.refusal.text);
		return;
	}
	check_names(row, &rig.world_instance.world);
	note_warnings(&rows[row], &rig.world_instance.world);
	sim_run(rig.world_instance.sim, &rig.run);
	assert_int_equal(rig.run.end, RUN_DONE);
	rows[row].digest = rig.run.digest;
	rows[row].runs = true;
	world_instance_free(&rig.world_instance);
}

static void each_runs_under_its_name_or_is_refused_by_a_key(void **)
{
	uint32_t runs = 0;
	read_tables();
	for (uint32_t row = 0; row < row_count; row++) {
		run_row(row);
		runs += rows[row].runs;
	}
	printf("%u combinations, of which %u run\n", row_count, runs);
	assert_true(runs > 1000);
	for (uint32_t k = 0; k < KEYS; k++) // each value runs somewhere
		for (uint32_t value = 0; value < counts[k]; value++) {
			bool is_run = false;
			for (uint32_t row = 0; row < row_count; row++)
				is_run |= rows[row].runs && value_of(row, k) == value;
			assert_true(is_run);
		}
}

// ---------------------------------------------------------------- keys that change nothing

// Rows that differ in `key` alone, of which one has `value` and the other `other`, and that have
// `at` of `beside`: those that both run, and of these the same ones, and the same ones without a
// warning that names the key.
static void count_pairs(uint32_t key, uint32_t value, uint32_t other, uint32_t beside, uint32_t at,
			uint32_t ret[3])
{
	ret[0] = ret[1] = ret[2] = 0;
	for (uint32_t row = 0; row < row_count; row++) {
		if (value_of(row, key) != value || value_of(row, beside) != at || !rows[row].runs)
			continue;
		const struct row *twin = &rows[row + (other - value) * step_of(key)];
		uint32_t warned = rows[row].warned_keys | twin->warned_keys;
		bool is_same = twin->runs && twin->digest == rows[row].digest;
		ret[0] += twin->runs;
		ret[1] += is_same;
		ret[2] += is_same && !(warned & 1u << key);
	}
}

static void where_a_key_changes_nothing_the_run_warns(void **)
{
	uint32_t failed = 0, pairs[3];
	for (uint32_t key = 0; key < KEYS; key++)
		for (uint32_t value = 0; word(key, value) != NULL; value++)
			for (uint32_t other = value + 1; word(key, other) != NULL; other++)
				for (uint32_t beside = 0; beside < KEYS; beside++)
					for (uint32_t at = 0; at < counts[beside]; at++) {
						if (beside == key)
							continue;
						count_pairs(key, value, other, beside, at, pairs);
						if (pairs[0] < PAIRS_MIN || pairs[1] < pairs[0] ||
						    pairs[2] == 0)
							continue;
						printf("%s: %s and %s are one beside %s %s\n",
						       paths[key], word(key, value),
						       word(key, other), paths[beside],
						       word(beside, at));
						failed++;
					}
	assert_int_equal(failed, 0);
}

// ---------------------------------------------------------------- the page

// What rows with these two values come to.
static void write_cell(FILE *to, uint32_t a, uint32_t value, uint32_t b, uint32_t other)
{
	uint32_t runs = 0, warned = ~0u;
	for (uint32_t row = 0; row < row_count; row++)
		if (rows[row].runs && value_of(row, a) == value && value_of(row, b) == other) {
			runs++;
			warned &= rows[row].warned;
		}
	fputs(runs == 0 ? " refused" : warned == 0 ? " runs" : " warns:", to);
	for (uint32_t i = 0; runs > 0 && i < WORLD_WARNINGS_MAX; i++)
		if (names[i] != NULL && warned & 1u << i)
			fprintf(to, " %s", names[i]);
	fputs(" |", to);
}

static void write_table(FILE *to, uint32_t a, uint32_t b)
{
	fprintf(to, "\n| `%s` \\ `%s` |", paths[a], paths[b]);
	for (uint32_t other = 0; word(b, other) != NULL; other++)
		fprintf(to, " %s |", word(b, other));
	fputs("\n|---|", to);
	for (uint32_t other = 0; word(b, other) != NULL; other++)
		fputs("---|", to);
	for (uint32_t value = 0; word(a, value) != NULL; value++) {
		fprintf(to, "\n| %s |", word(a, value));
		for (uint32_t other = 0; word(b, other) != NULL; other++)
			write_cell(to, a, value, b, other);
	}
	fputc('\n', to);
}

static void write_page(FILE *to)
{
	fputs("# What goes together\n\n"
	      "Each cell is about all runs with these two values, whatever the other keys below "
	      "say: `refused`, the message names the\n"
	      "key; `warns`, each of them runs with a warning of that name ([result.md]"
	      "(result.md)); `runs`, at least one does without.\n"
	      "Nothing is replaced: a result has the names that were asked for. "
	      "`tests/golden/all_combinations.c` runs them all, and\n"
	      "writes this page.\n",
	      to);
	for (uint32_t b = 1; b < KEYS; b++)
		for (uint32_t a = 0; a < b; a++)
			write_table(to, b, a);
}

static void the_page_says_so(void **)
{
	char path[1024], *page = NULL, *kept = NULL;
	size_t bytes = 0, kept_bytes = 0;
	struct refusal refusal = {0};
	snprintf(path, sizeof(path), "%s/docs/combinations.md", getenv("WEFT_SOURCE"));
	FILE *to = open_memstream(&page, &bytes);
	assert_non_null(to);
	write_page(to);
	fclose(to);
	if (getenv("WEFT_WRITE") != NULL) {
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		fputs(page, file);
		fclose(file);
	}
	assert_int_equal(file_read(path, 1 << 20, &kept, &kept_bytes, &refusal), 0);
	if (kept_bytes != bytes || memcmp(kept, page, bytes) != 0)
		fail_msg("docs/combinations.md is not what runs: write it with WEFT_WRITE=1");
	free(kept);
	free(page);
}

// ---------------------------------------------------------------- what hangs on no word

static void warned(const char *yaml, const char *name, bool holds)
{
	static struct rig rig;
	struct world_warning of[WORLD_WARNINGS_MAX];
	bool is_there = false;
	if (rig_build(&rig, yaml, NULL) < 0)
		fail_msg("refused: %s", rig.refusal.text);
	for (uint32_t i = world_warnings(&rig.world_instance.world, of); i > 0; i--)
		is_there |= strcmp(of[i - 1].name, name) == 0;
	world_instance_free(&rig.world_instance);
	if (is_there != holds)
		fail_msg("%s: %s a warning\n%s", name, holds ? "needs" : "is no", yaml);
}

// Of each kind of fabric, one that can be bought and one that cannot.
static void a_switch_that_nobody_sells_is_warned_about(void **)
{
#define TRAFFIC "traffic: {kind: permutation, bytes: 4kB}\n"
#define SWITCH(of, holds) warned("name: a\nfabric: {" of "}\n" TRAFFIC, "switch-size", holds)
	SWITCH("topology: rail, nics: 1024, t1_count: 0", false); // 1,024 lanes of 100 Gb/s
	SWITCH("topology: rail, nics: 1025, t1_count: 0", true);
	SWITCH("topology: rail, nics: 512, t1_count: 0, link_rate: 200Gb/s", false); // or 512
	SWITCH("topology: rail, nics: 513, t1_count: 0, link_rate: 200Gb/s", true);
	SWITCH("topology: rail, nics: 256, t1_count: 0, link_rate: 400Gb/s", false);
	SWITCH("topology: rail, nics: 257, t1_count: 0, link_rate: 400Gb/s", true);
	SWITCH("topology: rail, nics: 600, t1_count: 0, link_rate: 150Gb/s", true); // 90 Tb/s
	SWITCH("topology: rail, nics: 512, t1_count: 0, link_rate: 150Gb/s", false);
	SWITCH("topology: rail, nics: 1025, t1_count: 0, link_rate: 10Gb/s", true); // a lane each
	SWITCH("nics: 1024, nics_per_t0: 512, t1_count: 512", false);
	SWITCH("nics: 1024, nics_per_t0: 512, t1_count: 513", true);
	SWITCH("topology: leaf-spine, nics: 2050, nics_per_t0: 2, t1_count: 1", true);
	SWITCH("topology: fat-tree, nics: 2048, tor_nics: 1024, pod_tors: 1, pod_aggs: 1, cores: 1",
	       true);
	SWITCH("topology: dumbbell, nics: 2046, bundle: 1", false);
	SWITCH("topology: dumbbell, nics: 2048, bundle: 1", true);
	SWITCH("topology: torus, nics: 2044, nics_per_t0: 1022, torus_x: 2, torus_y: 1", false);
	SWITCH("topology: torus, nics: 2048, nics_per_t0: 1024, torus_x: 2, torus_y: 1", true);
	SWITCH("topology: graph, nics: 1025, nodes: [{name: a, nics: 1025}]", true);
	SWITCH("topology: graph, nics: 1024, nodes: [{name: a, nics: 1024}]", false);
}

static void marks_at_the_last_hop_are_missed_with_rc(void **)
{
#define RC \
	"name: a\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\ntransport: {kind: rc}\n" \
	"cc: {algorithm: dcqcn}\n" TRAFFIC
	warned(RC, "no-last-hop-marks", true);
	warned(RC "queue: {ecn_last_hop: true}\n", "no-last-hop-marks", false);
	warned(RC "queue: {ecn: false}\n", "no-last-hop-marks", false);
}

#define SMALL "name: a\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 2}\n" TRAFFIC

// A window in bytes beside the most packets in flight: the larger one is not what holds.
static void a_window_that_mpr_cuts_is_warned_about(void **)
{
#define WINDOW(of, holds) warned(SMALL of, "window-above-mpr", holds)
	WINDOW("", false);
	WINDOW("transport: {mpr: 4096}\ncc: {algorithm: fixed, window: 17031kB}\n", false);
	WINDOW("transport: {mpr: 4096}\ncc: {algorithm: fixed, window: 17441kB}\n", true);
	WINDOW("cc: {algorithm: fixed, window: 17441kB}\n", false); // auto grows with it
	WINDOW("cc: {max_window: 1GB}\n", true);
	WINDOW("cc: {max_window: 1GB, context: destination}\n", false); // of several QPs
	WINDOW("transport: {mpr: 64}\ncc: {base_rtt: 1ms}\n", true);	// auto
	WINDOW("transport: {kind: rc}\ncc: {algorithm: dcqcn}\n", false);
	WINDOW("transport: {kind: rc}\ncc: {algorithm: dcqcn, max_window: 1GB}\n", true);
}

// What a user sets below what the line holds, and what no setting cures.
static void a_flow_below_its_line_is_warned_about(void **)
{
#define BELOW(of, holds) warned(SMALL of, "below-line", holds)
	BELOW("", false);
	BELOW("transport: {mpr: 64}\n", false); // 273 kB, and the line holds 170 kB
	BELOW("transport: {mpr: 64}\ncc: {base_rtt: 1ms}\n", true);
	BELOW("cc: {max_window: 60kB}\n", true);
	BELOW("cc: {algorithm: fixed, window: 60kB}\n", true);
	BELOW("cc: {algorithm: fixed, window: 60kB}\ntransport: {qps_per_connection: 8}\n", false);
	BELOW("transport: {sack_bytes: 256kB}\n", false); // the window is as much larger
	BELOW("transport: {kind: rc}\ncc: {algorithm: dcqcn}\n", false);
	BELOW("transport: {kind: rc, mpr: 64}\ncc: {algorithm: dcqcn, base_rtt: 1ms}\n", true);
}

// With PFC a queue is as deep as what its peers may send before they pause.
static void marks_above_what_pfc_holds_are_warned_about(void **)
{
#define MARKS(of, holds) warned(SMALL "queue: {" of "}\n", "ecn-above-xoff", holds)
	MARKS("pfc: true", false);
	MARKS("pfc: true, ecn_low: 100MB, ecn_high: 200MB", true);
	MARKS("pfc: true, ecn: false", false);
	MARKS("pfc: true, pfc_xoff: 200MB, ecn_low: 100MB, ecn_high: 200MB", false);
}

static uint64_t digest_of(const char *spray, const char *path, bool *ret_warned)
{
	static struct rig rig;
	char text[2][64];
	struct world_warning of[WORLD_WARNINGS_MAX];
	snprintf(text[0], sizeof(text[0]), "fabric.spray=%s", spray);
	snprintf(text[1], sizeof(text[1]), "transport.path=%s", path);
	rig_run(&rig, small, (const char *const[]){"fabric.planes=2", text[0], text[1], NULL});
	*ret_warned = world_warnings(&rig.world_instance.world, of) == 1 &&
		strcmp(of[0].name, "path-unused") == 0;
	world_instance_free(&rig.world_instance);
	return rig.run.digest;
}

// With several planes an EV still says which, so that only paths that are one run are warned about.
// With flowlets of switches those that take another EV for each packet may come to the same dice in
// one run, and do not in the next.
static void over_planes_paths_that_are_one_run_are_warned_about(void **)
{
	for (const char *const *spray = words[3]; *spray != NULL; spray++)
		for (const char *const *path = words[PATH]; *path != NULL; path++) {
			bool is_warned, is_other_warned, is_one = false;
			uint64_t digest = digest_of(*spray, *path, &is_warned);
			for (const char *const *other = words[PATH]; *other != NULL; other++)
				is_one |= other != path &&
					digest_of(*spray, *other, &is_other_warned) == digest;
			bool has_flowlets = strcmp(*spray, "flowlet") == 0;
			if (is_one != is_warned && !(has_flowlets && !is_warned))
				fail_msg("fabric.spray %s, transport.path %s: %s", *spray, *path,
					 is_one ? "another is the same run"
						: "it is a run of its own");
		}
}

static void refused(const char *yaml, const char *text)
{
	static struct rig rig;
	if (rig_build(&rig, yaml, NULL) >= 0)
		fail_msg("not refused: %s", yaml);
	if (strstr(rig.refusal.text, text) == NULL)
		fail_msg("%s\nis refused with: %s", yaml, rig.refusal.text);
}

// A figure that cannot be kept is refused by its name, or warned about: none is cut in silence.
static void no_figure_is_cut_in_silence(void **)
{
	warned(SMALL "transport: {kind: rc, evs: 32768}\ncc: {algorithm: fixed}\n", "fewer-evs",
	       true);
	warned(SMALL "transport: {kind: rc, evs: 16384}\ncc: {algorithm: fixed}\n", "fewer-evs",
	       false);
	warned(SMALL "transport: {rto: 1us}\n", "rto-below-rtt", true);
	warned(SMALL "transport: {rto: 20us}\n", "rto-below-rtt", false);
#define EIGHT(more) \
	"name: a\nfabric: {nics: 32, nics_per_t0: 8, t1_count: 8, planes: 2" more "}\n" TRAFFIC
	warned(EIGHT("") "transport: {evs: 8}\n", "few-evs", true);
	warned(EIGHT("") "transport: {evs: 16}\n", "few-evs", false);
	warned(EIGHT(", trunk_rate: 200Gb/s") "transport: {evs: 4}\n", "few-evs", false);
	warned(EIGHT(", trunk_rate: 200Gb/s") "transport: {evs: 2}\n", "few-evs", true);
	warned(EIGHT(", spray: adaptive") "transport: {evs: 2}\n", "few-evs", false);
	warned(EIGHT("") "transport: {evs: 2, path: single}\n", "few-evs", false);
	warned(SMALL "transport: {evs: 4}\n", "few-evs", false);
	warned(SMALL "transport: {evs: 2}\n", "few-evs", true);
	refused(SMALL "limits: {window: 501ns}\n", "limits.window: a window of 501000 ps");
	refused(SMALL "queue: {ecn_low: 200kB, ecn_high: 300kB}\n",
		"queue.ecn_low: 200000 B is never reached in a queue of ");
	refused(SMALL "transport: {mpr: 32768}\n", "transport.mpr: `32768` is too large");
	refused(SMALL "transport: {sends: 65536}\n", "transport.sends: `65536` is too large");
	refused(SMALL "transport: {kind: rc}\ncc: {algorithm: dcqcn, rate_ai: 101Gb/s}\n",
		"cc.rate_ai: 101000000000 b/s is above fabric.link_rate");
	warned(SMALL "limits: {window: 500ns}\n", "switch-size", false); // the lookahead
	warned(SMALL "queue: {ecn_low: 200kB, ecn_high: 300kB, last_hop_bytes: 400kB}\n",
	       "switch-size", false);
	warned(SMALL "queue: {ecn_low: 200kB, ecn_high: 300kB, pfc: true}\n", "switch-size", false);
}
