// SPDX-License-Identifier: Apache-2.0
// Job files: the table of their keys, and what must fit together. Read as scenarios are, by the
// same rules of units, places and misspelt words.

#include <weft/scenario/plan_file.h>

#include <stdio.h>
#include <string.h>

#include <weft/workload/order.h>
#include <weft/workload/plan_memory.h>

#include "scenario_reader.h"
#include "scenario_words.h"

// The device and the domain of a job's file.

// Words of times.device: none, and the names of the table, in its order.
extern const char *const plan_device_words[];

const char *const plan_device_words[] = {"none",   "A100",    "H100",	   "H200",
					 "B200",   "GB200",   "GB300",	   "MI300X",
					 "MI355X", "TPU-v5p", "Trainium2", NULL};
static const char *const precisions[] = {"bf16", "fp8", "fp4"};

static int refuse_effect(struct reader *reader, const char *path, const char *needs)
{
	return reader_refuse(reader, reader->key_marks[key_find(reader->table, path)],
			     "%s has no effect here; it needs %s", path, needs);
}

// Whether times are the file's own.
static bool is_given(const struct reader *reader)
{
	return reader_is_given(reader, "times.forward") ||
		reader_is_given(reader, "times.measured");
}

static int check_site_effects(struct reader *reader, const struct plan_file *file)
{
	static const char *const paths[] = {"times.efficiency", "times.precision"};
	bool is_measured = is_given(reader);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!reader_is_given(reader, paths[i]))
			continue;
		if (file->device == 0)
			return refuse_effect(reader, paths[i], "times.device");
		if (is_measured)
			return refuse_effect(reader, paths[i],
					     "times from times.device, not given");
	}
	if (reader_is_given(reader, "times.other") && !is_measured && file->device == 0)
		return refuse_effect(reader, "times.other",
				     "times.forward, times.measured or times.device");
	return 0;
}

static void take_device(struct site *site)
{
	const struct accelerator *device = site->device;
	if (site->domain == 0)
		site->domain = device->domain;
	if (site->domain_Bps == 0)
		site->domain_Bps = device->domain_Bps;
	if (site->nic_bps == 0)
		site->nic_bps = device->nic_bps;
	if (site->memory_bytes == 0)
		site->memory_bytes = device->memory_bytes;
}

static void add_input(struct plan_file *file, const char *of, enum input_origin origin,
		      const char *text)
{
	struct plan_input *input = &file->inputs[file->plan.input_count];
	if (file->plan.input_count == PLAN_INPUTS_MAX)
		return;
	file->plan.input_count++;
	*input = (struct plan_input){.origin = origin};
	snprintf(input->of, sizeof(input->of), "%s", of);
	snprintf(input->text, sizeof(input->text), "%s", text);
}

// How often `word` stands in the row.
static uint32_t times_in(const struct plan_input *input, const char *word, size_t length)
{
	uint32_t count = 0;
	for (const char *at = input->of; *at != '\0'; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		count += strcspn(at, " ") == length && strncmp(at, word, length) == 0;
	}
	return count;
}

const struct plan_input *plan_input_of(const struct plan *plan, const char *key)
{
	const size_t lengths[] = {strlen(key), strcspn(key, ".")};
	for (size_t i = 0; i < 2; i++)
		for (uint32_t row = 0; row < plan->input_count; row++)
			if (times_in(&plan->inputs[row], key, lengths[i]) > 0)
				return &plan->inputs[row];
	return NULL;
}

// Times that come from a device say so; whose guess their efficiency is, the file may say.
static void tell_origin(struct plan_file *file)
{
	const struct site *site = &file->plan.site;
	double percent = site->efficiency_ppb / 1e7;
	snprintf(file->origin, sizeof(file->origin), "roofline of %s at %.4g %% of its rates in %s",
		 site->device->name, percent, precisions[site->precision]);
	file->plan.timing.origin = file->origin;
	file->plan.timing.is_assumed = true;
	const struct plan_input *input = plan_input_of(&file->plan, "times.efficiency");
	if (input == NULL)
		add_input(file, "times.efficiency", INPUT_ASSUMED, file->origin);
	else
		file->plan.timing.is_assumed = input->origin == INPUT_ASSUMED;
}

