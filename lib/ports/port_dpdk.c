// SPDX-License-Identifier: Apache-2.0
// Ports of DPDK's ring driver: each queue is a ring of ours that leads from its sending to its
// receiving end. Frames are mbufs; arrival time and cable ride in a dynamic field.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_ring.h>

#include <weft/core/check.h>

#include "dpdk_start.h"
#include <weft/ports/port.h>

#define QUEUES 16 // of a ring port: the driver's limit
#define CACHE 256 // frames that an lcore keeps at hand
#define NAME_BYTES 32

// What rides with a frame.
struct ride {
	ps_t at;
	uint32_t cable;
};

// Where one of our queues is.
struct seat {
	uint16_t port, queue;
};

struct dpdk_ports {
	struct rte_mempool *pool;
	struct rte_ring **rings; // [queues]
	struct seat *seats;	 // [queues]
	uint16_t ports[RTE_MAX_ETHPORTS];
	uint32_t port_count; // opened
	uint32_t serial;     // in names
	int ride_at;	     // offset of struct ride in an mbuf
};

static uint32_t serials;

uint32_t ports_ring_max(void)
{
	return RTE_MAX_ETHPORTS;
}

uint32_t ports_ring_queues(void)
{
	return QUEUES;
}

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

static void send_burst(struct ports *ports, uint32_t queue, const struct frame *frames,
		       uint32_t count)
{
	struct dpdk_ports *own = ports->own;
	struct rte_mbuf *mbufs[PORT_BURST];
	check(count <= PORT_BURST);
	for (uint32_t i = 0; i < count; i++) {
		mbufs[i] = frames[i].owner;
		mbufs[i]->data_len = (uint16_t)frames[i].length;
		mbufs[i]->pkt_len = frames[i].length;
		*ride_of(own, mbufs[i]) = (struct ride){frames[i].at, frames[i].cable};
	}
	const struct seat *seat = &own->seats[queue];
	uint16_t sent = rte_eth_tx_burst(seat->port, seat->queue, mbufs, (uint16_t)count);
	check(sent == count); // the rings hold all that a window can bring
}

