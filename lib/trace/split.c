// SPDX-License-Identifier: Apache-2.0
// See expand.h. PyTorch's split sizes count rows of a tensor: the elements over their sum are those
// of a row.

#include "expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

// Rows of the list into `rows`; how many, or -1 when it is no whole list.
static int64_t read_rows(const char *text, uint64_t *rows, uint32_t count)
{
	uint32_t taken = 0;
	if (*text++ != '[')
		return -1;
	for (;;) {
		char *end;
		text += strspn(text, ", ");
		if (*text == ']')
			return taken;
		if (*text < '0' || *text > '9' || taken == count)
			return -1;
		errno = 0;
		rows[taken++] = strtoull(text, &end, 10);
		if (errno != 0 || rows[taken - 1] > INT64_MAX / 16)
			return -1;
		text = end;
	}
}

static uint64_t sum_of(const uint64_t *rows, uint32_t count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum = sum > INT64_MAX - rows[i] ? INT64_MAX : sum + rows[i];
	return sum;
}

// Room for `count` more numbers at the end of the rank's list. NULL: no memory.
static uint64_t *room_for(struct trace_rank *rank, uint32_t count)
{
	uint64_t *splits = realloc(rank->splits,
				   (rank->split_count + (size_t)count) * sizeof(*splits));
	if (splits == NULL)
		return NULL;
	rank->splits = splits;
	return splits + rank->split_count;
}

static bool is_divided(uint64_t elements, uint64_t rows)
{
	return rows == 0 ? elements == 0
			 : elements % rows == 0 && elements / rows <= INT64_MAX / 16;
}

// Keeps the `count` numbers behind the list, as bytes in place of rows. Returns where they are.
static uint32_t keep(struct trace_rank *rank, uint32_t count, uint64_t elements,
		     uint32_t element_bytes)
{
	uint64_t *splits = rank->splits + rank->split_count, rows = sum_of(splits, count);
	for (uint32_t i = 0; i < count && rows > 0; i++)
		splits[i] *= elements / rows * element_bytes;
	rank->split_count += count;
	return rank->split_count - count;
}

int split_take(struct trace_input *input, const char *text, uint32_t count, uint64_t elements,
	       uint32_t element_bytes)
{
	struct trace_rank *rank = input->rank;
	struct trace_node *node = &rank->nodes[rank->node_count - 1];
	if (text == NULL || strcmp(text, "[]") == 0)
		return 0;
	uint64_t *splits = room_for(rank, count);
	if (splits == NULL)
		return input_no_memory(input);
	if (read_rows(text, splits, count) != count)
		return input_refuse(
			input, 0,
			"record %: its split sizes are not a whole list of % numbers: what "
			"each rank gets is not known",
			node->place, count);
	uint64_t rows = sum_of(splits, count);
	if (!is_divided(elements, rows))
		return input_refuse(
			input, 0,
			"record %: its elements are not a multiple of the % rows that its "
			"split sizes have",
			node->place, (int64_t)rows);
	node->split_first = keep(rank, count, elements, element_bytes);
	node->split_count = count;
	return 0;
}

int split_take_received(struct trace_input *input, const char *text, uint32_t count,
			uint64_t elements, uint32_t element_bytes)
{
	struct trace_rank *rank = input->rank;
	struct trace_node *node = &rank->nodes[rank->node_count - 1];
	if (text == NULL || strcmp(text, "[]") == 0)
		return 0;
	uint64_t *splits = room_for(rank, count);
	if (splits == NULL)
		return input_no_memory(input);
	if (read_rows(text, splits, count) != count)
		return 0; // what is sent says it as well
	if (!is_divided(elements, sum_of(splits, count)))
		return input_refuse(
			input, 0,
			"record %: the elements that come out are not a multiple of the "
			"% rows that its split sizes have",
			node->place, (int64_t)sum_of(splits, count));
	node->received_first = keep(rank, count, elements, element_bytes);
	node->received_count = count;
	return 0;
}

// ---------------------------------------------------------------- running it

// Bytes that a member sends to another.
static uint64_t bytes_of(const struct expand *expand, const struct instance *instance,
			 uint32_t from, uint32_t to)
{
	const struct trace_rank *rank = expand_rank(expand, instance->ranks[from]);
	const struct trace_node *node = &rank->nodes[instance->nodes[from]];
	return node->split_count > 0 ? rank->splits[node->split_first + to]
				     : node->bytes / instance->count;
}

