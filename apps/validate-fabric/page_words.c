// SPDX-License-Identifier: Apache-2.0
// What a report says in words: the fabric and its cabling, how load is spread, the hosts, the
// tester, and with what a book may be compared.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acceptance.h"
#include "page.h"
#include <weft/result/report_escape.h>
#include <weft/run/outcome.h>

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
	snprintf(
		text, sizeof(text),
		"%u GPUs with a NIC each, %s, which is not part of what is measured; %u QP%s for a "
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

// ---------------------------------------------------------------- what came of it

static const char *const words[] = {[CASE_OPEN] = "open",	    [CASE_PASS] = "PASS",
				    [CASE_FAIL] = "FAIL",	    [CASE_NOT_VALID] = "NOT VALID",
				    [CASE_NOT_ASKED] = "not asked", [CASE_LEFT_OUT] = "left out"};

const char *case_word(enum case_state state)
{
	return words[state];
}

void page_count(uint32_t ret[CASE_STATE_COUNT], const struct acceptance *acceptance)
{
	memset(ret, 0, CASE_STATE_COUNT * sizeof(*ret));
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		ret[acceptance->cases[i].state]++;
}

int acceptance_status(const struct acceptance *acceptance)
{
	uint32_t counts[CASE_STATE_COUNT];
	page_count(counts, acceptance);
	if (counts[CASE_FAIL] > 0)
		return EXIT_MISSED;
	bool is_valid = counts[CASE_NOT_VALID] + counts[CASE_OPEN] == 0 && counts[CASE_PASS] > 0;
	return is_valid && coverage_holds_all(acceptance) ? EXIT_SUCCESS : EXIT_NOT_VALID;
}

void page_verdict(FILE *to, const struct acceptance *acceptance)
{
	static const char *const ends[] = {"PASS", "FAIL"};
	int status = acceptance_status(acceptance);
	uint32_t covered = coverage_count(acceptance);
	fputs(status <= EXIT_MISSED ? ends[status] : "NOT VALID", to);
	if (covered < acceptance->case_count)
		fprintf(to, ", coverage %u of %u", covered, acceptance->case_count);
	for (uint32_t i = 0; i < acceptance->required_count; i++)
		if (!coverage_holds(acceptance, acceptance->required[i]))
			fprintf(to, ", below --require %s", acceptance->required[i]);
}

void page_missed(FILE *to, const struct acceptance *acceptance, const struct case_run *run)
{
	const char *between = "";
	if (run->reason[0] != '\0') {
		fputs(run->reason, to);
		between = "; ";
	}
	if (run->state != CASE_FAIL && run->state != CASE_NOT_VALID)
		return;
	for (uint32_t i = 0; i < run->profile.check_count; i++) {
		const struct finding *finding = &run->verdict.findings[i];
		const struct profile_check *check = &run->profile.checks[i];
		if (finding->state == FINDING_UNAVAILABLE)
			fprintf(to, "%s%s: %s", between, check->name, finding->reason);
		else if (finding->state != FINDING_MISSED)
			continue;
		else if (strcmp(check->metric, "expect.inside") == 0)
			fprintf(to, "%s%s", between, run->figures.windows);
		else {
			fputs(between, to);
			verdict_missed(to, check, finding);
		}
		between = "; ";
	}
	if (run->state == CASE_FAIL)
		why_say(to, acceptance, run);
}

bool page_repeats(struct page_repeats *ret, const struct acceptance *acceptance)
{
	double sum = 0, squares = 0;
	uint32_t count = 0;
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		const struct case_run *run = &acceptance->cases[i];
		if (strncmp(run->of->name, "permutation-", 12) != 0 ||
		    (run->state != CASE_PASS && run->state != CASE_FAIL))
			continue;
		sum += run->figures.goodput_bps;
		squares += run->figures.goodput_bps * run->figures.goodput_bps;
		count++;
	}
	if (count < 2)
		return false;
	double mean = sum / count, variance = (squares - sum * mean) / (count - 1);
	*ret = (struct page_repeats){count, mean, sqrt(variance > 0 ? variance : 0) / mean};
	return true;
}

static void put_word(FILE *to, const char *option, const char *word)
{
	char quoted[4 * ACCEPTANCE_PATH_BYTES];
	escape_shell(quoted, sizeof(quoted), word != NULL ? word : option);
	if (word != NULL)
		fprintf(to, " %s", option);
	fprintf(to, " %s", quoted);
}

void page_command(FILE *to, const struct acceptance *acceptance)
{
	fputs("weft validate-fabric", to);
	put_word(to, acceptance->name, NULL);
	put_word(to, "--out", acceptance->out);
	if (acceptance->is_quick)
		put_word(to, "--quick", NULL);
	if (acceptance->only != NULL)
		put_word(to, "--only", acceptance->only);
	if (strcmp(acceptance->with, "sim") != 0)
		put_word(to, "--with", acceptance->with);
	if (acceptance->ports != NULL)
		put_word(to, "--ports", acceptance->ports);
	for (uint32_t i = 0; i < acceptance->required_count; i++)
		put_word(to, "--require", acceptance->required[i]);
	for (uint32_t i = 0; i < acceptance->set_count; i++)
		put_word(to, "--set", acceptance->sets[i]);
	for (uint32_t i = 0; i < acceptance->fault_count; i++)
		put_word(to, "--fault", acceptance->faults[i]);
}
