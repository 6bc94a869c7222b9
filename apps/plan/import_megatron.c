// SPDX-License-Identifier: Apache-2.0
// The arguments of a Megatron-LM launch, a text of flags or a script, as a job file. What is left
// out has Megatron-LM's default; what the flags do not say (replicas, times), and flags that say
// nothing of a job here, are listed. Facts: Megatron-LM's arguments.py: biases, LayerNorm, tied
// embeddings, all-reduce in 4 bytes unless a flag says otherwise; learned positions, a feed-forward
// of 4 x hidden, of 8/3 in multiples of 64 with SwiGLU; latent heads of 128, 64 of them rotary
// besides; Megatron-FSDP cuts parameters unless its strategy says otherwise.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define UNUSED_BYTES 16384

// ROW(flag, its name, the key that it is written as; NULL: not alone): counts, then from SWIGLU on
// flags of no value, then from NORM on words.
#define FLAGS(ROW) \
	ROW(LAYERS, "num-layers", "layers") \
	ROW(HIDDEN, "hidden-size", "hidden") \
	ROW(VOCAB, "vocab-size", "vocab") \
	ROW(HEADS, "num-attention-heads", "heads") \
	ROW(GROUPS, "num-query-groups", "kv_heads") \
	ROW(CHANNELS, "kv-channels", NULL) \
	ROW(FFN, "ffn-hidden-size", NULL) \
	ROW(EXPERTS, "num-experts", "experts") \
	ROW(TOP, "moe-router-topk", NULL) \
	ROW(EXPERT_FFN, "moe-ffn-hidden-size", NULL) \
	ROW(SHARED_FFN, "moe-shared-expert-intermediate-size", "shared_ffn") \
	ROW(KV_RANK, "kv-lora-rank", NULL) \
	ROW(Q_RANK, "q-lora-rank", NULL) \
	ROW(QK_DIM, "qk-head-dim", NULL) \
	ROW(ROPE_DIM, "qk-pos-emb-head-dim", NULL) \
	ROW(VALUE_DIM, "v-head-dim", NULL) \
	ROW(TP, "tensor-model-parallel-size", "tp") \
	ROW(PP, "pipeline-model-parallel-size", "pp") \
	ROW(CP, "context-parallel-size", "cp") \
	ROW(EP, "expert-model-parallel-size", "ep") \
	ROW(ETP, "expert-tensor-parallel-size", "etp") \
	ROW(FIRST, "decoder-first-pipeline-num-layers", "layers_first") \
	ROW(LAST, "decoder-last-pipeline-num-layers", "layers_last") \
	ROW(CHUNK, "num-layers-per-virtual-pipeline-stage", NULL) \
	ROW(VIRTUAL, "num-virtual-stages-per-pipeline-rank", NULL) \
	ROW(DIVISIBLE, "make-vocab-size-divisible-by", NULL) \
	ROW(MICRO, "micro-batch-size", "samples") \
	ROW(GLOBAL, "global-batch-size", NULL) \
	ROW(SEQUENCE, "seq-length", "sequence") \
	ROW(BUCKET, "ddp-bucket-size", "bucket") \
	ROW(POSITIONS, "max-position-embeddings", NULL) \
	ROW(SWIGLU, "swiglu", NULL) \
	ROW(UNTIED, "untie-embeddings-and-output-weights", NULL) \
	ROW(NO_BIAS, "disable-bias-linear", NULL) \
	ROW(QKV_BIAS, "add-qkv-bias", NULL) \
	ROW(OPTIMIZER, "use-distributed-optimizer", NULL) \
	ROW(BF16, "grad-reduce-in-bf16", NULL) \
	ROW(ROTARY, "use-rotary-position-embeddings", NULL) \
	ROW(NO_POSITIONS, "no-position-embedding", NULL) \
	ROW(LATENT, "multi-latent-attention", NULL) \
	ROW(QK_NORM, "qk-layernorm", NULL) \
	ROW(STAGES_INSIDE, "use-tp-pp-dp-mapping", NULL) \
	ROW(MEGATRON_FSDP, "use-megatron-fsdp", NULL) \
	ROW(TORCH_FSDP, "use-torch-fsdp2", NULL) \
	ROW(GROUPED, "group-query-attention", NULL) \
	ROW(NORM, "normalization", NULL) \
	ROW(POSITION_TYPE, "position-embedding-type", NULL) \
	ROW(LAYER_FREQ, "moe-layer-freq", NULL) \
	ROW(RECOMPUTE, "recompute-granularity", NULL) \
	ROW(STRATEGY, "data-parallel-sharding-strategy", NULL)

