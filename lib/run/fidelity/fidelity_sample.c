// SPDX-License-Identifier: Apache-2.0
// A step whose collectives run packet by packet where the step waits for them.
// Which these are the schedule says itself: it is run once for each kind and size of collective,
// with that one a tenth longer. Where the step does not get longer, the packets are saved; such
// collectives are then taken to be longer than their closed form by as much as those that ran.

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <weft/core/check.h>

#include <weft/run/fidelity_sample.h>
#include <weft/run/schedule.h>

#define CRITICAL_PARTS 10 // a tenth longer
#define ROOM_TIMES 2	  // the closed form of a collective, before the next one begins
#define ROOM_MORE 8	  // times as much when they met
#define ROOM_TIMES_MAX 128
#define ROOM_PS PS_PER_MS // beside that: timers of what went before
#define PPB INT64_C(1000000000)

// ---------------------------------------------------------------- what the step waits for

static ps_t exposed_with(const struct schedule *schedule, const struct step_setup *setup)
{
	struct step_exposed times;
	step_expose(schedule->step, setup, &times, NULL);
	return fidelity_exposed(&times);
}

// The table as closed forms, for the schedule to be tried with.
static uint32_t fill_table(struct fidelity_sample *fidelity, const struct schedule *schedule)
{
	fidelity->run.world = fidelity->world;
	uint32_t count = step_collectives(schedule->step, fidelity->table, SAMPLED_MAX);
	for (uint32_t i = 0; i < count && i < SAMPLED_MAX; i++) {
		struct sampled *row = &fidelity->run.rows[i];
		fidelity->table[i].time_ps = step_collective_ps(&fidelity->world.setup,
								&fidelity->table[i]);
		*row = (struct sampled){.of = fidelity->table[i],
					.closed_ps = fidelity->table[i].time_ps};
	}
	return count;
}

static void find_critical(struct fidelity_sample *fidelity, const struct schedule *schedule)
{
	struct step_setup setup = fidelity->world.setup;
	setup.collectives = fidelity->table;
	setup.collective_count = fidelity->run.count;
	ps_t before = exposed_with(schedule, &setup);
	for (uint32_t i = 0; i < fidelity->run.count; i++) {
		ps_t time = fidelity->table[i].time_ps;
		fidelity->table[i].time_ps += time / CRITICAL_PARTS;
		fidelity->run.rows[i].is_critical = exposed_with(schedule, &setup) > before;
		fidelity->table[i].time_ps = time;
	}
}

// ---------------------------------------------------------------- packets

// `room`: times its closed form that each has for itself.
static int pick(struct scenario *scenario, const struct sampled_run *run, const struct plan *model,
		uint32_t room, struct refusal *refusal)
{
	struct sample *sample = &scenario->sample;
	sample->is_on = true;
	sample->groups = sample->buckets = sample->pick_count = 0;
	for (uint32_t i = 0; i < run->count; i++) {
		const struct step_collective *of = &run->rows[i].of;
		if (!run->rows[i].is_critical)
			continue;
		if (sample->pick_count == SAMPLE_PICKS_MAX)
			return refuse(refusal, -EINVAL,
				      "the step waits for more than % kinds and sizes of "
				      "collectives: no sample has so many",
				      SAMPLE_PICKS_MAX);
		sample->picks[sample->pick_count++] = (struct sample_pick){
			of->is_gather	     ? COLLECTIVE_ALL_GATHER
				: of->is_all ? COLLECTIVE_ALL_REDUCE
					     : COLLECTIVE_REDUCE_SCATTER,
			of->bytes, (ps_t)room * run->rows[i].closed_ps + ROOM_PS};
	}
	if (sample->pick_count == 0)
		return refuse(refusal, -EINVAL,
			      "this step waits for no collective: there is nothing to sample; "
			      "--fidelity model and --fidelity full have its time");
	return 0;
}

