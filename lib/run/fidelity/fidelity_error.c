// SPDX-License-Identifier: Apache-2.0
// How sure a step with sampled collectives is: what its error is made of, and where it is too large
// for a figure.

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <weft/run/fidelity_sample.h>

#define ERROR_PART 10	      // nothing whose stated error is more than a tenth of it,
#define ERROR_PART_SCHEDULE 4 // or, of the exposed time, with that of the schedule a quarter
#define EMPTIER_PERCENT 110   // trunks of a sample, to what they were in proportion
#define KEPT_LEAST 2

// Trunks are whole switches: those that are kept must not be much emptier than the job's, and so
// many that flows meet on them as they do in the job.
int fidelity_check_thinned(const struct world *world, struct refusal *refusal)
{
	const struct fabric_config *fabric = &world->fabric;
	bool is_clos = fabric->kind == TOPOLOGY_CLOS, is_tree = fabric->kind == TOPOLOGY_FAT_TREE;
	uint64_t count = is_clos ? fabric->t1_count : is_tree ? fabric->pod_aggs : 0;
	uint64_t kept = (count * fabric->trunk_sample_kept + fabric->trunk_sample_of - 1) /
		fabric->trunk_sample_of;
	bool is_even = 100 * kept * fabric->trunk_sample_of <=
		EMPTIER_PERCENT * count * fabric->trunk_sample_kept;
	if (fabric->trunk_sample_of == 1 || count == 0 || (is_even && kept >= KEPT_LEAST))
		return 0;
	return refuse(refusal, -EINVAL,
		      "a sample runs one of % groups that share % switches above a T0, and its "
		      "share of these is less than % whole ones: run --fidelity full",
		      fabric->trunk_sample_of, (int64_t)count, KEPT_LEAST);
}

// Messages of experts and of a context have no packets here: closed forms give each the whole line.
// On trunks they meet, the more the fewer there are, and beside a ring they share a NIC with it. In
// random small jobs they were half as long again over up to four trunks, a quarter over 16, as a
// random spread has it, and twice as long where FSDP's rings run beside each cell.
// tests/property/program_random_jobs.py holds it to that.
static double message_share(const struct fabric_config *fabric, bool is_fsdp)
{
	uint32_t tier = fabric->kind == TOPOLOGY_FAT_TREE ? fabric->pod_aggs : fabric->t1_count;
	return is_fsdp ? 1.0 : fmin(0.5, 1.0 / sqrt(tier > 0 ? tier : 1));
}

// There the last message of each stage goes beside the reduces that follow, and has one part of a
// NIC of which each channel has one.
ps_t fidelity_messages_ps(const struct world_step *step, const struct fabric_config *fabric)
{
	static const enum dimension dimensions[] = {DIMENSION_CP, DIMENSION_EP};
	const struct world_off_domain *stages = &step->off_domain[DIMENSION_PP];
	const struct parallel *cut = &step->plan.parallel;
	bool is_fsdp = cut->sharding == SHARDING_FSDP;
	double sum = 0;
	for (uint32_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
		const struct world_off_domain *of = &step->off_domain[dimensions[i]];
		if (of->is_off_domain)
			sum += (double)of->message_ps * of->messages.count;
	}
	sum *= message_share(fabric, is_fsdp);
	if (is_fsdp && stages->is_off_domain)
		sum += (double)stages->message_ps * (cut->pp - 1) * step->setup.dense.channels;
	return (ps_t)sum;
}

// Elsewhere than in FSDP reduces of a stage begin where the last micro-batch leaves it, chunk by
// chunk, and so do gathers of further chunks where the first one leaves it: each message of the way
// from stage to stage may have one part of a NIC of which each channel there has one, where it
// leaves and where it arrives. Channels leave a domain by its members in turn. It only adds.
ps_t fidelity_stages_ps(const struct world_step *step)
{
	const struct world_off_domain *stages = &step->off_domain[DIMENSION_PP];
	const struct parallel *cut = &step->plan.parallel;
	if (!stages->is_off_domain || cut->sharding == SHARDING_FSDP)
		return 0;
	uint64_t chunks = (uint64_t)(cut->vpp - 1) * cut->pp, hops = chunks + cut->pp - 1;
	if (plan_gathers(&step->plan) > 0)
		hops += chunks;
	if (cut->is_reduced_each)
		hops *= cut->micro_batches;
	const struct ring_time *ring = &step->setup.dense;
	uint32_t channels = (ring->channels + ring->ranks_per_domain - 1) / ring->ranks_per_domain;
	double more = 2.0 * (double)hops * (double)stages->message_ps * channels;
	return more < (double)PS_NEVER ? (ps_t)more : PS_NEVER;
}

