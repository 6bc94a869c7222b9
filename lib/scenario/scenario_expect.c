// SPDX-License-Identifier: Apache-2.0
// The list `expect` of a scenario: which measure goes with which formula, and what each needs. What
// formulas come to is in lib/result/expectations/expect_formulas.c.

#include <string.h>

#include <weft/core/near_word.h>
#include <weft/fabric/fabric_capacity.h>

#include "scenario_reader.h"

// What a measure is counted in; a formula gives the same.
enum unit { UNIT_RATE, UNIT_SHARE, UNIT_TIME };

static const struct {
	enum unit unit;
	bool has_window; // may be measured of a part of the run
	bool needs_window, needs_series, needs_bypasses;
} measure_uses[EXPECT_MEASURE_COUNT] = {
	[EXPECT_GOODPUT] = {.unit = UNIT_RATE, .has_window = true},
	[EXPECT_RETRANSMITTED] = {.unit = UNIT_SHARE},
	[EXPECT_LOST] = {.unit = UNIT_SHARE, .has_window = true, .needs_series = true},
	[EXPECT_FURTHER] = {.unit = UNIT_TIME},
	[EXPECT_BYPASS] = {.unit = UNIT_TIME, .needs_bypasses = true},
	[EXPECT_LEAVING] = {.unit = UNIT_TIME, .needs_bypasses = true},
	[EXPECT_RECOVERY] = {.unit = UNIT_TIME, .needs_bypasses = true},
	[EXPECT_RATIO] = {.unit = UNIT_SHARE},
	[EXPECT_GOODPUT_KEPT] = {.unit = UNIT_SHARE,
				 .has_window = true,
				 .needs_window = true,
				 .needs_series = true},
};

// Which figures a formula is made of.
static const struct {
	enum unit unit;
	bool has_planes, has_time, has_loss, has_links, needs_window, has_limit, has_lost;
} formula_uses[EXPECT_FORMULA_COUNT] = {
	[EXPECT_ONE_WAY] = {.unit = UNIT_RATE},
	[EXPECT_RING_WRITES] = {.unit = UNIT_RATE},
	[EXPECT_PLANES_LEFT] = {.unit = UNIT_RATE, .has_planes = true},
	[EXPECT_PLANES_FLAPPING] = {.unit = UNIT_RATE, .has_planes = true, .has_time = true},
	[EXPECT_LOSS_REPAIRED] = {.unit = UNIT_RATE, .has_loss = true},
	[EXPECT_LOSS_ON_WAY] = {.unit = UNIT_SHARE, .has_loss = true},
	[EXPECT_BUSIEST_PLANE] = {.unit = UNIT_SHARE},
	[EXPECT_EQUAL] = {.unit = UNIT_SHARE},
	[EXPECT_TWO_SWITCHES] = {.unit = UNIT_TIME},
	[EXPECT_GREY_LEARNING] = {.unit = UNIT_SHARE,
				  .has_loss = true,
				  .has_links = true,
				  .needs_window = true},
	[EXPECT_GREY_LEARNT] = {.unit = UNIT_SHARE, .has_loss = true, .has_links = true},
	[EXPECT_LIMIT] = {.unit = UNIT_TIME, .has_limit = true},
	[EXPECT_HOLES] = {.unit = UNIT_TIME},
	[EXPECT_HOLES_OF_ALL] = {.unit = UNIT_TIME},
	[EXPECT_CAPACITY_LEFT] = {.unit = UNIT_SHARE, .has_lost = true},
};

static int check_figure(struct reader *reader, const yaml_node_t *node, const char *path,
			bool is_used)
{
	bool is_given = reader_is_given(reader, path);
	if (is_used && !is_given)
		return reader_refuse(reader, document_mark(node),
				     "%s is missing; the formula needs it", path);
	if (!is_used && is_given)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s has no effect here; the formula does not use it", path);
	return 0;
}

