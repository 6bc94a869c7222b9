// SPDX-License-Identifier: Apache-2.0
// Signals between hosts, for a driver: what a host leaves in its outbox as a struct signal, other
// hosts hear. They are no packets: no cable, port or pool knows of them. A signal is for after the
// window in which it is given, and what comes of several does not depend on their order.
#pragma once

#include <weft/world/world.h>

#define WORLD_EVERY_SHARD UINT32_MAX

// Host `machine` has something to do at `at`.
typedef void world_wake_fn(void *context, uint32_t machine, ps_t at);

#ifdef __cplusplus
extern "C" {
#endif

// Lets the hosts of `shard` (or WORLD_EVERY_SHARD) hear a signal, and tells by `wake` which of them
// have something to do of it, and when. Only while none of these hosts is run.
void world_hear(const struct world *world, uint32_t shard, const struct signal *signal,
		world_wake_fn *wake, void *context);

// The most signals that one host gives in a run, and all of them; 0: there are none.
uint32_t world_signals_max(const struct world *world);
uint64_t world_signals_total(const struct world *world);

// How long each of them takes.
ps_t world_signal_delay(const struct world *world);

// Whether a machine ever gives one.
bool world_gives_signals(const struct world *world, uint32_t machine);

#ifdef __cplusplus
}
#endif
