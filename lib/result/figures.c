// SPDX-License-Identifier: Apache-2.0
// Derived figures and the rules of validity. No text is written here.

#include <weft/core/order.h>
#include <weft/result/figures.h>

#include <assert.h>
#include <stdlib.h>

#include <weft/core/check.h>

bool is_sampled(const struct report_input *input)
{
	const struct world_fast_forward *skip = input->world->skipped;
	return input->world->plan.sample.is_on || (skip != NULL && skip->jumps > 0);
}

// ---------------------------------------------------------------- collectives

#define ERROR_PART 10 // no time whose stated error is more than a tenth of it

void collective_of(struct collective *ret, const struct world *world, uint32_t index)
{
	const struct job *job = &world->job;
	const struct outcome_collective *outcome = &world->outcome->collectives[index];
	check(outcome->group < job->group_count && outcome->bucket < job->bucket_count);
	const struct group *group = &job->groups[outcome->group];
	const struct bucket *bucket = &job->buckets[outcome->bucket];
	uint64_t steps_all = group->ranks - 1;
	if (bucket->kind == COLLECTIVE_ALL_REDUCE)
		steps_all *= 2;
	uint64_t steps_run = job->ring.steps_max;
	if (steps_run == 0 || steps_run > steps_all)
		steps_run = steps_all;
	check(outcome->steps_skipped <= steps_run);
	steps_run -= outcome->steps_skipped;
	bool is_finished = outcome->whole_ps > 0 && outcome->end_ps != PS_NEVER;
	bool is_imprecise = outcome->whole_error_ps > outcome->whole_ps / ERROR_PART;
	bool is_too_short = outcome->whole_ps < outcome->ideal_ps;
	*ret = (struct collective){
		.outcome = outcome,
		.group = group,
		.bucket = bucket,
		.steps_run = steps_run,
		.steps_all = steps_all,
		.is_finished = is_finished,
		.is_extrapolated = steps_run < steps_all,
		.reason = !is_finished		      ? NOT_FINISHED
			: outcome->fault_left_out > 0 ? FAULT_LEFT_OUT
			: is_imprecise		      ? ERROR_TOO_LARGE
			: is_too_short		      ? BELOW_IDEAL
						      : NULL,
	};
}

// ---------------------------------------------------------------- goodput

struct span {
	ps_t from, until;
};

static int span_compare(const void *a, const void *b)
{
	const struct span *left = a, *right = b;
	return ORDER(left->from, right->from);
}

// Time covered by at least one of the spans; they are sorted in place.
static ps_t spans_union(struct span *spans, uint32_t count)
{
	ps_t covered = 0, end = INT64_MIN;
	qsort(spans, count, sizeof(*spans), span_compare);
	for (uint32_t i = 0; i < count; i++) {
		ps_t from = ps_max(spans[i].from, end);
		if (spans[i].until > from)
			covered += spans[i].until - from;
		end = ps_max(end, spans[i].until);
	}
	return covered;
}

// Time with a collective under way; one that is not finished lasts until the run stopped.
static ps_t traffic_of_collectives(const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	struct span *spans = calloc(outcome->collective_count, sizeof(*spans));
	uint32_t count = 0;
	for (uint32_t i = 0; spans != NULL && i < outcome->collective_count; i++) {
		const struct outcome_collective *one = &outcome->collectives[i];
		bool has_end = one->whole_ps > 0 && one->end_ps != PS_NEVER;
		ps_t until = has_end ? one->end_ps : input->run.now_ps;
		if (one->start_ps >= 0 && one->start_ps < until)
			spans[count++] = (struct span){one->start_ps, until};
	}
	ps_t covered = count == 0 ? 0 : spans_union(spans, count);
	free(spans);
	return covered;
}

// A program begins at 0, as a collective stream does.
static ps_t traffic_of_flows(const struct report_input *input)
{
	const struct world *world = input->world;
	ps_t from = world->program != NULL || world->coll_stream != NULL ? 0 : PS_NEVER;
	for (uint32_t i = 0; i < world->flow_count; i++)
		from = ps_min(from, world->flows[i].start_ps);
	ps_t until = input->is_partial ? input->run.now_ps : world->outcome->end_ps;
	return until > from ? until - from : 0;
}

