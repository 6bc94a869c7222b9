// SPDX-License-Identifier: Apache-2.0
// The command line of weft sim.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/refusal.h>

#define OPTION_SETS_MAX 64
#define OPTION_TEXT_BYTES 512

struct options {
	const char *scenario; // name or path; NULL = none given
	const char *trace;    // file, or NULL
	const char *sample;   // SPEC, or NULL
	const char *out;      // folder, or NULL
	uint32_t set_count;
	const char *sets[OPTION_SETS_MAX];
	char seed_set[OPTION_TEXT_BYTES]; // "seed=N", in `sets` when given
	bool is_json, is_quiet, wants_footprint, wants_list, wants_keys, wants_help, wants_version;
};

// Reads the command line. -EINVAL with a reason.
int options_parse(struct options *ret, int argc, char **argv, struct refusal *refusal);

// The command that runs this again, quoted for a shell.
void options_command(int argc, char **argv, char *ret, uint32_t bytes);
