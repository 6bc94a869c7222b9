// SPDX-License-Identifier: Apache-2.0
// What ports and machine carry without any transport: one end writes frames, the other reads them
// and answers every few with a small one. Each byte is written once and read once. The measure for
// how much of it weft's loop keeps.
#pragma once

#include <stdint.h>

#include <weft/ports/port.h>
#include <weft/wall/wall.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bare_options {
	struct ports *ports;
	const struct wire_config *wire;
	uint32_t nic, peer;		    // of this end, and of the other one
	const struct wall_port *wall_ports; // one for each plane
	uint32_t wall_port_count;
	uint32_t frame_bytes, payload_bytes; // the payload is the frame's last part
	bool sends;			     // else it answers
	int64_t lasts_ns;  // of who sends, behind the ramp; it tells that it is done then
	uint64_t rate_bps; // of each way, at most; 0: any
	int64_t ramp_ns;   // until then a tenth of it first, in ten equal steps
};

struct bare_counts {
	uint64_t frames;      // that arrived, as the answers say; or that came; behind the ramp
	uint64_t ramp_frames; // the same in the ramp
	uint64_t wrong;	      // whose bytes were not what was written
	uint64_t lost;	      // that nobody answered
	int64_t took_ns;      // from the first one to the last answer, or to the last one
	double stage_ns[WALL_STAGE_COUNT]; // all together
};

// Runs until all hosts are done. Frames of others are given back unread.
enum wall_end bare_run(const struct bare_options *options, const struct wall_control *control,
		       struct bare_counts *ret);

#ifdef __cplusplus
}
#endif
