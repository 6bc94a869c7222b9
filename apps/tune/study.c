// SPDX-License-Identifier: Apache-2.0
// What a study holds beside its runs: the words it was asked for with, the scenarios as they were,
// and what their ratios count in. So readers need nothing but the file, and who goes on with it
// notices a scenario that has changed.

#include "call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_version.h"
#include <weft/files/files.h>
#include <weft/run/outcome.h>

// ---------------------------------------------------------------- the plan

static int default_aim(struct call *call, bool has_collectives)
{
	struct tune_aim *aim = &call->plan.aim;
	if (aim->goal_count == 0)
		aim->goals[aim->goal_count++] = (struct tune_goal){
			report_study_figure_named(has_collectives ? "collective_s" : "done_s"), 1};
	return 0;
}

// The suite, then the hold-outs. Returns how many they are.
static uint32_t list_members(const struct words *options, const char *ret[TUNE_SCENARIOS_MAX])
{
	memcpy(ret, options->scenarios, options->scenario_count * sizeof(*ret));
	memcpy(ret + options->scenario_count, options->holdouts,
	       options->holdout_count * sizeof(*ret));
	return options->scenario_count + options->holdout_count;
}

static void plan_of(struct call *call)
{
	const struct words *options = &call->options;
	call->plan = (struct tune_plan){
		.space = options->space,
		.aim = options->aim,
		.scenario_count = options->scenario_count,
		.holdout_count = options->holdout_count,
		.seed = options->seed,
		.budget = options->budget,
		.engine = options->engine,
		.screen = options->screen,
		.parts = options->parts,
		.part = options->part,
		.is_whole = options->is_whole,
		.has_off = options->off_count > 0,
		.search_seeds = options->search_seeds,
		.race_seeds = options->race_seeds,
		.fresh_seeds = options->fresh_seeds,
		.store = call->store,
	};
	list_members(options, call->plan.scenarios);
}

// ---------------------------------------------------------------- facts

static int refuse_study(struct call *call, const char *text, const char *word)
{
	struct refusal *refusal = &call->refusal;
	refusal_name(refusal, call->study);
	snprintf(refusal->text, sizeof(refusal->text), text, word);
	return -EINVAL;
}

// Notes a fact, or holds it against the one that is there.
static int keep_fact(struct call *call, const char *name, const char *value, const char *refused)
{
	char *there;
	int rc = tune_store_fact(call->store, name, &there, &call->refusal);
	if (rc == 0 && there == NULL)
		rc = tune_store_note(call->store, name, value, &call->refusal);
	else if (rc == 0 && strcmp(there, value) != 0)
		rc = refuse_study(call, refused, name);
	free(there);
	return rc;
}

static int keep_scenario(struct call *call, uint32_t index)
{
	char name[32], value[160];
	struct data_file file;
	const struct tune_fabric *fabric = tune_pool_fabric(call->pool, index);
	snprintf(name, sizeof(name), "hash.%u", index);
	snprintf(value, sizeof(value), "%016" PRIx64, tune_pool_hash(call->pool, index));
	int rc = keep_fact(call, name, value, "a scenario has changed since this study began (%s)");
	snprintf(name, sizeof(name), "fabric.%u", index);
	snprintf(value, sizeof(value), "%.17g %.17g %.17g %.17g %.17g", fabric->rtt_ps,
		 fabric->bdp_bytes, fabric->mtu_bytes, fabric->line_bps, fabric->port_bdp_bytes);
	if (rc == 0)
		rc = keep_fact(call, name, value,
			       "a fabric has changed since this study began (%s)");
	if (rc == 0)
		rc = data_file_read(&file, DATA_PATH_SCENARIOS, tune_pool_file(call->pool, index),
				    &call->refusal);
	if (rc < 0)
		return rc;
	snprintf(name, sizeof(name), "scenario.%u", index);
	rc = keep_fact(call, name, file.text, "a scenario has changed since this study began (%s)");
	free(file.text);
	return rc;
}

static int keep_all(struct call *call)
{
	char seed[32];
	bool has_collectives = true;
	int rc = 0;
	if (!call->options.has_seed)
		call->plan.seed = tune_pool_seed(call->pool, 0);
	for (uint32_t i = 0; rc == 0 && i < call->plan.scenario_count + call->plan.holdout_count;
	     i++) {
		call->plan.fabrics[i] = *tune_pool_fabric(call->pool, i);
		if (i < call->plan.scenario_count)
			has_collectives &= tune_pool_has_collective(call->pool, i);
		rc = keep_scenario(call, i);
	}
	snprintf(seed, sizeof(seed), "%" PRIu64, call->plan.seed);
	if (rc == 0)
		rc = keep_fact(call, "seed", seed, "the scenario's seed has changed (%s)");
	if (rc == 0)
		rc = keep_fact(call, "collectives", has_collectives ? "yes" : "no",
			       "a scenario has changed since this study began (%s)");
	return rc < 0 ? rc : default_aim(call, has_collectives);
}

