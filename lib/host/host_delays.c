// SPDX-License-Identifier: Apache-2.0
// What hosts measure of single packets and messages. See host_delays.h.
#include <weft/host/host_delays.h>

#include <weft/core/packet_stamp.h>
#include <weft/host/host.h>
#include <weft/measure/measure_add.h>

bool delays_opens(const struct nic *nic, uint32_t qpn)
{
	const struct nic_peer *peer = &nic->peers[qpn];
	return peer->role == NIC_ROLE_RING_RECEIVE || peer->role == NIC_ROLE_FLOW ||
		peer->role == NIC_ROLE_LINE_RECEIVE;
}

// So many connections are in the middle of a message at the NIC from `now` on.
static void turn(struct nic_delays *delays, uint32_t senders, ps_t now)
{
	if (delays->incast != NULL) {
		depth_series_hold(&delays->incast->most, now, delays->senders);
		depth_series_note(&delays->incast->most, now, senders);
		delays->incast->now = senders;
	}
	delays->senders = senders;
}

void delays_open(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now)
{
	struct nic_delays *delays = nic->delays;
	uint16_t *first = &delays->open[nic->peers[qpn].first];
	delays->open[qpn] |= DELAYS_OPEN;
	if ((*first & (DELAYS_OPEN - 1)) == 0) {
		turn(delays, delays->senders + 1, now);
		hist_add(&host->delays->incast, delays->senders);
	}
	(*first)++;
}

void delays_on_sent(struct world_host *host, const struct nic *nic, uint32_t qpn, ps_t took_ns)
{
	uint32_t pair = nic->delays->pair_of[qpn];
	if (pair != 0 && host->pairs != NULL)
		hist_add(&host->pairs[pair - 1].message_ns, took_ns);
}

void delays_on_received(struct nic *nic, uint32_t qpn, ps_t now)
{
	struct nic_delays *delays = nic->delays;
	uint16_t *first = &delays->open[nic->peers[qpn].first];
	if (!(delays->open[qpn] & DELAYS_OPEN))
		return;
	delays->open[qpn] &= (uint16_t)~DELAYS_OPEN;
	(*first)--;
	if ((*first & (DELAYS_OPEN - 1)) == 0)
		turn(delays, delays->senders - 1, now);
}

void delays_note_gap(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now)
{
	const struct nic_peer *peer = &nic->peers[qpn];
	if (!delays_opens(nic, qpn))
		return; // credits come when they come
	ps_t *came = &nic->delays->came[peer->first], last = *came;
	*came = now;
	if (last > 0)
		hist_note(&host->delays->gap_ns[peer->pair], (now - last) / PS_PER_NS);
}
