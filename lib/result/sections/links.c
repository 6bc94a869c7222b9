// SPDX-License-Identifier: Apache-2.0
// See links.h.

#include <weft/result/links.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sections.h"
#include <weft/result/number.h>
#include <weft/result/put.h>

// What is retransmitted counts on an uplink, too: one flow alone puts hardly more on it.
#define ABOVE_A_NIC 1.1
#define NO_COLLISION "no flow shares a line by its hash"
#define NOT_WATCHED "not measured: watch.links is false"

static const char *const names[LINK_GROUP_COUNT] = {"nic_up", "trunk_up", "trunk_down", "nic_down"};

const char *links_group_name(enum link_group group)
{
	return names[group];
}

struct load {
	uint32_t cables, ports; // that there are; of switches, with a queue that is measured
	double bytes, squares;	// of data, over the cables
	uint64_t most;		// bytes of one cable
	uint64_t lost;		// packets
	uint64_t waited, marked, trimmed, dropped;
	double due; // marks
	uint32_t queue_max_bytes;
	ps_t above_ps, above_max_ps; // the queue above the threshold: of all ports, of one
};

// A port by the time that its queue was above the threshold.
struct busy {
	uint32_t cable;
	ps_t above_ps;
};

struct links {
	struct load loads[LINK_GROUP_COUNT];
	struct busy busiest[LINKS_BUSIEST];
	uint32_t busiest_count;
};

static ps_t above_ps(const struct world *world, const struct queue_watch *watch)
{
	ps_t since = watch->above_since_ps;
	return watch->above_ps + (since == PS_NEVER ? 0 : ps_max(world->reached_ps - since, 0));
}

// Keeps it among those that were above for longest; of equal ones the first cable.
static void list(struct links *links, const struct busy *more)
{
	uint32_t at = links->busiest_count;
	while (at > 0 && links->busiest[at - 1].above_ps < more->above_ps)
		at--;
	if (at == LINKS_BUSIEST || more->above_ps == 0)
		return;
	uint32_t last = links->busiest_count < LINKS_BUSIEST ? links->busiest_count++
							     : LINKS_BUSIEST - 1;
	memmove(&links->busiest[at + 1], &links->busiest[at],
		(last - at) * sizeof(*links->busiest));
	links->busiest[at] = *more;
}

static void add_queue(struct links *links, const struct world *world, uint32_t cable,
		      struct load *load)
{
	const struct queue_watch *watch = links_queue(world, cable);
	if (watch == NULL)
		return;
	ps_t above = above_ps(world, watch);
	load->ports++;
	load->waited += watch->waited;
	load->marked += watch->marked;
	load->trimmed += watch->trimmed;
	load->dropped += watch->dropped;
	load->due += (double)watch->due / (double)DUE_MARK_ONE;
	if (watch->queue_max_bytes > load->queue_max_bytes)
		load->queue_max_bytes = watch->queue_max_bytes;
	load->above_ps += above;
	load->above_max_ps = ps_max(load->above_max_ps, above);
	list(links, &(struct busy){cable, above});
}

static void links_of(struct links *ret, const struct world *world)
{
	*ret = (struct links){0};
	for (uint32_t i = 0; i < 2 * world->topology.link_count; i++) {
		const struct link_count *count = &world->links.counts[i];
		struct load *load = &ret->loads[world_link_group(world, i)];
		double bytes = (double)count->data_bytes;
		load->cables++;
		load->bytes += bytes;
		load->squares += bytes * bytes;
		load->lost += count->lost_down + count->lost_random;
		if (count->data_bytes > load->most)
			load->most = count->data_bytes;
		add_queue(ret, world, i, load);
	}
}

// Jain's index of the cables' bytes, and the most over the mean; 0 when nothing was carried.
static double jain(const struct load *load)
{
	return jain_of(load->bytes, load->squares, (uint32_t)load->cables);
}

static double max_to_mean(const struct load *load)
{
	return load->bytes > 0 ? (double)load->most * load->cables / load->bytes : 0;
}

