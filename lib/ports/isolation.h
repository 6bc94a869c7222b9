// SPDX-License-Identifier: Apache-2.0
// An interface of the kernel whose frames for RoCEv2 and MRC are left to this process.
#pragma once

// Keeps frames for UDP ports 4791 and 4971 that come in by an interface from the kernel's own IP
// stack, which would look for a route and answer each that no socket there wants; sockets of
// packets, af_packet and tcpdump, get them as before, and all other frames go where they went. It
// ends with the process, or when the descriptor is closed. Returns that, or -errno: -EPERM without
// the right to it, -EINVAL where the kernel is older than 6.6.
int isolation_begin(const char *interface);