// The same for a reader.
static int read_all(struct call *call)
{
	char name[32], *text;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < call->plan.scenario_count + call->plan.holdout_count;
	     i++) {
		struct tune_fabric *fabric = &call->plan.fabrics[i];
		snprintf(name, sizeof(name), "fabric.%u", i);
		rc = tune_store_fact(call->store, name, &text, &call->refusal);
		if (rc == 0 &&
		    (text == NULL ||
		     sscanf(text, "%lf %lf %lf %lf %lf", &fabric->rtt_ps, &fabric->bdp_bytes,
			    &fabric->mtu_bytes, &fabric->line_bps, &fabric->port_bdp_bytes) != 5))
			rc = refuse_study(call, "nothing has been run yet (no %s)", name);
		free(text);
	}
	if (rc == 0)
		rc = tune_store_fact(call->store, "seed", &text, &call->refusal);
	if (rc < 0)
		return rc;
	call->plan.seed = text != NULL ? strtoull(text, NULL, 10) : 0;
	free(text);
	rc = tune_store_fact(call->store, "collectives", &text, &call->refusal);
	bool has_collectives = text != NULL && strcmp(text, "yes") == 0;
	free(text);
	return rc < 0 ? rc : default_aim(call, has_collectives);
}

// ---------------------------------------------------------------- opening

static void name_study(struct call *call)
{
	const struct words *options = &call->options;
	if (options->study != NULL) {
		snprintf(call->study, sizeof(call->study), "%s", options->study);
		return;
	}
	const char *name = options->scenarios[0], *slash = strrchr(name, '/');
	name = slash != NULL ? slash + 1 : name;
	int bytes = (int)strcspn(name, ".@+");
	if (options->part > 0)
		snprintf(call->study, sizeof(call->study), "%.*s.%u.tune", bytes, name,
			 options->part);
	else
		snprintf(call->study, sizeof(call->study), "%.*s.tune", bytes, name);
}

// The words of a study that is there.
static int read_command(struct call *call)
{
	int rc = tune_store_fact(call->store, "command", &call->words, &call->refusal);
	if (rc == 0 && call->words == NULL)
		return refuse_study(call, "this study has no command%s", "");
	return rc < 0 ? rc : words_of_study(&call->options, call->words, &call->refusal);
}

// A hold-out is no scenario of the suite, under whatever name, nor another hold-out.
static int check_holdouts(struct call *call, const struct tune_suite *suite)
{
	for (uint32_t i = call->options.scenario_count; i < suite->count; i++)
		for (uint32_t j = 0; j < i; j++) {
			if (!tune_pool_is_same(call->pool, i, j))
				continue;
			return outcome_bad_word(
				&call->refusal,
				j < call->options.scenario_count
					? "the search sees this one, so it is not a hold-out:"
					: "this hold-out is given twice:",
				suite->scenarios[i]);
		}
	return 0;
}

int study_open_pool(struct call *call)
{
	const struct words *options = &call->options;
	const char *members[TUNE_SCENARIOS_MAX];
	const struct tune_suite suite = {
		.count = list_members(options, members),
		.holdout_count = options->holdout_count,
		.scenarios = members,
		.sets = options->sets,
		.set_count = options->set_count,
		.off = options->off,
		.off_count = options->off_count,
		.jobs = options->jobs,
	};
	int rc = tune_pool_open(&call->pool, &suite, &call->refusal);
	if (rc == 0)
		rc = check_holdouts(call, &suite);
	return rc < 0 ? rc : tune_pool_check(call->pool, &options->space, &call->refusal);
}

// A study of another version is read all the same: its rows are what that made of them.
static int read_version(struct call *call)
{
	int rc = tune_store_fact(call->store, "version", &call->version, &call->refusal);
	if (rc < 0 || (call->version != NULL && strcmp(call->version, WEFT_VERSION_TEXT) == 0))
		return rc;
	call->plan.other_version = call->version != NULL ? call->version : "an unknown version";
	fprintf(stderr,
		"weft tune: %s: this study is of %s, read by %s: its runs may come out "
		"otherwise here\n",
		call->study, call->plan.other_version, WEFT_VERSION_TEXT);
	fflush(stderr);
	return 0;
}

int study_open(struct call *call)
{
	enum verb verb = call->options.verb;
	enum tune_store_use use = verb == VERB_RUN		  ? TUNE_STORE_NEW
		: verb == VERB_RESUME || call->options.curves > 0 ? TUNE_STORE_WRITE
								  : TUNE_STORE_READ;
	int rc = 0;
	name_study(call);
	if (verb == VERB_RUN) // what cannot be run leaves no file
		rc = tune_store_is_built() ? study_open_pool(call) : 0;
	plan_of(call);
	if (rc == 0 && verb == VERB_RUN && call->plan.budget < tune_budget_min(&call->plan))
		return refuse(&call->refusal, -EINVAL,
			      "--budget % is too small; this study needs % runs",
			      (int64_t)call->plan.budget, (int64_t)tune_budget_min(&call->plan));
	if (rc == 0)
		rc = tune_store_open(&call->store, call->study, use, WEFT_VERSION_TEXT,
				     call->options.command, &call->refusal);
	if (rc == 0 && verb != VERB_RUN)
		rc = read_command(call);
	if (rc == 0 && use == TUNE_STORE_WRITE)
		rc = study_open_pool(call);
	if (rc < 0)
		return rc;
	plan_of(call);
	if (use == TUNE_STORE_READ)
		rc = read_version(call);
	if (rc < 0)
		return rc;
	return call->pool != NULL ? keep_all(call) : read_all(call);
}

void study_close(struct call *call)
{
	tune_free(call->tune);
	tune_store_close(call->store);
	tune_pool_free(call->pool);
	free(call->words);
	free(call->version);
}
