// SPDX-License-Identifier: Apache-2.0
// Questions about the table of keys: when a key has an effect, and which key a path names.

#include "scenario_keys.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static bool is_rings(const struct scenario *scenario)
{
	enum traffic_kind kind = scenario->traffic.kind;
	return kind == TRAFFIC_RING || kind == TRAFFIC_MODEL || kind == TRAFFIC_TRACE;
}

// Whether keys of that use, which hang on the algorithm, have an effect with this one.
static bool cc_reads(enum scenario_use use, const struct cc_ops *ops)
{
	switch (use) {
	case USE_FIXED:
		return ops->is_fixed;
	case USE_MOVING:
		return !ops->is_fixed;
	case USE_TARGET:
		return ops->keys & CC_KEYS_TARGET;
	case USE_NSCC:
	case USE_QUICK_ADAPT:
	case USE_PENALTY:
		return ops->keys & CC_KEYS_NSCC;
	case USE_DCQCN:
		return ops->keys & CC_KEYS_DCQCN;
	case USE_CREDIT:
		return ops->keys & CC_KEYS_CREDIT;
	case USE_LAST_HOP:
		return ops->keys & CC_KEYS_LAST_HOP;
	case USE_SLEEK:
		return !ops->is_credit_alone;
	case USE_SHARED_CC:
		return !ops->has_credit && !ops->has_rate;
	default:
		return true;
	}
}

static bool is_mrc(const struct scenario *scenario)
{
	return scenario->transport.kind == TRANSPORT_MRC;
}

static bool has_path(const struct scenario *scenario, enum path_policy policy)
{
	return is_mrc(scenario) && scenario->transport.path_policy == policy;
}

// Clos, before a leaf-spine is settled to one, and after.
static bool is_clos(uint32_t kind)
{
	return kind == TOPOLOGY_CLOS || kind == TOPOLOGY_LEAF_SPINE;
}

static bool topology_use_holds(enum scenario_use use, const struct scenario *scenario)
{
	uint32_t kind = scenario->fabric.kind;
	bool has_count = scenario->oversubscription == 0;
	switch (use) {
	case USE_OVER:
		return is_clos(kind) || kind == TOPOLOGY_FAT_TREE;
	case USE_SUBSCRIBED:
		return is_clos(kind) || kind == TOPOLOGY_FAT_TREE || kind == TOPOLOGY_RAIL;
	case USE_DELAYS:
		return kind != TOPOLOGY_FILE;
	case USE_T0:
		return is_clos(kind) || kind == TOPOLOGY_TORUS;
	case USE_T1:
		return (is_clos(kind) || kind == TOPOLOGY_RAIL) && has_count;
	case USE_BUNDLE:
		return is_clos(kind) || kind == TOPOLOGY_DUMBBELL || kind == TOPOLOGY_RAIL ||
			kind == TOPOLOGY_TORUS;
	case USE_FAT_TREE:
		return kind == TOPOLOGY_FAT_TREE;
	case USE_FAT_TREE_ABOVE:
		return kind == TOPOLOGY_FAT_TREE && has_count;
	case USE_TORUS:
		return kind == TOPOLOGY_TORUS;
	case USE_FILE:
		return kind == TOPOLOGY_FILE;
	case USE_GRAPH:
		return kind == TOPOLOGY_GRAPH;
	default:
		return true;
	}
}

static bool cc_use_holds(enum scenario_use use, const struct scenario *scenario)
{
	if (!cc_reads(use, cc_find(scenario->transport.cc.name)))
		return false;
	switch (use) {
	case USE_QUICK_ADAPT:
		return !scenario->transport.cc.disable_qa;
	case USE_PENALTY:
		return scenario->transport.cc.penalty > 0;
	case USE_SLEEK:
	case USE_SHARED_CC:
	case USE_MRC:
		return is_mrc(scenario);
	case USE_RC:
		return !is_mrc(scenario);
	default:
		return topology_use_holds(use, scenario);
	}
}

