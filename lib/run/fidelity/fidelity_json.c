// SPDX-License-Identifier: Apache-2.0
// One step from its schedule as JSON: times in picoseconds, shares as numbers.

#include <weft/result/figures.h>
#include <weft/result/put.h>
#include <weft/workload/plan_memory.h>

#include "fidelity_part_json.h"
#include "weft_version.h"

static void put_timing(json_t *to, const struct timing *timing)
{
	put_time(to, "forward_ps", timing->forward_ps);
	put_time(to, "backward_ps", timing->backward_ps);
	put_time(to, "other_ps", timing->other_ps);
	put_origin(to, timing->origin, timing->rests_on);
}

static void put_times(json_t *to, const struct step_exposed *times)
{
	put_time(to, "step_ps", times->with.step_ps);
	put_time(to, "exposed_ps", fidelity_exposed(times));
	put_time(to, "head_ps", times->head_ps);
	put_time(to, "tail_ps", times->tail_ps);
	put_time(to, "silent_ps", times->without.step_ps);
}

json_t *fidelity_error_json(const struct fidelity_bounds *bounds, const struct step_exposed *times)
{
	const struct fidelity_error error = fidelity_error(bounds, times);
	json_t *to = json_object();
	put_time(to, "exposed_less_ps", error.exposed_less_ps);
	put_known(to, "exposed_more_ps", bounds->has_more, error.exposed_more_ps);
	put_time(to, "step_less_ps", error.step_less_ps);
	put_known(to, "step_more_ps", bounds->has_more, error.step_more_ps);
	put_time(to, "fabric_ps", bounds->fabric_ps);
	put_time(to, "beside_ps", bounds->beside_ps);
	put_known(to, "trunks_ps", bounds->has_more, bounds->trunks_ps);
	put_time(to, "messages_ps", bounds->messages_ps);
	put_time(to, "stages_more_ps", bounds->stages_more_ps);
	return to;
}

static json_t *stages_of(const struct fidelity *fidelity)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < fidelity->world.plan.parallel.pp; i++) {
		json_t *one = row_in(list);
		put_time(one, "gather_wait_ps", fidelity->stages[i].gather_wait_ps);
		put_time(one, "backward_ps", fidelity->stages[i].backward_ps);
		put_time(one, "reduce_ps", fidelity->stages[i].reduce_ps);
	}
	return list;
}

static json_t *cases_of(const struct fidelity *fidelity)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < fidelity->row_count; i++) {
		json_t *one = row_in(list);
		put_text(one, "name", fidelity->rows[i].of.name);
		put_times(one, &fidelity->rows[i].times);
	}
	return list;
}

json_t *fidelity_off_domain_json(const struct world_step *world,
				 const ps_t longer_ps[DIMENSION_COUNT])
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		const struct world_off_domain *of = &world->off_domain[i];
		if (!of->is_off_domain)
			continue;
		json_t *one = row_in(list);
		put_text(one, "dimension", dimension_name((enum dimension)i));
		put(one, "ranks", json_integer(of->spread.ranks));
		put(one, "domains", json_integer(of->spread.domains_max));
		put(one, "messages", json_integer((json_int_t)of->messages.count));
		put(one, "bytes", json_integer((json_int_t)of->messages.bytes));
		put_time(one, "message_ps", of->message_ps);
		put_time(one, "forward_ps", of->forward_ps);
		put_time(one, "backward_ps", of->backward_ps);
		put_time(one, "longer_ps", longer_ps[i]);
	}
	return list;
}

static json_t *step_of(const struct fidelity *fidelity)
{
	const struct plan *plan = &fidelity->world.plan;
	json_t *step = json_object();
	put_times(step, &fidelity->rows[0].times);
	put(step, "error", fidelity_error_json(&fidelity->bounds, &fidelity->rows[0].times));
	put_time(step, "ideal_pipeline_ps", step_pipeline_ps(plan));
	put_timing(step, &plan->timing);
	put(step, "gpus", json_integer(plan_ranks(plan)));
	put(step, "ring_ranks", json_integer(fidelity->world.setup.dense.ranks));
	put(step, "nics_per_group", json_integer(fidelity->world.nics_per_group));
	put(step, "outside", fidelity_off_domain_json(&fidelity->world, fidelity->longer_ps));
	put(step, "stages", stages_of(fidelity));
	return step;
}

json_t *fidelity_steps_json(const struct fidelity_steps *steps)
{
	json_t *to = json_object();
	if (steps->count == 0) {
		json_decref(to);
		return json_null();
	}
	put(to, "count", json_integer(steps->count));
	put(to, "mean_s", json_real(steps->mean_s));
	put(to, "cv", json_real(steps->cv));
	put(to, "min_s", json_real(steps->min_s));
	put(to, "max_s", json_real(steps->max_s));
	return to;
}

static json_t *prediction_of(const struct fidelity *fidelity)
{
	ps_t published = fidelity->world.plan.published_ps;
	if (!fidelity->has_prediction)
		return json_null();
	json_t *to = json_object();
	put_times(to, &fidelity->predicted);
	put_timing(to, &fidelity->logs->timing);
	put(to, "published_ps", published > 0 ? json_integer(published) : json_null());
	return to;
}

static void put_input(json_t *list, enum input_origin origin, const char *text)
{
	json_t *one = row_in(list);
	put_text(one, "origin", origin_name(origin));
	put_text(one, "text", text);
}

json_t *fidelity_inputs_json(const struct call *call, const struct plan *plan)
{
	char text[sizeof(plan->inputs->of) + sizeof(plan->inputs->text) + 2];
	json_t *list = json_array();
	put_input(list, plan->timing.rests_on, plan->timing.origin);
	for (uint32_t i = 0; i < plan->input_count; i++) {
		if (fidelity_is_times(plan, i))
			continue;
		snprintf(text, sizeof(text), "%s: %s", plan->inputs[i].of, plan->inputs[i].text);
		put_input(list, plan->inputs[i].origin, text);
	}
	for (uint32_t i = 0; i < call->scenario.input_count; i++)
		put_input(list, call->scenario.inputs[i].origin, call->scenario.inputs[i].text);
	for (const struct fidelity_input *at = fidelity_inputs; at->text != NULL; at++)
		if (!at->is_timed || !plan_has_roofline(plan))
			put_input(list, at->origin, at->text);
	return list;
}

void fidelity_write_json(FILE *to, const struct call *call, const struct fidelity *fidelity)
{
	json_t *root = json_object();
	put(root, "schema", json_integer(1));
	put_text(root, "weft", WEFT_VERSION_TEXT);
	put_text(root, "command", call->command);
	put_text(root, "scenario", call->scenario.name);
	put_text(root, "step_fidelity", "model");
	put(root, "step", step_of(fidelity));
	put(root, "cases", cases_of(fidelity));
	put(root, "collectives_longer",
	    fidelity->world.is_measured ? json_real((double)fidelity->world.measured_ppb / 1e9)
					: json_null());
	put(root, "steps", fidelity_steps_json(&fidelity->steps));
	put(root, "prediction", prediction_of(fidelity));
	put(root, "inputs", fidelity_inputs_json(call, &fidelity->world.plan));
	document_print(to, root, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
}
