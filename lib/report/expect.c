// SPDX-License-Identifier: Apache-2.0
// What a scenario expects beside what its run measured. The expected values are in
// expect_formulas.c, which knows nothing of this.

#include "expect.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bypass.h"
#include "figures.h"
#include "recovery.h"

// ---------------------------------------------------------------- measures

const char *expect_measure_name(enum expect_measure measure)
{
	static const char *const names[] = {"goodput", "retransmitted", "lost",	    "further",
					    "bypass",  "leaving",	"recovery", "ratio"};
	static_assert(sizeof(names) / sizeof(*names) == EXPECT_MEASURE_COUNT, "a name for each");
	return measure < EXPECT_MEASURE_COUNT ? names[measure] : "unknown";
}

const char *expect_bound_name(enum expect_bound bound)
{
	static const char *const names[] = {"near", "at_most", "at_least"};
	static_assert(sizeof(names) / sizeof(*names) == EXPECT_BOUND_COUNT, "a name for each");
	return bound < EXPECT_BOUND_COUNT ? names[bound] : "unknown";
}

enum expect_unit expect_unit_of(enum expect_measure measure)
{
	static const enum expect_unit units[EXPECT_MEASURE_COUNT] = {
		[EXPECT_GOODPUT] = EXPECT_RATE,	 [EXPECT_RETRANSMITTED] = EXPECT_SHARE,
		[EXPECT_LOST] = EXPECT_SHARE,	 [EXPECT_FURTHER] = EXPECT_TIME,
		[EXPECT_BYPASS] = EXPECT_TIME,	 [EXPECT_LEAVING] = EXPECT_TIME,
		[EXPECT_RECOVERY] = EXPECT_TIME, [EXPECT_RATIO] = EXPECT_SHARE,
	};
	return units[measure];
}

// The part of the run that an expectation is about, as whole bins.
struct part {
	const struct series *series;
	ps_t from, until;
};

static struct part part_of(const struct report_input *input,
			   const struct scenario_expect *expectation)
{
	const struct series *series = &input->world->outcome->series;
	bool is_all = expectation->until_ps == 0;
	return (struct part){series, expectation->from_ps,
			     is_all ? series->count * series->bin_ps : expectation->until_ps};
}

// What was placed in a part of the run, over its length: also where traffic ended in it.
static double goodput_in(const struct report_input *input, const struct part *part)
{
	struct goodput goodput;
	goodput_of(&goodput, input);
	double bits = (double)series_sum(part->series, SERIES_PLACED, part->from, part->until) * 8;
	double length_s = (double)(part->until - part->from) / PS_PER_S;
	return goodput.nics_receiving == 0 ? 0 : bits / length_s / goodput.nics_receiving;
}

static double lost_in(const struct part *part)
{
	uint64_t lost = series_sum(part->series, SERIES_LOST, part->from, part->until);
	uint64_t arrived = series_sum(part->series, SERIES_ARRIVED, part->from, part->until);
	return share_of(lost, lost + arrived);
}

static double further(const struct outcome *outcome)
{
	const struct hist *far = &outcome->message_ns[PAIR_ACROSS_T1];
	const struct hist *near = &outcome->message_ns[PAIR_SAME_T0];
	return far->total == 0 || near->total == 0 ? 0 : (double)(far->min - near->min) / 1e9;
}

// NAN when there is no such figure: that is inside of nothing.
static double bypass_of(const struct report_input *input, const struct scenario_expect *expectation)
{
	struct bypass_times back = {0};
	struct bypass_list list;
	bypass_gather(&list, input->world);
	if (expectation->measure == EXPECT_RECOVERY)
		recovery_gather(&back, &list, input->world);
	const struct bypass_times *times = expectation->measure == EXPECT_BYPASS ? &list.paths
		: expectation->measure == EXPECT_LEAVING			 ? &list.links
										 : &back;
	struct figure figure = bypass_quantile(times, expectation->quantile_ppb / 1e9);
	bypass_free(&list);
	free(back.at);
	return figure.reason != NULL ? NAN : (double)figure.value / PS_PER_S;
}

static double measured_of(const struct report_input *input,
			  const struct scenario_expect *expectation)
{
	const struct part part = part_of(input, expectation);
	struct goodput goodput;
	switch ((enum expect_measure)expectation->measure) {
	case EXPECT_RETRANSMITTED:
		return share_of(rtx_total(&input->world->outcome->transport), input->data_packets);
	case EXPECT_LOST:
		return lost_in(&part);
	case EXPECT_FURTHER:
		return further(input->world->outcome);
	case EXPECT_BYPASS:
	case EXPECT_LEAVING:
	case EXPECT_RECOVERY:
		return bypass_of(input, expectation);
	default:
		if (expectation->until_ps > 0)
			return goodput_in(input, &part);
		goodput_of(&goodput, input);
		return goodput.per_nic_bps;
	}
}

bool expect_is_inside(const struct expect_row *row)
{
	double off = row->measured - row->expected, most = row->tolerance * row->expected;
	return (row->bound == EXPECT_AT_MOST || off >= -most) &&
		(row->bound == EXPECT_AT_LEAST || off <= most);
}

void expect_of(struct expect_row *ret, const struct report_input *input, uint32_t index)
{
	const struct scenario_expect *expectation = &input->world->scenario->expectations[index];
	*ret = (struct expect_row){
		.name = expectation->name[0] != '\0' ? expectation->name
						     : expect_measure_name(expectation->measure),
		.measure = expectation->measure,
		.formula = expectation->formula,
		.bound = expectation->bound,
		.from_ps = expectation->from_ps,
		.until_ps = expectation->until_ps,
		.measured = measured_of(input, expectation),
		.tolerance = expectation->tolerance_ppb / 1e9,
	};
	expect_formula(ret, input, index);
	ret->is_inside = expect_is_inside(ret);
}

bool expect_applies(const struct scenario *scenario, uint32_t index)
{
	const struct scenario_expect *expectation = &scenario->expectations[index];
	if (expectation->measure == EXPECT_RATIO)
		return false;
	if (expectation->run[0] == '\0')
		return true;
	return scenario->variant > 0 &&
		strcmp(expectation->run, scenario->variants[scenario->variant - 1].name) == 0;
}

bool report_is_expected(const struct report_input *input)
{
	bool is_inside = true;
	for (uint32_t i = 0; i < input->world->scenario->expectation_count; i++) {
		struct expect_row row;
		if (!expect_applies(input->world->scenario, i))
			continue;
		expect_of(&row, input, i);
		is_inside &= row.is_inside;
	}
	return is_inside;
}
