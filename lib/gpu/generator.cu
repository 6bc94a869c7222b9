// SPDX-License-Identifier: Apache-2.0
// The generator on a CUDA device. Each rank has two streams: computations follow each other on one,
// sums run beside on the other; both of one training step are one graph, launched once a step. What
// the CPU's generator does in a loop, kernels do here by the device's global timer:
//
//	open    waits until the run asks for a computation (a flag in pinned memory)
//	fill, reduce, check   do its work in the device's memory
//	close   waits until its time is over, and sets its flag behind all that was written
//
// Kernels that wait look at a word by which the host ends them all.

#include <weft/gpu/gpu_generator.h>

#include <cuda_runtime.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/gpu/gpu_lateness.h>

#include "clock.cuh"
#include "generator.cuh"

// ---------------------------------------------------------------- on the host

static int open_device(struct cuda_generator *all, uint32_t device, struct refusal *refusal)
{
	int sms = 0;
	gpu_driver_set();
	TRY(refusal, "the device cannot be used", cudaSetDevice((int)device));
	TRY(refusal, "the device says nothing of itself",
	    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, (int)device));
	all->blocks = (unsigned)sms * BLOCKS_PER_SM;
	TRY(refusal, "no pinned memory",
	    cudaHostAlloc((void **)&all->pinned, sizeof(*all->pinned), cudaHostAllocMapped));
	memset(all->pinned, 0, sizeof(*all->pinned));
	TRY(refusal, "no pinned memory",
	    cudaHostGetDevicePointer((void **)&all->pinned_view, all->pinned, 0));
	TRY(refusal, "a stream", cudaStreamCreateWithFlags(&all->clock, cudaStreamNonBlocking));
	return 0;
}

static int pin_link(struct cuda_generator *all, struct refusal *refusal)
{
	TRY(refusal, "the link cannot be pinned (ulimit -l?)",
	    cudaHostRegister(all->link->base, all->link->bytes, cudaHostRegisterMapped));
	all->is_registered = true;
	TRY(refusal, "the device does not see the link",
	    cudaHostGetDevicePointer((void **)&all->link_view, all->link->base, 0));
	return 0;
}

// ---------------------------------------------------------------- one rank

static int draw_rank(struct cuda_generator *all, struct cuda_rank *of, struct refusal *refusal)
{
	const struct gpu_link_header *header = all->link->header;
	struct rank_view *view = &of->view;
	size_t ops = header->op_count * sizeof(struct gpu_link_op);
	uint8_t *stretches;
	int rc = draw((void **)&stretches, 3 * header->stretch_bytes, refusal);
	if (rc == 0)
		rc = draw((void **)&view->state, sizeof(*view->state), refusal);
	if (rc == 0)
		rc = draw((void **)&view->late_ns, (of->fills + 1) * sizeof(long long), refusal);
	if (rc == 0)
		rc = draw((void **)&view->ops, ops, refusal);
	if (rc == 0 && all->options->load != GPU_LOAD_SPIN)
		rc = draw((void **)&view->load, LOAD_FLOATS * sizeof(float), refusal);
	if (rc < 0)
		return rc;
	TRY(refusal, "the list of computations",
	    cudaMemcpy((void *)view->ops, all->link->ops, ops, cudaMemcpyHostToDevice));
	view->gradients = stretches;
	view->landed = stretches + header->stretch_bytes;
	view->sums = stretches + 2 * header->stretch_bytes;
	return 0;
}

static struct gpu_link_flag *flags_view(const struct cuda_generator *all, uint64_t offset,
					unsigned rank)
{
	struct gpu_link_flag *flags = (struct gpu_link_flag *)(all->link_view + offset);
	return flags + (uint64_t)rank * all->link->header->op_count;
}

