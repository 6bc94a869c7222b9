// SPDX-License-Identifier: Apache-2.0
// What the parts of the generator on a CUDA device share. See generator.cu.
#pragma once

#include <weft/gpu/gpu_generator.h>

#include <pthread.h>

#include "cuda.cuh"
#include "kernels.cuh"
#include "watch.h"

#ifndef CLOCK_SAMPLES
#define CLOCK_SAMPLES 400
#endif
#define STEPS_AHEAD 4
#define CLOCK_TURNS 32   // of a look at the device's clock while it computes
#define LOOK_NS 100000000 // between two of them
#define NAP_NS 50000
#define RANKS_MAX 8	 // of a process: their waiting kernels must all be able to run at once

struct pinned { // what the host and kernels tell each other beside the link
	unsigned stop, turn, answered;
	long long offset_ns; // the device's timer less the system's clock
	long long stamps[CLOCK_SAMPLES > CLOCK_TURNS ? CLOCK_SAMPLES : CLOCK_TURNS];
};

struct cuda_rank {
	unsigned rank;
	struct rank_view view;
	uint8_t *staging; // its buffer in the link
	cudaStream_t compute, sums;
	cudaEvent_t fork, join, ahead[STEPS_AHEAD];
	cudaGraphExec_t step;
	unsigned launched; // steps
	unsigned fills;
};

struct cuda_generator {
	struct gpu_link *link;
	const struct gpu_generator_options *options;
	struct gpu_watch watch;
	struct pinned *pinned, *pinned_view; // the host's, and the device's
	struct cuda_rank *ranks;
	uint8_t *link_view; // the link as the device sees it
	bool is_registered;
	long long clock_error_ns; // the largest, and what the clocks drifted apart between two looks
	unsigned blocks, step_ops, steps;
	cudaStream_t clock;
	long long load_unit_ns;
	// the watcher: a thread, since launches may wait for kernels that wait for the run
	pthread_t watcher;
	bool has_watcher;
	unsigned is_over; // atomic: nothing is to be watched any more
	int watch_rc;	  // atomic
	struct refusal watch_refusal;
};
