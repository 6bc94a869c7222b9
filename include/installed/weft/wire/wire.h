// SPDX-License-Identifier: Apache-2.0
// Frames in memory and what they mean: parse, build, patch. The only room that knows bytes. It is
// not a driver (it sends nothing) and not an endpoint (it places nothing). Layouts, their sources
// and what is disputed about them: docs/wire.md.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/packet.h>
#include <weft/core/refusal.h>

// What the line carries for each frame beside the bytes this room sees: FCS, preamble and gap.
#define WIRE_LINE_BYTES 24
#define WIRE_ICRC_BYTES 4
#define WIRE_PORT 4791	     // UDP destination port; disputed, both are parsed
#define WIRE_PORT_OTHER 4971 // as two readers of the specification have it

// Why a frame is not a packet of ours. 0 is "it is".
enum wire_reason {
	WIRE_FINE,
	WIRE_SHORT_ETH, // the frame ends inside this header
	WIRE_SHORT_IP,
	WIRE_SHORT_UDP,
	WIRE_SHORT_BTH,
	WIRE_SHORT_EXTENSION, // in a header behind the BTH
	WIRE_SHORT_PAYLOAD,   // before the end that the IP header names
	WIRE_NOT_IP,	      // another EtherType
	WIRE_NOT_UDP,	      // another protocol, or an IPv6 extension header but an SRH
	WIRE_NOT_MRC,	      // another UDP destination port
	WIRE_FRAGMENT,	      // a piece of an IPv4 packet
	WIRE_BAD_VERSION,     // IP or BTH version
	WIRE_BAD_LENGTH,      // lengths that contradict each other or the opcode, or above 64 KiB
	WIRE_BAD_SEGMENTS,    // an SRH that contradicts itself, or has more than segments
	WIRE_BAD_CHECKSUM,    // IPv4 header
	WIRE_BAD_ICRC,
	WIRE_BAD_HOP,	      // hop limit above the one that frames start with
	WIRE_UNKNOWN_OPCODE,  // neither MRC's nor a write, ACK or CNP of RoCEv2 RC
	WIRE_NOT_TRIMMABLE,   // neither write nor probe of MRC in a trimmed class
	WIRE_OFF_ROUTE,	      // SRv6: the uSIDs are not those left of its route after so many hops
	WIRE_FOREIGN_ADDRESS, // source or target is no NIC by the rule, or they are in two planes
	WIRE_FOREIGN_PARTITION, // its P_Key and ours are of two partitions, or both limited members
	WIRE_REASON_COUNT
};

// Traffic classes as DSCP tells them (MRC's names).
enum wire_class {
	WIRE_CLASS_NO_TRIM,
	WIRE_CLASS_TRIMMABLE,
	WIRE_CLASS_TRIMMABLE_RETX,
	WIRE_CLASS_TRIMMED,
	WIRE_CLASS_TRIMMED_LAST,
	WIRE_CLASS_CONTROL,
	WIRE_CLASS_COUNT
};

// How the EV, and with it the path, is in a frame.
enum wire_entropy {
	WIRE_ENTROPY_PORT, // source port = bits 15:0, the rest is not carried; all that IPv4 can do
	WIRE_ENTROPY_STEV, // source port and flow label
	WIRE_ENTROPY_SRV6, // as STEV (IPv4: as PORT), in an outer IPv6 header with the path's uSIDs
};

// Halves of the EV.
enum wire_ev_place {
	WIRE_EV_PORT_HIGH, // source port = bits 31:16, low 16 bits of the flow label = bits 15:0
	WIRE_EV_PORT_LOW,  // the other way round
};

enum wire_addresses {
	WIRE_ADDRESSES_BY_RULE, // frames of others are refused
	WIRE_ADDRESSES_ANY,	// parse only: source, target and plane are 0; for captures
	WIRE_ADDRESSES_GIVEN,	// the same for a NIC that is part of it all: see wire_ends.h
};

enum wire_icrc {
	WIRE_ICRC_ABSENT, // trimmed
	WIRE_ICRC_GOOD,
	WIRE_ICRC_BAD,	   // only seen where wire_config.icrc_ignored
	WIRE_ICRC_UNKNOWN, // not computed: built, or wire_config.icrc_unchecked
};

// One field of what an EV is expanded to. Its value is `init`, but for the bits of `mask`: each of
// these, from the highest on, is the next bit of the EV, from the highest on.
struct wire_ev_field {
	uint32_t init;
	uint32_t mask;
	uint32_t max;  // the highest value of the EV's bits in this field; 0: any
	uint8_t width; // in bits, 1..32
};

#define WIRE_EV_BYTES_MAX 32   // two IPv6 addresses: destination, and segment of the SRH
#define WIRE_ADDRESS_USIDS 6   // what one address has beside the block (F3216)
#define WIRE_USIDS_MAX 12      // in both
#define WIRE_SRV6_BYTES_MAX 64 // IPv6 header and SRH

