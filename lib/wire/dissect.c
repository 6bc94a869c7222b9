// SPDX-License-Identifier: Apache-2.0
// From the link to UDP: Ethernet with VLAN tags, IPv4, IPv6 with SRv6, VXLAN, and the links that
// captures have instead. Each reader steps on to the next header or notes why it stops.

#include <string.h>

#include "bytes.h"
#include "dissect.h"
#include "eth.h"
#include "ip.h"
#include "udp.h"

#define ETH_TYPE_VLAN 0x8100
#define ETH_TYPE_QINQ 0x88a8
#define ETH_TYPE_ARP 0x0806
#define ETH_TYPE_LLDP 0x88cc
#define ETH_TYPE_PAUSE 0x8808
#define ETH_TYPE_ROCE1 0x8915
#define VLAN_BYTES 4
#define VLAN_TAGS_MAX 4
#define PROTOCOL_IPV4 4
#define PROTOCOL_TCP 6
#define PROTOCOL_IPV6 41
#define PROTOCOL_ROUTING 43
#define PROTOCOL_FRAGMENT 44
#define PROTOCOL_ETHERNET 143
#define PORT_VXLAN 4789
#define PORT_UET 4793
#define VXLAN_BYTES 8
#define NESTS_MAX 4 // tunnels within tunnels that are looked into
#define PAUSE_GLOBAL 0x0001
#define PAUSE_PRIORITY 0x0101
#define PAUSE_BYTES 20 // opcode, priorities, eight times
#define GRH_BYTES 40
#define LRH_BYTES 8
#define NEXT_IBA 0x1b // GRH: a BTH follows
#define ERF_BYTES 16
#define ERF_ETHERNET 2
#define ERF_INFINIBAND 21

static void read_ether(struct dissection *d, int nest);
static void read_ip(struct dissection *d, uint8_t version, int nest);

static void found(struct dissection *d, enum wire_found what)
{
	d->ret->found = (uint8_t)what;
}

static void put_ipv4(uint8_t to[16], const uint8_t *from)
{
	memset(to, 0, 10);
	to[10] = to[11] = 0xff;
	memcpy(to + 12, from, 4);
}

// The end of the packet at `at` by a length that its header tells.
static void end_at(struct dissection *d, uint64_t bytes)
{
	uint64_t end = d->at + bytes;
	if (end < d->end)
		d->end = (uint32_t)end;
}

// ---------------------------------------------------------------- UDP and above

static bool is_mrc_opcode(uint8_t opcode)
{
	return (opcode >= PACKET_WRITE_FIRST && opcode <= PACKET_WRITE_ONLY_IMM) ||
		opcode == PACKET_ACK || opcode == PACKET_ENDPOINT_REQUEST ||
		opcode == PACKET_ENDPOINT_RESPONSE ||
		(opcode >= PACKET_SACK && opcode <= PACKET_PROBE) || opcode == PACKET_CREDIT ||
		opcode == PACKET_DEMAND;
}

static void read_vxlan(struct dissection *d, int nest)
{
	if (!dissect_has(d, VXLAN_BYTES, WIRE_SHORT_UDP))
		return;
	d->ret->layers |= WIRE_LAYER_VXLAN;
	d->at += VXLAN_BYTES;
	read_ether(d, nest + 1);
}

static void read_udp(struct dissection *d, int nest)
{
	struct wire_record *ret = d->ret;
	found(d, WIRE_FOUND_UDP);
	if (!dissect_has(d, UDP_BYTES, WIRE_SHORT_UDP))
		return;
	struct udp_head head = udp_parse(d->frame + d->at);
	ret->source_port = head.source_port;
	ret->target_port = head.target_port;
	d->at += UDP_BYTES;
	if (head.target_port == PORT_VXLAN && nest < NESTS_MAX) {
		read_vxlan(d, nest);
	} else if (head.target_port == PORT_UET) {
		dissect_uet(d);
	} else if (head.target_port == WIRE_PORT || head.target_port == WIRE_PORT_OTHER ||
		   head.target_port == d->config->port) {
		bool is_mrc = d->at < d->captured && is_mrc_opcode(d->frame[d->at]);
		found(d,
		      is_mrc || head.target_port == WIRE_PORT_OTHER ? WIRE_FOUND_MRC
								    : WIRE_FOUND_ROCE);
		dissect_transport(d);
	}
}

