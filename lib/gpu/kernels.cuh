// SPDX-License-Identifier: Apache-2.0
// What runs on a CUDA device: kernels that wait, make, sum, check and release. See generator.cu.
#pragma once

#include <weft/gpu/gpu_generator.h>
#include <weft/gpu/gpu_pattern.h>

#include <cuda_runtime.h>

// What the kernels of a rank share, in the device's memory.
struct rank_state {
	long long due_ns;    // when the computation in hand, or the one before, ends
	long long ended_ns;  // when the one before did
	long long closed_ns; // due_ns of the last one that is over, by the system's clock as known then
	unsigned step, fills, is_stopped;
	unsigned long long wrong, elements, load_units;
	long long gates_ns, update_wait_ns, compute_wait_ns, barrier_ns;
	long long fill_began_ns, fill_ns, reduce_began_ns, reduce_ns;
	unsigned long long fill_bytes, reduce_bytes;
};

struct rank_view { // pointers that a device can follow
	struct rank_state *state;
	const struct gpu_link_op *ops; // a copy
	struct gpu_link_flag *asked, *done;
	struct gpu_link_rank *rows; // [row_count] of the link; this rank's is `row`
	const unsigned *stop;
	const long long *offset_ns; // the device's timer less the system's clock, as of late
	long long *late_ns;	    // of each release
	float *load;		    // [LOAD_FLOATS] that loads work on
	uint8_t *gradients, *landed, *sums;
	unsigned long long seed, slice_bytes, block_bytes;
	unsigned element_bytes, rank, ranks, step_ops, op_count;
	unsigned row, row_count, has_barrier;
	unsigned load_kind;	// enum gpu_load
	long long load_unit_ns; // measured, of all blocks beside each other
};

#ifndef LOAD_FLOATS
#define LOAD_FLOATS (1u << 24) // more than caches hold
#endif
#define LOAD_WINDOWS 16u
#define LOAD_WINDOW (LOAD_FLOATS / 2 / LOAD_WINDOWS) // that a unit copies
#define LOAD_TURNS 16u
#define LOAD_LOOK 16 // units between two looks of one thread at the host's word
#define LOAD_TILE 16u // side of the matrices of a block of 256 threads

// Without a device's compiler the same is text for the host's: tests run it there.
#ifdef __CUDACC__
static __device__ long long timer_ns(void)
{
	long long now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
}

static __device__ unsigned load_system(const unsigned *at)
{
	unsigned value;
	asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
	return value;
}

