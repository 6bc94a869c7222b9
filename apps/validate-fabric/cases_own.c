// SPDX-License-Identifier: Apache-2.0
// Cases with a closed form of their own: how many packets a switch marks, and how long a job of
// computation and all-reduce takes.

#include "book.h"
#include "words.h"

// ---------------------------------------------------------------- marks

#define SENDERS_MAX 2
#define MARKS_WITHIN 0.12

// NICs of a T0 send to another with fixed windows. What is in flight and neither on the way nor
// with a receiver that has not told yet waits in the queues of the receiver's ports.
static double window_for(const struct facts *facts, uint32_t senders, double queue_bytes)
{
	double line = facts->nic_rate_bps / 8 * (double)facts->near_rtt_ps / (double)PS_PER_S;
	double untold = senders * (double)facts->sack_bytes / 2;
	return (line + untold + queue_bytes * facts->planes) / senders;
}

// From NICs of each T0 to another of it, where it has so many.
static uint32_t pairs_below(const struct facts *facts, uint32_t t0s, uint32_t senders,
			    struct pair *ret)
{
	uint32_t count = 0;
	for (uint32_t t0 = 0; t0 < t0s; t0++)
		for (uint32_t i = 1; i <= senders && facts_nic(facts, t0, senders) != NIC_NONE; i++)
			ret[count++] = (struct pair){facts_nic(facts, t0, i),
						     facts_nic(facts, t0, 0)};
	return count;
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
	if (of->number * (double)facts->mtu_bytes > MARKS_WITHIN * facts->planes * (high - low))
		return "the thresholds are too near to each other: a packet more from each sender "
		       "moves the share beyond what is tolerated";
	uint32_t t0s = facts->t0_count < FACTS_T0_MAX ? facts->t0_count : FACTS_T0_MAX;
	struct pair pairs[FACTS_T0_MAX * SENDERS_MAX];
	uint32_t count = pairs_below(facts, t0s, of->number, pairs);
	if (count == 0)
		return "no switch has three NICs";
	struct carried carried = {.share = 1, .links = 2};
	words_pairs(
		to, facts, pairs, count,
		bytes_in(facts, span_of(facts, count / of->number, &carried), 1.0 / of->number));
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
#define RANKS_MAX 8
#define ROOFLINE_SPARE 1.15
#define ROOFLINE_NEAR 1.05

// The ranks of a job, one of each host: what stays inside of a host does not cross the fabric.
struct team {
	uint32_t ranks, stride; // rank i is NIC i x stride
};

static struct team team_of(const struct facts *facts, uint32_t most)
{
	uint32_t stride = facts->nics_per_host, there = facts->nics / stride;
	return (struct team){most < there ? most : there, stride};
}

// One iteration of a rank: it computes, then takes its part in a ring's all-reduce.
static void write_iteration(FILE *to, const struct team *team, uint32_t rank, uint32_t iteration,
			    uint64_t part_bytes)
{
	uint32_t ranks = team->ranks, steps = 2 * (ranks - 1);
	uint32_t next = (rank + 1) % ranks * team->stride,
		 previous = (rank + ranks - 1) % ranks * team->stride;
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

static void write_job(FILE *to, const struct team *team, uint64_t part_bytes)
{
	uint32_t nics = (team->ranks - 1) * team->stride + 1;
	fprintf(to, "num_ranks %u\n", nics);
	for (uint32_t nic = 0; nic < nics; nic++) {
		bool is_rank = nic % team->stride == 0; // the others do nothing
		fprintf(to, "rank %u {\n", nic);
		for (uint32_t i = 0; is_rank && i < ITERATIONS; i++)
			write_iteration(to, team, nic / team->stride, i, part_bytes);
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
const char *ask_step(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	struct team team = team_of(facts, of->number);
	uint32_t steps = 2 * (team.ranks - 1);
	struct pair pairs[RANKS_MAX];
	struct carried carried;
	if (team.ranks < 2)
		return "there is one host: nothing crosses the fabric";
	for (uint32_t i = 0; i < team.ranks; i++)
		pairs[i] = (struct pair){i * team.stride, (i + 1) % team.ranks * team.stride};
	const char *reason = words_carry(&carried, to, facts, pairs, team.ranks, 1);
	if (reason != NULL)
		return reason;
	uint64_t part_bytes = bytes_in(facts, ROUND_TRIPS_PER_STEP * facts->base_rtt_ps,
				       carried.share);
	double wire_s = 8.0 * (double)part_bytes * steps / (facts->nic_rate_bps * carried.share);
	double roofline_s = ITERATIONS * ((double)COMPUTE_PS / (double)PS_PER_S + wire_s);
	to->asked = (struct asked){.kind = "all_reduce",
				   .algorithm = "ring",
				   .bytes = part_bytes * team.ranks,
				   .roofline_s = roofline_s,
				   .compute_s = ITERATIONS * (double)COMPUTE_PS / (double)PS_PER_S};
	write_job(to->goal, &team, part_bytes);
	for (uint32_t i = 0; i < team.ranks; i++)
		cost_add(&to->cost, facts,
			 &(struct messages){1, ITERATIONS * steps, (double)part_bytes,
					    topology_links(facts->topology, facts->fabric,
							   pairs[i].from, pairs[i].to)});
	to->cost.senders = team.ranks;
	fprintf(to->scene, "traffic: {kind: goal, file: job.goal}\n");
	say_job(to->checks, roofline_s);
	return NULL;
}
