// SPDX-License-Identifier: Apache-2.0
// The arguments of a Megatron-LM launch, a text of flags or a script, as a job file. What is left
// out has Megatron-LM's default; what the flags do not say (replicas, times), and flags that say
// nothing of a job here, are listed. Facts: Megatron-LM's arguments.py: biases, LayerNorm, tied
// embeddings, all-reduce in 4 bytes unless a flag says otherwise; learned positions, a feed-forward
// of 4 x hidden, of 8/3 in multiples of 64 with SwiGLU.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define UNUSED_BYTES 1024

enum flag {
	LAYERS,
	HIDDEN,
	VOCAB,
	HEADS,
	GROUPS,
	CHANNELS,
	FFN,
	EXPERTS,
	TOP,
	EXPERT_FFN, // counts
	TP,
	PP,
	CP,
	EP,
	ETP,
	CHUNK,
	DIVISIBLE,
	MICRO,
	GLOBAL,
	SEQUENCE,
	BUCKET,
	POSITIONS,
	SWIGLU,
	UNTIED,
	NO_BIAS,
	QKV_BIAS,
	OPTIMIZER,
	BF16, // of no value
	ROTARY,
	NO_POSITIONS,
	GROUPED,
	NORM,
	POSITION_TYPE,
	FLAG_COUNT
};

static const struct {
	const char *name, *key; // key: written as it is; NULL: not alone
} flags[FLAG_COUNT] = {
	[LAYERS] = {"num-layers", "layers"},
	[HIDDEN] = {"hidden-size", "hidden"},
	[VOCAB] = {"vocab-size", "vocab"},
	[HEADS] = {"num-attention-heads", "heads"},
	[GROUPS] = {"num-query-groups", "kv_heads"},
	[CHANNELS] = {"kv-channels", "head_dim"},
	[FFN] = {"ffn-hidden-size", NULL},
	[EXPERTS] = {"num-experts", "experts"},
	[TOP] = {"moe-router-topk", NULL},
	[EXPERT_FFN] = {"moe-ffn-hidden-size", NULL},
	[TP] = {"tensor-model-parallel-size", "tp"},
	[PP] = {"pipeline-model-parallel-size", "pp"},
	[CP] = {"context-parallel-size", "cp"},
	[EP] = {"expert-model-parallel-size", "ep"},
	[ETP] = {"expert-tensor-parallel-size", "etp"},
	[CHUNK] = {"num-layers-per-virtual-pipeline-stage", NULL},
	[DIVISIBLE] = {"make-vocab-size-divisible-by", NULL},
	[MICRO] = {"micro-batch-size", "samples"},
	[GLOBAL] = {"global-batch-size", NULL},
	[SEQUENCE] = {"seq-length", "sequence"},
	[BUCKET] = {"ddp-bucket-size", "bucket"},
	[POSITIONS] = {"max-position-embeddings", NULL},
	[ROTARY] = {"use-rotary-position-embeddings", NULL},
	[NO_POSITIONS] = {"no-position-embedding", NULL},
	[POSITION_TYPE] = {"position-embedding-type", NULL},
	[SWIGLU] = {"swiglu", NULL},
	[UNTIED] = {"untie-embeddings-and-output-weights", NULL},
	[NO_BIAS] = {"disable-bias-linear", NULL},
	[QKV_BIAS] = {"add-qkv-bias", NULL},
	[OPTIMIZER] = {"use-distributed-optimizer", NULL},
	[BF16] = {"grad-reduce-in-bf16", NULL},
	[GROUPED] = {"group-query-attention", NULL},
	[NORM] = {"normalization", NULL},
};

struct launch {
	uint64_t values[FLAG_COUNT];  // 1 of a flag without value
	const char *said[FLAG_COUNT]; // its word
	const char *open;	      // a flag whose value is in the next line
	bool is_rms, is_learned;      // norms; positions
	char unused[UNUSED_BYTES];
	char doubted[UNUSED_BYTES]; // of the unused those that may change the model
};

