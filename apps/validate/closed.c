// SPDX-License-Identifier: Apache-2.0
// Closed forms that a scenario can express. The expected side knows sizes, rates and delays, and
// nothing of the endpoint or the switch.
//
// H serialising queues on the way (the NIC's included), N packets, s = a full packet on a line,
// s_last = the last one, s_ack = an acknowledgement, D = all delays one way:
//   one flow      T = (N-1 + H-1) s + s_last + D, back: + H s_ack + D; H s_last when N = 1
//   a window      of k full packets, each acknowledged: rounds of the base round trip
//   incast        the receiver's line carries n flows: T >= n (N-1) s + n s_last + (H-1) s + D
//   a dead path   of share f loses f C t / (8 M) packets of M bytes until it is found out, after t
//   a ring        of barrier steps: each as long as one flow of one share

#include <stdio.h>
#include <string.h>

#include "form.h"
#include "validate.h"

#define TREE \
	"name: closed\n" \
	"fabric: {topology: fat-tree, nics: 16, tor_nics: 2, pod_tors: 2, pod_aggs: 2, cores: 4, " \
	"link_rate: 100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n" \
	"transport: {payload: 4086B, header: 64B, control: 64B, path: rotate, evs: 16, " \
	"sack_rule: htsim, completion: sack, hole_age: off}\n"

static const char tree[] = TREE "queue: {ecn_last_hop: true, trim_bytes: 64B, trim_choice: coin}\n";
static const char deep_tree[] = TREE "queue: {bytes: 64MB, ecn: false, trim: false}\n";

static const char *const slow_sets[] = {"cc.algorithm=nscc", "cc.htsim=true", NULL};
static const char *const fast_sets[] = {"cc.algorithm=nscc",
					"cc.htsim=true",
					"fabric.link_rate=800Gb/s",
					"fabric.nic_delay=500ns",
					"fabric.trunk_delay=500ns",
					"fabric.switch_delay=500ns",
					NULL};

static int single_flows(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const struct {
		uint64_t bytes;
		struct way way;
	} cases[] = {
		{4086, {6, false}},  {4086, {4, false}},    {4086, {2, false}},
		{40860, {6, false}}, {1000000, {2, false}}, {1000000, {4, false}},
		{100, {6, false}},   {2000000, {6, false}}, {4294967, {6, false}},
		{4086, {6, true}},   {40860, {6, true}},    {4294967, {6, true}},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(cases) / sizeof(*cases); i++) {
		const struct way *way = &cases[i].way;
		uint32_t to = way->links == 2 ? 1 : way->links == 4 ? 3 : 15;
		char name[64], text[1024];
		snprintf(name, sizeof(name), "flow-%llu-%u-links%s",
			 (unsigned long long)cases[i].bytes, way->links,
			 way->is_fast ? "-800g" : "");
		if (!choice_takes(choice, name))
			continue;
		snprintf(text, sizeof(text),
			 "%straffic: {kind: flows, flows: [{from: 0, to: %u, bytes: %lluB}]}\n",
			 tree, to, (unsigned long long)cases[i].bytes);
		struct claim claim = claim_of(name, "store and forward, idle net",
					      (double)form_flow_ps(way, cases[i].bytes) / 1e6,
					      0.001, "1 ns");
		rc = trial_longest_us(text, way->is_fast ? fast_sets : slow_sets, NULL,
				      &claim.measured, refusal);
		if (rc == 0)
			claims_add(claims, &claim);
	}
	return rc;
}

// A window of k packets, each acknowledged at once: packet i may leave when packet i - k came back.
static int windows(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const uint32_t windows[] = {1, 2, 5, 20};
	const struct way way = {6, false};
	const uint32_t packets = 61;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(windows) / sizeof(*windows); i++) {
		uint32_t window = windows[i], rounds = (packets - 1) / window;
		char name[64], window_set[64], text[1024];
		snprintf(name, sizeof(name), "window-of-%u-packets", window);
		if (!choice_takes(choice, name))
			continue;
		snprintf(window_set, sizeof(window_set), "cc.window=%uB",
			 window * (PAYLOAD + HEADER));
		snprintf(text, sizeof(text),
			 "%straffic: {kind: flows, flows: [{from: 0, to: 15, bytes: %uB}]}\n", tree,
			 packets * PAYLOAD);
		const char *const sets[] = {"cc.algorithm=fixed", window_set,
					    "transport.sack_bytes=1B", NULL};
		ps_t round = form_flow_ps(&way, PAYLOAD), full = way_line(&way, PAYLOAD + HEADER);
		ps_t expected = rounds * round + (packets - 1 - rounds * window) * full + round;
		struct claim claim = claim_of(name, "window-limited flow", (double)expected / 1e6,
					      0.001, "1 ns");
		rc = trial_longest_us(text, sets, NULL, &claim.measured, refusal);
		if (rc == 0)
			claims_add(claims, &claim);
	}
	return rc;
}

