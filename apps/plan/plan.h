// SPDX-License-Identifier: Apache-2.0
// One call of weft plan, for the files of this folder: main.c reads arguments, figures.c works out
// what both table.c and json.c print.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/run/schedule.h>
#include <weft/workload/order.h>
#include <weft/workload/plan_edit.h>
#include <weft/workload/plan_memory.h>

#define SETS_MAX 64

struct call {
	const char *name, *order_text, *import;
	const char *sets[SETS_MAX];
	uint32_t set_count;
	bool wants_list, wants_keys, wants_devices, wants_json, wants_all;
	bool is_scaled;		      // times are those of the file's cut, scaled
	struct gpu_layout gpu_layout; // 0: the file's, or the device's
	struct plan_edit edit;
	struct order order;
	struct refusal refusal;
};

// How it is cut, behind a margin; no end of a line.
void plan_print_cut(FILE *to, const struct plan *plan);

// Whether the job has groups of this kind with two ranks or more, and where their ranks sit.
bool plan_has_group(const struct call *call, enum group_kind kind, struct spread *ret);

// Messages of one kind: of the stage that sends most of them, and what the busiest NIC sends.
struct message_load {
	struct message_sum sum;
	uint64_t nic_bytes; // 0: they stay in their domains
};

// Whether they go round twice: summed, and back.
bool plan_is_all_reduce(const struct plan *plan, enum message_kind kind);

// Whether there are any.
bool plan_message(const struct call *call, enum message_kind kind, struct message_load *ret);

// ---------------------------------------------------------------- other mappings

// Gives a plan the times of another, scaled with the operations of a cell; whether they differ.
bool plan_scale_times(struct plan *plan, const struct plan *from);

#define MAPPINGS_SHOWN 3

struct mapping {
	struct plan plan;
	char order[24];
	struct exposure exposure;
	uint64_t memory_bytes; // of the fullest rank
};

// The mappings of this model on as many ranks, with as many samples a step, that expose least and
// fit into memory where it is known; the first ones are best. Returns how many were looked at.
uint32_t mappings_find(const struct call *call, struct mapping ret[MAPPINGS_SHOWN],
		       uint32_t *ret_count);

// ---------------------------------------------------------------- output

// One screen: memory, bytes, what is exposed, mappings. With -v the tables behind it.
void answer_print(FILE *to, const struct call *call);
void table_print(FILE *to, const struct call *call);

// Writes the job file of a config.json of Hugging Face, or of Megatron-LM's flags. -errno with the
// place and the reason, and nothing written.
int import_config(FILE *to, const char *path, struct refusal *refusal);

// Whether `name` begins as one of the words does, between which one space stands.
bool import_begins(const char *name, const char *beginnings);

// The same of the flags of a Megatron-LM launch, or of a script that launches it.
int import_megatron(FILE *to, const char *script, struct refusal *refusal);

// A script with what it sets in its place; to be freed. NULL: no memory.
char *import_shell(const char *text);

// The same of a configuration of torchtitan; and whether a text is one.
int import_torchtitan(FILE *to, char *text, struct refusal *refusal);
bool import_is_toml(const char *text);

void json_print(FILE *to, const struct call *call);
