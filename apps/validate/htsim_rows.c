// SPDX-License-Identifier: Apache-2.0
// The rows of htsim's summary as worlds that are run here: its traffic matrices, in its rules, or
// in others that are set on top.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate.h"

#define MATRICES 10
#define FLOWS_MAX 128
#define FILE_BYTES_MAX ((size_t)1 << 20)
#define SETS 6 // that make a row, and the seed

static const char world[] =
	"name: htsim\n"
	"fabric: {topology: fat-tree, nics: 128, tor_nics: 4, pod_tors: 4, pod_aggs: 4, cores: 16, "
	"nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"queue: {ecn_last_hop: true, trim_bytes: 64B, trim_choice: coin, counts: line, "
	"slow: scaled}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 128, sack_rule: htsim, "
	"completion: sack, hole_age: off, rtt: once}\n"
	"traffic: {kind: matrix, matrix: as-given}\n";
static const char sender_cc[] = "cc: {algorithm: nscc, htsim: true}\n";
#define CC_BYTES_MAX 64

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
} rows[HTSIM_ROWS] = {
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

const char *htsim_row_name(uint32_t row)
{
	return rows[row].name;
}

static ps_t quantile(const ps_t *sorted, uint32_t count, uint32_t percent)
{
	return sorted[(count * percent + 99) / 100 - 1]; // nearest rank, as the summary has it
}

void htsim_figures_of(const struct trial *trial, const ps_t *times, double *ret)
{
	uint32_t flows = trial->stage.world.flow_count;
	const struct transport_counters *transport = &trial->outcome->transport;
	ret[HTSIM_P50] = (double)quantile(times, flows, 50) / 1e6;
	ret[HTSIM_P99] = (double)quantile(times, flows, 99) / 1e6;
	ret[HTSIM_MAX] = (double)times[flows - 1] / 1e6;
	ret[HTSIM_RTX] = 0;
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		ret[HTSIM_RTX] += (double)transport->rtx[reason];
	ret[HTSIM_ACKS] = (double)transport->sacks_received;
}

static int run_once(const struct htsim_world *of, const char *matrix, uint32_t seed,
		    double ret[HTSIM_FIGURES], struct refusal *refusal)
{
	const struct row *row = &rows[of->row];
	static struct trial trial;
	ps_t times[FLOWS_MAX];
	char own[SETS][64];
	const char *sets[SETS + HTSIM_RULES_MAX + 1];
	snprintf(own[0], sizeof(own[0]), "fabric.link_rate=%s", row->rate);
	snprintf(own[1], sizeof(own[1]), "transport.rto=%s", row->rto);
	snprintf(own[2], sizeof(own[2]), "transport.path=%s", row->path);
	snprintf(own[3], sizeof(own[3]), "transport.sack_bytes=%s", row->sack_bytes);
	snprintf(own[4], sizeof(own[4]), "fabric.spray=%s", row->spray);
	snprintf(own[5], sizeof(own[5]), "seed=%u", seed);
	uint32_t count = 0;
	while (count < SETS) {
		sets[count] = own[count];
		count++;
	}
	for (uint32_t i = 0; i < HTSIM_RULES_MAX && of->rules[i] != NULL; i++)
		sets[count++] = of->rules[i];
	sets[count] = NULL;
	char text[sizeof(world) + sizeof(failed) + CC_BYTES_MAX];
	snprintf(text, sizeof(text), "%s%s%s", world, of->cc != NULL ? of->cc : sender_cc,
		 row->faults);
	int rc = trial_run(&trial, text, sets, matrix, refusal);
	if (rc < 0)
		return rc;
	check(trial.stage.world.flow_count <= FLOWS_MAX);
	trial_flow_times(&trial, times);
	htsim_figures_of(&trial, times, ret);
	trial_end(&trial);
	return 0;
}

// Gives each message of a matrix another size. `ret` has room for a matrix.
static void resize(const char *matrix, uint32_t message_bytes, char *ret)
{
	static const char word[] = "size ";
	for (const char *at; (at = strstr(matrix, word)) != NULL;) {
		at += sizeof(word) - 1;
		memcpy(ret, matrix, (size_t)(at - matrix));
		ret += at - matrix;
		ret += sprintf(ret, "%u", message_bytes);
		matrix = at + strspn(at, "0123456789");
	}
	strcpy(ret, matrix);
}

// The matrix of a seed; the caller frees it.
static int read_matrix(const struct choice *choice, const struct htsim_world *of, uint32_t seed,
		       char **ret, struct refusal *refusal)
{
	char path[1024];
	size_t bytes;
	snprintf(path, sizeof(path), "%s/matrices/%s_s%u.cm", choice->data, rows[of->row].matrix,
		 seed);
	int rc = file_read(path, FILE_BYTES_MAX, ret, &bytes, refusal);
	if (rc < 0 || of->message_bytes == 0)
		return rc;
	char *text = malloc(bytes + FLOWS_MAX * 10 + 1); // each size has up to 10 digits
	if (text != NULL)
		resize(*ret, of->message_bytes, text);
	free(*ret);
	*ret = text;
	return text != NULL ? 0 : refuse(refusal, -ENOMEM, "no memory for a matrix", 0, 0, 0);
}

int htsim_row_run(const struct choice *choice, const struct htsim_world *of,
		  double (*ret)[HTSIM_FIGURES], struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t seed = 1; rc == 0 && seed <= choice->matrices; seed++) {
		char *matrix;
		rc = read_matrix(choice, of, seed, &matrix, refusal);
		if (rc < 0)
			return rc;
		for (uint32_t i = 0; rc == 0 && i < choice->per_matrix; i++)
			rc = run_once(of, matrix, seed + i * MATRICES, *ret++, refusal);
		free(matrix);
	}
	return rc;
}
