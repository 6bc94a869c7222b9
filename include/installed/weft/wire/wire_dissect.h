// SPDX-License-Identifier: Apache-2.0
// What a captured frame says, read as far as it goes and never refused: cut by a snap length, of
// others' addresses, of protocols beside ours. wire_parse() is for who takes part; this is for who
// looks on. Layouts and sources: docs/wire.md.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/wire/wire.h>

// Link types (LINKTYPE_... of pcap) that are known; others give WIRE_FOUND_LINK.
enum wire_link {
	WIRE_LINK_NULL = 0, // address family in the host's order, then IP
	WIRE_LINK_ETHERNET = 1,
	WIRE_LINK_RAW = 101, // IP
	WIRE_LINK_COOKED = 113,
	WIRE_LINK_ERF = 197, // of its records: Ethernet and InfiniBand
	WIRE_LINK_INFINIBAND = 247,
	WIRE_LINK_COOKED2 = 276,
};

// What a frame is, as the last header tells that could be read.
enum wire_found {
	WIRE_FOUND_LINK,  // a link type that is not known here
	WIRE_FOUND_OTHER, // an EtherType that is not looked into
	WIRE_FOUND_ARP,
	WIRE_FOUND_LLDP,
	WIRE_FOUND_PAUSE, // IEEE 802.3 MAC control, priority or global
	WIRE_FOUND_IP,	  // of another protocol than UDP and TCP, or a fragment
	WIRE_FOUND_TCP,
	WIRE_FOUND_UDP,	  // to another port
	WIRE_FOUND_UET,	  // UDP port 4793
	WIRE_FOUND_ROCE1, // EtherType 8915
	WIRE_FOUND_ROCE,  // RoCEv2
	WIRE_FOUND_MRC,
	WIRE_FOUND_INFINIBAND, // on its own link
	WIRE_FOUND_COUNT
};

enum { // wire_record.layers
	WIRE_LAYER_VLAN = 1,
	WIRE_LAYER_VXLAN = 2,
	WIRE_LAYER_SRV6 = 4,
	WIRE_LAYER_SRH = 8,
	WIRE_LAYER_GRH = 16, // RoCEv1, InfiniBand
	WIRE_LAYER_IPV4 = 32,
	WIRE_LAYER_IPV6 = 64,
	WIRE_LAYER_FRAGMENT = 128,
	WIRE_LAYER_BTH = 256,
	WIRE_LAYER_EXTENSIONS = 512, // all headers behind the BTH that its opcode has
	WIRE_LAYER_DETH = 1024,
	WIRE_LAYER_RETH = 2048,
	WIRE_LAYER_AETH = 4096,
	WIRE_LAYER_IMM = 8192,
	WIRE_LAYER_ATOMIC = 16384,
	WIRE_LAYER_GRE = 32768, // of a mirrored frame (ERSPAN) the layers around it are left out
};

// A record of one frame. What a frame does not have, or what was cut off, is 0; `layers` says what
// there is. Addresses of IPv4 are ::ffff:a.b.c.d; those of an inner packet where there are two.
struct wire_record {
	uint8_t source[16], target[16];
	uint64_t source_mac, target_mac;
	uint64_t virtual_address; // RETH, atomics
	uint64_t sack_bitmap;	  // MRC
	uint32_t captured, original;
	uint32_t payload_bytes; // by the lengths in the headers, whether captured or not
	uint32_t flow_label;
	uint32_t qpn, psn;	   // BTH
	uint32_t source_qpn, qkey; // DETH
	uint32_t key, message_bytes;
	uint32_t immediate;
	uint32_t msn;	       // AETH; METH
	uint32_t ev, sack_psn; // MRC: of the packet, or echoed; cumulative, or the NACK's
	uint16_t layers;
	uint16_t vlan; // tag: priority 3, DEI 1, number 12; the outermost
	uint16_t ether_type;
	uint16_t identification; // IPv4
	uint16_t source_port, target_port;
	uint16_t pkey;
	uint16_t pause_quanta[8]; // by priority; [0] alone where it is a global pause
	int16_t sack_offset;	  // MRC
	int16_t sack_trigger;	  // the PSN that caused a SACK minus the cumulative one
	uint8_t found;		  // enum wire_found
	uint8_t stopped;	  // enum wire_reason: why it was read no further; 0: it was
	uint8_t ip_protocol;
	uint8_t dscp, ecn, inner_dscp, hop_limit; // of the outer header, but for inner_dscp
	uint8_t opcode, syndrome;
	uint8_t mark, reason;	  // MRC: of a SACK, enum packet_mark; of a NACK, enum packet_nack
	uint8_t pause_priorities; // bits; ff: a global pause
	uint8_t icrc;		  // enum wire_icrc
	uint8_t pad_bytes;	  // BTH: behind the payload
	uint8_t service;	  // UET: packet type; InfiniBand: service level
	bool asks_ack, is_becn;	  // BTH
	bool is_rtx, is_trimmed;  // MRC
	bool is_probe;		  // a SACK that answers a probe: no PSN caused it
	bool is_cut;		  // captured is less than original
};

#ifdef __cplusplus
extern "C" {
#endif

// Reads `captured` bytes of a frame that had `original` on the line, of a link type. `config` names
// the UDP port and the DSCPs of trimmed packets (MRC alone), and whether ICRCs are computed
// (icrc_unchecked). Never reads past `captured`; all of *ret is written.
void wire_dissect(const struct wire_config *config, uint16_t link, const void *frame,
		  uint32_t captured, uint32_t original, struct wire_record *ret);

// "WRITE_FIRST", "UD_SEND_ONLY", "SACK"; NULL where the number has no name there.
const char *wire_opcode_name(enum wire_found found, uint8_t opcode);

// "RoCEv2", "TCP", ...
const char *wire_found_name(enum wire_found found);

#ifdef __cplusplus
}
#endif
