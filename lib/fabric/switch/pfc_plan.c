// SPDX-License-Identifier: Apache-2.0
// Thresholds and headroom of PFC, as they follow from the scenario and the links.

#include <errno.h>

#include "topology/topology.h"

// xoff is what one port's data queue would hold; the peer goes on two packets below it, so that it
// does not pause anew for every packet.
void pfc_derive(const struct fabric_config *config, struct topology *topology)
{
	uint64_t two = 2 * (uint64_t)config->mtu_bytes;
	if (!config->pfc.is_on || config->buffer.bytes > 0) // a buffer has a threshold that moves
		return;
	uint64_t xoff = config->pfc.xoff_bytes > 0 ? config->pfc.xoff_bytes : topology->queue_bytes;
	topology->pfc_xoff_bytes = xoff;
	topology->pfc_xon_bytes = config->pfc.xon_bytes > 0 ? config->pfc.xon_bytes
		: xoff > two				    ? xoff - two
							    : 0;
}

// The headroom of each in-port of the switches, once all links are there, and what a switch needs.
int pfc_derive_headroom(const struct fabric_config *config, struct topology *topology,
			struct refusal *refusal)
{
	uint64_t low = UINT64_MAX, high = 0, most = 0;
	for (uint32_t at = 0; config->pfc.is_on && at < topology->switch_count; at++) {
		const struct switch_plan *plan = &topology->switches[at];
		uint64_t room = config->buffer.bytes;
		for (uint32_t i = 0; i < plan->port_count; i++) {
			uint32_t link = topology->port_links[plan->port_first + i];
			uint64_t own = pfc_link_headroom(config, &topology->links[link]);
			low = own < low ? own : low;
			high = own > high ? own : high;
			room += own + topology->pfc_xoff_bytes;
		}
		most = room > most ? room : most;
	}
	if (!config->pfc.is_on)
		return 0;
	topology->pfc_headroom_low_bytes = low;
	topology->pfc_headroom_high_bytes = high;
	topology->pfc_room_bytes = most;
	if (most > UINT32_MAX)
		return refuse(refusal, -EINVAL,
			      "the in-ports of one switch could hold % bytes with PFC: % is the "
			      "most",
			      (int64_t)most, UINT32_MAX);
	return 0;
}

int pfc_check(const struct fabric_config *config, const struct topology *topology,
	      struct refusal *refusal)
{
	if (config->buffer.bytes > 0 && config->buffer.bytes < config->mtu_bytes)
		return refuse(refusal, -EINVAL, "a buffer of % bytes holds no packet of % bytes",
			      (int64_t)config->buffer.bytes, config->mtu_bytes);
	if (config->buffer.bytes > UINT32_MAX ||
	    (config->buffer.bytes > 0 && config->buffer.alpha_ppb == 0))
		return refuse(refusal, -EINVAL,
			      "a buffer of % bytes with alpha %/10^9: % bytes are the most, and "
			      "alpha is above 0",
			      (int64_t)config->buffer.bytes, (int64_t)config->buffer.alpha_ppb,
			      UINT32_MAX);
	if (!config->pfc.is_on)
		return 0;
	if (config->trim_on)
		return refuse(refusal, -EINVAL, "PFC and trimming exclude each other");
	if (config->buffer.bytes > 0)
		return 0;
	if (topology->pfc_xoff_bytes < config->mtu_bytes)
		return refuse(refusal, -EINVAL, "an xoff of % bytes holds no packet of % bytes",
			      (int64_t)topology->pfc_xoff_bytes, config->mtu_bytes);
	if (topology->pfc_xon_bytes >= topology->pfc_xoff_bytes)
		return refuse(refusal, -EINVAL, "xon, % bytes, is not below xoff, % bytes",
			      (int64_t)topology->pfc_xon_bytes, (int64_t)topology->pfc_xoff_bytes);
	return 0;
}
