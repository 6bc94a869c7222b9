// SPDX-License-Identifier: Apache-2.0
// Switches whose marks are not those that the depths of their queues made due.
#pragma once

#include "culprit.h"

// Adds them, and counts the switches that could be judged; or says why none could.
void culprit_find_ecn(struct culprits *culprits, const struct world *world);
