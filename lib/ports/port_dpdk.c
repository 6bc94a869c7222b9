// SPDX-License-Identifier: Apache-2.0
// Ports of DPDK's ring driver: each queue is a ring of ours that leads from its sending to its
// receiving end.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>

#include <weft/core/check.h>

#include "dpdk_ports.h"

#define QUEUES 16 // of a ring port: the driver's limit

uint32_t ports_ring_max(void)
{
	return RTE_MAX_ETHPORTS;
}

uint32_t ports_ring_queues(void)
{
	return QUEUES;
}

// ---------------------------------------------------------------- opening

static uint32_t ring_places(uint32_t frames)
{
	uint32_t places = 64;
	while (places <= frames) // a ring holds one less than its size
		places *= 2;
	return places;
}

static int open_rings(struct ports *ports, struct refusal *refusal)
{
	struct dpdk_ports *own = ports->own;
	for (uint32_t i = 0; i < ports->queue_count; i++) {
		char name[DPDK_NAME_BYTES];
		snprintf(name, sizeof(name), "weft-%u-%u", own->serial, i);
		own->rings[i] = rte_ring_create(name, ring_places(ports->queue_frames[i]),
						SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (own->rings[i] == NULL)
			return dpdk_refuse(refusal, rte_errno, "ring", i);
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
	char name[DPDK_NAME_BYTES];
	snprintf(name, sizeof(name), "weft-%u-%u", own->serial, own->port_count);
	int port = rte_eth_from_rings(name, own->rings + first, count, own->rings + first, count,
				      0);
	if (port < 0)
		return dpdk_refuse(refusal, rte_errno, "port", own->port_count);
	own->ports[own->port_count++] = (uint16_t)port;
	for (uint32_t i = 0; i < count; i++)
		own->slots[first + i] = (struct slot){(uint16_t)port, (uint16_t)i};
	int rc = set_up((uint16_t)port, (uint16_t)count, own->pool);
	return rc == 0 ? 0 : dpdk_refuse(refusal, rc, "queues of port", own->port_count - 1);
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
		char name[DPDK_NAME_BYTES + 16];
		rte_eth_dev_stop(own->ports[i]);
		rte_eth_dev_close(own->ports[i]);
		snprintf(name, sizeof(name), "net_ring_weft-%u-%u", own->serial, i);
		rte_vdev_uninit(name);
	}
	for (uint32_t i = 0; i < ports->queue_count; i++)
		rte_ring_free(own->rings[i]);
	rte_mempool_free(own->pool);
}

static struct ports_ops ops;

static void set_ops(struct ports *ports)
{
	ops = dpdk_frames_ops;
	ops.name = "net_ring";
	ops.close = close_all;
	ports->ops = &ops;
}

// How many ports to open.
static int count_ports(const struct ports *ports, uint32_t *ret, struct refusal *refusal)
{
	uint32_t wanted = ports->port_count, least = (ports->queue_count + QUEUES - 1) / QUEUES;
	uint32_t most = RTE_MAX_ETHPORTS - rte_eth_dev_count_total();
	if (wanted == 0)
		wanted = least;
	if (wanted > most)
		return refuse(refusal, -ENODEV, "DPDK has % ports here; % are wanted", most,
			      wanted);
	if (wanted > ports->queue_count)
		return refuse(refusal, -EINVAL, "the world has % queues for % ports",
			      ports->queue_count, wanted);
	*ret = wanted;
	return 0;
}

static uint64_t memory_for(const struct ports *ports, uint32_t lanes)
{
	uint64_t bytes = dpdk_frames_bytes(ports, lanes);
	for (uint32_t i = 0; i < ports->queue_count; i++)
		bytes += 1024 + (uint64_t)ring_places(ports->queue_frames[i]) * sizeof(void *);
	return bytes + bytes / 16;
}

static int draw(struct ports *ports, struct arena *arena)
{
	if (dpdk_frames_draw(ports, arena) < 0)
		return -ENOMEM;
	struct dpdk_ports *own = ports->own;
	own->rings = arena_draw(arena, ARENA_DRIVE, ports->queue_count, sizeof(*own->rings));
	return own->rings == NULL ? -ENOMEM : 0;
}

int port_dpdk_open(struct ports *ports, struct arena *arena, const struct dpdk_options *options,
		   struct refusal *refusal)
{
	uint32_t lanes = options->lanes > 1 ? options->lanes : 1, count = 0;
	if (draw(ports, arena) < 0)
		return refuse(refusal, -ENOMEM, "the world leaves no memory to ports");
	int rc = dpdk_start(options, memory_for(ports, lanes), refusal);
	if (rc == 0)
		rc = count_ports(ports, &count, refusal);
	if (rc == 0)
		rc = dpdk_frames_open(ports, lanes, refusal);
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
	set_ops(ports);
	return 0;
}