// What the lines of a group that carry something carry on average, of their rate; the busiest.
static double mean_line(const struct world *world, enum link_group group, double *ret_most)
{
	double sum = 0;
	uint32_t carrying = 0;
	*ret_most = 0;
	for (uint32_t i = 0; i < 2 * world->topology.link_count; i++) {
		double carried = (double)world->links.counts[i].data_bytes /
			(double)world->topology.links[i / 2].rate_bps;
		if (world_link_group(world, i) != group || carried == 0)
			continue;
		carrying++;
		sum += carried;
		*ret_most = fmax(*ret_most, carried);
	}
	return carrying > 0 ? sum / carrying : 0;
}

// Ranks of a collective load their lines alike, but for what their planes make of it.
static double nics_collide(const struct world *world, double mean, double most)
{
	bool is_alike = world->outcome->collective_count > 0 && world->topology.planes > 1;
	return is_alike && mean > 0 ? most / mean : 0;
}

double links_collide(const struct report_input *input)
{
	const struct world *world = input->world;
	struct links links;
	double uplink, up, down;
	if (world->links.counts == NULL || world->transport.kind != TRANSPORT_RC ||
	    world->fabric.spray != FABRIC_SPRAY_HASH)
		return NAN;
	mean_line(world, LINK_TRUNK_UP, &uplink);
	double sent = mean_line(world, LINK_NIC_UP, &up);
	double got = mean_line(world, LINK_NIC_DOWN, &down);
	links_of(&links, world);
	double most = nics_collide(world, sent, up);
	if (uplink > ABOVE_A_NIC * fmax(sent, got))
		most = fmax(most, max_to_mean(&links.loads[LINK_TRUNK_UP]));
	return most > 0 ? most : NAN;
}

static void put_load(json_t *array, const struct load *load, enum link_group group)
{
	json_t *row = row_in(array);
	put_text(row, "group", names[group]);
	put_count(row, "cables", load->cables);
	put_count(row, "data_bytes", (uint64_t)load->bytes);
	put_real(row, "jain", jain(load));
	put_real(row, "max_to_mean", max_to_mean(load));
	put_count(row, "lost", load->lost);
	put_count(row, "queues", load->ports);
	put_count(row, "waited", load->waited);
	put_count(row, "marked", load->marked);
	put_real(row, "marks_due", load->due);
	put_count(row, "trimmed", load->trimmed);
	put_count(row, "dropped", load->dropped);
	put_count(row, "queue_bytes_max", load->queue_max_bytes);
	put_time(row, "above_threshold_ps", load->above_ps);
	put_time(row, "above_threshold_max_ps", load->above_max_ps);
}

// The cables of a group in one plane: what the planes of a fabric carry, level by level.
static void put_plane(json_t *array, const struct world *world, enum link_group group,
		      uint32_t plane)
{
	uint64_t cables = 0, bytes = 0, most = 0;
	for (uint32_t i = 0; i < 2 * world->topology.link_count; i++) {
		uint64_t more = world->links.counts[i].data_bytes;
		if (world->topology.links[i / 2].plane != plane ||
		    world_link_group(world, i) != group)
			continue;
		cables++;
		bytes += more;
		if (more > most)
			most = more;
	}
	if (cables == 0)
		return;
	json_t *row = row_in(array);
	put_text(row, "group", names[group]);
	put_count(row, "plane", plane);
	put_count(row, "cables", cables);
	put_count(row, "data_bytes", bytes);
	put_count(row, "data_bytes_max", most);
}

static void put_planes(json_t *array, const struct world *world)
{
	for (enum link_group group = 0; group < LINK_GROUP_COUNT; group++)
		for (uint32_t plane = 0; plane < world->topology.planes; plane++)
			put_plane(array, world, group, plane);
}

