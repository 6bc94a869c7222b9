// SPDX-License-Identifier: Apache-2.0
// The same as JSON: times in picoseconds.

#include <jansson.h>

#include <weft/core/check.h>

#include "depth_full.h"
#include "depth_part_json.h"
#include "weft_version.h"

// Takes `value`; our own JSON must be good.
static void put(json_t *to, const char *name, json_t *value)
{
	check(value != NULL && json_object_set_new(to, name, value) == 0);
}

static void put_count(json_t *to, const char *name, uint64_t count)
{
	put(to, name, json_integer((json_int_t)count));
}

static json_t *times_of(const struct step_exposed *times)
{
	json_t *to = json_object();
	put(to, "step_ps", json_integer(times->with.step_ps));
	put(to, "exposed_ps", json_integer(depth_exposed(times)));
	put(to, "head_ps", json_integer(times->head_ps));
	put(to, "tail_ps", json_integer(times->tail_ps));
	put(to, "silent_ps", json_integer(times->without.step_ps));
	return to;
}

static json_t *full_of(const struct depth_full *depth)
{
	char digest[17];
	json_t *to = times_of(&depth->times);
	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)depth->digest);
	put_count(to, "operations", depth->operations);
	put_count(to, "packets", depth->packets);
	put_count(to, "marks", depth->marks);
	put_count(to, "trims", depth->trims);
	put_count(to, "retransmissions", depth->resent);
	put_count(to, "fabric_messages", depth->fabric_messages);
	put_count(to, "fabric_bytes", depth->fabric_bytes);
	put_count(to, "scaleup_messages", depth->scaleup_messages);
	put_count(to, "scaleup_bytes", depth->scaleup_bytes);
	put(to, "digest", json_string(digest));
	return to;
}

static json_t *begin(const struct call *call, const char *depth)
{
	json_t *root = json_object();
	put_count(root, "schema", 1);
	put(root, "weft", json_string(WEFT_VERSION_TEXT));
	put(root, "command", json_string(call->command));
	put(root, "scenario", json_string(call->scenario.name));
	put(root, "depth", json_string(depth));
	return root;
}

static void end(FILE *to, json_t *root)
{
	json_dumpf(root, to, JSON_ENSURE_ASCII | JSON_INDENT(2));
	fputc('\n', to);
	json_decref(root);
}

void depth_full_json(FILE *to, const struct call *call, const struct depth_full *depth)
{
	json_t *root = begin(call, "full");
	put(root, "model", times_of(&depth->model));
	put(root, "model_own_sends", times_of(&depth->own));
	put(root, "full", full_of(depth));
	put(root, "outside", depth_outside_json(&depth->world, depth->longer_ps));
	end(to, root);
}

void depth_all_json(FILE *to, const struct call *call, const struct depth_all *depth)
{
	json_t *root = begin(call, "all"), *sample = times_of(&depth->sample.run.times);
	put(sample, "exposed_error_ps", json_integer(depth->sample.run.error_ps));
	put_count(sample, "packets", depth->sample.run.packets);
	put(root, "model", times_of(&depth->full.model));
	put(root, "model_own_sends", times_of(&depth->full.own));
	put(root, "sample", sample);
	put(root, "full", full_of(&depth->full));
	put(root, "outside", depth_outside_json(&depth->full.world, depth->full.longer_ps));
	end(to, root);
}
