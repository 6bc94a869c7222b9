// SPDX-License-Identifier: Apache-2.0
// Tests of result.json: its figures, its nulls, and that docs/result.md lists exactly its fields.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
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

static void figures_are_exact_and_in_base_units(void **state)
{
	(void)state;
	struct fake *fake = fake_ring();
	json_t *root = json_of(fake);
	assert_int_equal(number_at(root, "schema"), 1);
	assert_string_equal(text_at(root, "run.digest"), "0123456789abcdef");
	assert_string_equal(text_at(root, "scenario.seed"), "18446744073709551615");
	assert_true(json_is_false(at(root, "run.partial")));
	assert_int_equal(number_at(root, "goodput.traffic_ps"), 40 * PS_PER_MS);
	assert_true(json_real_value(at(root, "goodput.total_bps")) == 8e11);
	assert_int_equal(number_at(root, "collectives.0.time_ps"), 20 * PS_PER_MS);
	assert_int_equal(number_at(root, "collectives.0.steps_all"), 30);
	assert_int_equal(number_at(root, "collectives.0.busbw_bytes_per_s"), 93750000000);
	assert_true(json_real_value(at(root, "collectives.0.busbw_share")) == 0.75);
	assert_string_equal(text_at(root, "collectives.1.kind"), "all_gather");
	assert_string_equal(text_at(root, "messages.1.pair"), "same_t0");
	assert_int_equal(number_at(root, "messages.1.count"), 200);
	assert_int_equal(number_at(root, "messages.1.min_ns"), 10000);
	assert_int_equal(number_at(root, "messages.1.max_ns"), 29900);
	assert_int_equal(number_at(root, "congestion.trimmed_core"), 1000);
	assert_string_equal(text_at(root, "congestion.share_quality"), "measured");
	assert_true(json_real_value(at(root, "congestion.marked_share")) == 0.025);
	assert_int_equal(number_at(root, "drops.0.switches"), 40);
	assert_int_equal(number_at(root, "drops.5.hosts"), 3);
	assert_int_equal(number_at(root, "conservation.dropped"), 100);
	assert_true(json_is_true(at(root, "conservation.holds")));
	assert_int_equal(json_array_size(at(root, "inputs")), 3);
	assert_string_equal(text_at(root, "inputs.2.origin"), "calibrated");
	json_decref(root);
	fake_free(fake);
}

static void a_sample_gives_no_extreme_and_no_thin_quantile(void **state)
{
	(void)state;
	struct fake *fake = fake_sample();
	json_t *root = json_of(fake);
	assert_true(json_is_true(at(root, "plan.sampled")));
	assert_string_equal(text_at(root, "plan.not_run"), "pp");
	reason_is(root, "messages.0.p50_ns", "no messages");
	reason_is(root, "messages.1.p99_ns", "not valid in this sample"); // 200 messages
	assert_true(number_at(root, "messages.1.p50_ns") > 0);
	assert_true(number_at(root, "messages.2.p99_ns") > 0); // 20,000 messages
	reason_is(root, "messages.2.p999_ns", "not valid in this sample");
	reason_is(root, "messages.2.max_ns", "not valid in this sample");
	reason_is(root, "messages.2.min_ns", "not valid in this sample");
	reason_is(root, "congestion.queue_bytes_max", "not valid in this sample");
	reason_is(root, "planes.nic_max_to_mean", "not valid in this sample");
	reason_is(root, "planes.each.0.bytes_nic_max", "not valid in this sample");
	assert_string_equal(text_at(root, "congestion.share_quality"), "indication");
	assert_true(json_is_true(at(root, "collectives.0.extrapolated")));
	assert_int_equal(number_at(root, "collectives.0.time_error_ps"), PS_PER_MS / 4);
	assert_int_equal(number_at(root, "collectives.0.steps_all"), 510);
	assert_int_equal(number_at(root, "collectives.1.stands_for"), 7);
	json_decref(root);
	fake_free(fake);
}

