// SPDX-License-Identifier: Apache-2.0
// See figure_table.h.

#include <weft/result/figure_table.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/result/figures.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

#include "sections/sections.h"

// What a run came to in a few figures: its time beside the least one, bandwidths, latency of all
// messages. The rows of section `headline` in figures.def.

struct headline_latency {
	uint64_t count;
	struct figure p50_ns, p99_ns, max_ns;
};

#define NOT_ONE_COLLECTIVE "not one collective alone"
#define TOO_FEW "fewer than 100 messages"
#define SEVERAL_CLASSES "not valid in this sample: messages of several kinds of pairs"
#define P99_MESSAGES_MIN 100

// ---------------------------------------------------------------- latency

// Of a sample a class states its error; several of them together do not.
static void of_sample(struct headline_latency *ret, const struct report_input *input)
{
	const struct figure none = {0, ret->count == 0 ? NO_MESSAGES : SEVERAL_CLASSES};
	ret->p50_ns = ret->p99_ns = ret->max_ns = none;
	for (enum pair_class pair = 0; pair < PAIR_CLASS_COUNT; pair++) {
		struct latency one;
		message_latency(&one, input, pair);
		if (one.count == 0 || one.count < ret->count)
			continue;
		ret->p50_ns = one.p50_ns;
		ret->p99_ns = one.p99_ns;
		ret->max_ns = one.max_ns;
	}
}

// Values of two classes have the same cells.
static void of_all(struct headline_latency *ret, const struct report_input *input)
{
	const struct hist *hists = input->world->outcome->message_ns;
	struct latency latency;
	struct hist all = hists[0];
	all.counts = calloc(all.cells, sizeof(*all.counts));
	if (all.counts == NULL)
		return;
	all.total = all.over = all.sum = 0;
	for (enum pair_class pair = 0; pair < PAIR_CLASS_COUNT; pair++)
		hist_merge(&all, &hists[pair]);
	latency_of(&latency, &all, false);
	free(all.counts);
	ret->p50_ns = latency.p50_ns;
	ret->p99_ns = latency.p99_ns;
	ret->max_ns = latency.max_ns;
}

// Of messages of all pairs. In a sample a quantile is that of the one class that has messages.
static void headline_latency_of(struct headline_latency *ret, const struct report_input *input)
{
	const struct hist *hists = input->world->outcome->message_ns;
	*ret = (struct headline_latency){
		.p50_ns = {0, NO_MESSAGES}, .p99_ns = {0, NO_MESSAGES}, .max_ns = {0, NO_MESSAGES}};
	for (enum pair_class pair = 0; pair < PAIR_CLASS_COUNT; pair++)
		ret->count += hists[pair].total;
	if (is_sampled(input))
		of_sample(ret, input);
	else if (ret->count > 0)
		of_all(ret, input);
	if (ret->p99_ns.reason == NULL && ret->count < P99_MESSAGES_MIN)
		ret->p99_ns = (struct figure){0, TOO_FEW};
}

// ---------------------------------------------------------------- time and bandwidth

static bool is_course_of_all(const struct world *world)
{
	return world->scenario->traffic.kind == TRAFFIC_COLLECTIVE;
}

static ps_t traffic_ps(const struct report_input *input)
{
	struct goodput goodput;
	goodput_of(&goodput, input);
	return goodput.traffic_ps;
}

// Operations that wait for each other, computations among them.
static bool is_program(const struct world *world)
{
	return world->program != NULL && !is_course_of_all(world);
}

// From the first start to the last completion; of one collective its own time, extrapolated in a
// sample.
static ps_t headline_time_ps(const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	if (is_program(input->world))
		return outcome->end_ps;
	if (outcome->collective_count == 1)
		return outcome->collectives[0].whole_ps;
	return traffic_ps(input);
}

// Least time over time; 0 without either.
static double headline_ideal_share(const struct report_input *input)
{
	ps_t time_ps = headline_time_ps(input);
	return time_ps > 0 ? (double)input->ideal.ps / (double)time_ps : 0;
}

static uint64_t collective_bytes(const struct report_input *input)
{
	const struct world *world = input->world;
	if (is_course_of_all(world))
		return world->scenario->traffic.bytes;
	return world->job.buckets[world->outcome->collectives[0].bucket].bytes;
}

