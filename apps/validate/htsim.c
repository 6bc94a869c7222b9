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

#define FILE_BYTES_MAX ((size_t)1 << 20)

// In the order of enum htsim_figure, as the summary's columns begin.
static const char *const figure_names[HTSIM_FIGURES] = {"p50", "p99", "max", "rtx", "acks"};

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
		     double *ret)
{
	char name[32], *end;
	snprintf(name, sizeof(name), "%s_%s", figure, what);
	const char *at = cell(text, row, name);
	if (at != NULL)
		*ret = strtod(at, &end);
	return at == NULL || end == at ? -EINVAL : 0;
}

static void name_summary(const struct choice *choice, char *ret, size_t bytes)
{
	snprintf(ret, bytes, "%s/summary.csv", choice->data);
}

int htsim_summary(const struct choice *choice, char **ret, struct refusal *refusal)
{
	char path[1024];
	size_t bytes;
	name_summary(choice, path, sizeof(path));
	return file_read(path, FILE_BYTES_MAX, ret, &bytes, refusal);
}

int htsim_seeds_of(const struct choice *choice, const char *summary, uint32_t row,
		   enum htsim_figure figure, struct htsim_seeds *ret, struct refusal *refusal)
{
	const char *name = htsim_row_name(row), *column = figure_names[figure];
	int rc = read_cell(summary, name, column, "mean", &ret->mean);
	if (rc == 0)
		rc = read_cell(summary, name, column, "sd", &ret->sd);
	const char *seeds = cell(summary, name, "seeds");
	ret->count = seeds == NULL ? 0 : (uint32_t)strtoul(seeds, NULL, 10);
	if (rc == 0 && ret->count > 0)
		return 0;
	rc = -EINVAL;
	name_summary(choice, refusal->file, sizeof(refusal->file));
	return refuse(refusal, rc, "the summary lacks a row or a column");
}

// Standard deviation of one figure of single runs.
static double deviation_of(double (*values)[HTSIM_FIGURES], uint32_t runs, int figure, double mean)
{
	double squares = 0;
	for (uint32_t run = 0; run < runs; run++)
		squares += (values[run][figure] - mean) * (values[run][figure] - mean);
	return runs > 1 ? sqrt(squares / (runs - 1)) : 0;
}

int htsim_row_means(const struct choice *choice, const struct htsim_world *world,
		    double ret[HTSIM_FIGURES], double ret_deviation[HTSIM_FIGURES],
		    struct refusal *refusal)
{
	uint32_t runs = htsim_row_seeds(choice, world->row) * choice->per_matrix;
	double(*values)[HTSIM_FIGURES] = calloc(runs, sizeof(*values));
	if (values == NULL)
		return refuse(refusal, -ENODEV, "no memory for % runs", runs);
	int rc = htsim_row_run(choice, world, values, refusal);
	for (int figure = 0; figure < HTSIM_FIGURES; figure++) {
		ret[figure] = 0;
		for (uint32_t run = 0; run < runs; run++)
			ret[figure] += values[run][figure] / runs;
		ret_deviation[figure] = deviation_of(values, runs, figure, ret[figure]);
	}
	free(values);
	return rc;
}

// ---------------------------------------------------------------- tolerances

void htsim_tolerate(struct claim *claim, enum htsim_figure figure, double sd, uint32_t runs)
{
	double share = figure == HTSIM_P50 ? 0.01
		: figure == HTSIM_ACKS	   ? 0.05
		: figure == HTSIM_RTX	   ? 0.15
					   : 0.02;
	double errors = 3 * sd / sqrt(runs);
	claim->tolerance = share * claim->expected;
	snprintf(claim->why, sizeof(claim->why), "%.0f %%", share * 100);
	if (figure == HTSIM_RTX && claim->tolerance < 10) {
		claim->tolerance = 10;
		snprintf(claim->why, sizeof(claim->why), "10 packets");
	}
	if (figure <= HTSIM_MAX && claim->tolerance < errors) {
		claim->tolerance = errors;
		snprintf(claim->why, sizeof(claim->why), "3 standard errors");
	}
}

static int compare_row(const struct choice *choice, const char *summary, uint32_t row,
		       struct claims *claims, struct refusal *refusal)
{
	static const char *const no_rules[] = {NULL};
	double means[HTSIM_FIGURES], deviations[HTSIM_FIGURES];
	int rc = htsim_row_means(choice, &(struct htsim_world){.row = row, .rules = no_rules},
				 means, deviations, refusal);
	for (int figure = 0; rc == 0 && figure < HTSIM_FIGURES; figure++) {
		struct claim claim = {.source = "htsim, its seeds",
				      .unit = figure <= HTSIM_MAX ? "us" : "packets",
				      .measured = means[figure]};
		struct htsim_seeds seeds;
		snprintf(claim.name, sizeof(claim.name), "htsim-%s-%s", htsim_row_name(row),
			 figure_names[figure]);
		rc = htsim_seeds_of(choice, summary, row, (enum htsim_figure)figure, &seeds,
				    refusal);
		if (rc < 0)
			return rc;
		claim.expected = seeds.mean;
		htsim_tolerate(&claim, (enum htsim_figure)figure, seeds.sd, seeds.count);
		claims_add(claims, &claim);
	}
	return rc;
}

int htsim_check(const struct choice *choice, struct refusal *refusal)
{
	char name[80], *summary;
	struct htsim_seeds ignored;
	int rc = htsim_summary(choice, &summary, refusal);
	if (rc < 0)
		return rc;
	rc = htsim_rows_read(choice, summary, refusal);
	for (uint32_t i = 0; rc == 0 && i < htsim_rows(); i++) {
		snprintf(name, sizeof(name), "htsim-%s", htsim_row_name(i));
		for (int figure = 0; choice_takes(choice, name) && htsim_row_reason(i) == NULL &&
		     rc == 0 && figure < HTSIM_FIGURES;
		     figure++)
			rc = htsim_seeds_of(choice, summary, i, (enum htsim_figure)figure, &ignored,
					    refusal);
	}
	free(summary);
	return rc;
}

int htsim_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	char name[80], *summary;
	int rc = htsim_summary(choice, &summary, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < htsim_rows(); i++) {
		snprintf(name, sizeof(name), "htsim-%s", htsim_row_name(i));
		if (!choice_takes(choice, name))
			continue;
		if (htsim_row_reason(i) != NULL)
			claims_leave_out(claims, name, htsim_row_reason(i));
		else
			rc = compare_row(choice, summary, i, claims, refusal);
	}
	free(summary);
	return rc;
}
