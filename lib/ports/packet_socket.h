// SPDX-License-Identifier: Apache-2.0
// The socket of packets behind a port of af_packet: it is DPDK's, which (22.11) does not ask it for
// the frames that its ring had no room for.
#pragma once

#include <stdint.h>

// The descriptor of this process's packet socket on an interface; -1: there is none, or no /proc.
int packet_socket_find(const char *interface);

// Frames that came to a full ring since the last call: the kernel counts anew after each. 0 also
// for a descriptor of -1.
uint64_t packet_socket_dropped(int socket);
