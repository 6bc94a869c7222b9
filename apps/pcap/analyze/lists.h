// SPDX-License-Identifier: Apache-2.0
// Lists of the report beside streams and repairs: traffic by time, classes that change, rules that
// are broken. Each as rows of --json and as text for --table and the page.
#pragma once

#include <weft/result/put.h>

#include "pcap.h"

// A row for each destination and width of bins; what is withheld has its reason.
json_t *bursts_json(const struct call *call);
json_t *bursts_blank(const struct call *call);
void bursts_print(FILE *to, const struct call *call);

// A line of the summary, if at least three senders sent to one destination at a time.
void bursts_say(FILE *to, const struct call *call);

// A row for each change of a class.
json_t *changes_json(const struct call *call);
json_t *changes_blank(const struct call *call);
void changes_print(FILE *to, const struct call *call);
void changes_say(FILE *to, const struct call *call);

// A row for each rule, broken or not.
json_t *rules_json(const struct call *call);
json_t *rules_blank(const struct call *call);
void rules_print(FILE *to, const struct call *call);
void rules_say(FILE *to, const struct call *call);
uint64_t rules_broken_sum(const struct call *call);
