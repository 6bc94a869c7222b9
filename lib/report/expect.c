// SPDX-License-Identifier: Apache-2.0
// The formulas behind a scenario's `expect`. They know the configuration and arithmetic, and
// nothing of how endpoints or switches work: what a run measures is held against them, so they
// share no code with what is measured. Sources of the formulas: docs/howto/run-a-drill.md.

#include "expect.h"

#include <math.h>
#include <string.h>

#include "figures.h"
#include "number.h"

#define CREDIT_BYTES 64 // payload of a credit: NCCL's entry in the sender's FIFO

// What the formulas are made of.
struct terms {
	const struct scenario_expect *expectation;
	double planes, rate_bps;
	double payload, header;	    // bytes of a packet
	double control, sack_bytes; // bytes of a SACK; received bytes that cause one
	double slice;		    // bytes of a ring's write
	double lost, time_down;	    // planes; share of time
	double loss;		    // share of packets that one cable takes
	uint32_t links;		    // cables on the longest way
	struct text rate, loss_text, down_text;
};

// Cables between the first NIC and the last: in a Clos or fat tree, the longest way.
static uint32_t links_of(const struct world *world)
{
	return topology_links(&world->topology, &world->fabric, 0, world->topology.nics - 1);
}

static void terms_of(struct terms *ret, const struct report_input *input, uint32_t index)
{
	const struct world *world = input->world;
	const struct scenario_expect *expectation = &world->scenario->expectations[index];
	const struct ring_config *ring = &world->scenario->traffic.ring;
	double payload = world->scenario->transport.payload_bytes;
	*ret = (struct terms){
		.expectation = expectation,
		.planes = world->scenario->fabric.planes,
		.rate_bps = (double)world->scenario->fabric.link_rate_bps,
		.payload = payload,
		.header = world->scenario->transport.header_bytes,
		.control = world->scenario->transport.control_bytes,
		.sack_bytes = world->scenario->transport.sack_bytes,
		.slice = (double)ring->chunk_bytes_max / ring->slices,
		.lost = expectation->planes,
		.time_down = expectation->time_ppb / 1e9,
		.loss = expectation->loss_ppb / 1e9,
		.links = links_of(world),
	};
	number_rate(&ret->rate, ret->rate_bps);
	number_share(&ret->loss_text, ret->loss);
	number_share(&ret->down_text, ret->time_down);
}

// ---------------------------------------------------------------- formulas

// Each writes itself, with numbers, to `text` and returns its value.
typedef double formula_fn(const struct terms *terms, char *text, size_t bytes);

// All planes carry full packets back to back.
static double one_way(const struct terms *t, char *text, size_t bytes)
{
	snprintf(text, bytes, "%.0f planes x %s x %.0f B / (%.0f + %.0f) B", t->planes, t->rate.at,
		 t->payload, t->payload, t->header);
	return t->planes * t->rate_bps * t->payload / (t->payload + t->header);
}

// A ring of two: writes of a slice each way, so that lines carry SACKs of what comes the other way,
// and for each slice a credit, whose payload counts, and its SACK.
static double ring_writes(const struct terms *t, char *text, size_t bytes)
{
	double packets = ceil(t->slice / t->payload) + 1;
	double sacks = ceil(t->slice / t->sack_bytes) + 1;
	double good = t->slice + CREDIT_BYTES;
	snprintf(text, bytes,
		 "%.0f planes x %s x (%.0f + %d) B / (%.0f + %.0f x %.0f + %.0f x %.0f) B",
		 t->planes, t->rate.at, t->slice, CREDIT_BYTES, good, packets, t->header, sacks,
		 t->control);
	return t->planes * t->rate_bps * good / (good + packets * t->header + sacks * t->control);
}

static double planes_left(const struct terms *t, char *text, size_t bytes)
{
	double whole = one_way(t, text, bytes);
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, " x (%.0f - %.0f) / %.0f", t->planes, t->lost,
		 t->planes);
	return whole * (t->planes - t->lost) / t->planes;
}

static double planes_flapping(const struct terms *t, char *text, size_t bytes)
{
	double whole = one_way(t, text, bytes);
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, " x (%.0f - %.0f x %s) / %.0f", t->planes, t->lost,
		 t->down_text.at, t->planes);
	return whole * (t->planes - t->lost * t->time_down) / t->planes;
}

// What is lost is sent again and takes its time again.
static double loss_repaired(const struct terms *t, char *text, size_t bytes)
{
	double whole = one_way(t, text, bytes);
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, " x (1 - %s)^%u", t->loss_text.at, t->links);
	return whole * pow(1 - t->loss, t->links);
}

static double loss_on_way(const struct terms *t, char *text, size_t bytes)
{
	snprintf(text, bytes, "1 - (1 - %s)^%u cables", t->loss_text.at, t->links);
	return 1 - pow(1 - t->loss, t->links);
}

static const struct {
	const char *name;
	formula_fn *formula;
} formulas[EXPECT_FORMULA_COUNT] = {
	[EXPECT_ONE_WAY] = {"one_way", one_way},
	[EXPECT_RING_WRITES] = {"ring_writes", ring_writes},
	[EXPECT_PLANES_LEFT] = {"planes_left", planes_left},
	[EXPECT_PLANES_FLAPPING] = {"planes_flapping", planes_flapping},
	[EXPECT_LOSS_REPAIRED] = {"loss_repaired", loss_repaired},
	[EXPECT_LOSS_ON_WAY] = {"loss_on_way", loss_on_way},
};

const char *expect_formula_name(enum expect_formula formula)
{
	return formula < EXPECT_FORMULA_COUNT ? formulas[formula].name : "unknown";
}

// ---------------------------------------------------------------- measures

const char *expect_measure_name(enum expect_measure measure)
{
	static const char *const names[] = {"goodput", "retransmitted"};
	static_assert(sizeof(names) / sizeof(*names) == EXPECT_MEASURE_COUNT, "a name for each");
	return measure < EXPECT_MEASURE_COUNT ? names[measure] : "unknown";
}

static double measured_of(const struct report_input *input, enum expect_measure measure)
{
	struct goodput goodput;
	if (measure == EXPECT_RETRANSMITTED)
		return share_of(rtx_total(&input->world->outcome->transport), input->data_packets);
	goodput_of(&goodput, input);
	return goodput.per_nic_bps;
}

void expect_of(struct expect_row *ret, const struct report_input *input, uint32_t index)
{
	const struct scenario_expect *expectation = &input->world->scenario->expectations[index];
	struct terms terms;
	terms_of(&terms, input, index);
	*ret = (struct expect_row){
		.measure = expectation->measure,
		.formula = expectation->formula,
		.measured = measured_of(input, expectation->measure),
		.tolerance = expectation->tolerance_ppb / 1e9,
	};
	ret->expected = formulas[ret->formula].formula(&terms, ret->text, sizeof(ret->text));
	ret->is_inside = fabs(ret->measured - ret->expected) <= ret->tolerance * ret->expected;
}

bool report_is_expected(const struct report_input *input)
{
	bool is_inside = true;
	for (uint32_t i = 0; i < input->world->scenario->expectation_count; i++) {
		struct expect_row row;
		expect_of(&row, input, i);
		is_inside &= row.is_inside;
	}
	return is_inside;
}
