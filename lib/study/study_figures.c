// SPDX-License-Identifier: Apache-2.0
// What a study takes of each run: one number per figure. What may not be given (figures.h) is NAN.
// Completion times of flows are exact here, not from the histogram: its cells are as wide as what
// seeds differ by.

#include "study.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/core/order.h>

#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
#include <weft/result/links.h>

static double seconds(ps_t time)
{
	return (double)time / PS_PER_S;
}

static double goodput(const struct report_input *input)
{
	struct goodput goodput;
	goodput_of(&goodput, input);
	return goodput.traffic_ps > 0 ? goodput.per_nic_bps : NAN;
}

// What ran of a sample ends long before the job does.
static double done(const struct report_input *input)
{
	if (input->world->plan.sample.is_on)
		return NAN;
	return seconds(input->world->outcome->end_ps);
}

// ---------------------------------------------------------------- flows

// Nearest rank of all flows that were completed.
static double flow_time(const struct report_input *input, uint32_t percent)
{
	const struct world *world = input->world;
	ps_t *times = calloc(world->flow_count + 1, sizeof(*times));
	uint32_t count = 0;
	check_memory(times != NULL);
	for (uint32_t i = 0; i < world->flow_count; i++)
		if (world->outcome->flow_end_ps[i] > 0)
			times[count++] = world->outcome->flow_end_ps[i] - world->flows[i].start_ps;
	qsort(times, count, sizeof(*times), order_int64);
	uint64_t rank = ((uint64_t)count * percent + 99) / 100;
	double time = count == 0 ? NAN : seconds(times[rank > 0 ? rank - 1 : 0]);
	free(times);
	return time;
}

static double flow_p50(const struct report_input *input)
{
	return flow_time(input, 50);
}

static double flow_p99(const struct report_input *input)
{
	return flow_time(input, 99);
}

static double flow_max(const struct report_input *input)
{
	return flow_time(input, 100);
}

// Jain's index of the flows' rates: (sum x)^2 / (n sum x^2); 1 when all are alike, 1/n at worst.
static double fairness(const struct report_input *input)
{
	const struct world *world = input->world;
	double sum = 0, squares = 0;
	for (uint32_t i = 0; i < world->flow_count; i++) {
		ps_t time = world->outcome->flow_end_ps[i] - world->flows[i].start_ps;
		double rate = time > 0 ? (double)world->flows[i].bytes / seconds(time) : 0;
		sum += rate;
		squares += rate * rate;
	}
	return squares > 0 ? sum * sum / (world->flow_count * squares) : NAN;
}

// ---------------------------------------------------------------- collectives and messages

// Means over the collectives of the run; NAN while one has no time.
static double collective_mean(const struct report_input *input, bool is_rate)
{
	const struct outcome *outcome = input->world->outcome;
	double sum = 0;
	for (uint32_t i = 0; i < outcome->collective_count; i++) {
		struct collective one;
		collective_of(&one, input->world, i);
		if (one.reason != NULL)
			return NAN;
		sum += is_rate ? (double)one.outcome->busbw_bytes_per_s * 8
			       : seconds(one.outcome->whole_ps);
	}
	return outcome->collective_count > 0 ? sum / outcome->collective_count : NAN;
}

static double collective_time(const struct report_input *input)
{
	return collective_mean(input, false);
}

static double busbw(const struct report_input *input)
{
	return collective_mean(input, true);
}

// Of a job's messages; a flow is one message, whose time is the flow's.
static double message_time(const struct report_input *input, enum pair_class pair, bool is_tail)
{
	struct latency latency;
	if (input->world->flow_count > 0)
		return NAN;
	message_latency(&latency, input, pair);
	const struct figure *figure = is_tail ? &latency.p99_ns : &latency.p50_ns;
	return figure->reason == NULL ? (double)figure->value / 1e9 : NAN;
}

static double near_p50(const struct report_input *input)
{
	return message_time(input, PAIR_SAME_T0, false);
}

static double near_p99(const struct report_input *input)
{
	return message_time(input, PAIR_SAME_T0, true);
}

