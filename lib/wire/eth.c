// SPDX-License-Identifier: Apache-2.0
// Ethernet II. Which NIC a frame is for stands in its IP header: switches that route replace the
// addresses here, so that parsing does not look at them.

#include "eth.h"

#include "bytes.h"

enum { TARGET_AT = 0, SOURCE_AT = 6, TYPE_AT = 12 };

enum wire_reason eth_parse(const uint8_t *at, size_t bytes, uint8_t *ret_ip_version)
{
	if (bytes < ETH_BYTES)
		return WIRE_SHORT_ETH;
	uint16_t type = get_be16(at + TYPE_AT);
	if (type != ETH_TYPE_IPV4 && type != ETH_TYPE_IPV6)
		return WIRE_NOT_IP;
	*ret_ip_version = type == ETH_TYPE_IPV4 ? 4 : 6;
	return WIRE_FINE;
}

void eth_put_mac(const struct wire_config *config, uint8_t plane, uint32_t nic, uint8_t *at)
{
	at[0] = config->mac_first;
	at[1] = plane;
	put_be32(at + 2, nic + 1);
}

void eth_build(const struct wire_config *config, const struct packet *packet, uint8_t *at)
{
	eth_put_mac(config, packet->plane, packet->target, at + TARGET_AT);
	eth_put_mac(config, packet->plane, packet->source, at + SOURCE_AT);
	bool is_v4 = config->ip_version == 4 && config->entropy != WIRE_ENTROPY_SRV6;
	put_be16(at + TYPE_AT, is_v4 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
}
