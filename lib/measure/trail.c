// SPDX-License-Identifier: Apache-2.0
// See measure_trail.h.

#include <weft/measure/measure_trail.h>

#include <errno.h>

int trail_init(struct trail *trail, struct arena *arena, uint32_t max)
{
	*trail = (struct trail){.max = max};
	trail->steps = arena_draw(arena, ARENA_MEASURE, max, sizeof(*trail->steps));
	return trail->steps == NULL ? -ENOMEM : 0;
}

void trail_add(struct trail *trail, const struct trail_step *step)
{
	if (trail->count == trail->max)
		trail->missed++;
	else
		trail->steps[trail->count++] = *step;
}
