// SPDX-License-Identifier: Apache-2.0
// What went between each two hosts: frames that left and that came, by how many paths, over how
// many hops. Each host knows its own; where a run came to its end they tell each other.

#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "host.h"

#define HOSTS_TOLD 128u // more hosts keep it to themselves: all tell all

void pairs_gather(struct call *call, const struct stage *stage)
{
	struct refusal none;
	uint32_t hosts = call->meeting.options.count;
	struct wall_peer *own = calloc(hosts, sizeof(*own));
	call->pairs = (struct pairs){.of = calloc((size_t)hosts * hosts, sizeof(*own))};
	if (own == NULL || call->pairs.of == NULL) {
		free(own);
		pairs_drop(call);
		return;
	}
	for (uint32_t i = 0; i < hosts; i++) {
		wall_peer(stage->wall, i, &own[i]);
		call->pairs.of[(size_t)call->index * hosts + i] = own[i];
	}
	call->pairs.is_whole = stage->end == WALL_END_DONE && hosts <= HOSTS_TOLD &&
		meeting_share(&call->meeting, own, call->pairs.of, hosts * (uint32_t)sizeof(*own),
			      &none) == 0;
	free(own);
}

void pairs_drop(struct call *call)
{
	free(call->pairs.of);
	call->pairs = (struct pairs){0};
}

// One way from a host to another; NULL: what that end saw is not known here.
struct way {
	const struct wall_peer *left, *came;
};

static struct way way_of(const struct call *call, uint32_t from, uint32_t to)
{
	uint32_t hosts = call->meeting.options.count;
	const struct wall_peer *of = call->pairs.of;
	bool is_whole = call->pairs.is_whole;
	return (struct way){is_whole || from == call->index ? &of[(size_t)from * hosts + to] : NULL,
			    is_whole || to == call->index ? &of[(size_t)to * hosts + from] : NULL};
}

static bool is_used(const struct way *way)
{
	return (way->left != NULL && way->left->frames_left > 0) ||
		(way->came != NULL && way->came->frames_came > 0);
}

// ---------------------------------------------------------------- told

struct range {
	uint32_t low, high;
	bool is_set;
};

static void widen(struct range *range, uint32_t low, uint32_t high)
{
	range->low = !range->is_set || low < range->low ? low : range->low;
	range->high = !range->is_set || high > range->high ? high : range->high;
	range->is_set = true;
}

static void print_range(FILE *to, const char *before, const struct range *range, const char *what)
{
	if (range->low == range->high)
		fprintf(to, "%s%u%s", before, range->low, what);
	else
		fprintf(to, "%s%u to %u%s", before, range->low, range->high, what);
}

struct sum {
	uint32_t pairs;
	uint64_t left, came;
	struct range paths_left, paths_came, hops;
};

static void add_way(struct sum *sum, const struct way *way)
{
	sum->pairs++;
	if (way->left != NULL) {
		sum->left += way->left->frames_left;
		widen(&sum->paths_left, way->left->paths_left, way->left->paths_left);
	}
	if (way->came != NULL) {
		sum->came += way->came->frames_came;
		widen(&sum->paths_came, way->came->paths_came, way->came->paths_came);
	}
	if (way->came != NULL && way->came->frames_came > 0)
		widen(&sum->hops, way->came->hops_least, way->came->hops_most);
}

void pairs_print(FILE *to, const struct call *call)
{
	struct sum sum = {0};
	uint32_t hosts = call->meeting.options.count;
	for (uint32_t from = 0; call->pairs.of != NULL && from < hosts; from++)
		for (uint32_t at = 0; at < hosts; at++) {
			struct way way = way_of(call, from, at);
			if (from != at && is_used(&way))
				add_way(&sum, &way);
		}
	if (sum.pairs == 0)
		return;
	fprintf(to, "ways: %u from host to host%s; %" PRIu64 " frames left, %" PRIu64 " came",
		sum.pairs, call->pairs.is_whole ? "" : ", as this host saw its own", sum.left,
		sum.came);
	if (sum.paths_left.is_set)
		print_range(to, "; by ", &sum.paths_left, " paths each (planes and EVs)");
	if (sum.paths_came.is_set)
		print_range(to, ", came by ", &sum.paths_came, "");
	if (sum.hops.is_set)
		print_range(to, "; over ", &sum.hops, " hops that count");
	fprintf(to, "\n");
}

static json_t *number(bool is_known, uint64_t value)
{
	return is_known ? json_integer((json_int_t)value) : json_null();
}

json_t *pairs_json(const struct call *call)
{
	json_t *list = json_array();
	uint32_t hosts = call->meeting.options.count;
	for (uint32_t i = 0; call->pairs.of != NULL && i < hosts * hosts; i++) {
		static const struct wall_peer nothing;
		struct way way = way_of(call, i / hosts, i % hosts);
		const struct wall_peer *left = way.left != NULL ? way.left : &nothing;
		const struct wall_peer *came = way.came != NULL ? way.came : &nothing;
		bool has_hops = came->frames_came > 0;
		if (i / hosts == i % hosts || !is_used(&way))
			continue;
		json_array_append_new(
			list,
			json_pack("{s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:b}", "from", (int)(i / hosts),
				  "to", (int)(i % hosts), "frames_left",
				  number(way.left != NULL, left->frames_left), "frames_came",
				  number(way.came != NULL, came->frames_came), "paths_left",
				  number(way.left != NULL, left->paths_left), "paths_came",
				  number(way.came != NULL, came->paths_came), "hops_least",
				  number(has_hops, came->hops_least), "hops_most",
				  number(has_hops, came->hops_most), "more_paths",
				  left->is_more || came->is_more));
	}
	return list;
}
