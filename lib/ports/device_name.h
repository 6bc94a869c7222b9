// SPDX-License-Identifier: Apache-2.0
// What a word names that stands for a port: read from the word, and from the kernel's files.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

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
