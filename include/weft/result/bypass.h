// SPDX-License-Identifier: Apache-2.0
// How long dead paths went on being used: the events that a run kept, in one order, and their
// distributions. Exact: every event is there, or the distributions are not given.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

#include <weft/result/figures.h>

// Times in order, shortest first.
struct bypass_times {
	ps_t *at; // [count]
	uint32_t count;
	bool is_whole; // no event is missing
};

// One QP on one cable that went down.
struct bypass_link {
	uint32_t nic;		 // the QP's target
	ps_t first_ps, until_ps; // first packet lost there, last one sent there
};

struct bypass_list {
	struct bypass_event *events; // [count] by when the cable went down, cable, QP, first loss
	uint32_t count;
	uint64_t lost, tries; // packets until paths were left, and of later tries
	uint64_t missed;      // packets of events that there was no room for
	// From the first packet lost to the last one sent: of a path; of a QP on a link, by all its
	// paths there.
	struct bypass_times paths, links;
	struct bypass_link *on_links; // [links.count]
};

// Whether the run kept such events.
bool bypass_is_watched(const struct world *world);

// Gathers what all shards kept; to be freed. Without memory there are no events, and some missed.
void bypass_gather(struct bypass_list *ret, const struct world *world);
void bypass_free(struct bypass_list *list);

// Puts times in order.
void bypass_sort(struct bypass_times *times);

// The time at or below which that share of the events lie (nearest rank); 1 = the longest.
struct figure bypass_quantile(const struct bypass_times *times, double share);

// The events as lines of text: bypass.csv.
void bypass_write(FILE *to, const struct report_input *input);

// The section of the table; nothing when nothing was watched.
void bypass_table(FILE *to, const json_t *result);
