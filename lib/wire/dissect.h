// SPDX-License-Identifier: Apache-2.0
// What the files of the dissector share: a frame that is being read, from the link down to the BTH.
#pragma once

#include <weft/wire/wire_dissect.h>

struct dissection {
	const struct wire_config *config;
	const uint8_t *frame;
	uint32_t captured;
	uint32_t at;  // offset of the header to be read next
	uint32_t end; // of the packet by its own lengths; at most the frame's original length
	uint32_t ip_at, bth_at;
	uint8_t ip_version; // of the header at ip_at; of a GRH 6
	struct wire_record *ret;
};

// Whether `bytes` bytes from `at` on were captured; else notes `short_reason`.
static inline bool dissect_has(struct dissection *d, uint32_t bytes, enum wire_reason short_reason)
{
	if (d->at <= d->captured && d->captured - d->at >= bytes)
		return true;
	d->ret->stopped = (uint8_t)short_reason;
	return false;
}

// The BTH at `at` and what is behind it: of InfiniBand's transports, or of MRC, which `found` in
// the record says. Checks the ICRC where the whole packet is there.
void dissect_transport(struct dissection *d);

// A UET packet behind its UDP header.
void dissect_uet(struct dissection *d);
