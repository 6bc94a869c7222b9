// SPDX-License-Identifier: Apache-2.0
// Times of a cell from a device's rates.
// Facts: a product of a row with a matrix takes two operations a parameter; its backward takes
// twice those of its forward, that of attention two and a half times (FlashAttention works out its
// scores again). Assumed: the loss takes 1.1 layers' time where nobody names a device;  attention
// is causal, half of all pairs, and in 16 bits; norms, sums and activations read and write memory;
// a backward moves twice a forward's bytes; tokens are spread evenly over experts; of ten tensor
// messages four are of the forward, of three context messages one, of four expert messages two, and
// nothing hides them; the share that is reached is the same of operations and of bytes.

#include <stddef.h>

#include <weft/workload/order.h>
#include <weft/workload/plan_memory.h>

#define LOSS_LAYERS_PPB 1100000000u
#define PS_MOST (INT64_C(1) << 60)

// What a part of a layer does on a rank in one forward.
struct work {
	uint64_t operations, bytes;
	bool is_narrow; // in the precision of the site, else in 16 bits
};

struct sum {
	const struct plan *plan;
	unsigned __int128 operations, forward_ps, backward_ps;
};

// ---------------------------------------------------------------- adding up

static unsigned __int128 larger(unsigned __int128 a, unsigned __int128 b)
{
	return a > b ? a : b;
}

// Times beyond all that a schedule takes are refused there.
static ps_t ps_at_most(unsigned __int128 ps)
{
	return ps < (unsigned __int128)PS_MOST ? (ps_t)ps : PS_MOST;
}

// Rates of devices are multiples of 1,000.
static unsigned __int128 time_at(uint64_t amount, uint64_t rate, const struct site *site)
{
	unsigned __int128 reached = (unsigned __int128)(rate / 1000) * site->efficiency_ppb;
	return (unsigned __int128)amount * PS_PER_S * 1000000u / reached;
}

// `tenths` of the forward's operations are those of the backward.
static void add(struct sum *sum, const struct work *work, uint32_t tenths)
{
	const struct site *site = &sum->plan->site;
	sum->operations += work->operations;
	if (!plan_has_roofline(sum->plan))
		return;
	enum precision precision = work->is_narrow ? site->precision : PRECISION_BF16;
	uint64_t rate = site->device->flops[precision];
	unsigned __int128 operations_ps = time_at(work->operations, rate, site);
	unsigned __int128 bytes_ps = time_at(work->bytes, site->device->memory_Bps, site);
	sum->forward_ps += larger(operations_ps, bytes_ps);
	sum->backward_ps += larger(operations_ps * tenths / 10, 2 * bytes_ps);
}

// ---------------------------------------------------------------- parts of a layer

static uint64_t tokens_of(const struct parallel *cut)
{
	return (uint64_t)cut->sequence * cut->samples / cut->cp;
}

// `tokens` rows through matrices of `params` numbers, that are read and written `width` wide.
static struct work product(const struct parallel *cut, uint64_t tokens, uint64_t params,
			   uint64_t width)
{
	return (struct work){.operations = 2 * tokens * params,
			     .bytes = params * cut->param_bytes +
				     tokens * width * cut->activation_bytes,
			     .is_narrow = true};
}

static void add_attention(struct sum *sum)
{
	const struct architecture *of = sum->plan->architecture;
	const struct parallel *cut = &sum->plan->parallel;
	uint64_t key = of->head_dim + of->rope_dim, tokens = tokens_of(cut);
	uint64_t value = of->kv_rank > 0 ? of->value_dim : of->head_dim;
	uint64_t kv_heads = of->kv_rank > 0 ? of->heads : of->kv_heads;
	uint64_t width = (of->heads + kv_heads) * (key + value) / cut->tp;
	const struct work work = {.operations = tokens * cut->sequence * of->heads * (key + value) /
					  cut->tp,
				  .bytes = tokens * width * cut->activation_bytes};
	add(sum, &work, 25);
}