// What the file leaves to the device's row, and whether times come from it. -EINVAL with a place.
static int plan_site_settle(struct reader *reader, struct plan_file *file)
{
	struct site *site = &file->plan.site;
	int rc = check_site_effects(reader, file);
	if (rc != 0)
		return rc;
	file->plan.parallel.is_recomputed = file->recompute == 1;
	site->domain_Bps = file->domain_bps / 8;
	site->is_other_given = reader_is_given(reader, "times.other");
	if (is_given(reader) || file->device == 0)
		site->efficiency_ppb = 0;
	if (file->device == 0)
		return 0;
	site->device = accelerator_at(file->device - 1);
	if (site->device->flops[site->precision] == 0)
		return reader_refuse(reader, reader_mark(reader, "times.precision"),
				     "times.precision: %s has no published rate in %s",
				     site->device->name, precisions[site->precision]);
	take_device(site);
	add_input(file, "times.device", INPUT_FACT, site->device->source);
	if (plan_has_roofline(&file->plan))
		tell_origin(file);
	return 0;
}

// ---------------------------------------------------------------- times.measured

// Each part once, and all that the model has layers of.
#define MEASURED_LIST "times.measured"

static const char *const time_words[] = {"embedding", "layer", "expert_layer", "output", NULL};

// Whether a model has layers of that kind; all have something before and behind them.
static bool has_part(const struct architecture *of, enum timed_part part)
{
	if (part != TIMED_LAYER && part != TIMED_EXPERT_LAYER)
		return true;
	for (uint32_t layer = 0; layer < of->layers; layer++)
		if (layer_is_moe(of, layer) == (part == TIMED_EXPERT_LAYER))
			return true;
	return false;
}

static int read_time(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		     uint32_t index)
{
	struct plan_file *file = reader->base;
	struct plan_file_time time = {0};
	(void)index;
	int rc = document_read_element(reader, document, node, MEASURED_LIST "[]", &time);
	if (rc != 0)
		return rc;
	const char *part = timed_part_name((enum timed_part)time.part);
	struct timed *to = &file->plan.timing.parts[time.part];
	if (to->forward_ps > 0)
		return reader_refuse(reader, reader_mark(reader, MEASURED_LIST "[].part"),
				     MEASURED_LIST "[].part: %s is here twice", part);
	if (!has_part(&file->architecture, (enum timed_part)time.part))
		return reader_refuse(reader, reader_mark(reader, MEASURED_LIST "[].part"),
				     MEASURED_LIST "[].part: the model has no %s", part);
	*to = (struct timed){time.forward_ps, time.backward_ps};
	return 0;
}

static int read_times(struct reader *reader, yaml_document_t *document)
{
	struct plan_file *file = reader->base;
	struct timing *timing = &file->plan.timing;
	if (!reader_is_given(reader, MEASURED_LIST))
		return 0;
	if (reader_is_given(reader, "times.forward"))
		return reader_refuse(reader,
				     reader->key_marks[key_find(reader->table, MEASURED_LIST)],
				     MEASURED_LIST " has no effect here; times.forward is given");
	int rc = reader_read_list(reader, document, MEASURED_LIST, TIMED_COUNT, read_time);
	for (uint32_t i = TIMED_LAYER; rc == 0 && i <= TIMED_EXPERT_LAYER; i++)
		if (timing->parts[i].forward_ps == 0 &&
		    has_part(&file->architecture, (enum timed_part)i))
			return reader_refuse(reader, reader_mark(reader, MEASURED_LIST),
					     MEASURED_LIST
					     ": %s is missing; the model has such layers",
					     timed_part_name((enum timed_part)i));
	timing->has_parts = true;
	return rc;
}

// ---------------------------------------------------------------- keys

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

static const char *const norm_words[] = {"rms", "layer", NULL};

enum reduction { MEGATRON, DDP, ZERO_1, ZERO_2, ZERO_3, FSDP, LOCAL };
static const char *const reduction_words[] = {"megatron", "ddp",  "zero-1", "zero-2",
					      "zero-3",	  "fsdp", "local",  NULL};
