// SPDX-License-Identifier: Apache-2.0
// Devices as ports. See device.h.

#include <weft/ports/device.h>

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>

#include <weft/core/check.h>

#include "device_name.h"
#include "dpdk_ports.h"
#include "flow_rules.h"

#define RX_PLACES 1024
#define TX_PLACES 1024

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
static void make_memif(struct maker *ret, const struct ports *ports, const char *name,
		       bool is_server, uint32_t index)
{
	uint32_t room = (ports->frame_bytes_max + 63u) & ~63u;
	snprintf(ret->name, sizeof(ret->name), "net_memif%u", index);
	snprintf(ret->arguments, sizeof(ret->arguments),
		 "role=%s,id=0,socket=weft-%u-%s,socket-abstract=yes,bsize=%u,rsize=10",
		 is_server ? "server" : "client", (unsigned)getuid(), name, room);
}

// ---------------------------------------------------------------- interfaces of the kernel

#define BLOCK_BYTES 65536u // of the kernel's ring

// A ring of the kernel whose places hold our frames.
static void make_af_packet(struct maker *ret, const char *interface, uint32_t index)
{
	snprintf(ret->name, sizeof(ret->name), "net_af_packet%u", index);
	snprintf(ret->arguments, sizeof(ret->arguments),
		 "iface=%s,blocksz=%u,framesz=%u,framecnt=%u", interface, BLOCK_BYTES,
		 device_place_bytes(ret->frame_bytes), RX_PLACES);
}

// The port of DPDK's that has a MAC.
static int find_mac(const char *mac, uint16_t *ret_port)
{
	struct rte_ether_addr wanted, has;
	uint16_t port;
	if (rte_ether_unformat_addr(mac, &wanted) != 0)
		return -EINVAL;
	RTE_ETH_FOREACH_DEV(port)
	{
		if (rte_eth_macaddr_get(port, &has) == 0 && rte_is_same_ether_addr(&has, &wanted)) {
			*ret_port = port;
			return 0;
		}
	}
	return -ENODEV;
}

// Makes a device, or finds one that DPDK has from its start.
static int make_port(struct maker *maker, const struct ports *ports, const struct device *device,
		     uint32_t index, uint16_t *ret_port, struct refusal *refusal)
{
	const struct device_name *name = &((struct dpdk_ports *)ports->own)->names[index];
	int rc = 0;
	snprintf(maker->name, sizeof(maker->name), "%.31s", name->name);
	snprintf(maker->arguments, sizeof(maker->arguments), "%s", name->arguments);
	switch (name->kind) {
	case DEVICE_PCI: // which --allow names
		return rte_eth_dev_get_port_by_name(name->name, ret_port);
	case DEVICE_MAC:
		return find_mac(name->name, ret_port);
	case DEVICE_MEMIF:
		make_memif(maker, ports, name->name, device->is_server, index);
		break;
	case DEVICE_INTERFACE:
		make_af_packet(maker, name->name, index);
		break;
	case DEVICE_VIRTUAL:
		if (rte_eth_dev_get_port_by_name(name->name, ret_port) != 0)
			break;
		return name->arguments[0] == '\0'
			? 0
			: refuse_word(refusal, -EINVAL,
				      "DPDK has this port from its start, "
				      "so its arguments have no effect here",
				      device->word);
	}
	if (rc == 0)
		rc = rte_vdev_init(maker->name, maker->arguments);
	return rc < 0 ? rc : rte_eth_dev_get_port_by_name(maker->name, ret_port);
}

#define TX_USED 64 // places that are kept until their frames are given back

// net_virtio_user gives frames back when its ring is nearly full, if not asked to do it before:
// then each is cold when it is built again. Other drivers have rules of their own.
static const struct rte_eth_txconf *early_free(const struct rte_eth_dev_info *info, uint16_t places,
					       struct rte_eth_txconf *ret)
{
	*ret = info->default_txconf;
	if (strcmp(info->driver_name, "net_virtio_user") != 0 || places <= 2 * TX_USED)
		return NULL;
	ret->tx_free_thresh = (uint16_t)(places - TX_USED);
	return ret;
}

