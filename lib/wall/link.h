// SPDX-License-Identifier: Apache-2.0
// Links of ports, as the loop sees them: the NIC of the host is informed when one goes and when it
// is back, transport.port_detect later, and tells its peers (transport.port_status).
#pragma once

#include <weft/core/time.h>

struct wall;

struct link {
	ps_t other_since; // since it differs from what the NIC knows, or PS_NEVER
};

// Draws the table, and gives it to the host. -ENOMEM.
int link_init(struct wall *wall);

// Looks at them, if that was not done for a while; what was due before `at` may still be due.
void link_look(struct wall *wall, ps_t at);
