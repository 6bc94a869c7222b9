// SPDX-License-Identifier: Apache-2.0
// Rules that let only a run's frames come to a device: read here as a device reads them, against
// frames as they are built; and what is done where a device refuses one. No device here takes
// them: what those of a NIC do with them is not tried.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include <rte_ether.h>

#include <weft/files/files.h>
#include <weft/ports/codec.h>
#include <weft/wire/wire_neighbour.h>

#include "flow_rules.h"

#define MEMORY_BYTES ((size_t)64 << 20)
#define OWN 1u // NIC that the rules are for
#define OTHER 0u

static struct world world;
static struct codec codec;
static struct flow_rule rules[FLOW_RULES_MAX];
static uint32_t rule_count;
static void *memory;

static void build(const char *frames)
{
	static struct scenario scenario;
	struct refusal refusal = {0};
	struct arena arena;
	char text[512];
	snprintf(text, sizeof(text),
		 "fabric: {nics: 4, planes: 2, nics_per_t0: 2, t1_count: 2}\n"
		 "transport: {evs: 16}\n%s\n"
		 "traffic: {kind: flows, flows: [{from: 0, to: 1, bytes: 4KiB}]}\n",
		 frames);
	memory = memory_reserve(MEMORY_BYTES);
	arena_init(&arena, memory, MEMORY_BYTES);
	if (scenario_parse(&scenario, "rules", text, strlen(text), NULL, 0, &refusal) < 0 ||
	    world_build(&world, &arena, &scenario, NULL, 0, &refusal) < 0 ||
	    codec_init(&codec, &world, &refusal) < 0)
		fail_msg("%s", refusal.text);
	struct device_filter filter = codec_filter(&codec, OWN, 1);
	rule_count = flow_rules_build(&filter, rules);
}

// ---------------------------------------------------------------- a device's reading

// Masked, of a header: what a rule does not say is as it likes.
static bool fits(const uint8_t *at, const void *spec, const void *mask, size_t bytes)
{
	const uint8_t *wanted = spec, *bits = mask;
	for (size_t i = 0; spec != NULL && i < bytes; i++)
		if (((at[i] ^ wanted[i]) & bits[i]) != 0)
			return false;
	return true;
}

static bool is_type(const uint8_t *frame, uint16_t type)
{
	return frame[12] == type >> 8 && frame[13] == (type & 0xff);
}

static bool item_fits(const struct rte_flow_item *item, const uint8_t *frame, uint32_t *at)
{
	const uint8_t *here = frame + *at;
	switch (item->type) {
	case RTE_FLOW_ITEM_TYPE_ETH:
		*at = 14;
		return fits(frame, item->spec, item->mask, 14);
	case RTE_FLOW_ITEM_TYPE_IPV4:
		*at += 20;
		return is_type(frame, 0x0800) && fits(here, item->spec, item->mask, 20);
	case RTE_FLOW_ITEM_TYPE_IPV6:
		*at += 40;
		return is_type(frame, 0x86dd) && fits(here, item->spec, item->mask, 40);
	case RTE_FLOW_ITEM_TYPE_UDP: // above the header before
		return frame[*at == 34 ? 23 : 20] == 17 && fits(here, item->spec, item->mask, 8);
	case RTE_FLOW_ITEM_TYPE_ARP_ETH_IPV4: { // whose struct has gaps
		const struct rte_flow_item_arp_eth_ipv4 *arp = item->spec, *mask = item->mask;
		return is_type(frame, 0x0806) &&
			fits(here + 24, &arp->tpa, &mask->tpa, sizeof(arp->tpa));
	}
	default:
		fail_msg("a rule has an item of type %d", item->type);
		return false;
	}
}

static bool comes(const uint8_t *frame)
{
	for (uint32_t i = 0; i < rule_count; i++) {
		const struct rte_flow_item *item = rules[i].items;
		uint32_t at = 0;
		while (item->type != RTE_FLOW_ITEM_TYPE_END && item_fits(item, frame, &at))
			item++;
		if (item->type == RTE_FLOW_ITEM_TYPE_END)
			return true;
	}
	return false;
}

// ---------------------------------------------------------------- frames

// A frame of the run, to the own NIC.
static void assert_ours_comes(void)
{
	uint8_t frame[9000] = {0};
	struct packet packet = {.source = OTHER,
				.target = OWN,
				.plane = 1,
				.opcode = RC_WRITE_ONLY,
				.payload_bytes = 64,
				.wire_bytes = 200};
	assert_in_range(codec_write(&codec, &packet, frame), 60, sizeof(frame));
	assert_true(comes(frame));
}

static uint32_t neighbour(uint8_t *frame, uint32_t from, uint32_t to, bool tells)
{
	struct wire_neighbour what = {.tells = tells, .source_mac = {2}, .target_mac = {2}};
	wire_address(&codec.nic, from, 1, what.source);
	wire_address(&codec.nic, to, 1, what.target);
	memset(frame, 0, 200);
	return wire_neighbour_build(&what, frame);
}

// Who asks for the own address, and who answers it; not what others ask each other.
static void assert_neighbours_come(void)
{
	uint8_t frame[200];
	for (int tells = 0; tells < 2; tells++) {
		neighbour(frame, OTHER, OWN, tells != 0);
		assert_true(comes(frame));
		neighbour(frame, OTHER, 2, tells != 0);
		assert_false(comes(frame));
	}
}

