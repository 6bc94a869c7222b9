// SPDX-License-Identifier: Apache-2.0
// A step with collectives of packets as JSON: times in picoseconds.

#include <weft/core/check.h>
#include <weft/result/put.h>

#include "fidelity_part_json.h"
#include "weft_version.h"

static json_t *sampled_json(const struct sampled *row)
{
	json_t *one = json_object();
	put(one, "kind",
	    json_string(row->of.is_gather	 ? "all_gather"
				: row->of.is_all ? "all_reduce"
						 : "reduce_scatter"));
	put_count(one, "bytes", row->of.bytes);
	put_count(one, "times", row->of.count);
	put(one, "closed_ps", json_integer(row->closed_ps));
	put(one, "time_ps", json_integer(row->of.time_ps));
	put(one, "error_ps", json_integer(row->error_ps));
	put(one, "is_critical", json_boolean(row->is_critical));
	put(one, "is_run", json_boolean(row->is_run));
	put_count(one, "steps", row->steps);
	put_count(one, "steps_all", row->steps_all);
	return one;
}

static json_t *tensor_of(const struct sampled_tensor *tensor)
{
	if (tensor->closed_ps == 0)
		return json_null();
	json_t *to = json_object();
	put_count(to, "bytes", tensor->bytes);
	put(to, "closed_ps", json_integer(tensor->closed_ps));
	put(to, "time_ps", json_integer(tensor->time_ps));
	put(to, "error_ps", json_integer(tensor->error_ps));
	put_count(to, "steps", tensor->steps);
	put_count(to, "steps_all", tensor->steps_all);
	put_count(to, "groups_all", tensor->groups_all);
	put_count(to, "packets", tensor->packets);
	return to;
}

static json_t *run_of(const struct sampled_run *run)
{
	json_t *to = json_object(), *list = json_array();
	put(to, "step_ps", json_integer(run->times.with.step_ps));
	put(to, "exposed_ps", json_integer(fidelity_exposed(&run->times)));
	put(to, "exposed_error_ps", json_integer(run->error_ps));
	put(to, "exposed_error_steps_ps", json_integer(run->steps_ps));
	put(to, "exposed_error_schedule_ps", json_integer(run->schedule_ps));
	put(to, "exposed_stages_more_ps", json_integer(run->stages_more_ps));
	put(to, "exposed_stages_less_ps", json_integer(run->stages_less_ps));
	put(to, "head_ps", json_integer(run->times.head_ps));
	put(to, "tail_ps", json_integer(run->times.tail_ps));
	put(to, "silent_ps", json_integer(run->times.without.step_ps));
	put(to, "others_tenth_longer_ps", json_integer(run->others_ps));
	put_count(to, "packets", run->packets);
	put_count(to, "marks", run->marks);
	put_count(to, "trims", run->trims);
	put_count(to, "retransmissions", run->resent);
	put_count(to, "groups", run->groups);
	put_count(to, "groups_all", run->groups_all);
	put_count(to, "trunks_kept", run->trunks_kept);
	put_count(to, "trunks_of", run->trunks_of);
	for (uint32_t i = 0; i < run->count; i++)
		check(json_array_append_new(list, sampled_json(&run->rows[i])) == 0);
	put(to, "collectives", list);
	put(to, "tensor_message", tensor_of(&run->tensor));
	put_origin(to, run->world.plan.timing.origin, run->world.plan.timing.rests_on);
	return to;
}

json_t *fidelity_terms_json(const struct fidelity_sample *fidelity)
{
	json_t *to = json_object();
	put(to, "closed_ps", json_integer(fidelity->terms.closed_ps));
	put(to, "with_latency_ps", json_integer(fidelity->terms.latency_ps));
	put(to, "with_credits_ps", json_integer(fidelity->terms.credit_ps));
	put(to, "with_headers_ps", json_integer(fidelity->terms.header_ps));
	put(to, "with_sacks_ps", json_integer(fidelity->terms.sack_ps));
	put(to, "closed_tensors_ps", json_integer(fidelity->run.quiet_ps));
	put(to, "ideal_ps",
	    fidelity->has_ideal ? json_integer(fidelity->terms.ideal_ps) : json_null());
	return to;
}

void fidelity_sample_json(FILE *to, const struct call *call, const struct fidelity_sample *fidelity)
{
	json_t *root = json_object();
	put_count(root, "schema", 1);
	put(root, "weft", json_string(WEFT_VERSION_TEXT));
	put(root, "command", json_string(call->command));
	put(root, "scenario", json_string(call->scenario.name));
	put(root, "step_fidelity", json_string("sample"));
	put(root, "step", run_of(&fidelity->run));
	put(root, "ideal", fidelity->has_ideal ? run_of(&fidelity->ideal) : json_null());
	put(root, "terms", fidelity_terms_json(fidelity));
	put(root, "outside", fidelity_off_domain_json(&fidelity->run.world, fidelity->longer_ps));
	put(root, "steps", fidelity_steps_json(&fidelity->steps));
	put(root, "inputs", fidelity_inputs_json(call, &fidelity->run.world.plan));
	document_print(to, root, JSON_ENSURE_ASCII);
}