static __device__ void store_system(unsigned *at, unsigned value)
{
	asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

static __device__ long long load_offset(const long long *at)
{
	long long value;
	asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
	return value;
}
#else
#include "weft_device_words.h"
#endif

static __device__ unsigned op_of(const struct rank_view *of, unsigned at)
{
	return of->state->step * of->step_ops + at;
}

static __device__ void wait_for_flag(const struct rank_view *of, const struct gpu_link_flag *flag)
{
	while (load_system(&flag->is_set) == 0 && load_system(of->stop) == 0)
		;
}

// Computation `at` of the step may begin; those that others hold up are put off.
static __global__ void open_op(struct rank_view of, unsigned at)
{
	unsigned index = op_of(&of, at);
	const struct gpu_link_op *op = &of.ops[index];
	if (op->work == GPU_FILL)
		of.state->fill_began_ns = timer_ns();
	if (op->needs_messages == 0)
		return;
	wait_for_flag(&of, &of.asked[index]);
	long long now = timer_ns();
	if (op->work == GPU_REDUCE)
		of.state->reduce_began_ns = now;
	if (op->work == GPU_REDUCE || now <= of.state->due_ns) // the others' words are not a sum's
		return;
	long long waited = now - of.state->ended_ns;
	if (op->work == GPU_GATE)
		of.state->gates_ns += waited;
	else if (op->work == GPU_UPDATE)
		of.state->update_wait_ns += waited;
	else
		of.state->compute_wait_ns += waited;
	of.state->due_ns = now;
}

// The beginning of a step that all ranks of the link take together.
static __global__ void meet(struct rank_view of)
{
	unsigned step = of.state->step;
	if (step == 0)
		return;
	for (unsigned i = 0; i < of.row_count; i++)
		while (load_system(&of.rows[i].step) < step && load_system(of.stop) == 0)
			;
	long long now = timer_ns();
	of.state->barrier_ns += now - of.state->ended_ns;
	of.state->ended_ns = of.state->due_ns = now;
}

// Honest contention in place of waiting: as many units of work as fit into the computation's time by
// their measured length; what is left is waited.
static __device__ void load_copy(const struct rank_view *of, unsigned long long thread,
				 unsigned long long threads, unsigned window)
{
	const float *from = of->load + window * LOAD_WINDOW;
	float *to = of->load + LOAD_FLOATS / 2 + window * LOAD_WINDOW;
	for (unsigned long long i = thread; i < LOAD_WINDOW; i += threads)
		to[i] = from[i] + 1.0f;
}

static __device__ void load_matrix(const struct rank_view *of, unsigned long long thread)
{
	const float *a = of->load + thread / (LOAD_TILE * LOAD_TILE) % (LOAD_FLOATS / 512) * 512;
	const float *b = a + LOAD_TILE * LOAD_TILE;
	unsigned row = (unsigned)(thread / LOAD_TILE % LOAD_TILE), column = (unsigned)(thread % LOAD_TILE);
	float sum = 0;
	for (unsigned turn = 0; turn < LOAD_TURNS; turn++)
		for (unsigned k = 0; k < LOAD_TILE; k++)
			sum += a[row * LOAD_TILE + k] * b[k * LOAD_TILE + column];
	if (sum != sum) // never: but the compiler does not know
		of->load[0] = sum;
}

static __device__ void load_units(const struct rank_view *of, unsigned kind, long long units)
{
	unsigned long long thread = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
	unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
	unsigned *is_stopped = &of->state->is_stopped; // in the device's memory: all look at it
	for (long long i = 0; i < units && load_system(is_stopped) == 0; i++) {
		if (thread == 0 && i % LOAD_LOOK == 0 && load_system(of->stop) != 0)
			store_system(is_stopped, 1);
		if (kind == GPU_LOAD_COPY)
			load_copy(of, thread, threads, (unsigned)(i % LOAD_WINDOWS));
		else
			load_matrix(of, thread);
	}
}

static __global__ void load_fixed(struct rank_view of, unsigned kind, long long units)
{
	load_units(&of, kind, units);
}

static __global__ void load(struct rank_view of, unsigned at)
{
	const struct gpu_link_op *op = &of.ops[op_of(&of, at)];
	long long left_ns = of.state->due_ns + op->compute_ns - timer_ns();
	if (left_ns > op->compute_ns)
		left_ns = op->compute_ns;
	long long units = left_ns * 9 / 10 / of.load_unit_ns; // the rest is waited, to the point
	load_units(&of, of.load_kind, units);
	if (blockIdx.x == 0 && threadIdx.x == 0 && units > 0)
		atomicAdd(&of.state->load_units, (unsigned long long)units);
}

// What making and summing took, the copies to and from the link's memory with it.
static __device__ void note_work(const struct rank_view *of, const struct gpu_link_op *op)
{
	struct rank_state *state = of->state;
	if (op->work == GPU_FILL) {
		state->fill_ns += timer_ns() - state->fill_began_ns;
		state->fill_bytes += op->bytes;
	} else if (op->work == GPU_REDUCE) {
		state->reduce_ns += timer_ns() - state->reduce_began_ns;
		state->reduce_bytes += op->bytes;
	}
}

// Its work is done: it ends when its time is over. Everything before is seen before the flag is.
static __global__ void close_op(struct rank_view of, unsigned at)
{
	unsigned index = op_of(&of, at);
	const struct gpu_link_op *op = &of.ops[index];
	note_work(&of, op);
	if (op->work != GPU_REDUCE) {
		of.state->due_ns += op->compute_ns;
		while (timer_ns() < of.state->due_ns && load_system(of.stop) == 0)
			;
	}
	long long now = timer_ns();
	if (load_system(of.stop) != 0)
		return; // it did not end: nobody may be told so
	if (op->work == GPU_FILL)
		of.late_ns[of.state->fills++] = now - of.state->due_ns;
	long long offset_ns = load_offset(of.offset_ns);
	if (op->work != GPU_REDUCE) {
		of.state->ended_ns = now;
		of.state->closed_ns = of.state->due_ns - offset_ns;
	}
	of.done[index].at_ns = now - offset_ns;
	__threadfence_system();
	store_system(&of.done[index].is_set, 1);
	if (op->work == GPU_UPDATE)
		store_system(&of.rows[of.row].step, op->step + 1);
}

static __global__ void end_step(struct rank_state *state)
{
	state->step++;
}

static __device__ void put(uint8_t *to, unsigned element_bytes, unsigned long long index,
			   float value)
{
	if (element_bytes == 2)
		((uint16_t *)to)[index] = gpu_bf16_of(value);
	else
		((float *)to)[index] = value;
}

static __device__ float get(const uint8_t *from, unsigned element_bytes, unsigned long long index)
{
	return element_bytes == 2 ? gpu_bf16_value(((const uint16_t *)from)[index])
				  : ((const float *)from)[index];
}

// Bit for bit: values are 0 or more, so equal ones have equal bits, but for a 0 with a sign.
static __device__ bool is_as(const uint8_t *at, unsigned element_bytes, unsigned long long index,
			     float value)
{
	if (element_bytes == 2)
		return ((const uint16_t *)at)[index] == gpu_bf16_of(value);
	return __float_as_uint(((const float *)at)[index]) == __float_as_uint(value);
}

// gpu_pattern_value() of four dice, a byte each, as FP32: 7 bits of a byte below the exponent of 128
// are 128 and so many, and that less 127 is the value.
static __device__ void put_values(unsigned *ret, unsigned dice, unsigned rank)
{
	unsigned turned = ((dice & 0x7f7f7f7fu) + (rank & 0x7f) * 0x01010101u) & 0x7f7f7f7fu;
	ret[0] = __float_as_uint(__uint_as_float(__byte_perm(turned, 0x43000000u, 0x7044)) - 127.0f);
	ret[1] = __float_as_uint(__uint_as_float(__byte_perm(turned, 0x43000000u, 0x7144)) - 127.0f);
	ret[2] = __float_as_uint(__uint_as_float(__byte_perm(turned, 0x43000000u, 0x7244)) - 127.0f);
	ret[3] = __float_as_uint(__uint_as_float(__byte_perm(turned, 0x43000000u, 0x7344)) - 127.0f);
}

// Eight elements of a group at once where the stretch is made of whole groups; 16 bytes a store.
static __device__ void put_group(uint8_t *to, unsigned element_bytes, unsigned long long group,
				 unsigned long long dice, unsigned rank)
{
	unsigned words[8];
	put_values(words, (unsigned)dice, rank);
	put_values(words + 4, (unsigned)(dice >> 32), rank);
	uint4 *at = (uint4 *)(to + group * 8 * element_bytes);
	if (element_bytes == 4) {
		at[0] = make_uint4(words[0], words[1], words[2], words[3]);
		at[1] = make_uint4(words[4], words[5], words[6], words[7]);
		return;
	}
	// whole numbers up to 128 have nothing in the lower half
	at[0] = make_uint4(__byte_perm(words[0], words[1], 0x7632),
			   __byte_perm(words[2], words[3], 0x7632),
			   __byte_perm(words[4], words[5], 0x7632),
			   __byte_perm(words[6], words[7], 0x7632));
}

static __device__ void fill_range(const struct rank_view *of, unsigned step,
				  unsigned long long first, unsigned long long count)
{
	unsigned long long thread = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
	unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
	bool is_whole = first % GPU_PATTERN_GROUP == 0 && count % GPU_PATTERN_GROUP == 0;
	for (unsigned long long i = thread; is_whole && i < count / GPU_PATTERN_GROUP; i += threads)
		put_group(of->gradients, of->element_bytes, first / GPU_PATTERN_GROUP + i,
			  gpu_pattern_dice(of->seed, step, first / GPU_PATTERN_GROUP + i),
			  of->rank);
	for (unsigned long long i = thread; !is_whole && i < count; i += threads) {
		unsigned long long dice = gpu_pattern_dice(of->seed, step,
							   (first + i) / GPU_PATTERN_GROUP);
		unsigned die = gpu_pattern_die(dice, (unsigned)((first + i) % GPU_PATTERN_GROUP));
		put(of->gradients, of->element_bytes, first + i,
		    (float)gpu_pattern_value(die, of->rank));
	}
}

static __global__ void fill(struct rank_view of, unsigned at)
{
	const struct gpu_link_op *op = &of.ops[op_of(&of, at)];
	fill_range(&of, op->step, op->offset / of.element_bytes, op->bytes / of.element_bytes);
}

static __device__ unsigned die_of(const struct rank_view *of, unsigned step,
				  unsigned long long index)
{
	return gpu_pattern_die(gpu_pattern_dice(of->seed, step, index / GPU_PATTERN_GROUP),
			       (unsigned)(index % GPU_PATTERN_GROUP));
}

static __device__ void count_wrong(const struct rank_view *of, unsigned long long wrong,
				   unsigned long long elements)
{
	if (wrong > 0)
		atomicAdd(&of->state->wrong, wrong);
	if (elements > 0)
		atomicAdd(&of->state->elements, elements);
}

// This rank's block of a slice: each rank's part is looked at and added, its own where it was made.
static __global__ void reduce(struct rank_view of, unsigned at)
{
	const struct gpu_link_op *op = &of.ops[op_of(&of, at)];
	unsigned long long count = of.block_bytes / of.element_bytes, wrong = 0, looked = 0;
	unsigned long long own = op->offset + of.rank * of.block_bytes;
	unsigned long long thread = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
	for (unsigned long long i = thread; i < count; i += (unsigned long long)gridDim.x * blockDim.x) {
		unsigned die = die_of(&of, op->step, own / of.element_bytes + i);
		float sum = get(of.gradients + own, of.element_bytes, i);
		for (unsigned from = 0; from < of.ranks; from++) {
			const uint8_t *part = of.landed + op->offset + from * of.block_bytes;
			if (from == of.rank)
				continue;
			sum += get(part, of.element_bytes, i);
			wrong += !is_as(part, of.element_bytes, i,
					(float)gpu_pattern_value(die, from));
			looked++;
		}
		put(of.sums + own, of.element_bytes, i, sum);
	}
	count_wrong(&of, wrong, looked);
}

static __global__ void check_sums(struct rank_view of, unsigned at)
{
	const struct gpu_link_op *op = &of.ops[op_of(&of, at)];
	unsigned long long first = op->offset / of.element_bytes;
	unsigned long long count = op->bytes / of.element_bytes, wrong = 0, looked = 0;
	unsigned long long thread = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
	if (op->step == 0)
		return;
	for (unsigned long long i = thread; i < count; i += (unsigned long long)gridDim.x * blockDim.x) {
		unsigned die = die_of(&of, op->step - 1, first + i);
		wrong += !is_as(of.sums, of.element_bytes, first + i,
				(float)gpu_pattern_sum(die, of.ranks));
		looked++;
	}
	count_wrong(&of, wrong, looked);
}

// Answers each turn of the host with its timer.
static __global__ void answer_clock(const unsigned *turn, unsigned *answered, long long *stamps,
				    const unsigned *stop, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		while (load_system(turn) != i + 1 && load_system(stop) == 0)
			;
		stamps[i] = timer_ns();
		__threadfence_system();
		store_system(answered, i + 1);
	}
}
