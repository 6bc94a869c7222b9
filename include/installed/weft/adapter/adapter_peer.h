// SPDX-License-Identifier: Apache-2.0
// Peers as plain values, the way that programs with verbs exchange them (ibv_modify_qp): for NICs
// that are no adapter of weft, and wherever an exchange of 64 bytes is not what a program has. All
// of it can be had with any GID and MAC. See docs/howto/use-the-endpoint.md.
#pragma once

#include <stdint.h>

#include <weft/adapter/exchange.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/transport/transport.h>
#include <weft/wire/wire_ends.h>

// What a QP has to know to talk with its peer's. Fill it with adapter_peer_default(), then the
// first four.
struct adapter_peer {
	// By own plane: where what leaves by it goes. GIDs are of the IP version of the
	// configuration; the same one may stand in several planes. A MAC of 0: the program looks it
	// up and writes it into each frame that it pulled, where no checksum covers it (bytes 0-5).
	struct wire_end ends[PLANES_MAX];
	uint32_t qpn;	       // of the peer, 24 bits, ADAPTER_QPN_FIRST at least (dest_qp_num)
	uint32_t send_psn;     // PSN that what is sent starts with, 24 bits (sq_psn)
	uint32_t receive_psn;  // that what comes in starts with (rq_psn)
	uint32_t mtu;	       // payload of a full packet that it takes; the smaller one rules
	uint32_t mpr;	       // PSNs in flight that it takes; the smaller one rules
	uint32_t wimm_max;     // WRITE_WITH_IMM in flight that it takes; the smaller one rules
	uint16_t header_bytes; // that it counts for a packet beside the payload, in what its SACKs
			       // tell of bytes received. 0: nobody knows, so it is found out
	uint16_t udp_port;     // that it listens at: 4791 or 4971
	uint16_t pkey;	       // of its partition, with the bit of full members
	uint8_t capabilities;  // ADAPTER_...: what it does
	uint8_t planes;	       // ports that it sends by: as many as here, else it is refused
};

struct adapter;

#ifdef __cplusplus
extern "C" {
#endif

// The address of the own port in `plane`, to be sent to the peer. -EINVAL: no such plane.
int adapter_end_of(const struct adapter *adapter, uint32_t plane, struct wire_end *ret);

// A peer that does what every MRC NIC does, with this adapter's own limits, planes, UDP port and
// P_Key; its addresses, QPN and PSNs are 0.
void adapter_peer_default(const struct adapter *adapter, struct adapter_peer *ret);

// As adapter_connect(), with a peer described by plain values. -EPROTO: numbers that cannot
// be; -EINVAL: no such QP, or planes, an address, port or partition that does not fit; -EADDRINUSE:
// another QP has this peer, or another NIC one of its addresses; -EISCONN; -EOPNOTSUPP: with SRv6,
// whose routes follow from the numbers of NICs.
int adapter_connect_peer(struct adapter *adapter, uint32_t qpn, const struct adapter_peer *peer,
			 ps_t now_ps, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
