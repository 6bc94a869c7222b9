// SPDX-License-Identifier: Apache-2.0
// See flow_rules.h.

#include "flow_rules.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include <weft/core/check.h>

#define PROTOCOL_IN_IP_V4 4
#define PROTOCOL_IN_IP_V6 41
#define PROTOCOL_SRH 43
#define PROTOCOL_ICMPV6 58
#define V4_IN_ADDRESS 12 // of one that stands for an IPv4 address

const struct flow_calls flow_calls_dpdk = {
	.isolate = rte_flow_isolate,
	.validate = rte_flow_validate,
	.create = rte_flow_create,
	.flush = rte_flow_flush,
	.start = rte_eth_dev_start,
	.stop = rte_eth_dev_stop,
};

// ---------------------------------------------------------------- what they say

static void begin(struct flow_rule *rule, const char *name, enum rte_flow_item_type second)
{
	memset(rule, 0, sizeof(*rule));
	rule->name = name;
	rule->items[0].type = RTE_FLOW_ITEM_TYPE_ETH;
	rule->items[1].type = second;
	rule->items[2].type = rule->items[3].type = RTE_FLOW_ITEM_TYPE_END;
}

static void to_udp_port(struct flow_rule *rule, const char *name, bool is_v4, uint16_t udp_port)
{
	begin(rule, name, is_v4 ? RTE_FLOW_ITEM_TYPE_IPV4 : RTE_FLOW_ITEM_TYPE_IPV6);
	rule->udp.hdr.dst_port = rte_cpu_to_be_16(udp_port);
	rule->udp_mask.hdr.dst_port = UINT16_MAX;
	rule->items[2] = (struct rte_flow_item){
		.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &rule->udp, .mask = &rule->udp_mask};
}

static void above_v6(struct flow_rule *rule, const char *name, uint8_t next)
{
	begin(rule, name, RTE_FLOW_ITEM_TYPE_IPV6);
	rule->ipv6.hdr.proto = next;
	rule->ipv6_mask.hdr.proto = UINT8_MAX;
	rule->items[1].spec = &rule->ipv6;
	rule->items[1].mask = &rule->ipv6_mask;
}

static void discovery(struct flow_rule *rule, const char *name, const uint8_t to[16])
{
	above_v6(rule, name, PROTOCOL_ICMPV6);
	memcpy(rule->ipv6.hdr.dst_addr, to, sizeof(rule->ipv6.hdr.dst_addr));
	memset(rule->ipv6_mask.hdr.dst_addr, UINT8_MAX, sizeof(rule->ipv6_mask.hdr.dst_addr));
}

static void arp(struct flow_rule *rule, const uint8_t address[16])
{
	begin(rule, "ARP for our address", RTE_FLOW_ITEM_TYPE_ARP_ETH_IPV4);
	rule->eth.hdr.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP);
	rule->eth_mask.hdr.ether_type = UINT16_MAX;
	rule->items[0].spec = &rule->eth;
	rule->items[0].mask = &rule->eth_mask;
	memcpy(&rule->arp.tpa, address + V4_IN_ADDRESS, sizeof(rule->arp.tpa));
	rule->arp_mask.tpa = UINT32_MAX;
	rule->items[1].spec = &rule->arp;
	rule->items[1].mask = &rule->arp_mask;
}

uint32_t flow_rules_build(const struct device_filter *filter, struct flow_rule ret[FLOW_RULES_MAX])
{
	uint32_t count = 0;
	if (filter->is_tunnelled) { // what is inside, no rule of theirs reads
		above_v6(&ret[count++], "IPv6 in IPv6", PROTOCOL_IN_IP_V6);
		above_v6(&ret[count++], "IPv4 in IPv6", PROTOCOL_IN_IP_V4);
		above_v6(&ret[count++], "segment routing header", PROTOCOL_SRH);
	}
	to_udp_port(&ret[count++], "UDP port", filter->is_v4, filter->udp_port);
	if (filter->is_v4) {
		arp(&ret[count++], filter->address);
	} else {
		uint8_t asked[16] = {0xff, 2, [11] = 1, [12] = 0xff}; // who asks for it
		memcpy(asked + 13, filter->address + 13, 3);
		discovery(&ret[count++], "ND to our address", filter->address);
		discovery(&ret[count++], "ND for our address", asked);
	}
	check(count <= FLOW_RULES_MAX);
	return count;
}

// ---------------------------------------------------------------- the device

static void explain(char why[DEVICE_WHY_BYTES], const char *what, const char *name,
		    const struct rte_flow_error *error, int rc)
{
	snprintf(why, DEVICE_WHY_BYTES, "%s%s: %s", what, name,
		 error->message != NULL ? error->message : rte_strerror(rc < 0 ? -rc : rc));
}

static bool create_one(const struct flow_calls *calls, uint16_t port, const struct flow_rule *rule,
		       char why[DEVICE_WHY_BYTES])
{
	static const struct rte_flow_attr in = {.ingress = 1};
	const struct rte_flow_action_queue queue = {.index = 0};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_error error = {0};
	int rc = calls->validate(port, &in, rule->items, actions, &error);
	if (rc == 0 && calls->create(port, &in, rule->items, actions, &error) != NULL)
		return true;
	explain(why, "no rule for ", rule->name, &error, rc != 0 ? rc : rte_errno);
	return false;
}

// All of them, or none.
static bool create_all(const struct flow_calls *calls, uint16_t port,
		       const struct device_filter *filter, char why[DEVICE_WHY_BYTES])
{
	struct flow_rule rules[FLOW_RULES_MAX];
	struct rte_flow_error ignored;
	uint32_t count = flow_rules_build(filter, rules), done = 0;
	while (done < count && create_one(calls, port, &rules[done], why))
		done++;
	if (done < count)
		calls->flush(port, &ignored);
	return done == count;
}

int flow_rules_select(const struct flow_calls *calls, uint16_t port,
		      const struct device_filter *filter, char why[DEVICE_WHY_BYTES])
{
	struct rte_flow_error error = {0};
	if (!create_all(calls, port, filter, why))
		return 0;
	calls->flush(port, &error);
	int rc = calls->stop(port), isolated = rc == 0 ? calls->isolate(port, 1, &error) : rc;
	if (isolated != 0)
		explain(why, "no isolation", "", &error, isolated);
	if (rc == 0)
		rc = calls->start(port);
	if (isolated != 0)
		return rc;
	if (rc == 0 && create_all(calls, port, filter, why)) {
		why[0] = '\0';
		return 0;
	}
	calls->stop(port);
	rc = calls->isolate(port, 0, &error);
	return rc == 0 ? calls->start(port) : rc;
}
