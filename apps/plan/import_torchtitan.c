// SPDX-License-Identifier: Apache-2.0
// A configuration of torchtitan (TOML) as a job file. What it leaves out has torchtitan's default;
// what it does not say (ranks, times), and what says nothing of a job here, is listed.
// Facts: torchtitan's job_config.py and its tables of models, as of the last version that read
// TOML: parameters travel in 16 bits and gradients in 32 unless it says otherwise, tensor ranks are
// the innermost, then context ranks, shards, replicas, stages; with a pipeline parameters stay
// after a forward.

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <weft/core/near_word.h>

#include "plan.h"

#define ENTRIES_MAX 256

struct entry {
	char key[96], value[160]; // "training.seq_len"; text without its quotes
	bool is_used;
};

struct config {
	struct entry entries[ENTRIES_MAX];
	uint32_t count;
	struct refusal *refusal;
};

// Models by name, as keys of a job file. Facts: torchtitan's tables of each.
#define LLAMA2(layers, hidden, heads, ffn) \
	"layers: " #layers ", hidden: " #hidden ", heads: " #heads ", vocab: 32000, " ffn
#define LLAMA3(layers, hidden, heads, ffn) \
	"layers: " #layers ", hidden: " #hidden ", heads: " #heads ", kv_heads: 8, ffn: " #ffn \
	", vocab: 128256"
#define QWEN3(layers, hidden, heads, kv_heads, ffn) \
	"layers: " #layers ", hidden: " #hidden ", heads: " #heads ", kv_heads: " #kv_heads \
	", head_dim: 128, head_norms: 2, vocab: 151936, " ffn
#define DEEPSEEK(layers, hidden, heads, ffn, vocab, experts) \
	"layers: " #layers ", hidden: " #hidden ", heads: " #heads \
	", head_dim: 128, kv_rank: 512, rope_dim: 64, value_dim: 128, ffn: " #ffn \
	", vocab: " #vocab ", " experts
#define LLAMA4(experts) \
	"layers: 48, hidden: 5120, heads: 40, kv_heads: 8, vocab: 202048, experts_per_token: 1, " \
	"expert_ffn: 8192, shared_ffn: 8192, " experts
#define GPT_OSS(layers, hidden, experts) \
	"layers: " #layers ", hidden: " #hidden ", experts: " #experts \
	", heads: 64, kv_heads: 8, head_dim: 64, vocab: 201088, bias: true, sinks: 1, " \
	"experts_per_token: 4, expert_ffn: 2880"
