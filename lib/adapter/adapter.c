// SPDX-License-Identifier: Apache-2.0
// Regions, timers, completions and counters of an adapter: calls that are handed on. Frames are in
// feed.c and pull.c, connections in connect.c.
#include "adapter.h"

#include <errno.h>

#define PENALTY_HALF 64u  // halves a window
#define PENALTY_MOST 127u // one packet per round trip

int adapter_register(struct adapter *adapter, uint32_t rkey, void *base, uint64_t va,
		     uint64_t bytes)
{
	if (base == NULL)
		return -EINVAL;
	int rc = endpoint_register(adapter->endpoint, rkey, va, bytes);
	if (rc == 0)
		mapping_add(&adapter->mappings, &(struct mapping){base, va, bytes, rkey});
	return rc;
}

int adapter_unregister(struct adapter *adapter, uint32_t rkey)
{
	int rc = endpoint_unregister(adapter->endpoint, rkey);
	if (rc == 0)
		mapping_remove(&adapter->mappings, rkey);
	return rc;
}

static uint32_t penalty_of(const struct adapter *adapter)
{
	uint32_t waiting = adapter->completions_tail - adapter->completions_head;
	uint32_t most = adapter->config.completion_max;
	if (adapter_room(adapter) < adapter->completions_burst)
		return PENALTY_MOST;
	if (waiting > most / 2 + 1)
		return PENALTY_HALF;
	return waiting > most / 4 ? adapter->penalty : 0; // not to and fro
}

void adapter_press(struct adapter *adapter)
{
	uint32_t penalty = penalty_of(adapter);
	if (__builtin_expect(penalty == adapter->penalty, 1))
		return;
	adapter->counters.presses += adapter->penalty == 0;
	adapter->penalty = penalty;
	endpoint_press(adapter->endpoint, (uint8_t)penalty);
}

// The receive request that a message takes.
static uint64_t take_receive(struct adapter *adapter, struct connection *connection)
{
	if (adapter->config.receives_max == 0)
		return 0;
	check(connection->receives_done != connection->receives_posted);
	return connection->receives[connection->receives_done++ & adapter->receives_mask];
}

void adapter_drain(struct adapter *adapter)
{
	while (adapter_room(adapter) > 0) {
		struct completion *at = &adapter->completions[adapter->completions_tail &
							      adapter->completions_mask];
		if (endpoint_poll(adapter->endpoint, at, 1) == 0)
			return;
		if (at->kind == COMPLETION_FLUSHED)
			adapter->connections[at->qp].state = ADAPTER_ERROR;
		if (at->kind == COMPLETION_RECEIVED)
			at->cookie = take_receive(adapter, &adapter->connections[at->qp]);
		at->qp += ADAPTER_QPN_FIRST;
		adapter->completions_tail++;
	}
}

uint32_t adapter_poll(struct adapter *adapter, struct completion *ret, uint32_t max)
{
	uint32_t count = 0;
	for (; count < max; count++) {
		if (adapter->completions_head == adapter->completions_tail)
			adapter_drain(adapter); // flushed requests for which there was no room
		if (adapter->completions_head == adapter->completions_tail)
			break;
		ret[count] = adapter->completions[adapter->completions_head++ &
						  adapter->completions_mask];
	}
	adapter_press(adapter);
	return count;
}

int adapter_port(struct adapter *adapter, uint32_t plane, bool is_up, ps_t now_ps)
{
	const struct transport_config *transport = &adapter->config.transport;
	if (!transport->port_status || plane >= transport->planes)
		return -EINVAL;
	endpoint_port(adapter->endpoint, plane, is_up, adapter_clock(adapter, now_ps),
		      &adapter->out);
	return 0;
}

void adapter_on_time(struct adapter *adapter, ps_t now_ps)
{
	endpoint_on_time(adapter->endpoint, adapter_clock(adapter, now_ps), &adapter->out);
	adapter_drain(adapter);
}

ps_t adapter_wake_at(const struct adapter *adapter)
{
	return endpoint_wake_at(adapter->endpoint);
}

int adapter_ev_deny(struct adapter *adapter, uint32_t ev)
{
	return endpoint_ev_deny(adapter->endpoint, ev);
}

int adapter_ev_allow(struct adapter *adapter, uint32_t ev)
{
	return endpoint_ev_allow(adapter->endpoint, ev);
}

int adapter_ev_state(const struct adapter *adapter, uint32_t qpn, uint32_t ev, enum ev_state *ret)
{
	return endpoint_ev_state(adapter->endpoint, adapter_number(qpn), ev, ret);
}

const struct adapter_counters *adapter_counters(const struct adapter *adapter)
{
	return &adapter->counters;
}

const struct transport_counters *adapter_transport(const struct adapter *adapter)
{
	return endpoint_counters(adapter->endpoint);
}
