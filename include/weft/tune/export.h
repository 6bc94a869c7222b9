// SPDX-License-Identifier: Apache-2.0
// What a study recommends, in the keys and units of NICs, switches and NCCL; and back.
#pragma once

#include <weft/tune/tune.h>

#ifdef __cplusplus
extern "C" {
#endif

// Writes the recommended setting for one scenario of the suite as `format` has it, with the
// evidence in comments: what it buys, what rounding costs, what had to be rounded, what has no key
// there. `is_round`: with the digits that are taken. -EINVAL with the
// reason: no such format, nothing recommended, no knob with a key there.
int tune_export(FILE *to, const struct tune_plan *plan, const struct tune_result *result,
		const char *format, uint32_t scenario, bool is_round, const char *version,
		struct refusal *refusal);

// Reads what tune_export() wrote, and prints the keys and values of a scenario, one a line. -EINVAL
// with the line and the reason.
int tune_export_read(FILE *to, const char *format, const char *path, char *text,
		     struct refusal *refusal);

#ifdef __cplusplus
}
#endif
