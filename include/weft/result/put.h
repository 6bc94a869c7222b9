// SPDX-License-Identifier: Apache-2.0
// Fields of result.json and other documents: set one by one, and read again.
// What the system has no memory for stops the program: a result with holes would be worse than
// none.
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/result/figures.h>
#include <weft/result/number.h>

void put(json_t *to, const char *key, json_t *value);
void put_count(json_t *to, const char *key, uint64_t value);
void put_text(json_t *to, const char *key, const char *text); // NULL becomes null
void put_real(json_t *to, const char *key, double value);     // not finite becomes null
void put_time(json_t *to, const char *key, ps_t value);	      // PS_NEVER becomes null

void put_known(json_t *to, const char *key, bool is_known, int64_t value); // else null

// A null, and why in `<key>_reason`.
void put_reason(json_t *to, const char *key, const char *reason);
void put_figure(json_t *to, const char *key, const struct figure *figure);

// What the times of a step come from, and of what kind that is: a fact, calibrated, assumed. All
// null without `from`.
void put_origin(json_t *to, const char *from, enum input_origin origin);

// An object or a list in `to`, and an object in a list. They belong to what they are in.
json_t *object_in(json_t *to, const char *key);
json_t *array_in(json_t *to, const char *key);
json_t *row_in(json_t *array);

// What stands at "a.b" of a document; NULL: nothing. As a number NAN, as a text "": it is none. Why
// it is null, from `a.b_reason`.
const json_t *document_at(const json_t *from, const char *path);
double document_number(const json_t *from, const char *path);
double document_number_or(const json_t *from, const char *path, double otherwise);
const char *document_text(const json_t *from, const char *path);
const char *document_reason(const json_t *from, const char *path);

// A figure of the document as the terminal table shows it, or why there is none; and a row of it.
enum table_form {
	TABLE_GROUPED,
	TABLE_COUNT,
	TABLE_BYTES,
	TABLE_RATE,
	TABLE_TIME,
	TABLE_NS, // a time, too
	TABLE_MEMORY,
	TABLE_PLAIN, // digits alone
	TABLE_SHARE,
};
const char *table_figure(struct text *ret, const json_t *result, const char *path,
			 enum table_form form);
// Prints a sentence about `of` in which {key} stands for a figure of it. The end of its key says
// how it is shown (_ps, _ns, _bps, bytes, share; else GROUPED), or a word behind a colon:
// {key:short} is COUNT, {key:grouped}, {key:plain}, {key:memory}; {key:,17} is so wide.
void table_say(FILE *to, const json_t *of, const char *sentence);

void table_put_row(FILE *to, const char *name, const json_t *from, const char *path,
		   enum table_form form);

// Prints `root`, which it gives back, and the end of a line; `flags` of jansson besides the indent.
// -errno when the stream does not take it.
int document_print(FILE *to, json_t *root, size_t flags);
