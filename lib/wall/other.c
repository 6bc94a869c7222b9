// SPDX-License-Identifier: Apache-2.0
// Frames of others: they share the port, and they are counted, nothing more.

#include <weft/wire/wire_neighbour.h>

#include "loop.h"

#define PROTOCOL_ICMP 1
#define PROTOCOL_ICMPV6 58

static bool is_port(const struct wire_record *record, uint16_t low, uint16_t high)
{
	return record->target_port == low || record->target_port == high;
}

static enum wall_other kind_of_ip(const struct wire_record *record)
{
	bool is_icmp = record->ip_protocol == PROTOCOL_ICMP ||
		record->ip_protocol == PROTOCOL_ICMPV6;
	return is_icmp ? WALL_OTHER_ICMP : WALL_OTHER_IP;
}

static enum wall_other kind_of_udp(const struct wire_record *record)
{
	return is_port(record, 67, 68) || is_port(record, 546, 547) ? WALL_OTHER_DHCP
								    : WALL_OTHER_UDP;
}

static enum wall_other kind_of(const struct wire_record *record)
{
	switch ((enum wire_found)record->found) {
	case WIRE_FOUND_ARP:
		return WALL_OTHER_ARP;
	case WIRE_FOUND_LLDP:
		return WALL_OTHER_LLDP;
	case WIRE_FOUND_PAUSE:
		return WALL_OTHER_PAUSE;
	case WIRE_FOUND_IP:
		return kind_of_ip(record);
	case WIRE_FOUND_TCP:
		return WALL_OTHER_TCP;
	case WIRE_FOUND_UDP:
		return kind_of_udp(record);
	case WIRE_FOUND_UET:
		return WALL_OTHER_UET;
	case WIRE_FOUND_ROCE1:
		return WALL_OTHER_ROCE1;
	case WIRE_FOUND_ROCE:
	case WIRE_FOUND_MRC:
		return WALL_OTHER_ROCE;
	default:
		return WALL_OTHER_ETHERTYPE;
	}
}

static bool is_ours(const struct wall *wall, const uint8_t address[16])
{
	uint32_t nic;
	uint8_t plane;
	return wire_nic(&wall->codec.nic, address, &nic, &plane) &&
		nic < wall->world->topology.nics;
}

void other_count(struct wall *wall, const struct frame *frame, enum wire_reason reason)
{
	struct wire_record record;
	wire_dissect(&wall->codec.in_switch, WIRE_LINK_ETHERNET, frame->bytes, frame->length,
		     frame->length, &record);
	enum wall_other kind = kind_of(&record);
	if (kind == WALL_OTHER_ICMP && wire_is_neighbour(frame->bytes, frame->length))
		kind = WALL_OTHER_ND;
	if (kind == WALL_OTHER_ROCE && is_ours(wall, record.source) && is_ours(wall, record.target))
		wall->counts.bad_frames[reason]++; // between NICs of this world
	else
		wall->counts.others[kind]++;
}

const char *wall_request_name(enum rc_request request)
{
	static const char *const names[RC_REQUEST_COUNT] = {"SEND", "READ", "atomic",
							    "a reserved opcode"};
	return names[request];
}

const char *wall_other_name(enum wall_other kind)
{
	static const char *const names[WALL_OTHER_COUNT] = {
		"other EtherTypes", "ARP", "ND",  "LLDP", "pause frames", "ICMP",	   "DHCP",
		"other IP",	    "TCP", "UDP", "UET",  "RoCEv1",	  "RoCE of others"};
	return names[kind];
}