enum flag {
#define ROW(flag, name, key) flag,
	FLAGS(ROW)
#undef ROW
		FLAG_COUNT
};

static const struct {
	const char *name, *key;
} flags[FLAG_COUNT] = {
#define ROW(flag, name, key) {name, key},
	FLAGS(ROW)
#undef ROW
};

struct launch {
	uint64_t values[FLAG_COUNT];  // 1 of a flag without value
	const char *said[FLAG_COUNT]; // its word
	const char *open;	      // a flag whose value is in the next line
	bool is_rms, is_learned;      // norms; positions
	bool is_recomputed, is_cut;   // whole layers; parameters are, with Megatron-FSDP
	uint64_t dense_layers;
	char unused[UNUSED_BYTES];
	char doubted[UNUSED_BYTES]; // of the unused those that may change the model
	char shared[UNUSED_BYTES];  // and those that may change how it is cut and shared
};

static int refuse_flag(struct refusal *refusal, const char *name, const char *why)
{
	snprintf(refusal->text, sizeof(refusal->text), "--%.80s %s", name, why);
	return -EINVAL;
}

// Flags of Megatron-LM that say nothing of a model, by how they begin.
static const char of_the_run[] =
	"adam apply-layernorm async- attention-backend attention-dropout attention-softmax "
	"auto-detect bf16 calculate-per check-weight ckpt clip-grad cross-entropy cuda-graph "
	"data dataloader ddp decoupled- deterministic disable-gloo dist distributed "
	"empty-unused eod-mask error-injection eval exit finetune fp16 fp8 fsdp- hidden-dropout "
	"init-method init-model initial-loss load log loss-scale lr manual-gc master merge-file "
	"min-lr mmap mock-data moe-aux-loss moe-grouped moe-permute moe-router- "
	"moe-shared-expert-overlap moe-token mscale nccl nnodes no-async no-bias-dropout "
	"no-bias-gelu no-bias-swiglu no-check no-ckpt no-create no-gradient no-load no-masked "
	"no-mmap no-persist no-rope-fusion no-save node-rank node_rank norm-epsilon nproc "
	"num-workers offload- optimizer overlap profile rampup-batch-size rdzv recompute- "
	"record-memory rerun- reset- rope-scaling rotary-base rotary-interleaved rotary-percent "
	"rotary-scaling save seed sequence-parallel split squared-relu step-batch-size te-rng "
	"tensorboard test-mode tiktoken timing tokenizer tp-comm train transformer-impl "
	"trust-remote use-checkpoint use-dist use-flash use-fused use-mcore use-nccl "
	"use-persistent use-precision use-rope-scaling valid verify- vocab-file wandb "
	"weight-decay";

// Those that say how a model is cut or shared, and of what kinds nothing is known here.
static const char of_the_cut[] =
	"account-for hierarchical-context megatron-fsdp num-distributed outer- pipeline-model "
	"standalone-";

static const char of_hybrids[] = "hybrid-layer hybrid-override is-hybrid";

bool import_begins(const char *name, const char *beginnings)
{
	for (size_t length; (length = strcspn(beginnings, " ")) > 0; beginnings += length) {
		if (strncmp(name, beginnings, length) == 0)
			return true;
		length += beginnings[length] == ' ';
	}
	return false;
}

