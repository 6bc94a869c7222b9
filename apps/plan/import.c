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
#include <weft/files/files.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define USED_MAX 48

// What each model of a family has.
struct family {
	const char *type;
	const char *names; // of its sizes: llama's, gpt2's
	bool is_gated, has_bias, has_qkv_bias, is_tied, has_layer_norm, has_positions;
	uint32_t post_norms, head_norms;
};

static const struct family families[] = {
	{"llama", "llama", .is_gated = true},
	{"mistral", "llama", .is_gated = true},
	{"mixtral", "llama", .is_gated = true},
	{"phi3", "llama", .is_gated = true},
	{"qwen2", "llama", .is_gated = true, .has_qkv_bias = true},
	{"qwen3", "llama", .is_gated = true, .head_norms = 2},
	{"qwen3_moe", "llama", .is_gated = true, .head_norms = 2},
	{"gemma", "llama", .is_gated = true, .is_tied = true},
	{"gemma2", "llama", .is_gated = true, .is_tied = true, .post_norms = 2},
	{"deepseek_v2", "llama", .is_gated = true},
	{"deepseek_v3", "llama", .is_gated = true},
	{"gpt_neox", "llama", .has_bias = true, .has_layer_norm = true},
	{"gpt2", "gpt2", .has_bias = true, .has_layer_norm = true, .is_tied = true,
	 .has_positions = true},
};

struct import {
	json_t *root;
	const struct family *family;
	const char *used[USED_MAX];
	uint32_t used_count;
	FILE *to;
};

static void use(struct import *import, const char *name)
{
	if (import->used_count < USED_MAX)
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

static void put_experts(struct import *import)
{
	static const char *const counts[] = {"n_routed_experts", "num_local_experts",
					     "num_experts"};
	uint64_t experts = 0, width = size_of(import, "moe_intermediate_size");
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		experts = experts > 0 ? experts : size_of(import, counts[i]);
	if (experts == 0)
		return;
	uint64_t shared = size_of(import, "n_shared_experts");
	put(import, "experts", experts);
	put(import, "experts_per_token", size_of(import, "num_experts_per_tok"));
	put(import, "expert_ffn", width > 0 ? width : size_of(import, "intermediate_size"));
	put(import, "shared_ffn", shared * width);
	put(import, "dense_layers", size_of(import, "first_k_dense_replace"));
}

static void put_attention(struct import *import)
{
	uint64_t latent = size_of(import, "kv_lora_rank");
	put(import, "heads", size_of(import, "num_attention_heads"));
	if (latent == 0) {
		put(import, "kv_heads", size_of(import, "num_key_value_heads"));
		put(import, "head_dim", size_of(import, "head_dim"));
		return;
	}
	use(import, "num_key_value_heads");
	put(import, "head_dim", size_of(import, "qk_nope_head_dim"));
	put(import, "query_rank", size_of(import, "q_lora_rank"));
	put(import, "kv_rank", latent);
	put(import, "rope_dim", size_of(import, "qk_rope_head_dim"));
	put(import, "value_dim", size_of(import, "v_head_dim"));
}

static uint64_t put_llama(struct import *import)
{
	bool has_experts = json_object_get(import->root, "num_local_experts") != NULL ||
		json_object_get(import->root, "num_experts") != NULL;
	put(import, "layers", size_of(import, "num_hidden_layers"));
	put(import, "hidden", size_of(import, "hidden_size"));
	put(import, "vocab", size_of(import, "vocab_size"));
	put_attention(import);
	uint64_t ffn = size_of(import, "intermediate_size");
	if (!has_experts) // of those an expert has it, or no layer
		put(import, "ffn", ffn);
	put_experts(import);
	return size_of(import, "max_position_embeddings");
}

static uint64_t put_gpt2(struct import *import)
{
	uint64_t hidden = size_of(import, "n_embd"), inner = size_of(import, "n_inner");
	uint64_t positions = size_of(import, "n_positions");
	put(import, "layers", size_of(import, "n_layer"));
	put(import, "hidden", hidden);
	put(import, "vocab", size_of(import, "vocab_size"));
	put(import, "heads", size_of(import, "n_head"));
	put(import, "ffn", inner > 0 ? inner : 4 * hidden);
	put(import, "extra_first", positions * hidden);
	use(import, "n_ctx");
	return positions;
}

static void put_family(struct import *import)
{
	const struct family *family = import->family;
	bool has_bias = family->has_bias || flag_of(import, "mlp_bias", false);
	fprintf(import->to, "  gated: %s\n", family->is_gated ? "true" : "false");
	put_flag(import, "bias", has_bias);
	put_flag(import, "qkv_bias", !has_bias && family->has_qkv_bias);
	put_flag(import, "tied", flag_of(import, "tie_word_embeddings", family->is_tied));
	put(import, "post_norms", family->post_norms);
	put(import, "head_norms", family->head_norms);
	if (family->has_layer_norm)
		fprintf(import->to, "  norm: layer\n");
}

// What the keys that begin so say changes no size of a matrix.
static const char *const of_no_size[] = {
	"_",
	"activation",
	"architectures",
	"attention_dropout",
	"attn_implementation",
	"attn_logit",
	"attn_pdrop",
	"auto_map",
	"aux_loss",
	"bos_token",
	"cache_",
	"classifier_dropout",
	"dtype",
	"embd_pdrop",
	"eos_token",
	"ep_size",
	"final_logit",
	"gradient_",
	"hidden_act",
	"hidden_dropout",
	"id2label",
	"initializer_",
	"label2id",
	"layer_norm_eps",
	"layer_types",
	"max_window",
	"n_group",
	"norm_topk",
	"original_max",
	"output_",
	"pad_token",
	"partial_rotary",
	"pretraining_tp",
	"problem_type",
	"quantization",
	"query_pre_attn",
	"reorder_and",
	"resid_pdrop",
	"rms_norm_eps",
	"rope_",
	"rotary_",
	"routed_scaling",
	"router_",
	"scale_attn",
	"scoring_func",
	"sep_token",
	"seq_aux",
	"sliding_window",
	"summary_",
	"task_specific",
	"tokenizer",
	"topk_",
	"torch_dtype",
	"transformers_",
	"use_cache",
	"use_parallel_residual",
	"use_sliding",
	NULL,
};

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
		fprintf(to, " %s", is_plain ? key : "(a key that is no word)");
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
			import->family->type);
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

