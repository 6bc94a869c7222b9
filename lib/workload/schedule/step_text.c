// SPDX-License-Identifier: Apache-2.0
// The lines of a step, see step_text.h. A block of lines for each forward of the stage, in their
// order, with the backward that is as far from the end: the units of its cell, and between them
// what else there is. A text has nothing beside a forward: gathers that computations really wait
// for stand before their lines, those that are hidden stand beside the backward, as AICB writes its
// grad_gather.
// Facts: SimAI numbers ranks tensor first, then data, then pipeline; expert groups are data ranks
// in a row; without an ending a communication of a forward or of an input gradient is tensor
// parallel.

#include <weft/workload/step_text.h>

#include <errno.h>

#include <weft/core/check.h>

#include "step_operation.h"

#define TOLERANCE 100 // lines may come to a hundredth more
#define REST 10	      // and so much of the step may be filled up by a wait

// A forward or backward of the stage as it ran: it computed, exchanged activations outside its
// domain, and
// waited before it began.
struct ran {
	struct operation operation;
	ps_t compute_ps, exchange_ps, before_ps;
};

struct making {
	const struct plan *plan;
	const struct step_setup *setup;
	struct step_cells cells;
	struct step_text *text;
	uint32_t stage, count, line_max;
	uint64_t gather, gathers, waited; // in hand, of all, of which so many are waited for
	ps_t rest_ps;			  // a wait that is none of the stage's
	ps_t goal_ps;			  // what lines shall come to
	ps_t waits_ps, shorter_ps;	  // the stage's own waits, and how much less they take
	uint32_t hidden_count;
	struct step_line *hidden;	  // gathers that nothing waits for
	struct ran *forwards, *backwards; // [count]
	uint32_t forward_count, backward_count;
	ps_t ended_at; // the latest one
	bool is_off_domain[DIMENSION_COUNT];
};

// ---------------------------------------------------------------- lines

static struct step_line *put(struct making *making, const char *name, uint32_t position)
{
	struct step_text *text = making->text;
	check(text->line_count < making->line_max);
	struct step_line *line = &text->lines[text->line_count++];
	*line = (struct step_line){.name = name, .position = position};
	return line;
}

static void put_wait(struct making *making, uint32_t position, enum step_column column, ps_t time)
{
	if (time > 0)
		put(making, "wait", position)->compute_ps[column] = time;
}

// ---------------------------------------------------------------- collectives

static uint32_t group_ranks(const struct making *making, bool is_expert)
{
	return is_expert ? plan_expert_ranks(making->plan) : plan_shard_ranks(making->plan);
}

// Whether a forward can wait for dense parameters: expert data groups are then all data ranks.
static bool has_dense(const struct making *making)
{
	return making->text->ep == 1 || making->plan->parallel.shard_ranks > 0;
}

// The groups of a shard go as expert groups of a model that has none. Gathers and reduces of FSDP,
// which go in turn, are of one group.
static enum trace_group group_of(const struct making *making, bool is_expert,
				 enum step_column column)
{
	if (is_expert)
		return TRACE_GROUP_DP_EP;
	if (making->plan->parallel.shard_ranks > 0)
		return TRACE_GROUP_EP;
	bool is_one_stream = making->plan->parallel.sharding == SHARDING_FSDP && has_dense(making);
	return column == STEP_COLUMN_WEIGHT && !is_one_stream ? TRACE_GROUP_DP : TRACE_GROUP_DP_EP;
}

static struct step_send send_of(const struct making *making, const struct step_bucket *bucket,
				bool is_gather, enum step_column column)
{
	bool is_all = bucket->gather_bytes == 0;
	struct step_send send = {
		.comm = is_gather ? TRACE_ALLGATHER
			: is_all  ? TRACE_ALLREDUCE
				  : TRACE_REDUCESCATTER,
		.group = group_of(making, bucket->is_expert, column),
		.bytes = is_gather ? bucket->gather_bytes : bucket->reduce_bytes,
		.time_ps = step_bucket_ps(making->setup, bucket, is_gather),
	};
	return group_ranks(making, bucket->is_expert) > 1 && send.bytes > 0
		? send
		: (struct step_send){.comm = TRACE_NONE};
}

static bool has_word(const struct making *making, const struct step_bucket *bucket)
{
	return bucket->is_expert || has_dense(making);
}

