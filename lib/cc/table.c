// SPDX-License-Identifier: Apache-2.0
// The table of congestion control algorithms, from the rows of CC_ALL.
#include "algorithms.h"

#include <stddef.h>

#define ADDRESS(name) &cc_##name,
#define NAME(name) #name,

const struct cc_ops *const cc_all[] = {CC_ALL(ADDRESS) NULL};
const char *const cc_names[] = {CC_ALL(NAME) NULL};
