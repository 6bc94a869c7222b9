// SPDX-License-Identifier: Apache-2.0
// The sizes of a plan by name: what a person may set, and what is held against limits.

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <weft/core/near_word.h>

#include "plan_keys.h"

#define SIZE_MAX_OF_ANY (UINT64_C(1) << 20) // products of three stay in 64 bits
#define BUCKET_MAX (UINT64_C(1) << 40)

#define MODEL(field, needed, text_) \
	{ \
#field, text_, offsetof(struct plan_edit, architecture.field), \
			sizeof(((struct plan_edit *)0)->architecture.field), needed \
	}
#define CUT(field, needed, text_) \
	{ \
#field, text_, offsetof(struct plan_edit, plan.parallel.field), \
			sizeof(((struct plan_edit *)0)->plan.parallel.field), needed \
	}

static const struct plan_key keys[] = {
	MODEL(layers, true, "layers"),
	MODEL(hidden, true, "width of the model"),
	MODEL(vocab, true, "words"),
	MODEL(heads, true, "attention heads"),
	MODEL(kv_heads, true, "heads of keys and values"),
	MODEL(head_dim, true, "width of a head"),
	MODEL(ffn, false, "width of the feed-forward of layers without experts"),
	MODEL(is_gated, false, "1: two matrices before the activation"),
	MODEL(has_bias, false, "1: matrices have biases"),
	MODEL(norm_vectors, true, "vectors of a norm: 1, or 2 with a bias"),
	MODEL(is_tied, false, "1: the output matrix is the embedding"),
	MODEL(query_rank, false, "rank of queries in latent attention"),
	MODEL(kv_rank, false, "rank of keys and values in latent attention"),
	MODEL(rope_dim, false, "rotary part of a head in latent attention"),
	MODEL(value_dim, false, "width of a value in latent attention"),
	MODEL(experts, false, "experts of a layer"),
	MODEL(experts_per_token, false, "experts that a token goes to"),
	MODEL(expert_ffn, false, "width of an expert"),
	MODEL(shared_ffn, false, "width of the expert that all tokens go to"),
	MODEL(dense_layers, false, "first layers, which have no experts"),
	MODEL(expert_every, false, "each so many-th layer has experts, 0: all"),
	CUT(tp, true, "tensor ranks"),
	CUT(cp, true, "context ranks"),
	CUT(ep, true, "expert ranks"),
	CUT(etp, false, "ranks that cut an expert"),
	CUT(pp, true, "pipeline stages"),
	CUT(vpp, true, "chunks of a stage"),
	CUT(dp, true, "replicas"),
	CUT(micro_batches, true, "micro-batches of a replica and step"),
	CUT(samples, true, "samples of a micro-batch"),
	CUT(sequence, true, "tokens of a sample"),
	CUT(layers_first, false, "layers of the first cell, 0: as the others"),
	CUT(layers_last, false, "layers of the last cell, 0: as the others"),
	CUT(vocab_grain, true, "the vocabulary is padded to a multiple of this x tp"),
	CUT(grad_bytes, true, "bytes of a gradient on the wire"),
	CUT(param_bytes, true, "bytes of a parameter on the wire"),
	CUT(activation_bytes, true, "bytes of an activation on the wire"),
	CUT(has_distributed_optimizer, false, "1: reduce-scatter and all-gather, 0: all-reduce"),
	CUT(bucket_params, false, "bucket size in parameters, 0: Megatron's rule"),
	CUT(is_aligned, false, "1: stages reduce together, 0: each bucket when it is ready"),
	{NULL, NULL, 0, 0, false},
};

const struct plan_key *plan_keys(void)
{
	return keys;
}

static uint64_t limit_of(const struct plan_key *key)
{
	return key->bytes == 1 ? 1 : key->bytes == 8 ? BUCKET_MAX : SIZE_MAX_OF_ANY;
}

static uint64_t value_of(const struct plan_key *key, const struct plan_edit *edit)
{
	const char *at = (const char *)edit + key->offset;
	uint64_t value = 0;
	uint32_t narrow;
	if (key->bytes == 8) {
		memcpy(&value, at, sizeof(value));
	} else if (key->bytes == 4) {
		memcpy(&narrow, at, sizeof(narrow));
		value = narrow;
	} else {
		value = *(const bool *)at;
	}
	return value;
}

