// SPDX-License-Identifier: Apache-2.0
// What happened, from packets alone: records of captured frames go in, in the order of the capture,
// and a report comes out: who talked, what was lost, repeated, trimmed, reordered, and where. It
// knows no file and no clock, and its memory is fixed: what does not fit is evicted and counted.
// How it decides: docs/howto/analyze-captures.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/flow/flow_report.h>
#include <weft/wire/wire_dissect.h>

struct flow;

// Limits; 0 stands for the default.
struct flow_config {
	uint32_t streams_max;	 // directions of a QP that are followed at a time; 8192
	uint32_t psns_max;	 // PSNs that are remembered, all streams together; 2^20
	uint32_t repairs_max;	 // kept one by one; 65536
	uint32_t notes_max;	 // packets that stand out; 65536
	uint32_t changes_max;	 // changes of a DSCP, kept one by one; 4096
	uint32_t targets_max;	 // destinations whose traffic is reported over time; 1024
	struct wire_config wire; // whose rule says what of an address is the plane (MRC)
};

// One frame of the capture.
struct flow_packet {
	const struct wire_record *record;
	uint64_t number; // in the capture, from 1
	int64_t at_ns;	 // UNIX time
	bool has_time;
	uint32_t place; // interfaces that watch one link have the same, below FLOW_PLACES_MAX
};

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of an arena for such limits.
size_t flow_bytes(const struct flow_config *config);

// Draws all memory from `arena`. NULL when that is too small.
struct flow *flow_create(struct arena *arena, const struct flow_config *config);

// A frame that is taken after the next ones: where its path is counted is fetched into the cache.
// It decides nothing and may be left out.
void flow_expect(const struct flow *flow, const struct flow_packet *packet);

// The next frame.
void flow_take(struct flow *flow, const struct flow_packet *packet);

// The next frame could not be read: it may stand for a PSN that is stepped over right behind it.
void flow_take_unread(struct flow *flow);

// The capture is over: settles what waited for later packets. The report is good as long as the
// arena.
const struct flow_report *flow_end(struct flow *flow);

#ifdef __cplusplus
}
#endif