// A fault of one NIC is in the sample only if the NIC is.
static int check_nic_faults(const struct call *call, struct refusal *refusal)
{
	const struct job *job = &call->world_instance.world.job;
	for (uint32_t i = 0; i < call->scenario.fault_count; i++) {
		const struct link_location *at = &call->scenario.faults[i].at;
		bool is_there = at->where != LINK_AT_NIC && at->where != LINK_AT_NIC_WHOLE;
		for (uint32_t j = 0; j < job->group_count && !is_there; j++)
			for (uint32_t k = 0; k < job->groups[j].ranks; k++)
				is_there |= job->groups[j].gpus[k] == at->index;
		if (is_there)
			continue;
		scenario_fault_location(&call->scenario, i, refusal);
		return refuse(refusal, -EINVAL,
			      "NIC % is in no group that this sample runs; NIC % is", at->index,
			      job->groups[0].gpus[0]);
	}
	return 0;
}

static void take_counters(struct sampled_run *run, const struct world *world, const struct run *ran)
{
	const struct outcome *outcome = world->outcome;
	run->packets = ran->data_packets;
	run->marks = outcome->fabric.marked;
	run->trims = outcome->fabric.trimmed;
	run->resent = 0;
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		run->resent += outcome->transport.rtx[i];
	run->groups = world->job.group_count;
	run->groups_all = world->plan.groups_all;
	run->trunks_kept = world->fabric.trunk_sample_kept;
	run->trunks_of = world->fabric.trunk_sample_of;
	run->base_rtt_ps = world->topology.base_rtt_ps;
	run->wall_s = ran->wall_s;
}

// The schedule's row of a collective: experts have groups of another size. Where a dense bucket and
// one of experts are equal and their groups, too, they are one to a fabric.
static struct sampled *row_of(struct sampled_run *run, const struct bucket *bucket, bool is_expert)
{
	const bool is_gather = bucket->kind == COLLECTIVE_ALL_GATHER;
	struct sampled *other = NULL;
	for (uint32_t i = 0; i < run->count; i++) {
		struct sampled *row = &run->rows[i];
		if (row->of.bytes != bucket->bytes || row->of.is_gather != is_gather)
			continue;
		if (row->of.is_expert == is_expert)
			return row;
		other = row;
	}
	return other;
}

// Whether a bucket goes in the second kind of groups, see struct step_setup.
static bool is_second(const struct plan *model, const struct bucket *bucket, uint32_t ranks)
{
	if (model->parallel.shard_ranks > 0)
		return bucket->kind == COLLECTIVE_ALL_REDUCE;
	return ranks != plan_dense_ranks(model);
}

static int take_collectives(struct sampled_run *run, const struct world *world,
			    const struct plan *model, struct refusal *refusal)
{
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		const struct outcome_collective *from = &world->outcome->collectives[i];
		const struct bucket *bucket = &world->job.buckets[from->bucket];
		struct ring_config ring = world->job.ring;
		struct ring_plan plan;
		ring.ranks = world->job.groups[from->group].ranks;
		struct sampled *row = row_of(run, bucket, is_second(model, bucket, ring.ranks));
		check(row != NULL);
		ring_plan(&plan, &ring, bucket->kind, bucket->bytes);
		if (from->whole_ps == 0)
			return refuse(refusal, -EINTR,
				      "a collective of % bytes, which begins % ms into the "
				      "step, did not end: raise limits.time",
				      (int64_t)bucket->bytes,
				      (int64_t)(bucket->release_ps / PS_PER_MS));
		row->is_run = true;
		row->of.time_ps = from->whole_ps;
		row->error_ps = from->whole_error_ps;
		row->group = world->job.groups[from->group].index;
		row->steps = plan.steps_per_loop;
		row->steps_all = plan.steps_per_loop_all;
	}
	return 0;
}

