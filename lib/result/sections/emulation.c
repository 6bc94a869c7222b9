// SPDX-License-Identifier: Apache-2.0
// Real frames, pace and captures in the table. What the words mean: docs/result.md.

#include "sections.h"

#include <inttypes.h>
#include <string.h>

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

static void ports_line(FILE *to, const struct report_ports *ports)
{
	struct text text[3];
	fprintf(to, "  %s %s %s, %s queues, ", number_grouped(&text[0], ports->ports), ports->name,
		ports->ports == 1 ? "port" : "ports", number_grouped(&text[1], ports->queues));
	if (ports->cables_per_queue_max > 1)
		fprintf(to, "up to %s cables share a queue\n",
			number_grouped(&text[2], ports->cables_per_queue_max));
	else
		fprintf(to, "one cable each\n");
}

static void frames_line(FILE *to, const struct report_ports *ports)
{
	struct text text[3];
	if (emulation_frames_agree(ports)) {
		fprintf(to, "  frames: sent %s = received %s, as the ports counted\n",
			number_grouped(&text[0], ports->sent),
			number_grouped(&text[1], ports->received));
		return;
	}
	fprintf(to, "  frames: sent %s, received %s, missed %s, as the ports counted\n",
		number_grouped(&text[0], ports->sent), number_grouped(&text[1], ports->received),
		number_grouped(&text[2], ports->missed));
	fprintf(to, "  LOST FRAMES: the ports did not hand out each frame that they took\n");
}

static void wrong_payload(FILE *to, const struct report_ports *ports)
{
	struct text text;
	if (ports->payload_bytes_wrong > 0)
		fprintf(to, "  WRONG PAYLOAD: %s bytes are not what was sent\n",
			number_grouped(&text, ports->payload_bytes_wrong));
}

static void damaged(FILE *to, const struct report_ports *ports)
{
	struct text text;
	if (ports->bad_count == 0) {
		fprintf(to, "  no frame was dropped as damaged\n");
		return;
	}
	fprintf(to, "  frames dropped as damaged\n");
	for (uint32_t i = 0; i < ports->bad_count; i++)
		fprintf(to, "    %-26s %17s\n", ports->bad_names[i],
			number_grouped(&text, ports->bad[i]));
}

static void real_frames(FILE *to, const struct report_input *input)
{
	const struct report_ports *ports = &input->ports;
	struct text text[3];
	fprintf(to, "\nReal frames\n");
	ports_line(to, ports);
	fprintf(to, "  %s buffers of %s bytes (%s)\n", number_grouped(&text[0], ports->frames),
		number_grouped(&text[1], ports->frame_bytes_max),
		number_memory(&text[2], (uint64_t)ports->frames * ports->frame_bytes_max));
	frames_line(to, ports);
	fprintf(to, "  payload: %s bytes arrived as they were sent\n",
		number_grouped(&text[0], ports->payload_bytes_good));
	wrong_payload(to, ports);
	damaged(to, ports);
}

// ---------------------------------------------------------------- pace

static const char *time_of(struct text *ret, int64_t value_ns)
{
	return number_time(ret, value_ns * PS_PER_NS);
}

static bool has_lateness(const struct report_pace *pace)
{
	return pace->lateness_ns != NULL && pace->lateness_ns->total > 0;
}

static void dilation_line(FILE *to, const struct report_pace *pace)
{
	struct text text;
	if (pace->dilation_milli == 0)
		fprintf(to, "  as fast as possible: nothing waited for the clock");
	else
		fprintf(to, "  1 us of the fabric takes %s here (dilation %.1f, %s)",
			number_time(&text, (ps_t)pace->dilation_milli * (PS_PER_US / 1000)),
			(double)pace->dilation_milli / 1000,
			pace->is_auto ? "found by a calibration run" : "as asked");
	fprintf(to, ", %" PRIu32 " %s\n", pace->lanes, pace->lanes == 1 ? "lane" : "lanes");
}

// A distribution of wall time in a line. What a run measures of its own clock is whole, of a sample
// too.
static void wall_row(FILE *to, const char *name, const struct hist *hist)
{
	struct latency latency;
	struct text text;
	if (hist == NULL || hist->total == 0)
		return;
	latency_of(&latency, hist, false);
	fprintf(to, "  %-12s %17s", name, number_grouped(&text, latency.count));
	latency_times(to, 10, &latency);
	if (latency.above_range > 0)
		fprintf(to, "    %s of these lie above the range of the histogram\n",
			number_grouped(&text, latency.above_range));
}

static void pace_section(FILE *to, const struct report_input *input)
{
	const struct report_pace *pace = &input->pace;
	fprintf(to, "\nPace (wall time)\n");
	dilation_line(to, pace);
	fprintf(to, "  %-12s %17s", "", "count");
	latency_heads(to, 10);
	wall_row(to, "lateness", pace->lateness_ns);
	wall_row(to, "gaps", pace->gap_ns);
	if (has_lateness(pace))
		fprintf(to,
			"  lateness: how long after the end of its window a frame was handed "
			"over\n");
	fprintf(to,
		"  gaps: between two looks at the clock, for work or for a stall of the host\n");
}

static void pace_line(FILE *to, const struct report_pace *pace)
{
	struct text text;
	if (pace->dilation_milli == 0)
		fprintf(to, "\nPace: as fast as possible");
	else
		fprintf(to, "\nPace: dilation %.1f", (double)pace->dilation_milli / 1000);
	if (has_lateness(pace))
		fprintf(to, ", p99 of lateness %s",
			time_of(&text, hist_quantile(pace->lateness_ns, 990000)));
	fprintf(to, "\n");
}

// ---------------------------------------------------------------- the whole

void emulation_table(FILE *to, const struct report_input *input)
{
	if (emulation_has_frames(input))
		real_frames(to, input);
	if (emulation_has_pace(input))
		pace_section(to, input);
}

void emulation_short(FILE *to, const struct report_input *input)
{
	if (emulation_has_pace(input))
		pace_line(to, &input->pace);
	wrong_payload(to, &input->ports);
}

static void file_line(FILE *to, const char *name, const char *what, const struct report_taps *taps,
		      uint64_t left_out, int error)
{
	struct text text[2];
	if (name == NULL)
		return;
	if (error != 0) {
		fprintf(to, "%s: CUT, is not whole: %s\n", name, strerror(error));
		return;
	}
	fprintf(to, "%s: %s %s, %s lost", name, number_grouped(&text[0], taps->frames - left_out),
		what, taps->lost == 0 ? "none" : number_grouped(&text[1], taps->lost));
	if (left_out > 0)
		fprintf(to, "; FULL at %s bytes: %s more are left out",
			number_grouped(&text[0], taps->file_bytes_max),
			number_grouped(&text[1], left_out));
	fputc('\n', to);
}

void emulation_files(FILE *to, const struct report_input *input)
{
	file_line(to, input->taps.pcap, "frames captured", &input->taps, input->taps.pcap_left_out,
		  input->taps.pcap_error);
	file_line(to, input->taps.log, "packets logged", &input->taps, input->taps.log_left_out,
		  input->taps.log_error);
}
