// SPDX-License-Identifier: Apache-2.0
// One MRC adapter for a program of its own: endpoint, registered memory, connections, completions
// and frames, all in memory that the caller gives. It opens no socket and starts no thread; the
// program carries frames in and out, tells the time, and has a control channel to connect by.
// How to use it: docs/howto/use-the-endpoint.md.
//
// Calls on one adapter must not overlap. Numbers of errors are negative values of errno.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/adapter/adapter_peer.h>
#include <weft/adapter/adapter_profile.h>
#include <weft/adapter/exchange.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/transport/transport.h>
#include <weft/wire/wire.h>

#define ADAPTER_ALIGN 64 // of the memory it lives in

// Fill it with adapter_config_default(), change it. Nothing in it needs to outlive the calls.
struct adapter_config {
	uint32_t nic; // own number: addresses follow from it by the rule of `wire`, unless given
	const struct wire_end *ends; // [transport.planes] own ports; NULL: by the rule. Not with
				     // SRv6, whose routes follow from numbers
	uint32_t qp_max;
	uint32_t completion_max; // that may wait to be polled before frames are turned away
	uint32_t receives_max;	 // receive requests that a QP holds at most; 0: it needs none
	uint64_t plane_bps;	 // line rate of each plane
	uint64_t seed;		 // of first PSNs and entropy values
	// 0 in header_bytes, control_bytes, ev_bits, cc.rate_bps or cc.mtu_bytes: as it follows
	// from the rest.
	struct transport_config transport;
	struct wire_config wire; // sizes, and what is charged for them, follow from `transport`
};

// A QP goes from RESET to INIT when it is opened, on to RTS (RTR, "ready to receive", lies on the
// way) when it is connected, and to ERROR when its peer does not answer any more.
enum adapter_state { ADAPTER_RESET, ADAPTER_INIT, ADAPTER_RTS, ADAPTER_ERROR };

// A write into the peer's memory.
struct adapter_write {
	const void *local; // the bytes. They are read each time a packet leaves, so also when it
			   // is sent again: until the completion they must stay as they are
	uint32_t bytes;	   // 1 .. 2^32-1
	uint32_t rkey;	   // the peer's region
	uint64_t va;	   // where in it
	uint64_t cookie;   // comes back in the completion
	uint32_t imm;	   // comes out at the peer, with its completion
	bool has_imm;	   // WRITE_WITH_IMM: else the peer gets no completion
};

// What it counted; what its endpoint counted is in adapter_transport().
struct adapter_counters {
	uint64_t frames_fed, bytes_fed;	      // that were taken
	uint64_t frames_pulled, bytes_pulled; // Ethernet header to ICRC
	uint64_t bytes_placed;		      // written into regions
	uint64_t refused[WIRE_REASON_COUNT];  // frames that are no packets for this adapter
	uint64_t no_room;    // frames turned away because completions were not polled
	uint64_t no_receive; // WRITE_WITH_IMMs that no receive request waited for
	uint64_t presses;    // times that peers were asked for less, for completions wait
};

struct adapter;

