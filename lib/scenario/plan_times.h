// SPDX-License-Identifier: Apache-2.0
// The part of a job's file that says what was measured of its layers.
#pragma once

#include <weft/scenario/plan_file.h>

#include "scenario_reader.h"

// Words of times.measured[].part.
extern const char *const plan_time_words[];

// Reads the list times.measured, if it was given. -EINVAL with a place.
int plan_times_read(struct reader *reader, yaml_document_t *document);
