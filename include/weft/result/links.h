// SPDX-License-Identifier: Apache-2.0
// What links and queues carried, with watch.links: evenness of load by where links are, queues by
// where ports lead, and the ports that were above the threshold for longest.
#pragma once

#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

#define LINKS_BUSIEST 16
#define LINKS_COLLIDE_MIN 1.5 // the busiest line over the mean of its kind

// As results call a group of cables: "trunk_up".
const char *links_group_name(enum link_group group);

// Where RoCEv2 keeps flows on the path of their hash, the busiest line over the mean of its kind:
// of uplinks, where one carries more than a line of a NIC does on average, so more than one flow's;
// of NICs' lines in several planes, in a collective. NAN: there is none, or links were not watched.
double links_collide(const struct report_input *input);

// The `links` of result.json, and the lines of the table; nothing in that without watch.links.
void links_json(json_t *root, const struct report_input *input);
void links_table(FILE *to, const json_t *result);