static int check_figures(struct reader *reader, const yaml_node_t *node,
			 const struct scenario_expect *expectation)
{
	enum expect_formula formula = expectation->formula;
	uint32_t planes = reader->scenario->fabric.planes;
	int rc = check_figure(reader, node, "expect[].planes", formula_uses[formula].has_planes);
	if (rc == 0)
		rc = check_figure(reader, node, "expect[].time", formula_uses[formula].has_time);
	if (rc == 0)
		rc = check_figure(reader, node, "expect[].loss", formula_uses[formula].has_loss);
	if (rc == 0)
		rc = check_figure(reader, node, "expect[].links", formula_uses[formula].has_links);
	if (rc == 0)
		rc = check_figure(reader, node, "expect[].limit", formula_uses[formula].has_limit);
	if (rc == 0)
		rc = check_figure(reader, node, "expect[].lost", formula_uses[formula].has_lost);
	if (rc == 0 && expectation->planes > planes)
		rc = reader_refuse(reader, reader_mark(reader, "expect[].planes"),
				   "expect[].planes: %u of %u planes cannot be down",
				   expectation->planes, planes);
	return rc;
}

// ---------------------------------------------------------------- windows

// A window is whole bins of the series that the run keeps.
static int check_bins(struct reader *reader, const yaml_node_t *node,
		      const struct scenario_expect *expectation)
{
	const struct watch_config *watch = &reader->scenario->watch;
	struct mark from = reader_element_mark(reader, node, "expect[].from");
	struct mark until = reader_element_mark(reader, node, "expect[].until");
	if (watch->bin_ps == 0)
		return reader_refuse(reader, until,
				     "expect[].until has no effect here; it needs watch.bin");
	if (expectation->until_ps <= expectation->from_ps)
		return reader_refuse(reader, until,
				     "expect[].until: a window must end after it begins");
	if (watch->halves)
		return reader_refuse(reader, until,
				     "expect[].until: with watch.halve no bin ends where it did");
	if (expectation->from_ps % watch->bin_ps != 0)
		return reader_refuse(reader, from,
				     "expect[].from: not at the beginning of a bin of watch.bin");
	if (expectation->until_ps % watch->bin_ps != 0)
		return reader_refuse(reader, until,
				     "expect[].until: not at the end of a bin of watch.bin");
	if (expectation->until_ps / watch->bin_ps > watch->bins)
		return reader_refuse(reader, until,
				     "expect[].until: the %u bins of watch.bins end before it",
				     watch->bins);
	return 0;
}

static int check_window(struct reader *reader, const yaml_node_t *node,
			const struct scenario_expect *expectation)
{
	bool has_until = reader_is_given(reader, "expect[].until");
	bool may_have = measure_uses[expectation->measure].has_window;
	if (reader_is_given(reader, "expect[].from") && !has_until)
		return reader_refuse(reader, document_mark(node),
				     "expect[].until is missing; a window has two ends");
	if (has_until && !may_have)
		return reader_refuse(reader, reader_mark(reader, "expect[].until"),
				     "expect[].until has no effect here; it needs expect[].measure "
				     "goodput, goodput_kept or lost");
	if (!has_until && formula_uses[expectation->formula].needs_window)
		return reader_refuse(reader, document_mark(node),
				     "expect[].until is missing; the formula needs it");
	if (!has_until && measure_uses[expectation->measure].needs_window)
		return reader_refuse(reader, document_mark(node),
				     "expect[].until is missing; the measure needs it");
	if (measure_uses[expectation->measure].needs_series && reader->scenario->watch.bin_ps == 0)
		return reader_refuse(reader, reader_mark(reader, "expect[].measure"),
				     "expect[].measure: lost and goodput_kept need watch.bin");
	if (measure_uses[expectation->measure].needs_bypasses &&
	    reader->scenario->watch.bypasses == 0)
		return reader_refuse(reader, reader_mark(reader, "expect[].measure"),
				     "expect[].measure: bypass, leaving and recovery need "
				     "watch.bypasses");
	if (expectation->measure == EXPECT_RECOVERY && !reader->scenario->watch.has_nics)
		return reader_refuse(reader, reader_mark(reader, "expect[].measure"),
				     "expect[].measure: recovery needs watch.nics");
	return has_until ? check_bins(reader, node, expectation) : 0;
}

