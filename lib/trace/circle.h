// SPDX-License-Identifier: Apache-2.0
// Nodes of a rank that wait for each other in a circle.
#pragma once

#include <weft/trace/trace.h>

// Refuses the rank's circles by the nodes of one of them: -EINVAL; -ENOMEM.
int circle_refuse(const struct trace_rank *rank, struct refusal *refusal);

// Takes a wait out of each circle: the one that leads back to a node that is being gone through, in
// the order of the file. Counts them in rank->cut. -ENOMEM.
int circle_cut(struct trace_rank *rank, struct refusal *refusal);
