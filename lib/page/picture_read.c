// SPDX-License-Identifier: Apache-2.0
// Nodes and links of a picture, from the lines of cables.csv: two for each link, upwards first.

#include "picture.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>

#include "report_model.h"

#define FIELDS 8 // of a line: cable, group, plane, packets, bytes, data_bytes, lost, rate_bps
#define ENDS_BYTES 160
#define LEVELS_MAX 8
#define GRID_MAX 4096u // routers along an axis

static void *grown(void *from, uint32_t count, uint32_t *room, size_t each)
{
	if (count < *room)
		return from;
	*room = *room == 0 ? 256 : 2 * *room;
	void *ret = realloc(from, *room * each);
	check_memory(ret != NULL);
	return ret;
}

// ---------------------------------------------------------------- nodes

static uint32_t hash_of(const char *name, uint32_t plane)
{
	uint32_t hash = 2166136261u ^ plane;
	for (; *name != '\0'; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

static uint32_t *place_of(const struct picture *of, const char *name, uint32_t plane)
{
	uint32_t at = hash_of(name, plane) & (of->places_size - 1);
	while (of->places[at] != 0) {
		const struct picture_node *node = &of->nodes[of->places[at] - 1];
		if (node->plane == plane && strcmp(node->name, name) == 0)
			break;
		at = (at + 1) & (of->places_size - 1);
	}
	return &of->places[at];
}

static void make_places(struct picture *of)
{
	if (of->places_size > 2 * of->node_count + 2)
		return;
	free(of->places);
	of->places_size = of->places_size == 0 ? 1024 : 2 * of->places_size;
	of->places = calloc(of->places_size, sizeof(*of->places));
	check_memory(of->places != NULL);
	for (uint32_t i = 0; i < of->node_count; i++)
		*place_of(of, of->nodes[i].name, of->nodes[i].plane) = i + 1;
}

// "t1 12" is number 12 of tier 1, "0.3.1" lies on a grid, others have names alone.
static void read_name(struct picture_node *node)
{
	unsigned tier, number, x, y, z = 0;
	int used = 0;
	if (sscanf(node->name, "t%u %u%n", &tier, &number, &used) == 2 &&
	    node->name[used] == '\0' && tier < LEVELS_MAX) {
		node->tier = tier;
		node->number = number;
		return;
	}
	node->is_named = true;
	node->tier = LEVELS_MAX;
	used = 0;
	if (sscanf(node->name, "%u.%u%n.%u%n", &x, &y, &used, &z, &used) >= 2 &&
	    node->name[used] == '\0' && x < GRID_MAX && y < GRID_MAX && z < GRID_MAX) {
		node->at[0] = x;
		node->at[1] = y;
		node->at[2] = z;
	}
}

static uint32_t node_of(struct picture *of, const char *name, uint32_t plane)
{
	make_places(of);
	uint32_t *place = place_of(of, name, plane);
	if (*place != 0)
		return *place - 1;
	of->nodes = grown(of->nodes, of->node_count, &of->nodes_room, sizeof(*of->nodes));
	struct picture_node *node = &of->nodes[of->node_count];
	*node = (struct picture_node){.plane = plane, .number = of->node_count};
	snprintf(node->name, sizeof(node->name), "%s", name);
	read_name(node);
	*place = ++of->node_count;
	return of->node_count - 1;
}

// ---------------------------------------------------------------- lines

// Cuts "t0 2 up 1 plane 0" behind the name of its switch.
static void cut_port(char *name)
{
	static const char *const words[] = {" up ", " link ", " plane "};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		char *at = strstr(name, words[i]);
		if (at != NULL)
			*at = '\0';
	}
}

// Parts of a line, which it is cut into. Returns whether it has all of them.
static bool split(char *line, char *fields[FIELDS])
{
	for (int i = 0; i < FIELDS; i++) {
		fields[i] = line;
		char *comma = strchr(line, ',');
		if ((comma == NULL) != (i + 1 == FIELDS))
			return false;
		if (comma == NULL)
			break;
		*comma = '\0';
		line = comma + 1;
	}
	return true;
}

static double share_in(const struct picture *of, char *fields[FIELDS])
{
	double bytes = strtod(fields[4], NULL), rate = strtod(fields[7], NULL);
	if (of->traffic_ps <= 0 || rate <= 0)
		return -1;
	return fmin(1, bytes * 8 / rate / (of->traffic_ps * 1e-12));
}

static bool has_words(const json_t *culprit, const char *place, const char *name)
{
	return strcmp(document_text(culprit, "place"), place) == 0 &&
		strcmp(document_text(culprit, "name"), name) == 0;
}

// Whether a list of culprits has this link, by itself or in a bundle.
static bool stands_out(const json_t *list, const char *lower, const char *upper,
		       const char *lower_switch, uint32_t plane)
{
	char link[4 * ENDS_BYTES], bundle[4 * ENDS_BYTES];
	const json_t *each;
	size_t i;
	snprintf(link, sizeof(link), "%s - %s", lower, upper);
	snprintf(bundle, sizeof(bundle), "bundle %s plane %u - %s", lower_switch, plane, upper);
	json_array_foreach(list, i, each) if (has_words(each, "link", link) ||
					      has_words(each, "bundle", bundle)) return true;
	return false;
}

static void note_load(struct picture *of, const struct picture_link *link, const char *name)
{
	char *busiest = link->is_nic ? of->nic_busiest : of->busiest;
	double *high = link->is_nic ? &of->nic_high : &of->trunk_high;
	if (link->share > *high) {
		*high = link->share;
		snprintf(busiest, link->is_nic ? sizeof(of->nic_busiest) : sizeof(of->busiest),
			 "%s", name);
	}
	if (!link->is_nic)
		of->trunk_low = fmin(of->trunk_low, link->share);
	if (link->plane < PICTURE_PLANES_MAX)
		of->plane_high[link->plane] = fmax(of->plane_high[link->plane], link->share);
}

// A line that leads up makes a link, the one after it is its other direction.
static void add_line(struct picture *of, const json_t *culprits, char *fields[FIELDS], bool is_up)
{
	char name[2 * ENDS_BYTES], lower[ENDS_BYTES], *upper = strstr(fields[0], " > ");
	unsigned nic;
	if (!is_up) {
		struct picture_link *last = &of->links[of->link_count - 1];
		last->share = fmax(last->share, share_in(of, fields));
	} else if (upper != NULL) {
		of->links = grown(of->links, of->link_count, &of->links_room, sizeof(*of->links));
		struct picture_link *link = &of->links[of->link_count++];
		snprintf(lower, sizeof(lower), "%.*s", (int)(upper - fields[0]), fields[0]);
		upper += 3;
		*link = (struct picture_link){.plane = (uint32_t)strtoul(fields[2], NULL, 10),
					      .share = share_in(of, fields)};
		snprintf(name, sizeof(name), "%s", lower);
		cut_port(name);
		link->is_culprit = stands_out(culprits, lower, upper, name, link->plane);
		link->is_nic = sscanf(name, "nic %u", &nic) == 1;
		link->upper = node_of(of, upper, link->plane);
		link->lower = link->is_nic ? nic : node_of(of, name, link->plane);
		if (link->plane + 1 > of->planes)
			of->planes = link->plane + 1;
		if (link->is_culprit && link->plane < PICTURE_PLANES_MAX)
			of->culprit_planes |= 1ull << link->plane;
	}
}

static void read_lines(struct picture *of, const char *cables, const json_t *culprits)
{
	char line[512], *fields[FIELDS];
	bool is_up = true;
	const char *at = strchr(cables, '\n'); // behind the head
	while (at != NULL && at[1] != '\0') {
		const char *end = strchr(++at, '\n');
		size_t length = end == NULL ? strlen(at) : (size_t)(end - at);
		snprintf(line, sizeof(line), "%.*s", (int)fmin((double)length, sizeof(line) - 1),
			 at);
		bool is_line = split(line, fields) &&
			strtoul(fields[2], NULL, 10) < PICTURE_PLANES_MAX;
		if (is_line && (is_up || of->link_count > 0)) {
			add_line(of, culprits, fields, is_up);
			is_up = !is_up;
		}
		at = end;
	}
}

// ---------------------------------------------------------------- whole

// Tiers of switches with names of their own: how far they are from a NIC.
static void find_levels(struct picture *of)
{
	for (uint32_t i = 0; i < of->link_count; i++)
		if (of->links[i].is_nic && of->nodes[of->links[i].upper].is_named)
			of->nodes[of->links[i].upper].tier = 0;
	for (uint32_t round = 1; round < LEVELS_MAX; round++)
		for (uint32_t i = 0; i < of->link_count; i++) {
			const struct picture_link *link = &of->links[i];
			if (link->is_nic)
				continue;
			uint32_t *a = &of->nodes[link->lower].tier,
				 *b = &of->nodes[link->upper].tier;
			if (*a + 1 < *b)
				*b = *a + 1;
			if (*b + 1 < *a)
				*a = *b + 1;
		}
	for (uint32_t i = 0; i < of->node_count; i++)
		if (of->nodes[i].tier + 1 > of->tiers)
			of->tiers = of->nodes[i].tier + 1;
}

static enum picture_form form_of(const struct picture *of)
{
	bool is_grid = of->node_count > 0, has_level_links = false;
	for (uint32_t i = 0; i < of->node_count; i++)
		is_grid &= isdigit((unsigned char)of->nodes[i].name[0]) &&
			strchr(of->nodes[i].name, '.') != NULL;
	for (uint32_t i = 0; i < of->link_count; i++)
		has_level_links |= !of->links[i].is_nic &&
			of->nodes[of->links[i].lower].tier == of->nodes[of->links[i].upper].tier;
	return is_grid						     ? PICTURE_GRID
		: has_level_links && of->node_count > 2 * of->planes ? PICTURE_CIRCLE
								     : PICTURE_ROWS;
}

static void mark_place(struct picture *of, const json_t *culprit)
{
	const char *place = document_text(culprit, "place"), *name = document_text(culprit, "name");
	unsigned number = 0, plane = 0;
	const char *digits = strrchr(name, ' ');
	if (digits != NULL)
		number = (unsigned)strtoul(digits + 1, NULL, 10);
	if (strcmp(place, "nic") == 0 && number < of->nics)
		of->nic_is_culprit[number] = true;
	if (strcmp(place, "host") == 0 && number < of->hosts)
		of->host_is_culprit[number] = true;
	if (strcmp(place, "plane") == 0 && number < PICTURE_PLANES_MAX)
		of->culprit_planes |= 1ull << number;
	if (strcmp(place, "switch") == 0) {
		char own[PICTURE_NAME_BYTES];
		snprintf(own, sizeof(own), "%s", name);
		plane = number;
		cut_port(own);
		uint32_t at = *place_of(of, own, plane);
		if (at != 0)
			of->nodes[at - 1].is_culprit = true;
		if (plane < PICTURE_PLANES_MAX)
			of->culprit_planes |= 1ull << plane;
	}
}

static void loads(struct picture *of)
{
	of->trunk_low = HUGE_VAL;
	for (uint32_t i = 0; i < of->link_count; i++) {
		const struct picture_link *link = &of->links[i];
		char name[2 * PICTURE_NAME_BYTES];
		if (link->is_nic)
			snprintf(name, sizeof(name), "nic %u", link->lower);
		else
			snprintf(name, sizeof(name), "%.40s \xe2\x80\x93 %.40s",
				 of->nodes[link->lower].name, of->nodes[link->upper].name);
		note_load(of, link, name);
	}
}

struct picture *picture_create(const char *cables, const json_t *result)
{
	const json_t *list = document_at(result, "culprits.list"), *each;
	size_t i;
	if (cables == NULL || strstr(cables, "rate_bps") == NULL)
		return NULL;
	struct picture *of = calloc(1, sizeof(*of));
	check_memory(of != NULL);
	of->nics = (uint32_t)document_number_or(result, "network.nics", 0);
	of->hosts = (uint32_t)document_number_or(result, "network.hosts", 0);
	of->nic_is_culprit = calloc(of->nics + 1u, sizeof(bool));
	of->host_is_culprit = calloc(of->hosts + 1u, sizeof(bool));
	check_memory(of->nic_is_culprit != NULL && of->host_is_culprit != NULL);
	of->culprit = json_array_get(list, 0);
	if (!json_is_true(document_at(result, "plan.sampled")))
		of->traffic_ps = document_number_or(result, "goodput.traffic_ps", 0);
	make_places(of);
	read_lines(of, cables, list);
	find_levels(of);
	of->form = form_of(of);
	loads(of);
	json_array_foreach(list, i, each) mark_place(of, each);
	if (of->link_count > 0 && of->hosts > 0 && of->nics >= of->hosts)
		return of;
	picture_free(of);
	return NULL;
}

void picture_free(struct picture *of)
{
	if (of == NULL)
		return;
	free(of->nodes);
	free(of->links);
	free(of->places);
	free(of->nic_is_culprit);
	free(of->host_is_culprit);
	free(of);
}
