// SPDX-License-Identifier: Apache-2.0
// Tests of faults as a result lists them.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result_runs.h"
#include "sections/sections.h"

static const char *text_at(const json_t *list, size_t index, const char *key)
{
	return json_string_value(json_object_get(json_array_get(list, index), key));
}

static int64_t number_at(const json_t *list, size_t index, const char *key)
{
	const json_t *value = json_object_get(json_array_get(list, index), key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void faults_say_what_where_and_when(void **)
{
	struct fake *fake = fake_flows();
	json_t *root = json_object();
	faults_json(root, &fake->input);
	const json_t *list = json_object_get(root, "faults");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(text_at(list, 0, "kind"), "loss");
	assert_string_equal(text_at(list, 0, "at"), "nic 3 plane 1");
	assert_int_equal(number_at(list, 0, "from_ps"), PS_PER_US);
	assert_int_equal(number_at(list, 0, "until_ps"), 2 * PS_PER_US);
	assert_string_equal(text_at(list, 0, "text"), "way up, probability 1.000 %");
	assert_string_equal(text_at(list, 1, "kind"), "link_down");
	assert_string_equal(text_at(list, 1, "at"), "t0 1 up 5 plane 0");
	assert_true(json_is_null(json_object_get(json_array_get(list, 1), "until_ps")));
	assert_string_equal(text_at(list, 1, "text"), "");
	json_decref(root);
	fake_free(fake);
}

static void a_run_without_faults_lists_none(void **)
{
	struct fake *fake = fake_ring();
	json_t *root = json_object();
	faults_json(root, &fake->input);
	assert_true(json_is_array(json_object_get(root, "faults")));
	assert_int_equal(json_array_size(json_object_get(root, "faults")), 0);
	json_decref(root);
	fake_free(fake);
}

static void places_are_told_as_a_scenario_tells_them(void **)
{
	static const struct {
		struct link_location at;
		const char *text;
	} cases[] = {
		{{.where = LINK_AT_ALL}, "all"},
		{{LINK_AT_PLANE, .plane = 2}, "plane 2"},
		{{LINK_AT_NIC_WHOLE, .index = 7}, "nic 7"},
		{{LINK_AT_HOST, .index = 4}, "host 4"},
		{{LINK_AT_T0, .index = 1, .plane = 3}, "t0 1 plane 3"},
		{{LINK_AT_T1, .index = 2, .plane = PLANE_EACH}, "t1 2"},
		{{LINK_AT_T1_TRUNK, .index = 2, .plane = 1, .port = 9}, "t1 2 up 9 plane 1"},
		{{LINK_AT_NODE, .plane = PLANE_EACH, .name = "leaf0"}, "leaf0"},
		{{LINK_AT_EDGE, .plane = 1, .name = "leaf0-spine1"}, "leaf0-spine1 plane 1"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[FAULT_PLACE_BYTES];
		assert_string_equal(fault_place_text(text, &cases[i].at), cases[i].text);
	}
}
