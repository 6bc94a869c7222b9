// SPDX-License-Identifier: Apache-2.0
// DPDK's environment: started once, with defaults that need nothing of the machine.
#pragma once

#include <weft/core/refusal.h>
#include <weft/ports/dpdk.h>

// Starts it with room for `memory_bytes` of frames, if it is not started. -ENODEV when the machine
// or the words do not allow it, with DPDK's own reason.
int dpdk_start(const struct dpdk_options *options, uint64_t memory_bytes, struct refusal *refusal);
