// SPDX-License-Identifier: Apache-2.0
// Rings as htsim's generator writes them, against its own runs: n chains of 2 n - 1 messages, each
// to the next NIC, begun when the sender of the one before has its last ACK. In htsim the next
// begins at once, here a signal later (traffic.signal_delay): 2 n - 2 signals are added to what is
// expected. One run of htsim's each, so the rule is that of one run.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "validate.h"

#define LINE_BYTES 112 // of a connection and its trigger, at most
#define SIGNAL_US 0.1
#define RULES \
	"link_rate: 100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n" \
	"queue: {ecn_last_hop: true, trim_bytes: 64B, trim_choice: coin, counts: line}\n" \
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 128, path: mixed, " \
	"sack_rule: htsim, completion: sack, hole_age: off, rtt: once, sack_bytes: 16384B, " \
	"rto: 100.656us}\ncc: {algorithm: nscc, htsim: true}\n" \
	"traffic: {kind: matrix, matrix: as-given, signal_delay: 100ns}\n"

static const struct ring {
	const char *name, *text;
	uint32_t nodes, bytes;
	double expected_us;
} rings[] = {
	{"larger-ring16-1MiB",
	 "name: ring\nfabric: {topology: fat-tree, nics: 16, tor_nics: 2, pod_tors: 2, pod_aggs: "
	 "2, cores: 4, " RULES,
	 16, 1048576, 2903.6},
	{"larger-ring128-64KiB",
	 "name: ring\nfabric: {topology: fat-tree, nics: 128, tor_nics: 4, pod_tors: 4, pod_aggs: "
	 "4, cores: 16, " RULES,
	 128, 65536, 2889.5},
};

// Connection `step` of the chain that begins at node `chain`, and what fires the one behind it.
static size_t write_step(const struct ring *ring, uint32_t chain, uint32_t step, char *to)
{
	uint32_t steps = 2 * ring->nodes - 1, trigger = chain * (steps - 1) + step;
	char begin[32] = "start 0", end[64] = "";
	if (step > 0)
		snprintf(begin, sizeof(begin), "trigger %u", trigger);
	if (step < steps - 1)
		snprintf(end, sizeof(end), " send_done_trigger %u\ntrigger id %u oneshot",
			 trigger + 1, trigger + 1);
	return (size_t)snprintf(to, LINE_BYTES, "%u->%u %s size %u%s\n",
				(chain + step) % ring->nodes, (chain + step + 1) % ring->nodes,
				begin, ring->bytes, end);
}

// The whole matrix; the caller frees it. NULL without memory.
static char *write_matrix(const struct ring *ring)
{
	uint32_t steps = 2 * ring->nodes - 1, connections = ring->nodes * steps;
	char *text = malloc((size_t)(connections + 1) * LINE_BYTES);
	if (text == NULL)
		return NULL;
	size_t used = (size_t)snprintf(text, LINE_BYTES, "Nodes %u\nConnections %u\nTriggers %u\n",
				       ring->nodes, connections, connections - ring->nodes);
	for (uint32_t chain = 0; chain < ring->nodes; chain++)
		for (uint32_t step = 0; step < steps; step++)
			used += write_step(ring, chain, step, text + used);
	return text;
}

static int run_seeds(const struct choice *choice, const struct ring *ring, const char *matrix,
		     double *ret_mean, double *ret_squares, struct refusal *refusal)
{
	static struct single_run single;
	*ret_mean = *ret_squares = 0;
	for (uint32_t i = 0; i < choice->per_matrix; i++) {
		char set[32];
		const char *const sets[] = {set, NULL};
		snprintf(set, sizeof(set), "seed=%u", i + 1);
		int rc = single_run_whole(&single, ring->text, sets, matrix, refusal);
		if (rc < 0)
			return rc;
		double us = (double)single.outcome->end_ps / PS_PER_US, off = us - *ret_mean;
		*ret_mean += off / (i + 1);
		*ret_squares += off * (us - *ret_mean);
		single_run_end(&single);
	}
	return 0;
}

static int compare(const struct choice *choice, const struct ring *ring, struct claims *claims,
		   struct refusal *refusal)
{
	double squares;
	struct claim claim = {.source = "htsim, one run",
			      .unit = "us",
			      .expected = ring->expected_us + SIGNAL_US * (2 * ring->nodes - 2)};
	snprintf(claim.name, sizeof(claim.name), "%s", ring->name);
	char *matrix = write_matrix(ring);
	if (matrix == NULL)
		return refuse(refusal, -ENODEV, "no memory for a matrix");
	int rc = run_seeds(choice, ring, matrix, &claim.measured, &squares, refusal);
	free(matrix);
	if (rc < 0)
		return rc;
	uint32_t runs = choice->per_matrix;
	htsim_tolerate(&claim, HTSIM_MAX, runs > 1 ? sqrt(squares / (runs - 1)) : 0, 1);
	claims_add(claims, &claim);
	return 0;
}

int rings_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < sizeof(rings) / sizeof(rings[0]); i++)
		if (choice_takes(choice, rings[i].name))
			rc = compare(choice, &rings[i], claims, refusal);
	return rc;
}
