// SPDX-License-Identifier: Apache-2.0
// One run, from event to event. Between events whole rounds of computing and saving are passed at
// once, so that a run costs as much as it has failures.

#include <weft/measure/measure_goodput.h>

#include <errno.h>
#include <math.h>

#include <weft/core/check.h>
#include <weft/core/rng.h>

#define OUTAGES_MAX 1024
#define REPAIRS_MAX 8192
#define OUTAGES_MEAN_MAX 100
#define REPAIRS_MEAN_MAX 1000
#define EVENTS_MAX 1e6
#define SAVES_MAX 1e9
#define NEVER INFINITY

enum phase { PHASE_RUN, PHASE_STALL, PHASE_NOTICE, PHASE_WAIT, PHASE_RESTART };

struct outage {
	double until_s;
	uint32_t failure;
};

struct job {
	const struct goodput_setup *setup;
	struct goodput_run *ret;
	enum phase phase;
	double now_s, phase_end_s;
	uint32_t cause; // of a phase that is not PHASE_RUN
	// since the last save that ended
	double worked_s, saved_s;
	// failures to come
	struct rng dice[GOODPUT_FAILURES_MAX];
	double next_s[GOODPUT_FAILURES_MAX];
	uint32_t first; // whose next failure is first
	// outages under way
	uint32_t outage_count;
	struct outage outages[OUTAGES_MAX];
	double speed;
	// hosts: away until repairs[], first in first out
	uint32_t spares, missing, repair_first, repair_count;
	double repairs[REPAIRS_MAX];
};

// ---------------------------------------------------------------- checks

static bool is_time(double value)
{
	return value >= 0 && value < 1e12;
}

static int check_failure(const struct goodput_setup *setup, const struct failure *failure,
			 struct refusal *refusal)
{
	bool is_good = is_time(failure->notice_s) && is_time(failure->outage_s) &&
		failure->slow >= 0 && failure->slow < 1 && failure->rate_per_s >= 0 &&
		failure->rate_per_s < 1e6;
	if (!is_good)
		return refuse(refusal, -EINVAL, "a rate, time or share of a failure is none");
	if (failure->reaction != FAILURE_RESTART &&
	    failure->rate_per_s * failure->outage_s > OUTAGES_MEAN_MAX)
		return refuse(refusal, -EINVAL,
			      "more than % outages at a time: their rate or length is too large",
			      OUTAGES_MEAN_MAX);
	if (failure->rate_per_s * setup->length_s > EVENTS_MAX)
		return refuse(refusal, -EINVAL, "more than % failures in a run",
			      (int64_t)EVENTS_MAX);
	return 0;
}

int goodput_check(const struct goodput_setup *setup, struct refusal *refusal)
{
	double hosts_per_s = 0;
	if (!is_time(setup->save_s) || !is_time(setup->restart_s) || !is_time(setup->repair_s) ||
	    !is_time(setup->length_s) || setup->length_s == 0 || !(setup->interval_s > 0) ||
	    setup->count > GOODPUT_FAILURES_MAX)
		return refuse(refusal, -EINVAL, "a time of this job is none");
	if (setup->length_s / (setup->interval_s + setup->save_s) > SAVES_MAX)
		return refuse(refusal, -EINVAL, "more than % saves in a run", (int64_t)SAVES_MAX);
	for (uint32_t i = 0; i < setup->count; i++) {
		int rc = check_failure(setup, &setup->failures[i], refusal);
		if (rc < 0)
			return rc;
		hosts_per_s += setup->failures[i].takes_host ? setup->failures[i].rate_per_s : 0;
	}
	if (setup->spares != GOODPUT_ENOUGH_SPARES &&
	    hosts_per_s * setup->repair_s > REPAIRS_MEAN_MAX)
		return refuse(refusal, -EINVAL,
			      "more than % hosts in repair at a time: no spares help there",
			      REPAIRS_MEAN_MAX);
	return 0;
}

// ---------------------------------------------------------------- dice

// Exponential, by inversion; never 0.
static double draw_s(struct rng *dice, double rate_per_s)
{
	double uniform = ((double)(rng_next(dice) >> 12) + 0.5) / 4503599627370496.0; // (0, 1)
	return rate_per_s > 0 ? -log(uniform) / rate_per_s : NEVER;
}

static struct rng dice_of(const struct goodput_setup *setup, uint32_t failure, uint32_t run)
{
	return rng_of(setup->seed, RNG_FAULT, (uint64_t)run << 8 | failure);
}