// Marks the NICs at which the rings of a group leave or enter a host; without a scale-up, all.
static void mark_ring(const struct world *world, const struct group *group, bool is_receiver,
		      bool *talks)
{
	uint32_t per_host = world->fabric.nics_per_host;
	bool is_joined = group->ranks_per_host > 0 && world->scenario->scaleup.rate_bps > 0;
	for (uint32_t channel = 0; channel < world->job.ring.channels; channel++)
		for (uint32_t at = 0; at < group->ranks; at++) {
			uint32_t nic = group->gpus[at];
			uint32_t next = group->gpus[group_next(group, channel, at)];
			if (!is_joined || nic / per_host != next / per_host)
				talks[is_receiver ? next : nic] = true;
		}
}

// Distinct NICs of a job's rings, and of messages beside them, that meet the fabric.
static uint32_t nics_of_job(const struct world *world, bool is_receiver)
{
	uint32_t nics = 0;
	bool *talks = calloc(world->fabric.nics, sizeof(*talks));
	for (uint32_t i = 0; talks != NULL && i < world->job.group_count; i++)
		mark_ring(world, &world->job.groups[i], is_receiver, talks);
	for (uint32_t i = 0; talks != NULL && i < world->line_count; i++)
		talks[is_receiver ? world->lines[i].to_nic : world->lines[i].from_nic] = true;
	for (uint32_t i = 0; talks != NULL && i < world->flow_count; i++)
		talks[is_receiver ? world->flows[i].to : world->flows[i].from] = true;
	for (uint32_t i = 0; talks != NULL && i < world->fabric.nics; i++)
		nics += talks[i];
	free(talks);
	return nics;
}

// Distinct NICs that flows, or a program's messages over the fabric, leave from, or go to.
static uint32_t nics_of_pairs(const struct world *world, bool is_receiver)
{
	uint32_t count = 0, distinct = 0;
	if (world->coll_stream != NULL &&
	    !coll_stream_has_peers(world->coll_stream)) // everyone with everyone
		return coll_stream_config(world->coll_stream)->ranks;
	uint32_t *nics = calloc((size_t)world->flow_count + world->line_count + 1, sizeof(*nics));
	if (nics == NULL)
		return 0;
	for (uint32_t i = 0; i < world->flow_count; i++)
		nics[count++] = is_receiver ? world->flows[i].to : world->flows[i].from;
	for (uint32_t i = 0; i < world->line_count; i++)
		nics[count++] = is_receiver ? world->lines[i].to_nic : world->lines[i].from_nic;
	qsort(nics, count, sizeof(*nics), order_uint32);
	for (uint32_t i = 0; i < count; i++)
		distinct += i == 0 || nics[i] != nics[i - 1];
	free(nics);
	return distinct;
}

// Of several jobs: NICs whose cable carried data of one, and those of messages beside them.
static uint32_t nics_of_several(const struct world *world, bool is_receiver)
{
	uint32_t jobs = world->scenario->job_count, hosts = world->topology.hosts, count = 0;
	bool *talks = calloc((size_t)world->fabric.nics, sizeof(*talks));
	for (uint32_t i = 0; talks != NULL && i < world->cable_count; i++) {
		const struct cable_plan *cable = &world->cables[i];
		uint32_t host = is_receiver ? cable->to_machine : cable->from_machine;
		uint32_t port = is_receiver ? cable->to_port : cable->from_port;
		uint64_t bytes = 0;
		for (uint32_t job = 0; job < jobs; job++)
			bytes += world->jobs.bytes[(size_t)i * jobs + job];
		if (host >= hosts || bytes == 0)
			continue;
		bool *nic =
			&talks[host * world->fabric.nics_per_host + port / world->fabric.planes];
		*nic = true;
	}
	for (uint32_t i = 0; talks != NULL && i < world->flow_count; i++)
		talks[is_receiver ? world->flows[i].to : world->flows[i].from] = true;
	for (uint32_t i = 0; talks != NULL && i < world->fabric.nics; i++)
		count += talks[i];
	free(talks);
	return count;
}

static uint32_t nics_talking(const struct world *world, bool is_receiver)
{
	if (world->jobs.bytes != NULL)
		return nics_of_several(world, is_receiver);
	return world->job.group_count == 0 ? nics_of_pairs(world, is_receiver)
					   : nics_of_job(world, is_receiver);
}

