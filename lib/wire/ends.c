// SPDX-License-Identifier: Apache-2.0
// Ends by address: in and out of Ethernet and IP headers. Offsets are those of eth.c and ip.c.

#include <weft/wire/wire_ends.h>

#include <string.h>

#include "bytes.h"
#include "eth.h"
#include "ip.h"
#include "udp.h"

#define MAC_BYTES 6
#define GID_BYTES 16
#define MAC_GROUP 0x01
#define V4_IN_GID 12 // where the IPv4 address is
#define V6_GROUP 0xff

enum { ETH_TARGET_AT = 0, ETH_SOURCE_AT = 6 };
enum { V4_SOURCE_AT = 12, V4_TARGET_AT = 16, V6_SOURCE_AT = 8, V6_TARGET_AT = IPV6_TARGET_AT };

static const uint8_t mapped[V4_IN_GID] = {[10] = 0xff, [11] = 0xff};

uint8_t wire_gid_version(const uint8_t gid[16])
{
	return memcmp(gid, mapped, sizeof(mapped)) == 0 ? 4 : 6;
}

static bool is_zero(const uint8_t *at, size_t bytes)
{
	uint8_t any = 0;
	for (size_t i = 0; i < bytes; i++)
		any |= at[i];
	return any == 0;
}

bool wire_end_is_possible(const struct wire_end *end)
{
	const uint8_t *v4 = end->gid + V4_IN_GID;
	if (end->mac[0] & MAC_GROUP)
		return false;
	if (wire_gid_version(end->gid) == 4) // 0.0.0.0/8 is no host, 224.0.0.0/3 no single one
		return v4[0] != 0 && v4[0] < 224;
	return end->gid[0] != V6_GROUP && !is_zero(end->gid, GID_BYTES);
}

static void get_gid(const uint8_t *ip, uint8_t version, bool is_target, uint8_t ret[16])
{
	if (version == 4) {
		memcpy(ret, mapped, sizeof(mapped));
		memcpy(ret + V4_IN_GID, ip + (is_target ? V4_TARGET_AT : V4_SOURCE_AT), 4);
	} else {
		memcpy(ret, ip + (is_target ? V6_TARGET_AT : V6_SOURCE_AT), GID_BYTES);
	}
}

static void put_gid(const uint8_t gid[16], bool is_target, uint8_t *ip)
{
	if (ip[0] >> 4 == 4)
		memcpy(ip + (is_target ? V4_TARGET_AT : V4_SOURCE_AT), gid + V4_IN_GID, 4);
	else
		memcpy(ip + (is_target ? V6_TARGET_AT : V6_SOURCE_AT), gid, GID_BYTES);
}

void wire_end_by_rule(const struct wire_config *config, uint32_t nic, uint8_t plane,
		      struct wire_end *ret)
{
	const struct packet packet = {.source = nic, .plane = plane, .opcode = PACKET_SACK};
	uint8_t ip[IPV6_BYTES] = {0}, eth[ETH_BYTES];
	struct ip_head head = {0};
	ip_build(config, &packet, &head, ip);
	eth_build(config, &packet, eth);
	get_gid(ip, config->ip_version, false, ret->gid);
	memcpy(ret->mac, eth + ETH_SOURCE_AT, MAC_BYTES);
}

void wire_ends_read(const void *frame, const struct wire_view *view, struct wire_ends *ret)
{
	const uint8_t *at = frame, *ip = at + view->ip_at;
	memcpy(ret->target.mac, at + ETH_TARGET_AT, MAC_BYTES);
	memcpy(ret->source.mac, at + ETH_SOURCE_AT, MAC_BYTES);
	get_gid(ip, view->ip_version, false, ret->source.gid);
	get_gid(ip, view->ip_version, true, ret->target.gid);
}

void wire_ends_write(const struct wire_ends *ends, uint16_t port, void *frame,
		     struct wire_view *view)
{
	uint8_t *at = frame, *ip = at + view->ip_at;
	memcpy(at + ETH_TARGET_AT, ends->target.mac, MAC_BYTES);
	memcpy(at + ETH_SOURCE_AT, ends->source.mac, MAC_BYTES);
	put_gid(ends->source.gid, false, ip);
	put_gid(ends->target.gid, true, ip);
	ip_seal(ip);
	udp_put_target_port(at + view->udp_at, port);
	view->target_port = port;
}

int32_t wire_leave_out_plane(const struct wire_config *config, uint8_t gid[16])
{
	if (wire_gid_version(gid) == 4) {
		uint32_t host = get_be32(gid + V4_IN_GID);
		uint32_t below = 32u - config->ipv4_prefix_bits;
		uint32_t planes = ((1u << config->ipv4_plane_bits) - 1u)
			<< (below - config->ipv4_plane_bits);
		if ((host ^ config->ipv4_prefix) >> below != 0)
			return -1;
		put_be32(gid + V4_IN_GID, host & ~planes);
		return (int32_t)((host & planes) >> (below - config->ipv4_plane_bits));
	}
	if ((get_be64(gid) ^ config->ipv6_prefix) >> 16 != 0)
		return -1;
	uint16_t plane = get_be16(gid + 6);
	put_be16(gid + 6, 0);
	return plane;
}

bool wire_nic_by_rule(const struct wire_config *config, const uint8_t gid[16], uint32_t *ret_nic)
{
	uint8_t ip[IPV6_BYTES] = {(uint8_t)(wire_gid_version(gid) << 4)};
	struct ip_ends ends;
	put_gid(gid, false, ip);
	put_gid(gid, true, ip);
	if (!ip_ends(config, ip, &ends))
		return false;
	*ret_nic = ends.source;
	return true;
}