// What a uSID has of the packet beside EV and plane, in bits of its own below those of `init`.
enum wire_usid_part {
	WIRE_USID_FIXED, // nothing
	WIRE_USID_T0,	 // number of the T0 that the target is below
	WIRE_USID_PORT,	 // the target's number among the NICs of its T0
};

// One hop: a field of 16 bits.
struct wire_usid {
	uint16_t init, mask, max;
	uint8_t part;  // enum wire_usid_part
	bool is_trunk; // left out when both ends are below the same T0
};

// Outer addresses: `block`, then the uSIDs of the switches on the way, the NIC's own last. Each has
// the plane + 1 from bit `plane_shift` on, so that none is 0. More than 6: an SRH has the rest.
struct wire_srv6 {
	uint32_t block;
	uint32_t t0_nics; // below each T0
	uint8_t plane_shift;
	uint8_t usid_count;
	bool has_srh; // always an SRH: of 7 uSIDs or less it has the NIC's own
	struct wire_usid usids[WIRE_USIDS_MAX];
};

// How packets look as bytes. Fill it with wire_config_default(), change it, wire_config_check() it.
struct wire_config {
	// Addresses. The host number is the NIC's index + 1.
	// IPv6: prefix (48 bits), plane (16), 0 (32), host number (32).
	// IPv4: prefix, plane (ipv4_plane_bits), host number.
	// MAC: mac_first, plane (8), host number (32).
	uint64_t ipv6_prefix; // upper half of an address, its low 16 bits 0
	uint32_t ipv4_prefix;
	uint8_t ipv4_prefix_bits;
	uint8_t ipv4_plane_bits;
	uint8_t mac_first;  // unicast
	uint8_t ip_version; // built: 4 or 6 (SRv6: the inner one); both are parsed
	uint8_t addresses;  // enum wire_addresses
	uint8_t entropy;    // enum wire_entropy; IPv4: STEV is as PORT. SRv6 is always parsed
	uint8_t ev_place;   // enum wire_ev_place
	uint8_t hop_limit;  // of a packet that has passed no switch
	uint8_t dscp[WIRE_CLASS_COUNT];
	uint16_t port;	     // UDP destination port that is built
	uint64_t qpn_key;    // QP numbers in frames: 0, as in packets; else wire_qpn() shifts them
	uint16_t pkey;	     // BTH: partition 15 bits; bit 15, a full member of it
	bool has_tseth;	     // build: writes carry their time stamp
	bool has_ids;	     // build: IPv4 data has packet.timestamp as identification, else 0
	bool has_solicited;  // build: writes with immediate have SE (solicited event)
	bool se_low;	     // MRC: SE is bit 6 of the BTH's byte 1, M bit 7; not IBTA's order
	bool eeth_op_low;    // EETH's op: in bits 3:2 of its byte 1, not 5:4
	bool icrc_ignored;   // parse: a bad ICRC is reported in the view, not refused
	bool icrc_unchecked; // parse: it is not even computed, as in a switch
	bool takes_requests; // parse: those of enum rc_request are packets, too
	bool follows_usids;  // parse: a frame without its uSIDs is refused
	bool has_udp_checksum;	     // build: wire_seal() writes it; else it is 0, not computed
	bool trim_rewrites_lengths;  // patch: IP and UDP lengths follow the cut
	uint16_t trim_frame_bytes;   // what a trim keeps of the frame; 0: exactly the headers
	uint16_t full_payload_bytes; // all but a message's last packet; 0: not known (wire_build())
	// What the line is said to carry (packet.wire_bytes). 0: frame + WIRE_LINE_BYTES. A
	// scenario that charges other sizes in virtual time names them here, so that both agree.
	uint16_t charged_header_bytes;	// data packet: this + payload
	uint16_t charged_control_bytes; // all but writes
	uint16_t charged_trimmed_bytes; // trimmed packet
	struct wire_srv6 srv6;
};

enum { // wire_view.headers
	WIRE_HAS_METH = 1,
	WIRE_HAS_TSETH = 2,
	WIRE_HAS_RETH = 4,
	WIRE_HAS_IMM = 8,
	WIRE_HAS_PETH = 16
};

