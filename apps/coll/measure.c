// SPDX-License-Identifier: Apache-2.0
// One size: the scenario with this collective in the place of its traffic, run in virtual time.
//
// A size whose packets are more than --packets is not run whole. A ring with credits runs part of
// its steps (sample.packets of a scenario); of the others shorter sizes are run (extrapolate.c).

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/signals.h>
#include <weft/result/report.h>
#include <weft/workload/workload_ring.h>

#include "coll.h"

// ---------------------------------------------------------------- scenario

struct words {
	const char *list[SETS_MAX + 16];
	char room[16][SET_BYTES];
	uint32_t count, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *words, const char *format, ...)
{
	va_list list;
	char *to = words->room[words->used++];
	va_start(list, format);
	vsnprintf(to, SET_BYTES, format, list);
	va_end(list);
	words->list[words->count++] = to;
}

static void say_shape(struct words *words, const struct call *call, bool is_credit_ring)
{
	if (!is_credit_ring)
		say(words, "traffic.algorithm=%s",
		    call->choice.is_auto ? "auto" : coll_algorithm_name(call->choice.algorithm));
	if (!is_credit_ring)
		say(words, "traffic.element=%uB", call->type->bytes);
	if (call->ranks > 0)
		say(words, "traffic.ranks=%u", call->ranks);
	if (call->gpus > 0)
		say(words, "fabric.nics_per_host=%u", call->gpus);
	if (call->channels > 0)
		say(words, "traffic.channels=%u", call->channels);
	if (call->chunk_bytes > 0)
		say(words, "traffic.chunk=%lluB", (unsigned long long)call->chunk_bytes);
	if (!is_credit_ring && coll_has_root(call->kind))
		say(words, "traffic.root=%u", call->root);
	if (is_credit_ring) { // one ring over all, whatever the file has
		say(words, "traffic.axes=none");
		say(words, "traffic.jobs=1");
	}
	if (is_credit_ring)
		say(words, "sample.packets=%llu", (unsigned long long)call->packets_max);
}

int call_scenario(struct call *call, uint64_t bytes, bool is_credit_ring, uint64_t seed)
{
	struct words words = {.count = 0};
	say(&words, "traffic.kind=%s", is_credit_ring ? "ring" : "collective");
	say(&words, "traffic.collective=%s", coll_kind_name(call->kind));
	say(&words, "traffic.bytes=%lluB", (unsigned long long)bytes);
	say_shape(&words, call, is_credit_ring);
	for (uint32_t i = 0; i < call->set_count; i++)
		words.list[words.count++] = call->sets[i];
	int rc = scenario_parse(&call->scenario, call->path, call->text, call->text_bytes,
				words.list, words.count, &call->refusal);
	if (rc == 0 && call->is_seed_given)
		call->scenario.seed = seed;
	return rc;
}

// Whether a rank gives or gets all of the bytes, rather than a block for each rank.
static bool is_whole(enum coll_kind kind)
{
	return kind == COLL_ALL_REDUCE || kind == COLL_BROADCAST || kind == COLL_REDUCE ||
		kind == COLL_SEND_RECEIVE;
}

uint64_t size_whole(const struct measured *row, const struct call *call, uint64_t bytes)
{
	uint64_t grain = (uint64_t)call->type->bytes * (is_whole(call->kind) ? 1 : row->ranks);
	return bytes < grain ? grain : bytes - bytes % grain;
}

// Whether a ring with credits can show its data: its blocks and parts are whole elements.
static bool holds_elements(const struct call *call, const struct measured *row, uint64_t bytes)
{
	return ring_has_whole_elements(&call->scenario.traffic.ring, size_whole(row, call, bytes),
				       call->type->bytes);
}

// Whether a ring with credits is run: asked for, or what NCCL would take.
static int settle(struct call *call, uint64_t bytes, struct measured *ret)
{
	bool has_credits = call->choice.is_credit_ring;
	int rc = call_scenario(call, bytes, has_credits, call->seed);
	if (rc < 0)
		return rc;
	if (!call->is_seed_given)
		call->seed = call->scenario.seed;
	call->is_seed_given = true;
	scenario_collective(&ret->config, &call->scenario);
	bool is_ring_kind = call->kind <= COLL_ALL_REDUCE;
	ret->ranks = call->scenario.traffic.ring.ranks;
	if (call->choice.is_auto && is_ring_kind && ret->config.algorithm == COLL_RING)
		has_credits = !call->is_checked || holds_elements(call, ret, bytes);
	ret->is_credit_ring = has_credits;
	return 0;
}

