// SPDX-License-Identifier: Apache-2.0
// Of a report of room flow: what is counted of all frames, by class and by EV.
#pragma once

#include <stdint.h>

#include <weft/wire/wire_dissect.h>

// Packets with a BTH that have one DSCP.
struct flow_class {
	uint64_t packets, bytes;
	uint64_t ect, ce;
	uint64_t data, again; // with a PSN of their own; of them: PSN seen before
	uint64_t trims;
};

// Data packets that were not seen before, by their EV (MRC), else by their UDP source port. In no
// order; no packets: free.
#define FLOW_EVS 65536 // power of 2
#define FLOW_PLANES 64
struct flow_ev {
	uint32_t ev, packets;
};

// Whether the capture can be trusted, and what is in it.
struct flow_totals {
	uint64_t frames, bytes, cut;
	uint64_t found[WIRE_FOUND_COUNT];
	uint64_t found_bytes[WIRE_FOUND_COUNT];
	uint64_t opcodes[WIRE_FOUND_COUNT][256]; // of RoCE, MRC, InfiniBand, UET
	uint64_t ecn[4];			 // of packets with a BTH
	struct flow_class dscp[64];
	struct flow_class priority[8]; // of a VLAN tag, without one the upper 3 bits of the DSCP
	uint64_t icrc[4];	       // by enum wire_icrc, of packets with a BTH
	uint64_t first_bad_icrc;       // packet number
	uint64_t bth;		       // frames that have one
	uint64_t stopped[WIRE_REASON_COUNT];
	uint64_t positive, rnr, nak, nak_codes[32];	 // AETHs
	uint64_t pauses, resumes, pauses_by_priority[9]; // [8]: global
	uint64_t untimed, same_stamp, backward; // stamps: none, equal to the one before, earlier
	int64_t backward_max_ns;
	int64_t first_ns, last_ns;	// of those that have one; the earliest and the latest
	uint32_t granularity_ns;	// all stamps are multiples; 1, 10, 100, ... up to 10^9
	uint64_t udp_ports[65536 / 64]; // source ports of packets with a BTH, as bits
	uint32_t udp_source_ports;
	struct flow_ev evs[FLOW_EVS];
	uint64_t evs_left_out; // packets for whose EV there was no room
	// The same packets by UDP source port; and, of MRC, by plane, where addresses tell it.
	uint32_t source_ports[65536], planes[FLOW_PLANES];
	uint64_t planes_left_out;
};