static bool is_gathered(const struct making *making, const struct operation *operation)
{
	if (plan_is_interleaved(making->plan))
		return step_traffic(making->plan, operation).is_gathered;
	return operation->micro_batch == 0 && !operation->is_backward;
}

// The gather of a unit of a forward or backward; TRACE_NONE where there is none.
static struct step_send gather_of(const struct making *making, const struct ran *ran,
				  const struct step_bucket *unit, enum step_column column)
{
	if (!is_gathered(making, &ran->operation))
		return (struct step_send){.comm = TRACE_NONE};
	return send_of(making, unit, true, column);
}

// Of all gathers that can be waited for `waited` are, at even distances.
static bool is_waited(struct making *making)
{
	uint64_t at = making->gather++, all = making->gathers;
	return all > 0 && (at + 1) * making->waited / all > at * making->waited / all;
}

// A gather before its unit; one that nothing waits for goes beside the unit's backward, or, where
// it is not in turn with reduces, to the end of the lines.
static void put_gather(struct making *making, const struct ran *ran, struct step_bucket *unit,
		       uint32_t position)
{
	enum step_column column = ran->operation.is_backward ? STEP_COLUMN_INPUT
							     : STEP_COLUMN_FORWARD;
	struct step_send send = gather_of(making, ran, unit, column);
	if (send.comm == TRACE_NONE)
		return;
	if (has_word(making, unit) && is_waited(making)) {
		put(making, "gather", position)->sends[column] = send;
		return;
	}
	bool is_in_turn = making->plan->parallel.sharding == SHARDING_FSDP;
	struct step_line *line = is_in_turn ? put(making, "gather", position)
					    : &making->hidden[making->hidden_count++];
	*line = (struct step_line){.name = "gather", .position = position};
	line->sends[STEP_COLUMN_WEIGHT] = gather_of(making, ran, unit, STEP_COLUMN_WEIGHT);
}

// Behind a unit's reduce: a line that is come to later stands before.
static void put_across(struct making *making, const struct step_bucket *unit, uint32_t position)
{
	if (unit->across_bytes == 0)
		return;
	put(making, "across", position)->sends[STEP_COLUMN_WEIGHT] = (struct step_send){
		.comm = TRACE_ALLREDUCE,
		.group = TRACE_GROUP_DP_EP,
		.bytes = unit->across_bytes,
		.time_ps = step_across_ps(making->setup, unit)};
}

// Whether a cell's gradients go out behind its last backward together, `after` of all backwards.
static bool is_together(const struct making *making, const struct operation *operation)
{
	if (plan_is_interleaved(making->plan))
		return step_traffic(making->plan, operation).is_end_of_reduce;
	return making->plan->parallel.is_aligned;
}

static bool is_reduced(const struct making *making, const struct operation *operation)
{
	if (plan_is_interleaved(making->plan))
		return step_traffic(making->plan, operation).is_reduced;
	return operation->micro_batch + 1 == making->plan->parallel.micro_batches;
}

// Backwards that have ended when those of number `at`, from 0, go out.
static uint32_t fires_at(const struct making *making, uint32_t at)
{
	uint32_t after = at + 1 + (plan_is_interleaved(making->plan) ? 0 : making->stage);
	return after < making->count ? after : making->count;
}

// What goes out when `done` backwards have ended; those that go first stand last.
static void put_together(struct making *making, uint32_t done, uint32_t position)
{
	for (uint32_t k = making->count; k-- > 0;) {
		const struct operation *operation = &making->backwards[k].operation;
		const struct step_cell *cell = step_cell(&making->cells, making->stage,
							 operation->chunk);
		if (!is_reduced(making, operation) || !is_together(making, operation) ||
		    fires_at(making, k) != done)
			continue;
		for (uint32_t i = cell->bucket_count; i-- > 0;) {
			uint32_t ppm;
			const struct step_bucket *unit = step_unit(&making->cells, cell, true, i,
								   &ppm);
			put_across(making, unit, position);
			put(making, "reduce", position)->sends[STEP_COLUMN_WEIGHT] = send_of(
				making, unit, false, STEP_COLUMN_WEIGHT);
		}
	}
}

// ---------------------------------------------------------------- activations