int split_check(const struct expand *expand, const struct instance *instance)
{
	for (uint32_t to = 0; to < instance->count; to++) {
		const struct trace_rank *rank = expand_rank(expand, instance->ranks[to]);
		const struct trace_node *node = &rank->nodes[instance->nodes[to]];
		for (uint32_t from = 0; from < node->received_count; from++) {
			uint64_t received = rank->splits[node->received_first + from];
			if (received != bytes_of(expand, instance, from, to))
				return expand_refuse(
					expand, instance->ranks[to], instance->nodes[to],
					"record %: by its Out split sizes it receives % bytes of "
					"member %, which sends it another number of them",
					(int64_t)received, from);
		}
	}
	return 0;
}

bool split_is_uneven(const struct expand *expand, const struct instance *instance)
{
	uint64_t first = bytes_of(expand, instance, 0, 1);
	bool is_split = false;
	for (uint32_t from = 0; from < instance->count; from++) {
		const struct trace_rank *rank = expand_rank(expand, instance->ranks[from]);
		is_split |= rank->nodes[instance->nodes[from]].split_count > 0;
	}
	for (uint32_t from = 0; is_split && from < instance->count; from++)
		for (uint32_t to = 0; to < instance->count; to++)
			if (bytes_of(expand, instance, from, to) != first)
				return true;
	return false;
}

// One message: both of its ends wait for what the collective waits for, and its end for them.
static void put_message(const struct instance *instance, const struct split_place *place,
			const uint32_t *ends, uint32_t from, uint32_t to, uint32_t channel,
			uint32_t bytes)
{
	struct program *program = place->program;
	uint32_t sender = instance->ranks[from], receiver = instance->ranks[to];
	uint32_t send = program_send(program, sender, receiver, place->tag + channel, bytes, 0);
	uint32_t receive = program_receive(program, receiver, sender, place->tag + channel, bytes,
					   0, false);
	program_wait(program, send, place->after[from]);
	program_wait(program, receive, place->after[to]);
	program_wait(program, ends[from], send);
	program_wait(program, ends[to], receive);
}

static uint64_t put_pair(const struct expand *expand, const struct instance *instance,
			 const struct coll_config *config, const struct split_place *place,
			 const uint32_t *ends, uint32_t from, uint32_t to)
{
	uint64_t bytes = bytes_of(expand, instance, from, to), count = 0;
	for (uint32_t channel = 0; channel < config->channels; channel++) {
		uint64_t left = bytes / config->channels + (channel < bytes % config->channels);
		for (; left > 0; count++) {
			uint32_t part = left < config->chunk_bytes ? (uint32_t)left
								   : config->chunk_bytes;
			if (place->program != NULL)
				put_message(instance, place, ends, from, to, channel, part);
			left -= part;
		}
	}
	return count;
}

int split_put(const struct expand *expand, const struct instance *instance,
	      const struct coll_config *config, const struct split_place *place, uint64_t *ops,
	      uint64_t *edges)
{
	uint32_t count = instance->count;
	uint64_t messages = 0;
	if (expand->set->rank_count == 1)
		return expand_refuse(expand, instance->ranks[0], instance->nodes[0],
				     "record %: split sizes of one rank do not say what the others "
				     "send: give the files of all ranks",
				     0, 0);
	uint32_t *ends = calloc(count, sizeof(*ends));
	if (ends == NULL)
		return refuse(expand->refusal, -ENOMEM, "no memory for an all-to-all");
	for (uint32_t m = 0; place->program != NULL && m < count; m++) {
		ends[m] = program_compute(place->program, instance->ranks[m], place->stream, 0);
		program_wait(place->program, ends[m], place->after[m]);
	}
	for (uint32_t distance = 1; distance < count; distance++)
		for (uint32_t from = 0; from < count; from++)
			messages += put_pair(expand, instance, config, place, ends, from,
					     (from + distance) % count);
	for (uint32_t m = 0; m < count; m++)
		place->after[m] = ends[m];
	*ops += count + 2 * messages;
	*edges += count + 4 * messages;
	free(ends);
	return 0;
}
