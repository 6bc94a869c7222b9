// SPDX-License-Identifier: Apache-2.0
#include <weft/run/tune_pool.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/refusal.h>
#include <weft/run/call.h>
#include <weft/tune/space.h>

#include "jobs.h"

// What a setting should stand, beside the scenario as it is: members of a suite that are made of
// one, "incast+plane_down". Each is held against its own default.

struct tune_robust {
	const char *name; // behind the +
	double base_rtt; // the transport takes the base round trip for so many times what it is; 0:
			 // as it is
	const char *fault; // as --fault has it, behind `from`, which is so many base round trips
	uint32_t from_rtts;
	double beside_bdps; // of a message that each NIC sends beside the traffic; 0: none
};

#define TUNE_ROBUST_BYTES 160

// docs/howto/tune.md says what each of them is.
static const struct tune_robust rows[] = {
	{"base_rtt_low", 0.7, NULL, 0, 0},
	{"base_rtt_high", 1.3, NULL, 0, 0},
	{"plane_down", 0, "kind: link_down, at: {plane: 0}", 4, 0},
	{"plane_slow", 0, "kind: slow, at: {plane: 0}, rate: 50%", 0, 0},
	{"loss", 0, "kind: loss, at: all, probability: 0.1%", 0, 0},
	{"mixed", 0, NULL, 0, 4},
};
#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

// The row of that name. NULL with the reason, which names all of them.
static const struct tune_robust *tune_robust_named(const char *name, struct refusal *refusal)
{
	size_t used;
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	used = (size_t)snprintf(refusal->text, sizeof(refusal->text),
				"nothing is called `+%.40s`; behind a scenario may stand:", name);
	for (size_t i = 0; i < ROW_COUNT && used < sizeof(refusal->text); i++)
		used += (size_t)snprintf(refusal->text + used, sizeof(refusal->text) - used, " +%s",
					 rows[i].name);
	return NULL;
}

// "cc.base_rtt=9100ns", "traffic.beside=1600000B", or a fault's words; empty where the row has
// none.
static void tune_robust_set(const struct tune_robust *row, const struct tune_fabric *fabric,
			    char ret[TUNE_ROBUST_BYTES])
{
	ret[0] = '\0';
	if (row->base_rtt > 0)
		snprintf(ret, TUNE_ROBUST_BYTES, "cc.base_rtt=%.0fns",
			 row->base_rtt * fabric->rtt_ps / 1e3);
	if (row->beside_bdps > 0)
		snprintf(ret, TUNE_ROBUST_BYTES, "traffic.beside=%.0fB",
			 row->beside_bdps * fabric->bdp_bytes);
}

static void tune_robust_fault(const struct tune_robust *row, const struct tune_fabric *fabric,
			      char ret[TUNE_ROBUST_BYTES])
{
	ret[0] = '\0';
	if (row->fault != NULL)
		snprintf(ret, TUNE_ROBUST_BYTES, "{%s, from: %.0fns}", row->fault,
			 row->from_rtts * fabric->rtt_ps / 1e3);
}

struct member { // of the suite
	struct call *call;
	char label[160]; // as it was asked for
	char scenario[SCENARIO_PATH_BYTES], variant[SCENARIO_NAME_BYTES];
	struct tune_fabric fabric;
	uint64_t seed, hash;
	uint32_t place;			  // of the variant, counted from 1; 0: none
	const struct tune_robust *robust; // or NULL: the scenario as it is
	char robust_set[TUNE_ROBUST_BYTES], robust_fault[TUNE_ROBUST_BYTES];
	bool has_collective;
};

struct tune_pool {
	uint32_t count, jobs;
	struct member *members;
	const struct tune_space *space;
	const char *const *sets; // of all runs
	uint32_t set_count;
	const char *const *off; // what takes the controller away
	uint32_t off_count;
	// of the batch that runs
	const struct tune_request *requests;
	tune_take_fn *take;
	void *take_context;
	int taken; // the first -errno of `take`
};