// With enough window and queue for all, the receiver's line never rests.
static int incasts(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const uint32_t senders[] = {2, 4, 8};
	const struct way way = {6, false};
	const uint64_t bytes = 200 * PAYLOAD;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(senders) / sizeof(*senders); i++) {
		char name[64], text[2048];
		snprintf(name, sizeof(name), "incast-of-%u-without-loss", senders[i]);
		if (!choice_takes(choice, name))
			continue;
		int used = snprintf(text, sizeof(text), "%straffic: {kind: flows, flows: [",
				    deep_tree);
		for (uint32_t from = 0; from < senders[i]; from++) // all in other pods
			used += snprintf(text + used, sizeof(text) - (size_t)used,
					 "%s{from: %u, to: 15, bytes: %lluB}", from > 0 ? ", " : "",
					 from, (unsigned long long)bytes);
		snprintf(text + used, sizeof(text) - (size_t)used, "]}\n");
		const char *const sets[] = {"cc.algorithm=fixed", "cc.window=8MB", NULL};
		ps_t full = way_line(&way, PAYLOAD + HEADER);
		ps_t expected = (ps_t)senders[i] * 200 * full + (way.links - 1) * full +
			way_delay(&way) + form_answer_ps(&way);
		struct claim claim = claim_of(name, "the receiver's line is full",
					      (double)expected / 1e6, (double)full / 1e6,
					      "a packet: who comes first");
		rc = trial_longest_us(text, sets, NULL, &claim.measured, refusal);
		if (rc == 0)
			claims_add(claims, &claim);
	}
	return rc;
}

static int rings(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static struct single_run single;
	static const char text[] =
		"name: ring\n"
		"fabric: {topology: leaf-spine, nics: 16, nics_per_t0: 16, t1_count: 1, "
		"link_rate: 100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
		"queue: {trim_bytes: 64B}\n"
		"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate}\n"
		"cc: {algorithm: fixed}\n"
		"traffic: {kind: ring, bytes: 16MiB, channels: 1, ranks: 16, form: barrier}\n";
	static const struct {
		const char *name, *set;
		uint32_t steps;
	} kinds[] = {{"ring-all-reduce-16", "traffic.collective=all_reduce", 30},
		     {"ring-reduce-scatter-16", "traffic.collective=reduce_scatter", 15}};
	const struct way way = {2, false};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!choice_takes(choice, kinds[i].name))
			continue;
		int rc = single_run_whole(&single, text, (const char *const[]){kinds[i].set, NULL},
					  NULL, refusal);
		if (rc < 0)
			return rc;
		const struct outcome_collective *done = &single.outcome->collectives[0];
		double expected = (double)(kinds[i].steps * form_flow_ps(&way, 1 << 20)) / 1e6;
		struct claim claim = claim_of(kinds[i].name, "steps times one flow of a share",
					      expected, expected * 0.005, "0.5 %: credits");
		claim.measured = (double)(done->end_ps - done->start_ps) / 1e6;
		single_run_end(&single);
		claims_add(claims, &claim);
	}
	return 0;
}