// Where things stand in a frame, and what struct packet has no field for. Offsets from its start.
// Of a frame with SRv6, ip_at is the inner header; DSCP, ECN and hop limit are those of the outer
// one, which is what switches see and change.
struct wire_view {
	uint32_t outer_at; // SRv6: IPv6 header; 0: none
	uint32_t srh_at;   // 0: none
	uint32_t ip_at;
	uint32_t udp_at;
	uint32_t bth_at;
	uint32_t payload_at;
	uint32_t payload_bytes; // that are in the frame; of a trimmed packet what the cut left
	uint32_t icrc_at;	// 0: none
	uint32_t frame_bytes;	// to the end of the ICRC or the cut; padding and FCS are not in it
	uint32_t flow_label;	// 0 with IPv4
	uint16_t source_port;
	uint16_t target_port;
	uint8_t ip_version; // of the header at ip_at
	uint8_t dscp;
	uint8_t inner_dscp; // SRv6; else the same
	uint8_t ecn;
	uint8_t hop_limit;
	bool has_srv6, has_srh;
	uint8_t pad_bytes;		// between payload and ICRC
	uint8_t headers;		// WIRE_HAS_... of a packet that may be trimmed
	uint8_t icrc;			// enum wire_icrc
	bool has_udp_checksum;		// it is not 0. It is not checked
	bool is_solicited, is_migrated; // SE and M of the BTH
};

#ifdef __cplusplus
extern "C" {
#endif

// Why, in a few words, for counters and logs.
const char *wire_reason_name(enum wire_reason reason);

// The defaults of docs/wire.md for IP version 4 or 6.
void wire_config_default(uint8_t ip_version, struct wire_config *ret);

// 0, or -EINVAL with the reason.
int wire_config_check(const struct wire_config *config, struct refusal *refusal);

// How many NICs, and planes, the address rule can tell apart.
uint32_t wire_nics_max(const struct wire_config *config);
uint32_t wire_planes_max(const struct wire_config *config);

// Bytes of a packet's frame, ICRC included, FCS not.
size_t wire_frame_bytes(const struct wire_config *config, const struct packet *packet);

// What the line carries for a packet: the value that wire_parse() gives packet.wire_bytes.
uint32_t wire_line_bytes(const struct wire_config *config, const struct packet *packet);

// Reads a frame of `bytes` bytes and never past them. On refusal nothing is written.
enum wire_reason wire_parse(const struct wire_config *config, const void *frame, size_t bytes,
			    struct packet *ret, struct wire_view *ret_view);

// Writes all headers. The caller then fills payload_bytes at payload_at and seals. `capacity` is at
// least wire_frame_bytes(). Returns that size. A packet that was trimmed is built as wire_patch()
// leaves its frame (where full_payload_bytes is set and trim_frame_bytes is 0).
size_t wire_build(const struct wire_config *config, const struct packet *packet, void *frame,
		  size_t capacity, struct wire_view *ret_view);

// Clears the padding, writes the ICRC over everything, and the UDP checksum over that if the view
// has one; nothing for a trimmed packet.
void wire_seal(void *frame, const struct wire_view *view);

// Writes back what a switch may have changed in `packet` since `view` was parsed: mark, class,
// hops, trim; the IPv4 checksum; and for each hop that the frame has not made yet the next uSID.
// The UDP checksum covers none of it but the trim, which makes it 0. Returns the frame's size.
size_t wire_patch(const struct wire_config *config, const struct packet *packet, void *frame,
		  const struct wire_view *view);

// Flips bits of one byte of a frame, which `dice` choose, so that the checks of the NIC that gets
// it find them, on however many cables of its way that happens. On the last hop the byte is
// anywhere from the IP addresses on, but for what the ICRC does not cover; before it is behind the
// headers, which switches to come read. A trimmed frame gets a wrong IP version: it has no ICRC.
void wire_damage(void *frame, const struct wire_view *view, bool is_last_hop, uint64_t dice);

// Expands an EV: the values of `count` fields one behind the other, high bit first; what they leave
// of `bytes` bytes is 0. `ev` has a bit for each bit of the masks, high bit first. False: a field's
// bits are above its max, so the EV is none of this profile (it is expanded all the same).
bool wire_ev_expand(const struct wire_ev_field *fields, size_t count, const uint8_t *ev,
		    size_t bytes, uint8_t *ret);

// Whether such fields can be. 0, or -EINVAL with the reason.
int wire_ev_check(const struct wire_ev_field *fields, size_t count, size_t bytes,
		  struct refusal *refusal);

enum wire_srv6_step {
	WIRE_SRV6_OTHERS,  // not for this route, or no SRv6: nothing was changed
	WIRE_SRV6_SHIFTED, // the next uSID is first
	WIRE_SRV6_SEGMENT, // the next segment of the SRH is the destination
	WIRE_SRV6_LAST,	   // there is none behind it: who has this route takes the packet out
};

// What a switch does to the outer destination that has a static route for a /48: `route` is the
// block and a uSID, 48 bits. For who forwards by address only; wire_patch() does the same.
enum wire_srv6_step wire_srv6_shift(uint64_t route, void *frame, const struct wire_view *view);

// The ICRC of RoCEv2 from a frame's IP header to `icrc_at`, at least a BTH behind bth_at.
uint32_t wire_icrc(const void *frame, const struct wire_view *view);

#ifdef __cplusplus
}
#endif
