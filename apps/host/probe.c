// SPDX-License-Identifier: Apache-2.0
// What a port is and can, before anybody sends over it.

#include <errno.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/ports/codec.h>

#include "host.h"

#define PROBE_FRAMES 4096u
#define PROBE_FRAME_BYTES 1514u // an interface that is no Ethernet is refused
#define PROBE_BYTES ((size_t)64 << 10)

// An ability of a device, and what weft host does itself; NULL: nobody does it.
struct row {
	enum device_ability ability;
	const char *name, *instead;
};

static const struct row table[] = {
	{DEVICE_SENDS_CHAINS, "frames in several buffers, sent", "writes its pattern into one"},
	{DEVICE_SENDS_CHECKSUM, "UDP checksum, sent", "writes it, for wire.udp_checksum"},
	{DEVICE_READS_CHECKSUM, "UDP checksum, received", "leaves it to the ICRC"},
	{DEVICE_SPREADS, "receive queues by a hash of addresses", NULL},
	{DEVICE_SELECTS, "only frames of a run, by rules", "counts others by kind"},
	{DEVICE_STAMPS, "time stamps of arrivals", "stamps them when it looks"},
	{DEVICE_SENDS_TIMED, "sending at a given time", "sends when a turn is due"},
	{DEVICE_HAS_CLOCK, "clock of the device", "reads the clock of the CPU"},
	{DEVICE_COUNTS, "counters of frames and drops", "counts what it sends and gets"},
};
static_assert(sizeof(table) / sizeof(*table) == DEVICE_ABILITIES, "one row each");

static void print_node(const char *what, int node)
{
	if (node < 0)
		printf(" %s any", what);
	else
		printf(" %s %d", what, node);
}

static void print_identity(const char *word, const struct device_facts *facts)
{
	const uint8_t *mac = facts->mac;
	printf("port %s: %s%s%s\n", word, facts->driver,
	       facts->interface[0] != '\0' ? ", interface " : "", facts->interface);
	printf("MAC: %02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1], mac[2], mac[3], mac[4],
	       mac[5]);
	printf("link: %s", facts->is_up ? "up" : "down");
	if (facts->is_up && facts->link_mbps > 0)
		printf(", %u Mb/s as the driver says", facts->link_mbps);
	printf("\nqueues: %u to receive, of at most %u frames; %u to send, of at most %u\n",
	       facts->rx_queues, facts->rx_places, facts->tx_queues, facts->tx_places);
	printf("NUMA nodes:");
	print_node("device", facts->device_node);
	print_node("core", facts->lcore_node);
	print_node("memory", facts->memory_node);
	bool is_far = facts->device_node >= 0 &&
		(facts->device_node != facts->lcore_node ||
		 (facts->memory_node >= 0 && facts->device_node != facts->memory_node));
	printf("%s\n", is_far ? " (the device is on another one: slower)" : "");
}

static void print_abilities(const struct device_facts *facts)
{
	printf("\n%-40s %-12s weft host\n", "", "device");
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct row *row = &table[i];
		const char *own = facts->can[row->ability] ? "hw"
			: row->instead != NULL		   ? "sw"
							   : "unavailable";
		printf("%-40s %-12s %s\n", row->name, own,
		       row->instead != NULL ? row->instead : "takes all by one queue");
	}
	printf("hw: the device has it; sw: weft host does it instead; unavailable: nobody does. "
	       "What weft host does, it does in either case.\n%u counters of the device are at "
	       "hand\n",
	       facts->counters);
	if (facts->takes_all[0] != '\0')
		printf("frames of others come to this port, too: %s\n", facts->takes_all);
	if (facts->untimed[0] != '\0')
		printf("frames leave when a turn sends them: %s\n", facts->untimed);
	printf("\n");
}

static void print_fit(const struct call *call, const struct device_facts *facts, uint32_t bytes)
{
	uint32_t payload = call->scenario.transport.payload_bytes;
	uint32_t headers = bytes - ((payload + 3) & ~3u); // payload is padded to words
	printf("frames of %s: at most %u B, with %u B of payload: ", call->scenario.name, bytes,
	       payload);
	if (facts->frame_bytes_max == UINT32_MAX)
		printf("they fit (as long as asked for)\n");
	else if (facts->frame_bytes_max >= bytes)
		printf("they fit into %u B\n", facts->frame_bytes_max);
	else
		printf("too long for %u B; payload of at most %u B fits\n", facts->frame_bytes_max,
		       facts->frame_bytes_max > headers ? (facts->frame_bytes_max - headers) & ~3u
							: 0);
}