// Tokens and width of a part of a layer: what goes in and what comes out.
static uint64_t part_width(const struct plan *plan, enum layer_part part, bool is_moe)
{
	const struct architecture *of = plan->architecture;
	uint64_t etp = plan_expert_tensor_ranks(plan), tp = plan->parallel.tp,
		 gates = of->is_gated ? 2 : 1;
	uint64_t heads = (uint64_t)of->heads * (of->head_dim + of->rope_dim);
	switch (part) {
	case PART_QKV:
		return of->hidden + (heads + UINT64_C(2) * of->kv_heads * of->head_dim) / tp;
	case PART_PROJ:
		return of->hidden + heads / tp;
	case PART_ROUTER:
		return of->hidden + of->experts;
	case PART_SHARED:
		return 2 * (uint64_t)of->hidden + (gates + 1) * of->shared_ffn / tp;
	case PART_FC1:
		return of->hidden + gates * (is_moe ? of->expert_ffn / etp : of->ffn / tp);
	default:
		return of->hidden + (is_moe ? of->expert_ffn / etp : of->ffn / tp);
	}
}

static void add_part(struct sum *sum, enum layer_part part, bool is_moe)
{
	const struct architecture *of = sum->plan->architecture;
	const struct parallel *cut = &sum->plan->parallel;
	uint32_t etp = plan_expert_tensor_ranks(sum->plan);
	uint64_t params = layer_part_params(of, part, cut->tp, etp, is_moe),
		 tokens = tokens_of(cut);
	struct work work;
	if (params == 0)
		return;
	bool is_expert = is_moe && part >= PART_FC1;
	if (is_expert || part == PART_ROUTER) // tensor ranks have other tokens
		tokens /= cut->tp;
	if (is_expert) // and those of all who cut an expert
		tokens *= (uint64_t)etp * of->experts_per_token;
	work = product(cut, tokens, params, part_width(sum->plan, part, is_moe));
	if (is_expert) // all of the rank's experts are read
		work.bytes += params * (of->experts / cut->ep - 1) * cut->param_bytes;
	add(sum, &work, 20);
}

static void add_layer(struct sum *sum, bool is_moe)
{
	const struct architecture *of = sum->plan->architecture;
	const struct parallel *cut = &sum->plan->parallel;
	uint64_t feed = is_moe ? of->experts_per_token * of->expert_ffn + of->shared_ffn : of->ffn;
	uint64_t rows = of->is_gated ? 3 : 2;
	const struct work between = {.bytes = tokens_of(cut) / cut->tp * cut->activation_bytes *
					     (UINT64_C(10) * of->hidden + rows * feed)};
	for (uint32_t part = 0; part < PART_COUNT; part++)
		add_part(sum, (enum layer_part)part, is_moe);
	add_attention(sum);
	add(sum, &between, 20);
}

// ---------------------------------------------------------------- a cell

static void scale(struct sum *sum, uint64_t part, uint64_t whole)
{
	sum->operations = sum->operations * part / whole;
	sum->forward_ps = sum->forward_ps * part / whole;
	sum->backward_ps = sum->backward_ps * part / whole;
}

// A cell in the middle has its share of all layers.
static struct sum cell_sum(const struct plan *plan)
{
	const struct architecture *of = plan->architecture;
	const struct parallel *cut = &plan->parallel;
	struct sum sum = {.plan = plan}, dense = sum, experts = sum;
	uint32_t moe = 0;
	for (uint32_t layer = 0; layer < of->layers; layer++)
		moe += layer_is_moe(of, layer);
	if (moe < of->layers)
		add_layer(&dense, false);
	if (moe > 0)
		add_layer(&experts, true);
	scale(&dense, (uint64_t)(of->layers - moe) * plan_slots(plan), of->layers);
	scale(&experts, (uint64_t)moe * plan_slots(plan), of->layers);
	sum.operations = dense.operations + experts.operations;
	sum.forward_ps = dense.forward_ps + experts.forward_ps;
	sum.backward_ps = dense.backward_ps + experts.backward_ps;
	if (cut->is_recomputed)
		sum.backward_ps += sum.forward_ps;
	return sum;
}

