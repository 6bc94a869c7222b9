// SPDX-License-Identifier: Apache-2.0
// The table that weft topology prints.

#include "figures.h"

#include <inttypes.h>
#include <string.h>

#include <weft/fabric/fabric_capacity.h>
#include <weft/scenario/scenario_key.h>

const char *kind_name(enum topology_kind kind)
{
	const struct scenario_key *key = scenario_keys();
	while (strcmp(key->path, "fabric.topology") != 0)
		key++;
	return key->words[kind];
}

// A rate in the unit that suits it.
static const char *rate_text(char ret[32], double bps)
{
	static const char *const units[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "Pb/s"};
	uint32_t unit = 0;
	while (bps >= 999.9995 && unit + 1 < sizeof(units) / sizeof(*units)) {
		bps /= 1000;
		unit++;
	}
	snprintf(ret, 32, "%.4g %s", bps, units[unit]);
	return ret;
}

static double us(ps_t time_ps)
{
	return (double)time_ps / PS_PER_US;
}

static void print_size(FILE *to, const struct scenario *scenario, const struct topology *topology)
{
	const struct fabric_config *fabric = &scenario->fabric;
	char rate[32], trunk[32];
	uint64_t trunk_bps = fabric->trunk_rate_bps > 0 ? fabric->trunk_rate_bps
							: fabric->link_rate_bps;
	fprintf(to, "%s: %s\n\n", scenario->name, kind_name(fabric->kind));
	fprintf(to,
		"  NICs                 %" PRIu32 ", %" PRIu32 " in each of %" PRIu32 " hosts\n",
		topology->nics, topology->nics_per_host, topology->hosts);
	fprintf(to, "  planes               %" PRIu32 "\n", topology->planes);
	fprintf(to, "  rate of a NIC port   %s\n", rate_text(rate, (double)fabric->link_rate_bps));
	uint64_t least_bps = fabric_nic_rate_least(fabric);
	if (least_bps < fabric->link_rate_bps)
		fprintf(to, "  of the slowest NIC   %s\n", rate_text(rate, (double)least_bps));
	if (fabric->kind == TOPOLOGY_FILE)
		fprintf(to, "  file                 %s\n", scenario->topology_file);
	else if (topology->rate_max_bps != fabric->link_rate_bps ||
		 trunk_bps != fabric->link_rate_bps)
		fprintf(to, "  rate of trunks       %s, the fastest link %s\n",
			rate_text(trunk, (double)trunk_bps),
			rate_text(rate, (double)topology->rate_max_bps));
}

static void print_tiers(FILE *to, const struct topology *topology, const struct figures *figures)
{
	bool has_names = topology->names != NULL;
	fprintf(to, "\nA plane\n  %-8s %9s %11s %12s %14s %14s  over-subscribed\n", "tier",
		"switches", "ports", "links below", "from below", "above");
	for (uint32_t i = 0; i < figures->tiers; i++) {
		const struct tier_figures *tier = &figures->tier[i];
		char ports[32], below[32], above[32], name[8];
		snprintf(name, sizeof(name), "t%" PRIu32, i);
		snprintf(ports, sizeof(ports), "%" PRIu32, tier->ports_max);
		if (tier->ports_min != tier->ports_max)
			snprintf(ports, sizeof(ports), "%" PRIu32 "-%" PRIu32, tier->ports_min,
				 tier->ports_max);
		fprintf(to, "  %-8s %9" PRIu32 " %11s %12" PRIu32 " %14s %14s",
			has_names ? "-" : name, tier->switches, ports, figures->links[i],
			rate_text(below, (double)tier->below_bps),
			tier->above_bps > 0 ? rate_text(above, (double)tier->above_bps) : "-");
		if (tier->above_bps > 0)
			fprintf(to, "  %.4g : 1\n",
				(double)tier->below_bps / (double)tier->above_bps);
		else
			fputs("  -\n", to);
	}
	if (has_names)
		fprintf(to, "  links between switches: %" PRIu32 "\n", figures->links[1]);
}

