// SPDX-License-Identifier: Apache-2.0
// htsim's own results over ten seeds against the same traffic matrices in htsim's rules. Both sides
// roll dice, so means are compared, and each matrix is run more than once here.
//
// Tolerances: p50 1 %, p99 and max 2 %, or three standard errors of htsim's mean of ten where that
// is more; retransmissions 15 % or 10 packets; ACKs 5 %.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate.h"

#define MATRICES 10
#define FLOWS_MAX 128
#define FILE_BYTES_MAX ((size_t)1 << 20)

static const char world[] =
	"name: htsim\n"
	"fabric: {topology: fat-tree, nics: 128, tor_nics: 4, pod_tors: 4, pod_aggs: 4, cores: 16, "
	"nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"queue: {ecn_last_hop: true, trim_bytes: 64B, trim_choice: coin, slow: scaled}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 128, sack_rule: htsim, "
	"completion: sack, hole_age: off}\n"
	"cc: {algorithm: nscc, htsim: true}\n"
	"traffic: {kind: matrix, matrix: as-given}\n";

// htsim's "-failed 4": the four links into aggregation switch 0, downwards, at a quarter of the
// rate, their queues and marks with them.
static const char failed[] =
	"faults:\n"
	"  - {kind: slow, at: {t1: 0, up: 0, plane: 0}, way: down, rate: 25%}\n"
	"  - {kind: slow, at: {t1: 0, up: 1, plane: 0}, way: down, rate: 25%}\n"
	"  - {kind: slow, at: {t1: 0, up: 2, plane: 0}, way: down, rate: 25%}\n"
	"  - {kind: slow, at: {t1: 0, up: 3, plane: 0}, way: down, rate: 25%}\n";

// A row of htsim's summary that can be run here.
static const struct row {
	const char *name, *matrix;
	const char *rate, *rto; // min RTO: 15 us and six full queues
	const char *path, *sack_bytes;
	const char *spray;
	const char *faults; // their section, or nothing
} rows[] = {
	{"perm100g_oblivious", "perm_128_2MB", "100Gb/s", "100.656us", "rotate", "16384B", "hash",
	 ""},
	{"perm100g_bitmap", "perm_128_2MB", "100Gb/s", "100.656us", "bitmap", "16384B", "hash", ""},
	{"perm100g_reps_sack1", "perm_128_2MB", "100Gb/s", "100.656us", "reps", "1B", "hash", ""},
	{"perm100g_reps_legacy_sack1", "perm_128_2MB", "100Gb/s", "100.656us", "reps_legacy", "1B",
	 "hash", ""},
	{"perm100g_mixed", "perm_128_2MB", "100Gb/s", "100.656us", "mixed", "16384B", "hash", ""},
	{"perm100g_mixed_sack1", "perm_128_2MB", "100Gb/s", "100.656us", "mixed", "1B", "hash", ""},
	{"perm100g_ecmp", "perm_128_2MB", "100Gb/s", "100.656us", "single", "16384B", "hash", ""},
	{"perm100g_ecmp_rr", "perm_128_2MB", "100Gb/s", "100.656us", "single", "16384B",
	 "round_robin", ""},
	{"incast8_100g_mixed", "incast_128_8to1_1MiB", "100Gb/s", "100.656us", "mixed", "16384B",
	 "hash", ""},
	{"incast32_100g_mixed", "incast_128_32to1_1MiB", "100Gb/s", "100.656us", "mixed", "16384B",
	 "hash", ""},
	{"perm100g_failed4_mixed_sack1", "perm_128_2MB", "100Gb/s", "100.656us", "mixed", "1B",
	 "hash", failed},
	{"perm100g_failed4_reps_sack1", "perm_128_2MB", "100Gb/s", "100.656us", "reps", "1B",
	 "hash", failed},
	{"perm400g_mixed", "perm_128_2MB", "400Gb/s", "90.198us", "mixed", "16384B", "hash", ""},
	{"perm800g_mixed", "perm_128_2MB", "800Gb/s", "88.704us", "mixed", "16384B", "hash", ""},
};

// What is compared, in the order of the summary's columns.
enum figure { P50, P99, MAX, RTX, ACKS, FIGURES };
static const char *const figure_names[FIGURES] = {"p50", "p99", "max", "rtx", "acks"};

// ---------------------------------------------------------------- the summary

// The text of column `name` in the line that begins with `row`; NULL when there is none.
static const char *cell(const char *text, const char *row, const char *name)
{
	size_t name_bytes = strlen(name), row_bytes = strlen(row);
	uint32_t column = 0;
	const char *at = text;
	for (;; at++, column++) { // the first line names the columns
		size_t bytes = strcspn(at, ",\r\n");
		if (bytes == name_bytes && memcmp(at, name, bytes) == 0)
			break;
		at += bytes;
		if (*at != ',')
			return NULL;
	}
	for (const char *line = text; (line = strchr(line, '\n')) != NULL;) {
		line++;
		if (strncmp(line, row, row_bytes) != 0 || line[row_bytes] != ',')
			continue;
		for (; column > 0; column--) {
			line += strcspn(line, ",\r\n");
			if (*line++ != ',')
				return NULL;
		}
		return line;
	}
	return NULL;
}

static int read_cell(const char *text, const char *row, const char *figure, const char *what,
		     double *ret, struct refusal *refusal)
{
	char name[32], *end;
	snprintf(name, sizeof(name), "%s_%s", figure, what);
	const char *at = cell(text, row, name);
	if (at != NULL)
		*ret = strtod(at, &end);
	if (at == NULL || end == at)
		return refuse(refusal, -EINVAL, "the summary lacks a row or a column", 0, 0, 0);
	return 0;
}

