// SPDX-License-Identifier: Apache-2.0
// Whole frames: parse, build and seal. What a switch writes is in patch.c.

#include <weft/wire/wire.h>

#include <string.h>

#include "bytes.h"
#include "class.h"
#include "eth.h"
#include "ip.h"
#include "mrc.h"
#include "rc.h"
#include "srv6.h"
#include "udp.h"

// --- whose packet it is

static bool is_write(uint8_t opcode)
{
	return mrc_is_write(opcode) || rc_is_write(opcode);
}

// Bytes from the BTH to the payload; 0 for an unknown opcode.
static uint32_t transport_bytes(uint8_t opcode, bool has_tseth)
{
	uint32_t bytes = mrc_bytes(opcode, has_tseth);
	return bytes != 0 ? bytes : rc_bytes(opcode);
}

// --- where the EV is

// Whether the source port is all there is of it.
static bool is_port_alone(const struct wire_config *config, uint8_t ip_version)
{
	return ip_version == 4 || config->entropy == WIRE_ENTROPY_PORT;
}

static uint32_t ev_of(const struct wire_config *config, const struct wire_view *view)
{
	uint32_t label = view->flow_label & UINT16_MAX;
	if (is_port_alone(config, view->ip_version))
		return view->source_port;
	if (config->ev_place == WIRE_EV_PORT_LOW)
		return label << 16 | view->source_port;
	return (uint32_t)view->source_port << 16 | label;
}

// --- sizes

// Where the (inner) IP header of a packet is.
static uint32_t ip_at(const struct wire_config *config, const struct packet *packet)
{
	return ETH_BYTES + (config->entropy == WIRE_ENTROPY_SRV6 ? srv6_bytes(config, packet) : 0);
}

static uint32_t header_bytes(const struct wire_config *config, const struct packet *packet)
{
	return ip_at(config, packet) + ip_bytes(config->ip_version) + UDP_BYTES +
		transport_bytes(packet->opcode, config->has_tseth);
}

size_t wire_frame_bytes(const struct wire_config *config, const struct packet *packet)
{
	uint32_t headers = header_bytes(config, packet);
	if (packet->flags & PACKET_TRIMMED)
		return headers;
	return headers + ((packet->payload_bytes + 3u) & ~3u) + WIRE_ICRC_BYTES;
}

// Payload of the whole packet. A trimmed one does not say it, but its message does: all its packets
// but the last are full. 0 where it is not known.
static uint32_t whole_payload_bytes(const struct wire_config *config, const struct packet *packet)
{
	uint32_t full = config->full_payload_bytes, message = packet->u.data.message_bytes;
	if (!(packet->flags & PACKET_TRIMMED))
		return packet->payload_bytes;
	if (full == 0 || !mrc_is_write(packet->opcode)) // a probe had none
		return 0;
	switch (packet->opcode) {
	case PACKET_WRITE_FIRST:
	case PACKET_WRITE_MIDDLE:
		return full;
	case PACKET_WRITE_ONLY:
	case PACKET_WRITE_ONLY_IMM:
		return smaller(message, full);
	default:
		return message != 0 ? (message - 1) % full + 1 : 0;
	}
}

// Where lengths say that a built frame ends: where it does, but for one that was trimmed by a
// switch that leaves them.
static uint32_t said_bytes(const struct wire_config *config, const struct packet *packet,
			   const struct wire_view *view, bool is_left)
{
	if (!is_left || !(packet->flags & PACKET_TRIMMED) || config->full_payload_bytes == 0)
		return view->frame_bytes;
	return view->payload_at + whole_payload_bytes(config, packet) + view->pad_bytes +
		WIRE_ICRC_BYTES;
}

// As wire_line_bytes(), for a packet whose frame is known.
static uint32_t line_bytes(const struct wire_config *config, const struct packet *packet,
			   uint32_t frame_bytes)
{
	uint32_t own = frame_bytes + WIRE_LINE_BYTES;
	if (packet->flags & PACKET_TRIMMED)
		return config->charged_trimmed_bytes != 0 ? config->charged_trimmed_bytes : own;
	if (!is_write(packet->opcode))
		return config->charged_control_bytes != 0 ? config->charged_control_bytes : own;
	if (config->charged_header_bytes == 0)
		return own;
	return (uint32_t)config->charged_header_bytes + packet->payload_bytes;
}