// ---------------------------------------------------------------- runs

static double time_us(const struct world *world, double *ret_error_us)
{
	const struct outcome *outcome = world->outcome;
	*ret_error_us = 0;
	if (outcome->collective_count == 0)
		return (double)outcome->end_ps / PS_PER_US;
	const struct outcome_collective *of = &outcome->collectives[0];
	*ret_error_us = (double)of->whole_error_ps / PS_PER_US;
	return (double)of->whole_ps / PS_PER_US;
}

// Whether time was added for steps that were not run.
static bool is_sampled(const struct world *world)
{
	return (world->plan.sample.is_on && world->plan.sample.steps > 0) ||
		(world->skipped != NULL && world->skipped->jumps > 0);
}

static void count_wrong(struct ledger *ledger, struct measured *ret)
{
	ret->is_checked = true;
	ret->wrong = 0;
	for (uint32_t rank = 0; rank < ret->config.ranks; rank++)
		ret->wrong += coll_wrong(&ret->config, rank, ledger_buffer(ledger, rank));
}

static int fill(struct call *call, struct ledger *ledger, const struct world *world,
		struct measured *ret)
{
	if (!ret->is_credit_ring)
		scenario_collective(&ret->config, &call->scenario);
	ret->config.bytes = ret->bytes_run;
	ret->config.element_bytes = call->type->bytes;
	int rc = ledger_attach(ledger, world, ret->config.element_bytes, &call->refusal);
	for (uint32_t rank = 0; rc == 0 && rank < ret->config.ranks; rank++)
		coll_fill(&ret->config, rank, ledger_buffer(ledger, rank));
	return rc;
}

// Builds and runs what call->scenario says; with a ledger through frames that carry data.
static int run_stage(struct call *call, struct ledger *ledger, struct measured *ret)
{
	static struct stage stage; // large
	struct sim_options options = {.lanes = 1, .stop = signals_stop()};
	struct run run;
	double error_us;
	if (ledger != NULL) {
		options.ports.kind = PORTS_MEMORY;
		ledger_hook(ledger, &options.ports);
	}
	int rc = stage_build(&stage, &call->scenario, NULL, 0, &options, &call->refusal);
	if (rc < 0)
		return rc;
	if (!call->has_warned)
		report_warnings(stderr, "weft coll: ", &stage.world);
	call->has_warned = true;
	if (ledger != NULL && (rc = fill(call, ledger, &stage.world, ret)) < 0) {
		stage_free(&stage);
		return rc;
	}
	sim_run(stage.sim, &run);
	ret->end = run.end;
	ret->limit_option = run.limit_option;
	ret->digest = run.digest;
	ret->time_us += time_us(&stage.world, &error_us) / call->iterations;
	ret->error_us += error_us / call->iterations;
	ret->is_extrapolated = ret->is_extrapolated || is_sampled(&stage.world);
	if (stage.world.outcome->collective_count > 0 && ret->fault_left_out == 0)
		ret->fault_left_out = stage.world.outcome->collectives[0].fault_left_out;
	if (ledger != NULL && run.end == RUN_DONE)
		count_wrong(ledger, ret);
	stage_free(&stage);
	return 0;
}

// Runs the data of a ring with credits, whose time is known.
static int check_ring(struct call *call, struct ledger *ledger, struct measured *ret)
{
	struct measured apart = *ret;
	struct data data;
	int rc = data_scenario(call, ret, &data);
	if (rc == 0)
		rc = run_stage(call, ledger, &apart);
	data_free(&data);
	ret->end = rc == 0 ? apart.end : ret->end;
	ret->is_checked = apart.is_checked;
	ret->wrong = apart.wrong;
	return rc;
}

