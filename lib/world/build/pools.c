// SPDX-License-Identifier: Apache-2.0
// The pools of packets, and of lists of them; and what is said where memory is too small.

#include "build.h"

#include <errno.h>

#include <weft/host/qp_pool.h>

#define PACKET_LISTS_BYTES 16u // of a packet in lists beside the pool
#define PACKETS_LEAST (1u << 22)

// Of all pooled QPs: the packets of a pair four times over, and answers to them.
static uint64_t qp_pool_packets(const struct world *world, uint64_t window)
{
	uint64_t qp_pool = qp_pool_count(world->coll_stream);
	if (qp_pool == 0)
		return 0;
	uint32_t ranks = coll_stream_config(world->coll_stream)->ranks;
	uint64_t pair = coll_stream_pair_packets_max(world->coll_stream,
						     world->transport.payload_bytes);
	return ranks * qp_pool * (8 * pair + 16 < window + 64 ? 8 * pair + 16 : window + 64);
}

// Packets that the endpoints can have out at once: per QP what the window lets through four times
// over, plus answers.
static uint32_t default_packets(const struct world *world)
{
	const struct transport_config *transport = &world->transport;
	uint64_t mtu = transport->payload_bytes + transport->header_bytes;
	uint64_t window = cc_bdp_bytes(&transport->cc) * 4 / mtu + 256, packets;
	if (window > transport->mpr)
		window = transport->mpr;
	if (qp_pool_count(world->coll_stream) > 0)
		packets = 4096 + qp_pool_packets(world, window);
	else
		packets = 4096 + world->qp_count * (window + 64);
	return packets < (1u << 27) ? (uint32_t)packets : 1u << 27;
}

// What all QPs together could have out is far more than lines and queues hold where everyone talks
// to everyone: the pool then is what memory has left, and a run that needs more says so.
static uint32_t fitting_packets(const struct world *world, uint32_t packets)
{
	uint64_t left = world->arena->size - world->arena->used;
	uint64_t fit = left / 4 * 3 / (sizeof(struct packet) + PACKET_LISTS_BYTES);
	return packets > fit && fit >= PACKETS_LEAST ? (uint32_t)fit : packets;
}

int build_pools(struct world *world, struct refusal *refusal)
{
	uint32_t packets = world->scenario->packets_max;
	if (packets == 0)
		packets = fitting_packets(world, default_packets(world));
	// lists of 8-byte entries: of cables, two of a switch port, one of a NIC's plane (control)
	uint64_t lists = (uint64_t)world->cable_count * 4;
	// with PFC one process looks at what waits in those of all, at the end
	uint64_t entries = packets * (world->pauses ? (uint64_t)world->shard_count : 1);
	if (packet_pool_init(&world->packets, world->arena, packets) < 0 ||
	    fifo_pool_init(&world->chunks, world->arena, fifo_chunks_for(lists, entries)) < 0)
		return build_no_memory(world, refusal);
	return 0;
}

int build_no_memory(const struct world *world, struct refusal *refusal)
{
	return refuse(refusal, -ENOMEM, "the world does not fit into % MiB: raise limits.memory",
		      (int64_t)(world->arena->size >> 20));
}
