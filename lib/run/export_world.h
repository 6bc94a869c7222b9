// SPDX-License-Identifier: Apache-2.0
// What a world would run, as a set of traces.
#pragma once

#include <weft/trace/trace_run.h>
#include <weft/world/world.h>

// The work of a world that was built: the operations of its program, the collectives of its job, or
// its flows, one rank for each NIC. Release times become computations before them. -EINVAL with the
// reason where a trace cannot say it: a sample, flows that wait for others; -ENOMEM. `ret` needs
// trace_set_free() in any case.
int export_world(struct trace_set *ret, const struct world *world, struct refusal *refusal);