// Before anything runs: whether all that the step waits for found room in the sample.
static int check_room(struct sampled_run *run, const struct world *world, const struct plan *model,
		      struct refusal *refusal)
{
	bool is_there[SAMPLED_MAX] = {false};
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct group *group = &world->job.groups[i];
		for (uint32_t j = 0; j < group->bucket_count; j++) {
			const struct bucket *bucket = &world->job.buckets[group->bucket_first + j];
			struct sampled *row = row_of(run, bucket,
						     is_second(model, bucket, group->ranks));
			check(row != NULL);
			is_there[row - run->rows] = true;
		}
	}
	for (uint32_t i = 0; i < run->count; i++)
		if (run->rows[i].is_critical && !is_there[i])
			return refuse(refusal, -EINVAL,
				      "% packets are too few for all that the step waits for: "
				      "allow more by --sample packets=N, or run fewer ring steps",
				      (int64_t)world->plan.sample.packets_max);
	return 0;
}

// Whether any two collectives ran at the same time.
static bool have_met(const struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->collective_count; i++)
		for (uint32_t j = 0; j < i; j++) {
			const struct outcome_collective *a = &outcome->collectives[i],
							*b = &outcome->collectives[j];
			if (a->start_ps < b->end_ps && b->start_ps < a->end_ps)
				return true;
		}
	return false;
}

static int run_once(struct call *call, const struct plan *model, struct sampled_run *run,
		    uint32_t room, bool *ret_have_met)
{
	struct run ran;
	int rc = pick(&call->scenario, run, model, room, &call->refusal);
	if (rc == 0)
		rc = call_build(call);
	if (rc < 0)
		return rc;
	rc = check_room(run, &call->world_instance.world, model, &call->refusal);
	if (rc == 0)
		rc = fidelity_check_thinned(&call->world_instance.world, &call->refusal);
	if (rc == 0)
		rc = check_nic_faults(call, &call->refusal);
	if (rc == 0)
		rc = call_run(call, &ran);
	if (rc == 0 && ran.end == RUN_INTERRUPTED)
		rc = refuse(&call->refusal, -EINTR, "interrupted");
	if (rc == 0)
		rc = take_collectives(run, &call->world_instance.world, model, &call->refusal);
	if (rc == 0)
		take_counters(run, &call->world_instance.world, &ran);
	if (rc == 0)
		*ret_have_met = have_met(call->world_instance.world.outcome);
	world_instance_free(&call->world_instance);
	return rc;
}

// One after the other, as the schedule has them. How long each takes is what is asked for, so the
// room is a guess, and made larger when it was too small.
static int run_packets(struct call *call, const struct plan *model, struct sampled_run *run)
{
	bool met = true;
	int rc = 0;
	for (uint32_t room = ROOM_TIMES; rc == 0 && met; room *= ROOM_MORE) {
		if (room > ROOM_TIMES_MAX)
			return refuse(&call->refusal, -EINVAL,
				      "collectives of this sample take more than % times their "
				      "closed form: no step of it has a meaning",
				      ROOM_TIMES_MAX);
		rc = run_once(call, model, run, room, &met);
	}
	return rc == 0 ? fidelity_tensor(call, run) : rc;
}

// ---------------------------------------------------------------- back into the schedule

static int64_t longer_ppb(const struct sampled_run *run)
{
	__int128 measured = 0, closed = 0;
	for (uint32_t i = 0; i < run->count; i++) {
		const struct sampled *row = &run->rows[i];
		if (!row->is_run)
			continue;
		measured += (__int128)row->of.time_ps * row->of.count;
		closed += (__int128)row->closed_ps * row->of.count;
	}
	return (int64_t)((measured - closed) * PPB / closed);
}

// Fills the table that the schedule reads: `sign` of each error on top, `others` parts more for
// those that did not run.
static void set_table(struct fidelity_sample *fidelity, struct sampled_run *run, int sign,
		      bool is_longer)
{
	for (uint32_t i = 0; i < run->count; i++) {
		struct sampled *row = &run->rows[i];
		ps_t scaled = row->closed_ps +
			(ps_t)((__int128)row->closed_ps * run->longer_ppb / PPB);
		if (!row->is_run)
			row->of.time_ps = scaled;
		fidelity->table[i] = row->of;
		fidelity->table[i].time_ps += sign * row->error_ps;
		if (is_longer && !row->is_run)
			fidelity->table[i].time_ps += scaled / CRITICAL_PARTS;
	}
}

