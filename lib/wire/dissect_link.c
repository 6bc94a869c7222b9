// SPDX-License-Identifier: Apache-2.0
// The links that captures have beside Ethernet, and the door of the dissector.

#include <string.h>

#include "bytes.h"
#include "dissect.h"

#define LRH_BYTES 8
#define ERF_BYTES 16
#define ERF_ETHERNET 2
#define ERF_INFINIBAND 21

__attribute__((cold, noinline)) static void read_infiniband(struct dissection *d)
{
	dissect_found(d, WIRE_FOUND_INFINIBAND);
	if (!dissect_has(d, LRH_BYTES, WIRE_SHORT_ETH))
		return;
	const uint8_t *at = d->frame + d->at;
	uint8_t next = at[1] & 3;
	d->ret->service = at[1] >> 4;
	dissect_end(d, (get_be16(at + 4) & 0x7ffu) * 4u);
	d->at += LRH_BYTES;
	if (next == 3)
		dissect_grh(d, WIRE_FOUND_INFINIBAND);
	else if (next == 2)
		dissect_transport(d);
	else
		d->ret->stopped = WIRE_NOT_MRC;
}

__attribute__((cold, noinline)) static void read_erf(struct dissection *d)
{
	dissect_found(d, WIRE_FOUND_OTHER);
	if (!dissect_has(d, ERF_BYTES, WIRE_SHORT_ETH))
		return;
	uint8_t type = d->frame[d->at + 8];
	d->at += ERF_BYTES;
	for (bool has_more = type & 0x80; has_more; d->at += 8) { // extension headers
		if (!dissect_has(d, 8, WIRE_SHORT_ETH))
			return;
		has_more = d->frame[d->at] & 0x80;
	}
	if ((type & 0x7f) == ERF_INFINIBAND)
		read_infiniband(d);
	else if ((type & 0x7f) == ERF_ETHERNET) {
		d->at += 2; // padding
		dissect_ether(d, 0);
	} else
		dissect_found(d, WIRE_FOUND_LINK);
}

// IP behind a family number in the order of the machine that captured.
__attribute__((cold, noinline)) static void read_null(struct dissection *d)
{
	dissect_found(d, WIRE_FOUND_OTHER);
	if (!dissect_has(d, 5, WIRE_SHORT_ETH))
		return;
	d->at += 4;
	dissect_ip(d, d->frame[d->at] >> 4, 0);
}

__attribute__((cold, noinline)) static void read_raw(struct dissection *d)
{
	dissect_found(d, WIRE_FOUND_OTHER);
	if (dissect_has(d, 1, WIRE_SHORT_IP))
		dissect_ip(d, d->frame[d->at] >> 4, 0);
}

__attribute__((cold, noinline)) static void read_cooked(struct dissection *d, uint32_t bytes,
							uint32_t type_at, uint32_t mac_at)
{
	dissect_found(d, WIRE_FOUND_OTHER);
	if (!dissect_has(d, bytes, WIRE_SHORT_ETH))
		return;
	uint16_t type = get_be16(d->frame + d->at + type_at);
	dissect_note(d, SPAN_MAC, d->at + mac_at, 6);
	d->at += bytes;
	dissect_ether_type(d, type, 0);
}

static void read_link(struct dissection *d, uint16_t link)
{
	switch (link) {
	case WIRE_LINK_ETHERNET:
		dissect_ether(d, 0);
		break;
	case WIRE_LINK_RAW:
		read_raw(d);
		break;
	case WIRE_LINK_NULL:
		read_null(d);
		break;
	case WIRE_LINK_COOKED:
		read_cooked(d, 16, 14, 6);
		break;
	case WIRE_LINK_COOKED2:
		read_cooked(d, 20, 0, 12);
		break;
	case WIRE_LINK_ERF:
		read_erf(d);
		break;
	case WIRE_LINK_INFINIBAND:
		read_infiniband(d);
		break;
	default:
		dissect_found(d, WIRE_FOUND_LINK);
	}
}

static void dissect(const struct wire_config *config, uint16_t link, const void *frame,
		    uint32_t captured, uint32_t original, struct wire_record *ret,
		    struct wire_spans *spans, struct wire_icrcs *icrcs)
{
	struct dissection d = {.config = config,
			       .frame = frame,
			       .captured = captured,
			       .end = original < captured ? captured : original,
			       .ret = ret,
			       .spans = spans,
			       .icrcs = icrcs};
	memset(ret, 0, sizeof(*ret));
	if (spans != NULL)
		memset(spans, 0, sizeof(*spans));
	ret->captured = captured;
	ret->original = d.end;
	ret->is_cut = captured < d.end;
	read_link(&d, link);
}

void dissect_spans(const struct wire_config *config, uint16_t link, const void *frame,
		   uint32_t captured, uint32_t original, struct wire_record *ret,
		   struct wire_spans *spans)
{
	dissect(config, link, frame, captured, original, ret, spans, NULL);
}

// Nobody asks for spans here: as one function all readers take 131 fewer instructions a frame
// (docs/lab/captures.md).
__attribute__((flatten)) void wire_dissect(const struct wire_config *config, uint16_t link,
					   const void *frame, uint32_t captured, uint32_t original,
					   struct wire_record *ret)
{
	dissect(config, link, frame, captured, original, ret, NULL, NULL);
}

__attribute__((flatten)) void wire_dissect_due(const struct wire_config *config, uint16_t link,
					       const void *frame, uint32_t captured,
					       uint32_t original, struct wire_record *ret,
					       struct wire_icrcs *icrcs)
{
	dissect(config, link, frame, captured, original, ret, NULL, icrcs);
}

const char *wire_found_name(enum wire_found what)
{
	static const char *const names[WIRE_FOUND_COUNT] = {
		"an unknown link",
		"other EtherTypes",
		"ARP",
		"LLDP",
		"pause frames",
		"other IP",
		"TCP",
		"UDP",
		"UET",
		"RoCEv1",
		"RoCEv2",
		"MRC",
		"InfiniBand",
	};
	return names[what];
}
