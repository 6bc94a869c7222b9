// SPDX-License-Identifier: Apache-2.0
// Data of a program's ranks, kept while frames carry it. See payload_store.h.

#include <weft/ports/payload_store.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/files/files.h>
#include <weft/world/world_write_target.h>

struct payload_store {
	const struct world *world;
	uint8_t *memory; // rank after rank
	size_t memory_bytes;
	uint64_t rank_bytes;
	uint32_t first; // rank that the memory begins with
	uint32_t element_bytes;
	bool is_lent; // the memory is the caller's
};

struct payload_store *payload_store_create(void)
{
	return calloc(1, sizeof(struct payload_store));
}

void payload_store_free(struct payload_store *payload_store)
{
	if (payload_store != NULL && payload_store->memory != NULL && !payload_store->is_lent)
		memory_release(payload_store->memory, payload_store->memory_bytes);
	free(payload_store);
}

uint8_t *payload_store_buffer(struct payload_store *payload_store, uint32_t rank)
{
	check(rank >= payload_store->first);
	return payload_store->memory + (rank - payload_store->first) * payload_store->rank_bytes;
}

static int check_program(const struct world *world, uint32_t element_bytes, struct refusal *refusal)
{
	const struct program *program = world->program;
	if (program == NULL)
		return refuse(refusal, -EINVAL, "this traffic has no data: it is not a program");
	if (world->transport.payload_bytes % element_bytes != 0)
		return refuse(refusal, -EINVAL,
			      "packets with % bytes of payload cut elements of %: data cannot be "
			      "checked",
			      world->transport.payload_bytes, element_bytes);
	return 0;
}

int payload_store_attach_to(struct payload_store *payload_store, const struct world *world,
			    uint32_t element_bytes, uint32_t first, uint8_t *memory,
			    uint64_t rank_bytes, struct refusal *refusal)
{
	check(payload_store->memory == NULL);
	int rc = check_program(world, element_bytes, refusal);
	if (rc < 0)
		return rc;
	check(rank_bytes >= world->program->buffer_bytes);
	payload_store->world = world;
	payload_store->element_bytes = element_bytes;
	payload_store->rank_bytes = rank_bytes;
	payload_store->memory = memory;
	payload_store->first = first;
	payload_store->is_lent = true;
	return 0;
}

int payload_store_attach(struct payload_store *payload_store, const struct world *world,
			 uint32_t element_bytes, struct refusal *refusal)
{
	const struct program *program = world->program;
	check(payload_store->memory == NULL);
	int rc = check_program(world, element_bytes, refusal);
	if (rc < 0)
		return rc;
	payload_store->world = world;
	payload_store->element_bytes = element_bytes;
	payload_store->rank_bytes = (program->buffer_bytes + 63) / 64 * 64;
	payload_store->memory_bytes = payload_store->rank_bytes * program->ranks;
	payload_store->memory = memory_reserve(payload_store->memory_bytes);
	if (payload_store->memory == NULL)
		return refuse(refusal, -ENODEV, "no memory for the data of % ranks, % bytes each",
			      program->ranks, (int64_t)payload_store->rank_bytes);
	return 0;
}

// ---------------------------------------------------------------- what frames carry

static uint64_t load(const uint8_t *at, uint32_t bytes)
{
	uint64_t value = 0;
	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static void add(uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t element_bytes)
{
	for (uint32_t at = 0; at + element_bytes <= bytes; at += element_bytes) {
		uint64_t sum = load(to + at, element_bytes) + load(from + at, element_bytes);
		for (uint32_t i = 0; i < element_bytes; i++)
			to[at + i] = (uint8_t)(sum >> (8 * i));
	}
}

static uint8_t *bytes_of(struct payload_store *payload_store, uint32_t op_index, uint64_t offset,
			 uint32_t bytes)
{
	const struct op *op = &payload_store->world->program->ops[op_index];
	check(offset + bytes <= op->bytes);
	return payload_store_buffer(payload_store, op->rank) + op->offset + offset;
}

static void take(struct payload_store *payload_store, uint32_t receive, uint64_t offset,
		 const uint8_t *from, uint32_t bytes)
{
	const struct op *op = &payload_store->world->program->ops[receive];
	uint8_t *to = bytes_of(payload_store, receive, offset, bytes);
	if (op->is_sum)
		add(to, from, bytes, payload_store->element_bytes);
	else
		memcpy(to, from, bytes);
}

static const uint8_t *find(void *context, const struct dma_write *where)
{
	struct payload_store *payload_store = context;
	uint32_t receive;
	uint64_t offset;
	check(world_write_target(payload_store->world, where->nic, where->va, &receive, &offset));
	uint32_t send = payload_store->world->program->ops[receive].twin;
	return bytes_of(payload_store, send, offset, where->bytes);
}

static void fill(void *context, const struct dma_write *where, uint8_t *ret)
{
	memcpy(ret, find(context, where), where->bytes);
}

static void store(void *context, const struct dma_write *where, const uint8_t *payload)
{
	struct payload_store *payload_store = context;
	uint32_t receive;
	uint64_t offset;
	check(world_write_target(payload_store->world, where->nic, where->va, &receive, &offset));
	take(payload_store, receive, offset, payload, where->bytes);
}

static void move(void *context, const struct dma_write *where)
{
	struct payload_store *payload_store = context;
	uint32_t receive = (uint32_t)where->va,
		 send = payload_store->world->program->ops[receive].twin;
	take(payload_store, receive, 0, bytes_of(payload_store, send, 0, where->bytes),
	     where->bytes);
}

void payload_store_hook(struct payload_store *payload_store, struct ports_options *ports)
{
	ports->fill = fill;
	ports->find = find;
	ports->store = store;
	ports->move = move;
	ports->payload_context = payload_store;
}
