// SPDX-License-Identifier: Apache-2.0
// IPv4 and IPv6 headers.

#include "ip.h"

#include "bytes.h"
#include "mrc.h"
#include "rc.h"
#include "srv6.h"
#include "udp.h"

enum { // IPv4
	V4_VERSION_AT = 0,
	V4_CLASS_AT = 1,
	V4_LENGTH_AT = 2,
	V4_ID_AT = 4,
	V4_FRAGMENT_AT = 6,
	V4_TTL_AT = 8,
	V4_PROTOCOL_AT = 9,
	V4_CHECKSUM_AT = 10,
	V4_SOURCE_AT = 12,
	V4_TARGET_AT = 16,
};
#define V4_DONT_FRAGMENT 0x4000
#define V4_FRAGMENT_MASK 0x3fff // more fragments, and the offset

enum {			// IPv6
	V6_WORD_AT = 0, // version 4, traffic class 8, flow label 20
	V6_LENGTH_AT = 4,
	V6_NEXT_AT = 6,
	V6_HOPS_AT = 7,
	V6_SOURCE_AT = 8,
	V6_TARGET_AT = IPV6_TARGET_AT,
};
#define V6_LABEL_MASK 0xfffffu

static uint32_t v4_header_bytes(const uint8_t *at)
{
	return (at[V4_VERSION_AT] & 15u) * 4;
}

static uint16_t v4_sum(const uint8_t *at)
{
	return sum_fold(sum_add(0, at, v4_header_bytes(at)));
}

static enum wire_reason v4_parse(const uint8_t *at, size_t bytes, struct ip_head *ret)
{
	if (bytes < IPV4_BYTES)
		return WIRE_SHORT_IP;
	if (at[V4_VERSION_AT] >> 4 != 4)
		return WIRE_BAD_VERSION;
	uint32_t header = v4_header_bytes(at), total = get_be16(at + V4_LENGTH_AT);
	if (header < IPV4_BYTES)
		return WIRE_BAD_LENGTH;
	if (bytes < header)
		return WIRE_SHORT_IP;
	if (v4_sum(at) != 0xffff)
		return WIRE_BAD_CHECKSUM;
	if (total < header)
		return WIRE_BAD_LENGTH;
	if (at[V4_PROTOCOL_AT] != UDP_PROTOCOL)
		return WIRE_NOT_UDP;
	if (get_be16(at + V4_FRAGMENT_AT) & V4_FRAGMENT_MASK)
		return WIRE_FRAGMENT;
	*ret = (struct ip_head){
		.header_bytes = header,
		.payload_bytes = total - header,
		.dscp = at[V4_CLASS_AT] >> 2,
		.ecn = at[V4_CLASS_AT] & 3,
		.hop_limit = at[V4_TTL_AT],
	};
	return WIRE_FINE;
}

enum wire_reason ip_parse_outer(const uint8_t *at, size_t bytes, struct ip_head *ret,
				uint8_t *ret_next)
{
	if (bytes < IPV6_BYTES)
		return WIRE_SHORT_IP;
	uint32_t word = get_be32(at + V6_WORD_AT);
	if (word >> 28 != 6)
		return WIRE_BAD_VERSION;
	*ret = (struct ip_head){
		.flow_label = word & V6_LABEL_MASK,
		.header_bytes = IPV6_BYTES,
		.payload_bytes = get_be16(at + V6_LENGTH_AT),
		.dscp = (uint8_t)(word >> 22 & 63),
		.ecn = (uint8_t)(word >> 20 & 3),
		.hop_limit = at[V6_HOPS_AT],
	};
	*ret_next = at[V6_NEXT_AT];
	return WIRE_FINE;
}

static enum wire_reason v6_parse(const uint8_t *at, size_t bytes, struct ip_head *ret)
{
	struct ip_head head;
	uint8_t next;
	enum wire_reason reason = ip_parse_outer(at, bytes, &head, &next);
	if (reason != WIRE_FINE)
		return reason;
	if (next != UDP_PROTOCOL)
		return WIRE_NOT_UDP;
	*ret = head;
	return WIRE_FINE;
}

enum wire_reason ip_parse(const uint8_t *at, size_t bytes, uint8_t version, struct ip_head *ret)
{
	return version == 4 ? v4_parse(at, bytes, ret) : v6_parse(at, bytes, ret);
}

