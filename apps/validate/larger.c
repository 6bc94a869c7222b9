// SPDX-License-Identifier: Apache-2.0
// Runs of htsim's whose matrices are not known, but by their kind: permutations of 1,024 and 8,192
// NICs on two and three tiers, and incasts at 100 and 400 Gb/s. Of each one run of htsim's is
// known. weft draws its own permutations and senders. The rule is that of the rows; the standard
// error of one run is the deviation of single runs, here that of weft's seeds: htsim's of these is
// not known. It holds for retransmissions, too, where they are some tens: the notes beside htsim's
// results ask for that, as these are rare events.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "validate.h"

#define FLOWS_MAX 8192
#define RARE 100 // retransmissions

// A figure more than the rows have: the mean of all completion times.
enum { MEAN = HTSIM_FIGURES, FIGURES };

static const char *const figure_names[FIGURES] = {"p50", "p99", "max", "rtx", "acks", "mean"};

#define LEAVES "topology: clos, nics: 1024, nics_per_t0: 32, t1_count: 32"
#define LEAVES_8192 "topology: clos, nics: 8192, nics_per_t0: 64, t1_count: 64"
#define TREE "topology: fat-tree, nics: 1024, tor_nics: 8, pod_tors: 8, pod_aggs: 8, cores: 64"
#define TREE_128 "topology: fat-tree, nics: 128, tor_nics: 4, pod_tors: 4, pod_aggs: 4, cores: 16"
#define MB2 "2000000B"

static const struct larger {
	const char *name, *fabric, *rate;
	const char *rto; // htsim's least: 15 us and six full queues
	const char *traffic, *bytes;
	double p99, max, mean, acks, rtx;
	bool is_small; // four times the runs: a deviation of few of them is no deviation
} largers[] = {
	{"larger-perm1024-leaves-100g", LEAVES, "100Gb/s", "72.768us", "permutation", MB2, 191.9,
	 194.3, 185.4, 185196, 62, false},
	{"larger-perm1024-leaves-400g", LEAVES, "400Gb/s", "65.298us", "permutation", MB2, 54.9,
	 55.5, 52.6, 135215, 0, false},
	{"larger-perm1024-tree-400g", TREE, "400Gb/s", "90.198us", "permutation", MB2, 62.3, 63.3,
	 58.6, 131278, 0, false},
	{"larger-perm1024-tree-800g", TREE, "800Gb/s", "88.704us", "permutation", MB2, 38.0, 38.4,
	 35.5, 127258, 0, false},
	{"larger-perm1024-tree-400g-8MB", TREE, "400Gb/s", "90.198us", "permutation", "8000000B",
	 190.6, 192.2, 185.2, 622845, 0, false},
	{"larger-perm8192-leaves-400g", LEAVES_8192, "400Gb/s", "65.298us", "permutation", MB2,
	 55.3, 56.2, 53.4, 1105676, 0, false},
	{"larger-incast8-400g", TREE_128, "400Gb/s", "90.198us", "incast, senders: 8", MB2, 357.4,
	 357.4, 318.2, 3695, 1501, true},
	{"larger-incast32-400g", TREE_128, "400Gb/s", "90.198us", "incast, senders: 32", MB2,
	 1328.2, 1328.2, 1156.0, 15071, 7198, true},
	{"larger-incast32-100g", TREE_128, "100Gb/s", "100.656us", "incast, senders: 32", MB2,
	 5268.3, 5268.3, 4803.7, 15452, 2246, true},
};

static int run_seed(const struct larger *larger, uint32_t seed, double ret[FIGURES],
		    struct refusal *refusal)
{
	static struct single_run single;
	static ps_t times[FLOWS_MAX];
	char text[1024], set[32];
	const char *const sets[] = {set, NULL};
	snprintf(text, sizeof(text),
		 "name: larger\nfabric: {%s, link_rate: %s, nic_delay: 1us, trunk_delay: 1us, "
		 "switch_delay: 0ns}\nqueue: {ecn_last_hop: true, trim_bytes: 64B, trim_choice: "
		 "coin, counts: line}\ntransport: {payload: 4086B, header: 64B, control: 64B, evs: "
		 "128, sack_rule: htsim, completion: sack, hole_age: off, rtt: once, path: mixed, "
		 "sack_bytes: 16384B, rto: %s}\ncc: {algorithm: nscc, htsim: true}\n"
		 "traffic: {kind: %s, bytes: %s}\n",
		 larger->fabric, larger->rate, larger->rto, larger->traffic, larger->bytes);
	snprintf(set, sizeof(set), "seed=%u", seed);
	int rc = single_run_whole(&single, text, sets, NULL, refusal);
	if (rc < 0)
		return rc;
	check(single.world_instance.world.flow_count <= FLOWS_MAX);
	single_run_flow_times(&single, times);
	htsim_figures_of(&single, times, ret);
	ret[MEAN] = 0;
	for (uint32_t i = 0; i < single.world_instance.world.flow_count; i++)
		ret[MEAN] += (double)times[i] / 1e6 / single.world_instance.world.flow_count;
	single_run_end(&single);
	return 0;
}

static void claim_figure(const struct larger *larger, int figure, double expected,
			 double (*values)[FIGURES], uint32_t runs, struct claims *claims)
{
	double mean = 0, squares = 0;
	for (uint32_t run = 0; run < runs; run++)
		mean += values[run][figure] / runs;
	for (uint32_t run = 0; run < runs; run++)
		squares += (values[run][figure] - mean) * (values[run][figure] - mean);
	struct claim claim = {.source = "htsim, one run",
			      .unit = figure == HTSIM_RTX || figure == HTSIM_ACKS ? "packets"
										  : "us",
			      .expected = expected,
			      .measured = mean};
	snprintf(claim.name, sizeof(claim.name), "%s-%s", larger->name, figure_names[figure]);
	double sd = runs > 1 ? sqrt(squares / (runs - 1)) : 0;
	htsim_tolerate(&claim, figure == MEAN ? HTSIM_P50 : (enum htsim_figure)figure, sd, 1);
	if (figure == HTSIM_RTX && expected < RARE && claim.tolerance < 3 * sd) {
		claim.tolerance = 3 * sd;
		snprintf(claim.why, sizeof(claim.why), "rare events: 3 standard errors");
	}
	claims_add(claims, &claim);
}

static int compare(const struct choice *choice, const struct larger *larger, struct claims *claims,
		   struct refusal *refusal)
{
	uint32_t runs = choice->per_matrix * (larger->is_small ? 4 : 1);
	double(*values)[FIGURES] = calloc(runs, sizeof(*values));
	if (values == NULL)
		return refuse(refusal, -ENODEV, "no memory for % runs", runs);
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < runs; i++)
		rc = run_seed(larger, i + 1, values[i], refusal);
	const double expected[FIGURES] = {[HTSIM_P99] = larger->p99,
					  [HTSIM_MAX] = larger->max,
					  [HTSIM_RTX] = larger->rtx,
					  [HTSIM_ACKS] = larger->acks,
					  [MEAN] = larger->mean};
	for (int figure = HTSIM_P99; rc == 0 && figure < FIGURES; figure++)
		claim_figure(larger, figure, expected[figure], values, runs, claims);
	free(values);
	return rc;
}

int larger_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < sizeof(largers) / sizeof(largers[0]); i++)
		if (choice_takes(choice, largers[i].name))
			rc = compare(choice, &largers[i], claims, refusal);
	return rc;
}