// As nccl-tests has them, of one collective.
static double headline_algbw(const struct report_input *input)
{
	const struct world *world = input->world;
	ps_t time_ps = is_program(world) ? world->outcome->collectives[0].whole_ps
					 : headline_time_ps(input);
	return (double)collective_bytes(input) * PS_PER_S / (double)time_ps;
}

static double headline_busbw(const struct report_input *input)
{
	const struct world *world = input->world;
	const struct traffic_config *traffic = &world->scenario->traffic;
	if (is_course_of_all(world))
		return headline_algbw(input) *
			coll_bus_factor(traffic->collective, traffic->ring.ranks);
	return (double)world->outcome->collectives[0].busbw_bytes_per_s;
}

// What a NIC can receive of payload when its lines are full, and goodput over it.
static double headline_payload_rate_bps(const struct report_input *input)
{
	const struct world *world = input->world;
	const struct transport_config *transport = &world->transport;
	double packet = transport->payload_bytes + transport->header_bytes;
	return (double)world->fabric.link_rate_bps * world->topology.planes *
		transport->payload_bytes / packet;
}

static double headline_payload_rate_share(const struct report_input *input)
{
	struct goodput goodput;
	double rate_bps = headline_payload_rate_bps(input);
	goodput_of(&goodput, input);
	return rate_bps > 0 ? goodput.per_nic_bps / rate_bps : 0;
}

// ---------------------------------------------------------------- why there is none

static const char *untimed(const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	struct collective one;
	if (input->is_partial)
		return NOT_FINISHED;
	if (outcome->collective_count == 1) {
		collective_of(&one, input->world, 0);
		return one.reason;
	}
	if (is_sampled(input))
		return NOT_IN_SAMPLE;
	return traffic_ps(input) > 0 ? NULL : "no traffic";
}

static const char *not_alone(const struct report_input *input)
{
	const struct world *world = input->world;
	bool is_one = world->outcome->collective_count == 1 || is_course_of_all(world);
	return is_one && world->jobs.bytes == NULL ? NULL : NOT_ONE_COLLECTIVE;
}

static const char *no_ideal(const struct report_input *input)
{
	const char *reason = input->ideal.reason;
	if (input->ideal.ps > 0)
		return NULL;
	return reason != NULL ? reason : "not worked out here";
}

// Why a run lacks what these FIGURE_ bits ask for, or NULL.
static const char *headline_missing(uint32_t needs, const struct report_input *input)
{
	const uint32_t of_latency = FIGURE_P50 | FIGURE_P99 | FIGURE_MAX;
	const char *reason = NULL;
	if (needs & FIGURE_TIMED)
		reason = untimed(input);
	if (reason == NULL && needs & FIGURE_COLLECTIVE)
		reason = not_alone(input);
	if (reason == NULL && needs & FIGURE_IDEAL)
		reason = no_ideal(input);
	if (reason != NULL || (needs & of_latency) == 0)
		return reason;
	struct headline_latency latency;
	headline_latency_of(&latency, input);
	return needs & FIGURE_P50    ? latency.p50_ns.reason
		: needs & FIGURE_P99 ? latency.p99_ns.reason
				     : latency.max_ns.reason;
}

// ---------------------------------------------------------------- what the rows read

#define OUTCOME (it->world->outcome)
#define TRANSPORT (&OUTCOME->transport)
#define FABRIC (&OUTCOME->fabric)
#define PAUSES (&FABRIC->pause)

static struct goodput goodput(const struct report_input *it)
{
	struct goodput sum;
	goodput_of(&sum, it);
	return sum;
}

static struct planes planes(const struct report_input *it)
{
	struct planes sum;
	planes_of(&sum, it);
	return sum;
}

static struct conservation conservation(const struct report_input *it)
{
	struct conservation sum;
	conservation_of(&sum, it);
	return sum;
}

static uint64_t dropped(const struct report_input *it)
{
	uint64_t sum = 0;
	for (enum drop_reason reason = 0; reason < DROP_REASON_COUNT; reason++)
		sum += drops_of(it, reason);
	return sum;
}

static struct headline_latency latency(const struct report_input *it)
{
	struct headline_latency all;
	headline_latency_of(&all, it);
	return all;
}

// "pp ep": messages of the job that no packets stand for; NULL: there are none.
static const char *not_run(char ret[64], const struct report_input *it)
{
	uint32_t at = 0, used = 0;
	for (const char *name; (name = job_leaving(&it->world->job, &at)) != NULL;)
		used += (uint32_t)snprintf(ret + used, 64 - used, "%s%s", used > 0 ? " " : "",
					   name);
	return used > 0 ? ret : NULL;
}

