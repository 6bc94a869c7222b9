// SPDX-License-Identifier: Apache-2.0
// The generator on the CPU: one thread plays all of its ranks. What a device does with its clock, a
// loop does here: a computation begins when the one before was due to end, or when it is asked for;
// its work is done at once, and it ends when its time is over.

#include <weft/gpu/gpu_generator.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/core/check.h>
#include <weft/gpu/gpu_lateness.h>

#include "watch.h"

// Work that the CPU does in place of waiting, in units as long as they were measured to take.

struct gpu_host_load {
	enum gpu_load kind;
	float *memory; // NULL: GPU_LOAD_SPIN
	int64_t unit_ns;
	uint64_t units;
};

#define COPY_FLOATS (1u << 16) // of a unit: 256 KiB, read and written
#define MATRIX_SIDE 32u
#define COPIES 64u // stretches each way: more than caches hold
#define MEASURED_UNITS 64u

static void copy(const struct gpu_host_load *load)
{
	float *from = load->memory + load->units % COPIES * COPY_FLOATS;
	memcpy(from + COPIES * COPY_FLOATS, from, COPY_FLOATS * sizeof(*from));
}

static void multiply(const struct gpu_host_load *load)
{
	const float *a = load->memory, *b = a + MATRIX_SIDE * MATRIX_SIDE;
	float *to = load->memory + 2 * MATRIX_SIDE * MATRIX_SIDE;
	for (uint32_t i = 0; i < MATRIX_SIDE; i++)
		for (uint32_t j = 0; j < MATRIX_SIDE; j++) {
			float sum = 0;
			for (uint32_t k = 0; k < MATRIX_SIDE; k++)
				sum += a[i * MATRIX_SIDE + k] * b[k * MATRIX_SIDE + j];
			to[i * MATRIX_SIDE + j] = sum;
		}
}

static void gpu_host_load_unit(struct gpu_host_load *load)
{
	if (load->kind == GPU_LOAD_COPY)
		copy(load);
	else
		multiply(load);
	load->units++;
}

// Measures a unit where nothing else is done. -ENOMEM.
static int gpu_host_load_init(struct gpu_host_load *load, enum gpu_load kind)
{
	*load = (struct gpu_host_load){.kind = kind};
	if (kind == GPU_LOAD_SPIN)
		return 0;
	load->memory = calloc(2 * COPIES * COPY_FLOATS, sizeof(*load->memory));
	if (load->memory == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < COPIES; i++) // the first turn finds its memory
		gpu_host_load_unit(load);
	int64_t begin_ns = gpu_clock_ns();
	for (uint32_t i = 0; i < MEASURED_UNITS; i++)
		gpu_host_load_unit(load);
	load->unit_ns = (gpu_clock_ns() - begin_ns) / MEASURED_UNITS + 1;
	load->units = 0;
	return 0;
}

static void gpu_host_load_tell(const struct gpu_host_load *load, struct gpu_link_figures *figures)
{
	uint64_t side = MATRIX_SIDE;
	if (load->kind == GPU_LOAD_COPY)
		figures->load_bytes = load->units * COPY_FLOATS * sizeof(float);
	if (load->kind == GPU_LOAD_MATRIX)
		figures->load_flops = load->units * 2 * side * side * side;
}

static void gpu_host_load_free(struct gpu_host_load *load)
{
	free(load->memory);
	load->memory = NULL;
}

#define NAP_NS INT64_C(200000)	  // as long as nothing is due: others have the CPU
#define TURN_NS INT64_C(20000000) // of a rank at most: then the others, and a look at the run

struct replay {
	uint32_t rank;
	struct gpu_data data;
	uint32_t next;	    // computation in hand, sums apart
	uint32_t sum_first; // the first sum that is not done
	uint32_t step;	    // that it has begun
	bool is_busy;	    // `next` has begun
	int64_t due_ns;	    // when it, or the one before, ends
	int64_t ended_ns;   // when the one before did
	struct gpu_lateness lateness;
	struct gpu_link_figures figures;
};

