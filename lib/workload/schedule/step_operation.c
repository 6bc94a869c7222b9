// SPDX-License-Identifier: Apache-2.0
// Forwards and backwards.
// Facts: Megatron-LM's interleaved schedule. Micro-batches go in groups of as many as there are
// stages; a group runs through all chunks before the next begins. Stage r of p, with v chunks and m
// micro-batches, runs min(m v, 2 (p - r - 1) + (v - 1) p) forwards first (without chunks p - r -
// 1), then one forward and one backward in turn, then the backwards that are left. ZB-H1 (Qi et
// al., Zero Bubble Pipeline Parallelism, ICLR 2024): a backward is split; its gradients of
// activations go on at once, those of weights of micro-batch j follow on stage r behind the
// backward j + r, and fill the gap at the end, with no more micro-batches held than on the first
// stage.

#include "step_operation.h"

#include <weft/core/rng.h>

uint32_t step_operations(const struct parallel *cut)
{
	return (step_is_split(cut) ? 3 : 2) * cut->micro_batches * cut->vpp;
}

bool step_is_split(const struct parallel *cut)
{
	return cut->late_ppb > 0 && cut->pp > 1;
}

// Forwards of a stage before it goes on in turns.
static uint32_t step_warm_up(const struct parallel *cut, uint32_t stage)
{
	uint32_t all = cut->micro_batches * cut->vpp, left = cut->pp - stage - 1;
	uint32_t warm_up = cut->vpp > 1 ? 2 * left + (cut->vpp - 1) * cut->pp : left;
	return warm_up < all ? warm_up : all;
}

// The number `k` of all forwards, or of all backwards, as chunk and micro-batch.
static struct operation numbered(const struct parallel *cut, uint32_t k, bool is_backward)
{
	uint32_t group = cut->pp * cut->vpp;
	struct operation operation = {.is_backward = is_backward, .micro_batch = k};
	if (cut->vpp > 1) {
		operation.chunk = k % group / cut->pp;
		operation.micro_batch = k / group * cut->pp + k % cut->pp;
	}
	if (is_backward)
		operation.chunk = cut->vpp - 1 - operation.chunk;
	return operation;
}

// ZB-H1: how many operations there are before backward `j` and the forward that goes with it.
static uint32_t split_before(const struct parallel *cut, uint32_t stage, uint32_t j)
{
	uint32_t forwards = step_warm_up(cut, stage) + j, all = cut->micro_batches;
	return (forwards < all ? forwards : all) + j + (j > stage ? j - stage : 0);
}

static struct operation split_operation(const struct parallel *cut, uint32_t stage, uint32_t index)
{
	uint32_t warm_up = step_warm_up(cut, stage), all = cut->micro_batches, low = 0, high = all;
	if (index < warm_up)
		return (struct operation){.micro_batch = index};
	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;
		*(split_before(cut, stage, middle) <= index ? &low : &high) = middle;
	}
	uint32_t at = index - split_before(cut, stage, low);
	bool has_forward = warm_up + low < all;
	if (at == 0 && has_forward)
		return (struct operation){.micro_batch = warm_up + low};
	if (at == has_forward)
		return (struct operation){.is_backward = true, .micro_batch = low};
	return (struct operation){.is_backward = true,
				  .is_late = true,
				  .micro_batch = (low > stage ? low - stage : 0) + at -
					  has_forward - 1};
}

struct operation step_operation(const struct parallel *cut, uint32_t stage, uint32_t index)
{
	if (step_is_split(cut))
		return split_operation(cut, stage, index);
	uint32_t all = step_operations(cut) / 2, warm_up = step_warm_up(cut, stage);
	if (index < warm_up)
		return numbered(cut, index, false);
	uint32_t turns = index - warm_up;
	if (turns < 2 * (all - warm_up))
		return numbered(cut, turns % 2 == 0 ? warm_up + turns / 2 : turns / 2,
				turns % 2 == 1);
	return numbered(cut, index - all, true);
}

// Facts: PyTorch's pipelining keeps what a stage has gathered to the end of the step, unless it is
// resharded after each forward, and reduces all units behind the stage's last backward
// (torch/distributed/pipelining/stage.py, torchtitan's reshard_after_forward). Assumed: what is
// resharded is gathered before each forward and each backward.
struct step_traffic step_traffic(const struct plan *plan, const struct operation *operation)
{
	const struct parallel *cut = &plan->parallel;
	bool is_fsdp = cut->sharding == SHARDING_FSDP, is_backward = operation->is_backward;
	bool is_last = operation->micro_batch + 1 == cut->micro_batches;
	bool is_start = operation->micro_batch == 0 && !is_backward;
	bool is_kept = cut->pp > 1 && operation->micro_batch > 0; // from the first one's gather
	return (struct step_traffic){
		.is_gathered = is_fsdp ? cut->is_resharded || (!is_backward && !is_kept)
				       : is_start && cut->has_distributed_optimizer,
		.is_end_of_reduce = is_fsdp && cut->pp > 1 && !cut->is_reduced_each,
		.is_reduced = is_backward && (cut->is_reduced_each || is_last),
		.prefetch = is_fsdp ? cut->prefetch : UINT16_MAX,
		.is_all_awaited = !is_fsdp, // ZeRO-2's come behind the optimizer
	};
}

