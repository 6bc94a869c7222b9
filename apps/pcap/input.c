// SPDX-License-Identifier: Apache-2.0
// Captures from files and from the standard input, frame by frame into the analysis.

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/core/check.h>
#include <weft/files/clock.h>
#include <weft/files/files.h>
#include <weft/run/outcome.h>

#include <weft/wire/wire_icrcs.h>

#include "pcap.h"

// How far captures are read.

struct bar {
	bool is_on, is_drawn;
	int64_t next_ns; // when it is drawn again
	uint64_t frames;
	uint32_t file, files;
};

#define CELLS 30u
#define STEP_NS 100000000

// Of `files` captures.
static void bar_begin(struct bar *bar, uint32_t files)
{
	*bar = (struct bar){.is_on = isatty(STDERR_FILENO), .files = files};
	bar->next_ns = clock_ns(CLOCK_MONOTONIC) + STEP_NS; // what is done sooner has none
}

// The next file begins.
static void bar_file(struct bar *bar)
{
	bar->file++;
}

// A pipe does not say how much will come.
static void draw(const struct bar *bar, const struct source *source)
{
	char cells[CELLS + 1], read[WORDS_BYTES], frames[WORDS_BYTES];
	bytes_words(read, source->bytes);
	count_words(frames, bar->frames);
	if (source->bytes_of == 0) {
		outcome_bar("\r\033[K%s read, %s frames  ", read, frames);
		return;
	}
	double share = (double)source->bytes / (double)source->bytes_of;
	share = share > 1 ? 1 : share;
	for (uint32_t i = 0; i < CELLS; i++)
		cells[i] = i < (uint32_t)(share * CELLS) ? '#' : '.';
	cells[CELLS] = '\0';
	outcome_bar("\r\033[K[%s] %3.0f %%  %s frames  ", cells, share * 100, frames);
	if (bar->files > 1)
		outcome_bar("file %" PRIu32 " of %" PRIu32 "  ", bar->file, bar->files);
}

// Draws it, ten times a second at most; bar_frame(): one more frame was read.
static void bar_show(struct bar *bar, const struct source *source)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	if (now < bar->next_ns)
		return;
	bar->next_ns = now + STEP_NS;
	bar->is_drawn = true;
	draw(bar, source);
}

// Takes it away.
static void bar_end(struct bar *bar)
{
	if (bar->is_drawn)
		outcome_bar("\r\033[K");
	bar->is_on = false;
}

static inline void bar_frame(struct bar *bar, const struct source *source)
{
	if ((++bar->frames & 4095) == 0 && bar->is_on)
		bar_show(bar, source);
}

static int64_t source_read(void *context, void *to, size_t bytes)
{
	struct source *source = context;
	ssize_t got;
	do
		got = read(source->descriptor, to, bytes);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	source->bytes += (uint64_t)got;
	return got;
}

static int open_source(struct source *source, const char *path, struct refusal *refusal)
{
	struct stat state;
	bool is_input = strcmp(path, "-") == 0;
	source->descriptor = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	source->bytes = source->bytes_of = 0;
	source->gunzip = NULL;
	if (source->descriptor < 0) {
		snprintf(refusal->text, sizeof(refusal->text), "%s", strerror(errno));
		return errno == ENOENT || errno == ENOTDIR ? -ENOENT : -EINVAL;
	}
	if (fstat(source->descriptor, &state) == 0 && S_ISDIR(state.st_mode)) {
		close(source->descriptor);
		return refuse(refusal, -EISDIR, "it is a folder");
	}
	source->bytes_of = S_ISREG(state.st_mode) ? (uint64_t)state.st_size : 0;
	files_note_input(source->descriptor);
	return 0;
}

void source_close(struct source *source)
{
	free(source->gunzip);
	if (source->descriptor != STDIN_FILENO)
		close(source->descriptor);
}

// Begins the capture in a file that is open.
static int begin_source(struct source *source, struct capture_reader *reader,
			struct refusal *refusal)
{
	source->gunzip = aligned_alloc(64, (capture_gunzip_bytes() + 63) / 64 * 64);
	if (source->gunzip == NULL)
		return refuse(refusal, -ENODEV, "no memory to unpack");
	reader->read = capture_gunzip_read;
	reader->context = capture_gunzip_begin(source->gunzip, source_read, source);
	return capture_begin(reader, refusal);
}

int source_open(struct source *source, const char *path, struct capture_reader *reader,
		struct refusal *refusal)
{
	int rc = open_source(source, path, refusal);
	if (rc == 0) {
		rc = begin_source(source, reader, refusal);
		if (rc < 0)
			source_close(source);
	}
	bool is_input = strcmp(path, "-") == 0;
	if (rc < 0)
		refusal_name(refusal, is_input ? "standard input" : path);
	return rc;
}

// ---------------------------------------------------------------- places

#define END " end" // of a name: of what leaves the cable, not of what enters it

static bool cut_end(char *name)
{
	size_t length = strlen(name), end = strlen(END);
	if (length <= end || strcmp(name + length - end, END) != 0)
		return false;
	name[length - end] = '\0';
	return true;
}

