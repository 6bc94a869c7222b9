// SPDX-License-Identifier: Apache-2.0
// A config.json of Hugging Face as a job file. What a family of models always has stands in one
// table; a family that is not in it is refused. What the file does not say of a job is listed.
// Facts: the models' code in Hugging Face's transformers.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "plan.h"
#include <weft/core/near_word.h>
#include <weft/files/files.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define USED_MAX 48

// What each model of a family has, beside two norms a layer, one behind the layers, and no biases.
struct family {
	const char *type;
	uint32_t is_gated, has_bias, has_qkv_bias, has_ffn_bias, has_output_bias, is_tied;
	uint32_t has_attention_bias;
	uint32_t has_layer_norm;  // with a bias; a LayerNorm without one counts as RMS
	uint32_t has_shared_norm; // one norm for attention and feed-forward, side by side
	uint32_t post_norms, head_norms, first_norms; // first: behind the embedding
	uint32_t has_norm_of_heads;		      // as many head norms as heads of q and k
	uint32_t has_positions, positions_beyond;     // learned
	uint32_t ffn_of_hidden; // the feed-forward is so many times as wide, if nothing is said
	uint32_t sinks, has_shared_expert, has_shared_gate; // the shared one as wide as the others
};

static const struct family families[] = {
	{"llama", .is_gated = 1},
	{"mistral", .is_gated = 1},
	{"mixtral", .is_gated = 1},
	{"granite", .is_gated = 1},
	{"phi3", .is_gated = 1},
	{"qwen2", .is_gated = 1, .has_qkv_bias = 1},
	{"qwen2_moe", .is_gated = 1, .has_qkv_bias = 1, .has_shared_gate = 1},
	{"qwen3", .is_gated = 1, .head_norms = 2},
	{"qwen3_moe", .is_gated = 1, .head_norms = 2},
	{"gemma", .is_gated = 1, .is_tied = 1},
	{"gemma2", .is_gated = 1, .is_tied = 1, .post_norms = 2},
	{"gemma3", .is_gated = 1, .is_tied = 1, .post_norms = 2, .head_norms = 2},
	{"gemma3_text", .is_gated = 1, .is_tied = 1, .post_norms = 2, .head_norms = 2},
	{"olmo2", .is_gated = 1, .has_norm_of_heads = 1},
	{"olmoe", .is_gated = 1, .has_norm_of_heads = 1},
	{"olmo3", .is_gated = 1, .has_norm_of_heads = 1},
	{"cohere", .is_gated = 1, .is_tied = 1, .has_shared_norm = 1},
	{"cohere2", .is_gated = 1, .is_tied = 1, .has_shared_norm = 1},
	{"granitemoe", .is_gated = 1},
	{"glm", .is_gated = 1},
	{"glm4", .is_gated = 1, .post_norms = 2},
	{"glm4_moe", .is_gated = 1},
	{"internlm2", .is_gated = 1},
	{"internlm3", .is_gated = 1},
	{"baichuan", .is_gated = 1},
	{"smollm3", .is_gated = 1, .is_tied = 1},
	{"seed_oss", .is_gated = 1},
	{"ernie4_5", .is_gated = 1, .is_tied = 1},
	{"mistral3", .is_gated = 1},
	{"nemotron", .has_layer_norm = 1},
	{"phimoe", .is_gated = 1, .has_layer_norm = 1},
	{"stablelm", .is_gated = 1, .has_layer_norm = 1},
	{"deepseek", .is_gated = 1},
	{"deepseek_v2", .is_gated = 1},
	{"deepseek_v3", .is_gated = 1},
	{"kimi_k2", .is_gated = 1},
	{"dots1", .is_gated = 1, .head_norms = 2},
	{"llama4", .is_gated = 1, .has_shared_expert = 1},
	{"llama4_text", .is_gated = 1, .has_shared_expert = 1},
	{"gpt_oss", .is_gated = 1, .has_bias = 1, .sinks = 1},
	{"gpt_neox", .has_bias = 1, .has_layer_norm = 1},
	{"gpt2", .has_bias = 1, .has_layer_norm = 1, .is_tied = 1, .has_positions = 1,
	 .ffn_of_hidden = 4},
	{"gpt_bigcode", .has_bias = 1, .has_layer_norm = 1, .is_tied = 1, .has_positions = 1,
	 .ffn_of_hidden = 4},
	{"gptj", .has_ffn_bias = 1, .has_layer_norm = 1, .has_shared_norm = 1, .has_output_bias = 1,
	 .ffn_of_hidden = 4},
	{"codegen", .has_ffn_bias = 1, .has_layer_norm = 1, .has_shared_norm = 1,
	 .has_output_bias = 1, .ffn_of_hidden = 4},
	{"phi", .has_bias = 1, .has_layer_norm = 1, .has_shared_norm = 1, .has_output_bias = 1},
	{"starcoder2", .has_bias = 1, .has_layer_norm = 1, .is_tied = 1},
	{"bloom", .has_bias = 1, .has_layer_norm = 1, .is_tied = 1, .first_norms = 1,
	 .ffn_of_hidden = 4},
	{"opt", .has_bias = 1, .has_layer_norm = 1, .is_tied = 1, .has_positions = 1,
	 .positions_beyond = 2},
	{"mpt", .is_tied = 1, .ffn_of_hidden = 4},
	{"falcon", .has_layer_norm = 1, .is_tied = 1, .ffn_of_hidden = 4},
};