static int find_family(struct import *import, struct refusal *refusal)
{
	const char *type = json_string_value(json_object_get(import->root, "model_type"));
	size_t used;
	for (size_t i = 0; type != NULL && i < sizeof(families) / sizeof(*families); i++)
		if (strcmp(families[i].type, type) == 0)
			import->family = &families[i];
	if (import->family != NULL)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text),
		 "model_type %s%.60s%s is not known; these are:", type != NULL ? "`" : "(none)",
		 type != NULL ? type : "", type != NULL ? "`" : "");
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		used = strlen(refusal->text);
		snprintf(refusal->text + used, sizeof(refusal->text) - used, " %s",
			 families[i].type);
	}
	return -EINVAL;
}

// Experts stand in every layer behind the dense ones; a file that spreads them is refused.
static int check_experts(struct import *import, struct refusal *refusal)
{
	static const char *const steps[] = {"decoder_sparse_step", "moe_layer_freq"};
	const char *name = NULL;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		name = size_of(import, steps[i]) > 1 ? steps[i] : name;
	use(import, "mlp_only_layers");
	if (json_array_size(json_object_get(import->root, "mlp_only_layers")) > 0)
		name = "mlp_only_layers";
	if (name == NULL)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text),
		 "%s: layers without experts among those with them are not known here", name);
	return -EINVAL;
}

// What the file says of attention biases decides, where a family leaves it open.
static int check_open(struct import *import, struct refusal *refusal)
{
	bool has_own = import->family->has_bias || import->family->has_qkv_bias;
	if (flag_of(import, "attention_bias", has_own) == has_own)
		return 0;
	return refuse(refusal, -EINVAL,
		      "attention_bias: not what this model_type has; biases of attention alone are "
		      "not known here");
}

static int write(struct import *import)
{
	fprintf(import->to,
		"# SPDX-License-Identifier: CC0-1.0\n"
		"# From a config.json. Not known, to be filled in: cut, step.micro_batches, "
		"reduce, "
		"times.\n"
		"name: imported\nmodel:\n");
	uint64_t longest = strcmp(import->family->names, "gpt2") == 0 ? put_gpt2(import)
								      : put_llama(import);
	put_family(import);
	fprintf(import->to, "step:\n  sequence: %" PRIu64 "\n", longest > 0 ? longest : 4096);
	return put_inputs(import, longest > 0);
}

// Flags, or a line that launches with them.
static bool is_launch(const char *text)
{
	const char *begin = text + strspn(text, " \t\r\n#!/\\");
	return *begin == '-' || (*begin != '{' && *begin != '[' && strstr(begin, "--num-layers"));
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

// What a file is that is none of those that are read.
static int refuse_format(const char *text, const json_t *root, struct refusal *refusal)
{
	char said[256];
	const char *first = text + strspn(text, " \t\r\n");
	const char *what = root != NULL ? "JSON, but no object"
		: *first == '\0'	? "empty"
		: is_yaml(text)		? "YAML; a job file is read by weft plan FILE"
		: *first == '{'		? "JSON with an error here"
					: "none of them";
	snprintf(said, sizeof(said),
		 "--import reads a config.json (JSON), Megatron-LM's flags or torchtitan's TOML; "
		 "this file is %s",
		 what);
	return refuse(refusal, -EINVAL, said);
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
		snprintf(refusal->file, sizeof(refusal->file), "%.250s", path);
		free(text);
		return rc;
	}
	import.root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	snprintf(refusal->file, sizeof(refusal->file), "%.250s", path);
	if (!json_is_object(import.root)) {
		refusal->line = import.root == NULL ? (uint32_t)error.line : 1;
		refusal->column = import.root == NULL ? (uint32_t)error.column : 1;
		rc = refuse_format(text, import.root, refusal);
		json_decref(import.root);
		free(text);
		return rc;
	}
	free(text);
	rc = find_family(&import, refusal);
	if (rc == 0)
		rc = check_open(&import, refusal);
	if (rc == 0)
		rc = check_experts(&import, refusal);
	if (rc == 0 && write(&import) < 0)
		rc = refuse(refusal, -ENOMEM, "no memory for the keys of config.json");
	json_decref(import.root);
	return rc;
}
