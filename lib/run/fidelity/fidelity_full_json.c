// SPDX-License-Identifier: Apache-2.0
// The same as JSON: times in picoseconds.

#include <weft/result/put.h>

#include "fidelity_full.h"
#include "fidelity_part_json.h"
#include "weft_version.h"

static json_t *times_of(const struct step_exposed *times)
{
	json_t *to = json_object();
	put(to, "step_ps", json_integer(times->with.step_ps));
	put(to, "exposed_ps", json_integer(fidelity_exposed(times)));
	put(to, "head_ps", json_integer(times->head_ps));
	put(to, "tail_ps", json_integer(times->tail_ps));
	put(to, "silent_ps", json_integer(times->without.step_ps));
	return to;
}

static void put_models(json_t *root, const struct fidelity_full *fidelity)
{
	json_t *model = times_of(&fidelity->model), *own = times_of(&fidelity->own);
	put(model, "error", fidelity_error_json(&fidelity->bounds, &fidelity->model));
	put(own, "error", fidelity_error_json(&fidelity->bounds, &fidelity->own));
	put(root, "model", model);
	put(root, "model_own_sends", own);
}

static json_t *full_of(const struct fidelity_full *fidelity)
{
	char digest[17];
	json_t *to = times_of(&fidelity->times);
	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)fidelity->digest);
	put_count(to, "operations", fidelity->operations);
	put_count(to, "packets", fidelity->packets);
	put_count(to, "marks", fidelity->marks);
	put_count(to, "trims", fidelity->trims);
	put_count(to, "retransmissions", fidelity->resent);
	put_count(to, "fabric_messages", fidelity->fabric_messages);
	put_count(to, "fabric_bytes", fidelity->fabric_bytes);
	put_count(to, "scaleup_messages", fidelity->scaleup_messages);
	put_count(to, "scaleup_bytes", fidelity->scaleup_bytes);
	put(to, "digest", json_string(digest));
	put_origin(to, fidelity->world.plan.timing.origin, fidelity->world.plan.timing.rests_on);
	return to;
}

static json_t *begin(const struct call *call, const char *fidelity)
{
	json_t *root = json_object();
	put_count(root, "schema", 1);
	put(root, "weft", json_string(WEFT_VERSION_TEXT));
	put(root, "command", json_string(call->command));
	put(root, "scenario", json_string(call->scenario.name));
	put(root, "step_fidelity", json_string(fidelity));
	return root;
}

static void end(FILE *to, json_t *root)
{
	document_print(to, root, JSON_ENSURE_ASCII);
}

void fidelity_full_json(FILE *to, const struct call *call, const struct fidelity_full *fidelity)
{
	json_t *root = begin(call, "full");
	put_models(root, fidelity);
	put(root, "full", full_of(fidelity));
	put(root, "outside", fidelity_off_domain_json(&fidelity->world, fidelity->longer_ps));
	put(root, "inputs", fidelity_inputs_json(call, &fidelity->world.plan));
	end(to, root);
}

void fidelity_all_json(FILE *to, const struct call *call, const struct fidelity_all *fidelity)
{
	json_t *root = begin(call, "all"), *sample = times_of(&fidelity->sample.run.times);
	put(sample, "exposed_error_ps", json_integer(fidelity->sample.run.error_ps));
	put(sample, "exposed_stages_more_ps", json_integer(fidelity->sample.run.stages_more_ps));
	put(sample, "exposed_stages_less_ps", json_integer(fidelity->sample.run.stages_less_ps));
	put_count(sample, "packets", fidelity->sample.run.packets);
	put_models(root, &fidelity->full);
	put(root, "sample", sample);
	put(root, "terms", fidelity_terms_json(&fidelity->sample));
	put(root, "full", full_of(&fidelity->full));
	put(root, "outside",
	    fidelity_off_domain_json(&fidelity->full.world, fidelity->full.longer_ps));
	put(root, "inputs", fidelity_inputs_json(call, &fidelity->full.world.plan));
	end(to, root);
}
