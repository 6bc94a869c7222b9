// SPDX-License-Identifier: Apache-2.0
// Pieces that cases are written from.

#include "words.h"

#include <errno.h>
#include <stdarg.h>

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

void words_steady(FILE *to, const struct fabric_facts *fabric_facts, ps_t span_ps, double share)
{
	long long bin_ns = (long long)(span_ps / BINS / PS_PER_NS);
	long long bin_ps = bin_ns * PS_PER_NS;
	long long from = (settled_by(fabric_facts, span_ps) + bin_ps - 1) / bin_ps;
	long long until = BINS * 4 / 5;
	fprintf(to, "watch: {bin: %lldns, bins: %d}\n", bin_ns, 4 * BINS);
	fprintf(to,
		"expect:\n  - {measure: goodput, formula: one_way, bound: at_least, name: steady, "
		"from: %lldns, until: %lldns, tolerance: %.2f%%}\n",
		bin_ns * (from < until ? from : until - 1), bin_ns * until, (1 - share) * 100);
}

// Where less is carried than NICs send, and some pairs meet fuller links than others: all that they
// have for a span at their common share has arrived when the fullest link has carried its part at
// 90 % of its rate.
static void words_whole(FILE *to, const struct fabric_facts *fabric_facts, ps_t span_ps,
			double share)
{
	ps_t until_ps = span_ps * 10 / 9 + 2 * fabric_facts->base_rtt_ps;
	long long bin_ns = (long long)(until_ps / BINS / PS_PER_NS) + 1;
	double arrived = share * (double)span_ps / (double)(bin_ns * BINS * PS_PER_NS);
	fprintf(to, "watch: {bin: %lldns, bins: %d}\n", bin_ns, 4 * BINS);
	fprintf(to,
		"expect:\n  - {measure: goodput, formula: one_way, bound: at_least, name: whole, "
		"from: 0ns, until: %lldns, tolerance: %.4f%%}\n",
		bin_ns * BINS, (1 - 0.999 * arrived) * 100);
}

void words_carried(FILE *to, const struct fabric_facts *fabric_facts, ps_t span_ps,
		   const struct carried *carried)
{
	if (carried->is_even)
		words_steady(to, fabric_facts, span_ps, 0.9 * carried->share);
	else
		words_whole(to, fabric_facts, span_ps, carried->share);
}

// What messages cost, each on a connection of its own.
static void add_pairs(struct case_text *to, const struct fabric_facts *fabric_facts,
		      const struct pair *pairs, uint32_t count, const struct rounds *rounds)
{
	for (uint32_t i = 0; i < count; i++) // a connection for each message
		cost_add(&to->cost, fabric_facts,
			 &(struct messages){rounds->count, 1, (double)rounds->bytes,
					    topology_links(fabric_facts->topology,
							   fabric_facts->fabric, pairs[i].from,
							   pairs[i].to)});
	to->cost.senders += count;
}

void words_pairs(struct case_text *to, const struct fabric_facts *fabric_facts,
		 const struct pair *pairs, uint32_t count, uint64_t bytes)
{
	fprintf(to->fabric_file, "traffic:\n  kind: flows\n  flows:\n");
	for (uint32_t i = 0; i < count; i++)
		fprintf(to->fabric_file, "    - {from: %u, to: %u, bytes: %lluB}\n", pairs[i].from,
			pairs[i].to, (unsigned long long)bytes);
	add_pairs(to, fabric_facts, pairs, count, &(struct rounds){.count = 1, .bytes = bytes});
}

void words_rounds(struct case_text *to, const struct fabric_facts *fabric_facts,
		  const struct pair *pairs, uint32_t count, const struct rounds *rounds)
{
	fprintf(to->fabric_file, "traffic:\n  kind: flows\n  flows:\n");
	for (uint32_t pair = 0; pair < count; pair++)
		for (uint32_t i = 0; i < rounds->count; i++)
			fprintf(to->fabric_file,
				"    - {from: %u, to: %u, bytes: %lluB, start: %lldns}\n",
				pairs[pair].from, pairs[pair].to, (unsigned long long)rounds->bytes,
				(long long)(i * rounds->period_ps / PS_PER_NS));
	add_pairs(to, fabric_facts, pairs, count, rounds);
}

const char *words_reason(struct case_text *to, const char *format, ...)
{
	va_list words;
	va_start(words, format);
	vsnprintf(to->reason, sizeof(to->reason), format, words);
	va_end(words);
	return to->reason;
}

const char *words_carry(struct carried *ret, struct case_text *to,
			const struct fabric_facts *fabric_facts, const struct pair *pairs,
			uint32_t count, double weight)
{
	int rc = carry(ret, fabric_facts, pairs, count, weight);
	to->carried = ret->share / weight;
	if (rc == 0)
		return NULL;
	return words_reason(to,
			    rc == -ENOMEM ? "not enough memory"
					  : "no way leads from some of its NICs to the others");
}
