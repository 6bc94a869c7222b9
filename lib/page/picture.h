// SPDX-License-Identifier: Apache-2.0
// The fabric as a picture inside a page: hosts, switches by tier, a grid or a circle, and the links
// between them, coloured by how busy they were, with those that stand out marked. It is made of
// cables.csv. Of a large fabric neighbours share a box, and a line stands for all links between two
// boxes: as wide as they are many, coloured by the busiest.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PICTURE_NAME_BYTES 48
#define PICTURE_PLANES_MAX 64

enum picture_form { PICTURE_ROWS, PICTURE_GRID, PICTURE_CIRCLE };

struct picture_node {
	char name[PICTURE_NAME_BYTES];
	uint32_t plane, number; // number: in its tier; of others the place among all of a plane
	uint32_t tier;
	uint32_t at[3]; // of a grid
	uint32_t box;
	bool is_culprit, is_named; // named: it has no number of a tier
};

struct picture_link {
	uint32_t lower, upper; // lower: a NIC, or a node
	uint32_t plane;
	bool is_nic, is_culprit;
	double share; // of the time that it was busy in the busier direction; negative: not known
};

struct picture {
	enum picture_form form;
	struct picture_node *nodes;
	struct picture_link *links;
	uint32_t node_count, link_count, nodes_room, links_room;
	uint32_t *places, places_size; // of the nodes, by their names
	uint32_t nics, hosts, planes, tiers;
	bool *nic_is_culprit;			// [nics]
	bool *host_is_culprit;			// [hosts]
	double traffic_ps;			// 0: how busy a link was is not known
	uint64_t culprit_planes;		// a bit for each that something stands out in
	const json_t *culprit;			// the first, or NULL
	char busiest[2 * PICTURE_NAME_BYTES];	// link between switches
	double trunk_low, trunk_high, nic_high; // shares
	char nic_busiest[PICTURE_NAME_BYTES];
	double plane_high[PICTURE_PLANES_MAX]; // the busiest link
};

// Of the text of cables.csv and the result beside it. NULL: there is nothing to draw.
struct picture *picture_create(const char *cables, const json_t *result);
void picture_free(struct picture *picture);

// A sentence on the load of the links.
void picture_sentence(const struct picture *picture, char *ret, size_t bytes);

// The planes that differ, each as a figure, wide and narrow.
void picture_write(FILE *to, const struct picture *picture);

// ---------------------------------------------------------------- inside

#define BOXES_MAX 224
#define NO_BOX UINT32_MAX

struct picture_box {
	char name[2 * PICTURE_NAME_BYTES], brief[24], least[12]; // where the one before is too wide
	double x, y, width, height;				 // of its middle
	uint32_t row, nics, dots; // of hosts: NICs of the box, and of these drawn
	bool is_culprit, is_host;
};

struct picture_line {
	uint32_t links;
	double sum, high; // shares
	bool is_culprit;
};

// One plane in boxes, for a width.
struct picture_plan {
	const struct picture *picture;
	uint32_t plane, box_count, rows, drawn; // drawn: lines
	double width, height, left, letter;	// letter: the size of words
	struct picture_box boxes[BOXES_MAX];
	uint32_t *box_of_host;	    // [hosts]
	uint32_t *box_of_node;	    // [nodes]
	struct picture_line *lines; // [boxes][boxes]
};

void picture_plan(struct picture_plan *ret, const struct picture *picture, uint32_t plane,
		  double width, double letter);
void picture_plan_free(struct picture_plan *plan);
