// SPDX-License-Identifier: Apache-2.0
// Refusals: each '%' takes the next value, one without a value stays, and a long text is cut.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/refusal.h>

static void values_take_the_places_of_percent_signs(void **state)
{
	struct refusal refusal = {0};
	assert_int_equal(refuse(&refusal, -EINVAL, "no memory"), -EINVAL);
	assert_string_equal(refusal.text, "no memory");
	refuse(&refusal, -EIO, "% of %, % and %", 1, -2, INT64_MIN, INT64_MAX);
	assert_string_equal(refusal.text, "1 of -2, -9223372036854775808 and 9223372036854775807");
	uint32_t read = 0;
	refuse(&refusal, -EIO, "% %", ++read);
	assert_string_equal(refusal.text, "1 %");
	assert_int_equal(refuse(NULL, -EIO, "%", 1), -EIO);
}

static void a_long_text_is_cut(void **state)
{
	char text[2 * REFUSAL_TEXT_BYTES];
	memset(text, '%', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct refusal refusal;
	refuse(&refusal, -EINVAL, text, 12345);
	assert_int_equal(strlen(refusal.text), REFUSAL_TEXT_BYTES - 1);
}