static double far_p50(const struct report_input *input)
{
	return message_time(input, PAIR_ACROSS_T1, false);
}

static double far_p99(const struct report_input *input)
{
	return message_time(input, PAIR_ACROSS_T1, true);
}

// ---------------------------------------------------------------- queues and planes

// Of all ports of NICs, added up; what PFC does between switches ends there, too.
static double paused(const struct report_input *input)
{
	const struct world_pauses *pauses = input->world->pauses;
	return pauses != NULL ? seconds(pauses->nic_paused_ps) : NAN;
}

static double planes_uneven(const struct report_input *input)
{
	struct planes planes;
	planes_of(&planes, input);
	return planes.count > 1 && planes.max_to_mean > 0 ? planes.max_to_mean : NAN;
}

// ---------------------------------------------------------------- the list

#define NO_HASH "no flow shares a line by its hash, or links are not watched (watch.links)"
#define NO_TRAFFIC "no payload arrived"
#define NO_FLOWS "no flow was completed"
#define NO_COLLECTIVES "no collective, not all ended, or a stated error above 10 %"
#define NO_SUCH_MESSAGES "no such messages; those of flows are the flows"

// Before those of the table of figures (figures.def), and behind them.
static const struct study_figure times_and_rates[] = {
	{"goodput_bps", "Goodput per receiving NIC", STUDY_RATE, true, goodput, NO_TRAFFIC, NULL},
	{"done_s", "Last completion", STUDY_TIME, true, done, NOT_IN_SAMPLE, NULL},
	{"fct_p50_s", "Flow completion time, median", STUDY_TIME, true, flow_p50, NO_FLOWS, NULL},
	{"fct_p99_s", "Flow completion time, p99", STUDY_TIME, true, flow_p99, NO_FLOWS, NULL},
	{"fct_max_s", "Flow completion time, longest", STUDY_TIME, true, flow_max, NO_FLOWS, NULL},
	{"fairness", "Fairness of the flows' rates (Jain)", STUDY_FACTOR, false, fairness, NO_FLOWS,
	 NULL},
	{"collective_s", "Time of a collective, mean", STUDY_TIME, true, collective_time,
	 NO_COLLECTIVES, NULL},
	{"busbw_bps", "Bus bandwidth of a collective, mean", STUDY_RATE, true, busbw,
	 NO_COLLECTIVES, NULL},
	{"message_same_t0_p50_s", "Message below one T0, median", STUDY_TIME, false, near_p50,
	 NO_SUCH_MESSAGES, NULL},
	{"message_same_t0_p99_s", "Message below one T0, p99", STUDY_TIME, false, near_p99,
	 NO_SUCH_MESSAGES, NULL},
	{"message_across_t1_p50_s", "Message across T1, median", STUDY_TIME, false, far_p50,
	 NO_SUCH_MESSAGES, NULL},
	{"message_across_t1_p99_s", "Message across T1, p99", STUDY_TIME, false, far_p99,
	 NO_SUCH_MESSAGES, NULL},
};
static const struct study_figure others[] = {
	{"nic_paused_s", "Time that ports of NICs were paused, added up", STUDY_TIME, false, paused,
	 "no PFC", NULL},
	{"planes_max_to_mean", "Busiest plane over mean plane", STUDY_FACTOR, false, planes_uneven,
	 "one plane, or no data packet", NULL},
	{"collide", "Busiest line over the mean of its kind: ECMP collisions", STUDY_FACTOR, false,
	 links_collide, NO_HASH, NULL},
};

#define TITLE_BYTES 96

static struct study_figure figures[STUDY_FIGURES_MAX];
static uint32_t figure_total; // 0: the list is not made yet

static void add(const struct study_figure *figure)
{
	check(figure_total < STUDY_FIGURES_MAX);
	figures[figure_total++] = *figure;
}

// A label as the head of a table: with a capital, as the titles above have.
static const char *title_of(const char *label)
{
	static char titles[STUDY_FIGURES_MAX][TITLE_BYTES];
	char *title = titles[figure_total];
	snprintf(title, TITLE_BYTES, "%s", label);
	title[0] = (char)toupper((unsigned char)title[0]);
	return title;
}

