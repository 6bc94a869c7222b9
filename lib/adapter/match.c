// SPDX-License-Identifier: Apache-2.0
// What is given of a peer, as an exchange or as plain values, becomes the same facts; what cannot
// be is refused.
#include "adapter.h"

#include <errno.h>
#include <string.h>

#include <weft/core/psn.h>

#define PARTITION 0x7fffu // of a P_Key
#define FULL_MEMBER 0x8000u

static int refuse_partition(const struct adapter *adapter, uint16_t pkey, struct refusal *refusal)
{
	uint16_t own = adapter->config.wire.pkey;
	if (((own ^ pkey) & PARTITION) != 0 || ((own | pkey) & FULL_MEMBER) == 0)
		return refuse(refusal, -EINVAL,
			      "the peer's P_Key is %, here it is %: not one partition", pkey, own);
	return 0;
}

// Plane i of one end is plane i of the other: so many addresses, and bits of ports.
static int refuse_planes(const struct adapter *adapter, uint32_t planes, struct refusal *refusal)
{
	uint32_t own = adapter->config.transport.planes;
	if (planes != own)
		return refuse(refusal, -EINVAL, "the peer has % planes, here are %", planes, own);
	return 0;
}

static int refuse_ends(const struct adapter *adapter, const struct host_given *given,
		       struct refusal *refusal)
{
	uint32_t version = adapter->config.wire.ip_version;
	for (uint32_t plane = 0; plane < adapter->config.transport.planes; plane++) {
		const struct wire_end *end = &given->ends[plane];
		if (wire_gid_version(end->gid) != version)
			return refuse(refusal, -EINVAL,
				      "the peer's GID in plane % is of IPv%, here it is IPv%",
				      plane, wire_gid_version(end->gid), version);
		if (!wire_end_is_possible(end))
			return refuse(refusal, -EINVAL,
				      "the peer's GID or MAC in plane % belongs to no NIC", plane);
	}
	return 0;
}

// ---------------------------------------------------------------- an exchange

// Its frames must be ones that are understood here.
static int refuse_frames(const struct adapter_config *own, const struct adapter_end *end,
			 struct refusal *refusal)
{
	if (end->ip_version != own->wire.ip_version)
		return refuse(refusal, -EINVAL, "the peer sends IPv%, here it is IPv%",
			      end->ip_version, own->wire.ip_version);
	if (end->udp_port != own->wire.port)
		return refuse(refusal, -EINVAL, "the peer sends to UDP port %, here it is %",
			      end->udp_port, own->wire.port);
	return 0;
}

static bool is_known(const uint8_t mac[6])
{
	static const uint8_t none[6];
	return memcmp(mac, none, sizeof(none)) != 0;
}

// An exchange tells one address: the others follow by the rule, unless there are none.
static int ends_of(const struct adapter *adapter, const struct adapter_end *end,
		   struct host_given *ret, struct refusal *refusal)
{
	const struct wire_config *wire = &adapter->config.wire;
	bool is_single = end->planes == 1 && adapter_is_given(adapter);
	if (!is_single && end->nic >= wire_nics_max(wire))
		return refuse(refusal, -EINVAL, "the peer is NIC %: there are addresses for %",
			      end->nic, wire_nics_max(wire));
	for (uint32_t plane = 0; !is_single && plane < end->planes; plane++)
		wire_end_by_rule(wire, end->nic, (uint8_t)plane, &ret->ends[plane]);
	if (is_single)
		memcpy(ret->ends[0].gid, end->gid, sizeof(end->gid));
	if (is_single)
		memcpy(ret->ends[0].mac, end->mac, sizeof(end->mac));
	if (memcmp(ret->ends[0].gid, end->gid, sizeof(end->gid)) != 0 ||
	    (is_known(end->mac) && memcmp(ret->ends[0].mac, end->mac, sizeof(end->mac)) != 0))
		return refuse(refusal, -EINVAL,
			      "NIC % has another address than its number says: with % planes they "
			      "are to be given one by one",
			      end->nic, end->planes);
	return adapter_is_given(adapter) ? refuse_ends(adapter, ret, refusal) : 0;
}

