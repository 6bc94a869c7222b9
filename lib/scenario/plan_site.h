// SPDX-License-Identifier: Apache-2.0
// The part of a job's file that says where it runs.
#pragma once

#include <weft/scenario/plan_file.h>

#include "scenario_reader.h"

// Words of times.device: none, and the names of the table, in its order.
extern const char *const plan_device_words[];

// What the file leaves to the device's row, and whether times come from it. -EINVAL with a place.
int plan_site_settle(struct reader *reader, struct plan_file *file);
