// SPDX-License-Identifier: Apache-2.0
// Data of a program's ranks, kept while frames carry it. See drive_ledger.h.

#include <weft/ports/ledger.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/files/files.h>
#include <weft/world/world_landing.h>

struct ledger {
	const struct world *world;
	uint8_t *memory; // rank after rank
	size_t memory_bytes;
	uint64_t rank_bytes;
	uint32_t first; // rank that the memory begins with
	uint32_t element_bytes;
	uint64_t stored_bytes, moved_bytes;
	bool is_lent; // the memory is the caller's
};

struct ledger *ledger_create(void)
{
	return calloc(1, sizeof(struct ledger));
}

void ledger_free(struct ledger *ledger)
{
	if (ledger != NULL && ledger->memory != NULL && !ledger->is_lent)
		memory_release(ledger->memory, ledger->memory_bytes);
	free(ledger);
}

uint8_t *ledger_buffer(struct ledger *ledger, uint32_t rank)
{
	check(rank >= ledger->first);
	return ledger->memory + (rank - ledger->first) * ledger->rank_bytes;
}

uint64_t ledger_stored_bytes(const struct ledger *ledger)
{
	return ledger->stored_bytes;
}

uint64_t ledger_moved_bytes(const struct ledger *ledger)
{
	return ledger->moved_bytes;
}

static int check_program(const struct world *world, uint32_t element_bytes, struct refusal *refusal)
{
	const struct program *program = world->program;
	if (program == NULL)
		return refuse(refusal, -EINVAL, "this traffic has no data: it is no program");
	if (world->transport.payload_bytes % element_bytes != 0)
		return refuse(refusal, -EINVAL,
			      "packets with % bytes of payload cut elements of %: data cannot be "
			      "checked",
			      world->transport.payload_bytes, element_bytes);
	return 0;
}

int ledger_attach_to(struct ledger *ledger, const struct world *world, uint32_t element_bytes,
		     uint32_t first, uint8_t *memory, uint64_t rank_bytes, struct refusal *refusal)
{
	check(ledger->memory == NULL);
	int rc = check_program(world, element_bytes, refusal);
	if (rc < 0)
		return rc;
	check(rank_bytes >= world->program->buffer_bytes);
	ledger->world = world;
	ledger->element_bytes = element_bytes;
	ledger->rank_bytes = rank_bytes;
	ledger->memory = memory;
	ledger->first = first;
	ledger->is_lent = true;
	return 0;
}

int ledger_attach(struct ledger *ledger, const struct world *world, uint32_t element_bytes,
		  struct refusal *refusal)
{
	const struct program *program = world->program;
	check(ledger->memory == NULL);
	int rc = check_program(world, element_bytes, refusal);
	if (rc < 0)
		return rc;
	ledger->world = world;
	ledger->element_bytes = element_bytes;
	ledger->rank_bytes = (program->buffer_bytes + 63) / 64 * 64;
	ledger->memory_bytes = ledger->rank_bytes * program->ranks;
	ledger->memory = memory_reserve(ledger->memory_bytes);
	if (ledger->memory == NULL)
		return refuse(refusal, -ENODEV, "no memory for the data of % ranks, % bytes each",
			      program->ranks, (int64_t)ledger->rank_bytes);
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

static uint8_t *bytes_of(struct ledger *ledger, uint32_t op_index, uint64_t offset, uint32_t bytes)
{
	const struct op *op = &ledger->world->program->ops[op_index];
	check(offset + bytes <= op->bytes);
	return ledger_buffer(ledger, op->rank) + op->offset + offset;
}

static void take(struct ledger *ledger, uint32_t receive, uint64_t offset, const uint8_t *from,
		 uint32_t bytes)
{
	const struct op *op = &ledger->world->program->ops[receive];
	uint8_t *to = bytes_of(ledger, receive, offset, bytes);
	if (op->is_sum)
		add(to, from, bytes, ledger->element_bytes);
	else
		memcpy(to, from, bytes);
}

static void fill(void *context, const struct place *where, uint8_t *ret)
{
	struct ledger *ledger = context;
	uint32_t receive;
	uint64_t offset;
	check(world_landing(ledger->world, where->nic, where->va, &receive, &offset));
	uint32_t send = ledger->world->program->ops[receive].twin;
	memcpy(ret, bytes_of(ledger, send, offset, where->bytes), where->bytes);
}

static void store(void *context, const struct place *where, const uint8_t *payload)
{
	struct ledger *ledger = context;
	uint32_t receive;
	uint64_t offset;
	check(world_landing(ledger->world, where->nic, where->va, &receive, &offset));
	take(ledger, receive, offset, payload, where->bytes);
	ledger->stored_bytes += where->bytes;
}

static void move(void *context, const struct place *where)
{
	struct ledger *ledger = context;
	uint32_t receive = (uint32_t)where->va, send = ledger->world->program->ops[receive].twin;
	take(ledger, receive, 0, bytes_of(ledger, send, 0, where->bytes), where->bytes);
	ledger->moved_bytes += where->bytes;
}

void ledger_hook(struct ledger *ledger, struct ports_options *ports)
{
	ports->fill = fill;
	ports->store = store;
	ports->move = move;
	ports->payload_context = ledger;
}
