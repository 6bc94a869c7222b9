// SPDX-License-Identifier: Apache-2.0
// From Ethernet to UDP: VLAN tags, IPv4, IPv6 with SRv6, VXLAN, GRE with ERSPAN, RoCEv1. Each
// reader steps on to the next header or notes why it stops.

#include <string.h>

#include "bytes.h"
#include "dissect.h"
#include "eth.h"
#include "ip.h"
#include "udp.h"

#define ETH_TYPE_VLAN 0x8100
#define ETH_TYPE_QINQ 0x88a8
#define ETH_TYPE_QINQ_OLD 0x9100 // from before the standard
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
#define PROTOCOL_GRE 47
#define PROTOCOL_ETHERNET 143
#define TCP_BYTES 20 // without options
#define PORT_VXLAN 4789
#define PORT_UET 4793
#define VXLAN_BYTES 8
#define GRE_BYTES 4
#define GRE_KEY 0x2000
#define GRE_SEQUENCE 0x1000
#define GRE_ETHERNET 0x6558
#define GRE_ERSPAN 0x88be // types I and II
#define GRE_ERSPAN3 0x22eb
#define ERSPAN2_BYTES 8
#define ERSPAN3_BYTES 12
#define ERSPAN3_MORE_BYTES 8	 // if the last bit of these says so
#define MIRRORED_BYTES_MAX 65600 // IP's longest packet behind Ethernet and tags
#define NESTS_MAX 4		 // tunnels within tunnels that are looked into
#define PAUSE_GLOBAL 0x0001
#define PAUSE_PRIORITY 0x0101
#define ARP_BYTES 28
#define ARP_ETHERNET_IPV4 0x00010800
#define ARP_LENGTHS 0x0604 // of their addresses
#define PAUSE_BYTES 20	   // opcode, priorities, eight times
#define GRH_BYTES 40
#define NEXT_IBA 0x1b // GRH: a BTH follows

static void put_ipv4(uint8_t to[16], const uint8_t *from)
{
	memset(to, 0, 10);
	to[10] = to[11] = 0xff;
	memcpy(to + 12, from, 4);
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

__attribute__((cold, noinline)) static void read_vxlan(struct dissection *d, int nest)
{
	if (!dissect_has(d, VXLAN_BYTES, WIRE_SHORT_UDP))
		return;
	d->ret->layers |= WIRE_LAYER_VXLAN;
	d->at += VXLAN_BYTES;
	dissect_ether(d, nest + 1);
}

static void read_udp(struct dissection *d, int nest)
{
	struct wire_record *ret = d->ret;
	dissect_found(d, WIRE_FOUND_UDP);
	if (!dissect_has(d, UDP_BYTES, WIRE_SHORT_UDP))
		return;
	dissect_note(d, SPAN_SUM_UDP, d->at, d->end - d->at);
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
		dissect_know(d, d->at + 1); // this decides, even where the BTH was cut off
		dissect_found(d,
			      is_mrc || head.target_port == WIRE_PORT_OTHER ? WIRE_FOUND_MRC
									    : WIRE_FOUND_ROCE);
		dissect_transport(d);
	}
}

// ---------------------------------------------------------------- GRE

// A frame that a switch mirrors to another host: what is around it is the way there. It may have
// been cut before it was packed, so that its own lengths, not those around it, say how long it was.
__attribute__((cold, noinline)) static void read_mirrored(struct dissection *d, int nest)
{
	struct wire_record *ret = d->ret;
	ret->layers = WIRE_LAYER_GRE;
	ret->vlan = 0;
	d->captured = d->end < d->captured ? d->end : d->captured;
	d->end = d->at + MIRRORED_BYTES_MAX;
	dissect_ether(d, nest + 1);
	ret->is_cut |= d->end > d->captured && d->end < d->at + MIRRORED_BYTES_MAX;
}

__attribute__((cold, noinline)) static void read_erspan(struct dissection *d, uint16_t type,
							bool has_sequence, int nest)
{
	uint32_t bytes = type == GRE_ERSPAN3 ? ERSPAN3_BYTES : has_sequence ? ERSPAN2_BYTES : 0;
	if (!dissect_has(d, bytes, WIRE_SHORT_IP))
		return;
	if (type == GRE_ERSPAN3 && d->frame[d->at + ERSPAN3_BYTES - 1] & 1)
		bytes += ERSPAN3_MORE_BYTES;
	if (!dissect_has(d, bytes, WIRE_SHORT_IP))
		return;
	d->at += bytes;
	read_mirrored(d, nest);
}