uint32_t ip_bytes(uint8_t version)
{
	return version == 4 ? IPV4_BYTES : IPV6_BYTES;
}

static uint32_t v4_host_bits(const struct wire_config *config)
{
	return 32u - config->ipv4_prefix_bits - config->ipv4_plane_bits;
}

static uint32_t address_nics_max(const struct wire_config *config)
{
	// host numbers 0 (the network) and all ones (broadcast) are nobody's
	return config->ip_version == 4 ? (UINT32_C(1) << v4_host_bits(config)) - 2 : UINT32_MAX;
}

static uint32_t address_planes_max(const struct wire_config *config)
{
	return config->ip_version == 4 ? UINT32_C(1) << config->ipv4_plane_bits : UINT8_MAX + 1;
}

uint32_t wire_nics_max(const struct wire_config *config)
{
	uint32_t nics = address_nics_max(config);
	uint32_t routes = config->entropy == WIRE_ENTROPY_SRV6 ? srv6_nics_max(config) : nics;
	return routes < nics ? routes : nics;
}

uint32_t wire_planes_max(const struct wire_config *config)
{
	uint32_t planes = address_planes_max(config);
	uint32_t routes = config->entropy == WIRE_ENTROPY_SRV6 ? srv6_planes_max(config) : planes;
	return routes < planes ? routes : planes;
}

// The NIC and plane behind an address. False: the rule has no such address.
static bool v4_nic(const struct wire_config *config, uint32_t address, uint32_t *ret_nic,
		   uint8_t *ret_plane)
{
	uint32_t host_bits = v4_host_bits(config);
	uint32_t host = address & ((UINT32_C(1) << host_bits) - 1);
	uint32_t plane = address >> host_bits & ((UINT32_C(1) << config->ipv4_plane_bits) - 1);
	if ((address ^ config->ipv4_prefix) >> (32 - config->ipv4_prefix_bits) != 0 || host == 0 ||
	    host == (UINT32_C(1) << host_bits) - 1)
		return false;
	*ret_nic = host - 1;
	*ret_plane = (uint8_t)plane;
	return true;
}

static bool v6_nic(const struct wire_config *config, const uint8_t *at, uint32_t *ret_nic,
		   uint8_t *ret_plane)
{
	uint64_t plane = get_be64(at) ^ config->ipv6_prefix;
	uint64_t host = get_be64(at + 8);
	if (plane > UINT8_MAX || host == 0 || host > UINT32_MAX)
		return false;
	*ret_nic = (uint32_t)host - 1;
	*ret_plane = (uint8_t)plane;
	return true;
}

bool ip_ends(const struct wire_config *config, const uint8_t *at, struct ip_ends *ret)
{
	struct ip_ends ends;
	uint8_t target_plane;
	bool are_ours;
	if (at[0] >> 4 == 4)
		are_ours = v4_nic(config, get_be32(at + V4_SOURCE_AT), &ends.source, &ends.plane) &&
			v4_nic(config, get_be32(at + V4_TARGET_AT), &ends.target, &target_plane);
	else
		are_ours = v6_nic(config, at + V6_SOURCE_AT, &ends.source, &ends.plane) &&
			v6_nic(config, at + V6_TARGET_AT, &ends.target, &target_plane);
	if (!are_ours || ends.plane != target_plane)
		return false;
	*ret = ends;
	return true;
}

static void v4_put_nic(const struct wire_config *config, uint8_t plane, uint32_t nic, uint8_t *at)
{
	put_be32(at, config->ipv4_prefix | (uint32_t)plane << v4_host_bits(config) | (nic + 1));
}

static void v6_put_nic(const struct wire_config *config, uint8_t plane, uint32_t nic, uint8_t *at)
{
	put_be64(at, config->ipv6_prefix | plane);
	put_be64(at + 8, (uint64_t)nic + 1);
}

bool ip_nic(const struct wire_config *config, uint8_t version, const uint8_t *at, uint32_t *ret_nic,
	    uint8_t *ret_plane)
{
	return version == 4 ? v4_nic(config, get_be32(at), ret_nic, ret_plane)
			    : v6_nic(config, at, ret_nic, ret_plane);
}

void ip_put_nic(const struct wire_config *config, uint8_t plane, uint32_t nic, uint8_t *at)
{
	if (config->ip_version == 4)
		v4_put_nic(config, plane, nic, at);
	else
		v6_put_nic(config, plane, nic, at);
}

