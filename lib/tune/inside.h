// SPDX-License-Identifier: Apache-2.0
// A study's inside, for the files of this room.
//
//   space.c  knobs and points      block.c    candidates meet blocks of runs
//   aim.c    figures to costs      search.c   engines that propose points
//   store.c  rows in SQLite        race.c     the best over more seeds, the last five on fresh ones
//   show.c, show_json.c            tune.c     all of it in order
//   screen.c, sobol.c  knobs that do nothing are left out
//   export.c  in the keys of NICs and switches
//   holdout.c  the last round on scenarios that the search does not see
//   advice.c  what to set, what it buys, what it risks, in words
//   front.c   a search for the Pareto set of several aims
//   pareto.c, ab.c  what readers make of a study, and of two
//   report.c, curve.c  all that a page says, and what each knob does
#pragma once

#include <jansson.h>

#include <weft/core/rng.h>
#include <weft/study/report_spread.h>
#include <weft/tune/pareto.h>
#include <weft/tune/report.h>
#include <weft/tune/search.h>
#include <weft/tune/tune.h>

#define TUNE_CONFIDENCE 0.95
#define TUNE_DEFAULT_NAME "default"
#define TUNE_SCREEN_MAX 32 // base points
// Fresh seeds lie so far behind those of the search that no budget reaches them.
#define TUNE_FRESH_FROM (UINT64_C(1) << 32)

// "rtt", and the base of that suffix for keys of a unit; TUNE_PLAIN has none.
const char *tune_base_suffix(enum tune_base base);
enum tune_base tune_base_named(const char *suffix, const char *unit);

// All bases that a key of that unit may have, with commas; empty where it has none.
void tune_bases_of(const char *unit, char *ret, size_t bytes);

// A value in ps, bytes, bits per second, parts per 10^9 or things, as a scenario has it.
void tune_plain_text(const char *unit, double value, char *ret, size_t bytes);

// A value of a knob, in the units of the space.
void tune_value_text(const struct tune_space *space, uint32_t index, double value, char *ret,
		     size_t bytes);

struct tune {
	struct tune_plan plan;
	struct tune_result result;
	uint32_t room;	  // of result.candidates
	uint64_t *hashes; // [room] of their names
	uint32_t part;	  // of the search that is under way, counted from 1; 0: none is
	struct study_run *defaults[2]; // met, fresh: [scenario * TUNE_BLOCKS_MAX + block]
	uint32_t default_blocks[2];
	struct refusal *refusal;
	// For each hold-out a study of that scenario alone, which has no search; `suite` is what it
	// belongs to, in whose plan it is `scenario`.
	struct tune *holdouts[TUNE_SCENARIOS_MAX], *suite;
	uint32_t scenario;
};

// The seed of a block.
uint64_t tune_seed_of(const struct tune_plan *plan, bool is_fresh, uint32_t block);

// A figure of a setting in blocks 0 to `blocks` - 1, as the store has it; NAN: it has not. -errno.
int tune_values_of(const struct tune_plan *plan, uint32_t scenario, const char *setting,
		   bool is_fresh, uint32_t blocks, uint32_t figure, double *ret,
		   struct refusal *refusal);

// Has each of these candidates meet blocks up to `blocks`, in the search's seeds or in fresh ones;
// the default meets them, too. Counts the runs. -errno with the reason.
int tune_meet(struct tune *tune, struct tune_candidate *const *candidates, uint32_t count,
	      bool is_fresh, uint32_t blocks);

// Whether the part of the search that is under way may know of a candidate: its own, and what was
// screened before; with no part under way, all.
bool tune_is_known(const struct tune *tune, const struct tune_candidate *candidate);

// The default alone.
int tune_meet_default(struct tune *tune, bool is_fresh, uint32_t blocks);

// The candidate of that point: one that was proposed before, or a new one (*ret_new). NULL: no
// memory.
struct tune_candidate *tune_propose(struct tune *tune, const double *at, bool *ret_new);

// How far a series breaks its constraints, and the one that it breaks furthest. Whether runs end is
// asked of each; figures are held to their bounds on the mean over blocks.
double tune_violation(const struct tune_series *series, uint32_t *ret_breach);

// The default itself on the fresh seeds. Returns the constraint that it breaks; TUNE_BREACH_NONE:
// it meets all.
uint32_t tune_default_series(struct tune *tune, struct tune_series *ret);

// Blocks in which a run did not come to its end.
uint32_t tune_series_failed(const struct tune_series *series);

// What a search gets, and what candidates are ranked by: the cost where all constraints are met,
// else a value above any of those.
double tune_value(const struct tune_series *series);

// What is searched and raced by: as tune_value(), but a bound is kept only where the mean is two
// standard errors within it. The best of many on few seeds is else one that breaks it and was
// lucky.
double tune_value_guarded(const struct tune_series *series);

