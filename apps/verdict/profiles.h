// SPDX-License-Identifier: Apache-2.0
// The shipped profiles.
#pragma once

#include <stdio.h>

#include <weft/core/refusal.h>

// A line for each: its name and its description. -errno with a reason when there is no folder of
// them, or one of them is no profile.
int profiles_list(FILE *to, struct refusal *refusal);
