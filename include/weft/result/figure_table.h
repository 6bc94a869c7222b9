// SPDX-License-Identifier: Apache-2.0
// The table of figures (lib/result/figures.def): a counter or a figure is one row of it, and every
// output takes it from there.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <weft/result/report.h>

// Units: COUNT and BYTES are whole numbers, PS a time, FLAG yes or no, WORD and TEXT words, all
// others real numbers.
enum figure_unit {
	FIGURE_COUNT,
	FIGURE_BYTES,
	FIGURE_PS,
	FIGURE_FLAG,
	FIGURE_WORD,
	FIGURE_TEXT, // or null: there is none
	FIGURE_SHARE,
	FIGURE_FACTOR,
	FIGURE_RATE, // bits per second
	FIGURE_PER_S,
	FIGURE_S,
	FIGURE_NS,
};

// What a run must have for a figure; a set of bits.
enum figure_needs {
	FIGURE_ALWAYS = 0,
	FIGURE_TRAFFIC = 1,	  // time with traffic
	FIGURE_ALL_QUEUES = 2,	  // no sample: it has no extremes
	FIGURE_REPEATS_NAMED = 4, // a transport whose packets say that they are repeats
	FIGURE_OWN_FABRIC = 8,	  // weft's, not one between hosts in wall time
	FIGURE_ALL_HOSTS = 16,	  // all hosts in wall time have reported
	FIGURE_VIRTUAL_TIME = 32, // windows
	FIGURE_TIMED = 64,	  // a time of what ran, all of it
	FIGURE_IDEAL = 128,	  // a closed form of it
	FIGURE_COLLECTIVE = 256,  // one collective alone
	FIGURE_P50 = 512,	  // messages enough for that quantile
	FIGURE_P99 = 1024,
	FIGURE_MAX = 2048,
};

// How the terminal table shows it.
enum figure_shown {
	FIGURE_HIDDEN,
	FIGURE_ALONE,
	FIGURE_WITH_SHARE, // of the data packets
	FIGURE_PART,	   // of the line above
	FIGURE_PART_NOT_ZERO,
	FIGURE_NOT_ZERO,
	FIGURE_REFUSED, // not zero, below the packets that their target refused
};

// A figure's value, by its unit.
struct figure_value {
	uint64_t count; // COUNT, BYTES, FLAG, PS
	double real;	// all others
	const char *text;
	char words[64]; // of a text that is made for it
};

struct figure_row {
	const char *section, *key;
	enum figure_unit unit;
	uint32_t needs;
	void (*get)(struct figure_value *ret, const struct report_input *it);
	const char *meaning;
	// NULL where it is not there.
	const char *label;	 // what tables, page and studies call it
	enum figure_shown shown; // in the terminal table
	bool on_page;
	const char *study;    // its key in a study
	const char *standard; // what drafts and other tools call it
};

#ifdef __cplusplus
extern "C" {
#endif

// All rows, [figure_count()], in the order of their definition.
const struct figure_row *figure_at(uint32_t index);
uint32_t figure_count(void);

// The row of "planes.jain", which has to be there.
const struct figure_row *figure_find(const char *path);

// Why a run has no such figure; NULL: it has.
const char *figure_missing(const struct figure_row *row, const struct report_input *input);

// What it comes to, as a real number; NAN where the run has none, and of texts.
double figure_real(const struct figure_row *row, const struct report_input *input);

// Puts all rows of `section` ("transport.refused") into that object of the document, which is made
// where it is not there.
void figures_json(json_t *root, const char *section, const struct report_input *input);

// Whether the document is of a sample: its shares are an indication only.
bool document_is_sample(const json_t *result);

// Prints the rows that the terminal table shows, from the document of a run: those of packets that
// their target refused, or all others. Returns how many.
uint32_t figures_table(FILE *to, bool of_refused, const json_t *result);

#ifdef __cplusplus
}
#endif
