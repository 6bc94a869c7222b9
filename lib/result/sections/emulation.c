// SPDX-License-Identifier: Apache-2.0
// Real frames, pace and captures in the table. What the words mean: docs/result.md.

#include "sections.h"

#include <math.h>

#include <weft/result/latency_table.h>
#include <weft/result/number.h>

bool emulation_has_pace(const struct report_input *input)
{
	return input->pace.dilation_milli != 0 || input->pace.lateness_ns != NULL;
}

bool emulation_has_frames(const struct report_input *input)
{
	return input->ports.name != NULL;
}

bool emulation_has_taps(const struct report_input *input)
{
	return input->taps.pcap != NULL || input->taps.log != NULL;
}

bool emulation_frames_agree(const struct report_ports *ports)
{
	return ports->missed == 0 && ports->sent == ports->received;
}

// ---------------------------------------------------------------- real frames

static void wrong_payload(FILE *to, const json_t *of)
{
	if (document_number(of, "payload_bytes_wrong") > 0)
		table_say(to, of,
			  "  WRONG PAYLOAD: {payload_bytes_wrong} bytes are not what was sent\n");
}

static void frames_line(FILE *to, const json_t *of)
{
	if (json_is_true(json_object_get(of, "frames_agree")))
		table_say(to, of,
			  "  frames: sent {frames_sent} = received {frames_received}, as the "
			  "ports counted\n");
	else
		table_say(to, of,
			  "  frames: sent {frames_sent}, received {frames_received}, missed "
			  "{frames_missed}, as the ports counted\n"
			  "  LOST FRAMES: the ports did not hand out each frame that they took\n");
}

static void damaged(FILE *to, const json_t *list)
{
	const json_t *row;
	size_t i;
	fprintf(to, "  %s\n",
		json_array_size(list) == 0 ? "no frame was dropped as damaged"
					   : "frames dropped as damaged");
	json_array_foreach(list, i, row)
	{
		fprintf(to, "    %-26s ", document_text(row, "reason"));
		table_say(to, row, "{frames:,17}\n");
	}
}

static void real_frames(FILE *to, const json_t *of)
{
	double bytes = document_number(of, "buffers") * document_number(of, "buffer_bytes");
	struct text text;
	fprintf(to, "\nReal frames\n");
	table_say(to, of,
		  document_number(of, "ports") == 1 ? "  {ports} {name} port, {queues} queues, "
						    : "  {ports} {name} ports, {queues} queues, ");
	table_say(to, of,
		  document_number(of, "cables_per_queue_max") > 1
			  ? "up to {cables_per_queue_max} cables share a queue\n"
			  : "one cable each\n");
	table_say(to, of, "  {buffers} buffers of {buffer_bytes:grouped} bytes (");
	fprintf(to, "%s)\n", number_memory(&text, (uint64_t)bytes));
	frames_line(to, of);
	table_say(to, of, "  payload: {payload_bytes_good} bytes arrived as they were sent\n");
	wrong_payload(to, of);
	damaged(to, json_object_get(of, "damaged"));
}

// ---------------------------------------------------------------- pace

static void dilation_line(FILE *to, const json_t *pace)
{
	double dilation = document_number(pace, "dilation"), lanes = document_number(pace, "lanes");
	struct text text;
	if (isnan(dilation))
		fprintf(to, "  as fast as possible: nothing waited for the clock");
	else
		fprintf(to, "  1 us of the fabric takes %s here (dilation %.1f, %s)",
			number_time(&text, llround(dilation * PS_PER_US)), dilation,
			json_is_true(json_object_get(pace, "by_trial"))
				? "found by a calibration run"
				: "as asked");
	fprintf(to, ", %.0f %s\n", lanes, lanes == 1 ? "lane" : "lanes");
}

// A distribution of wall time in a line.
static void wall_row(FILE *to, const char *name, const json_t *of)
{
	if (!json_is_object(of))
		return;
	fprintf(to, "  %-12s ", name);
	table_say(to, of, "{count:,17}");
	latency_times(to, 10, of);
	if (document_number(of, "above_range") > 0)
		table_say(to, of, LATENCIES_ABOVE_RANGE);
}

static void pace_section(FILE *to, const json_t *pace)
{
	const json_t *lateness = json_object_get(pace, "lateness");
	fprintf(to, "\nPace (wall time)\n");
	dilation_line(to, pace);
	fprintf(to, "  %-12s %17s", "", "count");
	latency_heads(to, 10);
	wall_row(to, "lateness", lateness);
	wall_row(to, "gaps", json_object_get(pace, "gap"));
	if (json_is_object(lateness))
		fprintf(to,
			"  lateness: how long after the end of its window a frame was handed "
			"over\n");
	fprintf(to,
		"  gaps: between two looks at the clock, for work or for a stall of the host\n");
}

static void pace_line(FILE *to, const json_t *pace)
{
	double dilation = document_number(pace, "dilation");
	if (isnan(dilation))
		fprintf(to, "\nPace: as fast as possible");
	else
		fprintf(to, "\nPace: dilation %.1f", dilation);
	if (json_is_object(json_object_get(pace, "lateness")))
		table_say(to, pace, ", p99 of lateness {lateness.p99_ns}");
	fprintf(to, "\n");
}

// ---------------------------------------------------------------- the whole

void emulation_table(FILE *to, const json_t *result)
{
	const json_t *ports = json_object_get(result, "ports"),
		     *pace = json_object_get(result, "pace");
	if (ports != NULL)
		real_frames(to, ports);
	if (pace != NULL)
		pace_section(to, pace);
}

void emulation_short(FILE *to, const json_t *result)
{
	const json_t *pace = json_object_get(result, "pace");
	if (pace != NULL)
		pace_line(to, pace);
	wrong_payload(to, json_object_get(result, "ports"));
}

static void file_line(FILE *to, const json_t *of, const char *name, double left_out,
		      const char *cut, const char *what, const char *full)
{
	struct text text;
	if (*name == '\0')
		return;
	if (*cut != '\0') {
		fprintf(to, "%s: CUT, is not whole: %s\n", name, cut);
		return;
	}
	fprintf(to, "%s: %s %s, ", name,
		number_grouped(&text, (uint64_t)(document_number(of, "frames") - left_out)), what);
	table_say(to, of,
		  document_number(of, "frames_lost") == 0 ? "none lost" : "{frames_lost} lost");
	if (left_out > 0)
		table_say(to, of, full);
	fputc('\n', to);
}

void emulation_files(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "capture");
	file_line(to, of, document_text(of, "pcap"), document_number(of, "pcap_left_out"),
		  document_text(of, "pcap_cut"), "frames captured",
		  "; FULL at {file_bytes_max} bytes: {pcap_left_out} more are left out");
	file_line(to, of, document_text(of, "log"), document_number(of, "log_left_out"),
		  document_text(of, "log_cut"), "packets logged",
		  "; FULL at {file_bytes_max} bytes: {log_left_out} more are left out");
}
