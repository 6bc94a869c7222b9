// SPDX-License-Identifier: Apache-2.0
// Programs that have a second one, which is linked with MPI and lies beside them.
#pragma once

// Becomes that program. Returns only when there is none.
void ranks_become(const char *program, char **argv);
