// SPDX-License-Identifier: Apache-2.0
// Kinds of frames that are not of a run.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Frames of others that share a port.
enum wall_other {
	WALL_OTHER_ETHERTYPE, // none of those below
	WALL_OTHER_ARP,
	WALL_OTHER_ND,
	WALL_OTHER_LLDP,
	WALL_OTHER_PAUSE,
	WALL_OTHER_ICMP,
	WALL_OTHER_DHCP,
	WALL_OTHER_IP, // another protocol, or a fragment
	WALL_OTHER_TCP,
	WALL_OTHER_UDP,
	WALL_OTHER_UET,
	WALL_OTHER_ROCE1,
	WALL_OTHER_ROCE, // RoCEv2 or MRC between addresses that are not of this world
	WALL_OTHER_COUNT
};

const char *wall_other_name(enum wall_other kind);

#ifdef __cplusplus
}
#endif