// ssh over either version, another datagram, LLDP, a ping.
static void assert_others_stay(void)
{
	static const struct {
		uint16_t type;
		uint8_t version, protocol;
		uint16_t port;
	} others[] = {{0x0800, 0x45, 6, 22},  {0x86dd, 0x60, 6, 22},	{0x0800, 0x45, 6, 4971},
		      {0x0800, 0x45, 17, 53}, {0x86dd, 0x60, 17, 5353}, {0x0800, 0x45, 1, 0},
		      {0x86dd, 0x60, 58, 0},  {0x88cc, 0, 0, 0}};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		uint8_t frame[200] = {0};
		bool is_v4 = others[i].type == 0x0800;
		frame[12] = (uint8_t)(others[i].type >> 8);
		frame[13] = (uint8_t)others[i].type;
		frame[14] = others[i].version;
		frame[is_v4 ? 23 : 20] = others[i].protocol;
		frame[(is_v4 ? 34 : 54) + 2] = (uint8_t)(others[i].port >> 8);
		frame[(is_v4 ? 34 : 54) + 3] = (uint8_t)others[i].port;
		if (comes(frame))
			fail_msg("frame %zu comes", i);
	}
}

static void only_a_runs_frames_come(void **)
{
	static const char *const frames[] = {"", "wire: {ip: 4}", "wire: {entropy: srv6}",
					     "wire: {port: 4791}"};
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		build(frames[i]);
		assert_ours_comes();
		assert_neighbours_come();
		assert_others_stay();
		memory_release(memory, MEMORY_BYTES);
	}
}

// ---------------------------------------------------------------- a device that refuses

#define PORT 7

// What it does, a letter each: v, c: validates, creates a rule; f: flushes; s, S: stops, starts; i,
// o: is isolated, and not any more. A stop takes its rules away.
static struct {
	char log[128];
	int isolate, start;	     // what they return
	uint32_t refuses, is_full;   // the rule, counted from 1, that is refused, is not made
	uint32_t validated, created; // in all
	uint32_t rules;
	bool is_isolated, is_stopped;
} device;

static void note(uint16_t port, char what)
{
	assert_int_equal(port, PORT);
	device.log[strlen(device.log)] = what;
}

static int isolate(uint16_t port, int set, struct rte_flow_error *error)
{
	note(port, set ? 'i' : 'o');
	assert_true(device.is_stopped);
	error->message = NULL;
	device.is_isolated = set && device.isolate == 0;
	return set ? device.isolate : 0;
}

static int validate(uint16_t port, const struct rte_flow_attr *attr,
		    const struct rte_flow_item *items, const struct rte_flow_action *actions,
		    struct rte_flow_error *error)
{
	note(port, 'v');
	assert_true(attr->ingress == 1 && attr->egress == 0 && attr->transfer == 0);
	assert_int_equal(items[0].type, RTE_FLOW_ITEM_TYPE_ETH);
	assert_int_equal(actions[0].type, RTE_FLOW_ACTION_TYPE_QUEUE);
	assert_int_equal(((const struct rte_flow_action_queue *)actions[0].conf)->index, 0);
	error->message = "item not supported";
	return ++device.validated == device.refuses ? -ENOTSUP : 0;
}

static struct rte_flow *create(uint16_t port, const struct rte_flow_attr *attr,
			       const struct rte_flow_item *items,
			       const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	(void)attr;
	(void)items;
	(void)actions;
	note(port, 'c');
	assert_int_equal(device.validated, device.created + 1); // each first
	error->message = "no room for a rule";
	if (++device.created == device.is_full)
		return NULL;
	device.rules++;
	return (struct rte_flow *)&device;
}

static int flush(uint16_t port, struct rte_flow_error *error)
{
	(void)error;
	note(port, 'f');
	device.rules = 0;
	return 0;
}

static int start(uint16_t port)
{
	note(port, 'S');
	device.is_stopped = device.start != 0;
	return device.start;
}

static int stop(uint16_t port)
{
	note(port, 's');
	device.is_stopped = true;
	device.rules = 0;
	return 0;
}

static const struct flow_calls calls = {isolate, validate, create, flush, start, stop};

static void assert_select(int rc, const char *why, const char *log, uint32_t left)
{
	struct device_filter filter = {.udp_port = 4971, .address = {0xfd}};
	char told[DEVICE_WHY_BYTES] = "no rules were asked for";
	assert_int_equal(flow_rules_select(&calls, PORT, &filter, told), rc);
	assert_string_equal(told, why);
	assert_string_equal(device.log, log);
	assert_int_equal(device.rules, left);
	assert_int_equal(device.is_isolated, left > 0); // never without rules
	memset(&device, 0, sizeof(device));
}

static void a_device_takes_all_rules_or_none(void **)
{
	assert_select(0, "", "vcvcvcfsiSvcvcvc", 3);
	device.refuses = 3;
	assert_select(0, "no rule for ND for our address: item not supported", "vcvcvf", 0);
	device.is_full = 1;
	assert_select(0, "no rule for UDP port: no room for a rule", "vcf", 0);
	device.isolate = -ENOSYS;
	assert_select(0, "no isolation: Function not implemented", "vcvcvcfsiS", 0);
	device.refuses = 5; // isolated, it refuses what it took before
	assert_select(0, "no rule for ND to our address: item not supported", "vcvcvcfsiSvcvfsoS",
		      0);
	device.start = -EIO;
	assert_select(-EIO, "no rules were asked for", "vcvcvcfsiSsoS", 0);
}
