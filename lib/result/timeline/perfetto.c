// SPDX-License-Identifier: Apache-2.0
// The time line of a run. A process of the trace is a kind of thing, a thread of it a track: a
// fault, a job, a group of a stage, a stream of a rank, a NIC. What overlaps in a track gets
// another one of the same name. Format: "Trace Event Format" (public documentation of Chromium's
// tracing), complete events ("X") and names ("M").

#include "perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/order.h>

#include "sections/sections.h"
#include "steps.h"
#include <weft/result/figures.h>

enum kind {
	KIND_FAULT = 1,
	KIND_JOB,
	KIND_COLLECTIVE,
	KIND_RANK,
	KIND_FLOW,
	KIND_PACKET,
	KIND_PART, // this and the next ones are of one process, in the order of steps_level
	KIND_STEP,
	KIND_MESSAGE,
	KIND_COUNT
};

static const char *const kind_names[KIND_COUNT] = {
	[KIND_FAULT] = "faults",	   [KIND_JOB] = "jobs",
	[KIND_COLLECTIVE] = "collectives", [KIND_RANK] = "ranks",
	[KIND_FLOW] = "flows of NICs",	   [KIND_PACKET] = "packets on cables",
	[KIND_PART] = "steps of ranks",	   [KIND_STEP] = "steps",
	[KIND_MESSAGE] = "messages"};

static enum kind process_of(enum kind kind)
{
	return kind > KIND_PART ? KIND_PART : kind;
}

struct span {
	enum kind kind;
	uint32_t track; // of its process; spans of one that overlap lie in lanes
	uint32_t lane;	// of steps; that of others follows from what overlaps
	uint32_t index; // what it is of
	ps_t from, until;
};

struct spans {
	const struct report_input *input;
	struct steps steps;
	struct span *at; // [max]
	uint32_t count, max;
	uint32_t left_out[KIND_COUNT];
	uint32_t unfinished[KIND_COUNT]; // have no end, so they are no spans
};

static void add(struct spans *spans, enum kind kind, uint32_t track, uint32_t index, ps_t from,
		ps_t until)
{
	if (until == PS_NEVER || until < from || from == PS_NEVER)
		spans->unfinished[kind]++;
	else if (spans->count == spans->max)
		spans->left_out[kind]++;
	else
		spans->at[spans->count++] = (struct span){kind, track, 0, index, from, until};
}

// ---------------------------------------------------------------- what there is

// A fault for good ends with the run.
static void add_faults(struct spans *spans)
{
	const struct scenario *scenario = spans->input->world->scenario;
	ps_t end = spans->input->run.now_ps;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (fault->from_ps < end) // else the run never saw it
			add(spans, KIND_FAULT, i, i, fault->from_ps,
			    fault->until_ps < end ? fault->until_ps : end);
	}
}

static void add_jobs(struct spans *spans)
{
	const struct world *world = spans->input->world;
	for (uint32_t i = 0; world->jobs.bytes != NULL && i < world->scenario->job_count; i++) {
		const struct outcome_job *job = &world->outcome->jobs[i];
		bool has_ended = world->jobs.ops[i] > 0 && job->ended == world->jobs.ops[i];
		add(spans, KIND_JOB, i, i, world->scenario->jobs[i].start_ps,
		    has_ended ? job->end_ps : PS_NEVER);
	}
}

static void add_collectives(struct spans *spans)
{
	const struct world *world = spans->input->world;
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		struct collective one;
		collective_of(&one, world, i);
		add(spans, KIND_COLLECTIVE, one.outcome->group, i, one.outcome->start_ps,
		    one.is_finished ? one.outcome->end_ps : PS_NEVER);
	}
}

static void add_operations(struct spans *spans)
{
	const struct world *world = spans->input->world;
	for (uint32_t i = 0; world->op_times != NULL && i < world->program->op_count; i++) {
		const struct op_time *time = &world->op_times[i];
		const struct op *op = &world->program->ops[i];
		add(spans, KIND_RANK, op->rank, i, time->begin_ps, time->end_ps);
	}
}

static void add_flows(struct spans *spans)
{
	const struct world *world = spans->input->world;
	for (uint32_t i = 0; i < world->flow_count; i++) {
		ps_t end = world->outcome->flow_end_ps[i];
		add(spans, KIND_FLOW, world->flows[i].from, i, world->flows[i].start_ps,
		    end > 0 ? end : PS_NEVER);
	}
}

