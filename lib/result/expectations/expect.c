// SPDX-License-Identifier: Apache-2.0
// What a scenario expects beside what its run measured. The expected values are in
// expect_formulas.c, which knows nothing of this.

#include <weft/result/expect.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/result/bypass.h>
#include <weft/result/figures.h>
#include <weft/result/recovery.h>

// ---------------------------------------------------------------- measures

const char *expect_measure_name(enum expect_measure measure)
{
	static const char *const names[] = {"goodput",	"retransmitted", "lost",
					    "further",	"bypass",	 "leaving",
					    "recovery", "ratio",	 "goodput_kept"};
	static_assert(sizeof(names) / sizeof(*names) == EXPECT_MEASURE_COUNT, "a name for each");
	return measure < EXPECT_MEASURE_COUNT ? names[measure] : "unknown";
}

const char *expect_bound_name(enum expect_bound bound)
{
	static const char *const names[] = {"near", "at_most", "at_least"};
	static_assert(sizeof(names) / sizeof(*names) == EXPECT_BOUND_COUNT, "a name for each");
	return bound < EXPECT_BOUND_COUNT ? names[bound] : "unknown";
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

// NAN, which is inside of nothing, and why.
static double none(const char **ret_reason, const char *reason)
{
	*ret_reason = reason;
	return NAN;
}

static double lost_in(const struct part *part, const char **ret_reason)
{
	uint64_t lost = series_sum(part->series, SERIES_LOST, part->from, part->until);
	uint64_t arrived = series_sum(part->series, SERIES_ARRIVED, part->from, part->until);
	if (lost + arrived == 0)
		return none(ret_reason, "no data packet was lost or arrived in this part");
	return share_of(lost, lost + arrived);
}

// Of the goodput between `since_ps` and the first fault behind it, what is left in the part. A bin
// in which a fault begins is of neither.
static double kept_in(const struct report_input *input, const struct part *part, ps_t since_ps,
		      const char **ret_reason)
{
	const struct scenario *scenario = input->world->scenario;
	ps_t first = PS_NEVER;
	for (uint32_t i = 0; i < scenario->fault_count; i++)
		if (scenario->faults[i].from_ps > since_ps && scenario->faults[i].from_ps < first)
			first = scenario->faults[i].from_ps;
	struct part before = {part->series, since_ps,
			      first / part->series->bin_ps * part->series->bin_ps};
	if (first > part->from || before.until <= since_ps)
		return none(ret_reason, "no fault begins between since and from");
	double goodput = goodput_in(input, &before);
	if (goodput == 0)
		return none(ret_reason, "nothing was received before the first fault");
	return goodput_in(input, part) / goodput;
}

static double further(const struct outcome *outcome, const char **ret_reason)
{
	const struct hist *far = &outcome->message_ns[PAIR_ACROSS_T1];
	const struct hist *near = &outcome->message_ns[PAIR_SAME_T0];
	if (far->total == 0 || near->total == 0)
		return none(ret_reason, "no messages of one of the two kinds");
	return (double)(far->min - near->min) / 1e9;
}

static double bypass_of(const struct report_input *input, const struct scenario_expect *expectation,
			const char **ret_reason)
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
	return figure.reason != NULL ? none(ret_reason, figure.reason)
				     : (double)figure.value / PS_PER_S;
}

static double measured_of(const struct report_input *input,
			  const struct scenario_expect *expectation, const char **ret_reason)
{
	const struct part part = part_of(input, expectation);
	struct goodput goodput;
	switch ((enum expect_measure)expectation->measure) {
	case EXPECT_RETRANSMITTED:
		if (input->run.data_packets == 0)
			return none(ret_reason, "no data packet was sent");
		return share_of(rtx_total(&input->world->outcome->transport),
				input->run.data_packets);
	case EXPECT_LOST:
		return lost_in(&part, ret_reason);
	case EXPECT_GOODPUT_KEPT:
		return kept_in(input, &part, expectation->since_ps, ret_reason);
	case EXPECT_FURTHER:
		return further(input->world->outcome, ret_reason);
	case EXPECT_BYPASS:
	case EXPECT_LEAVING:
	case EXPECT_RECOVERY:
		return bypass_of(input, expectation, ret_reason);
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
		.tolerance = expectation->tolerance_ppb / 1e9,
	};
	ret->measured = measured_of(input, expectation, &ret->reason);
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
