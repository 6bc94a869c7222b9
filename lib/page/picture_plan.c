// SPDX-License-Identifier: Apache-2.0
// Which boxes a plane of a picture has, where they lie, and the lines between them.

#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/core/order.h>

#define HOSTS_SHOWN 16u	   // boxes of hosts
#define SWITCHES_SHOWN 32u // of a tier; of more, groups
#define GROUPS 16u
#define TIERS_SHOWN 4u
#define DOTS_MAX 128u // NICs of all boxes that are drawn one by one
#define ROW_HEIGHT 92.0
#define HEAD 34.0

// ---------------------------------------------------------------- groups

static struct picture_box *add_box(struct picture_plan *plan, uint32_t row)
{
	check(plan->box_count < BOXES_MAX);
	struct picture_box *box = &plan->boxes[plan->box_count++];
	*box = (struct picture_box){.row = row};
	return box;
}

static void name_box(struct picture_box *box, const char *word, uint32_t first, uint32_t last)
{
	snprintf(box->least, sizeof(box->least), "%u", first);
	if (first == last) {
		snprintf(box->name, sizeof(box->name), "%s %u", word, first);
		snprintf(box->brief, sizeof(box->brief), "%u", first);
	} else {
		snprintf(box->name, sizeof(box->name), "%s %u\xe2\x80\x93%u", word, first, last);
		snprintf(box->brief, sizeof(box->brief), "%u\xe2\x80\x93%u", first, last);
	}
}

static bool host_stands_out(const struct picture *picture, uint32_t host)
{
	uint32_t each = picture->nics / picture->hosts;
	bool is_out = picture->host_is_culprit[host];
	for (uint32_t i = 0; i < each && !is_out; i++)
		is_out = picture->nic_is_culprit[host * each + i];
	return is_out;
}

// How many of `count` share a box.
static uint32_t group_size(uint32_t count, uint32_t shown)
{
	return count <= shown ? 1 : (count + GROUPS - 1) / GROUPS;
}

// Hosts in groups of equal size; one that stands out has a box of its own.
static void add_hosts(struct picture_plan *plan)
{
	const struct picture *picture = plan->picture;
	uint32_t per = group_size(picture->hosts, HOSTS_SHOWN), first = 0;
	uint32_t each = picture->nics / picture->hosts;
	for (uint32_t i = 0; i < picture->hosts; i++) {
		bool is_out = host_stands_out(picture, i);
		bool is_last = i + 1 == picture->hosts || (i + 1) % per == 0 || is_out ||
			(host_stands_out(picture, i + 1) && per > 1);
		plan->box_of_host[i] = plan->box_count;
		if (!is_last)
			continue;
		if (plan->box_count + SWITCHES_SHOWN * TIERS_SHOWN >= BOXES_MAX) {
			is_out = false; // too many stand out: they stay in their groups
			if ((i + 1) % per != 0 && i + 1 != picture->hosts)
				continue;
		}
		struct picture_box *box = add_box(plan, 0);
		name_box(box, each == 1 ? "nic" : "host", first, i);
		if (each == 1 && first != i)
			name_box(box, "nics", first, i);
		else if (first != i)
			name_box(box, "hosts", first, i);
		box->is_host = true;
		box->is_culprit = is_out;
		box->nics = (i + 1 - first) * each;
		box->dots = picture->nics <= DOTS_MAX ? box->nics : 0;
		first = i + 1;
	}
}

// Whether a switch of this plane, or one of its links to another switch, stands out.
static void find_hot(const struct picture_plan *plan, bool *hot)
{
	const struct picture *picture = plan->picture;
	for (uint32_t i = 0; i < picture->node_count; i++)
		hot[i] = picture->nodes[i].is_culprit && picture->nodes[i].plane == plan->plane;
	for (uint32_t i = 0; i < picture->link_count; i++) {
		const struct picture_link *link = &picture->links[i];
		if (!link->is_culprit || link->plane != plan->plane)
			continue;
		hot[link->upper] = true;
		if (!link->is_nic)
			hot[link->lower] = true;
	}
}

struct order {
	uint32_t number, node;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *left = a, *right = b;
	return ORDER(left->number, right->number);
}

