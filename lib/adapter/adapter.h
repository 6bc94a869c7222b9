// SPDX-License-Identifier: Apache-2.0
// The record of one adapter, shared by the files of this room. It lies at the start of the caller's
// memory; all that it points to lies behind it, but for the programs' regions and local buffers.
#pragma once

#include <weft/adapter/adapter.h>
#include <weft/core/arena.h>
#include <weft/core/fifo.h>
#include <weft/core/machine.h>
#include <weft/core/packet.h>
#include <weft/core/rng.h>
#include <weft/transport/transport_profiles.h>

#include "host.h"
#include "mapping.h"

// Where the bytes of a posted write are, until it is completed.
struct source {
	const uint8_t *local;
	uint64_t va;
	uint32_t bytes;
};

struct connection {
	struct source *sources; // ring by message number
	uint32_t posted;	// messages so far
	uint64_t *receives;	// ring of cookies
	uint32_t receives_posted, receives_done;
	uint32_t first_psn;	     // own share of it
	uint32_t remote, remote_qpn; // number of the NIC: of `hosts`, with SRv6 its own; its QPN
	uint16_t ev_profile, cc_profile;
	enum adapter_state state;
};

struct adapter {
	struct adapter_config config; // own copy, all numbers filled in
	struct arena arena;
	struct endpoint *endpoint;
	struct packet_pool packets;
	struct fifo_pool chunks;
	struct outbox out;
	struct mapping_table mappings;
	struct connection *connections; // [qp_max]
	uint32_t opened;
	uint32_t sources_mask, receives_mask;
	struct host_table hosts; // those that QPs lead to, but for SRv6
	uint32_t *by_peer;	 // hash of (remote, remote QPN): number of a connection + 1
	uint32_t by_peer_mask;
	struct completion *completions; // ring of completions_mask + 1
	uint32_t completions_mask, completions_head, completions_tail;
	uint32_t completions_burst; // that one call of the endpoint can cause at most
	line_t line;
	ps_t free_at[PLANES_MAX];
	ps_t now; // latest time that was given: it never goes back
	size_t frame_bytes;
	uint32_t penalty;		  // that peers are asked for
	struct wire_end ends[PLANES_MAX]; // own ports
	uint32_t *values;		  // [ev_count] scratch, where profiles of EVs may be made
	struct rng rng;
	struct adapter_counters counters;
};

// The caller's `now_ps`, or the latest if that was later.
static inline ps_t adapter_clock(struct adapter *adapter, ps_t now_ps)
{
	adapter->now = ps_max(adapter->now, now_ps);
	return adapter->now;
}

// The endpoint's number of a QP, and the place of its connection. Numbers that are reserved become
// ones that no QP has.
static inline uint32_t adapter_number(uint32_t qpn)
{
	return qpn - ADAPTER_QPN_FIRST;
}

// Completions that the ring has room for.
static inline uint32_t adapter_room(const struct adapter *adapter)
{
	return adapter->completions_mask + 1 -
		(adapter->completions_tail - adapter->completions_head);
}

// Asks peers for less the more completions wait, and gives it back when they are polled.
void adapter_press(struct adapter *adapter);

// Moves completions from the endpoint, as far as there is room. What stays behind are flushed
// requests, which the endpoint keeps in any number.
void adapter_drain(struct adapter *adapter);

// The connection whose peer is this QP; NULL when there is none.
struct connection *connection_of(const struct adapter *adapter, uint32_t remote,
				 uint32_t remote_qpn);

// Checks a configuration and fills in what follows from it. -EINVAL with the reason.
int config_complete(const struct adapter_config *given, struct adapter_config *ret,
		    struct refusal *refusal);

// Whether addresses are given, not by the rule: with all but SRv6.
static inline bool adapter_is_given(const struct adapter *adapter)
{
	return adapter->config.wire.addresses == WIRE_ADDRESSES_GIVEN;
}

// Numbers of a peer that cannot be, however they came. -EPROTO with the reason.
int exchange_refuse_numbers(const struct adapter_end *end, struct refusal *refusal);

// A peer that is ready to be connected with.
struct match {
	struct host_given given;
	struct adapter_end end;		// its first PSN is not looked at
	uint32_t send_psn, receive_psn; // 24 bits
};

// What an exchange, or plain values, say of a peer, for a QP whose own share of the first PSN is
// this. -EPROTO, -EINVAL with the reason.
int match_exchange(const struct adapter *adapter, const struct adapter_exchange *remote,
		   uint32_t own_psn, struct match *ret, struct refusal *refusal);
int match_peer(const struct adapter *adapter, const struct adapter_peer *peer, struct match *ret,
	       struct refusal *refusal);

// What an opened QP tells its peer.
void exchange_write(const struct adapter *adapter, uint32_t number, struct adapter_exchange *ret);
