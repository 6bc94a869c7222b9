// SPDX-License-Identifier: Apache-2.0
// Closed forms of ways and of many flows: lines of unequal rate, collectives, slow links. H
// serialising lines on the way, N packets, s = a full packet on a line, D = all delays one way;
// form.h has the rest.
//
//   unequal rates  T = sum of s_j over the lines + (N-1) max s_j + D, back: sum of s_ack + D
//   butterfly      log2 n rounds, each as long as one flow
//   a chain        of messages passed on when they have come: each its way there, behind an answer
//   all to all     T >= (n-1) messages on the receiver's line
//   a slow link    at the share f of u: spraying alike gets u f C, going round it (u - 1 + f) C;
//   queues
//                  of u C alike in bytes leave the slow one last: u C / (1 + (1 - f) / (u f))

#include <math.h>
#include <string.h>

#include "form.h"
#include "validate.h"

#define TRANSPORT \
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, rto: " \
	"20ms, " \
	"sack_rule: htsim, completion: sack, hole_age: off}\n" \
	"cc: {algorithm: fixed, window: 8MB}\n"
#define DEEP "queue: {bytes: 64MB, ecn: false, trim: false}\n"
#define ONE_SWITCH \
	"name: paths\n" \
	"fabric: {topology: leaf-spine, nics: 16, nics_per_t0: 16, t1_count: 1, link_rate: " \
	"100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n" TRANSPORT

static const struct way below = {2, false}, across = {4, false};
static const char *const none[] = {NULL};

// Runs `text` and adds the claim about its longest flow.
static int longest(const struct choice *choice, struct claims *claims, struct claim *claim,
		   const char *text, const char *const *sets, const char *workload,
		   struct refusal *refusal)
{
	if (!choice_takes(choice, claim->name))
		return 0;
	int rc = trial_longest_us(text, sets, workload, &claim->measured, refusal);
	if (rc == 0)
		claims_add(claims, claim);
	return rc;
}

// ---------------------------------------------------------------- ways

// Trunks at another rate than NICs: 50 or 400 Gb/s.
static int unequal_rates(const struct choice *choice, struct claims *claims,
			 struct refusal *refusal)
{
	static const uint32_t rates[] = {50, 400};
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		ps_t trunk = 8000 / rates[i], slow = trunk > 80 ? trunk : 80; // ps a byte
		ps_t sum = 2 * 80 + 2 * trunk;
		ps_t expected = FULL * (sum + 99 * slow) + ACK * sum + 8 * PS_PER_US;
		char name[64], text[1024];
		snprintf(name, sizeof(name), "flow-over-trunks-of-%ug", rates[i]);
		snprintf(text, sizeof(text),
			 "name: paths\n"
			 "fabric: {topology: leaf-spine, nics: 2, nics_per_t0: 1, t1_count: 1, "
			 "link_rate: 100Gb/s, trunk_rate: %uGb/s, nic_delay: 1us, trunk_delay: "
			 "1us, switch_delay: 0ns}\n" TRANSPORT DEEP
			 "traffic: {kind: flows, flows: [{from: 0, to: 1, bytes: %uB}]}\n",
			 rates[i], 100 * PAYLOAD);
		struct claim claim = claim_of(name, "the slowest line sets the pace",
					      us_of(expected), 0.001, "1 ns");
		int rc = longest(choice, claims, &claim, text, none, NULL, refusal);
		if (rc < 0)
			return rc;
	}
	return 0;
}

// ---------------------------------------------------------------- collectives