static const char *const precision_words[] = {"bf16", "fp8", "fp4", NULL};
static const char *const recompute_words[] = {"none", "full", NULL};
static const char *const schedule_words[] = {"1f1b", "zb-h1", NULL};
enum sync { SYNC_AUTO, SYNC_LAST, SYNC_EACH };
enum reshard { RESHARD_AUTO, RESHARD_TRUE, RESHARD_FALSE };
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
	OPTIONAL("model.post_norms", "Norms of a layer beyond two, as Gemma 2 has them.",
		 MODEL(post_norms)),
	OPTIONAL("model.head_norms", "Norms of a layer as wide as a head, as Qwen3 has them.",
		 MODEL(head_norms)),
	{"model.norm", "word", "rms", "Norms are RMS, or layer: with a bias.", FILE_(norm), 0, 1,
	 NULL, norm_words, 0},
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
	OPTIONAL("model.dense_layers", "First layers, which have no experts.", MODEL(dense_layers)),

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
	 "All of a step that is no pipeline and no exposed communication.", TIME(other_ps), 0,
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
	 FILE_(device), 0, 0, NULL, plan_device_words, 0},
	{"times.precision", "word", "bf16", "Numbers of matrix products: bf16, fp8 or fp4.",
	 FILE_(plan.site.precision), 0, 0, NULL, precision_words, 0},
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

static const struct key_table table = {keys, sections, "job file", "the job",
				       "name, model and step.sequence"};

const struct scenario_key *plan_file_keys(void)
{
	return keys;
}

// ---------------------------------------------------------------- what must be there

static int check_needed(struct reader *reader)
{
	for (int i = 0; keys[i].path != NULL; i++)
		if (scenario_key_is_required(&keys[i]) && !scenario_key_is_element(&keys[i]) &&
		    !reader->is_given[i])
			return reader_refuse(reader, reader->root, "%s is missing", keys[i].path);
	return 0;
}

// A key of `paths`, which end with NULL, has no effect without the key `needs`.
static int check_effect(struct reader *reader, const char *const *paths, const char *needs)
{
	for (; *paths != NULL && !reader_is_given(reader, needs); paths++)
		if (reader_is_given(reader, *paths))
			return reader_refuse(reader, reader->key_marks[key_find(&table, *paths)],
					     "%s has no effect here; it needs %s", *paths, needs);
	return 0;
}

static int check_effects(struct reader *reader, const struct plan *plan)
{
	static const char *const experts[] = {"model.experts_per_token",
					      "model.expert_ffn",
					      "model.shared_ffn",
					      "model.dense_layers",
					      "cut.ep",
					      "cut.etp",
					      NULL};
	static const char *const latent[] = {"model.query_rank", "model.rope_dim",
					     "model.value_dim", NULL};
	static const char *const forward[] = {"times.backward", NULL};
	static const char *const published[] = {"published.source", NULL};
	int rc = check_effect(reader, experts, "model.experts");
	if (rc == 0)
		rc = check_effect(reader, latent, "model.kv_rank");
	if (rc == 0)
		rc = check_effect(reader, forward, "times.forward");
	if (rc == 0)
		rc = check_effect(reader, published, "published.step");
	if (rc != 0)
		return rc;
	if (reader_is_given(reader, "model.kv_heads") && reader_is_given(reader, "model.kv_rank"))
		return reader_refuse(reader, reader_mark(reader, "model.kv_heads"),
				     "model.kv_heads has no effect beside model.kv_rank");
	if (plan->timing.forward_ps > 0 && plan->timing.backward_ps == 0)
		return reader_refuse(reader, reader_mark(reader, "times.forward"),
				     "times.backward is missing; times.forward needs it");
	if (plan->published_ps > 0 && !reader_is_given(reader, "published.source"))
		return reader_refuse(reader, reader_mark(reader, "published.step"),
				     "published.source is missing; published.step needs it");
	return 0;
}

// Keys of some ways to reduce alone.
static const struct {
	const char *path;
	uint32_t kinds; // a bit each
	const char *needs;
} reduction_keys[] = {
	{"reduce.distributed_optimizer", 1u << MEGATRON, "megatron"},
	{"reduce.aligned", 1u << MEGATRON, "megatron"},
	{"reduce.bucket", 1u << MEGATRON | 1u << ZERO_1 | 1u << ZERO_2,
	 "megatron, zero-1 or zero-2"},
	{"reduce.bucket_bytes", 1u << DDP, "ddp"},
	{"reduce.first_bucket", 1u << DDP, "ddp"},
	{"reduce.sync", ~(1u << MEGATRON | 1u << LOCAL), "other than megatron and local"},
	{"reduce.every", 1u << LOCAL, "local"},
	{"reduce.reshard", 1u << ZERO_3 | 1u << FSDP, "zero-3 or fsdp"},
	{"reduce.within", 1u << ZERO_3 | 1u << FSDP, "zero-3 or fsdp"},
	{"reduce.prefetch", 1u << ZERO_3 | 1u << FSDP, "zero-3 or fsdp"},
};

