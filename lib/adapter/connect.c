// SPDX-License-Identifier: Apache-2.0
// Connections: opened, joined with their peer, and posted to.
#include "adapter.h"

#include <errno.h>
#include <string.h>

#include <weft/core/psn.h>

// The place in the hash where the peer is, or would be. There always is a free one.
static uint32_t *place_of(const struct adapter *adapter, uint32_t remote, uint32_t remote_qpn)
{
	uint64_t hash = rng_mix((uint64_t)remote << 32 | remote_qpn);
	for (uint32_t i = (uint32_t)hash;; i++) {
		uint32_t *place = &adapter->by_peer[i & adapter->by_peer_mask];
		if (*place == 0)
			return place;
		const struct connection *connection = &adapter->connections[*place - 1];
		if (connection->remote == remote && connection->remote_qpn == remote_qpn)
			return place;
	}
}

struct connection *connection_of(const struct adapter *adapter, uint32_t remote,
				 uint32_t remote_qpn)
{
	uint32_t number = *place_of(adapter, remote, remote_qpn);
	return number == 0 ? NULL : &adapter->connections[number - 1];
}

// Begins a life of a QP.
static void begin(struct adapter *adapter, uint32_t number, struct adapter_exchange *ret_exchange)
{
	struct connection *connection = &adapter->connections[number];
	connection->state = ADAPTER_INIT;
	connection->ev_profile = connection->cc_profile = 0;
	connection->posted = 0;
	connection->receives_posted = connection->receives_done = 0;
	connection->first_psn = (uint32_t)rng_next(&adapter->rng) & PSN_MASK;
	exchange_write(adapter, number, ret_exchange);
}

int adapter_open(struct adapter *adapter, uint32_t *ret_qpn, struct adapter_exchange *ret_exchange)
{
	if (adapter->opened == adapter->config.qp_max)
		return -ENOBUFS;
	uint32_t number = adapter->opened++;
	begin(adapter, number, ret_exchange);
	*ret_qpn = number + ADAPTER_QPN_FIRST;
	return 0;
}

static uint32_t first_place(const struct adapter *adapter, const struct connection *connection)
{
	uint64_t hash = rng_mix((uint64_t)connection->remote << 32 | connection->remote_qpn);
	return (uint32_t)hash & adapter->by_peer_mask;
}

// Takes a connection out of the hash of peers. Those that a search finds by passing its place move
// into it, so that no search ends early.
static void forget_peer(struct adapter *adapter, const struct connection *connection)
{
	uint32_t mask = adapter->by_peer_mask;
	uint32_t *place = place_of(adapter, connection->remote, connection->remote_qpn);
	uint32_t gap = (uint32_t)(place - adapter->by_peer);
	for (uint32_t at = (gap + 1) & mask; adapter->by_peer[at] != 0; at = (at + 1) & mask) {
		uint32_t number = adapter->by_peer[at];
		uint32_t first = first_place(adapter, &adapter->connections[number - 1]);
		if (((at - first) & mask) < ((at - gap) & mask))
			continue; // its search begins behind the gap
		adapter->by_peer[gap] = number;
		gap = at;
	}
	adapter->by_peer[gap] = 0;
}

static void forget_completions(struct adapter *adapter, uint32_t qpn)
{
	uint32_t mask = adapter->completions_mask, to = adapter->completions_head;
	for (uint32_t at = to; at != adapter->completions_tail; at++)
		if (adapter->completions[at & mask].qp != qpn)
			adapter->completions[to++ & mask] = adapter->completions[at & mask];
	adapter->completions_tail = to;
}

static void leave_host(struct adapter *adapter, uint32_t remote)
{
	if (adapter_is_given(adapter))
		host_drop(&adapter->hosts, remote);
}

int adapter_reset(struct adapter *adapter, uint32_t qpn, struct adapter_exchange *ret_exchange)
{
	uint32_t number = adapter_number(qpn);
	if (number >= adapter->opened)
		return -EINVAL;
	int rc = endpoint_reset(adapter->endpoint, number);
	check(rc == 0);
	forget_completions(adapter, qpn);
	if (adapter->connections[number].state != ADAPTER_INIT) {
		forget_peer(adapter, &adapter->connections[number]);
		leave_host(adapter, adapter->connections[number].remote);
	}
	begin(adapter, number, ret_exchange);
	return 0;
}

int adapter_query(const struct adapter *adapter, uint32_t qpn, struct qp_view *ret)
{
	uint32_t number = adapter_number(qpn);
	if (number >= adapter->opened)
		return -EINVAL;
	int rc = endpoint_query(adapter->endpoint, number, ret);
	if (adapter_is_given(adapter) && adapter->connections[number].state != ADAPTER_INIT)
		ret->remote_nic = host_at(&adapter->hosts, ret->remote_nic)->nic;
	return rc;
}

// Gives the peer's NIC a number. -EADDRINUSE with the reason.
static int number_host(struct adapter *adapter, const struct match *match, uint32_t *ret,
		       struct refusal *refusal)
{
	if (!adapter_is_given(adapter)) {
		*ret = match->end.nic;
		return 0;
	}
	int rc = host_take(&adapter->hosts, &match->given, ret);
	if (rc != 0)
		return refuse(refusal, rc, "another NIC in use has an address of this peer");
	return 0;
}

