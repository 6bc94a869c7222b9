// SPDX-License-Identifier: Apache-2.0
// What a folder holds already of an earlier call.
#pragma once

#include "acceptance.h"

// -EINVAL where the folder holds the book of another call (earlier.c) and there is no --force.
int earlier_check(struct acceptance *acceptance);

// Holds the run in the folder of case `home` against the case, by what the run's manifest says that
// it read: whoever moves folders may mix them up. -EINVAL where it is of another.
int earlier_check_run(struct acceptance *acceptance, const char *home,
		      const struct manifest *manifest);
