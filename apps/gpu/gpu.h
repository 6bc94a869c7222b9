// SPDX-License-Identifier: Apache-2.0
// weft gpu: what its files share.
#pragma once

#include <stdio.h>

#include <weft/core/refusal.h>
#include <weft/gpu/gpu_generator.h>

#define DEVICE_NONE UINT32_MAX
#define PLAYS_MAX 64

struct choice {
	const char *link, *ranks, *payload; // words, or NULL
	enum gpu_load load;
	const char *plays[PLAYS_MAX]; // [play_count] files
	uint32_t play_count;
	uint32_t device_index; // DEVICE_NONE: the CPU
	uint32_t timeout_s, scale_by;
	bool wants_probe, is_json, has_barrier;
};

// Reads the command line. 0, COMMAND_LINE_DONE, or -EINVAL with a reason.
int choice_parse(struct choice *ret, int argc, char **argv, struct refusal *refusal);

// The ranks of a list below `rank_count`, each once, into *ret [*ret_count], which the caller
// frees. -EINVAL with a reason, -ENOMEM.
int choice_ranks(const char *list, uint32_t rank_count, uint32_t **ret, uint32_t *ret_count,
		 struct refusal *refusal);

// Where ranks were played from records.
struct played {
	uint32_t scale_by;
	uint64_t step_bytes;	  // of gradients that a rank makes in a step
	int64_t late_ns;	  // with what the others send, at most; -1: there are no others
	const char *const *files; // [link ranks]
};

// What the ranks' generators measured; `played` is NULL where all ranks are live.
void show_table(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count,
		const struct played *played);
int show_json(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count,
	      const struct played *played);
