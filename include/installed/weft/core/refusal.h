// SPDX-License-Identifier: Apache-2.0
// A refusal says why an input, a limit or a device was not accepted. The first function that knows
// the reason fills it; everybody above passes `-errno` on; the app prints it once. Formatting lives
// in the impure rooms and in scenario reading.
#pragma once

#include <stdint.h>

#define REFUSAL_TEXT_BYTES 512

struct refusal {
	char file[256];	 // where, as the user named it; empty when no file is concerned
	uint32_t line;	 // 1-based; 0 when unknown
	uint32_t column; // 1-based; 0 when unknown
	char text[REFUSAL_TEXT_BYTES]; // one sentence: what is wrong, and what would be right
};

#ifdef __cplusplus
extern "C" {
#endif

// What `refuse` calls: `count` values at `values`.
int refusal_fill(struct refusal *refusal, int code, const char *text, uint32_t count,
		 const int64_t *values);

// Names the file, or the option, that a refusal is about: `path`, cut to what there is room for.
void refusal_name(struct refusal *refusal, const char *path);

// Names it, without a line, and sets the text. Returns `code`.
int refuse_file(struct refusal *refusal, int code, const char *path, const char *text);

#ifdef __cplusplus
}

template <typename... Value>
int refuse(struct refusal *refusal, int code, const char *text, Value... value)
{
	const int64_t values[] = {0, (int64_t)value...};
	return refusal_fill(refusal, code, text, sizeof...(value), values + 1);
}
#else

// refuse(refusal, code, text, value...): sets the text of `refusal`, unless that is NULL, to `text`
// with every '%' replaced by the next of the values in decimal; a '%' without a value stays. Pure
// (no printf). Returns `code` (a negative errno), so that a caller can write `return refuse(...)`.
#define refuse(refusal, code, text, ...) \
	refusal_fill(refusal, code, text, \
		     sizeof((int64_t[]){0, ##__VA_ARGS__}) / sizeof(int64_t) - 1, \
		     (const int64_t[]){0, ##__VA_ARGS__} + 1)
#endif