// Closed forms give each message between stages the same latency, whatever the fabric's. On the way
// of a micro-batch through all cells and back each hop is as much shorter or longer, and once more
// for each micro-batch where as many are under way as there are stages.
static void add_stages_latency(struct sampled_run *run)
{
	const struct parallel *cut = &run->world.plan.parallel;
	uint64_t hops = 2 * ((uint64_t)cut->vpp * (cut->pp + cut->micro_batches) - 1);
	double less = (double)hops *
		(double)(run->world.setup.dense.network_ps - run->base_rtt_ps / 2);
	if (!run->world.off_domain[DIMENSION_PP].is_off_domain)
		return;
	if (less > 0)
		run->stages_less_ps = (ps_t)less;
	else if (run->stages_more_ps < PS_NEVER + (ps_t)less)
		run->stages_more_ps -= (ps_t)less;
}

// Collectives run one by one here, and in the step beside those of other stages, each rank when it
// comes to it. How far that is off every packet of the step was seen in random small worlds: in 95
// of 100 less than a twelfth of the exposed time and three quarters of what the load costs.
// tests/property/program_fidelity_error.py holds it to that.
void fidelity_add_schedule_error(struct sampled_run *run, const struct sampled_terms *terms,
				 const struct fabric_config *fabric)
{
	ps_t load_ps = run->quiet_ps - terms->sack_ps;
	ps_t beside = fidelity_exposed(&run->times) / 12 + (load_ps > 0 ? load_ps * 3 / 4 : 0);
	ps_t messages = fidelity_messages_ps(&run->world, fabric);
	run->schedule_ps = (ps_t)hypot((double)beside, (double)messages);
	run->stages_more_ps = fidelity_stages_ps(&run->world);
	add_stages_latency(run);
	double steps = (double)run->steps_ps, schedule = (double)run->schedule_ps;
	run->error_ps = (ps_t)sqrt(steps * steps + schedule * schedule);
}

static bool is_imprecise(ps_t time, ps_t error)
{
	return error > time / ERROR_PART;
}

static int check_schedule_error(const struct sampled_run *run, struct refusal *refusal)
{
	ps_t exposed = fidelity_exposed(&run->times);
	if (run->error_ps <= exposed / ERROR_PART_SCHEDULE)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text),
		 "the exposed time has a stated error above 25 %%: %.3f +- %.3f ms, for no sample "
		 "has what collectives of other stages, and messages between domains, add to "
		 "this fabric's load; --fidelity full runs all of them",
		 (double)exposed / PS_PER_MS, (double)run->error_ps / PS_PER_MS);
	return -EDOM;
}

// What to type for twice the ring steps: a quarter of them to fill, and room for their packets.
static void write_sample_option(char *to, size_t size, const struct sampled_run *run,
				uint64_t steps, uint64_t packets_max)
{
	uint64_t fill = (steps + 1) / 2, packets_m = 3 * run->packets / 1000000 + 1;
	int length = snprintf(to, size, "--sample steps=%" PRIu64 ",fill=%" PRIu64,
			      2 * steps - fill, fill);
	if (packets_max > 0 && packets_m * 1000000 > packets_max)
		snprintf(to + length, size - length, ",packets=%" PRIu64 "M", packets_m);
}

// -EDOM where the exposed time, or that of a collective which ran, has too large an error.
int fidelity_check_error(const struct call *call, const struct sampled_run *run,
			 struct refusal *refusal)
{
	ps_t exposed = fidelity_exposed(&run->times);
	uint64_t steps = 0;
	const char *what = is_imprecise(exposed, run->steps_ps) ? "the exposed time" : NULL;
	for (uint32_t i = 0; i < run->count; i++) {
		const struct sampled *row = &run->rows[i];
		bool is_row = row->is_run && is_imprecise(row->of.time_ps, row->error_ps);
		if (is_row)
			what = "the time of a collective";
		if ((is_row || (row->is_run && row->steps < row->steps_all)) && row->steps > steps)
			steps = row->steps;
	}
	if (run->tensor.closed_ps > 0 && is_imprecise(run->tensor.time_ps, run->tensor.error_ps))
		what = "the time of a tensor message";
	if (what == NULL)
		return check_schedule_error(run, refusal);
	char option[96];
	write_sample_option(option, sizeof(option), run, steps, call->scenario.sample.packets_max);
	snprintf(refusal->text, sizeof(refusal->text),
		 "%s has a stated error above 10 %%: %" PRIu64
		 " ring steps are too few; run more of them: %s",
		 what, steps, option);
	return -EDOM;
}
