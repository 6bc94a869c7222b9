// SPDX-License-Identifier: Apache-2.0
// A scenario while it is being read: where each key was set, so that every later error has a place.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/scenario/scenario.h>
#include <weft/scenario/scenario_key.h>
#include <yaml.h>

#include "scenario_keys.h"

// One value of a scenario: text to number, word, flag or text. Units are mandatory and exact; all
// arithmetic is in integers. Knows nothing of YAML or of where the value stood.

// A value as it was written.
struct scalar {
	const char *text; // need not end with NUL
	size_t length;
	bool is_plain; // not in quotes
};

#define SCALAR_QUOTE_BYTES 64

// The value's text fit for a message: cut to a line, without control characters.
void scalar_quote(char ret[SCALAR_QUOTE_BYTES], const struct scalar *scalar);

// Reads a value of `key`'s unit (not "text", not "list") into `ret`: ps, bytes, bits per second,
// parts per 10^9, a count, or the index of a word. -EINVAL with the reason, without a place.
int value_parse(uint64_t *ret, const struct scenario_key *key, const struct scalar *scalar,
		struct refusal *refusal);

// Reads a value of `key` into the field that it names in `base`.
int value_store(void *base, const struct scenario_key *key, const struct scalar *scalar,
		struct refusal *refusal);

// A place in the file, or in an assignment of the command line.
struct mark {
	uint32_t line, column; // 1-based
	bool is_set;	       // in an assignment: line is its number
};

struct reader {
	const struct key_table *table; // of what is read
	struct scenario *scenario;     // NULL: it is no scenario
	void *base;		       // else what is read
	struct refusal *refusal;
	const char *path;			     // of the file, for errors
	struct mark root;			     // where the file's mapping begins
	bool is_given[SCENARIO_KEYS_MAX];	     // by place in scenario_keys()
	struct mark key_marks[SCENARIO_KEYS_MAX];    // where the key stands
	struct mark value_marks[SCENARIO_KEYS_MAX];  // where its value stands
	bool is_preset[SCENARIO_KEYS_MAX];	     // its value is that of the preset
	bool is_used[SCENARIO_KEYS_MAX];	     // had an effect before any assignment
	bool is_trim_asked;			     // not only by default
	uint32_t common_count;			     // assignments that count as keys of the file
	const yaml_node_t *lists[SCENARIO_KEYS_MAX]; // value of each list key
};

