// SPDX-License-Identifier: Apache-2.0
// Arrivals at a NIC whose host counts over time (watch.bin) or times packets (watch.delays).

#include "delays.h"
#include "host.h"

// Takes a packet, and counts what came of it.
static void count(struct world_host *host, struct nic *nic, const struct arrival *arrival,
		  struct outbox *out)
{
	const struct transport_counters *counters = endpoint_counters(nic->endpoint);
	uint64_t placed = counters->payload_bytes_placed, arrived = counters->data_received;
	endpoint_receive(nic->endpoint, arrival->packet, arrival->at, out);
	if (counters->data_received == arrived)
		return; // no data
	series_add(host->series, SERIES_ARRIVED, arrival->at, 1);
	placed = counters->payload_bytes_placed - placed;
	series_add(host->series, SERIES_PLACED, arrival->at, placed);
	uint64_t bin = (uint64_t)arrival->at / (uint64_t)host->series->bin_ps;
	if (host->placed != NULL && bin < host->series->count)
		host->placed[(nic - host->nics) * host->series->count + bin] += placed;
}

static void take(struct world_host *host, struct nic *nic, const struct arrival *arrival,
		 struct outbox *out)
{
	if (host->series != NULL)
		count(host, nic, arrival, out);
	else
		endpoint_receive(nic->endpoint, arrival->packet, arrival->at, out);
}

void watched_receive(struct world_host *host, struct nic *nic, const struct arrival *arrival,
		     struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, arrival->packet);
	if (host->delays == NULL || packet->payload_bytes == 0) {
		take(host, nic, arrival, out);
		return;
	}
	struct delay_arrival seen = delays_see(packet, host->delays, nic, arrival->at);
	take(host, nic, arrival, out);
	delays_on_arrival(host, nic, &seen);
}
