// SPDX-License-Identifier: Apache-2.0
// The parameters of a layer's parts on one rank, and of a whole model.

#include <weft/workload/plan.h>

// ---------------------------------------------------------------- parts of a layer

bool layer_is_moe(const struct architecture *architecture, uint32_t layer)
{
	uint32_t every = architecture->expert_every > 1 ? architecture->expert_every : 1;
	return architecture->experts > 0 && layer >= architecture->dense_layers &&
		(layer + 1) % every == 0;
}

const char *layer_part_name(enum layer_part part)
{
	static const char *const names[] = {"qkv", "proj", "router", "shared", "fc1", "fc2"};
	return names[part];
}

// A matrix cut over the tensor ranks, and its bias.
static uint64_t matrix(bool has_bias, uint64_t in, uint64_t out, uint32_t tp, bool is_out_cut)
{
	uint64_t bias = has_bias ? (is_out_cut ? out / tp : out) : 0;
	return in * out / tp + bias;
}

static uint64_t norm(const struct architecture *from)
{
	return (uint64_t)from->norm_vectors * from->hidden;
}

// The narrow projections of latent attention are whole on each rank, and so are their norms.
static uint64_t latent_params(const struct architecture *from, uint32_t tp)
{
	uint64_t query = from->head_dim + from->rope_dim, value = from->head_dim + from->value_dim;
	uint64_t rank = from->query_rank; // none: queries come from the whole width
	uint64_t narrow = (uint64_t)from->hidden * rank + rank +
		(uint64_t)from->hidden * (from->kv_rank + from->rope_dim) + from->kv_rank;
	uint64_t wide = from->heads *
		((rank > 0 ? rank : from->hidden) * query + from->kv_rank * value);
	return narrow + wide / tp;
}

static uint64_t qkv_params(const struct architecture *from, uint32_t tp)
{
	uint64_t width = ((uint64_t)from->heads + 2 * from->kv_heads) * from->head_dim;
	uint64_t sinks = (uint64_t)from->sinks * from->heads / tp;
	uint64_t params = from->kv_rank > 0 ? latent_params(from, tp)
					    : matrix(from->has_bias, from->hidden, width, tp, true);
	if ((from->has_qkv_bias || from->has_attention_bias) && !from->has_bias)
		params += width / tp;
	return norm(from) * (1 + from->post_norms) + from->head_norms * from->head_dim + params +
		sinks;
}

static uint64_t fc1_params(const struct architecture *from, uint64_t ffn, uint32_t tp)
{
	return matrix(from->has_bias || from->has_ffn_bias, from->hidden,
		      ffn * (from->is_gated ? 2 : 1), tp, true);
}

static uint64_t fc2_params(const struct architecture *from, uint64_t ffn, uint32_t tp)
{
	return matrix(from->has_bias || from->has_ffn_bias, ffn, from->hidden, tp, false);
}

// The norm before the feed-forward, or before the experts.
static uint64_t second_norm(const struct architecture *from)
{
	return from->has_shared_norm ? 0 : norm(from);
}

uint64_t layer_part_params(const struct architecture *from, enum layer_part part, uint32_t tp,
			   uint32_t etp, bool is_moe)
{
	uint64_t hidden = from->hidden;
	uint64_t value = from->kv_rank > 0 ? from->value_dim : from->head_dim;
	switch (part) {
	case PART_QKV:
		return qkv_params(from, tp);
	case PART_PROJ:
		return matrix(from->has_bias || from->has_attention_bias, from->heads * value,
			      hidden, tp, false);
	case PART_ROUTER: // and the norm before the experts
		return is_moe
			? second_norm(from) + matrix(from->has_bias, hidden, from->experts, 1, true)
			: 0;
	case PART_SHARED:
		return is_moe && from->shared_ffn > 0 ? fc1_params(from, from->shared_ffn, tp) +
				fc2_params(from, from->shared_ffn, tp) +
				from->has_shared_gate * hidden
						      : 0;
	case PART_FC1: // other tensor ranks hold other experts, or parts of them
		return is_moe ? fc1_params(from, from->expert_ffn, etp)
			      : second_norm(from) + fc1_params(from, from->ffn, tp);
	default:
		return is_moe ? fc2_params(from, from->expert_ffn, etp)
			      : fc2_params(from, from->ffn, tp);
	}
}

uint64_t architecture_params(const struct architecture *from)
{
	uint64_t params = (uint64_t)from->vocab * from->hidden * (from->is_tied ? 1 : 2) +
		norm(from) + from->extra_first_params + from->extra_last_params +
		(uint64_t)from->output_bias * from->vocab;
	for (uint32_t layer = 0; layer < from->layers; layer++) {
		bool is_moe = layer_is_moe(from, layer);
		for (uint32_t part = 0; part < PART_COUNT; part++) {
			uint64_t copies = is_moe && part >= PART_FC1 ? from->experts : 1;
			params += copies *
				layer_part_params(from, (enum layer_part)part, 1, 1, is_moe);
		}
	}
	return params;
}
