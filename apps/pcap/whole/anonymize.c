// SPDX-License-Identifier: Apache-2.0
// weft pcap anonymize: the frames of a capture without who, where and what, as pcapng.

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <weft/files/files.h>
#include <weft/run/outcome.h>
#include <weft/wire/wire_anonymize.h>

#include "help.h"
#include "pcap.h"
#include "places.h"
#include "rewrite.h"
#include "verbs.h"
#include "weft-pcap_options.h"

struct anonymize {
	const char *out, *key;
	struct refusal refusal;
	struct capture_reader reader;
	struct wire_anonymizer anonymizer;
	struct rewrite rewrite;
	struct atomic_file atomic_file;
	uint8_t *frame;
	struct places places;
	uint64_t icrcs[4]; // frames by enum wire_icrc
};

static const struct option_row option_rows[] = {PCAP_ANONYMIZE_OPTIONS(struct anonymize), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "capture", .least = 1, .most = 1};

// The key is that of the words, or another one each time.
static int make_key(struct anonymize *all)
{
	uint8_t key[EVP_MAX_MD_SIZE];
	unsigned bytes = 0;
	bool is_made = all->key != NULL
		? EVP_Digest(all->key, strlen(all->key), key, &bytes, EVP_sha256(), NULL) == 1
		: getrandom(key, WIRE_ANONYMIZE_KEY_BYTES, 0) == WIRE_ANONYMIZE_KEY_BYTES;
	if (!is_made)
		return refuse(&all->refusal, -EIO, "the system has no random key");
	struct wire_config config;
	wire_config_default(6, &config);
	wire_anonymizer_init(&all->anonymizer, &config, key);
	return 0;
}

// ---------------------------------------------------------------- out

static void put_interfaces(struct anonymize *all)
{
	while (all->rewrite.interfaces < all->reader.interface_count) {
		const struct capture_interface *from =
			&all->reader.interfaces[all->rewrite.interfaces];
		char name[32] = "";
		uint32_t place = places_find(&all->places, &all->reader, from);
		if (from->name[0] != '\0')
			snprintf(name, sizeof(name), "place %u", place + 1);
		const struct pcapng_interface to = {.name = name,
						    .snap_bytes = from->snap_bytes,
						    .line_bps = from->line_bps,
						    .link = from->link};
		rewrite_interface(&all->rewrite, &to);
	}
}

static void put_frame(struct anonymize *all, const struct capture_frame *frame)
{
	uint16_t link = all->reader.interfaces[frame->interface].link;
	memcpy(all->frame, frame->bytes, frame->captured);
	all->icrcs[wire_anonymize(&all->anonymizer, link, all->frame, frame->captured,
				  frame->original)]++;
	const struct pcapng_frame to = {.interface = frame->interface,
					.bytes = all->frame,
					.captured = frame->captured,
					.original = frame->original};
	rewrite_frame(&all->rewrite, frame, &to);
}

static void copy(struct anonymize *all)
{
	struct capture_frame frame;
	int64_t last_ns = 0;
	rewrite_begin(&all->rewrite, all->atomic_file.to, "weft pcap anonymize",
		      "anonymized: addresses, keys, virtual addresses and immediates are others, "
		      "payload is zeros");
	while (capture_next(&all->reader, &frame)) {
		put_interfaces(all);
		put_frame(all, &frame);
		last_ns = frame.at_ns;
	}
	put_interfaces(all);
	rewrite_statistics(&all->rewrite, &all->reader, 0, last_ns);
	rewrite_drain(&all->rewrite);
}

// ---------------------------------------------------------------- the call

static int make(struct anonymize *all, const char *path)
{
	struct source source;
	int rc = make_key(all);
	all->reader.buffer = malloc(CAPTURE_BUFFER_BYTES);
	all->reader.capacity = CAPTURE_BUFFER_BYTES;
	all->frame = malloc(CAPTURE_BUFFER_BYTES);
	if (all->reader.buffer == NULL || all->frame == NULL || !rewrite_init(&all->rewrite))
		return refuse(&all->refusal, -ENODEV, "no memory for buffers");
	if (rc < 0 || (rc = source_open(&source, path, &all->reader, &all->refusal)) < 0)
		return rc;
	rc = atomic_file_begin(&all->atomic_file, all->out, &all->refusal);
	if (rc == 0) {
		copy(all);
		bool is_bad = all->reader.frames == 0 && all->reader.end != CAPTURE_WHOLE;
		if (is_bad) {
			rc = refuse(&all->refusal, -EINVAL, all->reader.why);
			snprintf(all->refusal.file, sizeof(all->refusal.file), "%s", path);
		}
		rc = atomic_file_end(&all->atomic_file, rc, &all->refusal);
	}
	source_close(&source);
	return rc;
}

static void say(const struct anonymize *all)
{
	const struct capture_reader *reader = &all->reader;
	char count[4][WORDS_BYTES];
	printf("%s frames are anonymized in %s; ICRC made anew: %s good, %s bad as before\n",
	       count_words(count[0], reader->frames), all->out,
	       count_words(count[1], all->icrcs[WIRE_ICRC_GOOD]),
	       count_words(count[2], all->icrcs[WIRE_ICRC_BAD]));
	if (all->key == NULL)
		puts("the key is another one each time: captures of one event need --key");
	if (all->rewrite.untimed > 0)
		printf("%s frames have no time, and now 1970\n",
		       count_words(count[0], all->rewrite.untimed));
	if (reader->odd_frames > 0)
		printf("%s frames whose lengths contradict each other are left out\n",
		       count_words(count[0], reader->odd_frames));
	if (reader->end != CAPTURE_WHOLE)
		printf("%s; what lies before is there\n", reader->why);
}

int anonymize_run(int argc, char **argv)
{
	static struct anonymize all; // large: kept off the stack
	int rc = command_line_read(&arguments, &all, argc, argv, &all.refusal);
	if (rc == COMMAND_LINE_DONE)
		return EXIT_SUCCESS;
	if (rc == 0 && all.out == NULL)
		rc = outcome_bad_line(&all.refusal, "no output file given: -o FILE");
	if (rc == 0)
		rc = make(&all, argv[optind]);
	if (rc < 0)
		return outcome_refused("pcap", &all.refusal, rc);
	say(&all);
	return EXIT_SUCCESS;
}
