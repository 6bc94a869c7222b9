// SPDX-License-Identifier: Apache-2.0
// Which key of the table a misspelt path was meant to be, and which variant a misspelt name.

#include "scenario_keys.h"
#include "scenario_reader.h"

#include <stdio.h>
#include <string.h>

#include <weft/core/near_word.h>

#define OF_VARIANT "variants[]."

static const char *last_word(const char *path)
{
	const char *point = strrchr(path, '.');
	return point == NULL ? path : point + 1;
}

// Words that people have for a key, and which no edit makes it. A point: of that section alone;
// without one, of any section but what stands in a list.
struct meaning {
	const char *word, *path;
};
static const struct meaning meanings[] = {
	{"hosts", "fabric.nics, with fabric.nics_per_host"},
	{"gpus", "fabric.nics, one for each GPU"},
	{"gpus_per_host", "fabric.nics_per_host, one for each GPU, or for those that share a NIC"},
	{"gpus_per_node", "fabric.nics_per_host, one for each GPU, or for those that share a NIC"},
	{"gpus_per_nic",
	 "fabric.nics_per_host, with one rank for the GPUs that share a NIC (4 for 8 GPUs and 4 "
	 "NICs)"},
	{"nics_per_gpu", "fabric.planes, for the ports of one GPU"},
	{"spines", "fabric.t1_count"},
	{"leaves", "fabric.nics_per_t0"},
	{"mtu", "transport.payload"},
	{"ecn_min", "queue.ecn_low"},
	{"ecn_max", "queue.ecn_high"},
	{"fabric.speed", "fabric.link_rate"},
	{"fabric.rate", "fabric.link_rate"},
	{"fabric.bandwidth", "fabric.link_rate"},
	{"jobs[].gpus", "jobs[].ranks"},
	{"jobs[].traffic", "jobs[].kind, with its other keys beside it"},
	{"traffic.type", "traffic.kind"},
	{"traffic.pattern", "traffic.kind"},
	{"traffic.size", "traffic.bytes"},
	{"queue.size", "queue.bytes"},
	{"transport.type", "transport.kind"},
	{"transport.protocol", "transport.kind"},
	{"cc.kind", "cc.algorithm"},
	{"cc.name", "cc.algorithm"},
	{NULL, NULL},
};

// The same of a job file.
static const struct meaning job_meanings[] = {
	{"traffic", "a scenario, whose traffic.model names this file"},
	{"fabric", "a scenario, whose traffic.model names this file"},
	{"parallel", "cut"},
	{"parallelism", "cut"},
	{"sharding", "reduce"},
	{"training", "step"},
	{"precision", "wire, with bytes of each number"},
	{"tensor", "cut.tp"},
	{"tensor_parallel", "cut.tp"},
	{"sp", "cut.tp, whose ranks share the sequence, too"},
	{"pipeline", "cut.pp"},
	{"pipeline_parallel", "cut.pp"},
	{"data_parallel", "cut.dp"},
	{"context_parallel", "cut.cp"},
	{"expert_parallel", "cut.ep"},
	{"batch", "step.micro_batches, with step.samples of each"},
	{"batch_size", "step.micro_batches, with step.samples of each"},
	{"global_batch", "step.micro_batches, of one replica"},
	{"global_batch_size", "step.micro_batches, of one replica"},
	{"micro_batch_size", "step.samples"},
	{"seq", "step.sequence"},
	{"seq_len", "step.sequence"},
	{"seq_length", "step.sequence"},
	{"ffn_dim", "model.ffn"},
	{"ffn_hidden_size", "model.ffn"},
	{"intermediate_size", "model.ffn"},
	{"hidden_size", "model.hidden"},
	{"vocab_size", "model.vocab"},
	{"n_layers", "model.layers"},
	{"num_layers", "model.layers"},
	{"num_hidden_layers", "model.layers"},
	{"n_heads", "model.heads"},
	{"num_heads", "model.heads"},
	{"num_attention_heads", "model.heads"},
	{"n_kv_heads", "model.kv_heads"},
	{"num_key_value_heads", "model.kv_heads"},
	{"num_experts", "model.experts"},
	{"top_k", "model.experts_per_token"},
	{"gpu", "times.device"},
	{"accelerator", "times.device"},
	{"mfu", "times.efficiency"},
	{"domain.size", "domain.gpus"},
	{"gpus_per_node", "domain.gpus"},
	{"fsdp", "reduce.kind, fsdp"},
	{"ddp", "reduce.kind, ddp"},
	{"zero", "reduce.kind, zero-1, zero-2 or zero-3"},
	{NULL, NULL},
};

