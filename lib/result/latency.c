// SPDX-License-Identifier: Apache-2.0
// Quantiles, and what those of a sample state: an error, or that a sample cannot give them.

#include <weft/result/figures.h>

#include <math.h>

// What a quantile needs before a sample may give it. Extremes (is_tail) belong to the whole job: no
// part of it can give them.
static const struct rule {
	uint32_t ppm;
	uint64_t messages_min;
	bool is_tail;
} rule_p50 = {500000, 100, false}, rule_p95 = {950000, 1000, false},
  rule_p99 = {990000, 1000, false}, rule_p999 = {999000, 10000, true};

static bool is_valid(const struct rule *rule, uint64_t count, bool is_sample)
{
	return !is_sample || (!rule->is_tail && count >= rule->messages_min);
}

static struct figure figure_of(const struct hist *hist, int64_t value, bool valid)
{
	if (hist->total == 0)
		return (struct figure){0, NO_MESSAGES};
	if (!valid)
		return (struct figure){0, NOT_IN_SAMPLE};
	return (struct figure){value, NULL};
}

static struct figure quantile_of(const struct hist *hist, const struct rule *rule, bool is_sample)
{
	return figure_of(hist, hist_quantile(hist, rule->ppm),
			 is_valid(rule, hist->total, is_sample));
}

void latency_of(struct latency *ret, const struct hist *hist, bool is_sample)
{
	bool enough = is_valid(&rule_p50, hist->total, is_sample);
	*ret = (struct latency){
		.count = hist->total,
		.above_range = hist->over,
		.min_ns = figure_of(hist, hist->min, !is_sample),
		.mean_ns = figure_of(hist, hist_mean(hist), enough),
		.p50_ns = quantile_of(hist, &rule_p50, is_sample),
		.p95_ns = quantile_of(hist, &rule_p95, is_sample),
		.p99_ns = quantile_of(hist, &rule_p99, is_sample),
		.p999_ns = quantile_of(hist, &rule_p999, is_sample),
		.max_ns = figure_of(hist, hist->max, !is_sample),
	};
}

uint32_t latency_ppm_max(uint64_t count, bool is_sample)
{
	const struct rule *const rules[] = {&rule_p50, &rule_p95, &rule_p99};
	if (!is_sample)
		return 1000000;
	uint32_t ppm = 0;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (is_valid(rules[i], count, is_sample))
			ppm = rules[i]->ppm;
	}
	return ppm;
}

// Switches above a leaf: of the job, and what thinning leaves.
struct ways {
	uint32_t all, kept;
};

static struct ways ways_of(const struct fabric_config *fabric)
{
	struct fabric_config whole = *fabric;
	whole.trunk_sample_kept = whole.trunk_sample_of = 1;
	return (struct ways){topology_thinned(&whole), topology_thinned(fabric)};
}

// Thinned trunks carry the right load, from fewer flows over fewer switches, and what meets in a
// queue is of a coarser grain. Seen in worlds that run whole, too: one group of four on 2 of 8
// switches makes the median 6 % longer, on 4 of 16 by 3 %; a quarter of 1 / kept - 1 / all is above
// all of them.
static int64_t grain_of(int64_t value, const struct ways *ways)
{
	if (ways->kept == 0)
		return 0;
	return value * (int64_t)(ways->all - ways->kept) / (4 * (int64_t)ways->kept * ways->all);
}

// Whether a fault begins or ends in what the sample leaves out: it is of another fabric.
static bool leaves_fault_out(const struct world *world)
{
	for (uint32_t i = 0; i < world->outcome->collective_count; i++)
		if (world->outcome->collectives[i].fault_left_out > 0)
			return true;
	return false;
}

#define QUANTILE_ERROR_PART 3 // no quantile whose stated error is more than a third of it
// Of a quantile: what nothing that ran can show of steps that did not, and of groups elsewhere.
#define UNSEEN_STEPS_PART 25
#define UNSEEN_GROUPS_PART 10

