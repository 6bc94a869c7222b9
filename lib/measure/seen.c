// SPDX-License-Identifier: Apache-2.0
// See measure_seen.h.

#include <weft/measure/measure_seen.h>

#include <errno.h>

#define PLACES_LEAST 64u
#define PLACES_MOST 4096u // of one way
#define BYTES_MOST (UINT64_C(16) << 20)

int seen_init(struct seen *ret, struct arena *arena, uint64_t paths)
{
	uint64_t sets = 2ull * ret->host_count * ret->hosts;
	ret->places = PLACES_LEAST;
	ret->of = NULL;
	if (sets * PLACES_LEAST * sizeof(uint64_t) > BYTES_MOST)
		return 0;
	while (ret->places < 2 * paths && ret->places < PLACES_MOST &&
	       sets * ret->places * 2 * sizeof(uint64_t) <= BYTES_MOST)
		ret->places *= 2;
	uint64_t *keys = arena_draw(arena, ARENA_DRIVE, sets * ret->places, sizeof(*keys));
	ret->of = arena_draw(arena, ARENA_DRIVE, sets / 2, sizeof(*ret->of));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint64_t i = 0; i < sets / 2; i++) {
		ret->of[i].left.keys = keys + 2 * i * ret->places;
		ret->of[i].came.keys = keys + (2 * i + 1) * ret->places;
	}
	return 0;
}

static struct seen_other *other_of(const struct seen *seen, uint32_t host, uint32_t other)
{
	return &seen->of[(size_t)(host - seen->host_first) * seen->hosts + other];
}

static void add(const struct seen *seen, struct seen_paths *paths, const struct packet *packet)
{
	uint64_t key = (packet->plane + UINT64_C(1)) << 32 | (packet->ev & seen->ev_mask);
	uint32_t mask = seen->places - 1;
	uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;
	for (; paths->keys[at] != key; at = (at + 1) & mask) {
		if (paths->keys[at] != 0)
			continue;
		paths->is_more |= paths->count == seen->places / 4 * 3;
		if (paths->is_more)
			return;
		paths->keys[at] = key;
		paths->count++;
		return;
	}
}

void seen_left(struct seen *seen, uint32_t host, const struct packet *packet)
{
	if (seen->of == NULL)
		return;
	struct seen_other *other = other_of(seen, host, packet->target / seen->nics_per_host);
	other->frames_left++;
	add(seen, &other->left, packet);
}

void seen_came(struct seen *seen, uint32_t host, const struct packet *packet, uint8_t hop_limit)
{
	if (seen->of == NULL || packet->source / seen->nics_per_host >= seen->hosts)
		return; // the latter: made up by who watches
	struct seen_other *other = other_of(seen, host, packet->source / seen->nics_per_host);
	uint8_t hops = (uint8_t)(seen->hop_limit - hop_limit);
	if (other->frames_came++ == 0)
		other->hops_least = other->hops_most = hops;
	other->hops_least = hops < other->hops_least ? hops : other->hops_least;
	other->hops_most = hops > other->hops_most ? hops : other->hops_most;
	add(seen, &other->came, packet);
}

void seen_pair(const struct seen *seen, uint32_t host, uint32_t other, struct seen_pair *ret)
{
	*ret = (struct seen_pair){0};
	if (seen->of == NULL)
		return;
	const struct seen_other *of = other_of(seen, host, other);
	*ret = (struct seen_pair){.frames_left = of->frames_left,
				  .frames_came = of->frames_came,
				  .paths_left = of->left.count,
				  .paths_came = of->came.count,
				  .hops_least = of->hops_least,
				  .hops_most = of->hops_most,
				  .is_more = of->left.is_more || of->came.is_more};
}