static const struct flavor {
	const char *model, *name, *keys;
} flavors[] = {
	{"llama3", "debugmodel", "layers: 6, hidden: 256, heads: 16, ffn: 768, vocab: 2048"},
	{"llama3", "1B", LLAMA3(16, 2048, 32, 8192) ", tied: true"},
	{"llama3", "3B", LLAMA3(28, 3072, 24, 8192) ", tied: true"},
	{"llama3", "8B", LLAMA3(32, 4096, 32, 14336)},
	{"llama3", "70B", LLAMA3(80, 8192, 64, 28672)},
	{"llama3", "405B", LLAMA3(126, 16384, 128, 53248)},
	{"qwen3", "debugmodel",
	 "layers: 8, hidden: 256, heads: 16, kv_heads: 8, head_dim: 128, head_norms: 2, vocab: "
	 "2048, ffn: 3072, tied: true"},
	{"qwen3", "debugmodel_moe",
	 "layers: 8, hidden: 256, heads: 16, kv_heads: 8, head_dim: 128, head_norms: 2, vocab: "
	 "2048, experts: 64, experts_per_token: 8, expert_ffn: 768"},
	{"qwen3", "0.6B", QWEN3(28, 1024, 16, 8, "ffn: 3072, tied: true")},
	{"qwen3", "1.7B", QWEN3(28, 2048, 16, 8, "ffn: 6144, tied: true")},
	{"qwen3", "4B", QWEN3(36, 2560, 32, 8, "ffn: 9728, tied: true")},
	{"qwen3", "8B", QWEN3(36, 4096, 32, 8, "ffn: 12288")},
	{"qwen3", "14B", QWEN3(40, 5120, 40, 8, "ffn: 17408")},
	{"qwen3", "32B", QWEN3(64, 5120, 64, 8, "ffn: 25600")},
	{"qwen3", "30B-A3B",
	 QWEN3(48, 2048, 32, 4, "experts: 128, experts_per_token: 8, expert_ffn: 768")},
	{"qwen3", "235B-A22B",
	 QWEN3(94, 4096, 64, 4, "experts: 128, experts_per_token: 8, expert_ffn: 1536")},
	{"deepseek_v3", "debugmodel",
	 DEEPSEEK(6, 256, 16, 1024, 2048,
		  "experts: 8, experts_per_token: 3, expert_ffn: 256, shared_ffn: 512, "
		  "dense_layers: 1")},
	{"deepseek_v3", "16B",
	 DEEPSEEK(27, 2048, 16, 10944, 102400,
		  "experts: 64, experts_per_token: 6, expert_ffn: 1408, shared_ffn: 2816, "
		  "dense_layers: 1")},
	{"deepseek_v3", "236B",
	 DEEPSEEK(60, 5120, 128, 12288, 102400,
		  "query_rank: 1536, experts: 160, experts_per_token: 6, expert_ffn: 1536, "
		  "shared_ffn: 3072, dense_layers: 1")},
	{"deepseek_v3", "671B",
	 DEEPSEEK(61, 7168, 128, 18432, 129280,
		  "query_rank: 1536, experts: 256, experts_per_token: 8, expert_ffn: 2048, "
		  "shared_ffn: 2048, dense_layers: 3")},
	{"llama4", "debugmodel",
	 "layers: 6, hidden: 256, heads: 16, ffn: 768, vocab: 2048, experts: 8, "
	 "experts_per_token: 1, expert_ffn: 512, shared_ffn: 512, expert_every: 2"},
	{"llama4", "17bx16e", LLAMA4("experts: 16")},
	{"llama4", "17bx128e", LLAMA4("experts: 128, ffn: 16384, expert_every: 2")},
	{"gpt_oss", "debugmodel", GPT_OSS(4, 256, 8)},
	{"gpt_oss", "20b", GPT_OSS(24, 2880, 32)},
	{"gpt_oss", "120b", GPT_OSS(36, 2880, 128)},
	{"llama2", "debugmodel", LLAMA2(8, 256, 16, "ffn: 768")},
	{"llama2", "7B", LLAMA2(32, 4096, 32, "ffn: 11008")},
	{"llama2", "13B", LLAMA2(40, 5120, 40, "ffn: 13824")},
	{"llama2", "70B", LLAMA2(80, 8192, 64, "kv_heads: 8, ffn: 28672")},
};

// ---------------------------------------------------------------- lines

static int refuse_line(struct config *config, uint32_t line, const char *why)
{
	config->refusal->line = line;
	return refuse(config->refusal, -EINVAL, why, 0, 0, 0);
}

