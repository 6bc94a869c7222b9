// SPDX-License-Identifier: Apache-2.0
// What a device is and can. See device.h.

#include <weft/ports/device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include <weft/core/check.h>

#include "dpdk_ports.h"

uint32_t device_longest(const struct rte_eth_dev_info *info)
{
	if (strcmp(info->driver_name, "net_memif") == 0 ||
	    strcmp(info->driver_name, "net_af_packet") == 0)
		return UINT32_MAX;
	uint32_t by_mtu = info->max_mtu + ETHERNET_BYTES;
	return info->max_rx_pktlen < by_mtu ? info->max_rx_pktlen : by_mtu;
}

// The longest frame: the kernel's MTU says it, memif has buffers as long as asked for.
static uint32_t longest_frame(const struct device_name *name, const struct rte_eth_dev_info *info)
{
	char line[64];
	if (name->kind == DEVICE_INTERFACE)
		return device_line(SYSFS, name->name, "mtu", line, sizeof(line))
			? (uint32_t)strtoul(line, NULL, 10) + ETHERNET_BYTES
			: 0;
	return device_longest(info);
}

// The kernel says nothing of a link that is down.
static void find_carrier(struct device_facts *ret)
{
	char line[64];
	ret->is_up = device_line(SYSFS, ret->interface, "carrier", line, sizeof(line)) &&
		line[0] == '1';
	long mbps = device_line(SYSFS, ret->interface, "speed", line, sizeof(line))
		? strtol(line, NULL, 10)
		: 0;
	ret->link_mbps = mbps > 0 ? (uint32_t)mbps : 0;
}

static void find_abilities(struct device_facts *ret, uint16_t port,
			   const struct rte_eth_dev_info *info)
{
	struct timespec clock;
	uint64_t tx = info->tx_offload_capa, rx = info->rx_offload_capa;
	ret->can[DEVICE_SENDS_CHAINS] = (tx & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
	ret->can[DEVICE_SENDS_CHECKSUM] = (tx & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) != 0;
	ret->can[DEVICE_READS_CHECKSUM] = (rx & RTE_ETH_RX_OFFLOAD_UDP_CKSUM) != 0;
	ret->can[DEVICE_SPREADS] = info->max_rx_queues > 1 && info->flow_type_rss_offloads != 0;
	ret->can[DEVICE_STAMPS] = (rx & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
	ret->can[DEVICE_SENDS_TIMED] = (tx & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP) != 0;
	ret->can[DEVICE_HAS_CLOCK] = rte_eth_timesync_read_time(port, &clock) == 0;
	struct rte_eth_stats stats;
	ret->can[DEVICE_COUNTS] = rte_eth_stats_get(port, &stats) == 0;
}

void port_device_facts(const struct ports *ports, uint32_t index, struct device_facts *ret)
{
	const struct dpdk_ports *own = ports->own;
	const struct device_name *name = &own->names[index];
	uint16_t port = own->ports[index];
	struct rte_eth_dev_info info;
	struct rte_eth_link link = {0};
	struct rte_ether_addr mac = {0};
	*ret = (struct device_facts){0};
	check(rte_eth_dev_info_get(port, &info) == 0);
	snprintf(ret->driver, sizeof(ret->driver), "%s", info.driver_name);
	if (name->kind == DEVICE_INTERFACE)
		snprintf(ret->interface, sizeof(ret->interface), "%.31s", name->name);
	if (rte_eth_macaddr_get(port, &mac) == 0)
		memcpy(ret->mac, mac.addr_bytes, sizeof(ret->mac));
	if (ret->interface[0] != '\0') { // af_packet calls any link up
		find_carrier(ret);
	} else if (rte_eth_link_get_nowait(port, &link) == 0) {
		ret->is_up = link.link_status == RTE_ETH_LINK_UP;
		ret->link_mbps = link.link_speed != UINT32_MAX ? link.link_speed : 0;
	}
	ret->frame_bytes_max = longest_frame(name, &info);
	ret->rx_queues = info.max_rx_queues;
	ret->tx_queues = info.max_tx_queues;
	ret->rx_places = info.rx_desc_lim.nb_max;
	ret->tx_places = info.tx_desc_lim.nb_max;
	int counters = rte_eth_xstats_get_names(port, NULL, 0);
	ret->counters = counters > 0 ? (uint32_t)counters : 0;
	ret->device_node = rte_eth_dev_socket_id(port);
	ret->lcore_node = (int)rte_lcore_to_socket_id(rte_get_main_lcore());
	ret->memory_node = own->pool->socket_id;
	find_abilities(ret, port, &info);
	if (name->kind == DEVICE_PCI || name->kind == DEVICE_INTERFACE)
		roce_find(&ret->roce, SYSFS, name->kind == DEVICE_PCI ? name->name : "",
			  ret->interface);
	if (name->kind == DEVICE_INTERFACE)
		veth_find(&ret->veth, ret->interface);
	ret->can[DEVICE_SELECTS] = own->takes_all[index][0] == '\0';
	memcpy(ret->untimed, own->timed[index].why_not, sizeof(ret->untimed));
	memcpy(ret->takes_all, own->takes_all[index], sizeof(ret->takes_all));
}