static bool fabric_use_holds(enum scenario_use use, const struct scenario *scenario)
{
	switch (use) {
	case USE_SRV6: // before source routes are settled, and after
		return scenario->frames.entropy == FRAMES_ENTROPY_SRV6 ||
			scenario->fabric.forwarding == FABRIC_USID;
	case USE_SOLICITED:
		return scenario->frames.has_solicited;
	case USE_PLANES:
		return (uint32_t)scenario->fabric.kind != TOPOLOGY_LEAF_SPINE;
	case USE_REROUTE:
		return scenario->fabric.reroute.local_ps > 0;
	case USE_ECN:
		return scenario->fabric.ecn_on;
	case USE_TRIM:
		return scenario->fabric.trim_on && !scenario->fabric.pfc.is_on && is_mrc(scenario);
	case USE_PFC:
		return scenario->fabric.pfc.is_on;
	case USE_NO_PFC:
		return !scenario->fabric.pfc.is_on && scenario->fabric.buffer.bytes == 0;
	case USE_BY_PORT:
		return !switch_needs_order(&scenario->fabric) &&
			scenario->fabric.spray == FABRIC_SPRAY_HASH;
	case USE_PFC_XOFF:
		return scenario->fabric.pfc.is_on && scenario->fabric.buffer.bytes == 0;
	case USE_CUT:
		return scenario->has_cut_through;
	case USE_SHARED:
		return scenario->fabric.buffer.bytes > 0;
	case USE_PFC_WATCH:
		return scenario->fabric.pfc.is_on && scenario->fabric.pfc.watch_ps > 0;
	case USE_HOST:
		return scenario->fabric.nics_per_host > 1;
	case USE_SCALEUP:
		return scenario->scaleup.rate_bps > 0;
	case USE_DYNAMIC_MPR:
		return scenario->transport.dynamic_mpr && is_mrc(scenario);
	case USE_MRC_PATHS:
		return has_path(scenario, PATH_MRC);
	case USE_TURNS:
		return has_path(scenario, PATH_MRC) || has_path(scenario, PATH_ROTATE);
	case USE_BALANCED:
		return is_mrc(scenario) && scenario->transport.path_policy >= PATH_BITMAP &&
			scenario->transport.path_policy <= PATH_MIXED;
	case USE_FLOWLET_PATH:
		return has_path(scenario, PATH_FLOWLET);
	case USE_HASH:
		return scenario->fabric.spray == FABRIC_SPRAY_HASH &&
			scenario->fabric.forwarding == FABRIC_ECMP;
	case USE_FLOWLET_SPRAY:
		return scenario->fabric.spray == FABRIC_SPRAY_FLOWLET;
	case USE_EVS:
		return is_mrc(scenario) || scenario->fabric.forwarding == FABRIC_USID;
	case USE_PROFILE:
		return has_path(scenario, PATH_MRC) && scenario->transport.ev_mode != EV_AUTO;
	case USE_EXPLICIT:
		return scenario->transport.ev_mode == EV_EXPLICIT;
	case USE_GENERATED:
		return scenario->transport.ev_mode == EV_GENERATED;
	case USE_PORT_STATUS:
		return scenario->transport.port_status && has_path(scenario, PATH_MRC);
	default:
		return cc_use_holds(use, scenario);
	}
}

static bool is_pattern(enum traffic_kind kind)
{
	return kind == TRAFFIC_PERMUTATION || kind == TRAFFIC_INCAST ||
		kind == TRAFFIC_ALL_TO_ALL || kind == TRAFFIC_OUTCAST || kind == TRAFFIC_TORNADO ||
		kind == TRAFFIC_BUTTERFLY;
}

// Keys that several kinds of traffic have, and those of files.
static bool shared_use_holds(enum scenario_use use, const struct scenario *scenario)
{
	enum traffic_kind kind = scenario->traffic.kind;
	switch (use) {
	case USE_CHANNELS:
		return is_rings(scenario) || kind == TRAFFIC_COLLECTIVE || kind == TRAFFIC_JOBS;
	case USE_CHUNKS:
		return scenario_use_holds(USE_PIPELINED, scenario) || kind == TRAFFIC_COLLECTIVE;
	case USE_RINGS:
		return is_rings(scenario);
	case USE_FAST_FORWARD:
		return is_rings(scenario) && scenario->fast_forward.is_on;
	case USE_PIPELINED:
		return kind == TRAFFIC_JOBS ||
			(is_rings(scenario) && scenario->traffic.ring.form == RING_PIPELINED);
	case USE_MODEL:
		return kind == TRAFFIC_MODEL;
	case USE_TRACE:
		return kind == TRAFFIC_TRACE;
	case USE_MATRIX:
		return kind == TRAFFIC_MATRIX;
	case USE_PROGRAM_FILE:
		return kind == TRAFFIC_GOAL;
	case USE_GOAL:
		return kind == TRAFFIC_GOAL;
	case USE_STEP_FILE:
		return kind == TRAFFIC_TRACE || kind == TRAFFIC_GOAL;
	case USE_IPV6:
		return scenario->frames.ip_version != 4;
	case USE_IPV4:
		return scenario->frames.ip_version == 4;
	case USE_WATCH:
		return scenario->watch.bin_ps > 0;
	case USE_TIMED:
		return scenario->watch.has_delays;
	case USE_PACKETS:
		return scenario->watch.packets > 0;
	default:
		return fabric_use_holds(use, scenario);
	}
}

// Everyone sends to everyone.
static bool has_pairs(const struct traffic_config *traffic)
{
	if (traffic->collective == COLL_ALL_TO_ALL)
		return traffic->algorithm == COLL_DIRECT ||
			traffic->algorithm == TRAFFIC_ALGORITHM_AUTO;
	return traffic->algorithm == COLL_DIRECT &&
		(traffic->collective == COLL_REDUCE_SCATTER ||
		 traffic->collective == COLL_ALL_GATHER);
}

