// SPDX-License-Identifier: Apache-2.0
// weft pcap capture: frames of RoCE and MRC from a device or port into files, headers alone, until
// what was waited for has happened.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/core/refusal.h>
#include <weft/files/clock.h>
#include <weft/files/files.h>
#include <weft/files/signals.h>
#include <weft/run/host_info.h>
#include <weft/run/outcome.h>
#include <weft/wire/wire_dissect.h>
#include <weft/wire/wire_ends.h>

#include "help.h"
#include "pcap.h"
#include "port.h"
#include "rotation.h"
#include "verbs.h"
#include "weft-pcap_options.h"

// Triggers: each packet by itself, but for bursts of marks.

#define TRIGGER_BURST_NS 1000000 // in which so many marks are a burst
#define TRIGGER_BURST_MAX 4096

#define TRIGGER_QPS 4096 // powers of 2: what comes when they are full is counted, not watched
#define TRIGGER_EVS 131072

// One way of a QP.
struct trigger_qp {
	uint64_t name;	       // 0: free
	uint32_t evs, packets; // that it used; since it used the last new one
};

struct trigger {
	struct trigger_qp qps[TRIGGER_QPS];
	uint64_t evs[TRIGGER_EVS];	    // names of QP and EV; 0: free
	uint32_t wanted;		    // bits by name
	uint64_t unwatched;		    // packets whose QP or EV found no place
	uint32_t burst;			    // CE marks within TRIGGER_BURST_NS
	uint64_t marks;			    // seen
	int64_t mark_ns[TRIGGER_BURST_MAX]; // the last `burst` of them, as a ring
};

enum { TRIGGER_NACK, TRIGGER_RNR, TRIGGER_TRIM, TRIGGER_CE, TRIGGER_EV, TRIGGERS };
static const char *const names[TRIGGERS] = {"nack", "rnr", "trim", "ce", "ev"};

// A QP that draws its EVs takes one of n that it has not had in this many packets with a
// probability of e^-16 at most.
#define QUIET_PACKETS(evs) (16 * (evs) + 16)
#define TRIES 8 // slots that a name may lie in

#define AETH_KIND(syndrome) ((syndrome) >> 5 & 3)
#define AETH_RNR 1
#define AETH_NAK 3

// Reads "nack,trim,ce,ev". -EINVAL with the reason.
static int trigger_parse(struct trigger *trigger, const char *words, struct refusal *refusal)
{
	for (const char *at = words; *at != '\0';) {
		size_t bytes = strcspn(at, ",");
		int found = TRIGGERS;
		for (int i = 0; i < TRIGGERS; i++)
			if (strlen(names[i]) == bytes && memcmp(names[i], at, bytes) == 0)
				found = i;
		if (found == TRIGGERS)
			return outcome_bad_word(refusal,
						"triggers are nack, rnr, trim, ce and ev, not", at);
		trigger->wanted |= 1u << found;
		at += bytes;
		at += *at == ',';
	}
	return 0;
}

static bool wants(const struct trigger *trigger, int which)
{
	return trigger->wanted & 1u << which;
}

// Whether this mark is the last of a burst.
static bool ends_burst(struct trigger *trigger, int64_t at_ns)
{
	trigger->mark_ns[trigger->marks++ % trigger->burst] = at_ns;
	int64_t oldest_ns = trigger->mark_ns[trigger->marks % trigger->burst];
	return trigger->marks >= trigger->burst && at_ns - oldest_ns <= TRIGGER_BURST_NS;
}