static const char *error_text(int error)
{
	return error != 0 ? strerror(error) : NULL;
}

static double cpu_s(const struct report_input *it)
{
	return it->run.cpu_s > 0 ? it->run.cpu_s : it->run.wall_s;
}

// ---------------------------------------------------------------- the rows

#define SET_COUNT(value) ret->count = (uint64_t)(value)
#define SET_BYTES(value) ret->count = (uint64_t)(value)
#define SET_PS(value) ret->count = (uint64_t)(value)
#define SET_FLAG(value) ret->count = (uint64_t)(value)
#define SET_WORD(value) ret->text = (value)
#define SET_TEXT(value) ret->text = (value)
#define SET_SHARE(value) ret->real = (value)
#define SET_FACTOR(value) ret->real = (value)
#define SET_RATE(value) ret->real = (value)
#define SET_PER_S(value) ret->real = (value)
#define SET_S(value) ret->real = (value)
#define SET_NS(value) ret->real = (value)

#define LATENCY(...)
#define LATENCIES(...)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FIGURE(...) FIGURE_OF(JOIN(get_, __LINE__), __VA_ARGS__)
#define FIGURE_OF(getter, section, key, unit, needs, value, ...) \
	static void getter(struct figure_value *ret, const struct report_input *it) \
	{ \
		SET_##unit(value); \
	}
#include "figures.def"
#undef FIGURE_OF

enum {
	ALWAYS = FIGURE_ALWAYS,
	TRAFFIC = FIGURE_TRAFFIC,
	ALL_QUEUES = FIGURE_ALL_QUEUES,
	REPEATS_NAMED = FIGURE_REPEATS_NAMED,
	OWN_FABRIC = FIGURE_OWN_FABRIC,
	ALL_HOSTS = FIGURE_ALL_HOSTS,
	VIRTUAL_TIME = FIGURE_VIRTUAL_TIME,
	TIMED = FIGURE_TIMED,
	IDEAL = FIGURE_IDEAL,
	COLLECTIVE = FIGURE_COLLECTIVE,
	P50 = FIGURE_P50,
	P99 = FIGURE_P99,
	MAX = FIGURE_MAX,
};

#define ALONE FIGURE_ALONE
#define WITH_SHARE FIGURE_WITH_SHARE
#define PART FIGURE_PART
#define PART_NOT_ZERO FIGURE_PART_NOT_ZERO
#define NOT_ZERO FIGURE_NOT_ZERO
#define REFUSED FIGURE_REFUSED

#define FIGURE_OF(getter, section_, key_, unit_, needs_, value, ...) \
	{.section = (section_), \
	 .key = (key_), \
	 .unit = FIGURE_##unit_, \
	 .needs = (needs_), \
	 .get = getter, \
	 .meaning = __VA_ARGS__},
static const struct figure_row rows[] = {
#include "figures.def"
};
#undef FIGURE

const struct figure_row *figure_at(uint32_t index)
{
	check(index < figure_count());
	return &rows[index];
}

uint32_t figure_count(void)
{
	return sizeof(rows) / sizeof(*rows);
}

const struct figure_row *figure_find(const char *path)
{
	const char *key = strrchr(path, '.');
	check(key != NULL);
	for (uint32_t i = 0; i < figure_count(); i++) {
		size_t length = strlen(rows[i].section);
		if (strcmp(rows[i].key, key + 1) == 0 && (size_t)(key - path) == length &&
		    strncmp(rows[i].section, path, length) == 0)
			return &rows[i];
	}
	check(false && "a figure of the table");
	return NULL;
}

// ---------------------------------------------------------------- why there is none

static bool has_traffic(const struct report_input *it)
{
	return goodput(it).traffic_ps > 0;
}

static bool has_all_queues(const struct report_input *it)
{
	return !is_sampled(it);
}

static bool names_repeats(const struct report_input *it)
{
	return it->world->transport.kind != TRANSPORT_RC;
}

static bool is_simulated(const struct report_input *it)
{
	return it->wall == NULL;
}

static bool has_all_hosts(const struct report_input *it)
{
	return it->wall == NULL || it->is_whole;
}