// The step's setup with what ran, as set_table() has it.
static struct step_setup setup_of(const struct fidelity_sample *fidelity,
				  const struct sampled_run *run, const struct world_step *world)
{
	struct step_setup setup = world->setup;
	setup.collectives = fidelity->table;
	setup.collective_count = run->count;
	return setup;
}

// Exposed with all samples at one end of their error.
static ps_t exposed_at_end(struct fidelity_sample *fidelity, struct sampled_run *run,
			   const struct schedule *schedule, int sign)
{
	struct world_step world = run->world;
	if (run->tensor.closed_ps > 0)
		world_step_tensor(&world, run->tensor.time_ps + sign * run->tensor.error_ps);
	struct step_setup setup = setup_of(fidelity, run, &world);
	set_table(fidelity, run, sign, false);
	return exposed_with(schedule, &setup);
}

static void work_in(struct fidelity_sample *fidelity, struct sampled_run *run,
		    const struct schedule *schedule)
{
	struct step_setup setup = setup_of(fidelity, run, &run->world);
	run->longer_ppb = longer_ppb(run);
	ps_t high = exposed_at_end(fidelity, run, schedule, 1);
	ps_t low = exposed_at_end(fidelity, run, schedule, -1);
	run->error_ps = run->steps_ps = (high - low + 1) / 2;
	set_table(fidelity, run, 0, true);
	ps_t longer = exposed_with(schedule, &setup);
	set_table(fidelity, run, 0, false);
	const struct step_setup quiet = setup_of(fidelity, run, &fidelity->world);
	run->quiet_ps = exposed_with(schedule, &quiet);
	step_expose(schedule->step, &setup, &run->times, NULL);
	run->others_ps = longer - fidelity_exposed(&run->times);
}

// Exposed when rings have `part` of `whole` bytes of the line, this fabric's latency, and so many
// credits, 0 = enough.
static ps_t exposed_at(const struct fidelity_sample *fidelity, const struct schedule *schedule,
		       uint32_t credits, uint64_t part, uint64_t whole)
{
	struct step_setup setup = fidelity->world.setup;
	struct ring_time *const rings[] = {&setup.dense, &setup.experts};
	for (int i = 0; i < 2; i++) {
		unsigned __int128 rate = (unsigned __int128)rings[i]->network_Bps * part;
		rings[i]->network_Bps = (uint64_t)(rate / whole);
		rings[i]->network_ps = rings[i]->credit_ps = fidelity->run.base_rtt_ps / 2;
		rings[i]->credits = credits;
	}
	return exposed_with(schedule, &setup);
}

static void find_terms(struct fidelity_sample *fidelity, const struct schedule *schedule,
		       const struct scenario *scenario)
{
	struct sampled_terms *terms = &fidelity->terms;
	const struct transport_config *transport = &scenario->transport;
	uint32_t credits = scenario->traffic.ring.credits;
	uint64_t payload = transport->payload_bytes, sack = transport->sack_bytes;
	uint64_t packet = payload + transport->header_bytes;
	terms->closed_ps = exposed_with(schedule, &fidelity->world.setup);
	terms->latency_ps = exposed_at(fidelity, schedule, 0, 1, 1);
	terms->credit_ps = exposed_at(fidelity, schedule, credits, 1, 1);
	terms->header_ps = exposed_at(fidelity, schedule, credits, payload, packet);
	terms->sack_ps = exposed_at(fidelity, schedule, credits, payload * sack,
				    packet * sack + payload * transport->control_bytes);
	if (fidelity->has_ideal)
		terms->ideal_ps = fidelity->ideal.quiet_ps;
}

// The table is as work_in() left it.
static void find_culprits(struct fidelity_sample *fidelity, const struct schedule *schedule)
{
	ps_t step_ps = fidelity->run.times.with.step_ps;
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		struct world_step world = fidelity->run.world;
		struct step_times times;
		if (!world_step_inside(&fidelity->run.world, (enum dimension)i, &world.setup))
			continue;
		struct step_setup setup = setup_of(fidelity, &fidelity->run, &world);
		step_run(schedule->step, &setup, &times, NULL);
		fidelity->longer_ps[i] = step_ps - times.step_ps;
	}
}

