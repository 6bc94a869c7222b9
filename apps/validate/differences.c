// SPDX-License-Identifier: Apache-2.0
// htsim's rules against the specification's, row by row: each rule alone put back to what MRC's
// specification has, then all of them. Matrices and seeds are the same for all, so differences are
// taken pair by pair; `*` is one that chance does not explain (95 % for the five figures together).

#include <stdio.h>

#include <weft/study/report_spread.h>

#include "validate.h"

// What the specification has in the place of htsim's rule.
static const struct rule {
	const char *name, *set;
} rules[HTSIM_RULES_MAX] = {
	{"trim-arriving", "queue.trim_choice=arriving"},
	{"no-last-hop-marks", "queue.ecn_last_hop=false"},
	{"sack-mrc", "transport.sack_rule=mrc"},
	{"completion-ack", "transport.completion=ack"},
	{"holes-by-age", "transport.hole_age=auto"},
	{"average-spec", "cc.average=spec"},
	{"qa-delay-spec", "cc.qa_delay=spec"},
	{"qa-period-spec", "cc.qa_period=spec"},
	{"send-gate-spec", "cc.send_gate=spec"},
	{"no-sample-spec", "cc.no_sample=spec"},
	{"growth-spec", "cc.growth=spec"},
	{"nack-rtt-spec", "cc.nack_rtt=spec"},
	{"rtt-of-stamps", "transport.rtt=local"},
	{"queues-of-waiting", "queue.counts=waiting"},
};

static void print_head(void)
{
	printf("%-28s %-18s %20s %20s %20s %20s %20s\n", "row", "rules", "p50, us", "p99, us",
	       "max, us", "retransmissions", "ACKs");
}

static double mean_of(double (*values)[HTSIM_FIGURES], uint32_t runs, int figure)
{
	double sum = 0;
	for (uint32_t run = 0; run < runs; run++)
		sum += values[run][figure];
	return sum / runs;
}

// Mean, and how far from htsim's rules: in per cent, or packets where those have none.
static void print_figure(double (*base)[HTSIM_FIGURES], double (*values)[HTSIM_FIGURES],
			 uint32_t runs, int figure)
{
	static double a[HTSIM_RUNS_MAX], b[HTSIM_RUNS_MAX];
	for (uint32_t run = 0; run < runs; run++) {
		a[run] = base[run][figure];
		b[run] = values[run][figure];
	}
	struct spread_difference difference;
	spread_difference_of(&difference, a, b, runs, HTSIM_FIGURES);
	double mean = mean_of(values, runs, figure), from = mean_of(base, runs, figure);
	char text[32];
	if (difference.verdict == SPREAD_SAME)
		snprintf(text, sizeof(text), "%.1f  =", mean);
	else
		snprintf(text, sizeof(text), "%.1f %+.2f%s%s", mean,
			 from > 0 ? (mean - from) / from * 100 : mean - from, from > 0 ? "%" : "",
			 difference.verdict == SPREAD_DIFFERS ? "*" : " ");
	printf(" %20s", text);
}

static void print_line(const char *row, const char *name, double (*base)[HTSIM_FIGURES],
		       double (*values)[HTSIM_FIGURES], uint32_t runs)
{
	bar_clear();
	printf("%-28s %-18s", row, name);
	for (int figure = 0; figure < HTSIM_FIGURES; figure++) {
		if (values == base)
			printf(" %20.1f", mean_of(base, runs, figure));
		else
			print_figure(base, values, runs, figure);
	}
	putchar('\n');
	fflush(stdout);
}

static int compare(const struct choice *choice, uint32_t row, double (*base)[HTSIM_FIGURES],
		   double (*values)[HTSIM_FIGURES], struct refusal *refusal)
{
	uint32_t runs = htsim_row_seeds(choice, row) * choice->per_matrix;
	const char *all[HTSIM_RULES_MAX + 1] = {NULL}, *one[] = {NULL, NULL};
	struct htsim_world world = {.row = row, .rules = one};
	int rc = htsim_row_run(choice, &world, base, refusal);
	if (rc == 0)
		print_line(htsim_row_name(row), "htsim", base, base, runs);
	for (uint32_t i = 0; rc == 0 && i < HTSIM_RULES_MAX; i++) {
		one[0] = rules[i].set;
		rc = htsim_row_run(choice, &world, values, refusal);
		if (rc == 0)
			print_line("", rules[i].name, base, values, runs);
		all[i] = rules[i].set;
	}
	world.rules = all;
	if (rc == 0)
		rc = htsim_row_run(choice, &world, values, refusal);
	if (rc == 0)
		print_line("", "spec: all of them", base, values, runs);
	return rc;
}

int differences_run(const struct choice *choice, struct refusal *refusal)
{
	static double base[HTSIM_RUNS_MAX][HTSIM_FIGURES], values[HTSIM_RUNS_MAX][HTSIM_FIGURES];
	uint32_t count = 0;
	int rc = 0;
	print_head();
	for (uint32_t row = 0; rc == 0 && row < htsim_rows(); row++) {
		char name[80];
		snprintf(name, sizeof(name), "htsim-%s", htsim_row_name(row));
		if (!choice_takes(choice, name))
			continue;
		if (htsim_row_reason(row) != NULL) {
			printf("%-28s not run: %s\n", htsim_row_name(row), htsim_row_reason(row));
			continue;
		}
		rc = compare(choice, row, base, values, refusal);
		count++;
	}
	return rc < 0 ? rc : (int)count;
}
