// SPDX-License-Identifier: Apache-2.0
// Classes that change along a stream, and rules of the protocols that are broken.

#include <inttypes.h>

#include "analyze/lists.h"

// ---------------------------------------------------------------- classes

static void change_words(char *ret, size_t bytes, const struct call *call,
			 const struct flow_change *change)
{
	const struct flow_stream *stream = &call->report->streams[change->stream];
	char source[WORDS_BYTES], target[WORDS_BYTES], after[WORDS_BYTES];
	snprintf(ret, bytes,
		 "%s of %s > %s, QP 0x%" PRIx32 ": DSCP %u to %u at packet %" PRIu64
		 " (the one before: %" PRIu64 "), %s after the first frame",
		 flow_kind_name((enum flow_kind)change->kind),
		 address_words(source, stream->source), address_words(target, stream->target),
		 stream->qpn, change->from, change->to, change->number, change->before,
		 time_words(after, change->at_ns - call->report->totals.first_ns));
}

static json_t *change_row(const struct flow_change *change)
{
	json_t *row = json_object();
	put_known(row, "stream", true, change->stream);
	json_object_set_new(row, "kind", json_string(flow_kind_name((enum flow_kind)change->kind)));
	put_known(row, "from_dscp", true, change->from);
	put_known(row, "to_dscp", true, change->to);
	put_known(row, "packet", true, change->number);
	put_known(row, "packet_before", true, change->before);
	json_object_set_new(row, "at_ns", json_integer(change->at_ns));
	return row;
}

json_t *changes_blank(const struct call *call)
{
	(void)call;
	return change_row(&(struct flow_change){0});
}

json_t *changes_json(const struct call *call)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < call->report->change_count; i++)
		json_array_append_new(list, change_row(&call->report->changes[i]));
	return list;
}

void changes_print(FILE *to, const struct call *call)
{
	const struct flow_report *report = call->report;
	char words[8 * WORDS_BYTES];
	if (report->class_changes > 0)
		fprintf(to, "\nclasses that change\n");
	for (uint32_t i = 0; i < report->change_count; i++) {
		change_words(words, sizeof(words), call, &report->changes[i]);
		fprintf(to, "  %s\n", words);
	}
	if (report->class_changes > report->change_count)
		fprintf(to, "  and %" PRIu64 " more\n",
			report->class_changes - report->change_count);
}

void changes_say(FILE *to, const struct call *call)
{
	char words[8 * WORDS_BYTES];
	uint64_t count = call->report->class_changes;
	if (count == 0)
		return;
	change_words(words, sizeof(words), call, &call->report->changes[0]);
	fprintf(to, "class changed %" PRIu64 " time%s: %s\n", count, count == 1 ? "" : "s", words);
}

// ---------------------------------------------------------------- rules

uint64_t rules_broken_sum(const struct call *call)
{
	uint64_t sum = 0;
	for (int i = 0; i < FLOW_RULE_COUNT; i++)
		sum += call->report->broken[i].count;
	return trust_of(call) == TRUST_ALL ? sum : 0;
}

static json_t *rule_row(const struct call *call, enum flow_rule rule)
{
	const struct flow_broken *broken = &call->report->broken[rule];
	bool is_known = trust_of(call) == TRUST_ALL, has_any = is_known && broken->count > 0;
	json_t *row = json_object();
	json_object_set_new(row, "rule", json_string(flow_rule_name(rule)));
	put_known(row, "packets", is_known, broken->count);
	put_known(row, "first_packet", has_any, broken->first);
	put_known(row, "stream", has_any, broken->stream);
	json_object_set_new(row, "broken_by", json_string(flow_rule_words(rule)));
	json_object_set_new(row, "source", json_string(flow_rule_source(rule)));
	return row;
}

json_t *rules_blank(const struct call *call)
{
	return rule_row(call, (enum flow_rule)0);
}

json_t *rules_json(const struct call *call)
{
	json_t *list = json_array();
	for (int i = 0; i < FLOW_RULE_COUNT; i++)
		json_array_append_new(list, rule_row(call, (enum flow_rule)i));
	return list;
}

void rules_print(FILE *to, const struct call *call)
{
	if (rules_broken_sum(call) == 0)
		return;
	fprintf(to, "\nrules of the protocol that are broken\n");
	for (int i = 0; i < FLOW_RULE_COUNT; i++) {
		const struct flow_broken *broken = &call->report->broken[i];
		if (broken->count > 0)
			fprintf(to,
				"  %-22s %" PRIu64 " packet%s, the first %" PRIu64 ": %s (%s)\n",
				flow_rule_name((enum flow_rule)i), broken->count,
				broken->count == 1 ? "" : "s", broken->first,
				flow_rule_words((enum flow_rule)i),
				flow_rule_source((enum flow_rule)i));
	}
}

void rules_say(FILE *to, const struct call *call)
{
	const char *between = "rules of the protocol broken: ";
	for (int i = 0; i < FLOW_RULE_COUNT; i++) {
		const struct flow_broken *broken = &call->report->broken[i];
		if (broken->count == 0)
			continue;
		fprintf(to, "%s%s %" PRIu64 " (packet %" PRIu64 ")", between,
			flow_rule_name((enum flow_rule)i), broken->count, broken->first);
		between = "; ";
	}
	if (rules_broken_sum(call) > 0)
		fputc('\n', to);
}
