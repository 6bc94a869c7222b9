// SPDX-License-Identifier: Apache-2.0
// What the files for CUDA devices share on the host.
#pragma once

#include <weft/core/refusal.h>

#include <cuda_runtime.h>
#include <errno.h>
#include <stdio.h>

#define THREADS 256
#define BLOCKS_PER_SM 8

static inline int refuse_cuda(struct refusal *refusal, const char *what, cudaError_t error)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s: %s", what, cudaGetErrorString(error));
	return error == cudaErrorMemoryAllocation ? -ENOMEM : -ENODEV;
}

#define TRY(refusal, what, call)                                                                   \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess)                                                         \
			return refuse_cuda(refusal, what, error_);                                 \
	} while (0)

// A kernel behind what the stream has; its error shows at the next TRY.
#ifdef __CUDACC__
#define LAUNCH(kernel, blocks, threads, stream, ...)                                               \
	kernel<<<(blocks), (threads), 0, (stream)>>>(__VA_ARGS__)
#endif

static inline int draw(void **ret, size_t bytes, struct refusal *refusal)
{
	TRY(refusal, "no memory on the device", cudaMalloc(ret, bytes));
	TRY(refusal, "no memory on the device", cudaMemset(*ret, 0, bytes));
	return 0;
}
