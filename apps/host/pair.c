// SPDX-License-Identifier: Apache-2.0
// What two hosts send each other: for each size messages in a row, some at once, then pings of that
// size, one after the other. Host 1 (who called) sends to host 0 (who listened); its round trips
// are from the post of a message to the arrival of the answer, which is of the same size.
// In an incast several hosts call, and each does this; host 0 gives the word for each size.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/order.h>
#include <weft/files/files.h>
#include <weft/workload/program.h>

#include "host.h"

#define BYTES_MAX (UINT64_C(512) << 20) // of all messages of one size, unless -n says how many
#define MESSAGES_MIN 16u
#define MESSAGES_MAX 1000u
#define PINGS_MIN 20u
#define PING_BYTES_MAX (UINT64_C(64) << 20)
#define SERVER 0u

static uint32_t row_ops(const struct pair_row *row) // of a caller
{
	return 2 * row->messages + 4 * row->pings;
}

static uint32_t at_most(uint64_t bytes_max, uint64_t bytes, uint32_t low, uint32_t high)
{
	uint64_t count = bytes_max / bytes;
	return count < low ? low : count > high ? high : (uint32_t)count;
}

// The sizes, and how much of each.
static int plan_rows(struct call *call)
{
	const struct pair_wish *wish = &call->choice.wish;
	call->row_count = 0;
	for (uint64_t bytes = wish->size_min; bytes <= wish->size_max; bytes *= wish->factor) {
		if (call->row_count == SIZES_MAX)
			return refuse(&call->refusal, -EINVAL,
				      "-b, -e and -f make more than % sizes", SIZES_MAX);
		struct pair_row *row = &call->rows[call->row_count++];
		*row = (struct pair_row){.bytes = bytes};
		row->messages = wish->messages > 0
			? wish->messages
			: at_most(BYTES_MAX, bytes, MESSAGES_MIN, MESSAGES_MAX);
		row->pings = at_most(PING_BYTES_MAX, bytes, PINGS_MIN, MESSAGES_MAX);
		if (wish->factor < 2)
			break;
	}
	return 0;
}

// A message. Returns its send; `ret_receive` is its receive.
static uint32_t add_message(struct program *program, uint32_t from, uint32_t to, uint32_t bytes,
			    uint32_t *ret_receive)
{
	*ret_receive = program_receive(program, to, from, 0, bytes, 0, false);
	return program_send(program, from, to, 0, bytes, 0);
}

// Messages of a caller in a row; the first ones wait for `before`. The last ones, `depth` of them,
// are those with the highest numbers.
static void add_messages(struct program *program, const struct pair_row *row, uint32_t caller,
			 uint32_t depth, uint32_t before)
{
	uint32_t receive;
	for (uint32_t i = 0; i < row->messages; i++) {
		uint32_t send = add_message(program, caller, SERVER, (uint32_t)row->bytes,
					    &receive);
		program_wait(program, send, i < depth ? before : send - 2 * depth);
	}
}

// Pings behind `row->messages` messages. Returns the receive of the last answer; its send is the
// next operation.
static uint32_t add_pings(struct program *program, const struct pair_row *row, uint32_t caller,
			  uint32_t depth)
{
	uint32_t answered = OP_NONE, arrived, last = program->op_count - 1;
	for (uint32_t i = 0; i < row->pings; i++) {
		uint32_t ping = add_message(program, caller, SERVER, (uint32_t)row->bytes,
					    &arrived);
		for (uint32_t k = 0; i == 0 && k < depth && k < row->messages; k++)
			program_wait(program, ping, last - 2 * k);
		program_wait(program, ping, answered);
		uint32_t pong = add_message(program, SERVER, caller, (uint32_t)row->bytes,
					    &answered);
		program_wait(program, pong, arrived);
	}
	return answered;
}

// Host 0 tells all callers at once to go on, when the last answers have left that it gave them
// (behind `answered`, if there are any). What they wait for goes to `ret_before`.
static void add_go(struct program *program, struct pair_row *row, uint32_t callers, uint32_t bytes,
		   const uint32_t *answered, uint32_t *ret_before)
{
	row->op_go = program->op_count;
	for (uint32_t i = 0; i < callers; i++) {
		ret_before[i] = program_receive(program, 1 + i, SERVER, 1, bytes, 0, false);
		uint32_t go = program_send(program, SERVER, 1 + i, 1, bytes, 0);
		for (uint32_t k = 0; answered[k] != OP_NONE && k < callers; k++)
			program_wait(program, go, answered[k] + 1);
	}
}

