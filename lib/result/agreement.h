// SPDX-License-Identifier: Apache-2.0
// Figures of a result that must agree.
#pragma once

#include <weft/result/result.h>
#include <weft/result/schema.h>

// Whether they do; else *ret says where they do not. The fields are as their schema has them.
bool agreement_holds(struct schema_fault *ret, enum result_kind kind, const json_t *fields);

// What a study and a book say of themselves, against their runs and cases.
bool agreement_study(struct schema_fault *ret, const json_t *fields);
bool agreement_acceptance(struct schema_fault *ret, const json_t *fields);

// What follows from run.end, the runs, the cases.
bool agreement_is_partial(enum result_kind kind, const json_t *fields);