static uint32_t receive_burst(struct ports *ports, uint32_t queue, struct frame *ret, uint32_t max)
{
	struct dpdk_ports *own = ports->own;
	struct rte_mbuf *mbufs[PORT_BURST];
	const struct seat *seat = &own->seats[queue];
	uint32_t count = rte_eth_rx_burst(seat->port, seat->queue, mbufs,
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
		int rc = rte_eth_stats_get(own->ports[i], &stats);
		check(rc == 0);
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

// ---------------------------------------------------------------- opening

static uint32_t ring_places(uint32_t frames)
{
	uint32_t places = 64;
	while (places <= frames) // a ring holds one less than its size
		places *= 2;
	return places;
}

static int refuse_dpdk(struct refusal *refusal, int error, const char *what, uint32_t number)
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

static int open_pool(struct ports *ports, uint32_t lanes, struct refusal *refusal)
{
	struct dpdk_ports *own = ports->own;
	static const struct rte_mbuf_dynfield field = {.name = "weft_ride",
						       .size = sizeof(struct ride),
						       .align = __alignof__(struct ride)};
	char name[NAME_BYTES];
	snprintf(name, sizeof(name), "weft-frames-%u", own->serial);
	own->ride_at = rte_mbuf_dynfield_register(&field);
	if (own->ride_at < 0)
		return refuse_dpdk(refusal, rte_errno, "field in a frame, number", 1);
	ports->frames += 2 * CACHE * lanes;
	uint32_t room = (RTE_PKTMBUF_HEADROOM + ports->frame_bytes_max + 63u) & ~63u;
	own->pool = create_pool(name, ports->frames, (uint16_t)room);
	if (own->pool == NULL)
		return refuse(
			refusal, -ENODEV,
			"DPDK has no memory for % frames of % bytes: give it more (--eal \"-m "
			"MiB\"), or lower limits.packets",
			ports->frames, room, 0);
	return 0;
}

static int open_rings(struct ports *ports, struct refusal *refusal)
{
	struct dpdk_ports *own = ports->own;
	for (uint32_t i = 0; i < ports->queue_count; i++) {
		char name[NAME_BYTES];
		snprintf(name, sizeof(name), "weft-%u-%u", own->serial, i);
		own->rings[i] = rte_ring_create(name, ring_places(ports->queue_frames[i]),
						SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (own->rings[i] == NULL)
			return refuse_dpdk(refusal, rte_errno, "ring", i);
	}
	return 0;
}

static int set_up(uint16_t port, uint16_t queues, struct rte_mempool *pool)
{
	static const struct rte_eth_conf conf;
	int rc = rte_eth_dev_configure(port, queues, queues, &conf);
	for (uint16_t i = 0; rc == 0 && i < queues; i++) {
		rc = rte_eth_rx_queue_setup(port, i, 0, SOCKET_ID_ANY, NULL, pool);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup(port, i, 0, SOCKET_ID_ANY, NULL);
	}
	return rc == 0 ? rte_eth_dev_start(port) : rc;
}

// The port of `count` queues from `first` on.
static int open_port(struct ports *ports, uint32_t first, uint32_t count, struct refusal *refusal)
{
	struct dpdk_ports *own = ports->own;
	char name[NAME_BYTES];
	snprintf(name, sizeof(name), "weft-%u-%u", own->serial, own->port_count);
	int port = rte_eth_from_rings(name, own->rings + first, count, own->rings + first, count,
				      0);
	if (port < 0)
		return refuse_dpdk(refusal, rte_errno, "port", own->port_count);
	own->ports[own->port_count++] = (uint16_t)port;
	for (uint32_t i = 0; i < count; i++)
		own->seats[first + i] = (struct seat){(uint16_t)port, (uint16_t)i};
	int rc = set_up((uint16_t)port, (uint16_t)count, own->pool);
	return rc == 0 ? 0 : refuse_dpdk(refusal, rc, "queues of port", own->port_count - 1);
}

// Deals the queues out over `count` ports, alike.
static int open_ports(struct ports *ports, uint32_t count, struct refusal *refusal)
{
	int rc = 0;
	for (uint64_t i = 0; rc == 0 && i < count; i++) {
		uint32_t first = (uint32_t)(i * ports->queue_count / count);
		uint32_t next = (uint32_t)((i + 1) * ports->queue_count / count);
		rc = open_port(ports, first, next - first, refusal);
	}
	return rc;
}

static void close_all(struct ports *ports)
{
	struct dpdk_ports *own = ports->own;
	for (uint32_t i = 0; i < own->port_count; i++) {
		char name[NAME_BYTES + 16];
		rte_eth_dev_stop(own->ports[i]);
		rte_eth_dev_close(own->ports[i]);
		snprintf(name, sizeof(name), "net_ring_weft-%u-%u", own->serial, i);
		rte_vdev_uninit(name);
	}
	for (uint32_t i = 0; i < ports->queue_count; i++)
		rte_ring_free(own->rings[i]);
	rte_mempool_free(own->pool);
}

static const struct ports_ops ops = {
	.name = "net_ring",
	.take = take,
	.give = give,
	.send = send_burst,
	.receive = receive_burst,
	.look = look,
	.count = count_all,
	.taken = taken,
	.close = close_all,
};

// How many ports to open.
static int count_ports(const struct ports *ports, uint32_t *ret, struct refusal *refusal)
{
	uint32_t wanted = ports->port_count, least = (ports->queue_count + QUEUES - 1) / QUEUES;
	uint32_t most = RTE_MAX_ETHPORTS - rte_eth_dev_count_total();
	if (wanted == 0)
		wanted = least;
	if (wanted > most)
		return refuse(refusal, -ENODEV, "DPDK has % ports here; % are wanted", most, wanted,
			      0);
	if (wanted > ports->queue_count)
		return refuse(refusal, -EINVAL, "the world has % queues for % ports",
			      ports->queue_count, wanted, 0);
	*ret = wanted;
	return 0;
}

static uint64_t memory_for(const struct ports *ports, uint32_t lanes)
{
	uint64_t frame = sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + 256 +
		ports->frame_bytes_max;
	uint64_t bytes = (ports->frames + 2 * CACHE * (uint64_t)lanes) * frame;
	for (uint32_t i = 0; i < ports->queue_count; i++)
		bytes += 1024 + (uint64_t)ring_places(ports->queue_frames[i]) * sizeof(void *);
	return bytes + bytes / 16;
}

static int draw(struct ports *ports, struct arena *arena)
{
	struct dpdk_ports *own = arena_draw(arena, ARENA_DRIVE, 1, sizeof(*own));
	if (own == NULL)
		return -ENOMEM;
	ports->own = own;
	own->serial = serials++;
	own->rings = arena_draw(arena, ARENA_DRIVE, ports->queue_count, sizeof(*own->rings));
	own->seats = arena_draw(arena, ARENA_DRIVE, ports->queue_count, sizeof(*own->seats));
	return own->rings == NULL || own->seats == NULL ? -ENOMEM : 0;
}

int port_dpdk_open(struct ports *ports, struct arena *arena, const struct dpdk_options *options,
		   struct refusal *refusal)
{
	uint32_t lanes = options->lanes > 1 ? options->lanes : 1, count = 0;
	if (draw(ports, arena) < 0)
		return refuse(refusal, -ENOMEM, "the world leaves no memory to ports", 0, 0, 0);
	int rc = dpdk_start(options, memory_for(ports, lanes), refusal);
	if (rc == 0)
		rc = count_ports(ports, &count, refusal);
	if (rc == 0)
		rc = open_pool(ports, lanes, refusal);
	if (rc == 0)
		rc = open_rings(ports, refusal);
	if (rc == 0)
		rc = open_ports(ports, count, refusal);
	struct dpdk_ports *own = ports->own;
	if (rc < 0) {
		close_all(ports);
		return rc;
	}
	ports->port_count = own->port_count;
	ports->ops = &ops;
	return 0;
}