// What ranks waited for: parts of collectives, and in them steps and messages.
static void add_steps(struct spans *spans)
{
	const struct steps *steps = &spans->steps;
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct steps_span *span = &steps->spans[i];
		uint32_t before = spans->count;
		add(spans, KIND_PART + span->level, span->track, i, span->from_ps, span->until_ps);
		if (spans->count > before)
			spans->at[before].lane = span->lane;
	}
	for (int level = 0; level < STEPS_LEVEL_COUNT; level++) {
		spans->unfinished[KIND_PART + level] += (uint32_t)steps->unfinished[level];
		spans->left_out[KIND_PART + level] += (uint32_t)steps->left_out[level];
	}
}

// Step `index` over all shards, one shard after the other.
static const struct packet_trace_step *step_at(const struct world *world, uint32_t index)
{
	uint32_t shard = 0;
	while (index >= world->packet_traces[shard]->count)
		index -= world->packet_traces[shard++]->count;
	return &world->packet_traces[shard]->steps[index];
}

// From the first bit that leaves to the last one that arrives.
static void add_packets(struct spans *spans)
{
	const struct world *world = spans->input->world;
	uint32_t index = 0;
	for (uint32_t shard = 0; world->packet_traces[0] != NULL && shard < world->shard_count;
	     shard++) {
		const struct packet_trace *packet_trace = world->packet_traces[shard];
		for (uint32_t i = 0; i < packet_trace->count; i++, index++) {
			const struct packet_trace_step *step = &packet_trace->steps[i];
			const struct cable_plan *cable = &world->cables[step->cable];
			ps_t until = step->at + line_ps(cable->line, step->wire_bytes) +
				cable->delay_ps;
			bool has_ended = until <= spans->input->run.now_ps;
			add(spans, KIND_PACKET, step->cable, index, step->at,
			    has_ended ? until : PS_NEVER);
		}
		spans->left_out[KIND_PACKET] += (uint32_t)packet_trace->missed;
	}
}

// ---------------------------------------------------------------- lanes

// By track, then by beginning; of two that begin together the longer one first, so that it holds
// the other.
static int by_place(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	if (process_of(a->kind) != process_of(b->kind))
		return ORDER(a->kind, b->kind);
	int order = ORDER(a->track, b->track) ?: ORDER(a->lane, b->lane) ?: ORDER(a->from, b->from);
	return order ?: ORDER(b->until, a->until) ?: ORDER(a->kind, b->kind) ?: ORDER(a->index, b->index);
}

// The lane of its track in which a span starts after all others ended. `ends` holds the end of each
// lane; a new one is begun where all are busy.
static uint32_t lane_of(ps_t *ends, uint32_t *lanes, const struct span *span)
{
	uint32_t lane = span->lane;
	while (span->kind < KIND_PART && lane < *lanes && ends[lane] > span->from)
		lane++;
	if (lane >= *lanes)
		*lanes = lane + 1;
	ends[lane] = span->until;
	return lane;
}

// ---------------------------------------------------------------- text