// ---------------------------------------------------------------- IP

// DSCP, ECN and hop limit are those of the outermost header, which switches see and change.
static void put_class(struct dissection *d, uint8_t class, uint8_t hop_limit)
{
	struct wire_record *ret = d->ret;
	bool is_outer = (ret->layers & (WIRE_LAYER_IPV4 | WIRE_LAYER_IPV6)) == 0;
	ret->inner_dscp = class >> 2;
	if (!is_outer)
		return;
	ret->dscp = class >> 2;
	ret->ecn = class & 3;
	ret->hop_limit = hop_limit;
}

static void read_protocol(struct dissection *d, uint8_t protocol, int nest)
{
	d->ret->ip_protocol = protocol;
	found(d, protocol == PROTOCOL_TCP ? WIRE_FOUND_TCP : WIRE_FOUND_IP);
	if (protocol == UDP_PROTOCOL)
		read_udp(d, nest);
	else if (protocol == PROTOCOL_TCP && dissect_has(d, 4, WIRE_SHORT_IP)) {
		d->ret->source_port = get_be16(d->frame + d->at);
		d->ret->target_port = get_be16(d->frame + d->at + 2);
	} else if (protocol == PROTOCOL_IPV4 && nest < NESTS_MAX)
		read_ip(d, 4, nest + 1);
	else if (protocol == PROTOCOL_IPV6 && nest < NESTS_MAX)
		read_ip(d, 6, nest + 1);
	else if (protocol == PROTOCOL_ETHERNET && nest < NESTS_MAX)
		read_ether(d, nest + 1);
}

static void read_ipv4(struct dissection *d, int nest)
{
	struct wire_record *ret = d->ret;
	if (!dissect_has(d, IPV4_BYTES, WIRE_SHORT_IP))
		return;
	const uint8_t *at = d->frame + d->at;
	uint32_t header_bytes = (at[0] & 15u) * 4u, total = get_be16(at + 2);
	if (at[0] >> 4 != 4 || header_bytes < IPV4_BYTES) {
		ret->stopped = at[0] >> 4 != 4 ? WIRE_BAD_VERSION : WIRE_BAD_LENGTH;
		return;
	}
	put_class(d, at[1], at[8]);
	ret->layers |= WIRE_LAYER_IPV4;
	ret->identification = get_be16(at + 4);
	put_ipv4(ret->source, at + 12);
	put_ipv4(ret->target, at + 16);
	ret->flow_label = 0;
	if (total >= header_bytes) // 0: left to who segments
		end_at(d, total);
	d->ip_at = d->at;
	d->ip_version = 4;
	ret->ip_protocol = at[9];
	if (get_be16(at + 6) & 0x3fff) { // more fragments, or an offset
		ret->layers |= WIRE_LAYER_FRAGMENT;
		ret->stopped = WIRE_FRAGMENT;
		return;
	}
	d->at += header_bytes;
	read_protocol(d, at[9], nest);
}

// Steps over the extension headers of an IPv6 packet. False: cut, or a fragment.
static bool skip_extensions(struct dissection *d, uint8_t *next)
{
	for (int i = 0; i < 8; i++) {
		bool is_options = *next == 0 || *next == 60;
		if (!is_options && *next != PROTOCOL_ROUTING && *next != PROTOCOL_FRAGMENT)
			return true;
		if (!dissect_has(d, 8, WIRE_SHORT_IP))
			return false;
		const uint8_t *at = d->frame + d->at;
		if (*next == PROTOCOL_FRAGMENT && (get_be16(at + 2) & 0xfff9)) {
			d->ret->layers |= WIRE_LAYER_FRAGMENT;
			d->ret->stopped = WIRE_FRAGMENT;
			return false;
		}
		if (*next == PROTOCOL_ROUTING && at[2] == 4)
			d->ret->layers |= WIRE_LAYER_SRH;
		d->at += *next == PROTOCOL_FRAGMENT ? 8u : 8u * (at[1] + 1u);
		*next = at[0];
	}
	return true;
}

