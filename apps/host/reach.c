// SPDX-License-Identifier: Apache-2.0
// How far frames for a peer come, layer by layer: link, neighbour, echo, datagram, size. What a
// layer finds is asked for before the next one is tried.

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/wire/wire_ends.h>
#include <weft/wire/wire_neighbour.h>
#include <weft/wire/wire_ping.h>

#include "host.h"
#include <weft/run/outcome.h>

#define TRIES 4
#define ANSWER_NS INT64_C(400000000)
#define LINK_NS INT64_C(3000000000)
#define OTHER_PORT 33434 // traceroute's
#define V4_IN_GID 12
#define ETHER_BYTES 14u
#define USUAL_BYTES 1514u

struct reach {
	struct call *call;
	struct wire_ping ping;
	uint32_t frame_bytes; // of the scenario
	uint32_t most;	      // that the port carries of it
	bool is_known;	      // the peer's MAC
	char said[240];	      // of the layer
};

// ---------------------------------------------------------------- addresses

static int read_address(const char *word, uint8_t ret[16])
{
	static const uint8_t mapped[V4_IN_GID] = {[10] = 0xff, [11] = 0xff};
	memcpy(ret, mapped, sizeof(mapped));
	return inet_pton(AF_INET, word, ret + V4_IN_GID) == 1 || inet_pton(AF_INET6, word, ret) == 1
		? 0
		: -EINVAL;
}

static const char *write_address(const uint8_t address[16], char ret[INET6_ADDRSTRLEN])
{
	bool is_v4 = wire_gid_version(address) == 4;
	return inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? address + V4_IN_GID : address, ret,
			 INET6_ADDRSTRLEN);
}

