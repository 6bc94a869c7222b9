// SPDX-License-Identifier: Apache-2.0
// What the files of weft pcap share: the call, its captures, and how numbers are said.
#pragma once

#include <stdio.h>

#include <weft/capture/capture_gunzip.h>
#include <weft/capture/capture_reader.h>
#include <weft/flow/flow.h>

#define FILES_MAX 256

// What was found in one file.
struct capture_file {
	const char *path;
	uint64_t bytes; // read
	uint64_t frames, odd_frames, odd_at, odd_stamps, odd_stamp_at, comments;
	uint64_t odd_sections, odd_section_at, odd_blocks, odd_block_at;
	uint64_t received, dropped; // by its statistics
	uint64_t left_out;	    // by these received and kept, but not in the file
	bool has_dropped, is_pcapng;
	bool has_times;
	uint32_t interfaces, sections;
	uint32_t place;		   // of its first frame
	int64_t first_ns, last_ns; // of its first and its last frame
	enum capture_end end;
	char why[REFUSAL_TEXT_BYTES];
};

#define COPIES_RECENT 64u
#define COPIES_MARKS 4096u

// Frames that were here shortly before, at the same point. All zero at first.
struct copies {
	uint64_t frames, pairs; // with a BTH; of them copies
	int64_t min_ns, max_ns; // from a frame to its copy
	uint64_t recent[COPIES_RECENT];
	uint8_t marks[COPIES_MARKS]; // how many of them have this remainder: most frames have none
	int64_t at_ns[COPIES_RECENT];
	uint32_t at;
};

struct call {
	const char *paths[FILES_MAX];
	uint32_t count;
	bool is_json, is_csv, wants_table;
	const char *rows;		  // list that --csv prints, or NULL
	const char *annotate;		  // file for the annotated capture, or NULL
	const char *profile;		  // that it is held against, or NULL
	const char *nic, *before, *after; // address of a NIC, files with its counters; or NULL
	const char *trace;		  // file for a timeline, or NULL
	const char *page;		  // file for a page, or NULL
	struct refusal refusal;
	struct capture_file files[FILES_MAX];
	uint32_t files_read; // whole or to the last good byte
	char places[FLOW_PLACES_MAX][2 * CAPTURE_TEXT_BYTES];
	uint32_t place_count;
	const struct flow_report *report;
	struct copies copies;
};

// As messages call it.
const char *file_name(const struct capture_file *file);

// Reads all captures into a report. -errno with a reason where nothing could be read.
int input_read(struct call *call);

// A capture that is open, beside its reader.
struct source {
	int descriptor;
	uint64_t bytes;	   // read of the file, packed ones if it is
	uint64_t bytes_of; // the whole file; 0: not known
	struct capture_gunzip *gunzip;
};

// Opens the file at `path` ("-": the standard input) and begins it; the reader has its buffer.
// -errno with a reason that names the file; then there is nothing to close.
int source_open(struct source *source, const char *path, struct capture_reader *reader,
		struct refusal *refusal);
void source_close(struct source *source);

// The place of an interface: the same for both ways of a cable, and for the planes of a NIC.
// Of both ends of a cable in one capture, the far one is a place of its own.
void place_words(char *ret, size_t bytes, const struct capture_reader *reader,
		 const struct capture_interface *interface);

// copies.c. Takes the next frame; and whether nearly all were here twice, which is the capture's
// doing.
void copies_take(struct copies *copies, const struct flow_packet *packet);
bool copies_are_of_tap(const struct copies *copies);

// trust.c. Whether anything can be said; if not, in whose place which line stands, and what to do.
enum trust { TRUST_ALL, TRUST_CUT, TRUST_COPIES, TRUST_ORDER, TRUST_FILES };
enum trust trust_of(const struct call *call);
const char *trust_reason(enum trust trust); // NULL: TRUST_ALL
void trust_headline(FILE *to, const struct call *call, enum trust trust);
void trust_advice(FILE *to, enum trust trust);
// What of a capture that says something is to be taken with care; nothing of most.
void trust_print(FILE *to, const struct call *call);

// The ten lines.
void summary_print(FILE *to, const struct call *call);

// What of the files could not be read, a line each behind `lead`.
void files_print(FILE *to, const struct call *call, const char *lead);

// All of it as JSON.
void json_print(FILE *to, const struct call *call);

// Every stream and every repair.
void table_print(FILE *to, const struct call *call);

// ---------------------------------------------------------------- numbers

#define WORDS_BYTES 64

// Each writes into `ret` and returns it: "1,200", "64 KiB", "2.8 ms", "10.77.0.1".
const char *count_words(char ret[WORDS_BYTES], uint64_t count);
const char *bytes_words(char ret[WORDS_BYTES], uint64_t bytes);
const char *time_words(char ret[WORDS_BYTES], int64_t ns);
const char *range_words(char ret[WORDS_BYTES], int64_t from_ns, int64_t to_ns);
const char *address_words(char ret[WORDS_BYTES], const uint8_t address[16]);
