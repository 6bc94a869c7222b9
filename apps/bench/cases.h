// SPDX-License-Identifier: Apache-2.0
// The standard cases: worlds of htsim's size and rules, so that speeds can be compared like with
// like.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CASE_TEXT_BYTES 2048

struct bench_case {
	const char *name;
	const char *about;
	const char *fabric, *rate;
	const char *rto;     // htsim's least: 15 us and six full queues
	const char *traffic; // its section
	// x86 instructions that htsim (uet-htsim 40ccb05) took for one packet-hop of the same
	// traffic under callgrind; 0: not counted.
	uint32_t htsim_instructions;
};

uint32_t cases_count(void);
const struct bench_case *cases_at(uint32_t index);

// Whether `words` (names with commas between them; NULL: all) choose the case: by its name, or, for
// a word that is no case's name, by how it begins.
bool cases_is_chosen(uint32_t index, const char *words);

// The first of `words` that chooses nothing, with what follows it; NULL when there is none.
const char *cases_unknown(const char *words);

// The case as a scenario file; CASE_TEXT_BYTES are enough. Returns its bytes.
size_t cases_text(uint32_t index, char *ret, size_t bytes);
