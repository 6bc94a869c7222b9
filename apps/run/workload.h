// SPDX-License-Identifier: Apache-2.0
// The file that a scenario's traffic stands in: a SimAI trace, or a traffic matrix of htsim.
#pragma once

#include <weft/world.h>

struct workload {
	char *text; // NULL: none was read
	size_t bytes;
};

// Reads the file at `path` and makes sure that it is what `kind` says; the number of NICs that it
// is for goes to `ret_nics`. -errno with the file, the line and the reason in `refusal`.
int workload_read(struct workload *ret, enum traffic_kind kind, const char *path,
		  uint32_t *ret_nics, struct refusal *refusal);

void workload_free(struct workload *workload);