void goodput_of(struct goodput *ret, const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	// messages beside the collectives run when these do not
	bool is_job = outcome->collective_count > 0 && input->world->jobs.bytes == NULL &&
		input->world->line_count == 0 && input->world->flow_count == 0;
	*ret = (struct goodput){
		.payload_bytes = outcome->transport.payload_bytes_placed +
			(input->world->skipped != NULL ? input->world->skipped->payload_bytes : 0),
		.traffic_ps = is_job ? traffic_of_collectives(input) : traffic_of_flows(input),
		.nics_sending = nics_talking(input->world, false),
		.nics_receiving = nics_talking(input->world, true),
	};
	if (ret->traffic_ps > 0)
		ret->total_bps = (double)ret->payload_bytes * 8 * (double)PS_PER_S /
			(double)ret->traffic_ps;
	if (ret->nics_receiving > 0)
		ret->per_nic_bps = ret->total_bps / ret->nics_receiving;
}

// ---------------------------------------------------------------- sums and shares

double share_of(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (double)part / (double)whole;
}

// R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness (DEC-TR-301, 1984).
double jain_of(double sum, double squares, uint32_t count)
{
	return squares > 0 ? sum * sum / (count * squares) : 0;
}

void planes_of(struct planes *ret, const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	uint64_t most = 0, nic_most = 0, all = 0;
	double squares = 0;
	*ret = (struct planes){.count = input->world->topology.planes};
	for (uint32_t i = 0; i < ret->count && i < PLANES_MAX; i++) {
		uint64_t bytes = outcome->transport.plane_bytes[i];
		all += bytes;
		squares += (double)bytes * (double)bytes;
		most = bytes > most ? bytes : most;
		if (outcome->plane_bytes_nic_max[i] > nic_most)
			nic_most = outcome->plane_bytes_nic_max[i];
	}
	ret->max_to_mean = share_of(most, all) * ret->count;
	ret->jain = jain_of((double)all, squares, ret->count);
	ret->nic_max_to_mean = share_of(nic_most, all) * ret->count *
		nics_talking(input->world, false);
}

uint64_t drops_of(const struct report_input *input, enum drop_reason reason)
{
	const struct outcome *outcome = input->world->outcome;
	return outcome->fabric.dropped[reason] + outcome->dropped_at_host[reason] +
		input->run.dropped[reason];
}

void conservation_of(struct conservation *ret, const struct report_input *input)
{
	*ret = (struct conservation){
		.sent = input->run.sent,
		.doubled = input->run.doubled,
		.delivered = input->run.delivered,
		.held = input->run.held - input->run.held_unsent,
		.unsent = input->run.held_unsent,
	};
	for (enum drop_reason reason = 0; reason < DROP_REASON_COUNT; reason++)
		ret->dropped += input->world->outcome->fabric.dropped[reason] +
			input->run.dropped[reason];
	const struct pause_counters *pause = &input->world->outcome->fabric.pause;
	ret->pauses_sent = pause->pauses_sent + pause->resumes_sent;
	ret->pauses_taken = pause->pauses_received + pause->resumes_received;
	ret->holds = ret->sent + ret->pauses_sent + ret->doubled ==
		ret->delivered + ret->pauses_taken + ret->dropped + ret->held;
}

uint64_t rtx_total(const struct transport_counters *transport)
{
	uint64_t total = 0;
	for (enum rtx_reason reason = 0; reason < RTX_REASON_COUNT; reason++)
		total += transport->rtx[reason];
	return total;
}

// ---------------------------------------------------------------- words

const char *traffic_name(enum traffic_kind kind)
{
	static const char *const names[] = {"flows",	  "permutation", "incast",    "ring",
					    "model",	  "trace",	 "matrix",    "all_to_all",
					    "outcast",	  "tornado",	 "butterfly", "goal",
					    "collective", "jobs",	 "gradients"};
	static_assert(sizeof(names) / sizeof(*names) == TRAFFIC_GRADIENTS + 1, "a name for each");
	return kind <= TRAFFIC_GRADIENTS ? names[kind] : "unknown";
}

const char *transport_name(enum transport_kind kind)
{
	return kind == TRANSPORT_RC ? "rc" : "mrc";
}

const char *rtx_name(enum rtx_reason reason)
{
	static const char *const names[] = {"nack", "timeout", "hole", "sleek", "ack"};
	static_assert(sizeof(names) / sizeof(*names) == RTX_REASON_COUNT, "a name for each");
	return reason < RTX_REASON_COUNT ? names[reason] : "unknown";
}

const char *origin_name(enum input_origin origin)
{
	static const char *const names[] = {"fact", "assumed", "calibrated"};
	static_assert(sizeof(names) / sizeof(*names) == INPUT_ORIGIN_COUNT, "a name for each");
	return origin < INPUT_ORIGIN_COUNT ? names[origin] : "unknown";
}
