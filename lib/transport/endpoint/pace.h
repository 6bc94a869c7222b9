// SPDX-License-Identifier: Apache-2.0
// QPs of RC whose next packet has to wait for its time, because congestion control gave them a
// rate. They stand in no ready queue meanwhile: a heap of their own gives them back when a line
// asks. A QP at the rate of its line never comes here: its time has come when the line is free.
#pragma once

#include "endpoint.h"

// Rings the timers of congestion control that were due before `now`: the rate is read at departures
// and changed by what comes in, and between these nobody sees it. So a QP at rest has no timers.
void pace_advance(struct qp *qp, ps_t now);

// A packet of `wire_bytes` left at `now`: when the next may. A QP whose time had come, but not its
// turn, loses nothing by that, up to a packet.
void pace_sent(struct qp *qp, uint32_t wire_bytes, ps_t now);

// Puts a QP that waits into the heap, unless it is there.
void pace_hold(struct endpoint *endpoint, struct qp *qp);

// The next QP whose time has come at `now`, taken off the heap; NULL when there is none.
struct qp *pace_release(struct endpoint *endpoint, ps_t now);

// Takes a QP that ends out of the heap, if it is there.
void pace_leave(struct endpoint *endpoint, struct qp *qp);