struct generator {
	struct gpu_link *link;
	const struct gpu_generator_options *options;
	struct replay *players;
	struct gpu_watch watch;
	struct gpu_host_load load;
};

// ---------------------------------------------------------------- one computation

static bool is_sum(const struct gpu_link *link, uint32_t op)
{
	return link->ops[op].work == GPU_REDUCE;
}

static void count_wrong(struct replay *replay, uint64_t elements, uint64_t wrong)
{
	replay->figures.elements += elements;
	replay->figures.wrong += wrong;
}

// What stands in the slice's blocks is what the others made; then it is summed.
static void reduce(struct replay *replay, const struct gpu_link_op *op)
{
	const struct gpu_data *data = &replay->data;
	uint64_t landed = data->block_bytes * (data->ranks - 1);
	int64_t begin_ns = gpu_clock_ns();
	count_wrong(replay, landed / data->element_bytes,
		    gpu_host_landed_wrong(data, op->step, op->offset));
	gpu_host_reduce(data, op->offset);
	replay->figures.reduce_ns += gpu_clock_ns() - begin_ns;
	replay->figures.reduce_bytes += landed + data->block_bytes;
}

static void work(struct replay *replay, const struct gpu_link_op *op)
{
	const struct gpu_data *data = &replay->data;
	int64_t begin_ns = gpu_clock_ns();
	if (op->work == GPU_FILL) {
		gpu_host_fill(data, op->step, op->offset, op->bytes);
		replay->figures.fill_ns += gpu_clock_ns() - begin_ns;
		replay->figures.fill_bytes += op->bytes;
	} else if (op->work == GPU_GATE && op->step > 0) {
		count_wrong(replay, op->bytes / data->element_bytes,
			    gpu_host_sums_wrong(data, op->step - 1, op->offset, op->bytes));
	}
}

// ---------------------------------------------------------------- one rank

static void raise_done(const struct gpu_link *link, const struct replay *replay, uint32_t op,
		       int64_t now_ns)
{
	gpu_link_raise_own(link, gpu_link_flag_of(link, link->done, replay->rank, op), now_ns);
}

static bool is_asked(const struct gpu_link *link, const struct replay *replay, uint32_t op)
{
	return gpu_link_is_raised(gpu_link_flag_of(link, link->asked, replay->rank, op));
}

static bool is_done(const struct gpu_link *link, const struct replay *replay, uint32_t op)
{
	return gpu_link_is_raised(gpu_link_flag_of(link, link->done, replay->rank, op));
}

// Sums whose parts are here, in any order. They are of the step in hand: the update that ends it
// waits for them.
static bool do_sums(const struct gpu_link *link, struct replay *replay, int64_t until_ns)
{
	uint32_t count = link->header->op_count;
	bool has_done = false;
	while (replay->sum_first < count &&
	       (!is_sum(link, replay->sum_first) || is_done(link, replay, replay->sum_first)))
		replay->sum_first++;
	int64_t now_ns = 0;
	for (uint32_t i = replay->sum_first; i < count && now_ns < until_ns; i++) {
		if (link->ops[i].work == GPU_UPDATE)
			break;
		if (!is_sum(link, i) || is_done(link, replay, i) || !is_asked(link, replay, i))
			continue;
		reduce(replay, &link->ops[i]);
		now_ns = gpu_clock_ns();
		raise_done(link, replay, i, now_ns);
		has_done = true;
	}
	return has_done;
}

// Time that a computation was kept waiting by others.
static void note_wait(struct replay *replay, const struct gpu_link_op *op, int64_t waited_ns)
{
	if (op->work == GPU_GATE)
		replay->figures.gates_ns += waited_ns;
	else if (op->work == GPU_UPDATE)
		replay->figures.update_wait_ns += waited_ns;
	else
		replay->figures.compute_wait_ns += waited_ns;
}

