// SPDX-License-Identifier: Apache-2.0
// Which word a misspelt one was meant to be.

#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/near_word.h>

static const char *meant(const char *asked)
{
	static const char *const words[] = {"ring", "tree", "all_reduce", "all_gather", "a", "ce"};
	static struct near_word near_word;
	near_word = near_word_of(asked);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		near_word_see(&near_word, words[i]);
	return near_word.found;
}

static void the_nearest_of_few_edits_is_meant(void **)
{
	assert_string_equal(meant("rng"), "ring");
	assert_string_equal(meant("alreduce"), "all_reduce");
	assert_string_equal(meant("all_gahter"), "all_gather");
	assert_string_equal(meant("tere"), "tree");
	assert_string_equal(meant("TREE"), "tree");
}

static void what_is_too_far_means_nothing(void **)
{
	assert_string_equal(meant("rg"), "");	// one edit of two letters is another word
	assert_string_equal(meant("trio"), ""); // two of four
	assert_string_equal(meant("allr"), "");
	assert_string_equal(meant("b"), "");
	assert_string_equal(meant(""), "");
}

static void a_word_is_appended_as_far_as_it_fits(void **)
{
	struct near_word near_word = near_word_of("rng");
	char text[32] = "no rng", small[14] = "no rng";
	assert_false(near_word_append(&near_word, text, sizeof(text)));
	assert_string_equal(text, "no rng");
	near_word_see(&near_word, "ring");
	assert_true(near_word_append(&near_word, text, sizeof(text)));
	assert_string_equal(text, "no rng; did you mean ring?");
	near_word_append(&near_word, small, sizeof(small));
	assert_string_equal(small, "no rng; did y");
}

static void long_words_are_not_compared(void **)
{
	char longer[NEAR_WORD_BYTES + 1];
	memset(longer, 'a', NEAR_WORD_BYTES);
	longer[NEAR_WORD_BYTES] = '\0';
	assert_string_equal(meant(longer), "");
	struct near_word near_word = near_word_of("aaa");
	near_word_see(&near_word, longer);
	assert_string_equal(near_word.found, "");
}
