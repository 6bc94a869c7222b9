// SPDX-License-Identifier: Apache-2.0
// A training job that fails now and then: what of its time is kept. Time here is in seconds, as
// doubles: days, not picoseconds.
//
//   goodput.c         one run, failure by failure     goodput_closed.c  closed forms
//   goodput_search.c  many runs, and the interval between checkpoints that is best in them
//
// A job computes for `interval_s`, saves for `save_s`, and again. What a failure does to it is its
// reaction. One that ends the job: work since the last save is lost (with what was saved of the
// next one), then the failure is noticed, hosts are replaced, the job starts again. Failures come
// at all times, also then: they begin the same anew. One that slows the job or stalls it for a
// while costs no work. Failures are Poisson processes; each has dice of its own, so that runs with
// one seed have the same failures whatever the job does about them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GOODPUT_FAILURES_MAX 32
#define GOODPUT_ENOUGH_SPARES UINT32_MAX

enum failure_reaction {
	FAILURE_RESTART, // the job ends, and starts again
	FAILURE_SLOW,	 // it goes on at a lower speed for `outage_s`
	FAILURE_STALL,	 // it stands still for `outage_s`, then goes on
};

struct failure {
	double rate_per_s; // of the whole job; 0 = never
	enum failure_reaction reaction;
	double notice_s; // restart: until it is noticed
	bool takes_host; // restart: a host is away for `repair_s`
	double outage_s; // slow, stall
	double slow;	 // slow: share of the speed that is lost, below 1
};

struct goodput_setup {
	uint32_t count;
	struct failure failures[GOODPUT_FAILURES_MAX];
	double length_s;   // of a run, from its first step on
	double interval_s; // of work between two saves, at full speed
	double save_s;	   // the job stands still
	double restart_s;  // from a full set of hosts to the first step
	uint32_t spares;   // hosts in waiting, GOODPUT_ENOUGH_SPARES = always one more
	double repair_s;   // of a host; then it is a spare
	uint64_t seed;
};

// What one failure cost.
struct goodput_loss {
	uint64_t events;
	double repeated_s; // work that was done and lost, and saves that did not end
	double notice_s, wait_s, restart_s;
	double slow_s;	// what the job would have done more at full speed
	double stall_s; // while it computed or saved
};

// Where the time of a run went: all figures add up to its length.
struct goodput_run {
	double kept_s;	// work that was saved, or not lost at the end
	double saves_s; // saves that ended, and the one under way at the end
	uint64_t saves;
	struct goodput_loss losses[GOODPUT_FAILURES_MAX];
};

// -EINVAL with a reason: a figure that is negative or no number, an interval or length of nothing,
// more failures than a run can be made of (10^6, or 10^9 saves), or more than 100 outages or 1,000
// hosts in repair at a time.
int goodput_check(const struct goodput_setup *setup, struct refusal *refusal);

// One run of a setup that was checked. Run number `run` of a seed has dice of its own.
void goodput_run(struct goodput_run *ret, const struct goodput_setup *setup, uint32_t run);

// When failure `failure` comes in run number `run`: fills up to `max` times in order and returns
// how many there are, which may be more.
uint32_t goodput_times(const struct goodput_setup *setup, uint32_t failure, uint32_t run,
		       double *ret_s, uint32_t max);

// Sum of what failure `failure` cost, and of all.
double goodput_loss_s(const struct goodput_loss *loss);

// Mean share that is kept, over `runs` runs.
double goodput_mean(const struct goodput_setup *setup, uint32_t runs);

// The interval with the best mean over `runs` runs; `setup->interval_s` does not count. A grid of
// powers of two, then a parabola over a finer one. Every interval has the same failures.
double goodput_best_interval_s(const struct goodput_setup *setup, uint32_t runs);

// ---------------------------------------------------------------- closed forms

// Mean time between failures that end the job; infinite when there are none.
double goodput_mtbf_s(const struct goodput_setup *setup);

// The best interval to first order: sqrt(2 C M) (Young, Communications of the ACM 17(9), 1974).
double goodput_young_s(double save_s, double mtbf_s);

// And to higher order (Daly, Future Generation Computer Systems 22(3), 2006):
// sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18M) - C for C < 2M, else M.
double goodput_daly_s(double save_s, double mtbf_s);

// Share that is kept in a long run, exactly where nothing but restarts happens and spares are
// enough: i / (M / a) / (e^((i + C) / M) - 1), where a is the mean of e^(-R / M) over failures and
// R what each takes to be noticed and to restart (with one R: Daly's complete model). Slow and
// stalled times go in by their means.
double goodput_closed(const struct goodput_setup *setup);

// The interval at which goodput_closed() is best; 0 when saving takes no time, infinite when
// nothing ends the job.
double goodput_closed_interval_s(const struct goodput_setup *setup);

#ifdef __cplusplus
}
#endif
