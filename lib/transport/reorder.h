// SPDX-License-Identifier: Apache-2.0
// The order in which packets come, measured.
#pragma once

#include "endpoint.h"

// A packet that is new and was sent once has come; before it is taken. Only with
// endpoint->delays.
void reorder_note(struct endpoint *endpoint, const struct qp *qp, uint32_t psn);
