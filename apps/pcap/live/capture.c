// SPDX-License-Identifier: Apache-2.0
// weft pcap capture: frames of RoCE and MRC from a device or port into files, headers alone, until
// what was waited for has happened.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/files/files.h>
#include <weft/files/signals.h>
#include <weft/run/host_info.h>
#include <weft/run/outcome.h>

#include "help.h"
#include "live/inlet.h"
#include "live/rotation.h"
#include "live/trigger.h"
#include "pcap.h"
#include "verbs.h"
#include "weft-pcap_options.h"

#define SNAP_HEADERS 256      // all headers, tunnels too
#define SNAP_WHOLE (1u << 18) // libpcap's limit
#define KERNEL_BYTES (64u << 20)
#define AFTER_DEFAULT 1000
#define BURST_DEFAULT 32
#define FILE_BYTES_MIN 65536

struct live {
	const char *out, *filter, *words;
	uint64_t count, seconds, after, ring_files, file_mb, burst; // 0: not given
	bool is_whole, is_all, is_plain;
	struct trigger trigger;
	struct rotation ring;
	struct inlet inlet;
	struct wire_config wire;
	struct refusal refusal;
	// What was seen.
	uint64_t frames, others; // written; of other protocols
	uint64_t left;		 // frames until the end, once triggered
	const char *triggered;
	int64_t last_ns;
	uint64_t received, dropped;
};

// ---------------------------------------------------------------- the command line

static int take_trigger(void *context, const char *word, struct refusal *refusal)
{
	struct live *live = context;
	live->words = word;
	return trigger_parse(&live->trigger, word, refusal);
}

static const struct option_row option_rows[] = {PCAP_CAPTURE_OPTIONS(struct live), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "device", .least = 1, .most = 1};

// Options that belong together, and what is not given.
static int complete(struct live *live)
{
	struct refusal *refusal = &live->refusal;
	if (live->out == NULL)
		return outcome_bad_line(refusal, "where to write is missing: -o FILE");
	live->ring.path = live->out;
	if (live->burst > 0 && strstr(live->words, "ce") == NULL)
		return outcome_bad_word(refusal, "needs --trigger ce:", "--ce-burst");
	live->after = live->after > 0 ? live->after : AFTER_DEFAULT;
	live->trigger.burst = live->burst > 0 ? (uint32_t)live->burst : BURST_DEFAULT;
	live->ring.files = live->ring_files > 0 ? (uint32_t)live->ring_files : 1;
	live->ring.file_bytes = live->file_mb * 1000000;
	wire_config_default(6, &live->wire);
	live->wire.icrc_unchecked = true;
	return 0;
}

// ---------------------------------------------------------------- frames

static bool is_ours(const struct wire_record *record)
{
	return record->layers & WIRE_LAYER_BTH || record->found == WIRE_FOUND_PAUSE ||
		record->found == WIRE_FOUND_UET;
}

// Without what the application sent.
static uint32_t headers_of(const struct wire_record *record, uint32_t captured)
{
	uint32_t behind = record->payload_bytes + WIRE_ICRC_BYTES;
	bool has_payload = record->payload_bytes > 0 && record->original > behind;
	uint32_t headers = has_payload ? record->original - behind : captured;
	return headers < captured ? headers : captured;
}