static bool has_interface(const struct capture_reader *reader, const char *name)
{
	for (uint32_t i = 0; i < reader->interface_count; i++)
		if (strcmp(reader->interfaces[i].name, name) == 0)
			return true;
	return false;
}

// weft names an interface "sender > receiver" with the plane of each: both ways of a cable are one
// place, and the planes of a NIC are, too.
void place_words(char *ret, size_t bytes, const struct capture_reader *reader,
		 const struct capture_interface *interface)
{
	char name[CAPTURE_TEXT_BYTES], *second;
	snprintf(name, sizeof(name), "%s", interface->name);
	second = strstr(name, " > ");
	if (second == NULL) {
		snprintf(ret, bytes, "%s", name);
		return;
	}
	const char *end = cut_end(name) && has_interface(reader, name) ? END : "";
	*second = '\0';
	second += 3;
	char *first = name;
	if (strncmp(first, "nic ", 4) != 0 &&
	    (strncmp(second, "nic ", 4) == 0 || strcmp(first, second) > 0)) {
		char *swap = first;
		first = second;
		second = swap;
	}
	char *plane = strstr(first, " plane ");
	if (strncmp(first, "nic ", 4) == 0 && plane != NULL)
		*plane = '\0', second = first; // every cable of a NIC
	snprintf(ret, bytes, second == first ? "%s%s%s" : "%s - %s%s", first,
		 second == first ? end : second, second == first ? "" : end);
}

static uint32_t place_of(struct call *call, const struct capture_reader *reader,
			 const struct capture_interface *interface)
{
	char name[2 * CAPTURE_TEXT_BYTES];
	place_words(name, sizeof(name), reader, interface);
	for (uint32_t i = 0; i < call->place_count; i++)
		if (strcmp(call->places[i], name) == 0)
			return i;
	if (call->place_count == FLOW_PLACES_MAX)
		return FLOW_PLACES_MAX - 1;
	strcpy(call->places[call->place_count], name);
	return call->place_count++;
}

// ---------------------------------------------------------------- a file

static void note_file(struct capture_file *file, const struct capture_reader *reader,
		      const struct source *source)
{
	file->bytes = source->bytes;
	file->frames = reader->frames;
	file->odd_frames = reader->odd_frames;
	file->odd_at = reader->odd_at;
	file->odd_stamps = reader->odd_stamps;
	file->odd_stamp_at = reader->odd_stamp_at;
	file->odd_sections = reader->odd_sections;
	file->odd_section_at = reader->odd_section_at;
	file->odd_blocks = reader->odd_blocks;
	file->odd_block_at = reader->odd_block_at;
	file->comments = reader->comments;
	file->interfaces = reader->interface_count;
	file->sections = reader->sections;
	file->is_pcapng = reader->is_pcapng;
	file->end = reader->end;
	memcpy(file->why, reader->why, sizeof(file->why));
	for (uint32_t i = 0; i < reader->interface_count; i++) {
		file->received += reader->interfaces[i].received;
		file->dropped += reader->interfaces[i].dropped;
		file->left_out += reader->interfaces[i].left_out;
		file->has_dropped |= reader->interfaces[i].has_dropped;
	}
}

const char *file_name(const struct capture_file *file)
{
	return strcmp(file->path, "-") == 0 ? "standard input" : file->path;
}

static void note_times(struct capture_file *file, const struct flow_packet *packet)
{
	if (!packet->has_time)
		return;
	if (!file->has_times) {
		file->first_ns = packet->at_ns;
		file->place = packet->place;
	}
	file->has_times = true;
	file->last_ns = packet->at_ns;
}

#define AHEAD_MAX 40 // frames: WIRE_ICRCS_MAX with an ICRC, and ACKs among them
#define EXPECTED 4   // whose state is fetched while one is taken

// Frames that are dissected and not yet in the analysis: their ICRCs are computed together.
struct ahead {
	struct flow_packet packets[AHEAD_MAX];
	struct wire_record records[AHEAD_MAX];
	uint64_t odd_frames[AHEAD_MAX]; // in the file before each
	struct wire_icrcs icrcs;
	uint32_t count;
};

static void check_icrcs(void *icrcs)
{
	wire_icrcs_check(icrcs);
}

// `odd_frames`: of the file that are taken.
static void take_ahead(struct call *call, struct flow *flow, struct ahead *ahead,
		       uint64_t *odd_frames)
{
	wire_icrcs_check(&ahead->icrcs);
	for (uint32_t i = 0; i < EXPECTED && i < ahead->count; i++)
		flow_expect(flow, &ahead->packets[i]);
	for (uint32_t i = 0; i < ahead->count; i++) {
		if (i + EXPECTED < ahead->count)
			flow_expect(flow, &ahead->packets[i + EXPECTED]);
		for (; *odd_frames < ahead->odd_frames[i]; ++*odd_frames)
			flow_take_unread(flow);
		copies_take(&call->copies, &ahead->packets[i]);
		flow_take(flow, &ahead->packets[i]);
	}
	ahead->count = 0;
}