static void add_rows(struct call *call, struct program *program)
{
	static uint32_t answered[CALLERS_MAX], before[CALLERS_MAX];
	uint32_t callers = call->choice.callers, depth = call->choice.wish.depth;
	for (uint32_t i = 0; i < callers; i++)
		answered[i] = before[i] = OP_NONE;
	for (uint32_t i = 0; i < call->row_count; i++) {
		struct pair_row *row = &call->rows[i];
		if (call_is_incast(call))
			add_go(program, row, callers, call->scenario.transport.payload_bytes,
			       answered, before);
		row->op_first = program->op_count;
		for (uint32_t k = 0; k < callers; k++) {
			add_messages(program, row, 1 + k, depth, before[k]);
			answered[k] = add_pings(program, row, 1 + k, depth);
			before[k] = answered[k];
		}
	}
}

int pair_program(struct call *call, struct host_run *host_run)
{
	struct program *program;
	struct arena arena;
	uint32_t ops = 0, callers = call->choice.callers;
	int rc = plan_rows(call);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < call->row_count; i++)
		ops += callers * (row_ops(&call->rows[i]) + 2);
	uint32_t edges = 2 * ops +
		call->row_count * callers * (2 * call->choice.wish.depth + callers);
	host_run->program_bytes = (size_t)program_bytes(1 + callers, ops, edges);
	host_run->program_bytes = (host_run->program_bytes + 63) & ~(size_t)63;
	host_run->program_memory = memory_reserve(host_run->program_bytes);
	if (host_run->program_memory == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for % messages", ops / 2);
	arena_init(&arena, host_run->program_memory, host_run->program_bytes);
	rc = program_create(&program, &arena, 1 + callers, ops, edges, &call->refusal);
	if (rc == 0) {
		add_rows(call, program);
		rc = program_seal(program, &arena, &call->refusal);
	}
	call->scenario.traffic.kind = TRAFFIC_GOAL; // which a program that is given runs as
	call->scenario.traffic.program = program;
	call->scenario.watch.has_operations = true;
	return rc;
}

// ---------------------------------------------------------------- what came of it

static int64_t quantile(const int64_t *sorted, uint32_t count, uint32_t parts_per_million)
{
	uint64_t rank = ((uint64_t)count * parts_per_million + 999999) / 1000000;
	return sorted[rank == 0 ? 0 : rank - 1];
}

// Messages are their receive, then their send.
static void read_caller(struct pair_row *row, const struct op_time *times, uint32_t caller)
{
	static int64_t took[MESSAGES_MAX];
	static const uint32_t parts[] = {500000, 990000, 999000, 1000000};
	uint32_t first = row->op_first + (caller - 1) * row_ops(row);
	uint32_t ping = first + 2 * row->messages;
	ps_t start = times[first + 1].begin_ps, end = 0;
	for (uint32_t i = 0; i < row->messages; i++)
		end = ps_max(end, times[first + 2 * i + 1].end_ps);
	row->took_ps = end == PS_NEVER ? 0 : end - start;
	for (uint32_t i = 0; i < row->pings; i++, ping += 4) {
		if (times[ping + 2].end_ps == PS_NEVER) {
			row->took_ps = 0; // it did not come to its end
			return;
		}
		took[i] = (times[ping + 2].end_ps - times[ping + 1].begin_ps) / PS_PER_NS;
	}
	qsort(took, row->pings, sizeof(*took), order_int64);
	for (int i = 0; i < 4; i++)
		row->rtt_ns[i] = quantile(took, row->pings, parts[i]);
}

// From the word to go to the last message, by host 0's clock.
static void read_incast(struct pair_row *row, const struct op_time *times, uint32_t callers)
{
	ps_t start = PS_NEVER, end = 0;
	for (uint32_t i = 0; i < callers; i++)
		start = ps_min(start, times[row->op_go + 2 * i + 1].begin_ps);
	row->slowest_bps = row->fastest_bps = 0;
	for (uint32_t i = 0; i < callers; i++) {
		uint32_t first = row->op_first + i * row_ops(row);
		ps_t last = 0;
		for (uint32_t k = 0; k < row->messages; k++)
			last = ps_max(last, times[first + 2 * k].end_ps);
		double s = (double)(last - start) / PS_PER_S;
		double bps = (double)row->bytes * row->messages * 8 / s;
		if (i == 0 || bps < row->slowest_bps)
			row->slowest_bps = bps;
		if (i == 0 || bps > row->fastest_bps)
			row->fastest_bps = bps;
		end = ps_max(end, last);
	}
	row->took_ps = end == PS_NEVER ? 0 : end - start;
}

void pair_read(struct call *call, const struct host_run *host_run)
{
	for (uint32_t i = 0; i < call->row_count; i++)
		if (call->index != 0)
			read_caller(&call->rows[i], host_run->world.op_times, call->index);
		else if (call_is_incast(call))
			read_incast(&call->rows[i], host_run->world.op_times, call->choice.callers);
}
