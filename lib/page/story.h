// SPDX-License-Identifier: Apache-2.0
// What a page of one run says first: how it went in a word and a sentence, three figures against
// what they could be at best, what failed first and where to look. All of it comes from the
// result, by rules; nothing is guessed.
//
//   story   {state: good, bad or warn; badge, headline, lead, figures, first, first_title}
//   figures [{label, value, unit, of, share: 0 to 1, or absent; state, note}]
//   first   [{when, what, why, look}], by time
#pragma once

#include "report_model.h"

#define STORY_SHARE_MIN 0.6  // of the ideal; below it a run is called degraded
#define STORY_SHARE_GOOD 0.9 // and from here on a figure is called good

void story_of_run(struct report_model *report_model, const struct html_input *input);
void story_of_study(struct report_model *report_model, const struct html_input *input);
const char *study_effect_words(const char *effect); // of a swept key, a word of study.json
void story_of_tune(struct report_model *report_model);
void story_of_acceptance(struct report_model *report_model, const struct html_input *input);

// Its parts, each a file of its own.
void story_figures(json_t *story, const json_t *result);
void story_first(json_t *story, const json_t *result, const struct html_input *input);

// The case of a book whose run is drawn: one that names whom most name. NULL: none has a run.
const json_t *story_case(const json_t *acceptance);

// A row of what to do next.
void story_step(json_t *list, const char *what, const char *why, const char *look);

// A figure in `unit`; and that it is a share of the best it could be.
json_t *story_figure(json_t *story, const char *label, double value, enum unit unit);
void story_against(json_t *one, double share, const char *of);

// Which share of its ideal the traffic reached: by the least time of the whole, else of a
// collective by bus bandwidth, else by goodput and story_rate(); negative when it is not known. And
// whether it is one of the first two.
bool story_has_ideal(const json_t *result);
double story_share(const json_t *result);

// What a NIC receives at most, and what that is called: its payload rate, else its line rate.
double story_rate(const json_t *result, const char **ret_name);

// The slowest collective that has a time; NULL: none has.
const json_t *story_slowest(const json_t *result);
