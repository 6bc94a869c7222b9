// SPDX-License-Identifier: Apache-2.0
// What is published of accelerators: rates, memory, the domain that they are built into.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Numbers of a matrix product. A device that publishes no rate of a precision has 0.
enum precision { PRECISION_BF16, PRECISION_FP8, PRECISION_FP4, PRECISION_COUNT };

struct accelerator {
	const char *name;
	uint64_t
		flops[PRECISION_COUNT]; // dense operations a second, a multiplication and a sum two
	uint64_t memory_bytes, memory_Bps;
	uint32_t domain;     // devices that a scale-up domain has as it is sold
	uint64_t domain_Bps; // of a device into its domain, one way
	uint64_t nic_bps;    // of its NIC in the system of the source
	const char *source;
};

// Where a job runs, as its file has it; 0 or NULL: the file does not say.
struct site {
	const struct accelerator *device;
	enum precision precision; // of matrix products
	uint32_t efficiency_ppb;  // what of the device's rates is reached; 0: times are not worked
				  // out
	bool is_other_given;	  // the rest of a step is the file's
	uint32_t domain;	  // ranks of a scale-up domain
	uint64_t domain_Bps, nic_bps, memory_bytes;
};

// Row `index`; NULL when there are no more. The order is that of the word times.device, from 1 on.
const struct accelerator *accelerator_at(uint32_t index);

#ifdef __cplusplus
}
#endif
