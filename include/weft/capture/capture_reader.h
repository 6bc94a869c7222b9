// SPDX-License-Identifier: Apache-2.0
// Capture files in: pcap (both byte orders, micro- and nanoseconds) and pcapng (sections,
// interfaces of any link and clock, statistics, comments), to the last good byte. Not a file: bytes
// come from a function of the caller's, so a pipe is as good. Frames lie in the caller's buffer,
// not copied. Sources: IETF draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#define CAPTURE_BUFFER_BYTES ((size_t)1 << 20) // what a buffer should have: read() beats mmap so
#define CAPTURE_INTERFACES_MAX 1024 // of a file, all sections together; the same one again is one
#define CAPTURE_TEXT_BYTES 96	    // of names and descriptions; longer: cut
#define CAPTURE_COMMENT_BYTES 256   // of comments of frames; longer: cut

// How the file ended.
enum capture_end {
	CAPTURE_OPEN,	 // not yet
	CAPTURE_WHOLE,	 // at the end of a record
	CAPTURE_CUT,	 // within one: what went before is good
	CAPTURE_DAMAGED, // at a record that cannot be one
	CAPTURE_UNREAD,	 // the source gave an error
};

// Gives up to `bytes` more bytes of the file. Returns how many, 0 at the end, or -errno.
typedef int64_t capture_read_fn(void *context, void *to, size_t bytes);

// Where frames were seen: an interface of pcapng, or the whole of a pcap file.
struct capture_interface {
	char name[CAPTURE_TEXT_BYTES];	      // as the file tells it, or empty
	char description[CAPTURE_TEXT_BYTES]; // or empty
	uint64_t line_bps;		      // 0: not said
	uint64_t units;			      // stamps count 1/units of a second
	int64_t offset_s;		      // added to stamps
	uint64_t frames;		      // read so far
	uint64_t received, dropped;	      // by the last statistics block of each section
	uint64_t left_out;		      // received and neither dropped nor in the file
	uint64_t earlier[3];		      // these three, of the sections before this one
	uint32_t snap_bytes;		      // frames are cut to this; 0: not said
	uint16_t link;			      // LINKTYPE_...
	bool has_received, has_dropped;
	bool is_odd; // its clock cannot be: frames have no time
};

// One frame. Its bytes and comment are good until the next call.
struct capture_frame {
	const uint8_t *bytes;
	uint32_t captured, original; // bytes that are there; bytes that were on the line
	uint32_t interface;	     // index into capture_reader.interfaces
	int64_t at_ns;		     // UNIX time, rounded down; 0 without a clock
	uint64_t number;	     // from 1
	uint64_t offset;	     // of its record in the file
	bool has_time;
	char comment[CAPTURE_COMMENT_BYTES]; // the first one; empty: none
};

struct capture_reader {
	// The caller's.
	capture_read_fn *read;
	void *context;
	uint8_t *buffer;
	size_t capacity;
	void (*before_move)(void *of_move); // or NULL: called before frames' bytes are moved or
	void *of_move;			    // written over, which stay where they are till then
	// What was found.
	enum capture_end end;
	char why[REFUSAL_TEXT_BYTES]; // of an end that is not whole
	uint64_t frames;	      // given out
	uint64_t odd_frames;	      // left out: lengths beyond their block, unknown interface
	uint64_t odd_at;	      // where the first of them is
	uint64_t odd_stamps;   // a clock that cannot be, a fraction of a second or more, or beyond
			       // the year 2262
	uint64_t odd_stamp_at; // where the first of them is
	uint64_t odd_sections; // shorter or longer than they say, or too short for their head
	uint64_t odd_section_at; // where the first of them is
	uint64_t odd_blocks;   // of other kinds: options beyond their end or of a length that none
			       // has, too short for their head, statistics of an unknown interface
	uint64_t odd_block_at; // where the first of them is
	uint64_t comments;     // of sections, interfaces and frames
	uint32_t sections;
	uint32_t interface_count, interfaces_left_out;
	char program[CAPTURE_TEXT_BYTES]; // who wrote it, by the last section
	bool is_pcapng;
	// Its own.
	bool is_swapped, is_modified, is_at_end;
	uint64_t section_at, section_end; // of this one, as it says; 0: it does not say
	uint64_t odd_block_last;	  // where the last of the odd ones is
	uint32_t section_first;		  // interfaces of earlier sections
	uint32_t section_count;		  // of this one
	size_t from, to;		  // what there is in the buffer
	uint64_t offset;		  // of `from` in the file
	int64_t read_error;
	// So many as were found. Last, for they are most of it, and are not cleared.
	struct capture_interface interfaces[CAPTURE_INTERFACES_MAX];
	uint16_t section_interfaces[CAPTURE_INTERFACES_MAX]; // where each of this section is
};

#ifdef __cplusplus
extern "C" {
#endif

// Begins a file: reads its head. `reader` has read, context, buffer and capacity; the rest is
// cleared. -EINVAL with the reason where this is no capture: the file is none of these formats
// (what it looks like is named), or ends in its head; -EIO where the source gives an error.
int capture_begin(struct capture_reader *reader, struct refusal *refusal);

// The next frame: true; or false at the end, and reader->end says which.
bool capture_next(struct capture_reader *reader, struct capture_frame *ret);

// "whole", "cut", ...
const char *capture_end_name(enum capture_end end);

#ifdef __cplusplus
}
#endif
