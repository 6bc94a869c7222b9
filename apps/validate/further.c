// SPDX-License-Identifier: Apache-2.0
// Further results of htsim's, of the kind of its rows: other thresholds, targets, sizes, delays,
// and its credits of the receiver (RCCC). Each is of one run of htsim's (generator seed 42, run
// seed 13), so htsim's own spread is in it. The rule is that of the rows: a share, or three
// standard errors of htsim's mean where that is more. The mean is of one run here, so its standard
// error is the deviation of single runs: that of htsim's ten seeds of the row of the same traffic,
// in proportion. The deviation of single runs here is printed beside it.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate.h"

#define SETS_MAX 4
#define NOT_TOLD (-1.0)

#define ECN(low, high) "queue.ecn_low=" #low "B", "queue.ecn_high=" #high "B"
#define HALF_US "fabric.nic_delay=500ns", "fabric.trunk_delay=500ns", "fabric.switch_delay=500ns"
#define CREDITS \
	.cc = "cc: {algorithm: rccc, credit_demand: told}\n", .sets = {"queue.ecn_last_hop=false"}

static const struct further {
	const char *name, *row; // a row of the summary, with what is said here
	const char *sets[SETS_MAX];
	const char *cc;
	uint32_t message_bytes;
	double expected[HTSIM_ACKS]; // p50, p99, max in us, retransmissions
} furthers[] = {
	// ECN thresholds in packets of 4,150 bytes
	{"incast32-ecn-2-8",
	 "incast32_100g_mixed",
	 {ECN(8300, 33200)},
	 .expected = {NOT_TOLD, NOT_TOLD, NOT_TOLD, 2021}},
	{"incast32-ecn-20-40",
	 "incast32_100g_mixed",
	 {ECN(83000, 166000)},
	 .expected = {NOT_TOLD, NOT_TOLD, NOT_TOLD, 2322}},
	{"incast32-ecn-40-42",
	 "incast32_100g_mixed",
	 {ECN(166000, 174300)},
	 .expected = {NOT_TOLD, NOT_TOLD, NOT_TOLD, 4315}},
	{"perm-ecn-2-8",
	 "perm100g_mixed",
	 {ECN(8300, 33200)},
	 .expected = {NOT_TOLD, NOT_TOLD, 209.0, NOT_TOLD}},
	{"perm-ecn-20-40",
	 "perm100g_mixed",
	 {ECN(83000, 166000)},
	 .expected = {NOT_TOLD, NOT_TOLD, 204.5, NOT_TOLD}},
	{"perm-ecn-40-42",
	 "perm100g_mixed",
	 {ECN(166000, 174300)},
	 .expected = {NOT_TOLD, NOT_TOLD, 206.5, NOT_TOLD}},
	// target delays
	{"incast32-target-3us",
	 "incast32_100g_mixed",
	 {"cc.target_delay=3us"},
	 .expected = {NOT_TOLD, NOT_TOLD, NOT_TOLD, 3594}},
	{"incast32-target-6us",
	 "incast32_100g_mixed",
	 {"cc.target_delay=6us"},
	 .expected = {NOT_TOLD, NOT_TOLD, NOT_TOLD, 2930}},
	{"incast32-target-12us",
	 "incast32_100g_mixed",
	 {"cc.target_delay=12us"},
	 .expected = {NOT_TOLD, NOT_TOLD, NOT_TOLD, 2152}},
	{"incast32-target-18us",
	 "incast32_100g_mixed",
	 {"cc.target_delay=18us"},
	 .expected = {NOT_TOLD, NOT_TOLD, NOT_TOLD, 3370}},
	{"perm-target-3us",
	 "perm100g_mixed",
	 {"cc.target_delay=3us"},
	 .expected = {NOT_TOLD, NOT_TOLD, 244.2, NOT_TOLD}},
	{"perm-target-12us",
	 "perm100g_mixed",
	 {"cc.target_delay=12us"},
	 .expected = {NOT_TOLD, NOT_TOLD, 197.6, NOT_TOLD}},
	// a window that never moves
	{"perm-fixed-oblivious", "perm100g_oblivious", .cc = "cc: {algorithm: fixed}\n",
	 .expected = {NOT_TOLD, NOT_TOLD, 208.7, NOT_TOLD}},
	// other messages, links and delays
	{"perm-256KiB", "perm100g_mixed", .message_bytes = 262144,
	 .expected = {40.0, 43.3, 43.7, NOT_TOLD}},
	{"perm-8MiB", "perm100g_mixed", .message_bytes = 8388608,
	 .expected = {746, 769, 780, NOT_TOLD}},
	{"perm400g-half-us", "perm400g_mixed", {HALF_US}, .expected = {56.8, 60.3, 60.3, NOT_TOLD}},
	{"perm800g-half-us", "perm800g_mixed", {HALF_US}, .expected = {33.9, 37.1, 37.2, NOT_TOLD}},
	{"perm800g-half-us-8MiB",
	 "perm800g_mixed",
	 {HALF_US},
	 .message_bytes = 8388608,
	 .expected = {102.4, 104.6, 104.7, NOT_TOLD}},
	// credits of the receiver
	{"rccc-perm", "perm100g_mixed", CREDITS, .expected = {191.7, 197.5, 197.9, NOT_TOLD}},
	{"rccc-incast8", "incast8_100g_mixed", CREDITS,
	 .expected = {NOT_TOLD, NOT_TOLD, 696.8, 298}},
	{"rccc-incast32", "incast32_100g_mixed", CREDITS,
	 .expected = {NOT_TOLD, NOT_TOLD, 2764.5, 1681}},
};