static int collectives(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const char butterfly[] = ONE_SWITCH DEEP
		"traffic: {kind: butterfly, bytes: 163440B}\n";
	static const char all[] = ONE_SWITCH DEEP "traffic: {kind: all_to_all, bytes: 81720B}\n";
	static const char tree[] =
		"name: paths\n"
		"fabric: {topology: fat-tree, nics: 16, tor_nics: 2, pod_tors: 2, pod_aggs: 2, "
		"cores: 4, link_rate: 100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: "
		"0ns}\n" TRANSPORT DEEP "traffic: {kind: tornado, bytes: 817200B}\n";
	const struct way far = {6, false};
	ps_t round = form_flow_ps(&below, 40 * PAYLOAD), full = way_line(&below, FULL);
	struct claim rounds = claim_of("butterfly-of-16", "four rounds, each one flow",
				       us_of(4 * round), us_of(4 * full),
				       "a packet a round: answers go first");
	struct claim bound = claim_of("all-to-all-of-16", "15 messages on a receiver's line",
				      us_of(form_flow_ps(&below, 15 * 20 * PAYLOAD)), 0.001,
				      "a bound; 1 ns");
	struct claim twins = claim_of("tornado-of-16", "no flow is faster than alone",
				      us_of(form_flow_ps(&far, 200 * PAYLOAD)), 0.001,
				      "a bound; 1 ns");
	bound.bound = twins.bound = CLAIM_AT_LEAST;
	int rc = longest(choice, claims, &bound, all, none, NULL, refusal);
	if (rc == 0)
		rc = longest(choice, claims, &twins, tree, none, NULL, refusal);
	if (rc < 0 || !choice_takes(choice, rounds.name))
		return rc;
	static struct single_run single;
	rc = single_run_whole(&single, butterfly, none, NULL, refusal);
	if (rc < 0)
		return rc;
	rounds.measured = us_of(single.outcome->end_ps);
	single_run_end(&single);
	claims_add(claims, &rounds);
	return 0;
}

// A message of 20 packets passed on from NIC to NIC, 15 times.
static int chain(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static struct single_run single;
	static const char text[] = ONE_SWITCH DEEP "traffic: {kind: matrix, matrix: as-given}\n";
	char matrix[4096];
	size_t used = (size_t)snprintf(matrix, sizeof(matrix),
				       "Nodes 16\nConnections 15\nTriggers 14\n");
	for (uint32_t i = 0; i < 15; i++) {
		char begin[32] = "start 0", end[64] = "";
		if (i > 0)
			snprintf(begin, sizeof(begin), "trigger %u", i);
		if (i < 14)
			snprintf(end, sizeof(end), " recv_done_trigger %u\ntrigger id %u oneshot",
				 i + 1, i + 1);
		used += (size_t)snprintf(matrix + used, sizeof(matrix) - used,
					 "%u->%u %s size %u%s\n", i, i + 1, begin, 20 * PAYLOAD,
					 end);
	}
	ps_t expected = 15 * form_there_ps(&below, 20 * PAYLOAD) + 14 * way_line(&below, ACK) +
		form_answer_ps(&below);
	struct claim claim = claim_of("chain-of-15", "each message waits for the one before",
				      us_of(expected), 0.001, "1 ns");
	if (!choice_takes(choice, claim.name))
		return 0;
	int rc = single_run_whole(&single, text, none, matrix, refusal);
	if (rc < 0)
		return rc;
	claim.measured = us_of(single.outcome->end_ps);
	single_run_end(&single);
	claims_add(claims, &claim);
	return 0;
}

// ---------------------------------------------------------------- flows that meet

// An incast of eight with trims, and a flow between two others below the same switch.
static int victim(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static struct single_run single;
	char text[2048];
	size_t used = (size_t)snprintf(text, sizeof(text),
				       ONE_SWITCH
				       "queue: {trim_bytes: 64B}\n"
				       "traffic: {kind: flows, flows: [{from: 9, to: 10, "
				       "bytes: %uB}",
				       200 * PAYLOAD);
	for (uint32_t from = 0; from < 8; from++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ", {from: %u, to: 15, bytes: 1MB}", from);
	snprintf(text + used, sizeof(text) - used, "]}\n");
	struct claim claim = claim_of("victim-of-an-incast", "as if the incast were not",
				      us_of(form_flow_ps(&below, 200 * PAYLOAD)), 0.001, "1 ns");
	if (!choice_takes(choice, claim.name))
		return 0;
	int rc = single_run_whole(&single, text, none, NULL, refusal);
	if (rc < 0)
		return rc;
	claim.measured = us_of(single.outcome->flow_end_ps[0]);
	bool has_trims = single.outcome->fabric.trimmed > 1000;
	single_run_end(&single);
	check(has_trims && "the incast was one");
	claims_add(claims, &claim);
	return 0;
}

