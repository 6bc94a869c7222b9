// SPDX-License-Identifier: Apache-2.0
// What the keys of each kind of fabric must hold together, where it can be said without building
// it; what remains is refused by topology_build().

#include "scenario_reader.h"

// NICs below one T0, ToR or rail switch.
static uint32_t below_of(const struct fabric_config *fabric)
{
	switch (fabric->kind) {
	case TOPOLOGY_CLOS:
		return fabric->nics_per_t0;
	case TOPOLOGY_RAIL:
		return fabric->nics / fabric->nics_per_host;
	default:
		return fabric->tor_nics;
	}
}

// Switches above a T0, a ToR or a rail, in numbers that leave the share of what comes up that is
// wanted. What does not divide is found by check_over().
void reader_settle_fabric(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	struct fabric_config *fabric = &scenario->fabric;
	uint64_t trunk_bps = fabric->trunk_rate_bps > 0 ? fabric->trunk_rate_bps
							: fabric->link_rate_bps;
	uint64_t up_bps = trunk_bps * scenario->oversubscription;
	if (scenario->oversubscription == 0)
		return;
	uint64_t down_bps = below_of(fabric) * fabric->link_rate_bps;
	if (fabric->kind == TOPOLOGY_CLOS || fabric->kind == TOPOLOGY_RAIL) {
		fabric->t1_count = (uint32_t)(down_bps / (up_bps * fabric->bundle));
	} else if (fabric->kind == TOPOLOGY_FAT_TREE) {
		fabric->pod_aggs = (uint32_t)(down_bps / up_bps);
		fabric->cores = fabric->pod_aggs * fabric->pod_tors;
	}
}

// That hosts fit below one switch and the switches are filled: `below` NICs hang below each, as the
// key `path` says.
static int check_below(struct reader *reader, const char *path, uint32_t below)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	if (fabric->nics % below != 0)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: %u NICs do not fill whole switches of %u NICs", path,
				     fabric->nics, below);
	if (below % fabric->nics_per_host != 0)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: %u is not a multiple of fabric.nics_per_host, %u", path,
				     below, fabric->nics_per_host);
	return 0;
}

// That the wanted relation comes out in whole links.
static int check_over(struct reader *reader)
{
	const struct scenario *scenario = reader->scenario;
	const struct fabric_config *fabric = &scenario->fabric;
	bool has_spines = fabric->kind == TOPOLOGY_CLOS || fabric->kind == TOPOLOGY_RAIL;
	uint32_t below = below_of(fabric);
	uint64_t above = has_spines ? (uint64_t)fabric->t1_count * fabric->bundle
				    : fabric->pod_aggs;
	uint64_t trunk_bps = fabric->trunk_rate_bps > 0 ? fabric->trunk_rate_bps
							: fabric->link_rate_bps;
	uint64_t over = scenario->oversubscription;
	if (over == 0 || (above > 0 && above * trunk_bps * over == below * fabric->link_rate_bps))
		return 0;
	uint64_t down_bps = below * fabric->link_rate_bps, other = over + 1;
	uint64_t link_bps = trunk_bps * (has_spines ? fabric->bundle : 1);
	char hint[40] = "";
	while (other < below && down_bps % (link_bps * other) != 0)
		other++;
	if (other <= below && down_bps % (link_bps * other) == 0)
		snprintf(hint, sizeof(hint), "; %llu:1 does", (unsigned long long)other);
	return reader_refuse(reader, reader_mark(reader, "fabric.oversubscription"),
			     "fabric.oversubscription: %u NICs below a switch, %llu times what "
			     "leads up, do not come out in whole links above it%s",
			     below, (unsigned long long)over, hint);
}

static int check_clos(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	if (fabric->t1_count == 0 && fabric->nics > fabric->nics_per_t0)
		return reader_refuse(reader, reader_mark(reader, "fabric.t1_count"),
				     "fabric.t1_count: %u T0 switches need T1 switches above them",
				     fabric->nics / fabric->nics_per_t0);
	return check_below(reader, "fabric.nics_per_t0", fabric->nics_per_t0);
}

static int check_fat_tree(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	uint64_t pod = (uint64_t)fabric->tor_nics * fabric->pod_tors;
	if (fabric->nics % pod != 0)
		return reader_refuse(reader, reader_mark(reader, "fabric.pod_tors"),
				     "fabric.pod_tors: %u NICs do not fill whole pods of %llu NICs",
				     fabric->nics, (unsigned long long)pod);
	if (fabric->cores % fabric->pod_aggs != 0)
		return reader_refuse(reader, reader_mark(reader, "fabric.cores"),
				     "fabric.cores: %u is not a multiple of fabric.pod_aggs, %u",
				     fabric->cores, fabric->pod_aggs);
	if (fabric->cores == 0 && fabric->nics > pod)
		return reader_refuse(reader, reader_mark(reader, "fabric.cores"),
				     "fabric.cores: %llu pods need core switches above them",
				     (unsigned long long)(fabric->nics / pod));
	return check_below(reader, "fabric.tor_nics", fabric->tor_nics);
}

