// SPDX-License-Identifier: Apache-2.0
// What a switch writes into a frame. It looks at the first IP header, which with SRv6 is the outer
// one, and no further, but for the UDP header of what it cuts.

#include <weft/wire/wire.h>

#include "class.h"
#include "ip.h"
#include "srv6.h"
#include "udp.h"

// Cuts a whole frame, says so in its lengths if the config wants it. Returns what is left. Of the
// UDP checksum there is none then: over what is left it would have to be made anew by a device that
// does not look above UDP, and the old one would be wrong.
static uint32_t trim(const struct wire_config *config, uint8_t *frame, const struct wire_view *view)
{
	uint32_t keep = config->trim_frame_bytes != 0 ? config->trim_frame_bytes : view->payload_at;
	keep = smaller(keep, view->frame_bytes);
	udp_unseal(frame + view->udp_at);
	if (config->trim_rewrites_lengths && view->has_srv6) {
		ip_put_payload_bytes(frame + view->outer_at, keep - view->outer_at - IPV6_BYTES);
	} else if (config->trim_rewrites_lengths) {
		ip_put_payload_bytes(frame + view->ip_at, keep - view->udp_at);
		udp_put_bytes(frame + view->udp_at, keep - view->udp_at);
	}
	return keep;
}

// Goes on by a uSID for each hop that the frame has not made.
static void use_usids(uint8_t *frame, const struct wire_view *view, uint8_t hop_limit)
{
	uint8_t before = ip_hop_limit(frame + view->outer_at);
	if (before > hop_limit)
		srv6_advance(frame, view, before - hop_limit);
}

size_t wire_patch(const struct wire_config *config, const struct packet *packet, void *frame,
		  const struct wire_view *view)
{
	uint8_t *ip = (uint8_t *)frame + (view->has_srv6 ? view->outer_at : view->ip_at);
	uint8_t hop_limit = hop_limit_of(config, packet);
	bool is_trimmed = packet->flags & PACKET_TRIMMED;
	uint32_t bytes = view->frame_bytes;
	if (is_trimmed && view->icrc != WIRE_ICRC_ABSENT)
		bytes = trim(config, frame, view);
	if (view->has_srv6)
		use_usids(frame, view, hop_limit);
	ip_put_class(ip, is_trimmed ? config->dscp[class_of_packet(packet)] : view->dscp,
		     packet->flags & PACKET_CE ? ECN_CE : view->ecn);
	ip_put_hop_limit(ip, hop_limit);
	ip_seal(ip);
	return bytes;
}
