// SPDX-License-Identifier: Apache-2.0
// A study over several processes, which mpirun or srun started: the first one chooses candidates
// and writes the study, all others run what it tells them. They need the scenarios and no study; it
// gives them the words of it.

#include "call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/core/check.h>
#include <weft/run/host_info.h>
#include <weft/run/outcome.h>
#include <weft/world/world.h>

#define FIRST 0
#define PAUSE_NS 100000 // between two looks for a message

enum kind { KIND_WORDS, KIND_RUN, KIND_END };

// One run to be made: a request without what it points to.
struct order {
	enum kind kind;
	uint32_t index, scenario, bound_count;
	uint64_t seed;
	enum tune_digits digits;
	bool is_off, is_whole, has_point;
	double look_s, at[TUNE_KNOBS_MAX];
	struct tune_bound bounds[TUNE_BOUNDS_MAX];
};

struct opening {
	enum kind kind;
	char words[COMMAND_BYTES];
};

// What comes back: of words whether they were understood, of an order its run.
struct answer {
	uint32_t index;
	int rc;
	uint64_t hash; // of the scenarios as they are there
	struct refusal refusal;
	struct study_run run;
};

static struct order orders[WORLD_SHARDS_MAX];
static struct answer answers[WORLD_SHARDS_MAX];

static void rest(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	nanosleep(&pause, NULL);
}

static void send_to(struct ranks *ranks, uint32_t to, const void *message, size_t bytes)
{
	ranks->ops->send(ranks, to, 0, message, bytes);
	while (!ranks->ops->is_sent(ranks, to, 0))
		rest();
}

static void wait_from(struct ranks *ranks, uint32_t from, void *room, size_t bytes)
{
	size_t came;
	ranks->ops->expect(ranks, from, room, bytes);
	while (!ranks->ops->has_come(ranks, from, &came))
		rest();
	check(came <= bytes);
}

static uint64_t hash_of(const struct call *call)
{
	uint64_t hash = 0;
	for (uint32_t i = 0; i < call->options.scenario_count + call->options.holdout_count; i++)
		hash = (hash ^ tune_pool_hash(call->pool, i)) * UINT64_C(0x100000001b3);
	return hash;
}

// ---------------------------------------------------------------- the first

static void give_order(struct call *call, uint32_t to, const struct tune_request *requests,
		       uint32_t index)
{
	const struct tune_request *request = &requests[index];
	struct order *order = &orders[to];
	*order = (struct order){.kind = KIND_RUN,
				.index = index,
				.scenario = request->scenario,
				.bound_count = request->bound_count,
				.seed = request->seed,
				.digits = request->digits,
				.is_off = request->is_off,
				.is_whole = request->is_whole,
				.has_point = request->at != NULL,
				.look_s = request->look_s};
	if (order->has_point)
		memcpy(order->at, request->at, call->plan.space.count * sizeof(*order->at));
	if (order->bound_count > 0)
		memcpy(order->bounds, request->bounds, order->bound_count * sizeof(*order->bounds));
	send_to(&call->ranks, to, order, sizeof(*order));
	call->ranks.ops->expect(&call->ranks, to, &answers[to], sizeof(answers[to]));
}

// The answer of one that was given an order: -EINTR: it was stopped.
static int take_answer(struct call *call, const struct answer *answer, tune_take_fn *take,
		       void *context)
{
	if (answer->rc < 0) {
		call->refusal = answer->refusal;
		return answer->rc;
	}
	if (answer->run.is_interrupted)
		return refuse(&call->refusal, -EINTR,
			      "interrupted; what was run is kept: weft tune resume");
	return take(context, answer->index, &answer->run);
}

int ranks_runs(void *context, const struct tune_request *requests, uint32_t count,
	       tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	struct call *call = context;
	struct ranks *ranks = &call->ranks;
	bool is_busy[WORLD_SHARDS_MAX] = {false};
	uint32_t next = 0, busy = 0;
	int rc = 0;
	while (busy > 0 || (next < count && rc == 0)) {
		uint32_t came = 0;
		for (uint32_t i = 1; i < ranks->count; i++) {
			size_t bytes;
			if (is_busy[i] && ranks->ops->has_come(ranks, i, &bytes)) {
				int taken = take_answer(call, &answers[i], take, take_context);
				rc = rc < 0 ? rc : taken;
				is_busy[i] = false;
				busy--;
				came++;
			}
			if (!is_busy[i] && next < count && rc == 0) {
				give_order(call, i, requests, next++);
				is_busy[i] = true;
				busy++;
				came++;
			}
		}
		if (came == 0)
			rest();
	}
	if (rc < 0)
		*refusal = call->refusal;
	return rc;
}

