// SPDX-License-Identifier: Apache-2.0
// The keys of job files, and the words of those that plan_file.c asks for.
#pragma once

#include "scenario_reader.h"

enum reduction { MEGATRON, DDP, ZERO_1, ZERO_2, ZERO_3, FSDP, LOCAL };
enum sync { SYNC_AUTO, SYNC_LAST, SYNC_EACH };
enum reshard { RESHARD_AUTO, RESHARD_TRUE, RESHARD_FALSE };

extern const struct key_table plan_file_table;
extern const char *const plan_precision_words[]; // as site.precision counts