static int prepare_rank(struct cuda_generator *all, struct cuda_rank *of, struct refusal *refusal)
{
	const struct gpu_link_header *header = all->link->header;
	for (uint32_t i = 0; i < header->op_count; i++)
		of->fills += all->link->ops[i].work == GPU_FILL;
	of->view.asked = flags_view(all, header->asked, of->rank);
	of->view.done = flags_view(all, header->done, of->rank);
	of->view.rows = (struct gpu_link_rank *)(all->link_view + header->ranks);
	of->view.row = of->rank;
	of->view.row_count = header->rank_count;
	of->view.has_barrier = header->has_barrier;
	of->view.stop = &all->pinned_view->stop;
	of->view.offset_ns = &all->pinned_view->offset_ns;
	of->view.load_kind = all->options->load;
	of->view.seed = header->seed;
	of->view.slice_bytes = header->slice_bytes;
	of->view.block_bytes = header->block_bytes;
	of->view.element_bytes = header->element_bytes;
	of->view.rank = all->link->numbers[of->rank];
	of->view.ranks = header->group_ranks;
	of->view.step_ops = all->step_ops;
	of->view.op_count = header->op_count;
	of->staging = gpu_link_buffer(all->link, of->rank);
	TRY(refusal, "a stream", cudaStreamCreateWithFlags(&of->compute, cudaStreamNonBlocking));
	TRY(refusal, "a stream", cudaStreamCreateWithFlags(&of->sums, cudaStreamNonBlocking));
	TRY(refusal, "an event", cudaEventCreateWithFlags(&of->fork, cudaEventDisableTiming));
	TRY(refusal, "an event", cudaEventCreateWithFlags(&of->join, cudaEventDisableTiming));
	for (int i = 0; i < STEPS_AHEAD; i++)
		TRY(refusal, "an event",
		    cudaEventCreateWithFlags(&of->ahead[i], cudaEventDisableTiming));
	return draw_rank(all, of, refusal);
}

// ---------------------------------------------------------------- one step

static cudaError_t to_staging(const struct cuda_rank *of, const uint8_t *from, uint64_t stretch,
			      uint64_t offset, uint64_t bytes, cudaStream_t stream)
{
	return cudaMemcpyAsync(of->staging + stretch + offset, from + offset, bytes,
			       cudaMemcpyDeviceToHost, stream);
}

static cudaError_t from_staging(const struct cuda_rank *of, uint8_t *to, uint64_t stretch,
				uint64_t offset, uint64_t bytes, cudaStream_t stream)
{
	return cudaMemcpyAsync(to + offset, of->staging + stretch + offset, bytes,
			       cudaMemcpyHostToDevice, stream);
}

static cudaError_t put_sum(const struct cuda_generator *all, const struct cuda_rank *of,
			   unsigned at, const struct gpu_link_op *op)
{
	const struct gpu_link_header *header = all->link->header;
	uint64_t own = op->offset + of->view.rank * header->block_bytes;
	LAUNCH(open_op, 1, 1, of->sums, of->view, at);
	cudaError_t error = from_staging(of, of->view.landed, header->stretch_bytes, op->offset,
					 op->bytes, of->sums);
	LAUNCH(reduce, all->blocks, THREADS, of->sums, of->view, at);
	if (error == cudaSuccess)
		error = to_staging(of, of->view.sums, 2 * header->stretch_bytes, own,
				   header->block_bytes, of->sums);
	LAUNCH(close_op, 1, 1, of->sums, of->view, at);
	return error;
}

// Gates, fills and the update; the fill's slice is in the staging before it is released.
static cudaError_t put_compute(const struct cuda_generator *all, const struct cuda_rank *of,
			       unsigned at, const struct gpu_link_op *op)
{
	const struct gpu_link_header *header = all->link->header;
	cudaError_t error = cudaSuccess;
	LAUNCH(open_op, 1, 1, of->compute, of->view, at);
	if (op->work == GPU_FILL) {
		LAUNCH(fill, all->blocks, THREADS, of->compute, of->view, at);
		error = to_staging(of, of->view.gradients, 0, op->offset, op->bytes, of->compute);
	} else if (op->work == GPU_GATE) {
		error = from_staging(of, of->view.sums, 2 * header->stretch_bytes, op->offset,
				     op->bytes, of->compute);
		LAUNCH(check_sums, all->blocks, THREADS, of->compute, of->view, at);
	}
	if (all->options->load != GPU_LOAD_SPIN && op->compute_ns > 0)
		LAUNCH(load, all->blocks, THREADS, of->compute, of->view, at);
	LAUNCH(close_op, 1, 1, of->compute, of->view, at);
	return error;
}