// Families of which a job file cannot say the whole architecture, and what of it.
static const struct {
	const char *type, *what;
} unsaid[] = {
	{"olmo", "norms without parameters"},
	{"gemma3n", "embeddings of each layer"},
	{"deepseek_v32", "what finds the tokens of sparse attention"},
	{"gpt_neo", "a bias behind attention, without those before it"},
	{"persimmon", "norms of heads with a bias"},
	{"granitemoehybrid", "state-space layers among the others"},
	{"lfm2", "convolutions among the layers"},
	{"mllama", "layers of cross-attention among the others"},
	{"qwen3_next", "layers of linear attention among the others"},
	{"minimax", "layers of linear attention among the others"},
	{"jamba", "state-space layers among the others"},
	{"bamba", "state-space layers among the others"},
	{"zamba2", "state-space layers among the others"},
	{"nemotron_h", "state-space layers among the others"},
	{"mamba", "state-space layers"},
	{"mamba2", "state-space layers"},
	{"falcon_mamba", "state-space layers"},
	{"rwkv", "recurrent layers"},
	{"recurrent_gemma", "recurrent layers"},
	{"t5", "an encoder with its decoder"},
	{"bart", "an encoder with its decoder"},
	{"whisper", "an encoder with its decoder"},
	{"bert", "a pooler, and heads that the model was trained with"},
	{"roberta", "a pooler, and heads that the model was trained with"},
};

// What some files of a family say of it themselves: `key` sets `at`, or must be `otherwise`, which
// is also what is meant where it is not there.
#define HAS_SO_MANY(field, count) offsetof(struct family, field), count
#define HAS(field) HAS_SO_MANY(field, 1)
static const struct said {
	const char *type, *key;
	bool otherwise;
	const char *what; // NULL: it sets
	size_t at;
	uint32_t count; // what it sets
} said[] = {
	{"falcon", "bias", false, NULL, HAS(has_bias)},
	{"starcoder2", "use_bias", true, NULL, HAS(has_bias)},
	{"stablelm", "use_qkv_bias", false, NULL, HAS(has_qkv_bias)},
	{"stablelm", "qk_layernorm", false, NULL, HAS(has_norm_of_heads)},
	{"stablelm", "use_parallel_residual", false, NULL, HAS(has_shared_norm)},
	{"cohere", "use_qk_norm", false, NULL, HAS(has_norm_of_heads)},
	{"llama", "mlp_bias", false, NULL, HAS(has_ffn_bias)},
	{"granite", "mlp_bias", false, NULL, HAS(has_ffn_bias)},
	{"nemotron", "mlp_bias", false, NULL, HAS(has_ffn_bias)},
	{"smollm3", "mlp_bias", false, NULL, HAS(has_ffn_bias)},
	{"seed_oss", "mlp_bias", false, NULL, HAS(has_ffn_bias)},
	{"seed_oss", "attention_bias", true, NULL, HAS(has_qkv_bias)},
	{"seed_oss", "attention_out_bias", false, "a bias behind attention", 0, 0},
	{"glm", "attention_bias", true, NULL, HAS(has_qkv_bias)},
	{"glm4", "attention_bias", true, NULL, HAS(has_qkv_bias)},
	{"glm4_moe", "attention_bias", false, NULL, HAS(has_qkv_bias)},
	{"glm4_moe", "use_qk_norm", false, NULL, HAS_SO_MANY(head_norms, 2)},
	{"internlm2", "bias", true, NULL, HAS(has_attention_bias)},
	{"internlm3", "qkv_bias", false, NULL, HAS(has_qkv_bias)},
	{"internlm3", "bias", false, "biases of all but queries, keys and values", 0, 0},
	{"ernie4_5", "use_bias", false, NULL, HAS(has_bias)},
	{"phimoe", "lm_head_bias", false, NULL, HAS(has_output_bias)},
	{"phi", "qk_layernorm", false, "norms of heads with a bias", 0, 0},
	{"opt", "do_layer_norm_before", true, "no norm behind the layers", 0, 0},
	{"opt", "enable_bias", true, "OPT without biases", 0, 0},
	{"opt", "layer_norm_elementwise_affine", true, "norms without parameters", 0, 0},
	{"opt", "_remove_final_layer_norm", false, "no norm behind the layers", 0, 0},
	{"mpt", "no_bias", true, "MPT with biases", 0, 0},
	{"gpt2", "add_cross_attention", false, "cross-attention", 0, 0},
	{"gpt_bigcode", "add_cross_attention", false, "cross-attention", 0, 0},
};