// What a switch puts on its cables: the most of one, and over all.
static void put_switch(json_t *array, const struct world *world, uint32_t index)
{
	const struct switch_plan *plan = &world->topology.switches[index];
	char name[WORLD_CABLE_NAME_BYTES];
	uint64_t bytes = 0, most = 0;
	uint32_t queue_max = 0;
	for (uint32_t port = 0; port < plan->port_count; port++) {
		const struct link_plan *link =
			&world->topology.links[world->topology.port_links[plan->port_first + port]];
		uint64_t link_index = (uint64_t)(link - world->topology.links);
		bool is_a = link->node_a == world->topology.hosts + index;
		uint64_t more = world->links.counts[2 * link_index + !is_a].data_bytes;
		const struct queue_watch *watch = switch_port_watch(world->switches[index], port);
		bytes += more;
		most = more > most ? more : most;
		if (watch != NULL && watch->queue_max_bytes > queue_max)
			queue_max = watch->queue_max_bytes;
	}
	json_t *row = row_in(array);
	world_switch_name(world, index, name, sizeof(name));
	put_text(row, "switch", name);
	put_count(row, "plane", plan->plane);
	put_count(row, "data_bytes", bytes);
	put_count(row, "data_bytes_max", most);
	put_count(row, "queue_bytes_max", queue_max);
}

void links_json(json_t *root, const struct report_input *input)
{
	const struct world *world = input->world;
	struct links links;
	if (world->links.counts == NULL) {
		put_reason(root, "links", NOT_WATCHED);
		return;
	}
	links_of(&links, world);
	json_t *to = object_in(root, "links");
	put_count(to, "threshold_bytes", world->topology.ecn_low_bytes);
	json_t *groups = array_in(to, "groups");
	for (uint32_t group = 0; group < LINK_GROUP_COUNT; group++)
		if (links.loads[group].cables > 0)
			put_load(groups, &links.loads[group], (enum link_group)group);
	put_planes(array_in(to, "planes"), world);
	links_top_json(to, input);
	double collide = links_collide(input);
	if (isnan(collide))
		put_reason(to, "collide", NO_COLLISION);
	else
		put_real(to, "collide", collide);
	depths_json(to, input);
	json_t *array = array_in(to, "switches");
	for (uint32_t i = 0; i < world->topology.switch_count; i++)
		put_switch(array, world, i);
	array = array_in(to, "busiest");
	for (uint32_t i = 0; i < links.busiest_count; i++) {
		const struct busy *busy = &links.busiest[i];
		char name[WORLD_CABLE_NAME_BYTES];
		json_t *row = row_in(array);
		world_cable_name(world, busy->cable, name, sizeof(name));
		put_text(row, "cable", name);
		put_time(row, "above_threshold_ps", busy->above_ps);
		put_count(row, "queue_bytes_max", links_queue(world, busy->cable)->queue_max_bytes);
		put_count(row, "data_bytes", world->links.counts[busy->cable].data_bytes);
	}
}

void links_table(FILE *to, const json_t *result)
{
	const json_t *links = json_object_get(result, "links"), *of;
	size_t i;
	if (!json_is_object(links))
		return;
	fprintf(to, "\nLinks%22s %10s %9s %12s %10s %12s %10s\n", "data", "max/mean", "Jain",
		"deepest", "marked", "above ECN", "trimmed");
	json_array_foreach(json_object_get(links, "groups"), i, of)
	{
		fprintf(to, "  %-10s ", document_text(of, "group"));
		table_say(to, of, "{data_bytes:,14} ");
		fprintf(to, "%10.4f %9.5f ", document_number(of, "max_to_mean"),
			document_number(of, "jain"));
		if (document_number(of, "queues") > 0)
			table_say(to, of,
				  "{queue_bytes_max:bytes,12} {marked:,10} "
				  "{above_threshold_max_ps:,12} {trimmed:,10}\n");
		else
			fprintf(to, "%12s %10s %12s %10s\n", "-", "-", "-", "-");
	}
	table_say(to, links,
		  "  above ECN: the longest that one queue was above {threshold_bytes}, where "
		  "marking starts\n");
}
