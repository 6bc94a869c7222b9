// SPDX-License-Identifier: Apache-2.0
// SRv6 headers: outer IPv6, and SRH.

#include "srv6.h"

#include <string.h>

#include "bytes.h"
#include "eth.h"

enum { // SRH
	SRH_NEXT_AT = 0,
	SRH_LENGTH_AT = 1, // in units of 8 bytes behind the first 8
	SRH_TYPE_AT = 2,
	SRH_LEFT_AT = 3, // segments that are still to come
	SRH_LAST_AT = 4, // index of the last segment in the list
	SRH_LIST_AT = 8,
};
#define SRH_FIRST_BYTES 8
#define SRH_TYPE 4
#define SRH_UNITS_PER_SEGMENT 2
#define NEXT_IPV4 4
#define NEXT_IPV6 41
#define NEXT_ROUTING 43
#define ADDRESS_BYTES 16
#define BLOCK_BYTES 4

// --- parse

// The SRH, of which all is to be there.
static enum wire_reason parse_srh(const uint8_t *at, size_t bytes, uint8_t *ret_next,
				  uint32_t *ret_bytes)
{
	if (bytes < SRH_FIRST_BYTES)
		return WIRE_SHORT_IP;
	if (at[SRH_TYPE_AT] != SRH_TYPE)
		return WIRE_NOT_UDP;
	uint32_t segments = at[SRH_LAST_AT] + 1u;
	if (at[SRH_LENGTH_AT] != segments * SRH_UNITS_PER_SEGMENT || at[SRH_LEFT_AT] > segments)
		return WIRE_BAD_SEGMENTS;
	*ret_next = at[SRH_NEXT_AT];
	*ret_bytes = SRH_FIRST_BYTES + segments * ADDRESS_BYTES;
	return bytes < *ret_bytes ? WIRE_SHORT_IP : WIRE_FINE;
}

enum wire_reason srv6_parse(const uint8_t *frame, size_t bytes, struct wire_view *view,
			    struct ip_head *ret_inner)
{
	struct ip_head outer;
	uint8_t next;
	uint32_t srh = 0;
	enum wire_reason reason = ip_parse_outer(frame + ETH_BYTES, bytes - ETH_BYTES, &outer,
						 &next);
	uint32_t at = ETH_BYTES + IPV6_BYTES;
	if (reason == WIRE_FINE && next == NEXT_ROUTING)
		reason = parse_srh(frame + at, bytes - at, &next, &srh);
	if (reason != WIRE_FINE)
		return reason;
	if (next != NEXT_IPV4 && next != NEXT_IPV6)
		return WIRE_NOT_UDP;
	view->has_srv6 = true;
	view->has_srh = srh != 0;
	view->outer_at = ETH_BYTES;
	view->srh_at = srh != 0 ? at : 0;
	view->ip_at = at + srh;
	view->ip_version = next == NEXT_IPV4 ? 4 : 6;
	view->frame_bytes = at + outer.payload_bytes;
	view->dscp = outer.dscp;
	view->ecn = outer.ecn;
	view->hop_limit = outer.hop_limit;
	return ip_parse(frame + view->ip_at, bytes - view->ip_at, view->ip_version, ret_inner);
}

bool srv6_is_ours(const struct wire_config *config, const uint8_t *frame,
		  const struct wire_view *view)
{
	return get_be32(frame + view->outer_at + IPV6_TARGET_AT) == config->srv6.block;
}

// --- build

static bool is_local(const struct wire_srv6 *srv6, const struct packet *packet)
{
	return packet->source / srv6->t0_nics == packet->target / srv6->t0_nics;
}

static uint32_t usid_count(const struct wire_srv6 *srv6, const struct packet *packet)
{
	bool is_near = is_local(srv6, packet);
	uint32_t count = 0;
	for (uint32_t i = 0; i < srv6->usid_count; i++)
		count += !(is_near && srv6->usids[i].is_trunk);
	return count;
}

uint32_t srv6_bytes(const struct wire_config *config, const struct packet *packet)
{
	const struct wire_srv6 *srv6 = &config->srv6;
	bool is_long = srv6->usid_count > WIRE_ADDRESS_USIDS; // mostly not: no need to count
	if (srv6->has_srh || (is_long && usid_count(srv6, packet) > WIRE_ADDRESS_USIDS))
		return IPV6_BYTES + SRV6_SRH_BYTES;
	return IPV6_BYTES;
}

// How many uSIDs of a packet the outer destination has; an SRH has the others.
static uint32_t usids_ahead(const struct wire_srv6 *srv6, const struct packet *packet)
{
	uint32_t count = usid_count(srv6, packet) - srv6->has_srh;
	return count < WIRE_ADDRESS_USIDS ? count : WIRE_ADDRESS_USIDS;
}

static struct wire_ev_field field_of(const struct wire_srv6 *srv6, const struct wire_usid *usid,
				     const struct packet *packet)
{
	uint32_t part = usid->part == WIRE_USID_T0 ? packet->target / srv6->t0_nics
		: usid->part == WIRE_USID_PORT	   ? packet->target % srv6->t0_nics
						   : 0;
	return (struct wire_ev_field){
		.init = usid->init | part | (packet->plane + 1u) << srv6->plane_shift,
		.mask = usid->mask,
		.max = usid->max,
		.width = USID_BITS,
	};
}

