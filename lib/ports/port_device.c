// SPDX-License-Identifier: Apache-2.0
// Devices as ports. See device.h.

#include <weft/ports/device.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_flow.h>
#include <rte_lcore.h>

#include <weft/core/check.h>

#include "dpdk_ports.h"
#include "dpdk_start.h"
#include "isolation.h"
#include "packet_socket.h"

#define RX_PLACES 1024
#define TX_PLACES 1024
#define MEMIF "memif:"

// A virtual device, as DPDK makes it.
struct maker {
	char name[DPDK_NAME_BYTES], arguments[2 * DEVICE_WORD_BYTES];
	uint32_t frame_bytes; // of the longest frame that is sent
};

static int refuse_word(struct refusal *refusal, int code, const char *why, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s: '%.*s'", why, DEVICE_WORD_BYTES, word);
	return code;
}

// Sockets without a name in the file system, and another for each user.
static int make_memif(struct maker *ret, const struct ports *ports, const struct device *device,
		      uint32_t index, struct refusal *refusal)
{
	const char *name = device->word + strlen(MEMIF);
	if (name[0] == '\0' || strlen(name) > 64 || strpbrk(name, ",=") != NULL)
		return refuse_word(refusal, -EINVAL, "no name for memif", device->word);
	uint32_t room = (ports->frame_bytes_max + 63u) & ~63u;
	snprintf(ret->name, sizeof(ret->name), "net_memif%u", index);
	snprintf(ret->arguments, sizeof(ret->arguments),
		 "role=%s,id=0,socket=weft-%u-%s,socket-abstract=yes,bsize=%u,rsize=10",
		 device->is_server ? "server" : "client", (unsigned)getuid(), name, room);
	return 0;
}

// ---------------------------------------------------------------- interfaces of the kernel

#define NET "/sys/class/net"
#define KERNEL_HEADER 80u // what the kernel writes before a frame in its ring, at most
#define PLACE_HEADER 32u  // of it, what DPDK does not ask of a buffer to hold
#define ETHERNET_BYTES 14u
#define BLOCK_BYTES 65536u // of the kernel's ring

static bool read_line(const char *name, const char *what, char *ret, int bytes)
{
	char path[256];
	snprintf(path, sizeof(path), NET "/%.64s/%s", name, what);
	FILE *file = fopen(path, "r");
	bool has_line = file != NULL && fgets(ret, bytes, file) != NULL;
	if (file != NULL)
		fclose(file);
	if (has_line)
		ret[strcspn(ret, "\n")] = '\0';
	return has_line;
}

static bool is_mac(const char *word)
{
	uint32_t digits = 0;
	for (const char *at = word; *at != '\0'; at++) {
		if ((at - word) % 3 == 2 ? *at != ':' : !isxdigit((unsigned char)*at))
			return false;
		digits++;
	}
	return digits == 17;
}

// The interface that a word names; empty if it names none, or a MAC that two of them have.
static void find_interface(const char *word, char *ret, size_t bytes)
{
	char line[64];
	ret[0] = '\0';
	if (!is_mac(word)) {
		if (strlen(word) < bytes && strpbrk(word, "/,.") == NULL &&
		    read_line(word, "mtu", line, sizeof(line)))
			strcpy(ret, word);
		return;
	}
	DIR *folder = opendir(NET);
	struct dirent *entry;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (strlen(entry->d_name) >= bytes ||
		    !read_line(entry->d_name, "address", line, sizeof(line)) ||
		    strcasecmp(line, word) != 0)
			continue;
		bool is_second = ret[0] != '\0';
		strcpy(ret, is_second ? "" : entry->d_name);
		if (is_second)
			break;
	}
	if (folder != NULL)
		closedir(folder);
}

static bool is_interface(const char *word)
{
	char name[64];
	find_interface(word, name, sizeof(name));
	return name[0] != '\0';
}

// A place in the kernel's ring, of which DPDK wants a block to hold a whole number.
static uint32_t place_bytes(uint32_t frame_bytes)
{
	uint32_t place = 2048;
	while (place < frame_bytes + KERNEL_HEADER)
		place *= 2;
	return place;
}

// A ring of the kernel whose places hold our frames.
static int make_af_packet(struct maker *ret, const char *interface, uint32_t index,
			  struct refusal *refusal)
{
	char line[64];
	uint32_t wanted = ret->frame_bytes;
	uint32_t mtu = read_line(interface, "mtu", line, sizeof(line))
		? (uint32_t)strtoul(line, NULL, 10)
		: 0;
	if (mtu + ETHERNET_BYTES < wanted) {
		snprintf(refusal->text, sizeof(refusal->text),
			 "interface %.64s has an MTU of %u, and frames here take %u: raise it (ip "
			 "link set %.64s mtu %u), or lower transport.payload",
			 interface, mtu, wanted - ETHERNET_BYTES, interface,
			 wanted - ETHERNET_BYTES);
		return -EINVAL;
	}
	snprintf(ret->name, sizeof(ret->name), "net_af_packet%u", index);
	snprintf(ret->arguments, sizeof(ret->arguments),
		 "iface=%s,blocksz=%u,framesz=%u,framecnt=%u", interface, BLOCK_BYTES,
		 place_bytes(wanted), RX_PLACES);
	return 0;
}