static int check_dumbbell(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	if (fabric->nics % (2 * fabric->nics_per_host) == 0)
		return 0;
	return reader_refuse(reader, reader_mark(reader, "fabric.nics"),
			     "fabric.nics: %u NICs are not two halves of whole hosts of %u",
			     fabric->nics, fabric->nics_per_host);
}

static int check_torus(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	uint64_t routers = (uint64_t)fabric->torus[0] * fabric->torus[1] * fabric->torus[2];
	if (routers > TOPOLOGY_TABLE_SWITCHES_MAX)
		return reader_refuse(reader, reader_mark(reader, "fabric.torus_x"),
				     "fabric.torus_x: %llu routers; a torus has at most %u",
				     (unsigned long long)routers, TOPOLOGY_TABLE_SWITCHES_MAX);
	if (routers < 2)
		return reader_refuse(reader, reader_mark(reader, "fabric.torus_x"),
				     "fabric.torus_x: a torus has at least two routers");
	if (routers * fabric->nics_per_t0 != fabric->nics)
		return reader_refuse(
			reader, reader_mark(reader, "fabric.torus_x"),
			"fabric.torus_x: %llu routers with %u NICs each are not the %u "
			"NICs of fabric.nics",
			(unsigned long long)routers, fabric->nics_per_t0, fabric->nics);
	return 0;
}

int reader_check_axes(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	const struct ring_config *ring = &reader->scenario->traffic.ring;
	struct mark mark = reader_mark(reader, "traffic.axes");
	if (fabric->kind != TOPOLOGY_TORUS)
		return reader_refuse(reader, mark,
				     "traffic.axes: rings along axes need fabric.topology torus");
	if (reader->scenario->traffic.jobs > 1)
		return reader_refuse(reader, mark,
				     "traffic.axes: rings along axes are one job, not %u",
				     reader->scenario->traffic.jobs);
	if (fabric->nics_per_t0 != 1 || fabric->nics_per_host != 1 || ring->ranks != fabric->nics)
		return reader_refuse(reader, mark,
				     "traffic.axes: rings along axes take every router once: one "
				     "NIC a router and host, and no traffic.ranks");
	for (uint32_t axis = 0; axis < 3; axis++)
		if ((reader->scenario->traffic.axes >> axis & 1) != 0 && fabric->torus[axis] < 3)
			return reader_refuse(
				reader, mark,
				"traffic.axes: a ring along %c needs 3 routers, not %u",
				(char)('x' + axis), fabric->torus[axis]);
	return 0;
}

// Routes change where there are several. Whoever hears of another's failure has heard of its own.
static int check_reroute(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	const struct reroute_config *reroute = &fabric->reroute;
	const char *local = "fabric.reroute_local", *remote = "fabric.reroute_remote";
	if (reroute->local_ps == 0)
		return 0;
	if (fabric->kind == TOPOLOGY_TORUS)
		return reader_refuse(reader, reader_mark(reader, local),
				     "%s: dimension order has no second way through a torus",
				     local);
	if (fabric->forwarding == FABRIC_USID)
		return reader_refuse(reader, reader_mark(reader, local),
				     "%s: source routes say the way, and no switch may change it",
				     local);
	if (reroute->remote_ps > 0 && reroute->remote_ps < reroute->local_ps)
		return reader_refuse(reader, reader_mark(reader, remote),
				     "%s: a switch cannot know of another's failure before that "
				     "does, after %s",
				     remote, local);
	return 0;
}

// What a kind needs beyond what all need; graphs and files are checked when they are read.
int reader_check_kind(struct reader *reader)
{
	int rc = check_over(reader);
	if (rc == 0)
		rc = check_reroute(reader);
	if (rc != 0)
		return rc;
	switch (reader->scenario->fabric.kind) {
	case TOPOLOGY_CLOS:
		return check_clos(reader);
	case TOPOLOGY_FAT_TREE:
		return check_fat_tree(reader);
	case TOPOLOGY_DUMBBELL:
		return check_dumbbell(reader);
	case TOPOLOGY_TORUS:
		return check_torus(reader);
	case TOPOLOGY_RAIL:
	case TOPOLOGY_FILE:
	case TOPOLOGY_GRAPH:
		return 0;
	}
	return 0;
}