// An RDMA engine that would take the frames before any port sees them.
static void print_roce(const struct call *call, const struct roce *roce)
{
	uint32_t port = call->scenario.frames.udp_port;
	if (roce->device[0] == '\0')
		return;
	printf("RDMA device %s (%s): RoCE is %s", roce->device, roce->driver,
	       roce->is_on ? "on" : "off, so frames for UDP port 4791 come to this port");
	if (roce_takes_frames(roce))
		printf(", so the NIC takes frames for UDP port 4791 away%s\n"
		       "  off: devlink dev param set pci/%s name enable_roce value false cmode "
		       "driverinit; devlink dev reload pci/%s\n"
		       "  (links go down meanwhile), and on again with value true",
		       port == WIRE_PORT ? ", which this scenario sends (wire.port)"
					 : "; this scenario sends to 4971",
		       roce->address, roce->address);
	else if (roce->is_on)
		printf("; whether this NIC takes frames for UDP port 4791 away is not known");
	printf("\n");
}

// What the kernel at the other end of a veth leaves undone.
static void print_veth(const struct veth *veth)
{
	if (!veth->is_veth)
		return;
	printf("kernel at the other end of this veth: ");
	if (veth->peer[0] == '\0')
		printf("in another namespace, not seen from here; unless turned off there, UDP and "
		       "TCP checksums that it sends are partial, and frames may be longer than the "
		       "MTU");
	else
		printf("%s, checksums of UDP and TCP %s, frames longer than the MTU %s", veth->peer,
		       veth->has_partial_checksums ? "partial" : "whole",
		       veth->has_super_frames ? "possible" : "never");
	if (veth->peer[0] == '\0' || veth->has_partial_checksums || veth->has_super_frames)
		printf("\n  off: ethtool -K %s tx off gso off tso off",
		       veth->peer[0] != '\0' ? veth->peer : "INTERFACE");
	printf("\n");
}

// Where a peer is asked, its answers have to come.
static int open_port(struct call *call, const struct codec *codec, uint32_t frame_bytes)
{
	const struct dpdk_options dpdk = {
		.lanes = 1, .words = call->choice.words.at, .word_count = call->choice.words.count};
	struct arena arena;
	call->ports_bytes = PROBE_BYTES;
	call->ports_memory = memory_reserve(PROBE_BYTES);
	if (call->ports_memory == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for ports");
	arena_init(&arena, call->ports_memory, PROBE_BYTES);
	call->ports.frames = PROBE_FRAMES;
	call->ports.frame_bytes_max = frame_bytes;
	call->choice.devices[0].is_server = true;
	if (call->choice.to == NULL)
		call->choice.devices[0].filter = codec_filter(codec, 0, 0);
	return port_device_open(&call->ports, &arena, call->choice.devices, 1, &dpdk,
				&call->refusal);
}

// What a port is opened for, as far as its MTU goes: a peer is asked with a frame of the scenario.
static uint32_t asked_bytes(const struct call *call, uint32_t bytes)
{
	uint32_t longest = port_device_longest(call->choice.probe);
	uint32_t wanted = call->choice.to == NULL ? PROBE_FRAME_BYTES : bytes;
	return longest < wanted ? longest : wanted;
}

static int look(struct call *call, const struct codec *codec)
{
	struct device_facts facts;
	struct reach_ends ends;
	int rc = open_port(call, codec, asked_bytes(call, codec->frame_bytes_max));
	if (rc < 0)
		return rc;
	port_device_time(&call->ports, clocks_now_ns, NULL);
	port_device_facts(&call->ports, 0, &facts);
	if (call->choice.to != NULL)
		rc = reach_check(call, facts.interface, &ends);
	if (rc < 0)
		return rc;
	print_identity(call->choice.probe, &facts);
	print_abilities(&facts);
	print_fit(call, &facts, codec->frame_bytes_max);
	print_veth(&facts.veth);
	print_roce(call, &facts.roce);
	return call->choice.to != NULL ? reach_run(call, &facts, codec->frame_bytes_max, &ends) : 0;
}

int probe_run(struct call *call)
{
	struct host_run host_run = {0};
	struct codec codec;
	int rc = setup_world(call, &host_run);
	if (rc == 0)
		rc = codec_init(&codec, &host_run.world, &call->refusal);
	if (rc == 0)
		rc = look(call, &codec);
	setup_world_free(&host_run);
	return rc;
}
