// SPDX-License-Identifier: Apache-2.0
// pcapng blocks written into a buffer of the caller's: no file, no clock, no allocation. Who owns
// the file drains the buffer when it is full. Little-endian blocks, nanosecond time stamps. Source:
// IETF draft-ietf-opsawg-pcapng (the format tcpdump and Wireshark read), sections 4.1 to 4.6.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <weft/core/time.h>

#define PCAPNG_TEXT_BYTES_MAX 255 // of names and comments; longer ones are cut
#define PCAPNG_LINK_ETHERNET 1	  // LINKTYPE_ETHERNET

// A buffer that blocks are appended to. All functions below return -ENOBUFS and leave it as it is
// when a block does not fit.
struct pcapng {
	uint8_t *at;
	size_t capacity;  // bytes
	size_t used;	  // bytes; set it to 0 after draining
	uint64_t base_ns; // UNIX time of the run's time 0, in nanoseconds
};

// One tap point.
struct pcapng_interface {
	const char *name;	 // "t0.3 up 5 -> t1.7"
	const char *description; // or NULL
	uint32_t snap_bytes;	 // frames are cut to this; 0 = not cut
	uint64_t line_bps;	 // 0 = not said
	uint16_t link;		 // LINKTYPE_...
};

// One frame.
struct pcapng_frame {
	uint32_t interface; // in the order of pcapng_interface() calls, from 0
	ps_t at;	    // virtual time; rounded down to a nanosecond
	const void *bytes;
	uint32_t captured;   // bytes at `bytes`, at most the interface's snap_bytes
	uint32_t original;   // bytes of the frame on the line
	const char *comment; // or NULL
	const char *second;  // one more comment, or NULL
};

#ifdef __cplusplus
extern "C" {
#endif

// The section header, which every file begins with. `program` names who wrote it, `comment` says
// something about the whole file; or NULL.
int pcapng_begin(struct pcapng *to, const char *program, const char *comment);

// Describes the next interface.
int pcapng_interface(struct pcapng *to, const struct pcapng_interface *interface);

// One frame (enhanced packet block).
int pcapng_frame(struct pcapng *to, const struct pcapng_frame *frame);

// Counters of an interface at `at`.
struct pcapng_counts {
	uint64_t received; // frames that passed the tap
	uint64_t lost;	   // of these, by the capture
	uint64_t left_out; // of these, since the file was full: written only where there are some
};
int pcapng_statistics(struct pcapng *to, uint32_t interface, ps_t at,
		      const struct pcapng_counts *counts);

// Bytes that a frame's block takes.
size_t pcapng_frame_bytes(const struct pcapng_frame *frame);

#ifdef __cplusplus
}
#endif
