// SPDX-License-Identifier: Apache-2.0
// Wrong settings: what faults of kinds ecn and evs make of a switch and of a host.
#pragma once

#include <weft/world/world.h>

// The transport of host `index`: the world's, or, drawn for it, one with fewer entropy values. NULL
// when there is no memory. While hosts are built.
const struct transport_config *setting_transport(const struct world *world, uint32_t index);