static void finish(struct call *call, struct fidelity_sample *fidelity,
		   const struct schedule *schedule)
{
	work_in(fidelity, &fidelity->run, schedule);
	find_terms(fidelity, schedule, &call->scenario);
	fidelity_add_schedule_error(&fidelity->run, &fidelity->terms, &call->scenario.fabric);
	find_culprits(fidelity, schedule);
	struct step_setup setup = setup_of(fidelity, &fidelity->run, &fidelity->run.world);
	if (call->options.step_count > 1)
		fidelity_run_steps(&fidelity->steps, schedule, &setup, call->options.step_count);
}

// ---------------------------------------------------------------- all of it

static int run_ideal(struct call *call, struct fidelity_sample *fidelity,
		     const struct schedule *schedule)
{
	static struct scenario real; // large: kept off the stack
	real = call->scenario;
	fidelity->ideal = fidelity->run;
	int rc = fidelity_ideal(&call->scenario, &call->refusal);
	if (rc == 0)
		rc = run_packets(call, &fidelity->world.plan, &fidelity->ideal);
	call->scenario = real;
	if (rc < 0)
		return rc;
	work_in(fidelity, &fidelity->ideal, schedule);
	fidelity->has_ideal = true;
	return 0;
}

// What is left where packets say too little; what to type instead stays at the end.
static void add_closed_forms(struct refusal *refusal, const struct sampled_terms *terms)
{
	char why[sizeof(refusal->text)];
	snprintf(why, sizeof(why), "%s", refusal->text);
	snprintf(refusal->text, sizeof(refusal->text),
		 "closed forms with this fabric's latency, credits, headers and SACKs expose "
		 "%.3f ms; by packets %.400s",
		 fidelity_ms(terms->sack_ps), why);
}

int fidelity_sample_work(struct call *call, struct fidelity_sample *fidelity)
{
	struct schedule schedule;
	int rc = fidelity_prepare(call, &fidelity->world);
	call->scenario.order = call->options.order;
	if (rc == 0 && call->options.fidelity_kind == FIDELITY_ALL)
		world_step_own_sends(&fidelity->world, &call->scenario);
	if (rc == 0)
		rc = schedule_make(&schedule, &fidelity->world.plan, &call->refusal);
	if (rc < 0)
		return rc;
	fidelity->run.count = fill_table(fidelity, &schedule);
	if (fidelity->run.count > SAMPLED_MAX)
		rc = refuse(&call->refusal, -EINVAL,
			    "a step with % kinds and sizes of collectives: a sample knows %",
			    fidelity->run.count, SAMPLED_MAX);
	if (rc == 0)
		find_critical(fidelity, &schedule);
	if (rc == 0 && call->options.wants_terms)
		rc = run_ideal(call, fidelity, &schedule);
	if (rc == 0)
		rc = run_packets(call, &fidelity->world.plan, &fidelity->run);
	if (rc == 0) {
		finish(call, fidelity, &schedule);
		rc = fidelity_check_error(call, &fidelity->run, &call->refusal);
		if (rc < 0)
			add_closed_forms(&call->refusal, &fidelity->terms);
	}
	if (rc == 0 && fidelity->has_ideal)
		rc = fidelity_check_error(call, &fidelity->ideal, &call->refusal);
	schedule_free(&schedule);
	return rc;
}

static void write_fidelity_sample(FILE *to, const struct call *call, const void *fidelity)
{
	fidelity_sample_json(to, call, fidelity);
}

int fidelity_sample_run(struct call *call)
{
	static struct fidelity_sample fidelity; // large: kept off the stack
	int rc = fidelity_sample_work(call, &fidelity);
	if (rc < 0)
		return fidelity_say_refusal(call, rc);
	int kept = fidelity_keep(call, write_fidelity_sample, &fidelity);
	if (call->options.is_json)
		fidelity_sample_json(stdout, call, &fidelity);
	else
		fidelity_sample_table(call, &fidelity);
	return fidelity_end(call, kept);
}
