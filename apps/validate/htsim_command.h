// SPDX-License-Identifier: Apache-2.0
// The command lines of htsim's runs, as runs.csv has them, and the rows that they make.
#pragma once

#include "validate.h"

#define HTSIM_SEEDS_MAX 10
#define HTSIM_SETS 12

// One row: its runs differ in matrix and seed alone.
struct htsim_row {
	char name[64];
	char reason[96]; // why it cannot be run here; empty: it can
	uint32_t runs;
	struct htsim_seed {
		char matrix[96]; // its file, in the folder with htsim's results
		uint32_t seed;
	} seeds[HTSIM_SEEDS_MAX];
	char sets[HTSIM_SETS][48]; // "key=value", as many as are not empty
	const char *cc, *faults;   // sections of a scenario
};

// Reads `command` into the row, as its run number `runs`. What weft does not know is its reason.
void htsim_command_read(struct htsim_row *row, const char *command);
