// SPDX-License-Identifier: Apache-2.0
// Cases in which something breaks while flows cross the fabric: a fault begins at 1 ms and ends at
// 2 ms, and goodput is held before, meanwhile (once connections have had 0.3 ms to find out) and
// after (once paths have been probed, transport.path_retry).

#include <string.h>

#include "book.h"
#include "words.h"

#define FLOWS_MAX DRILL_FLOWS
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

// Flows from the first NICs, below one T0 where it is known, to the other half of the fabric.
static void drill(const struct facts *facts, uint32_t flows_max, const char *kind,
		  const char *place, const struct meanwhile *meanwhile, struct case_text *to)
{
	FILE *scene = to->scene;
	uint32_t flows = crossing_flows(facts, flows_max);
	double share = crossing_share(facts, flows);
	words_flows(scene, flows, facts->far, bytes_in(facts, TIME_PS, share));
	fprintf(scene, "watch: {bin: 100us, bins: 120, bypasses: %d}\n", BYPASSES);
	fprintf(scene, "faults: [{kind: %s, at: %s, from: 1ms%s}]\n", kind, place,
		meanwhile->is_for_good ? "" : ", until: 2ms");
	fprintf(scene, "expect:\n");
	window(scene, "before", "0.2ms", "1ms", 0.95 * share, 0);
	window(scene, "meanwhile", "1.3ms", "2ms", 0.95 * share * meanwhile->share,
	       meanwhile->planes_lost);
	if (!meanwhile->is_for_good)
		window(scene, "after", "3.5ms", "4.5ms", 0.95 * share, 0);
}

// A plane that lost one of so many links carries less, and a spray that is even over planes waits
// for it.
static double without_one_of(uint32_t links)
{
	return 1 - 1.0 / links;
}

#define NO_TIERS "its switches have no tiers, or there is one T0"

const char *ask_trunk_down(const struct book_case *of, const struct facts *facts,
			   struct case_text *to)
{
	(void)of;
	if (facts->ups == 0)
		return NO_TIERS;
	if (facts->ups < 2)
		return "a T0 has one link upwards in a plane";
	struct meanwhile meanwhile = {.share = without_one_of(facts->ups)};
	drill(facts, FLOWS_MAX, "link_down", "{t0: 0, up: 0, plane: 0}", &meanwhile, to);
	return NULL;
}

const char *ask_t1_down(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	(void)of;
	if (facts->ups == 0)
		return NO_TIERS;
	if (facts->ups < 2)
		return "a T0 has one link upwards in a plane";
	struct meanwhile meanwhile = {.share = without_one_of(facts->ups)};
	drill(facts, FLOWS_MAX, "link_down", "{t1: 0, plane: 0}", &meanwhile, to);
	return NULL;
}

// What a plane less leaves.
static const char *plane_lost(const struct facts *facts, uint32_t flows, const char *place,
			      bool is_for_good, struct case_text *to)
{
	if (facts->planes < 2)
		return "the fabric has one plane: nothing is left";
	struct meanwhile meanwhile = {.share = 1, .planes_lost = 1, .is_for_good = is_for_good};
	drill(facts, flows, "link_down", place, &meanwhile, to);
	return NULL;
}

const char *ask_t0_down(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	(void)of;
	if (facts->ups == 0)
		return NO_TIERS;
	return plane_lost(facts, FLOWS_MAX, "{t0: 0, plane: 0}", false, to);
}

const char *ask_port_down(const struct book_case *of, const struct facts *facts,
			  struct case_text *to)
{
	(void)of;
	return plane_lost(facts, 1, "{nic: 0, plane: 0}", false, to);
}

const char *ask_plane_down(const struct book_case *of, const struct facts *facts,
			   struct case_text *to)
{
	(void)of;
	return plane_lost(facts, FLOWS_MAX, "{plane: 0}", false, to);
}

const char *ask_port_status(const struct book_case *of, const struct facts *facts,
			    struct case_text *to)
{
	char place[48];
	(void)of;
	if (!facts->is_mrc)
		return "transport.kind is not mrc";
	snprintf(place, sizeof(place), "{nic: %u, plane: 0}", facts->far);
	return plane_lost(facts, 1, place, true, to);
}

const char *ask_retire(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	if (!facts->is_mrc)
		return "transport.kind is not mrc";
	if (facts->path != PATH_MRC)
		return "transport.path is not mrc: no EV is ever retired, so none can be restored";
	return ask_trunk_down(of, facts, to);
}

// ---------------------------------------------------------------- all the time

const char *ask_slow_trunk(const struct book_case *of, const struct facts *facts,
			   struct case_text *to)
{
	(void)of;
	if (facts->ups == 0)
		return NO_TIERS;
	uint32_t flows = crossing_flows(facts, FLOWS_MAX);
	double share = crossing_share(facts, flows);
	ps_t span_ps = span_of(facts, flows);
	words_flows(to->scene, flows, facts->far, bytes_in(facts, span_ps, share));
	fprintf(to->scene, "faults: [{kind: slow, at: {t0: 0, up: 0, plane: 0}, rate: 50%%}]\n");
	words_steady(to->scene, facts, span_ps, 0.9 * share * (1 - 0.5 / facts->ups));
	return NULL;
}

// What the draft asks of a soak, small: 80 % of the lines for the whole time, a message a round.
#define SOAK_LOAD 0.8
#define SOAK_ROUND_PS (1 * PS_PER_MS)

const char *ask_flaps(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	(void)of;
	if (facts->ups * facts->planes < 2)
		return "a T0 has no two links upwards";
	uint32_t flows = crossing_flows(facts, FLOWS_MAX), rounds = facts->is_quick ? 10 : 100;
	struct rounds soak = {
		.count = rounds,
		.period_ps = SOAK_ROUND_PS,
		.bytes = bytes_in(facts, SOAK_ROUND_PS, SOAK_LOAD * crossing_share(facts, flows)),
	};
	fprintf(to->scene, "traffic:\n  kind: flows\n  flows:\n");
	for (uint32_t i = 0; i < flows; i++)
		words_rounds(to->scene, i, i + facts->far, &soak);
	fprintf(to->scene,
		"watch: {bin: 1ms, bins: %u}\nfaults: [{kind: flap, at: {t0: 0, up: 0, plane: 0}, "
		"from: 1ms, until: %ums, down: 200us, up: 800us}]\n",
		2 * rounds, rounds - 1);
	return NULL;
}

// NICs of the two halves send to each other.
const char *ask_soak(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	uint32_t half = facts->nics / 2, each = half < of->number / 2 ? half : of->number / 2;
	ps_t span_ps = span_of(facts, 2 * each), period_ps = span_ps / SOAK_ROUNDS;
	struct rounds soak = {
		.count = SOAK_ROUNDS,
		.period_ps = period_ps,
		.bytes = bytes_in(facts, period_ps, SOAK_LOAD * facts->up_share),
	};
	fprintf(to->scene, "traffic:\n  kind: flows\n  flows:\n");
	for (uint32_t i = 0; i < each; i++) {
		words_rounds(to->scene, i, half + i, &soak);
		words_rounds(to->scene, half + i, i, &soak);
	}
	words_steady(to->scene, facts, span_ps, SOAK_HELD * SOAK_LOAD * facts->up_share);
	return NULL;
}
