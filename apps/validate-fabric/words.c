// SPDX-License-Identifier: Apache-2.0
// Pieces that cases are written from.

#include "words.h"

#define BINS 20 // of a span

void words_check(FILE *to, const char *name, const char *metric, const char *bound,
		 const char *source)
{
	fprintf(to, "  - {name: \"%s\", metric: %s, bound: %s, source: \"%s\"}\n", name, metric,
		bound, source);
}

void words_indicative(FILE *to, const char *name, const char *metric, const char *bound,
		      const char *source)
{
	fprintf(to, "  - {name: \"%s\", metric: %s, bound: %s, indicative: true, source: \"%s\"}\n",
		name, metric, bound, source);
}

void words_steady(FILE *to, const struct facts *facts, ps_t span_ps, double share)
{
	long long bin_ns = (long long)(span_ps / BINS / PS_PER_NS);
	long long bin_ps = bin_ns * PS_PER_NS;
	long long from = (settled_by(facts, span_ps) + bin_ps - 1) / bin_ps;
	long long until = BINS * 4 / 5;
	fprintf(to, "watch: {bin: %lldns, bins: %d}\n", bin_ns, 4 * BINS);
	fprintf(to,
		"expect:\n  - {measure: goodput, formula: one_way, bound: at_least, name: steady, "
		"from: %lldns, until: %lldns, tolerance: %.2f%%}\n",
		bin_ns * (from < until ? from : until - 1), bin_ns * until, (1 - share) * 100);
}

void words_flows(FILE *to, uint32_t count, uint32_t ahead, uint64_t bytes)
{
	fprintf(to, "traffic:\n  kind: flows\n  flows:\n");
	for (uint32_t i = 0; i < count; i++)
		fprintf(to, "    - {from: %u, to: %u, bytes: %lluB}\n", i, i + ahead,
			(unsigned long long)bytes);
}

void words_rounds(FILE *to, uint32_t from, uint32_t nic, const struct rounds *rounds)
{
	for (uint32_t i = 0; i < rounds->count; i++)
		fprintf(to, "    - {from: %u, to: %u, bytes: %lluB, start: %lldns}\n", from, nic,
			(unsigned long long)rounds->bytes,
			(long long)(i * rounds->period_ps / PS_PER_NS));
}
