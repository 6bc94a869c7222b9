// SPDX-License-Identifier: Apache-2.0
// What a report says in words: the fabric and its cabling, how load is spread, the hosts, the
// tester, and with what a book may be compared.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page.h"

// What the file is called: the scenario's own name was replaced by that of the fabric's.
const char *page_name(const struct acceptance *acceptance)
{
	static char text[ACCEPTANCE_PATH_BYTES];
	const char *slash = strrchr(acceptance->fabric_file.path, '/');
	snprintf(text, sizeof(text), "%s",
		 slash == NULL ? acceptance->fabric_file.path : slash + 1);
	char *dot = strrchr(text, '.');
	if (dot != NULL && dot != text)
		*dot = '\0';
	return text;
}

const char *page_topology(const struct acceptance *acceptance)
{
	static const char *const kinds[] = {
		[TOPOLOGY_CLOS] = "the draft's topology A, a two-tier Clos (leaf and spine)",
		[TOPOLOGY_FAT_TREE] = "the draft's topology B, three tiers",
		[TOPOLOGY_DUMBBELL] = "two switches, not one of the draft's topologies",
		[TOPOLOGY_RAIL] = "the draft's topology C, rail-optimised",
		[TOPOLOGY_TORUS] = "a torus, not one of the draft's topologies",
		[TOPOLOGY_FILE] = "the tree of a file, not one of the draft's topologies as such",
		[TOPOLOGY_GRAPH] = "a graph as listed, not one of the draft's topologies as such"};
	static char text[256];
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	snprintf(text, sizeof(text),
		 "%s, %u times (planes): each NIC has one cable into each plane; weft topology "
		 "draws all cables",
		 kinds[acceptance->scenario.fabric.kind], fabric_facts->planes);
	return text;
}

const char *page_balance(const struct acceptance *acceptance)
{
	static char text[128];
	const struct fabric_config *fabric = &acceptance->scenario.fabric;
	snprintf(text, sizeof(text), "senders %s over %u values, switches %s (%s)",
		 scenario_word("transport.path",
			       acceptance->fabric_facts.is_mrc ? acceptance->fabric_facts.path
							       : PATH_SINGLE),
		 acceptance->fabric_facts.is_mrc ? acceptance->scenario.transport.ev_count : 1,
		 scenario_word("fabric.spray", fabric->spray),
		 fabric->forwarding == FABRIC_USID ? "usid" : "ecmp");
	return text;
}

const char *page_host(const struct acceptance *acceptance)
{
	static char text[320];
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	char scaleup[64] = "no scale-up domain";
	if (fabric_facts->scaleup_bps > 0)
		snprintf(scaleup, sizeof(scaleup), "a scale-up domain of %.0f GB/s for each GPU",
			 fabric_facts->scaleup_bps / 8e9);
	snprintf(text, sizeof(text),
		 "%u GPUs with a NIC each, %s, which is no part of what is measured; %u QP%s for a "
		 "connection; collectives by weft itself: the algorithm of a row is what ran; no "
		 "time of drivers, PCIe or memory",
		 fabric_facts->nics_per_host, scaleup, acceptance->scenario.qps_per_connection,
		 acceptance->scenario.qps_per_connection == 1 ? "" : "s");
	return text;
}

const char *page_tester(const struct acceptance *acceptance)
{
	static char text[320];
	snprintf(text, sizeof(text),
		 "weft %s: %s. Barriers: those that a ring's data are, no others. Driven by a "
		 "schedule of messages, not by gradients of a GPU. Stragglers: modelled where a "
		 "fault says so, else none",
		 acceptance->with,
		 strcmp(acceptance->with, "sim") == 0 ? "virtual time, packets without bytes"
			 : acceptance->ports != NULL
			 ? "paced time, real frames through the ports that the command names"
			 : acceptance->fabric_facts.has_pfc
			 ? "paced time, packets without bytes, as pauses have none"
			 : "paced time, real frames in memory");
	return text;
}

const char *page_comparable(const struct acceptance *acceptance)
{
	static char text[512];
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	snprintf(text, sizeof(text),
		 "N (%u NICs), placement (hosts in order, spread where there is room), B_acc (%.0f "
		 "Gb/s), over-subscription (%.3g : 1), collective and S (as each case has them), "
		 "transport (%s, %s), load balancing (%s), book (%s)",
		 fabric_facts->nics, fabric_facts->nic_rate_bps / 1e9, 1 / fabric_facts->up_share,
		 fabric_facts->is_mrc ? "mrc" : "rc", acceptance->scenario.transport.cc.name,
		 page_balance(acceptance), acceptance->is_quick ? "quick" : "whole");
	return text;
}

static double job_s(const struct case_run *run)
{
	bool is_job = run->of->section == SECTION_STEP && run->asked.roofline_s > 0;
	for (uint32_t i = 0; is_job && i < MEASURE_COUNT; i++)
		if (strcmp(measures[i].name, "job completion time") == 0)
			return run->figures.more[i];
	return NAN;
}

double page_jct_ratio(const struct case_run *run)
{
	return job_s(run) / run->asked.roofline_s;
}

double page_overlap(const struct case_run *run)
{
	const struct asked *asked = &run->asked;
	return 1 - (job_s(run) - asked->compute_s) / (asked->roofline_s - asked->compute_s);
}
