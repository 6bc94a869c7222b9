// SPDX-License-Identifier: Apache-2.0
// Frames of DPDK's ports: mbufs of one pool; arrival time and cable ride in a dynamic field.

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_mbuf_dyn.h>
#include <rte_mbuf_pool_ops.h>

#include <weft/core/check.h>

#include "dpdk_ports.h"

#define CACHE 256 // frames that an lcore keeps at hand

// What rides with a frame.
struct ride {
	ps_t at;
	uint32_t cable;
};

static uint32_t serials;

static struct ride *ride_of(const struct dpdk_ports *own, struct rte_mbuf *mbuf)
{
	return RTE_MBUF_DYNFIELD(mbuf, own->ride_at, struct ride *);
}

// ---------------------------------------------------------------- frames

static void look(const struct ports *ports, void *owner, struct frame *ret)
{
	struct rte_mbuf *mbuf = owner;
	const struct ride *ride = ride_of(ports->own, mbuf);
	*ret = (struct frame){mbuf, rte_pktmbuf_mtod(mbuf, uint8_t *), rte_pktmbuf_data_len(mbuf),
			      ride->cable, ride->at};
}

static bool take(struct ports *ports, struct frame *ret, uint32_t count)
{
	struct dpdk_ports *own = ports->own;
	struct rte_mbuf *mbufs[PORT_BURST];
	check(count <= PORT_BURST);
	if (rte_pktmbuf_alloc_bulk(own->pool, mbufs, count) != 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(mbufs[i], 1);
	for (uint32_t i = 0; i < count; i++) {
		__builtin_prefetch(rte_pktmbuf_mtod(mbufs[i], uint8_t *), 1);
		__builtin_prefetch(rte_pktmbuf_mtod(mbufs[i], uint8_t *) + 64, 1);
	}
	for (uint32_t i = 0; i < count; i++)
		ret[i] = (struct frame){.owner = mbufs[i],
					.bytes = rte_pktmbuf_mtod(mbufs[i], uint8_t *)};
	return true;
}

static void give(struct ports *ports, void *const *owners, uint32_t count)
{
	(void)ports;
	rte_pktmbuf_free_bulk((struct rte_mbuf **)(uintptr_t)owners, count);
}

static void stamp(const struct ports *ports, const struct timed *timed, const struct frame *frames,
		  uint32_t count)
{
	const struct dpdk_ports *own = ports->own;
	for (uint32_t i = 0; i < count; i++)
		if (frames[i].at > 0)
			timed_stamp(&own->timed_field, timed, frames[i].owner,
				    ports->start_ns + frames[i].at / PS_PER_NS);
}

static uint32_t send_burst(struct ports *ports, uint32_t queue, const struct frame *frames,
			   uint32_t count)
{
	struct dpdk_ports *own = ports->own;
	struct rte_mbuf *mbufs[PORT_BURST];
	check(count <= PORT_BURST);
	for (uint32_t i = 0; i < count; i++) {
		mbufs[i] = frames[i].owner;
		if (mbufs[i]->nb_segs == 1)
			mbufs[i]->data_len = (uint16_t)frames[i].length;
		mbufs[i]->pkt_len = frames[i].length;
		*ride_of(own, mbufs[i]) = (struct ride){frames[i].at, frames[i].cable};
	}
	if (own->has_timed && own->timed[queue].is_on)
		stamp(ports, &own->timed[queue], frames, count);
	const struct slot *slot = &own->slots[queue];
	return rte_eth_tx_burst(slot->port, slot->queue, mbufs, (uint16_t)count);
}

static uint32_t receive_burst(struct ports *ports, uint32_t queue, struct frame *ret, uint32_t max)
{
	struct dpdk_ports *own = ports->own;
	struct rte_mbuf *mbufs[PORT_BURST];
	const struct slot *slot = &own->slots[queue];
	uint32_t count = rte_eth_rx_burst(slot->port, slot->queue, mbufs,
					  (uint16_t)(max < PORT_BURST ? max : PORT_BURST));
	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(mbufs[i]);
	for (uint32_t i = 0; i < count; i++) {
		look(ports, mbufs[i], &ret[i]);
		__builtin_prefetch(ret[i].bytes);
		__builtin_prefetch(ret[i].bytes + 64);
	}
	return count;
}

static void count_all(const struct ports *ports, struct port_counts *ret)
{
	const struct dpdk_ports *own = ports->own;
	struct port_counts sum = {0};
	for (uint32_t i = 0; i < own->port_count; i++) {
		struct rte_eth_stats stats;
		if (rte_eth_stats_get(own->ports[i], &stats) != 0)
			continue; // a device that counts nothing: DEVICE_COUNTS says so
		sum.sent += stats.opackets;
		sum.received += stats.ipackets;
		sum.missed += stats.imissed + stats.ierrors + stats.oerrors + stats.rx_nombuf;
	}
	*ret = sum;
}

static uint32_t taken(const struct ports *ports)
{
	const struct dpdk_ports *own = ports->own;
	return rte_mempool_in_use_count(own->pool);
}

const struct ports_ops dpdk_frames_ops = {
	.take = take,
	.give = give,
	.send = send_burst,
	.receive = receive_burst,
	.look = look,
	.count = count_all,
	.taken = taken,
};

// ---------------------------------------------------------------- the pool

uint64_t dpdk_frames_bytes(const struct ports *ports, uint32_t lanes)
{
	uint64_t frame = sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + 256 +
		ports->frame_bytes_max;
	uint64_t part = sizeof(struct rte_mbuf) + 128 + DPDK_PART_BYTES;
	return (ports->frames + 2 * CACHE * (uint64_t)lanes) * frame +
		(ports->loans > 0 ? (2 * ports->loans + 2 * CACHE) * part : 0);
}

int dpdk_frames_draw(struct ports *ports, struct arena *arena)
{
	struct dpdk_ports *own = arena_draw(arena, ARENA_DRIVE, 1, sizeof(*own));
	if (own == NULL)
		return -ENOMEM;
	ports->own = own;
	own->serial = serials++;
	own->slots = arena_draw(arena, ARENA_DRIVE, ports->queue_count, sizeof(*own->slots));
	return own->slots == NULL ? -ENOMEM : 0;
}

int dpdk_refuse(struct refusal *refusal, int error, const char *what, uint32_t number)
{
	snprintf(refusal->text, sizeof(refusal->text), "DPDK gives no %s %u: %s", what, number,
		 rte_strerror(error < 0 ? -error : error));
	return -ENODEV;
}

// A pool as rte_pktmbuf_pool_create() makes it, but that asks for no physical contiguity, which no
// ring port needs: with pages of 4 KiB each larger frame would be given a whole number of them, and
// what the pool grabs so would be missing to rings and ports.
static struct rte_mempool *create_pool(const char *name, uint32_t frames, uint16_t room)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = room};
	struct rte_mempool *pool = rte_mempool_create_empty(
		name, frames, (uint32_t)sizeof(struct rte_mbuf) + room, CACHE, sizeof(private),
		SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return NULL;
	rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);
	rte_pktmbuf_pool_init(pool, &private);
	if (rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

int dpdk_frames_open(struct ports *ports, uint32_t lanes, struct refusal *refusal)
{
	struct dpdk_ports *own = ports->own;
	static const struct rte_mbuf_dynfield field = {.name = "weft_ride",
						       .size = sizeof(struct ride),
						       .align = __alignof__(struct ride)};
	char name[DPDK_NAME_BYTES];
	snprintf(name, sizeof(name), "weft-frames-%u", own->serial);
	own->ride_at = rte_mbuf_dynfield_register(&field);
	if (own->ride_at < 0)
		return dpdk_refuse(refusal, rte_errno, "field in a frame, number", 1);
	ports->frames += 2 * CACHE * lanes;
	uint32_t room = (RTE_PKTMBUF_HEADROOM + ports->frame_bytes_max + 63u) & ~63u;
	own->pool = create_pool(name, ports->frames, (uint16_t)room);
	if (own->pool == NULL)
		return refuse(
			refusal, -ENODEV,
			"DPDK has no memory for % frames of % bytes: give it more (--eal \"-m "
			"MiB\"), or lower limits.packets",
			ports->frames, room);
	if (ports->loans == 0)
		return 0;
	snprintf(name, sizeof(name), "weft-parts-%u", own->serial);
	own->parts = create_pool(name, 2 * ports->loans + 2 * CACHE, DPDK_PART_BYTES);
	return own->parts != NULL ? 0 : dpdk_refuse(refusal, rte_errno, "pool, number", 2);
}
