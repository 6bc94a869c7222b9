// SPDX-License-Identifier: Apache-2.0
// One port of DPDK, through which frames of a capture go out or come in.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/ports/device.h>
#include <weft/ports/port.h>
#include <weft/ports/sniff.h>

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

// Where live frames come from: a device of libpcap, or a port of DPDK.

struct inlet {
	bool is_port;
	uint16_t link; // LINKTYPE_...
	char why[REFUSAL_TEXT_BYTES];
	struct sniff sniff;
	struct one_port port;
	struct frame burst[PORT_BURST];
	uint32_t burst_count, burst_at;
	uint32_t snap_bytes;
	int64_t burst_ns; // when it came: all of its frames have this stamp
};

// Opens the device or port that choice->device names. As sniff_open() and one_port_open(); -EINVAL
// for a filter, or is_plain, at a port, which has neither.
int inlet_open(struct inlet *ret, const struct sniff_choice *choice, struct refusal *refusal);

// As sniff_next().
int inlet_next(struct inlet *inlet, struct sniff_frame *ret);

// As sniff_counts(). Of a port: frames that it took, and those for which it had no room.
void inlet_counts(const struct inlet *inlet, uint64_t *ret_received, uint64_t *ret_dropped);

// Frees what inlet_open() got, even where that failed.
void inlet_close(struct inlet *inlet);

// Where frames of a capture go out: a network device of the kernel, or a port of DPDK.

struct outlet {
	int socket; // of a device of the kernel; -1: none is open
	bool is_port;
	struct one_port port;
};

// Opens the device or port that `word` names: an interface of the kernel, memif:NAME, or a virtual
// device of DPDK (net_...) with its arguments; waits for the link of a port. -EINVAL where none has
// that name, -ENODEV where it cannot be opened, -ENOTSUP for a port in a build without DPDK.
int outlet_open(struct outlet *ret, const char *word, struct refusal *refusal);

// Sends a frame. 1, or 0: it is longer than what this outlet takes; -ENODEV: it takes nothing.
int outlet_put(struct outlet *outlet, const uint8_t *bytes, uint32_t length,
	       struct refusal *refusal);

// Frees what outlet_open() got, even where that failed.
void outlet_close(struct outlet *outlet);