uint32_t wire_line_bytes(const struct wire_config *config, const struct packet *packet)
{
	return line_bytes(config, packet, (uint32_t)wire_frame_bytes(config, packet));
}

// --- parse

// What the lengths of IP (of SRv6: the inner one's) and UDP say.
struct said {
	uint32_t end; // of the frame
	uint32_t udp_bytes;
};

// IP behind Ethernet, and behind that what SRv6 has inside.
static enum wire_reason parse_ip(const uint8_t *frame, size_t bytes, struct wire_view *view,
				 struct ip_head *ret)
{
	enum wire_reason reason = ip_parse(frame + ETH_BYTES, bytes - ETH_BYTES, view->ip_version,
					   ret);
	if (reason == WIRE_NOT_UDP && view->ip_version == 6)
		return srv6_parse(frame, bytes, view, ret);
	if (reason != WIRE_FINE)
		return reason;
	view->ip_at = ETH_BYTES;
	view->frame_bytes = ETH_BYTES + ret->header_bytes + ret->payload_bytes;
	view->dscp = ret->dscp;
	view->ecn = ret->ecn;
	view->hop_limit = ret->hop_limit;
	return WIRE_FINE;
}

// Ethernet, IP and UDP. frame_bytes is where the first IP header says the packet ends.
static enum wire_reason parse_network(const uint8_t *frame, size_t bytes, struct wire_view *ret,
				      struct said *ret_said)
{
	struct wire_view view = {.icrc = WIRE_ICRC_UNKNOWN};
	struct ip_head ip;
	enum wire_reason reason = eth_parse(frame, bytes, &view.ip_version);
	if (reason == WIRE_FINE)
		reason = parse_ip(frame, bytes, &view, &ip);
	if (reason != WIRE_FINE)
		return reason;
	view.udp_at = view.ip_at + ip.header_bytes;
	view.bth_at = view.udp_at + UDP_BYTES;
	if (view.frame_bytes < view.bth_at)
		return WIRE_BAD_LENGTH;
	if (bytes < view.bth_at)
		return WIRE_SHORT_UDP;
	struct udp_head udp = udp_parse(frame + view.udp_at);
	if (udp.bytes < UDP_BYTES)
		return WIRE_BAD_LENGTH;
	view.flow_label = ip.flow_label;
	view.inner_dscp = ip.dscp;
	view.source_port = udp.source_port;
	view.target_port = udp.target_port;
	view.has_udp_checksum = udp.has_checksum;
	*ret = view;
	*ret_said = (struct said){view.udp_at + ip.payload_bytes, udp.bytes};
	return WIRE_FINE;
}

// Where payload and ICRC of a whole packet are, whose headers above UDP take `headers` bytes.
static enum wire_reason place_whole(size_t bytes, uint32_t headers, const struct said *said,
				    struct wire_view *view)
{
	if (said->end != view->frame_bytes || said->udp_bytes != view->frame_bytes - view->udp_at)
		return WIRE_BAD_LENGTH;
	if (view->frame_bytes - view->bth_at < headers + WIRE_ICRC_BYTES)
		return WIRE_BAD_LENGTH;
	view->payload_at = view->bth_at + headers;
	if (bytes < view->payload_at)
		return WIRE_SHORT_EXTENSION;
	if (bytes < view->frame_bytes)
		return WIRE_SHORT_PAYLOAD;
	view->icrc_at = view->frame_bytes - WIRE_ICRC_BYTES;
	uint32_t rest = view->icrc_at - view->payload_at;
	if (view->pad_bytes > rest)
		return WIRE_BAD_LENGTH;
	view->payload_bytes = rest - view->pad_bytes;
	return WIRE_FINE;
}

// The same for a trimmed one: it ends where the frame or the IP packet ends, whichever is first,
// because not every switch rewrites the lengths. The headers may be cut, too.
static void place_trimmed(size_t bytes, uint32_t headers, struct wire_view *view)
{
	if (bytes < view->frame_bytes)
		view->frame_bytes = (uint32_t)bytes;
	view->payload_at = smaller(view->bth_at + headers, view->frame_bytes);
	view->payload_bytes = view->frame_bytes - view->payload_at;
	view->icrc = WIRE_ICRC_ABSENT;
}

