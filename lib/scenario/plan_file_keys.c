// SPDX-License-Identifier: Apache-2.0
// The table of the keys of job files: docs/job-file.md, row by row.

#include "scenario_reader.h"

#include <assert.h>

#include <weft/scenario/plan_file.h>

#include "scenario_words.h"

#define IN(type, field) offsetof(type, field), sizeof(((type *)NULL)->field)
#define FILE_(field) IN(struct plan_file, field)
#define MODEL(field) IN(struct plan_file, architecture.field)
#define CUT(field) IN(struct plan_file, plan.parallel.field)
#define TIME(field) IN(struct plan_file, plan.timing.field)
#define MEASURED(field) IN(struct plan_file_time, field)
#define INPUT(field) IN(struct plan_input, field)

#define COUNT_MAX (UINT64_C(1) << 20)
#define PARAMS_MAX (UINT64_C(1) << 40)
#define TIME_MAX (UINT64_C(1000000) * PS_PER_MS)

static const char *const time_words[] = {"embedding", "layer", "expert_layer", "output", NULL};
// None, and the names of the devices, in their order.
static const char *const device_words[] = {"none",   "A100",	"H100",	     "H200",
					   "B200",   "GB200",	"GB300",     "MI300X",
					   "MI355X", "TPU-v5p", "Trainium2", NULL};
static const char *const norm_words[] = {"rms", "layer", NULL};

static const char *const reduction_words[] = {"megatron", "ddp",  "zero-1", "zero-2",
					      "zero-3",	  "fsdp", "local",  NULL};
static const char *const recompute_words[] = {"none", "full", NULL};
static const char *const schedule_words[] = {"1f1b", "zb-h1", NULL};
static const char *const reshard_words[] = {"auto", "true", "false", NULL};
static const char *const sync_words[] = {"auto", "last", "each", NULL};

// A count that may be left out: of a part that not every model has.
#define OPTIONAL(path, text, field) \
	{ \
		path, "count", "none", text, field, 1, COUNT_MAX, "none", NULL, 0 \
	}
#define NEEDED(path, text, field) \
	{ \
		path, "count", "required", text, field, 1, COUNT_MAX, NULL, NULL, 0 \
	}
#define ONE(path, text, field) \
	{ \
		path, "count", "1", text, field, 1, COUNT_MAX, NULL, NULL, 0 \
	}
#define FLAG(path, value, text, field) \
	{ \
		path, "flag", value, text, field, 0, 1, NULL, flag_words, 0 \
	}

const char *const plan_precision_words[] = {"bf16", "fp8", "fp4", NULL};

