// SPDX-License-Identifier: Apache-2.0
// Dynamic MPR: how many PSNs each QP that receives at the moment may have in flight.
#pragma once

#include "endpoint/endpoint.h"

// Counting takes turns ("epochs") of 2^shift ps, each so long that every QP that shares the line is
// sent a SACK in it. Without a line rate, or offers: the least there is.
uint8_t mpr_grant_epoch_shift(const struct transport_config *config);

// The offer of a SACK that answers a packet at `now`, in units of MPR_GRANT_UNIT.
uint8_t mpr_grant_make(struct endpoint *endpoint, struct qp *qp, ps_t now);

// A SACK offers so many units: the requester obeys, where both ends do such things.
void mpr_grant_take(struct qp *qp, uint8_t units);
