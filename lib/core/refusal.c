// SPDX-License-Identifier: Apache-2.0
// Texts of refusals without printf, so that pure rooms can say why they refuse.

#include <weft/core/refusal.h>

#include <stddef.h>

struct text {
	char *at, *end;
};

static void put(struct text *text, char c)
{
	if (text->at < text->end)
		*text->at++ = c;
}

static void put_number(struct text *text, int64_t value)
{
	char digits[20];
	int count = 0;
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	if (value < 0)
		put(text, '-');
	do {
		digits[count++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest != 0);
	while (count > 0)
		put(text, digits[--count]);
}

int refusal_fill(struct refusal *refusal, int code, const char *text, uint32_t count,
		 const int64_t *values)
{
	if (refusal == NULL)
		return code;
	uint32_t used = 0;
	struct text out = {refusal->text, refusal->text + sizeof(refusal->text) - 1};
	for (; *text != '\0'; text++) {
		if (*text == '%' && used < count)
			put_number(&out, values[used++]);
		else
			put(&out, *text);
	}
	*out.at = '\0';
	return code;
}

void refusal_name(struct refusal *refusal, const char *path)
{
	struct text out = {refusal->file, refusal->file + sizeof(refusal->file) - 1};
	while (*path != '\0')
		put(&out, *path++);
	*out.at = '\0';
}

int refuse_file(struct refusal *refusal, int code, const char *path, const char *text)
{
	if (refusal == NULL)
		return code;
	refusal_name(refusal, path);
	refusal->line = refusal->column = 0;
	return refusal_fill(refusal, code, text, 0, NULL);
}
