// SPDX-License-Identifier: Apache-2.0
// Job files: what must fit together. Their keys are in plan_file_keys.c. Read as scenarios are, by
// the same rules of units, places and misspelt words.

#include <weft/scenario/plan_file.h>

#include <stdio.h>
#include <string.h>

#include <weft/workload/order.h>
#include <weft/workload/plan_memory.h>

#include "scenario_reader.h"

// Of keys whose value is a word: places in the list of words of plan_file_keys.c.
enum reduction { MEGATRON, DDP, ZERO_1, ZERO_2, ZERO_3, FSDP, LOCAL };
enum sync { SYNC_AUTO, SYNC_LAST, SYNC_EACH };
enum reshard { RESHARD_AUTO, RESHARD_TRUE, RESHARD_FALSE };

// The device and the domain of a job's file.

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
		 site->device->name, percent, plan_precision_words[site->precision]);
	file->plan.timing.origin = file->origin;
	file->plan.timing.rests_on = INPUT_ASSUMED;
	const struct plan_input *input = plan_input_of(&file->plan, "times.efficiency");
	if (input == NULL)
		add_input(file, "times.efficiency", INPUT_ASSUMED, file->origin);
	else
		file->plan.timing.rests_on = input->origin;
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
				     site->device->name, plan_precision_words[site->precision]);
	take_device(site);
	add_input(file, "times.device", INPUT_FACT, site->device->source);
	if (plan_has_roofline(&file->plan))
		tell_origin(file);
	return 0;
}

// ---------------------------------------------------------------- times.measured

// Each part once, and all that the model has layers of.
#define MEASURED_LIST "times.measured"

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
				     MEASURED_LIST "[].part: %s appears twice", part);
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

// ---------------------------------------------------------------- what must be there

static int check_needed(struct reader *reader)
{
	const struct scenario_key *keys = plan_file_table.keys;
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
			return refuse_effect(reader, *paths, needs);
	return 0;
}

// A key that another one leaves nothing to say.
static int check_idle(struct reader *reader, const struct architecture *of)
{
	bool is_latent = reader_is_given(reader, "model.kv_rank");
	const struct {
		bool is_idle;
		const char *path, *beside;
	} keys[] = {
		{is_latent && reader_is_given(reader, "model.kv_heads"), "model.kv_heads",
		 "model.kv_rank"},
		{is_latent && of->has_qkv_bias, "model.qkv_bias", "model.kv_rank"},
		{is_latent && of->has_attention_bias, "model.attention_bias", "model.kv_rank"},
		{of->has_bias && of->has_qkv_bias, "model.qkv_bias", "model.bias"},
		{of->has_bias && of->has_ffn_bias, "model.ffn_bias", "model.bias"},
		{of->has_bias && of->has_attention_bias, "model.attention_bias", "model.bias"},
		{of->has_attention_bias && of->has_qkv_bias, "model.qkv_bias",
		 "model.attention_bias"},
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].is_idle)
			return reader_refuse(reader, reader_mark(reader, keys[i].path),
					     "%s has no effect beside %s", keys[i].path,
					     keys[i].beside);
	return 0;
}

static int check_effects(struct reader *reader, const struct plan *plan)
{
	static const char *const experts[] = {"model.experts_per_token",
					      "model.expert_ffn",
					      "model.shared_ffn",
					      "model.dense_layers",
					      "model.expert_every",
					      "cut.ep",
					      "cut.etp",
					      NULL};
	static const char *const shared[] = {"model.shared_gate", NULL};
	static const char *const latent[] = {"model.query_rank", "model.rope_dim",
					     "model.value_dim", NULL};
	static const char *const forward[] = {"times.backward", NULL};
	static const char *const published[] = {"published.source", NULL};
	int rc = check_effect(reader, experts, "model.experts");
	if (rc == 0)
		rc = check_effect(reader, shared, "model.shared_ffn");
	if (rc == 0)
		rc = check_effect(reader, latent, "model.kv_rank");
	if (rc == 0)
		rc = check_effect(reader, forward, "times.forward");
	if (rc == 0)
		rc = check_effect(reader, published, "published.step");
	if (rc != 0)
		return rc;
	rc = check_idle(reader, plan->architecture);
	if (rc != 0)
		return rc;
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
	{"reduce.distributed_optimizer", 1u << MEGATRON, "reduce.kind megatron"},
	{"reduce.aligned", 1u << MEGATRON, "reduce.kind megatron"},
	{"reduce.bucket", 1u << MEGATRON | 1u << ZERO_1 | 1u << ZERO_2,
	 "reduce.kind megatron, zero-1 or zero-2"},
	{"reduce.bucket_bytes", 1u << DDP, "reduce.kind ddp"},
	{"reduce.first_bucket", 1u << DDP, "reduce.kind ddp"},
	{"reduce.sync", ~(1u << MEGATRON | 1u << LOCAL),
	 "reduce.kind other than megatron and local"},
	{"reduce.every", 1u << LOCAL, "reduce.kind local"},
	{"reduce.reshard", 1u << ZERO_3 | 1u << FSDP, "reduce.kind zero-3 or fsdp"},
	{"reduce.within", 1u << ZERO_3 | 1u << FSDP, "reduce.kind zero-3 or fsdp"},
	{"reduce.prefetch", 1u << ZERO_3 | 1u << FSDP, "reduce.kind zero-3 or fsdp"},
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
			return refuse_effect(reader, path, reduction_keys[i].needs);
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
			return &plan_file_table.keys[key_find(&plan_file_table, others[i][1])];
	for (const struct scenario_key *key = plan_file_table.keys; key->path != NULL; key++) {
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
	const struct scenario_key *keys = plan_file_table.keys;
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
	plan->timing.rests_on = INPUT_ASSUMED;
	const struct plan_input *input = plan_input_of(
		plan, plan->timing.has_parts ? "times.measured" : "times.forward");
	if (input == NULL)
		return;
	plan->timing.origin = input->text;
	plan->timing.rests_on = input->origin;
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
	struct reader reader = {
		.table = &plan_file_table, .base = ret, .refusal = refusal, .path = path};
	yaml_document_t document;
	reader.root = (struct mark){1, 1, false};
	int rc = document_check_text(&reader, text, bytes, reader.root);
	if (rc == 0)
		rc = document_load(&reader, &document, text, bytes);
	if (rc != 0)
		return rc;
	memset(ret, 0, sizeof(*ret));
	reader_defaults(&plan_file_table, ret);
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