static void print_ways(FILE *to, const struct scenario *scenario, const struct topology *topology,
		       const struct figures *figures)
{
	char plane[32], all[32];
	double bisection = (double)figures->bisection_bps;
	double full = (double)scenario->fabric.link_rate_bps * (topology->nics / 2);
	double bdp = (double)scenario->fabric.link_rate_bps * (double)topology->base_rtt_ps / 8e12;
	fprintf(to,
		"\nWays\n  bisection bandwidth  %s a plane, %s in all, %.4g of what %s can send\n",
		rate_text(plane, bisection), rate_text(all, bisection * topology->planes),
		full > 0 ? bisection / full : 0, "half of the NICs");
	fprintf(to,
		"  longest way          %" PRIu32 " links, as from NIC %" PRIu32 " to NIC %" PRIu32
		"\n",
		topology->links_max, figures->from, figures->to);
	fprintf(to, "  paths between these  %" PRIu64 " a plane, %" PRIu64 " in all\n",
		figures->paths, figures->paths * topology->planes);
	fprintf(to, "  base round trip      %.6g us\n", us(topology->base_rtt_ps));
	fprintf(to, "  shortest cable       %.6g us (the lookahead)\n", us(topology->delay_min_ps));
	fprintf(to, "  bandwidth x delay    %.0f B a port, %.0f B a NIC\n", bdp,
		bdp * topology->planes);
}

// What of PFC follows from rates, delays and packets.
static void print_lossless(FILE *to, const struct topology *topology)
{
	if (topology->pfc_xoff_bytes > 0)
		fprintf(to, "  PFC                  xoff %" PRIu64 " B, xon %" PRIu64 " B\n",
			topology->pfc_xoff_bytes, topology->pfc_xon_bytes);
	fprintf(to, "  headroom             %" PRIu64 " B to %" PRIu64 " B an in-port\n",
		topology->pfc_headroom_low_bytes, topology->pfc_headroom_high_bytes);
	fprintf(to, "  room of a switch     %" PRIu64 " B at most\n", topology->pfc_room_bytes);
}

static void print_queues(FILE *to, const struct scenario *scenario, const struct topology *topology)
{
	const struct fabric_config *fabric = &scenario->fabric;
	double mtu = fabric->mtu_bytes;
	fprintf(to, "\nEach port of a switch\n");
	if (fabric->buffer.bytes > 0)
		fprintf(to, "  shared buffer        %" PRIu64 " B of a switch, alpha %g\n",
			fabric->buffer.bytes, (double)fabric->buffer.alpha_ppb / ALPHA_WHOLE);
	else if (!fabric->pfc.is_on)
		fprintf(to, "  data queue           %" PRIu64 " B, %.4g packets of %.0f B\n",
			topology->queue_bytes, (double)topology->queue_bytes / mtu, mtu);
	if (fabric->pfc.is_on)
		print_lossless(to, topology);
	fprintf(to, "  control queue        %" PRIu64 " B\n", topology->control_queue_bytes);
	if (scenario->fabric.ecn_on)
		fprintf(to, "  ECN marks            from %" PRIu64 " B, all from %" PRIu64 " B\n",
			topology->ecn_low_bytes, topology->ecn_high_bytes);
	else
		fprintf(to, "  ECN marks            none\n");
	if (!fabric->pfc.is_on)
		fprintf(to, "  a full queue         %s\n", fabric->trim_on ? "trims" : "drops");
	if (fabric->cut_bytes > 0)
		fprintf(to, "  cut-through          behind %u B of a packet\n", fabric->cut_bytes);
}

void table_print(FILE *to, const struct scenario *scenario, const struct topology *topology,
		 const struct figures *figures)
{
	print_size(to, scenario, topology);
	print_tiers(to, topology, figures);
	print_ways(to, scenario, topology, figures);
	print_queues(to, scenario, topology);
}