// The largest part of its steps that a collective of a sample lacks, in ppm. Jumps over steps look
// for themselves that these are steady.
static int64_t steps_left_ppm(const struct world *world)
{
	int64_t most = 0;
	for (uint32_t i = 0; world->job.ring.steps_max > 0 && i < world->outcome->collective_count;
	     i++) {
		struct collective one;
		collective_of(&one, world, i);
		int64_t left = (int64_t)((one.steps_all - one.steps_run) * 1000000 / one.steps_all);
		most = left > most ? left : most;
	}
	return most;
}

// What a quantile moves by while the steps run, of the part that did not run: 0 where all did.
static int64_t drift_of(const struct world *world, const struct batches *batches,
			const struct rule *rule)
{
	int64_t left_ppm = steps_left_ppm(world);
	int64_t drift = left_ppm == 0
		? 0
		: batches_drift(batches, rule->ppm, rule->messages_min / BATCH_COUNT);
	return drift < 0 ? -1 : drift * left_ppm / 1000000;
}

// Whether flows on one path each meet others that are left out: which of them meet is chance, and
// rules all quantiles.
static bool lacks_paths(const struct world *world)
{
	return world->job.group_count < world->plan.groups_all &&
		world->transport.kind == TRANSPORT_RC;
}

// Of two errors that know nothing of each other.
static int64_t root_of_squares(int64_t a, int64_t b)
{
	return (int64_t)ceil(hypot((double)a, (double)b));
}

// Gives a quantile of a sample its error, or takes it away.
static void judge(struct figure *quantile, struct figure *error, const struct rule *rule,
		  const struct report_input *input, enum pair_class pair)
{
	const struct batches *batches = &input->world->outcome->message_batches[pair];
	*error = (struct figure){0, quantile->reason};
	if (!is_sampled(input) || quantile->reason != NULL)
		return;
	const struct world *world = input->world;
	const struct ways ways = ways_of(&world->fabric);
	int64_t spread = batches_error(batches, rule->ppm, rule->messages_min / BATCH_COUNT);
	int64_t drift = drift_of(world, batches, rule);
	int64_t steps = steps_left_ppm(world) > 0 ? quantile->value / UNSEEN_STEPS_PART : 0;
	int64_t groups = world->job.group_count < world->plan.groups_all
		? quantile->value / UNSEEN_GROUPS_PART
		: 0;
	error->value = steps +
		root_of_squares(root_of_squares(spread, drift),
				root_of_squares(grain_of(quantile->value, &ways), groups));
	bool is_imprecise = error->value > quantile->value / QUANTILE_ERROR_PART;
	// over the one switch that is left of several goes everything
	if (leaves_fault_out(world) || spread < 0 || drift < 0 || is_imprecise ||
	    lacks_paths(world) || (ways.kept == 1 && ways.all > 1))
		*quantile = *error = (struct figure){0, NOT_IN_SAMPLE};
}

void message_latency(struct latency *ret, const struct report_input *input, enum pair_class pair)
{
	latency_of(ret, &input->world->outcome->message_ns[pair], is_sampled(input));
	judge(&ret->p50_ns, &ret->p50_error_ns, &rule_p50, input, pair);
	judge(&ret->p95_ns, &ret->p95_error_ns, &rule_p95, input, pair);
	judge(&ret->p99_ns, &ret->p99_error_ns, &rule_p99, input, pair);
}

uint32_t message_ppm_max(const struct report_input *input, enum pair_class pair)
{
	struct latency latency;
	uint32_t most = latency_ppm_max(input->world->outcome->message_ns[pair].total,
					is_sampled(input));
	message_latency(&latency, input, pair);
	if (!is_sampled(input) || latency.p99_ns.reason == NULL)
		return most;
	if (latency.p95_ns.reason == NULL)
		return rule_p95.ppm;
	return latency.p50_ns.reason == NULL ? rule_p50.ppm : 0;
}