ps_t step_pipeline_ps(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	ps_t units = (ps_t)cut->micro_batches * cut->vpp;
	ps_t unit_ps = plan->timing.forward_ps + plan->timing.backward_ps, gap_ps = unit_ps;
	if (step_is_split(cut))
		gap_ps -= 2 * step_late_ps(plan, plan->timing.backward_ps);
	return units * unit_ps + (cut->pp - 1) * gap_ps;
}

ps_t step_late_ps(const struct plan *plan, ps_t backward_ps)
{
	return step_is_split(&plan->parallel)
		? step_share(backward_ps, plan->parallel.late_ppb, STEP_PPB)
		: 0;
}

// A forward of the warm-up begins as soon as it can; then stage r's backward j of one chunk begins
// at p f + j (f + b) + (p - 1 - r) b, with its forward before it. With chunks a stage ends at
// T - r b and has no gap before.
ps_t step_ideal_ps(const struct plan *plan, uint32_t stage, uint32_t index)
{
	const struct parallel *cut = &plan->parallel;
	ps_t forward_ps = plan->timing.forward_ps, backward_ps = plan->timing.backward_ps;
	uint32_t all = step_operations(cut) / 2, warm_up = step_warm_up(cut, stage);
	if (index < warm_up)
		return (stage + (ps_t)index) * forward_ps;
	uint32_t turns = index - warm_up, turned = all - warm_up;
	uint32_t backward = turns < 2 * turned ? turns / 2 : turns - turned;
	ps_t begin = cut->pp * forward_ps + backward * (forward_ps + backward_ps) +
		(cut->pp - 1 - stage) * backward_ps;
	if (cut->vpp > 1) {
		ps_t last_ps = step_pipeline_ps(plan) - (stage + (ps_t)1) * backward_ps;
		uint32_t before = backward < turned ? turned - 1 - backward : 0;
		begin = last_ps - (ps_t)(all - 1 - backward - before) * backward_ps -
			(ps_t)before * (forward_ps + backward_ps);
	}
	bool is_forward = turns < 2 * turned && turns % 2 == 0;
	return is_forward ? begin - forward_ps : begin;
}

// ---------------------------------------------------------------- jitter

#define UNIFORMS 12 // their sum has a standard deviation of one: Irwin and Hall
#define ONE (INT64_C(1) << 30)
#define HALVINGS 6

// Nearly normal, of deviation 1, in units of 2^-30, from -6 to 6.
static int64_t draw_normal(struct rng *rng)
{
	int64_t sum = -UNIFORMS / 2 * ONE;
	for (int i = 0; i < UNIFORMS; i++)
		sum += rng_next(rng) >> 34;
	return sum;
}

// e^x, both in units of 2^-30, x up to 4 either way: the series of x / 2^6, squared six times.
static int64_t exponential(int64_t x)
{
	int64_t small = x / (1 << HALVINGS), term = ONE, sum = ONE;
	for (int i = 1; i <= 6; i++) {
		term = (int64_t)((__int128)term * small / ONE / i);
		sum += term;
	}
	for (int i = 0; i < HALVINGS; i++)
		sum = (int64_t)((__int128)sum * sum / ONE);
	return sum;
}

// How many 10^-9 of its time this one takes.
static int64_t jitter_ppb(const struct step_setup *setup, struct rng *rng)
{
	int64_t width = setup->jitter_ppb, value;
	switch (setup->jitter_kind) {
	case JITTER_NORMAL:
		value = STEP_PPB + (int64_t)((__int128)draw_normal(rng) * width / ONE);
		return value > 0 ? value : 0;
	case JITTER_LIST:
		return (int64_t)setup->jitter_list[rng_below(rng, setup->jitter_count)];
	case JITTER_LOGNORMAL: // its mean is 1, and its logarithm has the deviation
		value = width * ONE / STEP_PPB;
		value = (int64_t)((__int128)draw_normal(rng) * value / ONE) -
			(int64_t)((__int128)value * value / ONE / 2);
		return (int64_t)((__int128)exponential(value) * STEP_PPB / ONE);
	default:
		return STEP_PPB - width + rng_below(rng, 2 * setup->jitter_ppb + 1);
	}
}

static bool is_slow(const struct step_setup *setup, const struct step_place *place)
{
	return place->stage == setup->slow_stage &&
		(setup->slow_replica == 0 || place->replica + 1 == setup->slow_replica);
}

ps_t step_compute_ps(const struct plan *plan, const struct step_cell *cell,
		     const struct step_setup *setup, const struct step_place *place)
{
	const struct parallel *cut = &plan->parallel;
	struct operation operation = step_operation(cut, place->stage, place->index);
	ps_t full_ps = operation.is_backward ? plan->timing.backward_ps : plan->timing.forward_ps;
	ps_t time = full_ps * cell->layers / cell->slots;
	if (place->stage + 1 == cut->pp && operation.chunk + 1 == cut->vpp)
		time += step_share(full_ps, setup->loss_ppb, STEP_PPB);
	time += plan_ends_ps(plan, place->stage, operation.chunk, operation.is_backward);
	if (operation.is_backward && step_is_split(cut))
		time = operation.is_late ? step_late_ps(plan, time)
					 : time - step_late_ps(plan, time);
	if (is_slow(setup, place))
		time += step_share(time, setup->slow_ppb, STEP_PPB);
	if (!step_has_jitter(setup))
		return time;
	uint64_t id = ((uint64_t)place->replica * cut->pp + place->stage) * step_operations(cut) +
		place->index;
	struct rng rng = rng_of(setup->seed, RNG_WORKLOAD, id);
	return step_share(time, (uint64_t)jitter_ppb(setup, &rng), STEP_PPB);
}
