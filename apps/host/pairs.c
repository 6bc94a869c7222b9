// SPDX-License-Identifier: Apache-2.0
// What went between each two hosts: frames that left and that came, by how many paths, over how
// many hops. Each host knows its own; where a run came to its end they tell each other.

#include <stdlib.h>

#include <jansson.h>

#include "host.h"

#define HOSTS_TOLD 128u // more hosts keep it to themselves: all tell all

void pairs_gather(struct call *call, const struct host_run *host_run)
{
	struct refusal none;
	uint32_t hosts = call->meeting.options.count;
	struct seen_pair *own = calloc(hosts, sizeof(*own));
	call->pairs = (struct pairs){.of = calloc((size_t)hosts * hosts, sizeof(*own))};
	if (own == NULL || call->pairs.of == NULL) {
		free(own);
		pairs_drop(call);
		return;
	}
	for (uint32_t i = 0; i < hosts; i++) {
		seen_pair(wall_seen(host_run->wall), call->index, i, &own[i]);
		call->pairs.of[(size_t)call->index * hosts + i] = own[i];
	}
	call->pairs.is_whole = host_run->end == WALL_END_DONE && hosts <= HOSTS_TOLD &&
		meeting_share(&call->meeting, own, call->pairs.of, hosts * (uint32_t)sizeof(*own),
			      &none) == 0;
	free(own);
}

void pairs_drop(struct call *call)
{
	free(call->pairs.of);
	call->pairs = (struct pairs){0};
}

static void pair_of(const void *context, uint32_t host, uint32_t other, struct seen_pair *ret)
{
	const struct call *call = context;
	*ret = call->pairs.of[(size_t)host * call->meeting.options.count + other];
}

void pairs_fidelity(struct report_fidelity *ret, const struct call *call)
{
	*ret = (struct report_fidelity){
		.hosts = call->pairs.of != NULL ? call->meeting.options.count : 0,
		.own = call->pairs.is_whole ? FIDELITY_EVERY : call->index,
		.pair = pair_of,
		.context = call};
}

json_t *pairs_json(const struct call *call)
{
	struct report_fidelity fidelity;
	pairs_fidelity(&fidelity, call);
	return fidelity_host_pairs(&fidelity);
}

void pairs_print(FILE *to, const struct call *call)
{
	json_t *list = pairs_json(call);
	fidelity_host_pairs_line(to, "", list);
	json_decref(list);
}
