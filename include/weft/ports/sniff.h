// SPDX-License-Identifier: Apache-2.0
// Frames of a device, by libpcap.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>

struct sniff_choice {
	const char *device;
	const char *filter;    // an expression of libpcap, or NULL
	uint32_t snap_bytes;   // of a frame, at most
	uint32_t buffer_bytes; // of the kernel
	bool is_plain;	       // not promiscuous
};

struct sniff_frame {
	const uint8_t *bytes; // good until the next one
	uint32_t captured, original;
	int64_t at_ns; // UNIX time
};

struct sniff {
	void *handle;
	uint16_t link; // LINKTYPE_...
	bool has_ns;   // stamps are in nanoseconds, not in microseconds
	char why[REFUSAL_TEXT_BYTES];
};

#ifdef __cplusplus
extern "C" {
#endif

// Opens a device. -ENODEV with the reason where it cannot be; -ENOTSUP in a build without libpcap;
// -EINVAL of a filter that is none.
int sniff_open(struct sniff *ret, const struct sniff_choice *choice, struct refusal *refusal);

// 1 and a frame; 0 when none came for a tenth of a second; -EIO, and `why`, when the device is
// gone.
int sniff_next(struct sniff *sniff, struct sniff_frame *ret);

// Frames that passed, and those that the kernel or the device dropped, since it was opened.
void sniff_counts(const struct sniff *sniff, uint64_t *ret_received, uint64_t *ret_dropped);

void sniff_close(struct sniff *sniff);

#ifdef __cplusplus
}
#endif
