// SPDX-License-Identifier: Apache-2.0
// A model and how a job cuts it: what lies on each rank, which collectives move it, and how large
// they are. From dimensions alone; no fabric is known here.
//
//   architecture.c  parts of a layer    plan.c  which layers lie where    plan_bucket.c  what moves
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/workload/accelerator.h>
#include <weft/workload/plan_input.h>

#ifdef __cplusplus
extern "C" {
#endif

// A transformer. What a model does not have is 0.
struct architecture {
	const char *name;
	uint32_t layers, hidden, vocab;
	uint32_t heads, kv_heads, head_dim;
	uint32_t ffn;			 // of a layer without experts
	bool is_gated;			 // two matrices before the activation
	bool has_bias, has_qkv_bias;	 // of all matrices; of those of queries, keys and values
	bool has_ffn_bias;		 // of the feed-forward's and no others
	bool has_attention_bias;	 // of attention's and no others
	bool has_shared_norm;		 // the feed-forward has that of attention, beside it
	uint32_t norm_vectors;		 // 1 = RMS, 2 = with a bias
	uint32_t post_norms, head_norms; // a layer's beyond two; its norms as wide as a head
	bool is_tied;			 // the output matrix is the embedding
	uint32_t sinks;			 // attention sinks: one number a head
	uint64_t extra_first_params;	 // positions and token types, whole on each tensor rank
	uint64_t extra_last_params; // heads beyond the output matrix, whole on each tensor rank
	uint32_t output_bias;	    // 1 = the output has one a word
	// latent attention: ranks of the projections, and the parts of a head
	uint32_t query_rank, kv_rank, rope_dim, value_dim;
	// experts
	uint32_t experts, experts_per_token, expert_ffn, shared_ffn;
	bool has_shared_gate;  // a number for each token weighs what the shared expert says
	uint32_t dense_layers; // the first ones, which have none
	uint32_t expert_every; // behind them each so many-th layer of all has some; 0: as 1
};

// How replicas share parameters, gradients and the optimizer's state.
enum sharding {
	SHARDING_MEGATRON, // as has_distributed_optimizer says
	SHARDING_DDP,	   // PyTorch's DistributedDataParallel: all-reduce of buckets of bytes
	SHARDING_ZERO1,	   // DeepSpeed: the optimizer's state is cut
	SHARDING_ZERO2,	   // and gradients
	SHARDING_FSDP,	   // and parameters: PyTorch's FSDP, DeepSpeed's ZeRO-3
	SHARDING_COUNT
};

// How it is cut, and what a step is.
struct parallel {
	uint32_t tp, cp, ep, pp, vpp, dp;   // dp: replicas of the dense part
	uint32_t etp;			    // ranks that cut an expert; 0: as 1
	uint32_t micro_batches, samples;    // a step and replica; samples of a micro-batch
	uint32_t sequence;		    // tokens of a sample
	uint32_t layers_first, layers_last; // of the first and last cell; 0 = as the others
	uint32_t vocab_grain;		    // the vocabulary is padded to a multiple of grain * tp
	uint32_t grad_bytes, param_bytes, activation_bytes; // one number on the wire
	bool has_distributed_optimizer; // reduce-scatter and all-gather, else all-reduce
	uint64_t bucket_params;		// 0 = Megatron's rule
	bool is_aligned;		// stages reduce together, and a cell's buckets at its end
	enum sharding sharding;		// other than Megatron's: is_aligned is that of outer_steps
	uint64_t bucket_bytes, first_bucket_bytes; // DDP: of gradients; the one that is ready first
	bool is_reduced_each; // every micro-batch's gradients are reduced, else those of all
	bool is_resharded;    // FSDP: parameters go after a forward, and are gathered again
	bool has_one_stage;   // DeepSpeed's pipelines take no ZeRO beyond 1
	uint32_t prefetch;    // FSDP: units that are gathered before the one in hand has ended
	uint32_t shard_ranks; // FSDP: ranks that share what is cut; others hold the same. 0: all
	uint32_t outer_steps; // DDP: replicas meet only so often, behind a step's end; 0: each step
	uint32_t late_ppb;  // ZB-H1: this part of a backward, gradients of weights, comes later; 0:
			    // 1F1B
	bool is_recomputed; // of a layer only its input is kept; its forward runs again
	const char *order;  // of ranks, the innermost first: "tp-cp-ep-pp-dp"
};

// What somebody may have measured of a rank, one micro-batch each.
enum timed_part {
	TIMED_EMBEDDING,    // what stands before the layers
	TIMED_LAYER,	    // one without experts
	TIMED_EXPERT_LAYER, // one with them
	TIMED_OUTPUT,	    // what stands behind the layers, and the loss
	TIMED_COUNT
};

struct timed {
	ps_t forward_ps, backward_ps;
};

// What computation takes; fitted, never published.
struct timing {
	ps_t forward_ps, backward_ps; // one micro-batch through one cell with `slots` layers
	ps_t other_ps;	    // of a step: all that is no pipeline and no exposed communication
	const char *origin; // what these three are calibrated by, or come from
	enum input_origin rests_on; // assumed: nobody measured a step of it
	bool has_parts;		    // the first two are those of layers in `parts`, see measured.c
	struct timed parts[TIMED_COUNT];
};

struct plan {
	const char *name;
	const struct architecture *architecture;
	struct parallel parallel;
	struct timing timing; // all 0 where nobody fitted them
	struct site site;     // where it runs
	ps_t published_ps;    // step time that was published for it; 0 = none
	const char *source;   // where
	uint32_t input_count;
	const struct plan_input *inputs;
};

// Times of a cell from those of its layers, if these were measured.
void plan_measured(struct plan *plan);
// What a cell does beside its layers, if that was measured: of the first cell, of the last one.
ps_t plan_ends_ps(const struct plan *plan, uint32_t stage, uint32_t chunk, bool is_backward);
const char *timed_part_name(enum timed_part part);

// Whether a plan cuts the model as another does, so that its cells take as long.
bool plan_is_cut_as(const struct plan *plan, const struct plan *other);

// -EINVAL with a reason when the cut does not fit the model.
int plan_check(const struct plan *plan, struct refusal *refusal);

// The same, with the size of plan_keys() (plan_edit.h) that is to blame.
int plan_check_size(const struct plan *plan, const char **ret_size, struct refusal *refusal);

// The same job on so many ranks: replicas make the difference, and what was published is no longer
// about it. -EINVAL when they are no whole number of replicas.
int plan_resize(struct plan *ret, const struct plan *plan, uint32_t ranks, struct refusal *refusal);

// Of its stages, behind their number: " by zb-h1"; empty where it is 1F1B.
const char *plan_schedule(const struct parallel *cut);

// Ranks of the job; in the data-parallel group of dense parameters (replicas x context ranks), and
// in that of experts.
uint32_t plan_ranks(const struct plan *plan);
uint32_t plan_dense_ranks(const struct plan *plan);
uint32_t plan_expert_ranks(const struct plan *plan);
uint32_t plan_expert_tensor_ranks(const struct plan *plan);
uint32_t plan_shard_ranks(const struct plan *plan); // of the dense part, that share what is cut

// ---------------------------------------------------------------- parameters

// A tensor of one rank; norms count with the matrix that follows them.
struct part {
	const char *name;
	uint64_t params;
	bool is_expert;
};

// Cells are numbered (stage, chunk); their order through the model is chunk * pp + stage.
uint32_t plan_layers(const struct plan *plan, uint32_t stage, uint32_t chunk);
uint32_t plan_slots(const struct plan *plan); // layers of a cell in the middle

// Part `index` of a cell in the order of forward; false when there are no more.
bool plan_part(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t index,
	       struct part *ret);

// Parameters of a cell on one rank: dense, or of its experts.
uint64_t plan_cell_params(const struct plan *plan, uint32_t stage, uint32_t chunk, bool is_expert);

// Parameters of a stage on one rank, and of the whole model, each counted once.
uint64_t plan_stage_params(const struct plan *plan, uint32_t stage, bool is_expert);
uint64_t architecture_params(const struct architecture *architecture);

// Part `slot` of a layer on one rank; architecture.c. `is_moe`: the layer has experts.
enum layer_part { PART_QKV, PART_PROJ, PART_ROUTER, PART_SHARED, PART_FC1, PART_FC2, PART_COUNT };
uint64_t layer_part_params(const struct architecture *architecture, enum layer_part part,
			   uint32_t tp, uint32_t etp, bool is_moe);
bool layer_is_moe(const struct architecture *architecture, uint32_t layer);
const char *layer_part_name(enum layer_part part);

// ---------------------------------------------------------------- buckets and messages

// A bucket of a cell: consecutive parts.
struct plan_bucket {
	uint64_t params, padded; // padded: as it travels
	uint32_t parts;
	uint32_t part_last; // the last in the order of forward: the first in that of backward
	bool is_expert;
};

// The next bucket of a cell in the order of backward; false when there are no more. `left`: parts
// that are still to be walked: plan_part_count() at the beginning. Megatron-LM's way only the first
// cell has more than one bucket (of each kind).
uint32_t plan_part_count(const struct plan *plan, uint32_t stage, uint32_t chunk);
bool plan_bucket_next(const struct plan *plan, uint32_t stage, uint32_t chunk, bool is_expert,
		      uint32_t *left, struct plan_bucket *ret);

uint64_t plan_bucket_params(const struct plan *plan, bool is_expert);

// How often a bucket is reduced and gathered in a step.
uint32_t plan_reduces(const struct plan *plan);
uint32_t plan_gathers(const struct plan *plan);

// Whether collectives lie between the computations of micro-batches.
bool plan_is_interleaved(const struct plan *plan);

// What moves along a dimension of the cut.
enum message_kind {
	MESSAGE_TP,	   // gathers and scatters of activations, one each
	MESSAGE_CP,	   // keys and values to the next context rank
	MESSAGE_EP,	   // tokens to experts, or back
	MESSAGE_PP,	   // activations to the next stage, or gradients back
	MESSAGE_DP_REDUCE, // gradients of the dense part
	MESSAGE_DP_GATHER,
	MESSAGE_EDP_REDUCE, // gradients of experts
	MESSAGE_EDP_GATHER,
	MESSAGE_DP_ACROSS, // gradients of a shard, among those that hold the same
	MESSAGE_ETP,	   // tokens of an expert, gathered and scattered among who cut it
	MESSAGE_COUNT
};

struct message_sum {
	uint64_t bytes;	      // the largest one
	uint64_t count;	      // of a rank in a step
	uint64_t total_bytes; // of a rank in a step
};

// What a rank of `stage` takes part in during one step. All-reduce counts as DP_REDUCE.
void plan_messages(const struct plan *plan, uint32_t stage, struct message_sum ret[MESSAGE_COUNT]);

// The messages of one kind of the stage that sends most bytes of it.
struct message_sum plan_message_most(const struct plan *plan, enum message_kind kind);
// Adds what a cell's activations are to `ret`: tensor, context, expert and pipeline messages.
void plan_cell_messages(const struct plan *plan, uint32_t stage, uint32_t chunk,
			struct message_sum ret[MESSAGE_COUNT]);
const char *message_name(enum message_kind kind);

#ifdef __cplusplus
}
#endif
