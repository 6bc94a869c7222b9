// SPDX-License-Identifier: Apache-2.0
// Cases in which something breaks while flows cross the fabric: a fault begins at 1 ms and ends at
// 2 ms, and goodput is held before, meanwhile (once connections have had 0.3 ms to find out) and
// after (once paths have been probed, transport.path_retry).

#include <string.h>

#include "acceptance.h"
#include "words.h"

#define TIME_PS (5 * PS_PER_MS)
#define BYPASSES 4096
#define SOAK_ROUNDS 20
#define SOAK_HELD 0.95 // of what is offered

// What traffic must reach meanwhile: a share of the lines, or what is left without so many planes.
struct meanwhile {
	double share;
	uint32_t planes_lost;
	bool is_for_good; // it never ends
};

static void window(FILE *to, const char *name, const char *from, const char *until, double share,
		   uint32_t planes_lost)
{
	fprintf(to, "  - {measure: goodput, formula: %s, ",
		planes_lost > 0 ? "planes_left" : "one_way");
	if (planes_lost > 0)
		fprintf(to, "planes: %u, ", planes_lost);
	fprintf(to, "bound: at_least, name: %s, from: %s, until: %s, tolerance: %.2f%%}\n", name,
		from, until, (1 - share) * 100);
}

// Flows from NICs of one T0 to NICs that are as far away as any.
static void drill(const struct fabric_facts *fabric_facts, uint32_t flows_max, const char *kind,
		  const char *place, const struct meanwhile *meanwhile, struct case_text *to)
{
	FILE *fabric_file = to->fabric_file;
	uint32_t flows = flows_max < fabric_facts->drill_count ? flows_max
							       : fabric_facts->drill_count;
	double share = fabric_facts->drilled.share;
	words_pairs(to, fabric_facts, fabric_facts->drills, flows,
		    bytes_in(fabric_facts, TIME_PS, share));
	fprintf(fabric_file, "watch: {bin: 100us, bins: 120, bypasses: %d}\n", BYPASSES);
	fprintf(fabric_file, "faults: [{kind: %s, at: %s, from: 1ms%s}]\n", kind, place,
		meanwhile->is_for_good ? "" : ", until: 2ms");
	fprintf(fabric_file, "expect:\n");
	window(fabric_file, "before", "0.2ms", "1ms", 0.95 * share, 0);
	window(fabric_file, "meanwhile", "1.3ms", "2ms", 0.95 * share * meanwhile->share,
	       meanwhile->planes_lost);
	if (!meanwhile->is_for_good)
		window(fabric_file, "after", "3.5ms", "4.5ms", 0.95 * share, 0);
}

#define NOT_FAR "all its NICs are at one switch"
#define ONE_PLANE "the fabric has one plane: nothing is left"

// A plane that lost so much of its links carries less, and a spray that is even over planes waits
// for it; one that lost all of its ways is lost.
static const char *ways_lost(const struct fabric_facts *fabric_facts, double lost,
			     const char *place, struct case_text *to)
{
	struct meanwhile meanwhile = {.share = 1 - lost};
	if (fabric_facts->drill_count == 0)
		return NOT_FAR;
	if (lost == 1 && fabric_facts->planes < 2)
		return "there is one way in its only plane: nothing is left";
	if (lost == 1)
		meanwhile = (struct meanwhile){.share = 1, .planes_lost = 1};
	drill(fabric_facts, DRILL_FLOWS, "link_down", place, &meanwhile, to);
	return NULL;
}

const char *ask_trunk_down(const struct acceptance_case *of,
			   const struct fabric_facts *fabric_facts, struct case_text *to)
{
	(void)of;
	return ways_lost(fabric_facts, fabric_facts->trunk_lost, fabric_facts->trunk_at, to);
}

const char *ask_t1_down(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
			struct case_text *to)
{
	(void)of;
	return ways_lost(fabric_facts, fabric_facts->next_lost, fabric_facts->next_at, to);
}

// What a plane less leaves.
static const char *plane_lost(const struct fabric_facts *fabric_facts, uint32_t flows,
			      const char *place, bool is_for_good, struct case_text *to)
{
	if (fabric_facts->planes < 2)
		return ONE_PLANE;
	if (fabric_facts->drill_count == 0)
		return NOT_FAR;
	struct meanwhile meanwhile = {.share = 1, .planes_lost = 1, .is_for_good = is_for_good};
	drill(fabric_facts, flows, "link_down", place, &meanwhile, to);
	return NULL;
}

const char *ask_t0_down(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
			struct case_text *to)
{
	(void)of;
	return plane_lost(fabric_facts, DRILL_FLOWS, fabric_facts->t0_at, false, to);
}

