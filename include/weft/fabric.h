// SPDX-License-Identifier: Apache-2.0
// Switches, ports, routes and topologies as plain data, the scale-up domain inside a rack, places
// of links, and the timeline of faults.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/arena.h>
#include <weft/machine.h>
#include <weft/measure.h>
#include <weft/refusal.h>
#include <weft/rng.h>
#include <weft/time.h>

// ---------------------------------------------------------------- configuration

enum topology_kind {
	TOPOLOGY_CLOS, // per plane: T0 (nics_per_t0 down), t1_count T1 above, every T0 linked to
		       // every T1 `bundle` times
	TOPOLOGY_FAT_TREE, // per plane, three tiers: ToR, aggregation (inside a pod), core
};

enum trim_choice {
	TRIM_COIN,
	TRIM_ARRIVING,
	TRIM_NEWEST
}; // what a full queue trims; COIN: a fair coin, as htsim does

struct fabric_config {
	enum topology_kind kind;
	uint32_t nics;		// NICs of the world
	uint32_t nics_per_host; // NICs of one host machine (a scale-up domain): divides nics
	uint32_t planes;	// ports of a NIC, 1..PLANES_MAX
	uint64_t link_rate_bps; // of each NIC port and each switch port
	ps_t nic_delay_ps;	// propagation NIC - T0
	ps_t trunk_delay_ps;	// propagation T0 - T1, and T1 - T2
	ps_t switch_delay_ps;	// latency of a switch, part of the cable into it
	// Clos
	uint32_t nics_per_t0;
	uint32_t t1_count; // per plane
	uint32_t bundle;   // links between a T0 and a T1
	// fat tree (per plane)
	uint32_t tor_nics, pod_tors, pod_aggs,
		cores; // core c links to aggregation switch c % pod_aggs of every pod
	// queues of every switch port
	uint32_t mtu_bytes;	// wire bytes of a full packet: unit of the automatic thresholds
	uint32_t control_bytes; // wire bytes of a control packet, for base RTT
	uint64_t queue_bytes;	// data queue; 0 = one BDP in whole packets
	uint64_t control_queue_bytes;		// 0 = twice the data queue
	uint64_t ecn_low_bytes, ecn_high_bytes; // both 0 = 20 % and 80 % of the queue in whole
						// packets; low == high = step
	bool ecn_on;
	bool ecn_last_hop; // mark on ports to NICs too
	bool trim_on;
	uint32_t trim_bytes; // wire bytes of a trimmed packet
	enum trim_choice trim_choice;
	uint32_t thin_kept, thin_of; // a sample keeps thin_kept of thin_of T0-T1 links (1, 1 =
				     // all); see docs/measuring.md
};

// ---------------------------------------------------------------- topology

// How a switch finds the out-port: targets in [low, high) hang below it, `span` of them per down
// port group; everything else goes up.
struct route {
	uint32_t low, high;  // NIC indices below this switch
	uint32_t span;	     // NICs below one down neighbour
	uint64_t span_magic; // for division by `span`, see route.c
	uint32_t down_links; // parallel links to each down neighbour (bundle)
	uint32_t up_first;   // first up port
	uint32_t up_count;   // up ports, 0 at the top
	uint64_t salt;	     // of the EV hash, per switch
};

struct switch_plan {
	uint8_t tier; // 0 = T0 / ToR
	uint8_t plane;
	uint32_t index; // within tier and plane
	uint32_t port_count;
	uint32_t port_first; // of its ports in topology.port_links
	struct route route;
};

// A duplex cable. Delays contain the latency of the switch they lead into.
struct link_plan {
	uint32_t node_a, node_b; // 0 .. hosts-1 are host machines, then the switches
	uint32_t port_a, port_b; // port of a host = NIC within the host * planes + plane
	uint64_t rate_bps;
	ps_t delay_ab_ps, delay_ba_ps;
	uint8_t tier; // 0: NIC - T0, 1: T0 - T1, 2: T1 - T2
	uint8_t plane;
};

struct topology {
	uint32_t nics, hosts, nics_per_host, planes;
	uint32_t switch_count;
	struct switch_plan *switches; // node hosts + i
	uint32_t link_count;
	struct link_plan *links;
	uint32_t *port_links; // the link at each port of each switch, switch by switch
	uint32_t t0_nics;     // NICs below one T0 of a plane
	ps_t base_rtt_ps;  // closed form, longest path, one MTU packet out and one control packet
			   // back
	ps_t delay_min_ps; // smallest delay of any link: the lookahead
	// effective queue figures, after the automatic ones were derived
	uint64_t queue_bytes, control_queue_bytes, ecn_low_bytes, ecn_high_bytes;
};