struct import {
	json_t *root;
	struct family family;  // with what the file says of it
	bool is_part;	       // the root is that of the language model, within another
	uint64_t expert_every; // each so many-th layer has experts
	const char *used[USED_MAX];
	uint32_t used_count;
	FILE *to;
};

static void use(struct import *import, const char *name)
{
	if (import->used_count < USED_MAX && json_object_get(import->root, name) != NULL)
		import->used[import->used_count++] = name;
}

// The size of that name; 0 when it is not there, or is null.
static uint64_t size_of(struct import *import, const char *name)
{
	json_t *value = json_object_get(import->root, name);
	use(import, name);
	return json_is_integer(value) && json_integer_value(value) > 0
		? (uint64_t)json_integer_value(value)
		: 0;
}

static bool flag_of(struct import *import, const char *name, bool is_otherwise)
{
	json_t *value = json_object_get(import->root, name);
	use(import, name);
	return json_is_boolean(value) ? json_is_true(value) : is_otherwise;
}

// The same of the first of these names that is there; the list ends with NULL.
static uint64_t first_of(struct import *import, const char *const *names)
{
	uint64_t size = 0;
	for (; size == 0 && *names != NULL; names++)
		size = size_of(import, *names);
	return size;
}

static void put(const struct import *import, const char *key, uint64_t value)
{
	if (value > 0)
		fprintf(import->to, "  %s: %" PRIu64 "\n", key, value);
}

static void put_flag(const struct import *import, const char *key, bool is_set)
{
	if (is_set)
		fprintf(import->to, "  %s: true\n", key);
}

// Of an object within the file, which is used as a whole.
static json_t *part_of(struct import *import, const char *name)
{
	use(import, name);
	return json_object_get(import->root, name);
}

static void put_experts(struct import *import)
{
	static const char *const counts[] = {"n_routed_experts", "num_local_experts", "num_experts",
					     NULL};
	static const char *const tops[] = {"num_experts_per_tok", "experts_per_token", NULL};
	static const char *const widths[] = {"moe_intermediate_size", "intermediate_size", NULL};
	uint64_t experts = first_of(import, counts);
	if (experts == 0)
		return;
	uint64_t shared = size_of(import, "n_shared_experts"), width = first_of(import, widths);
	put(import, "experts", experts);
	put(import, "experts_per_token", first_of(import, tops));
	use(import, "experts_per_token"); // some say it twice
	put(import, "expert_ffn", width);
	uint64_t own = size_of(import, "shared_expert_intermediate_size");
	put(import, "shared_ffn",
	    own > 0 ? own : (import->family.has_shared_expert ? 1 : shared) * width);
	put_flag(import, "shared_gate", own > 0 && import->family.has_shared_gate);
	put(import, "dense_layers", size_of(import, "first_k_dense_replace"));
	if (import->family.has_shared_expert)
		use(import, "use_qk_norm"); // without parameters
	put(import, "expert_every", import->expert_every > 1 ? import->expert_every : 0);
}

static bool is_of(const struct import *import, const char *type)
{
	return strcmp(import->family.type, type) == 0;
}

