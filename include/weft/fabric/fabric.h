// SPDX-License-Identifier: Apache-2.0
// Switches, ports, routes and topologies as plain data, the scale-up domain inside a rack, places
// of links, and the timeline of faults.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/machine.h>
#include <weft/core/refusal.h>
#include <weft/core/rng.h>
#include <weft/core/time.h>
#include <weft/fabric/fabric_buffer.h>
#include <weft/fabric/fabric_counters.h>
#include <weft/fabric/fabric_pause.h>
#include <weft/fabric/fabric_reroute.h>
#include <weft/measure/measure.h>
#include <weft/measure/measure_link.h>

// ---------------------------------------------------------------- configuration

enum topology_kind {
	TOPOLOGY_CLOS, // per plane: T0 (nics_per_t0 down), t1_count T1 above, every T0 linked to
		       // every T1 `bundle` times
	TOPOLOGY_FAT_TREE, // per plane, three tiers: ToR, aggregation (inside a pod), core
	// The others are graphs: they find their ways in tables that are made while building.
	TOPOLOGY_DUMBBELL, // two switches with half of the NICs each, and `bundle` links between
	TOPOLOGY_RAIL,	// NIC i of every host below rail switch i; t1_count spines above, or none
	TOPOLOGY_TORUS, // a grid of routers with nics_per_t0 NICs each; every row is closed to a
			// ring
	TOPOLOGY_FILE,	// the tree that a .topo file of htsim describes
	TOPOLOGY_GRAPH, // switches and links as listed
};
#define TOPOLOGY_KIND_COUNT (TOPOLOGY_GRAPH + 1)

#define TOPOLOGY_TIERS_MAX 3
#define TOPOLOGY_PATH_MAX 62 // switches on the longest way: frames have a hop limit of 64
#define TOPOLOGY_TABLE_SWITCHES_MAX 8192 // of one plane of a graph: a table has this many squared

// One tier of the tree of a .topo file: its switches, and the links below them.
struct tree_tier {
	uint64_t rate_bps;
	ps_t delay_ps, switch_delay_ps;
	uint32_t down, up; // ports of a switch; no ports up at the top
	uint32_t bundle;   // links between one of its switches and one of the tier below
};

struct tree_plan {
	uint32_t nics, tiers, pod_nics; // tiers: 0 when no file was read
	struct tree_tier tier[TOPOLOGY_TIERS_MAX];
};

// A link of a listed graph: between two switches, or of NIC `b` when is_nic.
struct graph_link {
	uint32_t a, b, count;
	bool is_nic;
	uint64_t rate_bps; // 0: as trunks are
	ps_t delay_ps;	   // -1: as trunks or NICs have it
};

// One plane of a listed graph.
struct graph_plan {
	uint32_t node_count, link_count;
	char (*names)[NODE_NAME_BYTES]; // [node_count]
	struct graph_link *links;	// [link_count]
};

// What a full queue trims; COIN: a fair coin, as htsim does.
enum trim_choice { TRIM_COIN, TRIM_ARRIVING, TRIM_NEWEST };

// How a switch spreads packets over its up ports.
enum fabric_spray {
	FABRIC_SPRAY_HASH,	  // by the EV: the sender chooses
	FABRIC_SPRAY_ROUND_ROBIN, // in turn
	FABRIC_SPRAY_ADAPTIVE,	  // the shortest queue
	FABRIC_SPRAY_FLOWLET,	  // one port until a flow pauses, then any
};

// How a T0 of a Clos finds the way up: by a hash, or by the packet's source route, that is its EV.
enum fabric_forwarding { FABRIC_ECMP, FABRIC_USID };
#define USID_TRUNK_BITS 11u // the high bits of an EV: the number of the up port of the first T0

