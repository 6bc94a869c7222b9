// SPDX-License-Identifier: Apache-2.0
// One call of weft scaling, for the files of this folder: main.c reads arguments, points.c works
// the steps out, table.c, json.c and svg.c show them.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/engine/engine.h>
#include <weft/study/report_spread.h>
#include <weft/workload/plan.h>
#include <weft/workload/step.h>

#include <weft/run/jitter.h>

#define POINTS_MAX 64
#define SETS_MAX 60 // with two of our own no more than weft sim takes

// One number of racks.
struct point {
	uint32_t racks, gpus, replicas, ring_ranks;
	uint64_t batch;		   // samples of a step
	struct step_exposed times; // without jitter
	double step_s, exposed_s;  // means over seeds; of `times` without jitter
	double error_s;		   // of the exposed time, stated with a sample
	uint64_t packets;	   // of a sample, all seeds
	uint32_t groups, groups_all;
	double efficiency, consistency;
	double *steps_s;		  // [seed_count], NULL without jitter
	struct spread_figures spread;	  // of them
	struct spread_difference against; // the reference, seed by seed
};

struct call {
	const char *scenario_name, *racks_text, *reference_text, *jitter_text, *seed_text, *svg,
		*sample_text;
	const char *sets[SETS_MAX + 2]; // room for the seed and for a number of racks
	char seed_set[64];
	uint32_t set_count;
	uint32_t seed_count;
	struct jitter jitter;
	int is_sample; // --fidelity sample, not model
	bool is_json, is_csv;
	struct scenario scenario; // as read last
	uint32_t gpus_per_rack;
	struct timing timing; // what the steps rest on
	bool is_other_site;   // the fabric is not that of the job's file: `site` says how
	char site[200];
	char name[SCENARIO_NAME_BYTES];
	uint32_t point_count;
	struct point points[POINTS_MAX];
	const struct point *reference;
	struct refusal refusal;
};

// Works out all points. -errno with a reason; points_free() after it in any case.
int points_run(struct call *call);
void points_free(struct call *call);

void table_print(FILE *to, const struct call *call);
void csv_print(FILE *to, const struct call *call);
void json_print(FILE *to, const struct call *call);

// -EIO when the file did not take it.
int svg_draw(FILE *to, const struct call *call);
