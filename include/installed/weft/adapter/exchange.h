// SPDX-License-Identifier: Apache-2.0
// What programs with an adapter each tell one another before they are connected, as bytes and as
// numbers. What an adapter makes of it is in adapter.h.
#pragma once

#include <assert.h>
#include <stdint.h>

#include <weft/transport/transport.h>

// What the two ends of a connection tell each other through a control channel of their own, before
// the first packet: 64 bytes, numbers with the high byte first, so that it travels as it is.
// adapter_exchange_read() tells what it says.
#define ADAPTER_EXCHANGE_VERSION 1
#define ADAPTER_MAGIC "weft"

// MTUs: the least is InfiniBand's, the most what packets have bits for. Less than that is no
// network, but a peer that would have a write taken apart into more packets than can be numbered.
#define ADAPTER_MTU_MIN 256u
#define ADAPTER_MTU_MAX 65535u

#define ADAPTER_QPN_FIRST 3u // InfiniBand keeps 0 and 1 for itself, MRC 2: of no QP

struct adapter_exchange {
	uint8_t magic[4]; // ADAPTER_MAGIC
	uint8_t version;
	uint8_t capabilities;	 // ADAPTER_...
	uint8_t planes;		 // NIC ports that it has
	uint8_t ip_version;	 // of its frames
	uint8_t gid[16];	 // address in plane 0; IPv4 as ::ffff:a.b.c.d
	uint8_t nic[4];		 // its number
	uint8_t qpn[4];		 // of the QP, 24 bits, ADAPTER_QPN_FIRST at least
	uint8_t first_psn[4];	 // its share of it, 24 bits: both start with the exclusive or
	uint8_t mtu[4];		 // payload of a full packet
	uint8_t wimm_max[4];	 // WRITE_WITH_IMM in flight that it takes
	uint8_t mpr[4];		 // PSNs in flight that it takes
	uint8_t udp_port[2];	 // UDP destination port of its frames
	uint8_t header_bytes[2]; // that it counts for a packet beside the payload; 0: not given
	uint8_t pkey[2];	 // of its partition; 0: not given
	uint8_t mac[6];		 // in plane 0; 0: not given
	uint8_t reserved[4];	 // 0; not looked at
};
static_assert(sizeof(struct adapter_exchange) == 64, "the layout is the contract");

// adapter_exchange.capabilities: what an end does, see enum qp_capability
enum {
	ADAPTER_TRIM_NACK = QP_CAN_TRIM_NACK,
	ADAPTER_SERVICE_TIME = QP_CAN_SERVICE_TIME,
	ADAPTER_DYNAMIC_MPR = QP_CAN_DYNAMIC_MPR,
	ADAPTER_ACK = QP_CAN_ACK,
};

// The same as numbers of this machine.
struct adapter_end {
	uint8_t gid[16];
	uint32_t nic, qpn, first_psn;
	uint32_t mtu, wimm_max, mpr, planes;
	uint16_t udp_port, header_bytes, pkey;
	uint8_t mac[6];
	uint8_t ip_version;
	uint8_t capabilities;
};
