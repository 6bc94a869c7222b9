// SPDX-License-Identifier: Apache-2.0
// Collectives on an ideal fabric: 16 ranks at one switch, nothing else. Each algorithm is a chain
// of messages that wait for each other, so its time is a sum of the times of single messages
// (form.h: line with the headers of every packet, delays); the last sender waits for its answer.
// M is a message's bytes, T(M) its time until it is there, L(M) its time on a line.
// Thakur, Rabenseifner, Gropp, 2005 (alpha + M beta per message); trees: Sanders et al., 2009.
// Bus bandwidth is a factor over time, so what holds for one within 1 % holds for the other.

#include "form.h"

#define RANKS 16u
#define BYTES (UINT64_C(16) << 20)
#define SHARE (BYTES / RANKS)

static const char one_switch[] =
	"name: collective\n"
	"fabric: {topology: leaf-spine, nics: 16, nics_per_t0: 16, t1_count: 1, "
	"link_rate: 100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"queue: {trim_bytes: 64B, bytes: 64MiB, ecn: false}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, "
	"rto: 10ms}\n"
	"cc: {algorithm: fixed, window: 256kB}\n"
	"traffic: {kind: collective, bytes: 16MiB, channels: 1, chunk: 16MiB}\n";

static const struct way way = {2, false};

static ps_t message_ps(uint64_t bytes)
{
	return (form_packets(bytes) - 1) * way_line(&way, FULL) + way_line(&way, form_last(bytes));
}

// So many messages one behind the other, until the last is there.
static ps_t row_ps(uint32_t count, uint64_t bytes)
{
	return (count - 1) * message_ps(bytes) + form_there_ps(&way, bytes);
}

// Halving: half, a quarter, ... of it. Doubling is the same from the other end.
static ps_t halves_ps(void)
{
	ps_t sum = 0;
	for (uint64_t bytes = BYTES / 2; bytes >= SHARE; bytes /= 2)
		sum += form_there_ps(&way, bytes);
	return sum;
}

// PAT's steps: 1, 2, 4, 8 blocks, as messages of their own.
static ps_t pat_ps(void)
{
	ps_t sum = 0;
	for (uint32_t blocks = 1; blocks < RANKS; blocks *= 2)
		sum += row_ps(blocks, SHARE);
	return sum;
}

// One way through the tree of 16: three levels where two messages share a line, and one where the
// top has one child.
static ps_t tree_ps(uint64_t bytes)
{
	return 3 * row_ps(2, bytes) + form_there_ps(&way, bytes);
}

// A chain of 15 hops in pieces of a share.
static ps_t chain_ps(void)
{
	return (RANKS - 1) * form_there_ps(&way, SHARE) + (RANKS - 1) * message_ps(SHARE);
}

// Four hosts of four, and a scale-up that hardly counts: (m - 1) / m of the bytes there and back.
#define MEMBERS 4u
#define INSIDE_BYTES_PER_US (UINT64_C(10000) * 1000)

static ps_t inside_ps(uint64_t bytes)
{
	return PS_PER_US / 2 + (ps_t)(bytes * PS_PER_US / INSIDE_BYTES_PER_US);
}

static ps_t levels_ps(uint32_t rounds)
{
	uint64_t inside = BYTES / MEMBERS * (MEMBERS - 1);
	return rounds * ((RANKS / MEMBERS - 1) * form_there_ps(&way, SHARE) + inside_ps(inside));
}

// Each rank sends to the twelve outside what it and its three neighbours have for them.
static ps_t exchange_ps(void)
{
	return row_ps(RANKS - MEMBERS, SHARE) + inside_ps(SHARE);
}

struct form {
	const char *name, *collective, *algorithm, *source;
	bool has_hosts, is_cut; // hosts of four; pieces of a share
	ps_t expected_ps;	// until all is there
};

static int hold(const struct choice *choice, const struct form *form, struct claims *claims,
		struct refusal *refusal)
{
	static struct single_run single;
	char collective[64], algorithm[64];
	const char *sets[8] = {collective, algorithm};
	uint32_t count = 2;
	if (!choice_takes(choice, form->name))
		return 0;
	snprintf(collective, sizeof(collective), "traffic.collective=%s", form->collective);
	snprintf(algorithm, sizeof(algorithm), "traffic.algorithm=%s", form->algorithm);
	if (form->is_cut)
		sets[count++] = "traffic.chunk=1MiB";
	if (form->has_hosts) {
		sets[count++] = "fabric.nics_per_host=4";
		sets[count++] = "scaleup.rate=10000GB/s";
		sets[count++] = "scaleup.delay=500ns";
	}
	int rc = single_run_whole(&single, one_switch, sets, NULL, refusal);
	if (rc < 0)
		return rc;
	double expected = us_of(form->expected_ps + form_answer_ps(&way));
	struct claim claim = claim_of(form->name, form->source, expected, expected * 0.01, "1 %");
	claim.measured = us_of(single.outcome->end_ps);
	single_run_end(&single);
	claims_add(claims, &claim);
	return 0;
}

int collectives_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	ps_t share_ps = form_there_ps(&way, SHARE);
	const struct form forms[] = {
		{"coll-ring-all-reduce", "all_reduce", "ring", "2 (n - 1) T(S / n)", false, false,
		 30 * share_ps},
		{"coll-ring-all-gather", "all_gather", "ring", "(n - 1) T(S / n)", false, false,
		 15 * share_ps},
		{"coll-chain-broadcast", "broadcast", "ring", "(n - 1) (T(M) + L(M))", false, true,
		 chain_ps()},
		{"coll-tree-broadcast", "broadcast", "tree", "T(S) + 3 (T(S) + L(S))", false, false,
		 tree_ps(BYTES)},
		{"coll-tree-all-reduce", "all_reduce", "tree", "twice that", false, false,
		 2 * tree_ps(BYTES)},
		{"coll-double-tree-all-reduce", "all_reduce", "double_tree", "the same with S / 2",
		 false, false, 2 * tree_ps(BYTES / 2)},
		{"coll-halving-reduce-scatter", "reduce_scatter", "halving_doubling",
		 "T(S / 2) + T(S / 4) + ...", false, false, halves_ps()},
		{"coll-halving-doubling-all-reduce", "all_reduce", "halving_doubling", "twice that",
		 false, false, 2 * halves_ps()},
		{"coll-pat-all-gather", "all_gather", "pat", "rows of 1, 2, 4, ... of S / n", false,
		 false, pat_ps()},
		{"coll-pat-reduce-scatter", "reduce_scatter", "pat", "the same", false, false,
		 pat_ps()},
		{"coll-direct-all-to-all", "all_to_all", "direct", "a row of n - 1", false, false,
		 row_ps(RANKS - 1, SHARE)},
		{"coll-hierarchical-all-to-all", "all_to_all", "hierarchical", "a row of n - m",
		 true, false, exchange_ps()},
		{"coll-hierarchical-reduce-scatter", "reduce_scatter", "hierarchical",
		 "inside, (D - 1) T(S / n)", true, false, levels_ps(1)},
		{"coll-hierarchical-all-reduce", "all_reduce", "hierarchical", "twice that", true,
		 false, levels_ps(2)},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(forms) / sizeof(*forms); i++)
		rc = hold(choice, &forms[i], claims, refusal);
	return rc;
}
