// SPDX-License-Identifier: Apache-2.0
// What the files of the dissector share: a frame that is being read, from the link down to the BTH.
#pragma once

#include <weft/wire/wire_dissect.h>
#include <weft/wire/wire_icrcs.h>

// Fields that tell who, where or what, for who hides them (anonymize.c).
enum wire_span_kind {
	SPAN_MAC,
	SPAN_IPV4,
	SPAN_IPV6, // or a GID; several in a row
	SPAN_KEY,  // R_Key, Q_Key
	SPAN_VA,
	SPAN_IMM,
	SPAN_DATA,    // of the application
	SPAN_OPTIONS, // of an IPv6 header
	SPAN_SUM_IP,  // all that a checksum is over: an IPv4 header
	SPAN_SUM_UDP, // a UDP packet
	SPAN_SUM_TCP,
};
struct wire_span {
	uint32_t at, bytes;
	uint32_t ip_at; // of a UDP or TCP packet: whose addresses are in its checksum
	uint8_t kind;	// enum wire_span_kind
	uint8_t ip_version;
};
#define SPANS_MAX 96 // five headers in each other with at most 13, and at most 7 behind the last
struct wire_spans {
	struct wire_span list[SPANS_MAX];
	uint32_t count;
	uint32_t known; // nothing at or behind this offset was understood
	bool has_icrc;	// whether the view of it is there
	struct wire_view icrc;
};

struct dissection {
	const struct wire_config *config;
	const uint8_t *frame;
	uint32_t captured;
	uint32_t at;  // offset of the header to be read next
	uint32_t end; // of the packet by its own lengths; at most the frame's original length
	uint32_t ip_at, bth_at;
	uint8_t ip_version; // of the header at ip_at; of a GRH 6
	struct wire_record *ret;
	struct wire_spans *spans; // NULL: nobody asks
	struct wire_icrcs *icrcs; // NULL: each ICRC is computed at once
};

// Notes a field at `at`, if all of it was captured.
void dissect_add(struct dissection *d, enum wire_span_kind kind, uint32_t at, uint32_t bytes);

static inline void dissect_note(struct dissection *d, enum wire_span_kind kind, uint32_t at,
				uint32_t bytes)
{
	if (d->spans != NULL)
		dissect_add(d, kind, at, bytes);
}

// All before `end` is understood, if it was captured.
static inline void dissect_know(struct dissection *d, uint32_t end)
{
	if (d->spans != NULL && end <= d->captured && end > d->spans->known)
		d->spans->known = end;
}

// Whether `bytes` bytes from `at` on were captured; else notes `short_reason`.
static inline bool dissect_has(struct dissection *d, uint32_t bytes, enum wire_reason short_reason)
{
	if ((uint64_t)d->at + bytes <= d->captured) {
		dissect_know(d, d->at + bytes);
		return true;
	}
	d->ret->stopped = (uint8_t)short_reason;
	return false;
}

static inline void dissect_found(struct dissection *d, enum wire_found what)
{
	d->ret->found = (uint8_t)what;
}

// The packet at `at` ends where a length in its header tells.
static inline void dissect_end(struct dissection *d, uint64_t bytes)
{
	uint64_t end = d->at + bytes;
	if (end < d->end)
		d->end = (uint32_t)end;
}

// What is at `at`: an Ethernet header, what an EtherType names, an IP header, a GRH. `nest`: how
// many tunnels it is in.
void dissect_ether(struct dissection *d, int nest);
void dissect_ether_type(struct dissection *d, uint16_t type, int nest);
void dissect_ip(struct dissection *d, uint8_t version, int nest);
void dissect_grh(struct dissection *d, enum wire_found what);

// The BTH at `at` and what is behind it: of InfiniBand's transports, or of MRC, which `found` in
// the record says. Checks the ICRC where the whole packet is there.
void dissect_transport(struct dissection *d);

// A UET packet behind its UDP header.
void dissect_uet(struct dissection *d);

// wire_dissect(), which also notes fields. `spans` is written whole.
void dissect_spans(const struct wire_config *config, uint16_t link, const void *frame,
		   uint32_t captured, uint32_t original, struct wire_record *ret,
		   struct wire_spans *spans);

// Leaves the ICRC of a frame to wire_icrcs_check(). False: it is to be computed now.
bool icrcs_add(struct wire_icrcs *icrcs, const uint8_t *frame, const struct wire_view *view,
	       struct wire_record *record);