uint32_t goodput_times(const struct goodput_setup *setup, uint32_t failure, uint32_t run,
		       double *ret_s, uint32_t max)
{
	struct rng dice = dice_of(setup, failure, run);
	double rate_per_s = setup->failures[failure].rate_per_s, at_s = draw_s(&dice, rate_per_s);
	uint32_t count = 0;
	for (; at_s < setup->length_s; at_s += draw_s(&dice, rate_per_s), count++)
		if (count < max)
			ret_s[count] = at_s;
	return count;
}

static void find_first(struct job *job)
{
	job->first = 0;
	for (uint32_t i = 1; i < job->setup->count; i++)
		if (job->next_s[i] < job->next_s[job->first])
			job->first = i;
}

static double first_s(const struct job *job)
{
	return job->setup->count > 0 ? job->next_s[job->first] : NEVER;
}

// ---------------------------------------------------------------- time passes

// What was not done for being slow, by whom: in proportion to what each takes of the speed.
static void lose_speed(struct job *job, double lost_s)
{
	const struct failure *failures = job->setup->failures;
	double sum = 0;
	for (uint32_t i = 0; i < job->outage_count; i++)
		sum += failures[job->outages[i].failure].slow;
	for (uint32_t i = 0; sum > 0 && i < job->outage_count; i++) {
		uint32_t failure = job->outages[i].failure;
		job->ret->losses[failure].slow_s += lost_s * failures[failure].slow / sum;
	}
}

// Works for `time_s`, which is no longer than what is left to the next save.
static void work(struct job *job, double time_s)
{
	job->worked_s += time_s * job->speed;
	if (job->speed < 1)
		lose_speed(job, time_s * (1 - job->speed));
}

static void keep(struct job *job, double rounds)
{
	job->ret->kept_s += rounds * job->setup->interval_s;
	job->ret->saves_s += rounds * job->setup->save_s;
	job->ret->saves += (uint64_t)rounds;
}

// Computing and saving in turn.
static void run_on(struct job *job, double time_s)
{
	const struct goodput_setup *setup = job->setup;
	double to_save_s = (setup->interval_s - job->worked_s) / job->speed;
	if (job->saved_s == 0 && time_s < to_save_s) {
		work(job, time_s);
		return;
	}
	if (job->saved_s == 0) {
		work(job, to_save_s);
		time_s -= to_save_s;
	}
	if (time_s < setup->save_s - job->saved_s) {
		job->worked_s = setup->interval_s;
		job->saved_s += time_s;
		return;
	}
	time_s -= setup->save_s - job->saved_s;
	job->worked_s = job->saved_s = 0;
	keep(job, 1);
	double round_s = setup->interval_s / job->speed + setup->save_s;
	double rounds = (double)(uint64_t)(time_s / round_s);
	keep(job, rounds);
	if (job->speed < 1)
		lose_speed(job, rounds * setup->interval_s * (1 / job->speed - 1));
	time_s = time_s - rounds * round_s;
	to_save_s = setup->interval_s / job->speed;
	work(job, time_s < to_save_s ? time_s : to_save_s);
	if (time_s > to_save_s) {
		job->worked_s = setup->interval_s;
		job->saved_s = time_s - to_save_s;
	}
}

static void pass(struct job *job, double until_s)
{
	struct goodput_loss *loss = &job->ret->losses[job->cause];
	double time_s = until_s - job->now_s;
	job->now_s = until_s;
	switch (job->phase) {
	case PHASE_RUN:
		run_on(job, time_s);
		break;
	case PHASE_STALL:
		loss->stall_s += time_s;
		break;
	case PHASE_NOTICE:
		loss->notice_s += time_s;
		break;
	case PHASE_WAIT:
		loss->wait_s += time_s;
		break;
	case PHASE_RESTART:
		loss->restart_s += time_s;
		break;
	}
}

// ---------------------------------------------------------------- outages

static void find_speed(struct job *job)
{
	job->speed = 1;
	for (uint32_t i = 0; i < job->outage_count; i++)
		job->speed *= 1 - job->setup->failures[job->outages[i].failure].slow;
}

static double outage_end_s(const struct job *job)
{
	double end_s = NEVER;
	for (uint32_t i = 0; i < job->outage_count; i++)
		end_s = job->outages[i].until_s < end_s ? job->outages[i].until_s : end_s;
	return end_s;
}

static void end_outages(struct job *job)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < job->outage_count; i++)
		if (job->outages[i].until_s > job->now_s)
			job->outages[left++] = job->outages[i];
	job->outage_count = left;
	find_speed(job);
}

static void begin_outage(struct job *job, uint32_t failure)
{
	check(job->outage_count < OUTAGES_MAX);
	job->outages[job->outage_count++] = (struct outage){
		job->now_s + job->setup->failures[failure].outage_s, failure};
	find_speed(job);
}