static void a_partial_run_says_so_and_what_did_not_end_has_no_time(void **state)
{
	(void)state;
	struct fake *fake = fake_unfinished();
	json_t *root = json_of(fake);
	assert_true(json_is_true(at(root, "run.partial")));
	reason_is(root, "collectives.1.time_ps", "not finished");
	reason_is(root, "collectives.1.busbw_bytes_per_s", "not finished");
	reason_is(root, "collectives.1.busbw_share", "not finished");
	assert_int_equal(number_at(root, "collectives.0.time_ps"), 20 * PS_PER_MS);
	json_decref(root);
	fake_free(fake);
	fake = fake_flows();
	root = json_of(fake);
	assert_true(json_is_true(at(root, "run.partial")));
	assert_string_equal(text_at(root, "run.limit_option"), "limits.packets");
	assert_true(json_is_null(at(root, "plan")));
	assert_int_equal(number_at(root, "flows.max_ns"), 800000);
	assert_int_equal(number_at(root, "messages.0.above_range"), 1);
	assert_int_equal(number_at(root, "conservation.held"), 2);
	assert_int_equal(number_at(root, "conservation.not_sent"), 1);
	assert_true(json_is_true(at(root, "conservation.holds")));
	json_decref(root);
	fake_free(fake);
}

static void a_run_without_traffic_has_no_rate(void **state)
{
	(void)state;
	struct fake *fake = fake_silence();
	json_t *root = json_of(fake);
	reason_is(root, "goodput.total_bps", "no traffic");
	reason_is(root, "goodput.per_nic_bps", "no traffic");
	assert_true(json_is_null(at(root, "flows")));
	json_decref(root);
	fake_free(fake);
}

static void only_speed_differs_between_runs_of_one_scenario(void **state)
{
	(void)state;
	struct fake *fake = fake_ring();
	json_t *first = json_of(fake);
	fake->input.cpu_s = 7;
	fake->input.wall_s = 8;
	fake->input.memory_peak_bytes = 9;
	json_t *second = json_of(fake);
	assert_false(json_equal(first, second));
	json_object_del(first, "speed");
	json_object_del(second, "speed");
	assert_true(json_equal(first, second));
	json_decref(first);
	json_decref(second);
	fake_free(fake);
}

static void frames_pace_and_captures_have_their_objects(void **state)
{
	(void)state;
	struct fake *fake = fake_emulated();
	json_t *root = json_of(fake);
	assert_true(json_real_value(at(root, "pace.dilation")) == 86.2);
	assert_true(json_is_true(at(root, "pace.by_trial")));
	assert_int_equal(number_at(root, "pace.lanes"), 1);
	assert_int_equal(number_at(root, "pace.lateness.count"), 1000000);
	assert_int_equal(number_at(root, "pace.lateness.p50_ns"), 0);
	assert_int_equal(number_at(root, "pace.lateness.p99_ns"),
			 hist_quantile(&fake->lateness_ns, 990000));
	assert_int_equal(number_at(root, "pace.lateness.max_ns"), 5600000);
	assert_int_equal(number_at(root, "pace.gap.max_ns"), 7800000);
	assert_string_equal(text_at(root, "ports.name"), "net_ring");
	assert_int_equal(number_at(root, "ports.buffers"), 16384);
	assert_int_equal(number_at(root, "ports.frames_sent"), 5000000);
	assert_true(json_is_true(at(root, "ports.frames_agree")));
	assert_int_equal(number_at(root, "ports.payload_bytes_good"), 4000000000);
	assert_int_equal(number_at(root, "ports.payload_bytes_wrong"), 0);
	assert_int_equal(json_array_size(at(root, "ports.damaged")), 2);
	assert_string_equal(text_at(root, "ports.damaged.0.reason"), "bad ICRC");
	assert_int_equal(number_at(root, "ports.damaged.1.frames"), 2);
	assert_string_equal(text_at(root, "capture.pcap"), "out/ring.pcapng");
	assert_int_equal(number_at(root, "capture.frames_lost"), 3);
	json_decref(root);
	fake->input.ports.missed = 1;
	fake->world.plan.sample.is_on = true; // lateness is of the run, not of the job
	root = json_of(fake);
	assert_true(json_is_false(at(root, "ports.frames_agree")));
	assert_int_equal(number_at(root, "pace.lateness.max_ns"), 5600000);
	json_decref(root);
	fake_free(fake);
}

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

