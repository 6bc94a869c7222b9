// SPDX-License-Identifier: Apache-2.0
// What a book says: lines on the terminal, and report.md, book.json, report.html, JUnit XML.
#pragma once

#include "acceptance.h"

const char *case_word(enum case_state state); // "PASS", "FAIL", ...

// How many cases are in each state.
void page_count(uint32_t ret[CASE_STATE_COUNT], const struct acceptance *acceptance);

// What the whole comes to: an exit status, of the cases that were asked.
int acceptance_status(const struct acceptance *acceptance);

// The verdict in words: PASS alone where every case of the book has one, else with the coverage:
// "PASS, coverage 23 of 38", and what --require asks for in vain.
void page_verdict(FILE *to, const struct acceptance *acceptance);

// A line for a case, when it has ended.
void page_line(FILE *to, const struct acceptance *acceptance, const struct case_run *run);
void page_end(FILE *to, const struct acceptance *acceptance);

// A bar of what is through, the names of what runs, and the time that is left, where `to` is a
// terminal; and takes it away again.
void page_bar(FILE *to, const struct acceptance *acceptance);
void page_bar_end(FILE *to);

// book.json, report.md, report.html and, if asked for, JUnit XML, each replaced at once.
int page_write(struct acceptance *acceptance);
int page_json(FILE *to, const struct acceptance *acceptance);
void page_junit(FILE *to, const struct acceptance *acceptance);

// Over runs that differ in their permutation alone; false: fewer than two have run.
struct page_repeats {
	uint32_t count;
	double mean_bps, variation; // goodput of a NIC; standard deviation over mean
};
bool page_repeats(struct page_repeats *ret, const struct acceptance *acceptance);

// What the book is about, what the tester is, and what a book may be compared with. The text holds
// until the next call.
const char *page_name(const struct acceptance *acceptance);
const char *page_topology(const struct acceptance *acceptance);
const char *page_balance(const struct acceptance *acceptance);
const char *page_host(const struct acceptance *acceptance);
const char *page_tester(const struct acceptance *acceptance);
const char *page_comparable(const struct acceptance *acceptance);

// A job's time over its roofline, and the share of communication that computation of other ranks
// hides (the draft's Overlap_Fraction); NAN: the case is no job.
double page_jct_ratio(const struct case_run *run);
double page_overlap(const struct case_run *run);

// The call that writes the same book.
void page_command(FILE *to, const struct acceptance *acceptance);

// The same as book.json: a page with charts, and Markdown. -EIO.
int page_html(FILE *to, const struct acceptance *acceptance);
int page_text(FILE *to, const struct acceptance *acceptance);

// What missed checks say of a case, "; " between them, and what settings of the fabric stand
// against it; or why it was not asked.
void page_missed(FILE *to, const struct acceptance *acceptance, const struct case_run *run);
