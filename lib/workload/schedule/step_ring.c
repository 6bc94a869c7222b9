// SPDX-License-Identifier: Apache-2.0
// The time of a ring collective in closed form.
// Facts: NCCL's ring in Simple protocol: a rank's share of a channel goes in loops of one chunk,
// and a chunk in two slices, of which the first may be passed on while the second comes in. So a
// loop takes ranks - 1 chunks at the channel's bandwidth, or, where that is less, one slice and a
// latency for each hop round the ring. Where a rank has few credits, the hop over the network is
// the narrowest: so many slices pass it in the time of one there and a credit back, and all of a
// rank's ranks - 1 chunks pass each hop.
// How a ring fills is left out of that, if it is not asked for. A rank begins a loop when it has
// sent all of the one before, so that a loop has two hops less than the ring, on average over them,
// and a chunk; the first loop begins with all credits; and behind the last one the last slice has a
// hop before it, and the acknowledgement back, without which its send has not ended.

#include <errno.h>

#include <weft/workload/step.h>

#define RATE_MAX (UINT64_C(1) << 50) // bytes/s
#define LATENCY_MAX PS_PER_S
#define SLICES 2 // of a chunk

int ring_time_check(const struct ring_time *ring, struct refusal *refusal)
{
	uint32_t here = ring->ranks_per_domain;
	if (ring->ranks == 0 || here == 0 || ring->ranks % here != 0 || ring->channels == 0 ||
	    ring->channels > 1024 || ring->ranks > (1u << 24))
		return refuse(refusal, -EINVAL,
			      "a ring of % ranks, % in a domain, with % channels is none",
			      ring->ranks, here, ring->channels);
	if (ring->network_Bps < 1000000 || ring->network_Bps > RATE_MAX ||
	    ring->domain_Bps < 1000000 || ring->domain_Bps > RATE_MAX)
		return refuse(refusal, -EINVAL,
			      "a ring needs rates from 1 MB/s on: % B/s and % B/s are none",
			      (int64_t)ring->network_Bps, (int64_t)ring->domain_Bps);
	if (ring->network_ps < 0 || ring->network_ps > LATENCY_MAX || ring->domain_ps < 0 ||
	    ring->domain_ps > LATENCY_MAX || ring->chunk_bytes < SLICES ||
	    ring->chunk_bytes > (1u << 30) || ring->credit_ps < 0 || ring->credit_ps > LATENCY_MAX)
		return refuse(refusal, -EINVAL,
			      "a ring needs latencies below 1 s and chunks up to 1 GiB");
	return 0;
}

static ps_t time_at(uint64_t bytes, uint64_t rate_Bps)
{
	return (ps_t)((unsigned __int128)bytes * PS_PER_S / rate_Bps);
}

// `steps` chunks over one hop of the network, as credits let them; the first ones have some.
static ps_t credit_ps(const struct ring_time *ring, uint32_t steps, ps_t slice_ps, bool is_first)
{
	if (ring->credits == 0 || ring->ranks == ring->ranks_per_domain)
		return 0;
	ps_t turn_ps = slice_ps + ring->network_ps + ring->credit_ps;
	if (ring->is_filled && is_first)
		return (ps_t)((steps * SLICES - 1) / ring->credits) * turn_ps + SLICES * slice_ps;
	return (ps_t)((__int128)turn_ps * steps * SLICES / ring->credits);
}

// One loop of so many steps, in which each rank's share of a channel is `chunk` bytes.
static ps_t loop_ps(const struct ring_time *ring, uint64_t chunk, uint32_t steps, bool is_first)
{
	uint32_t domains = ring->ranks / ring->ranks_per_domain,
		 hops = ring->ranks - !ring->is_filled;
	uint32_t network_hops = domains > 1 ? domains : 0;
	uint32_t domain_hops = hops > network_hops ? hops - network_hops : 0;
	uint64_t rate_Bps = (domains > 1 ? ring->network_Bps : ring->domain_Bps) / ring->channels;
	uint64_t slice = chunk / SLICES;
	ps_t granted = credit_ps(ring, steps, time_at(slice, rate_Bps), is_first);
	ps_t streamed = steps * time_at(chunk, rate_Bps);
	ps_t passed = network_hops * (time_at(slice, rate_Bps) + ring->network_ps) +
		domain_hops * (time_at(slice, ring->domain_Bps / ring->channels) + ring->domain_ps);
	if (ring->is_filled)
		passed = (ps_t)((__int128)passed * (steps - 1) / hops) + time_at(chunk, rate_Bps);
	return ps_max(ps_max(streamed, passed), granted);
}

static ps_t last_hop_ps(const struct ring_time *ring)
{
	if (!ring->is_filled)
		return 0;
	return ring->ranks > ring->ranks_per_domain ? 2 * ring->network_ps : ring->domain_ps;
}

static ps_t loops_ps(const struct ring_time *ring, uint64_t bytes, uint32_t steps)
{
	if (ring->ranks < 2 || bytes == 0)
		return 0;
	uint64_t share = bytes / ring->ranks / ring->channels;
	uint64_t loops = share / ring->chunk_bytes, rest = share % ring->chunk_bytes;
	ps_t time = rest == 0 ? 0 : loop_ps(ring, rest, steps, loops == 0);
	if (loops > 0)
		time += (ps_t)(loops - 1) * loop_ps(ring, ring->chunk_bytes, steps, false) +
			loop_ps(ring, ring->chunk_bytes, steps, true);
	return time + last_hop_ps(ring);
}

ps_t ring_time_ps(const struct ring_time *ring, uint64_t bytes)
{
	return loops_ps(ring, bytes, ring->ranks - 1);
}

ps_t ring_time_all_ps(const struct ring_time *ring, uint64_t bytes)
{
	if (ring->is_filled)
		return loops_ps(ring, bytes, 2 * (ring->ranks - 1));
	return 2 * ring_time_ps(ring, bytes);
}
