// SPDX-License-Identifier: Apache-2.0
// The generator for CUDA devices, compiled for the device of threads: its own text, unchanged.
#include "cuda_runtime.h"

#define CLOCK_SAMPLES 20
#define LOAD_FLOATS (1u << 16) // its threads are one after the other

#include "../../../lib/gpu/generator.cu"