#ifdef __cplusplus
extern "C" {
#endif

// A QP over two planes of 100 Gb/s, IPv6, NSCC, MTU 4096: what docs/howto says of each.
void adapter_config_default(struct adapter_config *ret);

// Bytes that an adapter of this configuration needs; 0 when there is none, with the reason.
size_t adapter_bytes(const struct adapter_config *config, struct refusal *refusal);

// Makes an adapter in `memory` of `bytes` bytes, aligned to ADAPTER_ALIGN, which is the caller's
// again when the adapter is not used any more; there is nothing to close. -EINVAL, -ENOMEM.
int adapter_create(struct adapter **ret, void *memory, size_t bytes,
		   const struct adapter_config *config, struct refusal *refusal);

// Lets peers write to `bytes` bytes at `base`, which they know as `va` of region `rkey`. -EINVAL,
// -EEXIST (the rkey), -ENOSPC. From adapter_unregister() on they cannot any more. The rkey is free
// then: who gives it out again lets packets in that are still on their way. -ENOENT.
int adapter_register(struct adapter *adapter, uint32_t rkey, void *base, uint64_t va,
		     uint64_t bytes);
int adapter_unregister(struct adapter *adapter, uint32_t rkey);

// Opens the next QP and says what its peer must know. -ENOBUFS when qp_max are open.
int adapter_open(struct adapter *adapter, uint32_t *ret_qpn, struct adapter_exchange *ret_exchange);

// Reads an exchange. -EPROTO: not one, or of another version, or with numbers that cannot be.
int adapter_exchange_read(const struct adapter_exchange *exchange, struct adapter_end *ret,
			  struct refusal *refusal);

// Connects a QP with the one that `remote` tells of. From then on it sends and receives; the peer
// does so when it has done the same. MTU and limits are the smaller ones of both ends. -EPROTO as
// above, -EISCONN, -EADDRINUSE (another QP has this peer), -EINVAL (no such QP; the ends do not
// fit: planes, addresses), with the reason.
int adapter_connect(struct adapter *adapter, uint32_t qpn, const struct adapter_exchange *remote,
		    ps_t now_ps, struct refusal *refusal);

enum adapter_state adapter_state(const struct adapter *adapter, uint32_t qpn);

// Takes an open QP back to INIT, from any state: what was posted is forgotten, and its completions,
// too. It is connected again by exchanges anew, `ret_exchange` and one that its peer makes in the
// same way. -EINVAL: no such QP.
int adapter_reset(struct adapter *adapter, uint32_t qpn, struct adapter_exchange *ret_exchange);

// What an open QP is like: state, reason of a failure, what was agreed, numbers. In INIT the state
// told is QP_RESET: the endpoint knows nothing of it yet. -EINVAL: no such QP.
int adapter_query(const struct adapter *adapter, uint32_t qpn, struct qp_view *ret);

// Entropy values by value, on all QPs: see endpoint_ev_deny(), _allow(), _state() of
// weft/transport/ev.h.
int adapter_ev_deny(struct adapter *adapter, uint32_t ev);
int adapter_ev_allow(struct adapter *adapter, uint32_t ev);
int adapter_ev_state(const struct adapter *adapter, uint32_t qpn, uint32_t ev, enum ev_state *ret);

// Posts a write. -EINVAL, -ENOTCONN, -ENOBUFS (the QP holds transport.sends_max), -ECONNRESET,
// -EAGAIN (transport.contexts are all in use: COMPLETION_READY follows).
int adapter_post(struct adapter *adapter, uint32_t qpn, const struct adapter_write *write,
		 ps_t now_ps);

// Posts a receive request, on a QP in any state but RESET: each takes one WRITE_WITH_IMM, in order,
// and its cookie comes back with COMPLETION_RECEIVED. One that finds none ends its requester's QP.
// A reset forgets them. -EINVAL: no such QP, or receives_max is 0. -ENOBUFS: it holds so many.
int adapter_post_receive(struct adapter *adapter, uint32_t qpn, uint64_t cookie);

// Takes up to `max` completions, oldest first.
uint32_t adapter_poll(struct adapter *adapter, struct completion *ret, uint32_t max);

// Takes a frame that came in, from the Ethernet header on; padding and FCS may follow. Its bytes
// are placed before the call returns. 0; else it was dropped: enum wire_reason, when it is no
// packet for this adapter, -ENOBUFS, when completions must be polled first. Then the sender of data
// is asked to send it again, and no path is blamed for the loss.
int adapter_feed(struct adapter *adapter, const void *frame, size_t bytes, ps_t now_ps);

// Writes the next frame for `plane`, whose line is free, to `buffer`, without FCS. Returns its
// size, 0 when there is none, -EINVAL (no such plane), -EMSGSIZE: `capacity` is less than
// adapter_frame_bytes(), and nothing is lost.
int adapter_pull(struct adapter *adapter, uint32_t plane, void *buffer, size_t capacity,
		 ps_t now_ps);

// The largest frame that it makes.
size_t adapter_frame_bytes(const struct adapter *adapter);

// When the line of `plane` has sent what was pulled last, at plane_bps. A program whose line tells
// it otherwise need not ask.
ps_t adapter_free_at(const struct adapter *adapter, uint32_t plane);

// The program learned that the port of `plane` has no light any more, or has it again: nothing more
// is pulled for a port that is down, and peers are informed (transport.port_status). All are up at
// first; to say what is known changes nothing. -EINVAL: no such plane, or the configuration has no
// port status.
int adapter_port(struct adapter *adapter, uint32_t plane, bool is_up, ps_t now_ps);

// Runs the timers that are due.
void adapter_on_time(struct adapter *adapter, ps_t now_ps);

// When adapter_on_time() wants to run next, PS_NEVER = not.
ps_t adapter_wake_at(const struct adapter *adapter);

// After all free lines were pulled empty at `now_ps`: when there is something to do again if
// nothing comes in, a timer or a line that gets free. PS_NEVER = not.
ps_t adapter_next_at(const struct adapter *adapter, ps_t now_ps);

const struct adapter_counters *adapter_counters(const struct adapter *adapter);
const struct transport_counters *adapter_transport(const struct adapter *adapter);

#ifdef __cplusplus
}
#endif
