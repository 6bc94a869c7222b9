// SPDX-License-Identifier: Apache-2.0
// From a scenario to machines and cables: the only room that knows transport, fabric and workload
// at once.
//
//   scenario.c  YAML text to struct scenario, every error with file, line, column and reason
//   build.c     scenario to world: draws everything from one arena, then it is sealed
//   host.c      a rack's (or server's) GPUs and NICs as one machine    nic.c  one NIC: lines that
//   pull from an endpoint    light.c   what NICs see of faults    outcome.c   what the machines
//   measured, added up after the run
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/fabric.h>
#include <weft/machine.h>
#include <weft/measure.h>
#include <weft/measure_expect.h>
#include <weft/refusal.h>
#include <weft/transport.h>
#include <weft/workload.h>

#define SCENARIO_NAME_BYTES 64
#define SCENARIO_PATH_BYTES 256
#define SCENARIO_FAULTS_MAX 64
#define SCENARIO_FLOWS_MAX 4096
#define SCENARIO_TAPS_MAX 64
#define SCENARIO_NODES_MAX 1024
#define SCENARIO_LINKS_MAX 8192

enum traffic_kind {
	TRAFFIC_FLOWS,
	TRAFFIC_PERMUTATION,
	TRAFFIC_INCAST,
	TRAFFIC_RING,
	TRAFFIC_MODEL,
	TRAFFIC_TRACE,
	TRAFFIC_MATRIX,
	TRAFFIC_ALL_TO_ALL,
};

struct traffic_config {
	enum traffic_kind kind;
	uint64_t bytes;			  // of each flow, or of the ring's buffer
	uint32_t senders;		  // incast
	uint32_t flow_count;		  // flows
	struct flow *flows;		  // flows: [flow_count], owned by the scenario
	enum collective_kind collective;  // ring
	struct ring_config ring;	  // ring, model, trace; ring.ranks: ring only
	char model[SCENARIO_NAME_BYTES];  // model: preset name
	char trace[SCENARIO_PATH_BYTES];  // trace: file
	char matrix[SCENARIO_PATH_BYTES]; // matrix: file
};

// Where a figure of a scenario comes from; every input of a result is listed as one of these.
enum input_origin { INPUT_FACT, INPUT_ASSUMED, INPUT_CALIBRATED, INPUT_ORIGIN_COUNT };

#define SCENARIO_INPUTS_MAX 48
#define SCENARIO_EXPECTATIONS_MAX 32

// One figure that a result rests on, in words, with its source.
struct scenario_input {
	enum input_origin origin;
	char text[200];
};

// As enum wire_entropy.
enum frames_entropy { FRAMES_ENTROPY_PORT, FRAMES_ENTROPY_STEV, FRAMES_ENTROPY_SRV6 };
enum frames_ev_place { FRAMES_EV_PORT_HIGH, FRAMES_EV_PORT_LOW }; // as enum wire_ev_place

// How packets look as bytes where a run has frames. Without frames nothing of it matters.
struct frames_config {
	enum frames_entropy entropy;
	uint8_t ip_version;	    // 4 or 6; with SRv6 the inner one
	uint8_t ev_place;	    // enum frames_ev_place, of IPv6
	uint16_t udp_port;	    // 4791 or 4971
	bool trim_rewrites_lengths; // IP and UDP lengths follow a trim
	bool has_udp_checksum;	    // otherwise it is 0
};

// What a capture keeps of each frame.
struct capture_config {
	bool is_headers_only;
	uint32_t snap_bytes; // 0 = whole frames
};

enum tap_direction {
	TAP_BOTH,
	TAP_UP,	  // away from the NICs
	TAP_DOWN, // towards them
};

// A place that a capture listens at, from one time until before another.
struct tap {
	struct link_place at;
	enum tap_direction direction;
	ps_t from_ps, until_ps; // until PS_NEVER = for good
};