// Goodput is kept of what there was in whole bins before the first fault, which is in the window.
static int check_since(struct reader *reader, const yaml_node_t *node,
		       const struct scenario_expect *expectation)
{
	bool is_given = reader_is_given(reader, "expect[].since");
	bool is_needed = expectation->measure == EXPECT_GOODPUT_KEPT;
	struct mark mark = reader_element_mark(reader, node, "expect[].since");
	if (is_needed && !is_given)
		return reader_refuse(reader, document_mark(node),
				     "expect[].since is missing; goodput_kept needs it");
	if (!is_needed && is_given)
		return reader_refuse(reader, mark,
				     "expect[].since has no effect here; it needs expect[].measure "
				     "goodput_kept");
	if (is_needed && expectation->since_ps >= expectation->from_ps)
		return reader_refuse(reader, mark,
				     "expect[].since: not before expect[].from: nothing is "
				     "compared with");
	if (is_needed && expectation->since_ps % reader->scenario->watch.bin_ps != 0)
		return reader_refuse(reader, mark,
				     "expect[].since: not at the beginning of a bin of watch.bin");
	return 0;
}

// A distribution is judged by one of its quantiles.
static int check_quantile(struct reader *reader, const yaml_node_t *node,
			  const struct scenario_expect *expectation)
{
	bool is_given = reader_is_given(reader, "expect[].quantile");
	bool is_needed = measure_uses[expectation->measure].needs_bypasses;
	if (is_needed && !is_given)
		return reader_refuse(reader, document_mark(node),
				     "expect[].quantile is missing; the measure needs it");
	if (!is_needed && is_given)
		return reader_refuse(reader, reader_mark(reader, "expect[].quantile"),
				     "expect[].quantile has no effect here; it needs "
				     "expect[].measure bypass, leaving or recovery");
	return 0;
}

// Flows between two neighbours of a ring are counted one by one.
static int check_busiest_plane(struct reader *reader, struct mark mark)
{
	const struct scenario *scenario = reader->scenario;
	uint64_t flows = (uint64_t)scenario->traffic.ring.channels * scenario->qps_per_connection;
	if (scenario->traffic.kind != TRAFFIC_RING || scenario->fabric.nics_per_host != 1)
		return reader_refuse(reader, mark,
				     "expect[].formula: busiest_plane needs traffic.kind ring and "
				     "fabric.nics_per_host 1");
	if (flows > 1024)
		return reader_refuse(reader, mark,
				     "expect[].formula: busiest_plane is worked out for 1,024 QPs "
				     "between two neighbours at most");
	return 0;
}

// ---------------------------------------------------------------- variants

static bool is_variant(const struct scenario *scenario, const char *name)
{
	for (uint32_t i = 0; i < scenario->variant_count; i++)
		if (strcmp(scenario->variants[i].name, name) == 0)
			return true;
	return false;
}

// A key that names a variant: given where it is used, and of one that there is.
static int check_name(struct reader *reader, const yaml_node_t *node, const char *path,
		      const char *name, bool is_used)
{
	if (!is_used && reader_is_given(reader, path))
		return reader_refuse(reader, reader_mark(reader, path), "%s has no effect here",
				     path);
	if (is_used && !reader_is_given(reader, path))
		return reader_refuse(reader, document_mark(node), "%s is missing", path);
	if (is_used && !is_variant(reader->scenario, name)) {
		char meant[NEAR_WORD_BYTES + 24] = "";
		scenario_variant_meant(reader->scenario, name, meant, sizeof(meant));
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: there is no variant %s%s", path, name, meant);
	}
	return 0;
}