// path, unit, default, meaning, field, min, max, word for 0, words, use
static const struct scenario_key keys[] = {
	{"name", "text", "required", "Name of the job in results.", FILE_(name), 0, 0, NULL, NULL,
	 0},
	{"description", "text", "-", "One line about the job.", FILE_(description), 0, 0, NULL,
	 NULL, 0},
	{"model.name", "text", "-", "Name of the model; else the job's.", FILE_(model), 0, 0, NULL,
	 NULL, 0},
	NEEDED("model.layers", "Layers.", MODEL(layers)),
	NEEDED("model.hidden", "Width of the model.", MODEL(hidden)),
	NEEDED("model.vocab", "Words.", MODEL(vocab)),
	NEEDED("model.heads", "Attention heads.", MODEL(heads)),
	{"model.kv_heads", "count", "auto", "Heads of keys and values; auto: as many as heads.",
	 MODEL(kv_heads), 1, COUNT_MAX, "auto", NULL, 0},
	{"model.head_dim", "count", "auto", "Width of a head; auto: hidden / heads.",
	 MODEL(head_dim), 1, COUNT_MAX, "auto", NULL, 0},
	OPTIONAL("model.ffn", "Width of the feed-forward of layers without experts.", MODEL(ffn)),
	FLAG("model.gated", "true", "Two matrices before the activation, as in SwiGLU.",
	     MODEL(is_gated)),
	FLAG("model.bias", "false", "Matrices have biases.", MODEL(has_bias)),
	FLAG("model.qkv_bias", "false", "Matrices of queries, keys and values have biases.",
	     MODEL(has_qkv_bias)),
	FLAG("model.ffn_bias", "false", "Matrices of the feed-forward alone have biases.",
	     MODEL(has_ffn_bias)),
	FLAG("model.attention_bias", "false", "Matrices of attention alone have biases.",
	     MODEL(has_attention_bias)),
	FLAG("model.shared_norm", "false",
	     "Attention and feed-forward stand side by side behind one norm, as in Falcon 7B.",
	     MODEL(has_shared_norm)),
	OPTIONAL("model.post_norms", "Norms of a layer beyond two, as Gemma 2 has them.",
		 MODEL(post_norms)),
	OPTIONAL("model.head_norms",
		 "Norms of a layer as wide as a head: 2 of Qwen3, one a head of OLMo 2.",
		 MODEL(head_norms)),
	{"model.norm", "word", "rms", "Norms are rms: one vector, or layer: with a bias.",
	 FILE_(norm), 0, 1, NULL, norm_words, 0},
	FLAG("model.tied", "false", "The output matrix is the embedding.", MODEL(is_tied)),
	OPTIONAL("model.sinks", "Numbers of a head that attention sinks take.", MODEL(sinks)),
	{"model.extra_first", "count", "none",
	 "Parameters beside the embedding: positions, token types.", MODEL(extra_first_params), 1,
	 PARAMS_MAX, "none", NULL, 0},
	{"model.extra_last", "count", "none", "Parameters of heads beyond the output matrix.",
	 MODEL(extra_last_params), 1, PARAMS_MAX, "none", NULL, 0},
	{"model.output_bias", "count", "none", "1: the output has a bias.", MODEL(output_bias), 1,
	 1, "none", NULL, 0},
	OPTIONAL("model.query_rank", "Latent attention: rank of queries.", MODEL(query_rank)),
	OPTIONAL("model.kv_rank", "Latent attention: rank of keys and values.", MODEL(kv_rank)),
	OPTIONAL("model.rope_dim", "Latent attention: rotary part of a head.", MODEL(rope_dim)),
	OPTIONAL("model.value_dim", "Latent attention: width of a value.", MODEL(value_dim)),
	OPTIONAL("model.experts", "Experts of a layer.", MODEL(experts)),
	OPTIONAL("model.experts_per_token", "Experts that a token goes to.",
		 MODEL(experts_per_token)),
	OPTIONAL("model.expert_ffn", "Width of an expert.", MODEL(expert_ffn)),
	OPTIONAL("model.shared_ffn", "Width of the expert that all tokens go to.",
		 MODEL(shared_ffn)),
	FLAG("model.shared_gate", "false",
	     "That expert has a gate, as wide as hidden: Qwen1.5-MoE.", MODEL(has_shared_gate)),
	OPTIONAL("model.dense_layers", "First layers, which have no experts.", MODEL(dense_layers)),
	ONE("model.expert_every",
	    "Each so many-th layer has experts, the others a feed-forward: 2 of Llama 4 Maverick.",
	    MODEL(expert_every)),

	ONE("cut.tp", "Tensor ranks.", CUT(tp)),
	ONE("cut.cp", "Context ranks.", CUT(cp)),
	ONE("cut.ep", "Expert ranks: each holds its share of a layer's experts.", CUT(ep)),
	ONE("cut.etp", "Expert tensor ranks: so many, which follow each other, cut an expert.",
	    CUT(etp)),
	ONE("cut.pp", "Pipeline stages.", CUT(pp)),
	ONE("cut.vpp", "Chunks of a stage: above 1 the pipeline is interleaved.", CUT(vpp)),
	ONE("cut.dp", "Replicas; a fabric with more or fewer NICs has more or fewer.", CUT(dp)),
	OPTIONAL("cut.layers_first", "Layers of the first cell, where not as the others.",
		 CUT(layers_first)),
	OPTIONAL("cut.layers_last", "Layers of the last cell, where not as the others.",
		 CUT(layers_last)),
	ONE("cut.vocab_grain", "The vocabulary is padded to a multiple of this x tp.",
	    CUT(vocab_grain)),
	{"cut.schedule", "word", "1f1b",
	 "Of the pipeline: 1f1b, with chunks interleaved; zb-h1: gradients of weights come later "
	 "and "
	 "fill its gaps (Zero Bubble, ICLR 2024).",
	 FILE_(schedule), 0, 0, NULL, schedule_words, 0},
	{"cut.order", "text", "tp-cp-ep-dp-pp", "Order of ranks, the innermost dimension first.",
	 FILE_(order), 0, 0, NULL, NULL, 0},

	ONE("step.micro_batches", "Micro-batches of a replica.", CUT(micro_batches)),
	ONE("step.samples", "Samples of a micro-batch.", CUT(samples)),
	NEEDED("step.sequence", "Tokens of a sample.", CUT(sequence)),
	{"step.recompute", "word", "none",
	 "full: of a layer only its input is kept, and its forward runs again before its backward.",
	 FILE_(recompute), 0, 0, NULL, recompute_words, 0},

	{"wire.gradients", "bytes", "2B", "A gradient on the wire.", CUT(grad_bytes), 1, 16, NULL,
	 NULL, 0},
	{"wire.parameters", "bytes", "2B", "A parameter on the wire.", CUT(param_bytes), 1, 16,
	 NULL, NULL, 0},
	{"wire.activations", "bytes", "2B", "An activation on the wire.", CUT(activation_bytes), 1,
	 16, NULL, NULL, 0},

	{"reduce.kind", "word", "megatron",
	 "How replicas share: megatron, ddp (PyTorch's DistributedDataParallel), zero-1, zero-2, "
	 "zero-3 (DeepSpeed), fsdp (PyTorch's), local (local SGD, DiLoCo).",
	 FILE_(reduction), 0, 0, NULL, reduction_words, 0},
	FLAG("reduce.distributed_optimizer", "true",
	     "Megatron-LM's: gradients are scattered and parameters gathered; else all-reduce.",
	     CUT(has_distributed_optimizer)),
	{"reduce.bucket", "count", "auto",
	 "Parameters of a bucket; auto is Megatron's rule, 40 M or 1 M x ranks, or DeepSpeed's 500 "
	 "M.",
	 CUT(bucket_params), 1, PARAMS_MAX, "auto", NULL, 0},
	FLAG("reduce.aligned", "false",
	     "Stages reduce together, each cell at its end; else each bucket when it is ready.",
	     CUT(is_aligned)),

	{"reduce.bucket_bytes", "bytes", "25MiB",
	 "ddp: bytes of gradients at which a bucket closes.", CUT(bucket_bytes), 1, PARAMS_MAX,
	 NULL, NULL, 0},
	{"reduce.first_bucket", "bytes", "1MiB", "ddp: the same of the bucket that is ready first.",
	 CUT(first_bucket_bytes), 1, PARAMS_MAX, NULL, NULL, 0},
	{"reduce.sync", "word", "auto",
	 "Gradients are reduced behind each micro-batch, or the last; auto: each with zero-2, "
	 "zero-3, and with fsdp without stages.",
	 FILE_(sync), 0, 0, NULL, sync_words, 0},
	{"reduce.reshard", "word", "auto",
	 "fsdp, zero-3: true: parameters go after a unit's forward and are gathered again; auto: "
	 "so "
	 "without stages.",
	 FILE_(reshard), 0, 0, NULL, reshard_words, 0},
	{"reduce.within", "count", "all",
	 "fsdp, zero-3: ranks that share what is cut (hybrid sharding); those that hold the same "
	 "shard sum their gradients by an all-reduce.",
	 CUT(shard_ranks), 1, COUNT_MAX, "all", NULL, 0},
	{"reduce.every", "count", "1",
	 "local: steps from one outer step to the next; in that one all is summed behind its end.",
	 FILE_(every), 1, 1000000, NULL, NULL, 0},
	{"reduce.prefetch", "count", "1",
	 "fsdp, zero-3: units that are gathered before the one in hand has ended; 0: none.",
	 CUT(prefetch), 0, 1024, NULL, NULL, 0},

	{"times.forward", "time", "none", "One micro-batch forward through one cell.",
	 TIME(forward_ps), 1, TIME_MAX, "none", NULL, 0},
	{"times.backward", "time", "none", "The same backward.", TIME(backward_ps), 1, TIME_MAX,
	 "none", NULL, 0},
	{"times.other", "time", "0s",
	 "All of a step that is neither pipeline nor exposed communication.", TIME(other_ps), 0,
	 TIME_MAX, NULL, NULL, 0},

	{"times.weights", "share", "50%",
	 "zb-h1: what gradients of weights take of a backward; of matrix products half.",
	 CUT(late_ppb), 1000000, SHARE_WHOLE / 2, NULL, NULL, 0},
	{"times.measured", "list", "none",
	 "In place of times.forward: what was measured of a rank's layers, one micro-batch.", 0, 0,
	 0, 0, NULL, NULL, 0},
	{"times.measured[].part", "word", "required",
	 "layer: one without experts; expert_layer: one with them; embedding: before the layers; "
	 "output: behind them, with the loss.",
	 MEASURED(part), 0, 0, NULL, time_words, 0},
	{"times.measured[].forward", "time", "required", "Its forward.", MEASURED(forward_ps), 1,
	 TIME_MAX, NULL, NULL, 0},
	{"times.measured[].backward", "time", "required", "Its backward.", MEASURED(backward_ps), 1,
	 TIME_MAX, NULL, NULL, 0},

	{"times.device", "word", "none",
	 "The device (`weft plan --devices`): its memory, its rates, its domain; without "
	 "times.forward and times.measured times come from its roofline.",
	 FILE_(device), 0, 0, NULL, device_words, 0},
	{"times.precision", "word", "bf16", "Numbers of matrix products: bf16, fp8 or fp4.",
	 FILE_(plan.site.precision), 0, 0, NULL, plan_precision_words, 0},
	{"times.efficiency", "share", "40%", "What is reached of the device's published rates.",
	 FILE_(plan.site.efficiency_ppb), 1000000, SHARE_WHOLE, NULL, NULL, 0},

	{"domain.gpus", "count", "auto",
	 "Ranks of a scale-up domain: a server, or a rack; auto: as the device has.",
	 FILE_(plan.site.domain), 1, COUNT_MAX, "auto", NULL, 0},
	{"domain.rate", "rate", "auto", "What a rank sends into its domain; auto: as the device.",
	 FILE_(domain_bps), 1000000, UINT64_C(1) << 53, "auto", NULL, 0},
	{"domain.nic_rate", "rate", "auto", "Rate of a rank's NIC; auto: as the device's system.",
	 FILE_(plan.site.nic_bps), 1000000, UINT64_C(1) << 53, "auto", NULL, 0},
	{"domain.memory", "bytes", "auto", "Memory of a rank; auto: as the device has.",
	 FILE_(plan.site.memory_bytes), 1000000, UINT64_C(1) << 50, "auto", NULL, 0},

	{"published.step", "time", "none", "Step time that was published for this job.",
	 FILE_(plan.published_ps), 1, TIME_MAX, "none", NULL, 0},
	{"published.source", "text", "-", "Where.", FILE_(published), 0, 0, NULL, NULL, 0},

	{"inputs", "list", "none", "What figures rest on.", 0, 0, 0, 0, NULL, NULL, 0},
	{"inputs[].of", "text", "required", "Which: keys or sections, with blanks between.",
	 INPUT(of), 0, 0, NULL, NULL, 0},
	{"inputs[].origin", "word", "required", "fact, assumed or calibrated.", INPUT(origin), 0, 0,
	 NULL, origin_words, 0},
	{"inputs[].text", "text", "required", "The source.", INPUT(text), 0, 0, NULL, NULL, 0},
	{NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0},
};

static_assert(sizeof(keys) / sizeof(keys[0]) <= SCENARIO_KEYS_MAX, "room for marks");

static const char *const sections[] = {"model", "cut",	  "step",      "wire",	 "reduce",
				       "times", "domain", "published", "inputs", NULL};

const struct key_table plan_file_table = {keys, sections, "job file", "the job",
					  "name, model and step.sequence"};