static int set_up(struct dpdk_ports *own, uint32_t index, uint16_t mtu,
		  const struct device_filter *filter)
{
	struct rte_eth_conf conf = {.rxmode.mtu = mtu};
	struct rte_eth_dev_info info;
	struct rte_eth_txconf txconf;
	struct timed *timed = &own->timed[index];
	uint16_t rx = RX_PLACES, tx = TX_PLACES, port = own->ports[index];
	char *why = own->takes_all[index];
	snprintf(why, DEVICE_WHY_BYTES, "no rules were asked for");
	int rc = rte_eth_dev_info_get(port, &info);
	if (rc < 0)
		return rc;
	uint64_t chains = own->parts != NULL ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0;
	chains &= info.tx_offload_capa;
	uint64_t times = timed_offload(timed, info.driver_name, info.tx_offload_capa);
	conf.txmode.offloads = times | chains;
	rc = rte_eth_dev_configure(port, 1, 1, &conf);
	timed->is_asked = rc == 0 && times != 0;
	if (rc < 0 && times != 0) { // some say that they can, and do not
		snprintf(timed->why_not, sizeof(timed->why_not),
			 "%s refuses to send at a given time: %s", info.driver_name,
			 rte_strerror(-rc));
		conf.txmode.offloads = chains;
		rc = rte_eth_dev_configure(port, 1, 1, &conf);
	}
	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port, 0, rx, SOCKET_ID_ANY, NULL, own->pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port, 0, tx, SOCKET_ID_ANY,
					    early_free(&info, tx, &txconf));
	if (rc == 0)
		rc = rte_eth_dev_start(port);
	if (rc == 0 && filter->udp_port != 0)
		rc = flow_rules_select(&flow_calls_dpdk, port, filter, why);
	if (rc == 0 && why[0] != '\0')
		rte_eth_promiscuous_enable(port); // where there is no such thing, it is needless
	return rc;
}

// What a port has to be before it is set up: another one than those before, and one that carries
// the frames.
static int check_port(const struct ports *ports, const struct device *device, uint32_t index,
		      uint32_t frame_bytes, struct refusal *refusal)
{
	const struct dpdk_ports *own = ports->own;
	struct rte_eth_dev_info info;
	for (uint32_t i = 0; i < index; i++)
		if (own->ports[i] == own->ports[index])
			return refuse_word(refusal, -EINVAL, "a port is named twice", device->word);
	if (rte_eth_dev_info_get(own->ports[index], &info) != 0 ||
	    device_longest(&info) >= frame_bytes)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text),
		 "port '%.64s' (%.32s) carries frames of at most %u bytes, and frames here take "
		 "%u: lower transport.payload",
		 device->word, info.driver_name, device_longest(&info), frame_bytes);
	return -EINVAL;
}

// Beside sockets of packets: a program at the entry of the interface keeps ours from the kernel.
static void find_isolation(struct dpdk_ports *own, uint32_t index)
{
	int rc = isolation_begin(own->names[index].name);
	own->takes_all[index][0] = '\0';
	if (rc < 0)
		snprintf(own->takes_all[index], DEVICE_WHY_BYTES,
			 "the kernel takes no program at the entry of the interface: %s",
			 strerror(-rc));
}

static int open_device(struct ports *ports, const struct device *device, uint32_t index,
		       uint32_t frame_bytes, struct refusal *refusal)
{
	struct dpdk_ports *own = ports->own;
	const struct device_name *name = &own->names[index];
	struct maker maker = {.frame_bytes = frame_bytes};
	bool is_nic = name->kind == DEVICE_PCI; // frames are cut to the MTU
	char why[128];
	refusal->text[0] = '\0';
	own->sockets[index] = -1;
	int rc = device->is_held ? 0 : device_hold_interface(name, refusal);
	if (rc == 0)
		rc = make_port(&maker, ports, device, index, &own->ports[index], refusal);
	if (rc == 0)
		rc = check_port(ports, device, index, frame_bytes, refusal);
	if (rc == 0) {
		own->port_count = index + 1;
		own->slots[index] = (struct slot){own->ports[index], 0};
		rc = set_up(own, index, is_nic ? (uint16_t)(frame_bytes - ETHERNET_BYTES) : 0,
			    &device->filter);
	}
	if (rc == 0 && name->kind == DEVICE_INTERFACE) { // open until the process ends
		find_isolation(own, index);
		own->sockets[index] = packet_socket_find(name->name);
		own->carriers[index] = device_open(SYSFS, name->name, "carrier");
	}
	if (rc == 0 || refusal->text[0] != '\0')
		return rc;
	snprintf(why, sizeof(why), "DPDK does not open this port (%s)", rte_strerror(-rc));
	return refuse_word(refusal, -ENODEV, why, device->word);
}

