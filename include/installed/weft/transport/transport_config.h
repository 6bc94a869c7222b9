// SPDX-License-Identifier: Apache-2.0
// What an endpoint is like: all that is chosen before the first packet. What each choice does is in
// docs/protocol.md; the scenario keys of the same names are in docs/scenario.md.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/cc/cc.h>
#include <weft/core/time.h>
#include <weft/transport/ev.h>

enum transport_kind {
	TRANSPORT_MRC,
	TRANSPORT_RC, // RoCEv2 RC, the baseline: go-back-N, one path per QP; see docs/protocol.md
};

enum path_policy {
	PATH_ROTATE, // oblivious: a random permutation of the EVs per round (htsim's "oblivious")
	PATH_MRC,    // the same rotation, but EVs in SKIP or ASSUMED_BAD are passed over
	PATH_SINGLE, // one EV per QP: per-flow ECMP
	// Others, to compare with; see docs/protocol.md:
	PATH_RANDOM,	  // any EV, each time anew
	PATH_BITMAP,	  // rotation; a mark or trim makes an EV lose turns
	PATH_REPS,	  // EVs that came back clean are used again, the last 8 of them
	PATH_REPS_LEGACY, // the same with a list that does not end
	PATH_MIXED,	  // such a list first, else bitmap: htsim's default
	PATH_FLOWLET,	  // one EV until the QP pauses for a gap, then another
	PATH_COUNT
};

// What a plane may hold of a QP's window: as much as its line takes, or a share that marks move.
enum plane_share {
	PLANE_SHARE_AUTO, // marks with PATH_MRC and two planes or more, else line
	PLANE_SHARE_LINE,
	PLANE_SHARE_MARKS, // PATH_MRC and two planes or more, else refused
};

// Whether receivers of credits grant less when trunks are full (weft/cc/cc_throttle.h).
enum throttle_rule {
	THROTTLE_AUTO, // on with credits alone, where trunks carry less than all NICs send
	THROTTLE_OFF,
	THROTTLE_ON,
};

enum sack_rule {
	SACK_MRC,   // at sack_bytes, on AR, CE, retransmission, duplicate
	SACK_HTSIM, // the same and on the first packet of a QP, but not because more came than one
		    // SACK can tell PSN by PSN
};

// Whether a QP that only receives probes an EV per base round trip.
enum probe_idle {
	PROBE_IDLE_NO,
	PROBE_IDLE_YES,	 // PATH_MRC only
	PROBE_IDLE_AUTO, // with PATH_MRC and SACK_MRC
};

// What the responder does with a PSN above its window.
enum out_of_window { OUT_OF_WINDOW_NACK, OUT_OF_WINDOW_SILENT };

// What completes a work request: the target's word that the operation is done (transport ACK), or
// that its last packet and all before it are there (SACK), as htsim has it.
enum transport_completion { COMPLETION_BY_ACK, COMPLETION_BY_SACK };

// What the responder does with data that it refuses. A NAK ends the requester's QP, so a forged
// frame can, too.
enum refused_rule { REFUSED_SILENT, REFUSED_NAK };

// Where round trips come from: the own table of send times, or the time stamp that comes back; or
// the table, but none of a packet that was sent again more than once, or is not held in flight
// (UEC).
enum rtt_source { RTT_LOCAL, RTT_STAMP, RTT_ONCE };

#define RTO_LINEAR_MAX 7u
#define RTO_DOUBLINGS_FOREVER 25u // so many doublings mean that a QP never gives up

// The least window that a responder offers, in PSNs, where its own is not smaller.
#define MPR_GRANT_MIN 1024u
#define MPR_GRANT_UNIT 128u // of packet_sack.mpr

