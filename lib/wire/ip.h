// SPDX-License-Identifier: Apache-2.0
// IPv4 (RFC 791) and IPv6 (RFC 8200) headers, with DSCP (RFC 2474) and ECN (RFC 3168). No IPv6
// extension headers (srv6.h has one), no reassembly.
#pragma once

#include <stdint.h>

#include <weft/wire/wire.h>

#define IPV4_BYTES 20 // without options; parsing takes options, building writes none
#define IPV4_BYTES_MAX 60
#define IPV6_BYTES 40
#define IPV6_TARGET_AT 24

enum { ECN_NONE = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };

// What is above the link but below UDP.
struct ip_head {
	uint32_t flow_label;
	uint32_t header_bytes;
	uint32_t payload_bytes; // as the header says
	uint8_t dscp;
	uint8_t ecn;
	uint8_t hop_limit;
};

// Where the two ends and the plane of a frame are.
struct ip_ends {
	uint32_t source, target;
	uint8_t plane;
};

// Reads the header of the version that the EtherType named. `bytes`: what there is from `at` on.
enum wire_reason ip_parse(const uint8_t *at, size_t bytes, uint8_t version, struct ip_head *ret);

// The same of an IPv6 header that may have anything behind it.
enum wire_reason ip_parse_outer(const uint8_t *at, size_t bytes, struct ip_head *ret,
				uint8_t *ret_next);

// Who they are by the rule of `config`, for a header that ip_parse() took. False: not by the rule.
bool ip_ends(const struct wire_config *config, const uint8_t *at, struct ip_ends *ret);

// The NIC and plane behind an address of a version. False: the rule has no such address.
bool ip_nic(const struct wire_config *config, uint8_t version, const uint8_t *at, uint32_t *ret_nic,
	    uint8_t *ret_plane);

// Writes the address of a NIC, in the version that is built.
void ip_put_nic(const struct wire_config *config, uint8_t plane, uint32_t nic, uint8_t *at);

// Writes the header of a packet, with `payload_bytes` above it.
void ip_build(const struct wire_config *config, const struct packet *packet,
	      const struct ip_head *head, uint8_t *at);

// Writes an IPv6 header of SRv6, without its target.
void ip_build_outer(const struct wire_config *config, const struct packet *packet,
		    const struct ip_head *head, uint8_t next, uint8_t *at);

// Bytes of the headers that are built.
uint32_t ip_bytes(uint8_t version);

// Changes to a header in place; ip_seal() follows, which writes an IPv4 header's checksum.
void ip_put_class(uint8_t *at, uint8_t dscp, uint8_t ecn);
void ip_put_hop_limit(uint8_t *at, uint8_t hop_limit);
uint8_t ip_hop_limit(const uint8_t *at);
void ip_put_payload_bytes(uint8_t *at, uint32_t bytes);
void ip_seal(uint8_t *at);

// The sum over the pseudo header of what is above a header (RFC 768, RFC 8200 section 8.1), for
// udp_seal(). It adds up to the same in both versions.
uint64_t ip_pseudo_sum(const uint8_t *at, uint32_t payload_bytes);
