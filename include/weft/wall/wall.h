// SPDX-License-Identifier: Apache-2.0
// Wall time: one host of a world on ports of its own. Each turn of the loop reads the clock, takes
// what came, runs the host machine up to now, and sends what it leaves. The other machines of the
// world are not run: other processes, or real switches, are in their place.
//
//   wall.c  a turn           line.c  frames that wait for a port      wall_run.c  turn after turn
//   neighbour.c  ARP and ND  other.c  frames of others, by kind       link.c  links of ports
//   fired.c  triggers from host to host
//   meeting.c, meeting_run.c, meeting_clock.c  how hosts agree and hear
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/measure/measure.h>
#include <weft/ports/pacing.h>
#include <weft/ports/port.h>
#include <weft/ports/ports.h>
#include <weft/ports/taps.h>
#include <weft/wall/other.h>
#include <weft/wire/wire.h>
#include <weft/wire/wire_dissect.h>
#include <weft/world/world.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WALL_ANY_HOST UINT32_MAX

// A way out of the host, and in: queues of the ports.
struct wall_port {
	uint32_t port;		     // of the host machine: NIC of the host * planes + plane
	uint32_t peer;		     // the only host at its other end, or WALL_ANY_HOST
	uint32_t rx_queue, tx_queue; // of the ports
	uint8_t mac[6];
	bool has_mac; // the port's own; else it has the one of the address rule
};

#define WALL_ASKED_MAX 256u // NICs that a host asks for on one port

// A QP of a peer that is not weft: what it was given there stands in for what the world gives it.
struct wall_foreign {
	uint32_t qpn, rkey;
	uint64_t address; // of its region
};

struct wall_options {
	uint32_t host; // of the world
	struct ports *ports;
	const struct wall_port *wall_ports; // those of a port together, in the order of ports
	uint32_t wall_port_count;
	struct ports_options payload; // fill, store and move: who keeps it; nobody: a pattern
	struct tap_options taps;      // of what this host sends and gets
	const struct wall_foreign
		*foreign; // [foreign_count] by the peer's QPs in the world, or NULL
	uint32_t foreign_count;
	// Ports that send frames when these say: so long after they would have left, so that those
	// of a turn that was late keep their distances. 0: at once
	ps_t lag_ps;
	ps_t stall_ps; // a turn that takes longer is a stall of the host
	ps_t dead_ps;  // a port that takes nothing for so long is down
};

// Parts of a turn. What is left of a run are turns that found nothing.
enum wall_stage {
	WALL_STAGE_RECEIVE, // from the ports
	WALL_STAGE_READ,    // frames to packets, ICRC
	WALL_STAGE_MACHINE,
	WALL_STAGE_PLACE, // and compare
	WALL_STAGE_BUILD, // packets to frames: headers, payload, ICRC
	WALL_STAGE_SEND,
	WALL_STAGE_COUNT
};

const char *wall_stage_name(enum wall_stage stage);

// SEND, READ, atomic, a reserved opcode.
const char *wall_request_name(enum rc_request request);

// What the loop counted. Nothing of it is an error.
struct wall_counts {
	int64_t start_ns;	  // when the run began, by the clock of its control
	uint64_t turns;		  // looks at the ports
	uint64_t frames_received; // that the ports gave
	uint64_t frames_sent;	  // that the ports took
	uint64_t frames_refused;  // that a full port left, once each time
	uint64_t frames_unsent;	  // given up: their port was down, or too many waited for it
	uint64_t frames_missing;  // packets that found no frame: none was free
	uint64_t frames_dropped;  // that came, and the ports had no room for, since the drain
	uint64_t frames_faulted;  // taken by faults of the scenario, sent or received
	uint64_t frames_strange;  // packets for another host or plane, or from no NIC of the world
	uint64_t bad_frames[WIRE_REASON_COUNT]; // between NICs of the world, but no packets
	uint64_t others[WALL_OTHER_COUNT];	// frames of others, by what they are
	uint64_t requests[RC_REQUEST_COUNT];	// of peers, that weft does not have
	// ARP and neighbour discovery: questions and words sent; those of NICs of the world, or
	// for this host, that came; NICs whose MAC is known from there, and how often one changed
	uint64_t neighbours_said, neighbours_heard, neighbours_learnt, neighbours_moved;
	uint64_t links_lost, links_back; // ports: their NIC was informed (transport.port_status)
	uint64_t payload_bytes_good, payload_bytes_wrong;
	uint64_t triggers_told, triggers_heard; // fired here and there, from host to host
	uint64_t stalls;			// turns that took too long
	ps_t stalled_ps;			// of them all together
	uint64_t burst_max;			// most packets of one turn
	uint64_t queued_max;			// most frames that waited for a port
	uint64_t yields, sleeps;		// empty turns behind which others had the CPU
	int64_t asleep_ns;			// of the sleeps, and what the shortest takes here
	int64_t sleep_least_ns;
	uint64_t stage_ticks[WALL_STAGE_COUNT]; // where the time of the turns went
	double tick_ns;				// how long a tick is; 0: wall_run() did not run
	const struct hist *turn_ns; // time from look to look, of turns that found something
	// What PORT_BURST frames took, received and sent, in turns of at least so many
	const struct hist *burst_ns;
};