// 0: as many as heads.
static uint64_t kv_heads_of(struct import *import)
{
	static const char *const names[] = {"num_key_value_heads", "num_kv_heads", "n_head_kv",
					    NULL};
	bool is_new = is_of(import, "falcon") && flag_of(import, "new_decoder_architecture", false);
	uint64_t grouped = first_of(import, names);
	if (is_of(import, "mpt"))
		return (uint64_t)json_integer_value(
			json_object_get(part_of(import, "attn_config"), "kv_n_heads"));
	if (is_of(import, "gpt_bigcode") || is_of(import, "falcon")) {
		bool is_one = flag_of(import, "multi_query", true);
		return is_new ? grouped : is_one ? 1 : 0;
	}
	return grouped;
}

// Returns heads of queries, keys.
static uint64_t put_attention(struct import *import)
{
	static const char *const names[] = {"num_attention_heads", "n_head", "n_heads", NULL};
	uint64_t latent = size_of(import, "kv_lora_rank"), heads = first_of(import, names);
	uint64_t kv_heads = kv_heads_of(import);
	put(import, "heads", heads);
	if (latent == 0) {
		put(import, "kv_heads", kv_heads);
		put(import, "head_dim", size_of(import, "head_dim"));
		return heads + (kv_heads > 0 ? kv_heads : heads);
	}
	put(import, "head_dim", size_of(import, "qk_nope_head_dim"));
	put(import, "query_rank", size_of(import, "q_lora_rank"));
	put(import, "kv_rank", latent);
	put(import, "rope_dim", size_of(import, "qk_rope_head_dim"));
	put(import, "value_dim", size_of(import, "v_head_dim"));
	return 0;
}

static void put_ffn(struct import *import, uint64_t hidden)
{
	static const char *const names[] = {"intermediate_size", "ffn_hidden_size", "n_inner",
					    "ffn_dim", NULL};
	static const char *const experts[] = {"num_local_experts", "num_experts", NULL};
	uint64_t times = size_of(import, "expansion_ratio"), ffn = first_of(import, names);
	uint64_t between = size_of(import, "intermediate_size_mlp"); // Llama 4's
	if (first_of(import, experts) > 0 && import->expert_every <= 1)
		return; // of those an expert has it, or no layer
	ffn = between > 0 ? between : ffn;
	times = times > 0 ? times : import->family.ffn_of_hidden;
	put(import, "ffn", ffn > 0 ? ffn : times * hidden);
}

// Returns the longest sequence; 0: not said.
static uint64_t put_sizes(struct import *import)
{
	static const char *const layers[] = {"num_hidden_layers", "n_layer", "n_layers", NULL};
	static const char *const widths[] = {"hidden_size", "n_embd", "n_embed", "d_model", NULL};
	static const char *const lengths[] = {"max_position_embeddings", "n_positions",
					      "max_seq_len", "seq_length", NULL};
	const struct family *has = &import->family;
	uint64_t hidden = first_of(import, widths), longest = first_of(import, lengths);
	uint64_t positions = has->has_positions ? longest + has->positions_beyond : 0;
	put(import, "layers", first_of(import, layers));
	put(import, "hidden", hidden);
	put(import, "vocab", size_of(import, "vocab_size"));
	uint64_t heads = put_attention(import);
	put_ffn(import, hidden);
	put_experts(import);
	put(import, "extra_first",
	    (positions + has->first_norms * (1 + has->has_layer_norm)) * hidden);
	put(import, "head_norms", has->has_norm_of_heads ? heads : has->head_norms);
	use(import, "n_ctx");
	return longest;
}

static void put_family(struct import *import)
{
	const struct family *has = &import->family;
	fprintf(import->to, "  gated: %s\n", has->is_gated ? "true" : "false");
	put_flag(import, "bias", has->has_bias);
	put_flag(import, "attention_bias", !has->has_bias && has->has_attention_bias);
	put_flag(import, "qkv_bias",
		 !has->has_bias && !has->has_attention_bias && has->has_qkv_bias);
	put_flag(import, "ffn_bias", !has->has_bias && has->has_ffn_bias);
	put(import, "output_bias", has->has_output_bias);
	put_flag(import, "tied", flag_of(import, "tie_word_embeddings", has->is_tied));
	put(import, "post_norms", has->post_norms);
	put_flag(import, "shared_norm", has->has_shared_norm);
	put(import, "sinks", has->sinks);
	if (has->has_layer_norm)
		fprintf(import->to, "  norm: layer\n");
}

