// SPDX-License-Identifier: Apache-2.0
// ARP and neighbour discovery. See wire_neighbour.h.

#include <weft/wire/wire_neighbour.h>

#include <string.h>

#include <weft/wire/wire_ends.h>

#include "bytes.h"
#include "eth.h"
#include "ip.h"

#define MAC_BYTES 6
#define GID_BYTES 16
#define V4_IN_GID 12 // where an IPv4 address is
#define ETH_TYPE_ARP 0x0806
#define PROTOCOL_ICMPV6 58
#define HOPS_OF_LINK 255 // it has passed no router

enum { ETH_TARGET_AT = 0, ETH_SOURCE_AT = 6, ETH_TYPE_AT = 12 };

// ---------------------------------------------------------------- addresses

static const uint8_t mapped[V4_IN_GID] = {[10] = 0xff, [11] = 0xff};
static const uint8_t everybody[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void get_v4(const uint8_t *at, uint8_t ret[GID_BYTES])
{
	memcpy(ret, mapped, sizeof(mapped));
	memcpy(ret + V4_IN_GID, at, 4);
}

void wire_address(const struct wire_config *config, uint32_t nic, uint8_t plane, uint8_t ret[16])
{
	memcpy(ret, mapped, sizeof(mapped));
	ip_put_nic(config, plane, nic, config->ip_version == 4 ? ret + V4_IN_GID : ret);
}

bool wire_nic(const struct wire_config *config, const uint8_t address[16], uint32_t *ret_nic,
	      uint8_t *ret_plane)
{
	uint8_t version = wire_gid_version(address);
	return ip_nic(config, version, version == 4 ? address + V4_IN_GID : address, ret_nic,
		      ret_plane);
}

void wire_mac(const struct wire_config *config, uint32_t nic, uint8_t plane, uint8_t ret[6])
{
	eth_put_mac(config, plane, nic, ret);
}

void wire_put_macs(void *frame, const uint8_t target[6], const uint8_t source[6])
{
	memcpy((uint8_t *)frame + ETH_TARGET_AT, target, MAC_BYTES);
	memcpy((uint8_t *)frame + ETH_SOURCE_AT, source, MAC_BYTES);
}

static void put_eth(uint8_t *at, const uint8_t *target, const uint8_t *source, uint16_t type)
{
	wire_put_macs(at, target, source);
	put_be16(at + ETH_TYPE_AT, type);
}

// ---------------------------------------------------------------- ARP

enum {
	ARP_OP_AT = 6,
	ARP_SOURCE_MAC_AT = 8,
	ARP_SOURCE_AT = 14,
	ARP_TARGET_MAC_AT = 18,
	ARP_TARGET_AT = 24,
	ARP_BYTES = 28
};
enum { ARP_ASKS = 1, ARP_TELLS = 2 };
#define FRAME_BYTES_MIN 60 // without FCS

static const uint8_t arp_head[ARP_OP_AT] = {0, 1, 8, 0, 6, 4}; // Ethernet, IPv4, and their lengths

static bool parse_arp(const uint8_t *at, uint32_t bytes, struct wire_neighbour *ret)
{
	if (bytes < ARP_BYTES || memcmp(at, arp_head, sizeof(arp_head)) != 0)
		return false;
	uint16_t op = get_be16(at + ARP_OP_AT);
	get_v4(at + ARP_SOURCE_AT, ret->source);
	get_v4(at + ARP_TARGET_AT, ret->target);
	memcpy(ret->source_mac, at + ARP_SOURCE_MAC_AT, MAC_BYTES);
	memcpy(ret->target_mac, at + ARP_TARGET_MAC_AT, MAC_BYTES);
	ret->tells = op == ARP_TELLS || memcmp(ret->source, ret->target, GID_BYTES) == 0;
	return op == ARP_TELLS || op == ARP_ASKS;
}

// An announcement to all has the form of a question for one's own address (RFC 5227).
static uint32_t build_arp(const struct wire_neighbour *of, uint8_t *frame)
{
	uint8_t *at = frame + ETH_BYTES;
	bool is_to_one = of->tells && memcmp(of->source, of->target, GID_BYTES) != 0;
	memset(frame, 0, FRAME_BYTES_MIN);
	put_eth(frame, is_to_one ? of->target_mac : everybody, of->source_mac, ETH_TYPE_ARP);
	memcpy(at, arp_head, sizeof(arp_head));
	put_be16(at + ARP_OP_AT, is_to_one ? ARP_TELLS : ARP_ASKS);
	memcpy(at + ARP_SOURCE_MAC_AT, of->source_mac, MAC_BYTES);
	memcpy(at + ARP_SOURCE_AT, of->source + V4_IN_GID, 4);
	if (is_to_one)
		memcpy(at + ARP_TARGET_MAC_AT, of->target_mac, MAC_BYTES);
	memcpy(at + ARP_TARGET_AT, of->target + V4_IN_GID, 4);
	return FRAME_BYTES_MIN;
}

// ---------------------------------------------------------------- neighbour discovery

enum { V6_LENGTH_AT = 4, V6_NEXT_AT = 6, V6_HOPS_AT = 7, V6_SOURCE_AT = 8 };
enum { ND_TYPE_AT = 0, ND_SUM_AT = 2, ND_FLAGS_AT = 4, ND_TARGET_AT = 8, ND_OPTION_AT = 24 };
enum { ND_FIRST = 133, ND_ASKS = 135, ND_TELLS = 136, ND_LAST = 137 };
enum { OPTION_SOURCE_MAC = 1, OPTION_TARGET_MAC = 2, OPTION_BYTES = 8 };
#define ND_BYTES (ND_OPTION_AT + OPTION_BYTES)
#define ND_SOLICITED 0x40
#define ND_OVERRIDE 0x20

static const uint8_t all_nodes[GID_BYTES] = {0xff, 2, [15] = 1};
static const uint8_t nobody[GID_BYTES];

static uint16_t nd_sum(const uint8_t *ip, uint32_t bytes)
{
	uint8_t rest[8] = {[7] = PROTOCOL_ICMPV6};
	put_be32(rest, bytes);
	uint64_t sum = sum_add(0, ip + V6_SOURCE_AT, 2 * GID_BYTES);
	return sum_fold(sum_add(sum_add(sum, rest, sizeof(rest)), ip + IPV6_BYTES, bytes));
}

// The MAC of an option; false where there is none, or options contradict themselves.
static bool find_mac(const uint8_t *at, uint32_t bytes, uint8_t kind, uint8_t ret[MAC_BYTES])
{
	while (bytes >= OPTION_BYTES) {
		uint32_t length = at[1] * 8u;
		if (length == 0 || length > bytes)
			return false;
		if (at[0] == kind) {
			memcpy(ret, at + 2, MAC_BYTES);
			return true;
		}
		at += length;
		bytes -= length;
	}
	return false;
}

static bool parse_nd(const uint8_t *ip, uint32_t bytes, struct wire_neighbour *ret)
{
	if (bytes < IPV6_BYTES + ND_OPTION_AT || ip[0] >> 4 != 6 ||
	    ip[V6_NEXT_AT] != PROTOCOL_ICMPV6 || ip[V6_HOPS_AT] != HOPS_OF_LINK)
		return false;
	const uint8_t *at = ip + IPV6_BYTES;
	uint32_t length = get_be16(ip + V6_LENGTH_AT);
	if (length < ND_OPTION_AT || length > bytes - IPV6_BYTES)
		return false;
	if (nd_sum(ip, length) != 0xffff)
		return false;
	ret->tells = at[ND_TYPE_AT] == ND_TELLS;
	if (!ret->tells && at[ND_TYPE_AT] != ND_ASKS)
		return false;
	memcpy(ret->source, ret->tells ? at + ND_TARGET_AT : ip + V6_SOURCE_AT, GID_BYTES);
	memcpy(ret->target, ret->tells ? ip + IPV6_TARGET_AT : at + ND_TARGET_AT, GID_BYTES);
	memset(ret->target_mac, 0, MAC_BYTES);
	// Who asks may leave its MAC out: the caller has put that of the frame there.
	bool has_mac = find_mac(at + ND_OPTION_AT, length - ND_OPTION_AT,
				ret->tells ? OPTION_TARGET_MAC : OPTION_SOURCE_MAC,
				ret->source_mac);
	return has_mac || !ret->tells; // who looks whether its address is free has none yet
}

// The group in which who has an address listens for questions, and the MAC of a group.
static void group_of(const uint8_t address[GID_BYTES], uint8_t ret[GID_BYTES])
{
	static const uint8_t group[GID_BYTES] = {0xff, 2, [11] = 1, [12] = 0xff};
	memcpy(ret, group, GID_BYTES);
	memcpy(ret + 13, address + 13, 3);
}

static void group_mac(const uint8_t group[GID_BYTES], uint8_t ret[MAC_BYTES])
{
	ret[0] = ret[1] = 0x33;
	memcpy(ret + 2, group + 12, 4);
}

static uint32_t build_nd(const struct wire_neighbour *of, uint8_t *frame)
{
	uint8_t to[GID_BYTES], mac[MAC_BYTES], *ip = frame + ETH_BYTES, *at = ip + IPV6_BYTES;
	bool is_to_one = of->tells && memcmp(of->source, of->target, GID_BYTES) != 0 &&
		memcmp(of->target, nobody, GID_BYTES) != 0;
	memcpy(to, is_to_one ? of->target : all_nodes, GID_BYTES);
	if (!of->tells)
		group_of(of->target, to);
	group_mac(to, mac);
	memset(ip, 0, IPV6_BYTES + ND_BYTES);
	put_eth(frame, is_to_one ? of->target_mac : mac, of->source_mac, ETH_TYPE_IPV6);
	ip[0] = 6 << 4;
	put_be16(ip + V6_LENGTH_AT, ND_BYTES);
	ip[V6_NEXT_AT] = PROTOCOL_ICMPV6;
	ip[V6_HOPS_AT] = HOPS_OF_LINK;
	memcpy(ip + V6_SOURCE_AT, of->source, GID_BYTES);
	memcpy(ip + IPV6_TARGET_AT, to, GID_BYTES);
	at[ND_TYPE_AT] = of->tells ? ND_TELLS : ND_ASKS;
	if (of->tells)
		at[ND_FLAGS_AT] = ND_OVERRIDE | (is_to_one ? ND_SOLICITED : 0);
	memcpy(at + ND_TARGET_AT, of->tells ? of->source : of->target, GID_BYTES);
	at[ND_OPTION_AT] = of->tells ? OPTION_TARGET_MAC : OPTION_SOURCE_MAC;
	at[ND_OPTION_AT + 1] = OPTION_BYTES / 8;
	memcpy(at + ND_OPTION_AT + 2, of->source_mac, MAC_BYTES);
	sum_put(at + ND_SUM_AT, (uint16_t)~nd_sum(ip, ND_BYTES));
	return ETH_BYTES + IPV6_BYTES + ND_BYTES;
}

// ---------------------------------------------------------------- either

bool wire_neighbour_parse(const void *frame, uint32_t bytes, struct wire_neighbour *ret)
{
	const uint8_t *at = frame;
	if (bytes < ETH_BYTES)
		return false;
	uint16_t type = get_be16(at + ETH_TYPE_AT);
	if (type == ETH_TYPE_ARP)
		return parse_arp(at + ETH_BYTES, bytes - ETH_BYTES, ret);
	memcpy(ret->source_mac, at + MAC_BYTES, MAC_BYTES);
	return type == ETH_TYPE_IPV6 && parse_nd(at + ETH_BYTES, bytes - ETH_BYTES, ret);
}

bool wire_is_neighbour(const void *frame, uint32_t bytes)
{
	const uint8_t *at = frame, *ip = at + ETH_BYTES;
	if (bytes < ETH_BYTES)
		return false;
	uint16_t type = get_be16(at + ETH_TYPE_AT);
	if (type == ETH_TYPE_ARP)
		return true;
	return type == ETH_TYPE_IPV6 && bytes > ETH_BYTES + IPV6_BYTES &&
		ip[V6_NEXT_AT] == PROTOCOL_ICMPV6 && ip[IPV6_BYTES] >= ND_FIRST &&
		ip[IPV6_BYTES] <= ND_LAST;
}

uint32_t wire_neighbour_build(const struct wire_neighbour *neighbour, void *frame)
{
	return wire_gid_version(neighbour->source) == 4 ? build_arp(neighbour, frame)
							: build_nd(neighbour, frame);
}
