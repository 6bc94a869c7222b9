// SPDX-License-Identifier: Apache-2.0
// A scenario while it is being read: where each key was set, so that every later error has a place.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/world.h>
#include <yaml.h>

#include "scenario_keys.h"
#include "scenario_value.h"

// A place in the file, or in an assignment of the command line.
struct mark {
	uint32_t line, column; // 1-based
	bool is_set;	       // in an assignment: line is its number
};

struct draft {
	struct scenario *scenario;
	struct refusal *refusal;
	const char *path;			     // of the file, for errors
	struct mark root;			     // where the file's mapping begins
	bool is_given[SCENARIO_KEYS_MAX];	     // by place in scenario_keys()
	struct mark key_marks[SCENARIO_KEYS_MAX];    // where the key stands
	struct mark value_marks[SCENARIO_KEYS_MAX];  // where its value stands
	const yaml_node_t *lists[SCENARIO_KEYS_MAX]; // value of each list key
};

// Fills the refusal: -EINVAL.
int draft_refuse(struct draft *draft, struct mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// Where the key of that path was given: its value, else the file's beginning.
struct mark draft_mark(const struct draft *draft, const char *path);
bool draft_is_given(const struct draft *draft, const char *path);

// Reads a value into the field that `key` names in `base`; errors get the key's path and `mark`.
int draft_store(struct draft *draft, void *base, const struct scenario_key *key,
		const struct scalar *scalar, struct mark mark);

// ---------------------------------------------------------------- scenario_document.c

// Refuses bytes that no scenario has: too many, NUL, control characters, not UTF-8. `mark` is the
// place of the first byte.
int document_check_text(struct draft *draft, const char *text, size_t bytes, struct mark mark);

// Loads the one YAML document of `text`, whose root is a mapping. The caller deletes it when 0 is
// returned.
int document_load(struct draft *draft, yaml_document_t *ret, const char *text, size_t bytes);

// Reads all keys of `document` into the draft, but the elements of lists.
int document_read(struct draft *draft, yaml_document_t *document);

// Reads one element of a list: `node` must be a mapping; its keys are `prefix` ("faults[]") and
// more; fields lie in `base`. What was given before for these keys is forgotten first.
int document_read_element(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
			  const char *prefix, void *base);

struct mark document_mark(const yaml_node_t *node);

// ---------------------------------------------------------------- scenario_list.c

// Reads flows, faults, taps and inputs, whose checks need the fabric's figures.
int draft_read_lists(struct draft *draft, yaml_document_t *document);

// ---------------------------------------------------------------- scenario_check.c

// Every key that was given has an effect, every key that is needed was given.
int draft_check_use(struct draft *draft);

// Copies figures that several rooms need from where they were given.
void draft_settle(struct draft *draft);

// The figures fit together.
int draft_check(struct draft *draft);
