// SPDX-License-Identifier: Apache-2.0
// QPs that can send nothing at all, as every port is down that leads to a plane which is not denied
// to them: nothing of theirs is out, so no other timer would ever end them. One wait is measured
// for all of them, and begins anew when one more comes to be so.
#pragma once

#include "endpoint/endpoint.h"

// A QP with something to send lost its last port.
void no_port_begin(struct endpoint *endpoint, ps_t now);

// Work was posted on a QP while ports are down.
void no_port_on_post(struct endpoint *endpoint, const struct qp *qp, ps_t now);

// An operator denied EVs: QPs may have lost the last plane whose port is up.
void no_port_on_deny(struct endpoint *endpoint);

// The timer rang.
void no_port_on_time(struct endpoint *endpoint, ps_t now);