static int refuse_flag(struct refusal *refusal, const char *name, const char *why)
{
	snprintf(refusal->text, sizeof(refusal->text), "--%.80s %s", name, why);
	return -EINVAL;
}

// Flags of Megatron-LM that say nothing of a model, by how they begin.
static const char *const of_the_run[] = {
	"adam",
	"apply-layernorm",
	"attention-backend",
	"attention-dropout",
	"auto-detect",
	"bf16",
	"calculate-per",
	"ckpt",
	"clip-grad",
	"cross-entropy",
	"data",
	"dataloader",
	"ddp",
	"decoupled-",
	"disable-gloo",
	"dist",
	"distributed",
	"empty-unused",
	"eod-mask",
	"eval",
	"exit",
	"finetune",
	"fp16",
	"fp8",
	"hidden-dropout",
	"init-method",
	"initial-loss",
	"load",
	"log",
	"loss-scale",
	"lr",
	"manual-gc",
	"master",
	"merge-file",
	"min-lr",
	"mmap",
	"mock-data",
	"moe-aux-loss",
	"moe-grouped",
	"moe-permute",
	"moe-router-load",
	"moe-token",
	"nccl",
	"nnodes",
	"no-async",
	"no-create",
	"no-gradient",
	"no-load",
	"no-masked",
	"no-mmap",
	"no-save",
	"node-rank",
	"node_rank",
	"norm-epsilon",
	"nproc",
	"num-workers",
	"optimizer",
	"overlap",
	"profile",
	"rampup-batch-size",
	"rdzv",
	"recompute",
	"reset-",
	"rotary-base",
	"rotary-percent",
	"save",
	"seed",
	"sequence-parallel",
	"split",
	"tensorboard",
	"tiktoken",
	"timing",
	"tokenizer",
	"tp-comm",
	"train",
	"transformer-impl",
	"use-checkpoint",
	"use-dist",
	"use-flash",
	"use-mcore",
	"use-precision",
	"valid",
	"vocab-file",
	"wandb",
	"weight-decay",
	NULL,
};

bool import_begins(const char *name, const char *const *beginnings)
{
	for (; *beginnings != NULL; beginnings++)
		if (strncmp(name, *beginnings, strlen(*beginnings)) == 0)
			return true;
	return false;
}

static void add_name(char list[UNUSED_BYTES], const char *name)
{
	size_t used = strlen(list);
	bool is_plain = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(name);
	snprintf(list + used, UNUSED_BYTES - used, " %s",
		 is_plain ? name : "(a flag that is no word)");
}

static void note_unused(struct launch *launch, const char *name)
{
	add_name(launch->unused, name);
	if (!import_begins(name, of_the_run))
		add_name(launch->doubted, name);
}

// Facts, unless a flag that is not known here may say otherwise of the model. An input's text has
// room for the first few of them.
static void put_inputs(FILE *to, const struct launch *launch)
{
	bool is_sure = launch->doubted[0] == '\0';
	fprintf(to, "inputs:\n");
	if (!is_sure)
		fprintf(to,
			"  - {of: model, origin: assumed, text: \"not known here, and may change "
			"it:%.120s\"}\n",
			launch->doubted);
	fprintf(to,
		"  - {of: %scut step wire reduce, origin: fact, text: \"flags of a Megatron-LM "
		"launch, and its defaults\"}\n# not used of the flags:%s\n",
		is_sure ? "model " : "", launch->unused);
	if (!is_sure)
		fprintf(to, "# of these may change the model, which is assumed for that:%s\n",
			launch->doubted);
}

