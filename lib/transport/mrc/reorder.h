// SPDX-License-Identifier: Apache-2.0
// The order in which packets come, measured.
#pragma once

#include <weft/measure/measure_add.h>

#include "endpoint/endpoint.h"

// Of the packets that came above a hole of the QP, those below `psn`, which is above the hole's
// first.
uint32_t reorder_below(const struct endpoint *endpoint, const struct qp *qp, uint32_t psn);

// A packet that is new and was sent once has come; before it is taken. Only with
// endpoint->delays. What is counted is how many with a higher PSN were here before it.
static inline void reorder_note(const struct endpoint *endpoint, const struct qp *qp, uint32_t psn)
{
	uint32_t above = qp->ooo_count;
	if (above > 0 && psn != qp->rcv_next)
		above -= reorder_below(endpoint, qp, psn);
	delays_add_order(endpoint->delays, above);
}
