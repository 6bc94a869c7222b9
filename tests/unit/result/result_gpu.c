// SPDX-License-Identifier: Apache-2.0
// Gradients from generators in result.json and in the table. That docs/result.md lists the fields:
// json.c.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "result_events.h"

static json_t *gpu_of(const struct fake *fake)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	assert_int_equal(report_json(to, &fake->input), 0);
	fclose(to);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static int64_t number(const json_t *root, const char *key)
{
	const json_t *value = json_object_get(json_object_get(root, "gpu"), key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void figures_are_those_of_the_generators(void **)
{
	struct fake *fake = fake_generated();
	json_t *root = gpu_of(fake);
	assert_int_equal(number(root, "elements_wrong"), 2);
	assert_int_equal(number(root, "elements_checked"), 7340032);
	assert_int_equal(number(root, "release_late_p99_ns"), 17000);
	assert_int_equal(number(root, "heard_p99_ps"), 400000);
	assert_int_equal(number(root, "exposed_device_ps"), 92000000);
	assert_int_equal(number(root, "clock_offset_ns"), -77000);
	assert_int_equal(number(root, "clock_zero_ns"), 123456789);
	assert_int_equal(number(root, "barrier_ps"), 3000000);
	assert_int_equal(number(root, "exposed_host_ps"), 91000000);
	assert_int_equal(number(root, "exposed_model_ps"), 85000000);
	json_decref(root);
	fake_free(fake);
}

static void a_lost_generator_has_no_figures(void **)
{
	static const char *const keys[] = {"releases", "elements_wrong", "exposed_device_ps"};
	struct fake *fake = fake_lost();
	json_t *root = gpu_of(fake), *gpu = json_object_get(root, "gpu");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char reason[64];
		snprintf(reason, sizeof(reason), "%s_reason", keys[i]);
		assert_true(json_is_null(json_object_get(gpu, keys[i])));
		assert_string_equal(json_string_value(json_object_get(gpu, reason)),
				    "a generator did not come to its end");
	}
	assert_int_equal(number(root, "exposed_host_ps"), 91000000);
	json_decref(root);
	fake_free(fake);
}

static char *table_of(const struct fake *fake)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	report_table(to, &fake->input);
	fclose(to);
	return text;
}

static void the_table_says_what_is_wrong(void **)
{
	struct fake *fake = fake_generated();
	char *text = table_of(fake);
	assert_non_null(strstr(text, "Gradients from generators: 4 ranks, a device\n"));
	assert_non_null(strstr(text, "WRONG ELEMENTS: 2 are not what was made or summed\n"));
	assert_non_null(strstr(text,
			       "92.00 us at the device, 91.00 us at the host, 85.00 us by "
			       "the model\n"));
	free(text);
	fake_free(fake);
	fake = fake_lost();
	text = table_of(fake);
	assert_non_null(strstr(text, "a generator did not finish, and reported nothing\n"));
	assert_null(strstr(text, "elements checked"));
	free(text);
	fake_free(fake);
	fake = fake_emulated();
	text = table_of(fake);
	assert_null(strstr(text, "Gradients"));
	free(text);
	fake_free(fake);
}
