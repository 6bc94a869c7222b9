// SPDX-License-Identifier: Apache-2.0
// Places of links as people name them, and the timeline of faults: what may go wrong, where and
// when.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/core/time.h>

#define NODE_NAME_BYTES 24
#define SHARE_WHOLE INT64_C(1000000000) // shares are counted in 10^-9

struct topology; // fabric.h

// A line with so much of its rate left, in 10^-9.
static inline line_t line_slowed(line_t line, uint32_t rate_ppb)
{
	return (line_t)((unsigned __int128)line * SHARE_WHOLE / rate_ppb);
}

// What is left of the rate of a line from a time on.
struct rate_change {
	ps_t at;
	uint32_t rate_ppb;
};

#ifdef __cplusplus
extern "C" {
#endif

enum link_where {
	LINK_AT_NIC,	   // the cable of NIC `index`, plane `plane`
	LINK_AT_TRUNK,	   // the cable at up port `port` of T0 `index` in plane `plane`
	LINK_AT_PLANE,	   // every cable of plane `plane`
	LINK_AT_ALL,	   // every cable
	LINK_AT_NIC_WHOLE, // the cables of NIC `index` in all planes: its transceiver
	LINK_AT_T0,	   // every cable of T0 `index` in plane `plane`, up and down
	LINK_AT_T1,	   // every cable of T1 `index` in plane `plane`
	LINK_AT_T1_TRUNK,  // the cable at up port `port` of T1 `index` in plane `plane`
	LINK_AT_NODE, // every cable of the switch at place `index` of plane `plane`, or PLANE_EACH
	LINK_AT_EDGE, // the cables between the switches at places `index` and `port` of `plane`
	LINK_AT_HOST, // the cables of all NICs of host machine `index`
	LINK_AT_BUNDLE, // every cable from T0 `index` to T1 `port` in plane `plane`
};

#define PLANE_EACH UINT32_MAX // every plane

// Links as a person names them: where a fault strikes, where a tap listens. In any topology a T0 is
// the lowest switch, T1 the next.
struct link_location {
	enum link_where where;
	uint32_t index, plane, port;
	uint32_t t1; // as a scenario gives it: index or port follows from it
	// of a switch or a link, "a-b", as written; a scenario finds index and port by it
	char name[2 * NODE_NAME_BYTES];
};

// Whether link `link` is at `place`. Used while building.
bool link_location_hits(const struct link_location *place, const struct topology *topology,
			uint32_t link);

// -EINVAL with a reason when the place does not exist in this topology.
int link_location_check(const struct link_location *place, const struct topology *topology,
			struct refusal *refusal);

enum fault_kind {
	FAULT_LINK_DOWN,
	FAULT_LOSS,
	FAULT_FLAP,
	FAULT_CORRUPT,	 // bits of a packet flip: who checks it drops it
	FAULT_DUPLICATE, // a packet arrives twice
	FAULT_REORDER,	 // a packet is held back, and others overtake it
	FAULT_SLOW,	 // the line has a share of its rate
	FAULT_BURST,	 // losses in a row, by the model of Gilbert and Elliott
	FAULT_STALL,	 // a host does nothing: what comes to it waits
	FAULT_STRAGGLER, // a host works at a share of its speed
	FAULT_ECN,	 // a switch marks from other depths on than the rest
	FAULT_EVS,	 // QPs of a host have another number of entropy values
	FAULT_KIND_COUNT
};

// Which way of a cable a fault is on.
enum fault_direction {
	FAULT_BOTH_DIRECTIONS,
	FAULT_UP,   // away from the NICs
	FAULT_DOWN, // towards them
};

// One line of the timeline.
struct fault {
	enum fault_kind kind;
	struct link_location at;
	enum fault_direction direction;
	ps_t from_ps, until_ps; // until PS_NEVER = for good
	uint32_t share_ppb;	// LOSS, CORRUPT, DUPLICATE, REORDER: packets hit, per 10^9
	ps_t down_ps, up_ps;	// FAULT_FLAP: down for so long, then up, again and again
	ps_t delay_ps;		// FAULT_REORDER: held back for so long at most
	uint32_t rate_ppb;	// FAULT_SLOW, STRAGGLER: what is left of the rate, per 10^9
	// FAULT_BURST: either share_ppb and the mean of losses in a row, or the chances per packet
	// that the bad state begins and ends, and of a loss in either state
	uint32_t burst_packets;
	uint32_t enter_ppb, leave_ppb;
	uint32_t good_loss_ppb, bad_loss_ppb; // bad_loss_ppb 0: every packet
	uint32_t queue_packets; // FAULT_STALL: so many wait at each port; 0: the default
	// FAULT_ECN: depths at which marking starts, and from which everything is marked
	uint32_t ecn_low_bytes, ecn_high_bytes;
	uint32_t ev_count; // FAULT_EVS: values of a QP; per plane a power of two
};

#define STALL_QUEUE_PACKETS 1024u // wait at each port of a host that stalls

// The chances of a FAULT_BURST, in 2^-64: per packet, before it is sent.
struct burst_chances {
	uint64_t enter, leave;
};

// Whether a fault of this kind hits a share of the packets.
static inline bool fault_has_share(enum fault_kind kind)
{
	return kind == FAULT_LOSS || (kind >= FAULT_CORRUPT && kind <= FAULT_REORDER);
}

// The chances that a FAULT_BURST comes to. With share s and bursts of b packets on average the bad
// state, which loses every packet, ends with chance 1 / b and begins with s / (1 - s) / b, so that
// the share of time in it is s (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960; E. O.
// Elliott, 1963).
struct burst_chances fault_burst(const struct fault *fault);

// Whether a fault of this kind hits a host, and not a cable.
static inline bool fault_is_of_host(enum fault_kind kind)
{
	return kind == FAULT_STALL || kind == FAULT_STRAGGLER || kind == FAULT_EVS;
}

// Whether a fault of this kind is a wrong setting: there from the start, and for good.
static inline bool fault_is_setting(enum fault_kind kind)
{
	return kind == FAULT_ECN || kind == FAULT_EVS;
}

// -EINVAL with a reason when the fault's figures are none, or its place does not exist.
int fault_check(const struct fault *fault, const struct topology *topology,
		struct refusal *refusal);

#ifdef __cplusplus
}
#endif
