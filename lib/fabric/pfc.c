// SPDX-License-Identifier: Apache-2.0
// See pfc.h.

#include "pfc.h"

void pfc_port_init(struct pfc_port *port, const struct topology *topology,
		   const struct fabric_config *config, const struct link_plan *link)
{
	port->xoff_bytes = (uint32_t)topology->pfc_xoff_bytes;
	port->xon_bytes = (uint32_t)topology->pfc_xon_bytes;
	port->limit_bytes = (uint32_t)(topology->pfc_xoff_bytes + pfc_link_headroom(config, link));
	port->again_at = port->watch_at = PS_NEVER;
	port->line = line_of(link->rate_bps);
	port->length_ps = pause_length_ps(port->line, PAUSE_QUANTA);
}

uint64_t pfc_link_headroom(const struct fabric_config *config, const struct link_plan *link)
{
	return config->pfc.headroom_bytes > 0
		? config->pfc.headroom_bytes
		: pfc_headroom_bytes(link->rate_bps, link->delay_ab_ps + link->delay_ba_ps,
				     config->mtu_bytes);
}

bool pfc_hold(struct pfc_port *port, uint32_t bytes, ps_t now)
{
	port->held_bytes += bytes;
	if (port->held_bytes > port->held_max)
		port->held_max = port->held_bytes;
	if (port->is_stopped || port->held_bytes < port->xoff_bytes)
		return false;
	port->is_stopped = true;
	port->again_at = now + port->length_ps / 2;
	return true;
}

bool pfc_leave(struct pfc_port *port, uint32_t bytes)
{
	check(port->held_bytes >= bytes);
	port->held_bytes -= bytes;
	if (!port->is_stopped || port->held_bytes > port->xon_bytes)
		return false;
	port->is_stopped = false;
	return true;
}

void pfc_obey(struct pfc_port *port, uint32_t quanta, ps_t watch_ps, ps_t now)
{
	bool was_paused = pfc_is_paused(port, now);
	pause_take(&port->pause, pause_length_ps(port->line, quanta), now);
	if (quanta == 0) {
		port->watch_at = PS_NEVER;
		port->is_dropping = false;
	} else if (!was_paused) {
		port->watch_at = watch_ps > 0 ? now + watch_ps : PS_NEVER;
		port->is_dropping = false;
	}
}