// With checksum, routing or another version it is none that is known to carry RDMA.
__attribute__((cold, noinline)) static void read_gre(struct dissection *d, int nest)
{
	if (!dissect_has(d, GRE_BYTES, WIRE_SHORT_IP))
		return;
	uint16_t flags = get_be16(d->frame + d->at), type = get_be16(d->frame + d->at + 2);
	uint32_t bytes = GRE_BYTES + (flags & GRE_KEY ? 4u : 0) + (flags & GRE_SEQUENCE ? 4u : 0);
	if (flags & ~(GRE_KEY | GRE_SEQUENCE) || !dissect_has(d, bytes, WIRE_SHORT_IP))
		return;
	d->ret->layers |= WIRE_LAYER_GRE;
	d->at += bytes;
	if (type == GRE_ERSPAN || type == GRE_ERSPAN3)
		read_erspan(d, type, flags & GRE_SEQUENCE, nest);
	else if (type == GRE_ETHERNET)
		dissect_ether(d, nest + 1);
	else if (type == ETH_TYPE_IPV4 || type == ETH_TYPE_IPV6)
		dissect_ip(d, type == ETH_TYPE_IPV4 ? 4 : 6, nest + 1);
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
	dissect_found(d, protocol == PROTOCOL_TCP ? WIRE_FOUND_TCP : WIRE_FOUND_IP);
	if (protocol == UDP_PROTOCOL)
		read_udp(d, nest);
	else if (protocol == PROTOCOL_TCP && dissect_has(d, 4, WIRE_SHORT_IP)) {
		d->ret->source_port = get_be16(d->frame + d->at);
		d->ret->target_port = get_be16(d->frame + d->at + 2);
		dissect_know(d, d->at + TCP_BYTES);
		dissect_note(d, SPAN_SUM_TCP, d->at, d->end - d->at);
	} else if (protocol == PROTOCOL_IPV4 && nest < NESTS_MAX)
		dissect_ip(d, 4, nest + 1);
	else if (protocol == PROTOCOL_IPV6 && nest < NESTS_MAX)
		dissect_ip(d, 6, nest + 1);
	else if (protocol == PROTOCOL_ETHERNET && nest < NESTS_MAX)
		dissect_ether(d, nest + 1);
	else if (protocol == PROTOCOL_GRE && nest < NESTS_MAX)
		read_gre(d, nest);
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
	dissect_note(d, SPAN_IPV4, d->at + 12, 4);
	dissect_note(d, SPAN_IPV4, d->at + 16, 4);
	dissect_note(d, SPAN_DATA, d->at + IPV4_BYTES, header_bytes - IPV4_BYTES);
	dissect_note(d, SPAN_SUM_IP, d->at, header_bytes);
	ret->flow_label = 0;
	if (total >= header_bytes) // 0: left to who segments
		dissect_end(d, total);
	d->ip_at = d->at;
	d->ip_version = 4;
	ret->ip_protocol = at[9];
	if (get_be16(at + 6) & 0x3fff) { // more fragments, or an offset
		ret->layers |= WIRE_LAYER_FRAGMENT;
		ret->stopped = WIRE_FRAGMENT;
		return;
	}
	d->at += header_bytes;
	dissect_know(d, d->at);
	read_protocol(d, at[9], nest);
}

// Notes what an extension header tells of who: segments of a routing header, options.
__attribute__((cold, noinline)) static void note_extension(struct dissection *d, uint8_t kind,
							   uint32_t bytes)
{
	if (d->captured - d->at < bytes)
		return; // known up to its first 8 bytes, which tell nothing
	dissect_know(d, d->at + bytes);
	if (kind == PROTOCOL_ROUTING)
		dissect_note(d, SPAN_IPV6, d->at + 8, (bytes - 8) / 16 * 16);
	if (kind != PROTOCOL_ROUTING && kind != PROTOCOL_FRAGMENT)
		dissect_note(d, SPAN_OPTIONS, d->at + 2, bytes - 2);
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
		uint32_t bytes = *next == PROTOCOL_FRAGMENT ? 8u : 8u * (at[1] + 1u);
		note_extension(d, *next, bytes);
		d->at += bytes;
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
	dissect_note(d, SPAN_IPV6, d->at + 8, 16);
	dissect_note(d, SPAN_IPV6, d->at + IPV6_TARGET_AT, 16);
	if (get_be16(at + 4) != 0) // 0: a jumbo payload
		dissect_end(d, IPV6_BYTES + (uint64_t)get_be16(at + 4));
	d->ip_at = d->at;
	d->ip_version = 6;
	uint8_t next = at[6];
	ret->ip_protocol = next;
	dissect_found(d, WIRE_FOUND_IP);
	d->at += IPV6_BYTES;
	if (!skip_extensions(d, &next))
		return;
	if (next == PROTOCOL_IPV4 || next == PROTOCOL_IPV6)
		ret->layers |= WIRE_LAYER_SRV6;
	read_protocol(d, next, nest);
}

