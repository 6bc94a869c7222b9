// SPDX-License-Identifier: Apache-2.0
// Devices as ports: queue i of the ports is device i, both ways. For a host in wall time
// (include/weft/wall/wall.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/ports/device_clock.h>
#include <weft/ports/pacing.h>
#include <weft/ports/port.h>
#include <weft/ports/roce.h>
#include <weft/ports/veth.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEVICE_WORD_BYTES 192
#define DEVICE_WHY_BYTES 128
#define DEVICES_MAX 32 // ports that Debian's DPDK has

// What of a wire's frames is for us, by the addresses of one NIC port.
struct device_filter {
	uint16_t udp_port;	  // 0: no filter, all frames are
	bool is_v4, is_tunnelled; // addresses; IPv6 around what is sent
	uint8_t address[16];	  // its own; an IPv4 one behind ::ffff:0:0
};

struct device {
	// memif:NAME, shared memory with one other process of this user; the address of a PCI
	// device, whose driver is DPDK's, with arguments for that behind a comma; an interface of
	// the kernel, by name or MAC, which its driver keeps (af_packet); a virtual device and its
	// arguments as DPDK writes them; or the MAC of a port that words of `options` made
	char word[DEVICE_WORD_BYTES];
	bool is_server; // memif: this end is there first
	bool is_held;	// by port_device_check()
	struct device_filter filter;
};

// Opens the devices, with ports->frames of ports->frame_bytes_max. Starts DPDK if that was not
// done. -EINVAL for a word that names none, a device named twice or one that
// carries no such frames, and words of `options` that make a port which no device names; -ENODEV
// for what DPDK or the machine does not have.
int port_device_open(struct ports *ports, struct arena *arena, const struct device *devices,
		     uint32_t count, const struct dpdk_options *options, struct refusal *refusal);

// What port_device_open() refuses of words, arguments and MTUs, for frames of `frame_bytes`,
// without opening a device. Takes the kernel's interfaces among them until the process ends.
// -EINVAL, -EBUSY for an interface that another process of weft has.
int port_device_check(struct device *devices, uint32_t count, uint32_t frame_bytes,
		      const struct dpdk_options *options, struct refusal *refusal);

// The longest frame of the interface of the kernel that a word names, by its MTU; UINT32_MAX: it
// names none.
uint32_t port_device_longest(const char *word);

// All links are there: where a device is memif, DPDK's interrupt thread does nothing from now on.
// In it net_memif of DPDK 22.11 unmaps the rings of a peer that goes, beneath who polls them. A
// peer that goes is then a port that takes nothing. -ENODEV when the thread cannot be held.
int port_device_settle(const struct ports *ports, struct refusal *refusal);

// From now on frames may take payload from that memory without a copy, if all devices can read it
// there: they take frames in several buffers, and read by the CPU, or can map it. It was asked for
// by ports->loans when they were opened. False, with the reason: they cannot.
bool port_device_lend(struct ports *ports, void *memory, uint64_t bytes,
		      char why[DEVICE_WHY_BYTES]);

// No device reads it any more: one that does not give its frames back is stopped.
void port_device_recall(struct ports *ports);

// Frames that were sent so.
uint64_t port_device_lent(const struct ports *ports);

// Whether device `index` has its link: for memif, that its peer is there; for an interface of the
// kernel, that it is there, and its carrier.
bool port_device_is_up(const struct ports *ports, uint32_t index);

// The MAC of device `index`. False: it has none.
bool port_device_mac(const struct ports *ports, uint32_t index, uint8_t ret[6]);

// What a device may do with frames, beside carrying them.
enum device_ability {
	DEVICE_SENDS_CHAINS,   // a frame that lies in several buffers
	DEVICE_SENDS_CHECKSUM, // of UDP
	DEVICE_READS_CHECKSUM,
	DEVICE_SPREADS,	    // to receive queues, by a hash of addresses
	DEVICE_SELECTS,	    // what its filter says, and leaves the rest to others
	DEVICE_STAMPS,	    // arrival times
	DEVICE_SENDS_TIMED, // at a time that the frame says
	DEVICE_HAS_CLOCK,
	DEVICE_COUNTS, // frames and drops
	DEVICE_ABILITIES
};

struct device_facts {
	char driver[32];
	char interface[32]; // of the kernel; empty: none
	uint8_t mac[6];
	bool is_up;
	uint32_t link_mbps;				     // as the driver says; 0: it does not
	uint32_t frame_bytes_max;			     // UINT32_MAX: as long as asked for
	uint32_t rx_queues, tx_queues, rx_places, tx_places; // places: of a queue
	uint32_t counters;				     // that DPDK gives of it
	int device_node, lcore_node, memory_node;	     // of NUMA; -1: none in particular
	bool can[DEVICE_ABILITIES];
	struct roce roce;		  // of NICs, by either way
	struct veth veth;		  // of interfaces
	char untimed[DEVICE_WHY_BYTES];	  // why it sends frames at once
	char takes_all[DEVICE_WHY_BYTES]; // why it does not select; empty: it does, or no filter
};

// Why device `index` takes every frame that comes to it; empty: only those that its filter lets
// through come.
const char *port_device_takes_all(const struct ports *ports, uint32_t index);

// Reads the clocks of devices that send at given times, beside this one, some ms long. How many of
// them agree: they send frames when these say, as long as both clocks go together.
uint32_t port_device_time(struct ports *ports, pace_clock_fn *clock, void *context);

// Why device `index` sends frames at once, be their times as they may; empty: it does not. How its
// clock went goes to `ret_clock`.
const char *port_device_untimed(const struct ports *ports, uint32_t index,
				struct device_clock *ret_clock);

// What device `index` of open ports is and can. Sends nothing.
void port_device_facts(const struct ports *ports, uint32_t index, struct device_facts *ret);

#ifdef __cplusplus
}
#endif
