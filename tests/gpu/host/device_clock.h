// SPDX-License-Identifier: Apache-2.0
// How fast the clock of the device of threads runs. See cuda_runtime.h.
#pragma once

#define HOST_DEVICE_FAST 5000 // by a nanosecond in so many: 200 parts in a million
