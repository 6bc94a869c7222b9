// SPDX-License-Identifier: Apache-2.0
// Streams and repairs one by one.

#include <inttypes.h>

#include "analyze/lists.h"

static void print_opcodes(FILE *to, const struct flow_stream *stream)
{
	for (uint8_t slot = 0; slot < FLOW_SLOTS; slot++) {
		if (stream->opcodes[slot] == 0)
			continue;
		uint8_t opcode = flow_opcode(stream, slot);
		const char *name = wire_opcode_name(stream->found, opcode);
		if (name != NULL)
			fprintf(to, " %s:%" PRIu32, name, stream->opcodes[slot]);
		else
			fprintf(to, " 0x%02x:%" PRIu32, opcode, stream->opcodes[slot]);
	}
}

static void print_stream(FILE *to, const struct call *call, uint32_t index)
{
	const struct flow_stream *stream = &call->report->streams[index];
	char source[WORDS_BYTES], target[WORDS_BYTES];
	fprintf(to, "%4" PRIu32 "  %s > %s, QP 0x%06" PRIx32 "%s%s\n", index,
		address_words(source, stream->source), address_words(target, stream->target),
		stream->qpn, call->places[stream->place][0] != '\0' ? ", seen at " : "",
		call->places[stream->place]);
	fprintf(to,
		"      %" PRIu64 " packets, %" PRIu64 " B; PSN %" PRIu32 " to %" PRIu32
		", from %" PRIu32 " up to %" PRIu32 ";",
		stream->packets, stream->bytes, stream->first_psn, stream->last_psn,
		stream->low_psn, stream->high_psn);
	print_opcodes(to, stream);
	fprintf(to,
		"\n      data %" PRIu64 ", seen again %" PRIu64 " (%" PRIu64 " doubled), holes ",
		stream->data, stream->again, stream->doubled);
	if (stream->has_reads)
		fprintf(to, "not counted (READ requests)");
	else
		fprintf(to, "%" PRIu64, stream->holes);
	fprintf(to, ", late %" PRIu64 ", CE %" PRIu64 "\n", stream->late, stream->ce);
}

static void print_repair(FILE *to, const struct flow_report *report,
			 const struct flow_repair *repair)
{
	bool is_nak = !repair->is_timer && report->streams[repair->stream].found != WIRE_FOUND_MRC;
	char repeat[WORDS_BYTES];
	fprintf(to, "  PSN %8" PRIu32 "  stream %" PRIu32 "  %-20s", repair->psn, repair->stream,
		flow_cause_name((enum flow_cause)repair->cause));
	if (repair->number != 0)
		fprintf(to, "  %s packet %" PRIu64, is_nak ? "NAK" : "first", repair->number);
	if (repair->repeat != 0)
		fprintf(to, "  repeat packet %" PRIu64, repair->repeat);
	if (repair->repeat_ns > 0)
		fprintf(to, " after %s", time_words(repeat, repair->repeat_ns));
	fputc('\n', to);
}

static void print_class(FILE *to, const char *name, uint32_t value, const struct flow_class *class)
{
	if (class->packets > 0)
		fprintf(to,
			"%s %2" PRIu32 "  %" PRIu64 " packets, %" PRIu64 " B; data %" PRIu64
			", seen again %" PRIu64 ", trimmed %" PRIu64 ", CE %" PRIu64 " of %" PRIu64
			" that can be marked\n",
			name, value, class->packets, class->bytes, class->data, class->again,
			class->trims, class->ce, class->ce + class->ect);
}

static void print_classes(FILE *to, const struct flow_totals *totals)
{
	fprintf(to, "\nclasses\n");
	for (uint32_t i = 0; i < 64; i++)
		print_class(to, "  DSCP    ", i, &totals->dscp[i]);
	for (uint32_t i = 0; i < 8; i++) {
		print_class(to, "  priority", i, &totals->priority[i]);
		if (totals->pauses_by_priority[i] > 0)
			fprintf(to, "  priority %2" PRIu32 "  pause frames %" PRIu64 "\n", i,
				totals->pauses_by_priority[i]);
	}
}

void table_print(FILE *to, const struct call *call)
{
	const struct flow_report *report = call->report;
	fprintf(to, "\nstreams\n");
	for (uint32_t i = 0; i < report->stream_count; i++)
		if (report->streams[i].is_used)
			print_stream(to, call, i);
	print_classes(to, &report->totals);
	bursts_print(to, call);
	changes_print(to, call);
	rules_print(to, call);
	if (report->repair_count > 0)
		fprintf(to, "\nrepairs\n");
	for (uint32_t i = 0; i < report->repair_count; i++)
		print_repair(to, report, &report->repairs[i]);
	if (report->repairs_left_out > 0)
		fprintf(to, "  and %" PRIu64 " more\n", report->repairs_left_out);
}
