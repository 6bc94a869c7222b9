// SPDX-License-Identifier: Apache-2.0
// A lane: what one thread owns of a run. It has machines of its own, with the queues of the cables
// that lead to them, packets and an outbox; it runs them window by window. A run has one lane, or
// as many as DPDK has lcores.
#pragma once

#include <weft/core/bitmap.h>
#include <weft/engine/engine.h>

#include "cable.h"
#include "window.h"
#include <weft/ports/backing.h>
#include <weft/ports/codec.h>
#include <weft/ports/pace.h>
#include <weft/ports/port.h>
#include <weft/ports/tap.h>

struct boundary;

// What a machine gets.
struct gathered {
	struct arrival *arrivals; // [arrivals_max]
	struct arrival_run *runs; // [ports of any machine]
	uint32_t run_count, arrival_count;
};

struct lane {
	// hot
	struct cable_set cables; // shared: tables of all cables
	struct window_set windows;
	struct gathered *gathered; // the arrivals of the machine being run; without frames those
				   // of the next one are gathered meanwhile
	struct arrival *scratch[2];
	struct outbox out;
	ps_t window_start, window_end;
	const struct world *world;
	struct tap_set *taps;	   // or NULL
	struct boundary *boundary; // to other ranks, or NULL
	uint32_t arrivals_max;
	uint32_t other_bytes_max; // no packet without payload is larger
	bool takes_single;	  // packets may be damaged, or taps look at what comes
	uint32_t index;
	uint32_t shard; // whose series it writes
	uint32_t hears; // shard whose hosts hear signals here
	struct signal
		*signal_queue; // signals of other lanes, taken between windows; NULL: one lane
	uint32_t signal_queue_count;
	// runs with frames
	struct ports *ports; // NULL: packets lie on cables in memory
	const struct codec *codec;
	struct backing backing;
	uint64_t *news;	    // bit per queue that holds frames for this lane; set by senders
	uint64_t **news_of; // [lanes] the `news` of every lane
	const struct ports_options *watch;
	struct packet_pool packets_own; // where world->packets belongs to another lane
	struct fifo_pool chunks_own;	// for frames on cables, too
	// what it counts; added up at the end
	struct run run;
	uint64_t window_sent; // in the running window
	int64_t next_window;  // in which one of its machines has something to do; INT64_MAX = none
	struct sim *sim;
} __attribute__((aligned(64))); // no cache line of two threads

// Draws the lane's burst and windows. -ENOMEM.
int lane_init(struct lane *lane, const struct world *world, ps_t span_ps, struct arena *arena);

// Counts what jobs put on the cables of machine `m` by the departures in hand.
void lane_count_jobs(struct lane *lane, uint32_t m);

// Keeps those of the pair of NICs that watch.packets is about.
void lane_keep_packets(struct lane *lane, uint32_t m);

// Counts that cable `index` lost what would have arrived at `at`.
void lane_count_loss(struct lane *lane, uint32_t index, const struct departure *departure, ps_t at,
		     enum drop_reason fate);

// Counts damage, copies and packets held back of cable `index`. Only with watch.links.
void lane_count_odd(struct lane *lane, uint32_t index, ps_t start, const struct cable_fate *fate);

// Counts what came over cable `index` and was not taken, as its host stalls.
void lane_count_waiting(struct lane *lane, uint32_t index, ps_t at);

// Counts the departures in hand for each cable alone, where they are not scattered.
void lane_count_links(const struct lane *lane, uint32_t m);

// Runs the machines that have something to do in the window that lane->windows stands at.
void lane_run_window(struct lane *lane);

// Counts deliveries to host `machine` and chains them into the digests of their cables.
void lane_deliver(struct lane *lane, uint32_t machine, const struct gathered *gathered);

// Lays the departures of machine `m` onto its cables; counts them, with watch.links.
void lane_scatter(struct lane *lane, uint32_t m);

// What the faults of cable `index` do to a packet that would arrive at `at`; counts it.
struct cable_fate lane_fate(struct lane *lane, uint32_t index, const struct departure *departure,
			    ps_t at);

// Something arrives at `at` over cable `index`, but not in the order in which it was sent.
void lane_push_reorder_queue(struct lane *lane, uint32_t index, ps_t at, uint64_t what);

// Whether what comes at `at` over cable `index`, to a host that may stall, waits or is lost, as its
// receive queue is full; counts that.
bool lane_stalls(struct lane *lane, uint32_t index, ps_t at, uint64_t what, bool *ret_is_lost);

// Whether something waits beside cable `index`; then its machine is run in time.
bool lane_awaits_reorder_queue(struct lane *lane, uint32_t index);

// The lane's own hosts hear a signal, which is for after the running window.
void lane_hear(struct lane *lane, const struct signal *signal);

// The cable by which a departure of machine `m` goes.
static inline uint32_t lane_cable(const struct lane *lane, uint32_t m,
				  const struct departure *departure)
{
	return lane->cables.out[lane->cables.base[m] + departure->port];
}

