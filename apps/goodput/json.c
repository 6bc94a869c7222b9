// SPDX-License-Identifier: Apache-2.0
// Goodput as JSON: times in seconds, losses and goodput as shares of the time.

#include <weft/core/check.h>
#include <weft/result/put.h>

#include "goodput.h"
#include "weft_version.h"

static void put_spread(json_t *to, const struct spread_figures *spread)
{
	put_real(to, "mean", spread->mean);
	put_real(to, "half_95", spread->half);
	put_real(to, "sd", spread->sd);
	put_real(to, "min", spread->min);
	put_real(to, "max", spread->max);
}

static json_t *component_of(const struct call *call, const struct side *side, uint32_t i)
{
	static const char *const names[] = {"restart", "slow", "stall"};
	const struct failure *failure = &side->setup.failures[i];
	const struct goodput_loss *loss = &side->losses[i];
	json_t *to = json_object();
	put_text(to, "name", components[i].name);
	put_real(to, "rate_per_day", failure->rate_per_s * 86400);
	put_real(to, "events_per_run", (double)side->events[i] / call->numbers.runs);
	put_text(to, "reaction", names[failure->reaction]);
	put_real(to, "repeated", loss->repeated_s);
	put_real(to, "notice", loss->notice_s);
	put_real(to, "wait", loss->wait_s);
	put_real(to, "restart", loss->restart_s);
	put_real(to, "slow", loss->slow_s);
	put_real(to, "stall", loss->stall_s);
	put_real(to, "loss", goodput_loss_s(loss));
	return to;
}

static json_t *side_of(const struct call *call, enum fabric fabric)
{
	const struct side *side = &call->sides[fabric];
	json_t *to = json_object(), *goodput = json_object(), *list = json_array();
	put_text(to, "fabric", fabric_name(fabric));
	put_real(to, "mtbf_s", goodput_mtbf_s(&side->setup));
	put_real(to, "checkpoint_s", side->setup.interval_s);
	put_real(to, "young_s", side->young_s);
	put_real(to, "daly_s", side->daly_s);
	put_real(to, "closed_form_s", side->closed_interval_s);
	put_spread(goodput, &side->spread);
	put_real(goodput, "closed_form", side->closed);
	put(to, "goodput", goodput);
	put_real(to, "checkpoints", side->saves);
	for (uint32_t i = 0; i < side->setup.count; i++)
		check(json_array_append_new(list, component_of(call, side, i)) == 0);
	put(to, "components", list);
	return to;
}

static json_t *job_of(const struct call *call)
{
	const struct numbers *numbers = &call->numbers;
	json_t *to = json_object();
	put(to, "gpus", json_integer(call->gpus));
	put_real(to, "step_s", call->step_s);
	put_real(to, "step_with_a_port_down_s", call->slow_step_s);
	put_origin(to, call->has_slow ? NULL : call->timing.origin, call->timing.rests_on);
	put_real(to, "slow", call->slow);
	put_real(to, "checkpoint_bytes", call->checkpoint_bytes);
	put_real(to, "save_s", numbers->save_s);
	put_real(to, "load_s", numbers->load_s);
	put_text(to, "rates", call->rates->name);
	put_text(to, "recovery", call->recovery->name);
	put_real(to, "crash_s", numbers->crash_s);
	put_real(to, "hang_s", numbers->hang_s);
	put_real(to, "restart_s", numbers->restart_s);
	put_real(to, "roce_gives_up_s", call->give_up_s);
	put_real(to, "outage_s", numbers->outage_s);
	put(to, "cables", json_integer(numbers->cables));
	put(to, "spares",
	    numbers->spares == GOODPUT_ENOUGH_SPARES ? json_null() : json_integer(numbers->spares));
	put_real(to, "repair_s", numbers->repair_s);
	return to;
}

static void put_input(json_t *list, enum origin origin, const char *text)
{
	json_t *one = row_in(list);
	put_text(one, "origin", origin_word(origin));
	put_text(one, "text", text);
}

static json_t *inputs_of(const struct call *call)
{
	json_t *list = json_array();
	put_input(list, call->rates->origin, call->rates->source);
	put_input(list, ORIGIN_DERIVED, call->recovery->source);
	for (const struct assumption *at = assumptions; at->text != NULL; at++)
		put_input(list, at->origin, at->text);
	return list;
}

void json_print(FILE *to, const struct call *call)
{
	json_t *root = json_object(), *list = json_array(), *worth = json_object();
	put(root, "schema", json_integer(1));
	put_text(root, "weft", WEFT_VERSION_TEXT);
	put_text(root, "scenario", call->scenario.name);
	put_real(root, "days", call->numbers.days);
	put(root, "runs", json_integer(call->numbers.runs));
	put(root, "job", job_of(call));
	for (int i = 0; i < FABRIC_COUNT; i++)
		check(json_array_append_new(list, side_of(call, (enum fabric)i)) == 0);
	put(root, "fabrics", list);
	put_spread(worth, &call->worth.spread);
	put_text(worth, "verdict", spread_verdict_name(call->worth.verdict));
	put(root, "mrc_less_roce", worth);
	put(root, "inputs", inputs_of(call));
	document_print(to, root, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
}
