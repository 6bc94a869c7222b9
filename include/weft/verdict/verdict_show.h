// SPDX-License-Identifier: Apache-2.0
// A finding as people read it, the same in each form of a verdict.
#pragma once

#include <weft/verdict/report_verdict.h>

#include <weft/result/number.h>

// What was measured, or the limit, in the words of the bound: a time, rate or size with its unit, a
// share in % where the bound is one. `value` is in s, bit/s or bytes. Returns ret's characters.
const char *verdict_figure(struct text *ret, double value, enum dimension dimension,
			   const struct bound *bound);
