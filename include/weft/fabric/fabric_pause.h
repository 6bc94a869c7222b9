// SPDX-License-Identifier: Apache-2.0
// Priority flow control (PFC, IEEE 802.1Qbb): a switch that runs out of room for the lossless class
// tells the port that sends to it to pause. What is configured, what a paused port keeps, and how
// much room must be left for what is under way.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/fifo.h>
#include <weft/core/time.h>

// What happens to a port that was paused for too long.
enum pause_watch_action {
	PAUSE_WATCH_COUNT, // nothing: it is counted
	PAUSE_WATCH_DROP,  // what waits there is dropped, and what comes until it may send again
};

// Of every in-port; data are the lossless class, control is never paused.
struct pfc_config {
	bool is_on;
	uint64_t xoff_bytes;	 // held of one in-port: from here on it is paused; 0 = a data queue
	uint64_t xon_bytes;	 // at this depth the sender may go on; 0 = two packets below xoff
	uint64_t headroom_bytes; // beyond xoff, for what is under way; 0 = pfc_headroom_bytes()
	ps_t watch_ps;		 // a port that is paused for longer is counted; 0 = nobody looks
	enum pause_watch_action watch_action;
};

#define PAUSE_FRAME_BYTES 84u	// 64 bytes with FCS, preamble and gap
#define PAUSE_QUANTA UINT16_MAX // a pause says the longest time, and is said again at half of it
#define PAUSE_QUANTUM_BYTES 64u // 512 bit times

// A port that others may pause.
struct pause {
	ps_t until;	 // it may not send the lossless class before
	ps_t since;	 // its pause is counted up to here
	ps_t total_ps;	 // of the pauses before
	uint64_t pauses; // frames that came: with a time, and without one
	uint64_t resumes;
};

struct pause_counters {
	uint64_t pauses_sent, resumes_sent;
	uint64_t pauses_received, resumes_received;
	uint64_t paused_ps;	     // of all ports, added up
	uint64_t watch_fired;	     // ports that were paused for longer than pfc_config.watch_ps
	uint64_t headroom_bytes_max; // most bytes that one in-port held beyond xoff
};

// An out-port of a switch: its place in topology.switches, and the port.
struct switch_port {
	uint32_t at, port;
};

// What deadlock_find() works in.
struct deadlock_room {
	uint8_t *is_stuck; // [ports of all switches]
	uint32_t *turn;	   // [ports of all switches]
	uint32_t *held;	   // [MACHINE_PORTS_MAX]
};

struct fabric_config;
struct link_plan;
struct switch_;
struct topology;

#ifdef __cplusplus
extern "C" {
#endif

// Bytes that may still come in after xoff was reached, at most: the packet that reached it, what is
// sent until the pause is there (it waits for one packet, is sent and travels back), what was on
// its way then, and the packet that the peer has just begun. `delay_ps` is of both directions.
uint64_t pfc_headroom_bytes(uint64_t rate_bps, ps_t delay_ps, uint32_t mtu_bytes);

// How long `quanta` last on a line.
ps_t pause_length_ps(line_t line, uint32_t quanta);

// A pause frame with a time of `length_ps` came at `now`; 0 = go on.
void pause_take(struct pause *pause, ps_t length_ps, ps_t now);

// How long it was paused in all, up to `now`.
ps_t pause_total_ps(const struct pause *pause, ps_t now);

// Bytes beyond xoff that one in-port may hold.
uint64_t pfc_link_headroom(const struct fabric_config *config, const struct link_plan *link);

// The pauses that its port `port` received from the peer; NULL without PFC.
const struct pause *switch_pause(const struct switch_ *self, uint32_t port);

// Visits, always in the same order, all that switch_pause() and deadlock_find() read of a switch,
// as pieces of `bytes` at `memory`: to be read where it was run, or, with `is_taken`, to be written
// as it was read there. Its data queues are then filled, from `chunks`, with what waits in them.
typedef void switch_piece_fn(void *context, void *memory, size_t bytes);
void switch_pause_pieces(struct switch_ *self, struct fifo_pool *chunks, bool is_taken,
			 switch_piece_fn *visit, void *context);

// Draws what deadlock_find() works in. -ENOMEM.
int deadlock_room_init(struct deadlock_room *room, struct arena *arena,
		       const struct topology *topology);

// A cycle of out-ports each of which is paused and waits for the next, for good: what the peer
// holds of its packets will never drain down to xon. Writes at most `max` of them in the order of
// waiting; returns how many are in the cycle, 0 = there is no deadlock. `chunks` are what the
// queues of the switches lie in.
uint32_t deadlock_find(const struct topology *topology, struct switch_ *const *switches,
		       const struct fifo_pool *chunks, struct deadlock_room *room,
		       struct switch_port *ret, uint32_t max);

#ifdef __cplusplus
}
#endif
