// SPDX-License-Identifier: Apache-2.0

#include <weft/core/near_word.h>

#include <string.h>

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t least = a < b ? a : b;
	return least < c ? least : c;
}

static char small(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

// Three rows of the table of edits: this one, and those of one and of two letters less of `a`.
uint32_t near_word_edits(const char *a, const char *b)
{
	uint32_t rows[3][NEAR_WORD_BYTES + 1];
	uint32_t columns = (uint32_t)strlen(b), i = 0;
	for (uint32_t j = 0; j <= columns; j++)
		rows[0][j] = j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		uint32_t *row = rows[i % 3], *above = rows[(i - 1) % 3],
			 *higher = rows[(i + 1) % 3];
		row[0] = i;
		for (uint32_t j = 1; j <= columns; j++) {
			uint32_t replaced = above[j - 1] + (small(a[i - 1]) != small(b[j - 1]));
			row[j] = min3(above[j] + 1, row[j - 1] + 1, replaced);
			bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1];
			if (is_swap && higher[j - 2] + 1 < row[j])
				row[j] = higher[j - 2] + 1;
		}
	}
	return rows[(i - 1) % 3][columns];
}

struct near_word near_word_of(const char *asked)
{
	size_t length = strlen(asked);
	uint32_t most = length < 9 ? 1 + (uint32_t)length / 3 : 3;
	return (struct near_word){.asked = asked, .least = length < NEAR_WORD_BYTES ? most : 0};
}

void near_word_see(struct near_word *near_word, const char *word)
{
	size_t length = strlen(word);
	if (near_word->least == 0 || length >= NEAR_WORD_BYTES)
		return;
	uint32_t edits = near_word_edits(near_word->asked, word);
	if (edits < near_word->least && edits < length && edits < strlen(near_word->asked)) {
		near_word->least = edits;
		memcpy(near_word->found, word, length + 1);
	}
}

static void append(char *text, size_t bytes, const char *more)
{
	size_t used = strlen(text), length = strlen(more), room = bytes - used - 1;
	length = length < room ? length : room;
	memcpy(text + used, more, length);
	text[used + length] = '\0';
}

bool near_word_append(const struct near_word *near_word, char *text, size_t bytes)
{
	if (near_word->found[0] == '\0')
		return false;
	append(text, bytes, "; did you mean ");
	append(text, bytes, near_word->found);
	append(text, bytes, "?");
	return true;
}
