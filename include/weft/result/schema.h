// SPDX-License-Identifier: Apache-2.0
// A JSON text held against a JSON Schema, of which there is as much as weft's
// (lib/result/schemas.py) use: type, properties, required, additionalProperties, items, const,
// minimum. (Debian has no library for C.)
#pragma once

#include <jansson.h>
#include <stdbool.h>

extern const char schema_result[], schema_study[],
	schema_book[]; // made from docs at build time

// What is wrong first, and where: "messages[2].count", "is missing".
struct schema_fault {
	char path[160];
	char text[200];
};

// Whether `value` is as `schema` says; else *ret says why not.
bool schema_holds(struct schema_fault *ret, const json_t *schema, const json_t *value);