static void list_figures(void)
{
	static const enum study_unit units[] = {[FIGURE_COUNT] = STUDY_COUNT,
						[FIGURE_BYTES] = STUDY_BYTES,
						[FIGURE_SHARE] = STUDY_SHARE};
	for (size_t i = 0; i < sizeof(times_and_rates) / sizeof(*times_and_rates); i++)
		add(&times_and_rates[i]);
	for (uint32_t i = 0; i < figure_count(); i++) {
		const struct figure_row *row = figure_at(i);
		if (row->study != NULL)
			add(&(struct study_figure){
				.name = row->study,
				.title = title_of(row->label),
				.unit = units[row->unit],
				.row = row,
				.missing = row->needs & FIGURE_ALL_QUEUES ? NOT_IN_SAMPLE : NULL});
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		add(&others[i]);
}

const struct study_figure *study_figure(uint32_t index)
{
	check(index < study_figure_count());
	return &figures[index];
}

uint32_t study_figure_count(void)
{
	if (figure_total == 0)
		list_figures();
	return figure_total;
}

double study_figure_of(const struct study_figure *figure, const struct report_input *input)
{
	return figure->row != NULL ? figure_real(figure->row, input) : figure->of(input);
}

// ---------------------------------------------------------------- while a run goes on

// Counts and times that only rise.
static bool only_rises(const struct study_figure *figure)
{
	return (figure->unit == STUDY_COUNT && strcmp(figure->name, "sacks") != 0) ||
		figure->unit == STUDY_BYTES || figure->of == paused;
}

// A flow that is not done has taken the time from its start to now.
static double flow_max_so_far(const struct report_input *input)
{
	const struct world *world = input->world;
	ps_t longest = 0;
	for (uint32_t i = 0; i < world->flow_count; i++) {
		ps_t end = world->outcome->flow_end_ps[i];
		longest = ps_max(longest,
				 (end > 0 ? end : input->run.now_ps) - world->flows[i].start_ps);
	}
	return seconds(longest);
}

// As if all that has begun were done by now.
static double collective_so_far(const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	double sum = 0;
	for (uint32_t i = 0; i < outcome->collective_count; i++) {
		const struct outcome_collective *one = &outcome->collectives[i];
		if (one->whole_ps > 0)
			sum += seconds(one->whole_ps);
		else if (one->start_ps < input->run.now_ps)
			sum += seconds(input->run.now_ps - one->start_ps);
	}
	return outcome->collective_count > 0 ? sum / outcome->collective_count : NAN;
}

// Whether flows are all that runs: of them it is known beforehand how much they send.
static bool has_flows_alone(const struct world *world)
{
	return world->flow_count > 0 && world->outcome->collective_count == 0 &&
		world->line_count == 0 && world->jobs.bytes == NULL && world->program == NULL &&
		world->coll_stream == NULL;
}

// Of flows it is known how many packets they have, and each that is sent again is one more.
static double retransmitted_so_far(const struct report_input *input)
{
	const struct world *world = input->world;
	uint64_t packets = 0, payload = world->transport.payload_bytes;
	double again = (double)rtx_total(&world->outcome->transport);
	for (uint32_t i = 0; i < world->flow_count; i++)
		packets += (world->flows[i].bytes + payload - 1) / payload;
	return has_flows_alone(world) ? again / ((double)packets + again) : NAN;
}

double report_study_so_far(uint32_t figure, const struct report_input *input)
{
	const struct study_figure *of = study_figure(figure);
	if (is_sampled(input) || input->world->scenario->fast_forward.is_on)
		return NAN;
	if (of->of == done)
		return seconds(input->run.now_ps);
	if (of->of == flow_max)
		return input->world->flow_count > 0 ? flow_max_so_far(input) : NAN;
	if (of->of == collective_time)
		return collective_so_far(input);
	if (strcmp(of->name, "retransmitted_share") == 0)
		return retransmitted_so_far(input);
	return only_rises(of) ? study_figure_of(of, input) : NAN;
}

// All that flows are of, as if the last of them were done by now.
static double goodput_at_most(const struct report_input *input)
{
	const struct world *world = input->world;
	struct report_input done_now = *input;
	struct goodput goodput;
	uint64_t bytes = 0;
	if (!has_flows_alone(world))
		return NAN;
	for (uint32_t i = 0; i < world->flow_count; i++) {
		bytes += world->flows[i].bytes;
		done_now.is_partial |= world->outcome->flow_end_ps[i] == 0;
	}
	goodput_of(&goodput, &done_now);
	return goodput.traffic_ps > 0
		? (double)bytes * 8 / seconds(goodput.traffic_ps) / goodput.nics_receiving
		: NAN;
}

// Rates of flows that are done stay; another may come to any rate up to `open`, which are sorted.
// Jain's index is largest where the open ones are alike, at squares / sum of the others, but for
// those that cannot come to that.
static double fairness_of(double sum, double squares, const double *open, uint32_t count,
			  uint32_t flows)
{
	double best = 0;
	for (uint32_t slow = 0; slow <= count; slow++) {
		uint32_t free = count - slow;
		double level = sum > 0 ? squares / sum : 1;
		if (slow > 0)
			level = fmax(level, open[slow - 1]);
		if (free > 0)
			level = fmin(level, open[slow]);
		double all = sum + free * level, all_squares = squares + free * level * level;
		if (all_squares > 0)
			best = fmax(best, all * all / (flows * all_squares));
		if (free > 0) {
			sum += open[slow];
			squares += open[slow] * open[slow];
		}
	}
	return best;
}

static double fairness_at_most(const struct report_input *input)
{
	const struct world *world = input->world;
	double *open = calloc(world->flow_count + 1, sizeof(*open)), sum = 0, squares = 0;
	uint32_t count = 0;
	check_memory(open != NULL);
	for (uint32_t i = 0; i < world->flow_count; i++) {
		ps_t end = world->outcome->flow_end_ps[i], start = world->flows[i].start_ps;
		double bits = (double)world->flows[i].bytes;
		ps_t time = (end > 0 ? end : input->run.now_ps) - start;
		double rate = time > 0 ? bits / seconds(time) : end > 0 ? 0 : INFINITY;
		if (end == 0)
			open[count++] = rate;
		sum += end > 0 ? rate : 0;
		squares += end > 0 ? rate * rate : 0;
	}
	qsort(open, count, sizeof(*open), order_double);
	double most = fairness_of(sum, squares, open, count, world->flow_count);
	free(open);
	return world->flow_count > 0 ? most : NAN;
}

double report_study_at_most(uint32_t figure, const struct report_input *input)
{
	const struct study_figure *of = study_figure(figure);
	if (is_sampled(input) || input->world->scenario->fast_forward.is_on)
		return NAN;
	if (of->of == goodput)
		return goodput_at_most(input);
	return of->of == fairness ? fairness_at_most(input) : NAN;
}

double report_study_limit(uint32_t figure, const struct world *world)
{
	const struct fabric_config *fabric = &world->fabric;
	const struct study_figure *of = study_figure(figure);
	if (of->of == goodput && fabric->kind != TOPOLOGY_GRAPH)
		return (double)fabric->link_rate_bps * fabric->planes;
	return of->of == fairness ? 1 : INFINITY;
}

uint32_t report_study_figures(void)
{
	return study_figure_count();
}

const char *report_study_figure_name(uint32_t figure)
{
	return study_figure(figure)->name;
}

uint32_t report_study_figure_named(const char *name)
{
	uint32_t i = 0;
	while (strcmp(study_figure(i)->name, name) != 0)
		i++;
	return i;
}

bool report_study_figure_is_gain(uint32_t figure)
{
	return study_figure(figure)->unit == STUDY_RATE || study_figure(figure)->of == fairness;
}

const char *report_study_figure_text(struct text *ret, uint32_t figure, double value)
{
	return study_number(ret, study_figure(figure)->unit, value);
}
