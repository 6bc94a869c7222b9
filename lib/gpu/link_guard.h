// SPDX-License-Identifier: Apache-2.0
// Memory of a file that others may cut: who touches a page that is gone gets private memory of
// zeros in its place, instead of a SIGBUS that ends the program.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Guards a mapping. Returns its number, or -1 when too many are guarded.
int link_guard_add(void *base, size_t bytes);
void link_guard_remove(int guard);

// Whether its file lost a page that was touched: the mapping is private memory now.
bool link_guard_is_lost(int guard);