static void add_name(char list[UNUSED_BYTES], const char *name)
{
	size_t used = strlen(list);
	bool is_plain = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == strlen(name);
	snprintf(list + used, UNUSED_BYTES - used, " %s",
		 is_plain ? name : "(a flag that is not a word)");
}

static void note_unused(struct launch *launch, const char *name)
{
	add_name(launch->unused, name);
	if (import_begins(name, of_the_cut))
		add_name(launch->shared, name);
	else if (!import_begins(name, of_the_run))
		add_name(launch->doubted, name);
}

static void put_doubts(FILE *to, const char *of, const char *names)
{
	if (names[0] != '\0')
		fprintf(to,
			"  - {of: %s, origin: assumed, text: \"not known here, and may change "
			"it:%.120s%s\"}\n",
			of, names, strlen(names) > 120 ? " ..." : "");
}

// Facts, unless a flag that is not known here may say otherwise. An input's text has room for the
// first few of them.
static void put_inputs(FILE *to, const struct launch *launch)
{
	const char *doubted = launch->doubted, *shared = launch->shared;
	fprintf(to, "inputs:\n");
	put_doubts(to, "model", doubted);
	put_doubts(to, "cut reduce", shared);
	fprintf(to,
		"  - {of: %s%sstep wire%s, origin: fact, text: \"flags of a Megatron-LM launch, "
		"and "
		"its defaults\"}\n# not used of the flags:%s\n",
		doubted[0] == '\0' ? "model " : "", shared[0] == '\0' ? "cut " : "",
		shared[0] == '\0' ? " reduce" : "", launch->unused);
	if (doubted[0] != '\0')
		fprintf(to, "# of these may change the model, which is assumed for that:%s\n",
			doubted);
	if (shared[0] != '\0')
		fprintf(to, "# of these may change cut and reduce, assumed for that:%s\n", shared);
}

// The first layers have no experts, all others have: "1", "[0]*3+[1]*58", "[0]+[1]*26".
static int take_layer_freq(struct launch *launch, const char *name, const char *value,
			   struct refusal *refusal)
{
	const char *at = value;
	uint64_t count = 0;
	char *end;
	if (strcmp(value, "1") == 0)
		return 1;
	if (strncmp(at, "[0]", 3) == 0) {
		at += 3;
		count = *at == '*' ? strtoull(at + 1, &end, 10) : 1;
		at = *at == '*' ? end : at;
		at += *at == '+';
	}
	if (strncmp(at, "[1]", 3) != 0 || (at[3] != '*' && at[3] != '\0') ||
	    (at[3] == '*' && at[4 + strspn(at + 4, "0123456789")] != '\0') || count > UINT32_MAX)
		return refuse_flag(refusal, name,
				   "puts experts elsewhere than in all layers behind the first "
				   "ones, which no job file says");
	launch->dense_layers = count;
	return 1;
}

static int take_norm(struct launch *launch, const char *name, const char *value,
		     struct refusal *refusal)
{
	launch->is_rms = strcmp(value, "RMSNorm") == 0;
	return launch->is_rms || strcmp(value, "LayerNorm") == 0
		? 1
		: refuse_flag(refusal, name, "is LayerNorm or RMSNorm");
}

// Flags whose value is a word.
static int take_word(struct launch *launch, int flag, const char *value, struct refusal *refusal)
{
	const char *name = flags[flag].name;
	if (flag == NORM)
		return take_norm(launch, name, value, refusal);
	if (flag == LAYER_FREQ)
		return take_layer_freq(launch, name, value, refusal);
	if (flag == POSITION_TYPE)
		launch->is_learned = strcmp(value, "learned_absolute") == 0;
	if (flag == RECOMPUTE)
		launch->is_recomputed = strcmp(value, "full") == 0;
	if (flag == STRATEGY)
		launch->is_cut = strcmp(value, "optim_grads_params") == 0;
	return 1;
}