// An address of the interface in the target's network.
static bool own_address(const char *interface, const uint8_t target[16], uint8_t ret[16])
{
	struct ifaddrs *all, *at;
	bool is_v4 = wire_gid_version(target) == 4, is_found = false;
	if (getifaddrs(&all) != 0)
		return false;
	for (at = all; at != NULL && !is_found; at = at->ifa_next) {
		int family = at->ifa_addr != NULL ? at->ifa_addr->sa_family : AF_UNSPEC;
		if (strcmp(at->ifa_name, interface) != 0 ||
		    family != (is_v4 ? AF_INET : AF_INET6) || at->ifa_netmask == NULL)
			continue;
		const void *own, *mask;
		if (is_v4) {
			own = &((const struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr;
			mask = &((const struct sockaddr_in *)(void *)at->ifa_netmask)->sin_addr;
		} else {
			own = &((const struct sockaddr_in6 *)(void *)at->ifa_addr)->sin6_addr;
			mask = &((const struct sockaddr_in6 *)(void *)at->ifa_netmask)->sin6_addr;
		}
		uint32_t from = is_v4 ? V4_IN_GID : 0;
		is_found = true;
		for (uint32_t i = 0; i < 16 - from; i++)
			is_found &= ((((const uint8_t *)own)[i] ^ target[from + i]) &
				     ((const uint8_t *)mask)[i]) == 0;
		memcpy(ret, target, 16);
		memcpy(ret + from, own, 16 - from);
	}
	freeifaddrs(all);
	return is_found;
}

// Addresses for tests: 198.18.0.0/15 (RFC 2544), and those that no provider routes, fc00::/7.
static bool is_for_tests(const uint8_t address[16])
{
	return wire_gid_version(address) == 4
		? address[V4_IN_GID] == 198 && (address[V4_IN_GID + 1] & 0xfe) == 18
		: (address[0] & 0xfe) == 0xfc;
}

static int check_owner(const struct choice *choice, const uint8_t target[16],
		       struct refusal *refusal)
{
	if (is_for_tests(target) && choice->owns_network)
		return outcome_bad_word(refusal,
					"--i-own-this-network has no effect for an address in "
					"198.18.0.0/15 or fc00::/7:",
					choice->to);
	if (!is_for_tests(target) && !choice->owns_network)
		return outcome_bad_word(refusal,
					"--to is outside of 198.18.0.0/15 and fc00::/7, so frames "
					"go there only with --i-own-this-network:",
					choice->to);
	return 0;
}

int reach_check(struct call *call, const char *interface, struct reach_ends *ret)
{
	const struct choice *choice = &call->choice;
	struct refusal *refusal = &call->refusal;
	if (read_address(choice->to, ret->target) < 0)
		return outcome_bad_word(refusal,
					"--probe with --to needs an IP address, as 198.18.0.2, not",
					choice->to);
	if (check_owner(choice, ret->target, refusal) < 0)
		return -EINVAL;
	if (choice->from != NULL && read_address(choice->from, ret->source) < 0)
		return outcome_bad_word(refusal, "--from is an IP address, not", choice->from);
	if (choice->from == NULL && !own_address(interface, ret->target, ret->source))
		return outcome_bad_word(refusal,
					"the port has no address in the network of this peer "
					"(--from ADDRESS says one):",
					choice->to);
	if (wire_gid_version(ret->target) != wire_gid_version(ret->source))
		return outcome_bad_word(refusal,
					"--from and --to are of two versions of IP:", choice->from);
	return 0;
}

// ---------------------------------------------------------------- asking

// Sends `bytes` that `build` writes.
static bool send_frame(struct reach *reach, uint32_t (*build)(const void *what, void *frame),
		       const void *what)
{
	struct ports *ports = &reach->call->ports;
	struct frame frame;
	if (!ports->ops->take(ports, &frame, 1))
		return false;
	frame.length = build(what, frame.bytes);
	if (ports->ops->send(ports, 0, &frame, 1) == 1)
		return true;
	ports->ops->give(ports, &frame.owner, 1);
	return false;
}

static uint32_t build_neighbour(const void *what, void *frame)
{
	return wire_neighbour_build(what, frame);
}

static uint32_t build_ping(const void *what, void *frame)
{
	return wire_ping_build(what, frame);
}

// The peer may ask where we are, and where no kernel has the port nobody else tells it.
static void hear_neighbour(struct reach *reach, const struct frame *frame)
{
	struct wire_ping *ping = &reach->ping;
	struct wire_neighbour heard;
	if (!wire_neighbour_parse(frame->bytes, frame->length, &heard))
		return;
	if (memcmp(heard.source, ping->target, sizeof(heard.source)) == 0) {
		memcpy(ping->target_mac, heard.source_mac, sizeof(ping->target_mac));
		reach->is_known = true;
	}
	if (heard.tells || memcmp(heard.target, ping->source, sizeof(heard.target)) != 0)
		return;
	struct wire_neighbour gratuitous = {.tells = true};
	memcpy(gratuitous.source, ping->source, sizeof(gratuitous.source));
	memcpy(gratuitous.source_mac, ping->source_mac, sizeof(gratuitous.source_mac));
	memcpy(gratuitous.target, heard.source, sizeof(gratuitous.target));
	memcpy(gratuitous.target_mac, heard.source_mac, sizeof(gratuitous.target_mac));
	send_frame(reach, build_neighbour, &gratuitous);
}

// What came so far says of the ping.
static enum wire_ping_answer hear(struct reach *reach)
{
	struct ports *ports = &reach->call->ports;
	enum wire_ping_answer answer = WIRE_PING_OTHER;
	struct frame frames[PORT_BURST];
	uint32_t count = ports->ops->receive(ports, 0, frames, PORT_BURST);
	for (uint32_t i = 0; i < count; i++) {
		hear_neighbour(reach, &frames[i]);
		enum wire_ping_answer said = wire_ping_hear(&reach->ping, frames[i].bytes,
							    frames[i].length);
		answer = said != WIRE_PING_OTHER ? said : answer;
		ports->ops->give(ports, &frames[i].owner, 1);
	}
	return answer;
}

// Sends a ping up to TRIES times. WIRE_PING_OTHER: nobody said anything.
static enum wire_ping_answer ask(struct reach *reach, uint16_t udp_port, uint32_t frame_bytes,
				 int64_t *ret_ns)
{
	struct wire_ping *ping = &reach->ping;
	ping->udp_port = udp_port;
	ping->frame_bytes = (uint16_t)frame_bytes;
	for (int i = 0; i < TRIES && *signals_stop() == 0; i++) {
		ping->number++;
		int64_t start_ns = clocks_now_ns(NULL), now_ns = start_ns;
		if (!send_frame(reach, build_ping, ping))
			continue;
		for (; now_ns - start_ns < ANSWER_NS; now_ns = clocks_now_ns(NULL)) {
			enum wire_ping_answer answer = hear(reach);
			if (answer != WIRE_PING_OTHER) {
				*ret_ns = clocks_now_ns(NULL) - start_ns;
				return answer;
			}
			usleep(20);
		}
	}
	return WIRE_PING_OTHER;
}

// ---------------------------------------------------------------- layers

static bool say(struct reach *reach, bool is_fine, const char *words)
{
	snprintf(reach->said, sizeof(reach->said), "%s", words);
	return is_fine;
}

static bool try_link(struct reach *reach)
{
	int64_t start_ns = clocks_now_ns(NULL);
	while (!port_device_is_up(&reach->call->ports, 0)) {
		if (clocks_now_ns(NULL) - start_ns > LINK_NS || *signals_stop() != 0)
			return say(reach, false, "the port has no link");
		usleep(1000);
	}
	return say(reach, true, "up");
}

static bool try_neighbour(struct reach *reach)
{
	struct wire_ping *ping = &reach->ping;
	struct wire_neighbour what = {.tells = false};
	memcpy(what.source, ping->source, sizeof(what.source));
	memcpy(what.source_mac, ping->source_mac, sizeof(what.source_mac));
	memcpy(what.target, ping->target, sizeof(what.target));
	for (int i = 0; i < TRIES && !reach->is_known && *signals_stop() == 0; i++) {
		int64_t start_ns = clocks_now_ns(NULL);
		send_frame(reach, build_neighbour, &what);
		while (!reach->is_known && clocks_now_ns(NULL) - start_ns < ANSWER_NS) {
			hear(reach);
			usleep(20);
		}
	}
	if (!reach->is_known)
		return say(reach, false,
			   "nobody on this link says that the address is its own: another plane or "
			   "VLAN, another network, or the peer is not there");
	const uint8_t *mac = ping->target_mac;
	snprintf(reach->said, sizeof(reach->said), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
	return true;
}

static bool try_echo(struct reach *reach)
{
	int64_t took_ns;
	switch (ask(reach, 0, WIRE_PING_BYTES_MIN, &took_ns)) {
	case WIRE_PING_ECHOED:
		snprintf(reach->said, sizeof(reach->said), "came back after %.1f us",
			 (double)took_ns / 1e3);
		return true;
	case WIRE_PING_OTHER:
		return say(reach, false,
			   "no echo: the peer drops ICMP, has no way back, or is a weft host, "
			   "which answers for its address alone");
	default:
		return say(reach, false, "the peer says that it is not reachable");
	}
}

// A port at which nobody listens tells that a datagram came.
static bool try_datagram(struct reach *reach)
{
	uint16_t port = reach->call->scenario.frames.udp_port;
	int64_t took_ns;
	switch (ask(reach, port, WIRE_PING_BYTES_MIN, &took_ns)) {
	case WIRE_PING_NO_PORT:
		return say(reach, true, "came, and nobody listens there yet");
	case WIRE_PING_OTHER:
		break;
	default:
		return say(reach, false, "is turned away");
	}
	return ask(reach, OTHER_PORT, WIRE_PING_BYTES_MIN, &took_ns) == WIRE_PING_NO_PORT
		? say(reach, true,
		      "was taken without a word, as RoCE and weft host do (or a filter does); "
		      "another UDP port answers")
		: say(reach, false, "no word of any UDP port: a filter on the way, or at the peer");
}

// A frame longer than the last one, up to the most; the usual MTU is among them.
static uint32_t longer(uint32_t bytes, uint32_t most)
{
	uint32_t next = bytes < USUAL_BYTES ? USUAL_BYTES : bytes + bytes / 8;
	return next < most ? next : most;
}

// From short to long: a kernel's port may keep what was too long, and send nothing behind it.
static bool try_size(struct reach *reach)
{
	int64_t took_ns;
	uint32_t came = WIRE_PING_BYTES_MIN, next = came;
	while (came < reach->most) {
		next = longer(came, reach->most);
		if (ask(reach, 0, next, &took_ns) != WIRE_PING_ECHOED)
			break;
		came = next;
	}
	if (came < reach->most) {
		snprintf(
			reach->said, sizeof(reach->said),
			"frames of %u B come back, of %u B they do not: somewhere the MTU is below "
			"%u",
			came, next, next - ETHER_BYTES);
		return false;
	}
	bool is_whole = reach->most == reach->frame_bytes;
	snprintf(reach->said, sizeof(reach->said), "frames of %u B come back%s", came,
		 is_whole ? "" : ", which is all that this port carries");
	return is_whole;
}

// A layer, by how it is named here.
struct layer {
	char name[24];
	bool (*is_fine)(struct reach *reach);
};

// Returns the name of the layer at which the peer is lost; NULL: at none.
static const char *try_all(struct reach *reach)
{
	static struct layer layers[] = {{"link", try_link},
					{"ND", try_neighbour},
					{"ping", try_echo},
					{"UDP", try_datagram},
					{"payload size", try_size}};
	if (wire_gid_version(reach->ping.target) == 4)
		strcpy(layers[1].name, "ARP");
	snprintf(layers[3].name, sizeof(layers[3].name), "UDP port %u",
		 reach->call->scenario.frames.udp_port);
	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++) {
		bool is_fine = layers[i].is_fine(reach);
		printf("  %-14s %-5s %s\n", layers[i].name, is_fine ? "fine" : "LOST", reach->said);
		fflush(stdout);
		if (!is_fine)
			return layers[i].name;
	}
	return NULL;
}

int reach_run(struct call *call, const struct device_facts *facts, uint32_t frame_bytes,
	      const struct reach_ends *ends)
{
	struct reach reach = {.call = call, .frame_bytes = frame_bytes};
	char to[INET6_ADDRSTRLEN], from[INET6_ADDRSTRLEN];
	uint32_t most = call->ports.frame_bytes_max;
	most = facts->frame_bytes_max < most ? facts->frame_bytes_max : most;
	reach.most = most < frame_bytes ? most : frame_bytes;
	memcpy(reach.ping.target, ends->target, sizeof(reach.ping.target));
	memcpy(reach.ping.source, ends->source, sizeof(reach.ping.source));
	memcpy(reach.ping.source_mac, facts->mac, sizeof(reach.ping.source_mac));
	reach.ping.id = (uint16_t)(0x8000 | getpid());
	printf("\npeer %s, from %s:\n", write_address(ends->target, to),
	       write_address(ends->source, from));
	signals_catch();
	const char *lost = try_all(&reach);
	if (*signals_stop() != 0)
		return refuse(&call->refusal, -EINTR, "interrupted");
	if (lost == NULL)
		return EXIT_SUCCESS;
	fprintf(stderr, "weft host: the peer is lost at: %s\n", lost);
	return EXIT_PEER_LOST;
}