static int make_of(struct maker *ret, const struct ports *ports, const struct device *device,
		   uint32_t index, struct refusal *refusal)
{
	if (strncmp(device->word, MEMIF, strlen(MEMIF)) == 0)
		return make_memif(ret, ports, device, index, refusal);
	char interface[64];
	find_interface(device->word, interface, sizeof(interface));
	if (interface[0] != '\0')
		return make_af_packet(ret, interface, index, refusal);
	size_t length = strcspn(device->word, ",");
	if (strncmp(device->word, "net_", 4) != 0 || length >= sizeof(ret->name))
		return refuse_word(
			refusal, -EINVAL,
			"a port is memif:NAME, an interface of the kernel by name or MAC, "
			"or a virtual device of DPDK (net_...), not",
			device->word);
	memcpy(ret->name, device->word, length);
	ret->name[length] = '\0';
	snprintf(ret->arguments, sizeof(ret->arguments), "%s",
		 device->word[length] == ',' ? device->word + length + 1 : "");
	return 0;
}

static int set_up(uint16_t port, struct rte_mempool *pool)
{
	static const struct rte_eth_conf conf;
	uint16_t rx = RX_PLACES, tx = TX_PLACES;
	int rc = rte_eth_dev_configure(port, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port, 0, rx, SOCKET_ID_ANY, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port, 0, tx, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(port);
	if (rc == 0)
		rte_eth_promiscuous_enable(port); // where there is no such thing, it is needless
	return rc;
}

static int open_device(struct ports *ports, const struct device *device, uint32_t index,
		       uint32_t frame_bytes, struct refusal *refusal)
{
	struct dpdk_ports *own = ports->own;
	struct maker maker = {.frame_bytes = frame_bytes};
	char why[128];
	int rc = make_of(&maker, ports, device, index, refusal);
	if (rc < 0)
		return rc;
	rc = rte_vdev_init(maker.name, maker.arguments);
	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name(maker.name, &own->ports[index]);
	if (rc == 0) {
		own->port_count = index + 1;
		own->seats[index] = (struct seat){own->ports[index], 0};
		rc = set_up(own->ports[index], own->pool);
	}
	char interface[64];
	find_interface(device->word, interface, sizeof(interface));
	own->sockets[index] = -1;
	if (rc == 0 && interface[0] != '\0') { // open until the process ends, as the device is
		own->is_isolated[index] = isolation_begin(interface) >= 0;
		own->sockets[index] = packet_socket_find(interface);
	}
	snprintf(why, sizeof(why), "DPDK does not open this port (%s)", rte_strerror(-rc));
	return rc == 0 ? 0 : refuse_word(refusal, -ENODEV, why, device->word);
}

// What DPDK counts, and what it does not ask the kernel for.
static void count_all(const struct ports *ports, struct port_counts *ret)
{
	struct dpdk_ports *own = ports->own;
	dpdk_frames_ops.count(ports, ret);
	for (uint32_t i = 0; i < own->port_count; i++)
		own->dropped += packet_socket_dropped(own->sockets[i]);
	ret->missed += own->dropped;
}

// Its devices are left to the end of the process: net_memif of DPDK 22.11 ends it when a device is
// closed whose peer goes at the same time.
static void close_none(struct ports *ports)
{
	(void)ports;
}

static struct ports_ops ops;

int port_device_open(struct ports *ports, struct arena *arena, const struct device *devices,
		     uint32_t count, const struct dpdk_options *options, struct refusal *refusal)
{
	struct dpdk_options with_devices = *options;
	with_devices.has_devices = true;
	ports->queue_count = ports->port_count = count;
	uint32_t frame_bytes = ports->frame_bytes_max;
	check(count > 0 && count <= DEVICES_MAX);
	for (uint32_t i = 0; i < count; i++)
		if (is_interface(devices[i].word)) {
			ports->frame_bytes_max = place_bytes(frame_bytes) - PLACE_HEADER;
			break;
		}
	if (dpdk_frames_draw(ports, arena) < 0)
		return refuse(refusal, -ENOMEM, "no memory for % ports", count, 0, 0);
	int rc = dpdk_start(&with_devices, dpdk_frames_bytes(ports, 1) * 17 / 16, refusal);
	if (rc == 0)
		rc = dpdk_frames_open(ports, 1, refusal);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = open_device(ports, &devices[i], i, frame_bytes, refusal);
	ops = dpdk_frames_ops;
	ops.name = "DPDK";
	ops.count = count_all;
	ops.close = close_none;
	ports->ops = &ops;
	return rc;
}

// ---------------------------------------------------------------- the interrupt thread

static sem_t is_held;

// Runs in that thread, and never returns.
static void hold_thread(void *context)
{
	(void)context;
	sem_post(&is_held);
	for (;;)
		pause();
}

// Alarms go off in it.
static int hold_interrupts(void)
{
	if (sem_init(&is_held, 0, 0) != 0 || rte_eal_alarm_set(1, hold_thread, NULL) != 0)
		return -ENODEV;
	while (sem_wait(&is_held) != 0)
		; // a signal came
	return 0;
}

int port_device_settle(const struct device *devices, uint32_t count, struct refusal *refusal)
{
	bool is_memif = false;
	for (uint32_t i = 0; i < count; i++)
		is_memif |= strncmp(devices[i].word, MEMIF, strlen(MEMIF)) == 0;
	if (is_memif && hold_interrupts() < 0)
		return refuse(refusal, -ENODEV, "DPDK's interrupt thread cannot be held", 0, 0, 0);
	return 0;
}

bool port_device_is_up(const struct ports *ports, uint32_t index)
{
	const struct dpdk_ports *own = ports->own;
	struct rte_eth_link link = {0};
	return rte_eth_link_get_nowait(own->ports[index], &link) == 0 &&
		link.link_status == RTE_ETH_LINK_UP;
}

bool port_device_mac(const struct ports *ports, uint32_t index, uint8_t ret[6])
{
	const struct dpdk_ports *own = ports->own;
	struct rte_ether_addr mac;
	if (rte_eth_macaddr_get(own->ports[index], &mac) != 0 || rte_is_zero_ether_addr(&mac))
		return false;
	memcpy(ret, mac.addr_bytes, sizeof(mac.addr_bytes));
	return true;
}

// ---------------------------------------------------------------- what a device is and can

#define ROCE_PORT 4791

// The longest frame: the kernel's MTU says it, memif has buffers as long as asked for.
static uint32_t longest_frame(const struct device_facts *facts, const char *word,
			      const struct rte_eth_dev_info *info)
{
	char line[64];
	if (strncmp(word, MEMIF, strlen(MEMIF)) == 0)
		return UINT32_MAX;
	if (facts->interface[0] != '\0')
		return read_line(facts->interface, "mtu", line, sizeof(line))
			? (uint32_t)strtoul(line, NULL, 10) + ETHERNET_BYTES
			: 0;
	uint32_t by_mtu = info->max_mtu + ETHERNET_BYTES;
	return info->max_rx_pktlen < by_mtu ? info->max_rx_pktlen : by_mtu;
}

// The kernel says nothing of a link that is down.
static void find_carrier(struct device_facts *ret)
{
	char line[64];
	ret->is_up = read_line(ret->interface, "carrier", line, sizeof(line)) && line[0] == '1';
	long mbps = read_line(ret->interface, "speed", line, sizeof(line)) ? strtol(line, NULL, 10)
									   : 0;
	ret->link_mbps = mbps > 0 ? (uint32_t)mbps : 0;
}

static bool can_select(uint16_t port)
{
	static const struct rte_flow_attr in = {.ingress = 1};
	const struct rte_flow_item_udp udp = {.hdr.dst_port = rte_cpu_to_be_16(ROCE_PORT)};
	const struct rte_flow_item_udp mask = {.hdr.dst_port = UINT16_MAX};
	const struct rte_flow_action_queue queue = {.index = 0};
	const struct rte_flow_item items[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV6},
		{.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &mask},
		{.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_error why;
	return rte_flow_validate(port, &in, items, actions, &why) == 0;
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
	ret->can[DEVICE_SELECTS] = can_select(port);
	ret->can[DEVICE_STAMPS] = (rx & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
	ret->can[DEVICE_SENDS_TIMED] = (tx & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP) != 0;
	ret->can[DEVICE_HAS_CLOCK] = rte_eth_timesync_read_time(port, &clock) == 0;
	struct rte_eth_stats stats;
	ret->can[DEVICE_COUNTS] = rte_eth_stats_get(port, &stats) == 0;
}

void port_device_facts(const struct ports *ports, const struct device *devices, uint32_t index,
		       struct device_facts *ret)
{
	const struct dpdk_ports *own = ports->own;
	uint16_t port = own->ports[index];
	struct rte_eth_dev_info info;
	struct rte_eth_link link = {0};
	struct rte_ether_addr mac = {0};
	*ret = (struct device_facts){0};
	check(rte_eth_dev_info_get(port, &info) == 0);
	snprintf(ret->driver, sizeof(ret->driver), "%s", info.driver_name);
	find_interface(devices[index].word, ret->interface, sizeof(ret->interface));
	if (rte_eth_macaddr_get(port, &mac) == 0)
		memcpy(ret->mac, mac.addr_bytes, sizeof(ret->mac));
	if (ret->interface[0] != '\0') { // af_packet calls any link up
		find_carrier(ret);
	} else if (rte_eth_link_get_nowait(port, &link) == 0) {
		ret->is_up = link.link_status == RTE_ETH_LINK_UP;
		ret->link_mbps = link.link_speed != UINT32_MAX ? link.link_speed : 0;
	}
	ret->frame_bytes_max = longest_frame(ret, devices[index].word, &info);
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
	ret->can[DEVICE_SELECTS] |= own->is_isolated[index];
}