struct scenario {
	char name[SCENARIO_NAME_BYTES];
	char description[256];
	char path[SCENARIO_PATH_BYTES]; // the file it came from
	uint64_t seed;
	struct fabric_config fabric;
	uint32_t oversubscription;		 // of T0 or ToR switches; 0 = as counts say
	char topology_file[SCENARIO_PATH_BYTES]; // fabric.topology file
	char node_names[SCENARIO_NODES_MAX][NODE_NAME_BYTES]; // behind fabric.graph
	struct graph_link graph_links[SCENARIO_LINKS_MAX];    // behind fabric.graph
	struct scaleup_config scaleup;
	struct transport_config transport;
	uint32_t ev_value_count; // in what transport.ev_values, ev_denied point to
	uint32_t ev_values[EV_VALUES_MAX], ev_denied[EV_VALUES_MAX];
	uint32_t first_psn;	     // of every QP
	uint32_t qps_per_connection; // ring, model, trace: slices go to them in turn
	ps_t port_detect_ps; // a NIC knows so much later that a port's light went out or came back
	struct traffic_config traffic;
	struct sample sample;
	uint32_t fault_count;
	struct fault faults[SCENARIO_FAULTS_MAX];
	uint32_t fault_lines[SCENARIO_FAULTS_MAX]; // line of each fault in the file
	struct frames_config frames;
	struct capture_config capture;
	struct watch_config watch;
	uint32_t tap_count;
	struct tap taps[SCENARIO_TAPS_MAX];
	uint32_t tap_lines[SCENARIO_TAPS_MAX];
	struct flow flows[SCENARIO_FLOWS_MAX]; // behind traffic.flows
	uint32_t variant_count;
	struct scenario_variant variants[SCENARIO_VARIANTS_MAX];
	uint32_t variant; // the one that this is, counted from 1; 0 = none, the scenario as it is
	uint32_t expectation_count;
	struct scenario_expect expectations[SCENARIO_EXPECTATIONS_MAX];
	uint32_t input_count;
	struct scenario_input inputs[SCENARIO_INPUTS_MAX];
	// limits
	uint32_t packets_max;	   // descriptors in the pool; 0 = derived from the world
	uint64_t memory_bytes_max; // of the arena
	ps_t time_max_ps;	   // the run ends here at the latest
	ps_t window_ps;		   // length of a window; 0 = the lookahead
};

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------- scenario

// The values that hold when a file says nothing; each is listed in docs/scenario.md.
void scenario_defaults(struct scenario *ret);

// Reads YAML text (`bytes` long, named `path` in errors) over the defaults, then the assignments
// `sets` ("fabric.planes=4"; shown in errors as file "--set"), then checks the whole. -EINVAL with
// file, line, column and reason; `ret` is then undefined.
int scenario_parse(struct scenario *ret, const char *path, const char *text, size_t bytes,
		   const char *const *sets, uint32_t set_count, struct refusal *refusal);

// One key that a scenario may have, for docs/scenario.md and `weft sim --list-keys`.
struct scenario_key {
	const char *path;  // "fabric.planes"
	const char *unit;  // "count", "rate", "bytes", "time", "word", "text", "flag", "share",
			   // "list"
	const char *value; // default, as one would write it; "required" when there is none
	const char *text;  // one line
	// How the reader takes it; see scenario_keys.c.
	uint32_t offset, size; // of the field in struct scenario, or in the list's element
	uint64_t min, max;     // of a number, in ps, bytes, bits per second or parts per 10^9
	const char *zero;      // the word that stands for 0 ("auto"), or NULL
	const char *const
		*words; // of a word or flag, in the order of their values, NULL at the end
	uint8_t use;	// when the key has an effect (enum scenario_use)
};

// All keys, ended by one whose path is NULL.
const struct scenario_key *scenario_keys(void);

// ---------------------------------------------------------------- world

// A fault as a cable sees it.
struct cable_fault {
	enum fault_kind kind;
	ps_t from_ps, until_ps;
	uint32_t threshold;  // a packet is hit when the cable's next 32 random bits are below
	ps_t down_ps, up_ps; // of a flap
	ps_t delay_ps;	     // REORDER: held back for so long at most
	uint32_t rate_ppb;   // SLOW: what is left of the rate
};

// One direction of a link, towards (to_machine, to_port).
struct cable_plan {
	uint32_t from_machine, from_port;
	uint32_t to_machine, to_port;
	line_t line;
	ps_t delay_ps;
	uint32_t fault_first, fault_count; // in world.cable_faults
	uint8_t tier, plane;
};

struct world_host; // host.h
struct record;	   // record.h
struct tally;	   // record.h

#define WORLD_SHARDS_MAX 16 // threads that one world can be run by