// A sum reads what its rank made itself, so it begins behind its fill.
static cudaError_t put_behind_fill(const struct cuda_generator *all, struct cuda_rank *of,
				   unsigned at, const struct gpu_link_op *op)
{
	cudaError_t error = cudaEventRecord(of->fork, of->compute);
	if (error == cudaSuccess)
		error = cudaStreamWaitEvent(of->sums, of->fork, 0);
	return error == cudaSuccess ? put_sum(all, of, at, op) : error;
}

// The run asks for the update when all sums are done. So they stand before it: where a device takes
// branches of a graph one behind the other, a kernel that waits for this would hold them up for
// ever.
static cudaError_t put_update(const struct cuda_generator *all, struct cuda_rank *of, unsigned at,
			      const struct gpu_link_op *op)
{
	cudaError_t error = cudaEventRecord(of->join, of->sums);
	if (error == cudaSuccess)
		error = cudaStreamWaitEvent(of->compute, of->join, 0);
	return error == cudaSuccess ? put_compute(all, of, at, op) : error;
}

// `count` computations of a step, which stand from `first` on in the list; the update is its last.
static cudaError_t put_step(const struct cuda_generator *all, struct cuda_rank *of, unsigned first,
			    unsigned count)
{
	cudaError_t error = cudaSuccess;
	if (all->link->header->has_barrier != 0)
		LAUNCH(meet, 1, 1, of->compute, of->view);
	for (unsigned at = 0; at < count && error == cudaSuccess; at++) {
		const struct gpu_link_op *op = &all->link->ops[first + at];
		error = op->work == GPU_REDUCE	 ? put_behind_fill(all, of, at, op)
			: op->work == GPU_UPDATE ? put_update(all, of, at, op)
						 : put_compute(all, of, at, op);
	}
	LAUNCH(end_step, 1, 1, of->compute, of->view.state);
	return error == cudaSuccess ? cudaGetLastError() : error;
}

static int capture_step(const struct cuda_generator *all, struct cuda_rank *of,
			struct refusal *refusal)
{
	cudaGraph_t graph;
	TRY(refusal, "a graph",
	    cudaStreamBeginCapture(of->compute, cudaStreamCaptureModeThreadLocal));
	cudaError_t error = cudaEventRecord(of->fork, of->compute);
	if (error == cudaSuccess) // the stream of sums joins the graph
		error = cudaStreamWaitEvent(of->sums, of->fork, 0);
	if (error == cudaSuccess)
		error = put_step(all, of, 0, all->step_ops);
	cudaError_t end = cudaStreamEndCapture(of->compute, &graph);
	TRY(refusal, "a step as a graph", error);
	TRY(refusal, "a step as a graph", end);
	TRY(refusal, "a step as a graph", cudaGraphInstantiate(&of->step, graph, 0));
	TRY(refusal, "a step as a graph", cudaGraphDestroy(graph));
	return 0;
}

// ---------------------------------------------------------------- the run

static int start_ranks(struct cuda_generator *all, struct refusal *refusal)
{
	for (uint32_t i = 0; i < all->options->rank_count; i++) {
		struct rank_state state = {0};
		state.due_ns = state.ended_ns = all->link->header->start_ns +
			all->pinned->offset_ns;
		TRY(refusal, "the start",
		    cudaMemcpy(all->ranks[i].view.state, &state, sizeof(state),
			       cudaMemcpyHostToDevice));
	}
	// a copy from memory that is not pinned may still be on its way, and the ranks' streams do
	// not wait for it by themselves
	TRY(refusal, "the start", cudaDeviceSynchronize());
	return 0;
}

// Keeps a few steps launched ahead; the last gates stand alone. Returns whether all was launched.
static int launch(struct cuda_generator *all, struct cuda_rank *of, bool *ret_is_all,
		  struct refusal *refusal)
{
	*ret_is_all = of->launched > all->steps;
	if (*ret_is_all)
		return 0;
	cudaEvent_t turn = of->ahead[of->launched % STEPS_AHEAD];
	cudaError_t error = of->launched < STEPS_AHEAD ? cudaSuccess : cudaEventQuery(turn);
	if (error == cudaErrorNotReady)
		return 0;
	TRY(refusal, "a step", error);
	if (of->launched < all->steps)
		TRY(refusal, "a step", cudaGraphLaunch(of->step, of->compute));
	else
		TRY(refusal, "the last gates",
		    put_step(all, of, all->steps * all->step_ops,
			     all->link->header->op_count - all->steps * all->step_ops));
	TRY(refusal, "a step", cudaEventRecord(turn, of->compute));
	of->launched++;
	return 0;
}

