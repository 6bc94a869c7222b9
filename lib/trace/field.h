// SPDX-License-Identifier: Apache-2.0
// Values of JSON that must be what they should be.
#pragma once

#include <jansson.h>

#include "set.h"

// Reads the whole text. NULL with line, column and reason in the refusal.
json_t *field_root(const struct trace_input *input);

// The same; a name that an object has twice is refused.
json_t *field_root_once(const struct trace_input *input);

// The list `name` of `object`, or NULL with a refusal.
const json_t *field_list(const struct trace_input *input, const json_t *object, const char *name);

// Reads the whole text, and each element of its list `name` by `take`, whose `place` counts from 1.
int field_each(struct trace_input *input, const char *name,
	       int (*take)(struct trace_input *input, const json_t *from, uint32_t place));

// The text `name` of `object`; "" where there is none.
const char *field_text(const json_t *object, const char *name);

// A whole number from 0 to `max`; -EINVAL naming record `place` and `name`, also when it is not
// there.
int field_number(const struct trace_input *input, uint32_t place, const json_t *value,
		 const char *name, int64_t max, uint64_t *ret);

// A number of microseconds as picoseconds; a value that is not there is 0.
int field_micros(const struct trace_input *input, uint32_t place, const json_t *value,
		 const char *name, ps_t *ret);

// Refuses record `place`: "record 3: `name` `what`".
int field_refuse(const struct trace_input *input, uint32_t place, const char *name,
		 const char *what);

// Whether what comes out of a gathering, or goes into a scattering, is one part for each member,
// and of an all-reduce as much comes out as goes in. `out`: elements, or NULL.
bool field_has_parts(const struct trace_node *node, uint64_t ranks, uint64_t in, const json_t *out);

// The bytes of one element that PyTorch calls `name` (Float, BFloat16, ...); 0 when unknown.
uint32_t field_type_bytes(const char *name);
