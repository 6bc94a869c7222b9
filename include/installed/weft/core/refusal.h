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

// Sets the text of `refusal` to `text` with every '%' replaced by the next of up to three values in
// decimal. Pure (no printf). Returns `code` (a negative errno), so that a caller can write `return
// refuse(...)`.
int refuse(struct refusal *refusal, int code, const char *text, int64_t first, int64_t second,
	   int64_t third);

#ifdef __cplusplus
}
#endif