#ifdef __cplusplus
extern "C" {
#endif

// Builds nodes and links of `config`. -EINVAL with a reason (counts that do not divide, no ports,
// zero planes, ...), -ENOMEM.
int topology_build(struct topology *ret, struct arena *arena, const struct fabric_config *config,
		   uint64_t seed, struct refusal *refusal);

// Links on the way from one NIC to another within a plane: 2, 4 or 6.
uint32_t topology_links(const struct topology *topology, const struct fabric_config *config,
			uint32_t from, uint32_t to);

// Which class a pair of NICs belongs to: the same host machine (rack), the same T0, or further.
enum pair_class topology_pair(const struct topology *topology, uint32_t from, uint32_t to);

// ---------------------------------------------------------------- switch

struct fabric_counters {
	uint64_t marked;		    // packets marked CE
	uint64_t trimmed, trimmed_last_hop; // trimmed in all; of these at the last hop
	uint64_t dropped[DROP_REASON_COUNT];
	uint64_t forwarded[PACKET_CLASS_COUNT]; // departures by class
	uint64_t queue_bytes_max;		// deepest data queue seen
};

struct switch_; // `switch` is a C keyword

// Draws a switch. Its ports know their line rate from `topology`'s links.
int switch_create(struct switch_ **ret, struct arena *arena, const struct topology *topology,
		  const struct fabric_config *config, uint32_t switch_index, uint64_t seed,
		  struct refusal *refusal);

// machine_run_fn of a switch.
ps_t switch_run(void *self, const struct inbox *in, ps_t until, struct outbox *out);

const struct fabric_counters *switch_counters(const struct switch_ *self);

// Packets in its queues.
uint32_t switch_held(const struct switch_ *self);

// ---------------------------------------------------------------- scale-up domain

// NVLink inside a rack, at the level of whole slices: each GPU has one outgoing and one incoming
// line; a transfer occupies both.
struct scaleup_config {
	uint64_t rate_bps; // of one GPU in one direction; 0 = no scale-up domain
	ps_t delay_ps;	   // per transfer
};

struct scaleup {
	line_t line;
	ps_t delay_ps;
	ps_t *out_free_at; // [gpus]
	ps_t *in_free_at;  // [gpus]
};

int scaleup_init(struct scaleup *scaleup, struct arena *arena, const struct scaleup_config *config,
		 uint32_t gpus);

// Sends `bytes` from one GPU of the domain to another at `now`. `ret_sent` is when the sender's
// buffer is free again; returns when the bytes are at the target. Deterministic in the order of
// calls.
ps_t scaleup_send(struct scaleup *scaleup, uint32_t from, uint32_t to, uint64_t bytes, ps_t now,
		  ps_t *ret_sent);

// ---------------------------------------------------------------- places and faults

enum link_where {
	LINK_AT_NIC,	   // the cable of NIC `index`, plane `plane`
	LINK_AT_TRUNK,	   // the cable at up port `port` of T0 `index` in plane `plane`
	LINK_AT_PLANE,	   // every cable of plane `plane`
	LINK_AT_ALL,	   // every cable
	LINK_AT_NIC_WHOLE, // the cables of NIC `index` in all planes: its transceiver
	LINK_AT_T0,	   // every cable of T0 `index` in plane `plane`, up and down
	LINK_AT_T1,	   // every cable of T1 `index` in plane `plane`
};

// Links as a person names them: where a fault strikes, where a tap listens. In any topology a T0 is
// the lowest switch, T1 the next.
struct link_place {
	enum link_where where;
	uint32_t index, plane, port;
};

// Whether link `link` is at `place`. Used while building.
bool link_place_hits(const struct link_place *place, const struct topology *topology,
		     uint32_t link);

// -EINVAL with a reason when the place does not exist in this topology.
int link_place_check(const struct link_place *place, const struct topology *topology,
		     struct refusal *refusal);

enum fault_kind { FAULT_LINK_DOWN, FAULT_LOSS, FAULT_FLAP };

// One line of the timeline. Both directions of the cable are hit.
struct fault {
	enum fault_kind kind;
	struct link_place at;
	ps_t from_ps, until_ps; // until PS_NEVER = for good
	uint32_t loss_ppb;	// FAULT_LOSS: lost packets per 10^9
	ps_t down_ps, up_ps;	// FAULT_FLAP: down for so long, then up, again and again
};

// -EINVAL with a reason when the fault's figures are none, or its place does not exist.
int fault_check(const struct fault *fault, const struct topology *topology,
		struct refusal *refusal);

#ifdef __cplusplus
}
#endif