static void read_ipv6(struct dissection *d, int nest)
{
	struct wire_record *ret = d->ret;
	if (!dissect_has(d, IPV6_BYTES, WIRE_SHORT_IP))
		return;
	const uint8_t *at = d->frame + d->at;
	if (at[0] >> 4 != 6) {
		ret->stopped = WIRE_BAD_VERSION;
		return;
	}
	put_class(d, (uint8_t)(at[0] << 4 | at[1] >> 4), at[7]);
	ret->layers |= WIRE_LAYER_IPV6;
	ret->identification = 0;
	ret->flow_label = get_be32(at) & 0xfffff;
	memcpy(ret->source, at + 8, 16);
	memcpy(ret->target, at + 24, 16);
	if (get_be16(at + 4) != 0) // 0: a jumbo payload
		end_at(d, IPV6_BYTES + (uint64_t)get_be16(at + 4));
	d->ip_at = d->at;
	d->ip_version = 6;
	uint8_t next = at[6];
	ret->ip_protocol = next;
	found(d, WIRE_FOUND_IP);
	d->at += IPV6_BYTES;
	if (!skip_extensions(d, &next))
		return;
	if (next == PROTOCOL_IPV4 || next == PROTOCOL_IPV6)
		ret->layers |= WIRE_LAYER_SRV6;
	read_protocol(d, next, nest);
}

static void read_ip(struct dissection *d, uint8_t version, int nest)
{
	found(d, WIRE_FOUND_IP);
	if (version == 4)
		read_ipv4(d, nest);
	else
		read_ipv6(d, nest);
}

// ---------------------------------------------------------------- links

static void read_pause(struct dissection *d)
{
	struct wire_record *ret = d->ret;
	found(d, WIRE_FOUND_PAUSE);
	if (!dissect_has(d, 4, WIRE_SHORT_ETH))
		return;
	const uint8_t *at = d->frame + d->at;
	uint16_t opcode = get_be16(at);
	if (opcode == PAUSE_GLOBAL) {
		ret->pause_priorities = 0xff;
		ret->pause_quanta[0] = get_be16(at + 2);
	} else if (opcode == PAUSE_PRIORITY && dissect_has(d, PAUSE_BYTES, WIRE_SHORT_ETH)) {
		ret->pause_priorities = at[3];
		for (int i = 0; i < 8; i++)
			ret->pause_quanta[i] = get_be16(at + 4 + 2 * i);
	} else if (opcode != PAUSE_PRIORITY) {
		found(d, WIRE_FOUND_OTHER);
	}
}

// A GRH, which looks like an IPv6 header, and the BTH behind it.
static void read_grh(struct dissection *d, enum wire_found what)
{
	found(d, what);
	if (!dissect_has(d, GRH_BYTES, WIRE_SHORT_IP))
		return;
	const uint8_t *at = d->frame + d->at;
	d->ret->layers |= WIRE_LAYER_GRH;
	d->ret->flow_label = get_be32(at) & 0xfffff;
	d->ret->hop_limit = at[7];
	memcpy(d->ret->source, at + 8, 16);
	memcpy(d->ret->target, at + 24, 16);
	end_at(d, GRH_BYTES + (uint64_t)get_be16(at + 4));
	d->ip_at = d->at;
	d->ip_version = 6;
	d->at += GRH_BYTES;
	if (at[6] == NEXT_IBA)
		dissect_transport(d);
	else
		d->ret->stopped = WIRE_NOT_MRC;
}

static void read_ether_type(struct dissection *d, uint16_t type, int nest)
{
	d->ret->ether_type = type;
	found(d, WIRE_FOUND_OTHER);
	if (type == ETH_TYPE_IPV4)
		read_ip(d, 4, nest);
	else if (type == ETH_TYPE_IPV6)
		read_ip(d, 6, nest);
	else if (type == ETH_TYPE_ROCE1)
		read_grh(d, WIRE_FOUND_ROCE1);
	else if (type == ETH_TYPE_PAUSE)
		read_pause(d);
	else if (type == ETH_TYPE_ARP)
		found(d, WIRE_FOUND_ARP);
	else if (type == ETH_TYPE_LLDP)
		found(d, WIRE_FOUND_LLDP);
}