// Activations of tensor and expert ranks that leave their domain, a message each.
static void put_exchanges(struct making *making, uint32_t chunk, uint32_t position)
{
	static const struct {
		enum dimension dimension;
		enum message_kind message;
		enum trace_comm comm;
		enum trace_group group;
		uint32_t forward, all; // see step_rank.c
	} kinds[] = {{DIMENSION_TP, MESSAGE_TP, TRACE_ALLGATHER, TRACE_GROUP_TP, 4, 10},
		     {DIMENSION_EP, MESSAGE_EP, TRACE_ALLTOALL, TRACE_GROUP_EP, 2, 4}};
	struct message_sum sums[MESSAGE_COUNT] = {0};
	plan_cell_messages(making->plan, making->stage, chunk, sums);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct message_sum *sum = &sums[kinds[i].message];
		uint64_t all = sum->count / making->plan->parallel.micro_batches;
		uint64_t forward = all * kinds[i].forward / kinds[i].all;
		for (uint64_t k = 0; making->is_off_domain[kinds[i].dimension] && k < all - forward;
		     k++) {
			const struct step_send send = {.comm = kinds[i].comm,
						       .group = kinds[i].group,
						       .bytes = sum->bytes};
			struct step_line *line = put(making, "exchange", position);
			line->sends[STEP_COLUMN_INPUT] = send;
			if (k < forward)
				line->sends[STEP_COLUMN_FORWARD] = send;
		}
	}
}

static uint64_t exchange_lines(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	struct message_sum sums[MESSAGE_COUNT] = {0};
	plan_cell_messages(plan, stage, chunk, sums);
	return (sums[MESSAGE_TP].count + sums[MESSAGE_EP].count) / plan->parallel.micro_batches;
}

// ---------------------------------------------------------------- blocks

// The share of a backward before unit `at`, counted backwards, is ready, in 10^-6: experts and the
// dense part of a cell may be ready in another order than they begin.
static uint32_t ready_ppm(const struct making *making, const struct step_cell *cell, uint32_t at)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i <= at; i++) {
		uint32_t ready = making->cells.buckets[cell->bucket_first + i].ready_ppm;
		most = ready > most ? ready : most;
	}
	return at + 1 == cell->bucket_count ? STEP_PPM : most;
}

// The units of a forward and of its backward.
static void put_units(struct making *making, const struct ran *forward, const struct ran *backward,
		      uint32_t position)
{
	const struct step_cell *cell = step_cell(&making->cells, making->stage,
						 forward->operation.chunk);
	bool is_alone = is_reduced(making, &backward->operation) &&
		!is_together(making, &backward->operation);
	for (uint32_t i = 0; i < cell->bucket_count; i++) {
		uint32_t ahead, last = cell->bucket_count - 1;
		struct step_bucket *unit = step_unit(&making->cells, cell, false, i, &ahead);
		uint32_t back = ready_ppm(making, cell, last - i) -
			(i < last ? ready_ppm(making, cell, last - i - 1) : 0);
		put_gather(making, forward, unit, position);
		if (is_alone)
			put_across(making, unit, position);
		struct step_line *line = put(making, "unit", position);
		line->compute_ps[STEP_COLUMN_FORWARD] = step_share(forward->compute_ps, ahead,
								   STEP_PPM);
		line->compute_ps[STEP_COLUMN_WEIGHT] = step_share(backward->compute_ps, back,
								  STEP_PPM);
		if (is_alone)
			line->sends[STEP_COLUMN_WEIGHT] = send_of(making, unit, false,
								  STEP_COLUMN_WEIGHT);
		put_gather(making, backward, unit, position);
	}
}

// What is left of the wait before a forward or backward.
static ps_t left_of(const struct making *making, const struct ran *ran)
{
	if (making->shorter_ps == 0)
		return ran->before_ps;
	return ran->before_ps -
		(ps_t)((unsigned __int128)ran->before_ps * (uint64_t)making->shorter_ps /
		       (uint64_t)making->waits_ps);
}

