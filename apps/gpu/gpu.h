// SPDX-License-Identifier: Apache-2.0
// weft gpu: what its files share.
#pragma once

#include <stdio.h>

#include <weft/gpu_generator.h>
#include <weft/refusal.h>

#define DEVICE_NONE UINT32_MAX

struct choice {
	const char *link, *play, *ranks, *device, *patience; // words, or NULL
	uint32_t device_index;				     // DEVICE_NONE: the CPU
	uint32_t patience_s;
	bool wants_probe, wants_help, wants_version, is_json;
};

// Reads the command line. -EINVAL with a reason.
int choice_parse(struct choice *ret, int argc, char **argv, struct refusal *refusal);

// The ranks of a list below `rank_count`, each once, into *ret [*ret_count], which the caller
// frees. -EINVAL with a reason, -ENOMEM.
int choice_ranks(const char *list, uint32_t rank_count, uint32_t **ret, uint32_t *ret_count,
		 struct refusal *refusal);

// What the ranks' generators measured.
void show_table(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count);
int show_json(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count,
	      bool is_played);
