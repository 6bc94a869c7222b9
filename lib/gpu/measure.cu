// SPDX-License-Identifier: Apache-2.0
// Rates of a device's memory: what a copy reaches, and what gradients reach against it.

#include <weft/gpu/gpu_generator.h>

#include "cuda.cuh"
#include "kernels.cuh"

static __global__ void fill_all(struct rank_view of, unsigned long long count)
{
	fill_range(&of, 0, 0, count);
}

// Bytes a second of `turns` runs between two events; the first run is not counted.
static double rate_of(cudaEvent_t begin, cudaEvent_t end, double bytes)
{
	float ms = 0;
	if (cudaEventSynchronize(end) != cudaSuccess ||
	    cudaEventElapsedTime(&ms, begin, end) != cudaSuccess || ms <= 0)
		return 0;
	return bytes / (ms * 1e-3);
}

static int measure(uint64_t bytes, unsigned blocks, struct gpu_cuda_rates *ret,
		   struct refusal *refusal)
{
	const unsigned turns = 20;
	struct rank_view of = {};
	struct gpu_link_op op = {GPU_REDUCE, 1, 0, 0, 0, 0, 0, bytes, 0};
	cudaEvent_t begin, end;
	uint8_t *all;
	int rc = draw((void **)&all, 3 * bytes, refusal);
	if (rc == 0)
		rc = draw((void **)&of.state, sizeof(*of.state), refusal);
	if (rc == 0)
		rc = draw((void **)&of.ops, sizeof(op), refusal);
	if (rc < 0)
		return rc;
	of.gradients = all, of.landed = all + bytes, of.sums = all + 2 * bytes;
	of.element_bytes = 2, of.ranks = 8, of.block_bytes = bytes / 8, of.step_ops = 1;
	TRY(refusal, "a list", cudaMemcpy((void *)of.ops, &op, sizeof(op), cudaMemcpyHostToDevice));
	TRY(refusal, "an event", cudaEventCreate(&begin));
	TRY(refusal, "an event", cudaEventCreate(&end));
	for (unsigned i = 0; i <= turns; i++) {
		if (i == 1)
			TRY(refusal, "an event", cudaEventRecord(begin));
		TRY(refusal, "a copy", cudaMemcpyAsync(of.landed, of.gradients, bytes, cudaMemcpyDeviceToDevice));
	}
	TRY(refusal, "an event", cudaEventRecord(end));
	ret->copy = rate_of(begin, end, 2.0 * turns * (double)bytes);
	for (unsigned i = 0; i <= turns; i++) {
		if (i == 1)
			TRY(refusal, "an event", cudaEventRecord(begin));
		LAUNCH(fill_all, blocks, THREADS, 0, of, bytes / 2);
	}
	TRY(refusal, "an event", cudaEventRecord(end));
	ret->fill = rate_of(begin, end, 1.0 * turns * (double)bytes);
	for (unsigned i = 0; i <= turns; i++) {
		if (i == 1)
			TRY(refusal, "an event", cudaEventRecord(begin));
		LAUNCH(reduce, blocks, THREADS, 0, of, 0);
	}
	TRY(refusal, "an event", cudaEventRecord(end));
	ret->reduce = rate_of(begin, end, 1.0 * turns * (double)bytes);
	TRY(refusal, "a kernel", cudaGetLastError());
	return 0;
}

extern "C" int gpu_cuda_measure(uint32_t device, uint64_t bytes, struct gpu_cuda_rates *ret,
				struct refusal *refusal)
{
	int sms = 0;
	gpu_driver_set();
	TRY(refusal, "the device cannot be used", cudaSetDevice((int)device));
	TRY(refusal, "the device says nothing of itself",
	    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, (int)device));
	int rc = measure(bytes, (unsigned)sms * BLOCKS_PER_SM, ret, refusal);
	cudaDeviceReset();
	return rc;
}
