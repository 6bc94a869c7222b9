// SPDX-License-Identifier: Apache-2.0
// When a key of a scenario has an effect. A key that is set but has none is an error.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/world.h>

enum scenario_use {
	USE_ALWAYS,
	USE_PLANES,
	USE_CLOS,
	USE_FAT_TREE,
	USE_ECN,
	USE_TRIM,
	USE_HOST,
	USE_SCALEUP,
	USE_MRC_PATHS,
	USE_FIXED,
	USE_NSCC,
	USE_QUICK_ADAPT,
	USE_FLOWS,
	USE_BYTES,
	USE_INCAST,
	USE_RING,
	USE_RINGS,
	USE_PIPELINED,
	USE_MODEL,
	USE_TRACE,
	USE_IPV6,
	USE_COUNT
};

#define SCENARIO_KEYS_MAX 128 // places in a list of all keys

// Topology word of the file that becomes a Clos with one plane (scenario_check.c).
#define TOPOLOGY_LEAF_SPINE (TOPOLOGY_FAT_TREE + 1)

// Whether keys of that use have an effect in `scenario`, and what they need, in words.
bool scenario_use_holds(enum scenario_use use, const struct scenario *scenario);
const char *scenario_use_name(enum scenario_use use);

// Whether the key must be given (where it has an effect).
bool scenario_key_is_required(const struct scenario_key *key);

// Whether the key belongs to an element of a list ("faults[].kind").
bool scenario_key_is_element(const struct scenario_key *key);

// Place of the key of that path in scenario_keys(), or -1.
int scenario_key_find(const char *path);

// Whether `path` is a section: the beginning of longer paths.
bool scenario_section_exists(const char *path);

// The known path that `path` was most likely meant to be, or NULL when none is near.
const char *scenario_key_nearest(const char *path);