// All that can be refused between UDP and the ICRC. `view` comes from parse_network().
static enum wire_reason parse_transport(const struct wire_config *config, const uint8_t *frame,
					size_t bytes, const struct said *said,
					struct wire_view *view)
{
	if (view->target_port != WIRE_PORT && view->target_port != WIRE_PORT_OTHER)
		return WIRE_NOT_MRC;
	if (view->frame_bytes < view->bth_at + MRC_BTH_BYTES)
		return WIRE_BAD_LENGTH;
	if (bytes < view->bth_at + MRC_BTH_BYTES)
		return WIRE_SHORT_BTH;
	struct mrc_bth bth = mrc_parse_bth(frame + view->bth_at);
	uint32_t headers = transport_bytes(bth.opcode, bth.has_tseth);
	bool is_request = headers == 0 && config->takes_requests;
	if (is_request)
		headers = rc_request_bytes(bth.opcode);
	if (headers == 0)
		return WIRE_UNKNOWN_OPCODE;
	if (bth.version != 0)
		return WIRE_BAD_VERSION;
	view->pad_bytes = bth.pad_bytes;
	view->is_solicited = bth.se_m & mrc_se_bit(config, bth.opcode);
	view->is_migrated = bth.se_m & (uint8_t)~mrc_se_bit(config, bth.opcode);
	if (is_trimmed_class(class_of_dscp(config, view->dscp))) {
		if (!mrc_is_trimmable(bth.opcode))
			return WIRE_NOT_TRIMMABLE;
		place_trimmed(bytes, headers, view);
		return WIRE_FINE;
	}
	enum wire_reason reason = place_whole(bytes, headers, said, view);
	if (reason == WIRE_FINE && !is_write(bth.opcode) && !is_request &&
	    view->payload_at != view->icrc_at) // only writes have a payload
		return WIRE_BAD_LENGTH;
	return reason;
}

static enum wire_reason parse_icrc(const struct wire_config *config, const uint8_t *frame,
				   struct wire_view *view)
{
	if (view->icrc == WIRE_ICRC_ABSENT || config->icrc_unchecked)
		return WIRE_FINE;
	bool is_good = wire_icrc(frame, view) == get_le32(frame + view->icrc_at);
	view->icrc = is_good ? WIRE_ICRC_GOOD : WIRE_ICRC_BAD;
	return is_good || config->icrc_ignored ? WIRE_FINE : WIRE_BAD_ICRC;
}

// Whether the frame is of our partition (IBTA 10.9.3). Who reads captures has none, nor has a
// switch.
static bool is_in_partition(const struct wire_config *config, const uint8_t *frame,
			    const struct wire_view *view)
{
	uint16_t pkey = mrc_parse_bth(frame + view->bth_at).pkey;
	if (config->icrc_unchecked || config->addresses == WIRE_ADDRESSES_ANY)
		return true;
	return ((pkey ^ config->pkey) & MRC_PKEY_PARTITION) == 0 &&
		((pkey | config->pkey) & MRC_PKEY_FULL) != 0;
}

// Whether packet.wire_bytes can hold what the line carries.
static bool is_too_large(const struct wire_config *config, const struct wire_view *view)
{
	return view->frame_bytes + WIRE_LINE_BYTES > UINT16_MAX ||
		config->charged_header_bytes + view->payload_bytes > UINT16_MAX;
}

// Fills the packet from a frame that was found fine.
static void describe(const struct wire_config *config, const uint8_t *frame,
		     const struct ip_ends *ends, struct wire_view *view, struct packet *ret)
{
	enum wire_class klass = class_of_dscp(config, view->dscp);
	bool is_data = klass < WIRE_CLASS_TRIMMED;
	memset(ret, 0, sizeof(*ret)); // the union's unused bytes, too
	ret->source = ends->source;
	ret->target = ends->target;
	ret->plane = ends->plane;
	ret->ev = ev_of(config, view);
	ret->klass = is_data ? PACKET_CLASS_DATA : PACKET_CLASS_CONTROL;
	ret->flags = flags_of(klass, view->ecn);
	ret->hop = (uint8_t)(config->hop_limit - view->hop_limit);
	if (!is_trimmed_class(klass))
		ret->payload_bytes = (uint16_t)view->payload_bytes;
	if (rc_bytes(frame[view->bth_at]) != 0 || rc_request_bytes(frame[view->bth_at]) != 0) {
		rc_parse(config, frame + view->bth_at, ret);
		view->headers = rc_headers(ret->opcode);
	} else {
		view->headers = mrc_parse(config, frame + view->bth_at,
					  view->payload_at - view->bth_at, ret);
	}
	ret->wire_bytes = (uint16_t)line_bytes(config, ret, view->frame_bytes);
}

