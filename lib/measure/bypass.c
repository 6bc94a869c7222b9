// SPDX-License-Identifier: Apache-2.0
// How long paths over dead cables go on being used, from outside: by what is lost there. A path
// that was left is tried again now and then; its tries are recognised by the silence before them.

#include <weft/measure/measure.h>

#include <errno.h>

#include <weft/core/check.h>
#include <weft/core/rng.h>

int bypass_init(struct bypass *bypass, struct arena *arena, uint32_t max, ps_t silence_ps)
{
	uint32_t places = 2;
	while (places < 2 * max) // half of them stay empty, so that searches are short and end
		places *= 2;
	*bypass = (struct bypass){.max = max, .mask = places - 1, .silence_ps = silence_ps};
	bypass->events = arena_draw(arena, ARENA_MEASURE, max, sizeof(*bypass->events));
	bypass->places = arena_draw(arena, ARENA_MEASURE, places, sizeof(*bypass->places));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static bool is_same(const struct bypass_event *a, const struct bypass_event *b)
{
	return a->nic == b->nic && a->qpn == b->qpn && a->ev == b->ev && a->cable == b->cable &&
		a->down_ps == b->down_ps;
}

// The event's place in the table: where it is, or the empty one where it belongs.
static uint32_t *find(struct bypass *bypass, const struct bypass_event *what)
{
	uint64_t hash = rng_mix((uint64_t)what->nic << 32 | what->qpn);
	hash = rng_mix(hash ^ ((uint64_t)what->cable << 32 | what->ev));
	hash = rng_mix(hash ^ (uint64_t)what->down_ps);
	for (uint32_t at = (uint32_t)hash & bypass->mask;; at = (at + 1) & bypass->mask) {
		uint32_t *place = &bypass->places[at];
		if (*place == 0 || is_same(&bypass->events[*place - 1], what))
			return place;
	}
}

void bypass_lose(struct bypass *bypass, const struct bypass_event *what, ps_t at)
{
	uint32_t *place = find(bypass, what);
	if (*place == 0) {
		if (bypass->count == bypass->max) {
			bypass->missed++;
			return;
		}
		bypass->events[bypass->count] = *what;
		bypass->events[bypass->count].first_ps = bypass->events[bypass->count].last_ps = at;
		bypass->events[bypass->count].lost = bypass->events[bypass->count].tries = 0;
		*place = ++bypass->count;
	}
	struct bypass_event *event = &bypass->events[*place - 1];
	check(at >= event->last_ps);
	if (event->tries > 0 || at - event->last_ps >= bypass->silence_ps) {
		event->tries++; // a path that is in use again after a try was not left for good
		return;
	}
	event->last_ps = at;
	event->lost++;
}
