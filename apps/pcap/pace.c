// SPDX-License-Identifier: Apache-2.0
// What --speed and --drift come to.

#include "pace.h"

void pace_settle(struct pace *pace)
{
	pace->speed *= 1 + pace->drift_ppm / 1e6;
}