struct wall;
struct fired; // fired.h

// What the loop does not do, asked before anything is opened. -EINVAL with a reason.
int wall_check(const struct world *world, struct refusal *refusal);

// Draws the loop of one host in the world's arena, and seals that. -EINVAL, -ENOMEM with a reason.
int wall_create(struct wall **ret, struct world *world, const struct wall_options *options,
		struct refusal *refusal);

// Tells each link where this host's addresses are, and asks for those of the others: wall_run()
// begins with it.
void wall_announce(struct wall *wall);

// One turn, at `now`, which is not before that of the last one. Whether there was anything to do.
bool wall_turn(struct wall *wall, ps_t now);

// Takes what lies in the ports and gives it back unread: frames of an earlier run. Returns how
// many.
uint64_t wall_drain(struct wall *wall);

// Whether all that this host has to do in the world is done: it then answers others, if they ask.
bool wall_is_done(const struct wall *wall);

// What of it is done, in ends of flows, collectives and operations that this host sees.
struct wall_work {
	uint64_t done, total;
};
struct wall_work wall_work(const struct wall *wall);

// QPs of this host that went to ERROR.
uint64_t wall_qps_failed(const struct wall *wall);

const struct wall_counts *wall_counts(const struct wall *wall);
const struct seen *wall_seen(const struct wall *wall); // of other hosts
const struct world *wall_world(const struct wall *wall);

// Its triggers that start flows of other hosts, and theirs: who takes the first to them and writes
// down the second. NULL: there are none in this world.
struct fired *wall_fired(struct wall *wall);

// Ends captures and gives back what waits for ports. Their totals go to `ret_taps`. -EIO when a
// capture is not whole.
int wall_close(struct wall *wall, struct tap_counts *ret_taps, struct refusal *refusal);

// ---------------------------------------------------------------- turn after turn

// What the hosts of a run hear of each other.
enum wall_news {
	WALL_QUIET,
	WALL_ENDED,   // all are done
	WALL_STOPPED, // one of them was asked to stop
	WALL_LOST,    // one of them is gone
};

enum wall_end {
	WALL_END_DONE,
	WALL_END_STOPPED,	   // here, or by another host
	WALL_END_LOST,		   // another host is gone
	WALL_END_FAILED,	   // a QP went to ERROR: the peer does not answer
	WALL_END_TIME,		   // limits.time
	WALL_END_LIMIT,		   // limits.packets
	WALL_END_EXTERNAL_COMPUTE, // who computes outside is lost
};

const char *wall_end_name(enum wall_end end);

struct viewer; // view.h

struct wall_control {
	pace_clock_fn *clock; // in ns
	void *clock_context;
	const volatile sig_atomic_t *stop; // this host is asked to stop, or NULL
	const volatile int *news;	   // enum wall_news, written by another thread; or NULL
	void (*done)(void *context);	   // called once: this host is done
	void *done_context;
	struct viewer *viewer; // who may look at the loop while it runs, or NULL
	int64_t start_ns;      // by the clock: time 0, unless that is over by then. 0: at once
	// Asked before each turn, where computations of the program end outside
	// (world_external_compute.h): it tells wall_external_compute_end(). False: who computes is
	// lost. Or NULL
	bool (*external_compute)(void *context, struct wall *wall);
	void *external_compute_context;
	bool owns_core; // an empty turn leaves the CPU to nobody else
};

// Computation `op` ended at `at`, or as soon as the world can have it. Returns how much later.
ps_t wall_external_compute_end(struct wall *wall, uint32_t op, ps_t at);

// Runs from time 0, which is now, until all hosts are done, or as far as it gets.
enum wall_end wall_run(struct wall *wall, const struct wall_control *control);

#ifdef __cplusplus
}
#endif