int ranks_open(struct call *call)
{
	static struct opening opening = {.kind = KIND_WORDS};
	struct ranks *ranks = &call->ranks;
	int rc = 0;
	char *words;
	if (ranks->count < 2)
		return 0;
	if (call->options.jobs > 1)
		return outcome_bad_line(&call->refusal,
					"--jobs is of one process; mpirun -n says how many run");
	rc = tune_store_fact(call->store, "command", &words, &call->refusal);
	if (rc < 0)
		return rc;
	snprintf(opening.words, sizeof(opening.words), "%s", words);
	free(words);
	for (uint32_t i = 1; i < ranks->count; i++)
		send_to(ranks, i, &opening, sizeof(opening));
	for (uint32_t i = 1; i < ranks->count; i++) {
		wait_from(ranks, i, &answers[i], sizeof(answers[i]));
		if (rc == 0 && answers[i].rc < 0)
			call->refusal = answers[i].refusal;
		else if (rc == 0 && answers[i].hash != hash_of(call))
			answers[i].rc = refuse(&call->refusal, -EINVAL,
					       "process % has other scenarios", i);
		rc = rc < 0 ? rc : answers[i].rc;
	}
	return rc;
}

void ranks_close(struct call *call)
{
	static const struct order last = {.kind = KIND_END};
	if (call->ranks.count < 2)
		return;
	for (uint32_t i = 1; call->ranks.index == FIRST && i < call->ranks.count; i++)
		send_to(&call->ranks, i, &last, sizeof(last));
	ranks_end(&call->ranks);
}

// ---------------------------------------------------------------- the others

// tune_take_fn.
static int keep(void *context, uint32_t index, const struct study_run *run)
{
	struct answer *answer = context;
	(void)index;
	answer->run = *run;
	return 0;
}

static void carry_out(struct call *call, const struct order *order, struct answer *ret)
{
	const struct tune_request request = {.scenario = order->scenario,
					     .at = order->has_point ? order->at : NULL,
					     .seed = order->seed,
					     .is_off = order->is_off,
					     .digits = order->digits,
					     .bounds = order->bounds,
					     .bound_count = order->bound_count,
					     .look_s = order->look_s,
					     .is_whole = order->is_whole};
	*ret = (struct answer){.index = order->index};
	ret->rc = tune_pool_runs(call->pool, &request, 1, keep, ret, &ret->refusal);
}

// A new study's words are on the command line of all, those of one that is there in its file alone.
static int begin(struct call *call, char *words)
{
	int rc = 0;
	if (call->options.verb == VERB_RESUME)
		rc = words_of_study(&call->options, words, &call->refusal);
	else if (strcmp(call->options.command, words) != 0)
		rc = outcome_bad_line(&call->refusal,
				      "another process was started with other words");
	return rc < 0 ? rc : study_open_pool(call);
}

int ranks_serve(struct call *call)
{
	static union {
		enum kind kind;
		struct opening opening;
		struct order order;
	} message;
	static struct answer answer;
	for (;;) {
		wait_from(&call->ranks, FIRST, &message, sizeof(message));
		if (message.kind == KIND_END)
			return 0;
		if (message.kind == KIND_RUN) {
			carry_out(call, &message.order, &answer);
		} else {
			int rc = begin(call, message.opening.words);
			answer = (struct answer){.rc = rc,
						 .refusal = call->refusal,
						 .hash = rc == 0 ? hash_of(call) : 0};
		}
		send_to(&call->ranks, FIRST, &answer, sizeof(answer));
	}
}

// ---------------------------------------------------------------- starting

int ranks_begin(struct call *call, char **argv)
{
	enum verb verb = call->options.verb;
	if (ranks_launched() == 1)
		return 0;
	if (verb != VERB_RUN && verb != VERB_RESUME)
		return outcome_bad_line(&call->refusal,
					"only run and resume use several processes, as mpirun "
					"starts them");
	if (!ranks_are_built())
		program_exec("weft-tune-mpi", argv);
	return 0;
}

int ranks_meet(struct call *call)
{
	return ranks_launched() > 1 ? ranks_start(&call->ranks, &call->refusal) : 0;
}