// Takes one flag; `value` is the word behind it in its line, or NULL: what must have one has it in
// the next line. Returns whether that word is its own.
static int take(struct launch *launch, const char *name, const char *value, struct refusal *refusal)
{
	int flag = 0;
	char *end;
	while (flag < FLAG_COUNT && strcmp(flags[flag].name, name) != 0)
		flag++;
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
			: refuse_flag(refusal, name, "is here twice, with two values");
	launch->said[flag] = value;
	launch->values[flag] = 1;
	if (flag == NORM) {
		launch->is_rms = strcmp(value, "RMSNorm") == 0;
		return launch->is_rms || strcmp(value, "LayerNorm") == 0
			? 1
			: refuse_flag(refusal, name, "is LayerNorm or RMSNorm");
	}
	if (flag == POSITION_TYPE) {
		launch->is_learned = strcmp(value, "learned_absolute") == 0;
		return 1;
	}
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

static void put_model(FILE *to, const struct launch *launch)
{
	const uint64_t *values = launch->values;
	uint64_t ffn = values[SWIGLU] ? values[HIDDEN] * 8 / 3 / 64 * 64 : 4 * values[HIDDEN];
	ffn = values[FFN] > 0 ? values[FFN] : ffn;
	fprintf(to, "model:\n");
	put(to, launch, LAYERS, CHANNELS);
	if (launch->is_learned && !values[ROTARY] && !values[NO_POSITIONS] && values[POSITIONS] > 0)
		fprintf(to, "  extra_first: %" PRIu64 "\n", values[POSITIONS] * values[HIDDEN]);
	if (values[EXPERTS] == 0)
		fprintf(to, "  ffn: %" PRIu64 "\n", ffn);
	put(to, launch, EXPERTS, EXPERTS);
	if (values[EXPERTS] > 0)
		fprintf(to, "  experts_per_token: %" PRIu64 "\n  expert_ffn: %" PRIu64 "\n",
			values[TOP] > 0 ? values[TOP] : 2,
			values[EXPERT_FFN] > 0 ? values[EXPERT_FFN] : ffn);
	fprintf(to, "  gated: %s\n  bias: %s\n  qkv_bias: %s\n  norm: %s\n  tied: %s\n",
		values[SWIGLU] ? "true" : "false", values[NO_BIAS] ? "false" : "true",
		values[NO_BIAS] && values[QKV_BIAS] ? "true" : "false",
		launch->is_rms ? "rms" : "layer", values[UNTIED] ? "false" : "true");
}

static void write(FILE *to, const struct launch *launch)
{
	const uint64_t *values = launch->values;
	uint64_t pp = values[PP] > 0 ? values[PP] : 1;
	uint64_t vpp = values[CHUNK] > 0 ? values[LAYERS] / pp / values[CHUNK] : 1;
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
	fprintf(to, "cut:\n");
	put(to, launch, TP, CP);
	for (int i = EP; i <= ETP; i++) // 1 of a model without experts says nothing
		if (values[EXPERTS] > 0 || values[i] > 1)
			put(to, launch, i, i);
	if (values[EXPERTS] > 0 && values[ETP] == 0 &&
	    values[TP] > 1) // as many, where it is not given
		fprintf(to, "  etp: %" PRIu64 "\n", values[TP]);
	fprintf(to, "  vpp: %" PRIu64 "\n  vocab_grain: %" PRIu64 "\nstep:\n", vpp > 0 ? vpp : 1,
		values[DIVISIBLE] > 0 ? values[DIVISIBLE] : 128);
	put(to, launch, MICRO, SEQUENCE);
	fprintf(to, "wire:\n  gradients: %s\nreduce:\n  distributed_optimizer: %s\n",
		values[BF16] ? "2B" : "4B", values[OPTIMIZER] ? "true" : "false");
	put(to, launch, BUCKET, BUCKET);
	put_inputs(to, launch);
}

int import_megatron(FILE *to, const char *script, struct refusal *refusal)
{
	static const enum flag needed[] = {LAYERS, HIDDEN, HEADS, SEQUENCE};
	struct launch launch = {.is_learned = true};
	char *text = import_shell(script);
	if (text == NULL)
		return refuse(refusal, -ENOMEM, "no memory for the text of the flags");
	int rc = read_flags(&launch, text, refusal);
	for (size_t i = 0; rc == 0 && i < sizeof(needed) / sizeof(*needed); i++)
		if (launch.values[needed[i]] == 0)
			rc = refuse_flag(refusal, flags[needed[i]].name, "is missing");
	if (rc == 0)
		write(to, &launch);
	free(text);
	return rc;
}