bool scenario_use_holds(enum scenario_use use, const struct scenario *scenario)
{
	enum traffic_kind kind = scenario->traffic.kind;
	switch (use) {
	case USE_FLOWS:
		return kind == TRAFFIC_FLOWS;
	case USE_BYTES:
		return is_pattern(kind) || kind == TRAFFIC_RING || kind == TRAFFIC_COLLECTIVE ||
			kind == TRAFFIC_GRADIENTS;
	case USE_BESIDE:
		return !scenario->traffic.is_coll_stream;
	case USE_MESSAGES:
		return is_pattern(kind) || kind == TRAFFIC_FLOWS || kind == TRAFFIC_MATRIX;
	case USE_INCAST:
		return kind == TRAFFIC_INCAST;
	case USE_OUTCAST:
		return kind == TRAFFIC_OUTCAST;
	case USE_RING:
		return kind == TRAFFIC_RING;
	case USE_JOBS:
		return kind == TRAFFIC_RING && scenario->traffic.jobs > 1;
	case USE_COLLECTIVE:
		return kind == TRAFFIC_RING || kind == TRAFFIC_COLLECTIVE;
	case USE_RANKS:
		return scenario_use_holds(USE_COLLECTIVE, scenario) || kind == TRAFFIC_GRADIENTS;
	case USE_GRADIENTS:
		return kind == TRAFFIC_GRADIENTS;
	case USE_SLICES:
		return scenario_use_holds(USE_PIPELINED, scenario) || kind == TRAFFIC_GRADIENTS;
	case USE_PLACEMENT:
		return kind == TRAFFIC_JOBS || scenario_use_holds(USE_JOBS, scenario);
	case USE_SEVERAL:
		return kind == TRAFFIC_JOBS;
	case USE_ELEMENT:
		return kind == TRAFFIC_COLLECTIVE || kind == TRAFFIC_JOBS ||
			kind == TRAFFIC_GRADIENTS;
	case USE_PROGRAM:
		return kind == TRAFFIC_COLLECTIVE;
	case USE_PEERS:
		return kind == TRAFFIC_COLLECTIVE && has_pairs(&scenario->traffic);
	case USE_ROOT:
		return kind == TRAFFIC_COLLECTIVE && coll_has_root(scenario->traffic.collective);
	default:
		return shared_use_holds(use, scenario);
	}
}

static const char *const use_names[USE_COUNT] = {
#define USE(name, needs) needs,
#include "scenario_uses.def"
#undef USE
};

// Those that read the key, as the table of algorithms has them.
static bool hangs_on_cc(enum scenario_use use)
{
	for (const struct cc_ops *const *ops = cc_all; *ops != NULL; ops++)
		if (!cc_reads(use, *ops))
			return true;
	return false;
}

void scenario_use_write(char *ret, size_t size, enum scenario_use use)
{
	if (!hangs_on_cc(use)) {
		snprintf(ret, size, "%s", use_names[use]);
		return;
	}
	const char *between = "cc.algorithm ";
	size_t used = 0;
	for (const struct cc_ops *const *ops = cc_all; *ops != NULL && used < size; ops++)
		if (cc_reads(use, *ops)) {
			used += (size_t)snprintf(ret + used, size - used, "%s%s", between,
						 (*ops)->name);
			between = " or ";
		}
	if (used < size)
		snprintf(ret + used, size - used, "%s", use_names[use]);
}

bool scenario_key_is_required(const struct scenario_key *key)
{
	return strcmp(key->value, "required") == 0;
}

bool scenario_key_is_element(const struct scenario_key *key)
{
	return strstr(key->path, "[]") != NULL;
}

int scenario_key_find(const char *path)
{
	return key_find(&scenario_table, path);
}

int key_find(const struct key_table *table, const char *path)
{
	const struct scenario_key *keys = table->keys;
	const struct scenario_name *name = table == &scenario_table ? scenario_name_find(path)
								    : NULL;
	const char *own = name != NULL ? name->path : path;
	for (int i = 0; keys[i].path != NULL; i++)
		if (keys[i].path[0] == own[0] && strcmp(keys[i].path, own) == 0)
			return i;
	return -1;
}

bool scenario_key_holds(const struct scenario *scenario, const char *path)
{
	return scenario_use_holds(scenario_keys()[scenario_key_find(path)].use, scenario);
}

const char *scenario_word(const char *path, uint32_t value)
{
	return scenario_keys()[scenario_key_find(path)].words[value];
}

bool key_section_exists(const struct key_table *table, const char *path)
{
	const struct scenario_key *keys = table->keys;
	size_t length = strlen(path);
	for (int i = 0; keys[i].path != NULL; i++)
		if (keys[i].path[0] == path[0] && strncmp(keys[i].path, path, length) == 0 &&
		    keys[i].path[length] == '.')
			return true;
	return false;
}
