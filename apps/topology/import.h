// SPDX-License-Identifier: Apache-2.0
// The fabric of another tool's file as a scenario: nodes and links are read by its format and
// written as a graph, for people to complete. What the format does not say is said to be assumed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/core/refusal.h>

#define IMPORT_NAME_BYTES 32
#define IMPORT_PORT_BYTES 16
#define SONIC_PORTS_MAX 1024

struct import_node {
	char name[IMPORT_NAME_BYTES];
	bool is_host;
	uint32_t nics; // of a host: links so far
};

struct import_link {
	uint32_t a, b; // places in nodes
	uint32_t line; // of the file
	double rate_bps, delay_ns, loss;
	char ports[2][IMPORT_PORT_BYTES]; // of a and b, as containerlab calls them
};

// EthernetN.
struct sonic_port {
	long number;
	double speed;
	bool is_up;
};

// The settings of a switch of SONiC: bytes, a share in per cent, speeds in Mb/s. 0: it is not.
struct sonic_switch {
	uint32_t ports, slower; // that are up; of them slower than the fastest
	double speed;
	bool has_pfc, has_ecn, has_dynamic, watch_drops;
	long priority; // of lossless traffic
	double low, high, share;
	double headroom, xoff, dynamic_th, shared;
	double watch_ms;
	char marks[64], buffers[64];	     // profiles that these are of
	uint32_t other_marks, other_buffers; // that name other profiles
	char hostname[IMPORT_NAME_BYTES];    // as nodes are named
	struct sonic_port list[SONIC_PORTS_MAX];
	uint32_t listed; // also of ports that are down; by number
};

struct import {
	const char *path, *format; // its name for people
	struct import_node *nodes;
	struct import_link *links;
	uint32_t node_count, link_count, node_room, link_room;
	bool has_rates, has_delays; // the file says them
	bool is_sonic;		    // else nodes and links
	bool has_queue;		    // nodes and links, with the settings of their switches
	struct sonic_switch sonic;
};

// Reads the file `path`, of any of the formats: the topology text of ns-3's RDMA models (HPCC,
// SimAI), a topology of containerlab, or SONiC's config_db.json. Returns 0, or a negative errno and
// the refusal with its place. `ret` is to be released either way.
int import_read(struct import *ret, const char *path, struct refusal *refusal);

// Puts settings of switches into a fabric of containerlab: each of `configs` is a config_db.json,
// or NAME=FILE where its hostname is another. Every switch has one. Links take the speeds of the
// ports at their ends. Refused by name: settings that differ, as a scenario has one queue.
int import_merge(struct import *import, const char *const *configs, uint32_t count,
		 struct refusal *refusal);

// Writes the scenario. Refused, with an output to be thrown away: what a graph cannot say.
int import_write(const struct import *import, FILE *to, struct refusal *refusal);

void import_release(struct import *import);

// A name as scenarios take it: hyphens are lines there.
void import_plain_name(char *ret, const char *name, size_t bytes);

// What the formats do: each fills nodes and links from a text.
int import_ns3(struct import *ret, const char *text, size_t bytes, struct refusal *refusal);
int import_clab(struct import *ret, const char *text, size_t bytes, struct refusal *refusal);

// Add one; the refusal says too many, or no memory.
int import_add_node(struct import *import, const char *name, bool is_host, struct refusal *refusal);
int import_add_link(struct import *import, const struct import_link *link, struct refusal *refusal);
// A refusal at a line of the file.
int import_refuse(const struct import *import, struct refusal *refusal, uint32_t line,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

// SONiC's config_db.json: the settings of one switch: its ports, marks, buffers and pauses.

// Reads the text of a config_db.json. -EINVAL with line and column where it is no JSON, else with
// TABLE|KEY|field.
int import_sonic(struct import *ret, const char *text, size_t bytes, struct refusal *refusal);

// Writes a scenario of the switch alone: its ports that are up, with a NIC at each.
void import_sonic_write(const struct import *import, FILE *to);

// Writes the marks, buffers and pauses of a switch as the section `queue`, behind its preset.
void import_sonic_queue(const struct sonic_switch *of, FILE *to);
