// SPDX-License-Identifier: Apache-2.0
// Rules of a device (rte_flow) that let only the frames of a run come to us, and leave all others
// to whoever has the device beside us: ssh and ARP to the kernel, where its driver stays (mlx5).
#pragma once

#include <rte_flow.h>

#include <weft/ports/device.h>

#define FLOW_RULES_MAX 6u
#define FLOW_ITEMS_MAX 5u

struct flow_rule {
	const char *name;
	struct rte_flow_item items[FLOW_ITEMS_MAX]; // which point to what follows
	struct rte_flow_item_eth eth, eth_mask;
	struct rte_flow_item_ipv6 ipv6, ipv6_mask;
	struct rte_flow_item_udp udp, udp_mask;
	struct rte_flow_item_arp_eth_ipv4 arp, arp_mask;
};

// The rules that take what a filter lets through. Returns how many there are.
uint32_t flow_rules_build(const struct device_filter *filter, struct flow_rule ret[FLOW_RULES_MAX]);

// rte_flow, or what a test has in its place.
struct flow_calls {
	int (*isolate)(uint16_t port, int set, struct rte_flow_error *error);
	int (*validate)(uint16_t port, const struct rte_flow_attr *attr,
			const struct rte_flow_item *items, const struct rte_flow_action *actions,
			struct rte_flow_error *error);
	struct rte_flow *(*create)(uint16_t port, const struct rte_flow_attr *attr,
				   const struct rte_flow_item *items,
				   const struct rte_flow_action *actions,
				   struct rte_flow_error *error);
	int (*flush)(uint16_t port, struct rte_flow_error *error);
	int (*start)(uint16_t port);
	int (*stop)(uint16_t port);
};

extern const struct flow_calls flow_calls_dpdk;

// Lets a port that runs take nothing but what a filter lets through. It takes all rules and keeps
// others' frames from us, or it is as it was, with the device's reason: rules are tried before it
// is stopped and isolated. -errno where it does not start again.
int flow_rules_select(const struct flow_calls *calls, uint16_t port,
		      const struct device_filter *filter, char why[DEVICE_WHY_BYTES]);