// Takes blanks away at both ends.
static char *trimmed(char *text)
{
	char *end = text + strlen(text);
	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

// Ends the line where a comment begins that is in no text.
static bool cut_comment(char *line)
{
	char quote = '\0';
	for (; *line != '\0'; line++) {
		if (quote != '\0')
			quote = *line == quote ? '\0' : quote;
		else if (*line == '"' || *line == '\'')
			quote = *line;
		else if (*line == '#')
			*line = '\0';
		if (*line == '\0')
			break;
	}
	return quote == '\0';
}

static int take_entry(struct config *config, const char *section, char *line, uint32_t number)
{
	char *equals = strchr(line, '=');
	struct entry *entry = &config->entries[config->count];
	if (equals == NULL)
		return refuse_line(config, number, "neither [section] nor key = value");
	*equals = '\0';
	char *key = trimmed(line), *value = trimmed(equals + 1);
	size_t length = strlen(value);
	if (*key == '\0' || length == 0)
		return refuse_line(config, number, "neither [section] nor key = value");
	if (value[0] == '[' && value[length - 1] != ']')
		return refuse_line(config, number, "a list over several lines is not read");
	if (length >= 2 && (value[0] == '"' || value[0] == '\'')) {
		value[length - 1] = '\0';
		value++;
	}
	if (config->count == ENTRIES_MAX ||
	    snprintf(entry->key, sizeof(entry->key), "%s%s%s", section, *section != '\0' ? "." : "",
		     key) >= (int)sizeof(entry->key) ||
	    snprintf(entry->value, sizeof(entry->value), "%s", value) >= (int)sizeof(entry->value))
		return refuse_line(config, number, "too long, or too many keys");
	for (uint32_t i = 0; i < config->count; i++)
		if (strcmp(config->entries[i].key, entry->key) == 0)
			return refuse_line(config, number, "this key appears twice");
	config->count++;
	return 0;
}

static int read_lines(struct config *config, char *text)
{
	char section[64] = "";
	uint32_t number = 0;
	for (char *line = text, *next; line != NULL; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		number++;
		if (!cut_comment(line))
			return refuse_line(config, number, "a text that does not end");
		line = trimmed(line);
		size_t length = strlen(line);
		if (length == 0)
			continue;
		int rc = 0;
		if (line[0] != '[')
			rc = take_entry(config, section, line, number);
		else if (length < 3 || length > sizeof(section) || line[1] == '[' ||
			 line[length - 1] != ']')
			rc = refuse_line(config, number, "not the name of a section");
		else
			snprintf(section, sizeof(section), "%.*s", (int)length - 2, line + 1);
		if (rc < 0)
			return rc;
	}
	return 0;
}

// ---------------------------------------------------------------- values

// Whether an entry is that key, now or in older configurations: how a job is cut stood in two
// sections, and batch and shards had shorter names.
static bool is_named(const char *entry, const char *key)
{
	if (strcmp(key, "training.local_batch_size") == 0 &&
	    strcmp(entry, "training.batch_size") == 0)
		return true;
	if (strcmp(key, "parallelism.data_parallel_shard_degree") == 0 &&
	    strcmp(entry, "training.data_parallel_degree") == 0)
		return true;
	return strcmp(entry, key) == 0 ||
		(strncmp(key, "parallelism.", 12) == 0 &&
		 import_begins(entry, "training. experimental.") &&
		 strcmp(strchr(entry, '.') + 1, key + 12) == 0);
}

static const char *text_of(struct config *config, const char *key, const char *otherwise)
{
	for (uint32_t i = 0; i < config->count; i++) {
		if (!is_named(config->entries[i].key, key))
			continue;
		config->entries[i].is_used = true;
		return config->entries[i].value;
	}
	return otherwise;
}

// A whole number from 1 on; 0 where it is -1, which torchtitan fills in.
static int count_of(struct config *config, const char *key, uint64_t otherwise, uint64_t *ret)
{
	const char *text = text_of(config, key, NULL);
	char *end, digits[32] = "";
	*ret = otherwise;
	if (text == NULL)
		return 0;
	for (const char *at = text; *at != '\0' && at < text + sizeof(digits) - 1; at++)
		if (*at != '_') // between digits
			strncat(digits, at, 1);
	text = digits;
	*ret = strcmp(text, "-1") == 0 ? 0 : strtoull(text, &end, 10);
	if (*ret <= UINT32_MAX &&
	    (strcmp(text, "-1") == 0 || (text[0] >= '1' && text[0] <= '9' && *end == '\0')))
		return 0;
	snprintf(config->refusal->text, sizeof(config->refusal->text),
		 "%s needs a whole number from 1 on, or -1", key);
	return -EINVAL;
}

static uint32_t bytes_of(const char *type)
{
	return strcmp(type, "float32") == 0 ? 4 : 2;
}

// Flavors that say how attention is worked out have the sizes of those without.
static bool is_flavor(const char *asked, const char *name)
{
	static const char *const ways[] = {"",	    "_flex_attn", "_varlen_attn",
					   "_flex", "_varlen",	  "_irope"};
	size_t length = strlen(name);
	bool ret = false;
	for (size_t i = 0; strncmp(asked, name, length) == 0 && i < sizeof(ways) / sizeof(*ways);
	     i++)
		ret |= strcmp(asked + length, ways[i]) == 0;
	return ret;
}

static const struct flavor *flavor_of(struct config *config)
{
	const char *model = text_of(config, "model.name", "llama3");
	const char *name = text_of(config, "model.flavor", "debugmodel");
	if (strcmp(model, "llama") == 0) // the first configurations
		model = "llama2";
	struct refusal *refusal = config->refusal;
	for (size_t i = 0; i < sizeof(flavors) / sizeof(*flavors); i++)
		if (strcmp(flavors[i].model, model) == 0 && is_flavor(name, flavors[i].name))
			return &flavors[i];
	if (strcmp(model, "flux") == 0) {
		refuse(refusal, -EINVAL,
		       "model flux makes images; a job file says language models");
		return NULL;
	}
	struct near_word near_model = near_word_of(model), near_flavor = near_word_of(name);
	snprintf(refusal->text, sizeof(refusal->text),
		 "model %.40s of flavor %.40s is not known; these are:", model, name);
	for (size_t i = 0; i < sizeof(flavors) / sizeof(*flavors); i++) {
		size_t used = strlen(refusal->text);
		bool is_first = i == 0 || strcmp(flavors[i].model, flavors[i - 1].model) != 0;
		const char *before = i == 0 ? " " : is_first ? "; " : "";
		snprintf(refusal->text + used, sizeof(refusal->text) - used, "%s%s %s", before,
			 is_first ? flavors[i].model : "", flavors[i].name);
		near_word_see(strcmp(flavors[i].model, model) == 0 ? &near_flavor : &near_model,
			      strcmp(flavors[i].model, model) == 0 ? flavors[i].name
								   : flavors[i].model);
	}
	near_word_append(near_flavor.found[0] != '\0' ? &near_flavor : &near_model, refusal->text,
			 sizeof(refusal->text));
	return NULL;
}

// ---------------------------------------------------------------- the job

struct sizes {
	uint64_t replicas, shards, tp, pp, cp, ep, etp, micro, batch, all, sequence;
};

static int read_sizes(struct config *config, struct sizes *ret)
{
	const struct {
		const char *key;
		uint64_t otherwise, *to;
	} keys[] = {
		{"parallelism.data_parallel_replicate_degree", 1, &ret->replicas},
		{"parallelism.data_parallel_shard_degree", 0, &ret->shards},
		{"parallelism.tensor_parallel_degree", 1, &ret->tp},
		{"parallelism.pipeline_parallel_degree", 1, &ret->pp},
		{"parallelism.context_parallel_degree", 1, &ret->cp},
		{"parallelism.expert_parallel_degree", 1, &ret->ep},
		{"parallelism.expert_tensor_parallel_degree", 1, &ret->etp},
		{"parallelism.pipeline_parallel_microbatch_size", 1, &ret->micro},
		{"training.local_batch_size", 8, &ret->batch},
		{"training.global_batch_size", 0, &ret->all},
		{"training.seq_len", 2048, &ret->sequence},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(keys) / sizeof(*keys); i++)
		rc = count_of(config, keys[i].key, keys[i].otherwise, keys[i].to);
	return rc;
}

// Experts are within shards, context and tensor ranks.
static void put_experts(FILE *to, const struct flavor *of, const struct sizes *sizes)
{
	bool has_experts = strstr(of->keys, "experts:") != NULL;
	if (has_experts)
		fprintf(to, "  ep: %" PRIu64 "\n", sizes->ep);
	if (has_experts && sizes->etp > 1)
		fprintf(to, "  etp: %" PRIu64 "\n", sizes->etp);
	fprintf(to, "  order: tp-cp-%sdp-pp\n", has_experts ? "ep-" : "");
}

static void put_head(FILE *to, const struct sizes *sizes)
{
	fprintf(to,
		"# SPDX-License-Identifier: CC0-1.0\n# From a configuration of torchtitan. Not "
		"known, to be filled in: ");
	if (sizes->shards == 0)
		fprintf(to, "cut.dp (shards are as many as the launch has ranks for), ");
	fprintf(to, "times.\n");
	fprintf(to, "name: imported\n");
}

// Samples of a micro-batch, and micro-batches of a step and replica.
static void put_step(FILE *to, const struct sizes *sizes, const char *recompute)
{
	uint64_t dp = sizes->replicas * sizes->shards, samples = sizes->batch, count = 1;
	if (sizes->pp > 1) {
		samples = sizes->micro;
		count = sizes->batch / sizes->micro;
	}
	if (sizes->all > 0 && dp > 0)
		count *= sizes->all / (sizes->batch * dp);
	fprintf(to,
		"step:\n  micro_batches: %" PRIu64 "\n  samples: %" PRIu64 "\n  sequence: %" PRIu64
		"\n",
		count > 0 ? count : 1, samples, sizes->sequence);
	if (strcmp(recompute, "full") == 0)
		fprintf(to, "  recompute: full\n");
	else if (strcmp(recompute, "none") != 0)
		fprintf(to, "  # activation_checkpoint.mode %s counts as none\n", recompute);
}

static void put_reduce(FILE *to, const struct sizes *sizes, const char *reshard)
{
	if (sizes->shards == 1 && sizes->replicas > 1) {
		fprintf(to, "reduce:\n  kind: ddp\n");
		return;
	}
	bool is_kept = strcmp(reshard, "never") == 0 ||
		(strcmp(reshard, "default") == 0 && sizes->pp > 1);
	fprintf(to, "reduce:\n  kind: fsdp\n  reshard: %s\n", is_kept ? "false" : "true");
	if (sizes->replicas > 1 && sizes->shards > 0)
		fprintf(to, "  within: %" PRIu64 "\n", sizes->shards * sizes->cp);
}

static void put_unused(FILE *to, const struct config *config)
{
	fprintf(to, "# not used of the configuration:");
	for (uint32_t i = 0; i < config->count; i++)
		if (!config->entries[i].is_used)
			fprintf(to, " %s", config->entries[i].key);
	fprintf(to, "\n");
}

// Whether linear layers are gathered in 8 bits.
static bool is_gathered_in_8_bits(const struct config *config)
{
	static const char key[] = "enable_fsdp_float8_all_gather";
	for (uint32_t i = 0; i < config->count; i++) {
		const char *dot = strrchr(config->entries[i].key, '.');
		if (dot != NULL && strcmp(dot + 1, key) == 0 &&
		    strcmp(config->entries[i].value, "true") == 0)
			return true;
	}
	return false;
}

// Facts, but for what no job file says.
static void put_inputs(FILE *to, struct config *config, const struct flavor *of,
		       const struct sizes *sizes)
{
	bool is_debug = strncmp(of->name, "debugmodel", 10) == 0;
	bool is_8 = is_gathered_in_8_bits(config);
	const char *schedule = text_of(config, "parallelism.pipeline_parallel_schedule", "1F1B");
	bool is_other = sizes->pp > 1 && strcasecmp(schedule, "1F1B") != 0;
	fprintf(to, "inputs:\n");
	if (is_8)
		fprintf(to,
			"  - {of: wire, origin: assumed, text: \"linear layers are gathered in "
			"8 bits; here as all others\"}\n");
	if (is_other)
		fprintf(to,
			"  - {of: cut, origin: assumed, text: \"schedule %.40s, with so many "
			"chunks "
			"of a stage as vpp is to say, is 1F1B here\"}\n",
			schedule);
	if (is_debug)
		fprintf(to,
			"  - {of: model, origin: assumed, text: \"the last debugmodel; older "
			"versions of torchtitan have others\"}\n");
	fprintf(to,
		"  - {of: %s%sstep %sreduce, origin: fact, text: \"a configuration of "
		"torchtitan, and its defaults\"}\n",
		is_debug ? "" : "model ", is_other ? "" : "cut ", is_8 ? "" : "wire ");
}

static void write(FILE *to, struct config *config, const struct flavor *of,
		  const struct sizes *sizes)
{
	uint64_t dp = sizes->replicas * sizes->shards;
	const char *param = text_of(config, "training.mixed_precision_param", "bfloat16");
	const char *reduce = text_of(config, "training.mixed_precision_reduce", "float32");
	put_head(to, sizes);
	fprintf(to,
		"model: {name: %s-%s, %s}\ncut:\n  tp: %" PRIu64 "\n  cp: %" PRIu64
		"\n  pp: %" PRIu64 "\n  dp: %" PRIu64 "\n",
		of->model, of->name, of->keys, sizes->tp, sizes->cp, sizes->pp, dp > 0 ? dp : 1);
	put_experts(to, of, sizes);
	put_step(to, sizes, text_of(config, "activation_checkpoint.mode", "selective"));
	fprintf(to, "wire:\n  gradients: %uB\n  parameters: %uB\n", bytes_of(reduce),
		bytes_of(param));
	put_reduce(to, sizes, text_of(config, "parallelism.fsdp_reshard_after_forward", "default"));
	put_inputs(to, config, of, sizes);
	put_unused(to, config);
}

bool import_is_toml(const char *text)
{
	while (*text != '\0') {
		text += strspn(text, " \t\r\n");
		if (*text != '#')
			break;
		text += strcspn(text, "\n");
	}
	return text[0] == '[' && isalpha((unsigned char)text[1]);
}

int import_torchtitan(FILE *to, char *text, struct refusal *refusal)
{
	static struct config config; // large
	struct sizes sizes;
	config.refusal = refusal;
	int rc = read_lines(&config, text);
	if (rc == 0)
		rc = read_sizes(&config, &sizes);
	if (rc < 0)
		return rc;
	const struct flavor *flavor = flavor_of(&config);
	if (flavor == NULL)
		return -EINVAL;
	if (sizes.replicas == 0 || sizes.tp == 0 || sizes.pp == 0 || sizes.cp == 0 ||
	    sizes.batch == 0 || sizes.ep == 0 || sizes.etp == 0 || sizes.sequence == 0 ||
	    sizes.micro == 0)
		return refuse(refusal, -EINVAL,
			      "only data_parallel_shard_degree and global_batch_size may be -1");
	write(to, &config, flavor, &sizes);
	return 0;
}
