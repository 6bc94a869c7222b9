// SPDX-License-Identifier: Apache-2.0
// See measure_slices.h.

#include <weft/measure/measure_slices.h>

#include <errno.h>

#include <weft/core/check.h>

int slices_init(struct slices *slices, struct arena *arena, uint32_t channels, uint32_t max,
		uint32_t buckets)
{
	size_t cells = (size_t)channels * max;
	*slices = (struct slices){
		.channels = channels,
		.max = max,
		.buckets = buckets,
		.sent = arena_draw(arena, ARENA_MEASURE, cells, sizeof(struct slice_sent)),
		.came = arena_draw(arena, ARENA_MEASURE, cells, sizeof(ps_t)),
		.came_count = arena_draw(arena, ARENA_MEASURE, channels, sizeof(uint64_t)),
		.parts = arena_draw(arena, ARENA_MEASURE, buckets, sizeof(struct slice_part))};
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (size_t i = 0; i < cells; i++) {
		slices->sent[i].at = PS_NEVER;
		slices->came[i] = PS_NEVER;
	}
	for (uint32_t i = 0; i < buckets; i++)
		slices->parts[i] = (struct slice_part){PS_NEVER, PS_NEVER};
	return 0;
}

void slices_sent(struct slices *slices, uint32_t channel, uint64_t number,
		 const struct slice_sent *sent)
{
	check(channel < slices->channels && sent->bucket < slices->buckets);
	if (number < slices->max)
		slices->sent[(size_t)channel * slices->max + number] = *sent;
}

void slices_came(struct slices *slices, uint32_t channel, ps_t now)
{
	check(channel < slices->channels);
	uint64_t number = slices->came_count[channel]++;
	if (number < slices->max)
		slices->came[(size_t)channel * slices->max + number] = now;
}

void slices_began(struct slices *slices, uint32_t bucket, ps_t now)
{
	check(bucket < slices->buckets);
	slices->parts[bucket].begin_ps = now;
}

void slices_ended(struct slices *slices, uint32_t bucket, ps_t now)
{
	check(bucket < slices->buckets);
	slices->parts[bucket].end_ps = now;
}

uint64_t slices_missed(const struct slices *slices)
{
	uint64_t missed = 0;
	for (uint32_t i = 0; i < slices->channels; i++)
		if (slices->came_count[i] > slices->max)
			missed += slices->came_count[i] - slices->max;
	return missed;
}
