// SPDX-License-Identifier: Apache-2.0
// A flow at the hosts of its two ends: posted on the QPs of its connection, a share on each, and
// done when all shares are. Its first QP's peer counts them, at either end.

#include <weft/host/host.h>

static void on_event(struct world_host *host, enum host_event event, uint64_t index, ps_t now,
		     struct outbox *out)
{
	const struct flow *flow = &host->flows[index];
	uint32_t qps = host->qps_per_connection;
	uint64_t share = flow_share_bytes(flow->bytes, qps);
	for (uint32_t i = 0; i < qps; i++) {
		bool is_last = i == qps - 1;
		struct work work = {
			.va = i * share,
			.rkey = RKEY_DATA,
			.bytes = (uint32_t)(is_last ? flow->bytes - i * share : share),
			.imm = (uint32_t)index,
			.has_imm = true,
			.cookie = cookie_of(COOKIE_FLOW, (uint32_t)index, 0),
		};
		// a flow has QPs of its own
		host_post_in_turn(host, flow->from - host->first_nic, host->flow_qpn[index] + i,
				  &work, now, out);
	}
}

// One more share of the flow of `peer` is done: whether it was the last.
static bool is_whole(const struct world_host *host, struct nic *nic, const struct nic_peer *peer)
{
	return ++nic->peers[peer->first].waiting == host->qps_per_connection;
}

static void end_work(struct world_host *host, ps_t now)
{
	host->record->work_done++;
	host->record->outcome->end_ps = ps_max(host->record->outcome->end_ps, now);
}

static void on_sent(struct world_host *host, struct nic *nic, const struct completion *done,
		    ps_t now, struct outbox *out)
{
	const struct nic_peer *peer = &nic->peers[done->qp];
	struct outcome *outcome = host->record->outcome;
	const struct flow *flow = &host->flows[peer->owner];
	if (!is_whole(host, nic, peer))
		return;
	hist_add(&outcome->flow_ns, (now - flow->start_ps) / PS_PER_NS);
	outcome->flow_end_ps[peer->owner] = now;
	trigger_flows_fire(host, flow->on_sent, now, out);
	end_work(host, now);
}

static void on_received(struct world_host *host, struct nic *nic, const struct completion *done,
			ps_t now, struct outbox *out)
{
	const struct nic_peer *peer = &nic->peers[done->qp];
	if (!is_whole(host, nic, peer))
		return;
	trigger_flows_fire(host, host->flows[peer->owner].on_received, now, out);
	end_work(host, now);
}

const struct host_engine flow_engine = {
	.on_event = on_event, .on_sent = on_sent, .on_received = on_received};
