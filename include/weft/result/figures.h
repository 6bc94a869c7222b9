// SPDX-License-Identifier: Apache-2.0
// What the outputs share: figures derived from an outcome, and the rules that say when a figure may
// not be given. The table and result.json read the same structs, so that they cannot disagree. The
// rules are stated in docs/result.md.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/result/report.h>

#define NOT_IN_SAMPLE "not valid in this sample"
#define NOT_OWN_FABRIC "the fabric between these hosts is not weft's, and does not report"
#define NOT_ALL_HOSTS "not all hosts reported their figures"
#define NO_MESSAGES "no messages"
#define NOT_FINISHED "not finished"
#define ERROR_TOO_LARGE "stated error above 10 %: run more ring steps (sample.steps)"
#define FAULT_LEFT_OUT "a fault begins or ends in what the sample leaves out: run all ring steps"
#define BELOW_IDEAL "below the least time of its lines: run more ring steps (sample.steps)"

// A number, or the reason why there is none.
struct figure {
	int64_t value;
	const char *reason; // NULL: `value` holds
};

// One latency distribution.
struct latency {
	uint64_t count;
	uint64_t above_range; // values the histogram does not tell apart
	struct figure min_ns, mean_ns, p50_ns, p95_ns, p99_ns, p999_ns, max_ns;
	// Half-widths of 95 % confidence, of a sample's messages; 0 where all of them were seen.
	struct figure p50_error_ns, p95_error_ns, p99_error_ns;
};

// Without errors.
void latency_of(struct latency *ret, const struct hist *hist, bool is_sample);

// Of messages of a class; what a sample gives has its error.
void message_latency(struct latency *ret, const struct report_input *input, enum pair_class pair);

// The highest quantile (parts per million) that `count` values can give; and messages of a class.
uint32_t latency_ppm_max(uint64_t count, bool is_sample);
uint32_t message_ppm_max(const struct report_input *input, enum pair_class pair);

// Whether the run was a sample of its job.
bool is_sampled(const struct report_input *input);

// Payload received over the fabric while traffic ran.
struct goodput {
	uint64_t payload_bytes;
	ps_t traffic_ps;	 // time with a collective under way, or first start to last
				 // completion of flows
	uint32_t nics_sending;	 // NICs that send data over the fabric
	uint32_t nics_receiving; // NICs that receive data over the fabric
	double total_bps;	 // 0 when no time passed
	double per_nic_bps;	 // total / nics_receiving
};

void goodput_of(struct goodput *ret, const struct report_input *input);

// One collective with what belongs to it in the job.
struct collective {
	const struct outcome_collective *outcome;
	const struct group *group;
	const struct bucket *bucket;
	uint64_t steps_run, steps_all; // per loop
	bool is_finished;
	bool is_extrapolated;
	const char *reason; // why it has no time and no bus bandwidth; NULL: it has
};

void collective_of(struct collective *ret, const struct world *world, uint32_t index);

// Jain's index of `count` loads, their sum and the sum of their squares; 0 where there is none.
double jain_of(double sum, double squares, uint32_t count);

// Data bytes per plane over all NICs.
struct planes {
	uint32_t count;
	double max_to_mean;	// MMR; 1 = even; 0 = nothing was sent
	double jain;		// Jain's index; 1 = even, 1 / count at worst; 0 = nothing
	double nic_max_to_mean; // the busiest NIC and plane against the mean of sending NICs
};

void planes_of(struct planes *ret, const struct report_input *input);

// sent = delivered + dropped + held. What a host dropped was delivered first, so it is no part of
// `dropped`; what a host made but has not sent is no part of `held`.
struct conservation {
	uint64_t sent, doubled, delivered, dropped, held, unsent;
	uint64_t pauses_sent, pauses_taken; // by switches: all frames of PFC
	bool holds;
};

void conservation_of(struct conservation *ret, const struct report_input *input);

// Dropped for `reason` by switches, hosts and cables.
uint64_t drops_of(const struct report_input *input, enum drop_reason reason);
uint64_t rtx_total(const struct transport_counters *transport);

// part / whole, 0 when there is no whole.
double share_of(uint64_t part, uint64_t whole);

// "ring", "model", ...; "mrc", "rc"; "nack", "timeout", "hole"; "fact", "assumed",
// "calibrated".
const char *traffic_name(enum traffic_kind kind);
const char *transport_name(enum transport_kind kind);
const char *rtx_name(enum rtx_reason reason);
const char *origin_name(enum input_origin origin);