// ---------------------------------------------------------------- opening

// "incast@one+plane_down". A plus before a dot or a slash is of a file's name.
static int split_name(struct member *member, const char *name)
{
	char *scenario = member->scenario;
	snprintf(scenario, sizeof(member->scenario), "%s", name);
	char *plus = strrchr(scenario, '+');
	if (plus != NULL && strpbrk(plus, "./") == NULL) {
		*plus = '\0';
		member->robust = tune_robust_named(plus + 1, &member->call->refusal);
		if (member->robust == NULL)
			return -EINVAL;
	}
	char *at = strrchr(scenario, '@');
	snprintf(member->variant, sizeof(member->variant), "%s", at != NULL ? at + 1 : "");
	if (at != NULL)
		*at = '\0';
	return 0;
}

// Makes it robust from here on; what ratios count in is that of the scenario as it is.
static int make_robust(struct member *member)
{
	struct options *options = &member->call->options;
	if (member->robust == NULL)
		return 0;
	tune_robust_set(member->robust, &member->fabric, member->robust_set);
	tune_robust_fault(member->robust, &member->fabric, member->robust_fault);
	if (member->robust_fault[0] != '\0')
		options->faults[options->fault_count++] = member->robust_fault;
	if (member->robust_set[0] != '\0')
		options->sets[options->set_count++] = member->robust_set;
	return call_read_point(member->call, member->place, NULL, 0, true);
}

// The world that the default gives says what ratios count in.
static int measure(struct member *member)
{
	struct call *call = member->call;
	int rc = call_build(call);
	if (rc < 0)
		return rc;
	const struct transport_config *transport = &call->world_instance.world.transport;
	member->fabric = (struct tune_fabric){
		.rtt_ps = (double)call->world_instance.world.topology.base_rtt_ps,
		.mtu_bytes = (double)transport->payload_bytes + transport->header_bytes,
		.line_bps = (double)transport->cc.rate_bps,
	};
	member->fabric.bdp_bytes = member->fabric.line_bps / 8 * member->fabric.rtt_ps /
		(double)PS_PER_S;
	member->fabric.port_bdp_bytes = (double)call->world_instance.world.fabric.link_rate_bps /
		8 * member->fabric.rtt_ps / (double)PS_PER_S;
	member->has_collective = call->world_instance.world.outcome->collective_count > 0;
	world_instance_free(&call->world_instance);
	return 0;
}

static int open_member(struct member *member, const struct tune_suite *suite, const char *name)
{
	member->call = calloc(1, sizeof(*member->call));
	if (member->call == NULL)
		return -ENODEV;
	struct call *call = member->call;
	struct options *options = &call->options;
	int rc = split_name(member, name);
	if (rc < 0)
		return rc;
	*options = (struct options){
		.program = "tune", .scenario = member->scenario, .seed_count = 1, .is_quiet = true};
	if (member->variant[0] != '\0')
		options->variant = member->variant;
	if (suite->set_count >= OPTION_SETS_MAX) // one is a member's own
		return refuse(&call->refusal, -EINVAL, "too many --set");
	for (uint32_t i = 0; i < suite->set_count; i++)
		options->sets[options->set_count++] = suite->sets[i];
	rc = call_read(call);
	member->place = call->variant;
	if (rc == 0 && call->scenario.variant_count > 0 && member->place == 0)
		return refuse(&call->refusal, -EINVAL,
			      "this scenario has variants; name one: SCENARIO@VARIANT");
	if (rc == 0)
		rc = call_read_point(call, member->place, NULL, 0, true);
	member->seed = call->scenario.seed;
	member->hash = call->text_hash;
	rc = rc < 0 ? rc : measure(member);
	return rc < 0 ? rc : make_robust(member);
}