// What the last cell does behind its layers: the output matrix, in 16 bits.
static struct sum output_sum(const struct plan *plan)
{
	const struct architecture *of = plan->architecture;
	const struct parallel *cut = &plan->parallel;
	struct sum sum = {.plan = plan};
	struct work output = product(cut, tokens_of(cut),
				     (uint64_t)of->vocab * of->hidden / cut->tp,
				     of->hidden + of->vocab / cut->tp);
	output.is_narrow = false;
	add(&sum, &output, 20);
	return sum;
}

uint64_t plan_operations(const struct plan *plan)
{
	return (uint64_t)cell_sum(plan).operations;
}

// ---------------------------------------------------------------- activations inside a domain

static const struct {
	enum group_kind group;
	enum message_kind message;
	uint32_t forward, all; // messages of a layer
} inside[] = {{GROUP_TP, MESSAGE_TP, 4, 10},
	      {GROUP_CP, MESSAGE_CP, 1, 3},
	      {GROUP_EP, MESSAGE_EP, 2, 4},
	      {GROUP_ETP, MESSAGE_ETP, 2, 4}};

static void add_inside(struct sum *sum)
{
	const struct plan *plan = sum->plan;
	const struct parallel *cut = &plan->parallel;
	const struct gpu_layout gpu_layout = {plan->site.domain, plan->site.domain};
	struct message_sum messages[MESSAGE_COUNT];
	struct order order;
	struct refusal reason;
	if (order_parse(&order, cut->order, plan, &reason) < 0)
		return;
	plan_messages(plan, cut->pp / 2, messages);
	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++) {
		struct spread spread;
		order_spread(&spread, &order, plan, inside[i].group, &gpu_layout);
		unsigned __int128 bytes = messages[inside[i].message].total_bytes;
		if (spread.ranks < 2 || spread.domains_max > 1 || bytes == 0)
			continue;
		if (inside[i].group != GROUP_CP)
			bytes = bytes * (spread.ranks - 1) / spread.ranks;
		bytes /= (uint64_t)cut->micro_batches * cut->vpp;
		unsigned __int128 all_ps = bytes * PS_PER_S / plan->site.domain_Bps;
		unsigned __int128 forward_ps = all_ps * inside[i].forward / inside[i].all;
		sum->forward_ps += forward_ps;
		sum->backward_ps += all_ps - forward_ps;
	}
}

bool plan_has_roofline(const struct plan *plan)
{
	return plan->site.device != NULL && plan->site.efficiency_ppb > 0;
}

// The optimizer reads and writes its state, reads gradients and writes parameters.
static ps_t optimizer_ps(const struct plan *plan)
{
	struct plan_memory memory;
	plan_memory(plan, plan->parallel.pp / 2, &memory);
	uint64_t params = memory.optimizer / PLAN_OPTIMIZER_BYTES;
	uint64_t bytes = 2 * memory.optimizer +
		params * (plan->parallel.grad_bytes + plan->parallel.param_bytes);
	return ps_at_most(time_at(bytes, plan->site.device->memory_Bps, &plan->site));
}

void plan_roofline(struct plan *plan)
{
	if (!plan_has_roofline(plan))
		return;
	struct sum sum = cell_sum(plan);
	add_inside(&sum);
	plan->timing.forward_ps = ps_at_most(sum.forward_ps);
	plan->timing.backward_ps = ps_at_most(sum.backward_ps);
	if (!plan->site.is_other_given)
		plan->timing.other_ps = optimizer_ps(plan);
}

uint32_t plan_loss_ppb(const struct plan *plan)
{
	if (plan->timing.has_parts)
		return 0; // see plan_ends_ps()
	if (!plan_has_roofline(plan))
		return LOSS_LAYERS_PPB / plan_slots(plan);
	unsigned __int128 loss = output_sum(plan).forward_ps * 1000000000u;
	loss /= (uint64_t)plan->timing.forward_ps;
	return loss < UINT32_MAX ? (uint32_t)loss : UINT32_MAX;
}