struct world {
	const struct scenario *scenario;
	struct arena *arena;
	struct fabric_config fabric;	   // the scenario's, thinned when a sample is on
	struct transport_config transport; // the scenario's, with what the network gives filled in
	struct topology topology;
	uint32_t machine_count; // hosts first, then switches
	struct machine *machines;
	struct world_host **hosts; // [topology.hosts]
	struct switch_ **switches; // [topology.switch_count]
	uint32_t cable_count;
	struct cable_plan *cables;
	uint32_t cable_fault_count;
	struct cable_fault *cable_faults;
	ps_t lookahead_ps;	 // smallest delay of any cable
	ps_t window_ps;		 // length of a window: limits.window, at most the lookahead
	uint32_t departures_max; // of one machine in one window: size of an outbox
	struct packet_pool packets;
	struct fifo_pool chunks;
	struct job job; // ring, model, trace
	struct sample_plan plan;
	struct trace trace; // trace
	struct flow *flows; // flows, permutation, incast
	uint32_t flow_count;
	uint64_t context_count; // of all endpoints: as many as QPs, or fewer
	uint64_t qp_count;	// ends of connections
	uint64_t work_total;	// ends to be seen: of flows (two each) or of ranks' collectives
	struct outcome *outcome;
	uint32_t shard_count; // a shard is what one thread runs; it writes into its own record
	uint32_t *shard_of;   // [machine_count], in no order: see shards.c
	struct record *records[WORLD_SHARDS_MAX]; // [shard_count]
	// [shard_count] what each shard counts over time and of dead cables; or NULL
	struct series *series[WORLD_SHARDS_MAX];
	struct bypass *bypass[WORLD_SHARDS_MAX];
	uint64_t *nic_placed; // [nics][watch.bins] payload over time of each NIC; or NULL
	struct tally *tally;
};

// Builds the world of `scenario` in `arena`, which stays open for the driver (sim_create seals it).
// `trace_text` is the content of scenario->traffic.trace or .matrix (NULL else). -EINVAL with a
// reason, -ENOMEM when the arena is too small (the text names limits.memory).
int world_build(struct world *ret, struct arena *arena, const struct scenario *scenario,
		const char *trace_text, size_t trace_bytes, struct refusal *refusal);

// As world_build(), for machines that `shards` threads (1 to WORLD_SHARDS_MAX) run at once, each
// its own, with a barrier between windows. What is measured does not depend on the number.
int world_build_shards(struct world *ret, struct arena *arena, const struct scenario *scenario,
		       const char *trace_text, size_t trace_bytes, uint32_t shards,
		       struct refusal *refusal);

#define WORLD_CABLE_NAME_BYTES 64 // holds every cable's name

// Name of a cable (its index in world->cables) for people: "nic 3 plane 1 > t0 0", "t0 0 up 5 plane
// 1 > t1 5". Unique in the world; docs/scenario.md says how to read it. Cut to `bytes`, at least 1.
void world_cable_name(const struct world *world, uint32_t cable, char *ret, size_t bytes);

// Whether a tap of the scenario listens on a cable at time `at`, or at any time.
bool world_cable_is_tapped(const struct world *world, uint32_t cable, ps_t at);
bool world_cable_has_tap(const struct world *world, uint32_t cable);

// Wire bytes of the largest packet.
uint32_t world_packet_bytes_max(const struct world *world);

// Packets that wait in hosts (made, not sent yet) and in switches (sent), counted from their
// queues.
void world_held(const struct world *world, uint64_t *ret_hosts, uint64_t *ret_switches);

// Whether every message of the workload has been completed at its sender and its receiver. Reads
// the records of all shards: only while their threads stand at the barrier.
bool world_is_done(const struct world *world);

// ---------------------------------------------------------------- outcome

// One collective of the job, over all ranks of its group.
struct outcome_collective {
	uint32_t group, bucket;	    // in job
	ps_t start_ps, end_ps;	    // run: first start, last end
	ps_t whole_ps;		    // time of the whole collective: run, or extrapolated
	ps_t whole_error_ps;	    // stated half-width; 0 when all was run
	uint64_t busbw_bytes_per_s; // nccl-tests: S / t * (n-1)/n (x 2 for all-reduce)
};

// What a run measured, before it becomes text.
struct outcome {
	struct transport_counters transport;	  // over all NICs
	struct fabric_counters fabric;		  // over all switches
	uint64_t dropped[DROP_REASON_COUNT];	  // over switches and cables
	struct hist message_ns[PAIR_CLASS_COUNT]; // message latency: post to completion at the
						  // sender, fabric messages only
	struct hist flow_ns;			  // flows: completion time per flow (FCT)
	ps_t *flow_end_ps; // [flows] when the sender held the last acknowledgement; 0 = not yet
	uint64_t dropped_at_host[DROP_REASON_COUNT];
	uint64_t plane_bytes_nic_max[PLANES_MAX]; // most bytes any NIC sent on that plane
	uint32_t collective_count;
	struct outcome_collective *collectives;
	ps_t end_ps; // last completion
	uint64_t credits_sent;
	struct series series; // no bins: none is kept
};

// Adds up what machines and records hold into world->outcome, anew on each call. After a run or
// while threads stand at the barrier.
void world_collect(struct world *world);

#ifdef __cplusplus
}
#endif