static int settle_schedule(struct reader *reader, struct plan_file *file)
{
	struct parallel *cut = &file->plan.parallel;
	if (file->schedule == 0) {
		if (reader_is_given(reader, "times.weights"))
			return refuse_effect(reader, "times.weights", "cut.schedule zb-h1");
		cut->late_ppb = 0;
		return 0;
	}
	return cut->pp > 1 ? 0 : refuse_effect(reader, "cut.schedule", "cut.pp above 1");
}

static int settle_reduction(struct reader *reader, struct plan_file *file)
{
	static const enum sharding shardings[] = {
		[MEGATRON] = SHARDING_MEGATRON, [DDP] = SHARDING_DDP,	  [ZERO_1] = SHARDING_ZERO1,
		[ZERO_2] = SHARDING_ZERO2,	[ZERO_3] = SHARDING_FSDP, [FSDP] = SHARDING_FSDP,
		[LOCAL] = SHARDING_DDP};
	struct parallel *cut = &file->plan.parallel;
	for (size_t i = 0; i < sizeof(reduction_keys) / sizeof(*reduction_keys); i++) {
		const char *path = reduction_keys[i].path;
		if (reader_is_given(reader, path) &&
		    !(reduction_keys[i].kinds >> file->reduction & 1))
			return reader_refuse(reader, reader->key_marks[key_find(&table, path)],
					     "%s has no effect here; it needs reduce.kind %s", path,
					     reduction_keys[i].needs);
	}
	cut->sharding = shardings[file->reduction];
	if (file->reduction == MEGATRON)
		return 0;
	cut->has_distributed_optimizer = file->reduction != DDP && file->reduction != LOCAL;
	bool has_stages = file->reduction == FSDP && cut->pp > 1;
	cut->is_resharded = file->reshard == RESHARD_TRUE ||
		(file->reshard == RESHARD_AUTO && !has_stages);
	cut->has_one_stage = file->reduction == ZERO_2 || file->reduction == ZERO_3;
	cut->is_reduced_each = file->sync == SYNC_EACH ||
		(file->sync == SYNC_AUTO && !has_stages && file->reduction >= ZERO_2 &&
		 file->reduction != LOCAL);
	if (file->reduction == LOCAL) {
		cut->outer_steps = file->every;
		cut->is_aligned = true; // behind the end of a step
	}
	return 0;
}

// ---------------------------------------------------------------- sizes

// A head's figures where the file leaves them out.
static int settle_heads(struct reader *reader, struct architecture *of)
{
	if (of->kv_heads == 0)
		of->kv_heads = of->heads;
	if (of->head_dim > 0)
		return 0;
	if (of->hidden % of->heads != 0)
		return reader_refuse(reader, reader_mark(reader, "model.heads"),
				     "model.heads: a width of %u does not divide by %u heads; give "
				     "model.head_dim",
				     of->hidden, of->heads);
	of->head_dim = of->hidden / of->heads;
	return 0;
}

// The key whose last word is that of a size; other words follow below.
static const struct scenario_key *key_of_size(const char *size)
{
	static const char *const others[][2] = {{"grad_bytes", "wire.gradients"},
						{"param_bytes", "wire.parameters"},
						{"activation_bytes", "wire.activations"},
						{"shard_ranks", "reduce.within"},
						{"late_ppb", "cut.schedule"}};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(size, others[i][0]) == 0)
			return &keys[key_find(&table, others[i][1])];
	for (const struct scenario_key *key = keys; key->path != NULL; key++) {
		const char *point = strrchr(key->path, '.');
		if (point != NULL && strcmp(point + 1, size) == 0)
			return key;
	}
	return NULL;
}

static int check_plan(struct reader *reader, const struct plan *plan)
{
	const char *size = NULL;
	struct refusal reason = {0};
	struct order order;
	if (plan_check_size(plan, &size, &reason) < 0) {
		const struct scenario_key *key = size != NULL ? key_of_size(size) : NULL;
		if (key == NULL)
			return reader_refuse(reader, reader->root, "%s", reason.text);
		return reader_refuse(reader, reader_mark(reader, key->path), "%s: %s", key->path,
				     reason.text);
	}
	if (order_parse(&order, plan->parallel.order, plan, &reason) < 0) {
		struct mark mark = reader_mark(reader, "cut.order");
		if (reader_is_given(reader, "cut.order") && reason.column > 0)
			mark.column += reason.column - 1;
		return reader_refuse(reader, mark, "cut.order: %s", reason.text);
	}
	return 0;
}

