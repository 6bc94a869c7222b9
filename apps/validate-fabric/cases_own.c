// SPDX-License-Identifier: Apache-2.0
// Cases with a closed form of their own: how many packets a switch marks, and how long a job of
// computation and all-reduce takes.

#include "book.h"
#include "words.h"

// ---------------------------------------------------------------- marks

#define T0_MAX 16
#define MARKS_WITHIN 0.12

// NICs of a T0 send to another with fixed windows. What is in flight and neither on the way nor
// with a receiver that has not told yet waits in the queues of the receiver's ports.
static double window_for(const struct facts *facts, uint32_t senders, double queue_bytes)
{
	double line = facts->nic_rate_bps / 8 * (double)facts->near_rtt_ps / (double)PS_PER_S;
	double untold = senders * (double)facts->sack_bytes / 2;
	return (line + untold + queue_bytes * facts->planes) / senders;
}

// So that each queue stays where marking is halfway between its thresholds; at each T0, up to
// sixteen.
const char *ask_marks(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	char bound[64];
	double low = (double)facts->ecn_low_bytes, high = (double)facts->ecn_high_bytes;
	double share = facts->ecn_share_ppb == 0 ? 1 : facts->ecn_share_ppb / 1e9;
	if (!facts->has_ecn)
		return "queue.ecn is false";
	if (facts->has_pfc || !facts->is_mrc)
		return "pauses or go-back-N would hold the queue, not a window";
	if (facts->nics_per_t0 <= of->number)
		return "no T0 of this fabric is known to have three NICs";
	if (high < low + 8 * (double)facts->mtu_bytes)
		return "the thresholds are too near to each other to have a middle";
	uint32_t t0s = facts->t0_count < T0_MAX ? facts->t0_count : T0_MAX;
	uint64_t bytes = bytes_in(facts, span_of(facts, t0s), 1.0 / of->number);
	fprintf(to->scene, "traffic:\n  kind: flows\n  flows:\n");
	for (uint32_t t0 = 0; t0 < t0s; t0++)
		for (uint32_t i = 1; i <= of->number; i++)
			fprintf(to->scene, "    - {from: %u, to: %u, bytes: %lluB}\n",
				t0 * facts->nics_per_t0 + i, t0 * facts->nics_per_t0,
				(unsigned long long)bytes);
	fprintf(to->scene, "queue: {ecn_last_hop: true}\ncc: {algorithm: fixed, window: %.0fB}\n",
		window_for(facts, of->number, (low + high) / 2));
	snprintf(bound, sizeof(bound), "at least %.1f %%", (0.5 - MARKS_WITHIN) * share * 100);
	words_check(to->checks, "marks, at least", "congestion.marked_share", bound,
		    "linear marking, halfway between ecn_low and ecn_high");
	snprintf(bound, sizeof(bound), "at most %.1f %%", (0.5 + MARKS_WITHIN) * share * 100);
	words_check(to->checks, "marks, at most", "congestion.marked_share", bound,
		    "linear marking, halfway between ecn_low and ecn_high");
	return NULL;
}

// ---------------------------------------------------------------- a job

#define ITERATIONS 3
#define COMPUTE_PS (500 * PS_PER_US)
#define ROUND_TRIPS_PER_STEP 20
#define ROOFLINE_SPARE 1.15
#define ROOFLINE_NEAR 1.05

// One iteration of a rank: it computes, then takes its part in a ring's all-reduce.
static void write_iteration(FILE *to, uint32_t ranks, uint32_t rank, uint32_t iteration,
			    uint64_t part_bytes)
{
	uint32_t steps = 2 * (ranks - 1), next = (rank + 1) % ranks,
		 previous = (rank + ranks - 1) % ranks;
	fprintf(to, "c%u: calc %lld\n", iteration, (long long)(COMPUTE_PS / PS_PER_NS));
	if (iteration > 0)
		fprintf(to, "c%u requires r%u_%u\n", iteration, iteration - 1, steps - 1);
	for (uint32_t step = 0; step < steps; step++) {
		uint32_t tag = iteration * steps + step;
		fprintf(to, "s%u_%u: send %llub to %u tag %u\n", iteration, step,
			(unsigned long long)part_bytes, next, tag);
		fprintf(to, "r%u_%u: recv %llub from %u tag %u\n", iteration, step,
			(unsigned long long)part_bytes, previous, tag);
		fprintf(to, "s%u_%u requires c%u\n", iteration, step, iteration);
		if (step > 0)
			fprintf(to, "s%u_%u requires r%u_%u\n", iteration, step, iteration,
				step - 1);
	}
}

// The draft's roofline is computation and communication one after the other, at the full rate.
const char *ask_step(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	uint32_t ranks = of->number < facts->nics ? of->number : facts->nics;
	uint32_t steps = 2 * (ranks - 1);
	ps_t part_ps = ROUND_TRIPS_PER_STEP * facts->base_rtt_ps;
	uint64_t part_bytes = bytes_in(facts, part_ps, 1);
	double wire_s = 8.0 * (double)part_bytes * steps / facts->nic_rate_bps;
	double roofline_s = ITERATIONS * ((double)COMPUTE_PS / (double)PS_PER_S + wire_s);
	char bound[64];
	to->asked = (struct asked){.kind = "all_reduce",
				   .algorithm = "ring",
				   .bytes = part_bytes * ranks,
				   .roofline_s = roofline_s,
				   .compute_s = ITERATIONS * (double)COMPUTE_PS / (double)PS_PER_S};
	fprintf(to->goal, "num_ranks %u\n", ranks);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		fprintf(to->goal, "rank %u {\n", rank);
		for (uint32_t i = 0; i < ITERATIONS; i++)
			write_iteration(to->goal, ranks, rank, i, part_bytes);
		fprintf(to->goal, "}\n");
	}
	fprintf(to->scene, "traffic: {kind: goal, file: job.goal}\n");
	snprintf(bound, sizeof(bound), "at most %.3f us", ROOFLINE_SPARE * roofline_s * 1e6);
	words_check(to->checks, "job completion time", "run.last_completion_ps", bound,
		    "ours: 15 % above its roofline, as sign-off practice has it of an all-reduce");
	snprintf(bound, sizeof(bound), "at most %.3f us", ROOFLINE_NEAR * roofline_s * 1e6);
	words_indicative(to->checks, "JCT Ratio of 1.05", "run.last_completion_ps", bound,
			 "BMWG AI-fabric training draft, indicative: it must not decide");
	return NULL;
}
