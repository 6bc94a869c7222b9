// SPDX-License-Identifier: Apache-2.0
// A result of which a part was jumped over says so, and claims no more than a sample does.

#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

#include "result_runs.h"

static char *text_of(const struct fake *fake, bool is_json)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	assert_non_null(to);
	if (is_json)
		assert_int_equal(report_json(to, &fake->input), 0);
	else
		report_table(to, &fake->input);
	fclose(to);
	return text;
}

static void says(const char *text, const char *what)
{
	if (strstr(text, what) == NULL)
		fail_msg("it does not say '%s':\n%s", what, text);
}

static json_t *json_of(const struct fake *fake)
{
	char *text = text_of(fake, true);
	json_t *root = json_loads(text, 0, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static json_int_t number(const json_t *of, const char *key)
{
	const json_t *value = json_object_get(of, key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void the_table_says_what_did_not_run(void **)
{
	struct fake *fake = fake_skipped();
	char *text = text_of(fake, false);
	says(text,
	     "  skipped: 3 jumps (2 confirmed behind) over 480 ring steps, with them 1 whole "
	     "collectives;\n"
	     "  4,000,000 data packets in 39.00 ms that did not run, +- 200.0 us\n"
	     "  looked and did not jump: pace 4, fault 2\n");
	says(text, "18/30  20.00 ms +- 200.0 us");
	says(text,
	     "(payload received over the fabric, while traffic ran: 40.00 ms)\n  total 3.200 Tb/s");
	says(text, "not valid in this sample");
	free(text);
	fake_free(fake);
}

static void the_json_has_it_in_numbers(void **)
{
	struct fake *fake = fake_skipped();
	json_t *root = json_of(fake);
	const json_t *skip = json_object_get(root, "fast_forward");
	assert_true(json_real_value(json_object_get(skip, "tolerance")) == 0.02);
	assert_int_equal(number(skip, "jumps"), 3);
	assert_int_equal(number(skip, "confirmed"), 2);
	assert_int_equal(number(skip, "ring_steps"), 480);
	assert_int_equal(number(skip, "collectives"), 1);
	assert_int_equal(number(skip, "data_packets"), 4000000);
	assert_int_equal(number(skip, "payload_bytes"), 12000000000);
	assert_int_equal(number(skip, "time_ps"), 39 * PS_PER_MS);
	assert_int_equal(number(skip, "time_error_ps"), PS_PER_MS / 5);
	assert_int_equal(number(json_object_get(skip, "refused"), "pace"), 4);
	assert_int_equal(number(json_object_get(skip, "refused"), "short"), 0);
	const json_t *goodput = json_object_get(root, "goodput");
	assert_int_equal(number(goodput, "payload_bytes"), 16000000000); // 4 GB ran
	json_decref(root);
	fake_free(fake);
}

// Looking is not jumping: what ran whole is whole.
static void a_run_without_a_jump_is_no_sample(void **)
{
	struct fake *fake = fake_skipped();
	*fake->world.skipped = (struct world_fast_forward){.refused = {[FAST_FORWARD_JITTER] = 7}};
	fake->collectives[0].steps_skipped = 0;
	fake->collectives[0].whole_error_ps = 0;
	char *text = text_of(fake, false);
	says(text,
	     "  skipped: nothing, no state was steady\n"
	     "  looked and did not jump: jitter 7\n");
	says(text, "30/30  20.00 ms exact");
	assert_null(strstr(text, "not valid in this sample"));
	free(text);
	fake_free(fake);
	fake = fake_ring();
	json_t *root = json_of(fake);
	assert_null(json_object_get(root, "fast_forward"));
	json_decref(root);
	fake_free(fake);
}
