// SPDX-License-Identifier: Apache-2.0
// Whether a NIC has an RDMA engine that takes RoCEv2 frames (UDP port 4791) for itself, so that no
// port of DPDK or of the kernel sees them.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce {
	char device[32];  // of RDMA, "mlx5_0"; empty: the port has none
	char driver[32];  // of the NIC
	char address[32]; // PCI, for devlink
	bool is_on;	  // it has addresses for RoCEv2
};

// Looks in the kernel's files below `sysfs`, at a PCI address or, where that is empty, at an
// interface.
void roce_find(struct roce *ret, const char *sysfs, const char *address, const char *interface);

// Whether frames for UDP port 4791 are known to go to the engine: so it is with ConnectX and
// BlueField. With other NICs it is not known.
bool roce_takes_frames(const struct roce *roce);

#ifdef __cplusplus
}
#endif
