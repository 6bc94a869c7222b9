// SPDX-License-Identifier: Apache-2.0
// Echoes and datagrams that find out how far frames come. See wire_ping.h.

#include <weft/wire/wire_ping.h>

#include <string.h>

#include <weft/core/check.h>
#include <weft/wire/wire_ends.h>
#include <weft/wire/wire_neighbour.h>

#include "bytes.h"
#include "eth.h"
#include "ip.h"
#include "udp.h"

#define GID_BYTES 16
#define V4_IN_GID 12
#define TYPE_AT 12
#define HOPS 64

enum {
	V4_LENGTH_AT = 2,
	V4_FRAGMENT_AT = 6,
	V4_HOPS_AT = 8,
	V4_PROTOCOL_AT = 9,
	V4_SOURCE_AT = 12
};
enum { V6_LENGTH_AT = 4, V6_NEXT_AT = 6, V6_HOPS_AT = 7, V6_SOURCE_AT = 8 };
enum { ICMP_CODE_AT = 1, ICMP_SUM_AT = 2, ICMP_ID_AT = 4, ICMP_NUMBER_AT = 6, ICMP_BYTES = 8 };
#define V4_DONT_FRAGMENT 0x4000

// What the two versions have different numbers for.
struct icmp {
	uint8_t protocol, asks, echoes, unreachable, no_port;
	uint8_t too_long; // a type; IPv4: a code of `unreachable`
};

static const struct icmp icmp4 = {1, 8, 0, 3, 3, 4}, icmp6 = {58, 128, 129, 1, 4, 2};

static const struct icmp *icmp_of(uint8_t version)
{
	return version == 4 ? &icmp4 : &icmp6;
}

// ---------------------------------------------------------------- built

static void put_ip(const struct wire_ping *ping, uint8_t version, uint8_t protocol, uint32_t bytes,
		   uint8_t *ip)
{
	memset(ip, 0, ip_bytes(version));
	if (version == 4) {
		ip[0] = 0x45;
		put_be16(ip + V4_LENGTH_AT, (uint16_t)(IPV4_BYTES + bytes));
		put_be16(ip + V4_FRAGMENT_AT, V4_DONT_FRAGMENT);
		ip[V4_HOPS_AT] = HOPS;
		ip[V4_PROTOCOL_AT] = protocol;
		memcpy(ip + V4_SOURCE_AT, ping->source + V4_IN_GID, 4);
		memcpy(ip + V4_SOURCE_AT + 4, ping->target + V4_IN_GID, 4);
		ip_seal(ip);
		return;
	}
	ip[0] = 6 << 4;
	put_be16(ip + V6_LENGTH_AT, (uint16_t)bytes);
	ip[V6_NEXT_AT] = protocol;
	ip[V6_HOPS_AT] = HOPS;
	memcpy(ip + V6_SOURCE_AT, ping->source, GID_BYTES);
	memcpy(ip + IPV6_TARGET_AT, ping->target, GID_BYTES);
}

// The sum over addresses, length and protocol, which ICMP of IPv4 leaves out.
static uint64_t pseudo_sum(const struct wire_ping *ping, uint8_t protocol, uint32_t bytes)
{
	uint8_t rest[8] = {[7] = protocol};
	put_be32(rest, bytes);
	bool is_v4 = wire_gid_version(ping->source) == 4;
	uint32_t from = is_v4 ? V4_IN_GID : 0;
	uint64_t sum = sum_add(0, ping->source + from, GID_BYTES - from);
	sum = sum_add(sum, ping->target + from, GID_BYTES - from);
	return sum_add(sum, rest, sizeof(rest));
}