// What the keys that begin so say changes no size of a matrix.
static const char of_no_size[] =
	"_ activation alibi apply_residual architectures attention_chunk attention_dropout "
	"attention_multiplier attention_softmax attn_implementation attn_logit attn_pdrop "
	"attn_scale attn_temperature auto_map aux_loss bias_dropout boi_token bos_token cache_ "
	"classifier_dropout clip_qkv dropout dtype emb_pdrop embd_pdrop embedding_dropout "
	"embedding_fraction embedding_multiplier eoi_token eos_token ep_size ffn_dropout "
	"final_logit floor_scale for_llm gradient_ hidden_act hidden_dropout id2label "
	"image_token inference_ init_ initial_ initializer_ inner_dropout input_jitter label2id "
	"layer_norm_eps layer_types layerdrop logit_scale logits_scaling low_precision "
	"masked_softmax max_batch max_sequence max_window mlp_type mm_tokens n_group no_rope "
	"norm_eps norm_topk norm_type original_max output_ pad_key pad_token partial_rotary "
	"pre_allocate prefix pretraining_tp problem_type quantization query_pre_attn "
	"reorder_and resid_pdrop residual_dropout residual_multiplier rms_norm_eps rope_ "
	"rotary_ routed_scaling router_ scale_att scoring_func sep_token seq_aux skip_bias "
	"sliding_window slow_but summary_ swiglu_limit task_specific tokenizer topk_ "
	"torch_dtype transformers_ unk_token use_bfloat16 use_cache use_mrope "
	"use_parallel_residual use_sliding validate_ verbose";

static bool is_used(const struct import *import, const char *key)
{
	bool ret = strcmp(key, "model_type") == 0;
	for (uint32_t i = 0; i < import->used_count; i++)
		ret |= strcmp(import->used[i], key) == 0;
	return ret;
}

// All that was not asked for, so that nobody thinks that it was; or of that, what is in doubt.
// Returns how many keys.
static uint32_t list_unused(const struct import *import, bool is_doubted, FILE *to)
{
	const char *key;
	json_t *value;
	uint32_t count = 0;
	json_object_foreach(import->root, key, value)
	{
		bool is_plain = strspn(key,
				       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				       "0123456789") == strlen(key);
		if (is_used(import, key) || (is_doubted && import_begins(key, of_no_size)))
			continue;
		fprintf(to, " %s", is_plain ? key : "(a key that is not a word)");
		count++;
	}
	return count;
}

// A fact, unless a key that is not known here may say otherwise. An input's text has room for the
// first few of them.
static int put_model_input(const struct import *import)
{
	char *doubted = NULL;
	size_t bytes;
	FILE *list = open_memstream(&doubted, &bytes);
	if (list == NULL)
		return -ENOMEM;
	bool is_sure = list_unused(import, true, list) == 0;
	int rc = fclose(list) == 0 ? 0 : -ENOMEM;
	if (rc == 0 && is_sure)
		fprintf(import->to,
			"  - {of: model, origin: fact, text: \"config.json, model_type %s\"}\n",
			import->family.type);
	else if (rc == 0)
		fprintf(import->to,
			"  - {of: model, origin: assumed, text: \"config.json; not known here, and "
			"may change it:%.100s\"}\n# these keys may change the model, which is "
			"assumed "
			"for that:%s\n",
			doubted, doubted);
	free(doubted);
	return rc;
}

static int put_inputs(const struct import *import, bool has_longest)
{
	fprintf(import->to, "inputs:\n");
	int rc = put_model_input(import);
	fprintf(import->to,
		"  - {of: step, origin: assumed, text: \"%s\"}\n# not used of config.json:",
		has_longest ? "the longest sequence that the model takes; config.json does not "
			      "say what it is trained with"
			    : "config.json says nothing of it");
	list_unused(import, false, import->to);
	fprintf(import->to, "\n");
	return rc;
}

static int refuse_key(struct refusal *refusal, const char *key, const char *what)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s: %s cannot be said in a job file", key,
		 what);
	return -EINVAL;
}