// ---------------------------------------------------------------- hosts

static void return_hosts(struct job *job)
{
	while (job->repair_count > 0 && job->repairs[job->repair_first] <= job->now_s) {
		job->repair_first = (job->repair_first + 1) % REPAIRS_MAX;
		job->repair_count--;
		job->spares++;
	}
}

static void take_host(struct job *job)
{
	if (job->setup->spares == GOODPUT_ENOUGH_SPARES)
		return;
	check(job->repair_count < REPAIRS_MAX);
	uint32_t last = (job->repair_first + job->repair_count++) % REPAIRS_MAX;
	job->repairs[last] = job->now_s + job->setup->repair_s;
	job->missing++;
}

// Starts again when no host is missing, else waits for the next one.
static void restart_or_wait(struct job *job)
{
	return_hosts(job);
	uint32_t taken = job->spares < job->missing ? job->spares : job->missing;
	job->spares -= taken;
	job->missing -= taken;
	job->phase = job->missing == 0 ? PHASE_RESTART : PHASE_WAIT;
	job->phase_end_s = job->missing == 0 ? job->now_s + job->setup->restart_s
					     : job->repairs[job->repair_first];
}

// ---------------------------------------------------------------- events

static void lose_work(struct job *job, uint32_t failure)
{
	job->ret->losses[failure].repeated_s += job->worked_s + job->saved_s;
	job->worked_s = job->saved_s = 0;
}

static void fail(struct job *job, uint32_t failure)
{
	const struct failure *what = &job->setup->failures[failure];
	bool is_up = job->phase == PHASE_RUN || job->phase == PHASE_STALL;
	job->ret->losses[failure].events++;
	if (what->reaction == FAILURE_SLOW) {
		begin_outage(job, failure);
	} else if (what->reaction == FAILURE_STALL) {
		double end_s = job->now_s + what->outage_s;
		if (!is_up || (job->phase == PHASE_STALL && job->phase_end_s >= end_s))
			return;
		job->phase = PHASE_STALL;
		job->phase_end_s = end_s;
		job->cause = failure;
	} else {
		lose_work(job, failure);
		if (what->takes_host)
			take_host(job);
		job->phase = PHASE_NOTICE;
		job->phase_end_s = job->now_s + what->notice_s;
		job->cause = failure;
	}
}

static void end_phase(struct job *job)
{
	if (job->phase == PHASE_NOTICE || job->phase == PHASE_WAIT) {
		restart_or_wait(job);
	} else {
		job->phase = PHASE_RUN;
		job->phase_end_s = NEVER;
	}
}

static void begin(struct job *job, struct goodput_run *ret, const struct goodput_setup *setup,
		  uint32_t run)
{
	*ret = (struct goodput_run){0};
	job->setup = setup;
	job->ret = ret;
	job->phase = PHASE_RUN;
	job->now_s = job->worked_s = job->saved_s = 0;
	job->phase_end_s = NEVER;
	job->cause = job->outage_count = job->missing = job->repair_first = job->repair_count = 0;
	job->spares = setup->spares;
	job->speed = 1;
	for (uint32_t i = 0; i < setup->count; i++) {
		job->dice[i] = dice_of(setup, i, run);
		job->next_s[i] = draw_s(&job->dice[i], setup->failures[i].rate_per_s);
	}
	find_first(job);
}

static double min3(double a, double b, double c)
{
	double least = a < b ? a : b;
	return least < c ? least : c;
}

void goodput_run(struct goodput_run *ret, const struct goodput_setup *setup, uint32_t run)
{
	struct job job;
	begin(&job, ret, setup, run);
	while (job.now_s < setup->length_s) {
		double until_s = min3(first_s(&job), outage_end_s(&job), job.phase_end_s);
		if (until_s >= setup->length_s) {
			pass(&job, setup->length_s);
			break;
		}
		pass(&job, until_s);
		if (until_s == first_s(&job)) {
			uint32_t failure = job.first;
			job.next_s[failure] += draw_s(&job.dice[failure],
						      setup->failures[failure].rate_per_s);
			find_first(&job);
			fail(&job, failure);
		} else if (until_s == job.phase_end_s) {
			end_phase(&job);
		} else {
			end_outages(&job);
		}
	}
	ret->kept_s += job.worked_s;
	ret->saves_s += job.saved_s;
}

double goodput_loss_s(const struct goodput_loss *loss)
{
	return loss->repeated_s + loss->notice_s + loss->wait_s + loss->restart_s + loss->slow_s +
		loss->stall_s;
}
