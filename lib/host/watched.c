// SPDX-License-Identifier: Apache-2.0
// Arrivals at a NIC whose host counts over time (watch.bin) or times packets (watch.delays).

#include <weft/core/packet_stamp.h>
#include <weft/measure/measure_delay.h>

#include <weft/host/host.h>
#include <weft/host/host_delays.h>
#include <weft/host/tail.h>

static inline void note_way(const struct world_host *host, const struct nic_peer *peer,
			    const struct packet *packet, ps_t age_ps)
{
	int64_t age_ns = (int64_t)((uint64_t)age_ps / PS_PER_NS);
	delays_add_one_way(host->delays, (enum pair_class)peer->pair,
			   delays_path(host->delays, packet->ev, packet->plane), age_ns);
}

// A packet that is late, or whose age is not known: frames do not say it.
static __attribute__((noinline)) void note_late(const struct world_host *host,
						const struct nic *nic, const struct packet *packet,
						ps_t age_ps)
{
	if (age_ps < 0)
		return;
	note_way(host, &nic->peers[packet->qpn], packet, age_ps);
	tail_add(host->tail, packet, (uint64_t)age_ps);
}

// Times a packet that goes to an own QP, before its endpoint takes it and reuses it for its answer.
// Whether a message may begin on that QP.
static inline bool note_packet(struct world_host *host, struct nic *nic,
			       const struct packet *packet, ps_t now)
{
	uint32_t qpn = packet->qpn;
	if (qpn >= nic->qp_count)
		return false;
	ps_t age_ps = packet_age(packet, now);
	if (__builtin_expect((uint64_t)age_ps < host->late_ps, 1))
		note_way(host, &nic->peers[qpn], packet, age_ps);
	else
		note_late(host, nic, packet, age_ps);
	if (__builtin_expect(nic->delays->came != NULL, 0))
		delays_note_gap(host, nic, qpn, now);
	if (__builtin_expect(nic->delays->open[qpn] & DELAYS_OPEN, 1))
		return false; // a message comes in already
	return delays_opens(nic, qpn);
}

// Adds what came into the NIC since its bin began to that bin, and begins the next.
static void settle(const struct world_host *host, const struct nic *nic)
{
	const struct transport_counters *counters = endpoint_counters(nic->endpoint);
	struct nic_bin *bin = nic->bin;
	uint64_t arrived = counters->data_received - bin->arrived;
	uint64_t placed = counters->payload_bytes_placed - bin->placed;
	struct series *series = host->series;
	if (arrived == 0) // a series that halves goes no further than data came
		return;
	uint64_t *cells = series_at(series, bin->from_ps);
	cells[SERIES_ARRIVED] += arrived;
	cells[SERIES_PLACED] += placed;
	if (host->placed != NULL && series->recent < series->count)
		host->placed[(size_t)(nic - host->nics) * series->count + series->recent] += placed;
	bin->arrived += arrived;
	bin->placed += placed;
}

// The NIC's bin is over at `now`. One that lies in a bin of the series does so, too, when those
// have become longer meanwhile.
static __attribute__((noinline)) void turn(const struct world_host *host, const struct nic *nic,
					   ps_t now)
{
	settle(host, nic);
	nic->bin->from_ps = now - now % host->series->bin_ps;
	nic->bin->until_ps = nic->bin->from_ps + host->series->bin_ps;
}

void watched_settle(const struct world_host *host)
{
	for (uint32_t i = 0; host->series != NULL && i < host->nic_count; i++)
		if (host->nics[i].endpoint != NULL && host->nics[i].bin->until_ps > 0)
			settle(host, &host->nics[i]); // the others' data came elsewhere, if any
}

// Takes a packet by which a message may begin on its QP: if it is placed.
static __attribute__((noinline)) void receive_first(struct world_host *host, struct nic *nic,
						    const struct arrival *arrival,
						    struct outbox *out)
{
	const struct transport_counters *counters = endpoint_counters(nic->endpoint);
	uint32_t qpn = packet_at(out->packets, arrival->packet)->qpn;
	uint64_t placed = counters->payload_bytes_placed;
	endpoint_receive(nic->endpoint, arrival->packet, arrival->at, out);
	if (counters->payload_bytes_placed != placed)
		delays_open(host, nic, qpn, arrival->at);
}

void watched_receive(struct world_host *host, struct nic *nic, const struct arrival *arrival,
		     struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, arrival->packet);
	if (arrival->at >= nic->bin->until_ps)
		turn(host, nic, arrival->at);
	if (host->delays != NULL && packet->payload_bytes > 0 &&
	    __builtin_expect(note_packet(host, nic, packet, arrival->at), 0))
		receive_first(host, nic, arrival, out);
	else
		endpoint_receive(nic->endpoint, arrival->packet, arrival->at, out);
}
