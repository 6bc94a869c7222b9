// SPDX-License-Identifier: Apache-2.0
// PFC at a switch: what each in-port holds of the room, when its peer must pause and may go on
// again, and what peers told the out-ports. Pure accounts: when a frame leaves is the machine's
// (ordered.c).
#pragma once

#include <weft/fabric.h>

#include "due.h"

// Both directions of a port.
struct pfc_port {
	// what came in here and still waits somewhere in the switch
	uint32_t held_bytes, held_max;
	uint32_t xoff_bytes, xon_bytes, limit_bytes;
	bool is_stopped; // the peer is to pause
	bool owes_frame; // and has not been told yet, or that it may go on
	ps_t again_at;	 // when a pause is said again
	uint64_t pauses_sent, resumes_sent;
	// what goes out here
	struct pause pause;
	ps_t watch_at;	  // when it will have been paused for too long
	bool is_dropping; // it has been, and loses what comes as long as it may not send
	line_t line;	  // at its full rate
	ps_t length_ps;	  // of a pause of PAUSE_QUANTA
};

// Sets thresholds for the link behind a port.
void pfc_port_init(struct pfc_port *port, const struct topology *topology,
		   const struct fabric_config *config, const struct link_plan *link);

// Whether a packet of the lossless class that came in here finds room.
static inline bool pfc_has_room(const struct pfc_port *port, uint32_t bytes)
{
	return port->held_bytes + bytes <= port->limit_bytes;
}

// A packet that came in here waits. True when the peer must be told to pause.
bool pfc_hold(struct pfc_port *port, uint32_t bytes, ps_t now);

// It left, or was dropped. True when the peer may be told to go on.
bool pfc_leave(struct pfc_port *port, uint32_t bytes);

// A frame with `quanta` came in here, for the packets that go out.
void pfc_obey(struct pfc_port *port, uint32_t quanta, ps_t watch_ps, ps_t now);

// When something is to be done here without a packet: to pause again, or to look at a long pause.
static inline ps_t pfc_rings_at(const struct pfc_port *port)
{
	return ps_min(port->is_stopped ? port->again_at : PS_NEVER, port->watch_at);
}

// Whether it may not send the lossless class.
static inline bool pfc_is_paused(const struct pfc_port *port, ps_t now)
{
	return now < port->pause.until;
}
