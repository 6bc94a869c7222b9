// SPDX-License-Identifier: Apache-2.0
// One port of DPDK, through which frames of a capture go out or come in.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/ports/device.h>

#define PORT_FRAME_BYTES 16000u

struct one_port {
	struct device device;
	struct ports ports;
	void *memory;
	bool is_memif;
	int control; // shared memory that was called: the socket of both ends; -1: not known
};

// Whether `word` names a port: memif:NAME, the address of a PCI device, or a virtual device of DPDK
// (net_...); and whether it does, and this program has none: weft-pcap-whole does.
bool one_port_is(const char *word);
bool one_port_is_elsewhere(const char *word);

// Opens it with buffers for `frames` frames and waits for its link. `is_server`: this end of
// shared memory waits for the other; that one calls, and waits 10 s for an end to call. -EINVAL,
// -ENODEV, and -ENOTSUP in a build without DPDK.
int one_port_open(struct one_port *ret, const char *word, bool is_server, uint32_t frames,
		  struct refusal *refusal);

// Whether shared memory was called whose other end has ended. What it sent before is still there.
bool one_port_is_gone(const struct one_port *port);

// Frees what one_port_open() got, even where that failed.
void one_port_close(struct one_port *port);

// Sleeps.
void nap(int64_t ns);