// Both addresses as they leave the NIC: the block and the plane's, the target's and the EV's uSIDs.
static void put_addresses(const struct wire_config *config, const struct packet *packet,
			  uint8_t *ret)
{
	const struct wire_srv6 *srv6 = &config->srv6;
	const struct wire_ev_field block = {.init = srv6->block, .width = 32};
	struct wire_ev_field fields[2 + WIRE_USIDS_MAX];
	uint8_t ev[sizeof(packet->ev)];
	uint32_t count = 0, usids = 0, ahead = usids_ahead(srv6, packet);
	bool is_near = is_local(srv6, packet);
	fields[count++] = block;
	for (uint32_t i = 0; i < srv6->usid_count; i++) {
		if (is_near && srv6->usids[i].is_trunk)
			continue;
		if (usids++ == ahead) { // the segment: behind the rest of the destination, zeroes
			while (count <= WIRE_ADDRESS_USIDS)
				fields[count++] = (struct wire_ev_field){.width = USID_BITS};
			fields[count++] = block;
		}
		fields[count++] = field_of(srv6, &srv6->usids[i], packet);
	}
	put_be32(ev, config->ip_version == 4 ? packet->ev << 16 : packet->ev);
	wire_ev_expand(fields, count, ev, 2 * ADDRESS_BYTES, ret); // any EV goes somewhere
}

void srv6_build(const struct wire_config *config, const struct packet *packet,
		const struct wire_view *view, uint32_t bytes, uint8_t *frame)
{
	uint8_t addresses[2 * ADDRESS_BYTES];
	uint8_t *outer = frame + view->outer_at;
	uint8_t next = view->ip_version == 4 ? NEXT_IPV4 : NEXT_IPV6;
	struct ip_head head = {
		.payload_bytes = bytes,
		.dscp = view->dscp,
		.ecn = view->ecn,
		.hop_limit = view->hop_limit,
	};
	put_addresses(config, packet, addresses);
	ip_build_outer(config, packet, &head, view->has_srh ? NEXT_ROUTING : next, outer);
	memcpy(outer + IPV6_TARGET_AT, addresses, ADDRESS_BYTES);
	if (view->has_srh) {
		uint8_t *srh = frame + view->srh_at;
		memset(srh, 0, SRH_FIRST_BYTES);
		srh[SRH_NEXT_AT] = next;
		srh[SRH_LENGTH_AT] = SRH_UNITS_PER_SEGMENT;
		srh[SRH_TYPE_AT] = SRH_TYPE;
		srh[SRH_LEFT_AT] = 1; // reduced: the first segment is the destination alone
		memcpy(srh + SRH_LIST_AT, addresses + ADDRESS_BYTES, ADDRESS_BYTES);
	}
	srv6_advance(frame, view, config->hop_limit - view->hop_limit);
}

// --- on the way

// What the node does that the first uSID names (RFC 9800, flavor NEXT-CSID).
static enum wire_srv6_step step(uint8_t *frame, const struct wire_view *view)
{
	static const uint8_t none[ADDRESS_BYTES - BLOCK_BYTES - USID_BYTES];
	uint8_t *target = frame + view->outer_at + IPV6_TARGET_AT;
	uint8_t *list = target + BLOCK_BYTES, *srh = frame + view->srh_at;
	if (memcmp(list + USID_BYTES, none, sizeof(none)) != 0) {
		memmove(list, list + USID_BYTES, sizeof(none));
		memset(list + sizeof(none), 0, USID_BYTES);
		return WIRE_SRV6_SHIFTED;
	}
	if (!view->has_srh || srh[SRH_LEFT_AT] == 0)
		return WIRE_SRV6_LAST;
	uint32_t left = srh[SRH_LEFT_AT] - 1u;
	srh[SRH_LEFT_AT] = (uint8_t)left;
	memcpy(target, srh + SRH_LIST_AT + left * ADDRESS_BYTES, ADDRESS_BYTES);
	return WIRE_SRV6_SEGMENT;
}

void srv6_advance(uint8_t *frame, const struct wire_view *view, uint32_t hops)
{
	while (hops > 0 && step(frame, view) != WIRE_SRV6_LAST)
		hops--;
}

enum wire_srv6_step wire_srv6_shift(uint64_t route, void *frame, const struct wire_view *view)
{
	uint8_t *at = frame;
	if (!view->has_srv6 || get_be64(at + view->outer_at + IPV6_TARGET_AT) >> 16 != route)
		return WIRE_SRV6_OTHERS;
	return step(at, view);
}

bool srv6_is_on_route(const struct wire_config *config, const struct packet *packet,
		      const uint8_t *frame, const struct wire_view *view)
{
	uint8_t route[ETH_BYTES + WIRE_SRV6_BYTES_MAX];
	struct wire_view own = *view;
	if (!view->has_srv6 || view->has_srh != (srv6_bytes(config, packet) > IPV6_BYTES))
		return false;
	own.srh_at = view->outer_at + IPV6_BYTES;
	memset(route, 0, sizeof(route));
	srv6_build(config, packet, &own, 0, route);
	const uint8_t *target = frame + view->outer_at + IPV6_TARGET_AT;
	const uint8_t *srh = frame + view->srh_at, *own_srh = route + own.srh_at;
	if (memcmp(target, route + view->outer_at + IPV6_TARGET_AT, ADDRESS_BYTES) != 0)
		return false;
	return !view->has_srh ||
		(srh[SRH_LAST_AT] == 0 && srh[SRH_LEFT_AT] == own_srh[SRH_LEFT_AT] &&
		 memcmp(srh + SRH_LIST_AT, own_srh + SRH_LIST_AT, ADDRESS_BYTES) == 0);
}
