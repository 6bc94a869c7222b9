// SPDX-License-Identifier: Apache-2.0
// What the kernel at the other end of a veth pair leaves undone in the frames that it sends: veth
// is no wire, and hands over what the stack made.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct veth {
	bool is_veth;
	char peer[32];		    // empty: in another namespace, so it cannot be asked
	bool has_partial_checksums; // of UDP and TCP: a NIC would end them. What follows is of a
	bool has_super_frames;	    // peer that can be asked
};

void veth_find(struct veth *ret, const char *interface);

#ifdef __cplusplus
}
#endif
