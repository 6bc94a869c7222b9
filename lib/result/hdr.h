// SPDX-License-Identifier: Apache-2.0
// Histograms as text in HdrHistogram's percentile distribution format, readable by its plotters.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/result/report.h>

#define HDR_EVS 4u // the slowest, one way and there and back

// Messages, one per pair class, then these; packets one way by pair class, round trips by plane,
// depths of queues by group, but for queues of NICs; the slowest EVs; gaps between
// packets by pair class.
enum hdr_index {
	HDR_FLOW = PAIR_CLASS_COUNT,
	HDR_LATENESS,
	HDR_GAP,
	HDR_ONE_WAY,
	HDR_ROUND_TRIP = HDR_ONE_WAY + PAIR_CLASS_COUNT,
	HDR_DEPTH = HDR_ROUND_TRIP + PLANES_MAX,
	HDR_ORDER = HDR_DEPTH + LINK_GROUP_COUNT - LINK_TRUNK_UP,
	HDR_INCAST,
	HDR_ONE_WAY_EV,
	HDR_ROUND_TRIP_EV = HDR_ONE_WAY_EV + HDR_EVS,
	HDR_PACKET_GAP = HDR_ROUND_TRIP_EV + HDR_EVS,
	HDR_COUNT = HDR_PACKET_GAP + PAIR_CLASS_COUNT
};

#define HDR_NAME_BYTES 40

// The histogram behind file `index`; NULL when the run had none, and of EVs.
const struct hist *hdr_hist(const struct report_input *input, uint32_t index);

// Whether there is something to write to file `index`.
bool hdr_has_values(const struct report_input *input, uint32_t index);

// "message_same_rack.hdr", ..., "flow.hdr", "lateness_ns.hdr", "gap_ns.hdr",
// "one_way_same_rack.hdr", ..., "round_trip_plane_0.hdr", ..., "depth_trunk_up.hdr", ...,
// "order.hdr", "incast.hdr", "one_way_ev_slowest_1.hdr", ..., "round_trip_ev_slowest_1.hdr", ...;
// "packet_gap_same_rack.hdr", ...; returns `ret`.
const char *hdr_name(uint32_t index, char ret[HDR_NAME_BYTES]);

// Writes file `index`; values are in microseconds, those of lateness_ns.hdr and gap_ns.hdr in
// nanoseconds, depths in bytes, order in packets, incast in connections. Of a sample only the
// percentiles that it can give.
void hdr_write(FILE *to, const struct report_input *input, uint32_t index);