static bool is_on_route(const struct wire_config *config, const uint8_t *frame,
			const struct ip_ends *ends, struct wire_view *view)
{
	struct packet packet;
	describe(config, frame, ends, view, &packet);
	return srv6_is_on_route(config, &packet, frame, view);
}

enum wire_reason wire_parse(const struct wire_config *config, const void *frame, size_t bytes,
			    struct packet *ret, struct wire_view *ret_view)
{
	struct wire_view view;
	struct ip_ends ends = {0};
	struct said said;
	enum wire_reason reason = parse_network(frame, bytes, &view, &said);
	if (reason == WIRE_FINE)
		reason = parse_transport(config, frame, bytes, &said, &view);
	if (reason != WIRE_FINE)
		return reason;
	if (is_too_large(config, &view))
		return WIRE_BAD_LENGTH;
	if (view.hop_limit > config->hop_limit)
		return WIRE_BAD_HOP;
	if (config->addresses == WIRE_ADDRESSES_BY_RULE &&
	    (!ip_ends(config, (const uint8_t *)frame + view.ip_at, &ends) ||
	     (view.has_srv6 && !srv6_is_ours(config, frame, &view))))
		return WIRE_FOREIGN_ADDRESS;
	reason = parse_icrc(config, frame, &view);
	if (reason != WIRE_FINE)
		return reason;
	if (!is_in_partition(config, frame, &view))
		return WIRE_FOREIGN_PARTITION;
	if (config->follows_usids && !is_on_route(config, frame, &ends, &view))
		return WIRE_OFF_ROUTE;
	describe(config, frame, &ends, &view, ret);
	*ret_view = view;
	return WIRE_FINE;
}

// --- build

// Splits the EV over source port and flow label: the high half is the port's (MRC 1.0, table 9-1),
// unless the configuration says otherwise.
static void put_ev(const struct wire_config *config, uint32_t ev, struct wire_view *view)
{
	uint32_t high = ev >> 16, low = ev & UINT16_MAX;
	bool is_low = config->ev_place == WIRE_EV_PORT_LOW;
	if (is_port_alone(config, config->ip_version)) {
		view->source_port = (uint16_t)low;
		view->flow_label = 0;
		return;
	}
	view->source_port = (uint16_t)(is_low ? low : high);
	view->flow_label = is_low ? high : low;
}

// What an outer header adds to the view. The inner one stays as the NIC wrote it, so that of a
// trimmed packet it tells the class before.
static void plan_outer(const struct wire_config *config, const struct packet *packet,
		       struct wire_view *view)
{
	struct packet whole = *packet;
	view->has_srv6 = true;
	view->outer_at = ETH_BYTES;
	view->has_srh = view->ip_at > ETH_BYTES + IPV6_BYTES;
	view->srh_at = view->has_srh ? ETH_BYTES + IPV6_BYTES : 0;
	if (packet->flags & PACKET_TRIMMED) {
		whole.flags &= (uint8_t) ~(PACKET_TRIMMED | PACKET_TRIMMED_LAST);
		whole.klass = PACKET_CLASS_DATA;
	}
	view->inner_dscp = config->dscp[class_of_packet(&whole)];
}

static uint8_t headers_of(const struct wire_config *config, const struct packet *packet)
{
	if (rc_bytes(packet->opcode) != 0)
		return rc_headers(packet->opcode);
	return mrc_headers(packet->opcode, config->has_tseth);
}