static void put_all(struct making *making)
{
	uint32_t count = making->count;
	making->text->line_count = making->hidden_count = 0;
	making->gather = 0;
	for (uint32_t k = 0; k < count; k++) {
		const struct ran *forward = &making->forwards[k];
		const struct ran *backward = &making->backwards[count - 1 - k];
		check(forward->operation.chunk == backward->operation.chunk);
		put_wait(making, k, STEP_COLUMN_FORWARD, left_of(making, forward));
		put_together(making, count - k, k);
		put_units(making, forward, backward, k);
		put_exchanges(making, forward->operation.chunk, k);
		put_wait(making, k, STEP_COLUMN_INPUT, left_of(making, backward));
	}
	for (uint32_t i = making->hidden_count; i-- > 0;) // those that go first stand last
		*put(making, "gather", 0) = making->hidden[i];
	put_wait(making, count, STEP_COLUMN_FORWARD, making->rest_ps);
	making->text->lines[0].update_ps = making->plan->timing.other_ps;
}

// ---------------------------------------------------------------- what lines come to

// Collectives of a rank share its NIC: one after the other.
static void send(const struct step_send *what, ps_t *stream, ps_t *at)
{
	if (what->comm == TRACE_NONE || what->time_ps == 0)
		return;
	*stream = *at = ps_max(*at, *stream) + what->time_ps;
}

static ps_t lines_ps(const struct making *making)
{
	const struct step_text *text = making->text;
	ps_t stream = 0, at = 0, end = 0; // exchanges: below, in closed form
	for (uint32_t i = 0; i < text->line_count; i++) {
		at += text->lines[i].compute_ps[STEP_COLUMN_FORWARD];
		send(&text->lines[i].sends[STEP_COLUMN_FORWARD], &stream, &at);
	}
	for (uint32_t i = text->line_count; i-- > 0;) {
		const struct step_line *line = &text->lines[i];
		at += line->compute_ps[STEP_COLUMN_WEIGHT];
		ps_t beside = at;
		send(&line->sends[STEP_COLUMN_WEIGHT], &stream, &beside);
		beside += line->update_ps;
		end = ps_max(end, beside);
		at += line->compute_ps[STEP_COLUMN_INPUT];
		send(&line->sends[STEP_COLUMN_INPUT], &stream, &at);
	}
	for (uint32_t k = 0; k < making->count; k++)
		at += making->forwards[k].exchange_ps + making->backwards[k].exchange_ps;
	return ps_max(at, end);
}

// ---------------------------------------------------------------- the stage as it ran

static void take_span(void *context, const struct step_span *span)
{
	struct making *making = context;
	const struct step_cell *cell = step_cell(&making->cells, making->stage, span->chunk);
	const struct step_setup *setup = making->setup;
	uint32_t at = span->is_backward ? making->backward_count++ : making->forward_count++;
	ps_t exchange_ps = (span->is_backward ? setup->off_domain_backward_ps
					      : setup->off_domain_forward_ps) *
		cell->layers / cell->slots;
	ps_t before_ps = making->ended_at;
	check(at < making->count);
	(span->is_backward ? making->backwards : making->forwards)[at] = (struct ran){
		.operation = {span->is_backward, span->chunk, span->micro_batch},
		.compute_ps = span->compute_ps - exchange_ps,
		.exchange_ps = exchange_ps,
		.before_ps = span->begin - before_ps,
	};
	making->ended_at = span->end;
	making->waits_ps += span->begin - before_ps;
}

// Runs the step twice: for the stage that ends last, and for what that one does.
static int run(struct making *making, struct arena *arena, struct refusal *refusal)
{
	uint32_t stages = making->plan->parallel.pp;
	struct step_setup setup = *making->setup;
	struct step_stage *ends = arena_draw(arena, ARENA_WORKLOAD, stages, sizeof(*ends));
	struct step_times times;
	struct step *step;
	ps_t latest = -1;
	int rc = step_create(&step, arena, making->plan, refusal);
	if (rc < 0 || ends == NULL)
		return rc < 0 ? rc : refuse(refusal, -ENOMEM, "no memory for the lines of a step");
	step_run(step, &setup, &times, ends);
	for (uint32_t i = 0; i < stages; i++) {
		ps_t end = ps_max(ends[i].backward_ps, ends[i].reduce_ps);
		making->stage = end > latest ? i : making->stage;
		latest = ps_max(latest, end);
	}
	setup.watch = take_span;
	setup.watch_context = making;
	setup.watched = making->stage;
	step_run(step, &setup, &times, NULL);
	making->text->step_ps = times.step_ps;
	return 0;
}

// ---------------------------------------------------------------- what has no word