static void put_string(FILE *to, const char *text)
{
	json_t *string = json_string(text);
	check(string != NULL); // names of a scenario are UTF-8
	json_dumpf(string, to, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	json_decref(string);
}

static void put_us(FILE *to, ps_t time)
{
	fprintf(to, "%" PRId64 ".%06" PRId64, time / PS_PER_US, time % PS_PER_US);
}

static void track_name(char ret[96], const struct spans *spans, const struct span *span)
{
	const struct world *world = spans->input->world;
	const struct scenario *scenario = world->scenario;
	char place[FAULT_PLACE_BYTES > WORLD_CABLE_NAME_BYTES ? FAULT_PLACE_BYTES
							      : WORLD_CABLE_NAME_BYTES];
	switch (span->kind) {
	case KIND_FAULT:
		snprintf(ret, 96, "%s", fault_place_text(place, &scenario->faults[span->track].at));
		break;
	case KIND_JOB:
		snprintf(ret, 96, "%s", scenario->jobs[span->track].name);
		break;
	case KIND_COLLECTIVE:
		snprintf(ret, 96, "stage %u group %u", world->job.groups[span->track].stage,
			 world->job.groups[span->track].index);
		break;
	case KIND_RANK:
		snprintf(ret, 96, "rank %u (NIC %u)", span->track,
			 world->program->nics[span->track]);
		break;
	case KIND_PART:
	case KIND_STEP:
	case KIND_MESSAGE:
		steps_track_name(ret, 96, &spans->steps, span->track);
		break;
	case KIND_PACKET:
		world_cable_name(world, span->track, place, sizeof(place));
		snprintf(ret, 96, "%s", place);
		break;
	default:
		snprintf(ret, 96, "NIC %u", span->track);
	}
}

static void op_name(char ret[96], const struct op *op)
{
	if (op->kind == OP_SEND)
		snprintf(ret, 96, "send to %u", op->peer);
	else if (op->kind == OP_RECEIVE)
		snprintf(ret, 96, "receive from %u", op->peer);
	else
		snprintf(ret, 96, "%s", op_kind_name(op->kind));
}

static void packet_name(char ret[96], const struct packet_trace_step *step)
{
	snprintf(ret, 96, "%s %u%s%s%s", packet_opcode_name(step->opcode), step->psn,
		 step->bth & PACKET_RTX ? " again" : "", step->flags & PACKET_CE ? " marked" : "",
		 step->flags & PACKET_TRIMMED ? " trimmed" : "");
}

static void span_name(char ret[96], const struct spans *spans, const struct span *span)
{
	const struct world *world = spans->input->world;
	struct collective one;
	switch (span->kind) {
	case KIND_FAULT:
		snprintf(ret, 96, "%s",
			 scenario_fault_name(world->scenario->faults[span->index].kind));
		break;
	case KIND_JOB:
		snprintf(ret, 96, "%s", world->scenario->jobs[span->index].name);
		break;
	case KIND_COLLECTIVE:
		collective_of(&one, world, span->index);
		snprintf(ret, 96, "%.60s", one.bucket->label);
		break;
	case KIND_RANK:
		op_name(ret, &world->program->ops[span->index]);
		break;
	case KIND_PART:
	case KIND_STEP:
	case KIND_MESSAGE:
		steps_span_name(ret, 96, &spans->steps, &spans->steps.spans[span->index]);
		break;
	case KIND_PACKET:
		packet_name(ret, step_at(world, span->index));
		break;
	default:
		snprintf(ret, 96, "to NIC %u", world->flows[span->index].to);
	}
}

static void put_step_args(FILE *to, const struct spans *spans, const struct span *span)
{
	const struct steps_span *of = &spans->steps.spans[span->index];
	fprintf(to, "\"args\":{\"bucket\":%u", of->bucket);
	if (span->kind != KIND_PART)
		fprintf(to, ",\"step\":%u,\"bytes\":%u", of->step, of->bytes);
	if (span->kind == KIND_STEP)
		fprintf(to, ",\"messages\":%u", of->count);
	if (span->kind == KIND_MESSAGE) {
		fprintf(to, ",\"index\":%u,\"posted\":", of->number);
		put_us(to, of->posted_ps);
	}
	fputs("}}", to);
}

// What else is known of it.
static void put_args(FILE *to, const struct spans *spans, const struct span *span)
{
	const struct world *world = spans->input->world;
	uint64_t bytes = 0;
	if (span->kind >= KIND_PART) {
		put_step_args(to, spans, span);
		return;
	}
	if (span->kind == KIND_FLOW)
		bytes = world->flows[span->index].bytes;
	else if (span->kind == KIND_RANK && world->program->ops[span->index].kind != OP_COMPUTE)
		bytes = world->program->ops[span->index].bytes;
	else if (span->kind == KIND_COLLECTIVE) {
		struct collective one;
		collective_of(&one, world, span->index);
		bytes = one.bucket->bytes;
	}
	fprintf(to, "\"args\":{\"index\":%u", span->index);
	if (span->kind == KIND_PACKET) {
		const struct packet_trace_step *step = step_at(world, span->index);
		bytes = step->wire_bytes;
		fprintf(to, ",\"psn\":%u,\"ev\":%u,\"back\":%s", step->psn, step->ev,
			step->is_back ? "true" : "false");
	}
	if (bytes > 0)
		fprintf(to, ",\"bytes\":%" PRIu64, bytes);
	fputs("}}", to);
}

static void put_name(FILE *to, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	fprintf(to,
		",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what,
		pid, tid);
	put_string(to, name);
	fputs("}}", to);
}

static void put_span(FILE *to, const struct spans *spans, const struct span *span, uint32_t tid)
{
	char name[96];
	span_name(name, spans, span);
	fputs(",\n{\"ph\":\"X\",\"name\":", to);
	put_string(to, name);
	fprintf(to, ",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":", kind_names[span->kind],
		process_of(span->kind), tid);
	put_us(to, span->from);
	fputs(",\"dur\":", to);
	put_us(to, span->until - span->from);
	fputc(',', to);
	put_args(to, spans, span);
}

// ---------------------------------------------------------------- whole

static bool is_same_track(const struct span *a, const struct span *b)
{
	return process_of(a->kind) == process_of(b->kind) && a->track == b->track;
}

static void put_spans(FILE *to, const struct spans *spans, ps_t *ends)
{
	uint32_t first_tid = 1, lanes = 0, named = 0;
	for (uint32_t i = 0; i < spans->count; i++) {
		const struct span *span = &spans->at[i];
		enum kind process = process_of(span->kind);
		bool is_new_kind = i == 0 || process_of(span[-1].kind) != process;
		if (is_new_kind)
			put_name(to, "process_name", process, 0, kind_names[process]);
		if (i == 0 || !is_same_track(&span[-1], span)) {
			first_tid = is_new_kind ? 1 : first_tid + lanes;
			lanes = named = 0;
		}
		uint32_t lane = lane_of(ends, &lanes, span);
		if (lane == named) {
			char name[96];
			track_name(name, spans, span);
			put_name(to, "thread_name", process, first_tid + lane, name);
			named++;
		}
		put_span(to, spans, span, first_tid + lane);
	}
}

static void put_head(FILE *to, const struct spans *spans)
{
	const struct report_input *input = spans->input;
	fprintf(to, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"weft\":");
	put_string(to, input->version);
	fputs(",\"scenario\":", to);
	put_string(to, input->world->scenario->name);
	fprintf(to, ",\"digest\":\"%016" PRIx64 "\",\"partial\":%s", input->run.digest,
		input->is_partial ? "true" : "false");
	for (enum kind kind = KIND_FAULT; kind < KIND_COUNT; kind++)
		fprintf(to, ",\"%s\":{\"not finished\":%u,\"left out\":%u}", kind_names[kind],
			spans->unfinished[kind], spans->left_out[kind]);
	if (input->gpu != NULL)
		fprintf(to, ",\"generators\":{\"left out\":%u}",
			perfetto_gpu_write(NULL, input->gpu));
	if (input->world->op_times == NULL)
		fprintf(to, ",\"ranks_reason\":\"%s\"",
			input->world->program != NULL ? "watch.operations is false"
						      : "the traffic has no operations");
	if (spans->steps.reason != NULL)
		fprintf(to, ",\"steps_reason\":\"%s\"", spans->steps.reason);
	if (input->world->packet_traces[0] == NULL)
		fputs(",\"packets_reason\":\"watch.packets is none\"", to);
	fputs("},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,"
	      "\"args\":{\"name\":\"weft\"}}",
	      to);
}

static uint64_t spans_max(const struct spans *spans)
{
	const struct world *world = spans->input->world;
	uint64_t packets = 0;
	for (uint32_t shard = 0; world->packet_traces[0] != NULL && shard < world->shard_count;
	     shard++)
		packets += world->packet_traces[shard]->count;
	uint64_t max = packets + world->scenario->fault_count + world->scenario->job_count +
		(uint64_t)world->outcome->collective_count + world->flow_count +
		spans->steps.count + (world->op_times != NULL ? world->program->op_count : 0);
	return max < PERFETTO_SPANS_MAX ? max : PERFETTO_SPANS_MAX;
}

int perfetto_write(FILE *to, const struct report_input *input)
{
	struct spans spans = {.input = input};
	int rc = steps_of(&spans.steps, input->world, PERFETTO_SPANS_MAX);
	spans.max = (uint32_t)spans_max(&spans);
	ps_t *ends = malloc((spans.max + 1) * sizeof(*ends));
	spans.at = malloc((spans.max + 1) * sizeof(*spans.at));
	if (ends == NULL || spans.at == NULL)
		rc = -ENOMEM;
	if (rc == 0) {
		add_faults(&spans);
		add_jobs(&spans);
		add_collectives(&spans);
		add_operations(&spans);
		add_flows(&spans);
		add_steps(&spans);
		add_packets(&spans);
		qsort(spans.at, spans.count, sizeof(*spans.at), by_place);
		put_head(to, &spans);
		put_spans(to, &spans, ends);
		if (input->gpu != NULL)
			perfetto_gpu_write(to, input->gpu);
		fputs("\n]}\n", to);
	}
	free(ends);
	free(spans.at);
	steps_free(&spans.steps);
	return rc;
}
