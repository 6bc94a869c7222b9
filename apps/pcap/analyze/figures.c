// SPDX-License-Identifier: Apache-2.0
// Figures of a capture: shares of what passed, and how even its paths were used.

#include "analyze/figures.h"

#include <math.h>

static void put_count(json_t *to, const char *name, uint64_t count)
{
	json_object_set_new(to, name, json_integer((json_int_t)count));
}

// A share of nothing is none.
static void put_share(json_t *to, const char *name, uint64_t part, uint64_t whole)
{
	json_object_set_new(to, name,
			    whole == 0 ? json_null() : json_real((double)part / (double)whole));
}

// ---------------------------------------------------------------- paths

// Jain's index is 1 where all have the same, and 1/n where one has all. Those that had nothing are
// not known here.
static json_t *balance(const struct flow_totals *totals)
{
	double sum = 0, squares = 0, most = 0;
	uint32_t count = 0;
	for (uint32_t i = 0; i < FLOW_EVS; i++) {
		double packets = totals->evs[i].packets;
		count += packets > 0;
		sum += packets;
		squares += packets * packets;
		most = fmax(most, packets);
	}
	json_t *to = json_object();
	put_count(to, "values", count);
	put_count(to, "packets_left_out", totals->evs_left_out);
	bool has_any = count > 0 && totals->evs_left_out == 0;
	json_object_set_new(to, "max_over_mean",
			    has_any ? json_real(most * count / sum) : json_null());
	json_object_set_new(to, "jain",
			    has_any ? json_real(sum * sum / (count * squares)) : json_null());
	return to;
}

// ---------------------------------------------------------------- the whole

static void put_counts(json_t *to, const struct call *call, const struct story *story)
{
	const uint64_t *causes = call->report->causes;
	put_count(to, "data", story->data);
	put_count(to, "sent_again", story->again - story->doubled);
	put_count(to, "doubled", story->doubled);
	put_count(to, "overtaken", story->late);
	put_count(to, "lost_before", causes[FLOW_LOSS_BEFORE]);
	put_count(to, "lost_behind", causes[FLOW_LOSS_BEHIND]);
	put_count(to, "damaged", call->report->totals.icrc[WIRE_ICRC_BAD]);
	put_count(to, "naks", story->naks);
	put_count(to, "rnrs", story->rnrs);
	put_count(to, "nacks", story->nacks);
	put_count(to, "trims", story->trims);
	put_count(to, "ce", story->ce);
	put_count(to, "cnps", story->cnps);
	put_count(to, "pauses", call->report->totals.pauses);
	put_count(to, "needless_timeouts", causes[FLOW_TIMEOUT]);
	put_count(to, "dropped_by_capture", story->dropped);
	put_count(to, "acknowledged_unseen", story->acked_unseen);
}

json_t *figures_make(const struct call *call, const struct story *story)
{
	const uint64_t *causes = call->report->causes;
	if (trust_of(call) != TRUST_ALL)
		return json_null(); // which copies, or what lies behind the cut, nobody knows
	json_t *to = json_object();
	put_counts(to, call, story);
	put_share(to, "sent_again_share", story->again - story->doubled, story->data);
	put_share(to, "doubled_share", story->doubled, story->data);
	put_share(to, "overtaken_share", story->late, story->data);
	put_share(to, "lost_share", causes[FLOW_LOSS_BEFORE] + causes[FLOW_LOSS_BEHIND],
		  story->data);
	put_share(to, "trimmed_share", story->trims, story->data);
	put_share(to, "ce_share", story->ce, story->ce + story->ect);
	json_object_set_new(to, "ev_balance", balance(&call->report->totals));
	return to;
}

static json_t *class_row(const char *name, uint32_t value, const struct flow_class *class)
{
	json_t *row = json_object();
	put_count(row, name, value);
	put_count(row, "packets", class->packets);
	put_count(row, "bytes", class->bytes);
	put_count(row, "data", class->data);
	put_count(row, "seen_again", class->again);
	put_count(row, "trims", class->trims);
	put_count(row, "ce", class->ce);
	put_share(row, "seen_again_share", class->again, class->data);
	put_share(row, "ce_share", class->ce, class->ce + class->ect);
	return row;
}

json_t *figures_dscp(const struct call *call)
{
	json_t *list = json_array();
	for (uint32_t dscp = 0; dscp < 64; dscp++) {
		const struct flow_class *class = &call->report->totals.dscp[dscp];
		if (class->packets > 0)
			json_array_append_new(list, class_row("dscp", dscp, class));
	}
	return list;
}

json_t *figures_priorities(const struct call *call)
{
	const struct flow_totals *totals = &call->report->totals;
	json_t *list = json_array();
	for (uint32_t priority = 0; priority < 8; priority++) {
		const struct flow_class *class = &totals->priority[priority];
		uint64_t pauses = totals->pauses_by_priority[priority] +
			totals->pauses_by_priority[8]; // a global one stops all
		if (class->packets == 0 && totals->pauses_by_priority[priority] == 0)
			continue;
		json_t *row = class_row("priority", priority, class);
		put_count(row, "pauses", pauses);
		json_array_append_new(list, row);
	}
	return list;
}
