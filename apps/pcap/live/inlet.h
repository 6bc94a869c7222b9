// SPDX-License-Identifier: Apache-2.0
// Where live frames come from: a device of libpcap, or a port of DPDK.
#pragma once

#include <weft/ports/port.h>
#include <weft/ports/sniff.h>

#include "live/port.h"

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