int match_exchange(const struct adapter *adapter, const struct adapter_exchange *remote,
		   uint32_t own_psn, struct match *ret, struct refusal *refusal)
{
	struct match match = {0};
	struct adapter_end *end = &match.end;
	int rc = adapter_exchange_read(remote, end, refusal);
	if (rc == 0)
		rc = refuse_planes(adapter, end->planes, refusal);
	if (rc == 0)
		rc = refuse_frames(&adapter->config, end, refusal);
	if (rc == 0 && end->pkey != 0)
		rc = refuse_partition(adapter, end->pkey, refusal);
	if (rc == 0)
		rc = ends_of(adapter, end, &match.given, refusal);
	match.given.nic = end->nic;
	match.given.port = end->udp_port;
	match.send_psn = match.receive_psn = own_psn ^ end->first_psn;
	*ret = match;
	return rc;
}

// ---------------------------------------------------------------- plain values

static int refuse_psns(const struct adapter_peer *peer, struct refusal *refusal)
{
	if (peer->send_psn > PSN_MASK || peer->receive_psn > PSN_MASK)
		return refuse(refusal, -EPROTO, "PSNs % and %: at most %", peer->send_psn,
			      peer->receive_psn, PSN_MASK);
	if (peer->udp_port != WIRE_PORT && peer->udp_port != WIRE_PORT_OTHER)
		return refuse(refusal, -EINVAL, "UDP port % is neither % nor %", peer->udp_port,
			      WIRE_PORT, WIRE_PORT_OTHER);
	return 0;
}

int match_peer(const struct adapter *adapter, const struct adapter_peer *peer, struct match *ret,
	       struct refusal *refusal)
{
	uint32_t planes = adapter->config.transport.planes;
	struct match match = {
		.given = {.nic = HOST_NONE, .port = peer->udp_port},
		.end = {.nic = HOST_NONE,
			.qpn = peer->qpn,
			.mtu = peer->mtu,
			.wimm_max = peer->wimm_max,
			.mpr = peer->mpr,
			.planes = peer->planes,
			.header_bytes = peer->header_bytes,
			.ip_version = adapter->config.wire.ip_version,
			.capabilities = peer->capabilities},
		.send_psn = peer->send_psn,
		.receive_psn = peer->receive_psn,
	};
	memcpy(match.given.ends, peer->ends, planes * sizeof(peer->ends[0]));
	if (!adapter_is_given(adapter))
		return refuse(refusal, -EOPNOTSUPP, "SRv6 routes go by the rule of addresses");
	int rc = exchange_refuse_numbers(&match.end, refusal);
	if (rc == 0)
		rc = refuse_planes(adapter, peer->planes, refusal);
	if (rc == 0)
		rc = refuse_psns(peer, refusal);
	if (rc == 0)
		rc = refuse_partition(adapter, peer->pkey, refusal);
	if (rc == 0)
		rc = refuse_ends(adapter, &match.given, refusal);
	*ret = match;
	return rc;
}

int adapter_end_of(const struct adapter *adapter, uint32_t plane, struct wire_end *ret)
{
	if (plane >= adapter->config.transport.planes)
		return -EINVAL;
	*ret = adapter->ends[plane];
	return 0;
}

void adapter_peer_default(const struct adapter *adapter, struct adapter_peer *ret)
{
	const struct transport_config *transport = &adapter->config.transport;
	*ret = (struct adapter_peer){
		.mtu = transport->payload_bytes,
		.mpr = transport->mpr,
		.wimm_max = transport->wimm_max,
		.planes = (uint8_t)transport->planes,
		.udp_port = adapter->config.wire.port,
		.pkey = adapter->config.wire.pkey,
		.capabilities = ADAPTER_TRIM_NACK | ADAPTER_ACK,
	};
}