struct transport_config {
	enum transport_kind kind;
	uint32_t planes;	// NIC ports, 1..PLANES_MAX
	uint32_t payload_bytes; // path MTU: payload of a full packet
	uint32_t header_bytes;	// all of a data packet that is not payload, line overhead included
	uint32_t control_bytes; // SACK, NACK on the line, overhead included
	uint32_t ev_count;	// active entropy values of a QP; per plane a power of two
	uint32_t ev_bits;	// of an entropy value on a packet: 32, or the 16 of a UDP port
	uint32_t ev_universe;	// active ones and backups, equally many per plane; 0 = no backups
	uint32_t ev_min_active; // so many places stay in use whatever is lost; 0 = a quarter
	enum ev_mode ev_mode;
	const uint32_t *ev_values; // EV_EXPLICIT: [universe]; number i is on plane i mod planes,
				   // different on each. Copied, as `ev_denied` is
	struct ev_field ev_fields[EV_FIELDS_MAX]; // EV_GENERATED: [ev_field_count]
	uint32_t ev_field_count;
	const uint32_t *ev_denied; // [ev_denied_count] never used; not with EV_AUTO
	uint32_t ev_denied_count;
	uint32_t ev_profiles_max; // profiles of EVs and of congestion control beside the own ones
	uint32_t cc_profiles_max; // above, for QPs that name them:
				  // weft/transport/transport_profiles.h
	enum path_policy path_policy;
	enum plane_share plane_share;
	enum throttle_rule throttle;
	uint32_t trunk_ppb; // of what all NICs send that trunks carry; 0 = all of it, or more
	uint32_t mpr; // PSNs in flight at most: a multiple of 128 or a power of two, 64..32768
	uint32_t sends_max;    // work requests a QP holds at most
	uint32_t wimm_max;     // WRITE_WITH_IMM in flight at most, 32 and up
	uint32_t messages_max; // that a QP sends in its life at most, and receives: rings are no
			       // larger than that takes; 0 = any number; not RC, not fewer contexts
	uint32_t regions_max;  // memory regions of an endpoint at most, 0..65536
	uint32_t contexts; // QPs of an endpoint that can talk at the same time, 2 and up; 0 = all
	enum sack_rule sack_rule;
	uint32_t sack_bytes; // received bytes that cause a SACK
	ps_t cnp_ps;	     // RC: at most one congestion notification per QP and such a time
	bool trim_nack;	     // answer trims with NACKs
	enum out_of_window out_of_window;
	enum transport_completion completion;
	enum refused_rule refused;
	enum rtt_source rtt;
	bool service_time;   // the time between a packet and its answer is taken out of round trips
	bool dynamic_mpr;    // offers, and obeys, a window that changes
	uint32_t mpr_budget; // dynamic_mpr: PSNs that all QPs that receive share
	ps_t hole_age_ps;    // a hole this much older than the newest received packet is lost; 0 =
			     // only timer and NACK
	bool shares_cc;	     // one congestion control for all QPs to a NIC, as UEC has it
	bool sleek;	     // losses are inferred from packets out of order, as htsim does
	ps_t rto_ps;	     // base retransmit timeout
	uint32_t rto_linear; // tries at the base interval, 0..RTO_LINEAR_MAX
	uint32_t rto_doublings;	  // then so many doublings, 0..24; NACKs use tries up, too; after
				  // them the QP goes to ERROR. RTO_DOUBLINGS_FOREVER: it never does
	bool is_timeout_ev_lost;  // a packet that timed out says that EV 0 lost it, not its own
	ps_t flowlet_gap_ps;	  // PATH_FLOWLET: a pause of so long ends a flowlet
	ps_t path_retry_ps;	  // an ASSUMED_BAD EV is probed after this time, and again
	ps_t skip_ps;		  // a SKIP EV is passed over for so long; 0 = for one turn; or
				  // SKIP_BY_MARKS
	uint32_t probe_successes; // that make it GOOD again, in a row, 1 to 15; 0 = 1
	enum probe_idle probe_idle;
	bool port_status; // the NIC knows which of its ports are down and informs its peers;
			  // PATH_MRC only
	struct cc_config cc;
};

#define SKIP_BY_MARKS (-1) // for the more turns the more marks came in a row

static inline bool probes_idle(const struct transport_config *config)
{
	return config->probe_idle == PROBE_IDLE_YES ||
		(config->probe_idle == PROBE_IDLE_AUTO && config->path_policy == PATH_MRC &&
		 config->sack_rule == SACK_MRC);
}

// Whether planes have shares of a QP's window.
static inline bool has_plane_shares(const struct transport_config *config)
{
	return config->kind == TRANSPORT_MRC && config->path_policy == PATH_MRC &&
		config->planes > 1 && config->plane_share != PLANE_SHARE_LINE;
}

static inline bool has_throttle(const struct transport_config *config)
{
	const struct cc_ops *ops = cc_find(config->cc.name);
	bool is_auto = config->throttle == THROTTLE_AUTO && ops->is_credit_alone &&
		config->trunk_ppb != 0;
	return ops->has_credit && (is_auto || config->throttle == THROTTLE_ON);
}

// EVs that stay in use whatever is lost.
static inline uint32_t ev_min_active(const struct transport_config *config)
{
	return config->ev_min_active != 0 ? config->ev_min_active : (config->ev_count + 3) / 4;
}

// EVs of a QP, backups included.
static inline uint32_t ev_universe(const struct transport_config *config)
{
	return config->ev_universe != 0 ? config->ev_universe : config->ev_count;
}
