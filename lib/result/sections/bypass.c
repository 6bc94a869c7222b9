// SPDX-License-Identifier: Apache-2.0
// Events of dead paths: gathered, sorted, made to distributions. What an event is: lib/measure.

#include <weft/core/order.h>
#include <weft/result/bypass.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8
#define NO_EVENT "no path led over a cable that went down"
#define NOT_ALL "not known of all events"

bool bypass_is_watched(const struct world *world)
{
	return world->bypass[0] != NULL;
}

// ---------------------------------------------------------------- order

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

// The order of links that a QP lost packets on.
static int compare_links(const struct bypass_event *a, const struct bypass_event *b)
{
	int order = compare((uint64_t)a->down_ps, (uint64_t)b->down_ps);
	order = order != 0 ? order : compare(a->cable, b->cable);
	order = order != 0 ? order : compare(a->nic, b->nic);
	return order != 0 ? order : compare(a->qpn, b->qpn);
}

static int compare_events(const void *a, const void *b)
{
	const struct bypass_event *left = a, *right = b;
	int order = compare_links(left, right);
	order = order != 0 ? order : compare((uint64_t)left->first_ps, (uint64_t)right->first_ps);
	return order != 0 ? order : compare(left->ev, right->ev);
}

// ---------------------------------------------------------------- distributions

static int compare_paths(const struct bypass_event *a, const struct bypass_event *b)
{
	int order = compare(a->nic, b->nic);
	order = order != 0 ? order : compare(a->qpn, b->qpn);
	return order != 0 ? order : compare(a->ev, b->ev);
}

static int compare_by_path(const void *a, const void *b)
{
	const struct bypass_event *left = a, *right = b;
	int order = compare_paths(left, right);
	order = order != 0 ? order : compare((uint64_t)left->first_ps, (uint64_t)right->first_ps);
	return order != 0 ? order : compare_links(left, right);
}

// All of it was a try.
static void make_try(struct bypass_event *event)
{
	event->tries += event->lost;
	event->lost = 0;
}

// A path that leads over two dead cables is left when it is lost on at the first of them: what
// the second one takes after a silence are tries.
static void find_known_paths(struct bypass_list *list, ps_t silence_ps)
{
	qsort(list->events, list->count, sizeof(*list->events), compare_by_path);
	for (uint32_t i = 1; i < list->count; i++) {
		const struct bypass_event *before = &list->events[i - 1];
		struct bypass_event *event = &list->events[i];
		if (compare_paths(before, event) == 0 &&
		    event->first_ps - before->last_ps >= silence_ps)
			make_try(event);
	}
}

// In so many rounds each path of a QP has several turns, also when its window is cut.
static ps_t rounds_ps(const struct world *world)
{
	const struct transport_config *transport = &world->scenario->transport;
	uint64_t packet_bytes = transport->payload_bytes + transport->header_bytes;
	ps_t packet_ps = line_ps(line_of(world->fabric.link_rate_bps), (uint32_t)packet_bytes);
	return ROUNDS * packet_ps * transport->ev_count / world->fabric.planes;
}

// The events of one QP on one link, in the order of their first loss. A path that is lost on for
// the first time when the others have long been quiet is tried, too: so is a plane that is held
// dead, over any of its paths.
static void measure_link(struct bypass_list *list, uint32_t from, uint32_t end, ps_t silence_ps)
{
	struct bypass_link link = {.nic = list->events[from].nic, .first_ps = -1};
	for (uint32_t i = from; i < end; i++) {
		struct bypass_event *event = &list->events[i];
		if (link.first_ps >= 0 && event->first_ps - link.until_ps >= silence_ps)
			make_try(event);
		list->lost += event->lost;
		list->tries += event->tries;
		if (event->lost == 0)
			continue;
		if (link.first_ps < 0)
			link.first_ps = event->first_ps;
		link.until_ps = ps_max(link.until_ps, event->last_ps);
		list->paths.at[list->paths.count++] = event->last_ps - event->first_ps;
	}
	if (link.first_ps < 0)
		return; // tries alone
	list->on_links[list->links.count] = link;
	list->links.at[list->links.count++] = link.until_ps - link.first_ps;
}

static void measure(struct bypass_list *list, const struct world *world)
{
	ps_t silence_ps = rounds_ps(world);
	find_known_paths(list, world->bypass[0]->silence_ps);
	qsort(list->events, list->count, sizeof(*list->events), compare_events);
	for (uint32_t i = 0, next; i < list->count; i = next) {
		next = i + 1;
		while (next < list->count &&
		       compare_links(&list->events[i], &list->events[next]) == 0)
			next++;
		measure_link(list, i, next, silence_ps);
	}
}

void bypass_sort(struct bypass_times *times)
{
	qsort(times->at, times->count, sizeof(*times->at), order_int64);
}

// ---------------------------------------------------------------- gathering

static void take_shard(struct bypass_list *list, const struct bypass *shard)
{
	memcpy(list->events + list->count, shard->events, shard->count * sizeof(*list->events));
	list->count += shard->count;
}

void bypass_gather(struct bypass_list *ret, const struct world *world)
{
	uint64_t count = 0;
	*ret = (struct bypass_list){0};
	if (!bypass_is_watched(world))
		return;
	for (uint32_t i = 0; i < world->shard_count; i++) {
		count += world->bypass[i]->count;
		ret->missed += world->bypass[i]->missed;
	}
	ret->events = calloc(count + 1, sizeof(*ret->events));
	ret->paths.at = calloc(count + 1, sizeof(ps_t));
	ret->links.at = calloc(count + 1, sizeof(ps_t));
	ret->on_links = calloc(count + 1, sizeof(*ret->on_links));
	if (ret->events == NULL || ret->paths.at == NULL || ret->links.at == NULL ||
	    ret->on_links == NULL) {
		ret->missed += count;
		return;
	}
	for (uint32_t i = 0; i < world->shard_count; i++)
		take_shard(ret, world->bypass[i]);
	measure(ret, world);
	bypass_sort(&ret->paths);
	bypass_sort(&ret->links);
	ret->paths.is_whole = ret->links.is_whole = ret->missed == 0;
}

void bypass_free(struct bypass_list *list)
{
	free(list->events);
	free(list->paths.at);
	free(list->links.at);
	free(list->on_links);
	*list = (struct bypass_list){0};
}

struct figure bypass_quantile(const struct bypass_times *times, double share)
{
	if (!times->is_whole)
		return (struct figure){0, NOT_ALL};
	if (times->count == 0)
		return (struct figure){0, NO_EVENT};
	double rank = ceil(share * times->count - 1e-9);
	uint32_t at = rank < 1 ? 0 : (uint32_t)rank - 1;
	return (struct figure){times->at[at < times->count ? at : times->count - 1], NULL};
}