// Whether the groups of a kind are `stride` apart, from rank 0 on.
static bool is_strided(const struct order *order, const struct plan *plan, enum group_kind kind,
		       uint32_t ranks, uint32_t stride)
{
	for (uint32_t at = 0; at < ranks; at++)
		if (order_rank(order, plan, kind, 0, at) != at * stride)
			return false;
	return true;
}

static int check_order(const struct making *making, const struct order *order,
		       struct refusal *refusal)
{
	const struct plan *plan = making->plan;
	const struct parallel *cut = &plan->parallel;
	uint32_t dense = plan_dense_ranks(plan), expert = plan_expert_ranks(plan);
	uint32_t stage = plan_ranks(plan) / cut->pp, shard = plan_shard_ranks(plan);
	bool is_right = is_strided(order, plan, GROUP_DP, dense, cut->tp) &&
		is_strided(order, plan, GROUP_SHARD, shard, cut->tp);
	for (uint32_t i = 0; i < cut->pp; i++)
		is_right &= order_stage(order, plan, i * stage) == i;
	if (!is_right)
		return refuse(refusal, -EINVAL,
			      "SimAI numbers ranks tp-cp-dp-pp, this job does not: give --order");
	if (plan->architecture->experts == 0)
		return 0;
	if (cut->tp > 1 || cut->etp > 1)
		return refuse(refusal, -EINVAL,
			      "SimAI's expert ranks are data ranks, here % tensor ranks hold "
			      "different experts, or parts of one",
			      cut->tp > 1 ? cut->tp : cut->etp);
	return is_strided(order, plan, GROUP_EP, cut->ep, 1) &&
			is_strided(order, plan, GROUP_EDP, expert, cut->ep)
		? 0
		: refuse(refusal, -EINVAL,
			 "SimAI's expert ranks are data ranks in a row, this job's are not");
}

static int check_words(const struct making *making, struct refusal *refusal)
{
	const struct step_setup *setup = making->setup;
	if (step_has_jitter(setup) || setup->slow_ppb > 0)
		return refuse(refusal, -EINVAL,
			      "in a text of SimAI every rank does the same: leave out --jitter and "
			      "--slow");
	if (step_is_split(&making->plan->parallel))
		return refuse(
			refusal, -EINVAL,
			"in a text of SimAI the gradients of weights follow at once: it has no "
			"schedule zb-h1");
	if (making->is_off_domain[DIMENSION_CP])
		return refuse(refusal, -EINVAL,
			      "a text of SimAI has no context ranks, and here these leave their "
			      "domains");
	return 0;
}

// How far lines are from their goal when so many gathers are waited for.
static ps_t off_by(struct making *making, uint64_t waited)
{
	struct step_text *text = making->text;
	making->waited = waited;
	put_all(making);
	text->lines_ps = lines_ps(making);
	return text->lines_ps - making->goal_ps;
}

// As many are waited for as the step is longer; what is left, less than one of them, is a wait.
static int choose(struct making *making, struct refusal *refusal)
{
	struct step_text *text = making->text;
	uint64_t low = 0, high;
	ps_t off_ps = off_by(making, 0);
	high = making->gathers = making->gather;
	if (off_ps < 0 && high > 0 && off_by(making, high) <= 0)
		low = high;
	while (off_ps < 0 && low + 1 < high) {
		uint64_t middle = low + (high - low) / 2;
		*(off_by(making, middle) < 0 ? &low : &high) = middle;
	}
	if (off_ps < 0 && low < high && off_by(making, high) <= making->goal_ps / TOLERANCE)
		low = high;
	off_ps = off_by(making, low);
	if (making->goal_ps < text->step_ps) // packets are faster: the stage waits for others less
		making->shorter_ps = ps_min(ps_max(0, off_ps), making->waits_ps);
	making->rest_ps = ps_max(0, -off_ps);
	off_ps = off_by(making, low);
	bool is_near = off_ps <= making->goal_ps / TOLERANCE || making->goal_ps != text->step_ps;
	if (is_near && making->rest_ps <= making->goal_ps / REST)
		return 0;
	text->lines_ps -= making->rest_ps;
	return refuse(refusal, -EINVAL,
		      "a text of SimAI has nothing beside a forward: its lines come to % us, the "
		      "step to %",
		      text->lines_ps / PS_PER_US, making->goal_ps / PS_PER_US);
}