static void put_value(const struct plan_key *key, struct plan_edit *edit, uint64_t value)
{
	char *at = (char *)edit + key->offset;
	uint32_t narrow = (uint32_t)value;
	if (key->bytes == 8)
		memcpy(at, &value, sizeof(value));
	else if (key->bytes == 4)
		memcpy(at, &narrow, sizeof(narrow));
	else
		*(bool *)at = value != 0;
}

// ---------------------------------------------------------------- a plan of one's own

static const struct plan custom = {
	.name = "custom",
	.parallel = {.tp = 1,
		     .cp = 1,
		     .ep = 1,
		     .pp = 1,
		     .vpp = 1,
		     .dp = 1,
		     .micro_batches = 1,
		     .samples = 1,
		     .vocab_grain = 1,
		     .grad_bytes = 2,
		     .param_bytes = 2,
		     .activation_bytes = 2,
		     .has_distributed_optimizer = true,
		     .is_aligned = true,
		     .order = "tp-cp-ep-dp-pp"},
};
static const struct architecture custom_model = {
	.name = "custom", .is_gated = true, .norm_vectors = 1};

void plan_begin(struct plan_edit *ret, const struct plan *from)
{
	ret->plan = from == NULL ? custom : *from;
	ret->architecture = from == NULL ? custom_model : *from->architecture;
	ret->plan.architecture = &ret->architecture;
}

static void append(struct refusal *refusal, const char *text, size_t length)
{
	size_t used = strlen(refusal->text);
	for (size_t i = 0; i < length && used + 1 < sizeof(refusal->text); i++)
		refusal->text[used++] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
	refusal->text[used] = '\0';
}

static int refuse_key(struct refusal *refusal, const char *why, int64_t first, int64_t second,
		      const char *name, size_t length)
{
	refuse(refusal, -EINVAL, why, first, second);
	append(refusal, name, length < 40 ? length : 40);
	return -EINVAL;
}

// Digits and nothing else, and at least one.
static bool is_number(const char *text)
{
	const char *at = text;
	while (*at >= '0' && *at <= '9')
		at++;
	return *at == '\0' && at > text;
}

// A name that --set does not have, "=" or nothing behind it.
static int refuse_name(struct refusal *refusal, const char *text, size_t length)
{
	char name[NEAR_WORD_BYTES] = "";
	refuse_key(refusal, "there is no size ", 0, 0, text, length);
	memcpy(name, text, length < sizeof(name) - 1 ? length : sizeof(name) - 1);
	const char *last = name; // of cut.dp of a job file dp
	for (const char *at = name; *at != '\0'; at++)
		last = *at == '.' ? at + 1 : last;
	struct near_word near_word = near_word_of(last);
	for (const struct plan_key *key = keys; key->name != NULL; key++)
		near_word_see(&near_word, key->name);
	near_word_append(&near_word, refusal->text, sizeof(refusal->text));
	return -EINVAL;
}

int plan_set(struct plan_edit *edit, const char *text, struct refusal *refusal)
{
	size_t length = 0;
	const struct plan_key *key = keys;
	uint64_t value = 0;
	while (text[length] != '\0' && text[length] != '=')
		length++;
	while (key->name != NULL &&
	       (strlen(key->name) != length || memcmp(key->name, text, length) != 0))
		key++;
	if (text[length] != '=' || key->name == NULL)
		return refuse_name(refusal, text, length);
	const char *digits = text + length + 1;
	if (!is_number(digits))
		return refuse_key(refusal, "a whole number is needed for ", 0, 0, text, length);
	for (; *digits != '\0' && value <= limit_of(key); digits++)
		value = value * 10 + (uint64_t)(*digits - '0');
	if (value > limit_of(key) || (value == 0 && key->is_needed))
		return refuse_key(refusal, "from % to % is ", key->is_needed,
				  (int64_t)limit_of(key), text, length);
	put_value(key, edit, value);
	return 0;
}

int plan_check_sizes(const struct plan *plan, const char **ret_size, struct refusal *refusal)
{
	struct plan_edit edit = {.plan = *plan, .architecture = *plan->architecture};
	for (const struct plan_key *key = keys; key->name != NULL; key++) {
		uint64_t value = value_of(key, &edit);
		*ret_size = key->name;
		if (value == 0 && key->is_needed)
			return refuse_key(refusal, "a plan needs its ", 0, 0, key->name,
					  strlen(key->name));
		if (value > limit_of(key))
			return refuse_key(refusal, "at most % is ", (int64_t)limit_of(key), 0,
					  key->name, strlen(key->name));
	}
	return 0;
}
