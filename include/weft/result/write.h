// SPDX-License-Identifier: Apache-2.0
// What the writers of a result share.
#pragma once

#include <weft/core/refusal.h>

// Says that the result could not be written into the folder `dir`, and why: `code`, a negative
// errno. Another folder is advised only where it is the folder that is wrong. Returns the code to
// hand up. refusal may be NULL.
int write_failed(struct refusal *refusal, const char *dir, int code);
