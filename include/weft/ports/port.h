// SPDX-License-Identifier: Apache-2.0
// Ports that carry frames: each cable of the world is a queue of a port, or shares one with others
// and is identified by a number that goes with the frame. Two kinds: memory of the process
// (port_memory.c), and DPDK (port_dpdk.c). A frame has one owner, as a packet has: who took it with
// ports_take(), the ports from ports_send() on, who got it from ports_receive().
//
// Everything is done in bursts. A thread ("lane") sends and receives only on queues that are its
// own at that end: see struct port_cable.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/ports/ports.h>

#define PORT_BURST 32	  // frames that calls move at once, at most
#define PORT_LANES_MAX 16 // threads
#define PORT_SHARE_MAX 64 // cables that may share a queue

// A frame in a port's memory.
struct frame {
	void *owner;	// what lists of frames hold
	uint8_t *bytes; // room for frame_bytes_max
	uint32_t length;
	uint32_t cable;
	ps_t at; // virtual time of its arrival; devices: when it is to leave, from ports->start_ns
		 // on, 0: at once
};

// What ports know of a cable.
struct port_cable {
	uint8_t from_lane, to_lane;
	uint32_t frames_max; // that it may hold at once before the receiver looks
};

// Totals over all ports.
struct port_counts {
	uint64_t sent, received;
	uint64_t missed; // the ports dropped them: no receive queue or buffer had room
};

struct ports;

struct ports_ops {
	const char *name;
	// Takes `count` empty frames. False, and none, when there are not as many.
	bool (*take)(struct ports *ports, struct frame *ret, uint32_t count);
	// Gives frames back.
	void (*give)(struct ports *ports, void *const *owners, uint32_t count);
	// Sends frames that are all for cables of one queue, in order. Returns how many of them it
	// took, the first ones: all, unless the queue is full.
	uint32_t (*send)(struct ports *ports, uint32_t queue, const struct frame *frames,
			 uint32_t count);
	// The next frames of a queue, at most `max`; 0 = it is empty now.
	uint32_t (*receive)(struct ports *ports, uint32_t queue, struct frame *ret, uint32_t max);
	// The frame behind an owner.
	void (*look)(const struct ports *ports, void *owner, struct frame *ret);
	void (*count)(const struct ports *ports, struct port_counts *ret);
	// Puts `bytes` bytes of lent memory (port_device_lend()) behind the first `at` of a frame
	// that was taken, and what follows in the frame behind them; frame->length is that of all.
	// False: the frame has to hold them. NULL: always. Each frame has headers of its own, so
	// that a repeat changes nothing of what a device has still to read.
	bool (*lend)(struct ports *ports, struct frame *frame, uint32_t at, const uint8_t *payload,
		     uint32_t bytes);
	// Frames that are out: taken and not given back.
	uint32_t (*taken)(const struct ports *ports);
	// Whether there is a link behind a queue; NULL: always.
	bool (*is_up)(const struct ports *ports, uint32_t queue);
	// Looks whether clocks of devices still agree with ours, where frames leave by them; NULL:
	// they do not.
	void (*keep)(struct ports *ports);
	void (*close)(struct ports *ports);
};

struct ports {
	const struct ports_ops *ops;
	uint32_t port_count, queue_count;
	uint32_t cables_per_queue_max;
	uint32_t frames; // in the pool
	uint32_t loans;	 // devices: frames that hold lent memory at once
	uint32_t frame_bytes_max;
	uint32_t *queue_of;	// [cables]
	uint32_t *queue_frames; // [queues] places it needs
	uint8_t *queue_to;	// [queues] lane that receives
	int64_t start_ns;	// devices: time 0 of frames, by the clock of port_device_time()
	void *own;		// of the kind
};

// Lays cables on queues: each its own if there are as many, else cables of the same two lanes share
// one. Draws the tables; -ENOMEM, or -EINVAL with the counts when more than PORT_SHARE_MAX cables
// would share a queue.
int port_plan(struct ports *ports, struct arena *arena, const struct port_cable *cables,
	      uint32_t cable_count, uint32_t queues_max, struct refusal *refusal);

// Ports in memory of the process: `ports` is planned, and its `frames` and `frame_bytes_max` say
// what to draw. One lane only.
int port_memory_open(struct ports *ports, struct arena *arena, struct refusal *refusal);

// Ports of DPDK's ring driver; starts DPDK if that was not done. `ports` as above, with the number
// of ports that were asked for in port_count (0 = as many as the queues need). -ENODEV for what
// the machine or DPDK does not have.
int port_dpdk_open(struct ports *ports, struct arena *arena, const struct dpdk_options *options,
		   struct refusal *refusal);

static inline uint32_t ports_queue(const struct ports *ports, uint32_t cable)
{
	return ports->queue_of[cable];
}
