// SPDX-License-Identifier: Apache-2.0
// See pfc.h.

#include "pfc.h"

void pfc_port_init(struct pfc_port *port, const struct topology *topology,
		   const struct fabric_config *config, const struct link_plan *link)
{
	port->xoff_bytes = (uint32_t)topology->pfc_xoff_bytes;
	port->xon_bytes = (uint32_t)topology->pfc_xon_bytes;
	port->headroom_bytes = (uint32_t)pfc_link_headroom(config, link);
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

// Whether a packet goes to the headroom: the peer was asked to pause, or the buffer is used up.
static bool is_beyond(const struct pfc_port *port, const struct shared_buffer *buffer,
		      uint32_t bytes)
{
	return port->is_stopped || buffer->used + bytes > buffer->bytes;
}

bool pfc_has_room(const struct pfc_port *port, const struct shared_buffer *buffer, uint32_t bytes)
{
	if (buffer == NULL) // the packet that reaches xoff may end beyond it
		return port->held_bytes + bytes <= port->xoff_bytes + port->headroom_bytes;
	return !is_beyond(port, buffer, bytes) ||
		port->beyond_bytes + bytes <= port->headroom_bytes;
}

// The most that it may hold before the peer must pause.
static uint64_t xoff_of(const struct pfc_port *port, const struct shared_buffer *buffer)
{
	return buffer == NULL ? port->xoff_bytes : buffer_threshold(buffer);
}

bool pfc_hold(struct pfc_port *port, struct shared_buffer *buffer, uint32_t bytes, ps_t now)
{
	port->held_bytes += bytes;
	if (buffer == NULL)
		port->beyond_bytes = port->held_bytes > port->xoff_bytes
			? port->held_bytes - port->xoff_bytes
			: 0;
	else if (is_beyond(port, buffer, bytes))
		port->beyond_bytes += bytes;
	else
		buffer->used += bytes;
	if (port->is_stopped ||
	    (port->held_bytes < xoff_of(port, buffer) && port->beyond_bytes == 0))
		return false;
	port->is_stopped = true;
	port->again_at = now + port->length_ps / 2;
	return true;
}

void pfc_leave(struct pfc_port *port, struct shared_buffer *buffer, uint32_t bytes)
{
	check(port->held_bytes >= bytes);
	port->held_bytes -= bytes;
	uint32_t beyond = bytes < port->beyond_bytes ? bytes : port->beyond_bytes;
	port->beyond_bytes -= beyond; // the headroom empties first
	if (buffer != NULL)
		buffer->used -= bytes - beyond;
}

uint64_t pfc_xon(const struct pfc_port *port, const struct shared_buffer *buffer,
		 uint32_t gap_bytes)
{
	if (buffer == NULL)
		return port->xon_bytes;
	uint64_t threshold = buffer_threshold(buffer);
	return threshold > gap_bytes ? threshold - gap_bytes : 0;
}

bool pfc_goes_on(struct pfc_port *port, const struct shared_buffer *buffer, uint32_t gap_bytes)
{
	if (!port->is_stopped || port->held_bytes > pfc_xon(port, buffer, gap_bytes) ||
	    port->beyond_bytes > 0)
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
