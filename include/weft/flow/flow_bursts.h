// SPDX-License-Identifier: Apache-2.0
// Of a report of room flow: traffic to each destination in bins of 1, 10 and 100 us.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FLOW_BINS 3	   // widths of bins: 1, 10, 100 us
#define FLOW_BIN_SIZES 128 // sizes of a bin, in steps of a quarter of a doubling
#define FLOW_SENDERS 256   // to one destination that are counted apart
#define FLOW_GAPS 64

// All bins of one width to one destination. Packet numbers are of the capture; a packet counts with
// all its bytes at its stamp.
struct flow_bins {
	uint64_t peak_bytes;		// in the fullest one
	int64_t peak_ns;		// of its first packet
	uint64_t peak_first, peak_last; // its packets
	uint32_t senders_most;		// whose data came in one
	int64_t senders_ns;
	uint64_t senders_first, senders_last;
	uint64_t strays; // packets whose bin was over when they came
	uint64_t bytes_by_size[FLOW_BIN_SIZES];
};

// Whom packets with a BTH go to. A NIC with its planes is one (MRC).
struct flow_target {
	uint8_t address[16];
	uint32_t place;
	bool is_crowded;	  // more than FLOW_SENDERS: counts of senders are least ones
	uint32_t senders;	  // all over the capture, of answers, too
	uint64_t packets, bytes;  // bytes on the line, without preamble and FCS
	uint64_t untimed;	  // packets without a time, which are in no bin
	uint64_t same_stamp;	  // as the packet before, on one plane
	uint64_t gaps[FLOW_GAPS]; // between other stamps, by log2 of ns
	int64_t first_ns, last_ns;
	struct flow_bins bins[FLOW_BINS];
};

// Why bins of a width are withheld.
enum flow_bins_state {
	FLOW_BINS_TOLD,
	FLOW_BINS_UNTIMED,
	FLOW_BINS_COARSE,   // the stamps' step is wider
	FLOW_BINS_SHARED,   // packets of a burst have one stamp, and bursts are as far apart
	FLOW_BINS_BACKWARD, // stamps go back by more
};

struct flow_report;

#ifdef __cplusplus
extern "C" {
#endif

// Whether bins of width `index` can be reported, and why not: "stamps are coarser"; NULL where they
// can.
extern const int64_t flow_bin_ns[FLOW_BINS];
enum flow_bins_state flow_bins_state(const struct flow_report *report,
				     const struct flow_target *target, int index);
const char *flow_bins_reason(enum flow_bins_state state);

// Which share of the bytes came in bins that have at least twice the mean of the time from the
// first packet to the last one, to a quarter of a doubling; -1: that time is shorter than ten bins.
double flow_burst_share(const struct flow_target *target, int index);
#ifdef __cplusplus
}
#endif