static int take_frame(struct live *live, const struct sniff_frame *frame)
{
	struct wire_record record;
	wire_dissect(&live->wire, live->inlet.link, frame->bytes, frame->captured, frame->original,
		     &record);
	live->last_ns = frame->at_ns;
	if (!live->is_all && !is_ours(&record)) {
		live->others++;
		return 0;
	}
	const char *why = live->triggered == NULL
		? trigger_of(&live->trigger, &record, frame->at_ns)
		: NULL;
	if (why != NULL) {
		live->triggered = why;
		live->left = live->after + 1;
	}
	const struct pcapng_frame out = {
		.bytes = frame->bytes,
		.captured = live->is_whole ? frame->captured : headers_of(&record, frame->captured),
		.original = frame->original,
		.comment = why,
	};
	if (live->frames++ % 256 == 0) // a system call
		inlet_counts(&live->inlet, &live->received, &live->dropped);
	return rotation_put(&live->ring, &out, frame->at_ns, live->received, live->dropped,
			    &live->refusal);
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_over(const struct live *live, int64_t begun_ms)
{
	return *signals_stop() != 0 || (live->count > 0 && live->frames >= live->count) ||
		(live->seconds > 0 && now_ms() - begun_ms >= (int64_t)live->seconds * 1000) ||
		(live->triggered != NULL && live->left == 0);
}

static int listen_on(struct live *live)
{
	struct sniff_frame frame;
	int64_t begun_ms = now_ms();
	int rc = 0;
	while (rc == 0 && !is_over(live, begun_ms)) {
		uint64_t before = live->frames;
		int got = inlet_next(&live->inlet, &frame);
		if (got < 0)
			break; // what there is stays
		if (got > 0)
			rc = take_frame(live, &frame);
		live->left -= live->triggered != NULL && live->frames > before;
	}
	inlet_counts(&live->inlet, &live->received, &live->dropped);
	int ended = rotation_end(&live->ring, live->last_ns, live->received, live->dropped,
				 &live->refusal);
	return rc < 0 ? rc : ended;
}

// ---------------------------------------------------------------- the call

static void say(const struct live *live)
{
	char w[4][WORDS_BYTES], name[ATOMIC_FILE_PATH_BYTES];
	printf("%s frames captured, %s of other protocols left out; %s dropped by the kernel, "
	       "the device or the port\n",
	       count_words(w[0], live->frames), count_words(w[1], live->others),
	       count_words(w[2], live->dropped));
	if (live->triggered != NULL)
		printf("%s; the packet has a comment\n", live->triggered);
	else if (live->words != NULL)
		puts("no trigger");
	if (live->trigger.unwatched > 0)
		printf("%s packets not watched for another EV: no place for their QP or EV\n",
		       count_words(w[3], live->trigger.unwatched));
	if (live->inlet.why[0] != '\0')
		printf("the device is gone: %s\n", live->inlet.why);
	if (rotation_kept(&live->ring) == 0)
		puts("no file is written");
	for (uint64_t k = 0; k < rotation_kept(&live->ring); k++)
		printf("%s%s", k > 0 ? " " : "", rotation_name(&live->ring, k, name));
	if (rotation_kept(&live->ring) > 0)
		putchar('\n');
}

static int run(struct live *live, const char *device)
{
	const struct sniff_choice choice = {
		.device = device,
		.filter = live->filter,
		.snap_bytes = live->is_whole ? SNAP_WHOLE : SNAP_HEADERS,
		.buffer_bytes = KERNEL_BYTES,
		.is_plain = live->is_plain,
	};
	int rc = rotation_check(&live->ring, &live->refusal);
	if (rc < 0)
		return rc;
	rc = inlet_open(&live->inlet, &choice, &live->refusal);
	if (rc < 0) {
		inlet_close(&live->inlet);
		return rc;
	}
	live->ring.interface = (struct pcapng_interface){
		.name = device,
		.snap_bytes = live->is_whole ? 0 : choice.snap_bytes,
		.link = live->inlet.link,
	};
	signals_catch();
	fprintf(stderr, "listening on %s\n", device);
	rc = listen_on(live);
	inlet_close(&live->inlet);
	return rc;
}

int capture_run(int argc, char **argv)
{
	static struct live live; // large: kept off the stack
	int rc = command_line_read(&arguments, &live, argc, argv, &live.refusal);
	if (rc == COMMAND_LINE_DONE)
		return EXIT_SUCCESS;
	if (rc == 0)
		rc = complete(&live);
	if (rc == 0 && one_port_is_elsewhere(argv[optind]))
		program_exec("weft-pcap-whole", argv - 1); // the whole line: the verb is argv[0]
	if (rc == 0)
		rc = run(&live, argv[optind]);
	free(live.ring.blocks.at);
	if (rc < 0)
		return verb_refused(&live.refusal, rc);
	say(&live);
	return EXIT_SUCCESS;
}