// How far within all its bounds the mean is, less two standard errors, as a part of the bound.
double tune_margin(const struct tune_series *series);

// qsort's order of struct tune_candidate *: by value in search and race, then by number.
int tune_by_value(const void *a, const void *b);
int tune_by_guarded_value(const void *a, const void *b);

// A direction in which the Pareto set is searched: what makes one value of all aims.
struct tune_direction {
	uint32_t goals;
	double weights[TUNE_GOALS_MAX], best[TUNE_GOALS_MAX], span[TUNE_GOALS_MAX];
	double step; // that a search in it begins with; 0: the engine's own
};

// How many directions so many runs are enough for, and direction `index` of them as the settings
// that are met have it. -errno.
uint32_t tune_directions(const struct tune_plan *plan, uint32_t knobs, uint64_t runs);
int tune_direction_of(struct tune_direction *ret, const struct tune *tune, uint32_t index,
		      uint64_t seed);

// As tune_value().
double tune_direction_value(const struct tune_direction *direction,
			    const struct tune_series *series);

// The Pareto set of settings that met `seeds` blocks or more, in `ret` [result.different]; returns
// how many they are. And at most `room` of them that lie far apart, moved to the front of the list:
// the best by value, the ends, then what is between them.
uint32_t tune_front_members(const struct tune *tune, uint32_t seeds, struct tune_candidate **ret);
uint32_t tune_front_spread(const struct tune *tune, struct tune_candidate **members, uint32_t count,
			   uint32_t room);

// Screens the knobs, in at most `runs`, and notes the flat ones.
int tune_screen(struct tune *tune, uint64_t runs);

// The constraint that is broken furthest, and how far.
void tune_breach_text(FILE *to, const struct tune_plan *plan, const struct tune_standing *standing);

// What rounding costs, a line with `before` in front; nothing where nothing is recommended.
void tune_round_line(FILE *to, const char *before, const struct tune_plan *plan,
		     const struct tune_result *result);

// What to set, what it buys, what it risks and what is flat, in words.
void tune_advise(FILE *to, const struct tune_plan *plan, const struct tune_result *result);

// Races the best of the search, then has the last ones meet fresh seeds. `runs` may be made in the
// race.
int tune_race(struct tune *tune, uint64_t runs);
int tune_judge_finalists(struct tune *tune);

// Begins the hold-outs: makes sure that the default runs there, and that the knobs do something.
// -EINVAL with the hold-out and the reason.
int tune_holdouts_begin(struct tune *tune);

// Has the default, the finalists and what is rounded meet the hold-outs, on fresh seeds.
int tune_holdouts_judge(struct tune *tune);

// Runs that a hold-out takes before the search, at most, and in the last round.
uint64_t tune_holdout_runs_first(void);
uint64_t tune_holdout_runs_last(const struct tune_plan *plan);

// What the recommended setting comes to on each hold-out, a line each with `before` in front; and
// the same of those alone on which it is a risk.
void tune_holdout_lines(FILE *to, const char *before, const struct tune_plan *plan,
			const struct tune_result *result);
void tune_show_alerts(FILE *to, const struct tune_plan *plan, const struct tune_result *result);

// "0.9505 (0.9475 to 0.9536)", or as much of it as there is.
void tune_ratio_text(const struct tune_standing *standing, char *ret, size_t bytes);

// What tune_show() begins with, and what it says is to be set.
void tune_show_head(FILE *to, const struct tune_plan *plan, const struct tune_result *result);
void tune_show_verdict(FILE *to, const struct tune_plan *plan, const struct tune_result *result);

// A number; null where it is none.
json_t *tune_number(double value);

// What tune_show_json() and tune_front_json() write; a front with all that were compared, too.
// NULL: no memory.
json_t *tune_document(const struct tune_plan *plan, const struct tune_result *result);
json_t *tune_front_document(const struct tune_front *front, bool has_all);

// Appends a curve for each knob: moved alone, or as the search met it.
int tune_curves_measure(json_t *list, struct tune *tune, const struct tune_curves *curves);
void tune_curves_slice(json_t *list, const struct tune *tune);

// What engines share.

// Evenly from [0, 1).
static inline double search_uniform(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

#define SOBOL_DIMENSIONS_MAX (2 * TUNE_KNOBS_MAX)

struct sobol {
	uint32_t dimensions;
	uint32_t directions[SOBOL_DIMENSIONS_MAX][32], shift[SOBOL_DIMENSIONS_MAX];
};

void sobol_init(struct sobol *ret, uint32_t dimensions, uint64_t seed);

// Point `index`, in [0, 1).
void sobol_point(const struct sobol *sobol, uint32_t index, double *ret);

search_fn search_cmaes;

// Of NLopt, where the build has it.
search_fn search_crs2, search_direct, search_sbplx;