// ---------------------------------------------------------------- all of it

static int draw(struct making *making, struct arena *arena, struct refusal *refusal)
{
	const struct parallel *cut = &making->plan->parallel;
	uint32_t buckets = step_bucket_count(making->plan);
	making->cells = (struct step_cells){
		.cells = arena_draw(arena, ARENA_WORKLOAD, (size_t)cut->pp * cut->vpp,
				    sizeof(struct step_cell)),
		.bucket_max = buckets,
		.buckets = arena_draw(arena, ARENA_WORKLOAD, buckets, sizeof(struct step_bucket))};
	making->count = cut->micro_batches * cut->vpp;
	making->forwards = arena_draw(arena, ARENA_WORKLOAD, making->count, sizeof(struct ran));
	making->backwards = arena_draw(arena, ARENA_WORKLOAD, making->count, sizeof(struct ran));
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for the lines of a step");
	step_cells_fill(&making->cells, making->plan);
	return 0;
}

// Of a unit its line, two gathers, a reduce and what goes behind it, gathers again that are hidden;
// a wait before and behind a block. From above: with the units of all stages.
static uint64_t most_lines(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	uint64_t exchanges = 0, units = step_bucket_count(plan);
	for (uint32_t stage = 0; stage < cut->pp; stage++) {
		uint64_t all = 0;
		for (uint32_t chunk = 0; chunk < cut->vpp; chunk++)
			all += exchange_lines(plan, stage, chunk);
		exchanges = all > exchanges ? all : exchanges;
	}
	return 2 + cut->micro_batches * (2 * cut->vpp + exchanges + 7 * units);
}

uint64_t step_text_bytes(const struct plan *plan)
{
	uint64_t forwards = (uint64_t)plan->parallel.micro_batches * plan->parallel.vpp;
	return 2 * step_bytes(plan) + 2 * most_lines(plan) * sizeof(struct step_line) +
		2 * forwards * sizeof(struct ran) + plan->parallel.pp * sizeof(struct step_stage) +
		16 * 64;
}

static int draw_lines(struct making *making, struct arena *arena, struct refusal *refusal)
{
	uint64_t lines = most_lines(making->plan);
	if (lines > INT32_MAX)
		return refuse(refusal, -EINVAL, "a step of % lines is too long for a text",
			      (int64_t)lines);
	making->line_max = (uint32_t)lines;
	making->text->lines = arena_draw(arena, ARENA_WORKLOAD, lines, sizeof(struct step_line));
	making->hidden = arena_draw(arena, ARENA_WORKLOAD, lines, sizeof(struct step_line));
	return arena_has_failed(arena)
		? refuse(refusal, -ENOMEM, "no memory for % lines of a step", (int64_t)lines)
		: 0;
}

int step_text(struct step_text *ret, struct arena *arena, const struct plan *plan,
	      const struct step_setup *setup, const struct order *order,
	      const struct gpu_layout *gpu_layout, ps_t longer_ps, struct refusal *refusal)
{
	static const enum group_kind kinds[] = {
		[DIMENSION_TP] = GROUP_TP, [DIMENSION_CP] = GROUP_CP, [DIMENSION_EP] = GROUP_EP};
	const struct parallel *cut = &plan->parallel;
	*ret = (struct step_text){
		.tp = cut->tp,
		.ep = cut->shard_ranks > 0 ? cut->shard_ranks : cut->ep,
		.pp = cut->pp,
		.vpp = cut->vpp,
		.micro_batches = cut->micro_batches,
		.ranks = plan_ranks(plan),
	};
	struct making making = {.plan = plan, .setup = setup, .text = ret};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct spread spread;
		order_spread(&spread, order, plan, kinds[i], gpu_layout);
		making.is_off_domain[i] = spread.domains_max > 1;
	}
	int rc = check_words(&making, refusal);
	if (rc == 0)
		rc = check_order(&making, order, refusal);
	if (rc == 0)
		rc = draw(&making, arena, refusal);
	if (rc == 0)
		rc = run(&making, arena, refusal);
	if (rc == 0)
		rc = draw_lines(&making, arena, refusal);
	if (rc < 0)
		return rc;
	making.goal_ps = ret->step_ps + longer_ps;
	return choose(&making, refusal);
}