static int check_variants(struct reader *reader, const yaml_node_t *node,
			  const struct scenario_expect *expectation)
{
	bool is_ratio = expectation->measure == EXPECT_RATIO;
	bool has_variants = reader->scenario->variant_count > 0;
	int rc = check_name(reader, node, "expect[].run", expectation->run,
			    has_variants || is_ratio);
	return rc != 0 ? rc : check_name(reader, node, "expect[].to", expectation->to, is_ratio);
}

// ---------------------------------------------------------------- all of it

static int check_pair(struct reader *reader, const struct scenario_expect *expectation)
{
	struct mark mark = reader_mark(reader, "expect[].formula");
	if (formula_uses[expectation->formula].unit != measure_uses[expectation->measure].unit)
		return reader_refuse(
			reader, mark,
			"expect[].formula: one_way, ring_writes, planes_left, "
			"planes_flapping and loss_repaired are of goodput, loss_on_way "
			"and grey links of shares, busiest_plane and equal of ratios, "
			"capacity_left of goodput_kept, two_switches, limit and holes "
			"of times");
	bool is_of_ratio = expectation->formula == EXPECT_BUSIEST_PLANE ||
		expectation->formula == EXPECT_EQUAL;
	if (is_of_ratio != (expectation->measure == EXPECT_RATIO))
		return reader_refuse(reader, mark,
				     "expect[].formula: a ratio goes with busiest_plane or equal, "
				     "and they with it");
	if ((expectation->formula == EXPECT_CAPACITY_LEFT) !=
	    (expectation->measure == EXPECT_GOODPUT_KEPT))
		return reader_refuse(reader, mark,
				     "expect[].formula: goodput_kept goes with capacity_left, and "
				     "that with it");
	if (expectation->formula == EXPECT_BUSIEST_PLANE)
		return check_busiest_plane(reader, mark);
	if (expectation->formula == EXPECT_RING_WRITES &&
	    reader->scenario->traffic.kind != TRAFFIC_RING)
		return reader_refuse(reader, mark,
				     "expect[].formula: ring_writes needs traffic.kind ring");
	bool is_clos = reader->scenario->fabric.kind == TOPOLOGY_CLOS;
	bool is_of_clos = expectation->formula == EXPECT_TWO_SWITCHES ||
		expectation->formula == EXPECT_GREY_LEARNING ||
		expectation->formula == EXPECT_GREY_LEARNT;
	if (is_of_clos && !is_clos)
		return reader_refuse(reader, mark,
				     "expect[].formula: this one needs fabric.topology clos");
	return 0;
}

// Formulas know one rate of NICs.
static int check_rates(struct reader *reader, const struct scenario_expect *expectation)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	if (formula_uses[expectation->formula].has_limit ||
	    fabric_nic_rate_least(fabric) == fabric->link_rate_bps)
		return 0;
	return reader_refuse(
		reader, reader_mark(reader, "expect[].formula"),
		"expect[].formula: NICs of several rates (fabric.links[].rate) have no "
		"formula; a limit may be expected");
}

int reader_read_expectation(struct reader *reader, yaml_document_t *document,
			    const yaml_node_t *node, uint32_t index)
{
	struct scenario_expect *expectation = &reader->scenario->expectations[index];
	int rc = document_read_element(reader, document, node, "expect[]", expectation);
	reader->scenario->expectation_count = index + 1;
	if (rc == 0)
		rc = check_pair(reader, expectation);
	if (rc == 0)
		rc = check_figures(reader, node, expectation);
	if (rc == 0)
		rc = check_window(reader, node, expectation);
	if (rc == 0)
		rc = check_since(reader, node, expectation);
	if (rc == 0)
		rc = check_quantile(reader, node, expectation);
	if (rc == 0)
		rc = check_variants(reader, node, expectation);
	if (rc == 0)
		rc = check_rates(reader, expectation);
	return rc;
}
