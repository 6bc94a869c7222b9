// SPDX-License-Identifier: Apache-2.0
// Ethernet II headers (IEEE 802.3 clause 3), no VLAN tag. The FCS is the line's.
#pragma once

#include <stdint.h>

#include <weft/wire/wire.h>

#define ETH_BYTES 14
#define ETH_TYPE_IPV4 0x0800
#define ETH_TYPE_IPV6 0x86dd

// The IP version behind the header, or WIRE_NOT_IP. `bytes`: what there is of the frame.
enum wire_reason eth_parse(const uint8_t *at, size_t bytes, uint8_t *ret_ip_version);

// Writes the header of a packet between two NICs by the rule of `config`.
void eth_build(const struct wire_config *config, const struct packet *packet, uint8_t *at);

// Writes the MAC of a NIC by the rule.
void eth_put_mac(const struct wire_config *config, uint8_t plane, uint32_t nic, uint8_t *at);
