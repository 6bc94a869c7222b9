// SPDX-License-Identifier: Apache-2.0
// That docs/result.md lists exactly the fields of result.json, what hosts saw and told among them,
// and that a reason stands beside each null.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include <weft/diagnose/diagnose.h>

#define RIG_DIAGNOSIS (&diagnose_section)
#include "../result/result_at.h"

#define FIELDS_MAX 1024

static struct fake *(*const fakes[])(void) = {
	fake_ring,	 fake_sample,  fake_flows,     fake_watched, fake_unharmed,
	fake_unfinished, fake_silence, fake_emulated,  fake_unpaced, fake_paused,
	fake_program,	 fake_jobs,    fake_generated, fake_lost,    fake_culprit,
	fake_skipped,	 fake_timed,   fake_crowd,     fake_stepped, fake_paths};
#define FAKE_COUNT (sizeof(fakes) / sizeof(*fakes))

// Of two hosts the first sent five frames to the other, over two paths; none came.
static void pair_of(const void *context, uint32_t host, uint32_t other, struct seen_pair *ret)
{
	(void)context;
	(void)other;
	*ret = (struct seen_pair){.frames_left = host == 0 ? 5 : 0, .paths_left = 2};
}

static void see_two_hosts(struct fake *fake)
{
	fake->input.fidelity = (struct report_fidelity){
		.conclude = "all holds", .hosts = 2, .own = FIDELITY_EVERY, .pair = pair_of};
}

static void a_run_with_frames_says_what_hosts_saw(void **)
{
	struct fake *fake = fake_emulated();
	see_two_hosts(fake);
	json_t *root = json_of(fake);
	assert_string_equal(text_at(root, "fidelity.conclude"), "all holds");
	assert_int_equal(json_array_size(at(root, "fidelity.ways")), 1);
	assert_int_equal(number_at(root, "fidelity.ways.0.from"), 0);
	assert_int_equal(number_at(root, "fidelity.ways.0.frames_left"), 5);
	assert_int_equal(number_at(root, "fidelity.ways.0.paths_left"), 2);
	assert_int_equal(number_at(root, "fidelity.ways.0.frames_came"), 0);
	assert_true(json_is_null(at(root, "fidelity.ways.0.hops_least")));
	json_decref(root);
	fake_free(fake);
}

// ---------------------------------------------------------------- the list of fields

struct field {
	char path[128];
	bool has_null; // seen null, or documented as such
};

struct fields {
	struct field list[FIELDS_MAX];
	size_t count;
};

static void field_add(struct fields *fields, const char *path, bool has_null)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (strcmp(fields->list[i].path, path) == 0) {
			fields->list[i].has_null |= has_null;
			return;
		}
	}
	assert_true(fields->count < FIELDS_MAX);
	struct field *field = &fields->list[fields->count++];
	snprintf(field->path, sizeof(field->path), "%s", path);
	field->has_null = has_null;
}

static const struct field *field_find(const struct fields *fields, const char *path)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (strcmp(fields->list[i].path, path) == 0)
			return &fields->list[i];
	}
	return NULL;
}

static void fields_emitted(struct fields *fields, const json_t *value, const char *path)
{
	char below[128];
	if (json_is_array(value)) {
		snprintf(below, sizeof(below), "%s[]", path);
		for (size_t i = 0; i < json_array_size(value); i++)
			fields_emitted(fields, json_array_get(value, i), below);
		return;
	}
	if (!json_is_object(value)) {
		field_add(fields, path, json_is_null(value));
		return;
	}
	const char *key;
	json_t *child;
	json_object_foreach((json_t *)value, key, child)
	{
		snprintf(below, sizeof(below), "%s%s%s", path, path[0] != '\0' ? "." : "", key);
		fields_emitted(fields, child, below);
	}
}

// Rows "| `path` | type | ...": the type says whether null may stand there.
static void fields_documented(struct fields *fields)
{
	char path[1024], line[1024], name[128], type[64];
	const char *source = getenv("WEFT_SOURCE");
	snprintf(path, sizeof(path), "%s/docs/result.md", source != NULL ? source : ".");
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	bool is_list = false;
	while (fgets(line, sizeof(line), file) != NULL) {
		is_list |= strncmp(line, "## Fields", 9) == 0;
		if (is_list && sscanf(line, "| `%127[^`]` | %63[^|]|", name, type) == 2) {
			assert_null(field_find(fields, name)); // listed once
			field_add(fields, name, strstr(type, "null") != NULL);
		}
	}
	fclose(file);
}