const char *figure_missing(const struct figure_row *row, const struct report_input *input)
{
	static const struct {
		uint32_t need;
		bool (*has)(const struct report_input *it);
		const char *reason;
	} needs[] = {
		{TRAFFIC, has_traffic, "no traffic"},
		{ALL_QUEUES, has_all_queues, NOT_IN_SAMPLE},
		{REPEATS_NAMED, names_repeats, "RoCEv2's packets do not say that they are repeats"},
		{OWN_FABRIC, is_simulated, NOT_OWN_FABRIC},
		{ALL_HOSTS, has_all_hosts, NOT_ALL_HOSTS},
		{VIRTUAL_TIME, is_simulated, "hosts go by the clock, turn after turn"},
	};
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if ((row->needs & needs[i].need) != 0 && !needs[i].has(input))
			return needs[i].reason;
	return headline_missing(row->needs, input);
}

double figure_real(const struct figure_row *row, const struct report_input *input)
{
	struct figure_value value = {0};
	if (figure_missing(row, input) != NULL)
		return NAN;
	if (row->unit == FIGURE_WORD || row->unit == FIGURE_TEXT)
		return NAN;
	row->get(&value, input);
	return row->unit > FIGURE_TEXT ? value.real : (double)value.count;
}

// ---------------------------------------------------------------- the document

static void put_row(json_t *to, const struct figure_row *row, const struct report_input *input)
{
	const char *reason = figure_missing(row, input);
	struct figure_value value = {0};
	if (reason != NULL)
		return put_reason(to, row->key, reason);
	row->get(&value, input);
	if (row->unit == FIGURE_COUNT || row->unit == FIGURE_BYTES)
		put_count(to, row->key, value.count);
	else if (row->unit == FIGURE_PS)
		put_time(to, row->key, (ps_t)value.count);
	else if (row->unit == FIGURE_FLAG)
		put(to, row->key, json_boolean(value.count));
	else if (row->unit == FIGURE_WORD || row->unit == FIGURE_TEXT)
		put_text(to, row->key, value.text);
	else
		put_real(to, row->key, value.real);
}

// The object at "a.b", and those on the way to it.
static json_t *object_at(json_t *root, const char *path)
{
	char name[64];
	size_t length = strcspn(path, ".");
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	json_t *object = json_object_get(root, name);
	if (object == NULL)
		object = object_in(root, name);
	return path[length] == '.' ? object_at(object, path + length + 1) : object;
}

void figures_json(json_t *root, const char *section, const struct report_input *input)
{
	json_t *to = object_at(root, section);
	for (uint32_t i = 0; i < figure_count(); i++)
		if (strcmp(rows[i].section, section) == 0)
			put_row(to, &rows[i], input);
}

// ---------------------------------------------------------------- the terminal table

bool document_is_sample(const json_t *result)
{
	return strcmp(document_text(result, "congestion.share_quality"), "indication") == 0;
}

static void print_row(FILE *to, const struct figure_row *row, const json_t *result)
{
	const json_t *of = document_at(result, row->section);
	bool is_part = row->shown == FIGURE_PART || row->shown == FIGURE_PART_NOT_ZERO;
	double value = document_number(of, row->key);
	struct text text[2];
	fprintf(to, "  %s%-*s ", is_part ? "  " : "", is_part ? 26 : 28, row->label);
	if (isnan(value)) {
		fprintf(to, "%s\n", document_reason(of, row->key));
		return;
	}
	fprintf(to, "%17s",
		row->unit == FIGURE_BYTES ? number_bytes(&text[0], (uint64_t)value)
					  : number_grouped(&text[0], (uint64_t)value));
	if (row->shown == FIGURE_WITH_SHARE)
		fprintf(to, "  %9s of data packets%s",
			number_share(
				&text[1],
				share_of((uint64_t)value,
					 (uint64_t)document_number(result, "speed.data_packets"))),
			document_is_sample(result) ? " (indication)" : "");
	fprintf(to, "\n");
}

static bool may_hide(enum figure_shown shown)
{
	return shown == FIGURE_NOT_ZERO || shown == FIGURE_PART_NOT_ZERO || shown == FIGURE_REFUSED;
}

uint32_t figures_table(FILE *to, bool of_refused, const json_t *result)
{
	uint32_t lines = 0;
	for (uint32_t i = 0; i < figure_count(); i++) {
		const struct figure_row *row = &rows[i];
		const json_t *of = document_at(result, row->section);
		if (row->shown == FIGURE_HIDDEN || (row->shown == FIGURE_REFUSED) != of_refused ||
		    (may_hide(row->shown) && document_number(of, row->key) == 0))
			continue;
		print_row(to, row, result);
		lines++;
	}
	return lines;
}
