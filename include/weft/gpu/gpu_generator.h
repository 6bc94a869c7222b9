// SPDX-License-Identifier: Apache-2.0
// Generators: they take ranks of a link, compute what it lists at the pace that it says, release
// slices, sum and check. One runs on the CPU, one on a CUDA device; both keep the same schedule.
#pragma once

#include <signal.h>
#include <stdbool.h>

#include <weft/gpu/gpu_link.h>

#ifdef __cplusplus
extern "C" {
#endif

// A rank's data: three stretches (gradients.h). Steps count from 0; `rank` and `ranks` are of the
// group whose gradients are summed.
struct gpu_data {
	uint8_t *gradients, *landed, *sums;
	uint64_t seed, slice_bytes, block_bytes;
	uint32_t element_bytes, rank, ranks;
};

void gpu_data_of(struct gpu_data *ret, const struct gpu_link *link, uint32_t rank);

// On the CPU: the pattern of `bytes` of gradients from `offset` on; a slice's block of this rank
// summed, of what landed and its own; elements of what landed, or of sums, that are wrong.
void gpu_host_fill(const struct gpu_data *data, uint32_t step, uint64_t offset, uint64_t bytes);
void gpu_host_reduce(const struct gpu_data *data, uint64_t offset);
uint64_t gpu_host_landed_wrong(const struct gpu_data *data, uint32_t step, uint64_t offset);
uint64_t gpu_host_sums_wrong(const struct gpu_data *data, uint32_t step, uint64_t offset,
			     uint64_t bytes);

// Of ranks that are not there: their parts of this rank's block of a slice land, and the sums that
// they would send of all other blocks. `is_here` has a byte for each rank of the group: what the
// ranks send that are there is theirs.
void gpu_host_play_parts(const struct gpu_data *data, uint32_t step, uint64_t offset,
			 const uint8_t *is_here);
void gpu_host_play_sums(const struct gpu_data *data, uint32_t step, uint64_t offset, uint64_t bytes,
			const uint8_t *is_here);

// What computing is: waiting, or work as long as it was measured to take, so that fills, sums and
// copies have somebody beside them.
enum gpu_load { GPU_LOAD_SPIN, GPU_LOAD_COPY, GPU_LOAD_MATRIX };

struct gpu_generator_options {
	const uint32_t *ranks; // [rank_count], claimed by the caller
	uint32_t rank_count;
	enum gpu_load load;
	const volatile sig_atomic_t *stop; // set to non-zero by a signal handler, or NULL
};

// Computes until the run is done; the figures are in the link then. -ECONNRESET when the run is
// gone, silent or has failed, -EINTR when stopped, -ENOMEM; with a reason.
int gpu_host_run(struct gpu_link *link, const struct gpu_generator_options *options,
		 struct refusal *refusal);

// On a CUDA device: the same, with kernels; one step is one graph. Gradients are made and summed in
// the device's memory and go through the link's, which is pinned. -ENODEV when the device, its
// driver or CUDA in this build is not there, with a reason.
int gpu_cuda_run(struct gpu_link *link, const struct gpu_generator_options *options,
		 uint32_t device, struct refusal *refusal);
bool gpu_cuda_is_built(void);

// Rates of a device's memory, in bytes per second: a copy (each byte is read and written), and
// gradients made. -ENODEV, -ENOMEM with a reason.
struct gpu_cuda_rates {
	double copy, fill, reduce; // a copy counts both ways
};
int gpu_cuda_measure(uint32_t device, uint64_t bytes, struct gpu_cuda_rates *ret,
		     struct refusal *refusal);

// ---------------------------------------------------------------- what there is

#define GPU_DEVICES_MAX 16

struct gpu_device {
	char name[GPU_NAME_BYTES];
	int major, minor; // compute capability
	uint64_t bytes;	  // of its memory
	bool has_dma_buf; // its memory can be shared as dma-buf
	bool has_rdma;	  // its driver can give it to NICs
};

struct gpu_probe {
	int driver_version; // 13000: 13.0; 0: there is none
	uint32_t count;
	struct gpu_device devices[GPU_DEVICES_MAX];
	char reason[128]; // why there is none
};

// Puts what the driver reads of the environment there. It reads it once, when it is first asked
// for anything: gpu_probe(), gpu_cuda_run() and gpu_cuda_measure() call this before.
void gpu_driver_set(void);

// Asks the driver, if there is one; nothing of CUDA is needed to ask.
void gpu_probe(struct gpu_probe *ret);

#ifdef __cplusplus
}
#endif