// Boxes of the switches of a tier: one each, or groups of neighbours, of which those that stand
// out have boxes of their own as long as there is room.
static void add_switches(struct picture_plan *plan, uint32_t tier, const bool *hot)
{
	const struct picture *picture = plan->picture;
	struct order *list = calloc(picture->node_count + 1u, sizeof(*list));
	uint32_t count = 0, first = 0, alone = 0;
	check_memory(list != NULL);
	for (uint32_t i = 0; i < picture->node_count; i++)
		if (picture->nodes[i].plane == plan->plane && picture->nodes[i].tier == tier)
			list[count++] = (struct order){picture->nodes[i].number, i};
	qsort(list, count, sizeof(*list), order_compare);
	uint32_t per = group_size(count, SWITCHES_SHOWN);
	for (uint32_t i = 0; i < count; i++) {
		const struct picture_node *node = &picture->nodes[list[i].node];
		bool is_hot = hot[list[i].node] && alone < 8;
		bool is_next_hot = i + 1 < count && hot[list[i + 1].node] && alone < 8;
		plan->box_of_node[list[i].node] = plan->box_count;
		if (i + 1 < count && (i + 1) % per != 0 && !is_hot && !is_next_hot)
			continue;
		struct picture_box *box = add_box(plan, 1 + tier);
		char word[8];
		snprintf(word, sizeof(word), "t%u", tier > 9 ? 9 : tier);
		name_box(box, word, list[first].number, list[i].number);
		if (node->is_named && first == i) {
			snprintf(box->name, sizeof(box->name), "%s", node->name);
			snprintf(box->brief, sizeof(box->brief), "%.20s", node->name);
		} else if (node->is_named) {
			snprintf(box->name, sizeof(box->name), "%u switches", i + 1 - first);
			snprintf(box->brief, sizeof(box->brief), "%u", i + 1 - first);
		}
		box->is_culprit = is_hot;
		alone += is_hot;
		first = i + 1;
	}
	free(list);
}

// ---------------------------------------------------------------- places

static void ev_slot_row(struct picture_plan *plan, uint32_t row)
{
	uint32_t count = 0, at = 0;
	for (uint32_t i = 0; i < plan->box_count; i++)
		count += plan->boxes[i].row == row;
	double room = (plan->width - plan->left - 4) / (count > 0 ? count : 1);
	for (uint32_t i = 0; i < plan->box_count; i++) {
		struct picture_box *box = &plan->boxes[i];
		if (box->row != row)
			continue;
		box->width = box->is_host ? fmin(room - 4, 150)
					  : fmin(room - 3, 7.4 * plan->letter);
		box->height = box->is_host && box->dots > 0 ? 34 : 20;
		box->x = plan->left + room * (at++ + 0.5);
		box->y = HEAD + ROW_HEIGHT * (plan->rows - 1 - row) + 12;
	}
}

// Routers of a torus: x to the right, y down, layers of z side by side; many share boxes.
static void place_grid(struct picture_plan *plan)
{
	const struct picture *picture = plan->picture;
	uint32_t most[3] = {0}, per[3] = {1, 1, 1};
	for (uint32_t i = 0; i < picture->node_count; i++)
		for (int k = 0; k < 3; k++)
			if (picture->nodes[i].at[k] + 1 > most[k])
				most[k] = picture->nodes[i].at[k] + 1;
	while ((most[0] + per[0] - 1) / per[0] * ((most[1] + per[1] - 1) / per[1]) *
		       ((most[2] + per[2] - 1) / per[2]) >
	       144) {
		int k = most[2] / per[2] >= most[0] / per[0] ? 2 : 0;
		k = most[1] / per[1] > most[k] / per[k] ? 1 : k;
		per[k] *= 2;
	}
	uint32_t nx = (most[0] + per[0] - 1) / per[0], ny = (most[1] + per[1] - 1) / per[1];
	uint32_t nz = (most[2] + per[2] - 1) / per[2];
	double room = (plan->width - 8) / (nx * nz + 0.6 * (nz - 1)), step = fmin(70, room * 1.1);
	for (uint32_t i = 0; i < nx * ny * nz; i++) {
		struct picture_box *box = add_box(plan, 1);
		uint32_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
		snprintf(box->name, sizeof(box->name), "%u.%u.%u", x * per[0], y * per[1],
			 z * per[2]);
		snprintf(box->brief, sizeof(box->brief), "%s", "");
		box->x = 4 + room * (x + 0.5 + z * (nx + 0.6));
		box->y = HEAD + step * (y + 0.5);
		box->width = fmin(room * 0.62, 6 * plan->letter);
		box->height = fmin(20, step * 0.5);
	}
	for (uint32_t i = 0; i < picture->node_count; i++) {
		const uint32_t *at = picture->nodes[i].at;
		plan->box_of_node[i] = (at[2] / per[2] * ny + at[1] / per[1]) * nx + at[0] / per[0];
	}
	plan->height = HEAD + step * ny + 14;
}