// With a barrier no rank begins a step before all have ended the one before. What is waited here is
// told apart.
static bool may_step(const struct gpu_link *link, struct replay *replay)
{
	uint32_t step = link->ops[replay->next].step;
	if (link->header->has_barrier == 0 || step == replay->step)
		return true;
	if (!gpu_link_have_ended(link, step))
		return false;
	int64_t now_ns = gpu_clock_ns();
	replay->step = step;
	replay->figures.barrier_ns += now_ns - replay->ended_ns;
	replay->ended_ns = replay->due_ns = now_ns;
	return true;
}

static bool begin(const struct gpu_link *link, struct replay *replay)
{
	const struct gpu_link_op *op = &link->ops[replay->next];
	if (!may_step(link, replay))
		return false;
	if (op->needs_messages != 0) {
		if (!is_asked(link, replay, replay->next))
			return false;
		int64_t now_ns = gpu_clock_ns();
		if (now_ns > replay->due_ns) {
			note_wait(replay, op, now_ns - replay->ended_ns);
			replay->due_ns = now_ns;
		}
	}
	work(replay, op);
	replay->due_ns += op->compute_ns;
	replay->is_busy = true;
	return true;
}

static void end(const struct gpu_link *link, struct replay *replay, int64_t now_ns)
{
	const struct gpu_link_op *op = &link->ops[replay->next];
	raise_done(link, replay, replay->next, now_ns);
	if (op->work == GPU_FILL) {
		replay->figures.releases++;
		gpu_lateness_add(&replay->lateness, now_ns - replay->due_ns);
	}
	if (op->work == GPU_UPDATE)
		__atomic_store_n(&link->ranks[replay->rank].step, op->step + 1, __ATOMIC_RELEASE);
	replay->is_busy = false;
	replay->ended_ns = now_ns;
	do
		replay->next++;
	while (replay->next < link->header->op_count && is_sum(link, replay->next));
}

static bool has_ended(const struct gpu_link *link, const struct replay *replay)
{
	return replay->next == link->header->op_count;
}

// All that can be done now, within a turn. Returns whether there was anything.
static bool play(const struct gpu_link *link, struct replay *replay)
{
	int64_t now_ns = gpu_clock_ns(), until_ns = now_ns + TURN_NS;
	bool has_done = do_sums(link, replay, until_ns);
	while (!has_ended(link, replay) && now_ns < until_ns) {
		if (!replay->is_busy && !begin(link, replay))
			break;
		now_ns = gpu_clock_ns();
		if (now_ns < replay->due_ns)
			break;
		end(link, replay, now_ns);
		has_done = true;
	}
	return has_done;
}

// A load is of all ranks of the process together: the first tells of it.
static int finish(const struct generator *all, struct replay *replay, struct refusal *refusal)
{
	struct gpu_link *link = all->link;
	struct gpu_link_figures *figures = &replay->figures;
	figures->late_p50_ns = gpu_lateness_quantile(&replay->lateness, 500);
	figures->late_p99_ns = gpu_lateness_quantile(&replay->lateness, 990);
	figures->late_max_ns = gpu_lateness_quantile(&replay->lateness, 1000);
	figures->run_ns = replay->due_ns - link->header->start_ns;
	if (replay == all->players)
		gpu_host_load_tell(&all->load, figures);
	int rc = gpu_link_measure_steps(link, replay->rank, figures, refusal);
	if (rc == 0)
		gpu_link_tell(link, replay->rank, figures);
	return rc;
}

// ---------------------------------------------------------------- all of them

// When something is due at the latest, and whether any rank computes.
static int64_t next_due_ns(const struct generator *all, int64_t until_ns, bool *ret_computes)
{
	*ret_computes = false;
	for (uint32_t i = 0; i < all->options->rank_count; i++) {
		const struct replay *replay = &all->players[i];
		*ret_computes |= replay->is_busy;
		if (replay->is_busy && replay->due_ns < until_ns)
			until_ns = replay->due_ns;
	}
	return until_ns;
}

