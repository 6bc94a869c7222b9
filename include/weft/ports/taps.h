// SPDX-License-Identifier: Apache-2.0
// Captures and logs as who starts a run asks for them.
#pragma once

#include <stdint.h>

// What is written of the packets that pass the scenario's taps (every cable of a NIC if it has
// none).
struct tap_options {
	const char *pcap;    // pcapng file with frames, or NULL
	const char *log;     // text file with packets, one a line, or NULL; see docs/result.md
	const char *program; // what the capture says wrote it
};

struct tap_counts {
	uint64_t frames; // that passed, and found room
	uint64_t lost;	 // passed, but found no room in the buffers of a window
	uint64_t bytes;	 // of the files
	uint64_t pcap_left_out, log_left_out; // of `frames`: beyond capture.file_bytes
	int pcap_error,
		log_error; // errno of what cut the file: the rest is not in it; 0: it is whole
};