static uint64_t mix_bytes(uint64_t hash, const void *at, size_t bytes)
{
	const uint8_t *byte = at;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t name_of(const struct wire_record *record)
{
	uint8_t addresses[32];
	struct wire_config wire;
	memcpy(addresses, record->source, 16);
	memcpy(addresses + 16, record->target, 16);
	if (record->found == WIRE_FOUND_MRC) { // each plane has its own
		wire_config_default(6, &wire);
		wire_leave_out_plane(&wire, addresses);
		wire_leave_out_plane(&wire, addresses + 16);
	}
	uint64_t hash = mix_bytes(UINT64_C(0xcbf29ce484222325), addresses, sizeof(addresses));
	return mix_bytes(hash, &record->qpn, sizeof(record->qpn)) | 1;
}

static struct trigger_qp *qp_of(struct trigger *trigger, uint64_t name)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		struct trigger_qp *qp = &trigger->qps[((name >> 20) + i) % TRIGGER_QPS];
		if (qp->name == 0)
			qp->name = name;
		if (qp->name == name)
			return qp;
	}
	return NULL;
}

// Whether this one is new; false where there is no room.
static bool is_new_ev(struct trigger *trigger, uint64_t name, uint32_t ev)
{
	uint64_t both = mix_bytes(name, &ev, sizeof(ev)) | 1;
	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t *slot = &trigger->evs[((both >> 20) + i) % TRIGGER_EVS];
		if (*slot == both)
			return false;
		if (*slot == 0) {
			*slot = both;
			return true;
		}
	}
	trigger->unwatched++;
	return false;
}

// Whether a QP that had all its EVs for a while takes another one; of RoCE, another source port.
static bool changes_ev(struct trigger *trigger, const struct wire_record *record)
{
	bool is_mrc = record->found == WIRE_FOUND_MRC;
	if (record->payload_bytes == 0 || record->is_trimmed || record->is_rtx)
		return false;
	uint64_t name = name_of(record);
	struct trigger_qp *qp = qp_of(trigger, name);
	if (qp == NULL) {
		trigger->unwatched++;
		return false;
	}
	bool is_new = is_new_ev(trigger, name, is_mrc ? record->ev : record->source_port);
	bool changes = is_new && qp->evs > 0 && qp->packets >= QUIET_PACKETS(qp->evs);
	qp->evs += is_new;
	qp->packets = is_new ? 0 : qp->packets + 1;
	return changes;
}

// Why this packet is what was waited for, or NULL.
static const char *trigger_of(struct trigger *trigger, const struct wire_record *record,
			      int64_t at_ns)
{
	if (!(record->layers & WIRE_LAYER_BTH))
		return NULL;
	bool is_mrc = record->found == WIRE_FOUND_MRC;
	uint8_t kind = record->layers & WIRE_LAYER_AETH ? AETH_KIND(record->syndrome) : 0;
	if (wants(trigger, TRIGGER_NACK) && is_mrc && record->opcode == PACKET_NACK)
		return "trigger: NACK";
	if (wants(trigger, TRIGGER_NACK) && kind == AETH_NAK)
		return "trigger: NAK";
	if (wants(trigger, TRIGGER_RNR) && !is_mrc && kind == AETH_RNR)
		return "trigger: RNR NAK";
	if (wants(trigger, TRIGGER_TRIM) && record->is_trimmed)
		return "trigger: trimmed";
	if (wants(trigger, TRIGGER_CE) && record->ecn == 3 && ends_burst(trigger, at_ns))
		return "trigger: burst of CE";
	if (wants(trigger, TRIGGER_EV) && changes_ev(trigger, record))
		return "trigger: another EV";
	return NULL;
}

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
		return outcome_bad_line(refusal, "no output file given: -o FILE");
	live->ring.path = live->out;
	if (live->burst > 0 && strstr(live->words, "ce") == NULL)
		return outcome_bad_line(refusal, "--ce-burst needs --trigger ce");
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

static bool is_over(const struct live *live, int64_t begun_ms)
{
	return *signals_stop() != 0 || (live->count > 0 && live->frames >= live->count) ||
		(live->seconds > 0 &&
		 clock_ms(CLOCK_MONOTONIC) - begun_ms >= (int64_t)live->seconds * 1000) ||
		(live->triggered != NULL && live->left == 0);
}

static int listen_on(struct live *live)
{
	struct sniff_frame frame;
	int64_t begun_ms = clock_ms(CLOCK_MONOTONIC);
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
		return outcome_refused("pcap", &live.refusal, rc);
	say(&live);
	return EXIT_SUCCESS;
}