static void join(struct adapter *adapter, uint32_t number, uint32_t remote,
		 const struct match *match, ps_t now)
{
	const struct adapter_end *end = &match->end;
	struct connection *connection = &adapter->connections[number];
	connection->remote = remote;
	connection->remote_qpn = end->qpn;
	connection->state = ADAPTER_RTS;
	*place_of(adapter, remote, end->qpn) = number + 1;
	struct qp_config config = {
		.local_nic = adapter->config.nic,
		.remote_nic = remote,
		.remote_qpn = end->qpn,
		.id = (uint64_t)adapter->config.nic << 16 | number,
		.first_psn = match->send_psn,
		.rcv_psn = match->receive_psn,
		.is_psn_apart = true,
		.mtu = end->mtu,
		.mpr_dest = end->mpr,
		.wimm_max_dest = end->wimm_max,
		.header_bytes = end->header_bytes,
		.capabilities = QP_NOTIFIED | end->capabilities,
		.ev_profile = connection->ev_profile,
		.cc_profile = connection->cc_profile,
	};
	int rc = endpoint_connect(adapter->endpoint, number, &config, now);
	check(rc == 0 && "its numbers were looked at");
}

// Whether a QP can be connected.
static int refuse_state(const struct adapter *adapter, uint32_t qpn, struct refusal *refusal)
{
	uint32_t number = adapter_number(qpn);
	if (number >= adapter->opened)
		return refuse(refusal, -EINVAL, "QP % is not open", qpn);
	if (adapter->connections[number].state != ADAPTER_INIT)
		return refuse(refusal, -EISCONN, "QP % was connected before", qpn);
	return 0;
}

static int connect_match(struct adapter *adapter, uint32_t number, const struct match *match,
			 ps_t now_ps, struct refusal *refusal)
{
	uint32_t remote;
	int rc = number_host(adapter, match, &remote, refusal);
	if (rc != 0)
		return rc;
	if (connection_of(adapter, remote, match->end.qpn) != NULL) {
		leave_host(adapter, remote);
		return refuse(refusal, -EADDRINUSE, "another QP is connected with QP % of this NIC",
			      match->end.qpn);
	}
	join(adapter, number, remote, match, adapter_clock(adapter, now_ps));
	return 0;
}

int adapter_connect(struct adapter *adapter, uint32_t qpn, const struct adapter_exchange *remote,
		    ps_t now_ps, struct refusal *refusal)
{
	struct match match;
	uint32_t number = adapter_number(qpn);
	int rc = refuse_state(adapter, qpn, refusal);
	if (rc == 0)
		rc = match_exchange(adapter, remote, adapter->connections[number].first_psn, &match,
				    refusal);
	return rc == 0 ? connect_match(adapter, number, &match, now_ps, refusal) : rc;
}

int adapter_connect_peer(struct adapter *adapter, uint32_t qpn, const struct adapter_peer *peer,
			 ps_t now_ps, struct refusal *refusal)
{
	struct match match;
	int rc = refuse_state(adapter, qpn, refusal);
	if (rc == 0)
		rc = match_peer(adapter, peer, &match, refusal);
	return rc == 0 ? connect_match(adapter, adapter_number(qpn), &match, now_ps, refusal) : rc;
}

enum adapter_state adapter_state(const struct adapter *adapter, uint32_t qpn)
{
	uint32_t number = adapter_number(qpn);
	return number < adapter->opened ? adapter->connections[number].state : ADAPTER_RESET;
}

int adapter_post(struct adapter *adapter, uint32_t qpn, const struct adapter_write *write,
		 ps_t now_ps)
{
	uint32_t number = adapter_number(qpn);
	if (number >= adapter->opened || write->local == NULL || write->bytes == 0)
		return -EINVAL;
	struct connection *connection = &adapter->connections[number];
	if (connection->state == ADAPTER_INIT)
		return -ENOTCONN;
	struct work work = {
		.va = write->va,
		.rkey = write->rkey,
		.bytes = write->bytes,
		.imm = write->imm,
		.has_imm = write->has_imm,
		.cookie = write->cookie,
	};
	int rc = endpoint_post(adapter->endpoint, number, &work, adapter_clock(adapter, now_ps));
	if (rc == -ECONNRESET)
		connection->state = ADAPTER_ERROR;
	if (rc != 0)
		return rc;
	connection->sources[connection->posted++ & adapter->sources_mask] = (struct source){
		.local = write->local, .va = write->va, .bytes = write->bytes};
	return 0;
}

int adapter_post_receive(struct adapter *adapter, uint32_t qpn, uint64_t cookie)
{
	uint32_t number = adapter_number(qpn), most = adapter->config.receives_max;
	if (number >= adapter->opened || most == 0)
		return -EINVAL;
	struct connection *connection = &adapter->connections[number];
	if (connection->receives_posted - connection->receives_done == most)
		return -ENOBUFS;
	connection->receives[connection->receives_posted++ & adapter->receives_mask] = cookie;
	return 0;
}