static int play_all(struct cuda_generator *all, struct refusal *refusal)
{
	for (bool is_all = false; !is_all;) {
		is_all = true;
		for (uint32_t i = 0; i < all->options->rank_count; i++) {
			struct cuda_rank *of = &all->ranks[i];
			bool is_launched;
			int rc = launch(all, of, &is_launched, refusal);
			if (rc < 0)
				return rc;
			cudaError_t error = cudaStreamQuery(of->compute);
			if (error != cudaErrorNotReady)
				TRY(refusal, "a kernel", error);
			is_all = is_all && is_launched && error == cudaSuccess;
		}
		int rc = look(all, refusal);
		if (rc < 0)
			return rc;
	}
	return 0;
}

// All releases of a rank, sorted.
static int tell_lateness(const struct cuda_rank *of, unsigned count,
			 struct gpu_link_figures *figures, struct refusal *refusal)
{
	struct gpu_lateness lateness;
	long long *late_ns = (long long *)calloc(count + 1, sizeof(*late_ns));
	if (late_ns == NULL || gpu_lateness_init(&lateness, count) < 0) {
		free(late_ns);
		return refuse(refusal, -ENOMEM, "no memory for % releases", count);
	}
	cudaError_t error = cudaMemcpy(late_ns, of->view.late_ns, count * sizeof(*late_ns),
				       cudaMemcpyDeviceToHost);
	for (unsigned i = 0; i < count; i++)
		gpu_lateness_add(&lateness, late_ns[i]);
	figures->late_p50_ns = gpu_lateness_quantile(&lateness, 500);
	figures->late_p99_ns = gpu_lateness_quantile(&lateness, 990);
	figures->late_max_ns = gpu_lateness_quantile(&lateness, 1000);
	gpu_lateness_free(&lateness);
	free(late_ns);
	TRY(refusal, "figures", error);
	return 0;
}

static void tell_load(const struct cuda_generator *all, const struct rank_state *state,
		      struct gpu_link_figures *figures)
{
	uint64_t threads = (uint64_t)all->blocks * THREADS;
	if (all->options->load == GPU_LOAD_COPY)
		figures->load_bytes = state->load_units * LOAD_WINDOW * 2 * sizeof(float);
	if (all->options->load == GPU_LOAD_MATRIX)
		figures->load_flops = state->load_units * threads * LOAD_TURNS * LOAD_TILE * 2;
}

static int tell_figures(struct cuda_generator *all, struct cuda_rank *of, struct refusal *refusal)
{
	struct rank_state state;
	struct gpu_link_figures told = {}, *figures = &told;
	TRY(refusal, "figures",
	    cudaMemcpy(&state, of->view.state, sizeof(state), cudaMemcpyDeviceToHost));
	int rc = tell_lateness(of, state.fills, figures, refusal);
	if (rc < 0)
		return rc;
	figures->releases = state.fills;
	figures->gates_ns = state.gates_ns;
	figures->update_wait_ns = state.update_wait_ns;
	figures->compute_wait_ns = state.compute_wait_ns;
	figures->barrier_ns = state.barrier_ns;
	figures->elements = state.elements;
	figures->wrong = state.wrong;
	figures->clock_error_ns = all->clock_error_ns;
	figures->clock_offset_ns = all->pinned->offset_ns;
	figures->fill_ns = state.fill_ns;
	figures->fill_bytes = state.fill_bytes;
	figures->reduce_ns = state.reduce_ns;
	figures->reduce_bytes = state.reduce_bytes;
	figures->run_ns = state.closed_ns - all->link->header->start_ns;
	tell_load(all, &state, figures);
	rc = gpu_link_measure_steps(all->link, of->rank, figures, refusal);
	if (rc == 0)
		gpu_link_tell(all->link, of->rank, figures);
	return rc;
}

// The clocks are related once more: what they drifted apart since the look before is part of the
// error.
static int tell_all(struct cuda_generator *all, struct refusal *refusal)
{
	int rc = relate_clocks(all, CLOCK_SAMPLES, false, refusal);
	for (uint32_t i = 0; rc == 0 && i < all->options->rank_count; i++)
		rc = tell_figures(all, &all->ranks[i], refusal);
	return rc;
}

