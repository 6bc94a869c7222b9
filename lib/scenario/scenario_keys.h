// SPDX-License-Identifier: Apache-2.0
// When a key of a scenario has an effect. A key that is set but has none is an error.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/scenario/scenario.h>
#include <weft/scenario/scenario_key.h>

enum scenario_use {
#define USE(name, needs) USE_##name,
#include "scenario_uses.def"
#undef USE
	USE_COUNT
};

// Elements of fabric.nodes and fabric.links as they are read; scenario_graph.c finds the names.
struct scenario_node {
	char name[NODE_NAME_BYTES];
	uint32_t nics;
};

struct scenario_link {
	char from[NODE_NAME_BYTES], to[NODE_NAME_BYTES];
	struct graph_link link;
};

#define SCENARIO_KEYS_MAX 352 // places in a list of all keys

// What a file may have in it, and how it is called in errors.
struct key_table {
	const struct scenario_key *keys; // ended by one whose path is NULL
	const char *const *sections;	 // those that a misspelt word may have been meant to be
	const char *noun, *the_noun;	 // "scenario", "the scenario"
	const char *least;		 // what it must have, in words
};
extern const struct key_table scenario_table;

// Topology word of the file that becomes a Clos with one plane (scenario_check.c).
#define TOPOLOGY_LEAF_SPINE TOPOLOGY_KIND_COUNT

// Whether keys of that use have an effect in `scenario`.
bool scenario_use_holds(enum scenario_use use, const struct scenario *scenario);

// Writes what they need, in words: "queue.ecn true". `size` is USE_NAME_BYTES.
#define USE_NAME_BYTES 200
void scenario_use_write(char *ret, size_t size, enum scenario_use use);

// Whether the key must be given (where it has an effect).
bool scenario_key_is_required(const struct scenario_key *key);

// Whether the key belongs to an element of a list ("faults[].kind").
bool scenario_key_is_element(const struct scenario_key *key);

// The second name that is spelt so, or NULL.
const struct scenario_name *scenario_name_find(const char *path);

// Key number `index` as it was named: with that name, and the words that go with it.
struct scenario_key key_named(const struct key_table *table, int index, const char *path);

// Place of the key of that path, or second name, in scenario_keys(), or -1.
int scenario_key_find(const char *path);

// The same of any table; second names are a scenario's.
int key_find(const struct key_table *table, const char *path);

// Whether `path` is a section: the beginning of longer paths.
bool key_section_exists(const struct key_table *table, const char *path);

// The known path that `path` was most likely meant to be, or NULL when none is near.
const char *key_nearest(const struct key_table *table, const char *path);