static void v4_build(const struct wire_config *config, const struct packet *packet, uint8_t *at)
{
	at[V4_VERSION_AT] = 4 << 4 | IPV4_BYTES / 4;
	// A packet that is never cut into fragments needs none (RFC 6864).
	bool has_id = config->has_ids &&
		(mrc_is_write(packet->opcode) || rc_is_write(packet->opcode));
	put_be16(at + V4_ID_AT, has_id ? packet->timestamp : 0);
	put_be16(at + V4_FRAGMENT_AT, V4_DONT_FRAGMENT);
	at[V4_PROTOCOL_AT] = UDP_PROTOCOL;
	v4_put_nic(config, packet->plane, packet->source, at + V4_SOURCE_AT);
	v4_put_nic(config, packet->plane, packet->target, at + V4_TARGET_AT);
}

static void v6_build(const struct wire_config *config, const struct packet *packet,
		     const struct ip_head *head, uint8_t *at)
{
	put_be32(at + V6_WORD_AT, 6u << 28 | (head->flow_label & V6_LABEL_MASK));
	at[V6_NEXT_AT] = UDP_PROTOCOL;
	v6_put_nic(config, packet->plane, packet->source, at + V6_SOURCE_AT);
	v6_put_nic(config, packet->plane, packet->target, at + V6_TARGET_AT);
}

void ip_build(const struct wire_config *config, const struct packet *packet,
	      const struct ip_head *head, uint8_t *at)
{
	uint32_t nics = wire_nics_max(config);
	check(packet->source < nics && packet->target < nics);
	check(packet->plane < wire_planes_max(config));
	if (config->ip_version == 4)
		v4_build(config, packet, at);
	else
		v6_build(config, packet, head, at);
	ip_put_class(at, head->dscp, head->ecn);
	ip_put_hop_limit(at, head->hop_limit);
	ip_put_payload_bytes(at, head->payload_bytes);
	ip_seal(at);
}

void ip_build_outer(const struct wire_config *config, const struct packet *packet,
		    const struct ip_head *head, uint8_t next, uint8_t *at)
{
	put_be32(at + V6_WORD_AT, 6u << 28); // flow label 0: the route needs no hash
	at[V6_NEXT_AT] = next;
	v6_put_nic(config, packet->plane, packet->source, at + V6_SOURCE_AT);
	ip_put_class(at, head->dscp, head->ecn);
	ip_put_hop_limit(at, head->hop_limit);
	ip_put_payload_bytes(at, head->payload_bytes);
}

void ip_put_class(uint8_t *at, uint8_t dscp, uint8_t ecn)
{
	uint32_t value = (uint32_t)dscp << 2 | ecn;
	if (at[0] >> 4 == 4)
		at[V4_CLASS_AT] = (uint8_t)value;
	else
		put_be32(at, (get_be32(at) & ~(UINT32_C(255) << 20)) | value << 20);
}

void ip_put_hop_limit(uint8_t *at, uint8_t hop_limit)
{
	at[at[0] >> 4 == 4 ? V4_TTL_AT : V6_HOPS_AT] = hop_limit;
}

uint8_t ip_hop_limit(const uint8_t *at)
{
	return at[at[0] >> 4 == 4 ? V4_TTL_AT : V6_HOPS_AT];
}

void ip_put_payload_bytes(uint8_t *at, uint32_t bytes)
{
	if (at[0] >> 4 == 4)
		put_be16(at + V4_LENGTH_AT, v4_header_bytes(at) + bytes);
	else
		put_be16(at + V6_LENGTH_AT, bytes);
}

void ip_seal(uint8_t *at)
{
	if (at[0] >> 4 != 4)
		return;
	put_be16(at + V4_CHECKSUM_AT, 0);
	sum_put(at + V4_CHECKSUM_AT, (uint16_t)~v4_sum(at));
}

uint64_t ip_pseudo_sum(const uint8_t *at, uint32_t payload_bytes)
{
	uint8_t rest[8] = {[7] = UDP_PROTOCOL};
	put_be32(rest, payload_bytes);
	uint64_t sum = sum_add(0, rest, sizeof(rest));
	if (at[0] >> 4 == 4)
		return sum_add(sum, at + V4_SOURCE_AT, V4_TARGET_AT + 4 - V4_SOURCE_AT);
	return sum_add(sum, at + V6_SOURCE_AT, IPV6_BYTES - V6_SOURCE_AT);
}