struct fabric_config {
	enum topology_kind kind;
	uint32_t nics;		 // NICs of the world
	uint32_t nics_per_host;	 // NICs of one host machine (a scale-up domain): divides nics
	uint32_t planes;	 // ports of a NIC, 1..PLANES_MAX
	uint64_t link_rate_bps;	 // of each NIC port and each switch port
	ps_t nic_delay_ps;	 // propagation NIC - T0
	ps_t trunk_delay_ps;	 // propagation T0 - T1, and T1 - T2
	ps_t switch_delay_ps;	 // latency of a switch, part of the cable into it
	uint8_t cut_bytes;	 // a cut-through switch reads so much of a packet; 0 = all of it
	uint64_t trunk_rate_bps; // of each link between switches; 0 = link_rate_bps
	// Clos
	uint32_t nics_per_t0;
	uint32_t t1_count; // per plane
	uint32_t bundle;   // links between a T0 and a T1
	// fat tree (per plane)
	uint32_t tor_nics, pod_tors, pod_aggs,
		cores; // core c links to aggregation switch c % pod_aggs of every pod
	// dumbbell: bundle; rail: t1_count, bundle; torus: nics_per_t0, bundle and
	uint32_t torus[3];	 // routers along x, y, z
	struct tree_plan tree;	 // file
	struct graph_plan graph; // graph
	// queues of every switch port
	uint32_t mtu_bytes;	    // wire bytes of a full packet: unit of the automatic thresholds
	uint32_t control_bytes;	    // wire bytes of a control packet, for base RTT
	uint64_t queue_bytes;	    // data queue; 0 = one BDP in whole packets
	uint32_t bdp_packets_least; // that one BDP is then at least
	uint64_t last_hop_queue_bytes; // of ports to NICs; 0 = the same
	uint64_t control_queue_bytes;  // 0 = twice the data queue
	uint32_t control_share_ppb; // of the line, for control while data wait too; 0 = all of it
	uint8_t round_control, round_data;	// packets of each in turn; both 0 = no turns
	uint64_t ecn_low_bytes, ecn_high_bytes; // 0, 0 = 20, 80 % of the queue; equal = step
	uint32_t ecn_share_ppb; // marked when the queue is just below the high threshold; 0 = all
	bool ecn_on, ecn_last_hop; // also mark on ports to NICs
	bool trim_on;
	uint32_t trim_bytes; // wire bytes of a trimmed packet
	bool counts_line; // a queue counts the packet on the line, too, and it is marked when its
			  // last bit has left; without turns, shares, PFC, shared buffers
	bool slow_scaled; // queues and marks of a slow line shrink with its rate
	enum trim_choice trim_choice;
	struct pfc_config pfc;
	struct buffer_config buffer;
	struct reroute_config reroute;
	enum fabric_spray spray; // trees; graphs hash
	uint32_t trunk_sample_kept,
		trunk_sample_of; // T0-T1 links of a sample; 1, 1: all; docs/measuring.md
	enum fabric_forwarding forwarding;
	enum { FABRIC_SEED_EACH, FABRIC_SEED_SAME } hash_seed; // of switches: each its own, or one
	ps_t flowlet_gap_ps; // FABRIC_SPRAY_FLOWLET; 0 = half of the base round trip
	bool by_time; // switches take arrivals in the order of time, too, where by port would do
};

// ---------------------------------------------------------------- topology

struct route_table; // route.h

// How a switch finds the out-port: targets in [low, high) hang below it, `span` of them per down
// port group; everything else goes up. In a graph, where nothing is below and up_count is 0, the
// table knows.
struct route {
	uint32_t low, high;   // NIC indices below this switch
	uint32_t width, span; // NICs below this switch, and below one down neighbour of it
	uint64_t span_magic, group_magic; // for division by `span`, see route.c; where it is plain
	uint32_t down_links;		  // parallel links to each down neighbour (bundle)
	uint32_t up_first;		  // first up port
	uint32_t up_count;		  // up ports, 0 at the top
	uint64_t salt;			  // of the EV hash, per switch
	bool is_static, is_plain; // up by static routes to uSIDs; by hash, one link down to each
	const struct route_table *table; // of a graph, else NULL
};

struct switch_plan {
	uint8_t tier; // 0 = T0 / ToR
	uint8_t plane;
	uint32_t index; // within tier and plane
	uint32_t port_count;
	uint32_t port_first;		 // of its ports in topology.port_links
	uint32_t up_first, up_ports;	 // ports that lead up, or to other switches of a graph
	uint32_t nics_first, nics_count; // NICs that it is nearest to, in a row: below it in a tree
	struct route route;
};

// A duplex cable. Delays contain the latency of the switch they lead into.
struct link_plan {
	uint32_t node_a, node_b; // 0 .. hosts-1 are host machines, then the switches
	uint32_t port_a, port_b; // port of a host = NIC within the host * planes + plane
	uint64_t rate_bps;
	ps_t delay_ab_ps, delay_ba_ps;
	uint8_t tier; // 0: NIC - T0, 1: T0 - T1, or between switches of a graph; 2: T1 - T2
	uint8_t plane;
};