// Ports that --eal made, or that a PCI device has beside its first.
static int check_all_used(const struct ports *ports, struct refusal *refusal)
{
	const struct dpdk_ports *own = ports->own;
	uint16_t port;
	RTE_ETH_FOREACH_DEV(port)
	{
		char name[RTE_ETH_NAME_MAX_LEN] = "";
		bool is_used = false;
		for (uint32_t i = 0; i < own->port_count; i++)
			is_used |= own->ports[i] == port;
		if (is_used)
			continue;
		rte_eth_dev_get_name_by_port(port, name);
		snprintf(refusal->text, sizeof(refusal->text),
			 "DPDK has a port %.64s, which no --port names: a word of --eal has no "
			 "effect, or a NIC more ports than one",
			 name);
		return -EINVAL;
	}
	return 0;
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

static void keep(struct ports *ports)
{
	struct dpdk_ports *own = ports->own;
	for (uint32_t i = 0; i < own->port_count; i++)
		timed_check(&own->timed[i], &own->timed_field, own->ports[i]);
}

static struct ports_ops ops;

// Words that let DPDK take the PCI devices, behind those of `options`. Returns how many there are.
static uint32_t allow_devices(struct dpdk_ports *own, const struct device *devices, uint32_t count,
			      const struct dpdk_options *options)
{
	uint32_t words = options->word_count;
	check(words + 2 * count <= ALLOW_WORDS_MAX);
	for (uint32_t i = 0; i < words; i++)
		own->words[i] = options->words[i];
	for (uint32_t i = 0; i < count; i++)
		if (own->names[i].kind == DEVICE_PCI) { // in the place of our --no-pci
			own->words[words++] = "-a";
			own->words[words++] = devices[i].word;
		}
	return words;
}

int port_device_open(struct ports *ports, struct arena *arena, const struct device *devices,
		     uint32_t count, const struct dpdk_options *options, struct refusal *refusal)
{
	struct dpdk_options with_devices = *options;
	with_devices.has_devices = true;
	ports->queue_count = ports->port_count = count;
	uint32_t frame_bytes = ports->frame_bytes_max;
	check(count > 0 && count <= DEVICES_MAX);
	if (dpdk_frames_draw(ports, arena) < 0)
		return refuse(refusal, -ENOMEM, "no memory for % ports", count);
	struct dpdk_ports *own = ports->own;
	int rc = device_names_read(own->names, devices, count, frame_bytes, options, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t room = device_room(&own->names[i], frame_bytes);
		if (room > ports->frame_bytes_max)
			ports->frame_bytes_max = room;
	}
	with_devices.words = own->words;
	with_devices.word_count = allow_devices(own, devices, count, options);
	rc = dpdk_start(&with_devices, dpdk_frames_bytes(ports, 1) * 17 / 16, refusal);
	if (rc == 0)
		rc = dpdk_frames_open(ports, 1, refusal);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = open_device(ports, &devices[i], i, frame_bytes, refusal);
	if (rc == 0)
		rc = check_all_used(ports, refusal);
	ops = dpdk_frames_ops;
	ops.name = "DPDK";
	ops.count = count_all;
	ops.is_up = port_device_is_up;
	ops.keep = keep;
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

int port_device_settle(const struct ports *ports, struct refusal *refusal)
{
	const struct dpdk_ports *own = ports->own;
	bool is_memif = false;
	struct rte_eth_dev_info info;
	for (uint32_t i = 0; i < own->port_count; i++)
		is_memif |= rte_eth_dev_info_get(own->ports[i], &info) == 0 &&
			strcmp(info.driver_name, "net_memif") == 0;
	if (is_memif && hold_interrupts() < 0)
		return refuse(refusal, -ENODEV, "DPDK's interrupt thread cannot be held");
	return 0;
}

bool port_device_is_up(const struct ports *ports, uint32_t index)
{
	const struct dpdk_ports *own = ports->own;
	const struct device_name *name = &own->names[index];
	struct rte_eth_link link = {0};
	char line[8];
	if (name->kind == DEVICE_INTERFACE) // of which DPDK says that it is up
		return pread(own->carriers[index], line, sizeof(line), 0) > 0 && line[0] == '1';
	return rte_eth_link_get_nowait(own->ports[index], &link) == 0 &&
		link.link_status == RTE_ETH_LINK_UP;
}

const char *port_device_takes_all(const struct ports *ports, uint32_t index)
{
	const struct dpdk_ports *own = ports->own;
	return own->takes_all[index];
}

uint32_t port_device_time(struct ports *ports, pace_clock_fn *clock, void *context)
{
	struct dpdk_ports *own = ports->own;
	uint32_t count = 0;
	own->timed_field.clock = clock;
	own->timed_field.context = context;
	for (uint32_t i = 0; i < own->port_count; i++) {
		timed_begin(&own->timed[i], &own->timed_field, own->ports[i]);
		count += own->timed[i].is_on;
	}
	own->has_timed = count > 0;
	return count;
}

const char *port_device_untimed(const struct ports *ports, uint32_t index,
				struct device_clock *ret_clock)
{
	const struct dpdk_ports *own = ports->own;
	*ret_clock = own->timed[index].clock;
	return own->timed[index].why_not;
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
