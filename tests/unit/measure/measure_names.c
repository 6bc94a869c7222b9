// SPDX-License-Identifier: Apache-2.0
// Tests of the published words: every value has one, no two are the same.

#include <cmocka.h>

#include <string.h>

#include <weft/measure/measure.h>

static void words_are_plain(const char *word)
{
	assert_true(strlen(word) > 0);
	assert_string_not_equal(word, "unknown");
	assert_int_equal(strspn(word, "abcdefghijklmnopqrstuvwxyz_0123456789"), strlen(word));
}

static void every_drop_reason_has_its_own_word(void **)
{
	for (enum drop_reason a = 0; a < DROP_REASON_COUNT; a++) {
		words_are_plain(drop_reason_name(a));
		for (enum drop_reason b = 0; b < a; b++)
			assert_string_not_equal(drop_reason_name(a), drop_reason_name(b));
	}
	assert_string_equal(drop_reason_name(DROP_QUEUE_FULL), "queue_full");
	assert_string_equal(drop_reason_name(DROP_UNKNOWN_QP), "unknown_qp");
}

static void every_pair_class_has_its_own_word(void **)
{
	assert_int_equal(PAIR_CLASS_COUNT, 3);
	assert_string_equal(pair_class_name(PAIR_SAME_RACK), "same_rack");
	assert_string_equal(pair_class_name(PAIR_SAME_T0), "same_t0");
	assert_string_equal(pair_class_name(PAIR_ACROSS_T1), "across_t1");
}

static void a_value_outside_the_list_is_unknown(void **)
{
	assert_string_equal(drop_reason_name(DROP_REASON_COUNT), "unknown");
	assert_string_equal(pair_class_name(PAIR_CLASS_COUNT), "unknown");
}