void dissect_ip(struct dissection *d, uint8_t version, int nest)
{
	dissect_found(d, WIRE_FOUND_IP);
	if (version == 4)
		read_ipv4(d, nest);
	else
		read_ipv6(d, nest);
}

// ---------------------------------------------------------------- links

__attribute__((cold, noinline)) static void read_pause(struct dissection *d)
{
	struct wire_record *ret = d->ret;
	dissect_found(d, WIRE_FOUND_PAUSE);
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
		dissect_found(d, WIRE_FOUND_OTHER);
	}
}

// A GRH, which looks like an IPv6 header, and the BTH behind it.
__attribute__((cold, noinline)) void dissect_grh(struct dissection *d, enum wire_found what)
{
	dissect_found(d, what);
	if (!dissect_has(d, GRH_BYTES, WIRE_SHORT_IP))
		return;
	const uint8_t *at = d->frame + d->at;
	d->ret->layers |= WIRE_LAYER_GRH;
	d->ret->flow_label = get_be32(at) & 0xfffff;
	d->ret->hop_limit = at[7];
	memcpy(d->ret->source, at + 8, 16);
	memcpy(d->ret->target, at + 24, 16);
	dissect_note(d, SPAN_IPV6, d->at + 8, 16);
	dissect_note(d, SPAN_IPV6, d->at + IPV6_TARGET_AT, 16);
	dissect_end(d, GRH_BYTES + (uint64_t)get_be16(at + 4));
	d->ip_at = d->at;
	d->ip_version = 6;
	d->at += GRH_BYTES;
	if (at[6] == NEXT_IBA)
		dissect_transport(d);
	else
		d->ret->stopped = WIRE_NOT_MRC;
}

// Who asks for whom, where addresses are those of Ethernet and IPv4.
__attribute__((cold, noinline)) static void read_arp(struct dissection *d)
{
	dissect_found(d, WIRE_FOUND_ARP);
	if (!dissect_has(d, 6, WIRE_SHORT_ETH) || get_be32(d->frame + d->at) != ARP_ETHERNET_IPV4 ||
	    get_be16(d->frame + d->at + 4) != ARP_LENGTHS ||
	    !dissect_has(d, ARP_BYTES, WIRE_SHORT_ETH))
		return;
	for (uint32_t at = d->at + 8; at < d->at + ARP_BYTES; at += 10) {
		dissect_note(d, SPAN_MAC, at, 6);
		dissect_note(d, SPAN_IPV4, at + 6, 4);
	}
}

void dissect_ether_type(struct dissection *d, uint16_t type, int nest)
{
	d->ret->ether_type = type;
	dissect_found(d, WIRE_FOUND_OTHER);
	if (type == ETH_TYPE_IPV4)
		dissect_ip(d, 4, nest);
	else if (type == ETH_TYPE_IPV6)
		dissect_ip(d, 6, nest);
	else if (type == ETH_TYPE_ROCE1)
		dissect_grh(d, WIRE_FOUND_ROCE1);
	else if (type == ETH_TYPE_PAUSE)
		read_pause(d);
	else if (type == ETH_TYPE_ARP)
		read_arp(d);
	else if (type == ETH_TYPE_LLDP)
		dissect_found(d, WIRE_FOUND_LLDP);
}

static uint64_t get_mac(const uint8_t *at)
{
	return get_be64(at) >> 16; // one load; more than two bytes of its header follow
}

static bool is_tag(uint16_t type)
{
	return type == ETH_TYPE_VLAN || type == ETH_TYPE_QINQ || type == ETH_TYPE_QINQ_OLD;
}

void dissect_ether(struct dissection *d, int nest)
{
	struct wire_record *ret = d->ret;
	dissect_found(d, WIRE_FOUND_OTHER);
	if (!dissect_has(d, ETH_BYTES, WIRE_SHORT_ETH))
		return;
	const uint8_t *at = d->frame + d->at;
	ret->target_mac = get_mac(at);
	ret->source_mac = get_mac(at + 6);
	dissect_note(d, SPAN_MAC, d->at, 6);
	dissect_note(d, SPAN_MAC, d->at + 6, 6);
	uint16_t type = get_be16(at + 12);
	d->at += ETH_BYTES;
	for (int i = 0; i < VLAN_TAGS_MAX && is_tag(type); i++) {
		if (!dissect_has(d, VLAN_BYTES, WIRE_SHORT_ETH))
			return;
		if (!(ret->layers & WIRE_LAYER_VLAN))
			ret->vlan = get_be16(d->frame + d->at);
		ret->layers |= WIRE_LAYER_VLAN;
		type = get_be16(d->frame + d->at + 2);
		d->at += VLAN_BYTES;
	}
	dissect_ether_type(d, type, nest);
}
