// SPDX-License-Identifier: Apache-2.0
// What a switch counts.
#pragma once

#include <stdint.h>

#include <weft/core/packet.h>
#include <weft/fabric/fabric_pause.h>
#include <weft/measure/measure.h>
#include <weft/measure/measure_link.h>

struct fabric_counters {
#define COUNTER(name, ...) uint64_t name;
#include <weft/fabric/fabric_counters.def>
#undef COUNTER
	uint64_t dropped[DROP_REASON_COUNT];
	uint64_t forwarded[PACKET_CLASS_COUNT]; // departures by class
	uint64_t queue_bytes_max;		// deepest data queue seen
	uint64_t buffer_bytes_max;		// most that a shared buffer held
	struct pause_counters pause;
};

struct arena;
struct topology;
struct fabric_config;
struct switch_; // `switch` is a C keyword

#ifdef __cplusplus
extern "C" {
#endif

// Adds what another switch, or the same one elsewhere, counted; of depths the larger one stays.
void fabric_counters_add(struct fabric_counters *sum, const struct fabric_counters *more);

const struct fabric_counters *switch_counters(const struct switch_ *self);

// Puts these in their place: those of the same switch as it was run elsewhere.
void switch_set_counters(struct switch_ *self, const struct fabric_counters *counters);

// Before the run: its ports that mark do so from other depths on; see fault.h, FAULT_ECN.
void switch_set_ecn(struct switch_ *self, uint32_t low_bytes, uint32_t high_bytes,
		    uint32_t share_ppb);

// Before the run, and before switch_slow(): the data queues of all its ports are measured, against
// the depths at which they should mark. -ENOMEM.
int switch_watch(struct switch_ *self, struct arena *arena, const struct topology *topology,
		 const struct fabric_config *config);

// Adds up what was measured of the queues, packet by packet, since it was last called; before any
// of that is read.
void switch_settle(struct switch_ *self);

// What was measured of the queue of a port; NULL where nothing is.
struct queue_watch *switch_port_watch(const struct switch_ *self, uint32_t port);

// Where the depths of that queue go, to be filled before the run; NULL where nothing is measured.
struct depth_watch *switch_port_depth(const struct switch_ *self, uint32_t port);

#ifdef __cplusplus
}
#endif
