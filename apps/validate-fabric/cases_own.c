// SPDX-License-Identifier: Apache-2.0
// Cases with a closed form of their own: how many packets a switch marks, and how long a job of
// computation and all-reduce takes.

#include "acceptance.h"
#include "words.h"

// ---------------------------------------------------------------- marks

#define SENDERS_MAX 2
#define MARKS_WITHIN 0.12

// NICs of a T0 send to another with fixed windows. What is in flight and neither on the way nor
// with a receiver that has not reported yet waits in the queues of the receiver's ports.
static double window_for(const struct fabric_facts *fabric_facts, uint32_t senders,
			 double queue_bytes)
{
	double line = fabric_facts->nic_rate_bps / 8 * (double)fabric_facts->near_rtt_ps /
		(double)PS_PER_S;
	double unacknowledged = senders * (double)fabric_facts->sack_bytes / 2;
	return (line + unacknowledged + queue_bytes * fabric_facts->planes) / senders;
}

// From NICs of each T0 to another of it, where it has so many.
static uint32_t pairs_below(const struct fabric_facts *fabric_facts, uint32_t t0s, uint32_t senders,
			    struct pair *ret)
{
	uint32_t count = 0;
	for (uint32_t t0 = 0; t0 < t0s; t0++)
		for (uint32_t i = 1;
		     i <= senders && fabric_facts_nic(fabric_facts, t0, senders) != NIC_NONE; i++)
			ret[count++] = (struct pair){fabric_facts_nic(fabric_facts, t0, i),
						     fabric_facts_nic(fabric_facts, t0, 0)};
	return count;
}

// So that each queue stays where marking is halfway between its thresholds; at each T0, up to
// sixteen.
const char *ask_marks(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		      struct case_text *to)
{
	char bound[64];
	double low = (double)fabric_facts->ecn_low_bytes,
	       high = (double)fabric_facts->ecn_high_bytes;
	double share = fabric_facts->ecn_share_ppb == 0 ? 1 : fabric_facts->ecn_share_ppb / 1e9;
	if (!fabric_facts->has_ecn)
		return "queue.ecn is false";
	if (fabric_facts->has_pfc || !fabric_facts->is_mrc)
		return "pauses or go-back-N would hold the queue, not a window";
	if (of->number * (double)fabric_facts->mtu_bytes >
	    MARKS_WITHIN * fabric_facts->planes * (high - low))
		return "the thresholds are too near to each other: a packet more from each sender "
		       "moves the share beyond what is tolerated";
	uint32_t t0s = fabric_facts->t0_count < FABRIC_FACTS_T0_MAX ? fabric_facts->t0_count
								    : FABRIC_FACTS_T0_MAX;
	struct pair pairs[FABRIC_FACTS_T0_MAX * SENDERS_MAX];
	uint32_t count = pairs_below(fabric_facts, t0s, of->number, pairs);
	if (count == 0)
		return "no switch has three NICs";
	struct carried carried = {.share = 1, .links = 2};
	words_pairs(to, fabric_facts, pairs, count,
		    bytes_in(fabric_facts, span_of(fabric_facts, count / of->number, &carried),
			     1.0 / of->number));
	fprintf(to->fabric_file,
		"queue: {ecn_last_hop: true}\ncc: {algorithm: fixed, window: %.0fB}\n",
		window_for(fabric_facts, of->number, (low + high) / 2));
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
#define RANKS_MAX 8
#define ROOFLINE_SPARE 1.15
#define ROOFLINE_NEAR 1.05

// The ranks of a job, one of each host: what stays inside of a host does not cross the fabric.
struct workers {
	uint32_t ranks, stride; // rank i is NIC i x stride
};

static struct workers workers_of(const struct fabric_facts *fabric_facts, uint32_t most)
{
	uint32_t stride = fabric_facts->nics_per_host, there = fabric_facts->nics / stride;
	return (struct workers){most < there ? most : there, stride};
}

// One iteration of a rank: it computes, then takes its part in a ring's all-reduce.
static void write_iteration(FILE *to, const struct workers *workers, uint32_t rank,
			    uint32_t iteration, uint64_t part_bytes)
{
	uint32_t ranks = workers->ranks, steps = 2 * (ranks - 1);
	uint32_t next = (rank + 1) % ranks * workers->stride,
		 previous = (rank + ranks - 1) % ranks * workers->stride;
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

static void write_job(FILE *to, const struct workers *workers, uint64_t part_bytes)
{
	uint32_t nics = (workers->ranks - 1) * workers->stride + 1;
	fprintf(to, "num_ranks %u\n", nics);
	for (uint32_t nic = 0; nic < nics; nic++) {
		bool is_rank = nic % workers->stride == 0; // the others do nothing
		fprintf(to, "rank %u {\n", nic);
		for (uint32_t i = 0; is_rank && i < ITERATIONS; i++)
			write_iteration(to, workers, nic / workers->stride, i, part_bytes);
		fprintf(to, "}\n");
	}
}

static void say_job(FILE *to, double roofline_s)
{
	char bound[64];
	snprintf(bound, sizeof(bound), "at most %.3f us", ROOFLINE_SPARE * roofline_s * 1e6);
	words_check(to, "job completion time", "run.last_completion_ps", bound,
		    "ours: 15 % above its roofline, as sign-off practice has it of an all-reduce");
	snprintf(bound, sizeof(bound), "at most %.3f us", ROOFLINE_NEAR * roofline_s * 1e6);
	words_indicative(to, "JCT Ratio of 1.05", "run.last_completion_ps", bound,
			 "BMWG AI-fabric training draft, indicative: it must not decide");
}

// The draft's roofline is computation and communication one after the other, at the full rate, or
// at what the fabric carries between the ranks.
const char *ask_step(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		     struct case_text *to)
{
	struct workers workers = workers_of(fabric_facts, of->number);
	uint32_t steps = 2 * (workers.ranks - 1);
	struct pair pairs[RANKS_MAX];
	struct carried carried;
	if (workers.ranks < 2)
		return "there is one host: nothing crosses the fabric";
	for (uint32_t i = 0; i < workers.ranks; i++)
		pairs[i] = (struct pair){i * workers.stride,
					 (i + 1) % workers.ranks * workers.stride};
	const char *reason = words_carry(&carried, to, fabric_facts, pairs, workers.ranks, 1);
	if (reason != NULL)
		return reason;
	uint64_t part_bytes = bytes_in(
		fabric_facts, ROUND_TRIPS_PER_STEP * fabric_facts->base_rtt_ps, carried.share);
	double wire_s = 8.0 * (double)part_bytes * steps /
		(fabric_facts->nic_rate_bps * carried.share);
	double roofline_s = ITERATIONS * ((double)COMPUTE_PS / (double)PS_PER_S + wire_s);
	to->asked = (struct asked){.kind = "all_reduce",
				   .algorithm = "ring",
				   .bytes = part_bytes * workers.ranks,
				   .roofline_s = roofline_s,
				   .compute_s = ITERATIONS * (double)COMPUTE_PS / (double)PS_PER_S};
	write_job(to->goal, &workers, part_bytes);
	for (uint32_t i = 0; i < workers.ranks; i++)
		cost_add(&to->cost, fabric_facts,
			 &(struct messages){1, ITERATIONS * steps, (double)part_bytes,
					    topology_links(fabric_facts->topology,
							   fabric_facts->fabric, pairs[i].from,
							   pairs[i].to)});
	to->cost.senders = workers.ranks;
	fprintf(to->fabric_file, "traffic: {kind: goal, file: job.goal}\n");
	say_job(to->checks, roofline_s);
	return NULL;
}