// ---------------------------------------------------------------- runs

static ps_t quantile(const ps_t *sorted, uint32_t count, uint32_t percent)
{
	return sorted[(count * percent + 99) / 100 - 1]; // nearest rank, as the summary has it
}

// Adds one run's figures to `sums`.
static int add_run(const struct row *row, const char *matrix, uint32_t seed, double sums[FIGURES],
		   struct refusal *refusal)
{
	static struct trial trial;
	char sets[6][64];
	snprintf(sets[0], sizeof(sets[0]), "fabric.link_rate=%s", row->rate);
	snprintf(sets[1], sizeof(sets[1]), "transport.rto=%s", row->rto);
	snprintf(sets[2], sizeof(sets[2]), "transport.path=%s", row->path);
	snprintf(sets[3], sizeof(sets[3]), "transport.sack_bytes=%s", row->sack_bytes);
	snprintf(sets[4], sizeof(sets[4]), "fabric.spray=%s", row->spray);
	snprintf(sets[5], sizeof(sets[5]), "seed=%u", seed);
	char text[sizeof(world) + sizeof(failed)];
	snprintf(text, sizeof(text), "%s%s", world, row->faults);
	int rc = trial_run(
		&trial, text,
		(const char *const[]){sets[0], sets[1], sets[2], sets[3], sets[4], sets[5], NULL},
		matrix, refusal);
	if (rc < 0)
		return rc;
	ps_t times[FLOWS_MAX];
	uint32_t flows = trial.stage.world.flow_count;
	check(flows <= FLOWS_MAX);
	trial_flow_times(&trial, times);
	const struct transport_counters *transport = &trial.outcome->transport;
	sums[P50] += (double)quantile(times, flows, 50) / 1e6;
	sums[P99] += (double)quantile(times, flows, 99) / 1e6;
	sums[MAX] += (double)times[flows - 1] / 1e6;
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		sums[RTX] += (double)transport->rtx[reason];
	sums[ACKS] += (double)transport->sacks_received;
	trial_end(&trial);
	return 0;
}

// All runs of a row; the means go to `means`.
static int run_row(const struct choice *choice, const struct row *row, double means[FIGURES],
		   struct refusal *refusal)
{
	uint32_t runs = choice->matrices * choice->per_matrix;
	memset(means, 0, FIGURES * sizeof(*means));
	for (uint32_t seed = 1; seed <= choice->matrices; seed++) {
		char path[1024], *matrix;
		size_t bytes;
		snprintf(path, sizeof(path), "%s/matrices/%s_s%u.cm", choice->data, row->matrix,
			 seed);
		int rc = file_read(path, FILE_BYTES_MAX, &matrix, &bytes, refusal);
		for (uint32_t i = 0; rc == 0 && i < choice->per_matrix; i++)
			rc = add_run(row, matrix, seed + i * MATRICES, means, refusal);
		if (rc < 0)
			return rc;
		free(matrix);
	}
	for (int figure = 0; figure < FIGURES; figure++)
		means[figure] /= runs;
	return 0;
}

// ---------------------------------------------------------------- tolerances

static void tolerate(struct claim *claim, enum figure figure, double sd)
{
	double share = figure == P50 ? 0.01 : figure == ACKS ? 0.05 : figure == RTX ? 0.15 : 0.02;
	double errors = 3 * sd / sqrt(MATRICES);
	claim->tolerance = share * claim->expected;
	snprintf(claim->why, sizeof(claim->why), "%.0f %%", share * 100);
	if (figure == RTX && claim->tolerance < 10) {
		claim->tolerance = 10;
		snprintf(claim->why, sizeof(claim->why), "10 packets");
	}
	if (figure <= MAX && claim->tolerance < errors) {
		claim->tolerance = errors;
		snprintf(claim->why, sizeof(claim->why), "3 standard errors");
	}
}

static int compare_row(const struct choice *choice, const char *summary, const struct row *row,
		       struct claims *claims, struct refusal *refusal)
{
	double means[FIGURES];
	int rc = run_row(choice, row, means, refusal);
	for (int figure = 0; rc == 0 && figure < FIGURES; figure++) {
		struct claim claim = {.source = "htsim, ten seeds",
				      .unit = figure <= MAX ? "us" : "packets",
				      .measured = means[figure]};
		double sd = 0;
		snprintf(claim.name, sizeof(claim.name), "htsim-%s-%s", row->name,
			 figure_names[figure]);
		rc = read_cell(summary, row->name, figure_names[figure], "mean", &claim.expected,
			       refusal);
		if (rc == 0)
			rc = read_cell(summary, row->name, figure_names[figure], "sd", &sd,
				       refusal);
		if (rc < 0)
			return rc;
		tolerate(&claim, (enum figure)figure, sd);
		claims_add(claims, &claim);
	}
	return rc;
}

int htsim_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	char path[1024], name[64], *summary;
	size_t bytes;
	snprintf(path, sizeof(path), "%s/summary.csv", choice->data);
	int rc = file_read(path, FILE_BYTES_MAX, &summary, &bytes, refusal);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(name, sizeof(name), "htsim-%s", rows[i].name);
		if (choice_takes(choice, name))
			rc = compare_row(choice, summary, &rows[i], claims, refusal);
	}
	if (rc == -EINVAL && refusal->file[0] == '\0')
		snprintf(refusal->file, sizeof(refusal->file), "%.250s", path);
	free(summary);
	return rc;
}
