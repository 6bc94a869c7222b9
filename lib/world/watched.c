// SPDX-License-Identifier: Apache-2.0
// Arrivals at a NIC whose host counts over time (watch.bin) or times packets (watch.delays).

#include <weft/measure_delay.h>
#include <weft/packet_stamp.h>

#include "delays.h"
#include "host.h"

#define QP_NONE UINT32_MAX

// Times a packet that goes to an own QP, before its endpoint takes it and reuses it for its answer.
// Returns the QP when a message may begin on it, QP_NONE else.
static inline uint32_t note_packet(const struct world_host *host, const struct nic *nic,
				   const struct packet *packet, ps_t now)
{
	uint32_t qpn = packet->qpn;
	if (qpn >= nic->qp_count)
		return QP_NONE;
	ps_t age_ps = packet_age(packet, now);
	if (__builtin_expect(age_ps >= 0, 1)) { // frames do not say it
		int64_t age_ns = (int64_t)((uint64_t)age_ps / PS_PER_NS);
#ifdef PLANT_YOUNG_PACKET // a bug on purpose: every packet took a little less
		age_ns -= age_ns / 64;
#endif
		delays_add_way(host->delays, (enum pair_class)nic->peers[qpn].pair,
			       delays_path(host->delays, packet->ev, packet->plane), age_ns);
	}
	if (__builtin_expect(nic->delays->open[qpn] & DELAYS_OPEN, 1))
		return QP_NONE; // a message comes in already
	return delays_opens(nic, qpn) ? qpn : QP_NONE;
}

// Data came in at `now`, and so many bytes were placed.
static void count(const struct world_host *host, const struct nic *nic, ps_t now, uint64_t placed)
{
	struct series *series = host->series;
	uint64_t *cells = series_at(series, now);
	cells[SERIES_ARRIVED]++;
	cells[SERIES_PLACED] += placed;
	if (host->placed != NULL && series->recent < series->count)
		host->placed[(size_t)(nic - host->nics) * series->count + series->recent] += placed;
}

void watched_receive(struct world_host *host, struct nic *nic, const struct arrival *arrival,
		     struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, arrival->packet);
	const struct transport_counters *counters = endpoint_counters(nic->endpoint);
	uint64_t placed = counters->payload_bytes_placed, arrived = counters->data_received;
	uint32_t qpn = QP_NONE;
	if (host->delays != NULL && packet->payload_bytes > 0)
		qpn = note_packet(host, nic, packet, arrival->at);
	endpoint_receive(nic->endpoint, arrival->packet, arrival->at, out);
	placed = counters->payload_bytes_placed - placed;
	if (host->series != NULL && counters->data_received != arrived)
		count(host, nic, arrival->at, placed);
	if (__builtin_expect(qpn != QP_NONE, 0) && placed > 0)
		delays_open(host, nic, qpn);
}