static int refuse_family(const char *type, struct refusal *refusal)
{
	for (size_t i = 0; type != NULL && i < sizeof(unsaid) / sizeof(*unsaid); i++)
		if (strcmp(unsaid[i].type, type) == 0)
			return refuse_key(refusal, type, unsaid[i].what);
	snprintf(refusal->text, sizeof(refusal->text),
		 "model_type %s%.60s%s is not known; these are:", type != NULL ? "`" : "(none)",
		 type != NULL ? type : "", type != NULL ? "`" : "");
	struct near_word near_word = near_word_of(type != NULL ? type : "");
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		size_t used = strlen(refusal->text);
		snprintf(refusal->text + used, sizeof(refusal->text) - used, " %s",
			 families[i].type);
		near_word_see(&near_word, families[i].type);
	}
	near_word_append(&near_word, refusal->text, sizeof(refusal->text));
	return -EINVAL;
}

static int find_family(struct import *import, struct refusal *refusal)
{
	const char *type = json_string_value(json_object_get(import->root, "model_type"));
	for (size_t i = 0; type != NULL && i < sizeof(families) / sizeof(*families); i++)
		if (strcmp(families[i].type, type) == 0)
			import->family = families[i];
	return import->family.type != NULL ? 0 : refuse_family(type, refusal);
}

// What the file itself says of what its family leaves open.
static int settle_said(struct import *import, struct refusal *refusal)
{
	for (const struct said *row = said; row < said + sizeof(said) / sizeof(*said); row++) {
		if (strcmp(row->type, import->family.type) != 0)
			continue;
		bool is_set = flag_of(import, row->key, row->otherwise);
		if (row->what == NULL)
			*(uint32_t *)((char *)&import->family + row->at) = is_set ? row->count : 0;
		else if (is_set != row->otherwise)
			return refuse_key(refusal, row->key, row->what);
	}
	return 0;
}

// Sizes that make a family's model another one.
static int settle_sizes(struct import *import, struct refusal *refusal)
{
	uint64_t hidden = size_of(import, "hidden_size");
	uint64_t embedded = size_of(import, "word_embed_proj_dim");
	json_t *attention = json_object_get(import->root, "attn_config");
	if (embedded > 0 && embedded != hidden)
		return refuse_key(refusal, "word_embed_proj_dim",
				  "an embedding of another width than the layers");
	if (is_of(import, "falcon") && flag_of(import, "parallel_attn", true))
		import->family.has_shared_norm = !flag_of(import, "new_decoder_architecture",
							  false) ||
			size_of(import, "num_ln_in_parallel_attn") == 1;
	if (!is_of(import, "mpt"))
		return 0;
	if (json_is_true(json_object_get(attention, "qk_ln")))
		return refuse_key(refusal, "attn_config.qk_ln", "norms over all heads of MPT");
	import->family.has_positions = !json_is_true(json_object_get(attention, "alibi"));
	flag_of(import, "learned_pos_emb", true); // where alibi is not in its place
	return 0;
}

// Experts stand in each layer behind the dense ones, or in each so many-th; a file that spreads
// them otherwise is refused.
static int settle_experts(struct import *import, struct refusal *refusal)
{
	static const char *const steps[] = {"decoder_sparse_step", "interleave_moe_layer_step",
					    NULL};
	const char *name = size_of(import, "moe_layer_freq") > 1 ? "moe_layer_freq" : NULL;
	import->expert_every = first_of(import, steps);
	size_t listed = json_array_size(part_of(import, "moe_layers"));
	uint64_t each = import->expert_every > 1 ? import->expert_every : 1;
	if (listed > 0 && listed != size_of(import, "num_hidden_layers") / each)
		name = "moe_layers";
	use(import, "mlp_only_layers");
	if (json_array_size(json_object_get(import->root, "mlp_only_layers")) > 0)
		name = "mlp_only_layers";
	if (name == NULL)
		return 0;
	return refuse_key(refusal, name, "layers without experts among those with them");
}

// What the file says of attention biases decides, where a family leaves it open; with those of the
// feed-forward they are of all matrices.
static int settle_biases(struct import *import, struct refusal *refusal)
{
	struct family *has = &import->family;
	bool has_own = has->has_bias || has->has_qkv_bias || has->has_attention_bias;
	bool is_said = flag_of(import, "attention_bias", has_own);
	bool is_latent = size_of(import, "kv_lora_rank") > 0;
	if (is_said == has_own)
		return 0;
	if (!is_said || is_latent)
		return refuse_key(refusal, "attention_bias",
				  is_said ? "biases of latent attention"
					  : "attention without biases");
	*(has->has_ffn_bias ? &has->has_bias : &has->has_attention_bias) = 1;
	return 0;
}

