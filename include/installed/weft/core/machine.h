// SPDX-License-Identifier: Apache-2.0
// The contract between every machine (a host with its NICs, a switch) and every driver. One verb,
// in bursts.
//
// A machine is an island: it holds no pointer to another machine, no clock, no socket, no file, no
// heap. Order at equal time: departures (an idle port starts at once), arrivals by in-port then
// first in first out, timers by (kind, id), operator faults in file order. See
// docs/architecture.md.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/core/check.h>
#include <weft/core/fifo.h>
#include <weft/core/packet.h>
#include <weft/core/time.h>

// One packet that came in: its last bit is here at `at`, or at a cut-through switch its head.
struct arrival {
	ps_t at;
	uint32_t packet;
	uint32_t port; // in-port of the machine
};

// The arrivals of one in-port, oldest first. The runs of an inbox lie one behind the other in
// memory.
struct arrival_run {
	struct arrival *first; // the machine's to change
	uint32_t count;
};

#define MACHINE_PORTS_MAX 4096 // ports of one machine

// What a machine gets: one time-ordered run per in-port that has arrivals, in ascending in-port
// order, all before `until`.
struct inbox {
	const struct arrival_run *runs;
	uint32_t run_count;
	uint32_t arrival_count;	    // over all runs
	struct arrival *scratch[2]; // two places of `arrival_count` for merge_runs(), the driver's
};

// One packet that goes out: its first bit leaves `port` at `start`. Starts on a port never go back.
struct departure {
	ps_t start;
	uint32_t packet;
	uint16_t port;
	uint16_t bytes; // packet.wire_bytes, so that the driver need not touch the packet
};

// An order to the driver, which owns memory: "this payload belongs there". Given for each packet
// with a payload handle whose payload is new; who owns the frame behind the handle frees it, once.
struct dma_write {
	uint32_t nic; // that took the packet
	uint32_t qp;  // of that NIC
	uint32_t rkey;
	uint32_t bytes;
	uint64_t va;
	uint32_t payload; // handle, 0 = none
};

// What a host tells other hosts beside all packets: a trigger of a traffic matrix was fired. The
// driver lets them know (world_signal.h).
struct signal {
	ps_t at;	  // when they know, after the window
	uint32_t from;	  // machine
	uint32_t trigger; // from 1
	uint32_t flow;	  // index + 1 of the one that it starts; 0 = the trigger's
};

enum outbox_limit { OUTBOX_WITHIN, OUTBOX_NO_PACKET, OUTBOX_NO_ROOM };

// What a machine leaves behind. The driver empties it after each call.
struct outbox {
	struct departure *departures;
	uint32_t count;
	uint32_t capacity;
	struct dma_write
		*dma_writes; // as many as the inbox has arrivals, at most `dma_write_capacity`
	uint32_t dma_write_count;
	uint32_t dma_write_capacity; // 0 in virtual time: no packet has a payload handle there
	struct signal *signals;
	uint32_t signal_count;
	uint32_t signal_capacity;    // world_signals_max()
	struct packet_pool *packets; // where packets come from and go back to
	struct fifo_pool *chunks;    // for the port queues
	enum outbox_limit limit;     // a limit that was hit: the driver stops the run and names the
				     // option to raise
};

// Takes every arrival, does every timer and departure due before `until`, leaves the answers in
// `out`. Returns the earliest time (at or after `until`) at which there is something to do without
// a new arrival, or PS_NEVER. Calling it again with nothing to do changes nothing.
typedef ps_t machine_run_fn(void *self, const struct inbox *in, ps_t until, struct outbox *out);

// Brings into the cache what run() will read, in MACHINE_FETCHES steps: each reads what those
// before fetched, a while ago. `ports` has a bit per in-port that has arrivals. Changes nothing.
#define MACHINE_FETCHES 5u
typedef void machine_fetch_fn(const void *self, const uint64_t *ports, uint32_t step);

struct machine {
	machine_run_fn *run;
	machine_fetch_fn *fetch; // or NULL
	void *self;		 // the machine's own state
	uint32_t port_count; // duplex ports: in-port i and out-port i are the two directions of one
			     // link
	bool is_host;	     // what arrives here is delivered: it counts in the digest
};

static inline void outbox_send(struct outbox *out, uint32_t port, uint32_t packet, uint32_t bytes,
			       ps_t start)
{
	check(out->count < out->capacity);
	struct departure *departure = &out->departures[out->count++];
	departure->start = start;
	departure->packet = packet;
	departure->port = (uint16_t)port;
	departure->bytes = (uint16_t)bytes;
}

static inline void outbox_dma_write(struct outbox *out, const struct dma_write *dma_write)
{
	check(out->dma_write_count < out->dma_write_capacity);
	out->dma_writes[out->dma_write_count++] = *dma_write;
}

static inline void outbox_signal(struct outbox *out, const struct signal *signal)
{
	check(out->signal_count < out->signal_capacity);
	out->signals[out->signal_count++] = *signal;
}

#ifdef __cplusplus
extern "C" {
#endif

// All arrivals of `in` in one list ordered by (time, in-port, first in first out). The list lies in
// one of the scratch places (or is the only run itself) and is valid until the inbox is used again.
const struct arrival *merge_runs(const struct inbox *in);

#ifdef __cplusplus
}
#endif
