// SPDX-License-Identifier: Apache-2.0
// Of a study's settings, those that no other beats in all figures at once. And two studies side by
// side: the same jobs on two transports or fabrics, each with its own settings.
#pragma once

#include <weft/tune/tune.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tune_front_point {
	const struct tune_candidate *candidate; // NULL: the default
	bool is_fresh;				// met seeds that the search did not
	bool is_beaten;				// by another in all figures at once
	uint32_t seeds;
	double values[TUNE_GOALS_MAX];
};

// Settings that keep to the constraints, and the default.
struct tune_front {
	uint32_t figure_count;
	uint32_t figures[TUNE_GOALS_MAX]; // of a study
	bool is_ratio[TUNE_GOALS_MAX]; // values count in the default's; else, where that is 0, they
				       // are the figure's own, added up over the suite
	const char *other_version;     // as in the plan
	uint32_t count, compared;
	struct tune_front_point *points; // [compared]; the front is the first `count`, those on
					 // fresh seeds first, then by the first figure
};

// The front over `goals`, two or more. The study has run, or is under way. tune_front_free() gives
// back what this takes. -errno with the reason: a figure that the default has not, no memory.
int tune_front_of(struct tune_front *ret, const struct tune *tune, const struct tune_goal *goals,
		  uint32_t goal_count, struct refusal *refusal);
void tune_front_free(struct tune_front *front);

// For people, and as JSON. -errno when the stream does not take it.
void tune_front_show(FILE *to, const struct tune_front *front);
int tune_front_json(FILE *to, const struct tune_front *front);

// One figure of one job in both studies, each with its default and with what it recommends.
struct tune_ab_row {
	uint32_t scenario, figure;
	double defaults[2], tuned[2]; // mean over seeds
	double ratio, low, high;      // tuned b over tuned a, seed by seed
	double of_defaults;	      // the same without tuning, geometric mean
};

struct tune_ab {
	const struct tune *studies[2];
	uint32_t count;
	struct tune_ab_row *rows; // [count]; their intervals hold together
};

// Holds two studies that are at their end against each other: job i of one is job i of the other,
// and both met the same fresh seeds. -EINVAL with what they do not share: aims, jobs, seeds.
int tune_ab_of(struct tune_ab *ret, const struct tune *a, const struct tune *b,
	       struct refusal *refusal);
void tune_ab_free(struct tune_ab *ab);
void tune_ab_show(FILE *to, const struct tune_ab *ab);
int tune_ab_json(FILE *to, const struct tune_ab *ab);

#ifdef __cplusplus
}
#endif
