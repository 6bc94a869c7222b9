// SPDX-License-Identifier: Apache-2.0
// Memory that devices read payload from. A frame of it has three buffers: its headers, an external
// one with a count of its readers, and what goes behind the payload. See device.h.

#define ALLOW_EXPERIMENTAL_API // rte_dev_dma_map()
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>

#include <weft/core/check.h>

#include "dpdk_ports.h"

#define RECALL_TRIES 200 // of 1 ms
#define NO_READERS 1	 // but us

static bool lend(struct ports *ports, struct frame *frame, uint32_t at, const uint8_t *payload,
		 uint32_t bytes)
{
	struct dpdk_ports *own = ports->own;
	struct rte_mbuf *head = frame->owner, *parts[2];
	uint32_t rest = frame->length - at - bytes;
	check(payload >= (uint8_t *)own->lent && rest <= DPDK_PART_BYTES &&
	      payload + bytes <= (uint8_t *)own->lent + own->lent_bytes);
	if (rte_pktmbuf_alloc_bulk(own->parts, parts, 2) != 0)
		return false;
	rte_mbuf_ext_refcnt_update(&own->readers, 1);
	rte_pktmbuf_attach_extbuf(parts[0], (void *)(uintptr_t)payload, (uintptr_t)payload,
				  (uint16_t)bytes, &own->readers);
	parts[0]->data_len = (uint16_t)bytes;
	parts[1]->data_off = 0;
	parts[1]->data_len = (uint16_t)rest;
	memcpy(rte_pktmbuf_mtod(parts[1], uint8_t *), frame->bytes + at, rest);
	head->data_len = (uint16_t)at;
	head->nb_segs = 3;
	head->next = parts[0];
	parts[0]->next = parts[1];
	own->lent_frames++;
	return true;
}

// Whether a driver reads the buffers of its frames itself, wherever they lie.
static bool reads_by_cpu(const struct device_name *name, const char *driver)
{
	return strcmp(driver, "net_af_packet") == 0 ||
		(strcmp(driver, "net_memif") == 0 &&
		 strstr(name->arguments, "zero-copy=yes") == NULL);
}

// Lets a PCI device read it.
static int map(struct dpdk_ports *own, const struct rte_eth_dev_info *info)
{
	if (!own->is_mapped && rte_eal_iova_mode() != RTE_IOVA_VA) {
		rte_errno = ENOTSUP;
		return -1;
	}
	if (!own->is_mapped &&
	    rte_extmem_register(own->lent, own->lent_bytes, NULL, 0,
				(size_t)sysconf(_SC_PAGESIZE)) != 0)
		return -1;
	own->is_mapped = true;
	return rte_dev_dma_map(info->device, own->lent, (uintptr_t)own->lent, own->lent_bytes);
}

static bool can_read(struct dpdk_ports *own, uint32_t index, char why[DEVICE_WHY_BYTES])
{
	struct rte_eth_dev_info info;
	why[0] = '\0';
	if (rte_eth_dev_info_get(own->ports[index], &info) != 0 ||
	    (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) == 0)
		snprintf(why, DEVICE_WHY_BYTES, "a port takes no frames in several buffers");
	else if (own->names[index].kind == DEVICE_PCI && map(own, &info) != 0)
		snprintf(why, DEVICE_WHY_BYTES, "%s cannot map the memory: %s", info.driver_name,
			 rte_strerror(rte_errno));
	else if (own->names[index].kind != DEVICE_PCI && !own->reads_all &&
		 !reads_by_cpu(&own->names[index], info.driver_name))
		snprintf(why, DEVICE_WHY_BYTES, "%s sends from memory of DPDK alone",
			 info.driver_name);
	return why[0] == '\0';
}

bool port_device_lend(struct ports *ports, void *memory, uint64_t bytes, char why[DEVICE_WHY_BYTES])
{
	static struct ports_ops ops;
	struct dpdk_ports *own = ports->own;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	check(own->parts != NULL && own->lent == NULL && (uintptr_t)memory % page == 0);
	own->lent = memory;
	own->lent_bytes = (bytes + page - 1) / page * page;
	rte_mbuf_ext_refcnt_set(&own->readers, NO_READERS);
	for (uint32_t i = 0; i < own->port_count; i++)
		if (!can_read(own, i, why)) {
			port_device_recall(ports);
			return false;
		}
	ops = *ports->ops;
	ops.lend = lend;
	ports->ops = &ops;
	return true;
}

// Whether a device still reads it, though it was given time.
static bool has_readers(const struct dpdk_ports *own)
{
	for (uint32_t k = 0; k < RECALL_TRIES; k++) {
		for (uint32_t i = 0; i < own->port_count; i++)
			rte_eth_tx_done_cleanup(own->ports[i], 0, 0);
		if (rte_mbuf_ext_refcnt_read(&own->readers) == NO_READERS)
			return false;
		usleep(1000);
	}
	return true;
}

void port_device_recall(struct ports *ports)
{
	struct dpdk_ports *own = ports->own;
	if (own == NULL || own->lent == NULL)
		return;
	bool must_stop = has_readers(own);
	for (uint32_t i = 0; i < own->port_count; i++) {
		struct rte_eth_dev_info info;
		if (must_stop)
			rte_eth_dev_stop(own->ports[i]);
		if (own->is_mapped && rte_eth_dev_info_get(own->ports[i], &info) == 0)
			rte_dev_dma_unmap(info.device, own->lent, (uintptr_t)own->lent,
					  own->lent_bytes);
	}
	if (own->is_mapped)
		rte_extmem_unregister(own->lent, own->lent_bytes);
	own->is_mapped = false;
	own->lent = NULL;
}

uint64_t port_device_lent(const struct ports *ports)
{
	const struct dpdk_ports *own = ports->own;
	return own->lent_frames;
}
