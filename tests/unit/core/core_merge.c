// SPDX-License-Identifier: Apache-2.0
// The merge of runs against a stable sort of the same arrivals.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/machine.h>
#include <weft/core/order.h>
#include <weft/core/rng.h>

#define PORTS_MAX 40
#define ARRIVALS_MAX 2000

static struct arrival arrivals[ARRIVALS_MAX], sorted[ARRIVALS_MAX], scratch[2][ARRIVALS_MAX];

// By time, then in-port, then first in first out (the packet numbers grow along each run).
static int by_order(const void *a, const void *b)
{
	const struct arrival *left = a, *right = b;
	int order = ORDER(left->at, right->at) ?: ORDER(left->port, right->port);
	return order ?: ORDER(left->packet, right->packet);
}

// Fills `arrivals` with runs of random lengths; few distinct times, so that ties are common.
static struct inbox random_inbox(struct rng *rng, struct arrival_run *runs)
{
	uint32_t ports = rng_below(rng, PORTS_MAX + 1), total = 0, count = 0;
	for (uint32_t port = 0; port < ports; port++) {
		uint32_t length = rng_below(rng, 30);
		if (length == 0)
			continue;
		ps_t at = rng_below(rng, 50);
		runs[count++] = (struct arrival_run){arrivals + total, length};
		for (uint32_t i = 0; i < length; i++) {
			arrivals[total] = (struct arrival){at, total, port};
			total++;
			at += rng_below(rng, 4);
		}
	}
	return (struct inbox){.runs = runs,
			      .run_count = count,
			      .arrival_count = total,
			      .scratch = {scratch[0], scratch[1]}};
}

static void merged_runs_are_in_the_order_of_the_rule(void **state)
{
	for (uint64_t seed = 0; seed < 500; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 0);
		struct arrival_run runs[PORTS_MAX];
		struct inbox in = random_inbox(&rng, runs);
		memcpy(sorted, arrivals, in.arrival_count * sizeof(*sorted));
		qsort(sorted, in.arrival_count, sizeof(*sorted), by_order);
		const struct arrival *merged = merge_runs(&in);
		for (uint32_t i = 0; i < in.arrival_count; i++) {
			assert_int_equal(merged[i].at, sorted[i].at);
			assert_int_equal(merged[i].packet, sorted[i].packet);
			assert_int_equal(merged[i].port, sorted[i].port);
		}
	}
}