struct topology {
	enum topology_kind kind;
	uint32_t nics, hosts, nics_per_host, planes;
	uint32_t switch_count;
	struct switch_plan *switches; // node hosts + i
	uint32_t link_count;
	struct link_plan *links;
	uint32_t *port_links;	    // the link at each port of each switch, switch by switch
	uint32_t t0_nics;	    // NICs below one T0 of a tree; 1 in a graph
	const uint16_t *nic_switch; // of a graph: the switch of each NIC, by its place in a plane
	char (*names)[NODE_NAME_BYTES]; // of the switches of a plane, where they have names
	uint32_t links_max;		// links on the longest way
	uint64_t rate_max_bps;		// of the fastest link
	ps_t base_rtt_ps;  // closed form, longest path, one MTU packet out and one control packet
			   // back
	ps_t delay_min_ps; // smallest delay of any link: the lookahead
	// effective queue figures, after the automatic ones were derived
	uint64_t queue_bytes, last_hop_queue_bytes, control_queue_bytes;
	uint64_t ecn_low_bytes, ecn_high_bytes;
	uint64_t pfc_xoff_bytes, pfc_xon_bytes;			  // 0 without PFC
	uint64_t pfc_headroom_low_bytes, pfc_headroom_high_bytes; // over all in-ports
	uint64_t pfc_room_bytes; // of the switch that needs most: xoff and headroom of its ports
};

#ifdef __cplusplus
extern "C" {
#endif

// Builds nodes and links of `config`. -EINVAL with a reason (counts that do not divide, no ports,
// zero planes, ...), -ENOMEM.
int topology_build(struct topology *ret, struct arena *arena, const struct fabric_config *config,
		   uint64_t seed, struct refusal *refusal);

// Reads a .topo file of htsim. -EINVAL with line, column and reason.
int tree_parse(struct tree_plan *ret, const char *text, size_t bytes, struct refusal *refusal);

// Links from one NIC to another in a plane, 0: no way (rails without spines); a NIC's switch there.
uint32_t topology_links(const struct topology *topology, const struct fabric_config *config,
			uint32_t from, uint32_t to);
uint32_t topology_switch(const struct topology *topology, uint32_t nic);

// The ports by which switch `at` (its place in topology.switches) may send a packet on to NIC
// `target`, in ascending order. Returns how many there are; `ret` has room for MACHINE_PORTS_MAX.
uint32_t topology_ports(const struct topology *topology, uint32_t at, uint32_t target,
			uint16_t *ret);

// The other end of the link at a switch's port: a node, hosts first.
uint32_t topology_behind(const struct topology *topology, uint32_t at, uint32_t port);

// Whether people call the switches of this kind by name, and not by tier and number.
bool topology_has_names(enum topology_kind kind);

// The name of switch `node` of a plane of a dumbbell or a torus.
void topology_name(const struct fabric_config *config, uint32_t node, char ret[NODE_NAME_BYTES]);

// Switches that stay above a leaf in each plane of a tree that is thinned (of a pod, with three
// tiers); 0 = no tree.
uint32_t topology_thinned(const struct fabric_config *config);

// Which class a pair of NICs belongs to: the same host machine (rack), the same T0, or further.
enum pair_class topology_pair(const struct topology *topology, uint32_t from, uint32_t to);

// ---------------------------------------------------------------- switch

struct switch_; // `switch` is a C keyword

// Draws a switch. Its ports know their line rate from `topology`'s links.
int switch_create(struct switch_ **ret, struct arena *arena, const struct topology *topology,
		  const struct fabric_config *config, uint32_t switch_index, uint64_t seed,
		  struct refusal *refusal);

// machine_run_fn of a switch.
ps_t switch_run(void *self, const struct inbox *in, ps_t until, struct outbox *out);

// Before the run: out-port `port` changes its rate at the given times, oldest first; `changes` must
// outlive the switch. With `is_scaled` its data queue and its marks shrink with it, as in htsim.
// -ENOMEM.
int switch_slow(struct switch_ *self, struct arena *arena, uint32_t port,
		const struct rate_change *changes, uint32_t count, bool is_scaled);

// Whether out-ports of switches of this kind depend on each other. Where not, each could be run
// elsewhere, if the packets that go there do.
bool switch_needs_order(const struct fabric_config *config);

// Packets in its queues; stops at a bug in them, and gives back what empty ones keep of `chunks`.
uint32_t switch_held(const struct switch_ *self);
void switch_audit(struct switch_ *self, struct fifo_pool *chunks);

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

#ifdef __cplusplus
}
#endif