// Says which one of the suite refuses, and what of the command line it does.
static void name_refusal(const struct member *member, const char *name, bool is_holdout,
			 struct refusal *refusal)
{
	const struct options *options = &member->call->options;
	char file[sizeof(refusal->file)];
	*refusal = member->call->refusal;
	memcpy(file, refusal->file, sizeof(file));
	if (strcmp(file, "--set") == 0 && refusal->line - 1 < options->set_count) {
		snprintf(refusal->file, sizeof(refusal->file), "%.140s with %.100s", member->label,
			 options->sets[refusal->line - 1]);
		refusal->line = refusal->column = 0;
	} else if (is_holdout) {
		snprintf(refusal->file, sizeof(refusal->file), "hold-out %.200s",
			 file[0] != '\0' ? file : name);
	}
}

int tune_pool_open(struct tune_pool **ret, const struct tune_suite *suite, struct refusal *refusal)
{
	struct tune_pool *pool = calloc(1, sizeof(*pool));
	*ret = pool;
	if (pool != NULL)
		pool->members = calloc(suite->count, sizeof(*pool->members));
	if (pool == NULL || pool->members == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for a suite");
	signals_catch();
	pool->jobs = suite->jobs;
	pool->sets = suite->sets;
	pool->set_count = suite->set_count;
	pool->off = suite->off;
	pool->off_count = suite->off_count;
	for (uint32_t i = 0; i < suite->count; i++) {
		pool->count = i + 1;
		struct member *member = &pool->members[i];
		bool is_holdout = i + suite->holdout_count >= suite->count;
		snprintf(member->label, sizeof(member->label), "%s%.140s",
			 is_holdout ? "hold-out " : "", suite->scenarios[i]);
		int rc = open_member(member, suite, suite->scenarios[i]);
		if (rc < 0 && member->call != NULL)
			name_refusal(member, suite->scenarios[i], is_holdout, refusal);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void tune_pool_free(struct tune_pool *pool)
{
	for (uint32_t i = 0; pool != NULL && i < pool->count; i++) {
		struct call *call = pool->members[i].call;
		if (call == NULL)
			continue;
		world_instance_free(&call->world_instance);
		workload_free(&call->workload);
		job_set_free(call->job_set.files);
		free(call);
	}
	if (pool != NULL)
		free(pool->members);
	free(pool);
}

const struct tune_fabric *tune_pool_fabric(const struct tune_pool *pool, uint32_t index)
{
	return &pool->members[index].fabric;
}

uint64_t tune_pool_seed(const struct tune_pool *pool, uint32_t index)
{
	return pool->members[index].seed;
}

const char *tune_pool_file(const struct tune_pool *pool, uint32_t index)
{
	return pool->members[index].scenario;
}

uint64_t tune_pool_hash(const struct tune_pool *pool, uint32_t index)
{
	return pool->members[index].hash;
}

bool tune_pool_has_collective(const struct tune_pool *pool, uint32_t index)
{
	return pool->members[index].has_collective;
}

bool tune_pool_is_same(const struct tune_pool *pool, uint32_t first, uint32_t second)
{
	const struct member *a = &pool->members[first], *b = &pool->members[second];
	return a->hash == b->hash && a->place == b->place && a->robust == b->robust;
}

// ---------------------------------------------------------------- one run

struct words {
	char text[TUNE_KNOBS_MAX + TUNE_OFF_MAX + 1][TUNE_VALUE_BYTES];
	const char *list[TUNE_KNOBS_MAX + TUNE_OFF_MAX + 1];
	uint32_t count;
};

static void words_of(struct words *ret, const struct tune_space *space,
		     const struct tune_request *request, const struct tune_fabric *fabric)
{
	const double *at = request->at;
	ret->count = 0;
	for (uint32_t i = 0; at != NULL && i < space->count; i++)
		if (tune_space_set_to(space, at, i, fabric, request->digits, ret->text[ret->count]))
			ret->count++;
}

// Whether one of the words sets the key that `set` does.
static bool is_set_by(const struct words *words, const char *set)
{
	size_t key = strcspn(set, "=") + 1;
	for (uint32_t i = 0; i < words->count; i++)
		if (strncmp(words->text[i], set, key) == 0)
			return true;
	return false;
}

// What all runs have, but for keys that this run's words set: a setting takes the default's place.
static void take_sets(const struct tune_pool *pool, const struct words *words,
		      struct member *member)
{
	struct options *options = &member->call->options;
	options->set_count = 0;
	for (uint32_t i = 0; i < pool->set_count; i++)
		if (!is_set_by(words, pool->sets[i]))
			options->sets[options->set_count++] = pool->sets[i];
	if (member->robust_set[0] != '\0')
		options->sets[options->set_count++] = member->robust_set;
}

static int read_request(const struct tune_pool *pool, const struct tune_request *request)
{
	static struct words words;
	struct member *member = &pool->members[request->scenario];
	words_of(&words, pool->space, request, &member->fabric);
	for (uint32_t i = 0; request->is_off && i < pool->off_count; i++)
		snprintf(words.text[words.count++], TUNE_VALUE_BYTES, "%s", pool->off[i]);
	for (uint32_t i = 0; i <= words.count; i++)
		words.list[i] = words.text[i];
	take_sets(pool, &words, member);
	snprintf(words.text[words.count], TUNE_VALUE_BYTES, "seed=%" PRIu64, request->seed);
	return call_read_point(member->call, member->place, words.list, words.count + 1, true);
}

// Notes the first bound that the run is beyond.
static void find_passed(const struct call *call, const struct tune_request *request,
			const struct run *run, struct study_run *ret)
{
	struct report_input input = call_report(call, run);
	for (uint32_t i = 0; i < request->bound_count && ret->passed == 0; i++) {
		const struct tune_bound *bound = &request->bounds[i];
		double value;
		if (!tune_bound_is_passed(bound, &input, &value))
			continue;
		ret->passed = bound->which + 1;
		ret->passed_s = (double)run->now_ps / PS_PER_S;
		ret->passed_value = value;
		snprintf(ret->end, sizeof(ret->end), "%s", report_study_figure_name(bound->figure));
	}
}

// Whether there is more to run: for the workload, or for what is still under way behind its end.
static bool goes_on(const struct call *call, const struct run *run)
{
	uint64_t hops_max = call->scenario.hops_max;
	bool is_at_hops = hops_max > 0 && run->hops >= hops_max;
	return run->end == RUN_TIME || (run->end == RUN_DONE && !run->is_drained && !is_at_hops);
}

// Runs as call_run(), and looks at the bounds at the same times of the run wherever it is made:
// between whole windows, so that the looks change nothing. The longer it takes, the longer between
// two of them.
static void run_within(struct call *call, const struct tune_request *request, struct run *ret,
		       struct study_run *passed)
{
	struct scenario *scenario = &call->scenario;
	ps_t end_ps = scenario->time_max_ps, window_ps = call->world_instance.world.window_ps;
	int64_t look = (int64_t)(request->look_s * PS_PER_S) / window_ps + 1; // in windows
	double cpu_s = 0;
	bool has_more = true;
	for (int64_t until = look; request->bound_count > 0 && !scenario->fast_forward.is_on &&
			     has_more && passed->passed == 0 &&
			     until<end_ps / window_ps; until += until / 8> look
		     ? until / 8
		     : look) {
		scenario->time_max_ps = until * window_ps;
		sim_run(call->world_instance.sim, ret);
		cpu_s += ret->cpu_s;
		has_more = goes_on(call, ret);
		if (ret->end == RUN_TIME)
			find_passed(call, request, ret, passed);
	}
	scenario->time_max_ps = end_ps;
	if (has_more && (passed->passed == 0 || request->is_whole)) {
		sim_run(call->world_instance.sim, ret);
		cpu_s += ret->cpu_s;
	}
	ret->cpu_s = cpu_s;
	sim_end(call->world_instance.sim, ret,
		&call->refusal); // no captures: nothing that could fail
}

// jobs_work_fn. A setting that the scenario refuses is a run that came to nothing: the reason is
// its end.
static int work(void *context, uint32_t index, struct study_run *ret)
{
	struct tune_pool *pool = context;
	struct call *call = pool->members[pool->requests[index].scenario].call;
	struct run run;
	int rc = read_request(pool, &pool->requests[index]);
	if (rc == 0)
		rc = call_build(call);
	if (rc < 0) {
		*ret = (struct study_run){.dead = EXIT_BAD_INPUT};
		for (uint32_t i = 0; i < STUDY_FIGURES_MAX; i++)
			ret->figures[i] = NAN;
		snprintf(ret->end, sizeof(ret->end), "refused: %.140s", call->refusal.text);
		return 0;
	}
	struct study_run passed = {0};
	run_within(call, &pool->requests[index], &run, &passed);
	struct report_input input = call_report(call, &run);
	report_study_measure(ret, &input);
	ret->passed = passed.passed;
	ret->passed_s = passed.passed_s;
	ret->passed_value = passed.passed_value;
	if (passed.passed > 0 && !ret->is_complete)
		snprintf(ret->end, sizeof(ret->end), "ended early: %.100s at %g", passed.end,
			 passed.passed_value);
	ret->is_interrupted = run.end == RUN_INTERRUPTED;
	return 0;
}

// jobs_take_fn.
static void take(void *context, uint32_t index, const struct study_run *run)
{
	struct tune_pool *pool = context;
	if (run->is_interrupted || pool->taken < 0)
		return;
	pool->taken = pool->take(pool->take_context, index, run);
}

int tune_pool_runs(void *context, const struct tune_request *requests, uint32_t count,
		   tune_take_fn *taker, void *take_context, struct refusal *refusal)
{
	struct tune_pool *pool = context;
	pool->requests = requests;
	pool->take = taker;
	pool->take_context = take_context;
	pool->taken = 0;
	int status = jobs_run(count, pool->jobs, work, take, pool);
	if (call_is_stopped())
		return refuse(refusal, -EINTR,
			      "interrupted; what was run is kept: weft tune resume");
	if (pool->taken < 0)
		return pool->taken;
	return status == 0 ? 0 : refuse(refusal, -EAGAIN, "cannot start a process for a run");
}

// ---------------------------------------------------------------- ends of ranges

static int check_end(struct tune_pool *pool, const struct tune_space *space, uint32_t scenario,
		     const double *at, struct refusal *refusal)
{
	const struct tune_request request = {.scenario = scenario,
					     .at = at,
					     .seed = pool->members[scenario].seed,
					     .is_off = at == NULL};
	struct call *call = pool->members[scenario].call;
	char name[TUNE_NAME_BYTES];
	pool->space = space;
	int rc = read_request(pool, &request);
	if (rc == 0)
		rc = call_build(call);
	world_instance_free(&call->world_instance);
	if (rc == 0)
		return 0;
	*refusal = call->refusal;
	if (at != NULL)
		tune_space_name(space, at, name);
	else
		snprintf(name, sizeof(name), "--off");
	snprintf(refusal->file, sizeof(refusal->file), "%.100s with %.140s",
		 pool->members[scenario].label, name);
	refusal->line = refusal->column = 0;
	return rc;
}

int tune_pool_check(struct tune_pool *pool, const struct tune_space *space, struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && pool->off_count > 0 && i < pool->count; i++)
		rc = check_end(pool, space, i, NULL, refusal);
	for (uint32_t i = 0; i < pool->count; i++)
		for (uint32_t end = 0; rc == 0 && end < 2 * space->count; end++) {
			double at[TUNE_KNOBS_MAX];
			for (uint32_t j = 0; j < space->count; j++)
				at[j] = j == end / 2 ? end % 2 : 0.5;
			rc = check_end(pool, space, i, at, refusal);
		}
	return rc;
}