// Takes one flag; `value` is the word behind it in its line, or NULL: what must have one has it in
// the next line. Returns whether that word is its own.
static int take(struct launch *launch, const char *name, const char *value, struct refusal *refusal)
{
	int flag = 0;
	char *end;
	while (flag < FLAG_COUNT && strcmp(flags[flag].name, name) != 0)
		flag++;
	if (flag == FLAG_COUNT && import_begins(name, of_hybrids))
		return refuse_flag(refusal, name,
				   "gives layers of several kinds, which no job file says");
	if (flag == FLAG_COUNT) {
		note_unused(launch, name);
		return value != NULL;
	}
	if (flag >= SWIGLU && flag <= GROUPED) {
		bool is_false = value != NULL && strcmp(value, "false") == 0;
		launch->values[flag] = !is_false;
		if (is_false || (value != NULL && strcmp(value, "true") == 0)) // of YAML
			return 1;
		return value == NULL || *value == '$' ? 0
						      : refuse_flag(refusal, name, "has no value");
	}
	if (value == NULL) {
		launch->open = name;
		return 0;
	}
	if (*value == '$')
		return refuse_flag(refusal, name, "has a value that the script does not set");
	if (launch->said[flag] != NULL)
		return strcmp(launch->said[flag], value) == 0
			? 1
			: refuse_flag(refusal, name, "appears twice, with two values");
	launch->said[flag] = value;
	launch->values[flag] = 1;
	if (flag >= NORM)
		return take_word(launch, flag, value, refusal);
	launch->values[flag] = strtoull(value, &end, 10);
	if (value[0] < '1' || value[0] > '9' || *end != '\0' || launch->values[flag] > UINT32_MAX)
		return refuse_flag(refusal, name, "needs a whole number from 1 on");
	return 1;
}

// The flag that the line before ended with, and the first word of this one, its value.
static int close_flag(struct launch *launch, const char *word, struct refusal *refusal)
{
	const char *name = launch->open;
	launch->open = NULL;
	if (word == NULL || strncmp(word, "--", 2) == 0)
		return refuse_flag(refusal, name, "needs a value");
	return take(launch, name, word, refusal);
}

// Models of other programs than that of GPT have parts that no flag says.
static void note_program(struct launch *launch, const char *word)
{
	const char *slash = strrchr(word, '/'), *name = slash != NULL ? slash + 1 : word;
	size_t length = strlen(name);
	if (strncmp(name, "pretrain_", 9) == 0 && length > 3 &&
	    strcmp(name + length - 3, ".py") == 0 && strcmp(name, "pretrain_gpt.py") != 0)
		add_name(launch->doubted, name);
}

// Flags of one line.
static int read_line(struct launch *launch, char *line, struct refusal *refusal)
{
	static const char blanks[] = " \t\r\\\"'=:();";
	char *rest, *word = strtok_r(line, blanks, &rest);
	if (launch->open != NULL && word != NULL && *word != '#') {
		int rc = close_flag(launch, word, refusal);
		if (rc < 0)
			return rc;
	}
	while (word != NULL) {
		char *next = strtok_r(NULL, blanks, &rest);
		bool has_value = next != NULL && strncmp(next, "--", 2) != 0;
		if (strncmp(word, "--", 2) != 0) { // the program, or more values of a flag
			note_program(launch, word);
			word = next;
			continue;
		}
		int rc = take(launch, word + 2, has_value ? next : NULL, refusal);
		if (rc < 0)
			return rc;
		word = has_value && rc > 0 ? strtok_r(NULL, blanks, &rest) : next;
	}
	return 0;
}

