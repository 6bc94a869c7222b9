// SPDX-License-Identifier: Apache-2.0
// A build without CUDA: what takes generator.cu's place.

#include <weft/gpu/gpu_generator.h>

#include <errno.h>

static int refuse_cuda(struct refusal *refusal)
{
	return refuse(refusal, -ENODEV,
		      "this weft was built without CUDA (no nvcc was found): --device none "
		      "computes the same on the CPU");
}

bool gpu_cuda_is_built(void)
{
	return false;
}

int gpu_cuda_run(struct gpu_link *, const struct gpu_generator_options *, uint32_t,
		 struct refusal *refusal)
{
	return refuse_cuda(refusal);
}

int gpu_cuda_measure(uint32_t, uint64_t, struct gpu_cuda_rates *, struct refusal *refusal)
{
	return refuse_cuda(refusal);
}