static const char *meaning_in(const struct meaning *of, const char *path, const char *name)
{
	for (; of->word != NULL; of++)
		if (strcmp(of->word, strchr(of->word, '.') == NULL ? name : path) == 0)
			return of->path;
	return NULL;
}

// Whether a path is a section or a key of a job file, which a scenario names.
static bool is_of_job(const char *path)
{
	bool ret = key_find(&plan_file_table, path) >= 0;
	for (int i = 0; plan_file_table.sections[i] != NULL; i++)
		ret |= strcmp(plan_file_table.sections[i], path) == 0;
	return ret;
}

static const char *meaning_of(const char *path)
{
	if (is_of_job(path))
		return "the key of a job file, which traffic.model names";
	const char *name = strstr(path, "[]") == NULL ? last_word(path) : "";
	if (strncmp(path, OF_VARIANT, strlen(OF_VARIANT)) == 0 &&
	    scenario_key_find(path + strlen(OF_VARIANT)) >= 0)
		return "variants[].set, as in set: preset=mrc queue.pfc=false";
	return meaning_in(meanings, path, name);
}

const char *key_nearest(const struct key_table *table, const char *path)
{
	const char *const *sections = table->sections;
	const struct scenario_key *keys = table->keys;
	const char *nearest = table == &scenario_table ? meaning_of(path)
		: table == &plan_file_table ? meaning_in(job_meanings, path, last_word(path))
					    : NULL;
	size_t length = strlen(path);
	uint32_t least = 4; // more edits than that are no misspelling
	if (nearest != NULL || length >= NEAR_WORD_BYTES)
		return nearest;
	for (int i = 0; sections[i] != NULL; i++) {
		uint32_t edits = near_word_edits(path, sections[i]);
		if (edits < 3 && 2 * edits < strlen(sections[i])) // `time` is no `wire`
			return sections[i];
	}
	for (int i = 0; keys[i].path != NULL; i++) {
		size_t other = strlen(keys[i].path);
		if ((other > length ? other - length : length - other) >= least)
			continue; // each is an edit
		uint32_t edits = near_word_edits(path, keys[i].path);
		if (edits < least && edits < strlen(last_word(keys[i].path)) && edits < length) {
			least = edits;
			nearest = keys[i].path;
		}
	}
	if (least <= 1)
		return nearest;
	const char *elsewhere = NULL; // right word, wrong section: best of the same list
	for (int i = 0; keys[i].path != NULL; i++) {
		if (strcmp(last_word(keys[i].path), last_word(path)) != 0)
			continue;
		if (strncmp(keys[i].path, path, strcspn(path, ".") + 1) == 0)
			return keys[i].path;
		elsewhere = elsewhere == NULL ? keys[i].path : elsewhere;
	}
	if (elsewhere != NULL)
		return elsewhere;
	for (int i = 0; nearest == NULL && strchr(path, '.') != NULL && keys[i].path != NULL; i++)
		if (strncmp(keys[i].path, path, length) == 0)
			return keys[i].path; // it goes on
	return nearest;
}

const struct scenario_key *scenario_key_of(const char *path, struct refusal *refusal)
{
	int index = scenario_key_find(path);
	const char *nearest = index < 0 ? key_nearest(&scenario_table, path) : NULL;
	const struct scenario_key *key = index < 0 ? NULL : &scenario_keys()[index];
	if (key != NULL && !scenario_key_is_element(key))
		return key;
	snprintf(refusal->text, sizeof(refusal->text), "there is no key `%.80s`%s%s%s", path,
		 nearest != NULL ? "; did you mean `" : "", nearest != NULL ? nearest : "",
		 nearest != NULL ? "`?" : "");
	return NULL;
}

void scenario_variant_meant(const struct scenario *scenario, const char *name, char *text,
			    size_t bytes)
{
	struct near_word near_word = near_word_of(name);
	for (uint32_t i = 0; i < scenario->variant_count; i++)
		near_word_see(&near_word, scenario->variants[i].name);
	near_word_append(&near_word, text, bytes);
}
