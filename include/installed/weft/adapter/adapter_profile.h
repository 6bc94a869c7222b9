// SPDX-License-Identifier: Apache-2.0
// What a QP may have of its own: the paths that it takes, and its congestion control. A program
// makes profiles of both, each with a number, as MRC's controller does, and names them for a QP
// before it is connected; verbs for MRC have attributes for both numbers on the way to INIT. The
// other end need not do the same: each end chooses for what it sends itself, its answers included.
// See docs/howto/use-the-endpoint.md.
#pragma once

#include <stdint.h>

#include <weft/cc/cc.h>
#include <weft/core/refusal.h>
#include <weft/transport/ev.h>

struct adapter;

// A path is an entropy value (EV) and the port that it leaves by: one value on two ports is two
// paths, which go well and bad on their own.
struct adapter_path {
	uint32_t ev;
	uint32_t plane; // of the own port
};

#ifdef __cplusplus
extern "C" {
#endif

// Makes EV profile `number`, 1 to transport.ev_profiles_max, or makes it anew. Each plane needs the
// same power of two of paths, transport.ev_count at most in all, each once; with IPv4 or entropy
// values in the UDP port, EV_PORT_FIRST to 65535. -EINVAL with the reason, -EBUSY: a QP that is
// connected has it.
int adapter_ev_profile(struct adapter *adapter, uint32_t number, const struct adapter_path *paths,
		       uint32_t count, struct refusal *refusal);

// Makes congestion control profile `number`, 1 to transport.cc_profiles_max, or makes it anew:
// algorithm, window, parameters. 0 in rate_bps or mtu_bytes: as the adapter has it. What gives
// credits is refused. -EINVAL with the reason, -EBUSY as above.
int adapter_cc_profile(struct adapter *adapter, uint32_t number, const struct cc_config *cc,
		       struct refusal *refusal);

// Gives an open QP that is not connected its profiles; 0: what the configuration says, which it has
// at first, and again after a reset. -EINVAL: no such QP, or a profile that was not made; -EISCONN.
int adapter_choose(struct adapter *adapter, uint32_t qpn, uint32_t ev_profile, uint32_t cc_profile,
		   struct refusal *refusal);

// Path number `index` of a connected QP, from 0 on. -ENOENT when it has not so many.
int adapter_path(const struct adapter *adapter, uint32_t qpn, uint32_t index,
		 struct adapter_path *ret);

// As adapter_ev_deny(), _allow() and _state(), of one path alone. -ENOENT: no QP or profile has it;
// -EBUSY: it is the last that one of them may use.
int adapter_path_deny(struct adapter *adapter, const struct adapter_path *path);
int adapter_path_allow(struct adapter *adapter, const struct adapter_path *path);
int adapter_path_state(const struct adapter *adapter, uint32_t qpn, const struct adapter_path *path,
		       enum ev_state *ret);

#ifdef __cplusplus
}
#endif
