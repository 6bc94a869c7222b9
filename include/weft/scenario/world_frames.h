// SPDX-License-Identifier: Apache-2.0
// What a scenario says of frames and captures (wire.*, capture.*, taps). Keys: docs/scenario.md.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>
#include <weft/fabric/fault.h>

#define FRAMES_CLASSES 6 // traffic classes that DSCP tells apart

// As enum wire_entropy.
enum frames_entropy { FRAMES_ENTROPY_PORT, FRAMES_ENTROPY_STEV, FRAMES_ENTROPY_SRV6 };
enum frames_ev_place { FRAMES_EV_PORT_HIGH, FRAMES_EV_PORT_LOW }; // as enum wire_ev_place

// How packets look as bytes where a run has frames. Without frames nothing of it matters.
struct frames_config {
	enum frames_entropy entropy;
	bool has_srh;		      // SRv6: the NIC's own uSID is in an SRH
	uint8_t ip_version;	      // 4 or 6; with SRv6 the inner one
	uint8_t ev_place;	      // enum frames_ev_place, of IPv6
	bool has_identification;      // of IPv4: data has another one each time it is sent
	bool is_qpn_drawn;	      // QP numbers are shifted, by seed and NIC
	uint16_t udp_port;	      // 4791 or 4971
	bool trim_rewrites_lengths;   // IP and UDP lengths follow a trim
	bool has_udp_checksum;	      // otherwise it is 0
	bool has_solicited;	      // writes with immediate have SE
	bool is_se_low;		      // SE and M of MRC have changed places
	uint8_t dscp[FRAMES_CLASSES]; // by enum wire_class
};

// What a capture keeps of each frame.
struct capture_config {
	bool is_headers_only;
	uint32_t snap_bytes; // 0 = whole frames
	int64_t file_bytes;  // a capture, and a log, ends when it would grow beyond
};

enum tap_direction {
	TAP_BOTH,
	TAP_UP,	  // away from the NICs
	TAP_DOWN, // towards them
};

// A place that a capture listens at, from one time until before another.
struct tap {
	struct link_location at;
	enum tap_direction direction;
	bool is_far;		// listens where packets leave the cable, behind its faults
	ps_t from_ps, until_ps; // until PS_NEVER = for good
};
