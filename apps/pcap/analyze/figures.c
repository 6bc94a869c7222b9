// SPDX-License-Identifier: Apache-2.0
// Figures of a capture: shares of what passed, and how even its paths were used.

#include "analyze/figures.h"
#include "analyze/lists.h"

#include <math.h>

// A share of nothing is none.
static void put_share(json_t *to, const char *name, uint64_t part, uint64_t whole)
{
	json_object_set_new(to, name,
			    whole == 0 ? json_null() : json_real((double)part / (double)whole));
}

// ---------------------------------------------------------------- paths

// Jain's index is 1 where all have the same, and 1/n where one has all. Chi-square is against that
// all have the same, with values - 1 degrees of freedom: about so much where dice deal each packet.
// Those that had nothing are not known here.
struct spread {
	double sum, squares, most;
	uint64_t count, left_out;
};

static void spread_add(struct spread *spread, double packets)
{
	spread->count += packets > 0;
	spread->sum += packets;
	spread->squares += packets * packets;
	spread->most = fmax(spread->most, packets);
}

static json_t *balance(const struct spread *spread)
{
	double sum = spread->sum, count = (double)spread->count;
	json_t *to = json_object();
	put_count(to, "values", spread->count);
	put_count(to, "packets_left_out", spread->left_out);
	bool has_any = count > 0 && spread->left_out == 0;
	json_object_set_new(to, "max_over_mean",
			    has_any ? json_real(spread->most * count / sum) : json_null());
	json_object_set_new(to, "jain",
			    has_any ? json_real(sum * sum / (count * spread->squares))
				    : json_null());
	json_object_set_new(to, "chi_square",
			    has_any ? json_real(spread->squares * count / sum - sum) : json_null());
	return to;
}

static void put_balances(json_t *to, const struct flow_totals *totals)
{
	struct spread evs = {.left_out = totals->evs_left_out}, ports = {0};
	struct spread planes = {.left_out = totals->planes_left_out};
	for (uint32_t i = 0; i < FLOW_EVS; i++)
		spread_add(&evs, totals->evs[i].packets);
	for (uint32_t i = 0; i < 65536; i++)
		spread_add(&ports, totals->source_ports[i]);
	for (uint32_t i = 0; i < FLOW_PLANES; i++)
		spread_add(&planes, totals->planes[i]);
	json_object_set_new(to, "ev_balance", balance(&evs));
	json_object_set_new(to, "port_balance", balance(&ports));
	json_object_set_new(to, "plane_balance", balance(&planes));
}

// ---------------------------------------------------------------- the whole

static void put_counts(json_t *to, const struct call *call, const struct story *story)
{
	const uint64_t *causes = call->report->causes;
	put_count(to, "data", story->data);
	put_count(to, "retransmitted", story->again - story->doubled);
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
	put_count(to, "sack_silence_ns", (uint64_t)call->report->silence_ns);
	put_count(to, "dropped_by_capture", story->dropped);
	put_count(to, "acknowledged_unseen", story->acked_unseen);
	put_count(to, "dscp_changes", call->report->class_changes);
	put_count(to, "rules_broken", rules_broken_sum(call));
}

json_t *figures_make(const struct call *call, const struct story *story)
{
	const uint64_t *causes = call->report->causes;
	if (trust_of(call) != TRUST_ALL)
		return json_null(); // which copies, or what lies behind the cut, nobody knows
	json_t *to = json_object();
	put_counts(to, call, story);
	put_share(to, "retransmitted_share", story->again - story->doubled, story->data);
	put_share(to, "doubled_share", story->doubled, story->data);
	put_share(to, "overtaken_share", story->late, story->data);
	put_share(to, "lost_share", causes[FLOW_LOSS_BEFORE] + causes[FLOW_LOSS_BEHIND],
		  story->data);
	put_share(to, "trimmed_share", story->trims, story->data);
	put_share(to, "ce_share", story->ce, story->ce + story->ect);
	put_balances(to, &call->report->totals);
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

json_t *figures_dscp_blank(const struct call *call)
{
	(void)call;
	return class_row("dscp", 0, &(struct flow_class){0});
}

static json_t *priority_row(uint32_t priority, const struct flow_class *class, uint64_t pauses)
{
	json_t *row = class_row("priority", priority, class);
	put_count(row, "pauses", pauses);
	return row;
}

json_t *figures_priority_blank(const struct call *call)
{
	(void)call;
	return priority_row(0, &(struct flow_class){0}, 0);
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
		json_array_append_new(list, priority_row(priority, class, pauses));
	}
	return list;
}

// ---------------------------------------------------------------- connections

// What came back; without `back` there were no answers.
static void put_answers(json_t *row, const struct flow_stream *back)
{
	static const struct flow_stream none;
	const struct flow_stream *of = back != NULL ? back : &none;
	const struct {
		const char *name;
		uint64_t count;
	} answers[] = {{"answers_qpn", of->qpn}, {"acks", of->acks},   {"naks", of->naks},
		       {"rnrs", of->rnrs},	 {"sacks", of->sacks}, {"nacks", of->nacks},
		       {"cnps", of->cnps}};
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		put_known(row, answers[i].name, back != NULL, (int64_t)answers[i].count);
}

static json_t *connection_row(const struct call *call, const struct flow_stream *data,
			      const struct flow_stream *back)
{
	char words[WORDS_BYTES];
	const uint64_t *causes = data->causes;
	bool is_known = trust_of(call) == TRUST_ALL, has_times = data->messages.count > 0;
	json_t *row = json_object();
	put_text(row, "source", address_words(words, data->source));
	put_text(row, "target", address_words(words, data->target));
	put_text(row, "transport", wire_found_name(data->found));
	put_text(row, "place", call->places[data->place]);
	put_count(row, "qpn", data->qpn);
	put_count(row, "data", data->data);
	put_count(row, "data_bytes", data->data_bytes);
	put_count(row, "seen_again", data->again);
	put_count(row, "doubled", data->doubled);
	put_count(row, "overtaken", data->late);
	put_count(row, "trims", data->trims);
	put_count(row, "ce", data->ce);
	put_answers(row, back);
	put_known(row, "lost_before", is_known, (int64_t)causes[FLOW_LOSS_BEFORE]);
	put_known(row, "lost_behind", is_known, (int64_t)causes[FLOW_LOSS_BEHIND]);
	put_known(row, "needless_timeouts", is_known, (int64_t)causes[FLOW_TIMEOUT]);
	put_count(row, "messages_begun", data->begun);
	put_count(row, "messages_done", data->done);
	put_known(row, "message_min_ns", has_times, data->messages.min_ns);
	put_known(row, "message_max_ns", has_times, data->messages.max_ns);
	put_share(row, "seen_again_share", data->again, data->data);
	put_share(row, "ce_share", data->ce, data->ce + data->ect);
	return row;
}

json_t *figures_connection_blank(const struct call *call)
{
	return connection_row(call, &(struct flow_stream){0}, NULL);
}

json_t *figures_connections(const struct call *call)
{
	const struct flow_stream *streams = call->report->streams;
	json_t *list = json_array();
	for (uint32_t i = 0; i < call->report->stream_count; i++) {
		const struct flow_stream *data = &streams[i];
		if (data->data > 0)
			json_array_append_new(
				list,
				connection_row(call, data,
					       data->peer != 0 ? &streams[data->peer - 1] : NULL));
	}
	return list;
}
