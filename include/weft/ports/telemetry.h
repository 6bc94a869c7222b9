// SPDX-License-Identifier: Apache-2.0
// DPDK's telemetry: a socket of the process (dpdk_telemetry.v2 in its run-time folder), at which
// others ask by a command and get an object of JSON. It is there where DPDK was started with
// --telemetry among dpdk_options.words.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TELEMETRY_CELLS_MAX 32u
#define TELEMETRY_VALUES_MAX 256u

// A member of the object: a number, a text, or an array of numbers.
struct telemetry_cell {
	const char *name;
	const char *text;	// or NULL
	const uint64_t *values; // [count], or NULL
	uint32_t count;
	uint64_t value;
};

// Answers a command: fills at most TELEMETRY_CELLS_MAX cells, whose arrays it keeps until it is
// asked again, and returns how many; -errno where there is no answer. `parameters` is what stands
// behind the command's comma, or NULL. In a thread of DPDK's, one call at a time.
typedef int telemetry_fn(const char *parameters, struct telemetry_cell *ret);

// Takes a command ("/weft/planes"). -ENODEV: DPDK does not, or is not here.
int telemetry_serve(const char *command, const char *help, telemetry_fn *fn);

#ifdef __cplusplus
}
#endif