// Four hosts of eight: a hop inside is short, and over the network four slices may be on their way
// in the time of one there and a credit's write back. All 31 chunks pass each such hop.
static int credits(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static struct single_run single;
	static const char text[] =
		"name: credits\n"
		"fabric: {topology: leaf-spine, nics: 32, nics_per_host: 8, nics_per_t0: 32, "
		"t1_count: 1, link_rate: 100Gb/s, nic_delay: 2us, trunk_delay: 2us, "
		"switch_delay: 0ns}\n"
		"scaleup: {rate: 10000GB/s, delay: 500ns}\n"
		"queue: {trim_bytes: 64B}\n"
		"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate}\n"
		"cc: {algorithm: fixed}\n"
		"traffic: {kind: ring, collective: all_gather, bytes: 261504B, channels: 1, "
		"chunk: 2MiB, slices: 2, credits: 4}\n"; // slices of a full packet
	const struct way way = {2, false};
	ps_t more = way_delay(&way); // 2 us a link
	ps_t turn = 2 * (way_delay(&way) + more) +
		way.links * (way_line(&way, FULL) + way_line(&way, 2 * HEADER));
	ps_t last = form_flow_ps(&way, 2 * PAYLOAD) + 2 * more;
	double expected = us_of(15 * turn + last);
	struct claim claim = claim_of("ring-of-4-credits", "chunks by twos: 15 turns, a flow",
				      expected, expected * 0.01, "1 %");
	if (!choice_takes(choice, claim.name))
		return 0;
	int rc = single_run_whole(&single, text, (const char *const[]){NULL}, NULL, refusal);
	if (rc < 0)
		return rc;
	const struct outcome_collective *done = &single.outcome->collectives[0];
	claim.measured = us_of(done->end_ps - done->start_ps);
	single_run_end(&single);
	claims_add(claims, &claim);
	return 0;
}

// Two flows against each other: answers wait behind data. htsim's figure for this world.
static int both_ways(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	struct claim claim = claim_of("flow-2000000-both-ways", "htsim's, to its last digit",
				      176.804, 0.001, "1 ns");
	char text[1024];
	if (!choice_takes(choice, claim.name))
		return 0;
	snprintf(text, sizeof(text),
		 "%straffic: {kind: flows, flows: [{from: 0, to: 15, bytes: 2000000B}, "
		 "{from: 15, to: 0, bytes: 2000000B}]}\n",
		 tree);
	int rc = trial_longest_us(text, slow_sets, NULL, &claim.measured, refusal);
	if (rc == 0)
		claims_add(claims, &claim);
	return rc;
}

// One of eight paths that a flow fills at 400 Gb/s goes down; only the timer tells, after 70 us.
static int dead_path(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static struct single_run single;
	static const char text[] =
		"name: dead\n"
		"fabric: {topology: leaf-spine, nics: 4, nics_per_t0: 2, t1_count: 8, link_rate: "
		"400Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns, forwarding: usid}\n"
		"queue: {bytes: 64MB, ecn: false, trim: false}\n"
		"transport: {payload: 4086B, header: 162B, control: 64B, evs: 8, path: mrc, rto: "
		"70us, hole_age: off, mpr: 4096, sack_bytes: 1B, completion: sack}\n"
		"cc: {algorithm: fixed, window: 16MB}\n"
		"traffic: {kind: flows, flows: [{from: 0, to: 2, bytes: 32MB}]}\n"
		"faults: [{kind: link_down, at: {t0: 0, up: 3, plane: 0}, from: 100us}]\n";
	double expected = 400e9 / 8 * 70e-6 / (8 * (4086 + 162));
	struct claim claim = claim_of("lost-to-a-dead-path", "f C t / (8 M)", expected, 2,
				      "a packet at each end");
	if (!choice_takes(choice, claim.name))
		return 0;
	int rc = single_run_whole(&single, text, (const char *const[]){NULL}, NULL, refusal);
	if (rc < 0)
		return rc;
	claim.unit = "packets";
	claim.measured = (double)single.outcome->transport.rtx[RTX_TIMEOUT];
	single_run_end(&single);
	claims_add(claims, &claim);
	return 0;
}

int closed_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	int rc = single_flows(choice, claims, refusal);
	if (rc == 0)
		rc = both_ways(choice, claims, refusal);
	if (rc == 0)
		rc = dead_path(choice, claims, refusal);
	if (rc == 0)
		rc = windows(choice, claims, refusal);
	if (rc == 0)
		rc = incasts(choice, claims, refusal);
	if (rc == 0)
		rc = rings(choice, claims, refusal);
	return rc < 0 ? rc : credits(choice, claims, refusal);
}
