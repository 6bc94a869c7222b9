// SPDX-License-Identifier: Apache-2.0
// weft pcap send: the frames of a capture out of a device or port, each when it was, counted from
// the first one: a frame that goes late makes none behind it late.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/files/clock.h>
#include <weft/run/host_info.h>
#include <weft/run/outcome.h>

#include "help.h"
#include "pace.h"
#include "pcap.h"
#include "port.h"
#include "verbs.h"
#include "weft-pcap_options.h"

#define FRAME_BYTES_MAX 65535u
#define SPIN_NS 60000	 // sleeps end later than they should by so much
#define LATE_NS 1000000	 // worth a word
#define LINK_ETHERNET 1u // LINKTYPE_ETHERNET

struct send {
	struct pace pace;
	struct outlet outlet;
	struct refusal refusal;
	struct capture_reader reader;
	uint8_t frame[FRAME_BYTES_MAX];
	int64_t start_ns;	   // of this loop, of the clock; -1: none has begun
	int64_t first_ns, last_ns; // stamps of the capture
	uint64_t sent, padded, late;
	uint64_t other, longer; // no Ethernet, or no time; longer than the device takes
	struct flow_lags lateness;
};

static const struct option_row option_rows[] = {PCAP_SEND_OPTIONS(struct send), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "capture or device", .least = 2, .most = 2};

// ---------------------------------------------------------------- time

// Returns how late it is then.
static int64_t wait_until(int64_t at_ns)
{
	int64_t wake_ns = at_ns - SPIN_NS, now;
	if (clock_ns(CLOCK_MONOTONIC) < wake_ns) {
		struct timespec wake = {wake_ns / 1000000000, wake_ns % 1000000000};
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR)
			;
	}
	while ((now = clock_ns(CLOCK_MONOTONIC)) < at_ns)
		;
	return now - at_ns;
}

// ---------------------------------------------------------------- the capture

static void count(struct send *send, const struct capture_frame *frame, int64_t late_ns)
{
	send->sent++;
	send->padded += frame->captured < frame->original;
	send->late += late_ns > LATE_NS;
	flow_lag(&send->lateness, late_ns);
}

// What a snap length cut off is zeros.
static int send_frame(struct send *send, const struct capture_frame *frame)
{
	bool is_fit = frame->has_time && frame->original <= FRAME_BYTES_MAX &&
		send->reader.interfaces[frame->interface].link == LINK_ETHERNET;
	if (!is_fit) {
		send->other++;
		return 0;
	}
	if (send->first_ns < 0)
		send->first_ns = send->last_ns = frame->at_ns;
	if (send->start_ns < 0)
		send->start_ns = clock_ns(CLOCK_MONOTONIC);
	if (frame->at_ns > send->last_ns)
		send->last_ns = frame->at_ns;
	memcpy(send->frame, frame->bytes, frame->captured);
	memset(send->frame + frame->captured, 0, frame->original - frame->captured);
	double after_ns = (double)(frame->at_ns - send->first_ns) / send->pace.speed;
	int64_t late_ns = wait_until(send->start_ns + (int64_t)llround(after_ns));
	int sent = outlet_put(&send->outlet, send->frame, frame->original, &send->refusal);
	if (sent == 1)
		count(send, frame, late_ns);
	send->longer += sent == 0;
	return sent < 0 ? sent : 0;
}

static int send_loop(struct send *send, const char *path)
{
	struct source source;
	struct capture_frame frame;
	uint64_t before = send->sent;
	send->first_ns = send->last_ns = -1;
	int rc = source_open(&source, path, &send->reader, &send->refusal);
	if (rc < 0)
		return rc;
	while (rc == 0 && capture_next(&send->reader, &frame))
		rc = send_frame(send, &frame);
	source_close(&source);
	if (rc == 0 && send->sent == before)
		return outcome_bad_word(&send->refusal, "no frame that this device can send, in",
					path);
	// The next loop begins one frame after the last one, by the mean.
	double took_ns = (double)(send->last_ns - send->first_ns) / send->pace.speed;
	send->start_ns += (int64_t)llround(took_ns * (1 + 1 / (double)(send->sent - before)));
	return rc;
}

static void say(struct send *send, int64_t took_ns)
{
	char words[4][WORDS_BYTES];
	printf("%s frames sent in %s; late by %s in the middle, %s at most\n",
	       count_words(words[0], send->sent), time_words(words[1], took_ns),
	       time_words(words[2], flow_quantile(&send->lateness, 0.5)),
	       time_words(words[3], send->lateness.max_ns));
	if (send->late > 0)
		printf("%s were late by more than 1 ms: this host or device is too slow\n",
		       count_words(words[0], send->late));
	if (send->padded > 0)
		printf("%s had been cut: zeros make them as long as they were\n",
		       count_words(words[0], send->padded));
	if (send->other > 0)
		printf("%s left out: no Ethernet, or no time\n",
		       count_words(words[0], send->other));
	if (send->longer > 0)
		printf("%s left out: longer than the device takes (its MTU)\n",
		       count_words(words[0], send->longer));
	if (send->reader.end != CAPTURE_WHOLE)
		printf("%s; what lies before is sent\n", send->reader.why);
}

int send_run(int argc, char **argv)
{
	static struct send send; // large: kept off the stack
	send.outlet.socket = -1;
	send.pace = (struct pace)PACE_DEFAULT;
	int rc = command_line_read(&arguments, &send, argc, argv, &send.refusal);
	if (rc == COMMAND_LINE_DONE)
		return EXIT_SUCCESS;
	pace_settle(&send.pace);
	const char *path = rc == 0 ? argv[optind] : NULL;
	if (rc == 0 && one_port_is_elsewhere(argv[optind + 1]))
		program_exec("weft-pcap-whole", argv - 1); // the whole line: the verb is argv[0]
	if (rc == 0 && send.pace.loops > 1 && strcmp(path, "-") == 0)
		rc = outcome_bad_line(&send.refusal, "--loops needs a file, not standard input");
	if (rc == 0)
		rc = outlet_open(&send.outlet, argv[optind + 1], &send.refusal);
	send.reader.buffer = malloc(CAPTURE_BUFFER_BYTES);
	send.reader.capacity = CAPTURE_BUFFER_BYTES;
	if (rc == 0 && send.reader.buffer == NULL)
		rc = refuse(&send.refusal, -ENODEV, "no memory for a buffer");
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	send.start_ns = -1;
	for (uint32_t i = 0; rc == 0 && i < send.pace.loops; i++)
		rc = send_loop(&send, path);
	int64_t took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	outlet_close(&send.outlet);
	free(send.reader.buffer);
	if (rc < 0)
		return outcome_refused("pcap", &send.refusal, rc);
	say(&send, took_ns);
	return EXIT_SUCCESS;
}