const char *ask_port_down(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
			  struct case_text *to)
{
	(void)of;
	return plane_lost(fabric_facts, 1, "{nic: 0, plane: 0}", false, to);
}

const char *ask_plane_down(const struct acceptance_case *of,
			   const struct fabric_facts *fabric_facts, struct case_text *to)
{
	(void)of;
	return plane_lost(fabric_facts, DRILL_FLOWS, "{plane: 0}", false, to);
}

const char *ask_port_status(const struct acceptance_case *of,
			    const struct fabric_facts *fabric_facts, struct case_text *to)
{
	char place[48];
	(void)of;
	if (!fabric_facts->is_mrc)
		return "transport.kind is not mrc";
	snprintf(place, sizeof(place), "{nic: %u, plane: 0}", fabric_facts->far);
	return plane_lost(fabric_facts, 1, place, true, to);
}

const char *ask_retire(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		       struct case_text *to)
{
	if (!fabric_facts->is_mrc)
		return "transport.kind is not mrc";
	if (fabric_facts->path != PATH_MRC)
		return "transport.path is not mrc: no EV is ever retired, so none can be restored";
	return ask_trunk_down(of, fabric_facts, to);
}

// ---------------------------------------------------------------- all the time

const char *ask_slow_trunk(const struct acceptance_case *of,
			   const struct fabric_facts *fabric_facts, struct case_text *to)
{
	(void)of;
	uint32_t flows = fabric_facts->drill_count;
	if (flows == 0)
		return NOT_FAR;
	double share = fabric_facts->drilled.share;
	ps_t span_ps = span_of(fabric_facts, flows, &fabric_facts->drilled);
	words_pairs(to, fabric_facts, fabric_facts->drills, flows,
		    bytes_in(fabric_facts, span_ps, share));
	fprintf(to->fabric_file, "faults: [{kind: slow, at: %s, rate: 50%%}]\n",
		fabric_facts->trunk_at);
	words_steady(to->fabric_file, fabric_facts, span_ps,
		     0.9 * share * (1 - 0.5 * fabric_facts->trunk_lost));
	return NULL;
}

// What the draft asks of a soak, small: 80 % of the lines for the whole time, a message a round.
#define SOAK_LOAD 0.8
#define SOAK_ROUND_PS (1 * PS_PER_MS)

const char *ask_flaps(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		      struct case_text *to)
{
	(void)of;
	uint32_t rounds = fabric_facts->is_quick ? 10 : 100;
	if (fabric_facts->drill_count == 0)
		return NOT_FAR;
	if (fabric_facts->trunk_lost == 1 && fabric_facts->planes < 2)
		return "there is one way in its only plane: nothing is left";
	struct rounds soak = {
		.count = rounds,
		.period_ps = SOAK_ROUND_PS,
		.bytes = bytes_in(fabric_facts, SOAK_ROUND_PS,
				  SOAK_LOAD * fabric_facts->drilled.share),
	};
	words_rounds(to, fabric_facts, fabric_facts->drills, fabric_facts->drill_count, &soak);
	fprintf(to->fabric_file,
		"watch: {bin: 1ms, bins: %u}\nfaults: [{kind: flap, at: %s, from: 1ms, until: "
		"%ums, "
		"down: 200us, up: 800us}]\n",
		2 * rounds, fabric_facts->trunk_at, rounds - 1);
	return NULL;
}

#define SOAK_PAIRS_MAX 128

// NICs of the two halves send to each other.
const char *ask_soak(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		     struct case_text *to)
{
	uint32_t half = fabric_facts->nics / 2,
		 each = half < of->number / 2 ? half : of->number / 2;
	struct pair pairs[SOAK_PAIRS_MAX];
	struct carried carried;
	for (uint32_t i = 0; i < each; i++) {
		pairs[2 * i] = (struct pair){i, half + i};
		pairs[2 * i + 1] = (struct pair){half + i, i};
	}
	const char *reason = words_carry(&carried, to, fabric_facts, pairs, 2 * each, 1);
	if (reason != NULL)
		return reason;
	ps_t span_ps = span_of(fabric_facts, 2 * each, &carried), period_ps = span_ps / SOAK_ROUNDS;
	struct rounds soak = {
		.count = SOAK_ROUNDS,
		.period_ps = period_ps,
		.bytes = bytes_in(fabric_facts, period_ps, SOAK_LOAD * carried.share),
	};
	words_rounds(to, fabric_facts, pairs, 2 * each, &soak);
	words_steady(to->fabric_file, fabric_facts, span_ps, SOAK_HELD * SOAK_LOAD * carried.share);
	return NULL;
}