// Runs `bytes` once and adds what it took.
static int run_once(struct call *call, uint64_t bytes, uint32_t iteration, struct measured *ret)
{
	int rc = call_scenario(call, bytes, ret->is_credit_ring, call->seed + iteration);
	ret->bytes_run = bytes;
	if (rc == 0 && (ret->is_credit_ring || !call->is_checked))
		rc = run_stage(call, NULL, ret);
	if (rc < 0 || !call->is_checked || ret->end != RUN_DONE)
		return rc;
	struct ledger *ledger = ledger_create();
	if (ledger == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for data", 0, 0, 0);
	uint64_t wrong = ret->wrong;
	rc = ret->is_credit_ring ? check_ring(call, ledger, ret) : run_stage(call, ledger, ret);
	ret->wrong += wrong;
	ledger_free(ledger);
	return rc;
}

int run_whole(struct call *call, uint64_t bytes, struct measured *ret)
{
	int rc = 0;
	ret->time_us = ret->error_us = 0;
	ret->wrong = 0;
	for (uint32_t i = 0; rc == 0 && i < call->iterations; i++) {
		rc = run_once(call, bytes, i, ret);
		if (rc == 0 && ret->end != RUN_DONE)
			return 0;
	}
	return rc;
}

// ---------------------------------------------------------------- sizes

// As nccl-tests counts: of one block where there are blocks.
static uint64_t count_of(const struct call *call, const struct measured *row)
{
	return row->bytes / call->type->bytes / (is_whole(call->kind) ? 1 : row->ranks);
}

static int measure_choice(struct call *call, uint64_t bytes, struct measured *ret)
{
	*ret = (struct measured){.end = RUN_DONE};
	int rc = settle(call, bytes - bytes % call->type->bytes, ret);
	if (rc < 0)
		return rc;
	ret->bytes = size_whole(ret, call, bytes);
	ret->count = count_of(call, ret);
	rc = call_scenario(call, ret->bytes, ret->is_credit_ring, call->seed);
	if (rc < 0 || (rc = ideal_find(call, &ret->ideal)) < 0)
		return rc;
	bool is_long = ret->ideal.packets > call->packets_max;
	if (is_long && call->is_checked)
		return refuse(&call->refusal, -EINVAL,
			      "-c 1 checks what is run whole, and % bytes take more than --packets",
			      (int64_t)ret->bytes, 0, 0);
	if (is_long && !ret->is_credit_ring)
		return extrapolate(call, ret);
	rc = run_whole(call, ret->bytes, ret);
	return ret->is_credit_ring ? judge_ring(call, ret, rc) : rc;
}

// ---------------------------------------------------------------- auto

static bool has_time(const struct measured *row)
{
	return row->end == RUN_DONE && row->why_not[0] == '\0';
}

// What `auto` may take beside NCCL's ring: double_tree for all_reduce, PAT where each rank is a
// host of its own.
static bool find_other(const struct call *call, const struct measured *row,
		       enum coll_algorithm *ret)
{
	*ret = call->kind == COLL_ALL_REDUCE ? COLL_DOUBLE_TREE : COLL_PAT;
	return call->kind == COLL_ALL_REDUCE ||
		((call->kind == COLL_REDUCE_SCATTER || call->kind == COLL_ALL_GATHER) &&
		 row->config.domain == 1);
}

// A model of times may be wrong about a fabric: what it would take and the other one both run, and
// the faster is taken.
int measure_size(struct call *call, uint64_t bytes, struct measured *ret)
{
	const struct choice before = call->choice;
	enum coll_algorithm other;
	struct measured row;
	int rc = measure_choice(call, bytes, ret);
	if (rc < 0 || !before.is_auto || !find_other(call, ret, &other))
		return rc;
	bool is_other = !ret->is_credit_ring && ret->config.algorithm == other;
	bool is_whole_ring = is_other && (!call->is_checked || holds_elements(call, ret, bytes));
	call->choice = is_other
		? (struct choice){.is_credit_ring = is_whole_ring, .algorithm = COLL_RING}
		: (struct choice){.algorithm = other};
	rc = measure_choice(call, bytes, &row);
	call->choice = before;
	if (rc == 0 && has_time(&row) && (!has_time(ret) || row.time_us < ret->time_us))
		*ret = row;
	return rc;
}
