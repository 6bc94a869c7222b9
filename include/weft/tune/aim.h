// SPDX-License-Identifier: Apache-2.0
// What a setting is judged by: figures of a run, each relative to the run of the default with the
// same seed, and constraints that hold whatever the figures are.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/study/report_study.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUNE_GOALS_MAX 8
#define TUNE_LIMITS_MAX 8

// How the scenarios of a suite become one: their mean, the worst, or the mean of the worst quarter.
enum tune_over { TUNE_OVER_MEAN, TUNE_OVER_WORST, TUNE_OVER_CVAR };

struct tune_goal {
	uint32_t figure; // of a study
	double weight;
};

struct tune_limit {
	uint32_t figure;
	bool is_least; // the figure may not be below the bound; else not above
	bool is_ratio; // the bound counts in the default's value with the same seed
	double bound;
	char text[64]; // as it was written
};

struct tune_aim {
	uint32_t goal_count, limit_count;
	struct tune_goal goals[TUNE_GOALS_MAX];
	struct tune_limit limits[TUNE_LIMITS_MAX];
	enum tune_over over;
	bool may_time_out; // retransmission timeouts are no breach
	bool is_front; // the Pareto set of the goals is searched for; weights are of the choice in
		       // it
};

// Why a run is no good, in tune_judged.breach.
#define TUNE_BREACH_NONE UINT32_MAX
#define TUNE_BREACH_END (UINT32_MAX - 1)     // the run did not come to its end
#define TUNE_BREACH_TIMEOUT (UINT32_MAX - 2) // packets were sent again for a timeout

// One run against the default's.
struct tune_judged {
	double cost; // weighted mean of the logarithms of the ratios; less is better. NAN: it
		     // failed, or the default did
	double goals[TUNE_GOALS_MAX]; // each of these logarithms
	double violation; // it did what no run may: not end, time out, or pass a bound; else 0
	uint32_t breach;  // which of them: TUNE_BREACH_..., or the limit
	double excess[TUNE_LIMITS_MAX]; // over each limit, relative to its bound; below 0: kept;
					// NAN: it has none, as the default's run failed
};

// What a figure may not come to in a run: beyond that the constraint is broken, whatever the rest
// of the run and the other seeds bring.
struct tune_bound {
	uint32_t figure, which; // of a study; the constraint, for study_run.passed
	double value;
	// It may not come below `value`, nor below `all` less `others` times the most that it can
	// be in any run of that world: what other seeds can bring.
	bool is_least;
	double all, others;
};

// Whether a run that has got as far as `input` is beyond a bound for good; *ret_value: with what.
bool tune_bound_is_passed(const struct tune_bound *bound, const struct report_input *input,
			  double *ret_value);

#define TUNE_BOUNDS_MAX (TUNE_LIMITS_MAX + 1)

// "fct_p99_s", "fct_p99_s:2" with a weight. -EINVAL with the reason.
int tune_aim_goal(struct tune_aim *aim, const char *text, struct refusal *refusal);

// "queue_bytes_max<=200kB", "nic_paused_s<=1.1x", "goodput_bps>=0.9x". -EINVAL with the reason.
int tune_aim_limit(struct tune_aim *aim, const char *text, struct refusal *refusal);

// Judges a run by the default's run with the same seed.
void tune_aim_judge(const struct tune_aim *aim, const struct study_run *run,
		    const struct study_run *of_default, struct tune_judged *ret);

// The bounds of a run of seed `seed`, one of `seeds` that a constraint holds on the mean of;
// `defaults` [seeds] are the default's runs with these. Returns how many there are.
uint32_t tune_aim_bounds(const struct tune_aim *aim, const struct study_run *defaults,
			 uint32_t seed, uint32_t seeds, struct tune_bound ret[TUNE_BOUNDS_MAX]);

// How long the default's run took; NAN: it is not known.
double tune_aim_length_s(const struct study_run *of_default);

// Whether the default's run can be what others are compared with. -EINVAL with the figure and the
// reason: it has none; or, of all of its runs in a scenario, [count], it is 0 in each, or none of
// them came to its end. One that failed is no comparison, and no reason to refuse.
int tune_aim_check(const struct tune_aim *aim, const struct study_run *of_default,
		   struct refusal *refusal);
int tune_aim_check_all(const struct tune_aim *aim, const struct study_run *defaults, uint32_t count,
		       struct refusal *refusal);

// One cost of the costs of all scenarios of a block.
double tune_aim_over(const struct tune_aim *aim, const double *costs, uint32_t count);

// The constraint in words.
const char *tune_aim_breach(const struct tune_aim *aim, uint32_t breach);

#ifdef __cplusplus
}
#endif
