// SPDX-License-Identifier: Apache-2.0
// What two ends tell each other before the first packet, as bytes: numbers with the high byte
// first.
#include "adapter.h"

#include <errno.h>
#include <string.h>

#include <weft/core/psn.h>

static void put16(uint8_t at[2], uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t at[4], uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static uint32_t get16(const uint8_t at[2])
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t at[4])
{
	return get16(at) << 16 | get16(at + 2);
}

void exchange_write(const struct adapter *adapter, uint32_t number, struct adapter_exchange *ret)
{
	const struct transport_config *transport = &adapter->config.transport;
	const struct wire_config *wire = &adapter->config.wire;
	struct adapter_exchange exchange = {
		.version = ADAPTER_EXCHANGE_VERSION,
		.capabilities = transport_capabilities(transport),
		.planes = (uint8_t)transport->planes,
		.ip_version = wire->ip_version,
	};
	memcpy(exchange.magic, ADAPTER_MAGIC, sizeof(exchange.magic));
	memcpy(exchange.gid, adapter->ends[0].gid, sizeof(exchange.gid));
	memcpy(exchange.mac, adapter->ends[0].mac, sizeof(exchange.mac));
	put32(exchange.nic, adapter->config.nic);
	put32(exchange.qpn, number + ADAPTER_QPN_FIRST);
	put32(exchange.first_psn, adapter->connections[number].first_psn);
	put32(exchange.mtu, transport->payload_bytes);
	put32(exchange.wimm_max, transport->wimm_max);
	put32(exchange.mpr, transport->mpr);
	put16(exchange.udp_port, wire->port);
	put16(exchange.header_bytes, transport->header_bytes);
	put16(exchange.pkey, wire->pkey);
	*ret = exchange;
}

int exchange_refuse_numbers(const struct adapter_end *end, struct refusal *refusal)
{
	if (end->qpn > PSN_MASK || end->first_psn > PSN_MASK) // both have 24 bits on packets
		return refuse(refusal, -EPROTO, "a peer with QPN % and PSN %: at most %", end->qpn,
			      end->first_psn, PSN_MASK);
	if (end->qpn < ADAPTER_QPN_FIRST)
		return refuse(refusal, -EPROTO, "a peer with QPN %, which is reserved: % at least",
			      end->qpn, ADAPTER_QPN_FIRST);
	if (end->wimm_max == 0 || end->planes == 0 || end->planes > PLANES_MAX)
		return refuse(refusal, -EPROTO, "a peer with % immediates, % planes", end->wimm_max,
			      end->planes);
	if (end->mtu < ADAPTER_MTU_MIN || end->mtu > ADAPTER_MTU_MAX)
		return refuse(refusal, -EPROTO, "a peer with an MTU of %: must be % to %", end->mtu,
			      ADAPTER_MTU_MIN, ADAPTER_MTU_MAX);
	if ((end->ip_version != 4 && end->ip_version != 6) || end->mpr == 0)
		return refuse(refusal, -EPROTO, "a peer with IP version %, MPR %", end->ip_version,
			      end->mpr);
	return 0;
}

int adapter_exchange_read(const struct adapter_exchange *exchange, struct adapter_end *ret,
			  struct refusal *refusal)
{
	if (memcmp(exchange->magic, ADAPTER_MAGIC, sizeof(exchange->magic)) != 0)
		return refuse(refusal, -EPROTO, "what the peer sent is not an exchange");
	if (exchange->version != ADAPTER_EXCHANGE_VERSION)
		return refuse(refusal, -EPROTO, "an exchange of version %: this is version %",
			      exchange->version, ADAPTER_EXCHANGE_VERSION);
	struct adapter_end end = {
		.nic = get32(exchange->nic),
		.qpn = get32(exchange->qpn),
		.first_psn = get32(exchange->first_psn),
		.mtu = get32(exchange->mtu),
		.wimm_max = get32(exchange->wimm_max),
		.mpr = get32(exchange->mpr),
		.planes = exchange->planes,
		.udp_port = (uint16_t)get16(exchange->udp_port),
		.header_bytes = (uint16_t)get16(exchange->header_bytes),
		.pkey = (uint16_t)get16(exchange->pkey),
		.ip_version = exchange->ip_version,
		.capabilities = exchange->capabilities,
	};
	memcpy(end.gid, exchange->gid, sizeof(end.gid));
	memcpy(end.mac, exchange->mac, sizeof(end.mac));
	int rc = exchange_refuse_numbers(&end, refusal);
	if (rc != 0)
		return rc;
	*ret = end;
	return 0;
}