static void read_frames(struct call *call, struct capture_file *file, struct capture_reader *reader,
			struct flow *flow, const struct wire_config *config, struct source *source,
			struct bar *bar)
{
	static uint16_t places[CAPTURE_INTERFACES_MAX]; // + 1; 0: not asked yet
	memset(places, 0, sizeof(places));
	struct capture_frame frame;
	struct ahead ahead = {.count = 0};
	uint64_t odd_frames = 0;
	reader->before_move = check_icrcs;
	reader->of_move = &ahead.icrcs;
	while (capture_next(reader, &frame)) {
		const struct capture_interface *interface = &reader->interfaces[frame.interface];
		if (places[frame.interface] == 0)
			places[frame.interface] = (uint16_t)(place_of(call, reader, interface) + 1);
		struct wire_record *record = &ahead.records[ahead.count];
		ahead.odd_frames[ahead.count] = reader->odd_frames;
		struct flow_packet *packet = &ahead.packets[ahead.count++];
		wire_dissect_due(config, interface->link, frame.bytes, frame.captured,
				 frame.original, record, &ahead.icrcs);
		*packet = (struct flow_packet){.record = record,
					       .number = bar->frames + 1,
					       .at_ns = frame.at_ns,
					       .has_time = frame.has_time,
					       .place = places[frame.interface] - 1u};
		note_times(file, packet);
		if (ahead.count == AHEAD_MAX || ahead.icrcs.count == WIRE_ICRCS_MAX)
			take_ahead(call, flow, &ahead, &odd_frames);
		bar_frame(bar, source);
	}
	reader->before_move = NULL;
	take_ahead(call, flow, &ahead, &odd_frames);
}

static int read_file(struct call *call, struct capture_file *file, struct capture_reader *reader,
		     struct flow *flow, const struct wire_config *config, struct bar *bar)
{
	struct source source;
	int rc = source_open(&source, file->path, reader, &call->refusal);
	if (rc < 0)
		return rc;
	bar_file(bar);
	read_frames(call, file, reader, flow, config, &source, bar);
	note_file(file, reader, &source);
	if (file->frames == 0 && file->odd_frames > 0 && file->end == CAPTURE_WHOLE)
		snprintf(file->why, sizeof(file->why),
			 "none of its frames can be read, the first at byte %" PRIu64
			 ": lengths beyond the block, or an unknown interface",
			 file->odd_at);
	source_close(&source);
	return 0;
}

// A file of which nothing could be read stops nothing where others can.
static int read_all(struct call *call, struct capture_reader *reader, struct flow *flow,
		    const struct wire_config *config)
{
	struct bar bar;
	int rc = 0;
	bar_begin(&bar, call->count);
	for (uint32_t i = 0; i < call->count; i++) {
		struct capture_file *file = &call->files[i];
		file->path = call->paths[i];
		int one = read_file(call, file, reader, flow, config, &bar);
		if (one < 0) {
			rc = one;
			snprintf(file->why, sizeof(file->why), "%s", call->refusal.text);
		} else {
			call->files_read++;
			bool is_empty = file->frames == 0 &&
				(file->end != CAPTURE_WHOLE || file->odd_frames > 0);
			if (is_empty && file->why[0] != '\0') {
				snprintf(call->refusal.file, sizeof(call->refusal.file), "%s",
					 file_name(file));
				rc = refuse(&call->refusal, -EINVAL, file->why);
				call->files_read--;
			}
		}
	}
	bar_end(&bar);
	return call->files_read > 0 ? 0 : rc;
}

#define HUGE_BYTES ((size_t)2 << 20) // a huge page

// The reader's buffer and `bytes` behind it. The buffer and what each frame counts in share one
// huge page; of the rest few streams touch little, here and there.
static uint8_t *reserve(size_t bytes)
{
	bytes += CAPTURE_BUFFER_BYTES;
	uint8_t *base = memory_reserve(HUGE_BYTES + bytes);
	if (base == NULL)
		return NULL;
	base += -(uintptr_t)base % HUGE_BYTES;
	if (bytes > HUGE_BYTES)
		madvise(base + HUGE_BYTES, bytes - HUGE_BYTES, MADV_NOHUGEPAGE);
	return base;
}

int input_read(struct call *call)
{
	static struct capture_reader reader; // large: kept off the stack
	struct flow_config config = {0};
	wire_config_default(6, &config.wire);
	struct wire_config wire = config.wire;
	size_t bytes = flow_bytes(&config);
	uint8_t *base = reserve(bytes);
	if (base == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for an analysis: % bytes",
			      (int64_t)bytes);
	reader.buffer = base;
	reader.capacity = CAPTURE_BUFFER_BYTES;
	struct arena arena;
	arena_init(&arena, base + CAPTURE_BUFFER_BYTES, bytes);
	struct flow *flow = flow_create(&arena, &config);
	check(flow != NULL);
	arena_seal(&arena);
	int rc = read_all(call, &reader, flow, &wire);
	call->report = flow_end(flow);
	return rc;
}