uint32_t wire_ping_build(const struct wire_ping *ping, void *frame)
{
	uint8_t version = wire_gid_version(ping->source), *ip = (uint8_t *)frame + ETH_BYTES;
	uint8_t *at = ip + ip_bytes(version);
	const struct icmp *icmp = icmp_of(version);
	bool is_echo = ping->udp_port == 0;
	uint8_t protocol = is_echo ? icmp->protocol : UDP_PROTOCOL;
	check(ping->frame_bytes >= WIRE_PING_BYTES_MIN);
	uint32_t bytes = ping->frame_bytes - ETH_BYTES - ip_bytes(version);
	wire_put_macs(frame, ping->target_mac, ping->source_mac);
	put_be16((uint8_t *)frame + TYPE_AT, version == 4 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
	put_ip(ping, version, protocol, bytes, ip);
	memset(at, 0, bytes);
	if (!is_echo) {
		const struct udp_head head = {.source_port = ping->id,
					      .target_port = ping->udp_port,
					      .bytes = (uint16_t)bytes};
		udp_build(&head, at);
		udp_seal(at, bytes, pseudo_sum(ping, protocol, bytes));
		return ping->frame_bytes;
	}
	at[0] = icmp->asks;
	put_be16(at + ICMP_ID_AT, ping->id);
	put_be16(at + ICMP_NUMBER_AT, ping->number);
	uint64_t sum = version == 4 ? 0 : pseudo_sum(ping, protocol, bytes);
	sum_put(at + ICMP_SUM_AT, (uint16_t)~sum_fold(sum_add(sum, at, bytes)));
	return ping->frame_bytes;
}

// ---------------------------------------------------------------- heard

// A header of the ping's version, with `ret_protocol` behind it. Where that begins; NULL: none.
static const uint8_t *skip_ip(const uint8_t *ip, uint32_t bytes, uint8_t version,
			      uint8_t *ret_protocol)
{
	if (bytes < ip_bytes(version) || ip[0] >> 4 != version)
		return NULL;
	uint32_t header = version == 4 ? (ip[0] & 15u) * 4 : IPV6_BYTES;
	if (header < ip_bytes(version) || bytes < header + ICMP_BYTES)
		return NULL;
	*ret_protocol = version == 4 ? ip[V4_PROTOCOL_AT] : ip[V6_NEXT_AT];
	return ip + header;
}

// Whether an error's quotation is of this ping: its target, and what it is known by.
static bool is_quoted(const struct wire_ping *ping, uint8_t version, const uint8_t *ip,
		      uint32_t bytes)
{
	uint8_t protocol;
	const uint8_t *at = skip_ip(ip, bytes, version, &protocol);
	if (at == NULL)
		return false;
	bool is_to = version == 4 ? memcmp(ip + V4_SOURCE_AT + 4, ping->target + V4_IN_GID, 4) == 0
				  : memcmp(ip + IPV6_TARGET_AT, ping->target, GID_BYTES) == 0;
	if (ping->udp_port != 0)
		return is_to && protocol == UDP_PROTOCOL && get_be16(at) == ping->id &&
			get_be16(at + 2) == ping->udp_port;
	return is_to && protocol == icmp_of(version)->protocol &&
		get_be16(at + ICMP_ID_AT) == ping->id &&
		get_be16(at + ICMP_NUMBER_AT) == ping->number;
}

enum wire_ping_answer wire_ping_hear(const struct wire_ping *ping, const void *frame,
				     uint32_t bytes)
{
	uint8_t version = wire_gid_version(ping->source), protocol;
	const struct icmp *icmp = icmp_of(version);
	const uint8_t *ip = (const uint8_t *)frame + ETH_BYTES;
	uint16_t type = version == 4 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6;
	if (bytes <= ETH_BYTES || get_be16((const uint8_t *)frame + TYPE_AT) != type)
		return WIRE_PING_OTHER;
	uint32_t left = bytes - ETH_BYTES;
	const uint8_t *at = skip_ip(ip, left, version, &protocol);
	if (at == NULL || protocol != icmp->protocol)
		return WIRE_PING_OTHER;
	left -= (uint32_t)(at - ip);
	bool is_from = version == 4 ? memcmp(ip + V4_SOURCE_AT, ping->target + V4_IN_GID, 4) == 0
				    : memcmp(ip + V6_SOURCE_AT, ping->target, GID_BYTES) == 0;
	if (at[0] == icmp->echoes && ping->udp_port == 0)
		return is_from && bytes >= ping->frame_bytes &&
				get_be16(at + ICMP_ID_AT) == ping->id &&
				get_be16(at + ICMP_NUMBER_AT) == ping->number
			? WIRE_PING_ECHOED
			: WIRE_PING_OTHER;
	bool is_too_long = version == 4
		? at[0] == icmp->unreachable && at[ICMP_CODE_AT] == icmp->too_long
		: at[0] == icmp->too_long;
	if ((at[0] != icmp->unreachable && !is_too_long) ||
	    !is_quoted(ping, version, at + ICMP_BYTES, left - ICMP_BYTES))
		return WIRE_PING_OTHER;
	if (is_too_long)
		return WIRE_PING_TOO_LONG;
	return at[ICMP_CODE_AT] == icmp->no_port && ping->udp_port != 0 ? WIRE_PING_NO_PORT
									: WIRE_PING_UNREACHABLE;
}
