// SPDX-License-Identifier: Apache-2.0
// What a plane can carry from one half of its NICs to the other.
#pragma once

#include <stdint.h>

#include <weft/fabric/fabric.h>

// The most that can flow from the first half of the NICs to the second, in one direction, bits per
// second. The halves are by number; of a torus, they are parted along its longest dimension, where
// the cut is smallest. -ENOMEM.
int cut_find(uint64_t *ret, const struct topology *topology, const struct fabric_config *config);
