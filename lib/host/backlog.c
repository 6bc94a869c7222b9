// SPDX-License-Identifier: Apache-2.0
// Lists of work requests in a fixed pool.
#include <weft/host/backlog.h>

#include <errno.h>

#include <weft/core/check.h>

struct backlog_entry {
	struct work work;
	uint32_t next;
};

int backlog_init(struct backlog *backlog, struct arena *arena, uint32_t qps, uint32_t capacity)
{
	*backlog = (struct backlog){0};
	backlog->entries = arena_draw(arena, ARENA_WORLD, capacity, sizeof(struct backlog_entry));
	backlog->heads = arena_draw(arena, ARENA_WORLD, qps, sizeof(uint32_t));
	backlog->tails = arena_draw(arena, ARENA_WORLD, qps, sizeof(uint32_t));
	if (!backlog->entries || !backlog->heads || !backlog->tails)
		return -ENOMEM;
	for (uint32_t i = 0; i < capacity; i++)
		backlog->entries[i].next = i + 1 < capacity ? i + 2 : 0;
	backlog->free = capacity > 0;
	return 0;
}

void backlog_push(struct backlog *backlog, uint32_t qpn, const struct work *work)
{
	uint32_t number = backlog->free;
	check(number != 0);
	struct backlog_entry *entry = &backlog->entries[number - 1];
	backlog->free = entry->next;
	*entry = (struct backlog_entry){.work = *work};
	if (backlog->heads[qpn] != 0)
		backlog->entries[backlog->tails[qpn] - 1].next = number;
	else
		backlog->heads[qpn] = number;
	backlog->tails[qpn] = number;
}

const struct work *backlog_first(const struct backlog *backlog, uint32_t qpn)
{
	if (backlog->heads == NULL || backlog->heads[qpn] == 0)
		return NULL;
	return &backlog->entries[backlog->heads[qpn] - 1].work;
}

void backlog_pop(struct backlog *backlog, uint32_t qpn)
{
	uint32_t number = backlog->heads[qpn];
	struct backlog_entry *entry = &backlog->entries[number - 1];
	backlog->heads[qpn] = entry->next;
	entry->next = backlog->free;
	backlog->free = number;
}
