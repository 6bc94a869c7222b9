// SPDX-License-Identifier: Apache-2.0
// A NIC that does nothing but its endpoint.

#include "peer.h"

#define WRITE_BYTES (1u << 20)
#define REGION_WRITES 1024u // of a QP's region
#define BURST 16

static void post(struct peer *peer, uint32_t qpn, ps_t now)
{
	struct work work = {.va = peer->posted[qpn]++ % REGION_WRITES * WRITE_BYTES,
			    .rkey = 1 + qpn,
			    .bytes = WRITE_BYTES};
	int rc = endpoint_post(peer->endpoint, qpn, &work, now);
	check(rc == 0);
}

void peer_post(struct peer *peer)
{
	for (uint32_t qpn = 0; qpn < PEER_QPS; qpn++)
		for (uint32_t i = 0; i < peer->config->sends_max; i++)
			post(peer, qpn, 0);
}

static void drain(struct peer *peer, ps_t now, struct outbox *out)
{
	struct completion done[BURST];
	struct dma_write places[BURST];
	uint32_t count;
	while ((count = endpoint_poll(peer->endpoint, done, BURST)) > 0)
		for (uint32_t i = 0; i < count; i++)
			if (done[i].kind == COMPLETION_SENT)
				post(peer, done[i].qp, now);
	while ((count = endpoint_poll_dma_writes(peer->endpoint, places, BURST)) > 0)
		for (uint32_t i = 0; i < count; i++)
			outbox_dma_write(out, &places[i]);
}

static ps_t run(void *self, const struct inbox *in, ps_t until, struct outbox *out)
{
	struct peer *peer = self;
	ps_t now = until - 1;
	uint32_t packet;
	for (uint32_t i = 0; i < in->arrival_count; i++) {
		endpoint_receive(peer->endpoint, in->runs[0].first[i].packet, now, out);
		if (endpoint_has_events(peer->endpoint))
			drain(peer, now, out);
	}
	if (endpoint_wake_at(peer->endpoint) <= now) {
		endpoint_on_time(peer->endpoint, now, out);
		drain(peer, now, out);
	}
	while (out->count < out->capacity &&
	       (packet = endpoint_next(peer->endpoint, 0, now, out)) != PACKET_NONE)
		outbox_send(out, 0, packet, packet_at(out->packets, packet)->wire_bytes, now);
	return endpoint_wake_at(peer->endpoint);
}

int peer_init(struct peer *peer, struct arena *arena, const struct transport_config *config,
	      uint32_t nic, struct refusal *refusal)
{
	*peer = (struct peer){.config = config, .nic = nic};
	int rc = endpoint_create(&peer->endpoint, arena, config, nic, PEER_QPS, 1, refusal);
	for (uint32_t qpn = 0; rc == 0 && qpn < PEER_QPS; qpn++) {
		endpoint_connect(peer->endpoint, qpn,
				 &(struct qp_config){.local_nic = nic,
						     .remote_nic = 1 - nic,
						     .remote_qpn = qpn,
						     .id = 2 * qpn + nic},
				 0);
		rc = endpoint_register(peer->endpoint, 1 + qpn, 0,
				       (uint64_t)REGION_WRITES * WRITE_BYTES);
	}
	return rc;
}

struct machine peer_machine(struct peer *peer)
{
	return (struct machine){.run = run, .self = peer, .port_count = 1, .is_host = true};
}
