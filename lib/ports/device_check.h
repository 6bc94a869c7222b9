// SPDX-License-Identifier: Apache-2.0
// What DPDK finds out too late, or does not say.
#pragma once

#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/ports/dpdk.h>

#include "device_name.h"

// Whether the arguments of a virtual device carry frames of `frame_bytes`, and go with the words of
// DPDK's start. -EINVAL with a reason.
int device_check_arguments(const struct device_name *name, uint32_t frame_bytes,
			   const struct dpdk_options *options, struct refusal *refusal);

// Bytes of a buffer for frames of `frame_bytes` that the device wants.
uint32_t device_room(const struct device_name *name, uint32_t frame_bytes);

// Takes the kernel's interface of a device, if it is one, until the process ends: two processes on
// one would both get what comes. -EBUSY with a reason.
int device_hold_interface(const struct device_name *name, struct refusal *refusal);