// What weft host puts there: of both kinds, since clocks may not have been read, nor all have told.
static const char wall_text[] =
	"{'hosts': 2, 'hosts_told': 1, 'frames_unseen': null, 'clock_error_ns': null, "
	"'began_within_ns': null, 'measured': {'round_trip_ps': 1, 'turn_ps': 1, "
	"'lateness_p999_ps': 1, 'base_rtt_ps': 1, 'hole_age_ps': 1, 'rto_ps': 1, 'rto_is_short': "
	"false, "
	"'frames_drained': 0}, 'each': [{'host': 0, 'end': 'done', 'began_ps': 0, 'end_ps': 1, "
	"'lateness_p999_ps': 1, 'stalls': 0, 'work_done': 1, 'work_total': 1, 'messages_sent': 1, "
	"'messages_received': 0, 'data_packets': 1, 'resent': 0, 'duplicates': 0, "
	"'payload_bytes_good': 0, 'payload_bytes_wrong': 0, 'frames_sent': 1, "
	"'frames_received': 1, 'frames_lost': 0, 'frames_dropped': 0, 'frames_strange': 0, "
	"'frames_faulted': 0, 'links_lost': 0, 'links_back': 0, 'triggers_told': 0, "
	"'triggers_heard': 0, 'generated_elements': 0, "
	"'generated_wrong': 0}]}";

// Two hosts in wall time, of which one told.
static struct fake *fake_walled(void)
{
	char text[sizeof(wall_text)];
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = wall_text[i] == '\'' ? '"' : wall_text[i];
	struct fake *fake = fakes[0]();
	fake->input.wall = json_loads(text, 0, NULL);
	assert_non_null(fake->input.wall);
	return fake;
}

static bool is_reason(const char *path)
{
	size_t length = strlen(path);
	return length > 7 && strcmp(path + length - 7, "_reason") == 0;
}

// Any two lists that differ are named, so that the one who adds a field knows what to do.
static void the_document_lists_the_fields_and_no_others(void **)
{
	static struct fields emitted, documented;
	int wrong = 0;
	fields_documented(&documented);
	for (size_t i = 0; i < FAKE_COUNT; i++) {
		struct fake *fake = fakes[i]();
		if (fakes[i] == fake_emulated)
			see_two_hosts(fake);
		fake->world.fabric.ecn_on = i > 0; // without marks there is a warning
		if (i == 0) { // what was taken for auto is that of a world that was built
			struct cc_config *cc = &fake->world.transport.cc;
			cc->rate_bps = 100000000000;
			cc->base_rtt_ps = 8 * PS_PER_US;
			cc->mtu_bytes = 4258;
			fake->world.window_ps = PS_PER_US;
		}
		json_t *root = json_of(fake);
		fields_emitted(&emitted, root, "");
		json_decref(root);
		fake_free(fake);
	}
	struct fake *walled = fake_walled();
	json_t *wall = walled->input.wall, *root = json_of(walled);
	fields_emitted(&emitted, root, "");
	json_decref(root);
	json_decref(wall);
	fake_free(walled);
	for (size_t i = 0; i < emitted.count; i++) {
		const struct field *field = &emitted.list[i];
		const struct field *row = field_find(&documented, field->path);
		if (is_reason(field->path) || (row != NULL && (row->has_null || !field->has_null)))
			continue;
		print_error("docs/result.md lacks `%s`%s\n", field->path,
			    row != NULL ? " or null" : "");
		wrong++;
	}
	for (size_t i = 0; i < documented.count; i++) {
		if (field_find(&emitted, documented.list[i].path) != NULL)
			continue;
		print_error("docs/result.md lists `%s`, which no result has\n",
			    documented.list[i].path);
		wrong++;
	}
	assert_true(documented.count > 100);
	assert_int_equal(wrong, 0);
}

// Walks a tree: a reason stands beside a null and nowhere else.
static void reasons_match(const json_t *value)
{
	const char *key;
	json_t *child;
	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			reasons_match(json_array_get(value, i));
	}
	json_object_foreach((json_t *)value, key, child)
	{
		reasons_match(child);
		if (!is_reason(key))
			continue;
		char base[128];
		snprintf(base, sizeof(base), "%.*s", (int)strlen(key) - 7, key);
		assert_true(json_is_null(json_object_get(value, base)));
		assert_true(json_is_string(child));
	}
}

static void a_reason_stands_beside_a_null_and_nowhere_else(void **)
{
	for (size_t i = 0; i < FAKE_COUNT; i++) {
		struct fake *fake = fakes[i]();
		json_t *root = json_of(fake);
		reasons_match(root);
		json_decref(root);
		fake_free(fake);
	}
}
