// SPDX-License-Identifier: Apache-2.0
// One size: what is run for it.
//
// A size whose packets are more than --packets is not run whole. A ring with credits runs part of
// its steps (sample.packets of a scenario); of the others shorter sizes are run (extrapolate.c).

#include <errno.h>
#include <math.h>

#include <weft/workload/workload_ring.h>

#include "coll.h"

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

// ---------------------------------------------------------------- sizes

// As nccl-tests counts: of one block where there are blocks.
static uint64_t count_of(const struct call *call, const struct measured *row)
{
	return row->bytes / call->type->bytes / (gives_all(call->kind) ? 1 : row->ranks);
}

// `most_us`: nothing is run of what cannot be done by then.
static int measure_choice(struct call *call, uint64_t bytes, double most_us, struct measured *ret)
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
	if (ideal_us(ret) > most_us) {
		snprintf(ret->why_not, sizeof(ret->why_not), "not run: too slow at best");
		return 0;
	}
	bool is_long = ret->ideal.packets > call->packets_max;
	if (is_long && call->is_checked)
		return refuse(&call->refusal, -EINVAL,
			      "-c 1 checks what is run whole, and % bytes take more than --packets",
			      (int64_t)ret->bytes);
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

// What `auto` takes one of: rings, with credits as NCCL's protocol Simple has them and without, and
// double_tree for all_reduce, PAT where each rank is a host of its own.
#define CHOICES_MAX 3

static uint32_t list_choices(const struct call *call, const struct measured *row,
			     struct choice *ret)
{
	bool is_all = call->kind == COLL_ALL_REDUCE;
	uint32_t count = 0;
	if (call->kind > COLL_ALL_REDUCE) // NCCL has one algorithm of it
		return 0;
	if (!call->is_checked || holds_elements(call, row, row->bytes))
		ret[count++] = (struct choice){.is_credit_ring = true};
	if (row->ideal.packets <= call->packets_max) // of longer ones credits are no time
		ret[count++] = (struct choice){.algorithm = COLL_RING};
	if (is_all || row->config.domain == 1)
		ret[count++] = (struct choice){.algorithm = is_all ? COLL_DOUBLE_TREE : COLL_PAT};
	return count;
}

static bool is_same(const struct choice *choice, const struct measured *row)
{
	return choice->is_credit_ring
		? row->is_credit_ring
		: !row->is_credit_ring && row->config.algorithm == choice->algorithm;
}

// NCCL's own ring stays where the one without credits is hardly faster.
#define RING_HARDLY 0.99

static bool is_faster(const struct measured *row, const struct measured *than)
{
	bool is_ring = !row->is_credit_ring && row->config.algorithm == COLL_RING;
	double share = than->is_credit_ring && is_ring ? RING_HARDLY : 1;
	return has_time(row) && (!has_time(than) || row->time_us < share * than->time_us);
}

// How much slower than the ideal of what NCCL would take another one may be at best, where the time
// of the first is not known.
#define IDEALS_MOST 2

// A model of times may be wrong about a fabric: what it would take and the others, if they could be
// faster, run, and the fastest is taken.
int measure_size(struct call *call, uint64_t bytes, struct measured *ret)
{
	const struct choice before = call->choice;
	struct choice choices[CHOICES_MAX];
	struct measured row, first;
	int rc = measure_choice(call, bytes, INFINITY, ret);
	if (rc < 0 || !before.is_auto)
		return rc;
	first = *ret;
	uint32_t count = list_choices(call, ret, choices);
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		if (is_same(&choices[i], &first))
			continue;
		double most_us = has_time(ret) ? ret->time_us : IDEALS_MOST * ideal_us(ret);
		call->choice = choices[i];
		rc = measure_choice(call, bytes, most_us, &row);
		if (rc == 0 && is_faster(&row, ret))
			*ret = row;
	}
	call->choice = before;
	return rc;
}
