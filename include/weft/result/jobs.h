// SPDX-License-Identifier: Apache-2.0
// Several jobs on one fabric: what each took with the others and alone, and how much of the fabric
// they share. Nothing of it where there is one job.
//
// Bytes are those on the line, of packets of data: what the NICs of a job put on a cable. A trunk
// is a cable between two switches, one direction of a link; a spine is a switch without a NIC.
//
//   interference factor = time with the others / time alone
//   overlap of a job    = of the bytes that it puts on trunks, the share that goes over trunks
//                         which the other uses, too; the same through spines
//
// The factor is the "JCT Interference Factor" of draft-calabria-bmwg-ai-fabric-training-bench,
// which has tests at a "spine overlap" of 0 to 75 % and leaves open of what; here it is of bytes.
#pragma once

#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

#include <weft/result/figures.h>

#define OVERLAP_ANY UINT32_MAX // with any other job

struct job_figures {
	struct figure time_ps, alone_ps; // from its start to its last operation's end
	struct figure ideal_ps;		 // the least time of its messages and computations
	double factor;			 // 0: not known
	uint64_t fabric_bytes;		 // that left its NICs
	uint64_t trunk_bytes, spine_bytes;
};

// Of job `index` of the scenario.
void job_figures_of(struct job_figures *ret, const struct report_input *input, uint32_t index);

// The share of the trunk bytes (spine bytes) of job `index` that go where job `other` goes, too;
// below 0: it puts none there.
double jobs_overlap(const struct report_input *input, uint32_t index, uint32_t other,
		    bool is_spines);

// What a comparison keeps of a job.
struct job_side {
	char name[SCENARIO_NAME_BYTES];
	struct job_figures figures;
	double trunks; // overlap with any other
};

// Fills up to MIX_PARTS_MAX; returns how many jobs ran.
uint32_t job_sides_of(struct job_side *ret, const struct report_input *input);

// Their rows in the comparison's table, under the variant of that name, and as a list of JSON.
void job_sides_table(FILE *to, const char *variant, const struct job_side *sides, uint32_t count);
json_t *job_sides_json(const struct job_side *sides, uint32_t count);

// The line of "What ran" about several jobs; false when there is one.
bool jobs_line(FILE *to, const json_t *result);

void jobs_json(json_t *root, const struct report_input *input);
void jobs_table(FILE *to, const json_t *result);