// ---------------------------------------------------------------- what figures rest on

// Whether something of the key or section `word` is given.
static bool is_something(const struct reader *reader, const char *word)
{
	size_t length = strlen(word);
	for (int i = 0; keys[i].path != NULL; i++)
		if (reader->is_given[i] && !scenario_key_is_element(&keys[i]) &&
		    strncmp(keys[i].path, word, length) == 0 &&
		    (keys[i].path[length] == '\0' || keys[i].path[length] == '.'))
			return true;
	return false;
}

static int read_input(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		      uint32_t index)
{
	struct plan_file *file = reader->base;
	struct plan_input *input = &file->inputs[index];
	char words[sizeof(input->of)], *rest;
	int rc = document_read_element(reader, document, node, "inputs[]", input);
	if (rc != 0)
		return rc;
	file->plan.input_count = index + 1;
	memcpy(words, input->of, sizeof(words));
	for (char *word = strtok_r(words, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		uint32_t count = 0;
		if (!is_something(reader, word))
			return reader_refuse(reader, reader_mark(reader, "inputs[].of"),
					     "inputs[].of: nothing of `%s` is given here", word);
		for (uint32_t i = 0; i <= index; i++)
			count += times_in(&file->inputs[i], word, strlen(word));
		if (count > 1)
			return reader_refuse(reader, reader_mark(reader, "inputs[].of"),
					     "inputs[].of: `%s` has its origin already", word);
	}
	return 0;
}

// Times that nothing is said of are nobody's measurement.
static void settle_origin(struct plan *plan)
{
	if (plan_has_roofline(plan))
		return;
	plan->timing.origin = "the job's file, which does not say where from";
	plan->timing.is_assumed = true;
	const struct plan_input *input = plan_input_of(
		plan, plan->timing.has_parts ? "times.measured" : "times.forward");
	if (input == NULL)
		return;
	plan->timing.origin = input->text;
	plan->timing.is_assumed = input->origin == INPUT_ASSUMED;
}

// ---------------------------------------------------------------- reading

static int read_reader(struct reader *reader, yaml_document_t *document, struct plan_file *file)
{
	int rc = document_read(reader, document, file);
	if (rc == 0)
		rc = check_needed(reader);
	if (rc == 0)
		rc = reader_read_list(reader, document, "inputs", PLAN_INPUTS_MAX, read_input);
	if (rc == 0)
		rc = read_times(reader, document);
	if (rc == 0)
		rc = check_effects(reader, &file->plan);
	if (rc == 0)
		rc = settle_reduction(reader, file);
	if (rc == 0)
		rc = settle_schedule(reader, file);
	if (rc == 0)
		rc = settle_heads(reader, &file->architecture);
	if (rc != 0)
		return rc;
	file->architecture.norm_vectors = 1 + file->norm;
	rc = plan_site_settle(reader, file);
	settle_origin(&file->plan);
	if (rc == 0)
		rc = check_plan(reader, &file->plan);
	if (rc != 0)
		return rc;
	plan_measured(&file->plan);
	plan_roofline(&file->plan);
	return 0;
}

int plan_file_read(struct plan_file *ret, const char *path, const char *text, size_t bytes,
		   struct refusal *refusal)
{
	struct reader reader = {.table = &table, .base = ret, .refusal = refusal, .path = path};
	yaml_document_t document;
	reader.root = (struct mark){1, 1, false};
	int rc = document_check_text(&reader, text, bytes, reader.root);
	if (rc == 0)
		rc = document_load(&reader, &document, text, bytes);
	if (rc != 0)
		return rc;
	memset(ret, 0, sizeof(*ret));
	reader_defaults(&table, ret);
	ret->plan.name = ret->name;
	ret->plan.architecture = &ret->architecture;
	ret->plan.parallel.order = ret->order;
	ret->plan.inputs = ret->inputs;
	ret->plan.source = ret->published;
	rc = read_reader(&reader, &document, ret);
	ret->architecture.name = ret->model[0] != '\0' ? ret->model : ret->name;
	yaml_document_delete(&document);
	return rc;
}
