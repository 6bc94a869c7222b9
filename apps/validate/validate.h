// SPDX-License-Identifier: Apache-2.0
// What the parts of weft validate share: a world that is run once, and the table of claims.
//
//   main.c    arguments, the table        closed.c  closed forms
//   single_run.c  one run of one world    paths.c   ways, collectives, many flows on links
//   form.h    arithmetic of closed forms  queues.c  waiting, marking, trimming
//   links.c   many on links by chance     control.c fixed points of congestion control
//   collectives.c  algorithms of collectives on an ideal fabric
//   htsim_rows.c  worlds of htsim's rows  htsim.c   these against htsim's own results
//                                         further.c and against further ones of htsim's
//                                         larger.c  those of matrices that are not known
//                                         rings.c   and its generator's rings
//   bar.c     the progress bar            differences.c  htsim's rules against the specification's
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/near_word.h>
#include <weft/engine/engine.h>

// ---------------------------------------------------------------- one run

struct single_run {
	struct scenario scenario;
	struct world_instance world_instance;
	struct run run;
	const struct outcome *outcome;
	void (*before)(struct single_run *single); // called once the world is built, or NULL
};

// Builds and runs the world of `text` with `sets` (ended by NULL); `workload` is the content of a
// file that its traffic stands in, or NULL. -errno with a reason; a run that does not complete is
// -EIO. The caller ends it with single_run_end().
int single_run_whole(struct single_run *single, const char *text, const char *const *sets,
		     const char *workload, struct refusal *refusal);

// The same up to limits.time, which must come before its end (-EIO): for figures of what goes on.
int single_run_until(struct single_run *single, const char *text, const char *const *sets,
		     struct refusal *refusal);

// What came through until an instant.
struct trial_counts {
	double received, marked; // whole data packets, and marks among them
	double trimmed;
};

// single_run_until() with `time` ("limits.time=..."), and what it counted.
int trial_counts_until(const char *text, const char *time, struct trial_counts *ret,
		       struct refusal *refusal);

// Runs `text` and gives its longest flow in us; `workload` as above.
int trial_longest_us(const char *text, const char *const *sets, const char *workload, double *ret,
		     struct refusal *refusal);

void single_run_end(struct single_run *single);

// Completion time of each flow, shortest first; `ret` has room for all of them.
void single_run_flow_times(const struct single_run *single, ps_t *ret);

// ---------------------------------------------------------------- claims

enum claim_bound { CLAIM_NEAR, CLAIM_AT_LEAST, CLAIM_AT_MOST };

// One line of the table: what should come out and what did.
struct claim {
	char name[64];
	const char *source;
	const char *unit;
	double expected, measured;
	double tolerance; // in the same unit, on both sides or one
	enum claim_bound bound;
	char why[48]; // where the tolerance is from
};

struct claims {
	uint32_t inside, outside;
	uint32_t left_out; // rows that are not compared, for a reason
};

// Prints a line for a row that is not compared.
void claims_leave_out(struct claims *claims, const char *name, const char *reason);

// Prints the line and counts it.
void claims_add(struct claims *claims, const struct claim *claim);

// ---------------------------------------------------------------- the parts

struct choice {
	const char *data;    // folder with htsim's results
	const char *only;    // cases whose names begin so, or NULL
	uint32_t matrices;   // of each htsim row, 1 to 10
	uint32_t per_matrix; // runs of each
	bool differences;    // rules against each other, in place of the claims
};

// Whether a case is to run; it is then the one that the progress bar names.
bool choice_takes(const struct choice *choice, const char *name);

// While cases are counted none is taken. Before a line is printed the bar is taken away.
void bar_count(bool is_counting);
void bar_clear(void);

// After the counting, of --only that takes no case: the one that was meant.
const struct near_word *bar_meant(void);

int closed_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
int paths_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
int collectives_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
int links_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
int queues_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
int control_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
// The figures of a run of one of htsim's rows: completion times in us, packets.
enum htsim_figure { HTSIM_P50, HTSIM_P99, HTSIM_MAX, HTSIM_RTX, HTSIM_ACKS, HTSIM_FIGURES };

#define HTSIM_RULES_MAX 14
#define HTSIM_PER_MATRIX_MAX 1000
#define HTSIM_RUNS_MAX (10 * HTSIM_PER_MATRIX_MAX)

// The rows of the folder with htsim's results: how many, the name of each, why it cannot be run
// here (NULL: it can), and how many of its seeds are taken.
uint32_t htsim_rows(void);
const char *htsim_row_name(uint32_t row);
const char *htsim_row_reason(uint32_t row);
uint32_t htsim_row_seeds(const struct choice *choice, uint32_t row);

// Reads them from runs.csv; those of the summary alone have a reason. -errno with a reason.
int htsim_rows_read(const struct choice *choice, const char *summary, struct refusal *refusal);

// The figures of a run, from the completion times of its flows, shortest first.
void htsim_figures_of(const struct single_run *single, const ps_t *times, double *ret);

// A row as it is run here.
struct htsim_world {
	uint32_t row;
	const char *const *rules; // keys and values set on top, at most HTSIM_RULES_MAX and NULL
	const char *cc;		  // in the place of the row's, or NULL
	uint32_t message_bytes;	  // in the place of those in the matrix, or 0
};

// Runs each matrix of a row `per_matrix` times; a line of `ret` per run. The same place is the same
// matrix and seed for any rules.
int htsim_row_run(const struct choice *choice, const struct htsim_world *world,
		  double (*ret)[HTSIM_FIGURES], struct refusal *refusal);

// The same: the mean of each figure, and the standard deviation of single runs (matrices and seeds
// together); that is 0 of one run.
int htsim_row_means(const struct choice *choice, const struct htsim_world *world,
		    double ret[HTSIM_FIGURES], double ret_deviation[HTSIM_FIGURES],
		    struct refusal *refusal);

// htsim's seeds of a row: mean and deviation of a figure, and how many there are.
struct htsim_seeds {
	double mean, sd;
	uint32_t count;
};

// Reads the summary of the folder with htsim's results; the caller frees *ret. The figures of a
// row of it are read one by one. -errno with a reason.
int htsim_summary(const struct choice *choice, char **ret, struct refusal *refusal);
int htsim_seeds_of(const struct choice *choice, const char *summary, uint32_t row,
		   enum htsim_figure figure, struct htsim_seeds *ret, struct refusal *refusal);

// What may lie between the means of htsim's runs and of weft's: of htsim's, a share and no less
// than 10 packets, or three standard errors of `runs` runs with deviation `sd` where that is more.
void htsim_tolerate(struct claim *claim, enum htsim_figure figure, double sd, uint32_t runs);

// Prints the table of differences.
int differences_run(const struct choice *choice, struct refusal *refusal);

// Whether the summary is there, with what the chosen rows need of it: asked before anything runs.
int htsim_check(const struct choice *choice, struct refusal *refusal);

int htsim_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
int larger_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
int rings_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
int further_run(const struct choice *choice, struct claims *claims, struct refusal *refusal);
