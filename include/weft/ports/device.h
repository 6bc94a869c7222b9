// SPDX-License-Identifier: Apache-2.0
// Devices as ports: queue i of the ports is device i, both ways. For a host in wall time
// (include/weft/wall/wall.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/ports/port.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEVICE_WORD_BYTES 192
#define DEVICES_MAX 32 // ports that Debian's DPDK has

struct device {
	// memif:NAME, shared memory with one other process of this user; an interface of the
	// kernel, by name or MAC, which its driver keeps (af_packet); or a virtual device and its
	// arguments as DPDK writes them
	char word[DEVICE_WORD_BYTES];
	bool is_server; // memif: this end is there first
};

// Opens the devices, with ports->frames of ports->frame_bytes_max. Starts DPDK if that was not
// done. -EINVAL for a word that names none, -ENODEV for what DPDK or the machine does not have.
int port_device_open(struct ports *ports, struct arena *arena, const struct device *devices,
		     uint32_t count, const struct dpdk_options *options, struct refusal *refusal);

// All links are there: where a device is memif, DPDK's interrupt thread does nothing from now on.
// In it net_memif of DPDK 22.11 unmaps the rings of a peer that goes, beneath who polls them. A
// peer that goes is then a port that takes nothing. -ENODEV when the thread cannot be held.
int port_device_settle(const struct device *devices, uint32_t count, struct refusal *refusal);

// Whether device `index` has its link: for memif, that its peer is there.
bool port_device_is_up(const struct ports *ports, uint32_t index);

#ifdef __cplusplus
}
#endif