// The row of that name; as many as there are: none.
static uint32_t row_of(const char *name)
{
	uint32_t row = 0;
	while (row < htsim_rows() && __builtin_strcmp(htsim_row_name(row), name) != 0)
		row++;
	return row;
}

static int compare(const struct choice *choice, const char *summary, const struct further *further,
		   const char *name, struct claims *claims, struct refusal *refusal)
{
	static const char *const figures[] = {"p50", "p99", "max", "rtx"};
	const char *rules[SETS_MAX + 1] = {NULL};
	double means[HTSIM_FIGURES], deviations[HTSIM_FIGURES];
	for (uint32_t i = 0; i < SETS_MAX; i++)
		rules[i] = further->sets[i];
	struct htsim_world world = {.row = row_of(further->row),
				    .rules = rules,
				    .cc = further->cc,
				    .message_bytes = further->message_bytes};
	if (world.row == htsim_rows() || htsim_row_reason(world.row) != NULL) {
		claims_leave_out(claims, name, "the row that it is held against is not there");
		return 0;
	}
	int rc = htsim_row_means(choice, &world, means, deviations, refusal);
	for (int figure = 0; rc == 0 && figure < HTSIM_ACKS; figure++) {
		struct claim claim = {.source = "htsim, one run",
				      .unit = figure <= HTSIM_MAX ? "us" : "packets",
				      .expected = further->expected[figure],
				      .measured = means[figure]};
		if (claim.expected < 0)
			continue;
		snprintf(claim.name, sizeof(claim.name), "%s-%s", name, figures[figure]);
		struct htsim_seeds seeds;
		rc = htsim_seeds_of(choice, summary, world.row, (enum htsim_figure)figure, &seeds,
				    refusal);
		if (rc < 0)
			return rc;
		double sd = seeds.mean > 0 ? seeds.sd / seeds.mean * claim.expected : 0;
		htsim_tolerate(&claim, (enum htsim_figure)figure, sd, 1);
		size_t used = strlen(claim.why);
		if (means[figure] > 0)
			snprintf(claim.why + used, sizeof(claim.why) - used,
				 "; single runs here +- %.1f %%",
				 deviations[figure] / means[figure] * 100);
		claims_add(claims, &claim);
	}
	return rc;
}

int further_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	char *summary;
	int rc = htsim_summary(choice, &summary, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < sizeof(furthers) / sizeof(furthers[0]); i++) {
		char name[48];
		snprintf(name, sizeof(name), "further-%s", furthers[i].name);
		if (choice_takes(choice, name))
			rc = compare(choice, summary, &furthers[i], name, claims, refusal);
	}
	free(summary);
	return rc;
}
