// SPDX-License-Identifier: Apache-2.0
// Two short arrays for each cable that needs them; the faults that fill them are rare.

#include "late.h"

#include <string.h>

#include <weft/core/check.h>

bool late_send(struct late *late, ps_t start, ps_t at)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < late->under_way_count; i++)
		if (late->under_way[i] > start)
			late->under_way[kept++] = late->under_way[i];
	late->under_way_count = kept;
	if (kept == LATE_MAX)
		return false;
	late->under_way[late->under_way_count++] = at;
	return true;
}

void late_push(struct late *late, ps_t at, uint64_t what)
{
	check(late->count < LATE_ROOM); // half of them the sender let go by a window ago
	uint32_t place = late->count++;
	for (; place > 0 && late->entries[place - 1].at > at; place--)
		late->entries[place] = late->entries[place - 1];
	late->entries[place] = (struct late_entry){at, what};
}

uint64_t late_pop(struct late *late)
{
	check(late->count > 0);
	uint64_t what = late->entries[0].what;
	late->count--;
	memmove(late->entries, late->entries + 1, late->count * sizeof(*late->entries));
	return what;
}