static int write(struct import *import)
{
	fprintf(import->to,
		"# SPDX-License-Identifier: CC0-1.0\n"
		"# From a config.json. Not known, to be filled in: cut, step.micro_batches, "
		"reduce, "
		"times.\n"
		"%sname: imported\nmodel:\n",
		import->is_part
			? "# Only text_config, the language model, is counted: what sees or "
			  "hears is not.\n"
			: "");
	uint64_t longest = put_sizes(import);
	put_family(import);
	fprintf(import->to, "step:\n  sequence: %" PRIu64 "\n", longest > 0 ? longest : 4096);
	return put_inputs(import, longest > 0);
}

// Flags, or a line that launches with them.
static bool is_launch(const char *text)
{
	const char *begin = text + strspn(text, " \t\r\n#!/\\");
	return *begin == '-' ||
		(*begin != '{' && *begin != '[' &&
		 (strstr(begin, "--num-layers") || strstr(begin, "--hidden-size")));
}

// Begins with `key:`, behind comments and the line that begins a document.
static bool is_yaml(const char *text)
{
	for (; *text != '\0'; text += strcspn(text, "\n")) {
		text += strspn(text, " \t\r\n");
		if (*text != '#' && strncmp(text, "---", 3) != 0)
			break;
	}
	size_t word = strspn(text,
			     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
	return word > 0 && text[word] == ':' &&
		(text[word + 1] == '\0' || strchr(" \r\n", text[word + 1]));
}

// torchtitan's configurations that are programs, not data.
static bool is_python(const char *text)
{
	return strstr(text, "Trainer.Config(") != NULL;
}

// What a file is that is none of those that are read.
static int refuse_format(const char *text, const json_t *root, struct refusal *refusal)
{
	char why[256];
	const char *first = text + strspn(text, " \t\r\n");
	const char *what = root != NULL ? "JSON, but no object"
		: *first == '\0'	? "empty"
		: is_python(text)	? "torchtitan's configuration in Python; write its [model] "
					  "name and flavor, [training] and [parallelism] "
					  "as TOML"
		: is_yaml(text)		? "YAML; a job file is read by weft plan FILE"
		: *first == '{'		? "JSON with an error here"
					: "none of them";
	snprintf(why, sizeof(why),
		 "--import reads a config.json (JSON), Megatron-LM's flags or torchtitan's TOML; "
		 "this file is %s",
		 what);
	return refuse(refusal, -EINVAL, why);
}

// Of a model of several parts the language model, whose configuration is one of its own.
static void take_language(struct import *import)
{
	json_t *language = json_object_get(import->root, "text_config");
	if (!json_is_object(language))
		return;
	import->is_part = true;
	import->root = language;
}

static int import_root(struct import *import, struct refusal *refusal)
{
	int rc = find_family(import, refusal);
	if (rc != 0)
		return rc;
	take_language(import);
	rc = settle_said(import, refusal);
	if (rc == 0)
		rc = settle_biases(import, refusal);
	if (rc == 0)
		rc = settle_sizes(import, refusal);
	return rc != 0 ? rc : settle_experts(import, refusal);
}

int import_config(FILE *to, const char *path, struct refusal *refusal)
{
	struct import import = {.to = to};
	json_error_t error;
	char *text;
	size_t bytes;
	int rc = file_read(path, FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	bool is_toml = import_is_toml(text);
	if (is_toml || is_launch(text)) {
		rc = strlen(text) != bytes ? refuse(refusal, -EINVAL, "not a text")
			: is_toml	   ? import_torchtitan(to, text, refusal)
					   : import_megatron(to, text, refusal);
		refusal_name(refusal, path);
		free(text);
		return rc;
	}
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	refusal_name(refusal, path);
	if (!json_is_object(root)) {
		refusal->line = root == NULL ? (uint32_t)error.line : 1;
		refusal->column = root == NULL ? (uint32_t)error.column : 1;
		rc = refuse_format(text, root, refusal);
		json_decref(root);
		free(text);
		return rc;
	}
	free(text);
	import.root = root;
	rc = import_root(&import, refusal);
	if (rc == 0 && write(&import) < 0)
		rc = refuse(refusal, -ENOMEM, "no memory for the keys of config.json");
	json_decref(root);
	return rc;
}