// Nothing is due now: a unit of the load where a rank computes and it fits, or a nap.
static void rest(struct generator *all)
{
	bool computes;
	int64_t now_ns = gpu_clock_ns();
	int64_t left_ns = next_due_ns(all, now_ns + NAP_NS, &computes) - now_ns;
	if (all->load.kind != GPU_LOAD_SPIN && computes && all->load.unit_ns < left_ns)
		gpu_host_load_unit(&all->load);
	else if (left_ns > NAP_NS / 2)
		nanosleep(&(struct timespec){0, NAP_NS / 4}, NULL);
	else
		sched_yield();
}

static int wait_for_start(struct generator *all, struct refusal *refusal)
{
	while (gpu_link_host_state(all->link) == GPU_HOST_WAITS) {
		int rc = gpu_watch_look(&all->watch, refusal);
		if (rc < 0)
			return rc;
		rest(all);
	}
	int rc = gpu_link_take_start(all->link, refusal);
	for (uint32_t i = 0; rc == 0 && i < all->options->rank_count; i++)
		all->players[i].due_ns = all->players[i].ended_ns = all->link->header->start_ns;
	return rc;
}

static int play_all(struct generator *all, struct refusal *refusal)
{
	const struct gpu_link *link = all->link;
	for (;;) {
		bool has_done = false;
		uint32_t ended = 0;
		for (uint32_t i = 0; i < all->options->rank_count; i++) {
			has_done |= play(link, &all->players[i]);
			ended += has_ended(link, &all->players[i]);
		}
		if (ended == all->options->rank_count)
			return 0;
		int rc = gpu_watch_look(&all->watch, refusal);
		if (rc < 0)
			return rc;
		if (!has_done)
			rest(all);
	}
}

static int prepare(struct generator *all, struct refusal *refusal)
{
	uint32_t fills = 0, count = all->options->rank_count;
	for (uint32_t i = 0; i < all->link->header->op_count; i++)
		fills += all->link->ops[i].work == GPU_FILL;
	all->players = calloc(count, sizeof(*all->players));
	for (uint32_t i = 0; all->players != NULL && i < count; i++) {
		struct replay *replay = &all->players[i];
		replay->rank = all->options->ranks[i];
		gpu_data_of(&replay->data, all->link, replay->rank);
		if (gpu_lateness_init(&replay->lateness, fills) < 0)
			return refuse(refusal, -ENOMEM, "no memory for % releases", fills);
	}
	return all->players == NULL ? refuse(refusal, -ENOMEM, "no memory for % ranks", count) : 0;
}

int gpu_host_run(struct gpu_link *link, const struct gpu_generator_options *options,
		 struct refusal *refusal)
{
	struct generator all = {
		.link = link, .options = options, .watch = {.link = link, .options = options}};
	int rc = prepare(&all, refusal);
	if (rc == 0 && gpu_host_load_init(&all.load, options->load) < 0)
		rc = refuse(refusal, -ENOMEM, "no memory for a load");
	for (uint32_t i = 0; rc == 0 && i < options->rank_count; i++)
		gpu_link_set_rank(link, options->ranks[i], GPU_RANK_READY);
	if (rc == 0)
		rc = wait_for_start(&all, refusal);
	if (rc == 0)
		rc = play_all(&all, refusal);
	for (uint32_t i = 0; rc == 0 && i < options->rank_count; i++)
		rc = finish(&all, &all.players[i], refusal);
	for (uint32_t i = 0; all.players != NULL && i < options->rank_count; i++)
		gpu_lateness_free(&all.players[i].lateness);
	gpu_host_load_free(&all.load);
	free(all.players);
	return rc;
}