// How long a unit of the load takes where nothing else is, by the mean of many.
static int measure_load(struct cuda_generator *all, struct refusal *refusal)
{
	const unsigned units = 50;
	if (all->options->load == GPU_LOAD_SPIN)
		return 0;
	for (int turn = 0; turn < 2; turn++) { // the first is not counted
		long long begin_ns = gpu_clock_ns();
		LAUNCH(load_fixed, all->blocks, THREADS, all->clock, all->ranks[0].view,
		       (unsigned)all->options->load, (long long)units);
		TRY(refusal, "a load", cudaGetLastError());
		TRY(refusal, "a load", cudaStreamSynchronize(all->clock));
		all->load_unit_ns = (gpu_clock_ns() - begin_ns) / units + 1;
	}
	for (uint32_t i = 0; i < all->options->rank_count; i++)
		all->ranks[i].view.load_unit_ns = all->load_unit_ns;
	return 0;
}

static int prepare(struct cuda_generator *all, uint32_t device, struct refusal *refusal)
{
	const struct gpu_link_header *header = all->link->header;
	while (all->step_ops < header->op_count && all->link->ops[all->step_ops].step == 0)
		all->step_ops++;
	all->steps = all->step_ops == 0 ? 0 : header->op_count / all->step_ops;
	all->ranks = (struct cuda_rank *)calloc(all->options->rank_count, sizeof(*all->ranks));
	if (all->ranks == NULL)
		return refuse(refusal, -ENOMEM, "no memory for ranks");
	int rc = open_device(all, device, refusal);
	if (rc == 0)
		rc = pin_link(all, refusal);
	for (uint32_t i = 0; rc == 0 && i < all->options->rank_count; i++) {
		all->ranks[i].rank = all->options->ranks[i];
		rc = prepare_rank(all, &all->ranks[i], refusal);
	}
	if (rc == 0)
		rc = measure_load(all, refusal);
	for (uint32_t i = 0; rc == 0 && i < all->options->rank_count; i++)
		rc = capture_step(all, &all->ranks[i], refusal);
	return rc == 0 ? relate_clocks(all, CLOCK_SAMPLES, true, refusal) : rc;
}

static int wait_for_start(struct cuda_generator *all, struct refusal *refusal)
{
	while (gpu_link_host_state(all->link) == GPU_HOST_WAITS) {
		int rc = look(all, refusal);
		if (rc < 0)
			return rc;
	}
	int rc = gpu_link_take_start(all->link, refusal);
	return rc == 0 ? start_ranks(all, refusal) : rc;
}

// Waiting kernels see the word and end; what is left is the device's to give back.
static void clean_up(struct cuda_generator *all)
{
	if (all->pinned != NULL)
		__atomic_store_n(&all->pinned->stop, 1u, __ATOMIC_RELEASE);
	end_watcher(all);
	cudaDeviceSynchronize(); // errors have been told
	if (all->is_registered)
		cudaHostUnregister(all->link->base);
	cudaDeviceReset();
	free(all->ranks);
}

extern "C" bool gpu_cuda_is_built(void)
{
	return true;
}

extern "C" int gpu_cuda_run(struct gpu_link *link, const struct gpu_generator_options *options,
			    uint32_t device, struct refusal *refusal)
{
	struct cuda_generator all = {};
	all.link = all.watch.link = link;
	all.options = all.watch.options = options;
	if (options->rank_count > RANKS_MAX)
		return refuse(refusal, -EINVAL,
			      "% ranks for one process on a device; at most % can wait beside each "
			      "other: start several",
			      options->rank_count, RANKS_MAX);
	int rc = prepare(&all, device, refusal);
	for (uint32_t i = 0; rc == 0 && i < options->rank_count; i++)
		gpu_link_set_rank(link, options->ranks[i], GPU_RANK_READY);
	if (rc == 0)
		rc = start_watcher(&all, refusal);
	if (rc == 0)
		rc = wait_for_start(&all, refusal);
	if (rc == 0)
		rc = play_all(&all, refusal);
	end_watcher(&all);
	if (rc == 0)
		rc = tell_all(&all, refusal);
	clean_up(&all);
	return rc;
}
