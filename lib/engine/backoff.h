// SPDX-License-Identifier: Apache-2.0
// Waiting for another rank: first on the spot, then letting others have the CPU. Once the user
// asked to stop, for two seconds at most: a rank that was killed answers nobody.
#pragma once

#include <weft/engine/ranks.h>

struct backoff {
	uint32_t tries;
	double asked_s; // when it was first seen that the user asked to stop; 0 = not yet
	double cpu_s;	// CPU time of this process when it began to wait
};

// One more try in vain. Ends the process when patience is over.
void backoff_take(struct backoff *backoff, struct ranks *ranks);

// It has come: counts the CPU time that waiting took, with what was laid meanwhile.
void backoff_end(const struct backoff *backoff, struct ranks *ranks);
