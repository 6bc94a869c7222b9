// SPDX-License-Identifier: Apache-2.0
// Where the jobs of a fabric sit. See mix.h.

#include <weft/workload/mix.h>

#include <errno.h>

#include <weft/core/rng.h>

int mix_room_draw(struct mix_room *ret, struct arena *arena, uint32_t nics, uint32_t nics_per_host,
		  struct refusal *refusal)
{
	*ret = (struct mix_room){nics, nics_per_host, arena_draw(arena, ARENA_WORKLOAD, nics, 1)};
	if (ret->owner == NULL)
		return refuse(refusal, -ENOMEM, "no memory for the owners of % NICs", nics);
	for (uint32_t nic = 0; nic < nics; nic++)
		ret->owner[nic] = MIX_NOBODY;
	return 0;
}

uint32_t mix_per_host(const struct mix_placement *placement, uint32_t nics_per_host)
{
	if (placement->kind == PLACEMENT_LIST || placement->per_host > 0)
		return placement->per_host;
	return placement->ranks < nics_per_host ? placement->ranks : nics_per_host;
}

// ---------------------------------------------------------------- hosts

struct seating {
	struct mix_room *room;
	const struct mix_placement *placement;
	uint32_t *nics; // what the job gets
	uint32_t taken; // so many of them are settled
	uint32_t per_host;
	uint8_t part;
};

static bool has_room(const struct seating *seating, uint32_t host)
{
	const struct mix_room *room = seating->room;
	uint32_t first = host * room->nics_per_host, free = 0;
	for (uint32_t i = 0; i < room->nics_per_host; i++)
		free += room->owner[first + i] == MIX_NOBODY;
	return free >= seating->per_host;
}

static void take_host(struct seating *seating, uint32_t host)
{
	const struct mix_room *room = seating->room;
	uint32_t end = seating->taken + seating->per_host;
	for (uint32_t nic = host * room->nics_per_host; seating->taken < end; nic++) {
		if (room->owner[nic] != MIX_NOBODY)
			continue;
		room->owner[nic] = seating->part;
		seating->nics[seating->taken++] = nic;
	}
}

// Packed is spread with a step of one. A stride counts from the first host that has room.
static void take_row(struct seating *seating)
{
	const struct mix_placement *placement = seating->placement;
	uint32_t hosts = seating->room->nics / seating->room->nics_per_host;
	uint32_t step = placement->kind == PLACEMENT_SPREAD ? placement->stride : 1;
	uint32_t host = placement->first_host;
	while (host < hosts && !has_room(seating, host))
		host++;
	for (; host < hosts && seating->taken < placement->ranks; host += step)
		if (has_room(seating, host))
			take_host(seating, host);
}

static uint32_t count_hosts(const struct seating *seating)
{
	uint32_t count = 0, hosts = seating->room->nics / seating->room->nics_per_host;
	for (uint32_t host = 0; host < hosts; host++)
		count += has_room(seating, host);
	return count;
}

// Each choice of `wanted` hosts of those with room is as likely as any other: host by host, with
// the chance that what is wanted has of what is left (Knuth, selection sampling).
static void take_random(struct seating *seating)
{
	struct rng rng = rng_of(seating->placement->seed, RNG_WORKLOAD, seating->part);
	uint32_t wanted = seating->placement->ranks / seating->per_host,
		 left = count_hosts(seating);
	if (left < wanted)
		return;
	for (uint32_t host = 0; wanted > 0; host++) {
		if (!has_room(seating, host))
			continue;
		bool is_chosen = rng_below(&rng, left--) < wanted;
		if (is_chosen)
			take_host(seating, host);
		wanted -= is_chosen;
	}
}

// ---------------------------------------------------------------- lists

// A number of a list; false when there is none.
static bool take_number(const char **at, uint32_t *ret)
{
	uint64_t value = 0;
	const char *from = *at;
	for (; **at >= '0' && **at <= '9' && value < UINT32_MAX; ++*at)
		value = value * 10 + (uint64_t)(**at - '0');
	*ret = (uint32_t)value;
	return *at > from && value < UINT32_MAX;
}

static int take_nic(struct seating *seating, uint32_t nic, struct refusal *refusal)
{
	const struct mix_room *room = seating->room;
	if (nic >= room->nics)
		return refuse(refusal, -EINVAL, "there is no NIC % of %", nic, room->nics);
	if (room->owner[nic] == seating->part)
		return refuse(refusal, -EINVAL, "NIC % is in the list twice", nic);
	if (room->owner[nic] != MIX_NOBODY)
		return refuse(refusal, -EINVAL, "NIC % is that of job % already", nic,
			      room->owner[nic] + 1);
	if (seating->taken == seating->placement->ranks)
		return refuse(refusal, -EINVAL, "the list has more NICs than the job has ranks, %",
			      seating->placement->ranks);
	room->owner[nic] = seating->part;
	seating->nics[seating->taken++] = nic;
	return 0;
}

static int take_list(struct seating *seating, struct refusal *refusal)
{
	const char *at = seating->placement->nics;
	while (*at != '\0') {
		uint32_t first, last;
		bool is_right = take_number(&at, &first);
		last = first;
		if (is_right && *at == '-') {
			at++;
			is_right = take_number(&at, &last) && last >= first;
		}
		if (!is_right || (*at != ' ' && *at != '\0'))
			return refuse(refusal, -EINVAL,
				      "a list of NICs is as in 0-3 8 12-15: numbers and ranges, a "
				      "space between");
		for (uint32_t nic = first; nic <= last; nic++) {
			int rc = take_nic(seating, nic, refusal);
			if (rc < 0)
				return rc;
		}
		while (*at == ' ')
			at++;
	}
	return 0;
}

// ---------------------------------------------------------------- all of it

static int check_shape(const struct seating *seating, struct refusal *refusal)
{
	const struct mix_placement *placement = seating->placement;
	if (placement->kind == PLACEMENT_LIST)
		return 0;
	if (seating->per_host > seating->room->nics_per_host)
		return refuse(refusal, -EINVAL, "% NICs of a host that has %", seating->per_host,
			      seating->room->nics_per_host);
	if (placement->ranks % seating->per_host != 0)
		return refuse(refusal, -EINVAL, "% ranks are not % on each host", placement->ranks,
			      seating->per_host);
	return 0;
}

int mix_place(struct mix_room *room, uint8_t part, const struct mix_placement *placement,
	      uint32_t *ret_nics, struct refusal *refusal)
{
	struct seating seating = {.room = room,
				  .placement = placement,
				  .nics = ret_nics,
				  .per_host = mix_per_host(placement, room->nics_per_host),
				  .part = part};
	int rc = check_shape(&seating, refusal);
	if (rc < 0)
		return rc;
	if (placement->kind == PLACEMENT_LIST)
		rc = take_list(&seating, refusal);
	else if (placement->kind == PLACEMENT_RANDOM)
		take_random(&seating);
	else
		take_row(&seating);
	if (rc == 0 && seating.taken < placement->ranks && placement->kind == PLACEMENT_LIST)
		return refuse(refusal, -EINVAL, "the list has % NICs for % ranks", seating.taken,
			      placement->ranks);
	if (rc == 0 && seating.taken < placement->ranks)
		return refuse(refusal, -EINVAL,
			      "no room: % of its % ranks have a NIC, with % NICs of each host",
			      seating.taken, placement->ranks, seating.per_host);
	return rc;
}
