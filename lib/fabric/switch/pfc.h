// SPDX-License-Identifier: Apache-2.0
// PFC at a switch: what each in-port holds of the room, when its peer must pause and may go on
// again, and the pauses that out-ports received from peers. Pure accounts: when a frame leaves is
// the machine's (ordered.c).
#pragma once

#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>
#include <weft/fabric/fabric.h>

// Which port of a switch is due first: a tree of knock-out rounds over all ports. At equal time the
// lower port comes first. Setting a port's time costs one look at each round.

struct due {
	ps_t *at;	  // [leaves] PS_NEVER: not due
	uint16_t *winner; // [2 * leaves] of each round; [1] is the first of all
	uint32_t leaves;  // a power of two
};

// Draws a tree in which none of `ports` ports is due. -ENOMEM.
int due_init(struct due *due, struct arena *arena, uint32_t ports);

void due_set(struct due *due, uint32_t port, ps_t at);

static inline uint32_t due_port(const struct due *due)
{
	return due->winner[1];
}

static inline ps_t due_at(const struct due *due)
{
	return due->at[due->winner[1]];
}

// Both directions of a port.
struct pfc_port {
	// what came in here and still waits somewhere in the switch
	uint32_t held_bytes;
	uint32_t xoff_bytes, xon_bytes;	       // without a shared buffer
	uint32_t headroom_bytes, beyond_bytes; // and what lies there: beyond xoff
	bool is_stopped;		       // the peer is to pause
	bool owes_frame;		       // and has not been sent yet, or that it may go on
	ps_t again_at;			       // when a pause is said again
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

// Of what is held of an in-port xoff_bytes are in its own room, or, with a buffer, as much as that
// one's threshold lets in: the rest is beyond, in the headroom, which is its own in any case.
// `buffer` is NULL when there is none.

// Whether a packet of the lossless class that came in here finds room.
bool pfc_has_room(const struct pfc_port *port, const struct shared_buffer *buffer, uint32_t bytes);

// A packet that came in here waits. True when the peer must be asked to pause.
bool pfc_hold(struct pfc_port *port, struct shared_buffer *buffer, uint32_t bytes, ps_t now);

// It left, or was dropped.
void pfc_leave(struct pfc_port *port, struct shared_buffer *buffer, uint32_t bytes);

// Whether the peer may go on; it is not stopped any more then. With a buffer `gap_bytes`
// is how far below the threshold.
bool pfc_goes_on(struct pfc_port *port, const struct shared_buffer *buffer, uint32_t gap_bytes);

// From how many bytes on down it may, as things are.
uint64_t pfc_xon(const struct pfc_port *port, const struct shared_buffer *buffer,
		 uint32_t gap_bytes);

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