static int read_flags(struct launch *launch, char *text, struct refusal *refusal)
{
	char *rest;
	int rc = 0;
	for (char *line = strtok_r(text, "\n", &rest); rc == 0 && line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		rc = read_line(launch, line, refusal);
	return rc == 0 && launch->open != NULL ? close_flag(launch, NULL, refusal) : rc;
}

static void put(FILE *to, const struct launch *launch, int first, int last)
{
	for (int i = first; i <= last; i++)
		if (flags[i].key != NULL && launch->values[i] > 0)
			fprintf(to, "  %s: %" PRIu64 "\n", flags[i].key, launch->values[i]);
}

// Heads: their width, norms, latent attention.
static void put_heads(FILE *to, const struct launch *launch)
{
	const uint64_t *values = launch->values;
	uint64_t width = values[CHANNELS];
	if (values[LATENT])
		width = values[QK_DIM] > 0 ? values[QK_DIM] : 128;
	if (width > 0)
		fprintf(to, "  head_dim: %" PRIu64 "\n", width);
	if (values[QK_NORM] && !values[LATENT])
		fprintf(to, "  head_norms: 2\n");
	if (!values[LATENT])
		return;
	fprintf(to, "  kv_rank: %" PRIu64 "\n", values[KV_RANK]);
	if (values[Q_RANK] > 0)
		fprintf(to, "  query_rank: %" PRIu64 "\n", values[Q_RANK]);
	fprintf(to, "  rope_dim: %" PRIu64 "\n  value_dim: %" PRIu64 "\n",
		values[ROPE_DIM] > 0 ? values[ROPE_DIM] : 64,
		values[VALUE_DIM] > 0 ? values[VALUE_DIM] : 128);
}

static void put_ffn(FILE *to, const struct launch *launch)
{
	const uint64_t *values = launch->values;
	uint64_t ffn = values[SWIGLU] ? values[HIDDEN] * 8 / 3 / 64 * 64 : 4 * values[HIDDEN];
	ffn = values[FFN] > 0 ? values[FFN] : ffn;
	if (values[EXPERTS] == 0 || launch->dense_layers > 0)
		fprintf(to, "  ffn: %" PRIu64 "\n", ffn);
	if (values[EXPERTS] == 0)
		return;
	put(to, launch, EXPERTS, EXPERTS);
	fprintf(to, "  experts_per_token: %" PRIu64 "\n  expert_ffn: %" PRIu64 "\n",
		values[TOP] > 0 ? values[TOP] : 2,
		values[EXPERT_FFN] > 0 ? values[EXPERT_FFN] : ffn);
	put(to, launch, SHARED_FFN, SHARED_FFN);
	if (launch->dense_layers > 0)
		fprintf(to, "  dense_layers: %" PRIu64 "\n", launch->dense_layers);
}

static void put_model(FILE *to, const struct launch *launch)
{
	const uint64_t *values = launch->values;
	fprintf(to, "model:\n");
	put(to, launch, LAYERS, GROUPS);
	put_heads(to, launch);
	if (launch->is_learned && !values[ROTARY] && !values[NO_POSITIONS] && values[POSITIONS] > 0)
		fprintf(to, "  extra_first: %" PRIu64 "\n", values[POSITIONS] * values[HIDDEN]);
	put_ffn(to, launch);
	fprintf(to, "  gated: %s\n  bias: %s\n  qkv_bias: %s\n  norm: %s\n  tied: %s\n",
		values[SWIGLU] ? "true" : "false", values[NO_BIAS] ? "false" : "true",
		values[NO_BIAS] && values[QKV_BIAS] ? "true" : "false",
		launch->is_rms ? "rms" : "layer", values[UNTIED] ? "false" : "true");
}

static void put_cut(FILE *to, const struct launch *launch)
{
	const uint64_t *values = launch->values;
	uint64_t pp = values[PP] > 0 ? values[PP] : 1;
	uint64_t vpp = values[CHUNK] > 0 ? values[LAYERS] / pp / values[CHUNK] : values[VIRTUAL];
	fprintf(to, "cut:\n");
	put(to, launch, TP, CP);
	if (values[EXPERTS] > 0 || values[EP] > 1)
		put(to, launch, EP, EP);
	if (values[EXPERTS] > 0)
		put(to, launch, ETP, ETP);
	if (values[EXPERTS] > 0 && values[ETP] == 0 &&
	    values[TP] > 1) // as many, where it is not given
		fprintf(to, "  etp: %" PRIu64 "\n", values[TP]);
	put(to, launch, FIRST, LAST);
	if (values[STAGES_INSIDE])
		fprintf(to, "  order: tp-cp-ep-pp-dp\n");
	fprintf(to, "  vpp: %" PRIu64 "\n  vocab_grain: %" PRIu64 "\n", vpp > 0 ? vpp : 1,
		values[DIVISIBLE] > 0 ? values[DIVISIBLE] : 128);
}

static void put_reduce(FILE *to, const struct launch *launch)
{
	const uint64_t *values = launch->values;
	bool is_fsdp = values[TORCH_FSDP] || (values[MEGATRON_FSDP] && launch->is_cut);
	if (is_fsdp) {
		fprintf(to, "reduce:\n  kind: fsdp\n");
		return;
	}
	fprintf(to, "reduce:\n  distributed_optimizer: %s\n", values[OPTIMIZER] ? "true" : "false");
	put(to, launch, BUCKET, BUCKET);
}

static void write(FILE *to, const struct launch *launch)
{
	const uint64_t *values = launch->values;
	fprintf(to,
		"# SPDX-License-Identifier: CC0-1.0\n# From Megatron-LM's flags. Not known, to be "
		"filled in: cut.dp, times");
	if (values[GLOBAL] > 0)
		fprintf(to, "; step.micro_batches x cut.dp is %" PRIu64,
			values[GLOBAL] / (values[MICRO] > 0 ? values[MICRO] : 1));
	else
		fprintf(to, ", step.micro_batches");
	fprintf(to, "%s.\nname: imported\n",
		values[VOCAB] > 0 ? "" : "; model.vocab, which the tokenizer knows");
	put_model(to, launch);
	put_cut(to, launch);
	fprintf(to, "step:\n");
	put(to, launch, MICRO, SEQUENCE);
	if (launch->is_recomputed)
		fprintf(to, "  recompute: full\n");
	fprintf(to, "wire:\n  gradients: %s\n", values[BF16] ? "2B" : "4B");
	put_reduce(to, launch);
	put_inputs(to, launch);
}

// What only several flags say together.
static int settle(struct launch *launch, struct refusal *refusal)
{
	const uint64_t *values = launch->values;
	if (values[LATENT] && values[KV_RANK] == 0)
		return refuse_flag(refusal, flags[KV_RANK].name, "is missing");
	if (values[LATENT] && values[Q_RANK] == 0)
		add_name(launch->doubted, "no-q-lora-rank");
	if (values[MEGATRON_FSDP] && !launch->is_cut)
		add_name(launch->shared, flags[STRATEGY].name);
	if (values[EXPERTS] == 0 && values[ETP] > 1) // of a model without experts it says nothing
		add_name(launch->unused, flags[ETP].name);
	if (values[CHUNK] > 0 && values[VIRTUAL] > 0)
		return refuse_flag(refusal, flags[VIRTUAL].name, "says chunks a second time");
	return 0;
}

int import_megatron(FILE *to, const char *script, struct refusal *refusal)
{
	static const enum flag needed[] = {LAYERS, HIDDEN, HEADS, SEQUENCE};
	static struct launch launch; // large
	launch.is_learned = launch.is_cut = true;
	char *text = import_shell(script);
	if (text == NULL)
		return refuse(refusal, -ENOMEM, "no memory for the text of the flags");
	int rc = read_flags(&launch, text, refusal);
	for (size_t i = 0; rc == 0 && i < sizeof(needed) / sizeof(*needed); i++)
		if (launch.values[needed[i]] == 0)
			rc = refuse_flag(refusal, flags[needed[i]].name, "is missing");
	if (rc == 0)
		rc = settle(&launch, refusal);
	if (rc == 0)
		write(to, &launch);
	free(text);
	return rc;
}