// The view that wire_parse() will give of the packet's frame, but for the ICRC's state.
static struct wire_view plan(const struct wire_config *config, const struct packet *packet)
{
	bool is_trimmed = packet->flags & PACKET_TRIMMED;
	uint32_t inner_at = ip_at(config, packet);
	uint32_t udp_at = inner_at + ip_bytes(config->ip_version);
	struct wire_view view = {
		.ip_at = inner_at,
		.udp_at = udp_at,
		.bth_at = udp_at + UDP_BYTES,
		.payload_at = header_bytes(config, packet),
		.frame_bytes = (uint32_t)wire_frame_bytes(config, packet),
		.target_port = config->port,
		.ip_version = config->ip_version,
		.dscp = config->dscp[class_of_packet(packet)],
		.ecn = ecn_of(packet),
		.hop_limit = hop_limit_of(config, packet),
		.pad_bytes = -whole_payload_bytes(config, packet) & 3,
		.headers = headers_of(config, packet),
		.icrc = is_trimmed ? WIRE_ICRC_ABSENT : WIRE_ICRC_UNKNOWN,
		.has_udp_checksum = config->has_udp_checksum && !is_trimmed,
		.is_solicited = mrc_is_solicited(config, packet->opcode),
	};
	view.inner_dscp = view.dscp;
	put_ev(config, packet->ev, &view);
	if (inner_at > ETH_BYTES)
		plan_outer(config, packet, &view);
	if (!is_trimmed) {
		view.payload_bytes = packet->payload_bytes;
		view.icrc_at = view.frame_bytes - WIRE_ICRC_BYTES;
	}
	return view;
}

// The (inner) IP header as it leaves the NIC, or, where it is the only one, as it is now.
static struct ip_head head_of(const struct wire_config *config, const struct wire_view *view,
			      uint32_t end)
{
	struct ip_head head = {
		.flow_label = view->flow_label,
		.payload_bytes = end - view->udp_at,
		.dscp = view->inner_dscp,
		.ecn = view->ecn,
		.hop_limit = view->hop_limit,
	};
	if (view->has_srv6) {
		head.hop_limit = config->hop_limit;
		head.ecn = view->ecn != ECN_NONE ? ECN_ECT0 : ECN_NONE;
	}
	return head;
}

size_t wire_build(const struct wire_config *config, const struct packet *packet, void *frame,
		  size_t capacity, struct wire_view *ret_view)
{
	struct wire_view view = plan(config, packet);
	uint8_t *at = frame;
	bool is_left = !config->trim_rewrites_lengths; // a trim looks at the first header only
	uint32_t end = said_bytes(config, packet, &view, is_left || view.has_srv6);
	check(capacity >= view.frame_bytes && view.frame_bytes + WIRE_LINE_BYTES <= UINT16_MAX);
	check(is_write(packet->opcode) || packet->payload_bytes == 0);
	check(mrc_is_trimmable(packet->opcode) || !(packet->flags & PACKET_TRIMMED));
	struct ip_head ip = head_of(config, &view, end);
	struct udp_head udp = {
		.source_port = view.source_port,
		.target_port = view.target_port,
		.bytes = (uint16_t)ip.payload_bytes,
	};
	eth_build(config, packet, at);
	if (view.has_srv6)
		srv6_build(config, packet, &view,
			   said_bytes(config, packet, &view, is_left) - ETH_BYTES - IPV6_BYTES, at);
	ip_build(config, packet, &ip, at + view.ip_at);
	udp_build(&udp, at + view.udp_at);
	if (rc_bytes(packet->opcode) != 0)
		rc_build(config, packet, view.pad_bytes, at + view.bth_at);
	else
		mrc_build(config, packet, view.pad_bytes, at + view.bth_at);
	*ret_view = view;
	return view.frame_bytes;
}

void wire_seal(void *frame, const struct wire_view *view)
{
	uint8_t *at = frame;
	uint32_t end = view->icrc_at + WIRE_ICRC_BYTES;
	if (view->icrc == WIRE_ICRC_ABSENT)
		return;
	memset(at + view->payload_at + view->payload_bytes, 0, view->pad_bytes);
	put_le32(at + view->icrc_at, wire_icrc(frame, view));
	if (view->has_udp_checksum) // over the ICRC, too, which takes it as ones
		udp_seal(at + view->udp_at, end - view->udp_at,
			 ip_pseudo_sum(at + view->ip_at, end - view->udp_at));
}
