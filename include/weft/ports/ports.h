// SPDX-License-Identifier: Apache-2.0
// Ports as who starts a run chooses them, and what they did.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/machine.h>
#include <weft/ports/dpdk.h>
#include <weft/world/world_cables.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ports_kind {
	PORTS_NONE,   // packets lie on cables in memory; there are no bytes
	PORTS_MEMORY, // frames, in memory of the process
	PORTS_RING,   // frames, through DPDK's ring ports
};

struct ports_options {
	enum ports_kind kind;
	uint32_t port_count;	  // RING: ports to use; 0 = as many as there is need for
	struct dpdk_options dpdk; // RING
	// Called for each frame that a port takes, or NULL. One that changes bytes says so by
	// `watch_changes`: nothing covers marks and trims, so those that arrive need no switch.
	void (*watch)(void *context, const struct cable_plan *cable, ps_t at, uint8_t *bytes,
		      uint32_t length);
	void *watch_context;
	bool watch_changes;
	// Bytes of the caller's in the place of a pattern that is verified, or NULL: writes the
	// payload of a packet that a NIC sends (again), and keeps one that a NIC placed. One lane.
	void (*fill)(void *context, const struct dma_write *where, uint8_t *ret);
	void (*store)(void *context, const struct dma_write *where, const uint8_t *payload);
	// Where such a payload lies, or NULL: devices that can then read it there, so that nothing
	// copies it. It stays there and mapped, and is what the frame was built with until the
	// device has read it; a frame for which that does not hold has a wrong ICRC.
	const uint8_t *(*find)(void *context, const struct dma_write *where);
	// Called with a program's message inside a host (world_write_target.h), or NULL. With
	// `fill`.
	void (*move)(void *context, const struct dma_write *where);
	void *payload_context;
};

// How many ports DPDK has here, and queues a ring port. 0 in a build without DPDK.
uint32_t ports_ring_max(void);
uint32_t ports_ring_queues(void);

// What ports did.
struct ports_figures {
	const char *name; // "memory", "net_ring"; NULL without ports
	uint32_t ports, queues;
	uint32_t cables_per_queue_max;
	uint32_t frames;	  // buffers
	uint32_t frame_bytes_max; // of one
	uint64_t sent, received;  // as the ports counted
	uint64_t missed;
};

#ifdef __cplusplus
}
#endif