// 16 NICs below each of two T0 switches, four links above.
static int oversubscription(const struct choice *choice, struct claims *claims,
			    struct refusal *refusal)
{
	static const char text[] =
		"name: paths\n"
		"fabric: {topology: leaf-spine, nics: 32, nics_per_t0: 16, t1_count: 4, "
		"link_rate: 100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: "
		"0ns}\n" TRANSPORT DEEP "traffic: {kind: tornado, bytes: 817200B}\n";
	ps_t full = way_line(&across, FULL);
	ps_t least = 16 * 200 / 4 * full + (across.links - 1) * full + way_delay(&across) +
		form_answer_ps(&across);
	struct claim claim = claim_of("oversubscription-of-4", "four links carry 16 flows",
				      us_of(least), 0.001, "a bound; 1 ns");
	claim.bound = CLAIM_AT_LEAST;
	return longest(choice, claims, &claim, text, none, NULL, refusal);
}

// REPS's micro-benchmark: 4 flows of 32 MiB at 400 Gb/s over 4 links, one at half its rate. With
// deep queues and a switch that sprays in turn or by queue the shares are all there is. With hosts
// that spray, trims and REPS's congestion control (MPRDMA) its paper has 1400 and 799 us, htsim
// 1366 to 1396 and 781 to 817.
struct slow_case {
	const char *name;
	double links; // of a whole rate
	double tolerance;
	const char *why;
	const char *sets[6];
};

static const struct slow_case slow_cases[] = {
	{"slow-link-in-turn",
	 2,
	 0.005,
	 "0.5 %: the way of the last packets",
	 {"fabric.spray=round_robin", "queue.bytes=64MB", "queue.ecn=false", "cc.algorithm=fixed",
	  "cc.window=64MB"}},
	{"slow-link-by-queue",
	 3.2,
	 0.005,
	 "0.5 %: the way of the last packets",
	 {"fabric.spray=adaptive", "queue.bytes=64MB", "queue.ecn=false", "cc.algorithm=fixed",
	  "cc.window=64MB"}},
	{"slow-link-sprayed-alike",
	 2,
	 0.035,
	 "3.5 %: htsim's own are up to 3.3 % off",
	 {"transport.path=rotate", "queue.ecn_last_hop=true", "cc.algorithm=mprdma"}},
	{"slow-link-recycled",
	 3.5,
	 0.035,
	 "3.5 %: htsim's own are up to 3.3 % off",
	 {"transport.path=reps", "queue.ecn_last_hop=true", "cc.algorithm=mprdma"}},
};

static int slow_link(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const char text[] =
		"name: paths\n"
		"fabric: {topology: leaf-spine, nics: 8, nics_per_t0: 4, t1_count: 4, link_rate: "
		"400Gb/s, nic_delay: 500ns, trunk_delay: 500ns, switch_delay: 500ns}\n"
		"queue: {trim_bytes: 64B, trim_choice: coin, slow: scaled}\n"
		"transport: {payload: 4086B, header: 64B, control: 64B, evs: 256, rto: 20ms, "
		"sack_bytes: 1B, sack_rule: htsim, completion: sack, hole_age: off}\n"
		"traffic: {kind: flows, flows: [{from: 0, to: 4, bytes: 32MiB}, {from: 1, to: 5, "
		"bytes: 32MiB}, {from: 2, to: 6, bytes: 32MiB}, {from: 3, to: 7, bytes: 32MiB}]}\n"
		"faults: [{kind: slow, at: {t0: 0, up: 0, plane: 0}, way: up, rate: 50%}]\n";
	for (size_t i = 0; i < sizeof(slow_cases) / sizeof(*slow_cases); i++) {
		const struct slow_case *of = &slow_cases[i];
		double wire = 4 * 33554432.0 * FULL / PAYLOAD * 8;
		double expected = wire / (of->links * 400e9) * 1e6 +
			7; // and the way there and back
		struct claim claim = claim_of(of->name, "shares of the links' rates", expected,
					      of->tolerance * expected, of->why);
		int rc = longest(choice, claims, &claim, text, of->sets, NULL, refusal);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int paths_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static int (*const parts[])(const struct choice *, struct claims *, struct refusal *) = {
		unequal_rates, collectives, chain, victim, oversubscription, slow_link};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(*parts); i++)
		rc = parts[i](choice, claims, refusal);
	return rc;
}