static uint64_t get_mac(const uint8_t *at)
{
	return (uint64_t)get_be16(at) << 32 | get_be32(at + 2);
}

static void read_ether(struct dissection *d, int nest)
{
	struct wire_record *ret = d->ret;
	found(d, WIRE_FOUND_OTHER);
	if (!dissect_has(d, ETH_BYTES, WIRE_SHORT_ETH))
		return;
	const uint8_t *at = d->frame + d->at;
	ret->target_mac = get_mac(at);
	ret->source_mac = get_mac(at + 6);
	uint16_t type = get_be16(at + 12);
	d->at += ETH_BYTES;
	for (int i = 0; i < VLAN_TAGS_MAX && (type == ETH_TYPE_VLAN || type == ETH_TYPE_QINQ);
	     i++) {
		if (!dissect_has(d, VLAN_BYTES, WIRE_SHORT_ETH))
			return;
		if (!(ret->layers & WIRE_LAYER_VLAN))
			ret->vlan = get_be16(d->frame + d->at);
		ret->layers |= WIRE_LAYER_VLAN;
		type = get_be16(d->frame + d->at + 2);
		d->at += VLAN_BYTES;
	}
	read_ether_type(d, type, nest);
}

static void read_infiniband(struct dissection *d)
{
	found(d, WIRE_FOUND_INFINIBAND);
	if (!dissect_has(d, LRH_BYTES, WIRE_SHORT_ETH))
		return;
	const uint8_t *at = d->frame + d->at;
	uint8_t next = at[1] & 3;
	d->ret->service = at[1] >> 4;
	end_at(d, (get_be16(at + 4) & 0x7ffu) * 4u);
	d->at += LRH_BYTES;
	if (next == 3)
		read_grh(d, WIRE_FOUND_INFINIBAND);
	else if (next == 2)
		dissect_transport(d);
	else
		d->ret->stopped = WIRE_NOT_MRC;
}

static void read_erf(struct dissection *d)
{
	found(d, WIRE_FOUND_OTHER);
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
		read_ether(d, 0);
	} else
		found(d, WIRE_FOUND_LINK);
}

// IP behind a family number in the order of the machine that captured.
static void read_null(struct dissection *d)
{
	found(d, WIRE_FOUND_OTHER);
	if (!dissect_has(d, 5, WIRE_SHORT_ETH))
		return;
	d->at += 4;
	read_ip(d, d->frame[d->at] >> 4, 0);
}

static void read_raw(struct dissection *d)
{
	found(d, WIRE_FOUND_OTHER);
	if (dissect_has(d, 1, WIRE_SHORT_IP))
		read_ip(d, d->frame[d->at] >> 4, 0);
}

static void read_cooked(struct dissection *d, uint32_t bytes, uint32_t type_at)
{
	found(d, WIRE_FOUND_OTHER);
	if (!dissect_has(d, bytes, WIRE_SHORT_ETH))
		return;
	uint16_t type = get_be16(d->frame + d->at + type_at);
	d->at += bytes;
	read_ether_type(d, type, 0);
}

void wire_dissect(const struct wire_config *config, uint16_t link, const void *frame,
		  uint32_t captured, uint32_t original, struct wire_record *ret)
{
	struct dissection d = {.config = config,
			       .frame = frame,
			       .captured = captured,
			       .end = original < captured ? captured : original,
			       .ret = ret};
	memset(ret, 0, sizeof(*ret));
	ret->captured = captured;
	ret->original = d.end;
	ret->is_cut = captured < d.end;
	switch (link) {
	case WIRE_LINK_ETHERNET:
		read_ether(&d, 0);
		break;
	case WIRE_LINK_RAW:
		read_raw(&d);
		break;
	case WIRE_LINK_NULL:
		read_null(&d);
		break;
	case WIRE_LINK_COOKED:
		read_cooked(&d, 16, 14);
		break;
	case WIRE_LINK_COOKED2:
		read_cooked(&d, 20, 0);
		break;
	case WIRE_LINK_ERF:
		read_erf(&d);
		break;
	case WIRE_LINK_INFINIBAND:
		read_infiniband(&d);
		break;
	default:
		found(&d, WIRE_FOUND_LINK);
	}
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
