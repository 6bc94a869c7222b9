// SPDX-License-Identifier: Apache-2.0
// The cable that carried most for its rate, and the deepest queue, with watch.links.

#include <string.h>

#include <weft/result/figures.h>
#include <weft/result/put.h>

#include "sections.h"

const struct queue_watch *links_queue(const struct world *world, uint32_t cable)
{
	const struct link_plan *link = &world->topology.links[cable / 2];
	uint32_t node = cable % 2 == 0 ? link->node_a : link->node_b;
	uint32_t port = cable % 2 == 0 ? link->port_a : link->port_b;
	if (node < world->topology.hosts)
		return NULL;
	return switch_port_watch(world->switches[node - world->topology.hosts], port);
}

static uint64_t rate_of(const struct world *world, uint32_t cable)
{
	return world->topology.links[cable / 2].rate_bps;
}

static double share_of_rate(const struct world *world, uint32_t cable, ps_t time_ps)
{
	double bits = (double)world->links.counts[cable].data_bytes * 8;
	return bits * PS_PER_S / (double)rate_of(world, cable) / (double)time_ps;
}

struct link_top {
	uint32_t cable;
	uint64_t bytes; // of data that it carried; of its queue
	double share;	// of what its rate carries while traffic ran; of queues none
	uint32_t full;	// of queues: ports that were as deep
};

// False: nothing was watched, or nothing was carried or queued.
static bool links_busiest(struct link_top *ret, const struct report_input *input)
{
	const struct world *world = input->world;
	struct goodput goodput;
	*ret = (struct link_top){0};
	goodput_of(&goodput, input);
	if (world->links.counts == NULL || goodput.traffic_ps <= 0 || is_sampled(input))
		return false;
	for (uint32_t i = 0; i < 2 * world->topology.link_count; i++) {
		double share = share_of_rate(world, i, goodput.traffic_ps);
		if (share > ret->share)
			*ret = (struct link_top){i, world->links.counts[i].data_bytes, share, 0};
	}
	return ret->share > 0;
}

static bool links_deepest(struct link_top *ret, const struct report_input *input)
{
	const struct world *world = input->world;
	*ret = (struct link_top){0};
	if (world->links.counts == NULL || is_sampled(input)) // a sample has no extremes
		return false;
	for (uint32_t i = 0; i < 2 * world->topology.link_count; i++) {
		const struct queue_watch *watch = links_queue(world, i);
		if (watch != NULL && watch->queue_max_bytes > ret->bytes)
			*ret = (struct link_top){i, watch->queue_max_bytes, 0, 0};
		ret->full += watch != NULL && watch->queue_max_bytes == ret->bytes;
	}
	return ret->bytes > 0;
}

// Its last figure is a share of cables, a number of queues.
static void put_top(json_t *to, const char *key, const struct link_top *top, bool is_there,
		    const struct report_input *input)
{
	bool is_queue = strcmp(key, "deepest") == 0;
	const char *const keys[] = {"cable", "bytes", is_queue ? "queues" : "share", "rate_bps"};
	char name[WORLD_CABLE_NAME_BYTES];
	json_t *object = object_in(to, key);
	for (size_t i = 0; !is_there && i < (is_queue ? 3 : 4); i++)
		put_reason(object, keys[i], is_sampled(input) ? NOT_IN_SAMPLE : "no traffic");
	if (!is_there)
		return;
	world_cable_name(input->world, top->cable, name, sizeof(name));
	put_text(object, keys[0], name);
	put_count(object, keys[1], top->bytes);
	if (is_queue)
		put_count(object, keys[2], top->full);
	else
		put_real(object, keys[2], top->share);
	if (!is_queue)
		put_count(object, "rate_bps", rate_of(input->world, top->cable));
}

void links_top_json(json_t *to, const struct report_input *input)
{
	struct link_top top;
	bool is_there = links_busiest(&top, input);
	put_top(to, "most_loaded", &top, is_there, input);
	is_there = links_deepest(&top, input);
	put_top(to, "deepest", &top, is_there, input);
}
