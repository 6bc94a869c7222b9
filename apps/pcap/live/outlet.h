// SPDX-License-Identifier: Apache-2.0
// Where frames of a capture go out: a network device of the kernel, or a port of DPDK.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "live/port.h"

struct outlet {
	int socket; // of a device of the kernel; -1: none is open
	bool is_port;
	struct one_port port;
};

// Opens the device or port that `word` names: an interface of the kernel, memif:NAME, or a virtual
// device of DPDK (net_...) with its arguments; waits for the link of a port. -EINVAL where none has
// that name, -ENODEV where it cannot be opened, -ENOTSUP for a port in a build without DPDK.
int outlet_open(struct outlet *ret, const char *word, struct refusal *refusal);

// Sends a frame. 1, or 0: it is longer than what this outlet takes; -ENODEV: it takes nothing.
int outlet_put(struct outlet *outlet, const uint8_t *bytes, uint32_t length,
	       struct refusal *refusal);

// Frees what outlet_open() got, even where that failed.
void outlet_close(struct outlet *outlet);
