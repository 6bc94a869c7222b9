// SPDX-License-Identifier: Apache-2.0
// Ports of DPDK, of any driver: their frames are mbufs of one pool. port_dpdk.c opens ring ports,
// port_device.c devices; dpdk_frames.c is what they do alike.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <weft/core/refusal.h>
#include <weft/ports/device.h>
#include <weft/ports/dpdk.h>
#include <weft/ports/port.h>

#include "device_name.h"
#include "timed.h"

#define DPDK_NAME_BYTES 32
#define DPDK_PART_BYTES 64u // of what goes behind a payload
#define ALLOW_WORDS_MAX 112 // of DPDK's start, with those for PCI devices

// Where one of our queues is.
struct slot {
	uint16_t port, queue;
};

struct dpdk_ports {
	struct rte_mempool *pool;
	struct rte_mempool *parts; // buffers behind the first of a frame; NULL: no loans
	struct rte_mbuf_ext_shared_info readers; // of lent memory, and one
	void *lent;				 // NULL: nothing is
	uint64_t lent_bytes, lent_frames;
	bool is_mapped;		 // by PCI devices
	bool reads_all;		 // tests: any driver does
	struct rte_ring **rings; // [queues] of ring ports
	struct slot *slots;	 // [queues]
	uint16_t ports[RTE_MAX_ETHPORTS];
	uint32_t port_count;			       // opened
	char takes_all[DEVICES_MAX][DEVICE_WHY_BYTES]; // why others' frames come, too; empty: no
	struct device_name names[DEVICES_MAX];
	struct timed timed[DEVICES_MAX]; // devices
	struct timed_field timed_field;
	bool has_timed;			    // any of them
	const char *words[ALLOW_WORDS_MAX]; // of DPDK's start
	int sockets[DEVICES_MAX];	    // of af_packet, behind devices; -1: none
	int carriers[DEVICES_MAX]; // files of the kernel: of that interface, not of its name
	uint64_t dropped;	   // by them, so far
	uint32_t serial;	   // in names
	int ride_at;		   // offset of what rides with an mbuf
};

// All but names and close().
extern const struct ports_ops dpdk_frames_ops;

// Says that DPDK does not give `what` number `number`. Returns -ENODEV.
int dpdk_refuse(struct refusal *refusal, int error, const char *what, uint32_t number);

// Bytes of memory for ports->frames and what lanes keep of them.
uint64_t dpdk_frames_bytes(const struct ports *ports, uint32_t lanes);

// Draws what a kind of ports has, without rings. -ENOMEM.
int dpdk_frames_draw(struct ports *ports, struct arena *arena);

// Makes the pool of ports->frames, and more that lanes keep. -ENODEV.
int dpdk_frames_open(struct ports *ports, uint32_t lanes, struct refusal *refusal);

// The longest frame that DPDK says a port carries; UINT32_MAX where two drivers (22.11) say the
// length of Ethernet's, whatever their buffers are.
uint32_t device_longest(const struct rte_eth_dev_info *info);

// DPDK's environment: started once, with defaults that need nothing of the machine.

// Starts it with room for `memory_bytes` of frames, if it is not started. -ENODEV when the machine
// or the words do not allow it, with DPDK's own reason.
int dpdk_start(const struct dpdk_options *options, uint64_t memory_bytes, struct refusal *refusal);