static void place_circle(struct picture_plan *plan)
{
	uint32_t count = plan->box_count;
	double radius = fmin(plan->width / 2 - 60, 190), y = HEAD + radius + 14;
	for (uint32_t i = 0; i < count; i++) {
		struct picture_box *box = &plan->boxes[i];
		double angle = 2 * 3.14159265358979 * i / (count > 0 ? count : 1);
		box->x = plan->width / 2 + radius * sin(angle) * 1.12;
		box->y = y - radius * cos(angle);
		box->width = fmin(7.4 * plan->letter, fmax(14, 6 * radius / (count + 1)));
		box->height = 20;
	}
	plan->height = y + radius + 24;
}

// ---------------------------------------------------------------- lines

static void add_lines(struct picture_plan *plan)
{
	const struct picture *picture = plan->picture;
	uint32_t each = picture->nics / picture->hosts;
	for (uint32_t i = 0; i < picture->link_count; i++) {
		const struct picture_link *link = &picture->links[i];
		if (link->plane != plan->plane || (link->is_nic && link->lower >= picture->nics))
			continue;
		uint32_t a = link->is_nic ? plan->box_of_host[link->lower / each]
					  : plan->box_of_node[link->lower];
		uint32_t b = plan->box_of_node[link->upper];
		if (a == NO_BOX || b == NO_BOX || a == b)
			continue;
		struct picture_line *line = &plan->lines[a * BOXES_MAX + b];
		if (plan->lines[b * BOXES_MAX + a].links > 0) // the same, seen from its other end
			line = &plan->lines[b * BOXES_MAX + a];
		line->high = line->links == 0 ? link->share : fmax(line->high, link->share);
		line->sum += link->share;
		line->links++;
		line->is_culprit |= link->is_culprit;
		plan->boxes[a].is_culprit |= link->is_culprit && plan->boxes[a].is_host;
	}
}

static void make_room(struct picture_plan *plan)
{
	const struct picture *picture = plan->picture;
	plan->box_of_host = malloc((picture->hosts + 1u) * sizeof(uint32_t));
	plan->box_of_node = malloc((picture->node_count + 1u) * sizeof(uint32_t));
	plan->lines = calloc((size_t)BOXES_MAX * BOXES_MAX, sizeof(*plan->lines));
	check_memory(plan->box_of_host != NULL && plan->box_of_node != NULL && plan->lines != NULL);
	for (uint32_t i = 0; i < picture->hosts; i++)
		plan->box_of_host[i] = NO_BOX;
	for (uint32_t i = 0; i < picture->node_count; i++)
		plan->box_of_node[i] = NO_BOX;
}

void picture_plan(struct picture_plan *ret, const struct picture *picture, uint32_t plane,
		  double width, double letter)
{
	*ret = (struct picture_plan){.picture = picture, .plane = plane, .width = width};
	ret->letter = letter;
	ret->left = 4 * letter;
	ret->rows = 1 + (picture->tiers < TIERS_SHOWN ? picture->tiers : TIERS_SHOWN);
	make_room(ret);
	bool *hot = calloc(picture->node_count + 1u, sizeof(*hot));
	check_memory(hot != NULL);
	find_hot(ret, hot);
	if (picture->form == PICTURE_ROWS)
		add_hosts(ret);
	for (uint32_t tier = 0; tier + 1 < ret->rows && picture->form != PICTURE_GRID; tier++)
		add_switches(ret, tier, hot);
	free(hot);
	ret->height = HEAD + ROW_HEIGHT * (ret->rows - 1) + 36;
	for (uint32_t row = 0; row < ret->rows && picture->form == PICTURE_ROWS; row++)
		ev_slot_row(ret, row);
	if (picture->form == PICTURE_GRID)
		place_grid(ret);
	else if (picture->form == PICTURE_CIRCLE)
		place_circle(ret);
	add_lines(ret);
}

void picture_plan_free(struct picture_plan *plan)
{
	free(plan->box_of_host);
	free(plan->box_of_node);
	free(plan->lines);
}
