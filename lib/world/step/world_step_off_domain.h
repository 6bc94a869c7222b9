// SPDX-License-Identifier: Apache-2.0
// Activations that leave their domain.
#pragma once

#include <weft/world/world_step.h>

#define STEP_SEND_PS (50 * PS_PER_US) // activations to the next stage inside a domain

// Prices each dimension whose groups leave their domain, at `nic_Bps` of a NIC, into the step's
// setup.
void world_step_off_domain(struct world_step *step, uint64_t nic_Bps);
