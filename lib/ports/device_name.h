// SPDX-License-Identifier: Apache-2.0
// What a word names that stands for a port: read from the word, and from the kernel's files.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/ports/device.h>
#include <weft/ports/dpdk.h>

#define SYSFS "/sys"
#define ETHERNET_BYTES 14u
#define PLACE_HEADER 32u     // of a place, what DPDK does not ask of a buffer to hold
#define AF_PACKET_HEADER 80u // what the kernel writes before a frame in its ring, at most

enum device_kind {
	DEVICE_MEMIF,	  // shared memory, by name
	DEVICE_PCI,	  // a NIC whose driver is DPDK's, by address
	DEVICE_INTERFACE, // of the kernel, by name or MAC
	DEVICE_VIRTUAL,	  // of DPDK
	DEVICE_MAC,	  // of no interface: a port that DPDK has, or none
};

struct device_name {
	enum device_kind kind;
	// memif's name; "0000:16:00.0"; "eth0"; "net_null0"; the MAC
	char name[64];
	const char *arguments; // behind a comma in the word, of PCI and virtual devices; else ""
};

// Reads a word; `sysfs` is where the kernel's files are. `word` has to stay. -EINVAL with a reason
// for one that names nothing, or a device that DPDK cannot take.
int device_name_read(struct device_name *ret, const char *word, const char *sysfs,
		     struct refusal *refusal);

// The last part of where a link leads; empty: there is no link.
void link_end(const char *path, char *ret, size_t bytes);

// A line of a file of an interface, without its end. False: there is none.
bool device_line(const char *sysfs, const char *interface, const char *what, char *ret, int bytes);

// Opens such a file, which then stays that of the interface, whoever has its name. -1: there is
// none.
int device_open(const char *sysfs, const char *interface, const char *what);

// A place in the kernel's ring, of which DPDK wants a block to hold a whole number.
static inline uint32_t device_place_bytes(uint32_t frame_bytes)
{
	uint32_t place = 2048;
	while (place < frame_bytes + AF_PACKET_HEADER)
		place *= 2;
	return place;
}

// What DPDK finds out too late, or does not say.

// Reads the words of `count` devices and checks all that is known before one is opened. Nothing is
// held. -EINVAL with a reason.
int device_names_read(struct device_name *ret, const struct device *devices, uint32_t count,
		      uint32_t frame_bytes, const struct dpdk_options *options,
		      struct refusal *refusal);

// Bytes of a buffer for frames of `frame_bytes` that the device wants.
uint32_t device_room(const struct device_name *name, uint32_t frame_bytes);

// Takes the kernel's interface of a device, if it is one, until the process ends: two processes on
// one would both get what comes. -EBUSY with a reason.
int device_hold_interface(const struct device_name *name, struct refusal *refusal);

// An interface of the kernel whose frames for RoCEv2 and MRC are left to this process.

// Keeps frames for UDP ports 4791 and 4971 that come in by an interface from the kernel's own IP
// stack, which would look for a route and answer each that no socket there wants; sockets of
// packets, af_packet and tcpdump, get them as before, and all other frames go where they went. It
// ends with the process, or when the descriptor is closed. Returns that, or -errno: -EPERM without
// the right to it, -EINVAL where the kernel is older than 6.6.
int isolation_begin(const char *interface);

// The socket of packets behind a port of af_packet: it is DPDK's, which (22.11) does not ask it for
// the frames that its ring had no room for.

// The descriptor of this process's packet socket on an interface; -1: there is none, or no /proc.
int packet_socket_find(const char *interface);

// Frames that came to a full ring since the last call: the kernel counts anew after each. 0 also
// for a descriptor of -1.
uint64_t packet_socket_dropped(int socket);
