// SPDX-License-Identifier: Apache-2.0
// What a run came to in a few figures: its time beside the least one, bandwidths, latency of all
// messages. The rows of section `headline` in figures.def.
#pragma once

#include <weft/result/figures.h>

struct headline_latency {
	uint64_t count;
	struct figure p50_ns, p99_ns, max_ns;
};

// Of messages of all pairs. In a sample a quantile is that of the one class that has messages.
void headline_latency_of(struct headline_latency *ret, const struct report_input *input);

// From the first start to the last completion; of one collective its own time, extrapolated in a
// sample.
ps_t headline_time_ps(const struct report_input *input);

// Least time over time; 0 without either.
double headline_ideal_share(const struct report_input *input);

// As nccl-tests has them, of one collective.
double headline_algbw(const struct report_input *input);
double headline_busbw(const struct report_input *input);

// What a NIC can receive of payload when its lines are full, and goodput over it.
double headline_payload_rate_bps(const struct report_input *input);
double headline_payload_rate_share(const struct report_input *input);

// Why a run lacks what these FIGURE_ bits ask for, or NULL.
const char *headline_missing(uint32_t needs, const struct report_input *input);