// Fills the refusal: -EINVAL.
int reader_refuse(struct reader *reader, struct mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

// Where the key of that path was given: its value, else the file's beginning.
struct mark reader_mark(const struct reader *reader, const char *path);
bool reader_is_given(const struct reader *reader, const char *path);

// Reads a value into the field that `key` names in `base`; errors get the key's path and `mark`.
int reader_store(struct reader *reader, void *base, const struct scenario_key *key,
		 const struct scalar *scalar, struct mark mark);

// Gives the fields of `base` that the table has a default for that value.
void reader_defaults(const struct key_table *table, void *base);

// The key has its default again, as if it had not been given.
void reader_forget(struct reader *reader, int index);

// ---------------------------------------------------------------- scenario_document.c

// Refuses bytes that no scenario has: too many, NUL, control characters, not UTF-8. `mark` is the
// place of the first byte.
int document_check_text(struct reader *reader, const char *text, size_t bytes, struct mark mark);

// Loads the one YAML document of `text`, whose root is a mapping. The caller deletes it when 0 is
// returned.
int document_load(struct reader *reader, yaml_document_t *ret, const char *text, size_t bytes);

// Reads all keys of `document` into the fields that they name in `base`, but the elements of lists.
int document_read(struct reader *reader, yaml_document_t *document, void *base);

// Reads one element of a list: `node` must be a mapping; its keys are `prefix` ("faults[]") and
// more; fields lie in `base`. What was given before for these keys is forgotten first.
int document_read_element(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
			  const char *prefix, void *base);

// Reads a single value, of the unit and range of `key`, into the field that it names in `base`.
int document_read_single(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
			 const struct scenario_key *key, void *base);

struct mark document_mark(const yaml_node_t *node);

// ---------------------------------------------------------------- scenario_list.c

// Reads element `index` of a list; what base points to is the element's own field.
typedef int read_element_fn(struct reader *reader, yaml_document_t *document,
			    const yaml_node_t *node, uint32_t index);

int reader_read_fault(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		      uint32_t index);
int reader_read_tap(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		    uint32_t index);

// Reads the elements of the list key `path`, at most `count_max`, if it was given.
int reader_read_list(struct reader *reader, yaml_document_t *document, const char *path,
		     uint32_t count_max, read_element_fn *read_element);

// Reads flows, faults, taps and inputs, whose checks need the fabric's figures.
int reader_read_lists(struct reader *reader, yaml_document_t *document);

// The place of a key of the element `node` of a list, or of the element.
struct mark reader_element_mark(const struct reader *reader, const yaml_node_t *node,
				const char *path);

// ---------------------------------------------------------------- scenario_fabric.c

// Finds the counts that an over-subscription asks for.
void reader_settle_fabric(struct reader *reader);

// That the figures of this kind of fabric fit together.
int reader_check_kind(struct reader *reader);

// ---------------------------------------------------------------- scenario_collective.c

// That a ring or a collective fits the fabric, and that there is such a collective.
int reader_check_collective(struct reader *reader);

// scenario_flows.c: what must hold of a pattern and of flows, and of their shares. As
// reader_check().
int reader_check_flows(struct reader *reader);

// Reads the entropy values of flow `index`, whose other keys were just read.
int reader_read_flow_evs(struct reader *reader, yaml_document_t *document, uint32_t index);

// That each QP of a connection has a share of a flow of `bytes`, the value of the key `path`.
int reader_check_shares(struct reader *reader, const char *path, uint64_t bytes);

// ---------------------------------------------------------------- scenario_usid.c

// Gives a fabric that forwards by uSIDs frames and EVs that have them, where nothing else is said;
// and refuses what cannot go with it.
void reader_settle_usid(struct reader *reader);
int reader_check_usid(struct reader *reader);

// Sizes on the line that follow from the transport, where they were not given.
void reader_settle_sizes(struct reader *reader);

// Adds an SRH to the sizes on the line that were not given.
void reader_settle_srh(struct reader *reader);

// DSCPs that two classes share.
int reader_check_dscp(struct reader *reader);

// Refuses rings along axes where they do not go. scenario_fabric.c
int reader_check_axes(struct reader *reader);

// ---------------------------------------------------------------- scenario_graph.c

// Read an element of fabric.nodes, or of fabric.links.
int reader_read_node(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		     uint32_t index);
int reader_read_link(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		     uint32_t index);

// That every NIC hangs somewhere and every switch can be reached.
int reader_check_graph(struct reader *reader);

// Finds the switches that a place names (LINK_AT_NODE, LINK_AT_EDGE). `path` is the key.
int reader_find_place(struct reader *reader, const char *path, struct link_location *place);

// ---------------------------------------------------------------- scenario_evs.c

// That the numbers of entropy values go together; reads their tables, fields and what is denied.
int reader_check_evs(struct reader *reader);
int reader_read_evs(struct reader *reader, yaml_document_t *document);

// ---------------------------------------------------------------- scenario_expect.c

// Reads element `index` of the list `expect`.
int reader_read_expectation(struct reader *reader, yaml_document_t *document,
			    const yaml_node_t *node, uint32_t index);

// ---------------------------------------------------------------- scenario_jobs.c

// Reads the list `jobs`, and finds the one that traffic.only names.
int reader_read_jobs(struct reader *reader, yaml_document_t *document);

// Whether a job computes, so that a straggler has something to be late with.
bool scenario_jobs_compute(const struct scenario *scenario);

// ---------------------------------------------------------------- scenario_given.c

// Notes which keys of the file, or of common assignments, have an effect. After the file, and after
// the common assignments.
void reader_note_use(struct reader *reader);

// Whether the key of that place is given for one run alone, so that it must have an effect there.
bool reader_is_own(const struct reader *reader, struct mark mark);

// Every key that was given has an effect, every key that is needed was given. What an assignment
// made moot of the file is as if it had not been given.
int reader_check_use(struct reader *reader);

// ---------------------------------------------------------------- scenario_check.c

// Copies figures that several rooms need from where they were given; then whether they fit
// together.
void reader_settle(struct reader *reader);
int reader_check(struct reader *reader);

// scenario_collective.c: channels of collectives where none are given: as many as use every NIC of
// a host alike, 4 at least; of direct collectives 4, and 1 of more than 64 ranks.
uint32_t scenario_channels(const struct scenario *scenario);

// plan_file_keys.c: the keys of job files.
extern const struct key_table plan_file_table;
extern const char *const plan_precision_words[]; // as site.precision counts