// Checks the lookahead: what leaves now, to its last bit, arrives after the window.
static inline void lane_check(const struct lane *lane, const struct cable *cable, line_t line,
			      const struct departure *departure)
{
	ps_t end = departure->start + line_ps(line, departure->bytes);
	check(end >= lane->window_start && end + cable->delay_ps >= lane->window_end);
}

// The line of a cable that may be slow, for what starts at `start`.
static inline line_t lane_line(const struct lane *lane, const struct cable *cable, ps_t start)
{
	if (__builtin_expect(cable->is_slow, 0))
		return cable_slow_line(cable, lane->world->cable_faults, start);
	return cable->line;
}

// When a departure arrives at the end of a cable that may be slow: checks that packets keep their
// order.
static inline ps_t lane_depart(const struct lane *lane, struct cable *cable,
			       const struct departure *departure)
{
	line_t line = lane_line(lane, cable, departure->start);
	lane_check(lane, cable, line, departure);
	ps_t head_at = departure->start + cable->delay_ps;
	check(cable_round(head_at, cable->unit_shift) >= cable->last_at); // in order
	cable->last_at = cable_round(head_at + line_ps(line, departure->bytes), cable->unit_shift);
	return cable->last_at;
}

// Something arrives over `cable` at `at`, later than its machine is marked for. Returns until when
// it is marked now.
static inline ps_t lane_mark(struct lane *lane, const struct cable *cable, ps_t at)
{
	return window_mark(&lane->windows, cable->to_machine, at);
}

// Lays what arrives at `at` behind all else of its cable; what the list has of it is `entry`.
static inline void lane_lay(struct lane *lane, struct cable *cable, uint64_t entry, ps_t at)
{
	if (cable->fifo.count == 0)
		bitmap_set(lane->cables.waiting[cable->to_machine], cable->to_port);
	fifo_push(&cable->fifo, lane->out.chunks, entry);
	if (at >= cable->marked_until)
		cable->marked_until = lane_mark(lane, cable, at);
}

// Takes what arrives over cable `index` before the window's end; `to` has room for `room`.
typedef uint32_t lane_take_fn(struct lane *lane, uint32_t index, struct arrival *to, uint32_t room);

// Gathers the arrivals of machine `m` from its cables that hold something. Inline, so that `take`
// is no call through a pointer.
static inline void lane_gather(struct lane *lane, uint32_t m, lane_take_fn *take,
			       struct gathered *ret)
{
	uint32_t base = lane->cables.base[m], runs = 0, total = 0;
	uint32_t words = BITMAP_WORDS(lane->world->machines[m].port_count);
	uint64_t *waiting = lane->cables.waiting[m];
	for (uint32_t word = 0; word < words; word++) {
		for (uint64_t rest = waiting[word]; rest != 0; rest &= rest - 1) {
			uint32_t port = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			struct arrival *to = ret->arrivals + total;
			uint32_t taken = take(lane, base + port, to, lane->arrivals_max - total);
			const struct cable *cable = &lane->cables.cables[base + port];
			bool awaits = cable->has_reorder_queue &&
				lane_awaits_reorder_queue(lane, base + port);
			if (cable->fifo.count == 0 && !awaits)
				bitmap_clear(waiting, port);
			if (taken > 0)
				ret->runs[runs++] = (struct arrival_run){to, taken};
			total += taken;
		}
	}
	ret->run_count = runs;
	ret->arrival_count = total;
}

// The inbox of machine `m`, for what was gathered; counts the deliveries of a host.
static inline struct inbox lane_inbox(struct lane *lane, uint32_t m,
				      const struct gathered *gathered)
{
	if (lane->world->machines[m].is_host)
		lane_deliver(lane, m, gathered);
	return (struct inbox){.runs = gathered->runs,
			      .run_count = gathered->run_count,
			      .arrival_count = gathered->arrival_count,
			      .scratch = {lane->scratch[0], lane->scratch[1]}};
}

// Cables whose packets travel as frames through ports. A packet becomes bytes when it leaves its
// NIC; a switch gets a descriptor made from these bytes, and changes in them what it changed in it;
// the NIC that gets it checks ICRC and payload. No descriptor passes a port.

// Draws what a lane needs for frames, packets of its own included when its index is not 0. -ENOMEM.
int frames_init(struct lane *lane, const struct world *world, struct arena *arena);

// Gathers, runs and scatters machine `m`; leaves the count of departures in the outbox. Returns
// what the machine says.
ps_t frames_run_machine(struct lane *lane, uint32_t machine);

// Takes what has come for this lane off its ports, and marks the machines that it is for. Not while
// a lane sends.
void frames_poll(struct lane *lane);

// What hosts tell each other beside packets, on its way: hosts of this lane hear it at once, those
// of other ranks with what crosses in the window, other lanes take it when all stand still.

// Passes on all signals in the outbox of the lane.
void signal_queue_pass(struct lane *lane);

// Takes the signals that other lanes left in the last window.
void signal_queue_take(struct lane *lane);