static void a_run_with_frames_says_what_hosts_saw(void **state)
{
	(void)state;
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

static void a_run_that_waits_for_no_clock_has_no_lateness(void **state)
{
	(void)state;
	struct fake *fake = fake_emulated();
	struct hist none;
	check(hist_init(&none, &fake->arena, 2, 1000) == 0);
	fake->input.pace.dilation_milli = 0;
	fake->input.pace.lateness_ns = &none;
	fake->input.taps.pcap = NULL;
	json_t *root = json_of(fake);
	assert_true(json_is_null(at(root, "pace.dilation")));
	assert_true(json_is_null(at(root, "pace.lateness")));
	assert_int_equal(number_at(root, "pace.gap.count"), 3000000);
	assert_true(json_is_null(at(root, "capture.pcap")));
	assert_string_equal(text_at(root, "capture.log"), "out/ring.csv");
	json_decref(root);
	fake_free(fake);
}

static void a_run_in_virtual_time_has_none_of_these_objects(void **state)
{
	(void)state;
	struct fake *fake = fake_ring();
	json_t *plain = json_of(fake);
	fake_free(fake);
	fake = fake_emulated();
	json_t *root = json_of(fake);
	const char *const keys[] = {"pace", "ports", "capture"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		assert_null(json_object_get(plain, keys[i]));
		assert_int_equal(json_object_del(root, keys[i]), 0);
	}
	assert_int_equal(json_object_del(root, "speed"), 0); // the arena of this one holds more
	assert_int_equal(json_object_del(plain, "speed"), 0);
	assert_true(json_equal(plain, root));
	json_decref(plain);
	json_decref(root);
	fake_free(fake);
}

static void a_stream_that_takes_nothing_is_refused(void **state)
{
	(void)state;
	struct fake *fake = fake_ring();
	FILE *full = fopen("/dev/full", "w");
	if (full == NULL) {
		fake_free(fake);
		print_message("skipped: this system has no /dev/full\n");
		skip();
	}
	assert_int_equal(report_json(full, &fake->input), -ENOSPC);
	fclose(full);
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
	"'began_within_ns': null, 'measured': {'round_trip_ps': 1, 'lateness_p999_ps': 1, "
	"'base_rtt_ps': 1, 'hole_age_ps': 1, 'rto_ps': 1, 'frames_drained': 0}, 'each': [{"
	"'host': 0, 'end': 'done', 'began_ps': 0, 'end_ps': 1, 'lateness_p999_ps': 1, "
	"'stalls': 0, 'work_done': 1, 'work_total': 1, 'messages_sent': 1, "
	"'messages_received': 0, 'data_packets': 1, 'resent': 0, 'duplicates': 0, "
	"'payload_bytes_good': 0, 'payload_bytes_wrong': 0, 'frames_sent': 1, "
	"'frames_received': 1, 'frames_lost': 0, 'frames_dropped': 0, 'frames_strange': 0, "
	"'frames_faulted': 0, 'links_lost': 0, 'links_back': 0, 'generated_elements': 0, "
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
static void the_document_lists_the_fields_and_no_others(void **state)
{
	(void)state;
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

static void a_program_says_what_it_sent_and_when_it_ended(void **)
{
	struct fake *fake = fake_program();
	json_t *root = json_of(fake);
	assert_int_equal(number_at(root, "program.ranks"), 3);
	assert_int_equal(number_at(root, "program.operations"), 5);
	assert_int_equal(number_at(root, "program.computations"), 1);
	assert_int_equal(number_at(root, "program.messages"), 2);
	assert_int_equal(number_at(root, "program.dependencies"), 1);
	assert_int_equal(number_at(root, "program.fabric_messages"), 1);
	assert_int_equal(number_at(root, "program.fabric_bytes"), 300);
	assert_int_equal(number_at(root, "program.scaleup_messages"), 1);
	assert_int_equal(number_at(root, "program.scaleup_bytes"), 20);
	assert_int_equal(number_at(root, "program.end_ps"), 4 * PS_PER_US);
	assert_int_equal(number_at(root, "goodput.traffic_ps"), 4 * PS_PER_US);
	assert_int_equal(number_at(root, "goodput.nics_sending"), 1);
	assert_int_equal(number_at(root, "goodput.nics_receiving"), 1);
	json_decref(root);
	fake->input.is_partial = true;
	root = json_of(fake);
	assert_true(json_is_null(at(root, "program.end_ps")));
	json_decref(root);
	fake_free(fake);
}

static void a_run_with_pfc_says_who_was_paused(void **state)
{
	(void)state;
	struct fake *fake = fake_paused();
	json_t *root = json_of(fake);
	assert_int_equal(number_at(root, "buffer.used_max_bytes"), 800000);
	assert_true(json_real_value(at(root, "buffer.alpha")) == 0.5);
	assert_true(json_is_null(at(root, "pfc.xoff_bytes"))); // it moves
	fake->world.fabric.buffer.bytes = 0;
	json_decref(root);
	root = json_of(fake);
	assert_null(json_object_get(root, "buffer"));
	assert_int_equal(number_at(root, "pfc.xoff_bytes"), 100000);
	assert_int_equal(number_at(root, "pfc.pauses_sent"), 70);
	assert_int_equal(number_at(root, "pfc.pauses_to_nics"), 30);
	assert_int_equal(number_at(root, "pfc.pauses_to_switches"), 40);
	assert_int_equal(number_at(root, "pfc.switch_paused_ps"), 5 * PS_PER_MS);
	assert_int_equal(number_at(root, "pfc.headroom_drops"), 5);
	assert_int_equal(number_at(root, "pfc.paused_cables"), 3);
	assert_string_equal(text_at(root, "pfc.cables.1.name"), "nic 0 plane 0 > t0 0");
	assert_int_equal(number_at(root, "pfc.cables.0.paused_ps"), 4 * PS_PER_MS);
	assert_int_equal(number_at(root, "pfc.deadlock.ports"), 2);
	assert_string_equal(text_at(root, "pfc.deadlock.cables.1"), "nic 1 plane 0 > t0 0");
	assert_true(json_is_true(at(root, "conservation.holds"))); // frames are counted, too
	json_decref(root);
	fake_free(fake);
	fake = fake_ring();
	root = json_of(fake);
	assert_null(json_object_get(root, "pfc"));
	json_decref(root);
	fake_free(fake);
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

static void a_reason_stands_beside_a_null_and_nowhere_else(void **state)
{
	(void)state;
	for (size_t i = 0; i < FAKE_COUNT; i++) {
		struct fake *fake = fakes[i]();
		json_t *root = json_of(fake);
		reasons_match(root);
		json_decref(root);
		fake_free(fake);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_exact_and_in_base_units),
		cmocka_unit_test(a_sample_gives_no_extreme_and_no_thin_quantile),
		cmocka_unit_test(a_partial_run_says_so_and_what_did_not_end_has_no_time),
		cmocka_unit_test(a_run_without_traffic_has_no_rate),
		cmocka_unit_test(only_speed_differs_between_runs_of_one_scenario),
		cmocka_unit_test(frames_pace_and_captures_have_their_objects),
		cmocka_unit_test(a_run_with_frames_says_what_hosts_saw),
		cmocka_unit_test(a_run_that_waits_for_no_clock_has_no_lateness),
		cmocka_unit_test(a_run_in_virtual_time_has_none_of_these_objects),
		cmocka_unit_test(a_stream_that_takes_nothing_is_refused),
		cmocka_unit_test(a_program_says_what_it_sent_and_when_it_ended),
		cmocka_unit_test(a_run_with_pfc_says_who_was_paused),
		cmocka_unit_test(the_document_lists_the_fields_and_no_others),
		cmocka_unit_test(a_reason_stands_beside_a_null_and_nowhere_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
