// SPDX-License-Identifier: Apache-2.0
// Whether a test shall do less because sanitizers make it ten times slower: the plain build does it
// all, and so does `tests/run sanitize`.
#pragma once

#include <stdbool.h>
#include <stdlib.h>

static bool is_sanitized(void)
{
	const char *sanitize = getenv("WEFT_SANITIZE");
	return sanitize != NULL && sanitize[0] != '\0' && getenv("WEFT_WHOLE") == NULL;
}
