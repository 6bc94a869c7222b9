// SPDX-License-Identifier: Apache-2.0
// Ports of this NIC: one goes down or comes back (endpoint_port()). And QPs that can send nothing
// at all, as every port is down that leads to a plane which is not denied to them: nothing of
// theirs is out, so no other timer would ever end them. One wait is measured for all of them, and
// begins anew when one more comes to be so.
#pragma once

#include "endpoint/endpoint.h"

#define OWN_PORT_TIMER UINT32_MAX // among those of peers, see status_timer_key()

// Work was posted on a QP while ports are down.
void own_port_on_post(struct endpoint *endpoint, const struct qp *qp, ps_t now);

// An operator denied EVs: QPs may have lost the last plane whose port is up.
void own_port_on_deny(struct endpoint *endpoint);

// The timer of all that wait for a port rang.
void own_port_on_time(struct endpoint *endpoint, ps_t now);
