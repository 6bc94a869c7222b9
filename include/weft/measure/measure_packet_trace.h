// SPDX-License-Identifier: Apache-2.0
// The packets of one pair of NICs, cable by cable, as they are put on their lines: what a time line
// shows of them. In fixed memory: what does not fit is counted.
#pragma once

#include <weft/measure/measure.h>

struct packet_trace_step {
	ps_t at;	// of the first bit
	uint32_t cable; // of the world
	uint32_t psn, ev;
	uint16_t wire_bytes;
	uint8_t opcode, flags, bth; // of the packet
	bool is_back;		    // from the target of the pair to its source
};

struct packet_trace {
	struct packet_trace_step *steps; // [max]
	uint32_t count, max;
	uint64_t missed; // steps that there was no room for
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws a packet trace of at most `max` steps. -ENOMEM.
int packet_trace_init(struct packet_trace *packet_trace, struct arena *arena, uint32_t max);

// One more.
void packet_trace_add(struct packet_trace *packet_trace, const struct packet_trace_step *step);

#ifdef __cplusplus
}
#endif
